//! Answers of engines, kept between runs.
//!
//! In: questions as text with the engine's name, version and limits. Out: decided answers,
//! and the evidence of whole proofs.
//! `Unknown` is never kept. The file is text, one answer per line with a checksum, only
//! ever appended to, under a lock, so threads and processes share it; a file that is not
//! wholly well formed is set aside and begun anew. Models from it are checked like any
//! other model.

use crate::blast::Found;
use crate::verdict::{Evidence, Model, Step};
use semantics::bits::Bits;
use semantics::diagnostic::Diagnostic;
use semantics::value::{Memory, Value};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The first line; another version is another file.
const HEADER: &str = "isaforge query cache 1";

/// A cache file, and what is known of its contents.
pub(crate) struct Cache {
    known: Mutex<HashMap<String, String>>,
    file: Mutex<Option<File>>,
}

impl Cache {
    /// Opens or begins a cache. Problems are told, never fatal: without a file, answers are
    /// kept in memory.
    pub(crate) fn open(path: &Path) -> (Cache, Option<Diagnostic>) {
        let (file, known, problem) = match load(path) {
            Ok((file, known, problem)) => (Some(file), known, problem),
            Err(e) => {
                let text = format!("cannot use the query cache {}: {e}", path.display());
                (None, HashMap::new(), Some(Diagnostic::warning(text)))
            }
        };
        (
            Cache {
                known: Mutex::new(known),
                file: Mutex::new(file),
            },
            problem,
        )
    }

    /// The decided answer to a question, if it is known.
    pub(crate) fn get(&self, key: &str) -> Option<Found> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(key).and_then(|text| read_answer(text))
    }

    /// Keeps an answer; `Unknown` is not one.
    pub(crate) fn put(&self, key: &str, found: &Found) {
        let text = match found {
            Found::Nothing => "unsat".to_owned(),
            Found::Model(model) => match write_model(model) {
                Some(model) => format!("sat{model}"),
                None => return,
            },
            Found::Unknown(_) => return,
        };
        let new = self
            .known
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(key.to_owned(), text.clone());
        if new.is_none() {
            self.append(&line(key, &text));
        }
    }

    /// The evidence of a proof that was kept.
    pub(crate) fn evidence(&self, key: &str) -> Option<Evidence> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(key).and_then(|text| read_evidence(text))
    }

    /// Keeps the evidence of a proof.
    pub(crate) fn put_evidence(&self, key: &str, evidence: &Evidence) {
        let Some(text) = write_evidence(evidence) else {
            return;
        };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let new = known.insert(key.to_owned(), text.clone());
        drop(known);
        if new.is_none() {
            self.append(&line(key, &text));
        }
    }

    fn append(&self, line: &str) {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(open) = file.as_mut() else { return };
        let written = open.lock().and_then(|()| {
            open.seek(SeekFrom::End(0))?;
            open.write_all(line.as_bytes())?;
            open.unlock()
        });
        if written.is_err() {
            *file = None; // answers stay in memory
        }
    }
}

/// The key of a question: engine and limits, and the question itself, hashed.
pub(crate) fn key(engine: &str, question: &str) -> String {
    let mut hasher = Sha256::new();
    hasher.update(engine.as_bytes());
    hasher.update([0]);
    hasher.update(question.as_bytes());
    hasher
        .finalize()
        .iter()
        .fold(String::new(), |mut out, byte| {
            let _ = write!(out, "{byte:02x}");
            out
        })
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

/// FNV-1a: guards a line against damage, not against intent.
fn checksum(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |h, b| {
        (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3)
    })
}

fn line(key: &str, answer: &str) -> String {
    let body = format!("{key} {answer}");
    format!("{:016x} {body}\n", checksum(&body))
}

/// What a file held: the file open for appending, its answers, what was wrong.
type Loaded = (File, HashMap<String, String>, Option<Diagnostic>);

fn load(path: &Path) -> std::io::Result<Loaded> {
    if let Some(folder) = path.parent().filter(|p| !p.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder)?;
    }
    let mut file = open(path)?;
    file.lock()?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    if bytes.is_empty() {
        file.write_all(format!("{HEADER}\n").as_bytes())?;
        file.unlock()?;
        return Ok((file, HashMap::new(), None));
    }
    match read_all(&bytes) {
        Ok(known) => {
            file.unlock()?;
            Ok((file, known, None))
        }
        Err(what) => {
            let aside = free_name(path);
            std::fs::rename(path, &aside)?;
            file.unlock()?;
            let mut fresh = open(path)?;
            fresh.write_all(format!("{HEADER}\n").as_bytes())?;
            let text = format!(
                "the query cache {} {what}; it was set aside",
                path.display()
            );
            let note = format!("it is now {}; a new one was begun", aside.display());
            Ok((
                fresh,
                HashMap::new(),
                Some(Diagnostic {
                    notes: vec![note],
                    ..Diagnostic::warning(text)
                }),
            ))
        }
    }
}

fn open(path: &Path) -> std::io::Result<File> {
    OpenOptions::new()
        .read(true)
        .append(true)
        .create(true)
        .open(path)
}

/// A name beside the file that no file has.
fn free_name(path: &Path) -> PathBuf {
    let name = |n: u32| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".set-aside-{n}"));
        PathBuf::from(name)
    };
    (1..)
        .map(name)
        .find(|p| !p.exists())
        .expect("some number is free")
}

fn read_all(bytes: &[u8]) -> Result<HashMap<String, String>, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "is not text".to_owned())?;
    let mut lines = text.split_inclusive('\n');
    if lines.next().map(str::trim_end) != Some(HEADER) {
        return Err("does not begin as one of this version".to_owned());
    }
    let mut known = HashMap::new();
    for (number, full) in (2..).zip(lines) {
        let bad = || format!("is damaged in line {number}");
        let body = full
            .strip_suffix('\n')
            .ok_or_else(|| format!("is cut off in line {number}"))?;
        let (sum, body) = body.split_once(' ').ok_or_else(bad)?;
        if u64::from_str_radix(sum, 16) != Ok(checksum(body)) {
            return Err(bad());
        }
        let (key, answer) = body.split_once(' ').ok_or_else(bad)?;
        known.insert(key.to_owned(), answer.to_owned());
    }
    Ok(known)
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
