//! The HVX manual's notation for an instruction set that nobody has: registers, types and names
//! are data, and what is wrong with a body is said at its place with a way out.

mod support;

use semantics::bits::Bits;
use semantics::diagnostic::render;
use spec_parser::specs::Specs;
use support::{assert_whole, described, result};

const MANIFEST: &str = "
isa: zv
dialect: hvx
files: [one.yaml]
types: {zv_t: 96, zvv_t: 192}
";

/// One family with that body, over two registers of 96 bits and a number.
fn specs(body: &str) -> Specs {
    let indented: String = body.lines().map(|l| format!("    {l}\n")).collect();
    let family = format!(
        "- family: one\n  doc: One.\n  features: [ZV]\n  intrinsic: zv_one\n  returns: zv_t UI8\n  operands: Vx zv_t UI8, Vu zv_t SI16, Rt int SI32\n  pseudocode: |\n{indented}"
    );
    described(MANIFEST, &family)
}

/// The bytes of the result.
fn run(body: &str, x: [u8; 12], u: [u8; 12], n: u32) -> Vec<u8> {
    let specs = specs(body);
    assert_whole(&specs);
    let values = [
        Bits::from_bytes(96, &x),
        Bits::from_bytes(96, &u),
        Bits::from_u64(32, u64::from(n)),
    ];
    result(&specs.instructions[0], values).to_bytes()
}

const X: [u8; 12] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
const U: [u8; 12] = [255, 255, 1, 0, 0, 128, 3, 0, 4, 0, 5, 0];

#[test]
fn registers_of_any_width_have_as_many_elements() {
    let sum = run(
        "for (i = 0; i < VELEM(16); i++) Vx.h[i] += Vu.h[i];",
        X,
        U,
        0,
    );
    assert_eq!(sum, [0, 2, 4, 4, 5, 134, 10, 8, 13, 10, 16, 12]);
}

#[test]
fn counts_that_are_negative_shift_the_other_way() {
    let body = "for (i = 0; i < VELEM(16); i++) Vx.h[i] = Vu.h[i] << sxt5(Rt);";
    assert_eq!(run(body, X, U, 1)[..6], [254, 255, 2, 0, 0, 0]);
    assert_eq!(run(body, X, U, 31)[..6], [255, 255, 0, 0, 0, 192]);
}

#[test]
fn operators_bind_as_they_do_in_c() {
    let body = "Vx.b[0] = 1 | 6 & 3 ^ 8 == 8 && 1;\nVx.b[1] = 2 + 3 * 4 << 1 - 1;\nVx.b[2] = Rt < 0 ? 1 : Rt > 5 ? 2 : 3;";
    assert_eq!(run(body, X, U, 6)[..4], [1, 14, 2, 4]);
}

#[test]
fn comments_stand_anywhere() {
    let plain = "for (i = 0; i < VELEM(16); i++) Vx.h[i] = -Vu.h[i] - ~Vx.h[i];";
    let wanted = run(plain, X, U, 0);
    for sign in ["- /* less */ ", "-// less\n  ", "- "] {
        let body = plain.replace("-Vu", &format!("{sign}Vu"));
        assert_eq!(run(&body, X, U, 0), wanted, "{body}");
    }
    let body = plain.replace("~Vx", "~ /* not */ Vx");
    assert_eq!(run(&body, X, U, 0), wanted);
}

#[test]
fn places_are_exchanged_and_read_under_conditions() {
    let body = "SWAP(Vx.b[0], Vx.b[1]);\nif (Rt & 1) Vx.b[2] = 9; else Vx.b[3] = Vu.uh[0].ub[1];";
    assert_eq!(run(body, X, U, 1)[..4], [2, 1, 9, 4]);
    assert_eq!(run(body, X, U, 2)[..4], [2, 1, 3, 255]);
}

/// What is said of a body, in one line.
fn told(body: &str) -> String {
    let specs = specs(body);
    render(&specs.diagnostics).replace('\n', " ")
}

#[test]
fn mistakes_are_told_with_a_way_out() {
    for (body, message, hint) in [
        (
            "fro (i = 0; i < 3; i++) Vx.b[i] = 0;",
            "unexpected",
            "did you mean `for`",
        ),
        ("Vx.b[0] = 1", "ends too early", "ends with `;`"),
        ("Vx.b[0] := 1;", "unexpected", "written `=`"),
        ("Vx.uq[0] = 1;", "no field `.uq`", "did you mean"),
        (
            "Vx.b[0] = usta8(Vu.h[0]);",
            "`usta8` is not described",
            "did you mean `usat8`",
        ),
        ("Vx.b[0] = Vw.b[0];", "`Vw` has no value", "did you mean"),
        (
            "for (i = 0; k < 3; i++) Vx.b[i] = 0;",
            "its own variable",
            "write `i`",
        ),
        (
            "for (i = 0; i < 9; i += 2) Vx.b[i] = 0;",
            "counts by one",
            "multiply in the body",
        ),
        ("usat8(Rt);", "only `SWAP` is done", "assign its result"),
        ("Vx.b[0] = (Rt;", "is never closed", "close it"),
        ("3 = Rt;", "cannot be assigned", "write a register"),
    ] {
        let told = told(body);
        assert!(
            told.contains(message) && told.contains(hint),
            "{body}: {told}"
        );
    }
}

#[test]
fn deep_texts_are_refused() {
    for deep in ["(", "!", "-", "Rt ? ", "if (1) "] {
        let told = told(&format!("Vx.b[0] = {}1;", deep.repeat(3000)));
        assert!(told.contains("nests deeper"), "{deep}: {told}");
    }
}
