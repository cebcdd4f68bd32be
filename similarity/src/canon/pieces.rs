//! Where a register falls into elements.
//!
//! In: a flat term. Out: its pieces, least significant first, cut where no operator is cut
//! through. Runs of bits that are only copied stay whole.

use semantics::build;
use semantics::op::OpCode;
use semantics::term::{Kind, Term};
use std::collections::{BTreeSet, HashMap};

/// The pieces of a flat bit-vector term, least significant first.
pub(crate) fn pieces(t: Term) -> Vec<Term> {
    let mut finder = Finder {
        memo: HashMap::new(),
    };
    let mut cuts = finder.cuts(t).unwrap_or_default();
    cuts.insert(0);
    cuts.insert(t.width());
    let bounds: Vec<u32> = cuts.into_iter().collect();
    bounds
        .windows(2)
        .map(|w| build::extract(t, w[0], w[1] - w[0]))
        .collect()
}

struct Finder {
    memo: HashMap<Term, Option<BTreeSet<u32>>>,
}

impl Finder {
    /// The places where a term falls apart; `None` when it may be cut anywhere.
    fn cuts(&mut self, t: Term) -> Option<BTreeSet<u32>> {
        if let Some(known) = self.memo.get(&t) {
            return known.clone();
        }
        let found = self.find(t);
        self.memo.insert(t, found.clone());
        found
    }

    fn find(&mut self, t: Term) -> Option<BTreeSet<u32>> {
        let Some((op, args)) = t.as_app() else {
            return match t.kind() {
                Kind::Var { .. } | Kind::Bv(_) => None,
                _ => Some(BTreeSet::new()),
            };
        };
        match op.code {
            OpCode::Concat => {
                let mut at = BTreeSet::new();
                let mut start = 0;
                for &part in args.iter().rev() {
                    let inner = self.cuts(part).unwrap_or_default();
                    at.extend(inner.into_iter().map(|c| c + start));
                    start += part.width();
                    at.insert(start);
                }
                at.remove(&start);
                Some(at)
            }
            OpCode::BvNot | OpCode::BvAnd | OpCode::BvOr | OpCode::BvXor => self.common(args),
            OpCode::Ite => Some(self.common(&args[1..]).unwrap_or_default()),
            OpCode::Extract if matches!(args[0].kind(), Kind::Var { .. }) => None,
            _ => Some(BTreeSet::new()),
        }
    }

    /// Cuts that all terms allow.
    fn common(&mut self, terms: &[Term]) -> Option<BTreeSet<u32>> {
        let mut all: Option<BTreeSet<u32>> = None;
        for &t in terms {
            if let Some(these) = self.cuts(t) {
                all = Some(match all {
                    None => these,
                    Some(others) => others.intersection(&these).copied().collect(),
                });
            }
        }
        all
    }
}
