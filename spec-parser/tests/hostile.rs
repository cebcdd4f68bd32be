//! Bad input: bounded time and memory, and a clear word. What fuzzing has found is here too.

use semantics::instruction::{Element, Form, Operand, Role};
use semantics::span::{Source, Span};
use spec_parser::errata::Errata;
use spec_parser::intel::{guide, lower};
use spec_parser::signature::{Returned, Signature};
use std::time::{Duration, Instant};

/// Far more than any of these needs, even where other work runs beside it.
const LONGEST: Duration = Duration::from_secs(20);

fn operand(name: &str, element: Element, width: u32, role: Role) -> Operand {
    Operand {
        name: name.to_owned(),
        c_type: "__m512i".to_owned(),
        element,
        width,
        role,
    }
}

fn signature() -> Signature {
    Signature {
        name: "f".to_owned(),
        isa: "x86".to_owned(),
        returns: Returned {
            c_type: "__m512i".to_owned(),
            element: Element::Unsigned(32),
            width: 512,
        },
        operands: vec![
            operand("a", Element::Signed(16), 512, Role::Register),
            operand("b", Element::Unsigned(32), 512, Role::Register),
            operand("x", Element::Float(32), 512, Role::Register),
            operand("k", Element::Mask, 16, Role::Mask),
            operand("imm8", Element::Untyped, 8, Role::Immediate { max: 255 }),
            operand("p", Element::Untyped, 64, Role::Pointer { align: 1 }),
        ],
        features: Vec::new(),
        mnemonic: None,
        form: Form::Single,
    }
}

/// What is said of a body, and the hint; nothing when it has a meaning.
fn said(body: &str) -> String {
    let source = Source::new("body", body);
    let start = Instant::now();
    let result = lower::lower_body(&signature(), &source, Span::new(0, body.len()), false);
    assert!(start.elapsed() < LONGEST, "{:?}", start.elapsed());
    result.err().map_or(String::new(), |d| d[0].message.clone())
}

/// What is said of a data file, entry by entry.
fn of_file(text: String) -> Vec<String> {
    let source = Source::new("guide.xml", text);
    let start = Instant::now();
    let told = match guide::load(&source, &Errata::default()) {
        Ok(loaded) => loaded.diagnostics,
        Err(diagnostic) => vec![diagnostic],
    };
    assert!(start.elapsed() < LONGEST, "{:?}", start.elapsed());
    told.iter().map(|d| d.message.clone()).collect()
}

fn file(body: &str) -> String {
    format!(
        "<list><intrinsic tech=\"T\" name=\"f\"><return type=\"int\" varname=\"dst\"/>\
         <parameter type=\"int\" varname=\"a\" etype=\"SI32\"/>\
         <operation>{body}</operation></intrinsic></list>"
    )
}

#[test]
fn loops_that_do_not_end() {
    let limit = "the body runs more than 100000 statements";
    let long = "1152921504606846976";
    let once = format!("FOR j := 0 to {long}\n dst[7:0] := j\nENDFOR\n");
    assert_eq!(said(&once), limit);
    assert_eq!(
        said(&format!("FOR j := 0 to {long}\nENDFOR\ndst := 0\n")),
        limit
    );
    let nested = format!(
        "FOR i := 0 to {long}\nFOR j := 0 to {long}\nFOR h := 0 to {long}\nENDFOR\nENDFOR\nENDFOR\n"
    );
    assert_eq!(said(&nested), limit);
    // Each statement reads more bits than there are.
    let rounds = format!(
        "FOR h := 0 to {long}\n FOR j := 0 to 31\n  t[h*128+7:h*128] := a[8007+j:7]\n ENDFOR\nENDFOR\n"
    );
    assert_eq!(said(&rounds), limit);
    let calls = "DEFINE F(n) {\n RETURN F(n + 1)\n}\ndst := F(0)\n";
    assert_eq!(said(calls), "`F` calls itself too often");
    let tree =
        "DEFINE F(n) {\n IF n > 20\n  RETURN n\n FI\n RETURN F(n + 1) + F(n + 1)\n}\ndst := F(0)\n";
    assert_eq!(said(tree), limit);
    assert_eq!(
        said("t := 1\nDO WHILE t > 0\n t := t + 1\nOD\n"),
        "the loop does not end after 1024 rounds"
    );
}

/// The first loop tells how many statements all in it are: none is run, so that many such bodies take no time.
#[test]
fn loops_in_loops_are_refused_before_they_run() {
    let limit = "the body runs more than 100000 statements";
    let nested = |inside: &str| {
        let begin: String = (0..20).map(|k| format!("FOR i{k} := 0 to 4-2\n")).collect();
        format!("{begin}{inside}{}", "ENDFOR\n".repeat(20))
    };
    let body = nested("t[255:0] := a[255:0] + 1\n");
    let source = Source::new("body", body.clone());
    let told = lower::lower_body(&signature(), &source, Span::new(0, body.len()), false);
    let told = told.expect_err("it does not end").remove(0);
    let (_, place) = told.place.expect("it points at the body");
    assert_eq!(
        (&*told.message, &body[..place.start]),
        (limit, "FOR i0 := 0 to ")
    );
    // What may end early is run.
    let ends = format!(
        "{}dst := 1\n",
        nested("BREAK\n").replace("ENDFOR\n", "BREAK\nENDFOR\n")
    );
    assert_eq!(said(&ends), "");
}

#[test]
fn slices_that_are_not_there() {
    assert_eq!(
        said("i := 3\ndst[i-5:i-9] := a[7:0]\n"),
        "this slice lies outside every register"
    );
    assert_eq!(
        said("dst[7:0] := a[0-1:0-8]\n"),
        "this slice lies outside every register"
    );
    assert_eq!(
        said("dst[7:0] := a[99999999999:99999999992]\n"),
        "this slice lies outside every register"
    );
    assert_eq!(
        said("dst[7:0] := a[b[7:0]+7-300:b[7:0]-300]\n"),
        "this offset may be negative"
    );
    assert_eq!(
        said("dst[1152921504606846976:0] := a\n"),
        "this slice has no bits"
    );
}

#[test]
fn values_that_grow() {
    let doubling =
        "t := a[7:0]\n".to_owned() + &"t := k[0] ? (t << b[3:0]) : (t << b[5:0])\n".repeat(60);
    assert_eq!(
        said(&(doubling + "dst := t\n")),
        "this value is made of too many parts"
    );
    let squares = "t := b[31:0] + 1\n".to_owned() + &"t := t * t\n".repeat(60);
    assert_eq!(
        said(&(squares + "dst := t\n")),
        "this value is wider than 8192 bits"
    );
    let deep =
        "FOR j := 0 to 3000\n t[31:0] := (t[31:0] XOR b[31:0]) + a[31:0]\nENDFOR\ndst := t\n";
    assert_eq!(said(deep), "this value is made of too many parts");
    let choices = "FOR j := 0 to 3000\n IF a[j] == b[j+1]\n  dst[31:0] := j\n FI\nENDFOR\n";
    assert_eq!(said(choices), "");
    let power = "dst := 99999999999999999999999999999999999999999 * 2\n";
    assert_eq!(said(power), "this number is too large");
}

#[test]
fn nesting() {
    let deep = format!("dst := {}a{}\n", "(".repeat(100_000), ")".repeat(100_000));
    assert_eq!(said(&deep), "this body has 200009 bytes");
    let deep = format!("dst := {}a{}\n", "(".repeat(20_000), ")".repeat(20_000));
    assert_eq!(said(&deep), "brackets nest deeper than 48 levels");
    let blocks = "IF a[0]\n".repeat(5_000) + &"FI\n".repeat(5_000);
    assert_eq!(said(&blocks), "blocks nest deeper than 48 levels");
    let choices = format!("dst := {}0\n", "a[0] ? 1 : ".repeat(5_000));
    assert_eq!(said(&choices), "choices nest deeper than 48 levels");
    let sums = format!("dst := {}0\n", "a + ".repeat(10_000));
    assert_eq!(said(&sums), "this expression is more than 160 levels deep");
    let prefixes = format!("dst := {}a\n", "- ".repeat(10_000));
    assert_eq!(
        said(&prefixes),
        "this expression is more than 160 levels deep"
    );
    let tags = of_file("<a>".repeat(300_000));
    assert!(tags[0].starts_with("this is not XML"), "{tags:?}");
}

#[test]
fn truncated_files() {
    let whole = file("dst := a + 1");
    for cut in (0..whole.len()).step_by(7) {
        let told = of_file(whole[..cut].to_owned());
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].starts_with("this is not XML"), "{told:?}");
    }
    assert!(of_file(whole).is_empty());
}

#[test]
fn entities_and_sizes() {
    let nested: String = (1..30)
        .map(|n| format!("<!ENTITY e{n} \"&e{};&e{};&e{};\">", n - 1, n - 1, n - 1))
        .collect();
    let bomb = format!(
        "<!DOCTYPE x [<!ENTITY e0 \"lol\">{nested}]>{}",
        file("&e29;")
    );
    let refused = "a document type is not read: its entities could grow without bound";
    assert_eq!(of_file(bomb), [refused]);
    let outside = format!(
        "<!DOCTYPE x [<!ENTITY e SYSTEM \"/etc/passwd\">]>{}",
        file("&e;")
    );
    assert_eq!(of_file(outside), [refused]);
    let unknown = of_file(file("dst := a&nbsp;+ 1"));
    assert!(unknown[0].contains("nbsp"), "{unknown:?}");
    let long = of_file(file(&"dst := a + 1 \n".repeat(8_000_000)));
    assert_eq!(long, ["this body has 112000000 bytes"]);
    let parts = of_file(file("dst := a <b>+</b> 1"));
    assert_eq!(parts, ["an `<operation>` holds something other than text"]);
    let quoted = of_file(file("<![CDATA[dst := (a >> 1) & 3]]>"));
    assert!(quoted.is_empty(), "{quoted:?}");
}

/// Found by fuzzing.
#[test]
fn arguments_that_functions_do_not_take() {
    assert_eq!(
        said("dst[31:0] := MOD2(b[39:8191], 0x11EDC6F41)\n"),
        "a dividend of more than 256 bits is not described"
    );
    for divisor in 0..4 {
        assert_eq!(
            said(&format!("dst[31:0] := MOD2(b[39:0], {divisor})\n")),
            "the divisor of polynomials must be known, of degree 2 or more"
        );
    }
    assert_eq!(
        said("DEFINE f(x[2:3]) {\n RETURN x\n}\ndst[31:0] := f(b[31:0])\n"),
        "`[2:3]` is no width of a parameter"
    );
    assert_eq!(
        said("dst[15:0] := Convert_UInt64_To_FP16(b[127:0])\n"),
        "an integer of more than 64 bits does not convert"
    );
}

/// Code in the place of every value of a data file: it is no part of any name.
#[test]
fn names_in_a_data_file_that_are_code() {
    let file = "<list><intrinsic tech=\"T\" name=\"_mm_f\" rettype=\"int\"><CPUID>AVX2</CPUID>\
         <category>Arithmetic</category><return type=\"__m128i\" varname=\"dst\" etype=\"UI8\"/>\
         <parameter type=\"__m128i\" varname=\"a\" etype=\"SI32\"/>\
         <instruction name=\"VPADDB\" form=\"xmm, xmm\"/>\
         <operation>dst[127:0] := a[127:0]</operation></intrinsic></list>";
    let all = |text: &str| guide::load(&Source::new("guide.xml", text), &Errata::default());
    assert_eq!(all(file).expect("it is XML").instructions.len(), 1);
    let values = [
        "name=\"_mm_f",
        ">AVX2",
        "type=\"__m128i\" varname=\"dst",
        "type=\"__m128i\" varname=\"a",
        "varname=\"a",
        "name=\"VPADDB",
        "form=\"xmm, xmm",
        "tech=\"T",
        ">Arithmetic",
    ];
    let hostile = [
        "f(); system(&quot;x&quot;); //",
        "f&#10;#error",
        "f`x`",
        "$(x)",
        "a|b",
        "&lt;b&gt;",
    ];
    let mut left_out = 0;
    for value in values {
        for text in hostile {
            let (key, _) = value.split_once(['"', '>']).expect("a value begins");
            let first = &value[..=key.len()];
            let rest = &value[first.len()..];
            let end = rest.find('"').map_or(rest, |n| &rest[n..]);
            let end = if rest.contains('"') { end } else { "" };
            let changed = file.replacen(value, &format!("{first}{text}{end}"), 1);
            assert_ne!(changed, file, "{value}");
            let loaded = all(&changed).expect("it is XML");
            left_out += usize::from(loaded.instructions.is_empty());
            for instruction in &loaded.instructions {
                semantics::spelling::instruction(instruction).expect("names are names");
            }
            assert_eq!(
                loaded.instructions.len() + loaded.diagnostics.len(),
                1,
                "{changed}"
            );
        }
    }
    assert!(left_out >= 36, "{left_out}");
}

/// The same for every value of our own format.
#[test]
fn names_in_a_family_that_are_code() {
    let folder = tempfile::tempdir().expect("there is room");
    let family = "- family: add\n  doc: Sums.\n  vary: [[{W: 128, V: __m128i, N: add, needs: [SSE2]}]]\n  \
        intrinsic: \"_mm_{N}_epi8\"\n  instruction: \"v{N}b\"\n  returns: \"UI8\"\n  operands: \"a UI8, b UI8\"\n  \
        pseudocode: |\n    dst[127:0] := a[127:0] + b[127:0]\n";
    let manifest = "isa: x86\ndialect: intel\ntypes: {__m128i: 128}\nfiles: [family.yaml]\n";
    let targets = "features:\n  SSE2: {flag: sse2, cpuinfo: sse2}\nmodels: {}\n";
    let load = |family: &str, manifest: &str, targets: &str| {
        for (name, text) in [
            ("family", family),
            ("manifest", manifest),
            ("targets", targets),
        ] {
            let path = folder.path().join(format!("{name}.yaml"));
            std::fs::write(path, text).expect("there is room");
        }
        spec_parser::specs::load(&folder.path().join("manifest.yaml"))
    };
    let whole = load(family, manifest, targets).expect("it is right");
    assert_eq!(whole.instructions.len(), 1, "{:?}", whole.diagnostics);
    let hostile = [
        "f(); system(0); //",
        "a\\n#error",
        "`x`",
        "a$(x)",
        "a\\\"b",
        "é",
    ];
    let mut refused = 0;
    for text in hostile {
        let cases = [
            (
                family.replace("N: add", &format!("N: \"{text}\"")),
                manifest.to_owned(),
                targets.to_owned(),
            ),
            (
                family.replace("_mm_{N}", text),
                manifest.to_owned(),
                targets.to_owned(),
            ),
            (
                family.replace("v{N}b", text),
                manifest.to_owned(),
                targets.to_owned(),
            ),
            (
                family.replace("\"UI8\"", &format!("\"{text} UI8\"")),
                manifest.to_owned(),
                targets.to_owned(),
            ),
            (
                family.replace("a UI8", &format!("{text} UI8")),
                manifest.to_owned(),
                targets.to_owned(),
            ),
            (
                family.replace("a UI8", &format!("a {text} UI8")),
                manifest.to_owned(),
                targets.to_owned(),
            ),
            (
                family.to_owned(),
                manifest.replace("x86", &format!("\"{text}\"")),
                targets.to_owned(),
            ),
            (
                family.replace("SSE2", &format!("\"{text}\"")),
                manifest.to_owned(),
                targets.replace("SSE2", &format!("\"{text}\"")),
            ),
        ];
        for (family, manifest, targets) in cases {
            match load(&family, &manifest, &targets) {
                Err(told) => refused += usize::from(!told.is_empty()),
                Ok(specs) => {
                    refused += usize::from(specs.instructions.is_empty());
                    assert_eq!(specs.instructions.is_empty(), !specs.diagnostics.is_empty());
                    for instruction in &specs.instructions {
                        semantics::spelling::instruction(instruction).expect("names are names");
                    }
                }
            }
        }
    }
    assert!(refused > 40, "{refused}");
}

/// Axes of which any few would do, so many that their product fits no number.
#[test]
fn axes_without_end() {
    let folder = tempfile::tempdir().expect("there is room");
    let axes = |count: usize| {
        let text = format!(
            "- family: add\n  doc: Sums.\n  vary: [{}]\n  intrinsic: \"_mm_add_epi8\"\n  \
             instruction: \"vaddb\"\n  returns: \"UI8\"\n  operands: \"a UI8\"\n  \
             pseudocode: |\n    dst[127:0] := a[127:0]\n",
            vec!["eights"; count].join(", ")
        );
        let manifest = "isa: x86\ndialect: intel\ntypes: {__m128i: 128}\nfiles: [family.yaml]\n\
            axes:\n  eights: [{A: 1}, {A: 2}, {A: 3}, {A: 4}, {A: 5}, {A: 6}, {A: 7}, {A: 8}]\n";
        for (name, text) in [
            ("family", text.as_str()),
            ("manifest", manifest),
            ("targets", "features: {}\nmodels: {}\n"),
        ] {
            let path = folder.path().join(format!("{name}.yaml"));
            std::fs::write(path, text).expect("there is room");
        }
        let loaded = spec_parser::specs::load(&folder.path().join("manifest.yaml"));
        let told = loaded.map_or_else(|told| told, |specs| specs.diagnostics);
        semantics::diagnostic::render(&told)
    };
    // 8^43 is 0 modulo 2^64, and 8^5 is more than is allowed.
    for count in [5, 22, 43, 2000] {
        let told = axes(count);
        assert!(
            told.contains("the axes give more than 10000 rows"),
            "{count}: {told}"
        );
    }
}
