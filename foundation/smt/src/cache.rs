//! Answers of engines, kept between runs.
//!
//! In: questions as text with the engine's name, version and limits. Out: decided answers,
//! and the evidence of whole proofs, each one line among the answers of a
//! [`Pack`]. `Unknown` is never kept. Models that were kept are checked like
//! any other model. Where answers lie, and what becomes of damaged ones, is the store's.

use crate::blast::Found;
use crate::verdict::{Evidence, Model, Step};
use semantics::bits::Bits;
use semantics::value::{Memory, Value};
use std::fmt::Write as _;
use store::object::{Key, Kind, Store};
use store::pack::Pack;

/// Answers and evidence.
const PROOFS: Kind = Kind {
    name: "proofs",
    version: 1,
    most: None,
};

/// What is known of questions.
pub(crate) struct Cache(Pack);

impl Cache {
    /// The answers of a store.
    pub(crate) fn open(store: Store) -> Cache {
        Cache(Pack::open(store, PROOFS))
    }

    /// The decided answer to a question, if it is known.
    pub(crate) fn get(&self, key: &Key) -> Option<Found> {
        read_answer(&self.0.get(key)?)
    }

    /// Keeps an answer; `Unknown` is not one.
    pub(crate) fn put(&self, key: &Key, found: &Found) {
        let text = match found {
            Found::Nothing => Some("unsat".to_owned()),
            Found::Model(model) => write_model(model).map(|model| format!("sat{model}")),
            Found::Unknown(_) => None,
        };
        if let Some(text) = text {
            self.0.put(key, &text);
        }
    }

    /// The evidence of a proof that was kept.
    pub(crate) fn evidence(&self, key: &Key) -> Option<Evidence> {
        read_evidence(&self.0.get(key)?)
    }

    /// Keeps the evidence of a proof.
    pub(crate) fn put_evidence(&self, key: &Key, evidence: &Evidence) {
        if let Some(text) = write_evidence(evidence) {
            self.0.put(key, &text);
        }
    }
}

/// The key of a question: engine and limits, and the question itself.
pub(crate) fn key(engine: &str, question: &str) -> Key {
    Key::of([engine, question])
}

/// The steps that are kept, by the letter that stands for each.
const STEPS: [(&str, Step); 4] = [
    ("i", Step::Identical),
    ("n", Step::NormalForm),
    ("e", Step::Exhaustive),
    ("s", Step::Sat),
];

/// Evidence as a line has it: `proved`, then a letter and a count for each step. What an SMT
/// solver has proved is kept as the solver's own answers.
fn write_evidence(evidence: &Evidence) -> Option<String> {
    let mut text = "proved".to_owned();
    for (step, count) in &evidence.elements {
        let (letter, _) = STEPS.iter().find(|(_, s)| s == step)?;
        let _ = write!(text, " {letter}{count}");
    }
    Some(text)
}

fn read_evidence(text: &str) -> Option<Evidence> {
    let mut evidence = Evidence::default();
    for word in text.strip_prefix("proved")?.split_whitespace() {
        let (letter, count) = word.split_at_checked(1)?;
        let (_, step) = STEPS.iter().find(|(l, _)| *l == letter)?;
        evidence.elements.insert(step.clone(), count.parse().ok()?);
    }
    evidence.questions = 1;
    evidence.cached = 1;
    Some(evidence)
}

fn hex(bits: &Bits) -> String {
    bits.to_bytes()
        .iter()
        .rev()
        .fold(String::new(), |mut out, byte| {
            let _ = write!(out, "{byte:02x}");
            out
        })
}

/// ` name=b:1`, ` name=v:width:hex`, ` name=m:fill:address=byte,…`; nothing for names that
/// cannot be written so.
fn write_model(model: &Model) -> Option<String> {
    let mut out = String::new();
    for (name, value) in model {
        if name.contains([' ', '=', '\n']) {
            return None;
        }
        let _ = match value {
            Value::Bool(b) => write!(out, " {name}=b:{}", u8::from(*b)),
            Value::Int(i) => write!(out, " {name}=i:{i}"),
            Value::Bv(bits) => write!(out, " {name}=v:{}:{}", bits.width(), hex(bits)),
            Value::Mem(memory) => {
                let bytes: Vec<String> = memory
                    .bytes
                    .iter()
                    .map(|(at, b)| format!("{at:x}-{b:x}"))
                    .collect();
                write!(out, " {name}=m:{:x}:{}", memory.fill, bytes.join(","))
            }
        };
    }
    Some(out)
}

fn read_answer(text: &str) -> Option<Found> {
    let mut words = text.split(' ');
    match words.next()? {
        "unsat" => words.next().is_none().then_some(Found::Nothing),
        "sat" => {
            let pairs = words.map(|w| {
                let (name, value) = w.split_once('=')?;
                Some((name.to_owned(), read_value(value)?))
            });
            pairs.collect::<Option<Model>>().map(Found::Model)
        }
        _ => None,
    }
}

fn read_value(text: &str) -> Option<Value> {
    let (kind, rest) = text.split_once(':')?;
    match kind {
        "b" => Some(Value::Bool(rest == "1")),
        "i" => rest.parse().ok().map(Value::Int),
        "v" => {
            let (width, digits) = rest.split_once(':')?;
            let width: u32 = width.parse().ok().filter(|&w| w > 0)?;
            let pairs = digits.as_bytes().rchunks(2);
            let bytes = pairs.map(|p| u8::from_str_radix(std::str::from_utf8(p).ok()?, 16).ok());
            let bytes = bytes.collect::<Option<Vec<u8>>>()?;
            (bytes.len() == width.div_ceil(8) as usize)
                .then(|| Value::Bv(Bits::from_bytes(width, &bytes)))
        }
        "m" => {
            let (fill, bytes) = rest.split_once(':')?;
            let mut memory = Memory {
                fill: u8::from_str_radix(fill, 16).ok()?,
                ..Memory::default()
            };
            for pair in bytes.split(',').filter(|p| !p.is_empty()) {
                let (at, byte) = pair.split_once('-')?;
                memory.bytes.insert(
                    u64::from_str_radix(at, 16).ok()?,
                    u8::from_str_radix(byte, 16).ok()?,
                );
            }
            Some(Value::Mem(memory))
        }
        _ => None,
    }
}
