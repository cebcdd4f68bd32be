//! What others left is proved or dropped, and a place that fails is told of once.

use super::{Counts, Place, Shared, name};
use crate::backend::Folder;
use crate::object::{Key, Kind};
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

const TEXTS: Kind = Kind {
    name: "texts",
    version: 3,
    most: None,
};

fn shared(folder: &tempfile::TempDir) -> Shared {
    Shared::new(Box::new(Folder::new(folder.path())))
}

/// What is read as it is.
fn whole(text: &str) -> Result<String, String> {
    Ok(text.to_owned())
}

#[test]
fn what_was_left_is_there_for_others_by_its_digest() {
    let folder = tempfile::tempdir().expect("a folder");
    let key = Key::of(["a"]);
    let one = shared(&folder);
    assert_eq!(one.proved(TEXTS, &key, whole), None);
    one.put(TEXTS, &key, "text\n");
    let digits = key.to_string();
    let path: PathBuf = ["texts-3", &digits[..2], &digits].iter().collect();
    assert!(folder.path().join(path).is_file());
    let other = shared(&folder);
    assert_eq!(other.proved(TEXTS, &key, whole).as_deref(), Some("text\n"));
    let wrong = other.proved(TEXTS, &key, |_| Err::<(), _>("no".to_owned()));
    assert_eq!(wrong, None);
    let counts = Counts {
        asked: 2,
        taken: 1,
        refused: 1,
        left: 0,
    };
    assert_eq!(other.counts(), counts);
    let problems = other.problems();
    let [problem] = &problems[..] else {
        panic!("{problems:?}")
    };
    assert!(problem.message.contains(&digits) && problem.message.ends_with("is wrong: no"));
}

#[test]
fn what_is_damaged_reaches_no_proof() {
    let folder = tempfile::tempdir().expect("a folder");
    let key = Key::of(["a"]);
    let store = shared(&folder);
    store.put(TEXTS, &key, "some text\n");
    let path = folder.path().join(name(TEXTS, &key));
    let right = fs::read(&path).expect("it was written");
    for at in 0..right.len() {
        let mut wrong = right.clone();
        wrong[at] ^= 1 << (at % 8);
        fs::write(&path, &wrong).expect("there is room");
        let found = store.proved(TEXTS, &key, whole);
        assert_eq!(found, None, "byte {at}");
    }
    assert_eq!(store.counts().refused, right.len());
}

#[test]
fn what_is_no_file_or_too_much_ends_the_use_of_the_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let key = Key::of(["a"]);
    let store = shared(&folder);
    fs::create_dir_all(folder.path().join(name(TEXTS, &key))).expect("there is room");
    assert_eq!(store.proved(TEXTS, &key, whole), None);
    assert_eq!(store.problems().len(), 1);
    let place = Folder::new(folder.path());
    fs::write(folder.path().join("long"), [0; 9]).expect("there is room");
    assert!(Place::read(&place, "long", 8).is_err() && Place::read(&place, "long", 9).is_ok());
}

/// A place that answers so many calls.
struct Failing(AtomicUsize, io::ErrorKind);

impl Failing {
    fn call(&self) -> io::Result<()> {
        match self.0.load(Ordering::Relaxed) {
            0 => Err(self.1.into()),
            n => {
                self.0.store(n - 1, Ordering::Relaxed);
                Ok(())
            }
        }
    }
}

impl Place for Failing {
    fn read(&self, _: &str, _: u64) -> io::Result<Option<Vec<u8>>> {
        self.call().map(|()| None)
    }

    fn write(&self, _: &str, _: &[u8]) -> io::Result<()> {
        self.call()
    }

    fn shown(&self) -> String {
        "a place".to_owned()
    }
}

#[test]
fn a_place_that_fails_is_told_of_once_and_asked_no_more() {
    let key = Key::of(["a"]);
    let place = Failing(AtomicUsize::new(3), io::ErrorKind::TimedOut);
    let store = Shared::new(Box::new(place));
    for _ in 0..5 {
        store.proved(TEXTS, &key, whole);
        store.put(TEXTS, &key, "text");
    }
    let counts = store.counts();
    assert_eq!((counts.asked, counts.left), (2, 1));
    assert_eq!(store.problems().len(), 1);
    assert_eq!(store.problems(), vec![]);
}

#[test]
fn a_place_that_may_only_be_read_is_read_on() {
    let key = Key::of(["a"]);
    let place = Failing(AtomicUsize::new(0), io::ErrorKind::PermissionDenied);
    let store = Shared::new(Box::new(place));
    store.put(TEXTS, &key, "text");
    store.put(TEXTS, &key, "text");
    assert_eq!(store.problems().len(), 1);
    store.proved(TEXTS, &key, whole);
    assert_eq!(store.counts().asked, 1);
}
