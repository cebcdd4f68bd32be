//! What a block does to each cell, read off its commands' meaning.
//!
//! In: a block. Out: which operand it writes, and one rule for all cells of it. The commands
//! are run on terms with several sizes, addresses and scales; a rule that does not hold for
//! all cells of all runs is none, and so is a block that writes beside its target.

use super::scalar::X;
use semantics::instruction::Element;
use semantics::machine::Machine;
use semantics::machine::block::{Block, BlockOperand, Extent};
use semantics::machine::symbolic::{Source, Sym, Symbolic, term};
use semantics::op::OpCode;
use semantics::sort::Sort;
use semantics::subst::{free_vars, rebuild};
use semantics::term::Term;
use std::collections::{BTreeMap, HashMap};

/// The operand that is written and the rule for its cells; nothing when nothing is written.
pub(super) type Meaning = Option<(usize, Cell)>;

/// An index of a cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Letter {
    I,
    J,
    L,
}

impl Letter {
    const ALL: [Letter; 3] = [Letter::I, Letter::J, Letter::L];

    pub(super) fn text(self) -> char {
        match self {
            Letter::I => 'i',
            Letter::J => 'j',
            Letter::L => 'l',
        }
    }

    fn of(self, [i, j, l]: [i64; 3]) -> i64 {
        match self {
            Letter::I => i,
            Letter::J => j,
            Letter::L => l,
        }
    }
}

/// What is written to the cell of row `i` and column `j`; operands by index.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Cell {
    Zero,
    /// The same cell of another.
    Same(usize),
    /// The same cell of another is added.
    Added(usize),
    /// Products are added, as many as the depth.
    Products {
        depth: Extent,
        left: (usize, Letter, Letter),
        right: (usize, Letter, Letter),
    },
    /// A function of the same cell of another, as a float times a scale.
    Scaled {
        from: usize,
        scale: usize,
        then: Term,
    },
}

/// A cell of an operand: its operand, row and column.
type At = (usize, i64, i64);

/// Two cells that are multiplied, the lesser first.
type Product = (At, At);

/// One run: the values of the operands, and what was written.
struct Run {
    /// Values of sizes and bits of scales, by operand.
    values: Vec<i64>,
    target: Option<usize>,
    written: BTreeMap<(i64, i64), Term>,
}

struct Elements(HashMap<i64, (Element, Term)>);

impl Source for Elements {
    fn element(&mut self, address: i64, element: Element) -> Option<Term> {
        let found = self.0.get(&address).filter(|(e, _)| *e == element);
        found.map(|(_, term)| *term)
    }
}

/// The meaning of a block; nothing when it has none of these forms.
pub(super) fn of(machine: &Machine, block: &Block) -> Option<Meaning> {
    let runs = (0..3).map(|round| run(machine, block, round));
    let runs = runs.collect::<Option<Vec<Run>>>()?;
    let target = runs[0].target;
    if runs.iter().any(|r| r.target != target) {
        return None;
    }
    let Some(target) = target else {
        return Some(None);
    };
    let rules = rules(block, target, &runs[0]);
    let fits = |rule: &Cell| runs.iter().all(|run| holds(block, rule, target, run));
    Some(Some((target, rules.into_iter().find(fits)?)))
}

/// Runs the commands with the sizes, addresses and scales of a round.
fn run(machine: &Machine, block: &Block, round: i64) -> Option<Run> {
    let mut values = Vec::new();
    for (k, (_, operand)) in block.operands.iter().enumerate() {
        let k = k as i64;
        values.push(match operand {
            // The most, one less, and sizes that all differ.
            BlockOperand::Size(most) => match round {
                0 => *most,
                1 => (most - 1).max(1),
                _ => (most - 2 - k).max(1),
            },
            BlockOperand::Real => i64::from((0.375_f32 + round as f32).to_bits()),
            BlockOperand::Tile { .. } => 0,
        });
    }
    let mut arguments = Vec::new();
    let mut state = Symbolic::new(machine);
    let mut memory = Elements(HashMap::new());
    let mut places: HashMap<(Option<usize>, i64, i64), At> = HashMap::new();
    for (k, (_, operand)) in block.operands.iter().enumerate() {
        let BlockOperand::Tile {
            array,
            element,
            rows,
            columns,
        } = operand
        else {
            arguments.push(values[k]);
            continue;
        };
        let (width, number) = (element.width()?, k as i64);
        let (rows, columns) = (size(*rows, &values), size(*columns, &values));
        let bytes = i64::from(width / 8);
        let (base, stride) = match array {
            Some(_) => (64 * number + 32 * round, 1),
            None => (
                0x10000 * (number + 1) + 64 * round,
                (columns + 8 * round) * bytes,
            ),
        };
        arguments.push(base);
        if array.is_none() {
            arguments.push(stride);
        }
        for (row, column) in (0..rows).flat_map(|r| (0..columns).map(move |c| (r, c))) {
            let var = Term::var(&format!("{k} {row} {column}"), Sort::Bv(width));
            let place = match array {
                Some(array) => {
                    state.set_cell(*array, base + row, column, var);
                    (Some(*array), base + row, column)
                }
                None => {
                    let address = base + row * stride + column * bytes;
                    memory.0.insert(address, (*element, var));
                    (None, address, 0)
                }
            };
            places.insert(place, (k, row, column));
        }
    }
    state
        .apply(&block.procedure, &arguments, &mut memory)
        .ok()?;
    written(block, &state, &places, values)
}

fn size(extent: Extent, values: &[i64]) -> i64 {
    match extent {
        Extent::Fixed(n) => n,
        Extent::Size(at) => values[at],
    }
}

/// What the commands wrote; nothing when it is not the cells of one operand.
fn written(
    block: &Block,
    state: &Symbolic<'_>,
    places: &HashMap<(Option<usize>, i64, i64), At>,
    values: Vec<i64>,
) -> Option<Run> {
    let has = |array: usize| {
        let is_it = |o: &BlockOperand| matches!(o, BlockOperand::Tile { array: Some(a), .. } if *a == array);
        block.operands.iter().any(|(_, o)| is_it(o))
    };
    let cells = state.cells().filter(|((array, ..), _)| has(*array));
    let cells = cells.map(|((array, row, column), value)| ((Some(array), row, column), value));
    let memory = state
        .written
        .iter()
        .map(|(at, value)| ((None, *at, 0), *value));
    let mut run = Run {
        values,
        target: None,
        written: BTreeMap::new(),
    };
    for (place, value) in cells.chain(memory) {
        let &(operand, row, column) = places.get(&place)?;
        let BlockOperand::Tile { element, .. } = &block.operands[operand].1 else {
            return None;
        };
        let value: Sym = value;
        let term = term(value, *element);
        if place_of(term) == Some((operand, row, column)) {
            continue;
        }
        if *run.target.get_or_insert(operand) != operand {
            return None;
        }
        run.written.insert((row, column), term);
    }
    Some(run)
}

/// The cell that a variable is.
fn place_of(t: Term) -> Option<At> {
    let mut numbers = t.as_var()?.split(' ').map(str::parse::<i64>);
    let (k, row, column) = (numbers.next()?, numbers.next()?, numbers.next()?);
    Some((usize::try_from(k.ok()?).ok()?, row.ok()?, column.ok()?))
}

/// What the first run's first cell may be an instance of.
fn rules(block: &Block, target: usize, run: &Run) -> Vec<Cell> {
    let Some(first) = run.written.values().next() else {
        return Vec::new();
    };
    let mut rules = vec![Cell::Zero];
    let tiles = |o: &BlockOperand| matches!(o, BlockOperand::Tile { .. });
    let others = (0..block.operands.len()).filter(|&k| k != target && tiles(&block.operands[k].1));
    for from in others {
        rules.extend([Cell::Same(from), Cell::Added(from)]);
        for (scale, (_, operand)) in block.operands.iter().enumerate() {
            if *operand == BlockOperand::Real
                && let Some(then) = after_scaling(*first, (from, 0, 0), run.values[scale])
            {
                rules.push(Cell::Scaled { from, scale, then });
            }
        }
    }
    if let Some((_, products)) = sum(*first)
        && let Some(&(a, b)) = products.first()
    {
        rules.extend(of_products(block, a.0, b.0));
    }
    rules
}

/// Every rule for products of cells of two operands.
fn of_products(block: &Block, left: usize, right: usize) -> Vec<Cell> {
    let mut rules = Vec::new();
    let sizes =
        (0..block.operands.len()).filter(|&k| matches!(block.operands[k].1, BlockOperand::Size(_)));
    for depth in sizes.map(Extent::Size) {
        for [a, b] in pairs() {
            for [c, d] in pairs() {
                rules.push(Cell::Products {
                    depth,
                    left: (left, a, b),
                    right: (right, c, d),
                });
            }
        }
    }
    rules
}

fn pairs() -> impl Iterator<Item = [Letter; 2]> {
    let all = Letter::ALL;
    all.into_iter().flat_map(move |a| all.map(|b| [a, b]))
}

/// Whether a rule is what a run did, to every cell of its target.
fn holds(block: &Block, rule: &Cell, target: usize, run: &Run) -> bool {
    let BlockOperand::Tile { rows, columns, .. } = &block.operands[target].1 else {
        return false;
    };
    let (rows, columns) = (size(*rows, &run.values), size(*columns, &run.values));
    let all = (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j)));
    let mut all = all.map(|at| (at, run.written.get(&at)));
    run.written.len() as i64 == rows * columns
        && all.all(|((i, j), t)| t.is_some_and(|t| is(rule, target, (i, j), *t, run)))
}

/// Whether a cell is as a rule says.
fn is(rule: &Cell, target: usize, (i, j): (i64, i64), t: Term, run: &Run) -> bool {
    match rule {
        Cell::Zero => t.as_bits().is_some_and(|bits| bits.is_zero()),
        Cell::Same(from) => place_of(t) == Some((*from, i, j)),
        Cell::Added(from) => t
            .args_of(OpCode::BvAdd)
            .or(t.args_of(OpCode::FAdd))
            .is_some_and(|args| {
                let mut places: Vec<_> = args.iter().map(|a| place_of(*a)).collect();
                places.sort();
                let mut wanted = vec![Some((*from, i, j)), Some((target, i, j))];
                wanted.sort();
                places == wanted
            }),
        Cell::Products { depth, left, right } => {
            let Some((own, mut products)) = sum(t) else {
                return false;
            };
            let at = |(k, row, column): &(usize, Letter, Letter), l| {
                (*k, row.of([i, j, l]), column.of([i, j, l]))
            };
            let depth = size(*depth, &run.values);
            let pair = |l| ordered(at(left, l), at(right, l));
            let mut wanted: Vec<Product> = (0..depth).map(pair).collect();
            wanted.sort();
            products.sort();
            own == Some((target, i, j)) && products == wanted
        }
        Cell::Scaled { from, scale, then } => {
            after_scaling(t, (*from, i, j), run.values[*scale]) == Some(*then)
        }
    }
}

fn ordered(a: At, b: At) -> Product {
    if a <= b { (a, b) } else { (b, a) }
}

/// A sum of a cell and products of two cells.
fn sum(t: Term) -> Option<(Option<At>, Vec<Product>)> {
    let (mut own, mut products, mut open) = (None, Vec::new(), vec![t]);
    while let Some(t) = open.pop() {
        if let Some(place) = place_of(t) {
            if own.replace(place).is_some() {
                return None;
            }
            continue;
        }
        let (op, args) = t.as_app()?;
        match op.code {
            OpCode::BvAdd | OpCode::FAdd => open.extend_from_slice(args),
            OpCode::BvMul | OpCode::FMul => {
                products.push(ordered(factor(args[0])?, factor(args[1])?));
            }
            _ => return None,
        }
    }
    Some((own, products))
}

/// A cell, perhaps with its sign.
fn factor(t: Term) -> Option<At> {
    match t.args_of(OpCode::Sext) {
        Some(args) => place_of(args[0]),
        None => place_of(t),
    }
}

/// A term as a function of [`X`], when a cell is in it only as a float times a scale.
fn after_scaling(t: Term, cell: At, scale: i64) -> Option<Term> {
    fn visit(t: Term, cell: At, scale: i64, memo: &mut HashMap<Term, Term>) -> Term {
        if let Some(done) = memo.get(&t) {
            return *done;
        }
        let scaled = t.args_of(OpCode::FMul).is_some_and(|args| {
            let source = args[0]
                .args_of(OpCode::FFromSint)
                .and_then(|a| place_of(a[0]));
            let by = args[1].as_bits().map(|bits| bits.low_u64());
            source == Some(cell) && by == Some(scale as u64)
        });
        let made = match scaled {
            true => Term::var(X, Sort::Bv(32)),
            false => rebuild(t, |child, _| visit(child, cell, scale, memo)),
        };
        memo.insert(t, made);
        made
    }
    let made = visit(t, cell, scale, &mut HashMap::new());
    let free = free_vars(made);
    (free.len() == 1 && free[0].as_var() == Some(X)).then_some(made)
}
