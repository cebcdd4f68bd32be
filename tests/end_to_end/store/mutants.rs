//! Objects that somebody changed.
//!
//! In: the objects that runs have left on a machine and in a shared store. Out: test results: none of
//! many changes of each kind of object is read, by the very functions that the binary reads with; and
//! changed files, for runs of the binary over them. Whose digest is made right again is not here.

use super::{files, text};
use semantics::random::Random;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use store::backend::Backend;
use store::object::{Key, Kind, Store};
use store::shared::{Place, Shared};

/// Changes that are tried of all kinds together, were all objects small; and at least.
const MUTANTS: usize = 24_000;
const AT_LEAST: usize = 10_000;
/// An object of more bytes stands for fewer of them.
const LARGE: (usize, usize) = (200_000, 50);

/// An object: its kind, its key, its bytes.
pub(super) struct Object {
    kind: Kind,
    key: Key,
    bytes: Vec<u8>,
}

/// The objects below a folder, by kind.
fn objects(folder: &Path) -> BTreeMap<String, Vec<Object>> {
    let mut all: BTreeMap<String, Vec<Object>> = BTreeMap::new();
    for path in files(folder) {
        let bytes = fs::read(&path).expect("it was left");
        let head = bytes.split(|b| *b == b'\n').next().unwrap_or_default();
        let head = text(head);
        let words: Vec<&str> = head.split(' ').collect();
        let ["isaforge", "store", "1", name, version, key, _] = words[..] else {
            continue;
        };
        let kind = Kind {
            name: String::leak(name.to_owned()),
            version: version.parse().expect("a number"),
            most: None,
        };
        let key = Key::read(key).expect("a key");
        let object = Object { kind, key, bytes };
        all.entry(name.to_owned()).or_default().push(object);
    }
    all
}

/// Bytes with a change, which are never the same.
pub(super) fn changed(bytes: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let mut out = bytes.to_vec();
    let at = random.index(out.len());
    let end = (at + 1 + random.index(64)).min(out.len());
    let head = bytes.iter().position(|b| *b == b'\n').unwrap_or(0);
    let digits: Vec<usize> = (0..out.len().min(100_000))
        .filter(|&k| out[k].is_ascii_digit())
        .collect();
    match random.index(10) {
        0 => out[at] ^= 1 << random.index(8),
        1 => out[at] = random.index(256) as u8,
        2 => drop(out.drain(at..end)),
        3 => out.truncate(at),
        4 => out.extend_from_slice(&bytes[at..end]),
        5 => {
            let from = random.index(other.len());
            let piece = &other[from..(from + 1 + random.index(64)).min(other.len())];
            out.splice(at..at, piece.iter().copied());
        }
        6 => out = other.to_vec(),
        7 => {
            let body = other.iter().position(|b| *b == b'\n').unwrap_or(0);
            out.splice(head.., other[body..].iter().copied());
        }
        8 => out[random.index(head + 1)] = *random.pick(b"0123456789abcdef \n"),
        _ => out[*random.pick(&digits)] = *random.pick(b"0123456789"),
    }
    if out == bytes {
        out[at] ^= 1;
    }
    out
}

/// Something that has one object, whatever is asked for.
struct Only(Vec<u8>);

impl Place for Only {
    fn read(&self, _: &str, _: u64) -> io::Result<Option<Vec<u8>>> {
        Ok(Some(self.0.clone()))
    }

    fn write(&self, _: &str, _: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn shown(&self) -> String {
        "a place".to_owned()
    }
}

impl Backend for Only {
    fn read(&self, _: &str) -> io::Result<Option<Vec<u8>>> {
        Ok(Some(self.0.clone()))
    }

    fn write(&self, _: &str, _: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn list(&self, _: &str) -> io::Result<Vec<String>> {
        Ok(Vec::new())
    }

    fn rename(&self, _: &str, _: &str) -> io::Result<()> {
        Ok(())
    }

    fn remove(&self, _: &str) -> io::Result<()> {
        Ok(())
    }

    fn shown(&self, name: &str) -> String {
        name.to_owned()
    }
}

/// Whether a machine takes such bytes for an object of its own; what is refused is told, but where the
/// first line says that another version left it.
fn own(object: &Object, bytes: Vec<u8>) -> bool {
    let other = other_version(object, &bytes);
    let store = Store::with(Box::new(Only(bytes)), None);
    let found = store.get(object.kind, &object.key);
    let log = store.problems().len();
    assert_eq!(log, usize::from(found.is_none() && !other));
    found.is_some()
}

/// Whether anybody takes them for an object that others left, before it is looked at.
fn of_others(object: &Object, bytes: Vec<u8>) -> bool {
    let shared = Shared::new(Box::new(Only(bytes)));
    let found = shared.proved(object.kind, &object.key, |_| Ok(()));
    let log = shared.problems().len();
    assert_eq!(
        (log, shared.counts().refused),
        match found {
            Some(()) => (0, 0),
            None => (1, 1),
        }
    );
    found.is_some()
}

fn other_version(object: &Object, bytes: &[u8]) -> bool {
    let Kind { name, version, .. } = object.kind;
    let own = format!("isaforge store 1 {name} {version} ");
    bytes.starts_with(b"isaforge store ")
        && !bytes.starts_with(own.as_bytes())
        && std::str::from_utf8(bytes).is_ok()
}

/// Changes what runs have left in a cache folder and a shared store, and reads each change.
pub(super) fn none_is_taken(machine: &Path, shared: &Path) {
    let mut random = Random::new(18);
    let places = [
        (objects(machine), own as fn(&Object, Vec<u8>) -> bool),
        (objects(shared), of_others),
    ];
    let kinds: Vec<&String> = places.iter().flat_map(|(all, _)| all.keys()).collect();
    for kind in [
        "lowered",
        "canonical",
        "instruction-tables",
        "windows",
        "programs",
        "pinned",
    ] {
        assert!(kinds.iter().any(|k| *k == kind), "{kind}: {kinds:?}");
    }
    let each = MUTANTS / kinds.len();
    let (mut tried, mut taken) = (0, Vec::new());
    for (objects, read) in &places {
        for (kind, all) in objects {
            assert!(all.iter().all(|o| read(o, o.bytes.clone())), "{kind}");
            let mut left = each;
            while left > 0 {
                let (one, two) = (random.pick::<Object>(all), random.pick::<Object>(all));
                let mutant = changed(&one.bytes, &two.bytes, &mut random);
                let bytes = mutant.len();
                tried += 1;
                left = left.saturating_sub(if bytes > LARGE.0 { LARGE.1 } else { 1 });
                if read(one, mutant) {
                    taken.push(format!("{kind} {}", one.key));
                }
            }
        }
    }
    assert!(taken.is_empty(), "{} of {tried}: {taken:?}", taken.len());
    assert!(tried >= AT_LEAST, "{tried}");
    println!(
        "{tried} changed objects of {} kinds: none taken",
        kinds.len()
    );
}

/// Changes every object below a folder; how many there were.
pub(super) fn change_all(folder: &Path, seed: u64) -> usize {
    let mut random = Random::new(seed);
    let read = |path: PathBuf| Some((fs::read(&path).ok()?, path));
    let mut all: Vec<_> = files(folder).into_iter().filter_map(read).collect();
    all.retain(|(bytes, _)| bytes.starts_with(b"isaforge store "));
    for (bytes, path) in &all {
        let (other, _) = random.pick(&all);
        fs::write(path, changed(bytes, other, &mut random)).expect("there is room");
    }
    all.len()
}
