//! Hash-consed terms.
//!
//! In: operators and sorts. Out: [`Term`], an immutable expression of which the process
//! holds one copy: two terms are equal exactly when they are the same node. Terms are
//! [`Copy`] and may be shared between threads. Nodes live as long as the process: the
//! table of nodes grows with the number of *distinct* terms, and search works on compiled
//! programs, not on terms, so that this stays small.
//!
//! Bound variables are de Bruijn indices: [`Kind::Bound`] 0 is bound by the innermost
//! binder. [`Kind::Map`] binds one index; [`Kind::Fold`] binds the accumulator (0) and the
//! iteration (1). Alpha-equivalent terms are therefore one node.
//!
//! It does not simplify: [`crate::build`] does.

use crate::bits::Bits;
use crate::op::{Op, OpCode};
use crate::sort::Sort;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, LazyLock, Mutex};

/// What a term is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A free variable: an operand or an input.
    Var {
        /// Its name.
        name: Arc<str>,
        /// Its sort.
        sort: Sort,
    },
    /// A bit-vector constant.
    Bv(Bits),
    /// A truth value.
    Bool(bool),
    /// An index constant.
    Int(i64),
    /// A bound variable: the `depth`-th, counted from the innermost.
    Bound {
        /// De Bruijn index.
        depth: u32,
        /// Its sort.
        sort: Sort,
    },
    /// An operator of the table applied to arguments.
    App {
        /// The operator.
        op: Op,
        /// Its arguments.
        args: Box<[Term]>,
    },
    /// `count` copies of `body`, for index 0 (least significant) up to `count - 1`.
    Map {
        /// Number of elements, at least 1.
        count: u32,
        /// One element; binds the index.
        body: Term,
    },
    /// `body` iterated `count` times from `init`.
    Fold {
        /// Number of iterations.
        count: u32,
        /// The accumulator before the first iteration.
        init: Term,
        /// The next accumulator; binds the accumulator (0) and the iteration (1).
        body: Term,
    },
}

/// A node of the term table.
struct Interned {
    kind: Kind,
    sort: Sort,
    hash: u64,
    binders: u32,
    size: u32,
    height: u32,
}

/// A hash-consed term.
#[derive(Clone, Copy)]
pub struct Term(&'static Interned);

/// A reason why an application is not a term.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SortError {
    /// The operator in the text form.
    pub operator: String,
    /// What it expected.
    pub message: String,
}

impl fmt::Display for SortError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "in `{}`: {}", self.operator, self.message)
    }
}

impl std::error::Error for SortError {}

/// FNV-1a with a final avalanche: stable across runs and machines, unlike the standard hasher.
pub(crate) struct StableHasher(u64);

impl Default for StableHasher {
    fn default() -> Self {
        StableHasher(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for StableHasher {
    fn write(&mut self, bytes: &[u8]) {
        for &b in bytes {
            self.0 = (self.0 ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    fn write_u64(&mut self, x: u64) {
        self.0 = (self.0.rotate_left(23) ^ x).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    fn write_u32(&mut self, x: u32) {
        self.write_u64(u64::from(x));
    }
    fn write_u8(&mut self, x: u8) {
        self.write_u64(u64::from(x));
    }
    fn write_usize(&mut self, x: usize) {
        self.write_u64(x as u64);
    }
    fn write_isize(&mut self, x: isize) {
        self.write_u64(x as u64);
    }
    fn finish(&self) -> u64 {
        let mut x = self.0;
        x ^= x >> 32;
        x = x.wrapping_mul(0xd6e8_feb8_6659_fd93);
        x ^ (x >> 32)
    }
}

impl Hash for Kind {
    fn hash<H: Hasher>(&self, h: &mut H) {
        match self {
            Kind::Var { name, sort } => {
                h.write_u8(1);
                h.write(name.as_bytes());
                sort.hash(h);
            }
            Kind::Bv(bits) => {
                h.write_u8(2);
                h.write_u32(bits.width());
                bits.limbs().iter().for_each(|&l| h.write_u64(l));
            }
            Kind::Bool(b) => h.write_u64(3 + u64::from(*b)),
            Kind::Int(i) => {
                h.write_u8(5);
                h.write_u64(*i as u64);
            }
            Kind::Bound { depth, sort } => {
                h.write_u8(6);
                h.write_u32(*depth);
                sort.hash(h);
            }
            Kind::App { op, args } => {
                h.write_u8(7);
                h.write_u32(op.code as u32);
                op.params.iter().for_each(|&p| h.write_u32(p));
                args.iter().for_each(|a| h.write_u64(a.0.hash));
            }
            Kind::Map { count, body } => {
                h.write_u8(8);
                h.write_u32(*count);
                h.write_u64(body.0.hash);
            }
            Kind::Fold { count, init, body } => {
                h.write_u8(9);
                h.write_u32(*count);
                h.write_u64(init.0.hash);
                h.write_u64(body.0.hash);
            }
        }
    }
}

/// Each entry holds its node's hash too, so that a miss does not touch the node.
type Shard = HashTable<(u64, &'static Interned)>;
const SHARDS: usize = 64;
static TABLE: LazyLock<Vec<Mutex<Shard>>> =
    LazyLock::new(|| (0..SHARDS).map(|_| Mutex::new(Shard::new())).collect());

fn intern(kind: Kind, sort: Sort) -> Term {
    let mut hasher = StableHasher::default();
    kind.hash(&mut hasher);
    let hash = hasher.finish();
    // Neither the low nor the highest bits: the table itself goes by those.
    let shard = &TABLE[(hash >> 40) as usize % SHARDS];
    let mut shard = shard
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let same = |&(h, n): &(u64, &Interned)| h == hash && n.sort == sort && n.kind == kind;
    let slot = match shard.entry(hash, same, |&(h, _)| h) {
        Entry::Occupied(e) => return Term(e.get().1),
        Entry::Vacant(slot) => slot,
    };
    let binders = kind_binders(&kind);
    let size = kind_children(&kind).fold(1u32, |n, t| n.saturating_add(t.0.size));
    let height = kind_children(&kind).map(|t| t.0.height).max();
    let node: &'static Interned = Box::leak(Box::new(Interned {
        kind,
        sort,
        hash,
        binders,
        size,
        height: height.map_or(1, |h| h + 1),
    }));
    slot.insert((hash, node));
    Term(node)
}

fn kind_children(kind: &Kind) -> impl Iterator<Item = Term> + '_ {
    let (args, extra): (&[Term], [Option<Term>; 2]) = match kind {
        Kind::App { args, .. } => (args, [None, None]),
        Kind::Map { body, .. } => (&[], [Some(*body), None]),
        Kind::Fold { init, body, .. } => (&[], [Some(*init), Some(*body)]),
        _ => (&[], [None, None]),
    };
    args.iter().copied().chain(extra.into_iter().flatten())
}

fn kind_binders(kind: &Kind) -> u32 {
    match kind {
        Kind::Bound { depth, .. } => depth + 1,
        Kind::App { args, .. } => args.iter().map(|a| a.0.binders).max().unwrap_or(0),
        Kind::Map { body, .. } => body.0.binders.saturating_sub(1),
        Kind::Fold { init, body, .. } => init.0.binders.max(body.0.binders.saturating_sub(2)),
        _ => 0,
    }
}

impl Term {
    /// A free variable.
    pub fn var(name: &str, sort: Sort) -> Term {
        intern(
            Kind::Var {
                name: name.into(),
                sort,
            },
            sort,
        )
    }

    /// A bit-vector constant.
    pub fn bits(bits: Bits) -> Term {
        let sort = Sort::Bv(bits.width());
        intern(Kind::Bv(bits), sort)
    }

    /// A bit-vector constant of the given width from an integer, wrapped.
    pub fn bv(width: u32, value: i128) -> Term {
        Term::bits(Bits::from_i128(width, value))
    }

    /// A truth value.
    pub fn bool(value: bool) -> Term {
        intern(Kind::Bool(value), Sort::Bool)
    }

    /// An index constant.
    pub fn int(value: i64) -> Term {
        intern(Kind::Int(value), Sort::Int)
    }

    /// A bound variable, counted from the innermost binder.
    pub fn bound(depth: u32, sort: Sort) -> Term {
        intern(Kind::Bound { depth, sort }, sort)
    }

    /// The index of the innermost map.
    pub fn index() -> Term {
        Term::bound(0, Sort::Int)
    }

    /// An application exactly as given, not simplified.
    ///
    /// # Errors
    /// When the operator's type rule refuses the arguments.
    pub fn raw_app(op: Op, args: &[Term]) -> Result<Term, SortError> {
        let sorts: Vec<Sort> = args.iter().map(|a| a.sort()).collect();
        match op.sort(&sorts) {
            Ok(sort) => Ok(intern(
                Kind::App {
                    op,
                    args: args.into(),
                },
                sort,
            )),
            Err(message) => Err(SortError {
                operator: op.to_string(),
                message,
            }),
        }
    }

    /// A rolled lane map, not simplified.
    ///
    /// # Errors
    /// When the body is not a bit vector, or there is no element.
    pub fn raw_map(count: u32, body: Term) -> Result<Term, SortError> {
        let error = |message: String| SortError {
            operator: "map".to_owned(),
            message,
        };
        let w = body
            .sort()
            .width()
            .ok_or_else(|| error("the body must be a bit vector".into()))?;
        let width = w
            .checked_mul(count)
            .filter(|&n| n > 0 && n <= crate::table::MAX_WIDTH);
        let width =
            width.ok_or_else(|| error(format!("{count} elements of {w} bits do not fit")))?;
        Ok(intern(Kind::Map { count, body }, Sort::Bv(width)))
    }

    /// A bounded fold, not simplified.
    ///
    /// # Errors
    /// When the body's sort is not the accumulator's, when the accumulator is an index (so
    /// that bound indices are never negative), or when there are more iterations than the
    /// widest vector has bits.
    pub fn raw_fold(count: u32, init: Term, body: Term) -> Result<Term, SortError> {
        let limit = crate::table::MAX_WIDTH;
        if init.sort() == Sort::Int || count > limit {
            let message = match init.sort() {
                Sort::Int => "an index cannot be accumulated".to_owned(),
                _ => format!("{count} iterations are more than {limit}"),
            };
            return Err(SortError {
                operator: "fold".to_owned(),
                message,
            });
        }
        if init.sort() != body.sort() {
            let message = format!(
                "the body has sort {}, the accumulator {}",
                body.sort(),
                init.sort()
            );
            return Err(SortError {
                operator: "fold".to_owned(),
                message,
            });
        }
        Ok(intern(Kind::Fold { count, init, body }, init.sort()))
    }

    /// What the term is.
    pub fn kind(self) -> &'static Kind {
        &self.0.kind
    }

    /// Its sort.
    pub fn sort(self) -> Sort {
        self.0.sort
    }

    /// The width in bits of a bit-vector term.
    ///
    /// # Panics
    /// When the term is not a bit vector.
    pub fn width(self) -> u32 {
        self.0
            .sort
            .width()
            .expect("the caller holds a bit-vector term")
    }

    /// Levels of the term, a leaf having one: how deep functions recurse that follow it.
    pub fn height(self) -> u32 {
        self.0.height
    }

    /// How many enclosing binders the term needs; 0 for a closed term.
    pub fn binders(self) -> u32 {
        self.0.binders
    }

    /// Number of nodes of the term written as a tree, saturating.
    pub fn size(self) -> u32 {
        self.0.size
    }

    /// A hash of the structure, the same in every run.
    pub fn structural_hash(self) -> u64 {
        self.0.hash
    }

    /// The operator and arguments of an application.
    pub fn as_app(self) -> Option<(Op, &'static [Term])> {
        match &self.0.kind {
            Kind::App { op, args } => Some((*op, args)),
            _ => None,
        }
    }

    /// The arguments, when the term applies this operator.
    pub fn args_of(self, code: OpCode) -> Option<&'static [Term]> {
        self.as_app()
            .filter(|(op, _)| op.code == code)
            .map(|(_, args)| args)
    }

    /// The value of a bit-vector constant.
    pub fn as_bits(self) -> Option<&'static Bits> {
        match &self.0.kind {
            Kind::Bv(bits) => Some(bits),
            _ => None,
        }
    }

    /// The value of an index constant.
    pub fn as_int(self) -> Option<i64> {
        match self.0.kind {
            Kind::Int(i) => Some(i),
            _ => None,
        }
    }

    /// A truth constant.
    pub fn as_bool(self) -> Option<bool> {
        match self.0.kind {
            Kind::Bool(b) => Some(b),
            _ => None,
        }
    }

    /// The name of a free variable.
    pub fn as_var(self) -> Option<&'static str> {
        match &self.0.kind {
            Kind::Var { name, .. } => Some(name),
            _ => None,
        }
    }

    /// Direct subterms, in order.
    pub fn children(self) -> impl Iterator<Item = Term> {
        kind_children(&self.0.kind)
    }

    /// A number that identifies the node within this process; not stable across runs.
    pub fn id(self) -> usize {
        std::ptr::from_ref(self.0) as usize
    }
}

impl PartialEq for Term {
    fn eq(&self, other: &Term) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Term {}

impl Hash for Term {
    fn hash<H: Hasher>(&self, h: &mut H) {
        h.write_u64(self.0.hash);
    }
}

impl PartialOrd for Term {
    fn partial_cmp(&self, other: &Term) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

fn rank(kind: &Kind) -> u32 {
    match kind {
        Kind::App { .. } => 0,
        Kind::Map { .. } => 1,
        Kind::Fold { .. } => 2,
        Kind::Var { .. } => 3,
        Kind::Bound { .. } => 4,
        Kind::Bv(_) => 5,
        Kind::Int(_) => 6,
        Kind::Bool(_) => 7,
    }
}

/// Structural order: the same in every run, constants last.
impl Ord for Term {
    fn cmp(&self, other: &Term) -> Ordering {
        if self == other {
            return Ordering::Equal;
        }
        let (a, b) = (&self.0.kind, &other.0.kind);
        let by_kind = match (a, b) {
            (Kind::Var { name: x, .. }, Kind::Var { name: y, .. }) => x.cmp(y),
            (Kind::Bv(x), Kind::Bv(y)) => x.cmp(y),
            (Kind::Int(x), Kind::Int(y)) => x.cmp(y),
            (Kind::Bool(x), Kind::Bool(y)) => x.cmp(y),
            (Kind::Bound { depth: x, .. }, Kind::Bound { depth: y, .. }) => x.cmp(y),
            (Kind::App { op: x, .. }, Kind::App { op: y, .. }) => x.cmp(y),
            (Kind::Map { count: x, .. }, Kind::Map { count: y, .. })
            | (Kind::Fold { count: x, .. }, Kind::Fold { count: y, .. }) => x.cmp(y),
            _ => rank(a).cmp(&rank(b)),
        };
        by_kind
            .then_with(|| self.sort().cmp(&other.sort()))
            .then_with(|| self.children().cmp(other.children()))
    }
}

impl fmt::Debug for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
