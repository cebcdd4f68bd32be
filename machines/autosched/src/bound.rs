//! What every completion of a candidate costs at least.
//!
//! In: resources, and how long each place in the code keeps one of them busy, as a function of a
//! few choices. Out: [`Bound`], with the resource and the places that it comes from. Resources
//! work at the same time, so the bound is the busiest one's; the places of one resource do
//! not, so they are added. Open choices are taken as is best *for that place and resource*: the
//! assumptions of two places may contradict each other, until the choices are made.
//!
//! A bound is as sound as its terms: a cost that is left out makes it weaker, one that is
//! overstated makes it wrong. Chains of dependent instructions are a resource like others.

use crate::space::{Candidate, Space, Var};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

type Amount = Arc<dyn Fn(&[i64]) -> u64 + Send + Sync>;

/// An amount that depends on a few choices.
#[derive(Clone)]
pub struct Term {
    pub(crate) scope: Vec<Var>,
    pub(crate) amount: Amount,
}

impl Term {
    /// A function of the values of a scope, in its order. What two choices have to do with each
    /// other belongs into one term: the least of a product is more than the product of leasts.
    pub fn new(
        scope: impl IntoIterator<Item = Var>,
        amount: impl Fn(&[i64]) -> u64 + Send + Sync + 'static,
    ) -> Term {
        Term {
            scope: scope.into_iter().collect(),
            amount: Arc::new(amount),
        }
    }

    /// An amount that depends on nothing.
    pub fn constant(amount: u64) -> Term {
        Term::new([], move |_| amount)
    }
}

impl fmt::Debug for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Term({:?})", self.scope)
    }
}

/// A resource, by its number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Resource(usize);

#[derive(Clone, Debug)]
struct Usage {
    resource: Resource,
    place: String,
    term: Term,
}

/// Resources and what uses them.
#[derive(Clone, Default, Debug)]
pub struct Model {
    resources: Vec<String>,
    usages: Vec<Usage>,
}

/// A lower bound and where it comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bound {
    /// The bound.
    pub value: u64,
    /// The resource that is busy for so long.
    pub resource: String,
    /// Places that use it and for how long, the longest first.
    pub places: Vec<(String, u64)>,
    /// For how long each resource is busy at least, in the model's order.
    pub busy: Vec<(String, u64)>,
}

impl Model {
    /// A model in which nothing costs anything.
    pub fn new() -> Model {
        Model::default()
    }

    /// A resource.
    pub fn resource(&mut self, name: impl Into<String>) -> Resource {
        self.resources.push(name.into());
        Resource(self.resources.len() - 1)
    }

    /// A place that keeps a resource busy.
    pub fn uses(&mut self, resource: Resource, place: impl Into<String>, term: Term) {
        self.usages.push(Usage {
            resource,
            place: place.into(),
            term,
        });
    }

    /// The bound of a candidate, with all that is known of it.
    pub fn explain(&self, space: &Space, candidate: &Candidate) -> Bound {
        let amounts = self.usages.iter().map(|u| space.least(candidate, &u.term));
        let amounts: Vec<u64> = amounts.collect();
        let busy = self.busy(&amounts);
        let (at, value) = busiest(&busy);
        let used = self.usages.iter().zip(&amounts);
        let used = used.filter(|(u, amount)| u.resource.0 == at && **amount > 0);
        let mut places: Vec<(String, u64)> = used.map(|(u, &n)| (u.place.clone(), n)).collect();
        places.sort_by_key(|p| std::cmp::Reverse(p.1));
        Bound {
            value,
            resource: self.resources.get(at).cloned().unwrap_or_default(),
            places,
            busy: self.resources.iter().cloned().zip(busy).collect(),
        }
    }

    fn busy(&self, amounts: &[u64]) -> Vec<u64> {
        let mut busy = vec![0_u64; self.resources.len()];
        for (usage, &amount) in self.usages.iter().zip(amounts) {
            let sum = &mut busy[usage.resource.0];
            *sum = sum.saturating_add(amount);
        }
        busy
    }
}

/// The first of the busiest resources, and for how long it is busy.
fn busiest(busy: &[u64]) -> (usize, u64) {
    let most = busy.iter().copied().max().unwrap_or(0);
    let at = busy.iter().position(|&n| n == most);
    (at.unwrap_or(0), most)
}

/// Bounds of many candidates of one space; what a term was for the same domains is remembered.
pub(crate) struct Bounds<'a> {
    space: &'a Space,
    model: &'a Model,
    known: Vec<HashMap<Vec<u64>, u64>>,
}

impl<'a> Bounds<'a> {
    pub(crate) fn new(space: &'a Space, model: &'a Model) -> Bounds<'a> {
        Bounds {
            space,
            model,
            known: vec![HashMap::new(); model.usages.len()],
        }
    }

    pub(crate) fn of(&mut self, candidate: &Candidate) -> u64 {
        let mut amounts = Vec::with_capacity(self.known.len());
        for (usage, known) in self.model.usages.iter().zip(&mut self.known) {
            let key: Vec<u64> = usage.term.scope.iter().map(|v| candidate.0[v.0]).collect();
            let least = || self.space.least(candidate, &usage.term);
            amounts.push(*known.entry(key).or_insert_with(least));
        }
        busiest(&self.model.busy(&amounts)).1
    }
}
