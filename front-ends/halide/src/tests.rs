//! Statement texts as kernels: what they compute, and what is refused.

use super::{Constants, Convention, Import, Options, read};
use kernel::eval::{Data, run};
use semantics::diagnostic::Diagnostic;
use semantics::span::Source;
use std::collections::BTreeMap;

/// A pipeline with one input of bytes and one output, and these statements.
fn pipeline(output: &str, body: &str) -> String {
    let mut text = String::from(
        "module name=f, target=x86-64-linux\nexternal_plus_metadata func f (a, o) {\n",
    );
    for (name, code) in [("a", "67585"), ("o", output)] {
        text += &format!(
            "let {name} = (void *)_halide_buffer_get_host((struct halide_buffer_t *){name}.buffer)\n\
             let {name}.type = (uint32)_halide_buffer_get_type((struct halide_buffer_t *){name}.buffer)\n\
             let {name}.dimensions = _halide_buffer_get_dimensions((struct halide_buffer_t *){name}.buffer)\n\
             let {name}.min.0 = _halide_buffer_get_min((struct halide_buffer_t *){name}.buffer, 0)\n\
             let {name}.extent.0 = _halide_buffer_get_extent((struct halide_buffer_t *){name}.buffer, 0)\n\
             let {name}.stride.0 = _halide_buffer_get_stride((struct halide_buffer_t *){name}.buffer, 0)\n\
             assert({name}.type == (uint32){code}, halide_error_bad_type(\"{name}\", {name}.type, (uint32){code}))\n\
             assert({name}.dimensions == 1, halide_error_bad_dimensions(\"{name}\", {name}.dimensions, 1))\n\
             assert({name}.stride.0 == 1, halide_error_constraint_violated(\"{name}\", {name}.stride.0, \"1\", 1))\n"
        );
    }
    text + "produce o {\n" + body + "\n}\n}\n\n"
}

const BYTES: &str = "67585";
const WORDS: &str = "73728";

/// Reads a pipeline for a target that moves whole vectors.
fn plain(source: &Source) -> Result<Import, Vec<Diagnostic>> {
    let constants = Constants::default();
    let options = Options {
        sums: 512,
        ..Options::new(Convention::Pointers, &constants)
    };
    read(source, &options)
}

/// Runs a pipeline on bytes, as it is read for a target that moves some lanes of a vector too.
fn result(output: &str, body: &str, a: &[i128], n: usize) -> Vec<i128> {
    let source = Source::new("f.stmt", pipeline(output, body));
    let data = Data {
        sizes: BTreeMap::from([
            ("a_extent_0".to_owned(), i64::try_from(a.len()).unwrap()),
            ("o_extent_0".to_owned(), i64::try_from(n).unwrap()),
        ]),
        scalars: BTreeMap::new(),
        arrays: BTreeMap::from([("a".to_owned(), a.to_vec()), ("o".to_owned(), vec![0; n])]),
    };
    let constants = Constants::default();
    let results = [&[][..], &[8, 16, 32]].map(|masked| {
        let options = Options {
            masked: masked.iter().copied().collect(),
            sums: 512,
            ..Options::new(Convention::Pointers, &constants)
        };
        let import = read(&source, &options).unwrap_or_else(|d| panic!("{d:?}"));
        run(&import.kernel, &data).unwrap().arrays["o"].clone()
    });
    assert_eq!(results[0], results[1], "with and without masks");
    let [result, _] = results;
    result
}

fn refusal(body: &str) -> String {
    let source = Source::new("f.stmt", pipeline(BYTES, body));
    let wrong = plain(&source).expect_err("it is refused");
    semantics::diagnostic::lines(&wrong)
}

#[test]
fn vectors_and_a_tail_that_is_predicated() {
    let body = "for (x, 0, o.extent.0/4) {\n\
        o[ramp(x*4, 1, 4) aligned(4, 0)] = (uint8x4)saturating_add(a[ramp(x*4, 1, 4)], x4((uint8)200))\n}\n\
        if ((o.extent.0 % 4) != 0) {\n\
        predicate (ramp((o.extent.0/4)*4, 1, 4) < x4(o.extent.0))\n\
        o[ramp((o.extent.0/4)*4, 1, 4)] = (uint8x4)saturating_add(a[ramp((o.extent.0/4)*4, 1, 4)] if (ramp((o.extent.0/4)*4, 1, 4) < x4(o.extent.0)), x4((uint8)200))\n}";
    let a: Vec<i128> = (0..11).map(|i| i * 9).collect();
    let expected: Vec<i128> = a.iter().map(|v| (v + 200).min(255)).collect();
    assert_eq!(result(BYTES, body, &a, 11), expected);
    assert_eq!(result(BYTES, body, &a[..8], 8), expected[..8]);
    assert_eq!(result(BYTES, body, &a[..3], 3), expected[..3]);
}

#[test]
fn leading_lanes_are_moved_at_once_where_the_target_can() {
    // As Halide compares: with lane numbers in 8 bits, to which it saturates the size.
    let place = "ramp((o.extent.0/16)*16, 1, 16)";
    let mask = "int8x16(ramp(0, 1, 16)) < x16((int8)saturating_cast(saturating_sub(o.extent.0, (o.extent.0/16)*16)))";
    let loaded = "ramp((o.extent.0/16)*16, 1, 16) < x16(o.extent.0)";
    let body = format!(
        "predicate ({mask})\n\
         o[{place}] = shuffle(a[{place}] if ({loaded}), 0, 0, 1, 1, 4, 3, 6, 5, 8, 7, 10, 9, 12, 11, 13, 14)"
    );
    let source = Source::new("f.stmt", pipeline(BYTES, &body));
    let constants = Constants::default();
    let partial = |masked: &[u32]| {
        let options = Options {
            masked: masked.iter().copied().collect(),
            sums: 512,
            ..Options::new(Convention::Pointers, &constants)
        };
        let mut found = 0;
        let kernel = read(&source, &options).unwrap().kernel;
        kernel::visit::for_each_stmt(&kernel.body, &mut |_, around| {
            found += usize::from(around.iter().any(|f| f.partial));
        });
        found
    };
    assert_eq!((partial(&[]), partial(&[32]), partial(&[8])), (0, 0, 2));
    let a: Vec<i128> = (1..40).collect();
    for n in [1, 7, 16, 19, 31] {
        let first = n / 16 * 16;
        let order = [0, 0, 1, 1, 4, 3, 6, 5, 8, 7, 10, 9, 12, 11, 13, 14];
        let lane = |l: usize| {
            let from = first + order[l % 16];
            if l < first {
                0
            } else if from < n {
                a[from]
            } else {
                0
            }
        };
        let expected: Vec<i128> = (0..n).map(lane).collect();
        assert_eq!(result(BYTES, &body, &a[..n], n), expected, "{n}");
    }
}

#[test]
fn places_that_are_joined_ramps_are_numbers() {
    let a: Vec<i128> = (1..40).collect();
    let at = |order: &[usize]| order.iter().map(|&l| a[l]).collect::<Vec<i128>>();
    let found = |place: &str, order: &[usize]| {
        let body = format!("o[ramp(0, 1, {})] = a[{place}]", order.len());
        assert_eq!(result(BYTES, &body, &a, order.len()), at(order), "{place}");
        let source = Source::new("f.stmt", pipeline(BYTES, &body));
        let arrays = plain(&source).unwrap().kernel.arrays.len();
        assert_eq!(arrays, 2, "{place}: none of places");
    };
    let joined = "interleave_vectors(ramp(3, 2, 4), ramp(3, 2, 4))";
    found(joined, &[3, 3, 5, 5, 7, 7, 9, 9]);
    let joined = "interleave_vectors(ramp(20, -1, 2), ramp(13, -1, 2), ramp(6, -1, 2))";
    found(joined, &[20, 13, 6, 19, 12, 5]);
    found(
        "concat_vectors(ramp(2, 3, 3), ramp(21, 3, 3))",
        &[2, 5, 8, 21, 24, 27],
    );
}

#[test]
fn clamped_places_and_scatters_go_lane_by_lane() {
    let body = "o[ramp(6, -2, 4)] = a[max(min(ramp(-1, 2, 4), x4(a.extent.0 + -1)), x4(0))]";
    let a = [10, 11, 12, 13];
    assert_eq!(
        result(BYTES, body, &a, 8),
        [13, 0, 13, 0, 11, 0, 10, 0][..].to_vec()
    );
}

/// What boundary conditions leave of a row: inside of it the lanes are neighbours.
#[test]
fn places_that_wrap_or_are_mirrored_are_one_load_inside() {
    let x = "ramp((x*8) + -8, 1, 8)";
    let inside = format!("(x8(0) <= {x}) && ({x} < x8(a.extent.0))");
    let clamp = format!("max(min({x}, x8(a.extent.0 + -1)), x8(0))");
    let wrapped = format!("{x} % x8(a.extent.0)");
    let mirrored = format!(
        "x8(a.extent.0 + -1) - int32x8((uint32x8)abs(({x} % x8((a.extent.0*2) + -2)) + x8(1 - a.extent.0)))"
    );
    let n = 27i64;
    let a: Vec<i128> = (1..28).collect();
    let around = |at: i64| at.rem_euclid(n);
    let back = |at: i64| n - 1 - (at.rem_euclid(2 * n - 2) - (n - 1)).abs();
    let places: [(String, &dyn Fn(i64) -> i64); 4] = [
        (wrapped.clone(), &around),
        (format!("select({inside}, {clamp}, {wrapped})"), &around),
        (format!("select({inside}, {clamp}, {mirrored})"), &back),
        (clamp.clone(), &|at| at.clamp(0, n - 1)),
    ];
    for (place, at) in places {
        let body = format!("for (x, 0, o.extent.0/8) {{\no[ramp(x*8, 1, 8)] = a[{place}]\n}}");
        let wanted: Vec<i128> = (-8..48)
            .map(|x| a[usize::try_from(at(x)).unwrap()])
            .collect();
        assert_eq!(result(BYTES, &body, &a, 56), wanted, "{place}");
        let kernel = kernel_of(&body);
        let given = kernel.arrays.iter().position(|a| a.name == "a");
        let mut dense = 0;
        kernel::visit::for_each_stmt(&kernel.body, &mut |stmt, _| {
            if let kernel::tree::Stmt::Assign(assign) = stmt
                && let kernel::tree::ExprKind::Load(from) = &assign.value.kind
            {
                dense += u32::from(Some(from.array) == given && from.lanes == 8);
            }
        });
        assert_eq!(dense, 1, "{place}");
    }
}

#[test]
fn reductions_shuffles_and_allocations() {
    let body = "allocate s[int32 * 4]\n\
        s[ramp(0, 1, 4)] = x4(0)\n\
        for (k, 0, a.extent.0/8) {\n\
        let v = a[ramp(k*8, 1, 8)]\n\
        s[ramp(0, 1, 4)] = (int32x4)vector_reduce_add(int32x8((uint16x8)widening_mul(v, shuffle(v, 1, 0, 3, 2, 5, 4, 7, 6)))) + s[ramp(0, 1, 4)]\n\
        }\n\
        o[ramp(0, 1, 4)] = interleave_vectors(slice_vectors(s[ramp(0, 1, 4)], 0, 2, 2), slice_vectors(s[ramp(0, 1, 4)], 1, 2, 2))\n\
        free s";
    let a: Vec<i128> = (240..256).collect();
    let sum = |j: usize| -> i128 {
        (0..2)
            .map(|k| 2 * a[8 * k + 2 * j] * a[8 * k + 2 * j + 1])
            .sum()
    };
    assert_eq!(
        result(WORDS, body, &a, 4),
        (0..4).map(sum).collect::<Vec<_>>()
    );
}

#[test]
fn division_is_euclidean_and_zero_by_zero() {
    let body = "for (x, 0, o.extent.0) {\n\
        let t = int32(a[x]) - 3\n\
        o[x] = (t/-2) + ((t % -2)*100) + ((t/(t - t))*1000) + (min(x, 2)/0)\n}";
    let a: Vec<i128> = (0..7).collect();
    let expected: Vec<i128> = (-3i128..4)
        .map(|t| t.div_euclid(-2) + t.rem_euclid(-2) * 100)
        .collect();
    assert_eq!(result(WORDS, body, &a, 7), expected);
}

#[test]
fn shifts_by_negative_counts_go_the_other_way() {
    let body = "for (x, 0, o.extent.0) {\n\
        o[x] = shift_left(64, int32(a[x]) - 2) + shift_right(x, -1)\n}";
    assert_eq!(
        result(WORDS, body, &[0, 1, 2, 3], 4),
        [16, 32 + 2, 64 + 4, 128 + 6]
    );
}

#[test]
fn small_allocations_become_registers() {
    let body = "allocate s[int32 * 8]\ns[ramp(0, 1, 4)] = x4(1)\ns[ramp(4, 1, 4)] = x4(2)\n\
        for (k, 0, a.extent.0) {\ns[ramp(0, 1, 4)] = s[ramp(0, 1, 4)] + s[ramp(4, 1, 4)]\n}\n\
        o[ramp(0, 1, 4)] = s[ramp(0, 1, 4)]\nfree s";
    let source = Source::new("f.stmt", pipeline(WORDS, body));
    let import = plain(&source).unwrap();
    let names: Vec<&str> = import
        .kernel
        .registers
        .iter()
        .map(|r| r.name.as_str())
        .collect();
    assert_eq!(names, ["s_0", "s_4"]);
    assert_eq!(import.kernel.arrays.len(), 2);
    assert_eq!(result(WORDS, body, &[0; 5], 4), [11; 4]);
}

#[test]
fn sums_of_lanes_are_kept_in_lanes_while_a_loop_runs() {
    let body = "allocate s[int32 * 1]\ns[0] = 5\n\
        for (k, 0, a.extent.0/8) {\n\
        s[0] = (int32)vector_reduce_add(int32x8(a[ramp(k*8, 1, 8)])) + s[0]\n}\n\
        o[0] = s[0]\nfree s";
    let source = Source::new("f.stmt", pipeline(WORDS, body));
    let import = plain(&source).unwrap();
    let lanes: Vec<u32> = import.kernel.registers.iter().map(|r| r.ty.lanes).collect();
    assert_eq!(lanes, [1, 8]);
    let a: Vec<i128> = (100..124).collect();
    assert_eq!(result(WORDS, body, &a, 1), [5 + a.iter().sum::<i128>()]);
}

#[test]
fn checks_become_conditions_with_codes() {
    let text = pipeline(BYTES, "o[0] = a[0]").replace(
        "produce o {",
        "assert((1 <= a.extent.0) && (o.extent.0 <= a.extent.0), halide_error_access_out_of_bounds(\"a\", 0, 0, 0, 0, 0))\nproduce o {",
    );
    let import = plain(&Source::new("f.stmt", text)).unwrap();
    let codes: Vec<i32> = import.arguments.checks.iter().map(|c| c.code).collect();
    assert_eq!(codes, [-4, -4]);
    let buffers = read(
        &import.kernel.source,
        &Options::new(Convention::Buffers, &Constants::default()),
    )
    .unwrap();
    assert_eq!(buffers.kernel.sizes().count(), 6);
}

#[test]
fn what_is_not_understood_is_named_with_its_line() {
    for (body, message) in [
        (
            "gpu_block<CUDA> (x, 0, 4) {\no[x] = a[x]\n}",
            "a `gpu_block<CUDA>` loop",
        ),
        (
            "for<Hexagon> (x, 0, 4) {\no[x] = a[x]\n}",
            "a `for<Hexagon>` loop",
        ),
        (
            "o[0] = (uint8)my_function(a[0])",
            "`my_function` is not supported",
        ),
        (
            "o[0] = uint8(float32(a[0])*0.333333f)",
            "is not a f32 exactly",
        ),
        ("o[0] = missing", "`missing` is not defined"),
        (
            "o[ramp(0, 1, 1)] = a[ramp(0, 1, 8)]",
            "8 lanes are stored at 1 places",
        ),
        (
            "predicate (ramp(0, 1, 4) < x4(o.extent.0))\no[ramp(0, 1, 8)] = a[ramp(0, 1, 8)]",
            "4 lanes are stored at 8 places",
        ),
        (
            "o[ramp(0, 1, 8)] = x8(a[ramp(0, 1, 1)] if (ramp(0, 1, 8) < x8(o.extent.0)))",
            "8 lanes are asked whether to load from 1 places",
        ),
        (
            "o[ramp(0, 1, 8)] = uint8x8(int16x8(a[ramp(0, 1, 1)]))",
            "1 lanes are converted to 8",
        ),
        (
            "o[0] = (uint8)rounding_mul_shift_right(a[0], uint1(a[1]), (uint16)7)",
            "`rounding_mul_shift_right` is not supported",
        ),
        ("for (x, 0, 4) {\no[x] = a[x]", "this block is closed"),
        ("o[0] = a[0] + (int8)1", "operands of types u8 and i8"),
        ("halide_do_par_for(x)", "effect"),
        ("halide_semaphore_init(s, 0)", "effect"),
        (
            "fork {\no[0] = a[0]\n} {\no[1] = a[1]\n}",
            "only the text that Halide 21 writes is read",
        ),
        (
            "acquire (s.semaphore, 1) {\no[0] = a[0]\n}",
            "schedule without `async`",
        ),
        (
            "let t = halide_trace_helper(\"o\", (void *)make_struct(), (int32_t *)make_struct(), 3)",
            "schedule without `trace_loads`",
        ),
        ("buffer opencl_buf = {...}", "schedule without GPU loops"),
        ("o.0[0] = a[0]\no.1[0] = a[0]", "`o.0` is no buffer here"),
        (
            "o[0] = a[0] <=> a[1]",
            "only the text that Halide 21 writes is read",
        ),
        (
            "allocate s[uint8 * -1]\nfree s",
            "an allocation of a negative size",
        ),
        (
            "allocate s[uint8 * int32(a[0])]\nfree s",
            "the size of this allocation depends on data",
        ),
        (
            "for (x, 0, 4) {\nassert(o.extent.0 == x, halide_error_requirement_failed(\"e\", 1))\n}",
            "a check in the middle",
        ),
        (
            "let r = halide_do_par_for((halide_task_t)::task, 0, 4, (uint8_t *)(c))",
            "there is no function `task`",
        ),
        (
            "assert(stage(a.buffer, o.buffer) == 0, halide_error_extern_stage_failed(\"e\", 1))",
            "an `extern` stage",
        ),
    ] {
        let rendered = refusal(body);
        assert!(rendered.contains(message), "{body}: {rendered}");
        assert!(rendered.contains("f.stmt:"), "{body}: {rendered}");
    }
    for other in ["kernel f() {}", "Module name: f target: x86-64-linux\n"] {
        let source = Source::new("x.stmt", other);
        let wrong = plain(&source).expect_err("refused");
        let rendered = semantics::diagnostic::lines(&wrong);
        assert!(
            rendered.contains("not the lowered statement text"),
            "{rendered}"
        );
    }
}

#[test]
fn places_masks_conditions_and_bounds_that_are_data() {
    let a = [3, 0, 2, 1, 0, 2, 3, 3];
    let counts = "for (x, 0, 4) {\no[x] = 0\n}\n\
        for (x, 0, a.extent.0) {\nlet t = int32(a[x])\no[t] = o[t] + 1\n}";
    assert_eq!(result(WORDS, counts, &a, 4), [2, 1, 2, 3]);
    let looked = "o[ramp(0, 1, 8)] = int32x8(a[int32x8(a[ramp(0, 1, 8)])])";
    assert_eq!(result(WORDS, looked, &a, 8), [1, 3, 2, 0, 3, 2, 1, 1]);
    let masked = "o[ramp(0, 1, 8)] = x8(9)\npredicate (a[ramp(0, 1, 8)] < x8((uint8)2))\n\
        o[ramp(0, 1, 8)] = int32x8(a[ramp(0, 1, 8)] if (a[ramp(0, 1, 8)] < x8((uint8)2)))";
    assert_eq!(result(WORDS, masked, &a, 8), [9, 0, 9, 1, 0, 9, 9, 9]);
    let scattered = "o[ramp(0, 1, 8)] = x8(0)\no[int32x8(a[ramp(0, 1, 8)]) + ramp(0, 1, 8)/x8(4)*x8(4)] = ramp(0, 1, 8)";
    assert_eq!(result(WORDS, scattered, &a, 8), [1, 3, 2, 0, 4, 0, 5, 7]);
    let bounded = "for (y, 0, 8) {\no[y] = 0\nfor (x, 0, int32(a[y])) {\no[y] = o[y] + x + 1\n}\n\
        if (a[y] < (uint8)2) {\no[y] = o[y] + 10\n} else {\no[y] = o[y] + 20\n}\n}";
    assert_eq!(
        result(WORDS, bounded, &a, 8),
        [26, 10, 23, 11, 10, 23, 26, 26]
    );
}

#[test]
fn what_is_named_at_a_place_of_data_stays_in_sight() {
    let body = "for (x, 0, 2) {\nlet t = a[int32(a[x])]\nlet u = a[int32(t)]\n\
        o[x] = int32(t) + int32(u)*10\n}";
    assert_eq!(result(WORDS, body, &[3, 0, 2, 1], 2), [1, 13]);
}

/// The kernel of a pipeline on bytes.
fn kernel_of(body: &str) -> kernel::tree::Kernel {
    let source = Source::new("f.stmt", pipeline(BYTES, body));
    let import = plain(&source);
    import.unwrap_or_else(|d| panic!("{d:?}")).kernel
}

/// The widest elements that a kernel's first statement computes with.
fn widest(kernel: &kernel::tree::Kernel) -> u32 {
    fn of(e: &kernel::tree::Expr) -> u32 {
        let below = e.operands().iter().map(of).max();
        e.ty.elem.bits().max(below.unwrap_or(0))
    }
    let kernel::tree::Stmt::Assign(first) = &kernel.body[0] else {
        panic!("no assignment: {:?}", kernel.body)
    };
    of(&first.value)
}

#[test]
fn what_is_cut_is_computed_in_the_bits_that_it_needs() {
    let rounded = |factor: u32| {
        format!(
            "o[ramp(0, 1, 8)] = (uint8x8)saturating_cast((int32x8)rounding_shift_right(int32x8(a[ramp(0, 1, 8)])*x8({factor}), x8((uint32)8)))"
        )
    };
    let a = [0, 1, 2, 127, 128, 200, 254, 255];
    // 255*256 + 128 are 16 bits, 255*257 + 128 one more.
    for (factor, bits) in [(100, 16), (256, 16), (257, 32), (300, 32)] {
        let body = rounded(factor);
        let wanted = a.map(|x| ((x * i128::from(factor) + 128) >> 8).min(255));
        assert_eq!(result(BYTES, &body, &a, 8), wanted);
        assert_eq!(widest(&kernel_of(&body)), bits, "{factor}");
    }
    let signed = "o[ramp(0, 1, 8)] = (uint8x8)saturating_cast(((int32x8(a[ramp(0, 1, 8)]) - x8(100))*x8(-200))/x8(4))";
    let wanted = a.map(|x| ((x - 100) * -200).div_euclid(4).clamp(0, 255));
    assert_eq!(result(BYTES, signed, &a, 8), wanted);
    // The values are not in the range, so what is cut off is.
    let cut = "o[ramp(0, 1, 8)] = uint8x8(int32x8(a[ramp(0, 1, 8)])*x8(77) + x8(3))";
    assert_eq!(
        result(BYTES, cut, &a, 8),
        a.map(|x| (x * 77 + 3).rem_euclid(256))
    );
}

#[test]
fn brackets_that_are_not_closed_are_told_at_any_depth() {
    for open in [
        "reinterpret<uint64>(",
        "f(",
        "(",
        "a[",
        "(let t = 1 in ",
        "(uint8)f(",
        "!(",
        "f(1, ",
    ] {
        for depth in [60, 400] {
            let body = format!("o[ramp(0, 1, 8)] = {}1", open.repeat(depth));
            let begin = std::time::Instant::now();
            assert!(!refusal(&body).is_empty(), "{open}");
            assert!(begin.elapsed().as_secs() < 20, "{open} {depth}");
        }
    }
}

#[test]
fn values_that_are_used_twice_over_and_over_end() {
    let mut value = "t59 + x8(3)".to_owned();
    for k in (1..60).rev() {
        value = format!("(let t{k} = min(t{0}*t{0}, x8(200)) in {value})", k - 1);
    }
    let body = format!(
        "o[ramp(0, 1, 8)] = (uint8x8)saturating_cast((let t0 = int32x8(a[ramp(0, 1, 8)]) in {value}))"
    );
    let a = [0, 1, 2, 127, 128, 200, 254, 255];
    let wanted = [3, 4, 203, 203, 203, 203, 203, 203];
    assert_eq!(result(BYTES, &body, &a, 8), wanted);
}

#[test]
fn a_bit_is_tested_where_each_lane_has_it() {
    let bits = "o[ramp(0, 1, 16)] = select(((uint8x16)shift_right(shuffle(a[ramp(0, 1, 2)], 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1), uint8x16(ramp(0, 1, 16) % x16(8))) % x16((uint8)2)) == x16((uint8)0), x16((uint8)7), x16((uint8)9))";
    let bytes = [0b1010_0110, 0b0111_0001];
    let wanted: Vec<i128> = (0..16)
        .map(|k| 7 + 2 * (bytes[k / 8] >> (k % 8) & 1))
        .collect();
    assert_eq!(result(BYTES, bits, &bytes, 16), wanted);
    let shifts = |e: &kernel::tree::Expr| format!("{:?}", e.kind).contains("Shr");
    let kernel::tree::Stmt::Assign(stored) = &kernel_of(bits).body[0] else {
        panic!("no assignment")
    };
    assert!(!shifts(&stored.value));
}

#[test]
fn a_name_keeps_what_was_loaded_when_its_place_is_written() {
    let kept = "o[ramp(0, 1, 4)] = a[ramp(0, 1, 4)]\nlet t = o[ramp(0, 1, 4)]\n\
        o[ramp(0, 1, 4)] = t + x4((uint8)1)\no[ramp(4, 1, 4)] = t";
    let a = [5, 6, 7, 8];
    assert_eq!(result(BYTES, kept, &a, 8), [6, 7, 8, 9, 5, 6, 7, 8]);
    let looped = "o[ramp(0, 1, 4)] = a[ramp(0, 1, 4)]\nlet t = o[ramp(0, 1, 4)]\n\
        for (x, 0, 2) {\no[ramp(0, 1, 4)] = t + t\n}\no[ramp(4, 1, 4)] = t";
    assert_eq!(result(BYTES, looped, &a, 8), [10, 12, 14, 16, 5, 6, 7, 8]);
}

#[test]
fn indices_of_64_bits_are_numbers_like_others() {
    let body = "for (x, (int64)0, int64(o.extent.0)) {\n\
        o[int64(x)*(int64)1] = a[int64(x)]\n}";
    let a = [10, 11, 12, 13];
    assert_eq!(result(BYTES, body, &a, 4), a);
}

/// A ramp of one lane is a number like others, in a load, a store and many lanes.
#[test]
fn one_lane_is_no_vector() {
    let body = "o[ramp(2, 5, 1)] = a[ramp(1, 3, 1)]\n\
        o[ramp(3, 1, 2)] = x2(a[ramp(2, 3, 1)])\n\
        o[5] = (uint8)saturating_add(a[ramp(a.extent.0 - 1, 1, 1)], (uint8)1)";
    let a = [10, 11, 12, 13];
    assert_eq!(result(BYTES, body, &a, 6), [0, 0, 11, 12, 12, 14]);
}

#[test]
fn a_constant_of_half_a_float_is_one() {
    let body = "for (x, 0, o.extent.0/4) {\n\
        o[ramp(x*4, 1, 4) aligned(4, 0)] = max(float16x4(a[ramp(x*4, 1, 4)]) + x4(1.000000h), x4(2.500000h))\n}";
    let half = result("69634", body, &[0, 1, 2, 4], 4);
    assert_eq!(half, [0x4100, 0x4100, 0x4200, 0x4500]);
}

/// Both formats of 16 bits are printed with an `h`.
#[test]
fn a_constant_of_half_a_float_is_of_the_format_that_the_arrays_have() {
    let body = "for (x, 0, o.extent.0/4) {\n\
        o[ramp(x*4, 1, 4) aligned(4, 0)] = select(a[ramp(x*4, 1, 4)] < x4((uint8)2), x4(1.500000h), x4(0.250000h))\n}";
    let other = result("69636", body, &[0, 1, 2, 4], 4);
    assert_eq!(other, [0x3fc0, 0x3fc0, 0x3e80, 0x3e80]);
    let half = result("69634", body, &[0, 1, 2, 4], 4);
    assert_eq!(half, [0x3e00, 0x3e00, 0x3400, 0x3400]);
}

/// Which lanes lie inside of a buffer is no matter of 64 bits.
#[test]
fn lanes_of_truth_are_as_narrow_as_what_they_choose() {
    let chosen =
        |mask: &str| format!("o[ramp(0, 1, 8)] = select({mask}, a[ramp(0, 1, 8)], x8((uint8)9))");
    let a = [0, 1, 2, 3, 4, 5, 6, 7];
    let n = "o.extent.0*1000000000";
    for (mask, wanted) in [
        (
            "ramp(3, -1, 8) < x8(a.extent.0 - 7)",
            [9, 9, 9, 3, 4, 5, 6, 7],
        ),
        ("x8(a.extent.0) <= ramp(5, 1, 8)", [9, 9, 9, 3, 4, 5, 6, 7]),
        (
            "ramp(0, 10, 8) == x8(a.extent.0 + 22)",
            [9, 9, 9, 3, 9, 9, 9, 9],
        ),
        (
            "ramp(0, 10, 8) != x8(a.extent.0 + 22)",
            [0, 1, 2, 9, 4, 5, 6, 7],
        ),
        (&format!("ramp({n}, 1, 8) < x8(a.extent.0)"), [9; 8]),
        (&format!("ramp(0, 1, 8) < x8({n})"), a),
        (
            "!((ramp(0, 1, 8) < x8(a.extent.0 - 6)) || x8(a.extent.0 < 3))",
            [9, 9, 2, 3, 4, 5, 6, 7],
        ),
        (
            "(ramp(0, 1, 8) < x8(a.extent.0 - 6)) == (ramp(0, 1, 8) < x8(a.extent.0 - 3))",
            [0, 1, 9, 9, 9, 5, 6, 7],
        ),
    ] {
        let body = chosen(mask);
        assert_eq!(result(BYTES, &body, &a, 8), wanted, "{mask}");
        assert_eq!(widest(&kernel_of(&body)), 8, "{mask}");
    }
    // Distances of more than a byte holds, and lanes that are not evenly apart.
    for (mask, bits) in [
        ("ramp(0, 100, 8) < x8(a.extent.0 + 292)", 16),
        ("ramp(0, 1, 8) % x8(a.extent.0 - 5) < x8(1)", 64),
    ] {
        let body = chosen(mask);
        assert_eq!(
            result(BYTES, &body, &a, 8)[..4],
            [[0, 1, 2, 9], [0, 9, 9, 3]][usize::from(bits == 64)]
        );
        assert_eq!(widest(&kernel_of(&body)), bits, "{mask}");
    }
    let beside = "o[ramp(0, 1, 8)] = select((ramp(0, 1, 8) < x8(a.extent.0 - 6)) && (int32x8(a[ramp(0, 1, 8)]) < x8(o.extent.0)), x8((uint8)1), x8((uint8)2))";
    assert_eq!(result(BYTES, beside, &a, 8), [1, 1, 2, 2, 2, 2, 2, 2]);
    assert_eq!(widest(&kernel_of(beside)), 32);
}
