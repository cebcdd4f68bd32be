//! Exo libraries of machines with tiles: products, loads and stores of whole tiles.
//!
//! In: a machine that a dialect describes. Out: `autoir_NAME.py` with a memory of its tile
//! registers and a definition for each instruction whose elements are sums of products of
//! rows and columns, or words of memory; templates are the instructions' words. A pointer is
//! as wide as a register of the machine. What Exo has no type for (16-bit integers) and what
//! has other state is left out.

use crate::artefact::Artefact;
use crate::command;
use semantics::machine::{Erratum, Field, Machine, MachineInstruction, OperandKind};
use semantics::op::OpCode;
use semantics::term::Term;
use semantics::unroll::{elements, unroll};
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

/// Bits of an element of a result.
const WORD: u32 = 32;

/// A stride that no offset reaches, to tell rows from columns.
const STRIDE: u64 = 1 << 20;

/// The file of a machine.
pub fn artefact(machine: &Machine, header: String) -> Artefact<'_> {
    let path = format!("exo/autoir_{}.py", machine.isa);
    Artefact::new(path, move |out| write(machine, &header, out))
}

fn write(machine: &Machine, header: &str, out: &mut dyn Write) -> io::Result<String> {
    writeln!(out, "{header}")?;
    out.write_all(include_str!("tiles.py").as_bytes())?;
    let mut written = 0;
    if let Some(tiles) = Tiles::of(machine) {
        let (rows, words, count) = (tiles.rows, tiles.words, tiles.count);
        writeln!(
            out,
            "\n\nclass Tile(_Tiles):\n    rows = {rows}\n    bytes = {}\n",
            words * 4
        )?;
        writeln!(out, "\nTile.init_state({count})")?;
        for (tile, erratum) in tiles.forbidden(machine) {
            writeln!(out, "Tile.mark({tile})  # the erratum {erratum}")?;
        }
        let all = machine.instructions.iter();
        for text in all.filter_map(|i| tiles.definition(machine, i)) {
            written += 1;
            out.write_all(text.as_bytes())?;
        }
    }
    Ok(format!("{written} definitions"))
}

/// The tile registers.
struct Tiles {
    file: usize,
    rows: u32,
    /// Words of 32 bits in a row.
    words: u32,
    count: u32,
}

/// Some bits of a tile: its name, the lowest bit, how many.
type Part = (String, u32, u32);

/// An element of a result.
#[derive(Clone)]
enum Cell {
    Zero,
    Sum {
        own: Option<Part>,
        products: Vec<(Part, Part)>,
        float: bool,
    },
    Loaded(Term),
}

impl Tiles {
    fn of(machine: &Machine) -> Option<Tiles> {
        let mut files = machine.files.iter().enumerate();
        let (file, found) = files.find(|(_, f)| f.row < f.width && f.row.is_multiple_of(WORD))?;
        Some(Tiles {
            file,
            rows: found.width / found.row,
            words: found.row / WORD,
            count: found.count,
        })
    }

    /// Tiles that some instruction must not have: who allocates does not know which will.
    fn forbidden<'m>(&self, machine: &'m Machine) -> BTreeMap<i64, &'m str> {
        let of_tiles = |e: &&Erratum| {
            let kind = &machine.instructions[e.instruction].operands[e.operand].kind;
            e.active && matches!(kind, OperandKind::Register { file, .. } if *file == self.file)
        };
        let errata = machine.errata.iter().filter(of_tiles);
        let each = errata.flat_map(|e| e.values.iter().map(|v| (*v, e.name.as_str())));
        each.collect()
    }

    fn definition(&self, machine: &Machine, found: &MachineInstruction) -> Option<String> {
        let [output] = found.instruction.outputs.as_slice() else {
            return None;
        };
        let is_tile =
            |k: &OperandKind| matches!(k, OperandKind::Register { file, .. } if *file == self.file);
        let tiles: Vec<usize> = (0..found.operands.len())
            .filter(|&k| is_tile(&found.operands[k].kind))
            .collect();
        let written = *tiles.first()?;
        let name = found.instruction.name.replace('.', "_");
        if output.c_type == "void" {
            let [tile] = tiles.as_slice() else {
                return None;
            };
            return self.store(machine, (found, &name), *tile, output.term);
        }
        if output.term.width() != self.rows * self.words * WORD {
            return None;
        }
        let row = self.words * WORD;
        let cells = elements(output.term, WORD)
            .into_iter()
            .map(|t| cell(t, row));
        let cells: Vec<Cell> = cells.collect::<Option<_>>()?;
        let target = found.operands[written].name.as_str();
        match cells.first()? {
            Cell::Zero => cells.iter().all(|c| matches!(c, Cell::Zero)).then(|| {
                let body = format!("{target}[i, j] = 0.0");
                self.plain(
                    machine,
                    found,
                    &name,
                    &[(target, "i32", self.words)],
                    &[&body],
                )
            }),
            Cell::Loaded(first) => {
                let base = base(*first)?;
                let own = |(at, c): (usize, &Cell)| match c {
                    Cell::Loaded(address) => place(*address, &base) == Some(self.cell_at(at)),
                    _ => false,
                };
                let all = cells.iter().enumerate().all(own);
                all.then(|| self.moving(machine, found, (&name, true), (written, &base)))?
            }
            Cell::Sum { .. } => self.product(machine, found, &name, target, &cells),
        }
    }

    /// The row of a word of a tile, and its byte in it.
    fn cell_at(&self, at: usize) -> (u64, u64) {
        let words = self.words as usize;
        ((at / words) as u64, (at % words * 4) as u64)
    }

    /// A sum of products of rows.
    fn product(
        &self,
        machine: &Machine,
        found: &MachineInstruction,
        name: &str,
        target: &str,
        cells: &[Cell],
    ) -> Option<String> {
        let mut letters: Option<Vec<(String, char)>> = None;
        let (mut depth, mut width, mut is_float) = (0, 0, false);
        for (at, cell) in cells.iter().enumerate() {
            let (i, j) = (at as u32 / self.words, at as u32 % self.words);
            let Cell::Sum {
                own,
                products,
                float,
            } = cell
            else {
                return None;
            };
            let own = own.as_ref()?;
            if own != &(target.to_owned(), at as u32 * WORD, WORD) {
                return None;
            }
            for (k, (a, b)) in products.iter().enumerate() {
                let at = |p: &Part| (p.1 / (self.words * WORD), p.1 % (self.words * WORD) / p.2);
                let ((ra, ca), (rb, cb)) = (at(a), at(b));
                if ca != k as u32 || cb != k as u32 || a.2 != b.2 {
                    return None;
                }
                // Element (1, 0) and others off the diagonal tell whose row is which.
                let found = match (ra == i, ra == j, rb == i, rb == j) {
                    (true, _, _, true) => vec![(a.0.clone(), 'i'), (b.0.clone(), 'j')],
                    (_, true, true, _) => vec![(a.0.clone(), 'j'), (b.0.clone(), 'i')],
                    _ => return None,
                };
                if i != j {
                    let mut sorted = found;
                    sorted.sort_by_key(|(_, letter)| *letter);
                    if letters.get_or_insert_with(|| sorted.clone()) != &sorted {
                        return None;
                    }
                }
                width = a.2;
            }
            (depth, is_float) = (products.len(), *float);
        }
        let letters = letters?;
        let element = match (is_float, width) {
            (true, 32) => "f32",
            (false, 8) => "i8",
            (false, 32) => "i32",
            _ => return None,
        };
        let sum = if is_float { "f32" } else { "i32" };
        let factor = |(name, row): &(String, char)| format!("{name}[{row}, k]");
        let body = format!(
            "{target}[i, j] += {} * {}",
            factor(&letters[0]),
            factor(&letters[1])
        );
        let inner = format!("for k in seq(0, {depth}):");
        let per_row = self.words * WORD / width;
        let parameters: Vec<(&str, &str, u32)> = std::iter::once((target, sum, self.words))
            .chain(
                letters
                    .iter()
                    .map(|(name, _)| (name.as_str(), element, per_row)),
            )
            .collect();
        Some(self.plain(
            machine,
            found,
            name,
            &parameters,
            &[&inner, &format!("    {body}")],
        ))
    }

    /// An instruction on tiles alone: its word is the template.
    fn plain(
        &self,
        machine: &Machine,
        found: &MachineInstruction,
        name: &str,
        parameters: &[(&str, &str, u32)],
        body: &[&str],
    ) -> String {
        let typed = parameters.iter().map(|(name, element, columns)| {
            format!("{name}: [{element}][{}, {columns}] @ Tile", self.rows)
        });
        let typed = typed.collect::<Vec<_>>().join(", ");
        let word = self.word(found);
        let shown = found.instruction.mnemonic.as_deref().unwrap_or(name);
        let body: String = body
            .iter()
            .map(|line| format!("            {line}\n"))
            .collect();
        format!(
            "\n\n# {} {shown}\n@instr('__asm__ volatile(\".word %0\" :: \"i\"({word}));')\n\
             def {name}({typed}):\n    for i in seq(0, {}):\n        for j in seq(0, {}):\n{body}",
            machine.isa, self.rows, self.words
        )
    }

    /// The word of an instruction with Exo's names for its tiles.
    fn word(&self, found: &MachineInstruction) -> String {
        let mut word = format!("{:#x}", found.encoding.bits);
        for field in &found.encoding.fields {
            let operand = &found.operands[field.operand];
            let tile =
                matches!(operand.kind, OperandKind::Register { file, .. } if file == self.file);
            if tile && field.from == 0 {
                word.push_str(&format!(" | {{{}_data}} << {}", operand.name, field.at));
            }
        }
        word
    }

    /// A store, when it is row by row.
    fn store(
        &self,
        machine: &Machine,
        (found, name): (&MachineInstruction, &str),
        tile: usize,
        term: Term,
    ) -> Option<String> {
        let mut term = unroll(term);
        let mut cells: Vec<(Part, Term)> = Vec::new();
        while let Some(args) = term.args_of(OpCode::Write) {
            cells.push((part(args[2])?, args[1]));
            term = args[0];
        }
        cells.sort_by_key(|(part, _)| part.1);
        let base = base(cells.first()?.1)?;
        let whole = cells.len() as u32 == self.rows * self.words;
        let tile_name = &found.operands[tile].name;
        let own = |(at, (part, address)): (usize, &(Part, Term))| {
            part == &(tile_name.clone(), at as u32 * WORD, WORD)
                && place(*address, &base) == Some(self.cell_at(at))
        };
        let all = whole && cells.iter().enumerate().all(own);
        all.then(|| self.moving(machine, found, (name, false), (tile, &base)))?
    }

    /// A load or a store: the tile is a constant of the word, address and stride are registers.
    fn moving(
        &self,
        machine: &Machine,
        found: &MachineInstruction,
        (name, loads): (&str, bool),
        (tile, base): (usize, &str),
    ) -> Option<String> {
        let given = |field: &Field, _: u32| {
            Some(match found.operands[field.operand].name.as_str() {
                _ if field.operand == tile => "x%0".to_owned(),
                name if name == base => "%1".to_owned(),
                _ => "%2".to_owned(),
            })
        };
        let statement = command::statement(machine, found, &given)?;
        // A tile's field is narrower than a register's: the bits beside it are of the word.
        let tile_field = found.encoding.fields.iter().find(|f| f.operand == tile)?;
        let place = command::place(machine, tile_field)?;
        let beside = command::bits(found.encoding.bits, place);
        let shift = tile_field.at - place.0;
        let tile_name = &found.operands[tile].name;
        let number = format!("{beside} | {{{tile_name}_data}} << {shift}");
        let mut text = String::new();
        // The same bytes as elements of each type that products take.
        for (element, suffix, size) in [("i32", "", 4), ("f32", "_f32", 4), ("i8", "_i8", 1)] {
            let (rows, columns) = (self.rows, self.words * 4 / size);
            let tile = format!("{tile_name}: [{element}][{rows}, {columns}] @ Tile");
            let memory = format!("memory: [{element}][{rows}, {columns}] @ DRAM");
            let body = match loads {
                true => format!("{tile_name}[i, j] = memory[i, j]"),
                false => format!("memory[i, j] = {tile_name}[i, j]"),
            };
            text.push_str(&format!(
                "\n\n@instr('__asm__ volatile(\"{statement}\" :: \
                 \"i\"({number}), \"r\"(&{{memory_data}}), \"r\"({{memory}}.strides[0] * {size}) : \"memory\");')\n\
                 def {name}{suffix}({tile}, {memory}):\n    assert stride(memory, 1) == 1\n    \
                 for i in seq(0, {rows}):\n        for j in seq(0, {columns}):\n            {body}\n"
            ));
        }
        Some(text)
    }
}

/// Some bits of an operand.
fn part(t: Term) -> Option<Part> {
    let args = t.args_of(OpCode::Extract)?;
    let lo = u32::try_from(args[1].as_int()?).ok()?;
    Some((args[0].as_var()?.to_owned(), lo, t.width()))
}

/// The pointer of the first word: its address mentions nothing else.
fn base(address: Term) -> Option<String> {
    match semantics::subst::free_vars(address).as_slice() {
        [only] => only.as_var().map(str::to_owned),
        _ => None,
    }
}

/// A row and a byte in it, as an address is made of a pointer and rows of a stride.
fn place(address: Term, base: &str) -> Option<(u64, u64)> {
    let at = |t: Term| {
        let width = t.width();
        let value = if t.as_var() == Some(base) { 0 } else { STRIDE };
        (
            t.as_var().unwrap_or_default(),
            Term::bv(width, value.into()),
        )
    };
    let free = semantics::subst::free_vars(address);
    let values: HashMap<&str, Term> = free.into_iter().map(at).collect();
    let value = semantics::subst::replace_vars(address, &values);
    let value = value.as_bits()?.low_u64();
    Some((value / STRIDE, value % STRIDE))
}

fn cell(t: Term, row: u32) -> Option<Cell> {
    if let Some(bits) = t.as_bits() {
        return bits.is_zero().then_some(Cell::Zero);
    }
    if let Some(args) = t.args_of(OpCode::Read) {
        return Some(Cell::Loaded(args[1]));
    }
    let (mut own, mut products, mut float) = (None, Vec::new(), false);
    let mut open = vec![t];
    while let Some(t) = open.pop() {
        if let Some(found) = part(t) {
            if own.replace(found).is_some() {
                return None;
            }
            continue;
        }
        let (op, args) = t.as_app()?;
        match op.code {
            OpCode::BvAdd => open.extend_from_slice(args),
            OpCode::FAdd => {
                float = true;
                open.extend_from_slice(args);
            }
            OpCode::BvMul | OpCode::FMul => products.push((factor(args[0])?, factor(args[1])?)),
            _ => return None,
        }
    }
    products.sort_by_key(|(a, b): &(Part, Part)| (a.1 % row, b.1));
    Some(Cell::Sum {
        own,
        products,
        float,
    })
}

/// A factor: some bits of a tile, perhaps with their sign.
fn factor(t: Term) -> Option<Part> {
    match t.args_of(OpCode::Sext) {
        Some(args) => part(args[0]),
        None => part(t),
    }
}
