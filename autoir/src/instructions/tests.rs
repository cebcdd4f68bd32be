//! Tables are read as they were written, or not at all; members become what they implement.

use super::{
    Implementation, InstructionTable, OperandSource, VERSION, implementation, instance_key,
};
use crate::dictionary::Dictionary;
use crate::program::text::Given;
use crate::program::{Bound, Formal, Instance};
use semantics::bits::Bits;
use semantics::build as b;
use semantics::instruction::{Element, Form, Operand, Role};
use semantics::sort::Sort;
use semantics::span::Source;
use semantics::term::Term;

fn instructions() -> Vec<(Instance, Implementation)> {
    let formal = |name: &str, element, width, role| Formal {
        name: name.to_owned(),
        element,
        width,
        role,
    };
    let operand = |name: &str, element, width, role| Operand {
        name: name.to_owned(),
        c_type: "const __m128i *".to_owned(),
        element,
        width,
        role,
    };
    let (x, y) = (Term::var("x0", Sort::Bv(128)), Term::var("x3", Sort::Bv(8)));
    let lane = |t| b::extract_at(t, b::int_mul(Term::index(), Term::int(16)), 16);
    let shifted = b::map(8, b::lshr(lane(x), b::zext(y, 16)));
    let constant = b::add(x, Term::bv(128, -3));
    let count = Role::Immediate { max: 255 };
    let instance = |term, arguments: &[Bound], formals: &[Formal]| Instance {
        operation: "shift right".to_owned(),
        values: vec![16, -8],
        arguments: arguments.to_vec(),
        formals: formals.to_vec(),
        undefined: Vec::new(),
        transfer: None,
        term,
    };
    let written =
        |name: &str, form, operands: &[Operand], sources: &[OperandSource]| Implementation {
            instruction: name.to_owned(),
            mnemonic: (name != "_free").then(|| "PSRLW xmm, imm8".to_owned()),
            form,
            features: vec!["AVX512BW".to_owned(), "AVX512VL".to_owned()],
            operands: operands.to_vec(),
            sources: sources.to_vec(),
            c_type: "__m128i".to_owned(),
            element: Element::Unsigned(16),
            width: 128,
        };
    let value = formal("x0", Element::Unsigned(16), 128, Role::Register);
    let a = operand("a", Element::Unsigned(16), 128, Role::Register);
    let arguments = [Bound::Open, Bound::Zero, Bound::Same(0), Bound::Open];
    let formals = [value.clone(), formal("x3", Element::Untyped, 8, count)];
    let operands = [
        operand("imm8", Element::Untyped, 8, count),
        a.clone(),
        operand("r", Element::Bfloat16, 32, Role::Rounding),
    ];
    let sources = [
        OperandSource::Formal(1),
        OperandSource::Formal(0),
        OperandSource::Constant(4),
    ];
    vec![
        (
            instance(shifted, &arguments, &formals),
            written("_shift", Form::Single, &operands, &sources),
        ),
        (
            instance(constant, &[Bound::Open], &[value]),
            written("_free", Form::Free, &[a], &sources[1..2]),
        ),
        (
            instance(b::zero(128), &[], &[]),
            written("_none", Form::Library, &[], &[]),
        ),
    ]
}

#[test]
fn what_is_written_is_read() {
    let all = instructions();
    let table = InstructionTable::of(&all);
    let again = InstructionTable::read(table.text().to_owned()).expect("it is whole");
    assert_eq!(again.instructions(), all);
    for (row, (instance, written)) in again.rows().zip(&all) {
        let (found, implementation) = again.instruction(&row).expect("it is there");
        assert_eq!((&found, &implementation), (instance, written));
        assert_eq!(
            (found.term, found.formals),
            (instance.term, instance.formals.clone())
        );
        assert_eq!(row.instance, instance_key(instance));
        assert_eq!((row.form, row.width), (written.form, 128));
    }
}

#[test]
fn arguments_fit_the_form_of_an_instance() {
    let all = instructions();
    let table = InstructionTable::of(&all);
    let row = table.rows().next().expect("there are some");
    let three = Given::Immediate(Bits::from_u64(8, 3));
    let value = |v| Given::Value(v, 128);
    let fits = |given: &[Given]| row.accepts(given);
    assert!(fits(&[value(1), Given::Zero, value(1), three.clone()]));
    assert!(
        !fits(&[value(1), Given::Zero, value(2), three.clone()]),
        "not the same"
    );
    assert!(
        !fits(&[value(1), value(1), value(1), three.clone()]),
        "not zeros"
    );
    assert!(
        !fits(&[value(1), Given::Zero, value(1), value(3)]),
        "no constant"
    );
    assert!(
        !fits(&[Given::Value(1, 64), Given::Zero, Given::Value(1, 64), three]),
        "narrow"
    );
    assert!(!fits(&[value(1)]), "too few");
}

#[test]
fn members_become_instances() {
    let text = "isaforge-dictionary 1
(operation choose
  (parameters width)
  (arguments a b mask)
  (formula |dst = mask ? a : b|)
  (result
    (argument 0 p0)
    (argument 1 p0)
    (argument 2 p0)
    (apply bvand () %0 %2)
    (apply bvnot () %2)
    (apply bvand () %1 %4)
    (apply bvor () %3 %5))
  (member clear8 toy single
    (operand keep byte u8 8 register)
    (operand x byte u8 8 register)
    (returns dst byte u8)
    (values 8)
    (bind x 0 keep)
    (evidence |identical (1)|))
  (member same8 toy single
    (operand x byte u8 8 register)
    (operand unused int u8 8 immediate 3)
    (returns dst byte u8)
    (values 8)
    (bind x x 0)
    (evidence |identical (1)|)))
(end 1)
";
    let dictionary = Dictionary::read(&Source::new("toy", text)).expect("a dictionary");
    let found: Vec<_> = dictionary
        .members()
        .map(|(operation, member)| implementation(operation, member).expect("it returns a value"))
        .collect();
    let [(clear, clear8), (same, same8)] = found.as_slice() else {
        panic!("two members");
    };
    assert_eq!(clear.arguments, [Bound::Open, Bound::Zero, Bound::Open]);
    assert_eq!(
        clear8.sources,
        [OperandSource::Formal(1), OperandSource::Formal(0)]
    );
    assert_eq!(same.arguments, [Bound::Open, Bound::Same(0), Bound::Zero]);
    assert_eq!(
        same8.sources,
        [OperandSource::Formal(0), OperandSource::Constant(0)]
    );
    let input = [semantics::value::Value::Bv(Bits::from_u64(8, 0x5a))];
    let run = |t| semantics::eval::CompiledTerms::of(t).run(&input);
    assert_eq!(run(same.term), input, "all of one value");
}

/// A file of somebody else's, each line of which may be read, but not all of them together.
#[test]
fn members_that_mean_nothing_are_no_instances() {
    let text = "isaforge-dictionary 1
(operation absolute
  (parameters width count)
  (arguments a)
  (formula |dst[i] = abs(a[i])|)
  (result
    (bound 0 int)
    (index p0)
    (apply imul () %0 %1)
    (argument 0 16)
    (apply extract (p0) %3 %2)
    (apply abs () %4)
    (map p1 %5))
  (member absolute toy single
    (operand a word i8 16 register)
    (returns dst word u8 (0 8))
    (values 8 2)
    (bind a)
    (evidence |identical (1)|)))
(end 1)
";
    let instances = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        let changed = text.replace(from, to);
        let read = Dictionary::read(&Source::new("toy", changed)).expect("a dictionary");
        let table = InstructionTable::of_dictionary(&read);
        assert_eq!(table.instructions().len(), table.rows().count());
        table.rows().count()
    };
    assert_eq!(instances("(bound 0 int)", "(bound 0 int)"), 1);
    assert_eq!(instances("(bound 0 int)", "(bound 15 int)"), 0);
    assert_eq!(instances("i8 16 register", "i8 0 register"), 0);
    assert_eq!(instances("i8 16 register", "i8 32 register"), 0);
    assert_eq!(instances("u8 (0 8)", "u8 (0 17)"), 0);
    assert_eq!(instances("u8 (0 8)", "u8 (8 8)"), 0);
}

/// That a text is the one that was written is for the store to see to; what comes through is read
/// without a fault.
#[test]
fn a_table_that_is_cut_off_is_none_and_no_damage_is_fatal() {
    let table = InstructionTable::of(&instructions());
    let bytes = table.text().as_bytes();
    let other = table.text().replacen(VERSION, "isaforge instructions 0", 1);
    assert!(InstructionTable::read(other).is_none());
    let last = table.text().trim_end().rfind('\n').expect("it has lines");
    for k in 0..bytes.len() {
        let mut damaged = bytes.to_vec();
        damaged[k] ^= 1;
        if let Ok(text) = String::from_utf8(damaged)
            && let Some(table) = InstructionTable::read(text)
        {
            let rows = table.rows().count();
            assert!(table.instructions().len() <= rows, "byte {k}");
        }
        let cut = String::from_utf8(bytes[..k].to_vec()).expect("it is ASCII");
        assert!(
            k > last || InstructionTable::read(cut).is_none(),
            "cut at {k}"
        );
    }
}
