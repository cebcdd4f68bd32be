//! What a processor takes besides its instructions: loads, stores, loops, caches.
//!
//! In: `isa-specs/processor.yaml`, and what the cost table of a model says otherwise. Out:
//! [`Processor`], in tenths of a cycle. Every figure, with what it means, stands in that file.

use serde::{Deserialize, Deserializer, de::Error};
use serde_yaml::{Mapping, Value};

/// Where nothing else is said.
const GENERIC: &str = include_str!("../../../isa-specs/processor.yaml");
/// The most cycles that anything takes.
const MOST: f64 = 10_000.0;

/// What a processor takes besides its instructions. Times are tenths of a cycle.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "isa-specs/processor.yaml says what each is")]
pub struct Processor {
    #[serde(deserialize_with = "tenths")]
    pub load: u32,
    #[serde(deserialize_with = "tenths")]
    pub constant: u32,
    #[serde(deserialize_with = "tenths")]
    pub transfer: u32,
    #[serde(deserialize_with = "some_tenths")]
    pub operation: u32,
    #[serde(deserialize_with = "count")]
    pub chains: u32,
    #[serde(deserialize_with = "count")]
    pub in_flight: u32,
    pub number: Numbers,
    #[serde(deserialize_with = "tenths")]
    pub issue: u32,
    #[serde(deserialize_with = "tenths")]
    pub store: u32,
    #[serde(deserialize_with = "tenths")]
    pub element: u32,
    #[serde(deserialize_with = "tenths")]
    pub partial: u32,
    #[serde(deserialize_with = "tenths")]
    pub spill: u32,
    #[serde(deserialize_with = "tenths")]
    pub forward: u32,
    #[serde(deserialize_with = "tenths")]
    pub round: u32,
    #[serde(deserialize_with = "tenths")]
    pub enter: u32,
    #[serde(deserialize_with = "tenths")]
    pub scalar: u32,
    #[serde(deserialize_with = "tenths")]
    pub chained: u32,
    #[serde(deserialize_with = "tenths")]
    pub call: u32,
    #[serde(deserialize_with = "count")]
    pub sums: u32,
    #[serde(deserialize_with = "alignment")]
    pub line: u32,
    pub caches: Vec<Cache>,
}

/// What C takes for numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "isa-specs/processor.yaml says what each is")]
pub struct Numbers {
    #[serde(deserialize_with = "tenths")]
    pub access: u32,
    #[serde(deserialize_with = "tenths")]
    pub operation: u32,
    #[serde(deserialize_with = "tenths")]
    pub slow: u32,
    #[serde(deserialize_with = "tenths")]
    pub divide: u32,
}

/// A cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// How much it holds.
    #[serde(deserialize_with = "count")]
    pub bytes: u32,
    /// What a line takes that it does not hold.
    #[serde(deserialize_with = "tenths")]
    pub miss: u32,
}

/// Cycles, as tenths.
fn tenths<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    let cycles = f64::deserialize(from)?;
    match (0.0..=MOST).contains(&cycles) {
        true => Ok((cycles * 10.0).round() as u32),
        false => Err(D::Error::custom(format!(
            "`{cycles}` is no number of cycles: they are from 0 to {MOST}"
        ))),
    }
}

/// Cycles, as tenths; some at least.
fn some_tenths<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    let cycles = tenths(from)?;
    let none = || D::Error::custom("it takes a tenth of a cycle at least");
    (cycles > 0).then_some(cycles).ok_or_else(none)
}

/// A number of things of which there is one at least.
fn count<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    let count = u32::deserialize(from)?;
    let none = || D::Error::custom("there is one at least");
    (count > 0).then_some(count).ok_or_else(none)
}

/// What addresses may be multiples of.
fn alignment<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    let bytes = count(from)?;
    let none = || D::Error::custom(format!("`{bytes}` is no power of two"));
    bytes.is_power_of_two().then_some(bytes).ok_or_else(none)
}

impl Processor {
    /// What is said of a processor, and for all else what holds where nothing is said.
    ///
    /// # Errors
    /// What is no part of a processor, or no number.
    pub fn with(said: Mapping) -> Result<Processor, serde_yaml::Error> {
        let mut all: Mapping = serde_yaml::from_str(GENERIC)?;
        all.extend(said);
        serde_yaml::from_value(Value::Mapping(all))
    }
}

impl Default for Processor {
    fn default() -> Processor {
        Processor::with(Mapping::new()).expect("the tests read it")
    }
}
