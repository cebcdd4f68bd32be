//! Texts come back as they were left, undamaged, or not at all.

use super::{Key, Kind, Store};
use std::fs;
use std::path::PathBuf;

const TEXTS: Kind = Kind {
    name: "texts",
    version: 3,
    most: None,
};

fn path(folder: &tempfile::TempDir, key: &Key) -> PathBuf {
    folder.path().join("below/texts").join(key.to_string())
}

fn store(folder: &tempfile::TempDir) -> Store {
    Store::at(&folder.path().join("below"))
}

#[test]
fn what_was_left_comes_back_under_its_kind_and_key() {
    let folder = tempfile::tempdir().expect("a folder");
    let (one, other) = (Key::of(["a", "b"]), Key::of(["ab", ""]));
    assert_ne!(one, other, "where a part ends makes a difference");
    let left = store(&folder);
    assert_eq!(left.get(TEXTS, &one), None);
    assert!(left.put(TEXTS, &one, "a\nb\n"));
    let again = store(&folder);
    assert_eq!(again.get(TEXTS, &one).as_deref(), Some("a\nb\n"));
    assert_eq!(again.get(TEXTS, &other), None);
    let others = Kind {
        name: "others",
        ..TEXTS
    };
    assert_eq!(again.get(others, &one), None);
    assert!(again.put(TEXTS, &one, ""));
    assert_eq!(again.get(TEXTS, &one).as_deref(), Some(""));
    assert_eq!([left.problems(), again.problems()], [vec![], vec![]]);
}

#[test]
fn damage_is_told_of_and_set_aside() {
    let folder = tempfile::tempdir().expect("a folder");
    let (store, key) = (store(&folder), Key::of(["key"]));
    store.put(TEXTS, &key, "some text\n");
    let path = path(&folder, &key);
    let right = fs::read(&path).expect("it was written");
    let mut flipped = right.clone();
    *flipped.last_mut().expect("it is not empty") ^= 1;
    let cut = right[..right.len() - 3].to_vec();
    let text = String::from_utf8(right).expect("it is text");
    let misnamed = text.replacen(&key.to_string(), &Key::of(["x"]).to_string(), 1);
    let (misnamed, foreign) = (misnamed.into_bytes(), b"not ours\n".to_vec());
    for wrong in [
        flipped,
        cut,
        misnamed,
        foreign,
        b"\xff".to_vec(),
        Vec::new(),
    ] {
        fs::write(&path, &wrong).expect("it can be written");
        assert_eq!(store.get(TEXTS, &key), None);
        let log = store.problems();
        assert!(log.len() == 1 && log[0].message.ends_with("is damaged"));
        assert!(!path.exists());
        let aside = path.with_file_name(format!("{key}.set-aside"));
        assert_eq!(fs::read(aside).expect("it is there"), wrong);
        assert_eq!(store.get(TEXTS, &key), None);
        assert_eq!(store.problems(), vec![], "told once");
    }
    store.put(TEXTS, &key, "not understood\n");
    assert_eq!(store.read(TEXTS, &key, |_| None::<()>), None);
    assert!(!path.exists() && store.problems().len() == 1);
}

#[test]
fn another_version_is_neither_read_nor_damaged() {
    let folder = tempfile::tempdir().expect("a folder");
    let (store, key) = (store(&folder), Key::of(["key"]));
    store.put(TEXTS, &key, "text");
    let path = path(&folder, &key);
    let text = fs::read_to_string(&path).expect("it was written");
    for other in [("store 1", "store 2"), ("texts 3", "texts 2")] {
        fs::write(&path, text.replacen(other.0, other.1, 1)).expect("it can be written");
        assert_eq!(store.get(TEXTS, &key), None);
        assert!(path.exists() && store.problems().is_empty());
    }
    assert!(store.put(TEXTS, &key, "anew"));
    assert_eq!(store.get(TEXTS, &key).as_deref(), Some("anew"));
}

#[test]
fn the_oldest_go_when_there_are_too_many() {
    let folder = tempfile::tempdir().expect("a folder");
    let few = Kind {
        most: Some(2),
        ..TEXTS
    };
    let store = store(&folder);
    let keys: Vec<Key> = (0..4).map(|n| Key::of([n.to_string()])).collect();
    for (n, key) in keys.iter().enumerate() {
        store.put(few, key, "text");
        // Times of files are coarse on some file systems.
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(n as u64 + 1);
        let file = fs::File::open(path(&folder, key)).expect("it is there");
        file.set_modified(time).expect("it is ours");
    }
    let there: Vec<bool> = keys.iter().map(|k| store.get(few, k).is_some()).collect();
    assert_eq!(there, [false, false, true, true]);
    assert!(store.problems().is_empty());
}

#[test]
fn a_folder_that_cannot_be_written_is_told_of_once() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("below"), "a file").expect("there is room");
    let store = store(&folder);
    for n in 0..3 {
        assert!(!store.put(TEXTS, &Key::of([n.to_string()]), "text"));
    }
    let log = store.problems();
    assert!(log.len() == 1 && log[0].message.contains("cannot be kept"));
    assert!(log[0].hint.is_some());
}

#[test]
fn what_is_there_is_read_where_nothing_can_be_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let key = Key::of(["key"]);
    store(&folder).put(TEXTS, &key, "text");
    // A file in place of a folder stops every user, whatever may be written elsewhere.
    fs::write(folder.path().join("below/others"), "a file").expect("there is room");
    let (store, others) = (
        store(&folder),
        Kind {
            name: "others",
            ..TEXTS
        },
    );
    assert_eq!(store.get(TEXTS, &key).as_deref(), Some("text"));
    assert_eq!(store.get(others, &key), None);
    assert!(store.problems().is_empty(), "nothing was to be written");
    assert!(!store.put(others, &key, "text"));
    assert_eq!(store.problems().len(), 1);
}

#[test]
fn what_is_too_long_is_not_read() {
    let folder = tempfile::tempdir().expect("there is room");
    let key = Key::of(["key"]);
    assert!(store(&folder).put(TEXTS, &key, "text\n"));
    let file = std::fs::OpenOptions::new()
        .write(true)
        .open(path(&folder, &key));
    // A hole: it takes no room on the disk, and all memory of whoever reads it.
    let made = file.expect("it was left").set_len(1 << 40);
    if made.is_ok() {
        assert_eq!(store(&folder).get(TEXTS, &key), None);
    }
    assert!(store(&folder).put(TEXTS, &key, "text\n"));
    assert_eq!(store(&folder).get(TEXTS, &key).as_deref(), Some("text\n"));
}

#[test]
fn a_store_in_memory_is_a_store() {
    let few = Kind {
        most: Some(2),
        ..TEXTS
    };
    let store = Store::in_memory();
    // The oldest is not the first by name.
    let keys: Vec<Key> = (0..4).map(|n| Key::of([n.to_string()])).collect();
    for (n, key) in keys.iter().enumerate() {
        assert_eq!(store.get(few, key), None);
        assert!(store.put(few, key, &n.to_string()));
    }
    let there: Vec<Option<String>> = keys.iter().map(|k| store.get(few, k)).collect();
    assert_eq!(
        there,
        [None, None, Some("2".to_owned()), Some("3".to_owned())]
    );
    assert!(store.problems().is_empty());
}
