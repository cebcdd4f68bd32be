//! What commands do not do, and what tiles do not: code of the host beside them.
//!
//! In: kernels as people write them. Out: that each is mapped, by whom, and agrees.

use crate::board::{Board, described, kernels};
use crate::draw::Drawn;
use crate::outcome::{self, Outcome};
use std::collections::BTreeMap;
use tile::mapped::{Code, Loops};

/// A kernel with values of its sizes.
fn given(text: &str, sizes: &[(&str, i64)]) -> Drawn {
    let kernel = kernels(text).remove(0);
    let of: BTreeMap<&str, i64> = sizes.iter().copied().collect();
    let sizes = kernel.sizes();
    let sizes = sizes.map(|s| (s, of[kernel.symbol_name(s).as_str()]));
    Drawn::named("one by hand", text, kernel.clone(), sizes.collect())
}

/// By whom it is run, with whatever seed.
fn by(board: &Board, text: &str, sizes: &[(&str, i64)]) -> &'static str {
    match outcome::of(board, &given(text, sizes), 2) {
        Outcome::Agrees { by, .. } => by,
        other => panic!("{text}: {other}"),
    }
}

/// A product whose factors, first value and result are as these say.
fn product(a: [&str; 2], b: [&str; 2], (begin, done): (&str, &str)) -> String {
    format!(
        "kernel t(m: size, n: size, k: size, a: in i8[{}], b: in i8[{}], bias: in i32[m], \
         r: in i8[m, n], c: inout i32[m, n]) {{ for i in 0..m {{ for j in 0..n {{ \
         var s: i32 = {begin}; for p in 0..k {{ s += i32(a[{}]) * i32(b[{}]); }} {done} }} }} }}",
        a[0], b[0], a[1], b[1]
    )
}

#[test]
fn an_array_takes_products_that_do_not_lie_as_it_loads_them() {
    let board = Board::new(described("gemmini"));
    let lefts = [["m, k", "i, p"], ["k, m", "p, i"]];
    // The array transposes; what has every other byte the host lays out anew.
    let rights = [
        (["k, n", "p, j"], "commands"),
        (["n, k", "j, p"], "commands"),
        (["n, k, 2", "j, p, 1"], "commands and the host"),
    ];
    for a in lefts {
        for (b, wanted) in rights {
            let text = product(a, b, ("0", "c[i, j] = s;"));
            let found = by(&board, &text, &[("m", 19), ("n", 21), ("k", 37)]);
            assert_eq!(found, wanted, "{text}");
        }
    }
}

#[test]
fn the_host_goes_on_where_no_store_does() {
    let board = Board::new(described("gemmini"));
    let (a, b) = (["m, k", "i, p"], ["k, n", "p, j"]);
    for ends in [
        ("bias[i]", "c[i, j] = s;"),
        ("0", "c[i, j] += s;"),
        ("c[i, j]", "c[i, j] = s;"),
        ("0", "c[i, j] = max(s, 0);"),
        (
            "0",
            "c[i, j] = i32(i8_sat(rounding_shr(s, 5))) + i32(r[i, j]);",
        ),
        (
            "bias[i]",
            "c[i, j] = i32(rounding_mul_shr(s, 1234567, 27));",
        ),
    ] {
        let text = product(a, b, ends);
        let found = by(&board, &text, &[("m", 17), ("n", 18), ("k", 33)]);
        assert_eq!(found, "commands and the host", "{text}");
    }
}

#[test]
fn each_round_has_its_right_factor() {
    let board = Board::new(described("gemmini"));
    let batch = "kernel t(e: size, m: size, n: size, k: size, a: in i8[e, m, k], b: in i8[e, k, n], \
                 c: out i32[e, m, n]) { for z in 0..e { for i in 0..m { for j in 0..n { \
                 c[z, i, j] = 0; for p in 0..k { c[z, i, j] += i32(a[z, i, p]) * i32(b[z, p, j]); \
                 } } } } }";
    let sizes = [("e", 3), ("m", 17), ("n", 18), ("k", 20)];
    assert_eq!(by(&board, batch, &sizes), "commands");
    let planes = "kernel t(e: size, m: size, n: size, k: size, d: in i8[k, m + 2, n + 2], \
                  w: in i8[e, k, 3, 3], c: out i32[e, m, n]) { for o in 0..e { for y in 0..m { \
                  for x in 0..n { var s: i32 = 0; for q in 0..k { for r in 0..3 { for t in 0..3 { \
                  s += i32(d[q, y + r, x + t]) * i32(w[o, q, r, t]); } } } c[o, y, x] = s; } } } }";
    let sizes = [("e", 13), ("m", 7), ("n", 9), ("k", 11)];
    assert!(by(&board, planes, &sizes).starts_with("commands"));
}

#[test]
fn what_is_no_product_is_the_hosts_and_that_is_told() {
    let board = Board::new(described("gemmini"));
    let depthwise = "kernel t(m: size, n: size, k: size, d: in i8[m + 2, n + 2, k], w: in i8[3, 3, k], \
                     c: out i32[m, n, k]) { for y in 0..m { for x in 0..n { for q in 0..k { \
                     var s: i32 = 0; for r in 0..3 { for t in 0..3 { \
                     s += i32(d[y + r, x + t, q]) * i32(w[r, t, q]); } } c[y, x, q] = s; } } } }";
    let found = by(&board, depthwise, &[("m", 4), ("n", 5), ("k", 7)]);
    assert_eq!(found, "the host, where no tile instruction does it");
}

/// Operations on two values each.
const OPERATIONS: [&str; 26] = [
    "sat_add(a[i], b[i])",
    "sat_sub(a[i], b[i])",
    "avg(a[i], b[i])",
    "avg_floor(a[i], b[i])",
    "T(absd(a[i], b[i]))",
    "T(abs(a[i]))",
    "rounding_shr(a[i], 3)",
    "mul_shr(a[i], b[i], 5)",
    "mul_shr(a[i], b[i], 0)",
    "rounding_mul_shr(a[i], b[i], 7)",
    "rounding_mul_shr(a[i], b[i], 31)",
    "min(a[i], b[i]) ^ max(a[i], b[i])",
    "~a[i]",
    "select(a[i] <= b[i] || a[i] == 3, a[i], b[i])",
    "select(!(a[i] < b[i]) && b[i] != 5, a[i], b[i])",
    "T_sat(i32(a[i]) * 3)",
    "a[i] / b[i]",
    "a[i] % b[i]",
    "a[i] / 7 + a[i] % 10",
    "a[i] / 16 ^ a[i] % 4",
    "a[i] / 0 + a[i] % 1",
    "a[i] << b[i]",
    "a[i] >> b[i]",
    "rounding_shr(a[i], U(b[i]))",
    "clz(a[i])",
    "popcount(a[i])",
];

#[test]
fn hosts_have_every_operation_on_integers_of_up_to_32_bits() {
    for machine in ["rvm", "amx", "gemmini"] {
        let board = Board::new(described(machine));
        for of in ["i8", "u8", "i16", "u16", "i32", "u32"] {
            let negative = ["a[i] / -5", "a[i] % -6", "a[i] / -1"];
            let signed = negative.iter().filter(|_| of.starts_with('i'));
            for operation in OPERATIONS.iter().chain(signed) {
                let value = operation
                    .replace('T', of)
                    .replace('U', &of.replace('i', "u"));
                let text = format!(
                    "kernel t(n: size, a: in {of}[n], b: in {of}[n], c: out {of}[n]) {{ \
                     for i in 0..n {{ c[i] = {value}; }} }}"
                );
                assert_eq!(
                    limit(&board, &text, &[("n", 23)]),
                    None,
                    "{machine}: {text}"
                );
            }
        }
    }
}

/// Operations that hosts of 64 bits have of what fills a register, beside those above.
const WIDE: [&str; 14] = [
    "a[i] + b[i] * 3 - 9000000000",
    "a[i] << 5 ^ a[i] >> 7",
    "rounding_shr(a[i], 9)",
    "max(a[i], b[i]) & min(a[i], 5)",
    "a[i] / 8 + a[i] % 16",
    "T(i32(a[i])) + T(u32(b[i]))",
    "T(u32_sat(a[i])) + T(i16_sat(b[i]))",
    "T(i64_sat(a[i])) ^ T(u64_sat(b[i]))",
    "T(a[i] > b[i]) + T(i)",
    "T(x[i]) * T(y[i]) >> 4",
    "T(i32_sat(T(x[i]) * T(x[i]) >> 31))",
    "select(a[i] == b[i], T(y[i]), -a[i])",
    "T(absd(a[i], b[i])) | ~b[i]",
    "i64(a[i]) < 0 && x[i] > 3",
];

#[test]
fn hosts_compute_elements_that_fill_a_register() {
    // What is the same of narrower ones, but products that are shifted, and quotients by other numbers.
    let narrower = OPERATIONS.into_iter().filter(|o| {
        let divides = o.contains("/ b") || o.contains("% b") || o.contains("/ 7");
        !o.contains("mul_shr") && !divides
    });
    let all: Vec<&str> = narrower.chain(WIDE).collect();
    for machine in ["amx", "gemmini"] {
        let board = Board::new(described(machine));
        for of in ["i64", "u64"] {
            for operation in &all {
                let value = operation.replace('T', of).replace('U', "u64");
                let value = match value.ends_with("> 3") {
                    true => format!("{of}({value})"),
                    false => value,
                };
                let text = format!(
                    "kernel t(n: size, a: in {of}[n], b: in {of}[n], x: in i32[n], y: in u32[n], \
                     c: out {of}[n]) {{ for i in 0..n {{ c[i] = {value}; }} }}"
                );
                assert_eq!(
                    limit(&board, &text, &[("n", 23)]),
                    None,
                    "{machine}: {text}"
                );
            }
        }
    }
}

/// What each round makes of what it is handed; none of it is a sum.
const STEPS: [&str; 7] = [
    "sat_add(T(H), a[i, p])",
    "sat_sub(a[i, p], H)",
    "avg(H, a[i, p])",
    "T_sat(i32(H) * 3 - i32(a[i, p]))",
    "(H ^ a[i, p]) * 31",
    "max(H, a[i, p]) - 1",
    "avg_floor(H, a[i, p]) ^ T(p)",
];

#[test]
fn running_values_that_are_no_sums_are_proved() {
    for machine in ["rvm", "amx", "gemmini"] {
        let board = Board::new(described(machine));
        for (of, step) in ["i8", "u16", "i32", "u32"]
            .into_iter()
            .flat_map(|of| STEPS.map(|step| (of, step)))
        {
            let step = step.replace('T', of);
            let in_memory = format!("c[i] = {};", step.replace('H', "c[i]"));
            let in_register = format!("s = {};", step.replace('H', "s"));
            for (around, inout) in [
                (format!("for p in 0..k {{ {in_memory} }}"), "inout"),
                (
                    format!("var s: {of} = 7; for p in 0..k {{ {in_register} }} c[i] = s ^ 5;"),
                    "out",
                ),
            ] {
                let text = format!(
                    "kernel t(n: size, k: size, a: in {of}[n, k], c: {inout} {of}[n]) {{ \
                     for i in 0..n {{ {around} }} }}"
                );
                let sizes = [("n", 5), ("k", 41)];
                assert_eq!(limit(&board, &text, &sizes), None, "{machine}: {text}");
            }
        }
    }
}

#[test]
fn extremes_are_proved_wherever_they_begin() {
    // A value that stays may lie extended as the one that it is compared with.
    for machine in ["rvm", "amx", "gemmini"] {
        let board = Board::new(described(machine));
        for (of, begin) in [
            ("i8", "7"),
            ("i8", "-128"),
            ("u16", "7"),
            ("u16", "65535"),
            ("i32", "-9"),
        ] {
            for step in ["max(a[i, p], s)", "min(s, a[i, p] ^ T(p))"] {
                let text = format!(
                    "kernel t(n: size, k: size, a: in {of}[n, k], c: out {of}[n]) {{ for i in 0..n {{ \
                     var s: {of} = {begin}; for p in 0..k {{ s = {}; }} c[i] = s ^ 5; }} }}",
                    step.replace('T', of)
                );
                let sizes = [("n", 5), ("k", 41)];
                assert_eq!(limit(&board, &text, &sizes), None, "{machine}: {text}");
            }
        }
    }
}

#[test]
fn what_is_made_of_a_sum_and_a_value_is_proved() {
    for machine in ["rvm", "amx", "gemmini"] {
        let board = Board::new(described(machine));
        for done in [
            "sat_add(s, bias[i])",
            "sat_sub(bias[i], s)",
            "avg(s, bias[i])",
            "max(sat_add(s, bias[i]), 0)",
            "i32(absd(s, bias[i]))",
        ] {
            let done = format!("c[i, j] = {done};");
            for begin in ["0", "bias[i]"] {
                let text = product(["m, k", "i, p"], ["n, k", "j, p"], (begin, &done));
                let sizes = [("m", 5), ("n", 18), ("k", 33)];
                assert_eq!(limit(&board, &text, &sizes), None, "{machine}: {text}");
            }
        }
    }
}

#[test]
fn operations_on_results_of_operations_are_proved() {
    for machine in ["rvm", "amx", "gemmini"] {
        let board = Board::new(described(machine));
        for (value, to) in [
            ("absd(sat_sub(a[i], b[i]), avg(a[i], b[i]))", "u32"),
            ("sat_add(avg(a[i], b[i]), sat_sub(b[i], a[i]))", "i32"),
            ("avg_floor(sat_add(a[i], b[i]), sat_sub(a[i], b[i]))", "i32"),
        ] {
            let text = format!(
                "kernel t(n: size, a: in i32[n], b: in i32[n], c: out {to}[n]) {{ \
                 for i in 0..n {{ c[i] = {value}; }} }}"
            );
            let sizes = [("n", 23)];
            assert_eq!(limit(&board, &text, &sizes), None, "{machine}: {text}");
        }
    }
}

#[test]
fn sums_with_numbers_of_loops_are_proved() {
    for machine in ["rvm", "amx", "gemmini"] {
        let board = Board::new(described(machine));
        for (value, done) in [
            ("i32(a[i, p]) * i32(p)", "s + i32(i) * 7"),
            ("i32(a[i, p]) * (i32(p) - 20)", "s"),
            ("i32(a[i, p]) + i32(p) * 3", "max(s, 0)"),
            ("i32(a[i, p]) * i32(p) * i32(b[i, p])", "s - i32(i)"),
        ] {
            for k in [5, 40] {
                let text = format!(
                    "kernel t(m: size, k: size, a: in i16[m, k], b: in i16[m, k], c: out i32[m]) {{ \
                     for i in 0..m {{ var s: i32 = 0; for p in 0..k {{ s += {value}; }} c[i] = {done}; }} }}"
                );
                let sizes = [("m", 6), ("k", k)];
                assert_eq!(limit(&board, &text, &sizes), None, "{machine}: {text}");
            }
        }
    }
}

#[test]
fn scalars_of_a_whole_kernel_are_known_in_all_of_it() {
    for machine in ["rvm", "amx", "gemmini"] {
        let board = Board::new(described(machine));
        let text = "kernel t(n: size, a: in u8[n], c: out u32[2]) { var s: u32 = 4294967295; \
                    for i in 0..n { s = s ^ u32(a[i]); for j in 0..8 { \
                    s = (s >> 1) ^ select((s & 1) == 1, 3988292384, 0); } } c[0] = ~s; c[1] = s; }";
        assert_eq!(limit(&board, text, &[("n", 19)]), None, "{machine}");
        let text = "kernel t(n: size, a: in u16[n], c: out u16[2]) { var lo: u16 = 65535; \
                    var sum: u16 = 0; for i in 0..n { lo = min(lo, a[i]); sum = sat_add(sum, a[i]); } \
                    c[0] = lo; c[1] = avg_floor(lo, sum); }";
        assert_eq!(limit(&board, text, &[("n", 77)]), None, "{machine}");
    }
}

#[test]
fn hosts_shift_and_clamp_numbers_without_a_sign_that_fill_a_register() {
    for machine in ["rvm", "amx", "gemmini"] {
        let board = Board::new(described(machine));
        for (value, to) in [
            ("a[i] >> 5", "u32"),
            ("a[i] >> 31", "u32"),
            ("rounding_shr(a[i], 3)", "u32"),
            ("u8_sat(a[i])", "u8"),
            ("i16_sat(a[i] >> 7)", "i16"),
            ("i32_sat(a[i])", "i32"),
            ("u16_sat(rounding_shr(a[i], 1))", "u16"),
        ] {
            let text = format!(
                "kernel t(n: size, a: in u32[n], c: out {to}[n]) {{ for i in 0..n {{ c[i] = {value}; }} }}"
            );
            assert_eq!(
                limit(&board, &text, &[("n", 23)]),
                None,
                "{machine}: {text}"
            );
        }
    }
}

/// A kernel at sizes, and why it is not proved at them.
fn limit(board: &Board, text: &str, sizes: &[(&str, i64)]) -> Option<String> {
    match outcome::of(board, &given(text, sizes), 2) {
        Outcome::Agrees { limit, .. } => limit,
        other => panic!("{text}: {other}"),
    }
}

#[test]
fn long_sums_with_remainders_are_proved() {
    let board = Board::new(described("rvm"));
    let plain = "kernel t(m: size, n: size, k: size, a: in i32[m, k], b: in i32[k, n], c: inout i32[m, n]) { \
                 for i in 0..m { for j in 0..n { for p in 0..k { c[i, j] += a[i, p] * b[p, j]; } } } }";
    // A factor that the host extends and a maximum behind the sum, with as many odd elements as there are
    // rounds of the host's.
    let maximum = "kernel t(m: size, n: size, k: size, a: in u8[m, k], b: in i8[n, k], c: out i32[m, n]) { \
                   for i in 0..m { for j in 0..n { var s: i32 = 0; \
                   for p in 0..k { s += i32(a[i, p]) * i32(b[j, p]); } c[i, j] = max(s, 0); } } }";
    // The right factor lies down the rows of tiles: each product has its factors the other way round.
    let turned = "kernel t(m: size, n: size, k: size, a: in f32[m, k], b: in f32[k, n], c: out f32[n, m]) { \
                  for i in 0..m { for j in 0..n { var s: f32 = 0; \
                  for p in 0..k { s += a[i, p] * b[p, j]; } c[j, i] = s; } } }";
    for (text, sizes) in [
        (plain, [(4, 16, 257), (4, 16, 263), (5, 7, 500)]),
        (maximum, [(2, 16, 67), (4, 16, 71), (3, 19, 599)]),
        (turned, [(4, 4, 1), (7, 9, 2), (5, 6, 71)]),
    ] {
        for (m, n, k) in sizes {
            let limit = limit(&board, text, &[("m", m), ("n", n), ("k", k)]);
            assert_eq!(limit, None, "{text}: {m} {n} {k}");
        }
    }
}

#[test]
fn products_of_an_array_with_itself_are_proved() {
    let board = Board::new(described("rvm"));
    // Either factor may be named first; sums are narrower than what tiles hold.
    for (of, sum, order) in [
        ("i32", "i32", ["i, p", "j, p"]),
        ("i8", "i16", ["p, i", "p, j"]),
    ] {
        let dims = if order[0] == "i, p" { "n, k" } else { "k, n" };
        let cast = |x: &str| {
            if of == sum {
                x.to_owned()
            } else {
                format!("{sum}({x})")
            }
        };
        let [x, y] = order.map(|at| cast(&format!("a[{at}]")));
        let text = format!(
            "kernel t(n: size, k: size, a: in {of}[{dims}], c: out {sum}[n, n]) {{ \
             for i in 0..n {{ for j in 0..n {{ var s: {sum} = 0; for p in 0..k {{ s += {x} * {y}; }} \
             c[i, j] = s; }} }} }}"
        );
        for (n, k) in [(4, 32), (5, 40), (9, 81)] {
            assert_eq!(
                limit(&board, &text, &[("n", n), ("k", k)]),
                None,
                "{text}: {n} {k}"
            );
        }
    }
}

#[test]
fn remainders_of_every_length_are_proved() {
    let board = Board::new(described("rvm"));
    // What is left of a row of a tile is some words of elements, one of both, and zeros.
    let text = "kernel t(m: size, n: size, k: size, a: in i16[m, k], b: in i16[n, k], c: out i32[m, n]) { \
                for i in 0..m { for j in 0..n { var s: i32 = 0; \
                for p in 0..k { s += i32(a[i, p]) * i32(b[j, p]); } c[i, j] = clamp(s, -100, 1000); } } }";
    for k in 96..104 {
        assert_eq!(
            limit(&board, text, &[("m", 50), ("n", 48), ("k", k)]),
            None,
            "{k}"
        );
    }
}

#[test]
fn loops_that_are_longer_than_branches_reach_are_mapped_and_proved() {
    let board = Board::new(described("rvm"));
    let long = "kernel t(m: size, n: size, k: size, e: size, d: in i16[k, m + 2, 2*n + 5], \
                w: in i32[e, k, 2, 5], c: inout i32[e, m, n]) { for y in 0..m { for x in 0..n { \
                for o in 0..e { for r in 0..2 { for t in 0..5 { for q in 0..k { \
                c[o, y, x] += i32(d[q, y + r, 2*x + t]) * w[o, q, r, t]; } } } } } } }";
    let sizes = [("m", 23), ("n", 3), ("k", 9), ("e", 34)];
    assert_eq!(limit(&board, long, &sizes), None);
    let kernel = given(long, &sizes);
    let scheduled = schedule::apply(&kernel.kernel).expect("it has no schedule");
    let mapped = outcome::mapped_at(&board, &scheduled, &kernel.sizes, Loops::Large);
    let Ok(Code::Function(function)) = mapped.map(|m| m.code) else {
        panic!("there is no function");
    };
    let jumps = |k: usize| board.machine.instructions[k].instruction.name == "jal";
    assert!(
        function.code.iter().any(|(k, _)| jumps(*k)),
        "a branch is over a jump"
    );
}
