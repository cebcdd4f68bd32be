//! Which meanings are moves, and which are nearly.

use super::Transfer;
use crate::program::{Bound, Formal, Instance};
use semantics::build as b;
use semantics::instruction::{Element, Role};
use semantics::sort::Sort;
use semantics::term::Term;

/// What an operation moves whose open arguments, from `x1` on, have these widths and roles; `x0`
/// is the memory.
fn of(arguments: &[(u32, Role)], term: Term) -> Option<Transfer> {
    let memory = arguments.iter().any(|(_, role)| role.is_pointer());
    let formals = (1..).zip(arguments).map(|(k, &(width, role))| Formal {
        name: format!("x{k}"),
        element: Element::Untyped,
        width,
        role,
    });
    let first = memory.then_some(Bound::Memory);
    let open = vec![Bound::Open; arguments.len()];
    Transfer::of(&Instance {
        operation: "test".to_owned(),
        values: Vec::new(),
        arguments: first.into_iter().chain(open).collect(),
        formals: formals.collect(),
        undefined: Vec::new(),
        transfer: None,
        term,
    })
}

const POINTER: Role = Role::Pointer { align: 1 };

fn memory() -> Term {
    Term::var("x0", Sort::Mem)
}

fn at(byte: i128) -> Term {
    b::add(Term::var("x1", Sort::Bv(64)), Term::bv(64, byte))
}

fn register(name: &str, width: u32) -> Term {
    Term::var(name, Sort::Bv(width))
}

#[test]
fn loads_are_what_reads_consecutive_bytes_in_order() {
    let load = |term| of(&[(64, POINTER)], term);
    assert_eq!(
        load(b::read(memory(), at(0), 16)),
        Some(Transfer::Load(128))
    );
    let low = b::zext(b::read(memory(), at(0), 8), 128);
    assert_eq!(load(low), Some(Transfer::Load(64)));
    let parts = |places: [i128; 2]| b::concat(&places.map(|p| b::read(memory(), at(p), 8)));
    assert_eq!(load(parts([8, 0])), Some(Transfer::Load(128)));
    assert_eq!(load(parts([0, 8])), None, "the halves are exchanged");
    assert_eq!(load(parts([0, 0])), None, "one element twice");
    assert_eq!(
        load(b::read(memory(), at(1), 16)),
        None,
        "from another address"
    );
}

#[test]
fn a_masked_load_reads_only_what_its_mask_says() {
    let lane = |j: u32, otherwise: Term| {
        let value = b::read(memory(), at(i128::from(4 * j)), 4);
        b::ite(b::bit(register("x2", 8), j), value, otherwise)
    };
    let load = |lanes: [Term; 4]| of(&[(64, POINTER), (8, Role::Mask)], b::concat(&lanes));
    let zero = b::zero(32);
    let right = [3, 2, 1, 0].map(|j| lane(j, zero));
    assert_eq!(load(right), Some(Transfer::LoadMasked(32)));
    let ones = [3, 2, 1, 0].map(|j| lane(j, Term::bv(32, 1)));
    assert_eq!(load(ones), None, "ones where the mask is 0");
    let turned = [0, 1, 2, 3].map(|j| lane(j, zero));
    assert_eq!(load(turned), None);
}

#[test]
fn stores_are_what_writes_consecutive_bytes_in_order() {
    let value = register("x2", 128);
    let store = |term| of(&[(64, POINTER), (128, Role::Register)], term);
    assert_eq!(
        store(b::write(memory(), at(0), value)),
        Some(Transfer::Store(128))
    );
    let low = b::write(memory(), at(0), b::extract(value, 0, 64));
    assert_eq!(store(low), Some(Transfer::Store(64)));
    let both = b::write(low, at(8), b::extract(value, 64, 64));
    assert_eq!(store(both), Some(Transfer::Store(128)));
    let high = b::write(memory(), at(0), b::extract(value, 64, 64));
    assert_eq!(store(high), None);
    let gap = b::write(low, at(9), b::extract(value, 64, 64));
    assert_eq!(store(gap), None);
}

#[test]
fn a_masked_store_writes_only_what_its_mask_says() {
    let (mask, value) = (register("x2", 8), register("x3", 128));
    let all = |bit: fn(u32) -> u32| {
        (0..4).fold(memory(), |before, j| {
            let element = b::extract(value, 32 * j, 32);
            let written = b::write(before, at(i128::from(4 * j)), element);
            b::ite(b::bit(mask, bit(j)), written, before)
        })
    };
    let operands = [(64, POINTER), (8, Role::Mask), (128, Role::Register)];
    assert_eq!(of(&operands, all(|j| j)), Some(Transfer::StoreMasked(32)));
    assert_eq!(of(&operands, all(|j| 3 - j)), None);
}

#[test]
fn moves_between_registers_are_told_by_their_bits() {
    let number = register("x1", 16);
    let one = |width, term| of(&[(width, Role::Register)], term);
    assert_eq!(
        one(16, b::concat(&[number; 8])),
        Some(Transfer::Broadcast(16))
    );
    assert_eq!(one(16, b::zext(number, 128)), Some(Transfer::Raise));
    assert_eq!(one(16, b::sext(number, 128)), Some(Transfer::Raise));
    let wide = register("x1", 256);
    assert_eq!(one(256, b::extract(wide, 0, 128)), Some(Transfer::Low));
    assert_eq!(one(256, b::extract(wide, 128, 128)), None);
    assert_eq!(of(&[], b::zero(256)), Some(Transfer::Zero));
    assert_eq!(of(&[], Term::bv(256, 1)), None);
}

#[test]
fn a_part_is_taken_out_by_its_number() {
    let (wide, number) = (register("x1", 256), register("x2", 8));
    let operands = |max| [(256, Role::Register), (8, Role::Immediate { max })];
    let low = b::eq(b::extract(number, 0, 1), Term::bv(1, 0));
    let [first, second] = [0, 128].map(|lo| b::extract(wide, lo, 128));
    let part = b::ite(low, first, second);
    assert_eq!(of(&operands(255), part), Some(Transfer::Part(128)));
    assert_eq!(of(&operands(0), part), None, "the second is not admitted");
    let other = b::ite(low, second, first);
    assert_eq!(of(&operands(255), other), None);
}
