//! Where an instruction accesses memory, and where its pointers are put for a check.
//!
//! In: an instruction, values of its operands. Out: for each record the pointers, each so that
//! what the specification says is accessed ends or begins exactly at a page that cannot be
//! accessed; an instruction that accesses more faults. It does not run anything.

use codegen_gen::check_harness::{memory, pointers};
use semantics::build;
use semantics::eval::{CompiledTerms, Input};
use semantics::instruction::{Element, Instruction, Role};
use semantics::op::OpCode;
use semantics::sort::Sort;
use semantics::subst::free_vars;
use semantics::term::{Kind, Term};
use semantics::unroll::unroll;
use semantics::value::Value;
use std::collections::{BTreeSet, HashMap, HashSet};

/// The name of the memory before the instruction.
pub(crate) const MEMORY: &str = "mem";

/// What a pointer is aligned to in the records that are aligned.
pub(crate) const ALIGNMENT: u64 = 64;

/// One access that an instruction may make.
#[derive(Clone, Copy, Debug)]
struct Access {
    /// Whether it is made.
    happens: Term,
    /// Its first byte.
    address: Term,
    /// How many bytes.
    bytes: u32,
    /// The pointer that it is relative to, by its place among the pointers.
    pointer: usize,
}

/// The accesses of an instruction, ready to be evaluated.
pub(crate) struct Accesses {
    made: Vec<Access>,
    program: CompiledTerms,
    pointers: usize,
    /// The operands, by place, that say where elements of memory are.
    pub(crate) indices: BTreeSet<usize>,
}

/// What a record accesses relative to one pointer: from, and to (exclusive).
pub(crate) type Extent = Option<(i64, i64)>;

/// The inputs of an instruction's terms: the operands in order, then memory.
pub(crate) fn variables(instruction: &Instruction) -> Vec<Input> {
    let operand = |o: &semantics::instruction::Operand| Input {
        name: o.name.clone(),
        sort: Sort::Bv(o.width),
    };
    let memory = Input {
        name: MEMORY.to_owned(),
        sort: Sort::Mem,
    };
    let operands = instruction.operands.iter().map(operand);
    operands.chain([memory]).collect()
}

impl Accesses {
    /// The accesses of an instruction.
    ///
    /// # Errors
    /// When an address is relative to no pointer or several, or cannot be evaluated.
    pub(crate) fn of(instruction: &Instruction) -> Result<Accesses, String> {
        let names: Vec<&str> = pointers(instruction).map(|o| o.name.as_str()).collect();
        let roots: Vec<Term> = instruction.outputs.iter().map(|o| unroll(o.term)).collect();
        let mut made = Vec::new();
        let mut indices = BTreeSet::new();
        for (happens, term) in reached(&roots) {
            let (bytes, address) = match term.as_app() {
                Some((op, args)) if op.code == OpCode::Read => (op.params()[0], args[1]),
                Some((op, args)) if op.code == OpCode::Write => (args[2].width() / 8, args[1]),
                _ => continue,
            };
            let free = free_vars(address);
            let used = |name: &str| free.iter().any(|v| v.as_var() == Some(name));
            let mut of = (0..names.len()).filter(|&k| used(names[k]));
            let (Some(pointer), None) = (of.next(), of.next()) else {
                return Err("an address is not relative to one pointer".to_owned());
            };
            for (place, operand) in instruction.operands.iter().enumerate() {
                let moves = operand.role == Role::Register && operand.element != Element::Mask;
                if moves && used(&operand.name) {
                    indices.insert(place);
                }
            }
            made.push(Access {
                happens,
                address,
                bytes,
                pointer,
            });
        }
        let outputs: Vec<Term> = made.iter().flat_map(|a| [a.happens, a.address]).collect();
        let program = CompiledTerms::compile(&outputs, &variables(instruction))
            .map_err(|e| format!("its addresses cannot be evaluated: {e}"))?;
        Ok(Accesses {
            made,
            program,
            pointers: names.len(),
            indices,
        })
    }

    /// What is accessed relative to each pointer, with these operands (of which the pointers
    /// are the middles of their memories).
    pub(crate) fn extents(&self, operands: &[Value]) -> Vec<Extent> {
        let mut extents = vec![None; self.pointers];
        let values: Vec<Value> = operands
            .iter()
            .cloned()
            .chain([Value::Mem(semantics::value::Memory::default())])
            .collect();
        let values = self.program.run(&values);
        for (access, value) in self.made.iter().zip(values.chunks(2)) {
            if !value[0].truth() {
                continue;
            }
            let address = value[1].bits().low_u64();
            let from = address.wrapping_sub(middle(access.pointer)) as i64;
            let to = from.saturating_add(i64::from(access.bytes));
            let extent = &mut extents[access.pointer];
            let (a, b) = extent.unwrap_or((from, to));
            *extent = Some((a.min(from), b.max(to)));
        }
        extents
    }
}

/// The middle of a pointer's memory.
pub(crate) fn middle(pointer: usize) -> u64 {
    let memory = memory(pointer);
    memory.start + (memory.end - memory.start) / 2
}

/// Every node of some flat terms that computes a value from memory or a memory, each with
/// the condition under which it matters.
fn reached(roots: &[Term]) -> Vec<(Term, Term)> {
    let mut order = Vec::new();
    let mut seen = HashSet::new();
    for &root in roots {
        visit(root, &mut seen, &mut order);
    }
    let truth = Term::bool(true);
    let mut when: HashMap<Term, Term> = roots.iter().map(|&r| (r, truth)).collect();
    let mut found = Vec::new();
    // Users come before what they use.
    for &term in order.iter().rev() {
        let happens = when[&term];
        let mut matters = |part: Term, condition: Term| {
            let old = when.get(&part).copied();
            let new = old.map_or(condition, |old| match old == truth || condition == truth {
                true => truth,
                false => build::either(old, condition),
            });
            when.insert(part, new);
        };
        match term.args_of(OpCode::Ite) {
            Some(&[c, a, b]) => {
                matters(c, happens);
                // What both branches need is needed.
                matters(a, build::both(happens, c));
                matters(b, build::both(happens, build::negate(c)));
            }
            _ => term.children().for_each(|part| matters(part, happens)),
        }
        if matches!(term.kind(), Kind::App { op, .. } if matches!(op.code, OpCode::Read | OpCode::Write))
        {
            found.push((happens, term));
        }
    }
    found
}

/// The nodes below a term, parts first.
fn visit(term: Term, seen: &mut HashSet<Term>, order: &mut Vec<Term>) {
    let mut stack = vec![(term, false)];
    while let Some((term, done)) = stack.pop() {
        if done {
            order.push(term);
        } else if seen.insert(term) {
            stack.push((term, true));
            stack.extend(term.children().map(|part| (part, false)));
        }
    }
}

/// Where pointers go, by the number of the record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// The last byte accessed is the last of the memory.
    AtEnd,
    /// The first byte accessed is the first of the memory.
    AtStart,
    /// As near to the end as an aligned pointer comes.
    Aligned,
    /// As near to the end as an odd pointer comes.
    Odd,
}

impl Place {
    /// The place for a record.
    pub(crate) fn of(number: usize) -> Place {
        [Place::AtEnd, Place::Aligned, Place::AtStart, Place::Odd][number % 4]
    }

    /// The value of a pointer that accesses the extent, and the address of its window.
    pub(crate) fn put(self, pointer: usize, extent: Extent, window: usize) -> (u64, u64) {
        let memory = memory(pointer);
        let (from, to) = extent.unwrap_or((0, 0));
        let at_end = memory.end - window as u64;
        match self {
            Place::AtEnd => (memory.end.wrapping_add_signed(-to), at_end),
            Place::AtStart => {
                // What accesses nothing may point before the memory as well.
                let from = if extent.is_none() { 64 } else { from };
                (memory.start.wrapping_add_signed(-from), memory.start)
            }
            Place::Aligned => {
                let last = memory.end.wrapping_add_signed(-to);
                (last / ALIGNMENT * ALIGNMENT, at_end)
            }
            Place::Odd => {
                let last = memory.end.wrapping_add_signed(-to);
                ((last - 1) | 1, at_end)
            }
        }
    }
}

/// Bytes of the windows that hold these extents wherever they are put.
pub(crate) fn window(extents: &[Vec<Extent>]) -> Result<usize, String> {
    let each = extents.iter().flatten().flatten();
    let longest = each.map(|(from, to)| to - from).max().unwrap_or(0);
    match u64::try_from(longest) {
        Ok(bytes) if bytes <= codegen_gen::check_harness::PAGE / 2 => {
            Ok((bytes.next_multiple_of(ALIGNMENT) + ALIGNMENT) as usize)
        }
        _ => Err("its accesses lie too far apart".to_owned()),
    }
}
