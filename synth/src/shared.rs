//! Programs that others left in a shared store.
//!
//! In: a program that a search has found, with what it claims that its values hold; or the text
//! that somebody left, a window, a prover. Out: such a text; or the program, proved equal to the
//! window by this very run. A text is a proposal: its operations are looked up in this target's,
//! its claims are read as terms over the window's inputs and nothing else, each is proved step by
//! step, and a text that is not just as `write` has it is refused. That there is no program is
//! never left: nobody could prove it.

use crate::compile::fits;
use crate::goal::Goal;
use crate::operations::TargetOperations;
use crate::proof::{self, Found};
use autoir::program::{Program, Value, text};
use lowering::window::Window;
use semantics::nodes::{Reader, Writer, children};
use semantics::sexpr;
use semantics::sort::Sort;
use semantics::span::{Source, Span};
use semantics::subst::{free_vars, replace_vars};
use semantics::term::{Kind as Node, Term};
use smt::prover::Prover;
use smt::verdict::Evidence;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use store::object::Kind;

/// What was found for windows, with what proves it.
pub(crate) const PROGRAMS: Kind = Kind {
    name: "programs",
    version: 1,
    most: None,
};

/// What the values of a program hold, by number.
pub(crate) type Claims = BTreeMap<Value, Vec<Goal>>;

/// Bounds on what a stranger may claim: nodes of all terms, how deep they are, bits of a value.
const MOST_NODES: usize = 1 << 18;
const MOST_DEPTH: usize = 1_000;
const MOST_BITS: u32 = 1 << 16;

/// What a program's window may be proved by; `values` are its values in a search's numbers.
pub(crate) fn claims_of(
    claims: &Claims,
    values: impl IntoIterator<Item = Value>,
) -> BTreeMap<Value, Vec<Goal>> {
    let numbered = values.into_iter().enumerate();
    let claimed = numbered.filter_map(|(k, v)| Some((k, claims.get(&v)?.clone())));
    claimed.collect()
}

/// A program and what proves it as text; nothing when somebody else could not read it.
pub(crate) fn write(program: &Program, claims: &Claims, window: &Window) -> Option<String> {
    let inputs = window.inputs.iter().enumerate();
    let numbered: HashMap<&str, (String, u32)> = inputs
        .map(|(k, i)| (i.name.as_str(), (format!("operand{k}"), i.ty.width())))
        .collect();
    let name = |name: &str| numbered.get(name).map_or(name.to_owned(), |n| n.0.clone());
    let vars = numbered.iter();
    let vars: HashMap<&str, Term> = vars
        .map(|(name, (operand, width))| (*name, Term::var(operand, Sort::Bv(*width))))
        .collect();
    let (mut writer, mut lines) = (Writer::default(), String::new());
    for (value, goal) in claims
        .iter()
        .flat_map(|(v, all)| all.iter().map(move |g| (v, g)))
    {
        let _ = write!(lines, "{value} {}", goal.element);
        for element in &goal.elements {
            let known = |v: &Term| v.as_var().is_some_and(|v| vars.contains_key(v));
            match element {
                None => lines.push_str(" _"),
                Some(t) if free_vars(*t).iter().all(known) => {
                    let _ = write!(lines, " {}", writer.number(replace_vars(*t, &vars)));
                }
                Some(_) => return None,
            }
        }
        lines.push('\n');
    }
    let (program, nodes) = (program.renamed(&name), writer.count());
    let terms = writer.into_text();
    Some(format!(
        "(program window\n{program})\nsteps {nodes}\n{terms}{lines}"
    ))
}

/// What a stranger left for a window, proved.
///
/// # Errors
/// What is wrong with it.
pub fn prove(
    left: &str,
    window: &Window,
    operations: &TargetOperations,
    prover: &Prover,
) -> Result<(Program, Evidence), String> {
    let (program, claims) = read(left, window, operations).ok_or("it is not understood")?;
    if write(&program, &claims, window).as_deref() != Some(left) {
        return Err("it is not written as programs are".to_owned());
    }
    fits(&program, window, &operations.widths())?;
    let all: Vec<Value> = (0..program.nodes().len()).collect();
    if !all.iter().eq(&program.needed(&program.outputs)) {
        return Err("some of its values are not used".to_owned());
    }
    for (&value, goals) in &claims {
        if goals
            .iter()
            .any(|goal| goal.width() != program.width(value))
        {
            return Err(format!("value {value} has another width"));
        }
    }
    let found = Found {
        program: &program,
        claims: &claims,
        roots: &program.outputs,
    };
    let proved = proof::prove_by_steps(window, &found, prover);
    let evidence = proved.ok_or("it could not be proved to compute the window")?;
    Ok((program, evidence))
}

fn read(left: &str, window: &Window, operations: &TargetOperations) -> Option<(Program, Claims)> {
    let (program, steps) = left.split_once("\nsteps ")?;
    let source = Source::new("a shared program", program);
    let items = sexpr::read(&source, Span::new(0, program.len())).ok()?;
    let [item] = &items[..] else { return None };
    let resolve =
        |name: &str, values: &[i64], given: &[text::Given]| operations.resolve(name, values, given);
    let (_, program) = text::read(&source, item, &resolve).ok()?;
    let input = |name: &str| {
        let place: usize = name.strip_prefix("operand")?.parse().ok()?;
        window.inputs.get(place)
    };
    let name = |name: &str| input(name).map_or(name.to_owned(), |i| i.name.clone());
    let (nodes, lines) = steps.split_once('\n')?;
    let nodes: usize = nodes.parse().ok().filter(|&n| n <= MOST_NODES)?;
    let mut lines = lines.split_terminator('\n');
    let terms = terms(lines.by_ref().take(nodes), nodes)?;
    let var = |t: &Term| {
        let (name, input) = t.as_var().and_then(|name| Some((name, input(name)?)))?;
        let own = Term::var(&input.name, Sort::Bv(input.ty.width()));
        (t.sort() == own.sort()).then_some((name, own))
    };
    let mut claims = Claims::new();
    for line in lines {
        let mut words = line.split(' ');
        let value: Value = words.next()?.parse().ok()?;
        let element: u32 = words.next()?.parse().ok()?;
        if value >= program.nodes().len() || !(1..=MOST_BITS).contains(&element) {
            return None;
        }
        let one = |word: &str| {
            if word == "_" {
                return Some(None);
            }
            let term: Term = *terms.get(word.parse::<usize>().ok()?)?;
            let vars = free_vars(term);
            let known: HashMap<&str, Term> = vars.iter().map(var).collect::<Option<_>>()?;
            let closed = term.binders() == 0 && term.sort() == Sort::Bv(element);
            closed.then(|| Some(replace_vars(term, &known)))
        };
        let elements: Vec<Option<Term>> = words.map(one).collect::<Option<_>>()?;
        if elements.is_empty() || elements.len() > (MOST_BITS / element) as usize {
            return None;
        }
        let goal = Goal { element, elements };
        claims.entry(value).or_default().push(goal);
    }
    Some((program.renamed(&name), claims))
}

/// Terms that are flat, neither wide nor deep.
fn terms<'a>(lines: impl Iterator<Item = &'a str>, nodes: usize) -> Option<Vec<Term>> {
    let reader = Reader::default();
    let mut terms: Vec<Term> = Vec::new();
    let mut depths: Vec<usize> = Vec::new();
    for line in lines {
        let below = children(line).map(|k| depths.get(k).copied());
        let below: Option<Vec<usize>> = below.collect();
        let depth = below?.into_iter().max().unwrap_or(0) + 1;
        let term = reader.node(line, &|k| terms.get(k).copied())?;
        let narrow = match term.sort() {
            Sort::Bv(width) => width <= MOST_BITS,
            Sort::Bool | Sort::Int => true,
            Sort::Mem => false,
        };
        let rolled = matches!(
            term.kind(),
            Node::Map { .. } | Node::Fold { .. } | Node::Bound { .. }
        );
        if depth > MOST_DEPTH || !narrow || rolled {
            return None;
        }
        depths.push(depth);
        terms.push(term);
    }
    (terms.len() == nodes).then_some(terms)
}
