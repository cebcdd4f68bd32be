//! What runs leave of libraries for other runs: deriving it takes longer than most searches.
//!
//! In: a store, a key of the program and of all that a target's operations are. Out: [`Base`]s, read
//! where they lie, else made and left. The text has the functions of lanes as nodes, each once, then a
//! line for each operation: candidate, width of a lane, function, widths of its operands, immediates,
//! and what it does on the fixed inputs in each order of its operands; and the functions whose immediates
//! a window's own numbers may be. It decides nothing: what is
//! found by it is compared and proved like all else.

use super::{Base, Known, Open, SQUARE, Taken, orders};
use crate::candidates::{Candidates, Equality};
use crate::lane_function::{LaneFunction, immediates_of};
use crate::lanes::{LaneOp, operand};
use crate::sequence::Sequence;
use crate::whole::{Entry, WholeLibrary};
use semantics::bits::Bits;
use semantics::digest::Digests;
use semantics::nodes::{Reader, Writer};
use semantics::term::Term;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::sync::Arc;
use store::object::{Key, Kind, Store};
use store::pack::Pack;

#[cfg(test)]
mod tests;

/// What operations do to lanes. The version is that of the text; what is derived is of one program.
const LANES: Kind = Kind {
    name: "lanes",
    version: 3,
    most: Some(128),
};

/// What operations give of whole registers.
const REGISTERS: Kind = Kind {
    name: "registers",
    version: 1,
    most: Some(128),
};

/// Whether functions of lanes are equal, by the digests of both; never that nobody could say.
const EQUALITIES: Kind = Kind {
    name: "equalities",
    version: 1,
    most: None,
};

/// How lanes are narrowed on a target. The version is that of the text.
const SEQUENCES: Kind = Kind {
    name: "sequences",
    version: 1,
    most: None,
};

/// The answer that there is no sequence.
const NONE: &str = "none";

/// Where libraries lie, and what is known of functions of lanes.
pub(crate) struct LibraryCache {
    store: Store,
    key: Key,
    equalities: Pack,
    sequences: Pack,
}

impl LibraryCache {
    /// What lies in a store under a key.
    pub(crate) fn new(store: &Store, key: Key) -> LibraryCache {
        let store = store.clone();
        let equalities = Pack::open(store.clone(), EQUALITIES);
        let sequences = Pack::open(store.clone(), SEQUENCES);
        LibraryCache {
            store,
            key,
            equalities,
            sequences,
        }
    }

    /// Whether two functions of lanes are equal, as found before or by comparing them.
    pub(crate) fn equality(
        &self,
        x: Term,
        y: Term,
        compare: impl FnOnce() -> Equality,
    ) -> Equality {
        let mut digests = Digests::default();
        let sides = [x, y].map(|t| digests.of(t).to_string());
        let question = Key::of(sides);
        if let Some(answer) = self.equalities.get(&question) {
            match answer.split_once(' ').unwrap_or((&answer, "")) {
                ("equal", "") => return Equality::Equal,
                ("differs", "") => return Equality::Differs(None),
                ("differs", input) => return Equality::Differs(Some(input.to_owned())),
                _ => {}
            }
        }
        let found = compare();
        match &found {
            Equality::Equal => self.equalities.put(&question, "equal"),
            Equality::Differs(input) => {
                let input = input.as_deref().unwrap_or_default();
                self.equalities
                    .put(&question, format!("differs {input}").trim_end());
            }
            Equality::Unknown => {}
        }
        found
    }

    /// The sequence that answers a question, or that there is none, as found before or now; nothing
    /// where what finds it was stopped.
    pub(crate) fn sequence(
        &self,
        candidates: &Candidates,
        question: &[String],
        find: impl FnOnce() -> Option<Option<Sequence>>,
    ) -> Option<Option<Sequence>> {
        let key = [&[self.key.to_string()], question].concat();
        let key = Key::of(key.iter().map(String::as_str));
        if let Some(answer) = self.sequences.get(&key) {
            let known = Sequence::read(&answer, candidates);
            if known.is_some() || answer == NONE {
                return Some(known);
            }
        }
        let found = find()?;
        let answer = found.as_ref().map_or(NONE.to_owned(), Sequence::write);
        self.sequences.put(&key, &answer);
        Some(found)
    }

    /// The base of so many lanes.
    pub(crate) fn base(&self, candidates: &Candidates, lanes: u32) -> Base {
        let known = |text: &str| Some(Base(read(text, candidates)?.into()));
        self.found(LANES, lanes, known, || {
            let made = Base::new(candidates, lanes);
            let text = write(&made.0, &super::open(candidates, lanes));
            (made, text)
        })
    }
}

impl LibraryCache {
    /// The operations with results of a width in bits, by what they do with whole registers.
    pub(crate) fn whole(&self, candidates: &Candidates, width: u32) -> WholeLibrary {
        let known = |text: &str| read_whole(text, candidates);
        self.found(REGISTERS, width, known, || {
            let made = WholeLibrary::new(candidates, width);
            let text = write_whole(&made);
            (made, text)
        })
    }

    /// What lies there for a number, else what is made with its text, which is left there.
    fn found<T>(
        &self,
        kind: Kind,
        number: u32,
        known: impl FnOnce(&str) -> Option<T>,
        make: impl FnOnce() -> (T, String),
    ) -> T {
        let key = Key::of([self.key.to_string(), number.to_string()]);
        self.store.read(kind, &key, known).unwrap_or_else(|| {
            let (made, text) = make();
            self.store.put(kind, &key, &text);
            made
        })
    }
}

fn write_whole(library: &WholeLibrary) -> String {
    let mut lines = String::new();
    for ((operands, hash), alike) in library.entries() {
        for entry in alike {
            let _ = write!(lines, "{operands} {hash:x} {}", entry.candidate);
            for (name, bits) in &entry.immediates {
                let _ = write!(lines, " {name} {bits}");
            }
            lines.push('\n');
        }
    }
    lines
}

fn read_whole(text: &str, candidates: &Candidates) -> Option<WholeLibrary> {
    let mut library = WholeLibrary::default();
    for line in text.lines() {
        let mut words = line.split(' ');
        let operands = words.next()?.parse().ok()?;
        let hash = u64::from_str_radix(words.next()?, 16).ok()?;
        let candidate: usize = words.next()?.parse().ok()?;
        let c = candidates.list.get(candidate)?;
        let mut immediates = BTreeMap::new();
        while let Some(name) = words.next() {
            let bits: Bits = words.next()?.parse().ok()?;
            let fits = c.operand(name).is_some_and(|o| o.width == bits.width());
            fits.then(|| immediates.insert(name.to_owned(), bits))?;
        }
        let entry = Entry {
            candidate,
            immediates,
        };
        library.put((operands, hash), entry);
    }
    Some(library)
}

fn write(all: &[Known], open: &[Open]) -> String {
    let (mut nodes, mut functions, mut lines) = (Writer::default(), HashMap::new(), String::new());
    for (candidate, lane, f) in open {
        let Some(f) = f else {
            let _ = writeln!(lines, "n {candidate} {lane}");
            continue;
        };
        let (term, count) = (nodes.number(f.term), f.lanes);
        let _ = write!(lines, "g {candidate} {lane} {count} {term}");
        for (name, width) in &f.inputs {
            let _ = write!(lines, " {name}:{width}");
        }
        lines.push('\n');
    }
    for Known { op, lane, taken } in all {
        let new = functions.len();
        let function = (op.term, &op.inputs);
        let number = *functions.entry(function).or_insert_with(|| {
            let _ = write!(lines, "f {}", nodes.number(op.term));
            op.inputs.iter().for_each(|(_, width)| {
                let _ = write!(lines, " {width}");
            });
            for (behaviour, order) in taken.iter() {
                let order: String = order.iter().map(usize::to_string).collect();
                let _ = write!(lines, " {order}:{behaviour:x}");
            }
            lines.push('\n');
            new
        });
        let _ = write!(lines, "o {number} {lane} {}", op.candidate);
        for (name, bits) in &op.immediates {
            let _ = write!(lines, " {name}={bits}");
        }
        lines.push('\n');
    }
    format!("{}\n{}{lines}", nodes.count(), nodes.into_text())
}

/// A function, the widths of its operands, and what it does.
type Function = (Term, Vec<(String, u32)>, Arc<Taken>);

fn read(text: &str, candidates: &Candidates) -> Option<Vec<Known>> {
    let mut lines = text.lines();
    let count: usize = lines.next()?.parse().ok()?;
    let terms = Reader::default().terms(lines.by_ref().take(count))?;
    let (mut functions, mut all) = (Vec::<Function>::new(), Vec::new());
    for line in lines {
        let (kind, rest) = line.split_once(' ')?;
        let words = rest.split(' ');
        match kind {
            "f" => functions.push(function(words, &terms)?),
            "g" => open(words, &terms, candidates)?,
            "n" => {
                let numbers: Vec<usize> = words.map_while(|word| word.parse().ok()).collect();
                let &[candidate, lane] = &numbers[..] else {
                    return None;
                };
                let lane = u32::try_from(lane).ok()?;
                candidates.list.get(candidate)?.set_packed_lane(lane, None);
            }
            _ => all.push(known(words, &functions, candidates)?),
        }
    }
    Some(all)
}

fn function<'a>(mut words: impl Iterator<Item = &'a str>, terms: &[Term]) -> Option<Function> {
    let term = *terms.get(words.next()?.parse::<usize>().ok()?)?;
    let (mut inputs, mut taken) = (Vec::new(), Taken::new());
    for word in words {
        match word.split_once(':') {
            None => inputs.push((operand(inputs.len()), word.parse().ok()?)),
            Some((order, behaviour)) => {
                let behaviour = u128::from_str_radix(behaviour, 16).ok()?;
                taken.push((behaviour, order_of(order, inputs.len())?));
            }
        }
    }
    Some((term, inputs, Arc::new(taken)))
}

/// A function with immediates that are open, which a candidate is given back.
fn open<'a>(
    mut words: impl Iterator<Item = &'a str>,
    terms: &[Term],
    candidates: &Candidates,
) -> Option<()> {
    let mut number = || words.next()?.parse::<usize>().ok();
    let c = candidates.list.get(number()?)?;
    let (lane, lanes) = (number()?, number()?);
    let term = *terms.get(number()?)?;
    let input = |word: &str| {
        let (name, width) = word.split_once(':')?;
        c.operand(name)?;
        Some((name.to_owned(), width.parse().ok()?))
    };
    let found = LaneFunction {
        inputs: words.map(input).collect::<Option<_>>()?,
        immediates: immediates_of(c),
        term,
        lanes: u32::try_from(lanes).ok()?,
    };
    c.set_packed_lane(u32::try_from(lane).ok()?, Some(found));
    Some(())
}

/// The order of operands that these digits are.
fn order_of(digits: &str, operands: usize) -> Option<&'static [usize]> {
    let is = |order: &&&[usize]| {
        let own = order.iter().map(|k| char::from_digit(*k as u32, 10));
        own.eq(digits.chars().map(Some))
    };
    let all = orders(operands).iter().chain(SQUARE);
    all.copied().find(|order| is(&order))
}

fn known<'a>(
    mut words: impl Iterator<Item = &'a str>,
    functions: &[Function],
    candidates: &Candidates,
) -> Option<Known> {
    let mut number = || words.next()?.parse::<usize>().ok();
    let (term, inputs, taken) = functions.get(number()?)?;
    let lane = u32::try_from(number()?).ok()?;
    let candidate = number()?;
    let c = candidates.list.get(candidate)?;
    let fixed = words.map(|word| {
        let (name, bits) = word.split_once('=')?;
        let bits: Bits = bits.parse().ok()?;
        let fits = c.operand(name).is_some_and(|o| o.width == bits.width());
        fits.then(|| (name.to_owned(), bits))
    });
    let op = LaneOp {
        candidate,
        name: c.instruction.clone(),
        immediates: fixed.collect::<Option<_>>()?,
        inputs: inputs.clone(),
        term: *term,
        cost: c.cost,
    };
    Some(Known {
        op: Arc::new(op),
        lane,
        taken: Arc::clone(taken),
    })
}
