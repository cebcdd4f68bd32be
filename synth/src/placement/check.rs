//! That a placed program does what the program does.
//!
//! In: a window, its program, the placed program with the value that stands for each of the
//! program's. Out: nothing, or what is wrong. Each value is compared with its image, given that
//! those before are right, so that the question is as small as the node; then what is stored is
//! compared with the outputs, byte by byte, and what is touched with what may be. Inputs and the
//! result are where the program has them (`places`).

pub(super) mod places;
#[cfg(test)]
mod tests;

use super::Lacks;
use autoir::program::placed::{Placed, Residence};
use autoir::program::{Argument, Formal, Instance, Node, Program, Region, Value};
use autoir::transfer::{Transfer, first_constant};
use lowering::window::{Lowered, Source, Store, Window};
use semantics::build as b;
use semantics::sort::Sort;
use semantics::term::Term;
use semantics::unroll::{elements, unroll};
use std::collections::{BTreeMap, HashMap};

/// Checks a placed program against the program: `images` has the placed value for each of the
/// program's.
pub(super) fn check(
    lowered: &Lowered,
    (window, active): (&Window, bool),
    program: &Program,
    images: &[Value],
    placed: &Placed,
) -> Lacks<()> {
    let checker = Checker {
        window,
        program,
        images,
        placed,
        widths: (window.inputs.iter())
            .map(|input| (input.name.clone(), input.ty.width()))
            .collect(),
    };
    places::check(lowered, window, active, placed)?;
    checker.values()?;
    let array = matches!(window.store, Store::Array(_));
    checker.stores(active && array && placed.ends.result == Residence::Memory)?;
    match active {
        true => checker.masks(),
        false => Ok(()),
    }
}

struct Checker<'a> {
    window: &'a Window,
    program: &'a Program,
    images: &'a [Value],
    placed: &'a Placed,
    widths: HashMap<String, u32>,
}

impl Checker<'_> {
    /// What stands for a value of the program: bits of an input as they are, of which others may be
    /// parts, constants, of which others are made, else a variable. Values with one image are one
    /// value: each of them is compared with it.
    fn stands_for(&self, value: Value) -> Term {
        let image = self.images[value];
        let first = self.images[..value].iter().position(|i| *i == image);
        let value = first.unwrap_or(value);
        if let Node::Constant(bits) = self.program.node(value) {
            return Term::bits(bits.clone());
        }
        if let Node::Input { name, lo, width } = self.program.node(value) {
            let bits = self.input(name, *lo, *width);
            // What is loaded into the low end of a register says nothing of the rest.
            let held = self.placed.program.width(image);
            return match held.checked_sub(*width).filter(|above| *above > 0) {
                Some(above) => {
                    let above = Term::var(&format!("above.{value}"), Sort::Bv(above));
                    b::concat(&[above, bits])
                }
                None => bits,
            };
        }
        Term::var(
            &format!("value.{value}"),
            Sort::Bv(self.program.width(value)),
        )
    }

    /// The meaning of a placed value over those that are images.
    fn meaning(&self, value: Value, known: &BTreeMap<Value, Term>) -> Lacks<Term> {
        match known.get(&value) {
            Some(&term) => Ok(term),
            None => self.computed(value, known),
        }
    }

    /// The meaning of a placed value by what makes it, from those that are images.
    fn computed(&self, value: Value, known: &BTreeMap<Value, Term>) -> Lacks<Term> {
        let placed = &self.placed.program;
        self.within(value)?;
        if let Node::Input { name, lo, width } = placed.node(value)
            && self.placed.ends.inputs[name] == Residence::Number
        {
            return Ok(b::extract(self.repeated(name), *lo, *width));
        }
        let mut operands = BTreeMap::new();
        for operand in placed.uses(value) {
            operands.insert(operand, self.meaning(operand, known)?);
        }
        Ok(unroll(
            placed.meaning(value, &self.widths, &|v| operands[&v]),
        ))
    }

    /// Some bits of an input.
    fn input(&self, name: &str, lo: u32, width: u32) -> Term {
        if self.placed.ends.inputs[name] != Residence::Number {
            let whole = Term::var(name, Sort::Bv(self.widths[name]));
            return b::extract(whole, lo, width);
        }
        let element = self.repeated(name);
        let lanes = (lo + width).div_ceil(element.width());
        let all = b::concat(&vec![element; lanes as usize]);
        b::extract(all, lo, width)
    }

    /// One element of an input that is the same in all lanes.
    fn repeated(&self, name: &str) -> Term {
        let input = self.window.inputs.iter().find(|i| i.name == *name);
        let element = input.map_or(1, |i| i.ty.elem.bits());
        Term::var(&format!("{name}.element"), Sort::Bv(element))
    }

    /// Whether a load stays within its region.
    fn within(&self, value: Value) -> Lacks<()> {
        let Node::Apply { operation, args } = self.placed.program.node(value) else {
            return Ok(());
        };
        let instance = self.placed.program.operation(*operation);
        let Some(Argument::Address(region, byte)) =
            args.iter().find(|arg| matches!(arg, Argument::Address(..)))
        else {
            return Ok(());
        };
        let bits = match instance.transfer {
            Some(Transfer::Load(bits)) => bits,
            Some(Transfer::LoadMasked(_)) => instance.width(),
            _ => return Err(format!("`{}` is no load", instance.operation)),
        };
        has_first_constants(instance, args)?;
        let held = match region {
            Region::Input(name) => self.widths.get(name).copied().unwrap_or(0),
            Region::Table(table) => table.width(),
            Region::Result | Region::Scratch => 0,
        };
        match 8 * byte + bits <= held {
            true => Ok(()),
            false => Err(format!("`{}` loads past its region", instance.operation)),
        }
    }

    /// Each value against its image.
    fn values(&self) -> Lacks<()> {
        let mut known: BTreeMap<Value, Term> = BTreeMap::new();
        for (value, &image) in self.images.iter().enumerate() {
            let wrong = || {
                Err(format!(
                    "what was placed for value {value} is another value"
                ))
            };
            if let Node::Apply { operation, args } = self.program.node(value) {
                let moved = args
                    .iter()
                    .map(|arg| super::image(arg, self.images))
                    .collect();
                let operation = *operation;
                let node = Node::Apply {
                    operation,
                    args: moved,
                };
                let same = *self.placed.program.node(image) == node
                    && self.placed.program.operations.get(operation)
                        == self.program.operations.get(operation);
                if !same {
                    return wrong();
                }
            } else {
                let is = self.computed(image, &known)?;
                if !self.is_right(value, is) {
                    return wrong();
                }
            }
            known.entry(image).or_insert_with(|| self.stands_for(value));
        }
        Ok(())
    }

    /// Whether a term is what a value of the program is, where that is defined.
    fn is_right(&self, value: Value, is: Term) -> bool {
        let width = self.program.width(value);
        if let Node::Input { name, lo, .. } = self.program.node(value)
            && is.width() >= width
        {
            return same(b::extract(is, 0, width), self.input(name, *lo, width));
        }
        if is.width() != width {
            return false;
        }
        match self.program.node(value) {
            Node::Constant(bits) => same(is, Term::bits(bits.clone())),
            Node::Cast { value: from, .. } => {
                let bits = self.program.width(*from).min(width);
                let from = b::extract(self.stands_for(*from), 0, bits);
                same(b::extract(is, 0, bits), from)
            }
            _ => false,
        }
    }

    /// What is stored against the outputs: each byte of the result once, and no other.
    fn stores(&self, masked: bool) -> Lacks<()> {
        let outputs = self
            .program
            .outputs
            .iter()
            .rev()
            .map(|v| self.stands_for(*v));
        let whole = b::concat(&outputs.collect::<Vec<_>>());
        let total = self.window.output.width();
        let mut known: BTreeMap<Value, Term> = BTreeMap::new();
        for (value, &image) in self.images.iter().enumerate() {
            known.entry(image).or_insert_with(|| self.stands_for(value));
        }
        let mut written: Vec<Option<Term>> = vec![None; total.div_ceil(8) as usize];
        let mut scratch = None;
        for node in 0..self.placed.program.nodes().len() {
            let Some((byte, bits)) = self.stored(node, &known, &mut scratch, masked)? else {
                continue;
            };
            for (k, part) in elements(bits, bits.width().min(8)).into_iter().enumerate() {
                match written.get_mut(byte as usize + k) {
                    Some(place @ None) => *place = Some(part),
                    _ => return Err("a store goes past the result, or twice".to_owned()),
                }
            }
        }
        for (k, is) in written.into_iter().enumerate() {
            let lo = 8 * k as u32;
            let bits = 8.min(total - lo);
            let right = is.is_some_and(|is| same(is, b::extract(whole, lo, bits)));
            if !right {
                return Err(format!("byte {k} of the result is not stored as computed"));
            }
        }
        Ok(())
    }

    /// What a node writes into the result: from which byte on, what.
    fn stored(
        &self,
        node: Value,
        known: &BTreeMap<Value, Term>,
        scratch: &mut Option<Term>,
        masked: bool,
    ) -> Lacks<Option<(u32, Term)>> {
        let placed = &self.placed.program;
        match placed.node(node) {
            Node::Store { value, byte } => Ok(Some((*byte, self.meaning(*value, known)?))),
            Node::Copy { byte, bytes } => {
                let held = scratch.ok_or("nothing was stored in the scratch memory")?;
                Ok(Some((*byte, b::extract(held, 0, 8 * bytes))))
            }
            Node::Apply { operation, args } => {
                let instance = placed.operation(*operation);
                let bits = match instance.transfer {
                    Some(Transfer::Store(bits)) if !masked => bits,
                    Some(Transfer::StoreMasked(_)) if masked => 0,
                    Some(other @ (Transfer::Store(_) | Transfer::StoreMasked(_))) => {
                        return Err(format!("`{other}` does not store here"));
                    }
                    _ => return Ok(None),
                };
                let (mut value, mut to) = (None, None);
                has_first_constants(instance, args)?;
                for arg in args {
                    match arg {
                        Argument::Value(v) if bits > 0 || !self.is_mask(*v) => value = Some(*v),
                        Argument::Address(region, byte) => to = Some((region, *byte)),
                        Argument::Value(_) | Argument::Immediate(_) => {}
                    }
                }
                let (value, to) = (value.ok_or("nothing is stored")?, to.ok_or("nowhere")?);
                let value = self.meaning(value, known)?;
                let value = match bits {
                    0 => value,
                    bits => b::extract(value, 0, bits),
                };
                match to {
                    (Region::Result, byte) => Ok(Some((byte, value))),
                    (Region::Scratch, 0) => {
                        *scratch = Some(value);
                        Ok(None)
                    }
                    _ => Err("a store goes elsewhere".to_owned()),
                }
            }
            _ => Ok(None),
        }
    }

    fn is_mask(&self, value: Value) -> bool {
        matches!(self.placed.program.node(value), Node::Active { .. })
    }

    /// Whether an input is read where it lies in an array.
    fn in_array(&self, name: &str) -> bool {
        let input = self.window.inputs.iter().find(|i| i.name == *name);
        let array = input.is_some_and(|i| matches!(i.source, Source::Array(_)));
        array && self.placed.ends.inputs[name] == Residence::Memory
    }

    /// Whether the result is written where it goes in an array.
    fn result_in_array(&self) -> bool {
        let array = matches!(self.window.store, Store::Array(_));
        array && self.placed.ends.result == Residence::Memory
    }

    /// Every access under a mask has the mask of the lanes that it accesses.
    fn masks(&self) -> Lacks<()> {
        let placed = &self.placed.program;
        for node in placed.nodes() {
            let Node::Apply { args, .. } = node else {
                continue;
            };
            let address = args.iter().find_map(|arg| match arg {
                Argument::Address(region, byte) => Some((region, *byte)),
                _ => None,
            });
            let Some((region, byte)) = address else {
                continue;
            };
            let elem = match region {
                Region::Input(name) if self.in_array(name) => {
                    let input = self.window.inputs.iter().find(|i| i.name == *name);
                    input.map(|i| i.ty.elem)
                }
                Region::Result if self.result_in_array() => Some(self.window.output.elem),
                _ => None,
            };
            let Some(elem) = elem else { continue };
            let first = 8 * byte / elem.bits();
            let right = args.iter().any(|arg| match arg {
                Argument::Value(v) => matches!(
                    placed.node(*v),
                    Node::Active { first: f, .. } if *f == first
                ),
                _ => false,
            });
            if !right {
                return Err("an access touches lanes that are not active".to_owned());
            }
        }
        let numbers = placed.nodes().iter().any(|node| match node {
            Node::Input { name, .. } => self.in_array(name),
            Node::Store { .. } | Node::Copy { .. } => self.result_in_array(),
            _ => false,
        });
        match numbers {
            true => Err("a number is moved whether it is active or not".to_owned()),
            false => Ok(()),
        }
    }
}

/// Whether two terms are the same by what they are.
fn same(a: Term, b: Term) -> bool {
    let (a, b) = (unroll(a), unroll(b));
    a == b || {
        let bits = |t: Term| elements(t, if t.width().is_multiple_of(8) { 8 } else { 1 });
        a.width() == b.width() && bits(a) == bits(b)
    }
}

/// Whether an access to memory has the constants with which it is a transfer.
fn has_first_constants(instance: &Instance, args: &[Argument]) -> Lacks<()> {
    let mut all = instance.formals.iter().zip(args);
    let right = |(formal, arg): (&Formal, &Argument)| match first_constant(formal) {
        Some(bits) => *arg == Argument::Immediate(bits),
        None => !matches!(arg, Argument::Immediate(_)),
    };
    match all.all(right) {
        true => Ok(()),
        false => Err(format!("`{}` moves something else", instance.operation)),
    }
}
