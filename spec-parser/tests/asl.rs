//! ASL for an instruction set that nobody has: a stranger's registers, types and names are
//! data, and what is wrong with a body is said at its place with a way out.

mod support;

use semantics::bits::Bits;
use semantics::diagnostic::render;
use spec_parser::specs::Specs;
use support::{assert_whole, described, result};

const MANIFEST: &str = "
isa: zv
dialect: asl
files: [one.yaml]
types: {zv160_t: 160, zacc_t: 640}
derived: {N: \"{160/E}\"}
";

/// One family with that body, over two registers of 160 bits and a constant from 1 to 5.
fn specs(body: &str) -> Specs {
    let indented: String = body.lines().map(|l| format!("    {l}\n")).collect();
    let family = format!(
        "- family: one\n  doc: One.\n  vary: [[{{E: 32}}]]\n  features: [ZV]\n  intrinsic: zv_one_{{E}}\n  returns: zv160_t UI32\n  operands: a zv160_t SI32, b zv160_t SI32, n 1..5\n  pseudocode: |\n{indented}"
    );
    described(MANIFEST, &family)
}

/// The elements of the result, least significant first.
fn run(body: &str, a: [u32; 5], b: [u32; 5], n: u64) -> Vec<u32> {
    let specs = specs(body);
    assert_whole(&specs);
    let bytes = |x: [u32; 5]| x.iter().flat_map(|e| e.to_le_bytes()).collect::<Vec<u8>>();
    let values = [
        Bits::from_bytes(160, &bytes(a)),
        Bits::from_bytes(160, &bytes(b)),
        Bits::from_u64(32, n),
    ];
    let result = result(&specs.instructions[0], values);
    (0..5)
        .map(|k| result.extract(32 * k, 32).low_u64() as u32)
        .collect()
}

/// What is said of a body.
fn said(body: &str) -> String {
    let specs = specs(body);
    assert!(specs.instructions.is_empty(), "it has a meaning");
    render(&specs.diagnostics)
}

const A: [u32; 5] = [1, 2, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];
const B: [u32; 5] = [10, 20, 1, 0xffff_ffff, 0xffff_fffe];

#[test]
fn elements_of_a_register_of_160_bits_saturate() {
    let body = "for e = 0 to {N-1}\n    Elem[result, e, 32] = SignedSat(SInt(Elem[a, e, 32]) + SInt(Elem[b, e, 32]), 32);";
    assert_eq!(
        run(body, A, B, 1),
        [11, 22, 0x7fff_ffff, 0x8000_0000, 0xffff_fffd]
    );
}

#[test]
fn control_functions_tuples_and_constants_work() {
    let body = "
bits(32) Twice(bits(32) x)
    return x + x;
integer count = 0; // of those that clamp
for e = 0 to 4
    bits(32) sum;
    boolean sat;
    (sum, sat) = SignedSatQ(SInt(Elem[a, e, 32]) << n, 32);
    if sat && e != 4 then
        count = count + 1;
        sum = Zeros(32);
    elsif SInt(Elem[a, e, 32]) < 0 || e == 0 then
        sum = Twice(sum);
    Elem[result, e, 32] = sum;
Elem[result, 4, 32] = count<31:0>;";
    // 1 and 2 shifted by two, the first doubled; two clamp; the last is how many.
    assert_eq!(run(body, A, B, 2), [8, 8, 0, 0, 2]);
}

#[test]
fn a_negative_count_shifts_the_other_way() {
    let body = "for e = 0 to 4\n    integer k = SInt(Elem[b, e, 32]<7:0>);\n    Elem[result, e, 32] = (SInt(Elem[a, e, 32]) << k)<31:0>;";
    let counts = [4, 0xff, 0xfe, 0, 0x20];
    assert_eq!(
        run(body, [1, 2, 0x8000_0000, 7, 9], counts, 1),
        [16, 1, 0xe000_0000, 7, 0]
    );
}

#[test]
fn a_number_shifted_by_a_constant_operand_is_exact() {
    // 4 is the greatest of 3 bits for n = 3; for n = 5 all but the last fit.
    let body = "for e = 0 to 4\n    integer x = SInt(Elem[a, e, 32]);\n    Elem[result, e, 32] = Min(Max(x, 0), (1 << n) - 1)<31:0>;";
    assert_eq!(run(body, A, B, 3), [1, 2, 7, 0, 0]);
    let body = "for e = 0 to 4\n    integer x = SInt(Elem[a, e, 32]);\n    Elem[result, e, 32] = Max(x, 0 - (1 << n))<31:0>;";
    let least = 0u32.wrapping_sub(32);
    assert_eq!(run(body, A, B, 5), [1, 2, 0x7fff_ffff, least, 0xffff_ffff]);
    // The count of a whole element is not bounded by what is computed exactly.
    let body = "for e = 0 to 4\n    Elem[result, e, 32] = Min(1 << UInt(Elem[b, e, 32]), 9)<31:0>;";
    assert!(said(body).contains("may have more than 512 bits"));
}

#[test]
fn a_mask_is_a_choice_however_it_is_written() {
    let bodies = [
        "for e = 0 to 4\n    Elem[result, e, 32] = if SInt(Elem[a, e, 32]) > SInt(Elem[b, e, 32]) then Ones(32) else Zeros(32);",
        "for e = 0 to 4\n    bit c = if SInt(Elem[a, e, 32]) > SInt(Elem[b, e, 32]) then '1' else '0';\n    Elem[result, e, 32] = Replicate(c, 32);",
        "for e = 0 to 4\n    bit c = if SInt(Elem[a, e, 32]) > SInt(Elem[b, e, 32]) then '0' else '1';\n    Elem[result, e, 32] = Replicate(NOT(c), 32);",
        "for e = 0 to 4\n    for i = 0 to 31\n        Elem[result, 32*e + i, 1] = if SInt(Elem[a, e, 32]) > SInt(Elem[b, e, 32]) then '1' else '0';",
    ];
    let terms = bodies.map(|body| specs(body).instructions[0].outputs[0].term);
    for (body, term) in bodies.iter().zip(terms) {
        assert_eq!(term.to_string(), terms[0].to_string(), "{body}");
    }
    assert_eq!(run(bodies[1], A, B, 1), [0, 0, u32::MAX, 0, u32::MAX]);
}

#[test]
fn an_element_is_chosen_by_an_operand() {
    let body = "for e = 0 to 4\n    integer k = UInt(Elem[b, e, 32]<2:0>);\n    if k < 5 then\n        Elem[result, e, 32] = Elem[a, k, 32];\n    else\n        Elem[result, e, 32] = '0000 1111' : Zeros(24);";
    assert_eq!(
        run(body, A, [4, 0, 5, 7, 1], 1),
        [0xffff_ffff, 1, 0x0f00_0000, 0x0f00_0000, 2]
    );
}

#[test]
fn wrong_bodies_are_told_with_a_way_out() {
    let cases = [
        ("result = Elem[a, 0, 32];", "this has 32 bits, not 160"),
        (
            "result = a + Elem[b, 0, 32];",
            "one side has 160 bits, the other 32",
        ),
        ("result = a * b;", "write UInt or SInt of the bits"),
        ("result = a << 1;", "LSL"),
        ("integer x = a;\nresult = b;", "write UInt or SInt"),
        (
            "if a then\n    result = b;",
            "this is bits, not a truth value",
        ),
        ("result := a;", "an assignment is written `=`"),
        ("result = a", "a statement ends with `;`"),
        (
            "for e = 0 to 4\n    Elem[result, e, 32] = Elem[a, e, 32];\n  result = a;",
            "begin in the same column",
        ),
        ("FOR e = 0 to 4\n    result = a;", "did you mean `for`"),
        ("result = SintX(a);", "is not described"),
        (
            "result = Ones(160) AND SignedSat(SIn(a), 32);",
            "did you mean `SInt`?",
        ),
        (
            "result = Elem(a, 0, 32)[3];",
            "only `Elem` and `Mem` have brackets",
        ),
        ("result = (a;", "is never closed"),
        ("result = c;", "`c` has no value"),
        ("bits(32) x;\nElem[result, 0, 32] = y;", "`y` has no value"),
        (
            "result = Zeros(UInt(Elem[a, 0, 8]));",
            "a width is a known number",
        ),
        ("result = SignedSat(UInt(a), 200);", "at most 64 bits"),
        (
            "for e = 0 to UInt(Elem[a, 0, 8])\n    result = a;",
            "must not depend on operands",
        ),
        ("result = LSL(a, SInt(Elem[b, 0, 8]));", "may be negative"),
        ("\tresult = a;", "a tab in the indentation"),
        (
            "Elem[result, 5, 32] = Elem[a, 0, 32];",
            "its last 32 bits are those from 128 on, element 4",
        ),
        ("result = Zeros(128) : Elem[b, 5, 32];", "`b` has 160 bits"),
        ("reslt = a;", "did you mean `result` instead of `reslt`?"),
        (
            "result = Zeros(64) : a<31:0> : Elem[b, 0, 32] : a<63:0>;",
            "this has 192 bits, not 160",
        ),
        (
            "boolean t = UInt(a) && TRUE;\nresult = a;",
            "this is a number, not a truth value",
        ),
        (
            "for (int e = 0; e < 5; e++)\n    result = a;",
            "loops are written `for e = 0 to 15`",
        ),
        ("result = a == b ? a : b;", "chosen by `if c then a else b`"),
        ("result = if a == b then a;", "the `else` is missing"),
        ("result == a;", "an assignment is written `=`"),
        (
            "for e = 0 to 1\n    result = a;\nendfor",
            "have no word at the end",
        ),
        ("int x = 3;\nresult = a;", "by `integer x = 1;`"),
        ("result =\u{a0}a;", "this is U+00A0: write a blank"),
        ("result = a \u{2212} b;", "this is U+2212: write `-`"),
    ];
    for (body, words) in cases {
        let said = said(body);
        assert!(said.contains(words), "{body}\ngave\n{said}");
    }
}

#[test]
fn hostile_bodies_are_refused_and_not_followed() {
    let deep = "(".repeat(5000) + "a" + &")".repeat(5000);
    let long = format!("result = a{};", " + b".repeat(20_000));
    let nested: String = (0..200)
        .map(|k| format!("{}if TRUE then\n", " ".repeat(k)))
        .collect();
    let slices = format!("result = {};", "a<".repeat(150) + "1");
    let nots = format!("result = {}a;", "NOT ".repeat(3000));
    let many = "while TRUE do\n    result = a;";
    let wide = "result = Replicate(a, 100000);";
    for body in [
        format!("result = {deep};"),
        long,
        nested,
        nots,
        slices,
        many.to_owned(),
        wide.to_owned(),
    ] {
        assert!(!said(&body).is_empty());
    }
}

/// Counts that depend on operands go both ways; a number that is written below 0 is a slip.
#[test]
fn a_shift_by_a_number_below_zero_is_a_slip() {
    let body = |shift: &str| {
        format!(
            "for e = 0 to {{N-1}}\n    Elem[result, e, 32] = (SInt(Elem[a, e, 32]) {shift})<31:0>;"
        )
    };
    for (shift, mend) in [(">> -15", "<< 15"), ("<< -3", ">> 3"), (">> (-1)", "<< 1")] {
        let text = said(&body(shift));
        assert!(text.contains(&format!("write `{mend}`")), "{text}");
        assert!(text.contains("one.yaml:10:"), "{text}");
    }
    assert_eq!(
        run(&body("<< 3"), [1, 2, 3, 4, 5], B, 1),
        [8, 16, 24, 32, 40]
    );
}
