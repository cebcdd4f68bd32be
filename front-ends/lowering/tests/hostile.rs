//! Texts that ask for too much: each is refused in words, soon and with little memory.

use halide::Convention;
use kernel::read;
use lowering::lower;
use semantics::diagnostic::render;
use semantics::span::Source;
use std::time::{Duration, Instant};

/// Far more than any of these needs, even where other work runs beside it.
const LONGEST: Duration = Duration::from_secs(60);

/// All complaints about kernels, about their schedules too.
fn said(text: &str) -> String {
    let start = Instant::now();
    let (kernels, mut diagnostics) = read(&Source::new("k.kernel", text));
    for kernel in &kernels {
        let _ = kernel::show::body(kernel);
        diagnostics.extend(schedule::stages(kernel).1);
        diagnostics.extend(
            schedule::apply(kernel)
                .and_then(|s| lower(&s))
                .err()
                .unwrap_or_default(),
        );
    }
    assert!(start.elapsed() < LONGEST, "{:?}", start.elapsed());
    render(&diagnostics)
}

fn of(value: &str) -> String {
    said(&format!(
        "kernel k(n: size, a: in i32[n], o: out i32[n]) {{ for x in 0..n {{ o[x] = {value}; }} }}"
    ))
}

#[test]
fn depth_in_kernels() {
    assert_eq!(of("- - ~ -a[x]"), "");
    for times in [2_000, 20_000] {
        for sign in ["-", "~", "!", "- "] {
            let rendered = of(&format!("{}a[x]", sign.repeat(times)));
            assert!(rendered.contains("more than 600 levels deep"), "{rendered}");
        }
        let rendered = of(&format!("{}a[x]{}", "(".repeat(times), ")".repeat(times)));
        assert!(
            rendered.contains("brackets nest more than 100 deep"),
            "{rendered}"
        );
        // What closes a bracket in a comment closes nothing.
        let open = "(// )\n".repeat(times);
        let rendered = of(&format!("{open}a[x]{}", ")".repeat(times)));
        assert!(
            rendered.contains("brackets nest more than 100 deep"),
            "{rendered}"
        );
        let rendered = of(&format!("a{}", "[0]".repeat(times)));
        assert!(rendered.contains("more than 600 levels deep"), "{rendered}");
        let rendered = of(&format!("a[x]{}", " + 1".repeat(times)));
        assert!(
            rendered.contains("at most 200 operands in a row"),
            "{rendered}"
        );
    }
    // Long sums in brackets in long sums.
    let mut value = "a[x]".to_owned();
    for _ in 0..90 {
        value = format!("({value}{})", " + 1".repeat(199));
    }
    assert!(of(&value).contains("more than 600 levels deep"));
}

#[test]
fn sizes_of_kernels() {
    let rendered = said(&format!("// {}\n", "x".repeat(49_000_000)));
    assert!(
        rendered.contains("this text has 49000004 bytes"),
        "{rendered}"
    );
    for dims in [
        "4611686018427387904",
        "1 << 20, 1 << 20",
        "4194304, 4194304",
    ] {
        let dims = dims.replace("1 << 20", "1048576");
        let rendered = said(&format!(
            "kernel k(a: in u8[{dims}], o: out u8[1]) {{ o[0] = 1; }}"
        ));
        assert!(
            rendered.contains("an array has at most 274877906944"),
            "{rendered}"
        );
    }
    // Work for each of very many, not for each pair of them.
    let many: String = (0..100_000).map(|k| format!("p{k}: u8, ")).collect();
    let rendered = said(&format!("kernel k({many}o: out u8[1]) {{ o[0] = p7; }}"));
    assert_eq!(rendered, "");
    let name = "k".repeat(1_000_000);
    let rendered = said(&format!("kernel {name}(o: out u8[1]) {{ o[0] = 1; }}"));
    assert!(
        rendered.contains("a name of 1000000 characters"),
        "{rendered}"
    );
    // Of each it is asked once what uses it.
    let lets: String = (0..20_000)
        .map(|k| format!("let t{k} = a[x] + {k}; "))
        .collect();
    let text = format!(
        "kernel k(n: size, a: in i32[n], o: out i32[n]) {{ for x in 0..n {{ {lets}o[x] = t0; }} }}"
    );
    assert_eq!(said(&text), "");
    let rendered = said("kernel käse(o: out u8[1]) { o[0] = 1; }");
    assert!(
        rendered.contains("names have the letters a to z"),
        "{rendered}"
    );
}

/// A few names of which each is made of the one before, twice.
#[test]
fn names_that_stand_for_very_much() {
    let functions = |first: &str, each: &dyn Fn(usize) -> String, last: &str| {
        let chain: String = (1..60).map(each).collect();
        format!(
            "{first}{chain}kernel k(n: size, a: in i32[n], o: out i32[n]) {{ for x in 0..n {{ o[x] = {last}; }} }} \
             schedule {{ vectorize x by 8; }}"
        )
    };
    // Values that no statement computes, in a function.
    let lets: String = (1..60)
        .map(|n| format!("let t{n} = t{} * t{};\n", n - 1, n - 1))
        .collect();
    let first = format!("fn f(a: i32) -> i32 {{ let t0 = a + a;\n{lets} t59 }}\n");
    assert_eq!(said(&functions(&first, &|_| String::new(), "f(a[x])")), "");
    // The same as statements.
    let lets: String = (1..60)
        .map(|n| format!("let t{n}: i32 = t{} * t{};\n", n - 1, n - 1))
        .collect();
    let text = format!(
        "kernel k(n: size, a: in i32[n], o: out i32[n]) {{ for x in 0..n {{ let t0: i32 = a[x];\n{lets} o[x] = t59; }} }}"
    );
    assert_eq!(said(&text), "");
    // Indices that functions pass on.
    let each = |n: usize| format!("fn f{n}(i: index) -> i32 = f{}(min(i, i * i));\n", n - 1);
    let rendered = said(&functions(
        "fn f0(i: index) -> i32 = i32(i);\n",
        &each,
        "f59(x)",
    ));
    assert!(
        rendered.contains("made of more than 2000 parts"),
        "{rendered}"
    );
    // Functions that call each other twice.
    let each = |n: usize| format!("fn g{n}(a: i32) -> i32 = g{0}(a) + g{0}(a + 1);\n", n - 1);
    let rendered = said(&functions(
        "fn g0(a: i32) -> i32 = a;\n",
        &each,
        "g59(a[x])",
    ));
    assert!(rendered.contains("calls of functions unfold"), "{rendered}");
}

/// What is left over of what is left over: each remainder begins where quotients of the bounds end.
#[test]
fn remainders_of_remainders() {
    let of = |directives: &str| {
        let body = "for x in 0..n { o[x] = 1; }";
        said(&format!(
            "kernel k(n: size, o: out u8[n]) {{ {body} }} schedule {{ {directives} }}"
        ))
    };
    for directive in ["jam x by 2; ", "unroll x by 2; "] {
        assert_eq!(of(&directive.repeat(3)), "");
        for times in [4, 400] {
            let rendered = of(&directive.repeat(times));
            assert!(
                rendered.contains("bounds of what is left over would have more than 128 parts"),
                "{rendered}"
            );
        }
    }
}

/// A pipeline of one array with this head and this value.
fn pipeline(dims: &str, lines: &str) -> String {
    format!(
        "module name=p, target=x86-64-linux\nexternal_plus_metadata func p (a, o) {{\n\
         let a = (void *)_halide_buffer_get_host((struct halide_buffer_t *)a.buffer)\n\
         let o = (void *)_halide_buffer_get_host((struct halide_buffer_t *)o.buffer)\n\
         let n = _halide_buffer_get_extent((struct halide_buffer_t *)o.buffer, 0)\n\
         let s = _halide_buffer_get_stride((struct halide_buffer_t *)a.buffer, 0)\n\
         let a.type = (uint32)_halide_buffer_get_type((struct halide_buffer_t *)a.buffer)\n\
         let o.type = (uint32)_halide_buffer_get_type((struct halide_buffer_t *)o.buffer)\n\
         let a.dimensions = _halide_buffer_get_dimensions((struct halide_buffer_t *)a.buffer)\n\
         let o.dimensions = _halide_buffer_get_dimensions((struct halide_buffer_t *)o.buffer)\n\
         let o.stride.0 = _halide_buffer_get_stride((struct halide_buffer_t *)o.buffer, 0)\n\
         assert(a.type == (uint32)73728, halide_error_bad_type(\"a\"))\n\
         assert(a.dimensions == {dims}, halide_error_bad_dimensions(\"a\"))\n\
         assert(o.type == (uint32)73728, halide_error_bad_type(\"o\"))\n\
         assert(o.dimensions == 1, halide_error_bad_dimensions(\"o\"))\n\
         assert(o.stride.0 == 1, halide_error_constraint_violated(\"o.stride.0\"))\n\
         produce o {{\n for (o.s0.v0, 0, n) {{\n{lines}\n }}\n}}\n}}\n"
    )
}

fn halide_said(text: &str) -> String {
    let start = Instant::now();
    let source = Source::new("p.stmt", text);
    let mut rendered = String::new();
    for convention in [Convention::Pointers, Convention::Buffers] {
        let constants = halide::Constants::default();
        let options = halide::Options {
            masked: [8, 16, 32].into(),
            sums: 512,
            ..halide::Options::new(convention, &constants)
        };
        match halide::read(&source, &options) {
            Ok(import) => {
                let _ = schedule::apply(&import.kernel).and_then(|s| lower(&s));
            }
            Err(diagnostics) => rendered += &render(&diagnostics),
        }
    }
    assert!(start.elapsed() < LONGEST, "{:?}", start.elapsed());
    rendered
}

fn value(value: &str) -> String {
    halide_said(&pipeline("1", &format!("  o[o.s0.v0] = {value}")))
}

#[test]
fn pipelines_that_are_too_much() {
    assert_eq!(value("(a[o.s0.v0] + 1) + -0"), "");
    for dims in ["1000000000", "17", "18446744073709551615"] {
        let rendered = halide_said(&pipeline(dims, "  o[o.s0.v0] = a[o.s0.v0]"));
        assert!(
            rendered.contains("number of dimensions, 0 to 16"),
            "{rendered}"
        );
    }
    for lanes in ["0", "5000", "4294967297", "-1", "n"] {
        let wide = format!("  o[ramp(o.s0.v0, 1, {lanes})] = a[ramp(o.s0.v0, 1, {lanes})]");
        assert!(
            halide_said(&pipeline("1", &wide)).contains("too many lanes"),
            "{lanes}"
        );
        let rendered = value(&format!("int32(ramp(a[o.s0.v0], 1, {lanes}))"));
        assert!(rendered.contains("too many lanes"), "{lanes}: {rendered}");
    }
    for call in [
        "x5()",
        "x0(1)",
        "x4096(x2(1))",
        "slice_vectors(x4(a[0]), 0, 4294967295, 4294967295)",
        "slice_vectors(x4(1), 0, 1, 4294967295)",
        "concat_vectors(x4000(a[0]), x4000(a[1]))",
        "x3(a[0]) + x4(a[1])",
        "min(ramp(0, 1, 3), ramp(0, 1, 4))",
        "extract_element(x4(a[0]), 4)",
        "int32()",
        "select()",
    ] {
        assert_ne!(value(call), "", "{call}");
    }
}

#[test]
fn depth_in_pipelines() {
    // What is just not refused is read without trouble, with the stack that the binary has.
    let work = std::thread::Builder::new().stack_size(256 << 20).spawn(|| {
        assert_eq!(value(&format!("a[0]{}", " + a[0]".repeat(950))), "");
        let deep = format!("{}1{}", "(".repeat(190), ")".repeat(190));
        assert_eq!(value(&deep), "");
    });
    work.expect("it starts").join().expect("both are read");
    for times in [2_000, 20_000] {
        assert_eq!(
            value(&format!("int32({}(1 == n))", "!".repeat(2 * times))),
            ""
        );
        let inner = [
            ("(", ")"),
            ("min(1, ", ")"),
            ("(f(\")\") + ", ")"),
            ("let t = 1 in ", ""),
            ("a[0] if ", ""),
            ("a[", "]"),
        ];
        for (open, close) in inner {
            let rendered = value(&format!("{}1{}", open.repeat(times), close.repeat(times)));
            assert!(
                rendered.contains("nest more than 200 deep"),
                "{open}: {rendered}"
            );
        }
        let rendered = value(&format!("a[0]{}", " + a[0]".repeat(times)));
        assert!(
            rendered.contains("levels deep") || rendered.contains("more than"),
            "{rendered}"
        );
        let open = " for (i, 0, n) {\n".repeat(times);
        let rendered = halide_said(&pipeline("1", &format!("{open}{}", "}\n".repeat(times))));
        assert!(
            rendered.contains("blocks nest more than 200 deep"),
            "{rendered}"
        );
    }
}

#[test]
fn names_in_pipelines_that_stand_for_very_much() {
    let chain = |each: &dyn Fn(usize) -> String, last: &str| {
        let lets: String = (1..80)
            .map(|n| format!("  let t{n} = {}\n", each(n - 1)))
            .collect();
        halide_said(&pipeline(
            "1",
            &format!("  let t0 = o.s0.v0\n{lets}  {last}"),
        ))
    };
    let rendered = chain(
        &|n| format!("min(t{n}*t{n}, t{n}/3)"),
        "o[t79] = a[o.s0.v0]",
    );
    assert!(rendered.contains("more than 2000 parts"), "{rendered}");
    let rendered = chain(
        &|n| format!("select(t{n} < 3, t{n}, t{n}*t{n})"),
        "o[t79] = a[o.s0.v0]",
    );
    assert!(rendered.contains("parts"), "{rendered}");
    // Data has names of its own.
    let data: String = (1..60)
        .map(|n| format!("  let t{n} = t{} * t{}\n", n - 1, n - 1))
        .collect();
    let text = format!("  let t0 = a[o.s0.v0]\n{data}  o[o.s0.v0] = t59");
    assert_eq!(halide_said(&pipeline("1", &text)), "");
    let shift = (0..40).fold("a[0]".to_owned(), |s, _| format!("shift_left(a[1], {s})"));
    let rendered = value(&shift);
    assert!(rendered.contains("parts"), "{rendered}");
}
