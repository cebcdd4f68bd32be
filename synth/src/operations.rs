//! The operations of one target, read when they are needed.
//!
//! In: an [`InstructionTable`], the target's features, a cost table. Out: [`TargetOperations`]:
//! how many instructions and operations the target has; what implements an operation at its
//! numbers, the cheapest first; and, when something has to be searched, all of them as
//! the candidates.

use crate::candidates::Candidates;
use crate::cost::{Cost, CostTable, Weight};
use crate::estimate::{Estimator, Usage, WindowInput};
use crate::library::cached::LibraryCache;
use crate::pairs::{Pairs, not_whole, side_by_side};
use crate::widths::Widths;
use autoir::instructions::{Implementation, InstructionTable, Row, Selection, instance_key};
use autoir::program::text::Given;
use autoir::program::{Instance, Program};
use autoir::transfer::Transfer;
use semantics::instruction::{Element, Form, Operand, Role, WIDEST_NUMBER};
use semantics::spelling::is_like;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Arc, OnceLock};
use store::object::{Key, Store};
use target::RegisterClass;
use target::processor::Processor;

/// What a target can do.
pub struct TargetOperations {
    table: InstructionTable,
    features: BTreeSet<String>,
    costs: CostTable,
    registers: Vec<RegisterClass>,
    structures: Vec<String>,
    /// Where what is derived from the operations lies, and for which program.
    cached: Option<(Store, String)>,
    candidates: OnceLock<Candidates>,
    transfers: OnceLock<Transfers>,
    pairs: OnceLock<Pairs>,
    /// The numbers of the rows of each instance, and of each operation at its numbers.
    instances: OnceLock<Numbers>,
    by_operation: OnceLock<Numbers>,
    digest: OnceLock<Key>,
}

/// Numbers of rows by a part of what they implement.
type Numbers = HashMap<String, Vec<usize>>;

/// What only moves data: by what it does, the width of what is moved and that of the result.
pub(crate) type Transfers = BTreeMap<(Transfer, u32, u32), (Arc<Instance>, Implementation, Cost)>;

/// The registers that hold vectors. Of those that numbers of C are as wide as, these are the ones
/// that some instruction takes or gives as elements: what only has bits is a predicate.
fn of_vectors(mut registers: Vec<RegisterClass>, table: &InstructionTable) -> Vec<RegisterClass> {
    if registers.iter().all(|class| class.width > WIDEST_NUMBER) {
        return registers;
    }
    let rows = table.rows().filter_map(|row| row.implementation());
    let of_elements = |element: Element| !matches!(element, Element::Mask | Element::Untyped);
    let types = rows.flat_map(|i| {
        let operands = i.operands.into_iter().filter(|o| o.role == Role::Register);
        let all = operands.map(|o| (o.element, o.c_type));
        all.chain([(i.element, i.c_type)])
            .filter(|(element, _)| of_elements(*element))
    });
    let vectors: HashSet<String> = types.map(|(_, c_type)| c_type).collect();
    registers.retain(|class| class.width > WIDEST_NUMBER || vectors.contains(&class.c_type));
    registers
}

impl TargetOperations {
    /// What the instructions of a table do for which a target has all features.
    pub fn new(
        table: InstructionTable,
        features: BTreeSet<String>,
        costs: CostTable,
        registers: Vec<RegisterClass>,
    ) -> TargetOperations {
        TargetOperations {
            registers: of_vectors(registers, &table),
            table,
            features,
            costs,
            structures: Vec::new(),
            cached: None,
            candidates: OnceLock::new(),
            transfers: OnceLock::new(),
            pairs: OnceLock::new(),
            instances: OnceLock::new(),
            by_operation: OnceLock::new(),
            digest: OnceLock::new(),
        }
    }

    /// The same target, where values of these types of C, `*` for any characters, are structures: no
    /// operation of a program has them.
    pub fn without_structures(self, structures: &[String]) -> TargetOperations {
        TargetOperations {
            structures: structures.to_vec(),
            cached: self.cached,
            ..TargetOperations::new(self.table, self.features, self.costs, self.registers)
        }
    }

    /// The same target, which keeps in a store for other runs of a program what a search derives from its
    /// operations.
    pub fn cached_in(self, store: &Store, program: &str) -> TargetOperations {
        TargetOperations {
            cached: Some((store.clone(), program.to_owned())),
            ..self
        }
    }

    /// The same target with so many of every `of` instructions, as they come, and those named.
    pub fn part(&self, share: usize, of: usize, named: &[String]) -> TargetOperations {
        let all = self.table.instructions().into_iter().enumerate();
        let some: Vec<_> = all
            .filter(|(k, (_, i))| k % of < share || named.contains(&i.instruction))
            .map(|(_, instruction)| instruction)
            .collect();
        let (features, costs) = (self.features.clone(), self.costs.clone());
        let registers = self.registers.clone();
        TargetOperations::new(InstructionTable::of(&some), features, costs, registers)
    }

    /// The widths of the values that the target holds.
    pub fn widths(&self) -> Widths {
        let widths = Widths::of(&self.registers);
        let narrowest = widths.narrowest();
        let keys = || self.transfers().keys().filter(|key| key.2 == narrowest);
        let loaded = keys().filter_map(|key| match key.0 {
            Transfer::Load(bits) => Some(bits),
            _ => None,
        });
        let brought = keys().filter_map(|&(transfer, from, _)| match transfer {
            Transfer::Raise => Some(from).filter(|from| *from <= WIDEST_NUMBER),
            Transfer::Broadcast(element) => Some(element).filter(|element| *element == from),
            _ => None,
        });
        let loaded: Vec<u32> = loaded.collect();
        widths.with_parts(&loaded, brought.max().unwrap_or(0))
    }

    /// What its processor takes besides instructions.
    pub fn processor(&self) -> &Processor {
        &self.costs.processor
    }

    /// The vector registers that the target has, the narrowest first.
    pub fn registers(&self) -> &[RegisterClass] {
        &self.registers
    }

    /// Bits of the elements of which only some can be loaded, those that a mask says.
    pub fn masked_elements(&self) -> BTreeSet<u32> {
        let transfers = self.transfers().keys();
        let masked = transfers.filter_map(|(transfer, ..)| match transfer {
            Transfer::LoadMasked(element) => Some(*element),
            _ => None,
        });
        masked.collect()
    }

    /// The cheapest of what only moves data, at any address; what moves one float, which C has as an aligned
    /// object in memory, only where there is nothing else. Of those that cost the same, the first
    /// that is written with the types of the target's registers, with the fewest features, and the
    /// shortest name (of names for one thing the longer are a compiler's own), the last of these.
    pub(crate) fn transfers(&self) -> &Transfers {
        self.transfers.get_or_init(|| self.cheapest_transfers())
    }

    /// Registers that are made of two, because nothing loads or stores them whole.
    pub(crate) fn pairs(&self) -> &Pairs {
        self.pairs.get_or_init(|| not_whole(self))
    }

    /// The operation of a row and what implements it.
    pub(crate) fn instruction(&self, row: &Row<'_>) -> Option<(Instance, Implementation)> {
        self.table.instruction(row)
    }

    /// What an instruction takes.
    pub(crate) fn cost_of(&self, instruction: &Implementation) -> Cost {
        self.costs.share(&self.costs.of(instruction))
    }

    fn cheapest_transfers(&self) -> Transfers {
        let mut best: BTreeMap<_, (_, Row<'_>, Implementation)> = BTreeMap::new();
        let mine = |row: &Row<'_>| row.features().all(|f| self.features.contains(f));
        for row in self.table.rows().filter(mine) {
            let Some((transfer, i)) = row.transfer.zip(row.implementation()) else {
                continue;
            };
            let aligned = |o: &Operand| matches!(o.role, Role::Pointer { align } if align > 1);
            if i.operands.iter().any(aligned) || !self.holds(&i) {
                continue;
            }
            let cost = self.cost_of(&i);
            let name = (i.instruction.len(), Reverse(i.instruction.clone()));
            let types = !self.has_own_types(&i);
            let rank = (
                moves_one_float(&i, transfer),
                cost,
                types,
                i.features.len(),
                name,
            );
            let key = (transfer, moved_width(&i), i.width);
            if best.get(&key).is_none_or(|(known, ..)| rank < *known) {
                best.insert(key, (rank, row, i));
            }
        }
        let read = |(key, (rank, row, i)): (_, (_, Row<'_>, _))| {
            let (_, cost, ..): (bool, Cost, bool, usize, (usize, Reverse<String>)) = rank;
            let (instance, _) = self.table.instruction(&row)?;
            Some((key, (Arc::new(instance), i, cost)))
        };
        best.into_iter().filter_map(read).collect()
    }

    /// Whether all vectors of an instruction have the types of the target's registers.
    fn has_own_types(&self, instruction: &Implementation) -> bool {
        let operands = instruction.operands.iter();
        let operands = operands.filter(|o| o.role == Role::Register);
        let all = operands.map(|o| (o.width, o.c_type.as_str()));
        let mut all = all.chain([(instruction.width, instruction.c_type.as_str())]);
        all.all(|(width, c_type)| {
            let class = self.registers.iter().find(|class| class.width == width);
            class.is_none_or(|class| class.c_type == c_type)
        })
    }

    /// The number of instructions that there are to choose from.
    pub fn instructions(&self) -> usize {
        self.rows().count()
    }

    /// The number of different operations that these instructions implement: at whatever numbers,
    /// and at numbers.
    pub fn operations(&self) -> (usize, usize) {
        let at_numbers: HashSet<&str> = self.rows().map(|row| row.operation).collect();
        let name = |text: &'_ str| {
            text.rsplit_once(' ')
                .map_or("", |(name, _)| name)
                .to_owned()
        };
        let operations: HashSet<String> = at_numbers.iter().map(|text| name(text)).collect();
        (operations.len(), at_numbers.len())
    }

    /// All operations that there are to choose from.
    pub fn candidates(&self) -> &Candidates {
        self.candidates.get_or_init(|| {
            let held = self.table.instructions_of(self.rows());
            let cached = self.cached.as_ref().map(|(store, program)| {
                LibraryCache::new(store, Key::of([program, &self.digest().to_string()]))
            });
            let all = Candidates::new(held, &self.features, &self.costs, self.widths(), cached);
            let mut pairs = side_by_side(self);
            pairs.extend(not_whole(self));
            all.with_pairs(&pairs)
        })
    }

    /// Whether a program can hold all that the instruction of a row takes and gives.
    fn is_held(&self, row: &Row<'_>) -> bool {
        self.structures.is_empty() || row.implementation().is_some_and(|i| self.holds(&i))
    }

    /// Whether a program can hold all that an instruction takes and gives, each in one register.
    fn holds(&self, instruction: &Implementation) -> bool {
        let operands = instruction.operands.iter().map(|o| o.c_type.as_str());
        let mut types = operands.chain([instruction.c_type.as_str()]);
        let is = |c_type: &str| self.structures.iter().any(|s| is_like(s, c_type));
        !types.any(is)
    }

    /// What all that a search looks at, but the window, is told by.
    pub fn digest(&self) -> &Key {
        self.digest.get_or_init(|| {
            let machine = format!("{:?} {:?}", self.features, self.costs);
            let held = format!("{:?} {:?}", self.registers, self.structures);
            Key::of([self.table.digest(), &machine, &held])
        })
    }

    /// The instructions that there are to choose from.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.numbered().map(|(_, row)| row)
    }

    /// The same with their numbers in the table.
    fn numbered(&self) -> impl Iterator<Item = (usize, Row<'_>)> {
        self.table.numbered().filter(|(_, row)| {
            matches!(row.form, Form::Single | Form::Free)
                && row.is_plain()
                && self.is_held(row)
                && row.features().all(|f| self.features.contains(f))
        })
    }

    /// The numbers of the instructions by a column of their rows.
    fn index(&self, by: for<'a> fn(&Row<'a>) -> &'a str) -> Numbers {
        let mut found = Numbers::new();
        for (number, row) in self.numbered() {
            found.entry(by(&row).to_owned()).or_default().push(number);
        }
        found
    }

    /// The rows that implement an instance.
    fn rows_of(&self, instance: &Instance) -> Vec<Row<'_>> {
        let numbers = self
            .instances
            .get_or_init(|| self.index(|row| row.instance));
        let numbers = numbers.get(&instance_key(instance));
        let rows = numbers
            .into_iter()
            .flatten()
            .filter_map(|&n| self.table.row(n));
        rows.collect()
    }

    /// The instance that an operation with numbers and arguments is.
    pub fn resolve(
        &self,
        operation: &str,
        values: &[i64],
        given: &[Given],
    ) -> Option<Arc<Instance>> {
        let values: Vec<String> = values.iter().map(i64::to_string).collect();
        let index = &self.by_operation;
        let numbers = index.get_or_init(|| self.index(|row| row.operation));
        let numbers = numbers.get(&format!("{operation} {}", values.join(",")))?;
        let mut rows = numbers.iter().filter_map(|&n| self.table.row(n));
        let row = rows.find(|row| row.accepts(given))?;
        let (instance, _) = self.table.instruction(&row)?;
        Some(Arc::new(instance))
    }

    /// The cheapest of some rows that implement one operation. Of those that cost the same, the
    /// first whose operands are said to be whole numbers where it does not matter what they are:
    /// processors take longer where what floats make is used by whole numbers.
    fn cheapest(&self, instance: &Instance, rows: &[Row<'_>]) -> Option<Implementation> {
        let computes_floats = crate::lanes::computes_floats(instance.term);
        let floats = |i: &Implementation| {
            let float = |o: &Operand| matches!(o.element, Element::Float(_) | Element::Bfloat16);
            !computes_floats && i.operands.iter().any(float)
        };
        let all = rows.iter().filter_map(Row::implementation);
        all.min_by_key(|i| (self.costs.share(&self.costs.of(i)), floats(i)))
    }

    /// What a program takes of the machine, by the cheapest instructions.
    ///
    /// # Panics
    /// When the target has no instruction for one of its operations.
    pub fn usage(&self, program: &Program, inputs: &[WindowInput]) -> Usage {
        self.estimated(program, inputs, |e| e.usage(program, &program.outputs))
    }

    /// What a program costs, by the cheapest instructions.
    ///
    /// # Panics
    /// When the target has no instruction for one of its operations.
    pub fn cost(&self, program: &Program, inputs: &[WindowInput]) -> Cost {
        let window = |e: &Estimator<'_>| e.window(program, &program.outputs);
        self.estimated(program, inputs, window).cost
    }

    /// What the values of a program count for together, by the cheapest instructions.
    ///
    /// # Panics
    /// When the target has no instruction for one of its operations.
    pub fn sum(&self, program: &Program, inputs: &[WindowInput]) -> Cost {
        self.estimated(program, inputs, |e| e.sum(program, &program.outputs))
    }

    /// Whether rounds of a loop wait for each other longer than the program takes of the machine.
    pub(crate) fn waits(&self, program: &Program, inputs: &[WindowInput]) -> bool {
        self.estimated(program, inputs, |e| e.waits(program, &program.outputs))
    }

    pub(crate) fn estimated<T>(
        &self,
        program: &Program,
        inputs: &[WindowInput],
        of: impl FnOnce(&Estimator<'_>) -> T,
    ) -> T {
        let weights = self.weights(program);
        of(&Estimator::new(
            &weights,
            &self.costs,
            &self.widths(),
            inputs,
        ))
    }

    /// What each operation of a program weighs, by number, by the cheapest instructions.
    ///
    /// # Panics
    /// When the target has no instruction for one of its operations.
    fn weights(&self, program: &Program) -> Vec<Weight> {
        let selection = self.select([program]).expect("a program of this target");
        let operations = program.operations.iter();
        operations.map(|o| self.costs.of(selection.of(o))).collect()
    }

    /// Which instruction implements each operation of some programs: the cheapest.
    ///
    /// # Errors
    /// The first operation that the target has no instruction for.
    pub fn select<'a>(
        &self,
        programs: impl IntoIterator<Item = &'a Program>,
    ) -> Result<Selection, String> {
        let wanted: HashSet<&Instance> = programs
            .into_iter()
            .flat_map(|p| p.operations.iter().map(Arc::as_ref))
            .collect();
        let one = |instance: &&Instance| match self.cheapest(instance, &self.rows_of(instance)) {
            Some(found) => Ok(((*instance).clone(), found)),
            None => Err(format!(
                "the target has no instruction for `{}` at {:?}",
                instance.operation, instance.values
            )),
        };
        wanted.iter().map(one).collect()
    }
}

/// Whether an instruction moves a float, and nothing else, to or from memory.
fn moves_one_float(instruction: &Implementation, transfer: Transfer) -> bool {
    let (Transfer::Load(bits) | Transfer::Store(bits)) = transfer else {
        return false;
    };
    let elements = instruction.operands.iter().map(|o| o.element);
    let mut elements = elements.chain([instruction.element]);
    elements.any(|element| element == Element::Float(bits))
}

/// The width of what an instruction moves: that of its widest operand that is no address and no
/// constant.
fn moved_width(instruction: &Implementation) -> u32 {
    let operands = instruction.operands.iter();
    let values = operands.filter(|o| !o.role.is_constant() && !o.role.is_pointer());
    values.map(|o| o.width).max().unwrap_or(0)
}
