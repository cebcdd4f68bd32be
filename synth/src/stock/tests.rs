//! Stocks are read as they were written, or not at all.

use super::Stock;
use autoir::program::Machine;
use semantics::build as b;
use semantics::instruction::{Element, Form, Operand, Role};
use semantics::sort::Sort;
use semantics::term::Term;

fn machines() -> Vec<(Machine, Form)> {
    let operand = |name: &str, width, element, role| Operand {
        name: name.to_owned(),
        c_type: "const __m128i *".to_owned(),
        element,
        width,
        role,
    };
    let (x, y) = (
        Term::var("a", Sort::Bv(128)),
        Term::var("imm8", Sort::Bv(8)),
    );
    let lane = |t| b::extract_at(t, b::int_mul(Term::index(), Term::int(16)), 16);
    let shifted = b::map(8, b::lshr(lane(x), b::zext(y, 16)));
    let constant = b::add(x, Term::bv(128, -3));
    let machine = |name: &str, term, operands| Machine {
        operation: "shift".to_owned(),
        values: vec![16, -8],
        intrinsic: name.to_owned(),
        mnemonic: (name != "_free").then(|| "PSRLW xmm, imm8".to_owned()),
        operands,
        c_type: "__m128i".to_owned(),
        features: vec!["AVX512BW".to_owned(), "AVX512VL".to_owned()],
        term,
    };
    let shift = [
        operand("a", 128, Element::Unsigned(16), Role::Register),
        operand("imm8", 8, Element::Untyped, Role::Immediate { max: 255 }),
        operand("r", 32, Element::Bfloat16, Role::Rounding),
    ];
    vec![
        (machine("_shift", shifted, shift.to_vec()), Form::Single),
        (machine("_free", constant, shift[..1].to_vec()), Form::Free),
        (machine("_none", constant, Vec::new()), Form::Library),
    ]
}

#[test]
fn what_is_written_is_read() {
    let all = machines();
    let stock = Stock::of(&all);
    let again = Stock::read(stock.text().to_owned()).expect("it is whole");
    assert_eq!(again.machines(), all);
    for (head, (machine, form)) in again.heads().zip(&all) {
        assert_eq!(again.machine(&head).as_ref(), Some(machine));
        assert_eq!(head.form, *form);
        assert_eq!(head.width, 128);
    }
}

#[test]
fn damage_anywhere_is_seen() {
    let stock = Stock::of(&machines());
    let bytes = stock.text().as_bytes();
    for k in 0..bytes.len() {
        let mut damaged = bytes.to_vec();
        damaged[k] ^= 1;
        if let Ok(text) = String::from_utf8(damaged) {
            // A digit of a count may have changed: then the lines do not fit.
            assert!(Stock::read(text).is_none(), "byte {k}");
        }
        let cut = String::from_utf8(bytes[..k].to_vec()).expect("it is ASCII");
        assert!(Stock::read(cut).is_none(), "cut at {k}");
    }
}
