//! Programs of which commands are a part: the host does the others.
//!
//! In: a kernel that is not commands as it stands, and why. Out: the pieces of [`super::staged`] that
//! were accepted, as one program with code of the host among its commands, and what was proved of it:
//! that all of it is the kernel, or, where that is not shown, that at smaller sizes the commands of each
//! piece are that piece, and the pieces the kernel.

use super::parts;
use super::place::{Constraints, Mapped, Target, used};
use super::plan::Plan;
use super::program::{CommandNode, CommandProgram, HostCode};
use super::proof;
use super::staged::{self, By, Choosing, Mapping, Part, Staged};
use super::units::Units;
use crate::block::Values;
use crate::error::{Detail, MappingError};
use crate::loop_codegen::host_code;
use crate::mapped::Verdict;
use crate::whole;
use kernel::ast::Direction;
use kernel::index::Symbol;
use kernel::tree::{Array, Kernel, Role, Stmt};
use kernel::types::Elem;
use semantics::diagnostic::Diagnostic;
use semantics::float::Format;
use semantics::instruction::Element;
use std::collections::{BTreeMap, BTreeSet};

/// A kernel that is made in pieces, of which some are the host's.
pub(crate) struct Pieces<'a> {
    pub(crate) target: Target<'a>,
    pub(crate) kernel: &'a Kernel,
}

/// How often mappings are refused afterwards before the host does all.
const MOST_REFUSED: usize = 8;

impl Pieces<'_> {
    /// The program, where the host does what commands do not; `wrong` says why they do not do all.
    pub(crate) fn mapped(
        &self,
        sizes: &BTreeMap<Symbol, i64>,
        wrong: Vec<Diagnostic>,
    ) -> Result<Mapped, Vec<Diagnostic>> {
        let mut banned = BTreeSet::new();
        loop {
            let staged = self.chosen(sizes, &banned)?;
            let demanded = self.target.constraints != Constraints::default();
            if demanded && staged.parts.iter().any(|p| p.mapping == Mapping::Host) {
                return Err(wrong);
            }
            let program = self.target.joined(&staged, sizes);
            let whole = program.as_ref().map(|p| self.whole(p, sizes));
            let why = match whole {
                Ok(Ok(())) => return self.done(&staged, program, Verdict::Proved, wrong),
                Ok(Err(why)) => why,
                Err(_) => String::new(),
            };
            let small = self.target.reduced(self.kernel, sizes);
            match self.proved(&staged, &small) {
                Ok(elements) => {
                    let verdict = self.limited(&staged, (&small, sizes), elements, why);
                    return self.done(&staged, program, verdict, wrong);
                }
                Err((part, _)) if banned.len() < MOST_REFUSED => {
                    banned.insert((part, staged.parts[part].mapping));
                }
                Err((_, reason)) => {
                    let message =
                        format!("these pieces are not proved to be this kernel: {reason}");
                    let hint = "this is a mistake of the mapper or of the specification";
                    return Err(
                        MappingError::new(self.kernel.span, message, hint).reported(self.kernel)
                    );
                }
            }
        }
    }

    /// Types of factors and of sums.
    fn elems(&self) -> Result<(Elem, Elem), Vec<Diagnostic>> {
        let units = Units::of(self.kernel, self.target.machine)?;
        let elem = |e: Element| match e {
            Element::Float(_) => Elem::Float(Format::F32),
            other => Elem::Int {
                signed: true,
                bits: other.width().unwrap_or(8),
            },
        };
        Ok((elem(units.small), elem(units.wide)))
    }

    fn chosen(
        &self,
        sizes: &BTreeMap<Symbol, i64>,
        banned: &BTreeSet<(usize, Mapping)>,
    ) -> Result<Staged, Vec<Diagnostic>> {
        let target = self.target;
        let accepts = |kernel: &Kernel| -> Result<(), MappingError> {
            let of = |wrong: Vec<Diagnostic>| MappingError::of(kernel, &wrong);
            target.piece(kernel, sizes).map(|_| ()).map_err(of)
        };
        let choosing = Choosing {
            accepts: &accepts,
            elems: self.elems()?,
            banned,
        };
        Ok(staged::chosen(self.kernel, sizes, &choosing))
    }

    /// Proves pieces at smaller sizes: how many elements; else which part was not, and why.
    fn proved(
        &self,
        staged: &Staged,
        small: &BTreeMap<Symbol, i64>,
    ) -> Result<usize, (usize, String)> {
        let mappings: Vec<Mapping> = staged.parts.iter().map(|p| p.mapping).collect();
        let elems = self.elems().map_err(|_| (0, String::new()))?;
        let alike = staged::alike(self.kernel, small, &mappings, elems);
        let last = mappings
            .iter()
            .rposition(|w| *w != Mapping::Host)
            .unwrap_or(0);
        let alike = alike.ok_or((last, "it has no such pieces at smaller sizes".to_owned()))?;
        let mut elements = 0;
        for (number, part) in alike.parts.iter().enumerate() {
            let proved = self.part_proved(&alike.kernel, part, small);
            elements += proved.map_err(|reason| (number, reason))?;
        }
        Ok(elements)
    }

    /// Proves that the commands of a part are its pieces, and that these are its statements.
    fn part_proved(
        &self,
        kernel: &Kernel,
        part: &Part,
        sizes: &BTreeMap<Symbol, i64>,
    ) -> Result<usize, String> {
        if part.mapping == Mapping::Host {
            return Ok(0);
        }
        let Target {
            machine, prover, ..
        } = self.target;
        let mut smaller = self.target;
        let asked = self.target.constraints.plan != Plan::default();
        smaller.constraints.tile = asked.then_some((1, 1));
        let mut elements = 0;
        for (by, stmts) in &part.pieces {
            if matches!(by, By::Host) {
                continue;
            }
            let piece = parts::alone(kernel, stmts);
            let program = smaller.piece(&piece, sizes);
            let program =
                program.map_err(|w| w.first().map_or(String::new(), |w| w.message.clone()))?;
            elements += proof::prove(&piece, sizes, &program, machine, prover)?;
        }
        let all: Vec<Stmt> = part.pieces.iter().flat_map(|p| p.1.clone()).collect();
        proof::same(kernel, sizes, (&part.stmts, &all), prover)?;
        Ok(elements)
    }

    /// Proves the program of all pieces at its sizes.
    fn whole(&self, program: &CommandProgram, sizes: &BTreeMap<Symbol, i64>) -> Result<(), String> {
        let Target {
            machine, prover, ..
        } = self.target;
        whole::commands(self.kernel, sizes, program, machine, prover).map(|_| ())
    }

    /// What was proved of pieces, where the whole was not.
    fn limited(
        &self,
        staged: &Staged,
        (small, sizes): (&BTreeMap<Symbol, i64>, &BTreeMap<Symbol, i64>),
        elements: usize,
        why: String,
    ) -> Verdict {
        let named = |(s, n): (&Symbol, &i64)| (self.kernel.symbol_name(*s), *n);
        let host = staged.parts.iter().all(|p| p.mapping == Mapping::Host);
        match small == sizes {
            _ if host => Verdict::Open { why },
            true => Verdict::Blocks { why },
            false => Verdict::ProvedAt {
                sizes: small.iter().map(named).collect(),
                elements,
                why,
            },
        }
    }

    fn done(
        &self,
        staged: &Staged,
        program: Result<CommandProgram, MappingError>,
        verdict: Verdict,
        wrong: Vec<Diagnostic>,
    ) -> Result<Mapped, Vec<Diagnostic>> {
        let kernel = self.kernel;
        let program = program.map_err(|host| {
            // A kernel of other elements than the array's can be told nothing about its form that helps.
            let elems = self.elems().ok();
            let fits = |e: (Elem, Elem)| {
                let read = |a: &&Array| a.role == Role::Param(Direction::In);
                kernel.arrays.iter().filter(read).any(|a| a.elem == e.0)
            };
            let fits = elems.is_some_and(fits);
            let host = match fits {
                true => host.saying(Detail::Cause),
                false => host,
            };
            let products = elems.map(|(small, wide)| format!("{small} * {small} in {wide}"));
            crate::mapped::both(kernel, wrong.clone(), host, products.as_slice())
        })?;
        let untiled = staged.parts.iter().filter(|p| p.mapping == Mapping::Host);
        let untiled = untiled.filter_map(|p| p.why.clone());
        let untiled: Vec<Diagnostic> = untiled.flat_map(|w| w.reported(kernel)).collect();
        Ok((program, verdict, untiled))
    }
}

impl Target<'_> {
    /// All pieces, one after the other; commands wait for the host, as the host does for them.
    fn joined(
        &self,
        staged: &Staged,
        sizes: &BTreeMap<Symbol, i64>,
    ) -> Result<CommandProgram, MappingError> {
        let kernel = &staged.kernel;
        let (machine, prover) = (self.machine, self.prover);
        let first = |wrong: Vec<Diagnostic>| MappingError::of(kernel, &wrong);
        let fence = Units::of(kernel, machine).map_err(first)?.fence();
        let mut program = CommandProgram {
            name: kernel.name.clone(),
            arrays: used(kernel, &Values::new(kernel, sizes))?,
            vars: 0,
            body: Vec::new(),
            host: Vec::new(),
            choices: Vec::new(),
            span: kernel.span,
        };
        // What the host does without commands between is one piece: scalars are known in all of it.
        let pieces: Vec<_> = staged.parts.iter().flat_map(|p| &p.pieces).collect();
        for together in pieces.chunk_by(|a, b| [a, b].iter().all(|p| matches!(p.0, By::Host))) {
            let stmts: Vec<Stmt> = together.iter().flat_map(|p| p.1.clone()).collect();
            if matches!(together[0].0, By::Host) {
                let code = host_code(kernel, sizes, machine, prover, &stmts)?;
                let before = program.body.len();
                program.host.push(HostCode { before, code });
                continue;
            }
            let piece = parts::alone(kernel, &stmts);
            let after = |h: &HostCode| h.before == program.body.len();
            if program.host.last().is_some_and(after) {
                program.body.push(CommandNode::Do(fence.clone()));
            }
            program = program.then(self.piece(&piece, sizes).map_err(first)?);
        }
        program.choices.extend(reported(staged));
        Ok(program)
    }
}

/// What the host does, for a report.
fn reported(staged: &Staged) -> Vec<String> {
    let of = staged.parts.iter().flat_map(|p| &p.pieces);
    let host = of.filter(|p| matches!(p.0, By::Host)).count();
    let copied = staged
        .parts
        .iter()
        .filter(|p| p.mapping != Mapping::Host && p.pieces.len() > 1);
    match (host, copied.count()) {
        (0, _) => Vec::new(),
        (n, 0) => vec![format!("the host does {n} of the statements")],
        (n, _) => vec![format!(
            "the host lays out factors anew or goes on with sums where no command does: {n} pieces"
        )],
    }
}
