//! Exo libraries of machines with declared state: blocks of commands as instructions.
//!
//! In: a machine that a dialect describes. Out: `autoir_NAME.py` with a memory for each array
//! and a definition for each block whose cells are zeros, copies, sums of products, or a
//! function of one cell. Bodies are read off what the commands do to terms, at two sets of
//! sizes and addresses that must agree; templates are the commands' words. What is none of
//! these is left out and counted.

mod meaning;
mod scalar;
mod template;

use crate::artefact::Artefact;
use meaning::{Letter, Meaning};
use semantics::instruction::Element;
use semantics::machine::Machine;
use semantics::machine::block::{Block, BlockOperand, Extent};
use semantics::spelling::line;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

/// The file of a machine.
pub fn artefact(machine: &Machine, header: String) -> Artefact<'_> {
    let path = format!("exo/autoir_{}.py", machine.isa);
    Artefact::new(path, move |out| write(machine, &header, out))
}

fn write(machine: &Machine, header: &str, out: &mut dyn Write) -> io::Result<String> {
    writeln!(out, "{header}")?;
    out.write_all(include_str!("blocks.py").as_bytes())?;
    for at in arrays(machine) {
        let array = &machine.state.arrays[at];
        let (name, rows, columns) = (class(&array.name), array.rows, array.columns);
        let body = format!("    rows = {rows}\n    columns = {columns}\n    given = {{}}\n");
        write!(out, "\n\nclass {name}(_Rows):\n{body}")?;
    }
    let mut functions = BTreeMap::new();
    let (mut written, mut left) = (0, Vec::new());
    for block in &machine.blocks {
        match definition(machine, block, &mut functions) {
            Some(text) => {
                written += 1;
                out.write_all(text.as_bytes())?;
            }
            None => left.push(block.name.as_str()),
        }
    }
    let left = match left.is_empty() {
        true => String::new(),
        false => format!("; none of {}", left.join(", ")),
    };
    Ok(format!("{written} definitions{left}"))
}

/// The arrays that blocks work on.
fn arrays(machine: &Machine) -> BTreeSet<usize> {
    let operands = machine.blocks.iter().flat_map(|b| &b.operands);
    let array = |(_, o): &(String, BlockOperand)| match o {
        BlockOperand::Tile { array, .. } => *array,
        _ => None,
    };
    operands.filter_map(array).collect()
}

/// An array's name as that of a class.
fn class(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().map(|c| c.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// Exo's type.
fn exo_type(element: Element) -> Option<&'static str> {
    Some(match element {
        Element::Signed(8) => "i8",
        Element::Signed(32) => "i32",
        Element::Float(32) => "f32",
        _ => return None,
    })
}

/// The definition of a block; before it, the functions that it is the first to need.
fn definition(
    machine: &Machine,
    block: &Block,
    functions: &mut BTreeMap<String, String>,
) -> Option<String> {
    let meaning = meaning::of(machine, block)?;
    let template = template::of(machine, block)?;
    let mut text = String::new();
    let body = body(block, &meaning, functions, &mut text)?;
    let parameters = block
        .operands
        .iter()
        .map(|(name, o)| parameter(machine, block, name, o));
    let parameters = parameters.collect::<Option<Vec<_>>>()?.join(", ");
    text.push_str(&format!(
        "\n\n# {}\n@instr('{template}')\n",
        line(&block.doc)
    ));
    text.push_str(&format!("def {}({parameters}):\n", block.name));
    for line in assertions(machine, block).chain(body) {
        text.push_str(&format!("    {line}\n"));
    }
    Some(text)
}

/// A number of rows or columns.
fn extent(block: &Block, extent: Extent) -> String {
    match extent {
        Extent::Fixed(n) => n.to_string(),
        Extent::Size(at) => block.operands[at].0.clone(),
    }
}

fn parameter(machine: &Machine, block: &Block, name: &str, o: &BlockOperand) -> Option<String> {
    Some(match o {
        BlockOperand::Size(_) => format!("{name}: size"),
        BlockOperand::Real => format!("{name}: f32"),
        BlockOperand::Tile {
            array,
            element,
            rows,
            columns,
        } => {
            let memory = match array {
                Some(at) => class(&machine.state.arrays[*at].name),
                None => "DRAM".to_owned(),
            };
            let (rows, columns) = (extent(block, *rows), extent(block, *columns));
            format!(
                "{name}: [{}][{rows}, {columns}] @ {memory}",
                exo_type(*element)?
            )
        }
    })
}

fn assertions(machine: &Machine, block: &Block) -> impl Iterator<Item = String> {
    let of = |(name, o): &(String, BlockOperand)| match o {
        BlockOperand::Size(most) => vec![format!("assert {name} <= {most}")],
        BlockOperand::Real => Vec::new(),
        BlockOperand::Tile { array: None, .. } => vec![format!("assert stride({name}, 1) == 1")],
        BlockOperand::Tile {
            array: Some(at), ..
        } => {
            let columns = machine.state.arrays[*at].columns;
            vec![
                format!("assert stride({name}, 0) == {columns}"),
                format!("assert stride({name}, 1) == 1"),
            ]
        }
    };
    block
        .operands
        .iter()
        .flat_map(of)
        .collect::<Vec<_>>()
        .into_iter()
}

/// The lines of the body; functions that no block before had go into `text`.
fn body(
    block: &Block,
    meaning: &Meaning,
    functions: &mut BTreeMap<String, String>,
    text: &mut String,
) -> Option<Vec<String>> {
    let Some((target, value)) = meaning else {
        return Some(vec!["pass".to_owned()]);
    };
    let (target, operand) = &block.operands[*target];
    let BlockOperand::Tile { rows, columns, .. } = operand else {
        return None;
    };
    let mut lines = vec![
        format!("for i in seq(0, {}):", extent(block, *rows)),
        format!("    for j in seq(0, {}):", extent(block, *columns)),
    ];
    let name = |at: usize| block.operands[at].0.as_str();
    match value {
        meaning::Cell::Zero => lines.push(format!("        {target}[i, j] = 0.0")),
        meaning::Cell::Same(from) => {
            lines.push(format!("        {target}[i, j] = {}[i, j]", name(*from)));
        }
        meaning::Cell::Added(from) => {
            lines.push(format!("        {target}[i, j] += {}[i, j]", name(*from)));
        }
        meaning::Cell::Products { depth, left, right } => {
            let factor = |(at, row, column): &(usize, Letter, Letter)| {
                format!("{}[{}, {}]", name(*at), row.text(), column.text())
            };
            lines.push(format!(
                "        for l in seq(0, {}):",
                extent(block, *depth)
            ));
            let product = format!("{} * {}", factor(left), factor(right));
            lines.push(format!("            {target}[i, j] += {product}"));
        }
        meaning::Cell::Scaled { from, scale, then } => {
            let body = scalar::function(*then)?;
            let function = match functions.get(&body) {
                Some(known) => known.clone(),
                None => {
                    let function = format!("{}_of", block.name);
                    let c = format!(
                        "__attribute__((unused)) static float {function}(float x) {{\n    {body}\n}}\n"
                    );
                    text.push_str(&format!(
                        "\n\n{function} = _Function({function:?}, {c:?})\n"
                    ));
                    functions.insert(body, function.clone());
                    function
                }
            };
            for line in [
                "x: f32".to_owned(),
                format!("x = {}[i, j]", name(*from)),
                "y: f32".to_owned(),
                format!("y = x * {}", name(*scale)),
                "z: f32".to_owned(),
                format!("z = {function}(y)"),
                format!("{target}[i, j] = z"),
            ] {
                lines.push(format!("        {line}"));
            }
        }
    }
    Some(lines)
}
