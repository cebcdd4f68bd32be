//! The instructions of one target, read when they are needed.
//!
//! In: a [`Stock`], the target's features, a cost table. Out: [`Supply`]: how many
//! instructions the target has, single ones by name (which is all that a window found
//! before needs), and, when something has to be searched, all of them as [`Candidates`].

use crate::candidates::Candidates;
use crate::cost::CostTable;
use crate::stock::{Head, Stock};
use autoir::program::Machine;
use semantics::instruction::Form;
use sha2::{Digest, Sha256};
use std::collections::{BTreeSet, HashMap};
use std::sync::OnceLock;

/// A target's instructions.
pub struct Supply {
    stock: Stock,
    features: BTreeSet<String>,
    costs: CostTable,
    candidates: OnceLock<Candidates>,
}

impl Supply {
    /// The instructions of a stock for which a target has all features.
    pub fn new(stock: Stock, features: BTreeSet<String>, costs: CostTable) -> Supply {
        Supply {
            stock,
            features,
            costs,
            candidates: OnceLock::new(),
        }
    }

    /// The same target with so many of every `of` instructions, as they come, and those named.
    pub fn part(&self, share: usize, of: usize, named: &[String]) -> Supply {
        let all = self.stock.machines().into_iter().enumerate();
        let some: Vec<_> = all
            .filter(|(k, (m, _))| k % of < share || named.contains(&m.intrinsic))
            .map(|(_, machine)| machine)
            .collect();
        let (features, costs) = (self.features.clone(), self.costs.clone());
        Supply::new(Stock::of(&some), features, costs)
    }

    /// The number of instructions that there are to choose from.
    pub fn count(&self) -> usize {
        self.heads().count()
    }

    /// All instructions that there are to choose from.
    pub fn candidates(&self) -> &Candidates {
        self.candidates
            .get_or_init(|| Candidates::new(self.stock.machines(), &self.features, &self.costs))
    }

    /// What all that a search looks at, but the window, is told by.
    pub fn digest(&self) -> String {
        let mut hash = Sha256::new();
        let (stock, features, costs) = (self.stock.digest(), &self.features, &self.costs);
        hash.update(format!("{stock} {features:?} {costs:?}"));
        crate::record::hex(&hash.finalize())
    }

    /// The instructions that there are to choose from, by name.
    pub(crate) fn index(&self) -> HashMap<&str, Head<'_>> {
        // Of two with one name the first is meant.
        let mut index = HashMap::new();
        for head in self.heads() {
            index.entry(head.intrinsic).or_insert(head);
        }
        index
    }

    /// An instruction of the index.
    pub(crate) fn machine(&self, head: &Head<'_>) -> Option<Machine> {
        self.stock.machine(head)
    }

    /// What [`Candidates::new`] admits.
    fn heads(&self) -> impl Iterator<Item = Head<'_>> {
        self.stock.heads().filter(|head| {
            matches!(head.form, Form::Single | Form::Free)
                && head.features().all(|f| self.features.contains(f))
                && !head.addresses()
                && head.width > 0
        })
    }
}
