//! What instructions compute on sampled elements, so that an expression is looked up by its values.
//!
//! In: an instruction and its [`Flow`]. Out: [`Computed`]: which elements of which operands an
//! element of its result depends on, and its value for each of [`COUNT`] samples of them, by the
//! interpreter. An expression that somebody types is evaluated on the same samples: equal values
//! propose an instruction and prove nothing. Masks, memory and operands that set a rounding are
//! not looked at.

#[cfg(test)]
mod tests;

use crate::flow::{Flow, Pattern, Source, Way};
use autoir::dictionary::{Member, Operation};
use semantics::bits::Bits;
use semantics::eval::CompiledTerms;
use semantics::instruction::{Element, Role};
use semantics::random::Random;
use semantics::value::Value;

/// How many samples there are.
pub const COUNT: usize = 16;

/// So many of them differ from variable to variable; in the others all variables are alike.
const APART: usize = 12;

/// The most elements that an element of a result may depend on.
pub const VARIABLES: usize = 9;

/// How an element is read.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// An integer of so many bits, with a sign or without.
    Integer(u32),
    /// A float of 32 or 64 bits.
    Float(u32),
    /// A constant operand.
    Constant,
}

impl Kind {
    /// As the data of the guide has it.
    pub fn name(self) -> String {
        match self {
            Kind::Integer(width) => format!("i{width}"),
            Kind::Float(width) => format!("f{width}"),
            Kind::Constant => "n".to_owned(),
        }
    }

    /// A sample of a variable.
    pub fn sample(self, variable: usize, sample: usize) -> u64 {
        match self {
            Kind::Constant => [1, 2, 3, 5, 7, 4, 6, 0][(sample + variable) % 8],
            Kind::Float(32) => u64::from((float(variable, sample) as f32).to_bits()),
            Kind::Float(_) => float(variable, sample).to_bits(),
            Kind::Integer(width) => integer(width, variable, sample),
        }
    }
}

/// Small, large and any integers.
fn integer(width: u32, variable: usize, sample: usize) -> u64 {
    let ones = u64::MAX >> (64 - width.clamp(1, 64));
    let seed = (variable * COUNT + sample) as u64;
    let any = Random::new(seed).next_bits();
    let edges = [3, ones, ones / 2, ones / 2 + 1, 200 & ones, 1];
    if sample >= APART {
        return edges[sample - APART];
    }
    match (sample + 5 * variable) % APART {
        at @ 0..6 => edges[at],
        6 | 7 => any % 8,
        _ => any & ones,
    }
}

/// Floats of different size and sign, exact in 32 bits.
fn float(variable: usize, sample: usize) -> f64 {
    let seed = (variable * COUNT + sample) as u64 + 1_000;
    let any = Random::new(seed).next_bits();
    let mantissa = (any % 4096) as f64 / 256.0 + 0.25;
    let sign = if any >> 40 & 3 == 0 { -1.0 } else { 1.0 };
    if sample >= APART {
        return [0.75, 3.0, -1000.5, 70000.25][sample - APART];
    }
    sign * mantissa
}

/// What an element of a result is.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Computed {
    /// The element itself.
    pub to: Kind,
    /// The operands, and how many neighbouring elements of each.
    pub from: Vec<(Kind, u32)>,
    /// Its value for each sample.
    pub values: Vec<u64>,
}

/// How an operand's elements are read, when they can be sampled.
fn kind(element: Element, role: Role, width: u32) -> Option<Kind> {
    match (role, element) {
        (Role::Immediate { max } | Role::Range { least: 0..=1, max }, _) if max >= 7 => {
            Some(Kind::Constant)
        }
        (Role::Register, Element::Float(w @ (32 | 64))) => Some(Kind::Float(w)),
        (Role::Register, Element::Signed(_) | Element::Unsigned(_) | Element::Untyped) => {
            Some(Kind::Integer(width)).filter(|_| (8..=64).contains(&width))
        }
        _ => None,
    }
}

/// An operand whose elements are sampled.
struct Input<'a> {
    source: &'a Source,
    kind: Kind,
    /// The first element that element 0 of the result depends on, and how many.
    first: u32,
    count: u32,
    /// The number of its first variable.
    variable: usize,
}

impl Input<'_> {
    /// The operand, each element a sample of its variable.
    fn bits(&self, width: u32, sample: usize) -> Bits {
        let mut bits = Bits::zero(width);
        for element in 0..self.source.count {
            let place = (element + self.source.count * self.count - self.first) % self.count;
            let value = self.kind.sample(self.variable + place as usize, sample);
            let piece = Bits::from_u64(self.source.width.min(64), value);
            bits = bits.insert(element * self.source.width, &piece);
        }
        bits
    }
}

/// What a member computes element by element; nothing where that cannot be sampled.
pub fn computed(operation: &Operation, member: &Member, flows: &[Flow]) -> Option<Computed> {
    let [flow] = flows else { return None };
    if !flow.given.is_empty() || member.outputs.len() != 1 {
        return None;
    }
    let longer;
    let flow = match flow.pattern() {
        Pattern::Moves => {
            longer = extended(flow, member.outputs[0].element.width()?)?;
            &longer
        }
        Pattern::Lanewise | Pattern::Gathers => flow,
    };
    let roles = member.operands.iter().map(|o| o.role);
    let sampled = |r: Role| {
        matches!(
            r,
            Role::Register | Role::Immediate { .. } | Role::Range { .. }
        )
    };
    if !{ roles }.all(sampled) {
        return None;
    }
    let to = match member.outputs[0].element {
        Element::Float(w @ (32 | 64)) if w == flow.width => Kind::Float(w),
        Element::Float(_) | Element::Bfloat16 => return None,
        _ => Kind::Integer(flow.width),
    };
    let inputs = inputs(member, flow)?;
    let term = member.result(operation, 0).ok()?;
    if term.sort().width().is_none_or(|w| w < flow.width) || flow.width > 64 {
        return None;
    }
    let program = CompiledTerms::of(term);
    let alike = alike(flow, &inputs);
    // Elements that stay as they are say nothing of an instruction that computes others.
    let first = &flow.elements[0].edges;
    if first.iter().all(|e| e.way == Way::Moved) && alike.len() < flow.elements.len() {
        return None;
    }
    let values = (0..COUNT).map(|sample| {
        let given = program.inputs().iter().map(|input| {
            let of = inputs.iter().find(|i| i.source.name == input.name);
            let width = input.sort.width().unwrap_or(1);
            Value::Bv(of.map_or_else(|| Bits::zero(width), |i| i.bits(width, sample)))
        });
        let result = program.run(&given.collect::<Vec<_>>());
        let element = |k: u32| {
            let bits = result[0].bits();
            bits.extract(k * flow.width, flow.width).low_u64()
        };
        let same = alike.iter().all(|&k| element(k) == element(0));
        same.then(|| element(0))
    });
    Some(Computed {
        to,
        from: inputs.iter().map(|i| (i.kind, i.count)).collect(),
        values: values.collect::<Option<Vec<_>>>()?,
    })
}

/// Elements that move into longer ones, with zeros above: to the flow these are short elements.
fn extended(flow: &Flow, width: u32) -> Option<Flow> {
    let several = width.checked_div(flow.width)? as usize;
    let zero = |e: &crate::flow::Element| e.constant.as_ref().is_some_and(Bits::is_zero);
    let longer = |pieces: &[crate::flow::Element]| {
        let [moved, zeros @ ..] = pieces else {
            return false;
        };
        moved.edges.len() == 1 && moved.edges[0].count == 1 && zeros.iter().all(zero)
    };
    let whole = several > 1 && flow.elements.len().is_multiple_of(several);
    let fits = whole && flow.elements.chunks(several).all(longer);
    fits.then(|| Flow {
        width,
        elements: flow.elements.iter().step_by(several).cloned().collect(),
        ..flow.clone()
    })
}

/// The operands that element 0 of a result depends on.
fn inputs<'a>(member: &Member, flow: &'a Flow) -> Option<Vec<Input<'a>>> {
    let (mut inputs, mut variable) = (Vec::new(), 0);
    for (number, source) in flow.sources.iter().enumerate() {
        let edges = flow.elements.first()?.edges.iter();
        let edges = edges.filter(|e| e.source == number);
        let Some(first) = edges.clone().map(|e| e.first).min() else {
            continue;
        };
        let end = edges.map(|e| e.first + e.count).max()?;
        let operand = member.operands.iter().find(|o| o.name == source.name)?;
        let kind = kind(operand.element, operand.role, source.width)?;
        let count = end - first;
        inputs.push(Input {
            source,
            kind,
            first,
            count,
            variable,
        });
        variable += count as usize;
    }
    (variable > 0 && variable <= VARIABLES).then_some(inputs)
}

/// The elements of a result that depend on the same variables as element 0.
fn alike(flow: &Flow, inputs: &[Input<'_>]) -> Vec<u32> {
    let same = |element: &crate::flow::Element| {
        inputs.iter().all(|input| {
            let of = |e: &&crate::flow::Edge| flow.sources[e.source].name == input.source.name;
            let first = element.edges.iter().filter(of).map(|e| e.first).min();
            first.is_some_and(|f| {
                (f + input.source.count * input.count - input.first).is_multiple_of(input.count)
            })
        })
    };
    let each = (0..).zip(&flow.elements);
    each.filter(|(_, e)| same(e)).map(|(k, _)| k).collect()
}
