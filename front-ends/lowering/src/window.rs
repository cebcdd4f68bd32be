//! Windows: the straight-line pieces of a kernel, and the loops around them.
//!
//! In: nothing; [`crate::lower`] builds them. Out: [`Lowered`], from which synthesis takes
//! the windows (operand registers and a term) and code generation the loops, loads and
//! stores around them. Everything here is data.

use kernel::index::{Index, Symbol};
use kernel::tree::{Access, Expr, Id, Kernel};
use kernel::types::Type;
use semantics::span::Span;
use semantics::term::Term;
use std::collections::{BTreeMap, BTreeSet};

/// A kernel as loops around windows.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The kernel after its schedule: parameters, arrays, registers, names of symbols. Its
    /// body is the one that the loops below were made from.
    pub kernel: Kernel,
    /// The loops and windows, in order of execution.
    pub body: Vec<LoweredNode>,
    /// The windows, numbered by [`LoweredNode::Window`].
    pub windows: Vec<Window>,
    /// The registers of those local values that a window computes.
    pub materialized: BTreeMap<Id, Id>,
}

/// A piece of the lowered kernel.
#[derive(Clone, Debug)]
pub enum LoweredNode {
    /// A loop.
    Loop(Loop),
    /// One execution of a window.
    Window {
        /// Its number.
        window: Id,
        /// How many leading lanes are loaded and stored, when not all are: the others must
        /// not be touched in memory. Between 1 and the output's lanes.
        active: Option<Index>,
    },
}

/// A counted loop: `for var = lo; var < hi; var += step`; or the one iteration that a register
/// chooses.
#[derive(Clone, Debug)]
pub struct Loop {
    /// The loop variable.
    pub var: Symbol,
    /// First value.
    pub lo: Index,
    /// One past the last value.
    pub hi: Index,
    /// Step, at least 1.
    pub step: i64,
    /// The register of one lane whose value alone is run, if it is one of the loop's.
    pub at: Option<Id>,
    /// What is repeated.
    pub body: Vec<LoweredNode>,
}

/// A piece of a kernel given to one synthesis: load the inputs, compute, store.
#[derive(Clone, Debug)]
pub struct Window {
    /// The kernel's name and a number.
    pub name: String,
    /// The statement that it came from.
    pub span: Span,
    /// The operand registers, in order of first use.
    pub inputs: Vec<Input>,
    /// The type of the result.
    pub output: Type,
    /// The result as a term over variables named like the inputs, of sort
    /// `Bv(output.width())`; lane 0 is least significant.
    pub term: Term,
    /// Where the result goes.
    pub store: Store,
    /// The expression that the term was made from; code that computes lane by lane is
    /// written from it.
    pub value: Expr,
    /// Whether the value is added to what the store holds (the term contains that sum).
    pub accumulate: bool,
    /// How many registers the loop around it changes round after round, of which it changes one:
    /// chains that run side by side. 0 where it changes none.
    pub chains: u32,
    /// The same window with what is added up dealt to the lanes of the result in turn, not
    /// all neighbours together, where only the sum of all lanes is used: as good as this one.
    pub dealt: Vec<Window>,
    /// Whether it runs seldom, for what vectors leave over: a lane of that is left to C.
    pub leftover: bool,
}

impl Window {
    /// Whether the result goes to a register that no loop changes: it names a value for others.
    pub fn names_a_value(&self) -> bool {
        matches!(self.store, Store::Register(_)) && self.chains == 0
    }

    /// The register that the window changes, and takes as an operand.
    pub fn carried(&self) -> Option<Id> {
        let Store::Register(to) = self.store else {
            return None;
        };
        let mut inputs = self.inputs.iter();
        inputs
            .any(|i| i.source == Source::Register(to))
            .then_some(to)
    }
}

/// Notes for each window how many chains run beside that of its register.
pub(crate) fn count_chains(body: &[LoweredNode], windows: &mut [Window]) {
    let inner = |node: &LoweredNode| match node {
        LoweredNode::Window { window, .. } => Some(*window),
        LoweredNode::Loop(_) => None,
    };
    let own: Vec<Id> = body.iter().filter_map(inner).collect();
    let carried: BTreeSet<Id> = own.iter().filter_map(|&k| windows[k].carried()).collect();
    let chains = u32::try_from(carried.len()).unwrap_or(u32::MAX);
    for k in own {
        let chains = windows[k].carried().map_or(0, |_| chains);
        windows[k].chains = chains;
        windows[k].dealt.iter_mut().for_each(|w| w.chains = chains);
    }
    for node in body {
        if let LoweredNode::Loop(l) = node {
            count_chains(&l.body, windows);
        }
    }
}

/// An operand register of a window.
#[derive(Clone, PartialEq, Debug)]
pub struct Input {
    /// Its name: that of the variable in the term.
    pub name: String,
    /// Its type; the variable has sort `Bv(ty.width())`.
    pub ty: Type,
    /// What it holds.
    pub source: Source,
}

/// What an operand register holds. A source with fewer lanes than the register is repeated
/// until it fills it; the register's lanes are a multiple of the source's.
#[derive(Clone, PartialEq, Debug)]
pub enum Source {
    /// Elements of an array: `access.lanes` of them. Dense when `access.dim` is the last
    /// dimension and `access.stride` is 1, otherwise a gather.
    Array(Access),
    /// A scalar parameter.
    Scalar(Id),
    /// A register (`var`, or a value kept between windows).
    Register(Id),
    /// An index, wrapped to the element type.
    Index(Index),
}

/// Where a window's result goes.
#[derive(Clone, PartialEq, Debug)]
pub enum Store {
    /// Elements of an array, one per lane; dense or scattered as for [`Source::Array`].
    Array(Access),
    /// A register.
    Register(Id),
}
