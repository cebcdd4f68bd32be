//! Answers come back in later runs, from few objects, whoever else writes.

use super::{MANY, Pack};
use crate::object::{Key, Kind, Store};
use std::fs;

const ANSWERS: Kind = Kind {
    name: "answers",
    version: 1,
    most: None,
};

fn objects(folder: &tempfile::TempDir) -> usize {
    fs::read_dir(folder.path().join("answers")).map_or(0, Iterator::count)
}

fn key(question: &str) -> Key {
    Key::of([question])
}

fn open(folder: &tempfile::TempDir) -> Pack {
    Pack::open(Store::at(folder.path()), ANSWERS)
}

#[test]
fn answers_come_back_and_stay_few_objects() {
    let folder = tempfile::tempdir().expect("a folder");
    for run in 0..3 * MANY {
        let pack = open(&folder);
        assert_eq!(pack.get(&key("unknown")), None);
        pack.put(&key(&format!("q{run}")), &format!("answer {run}"));
        pack.put(&key(&format!("q{run}")), &format!("answer {run}"));
        drop(pack);
        assert!(objects(&folder) <= MANY + 1, "run {run}");
    }
    let pack = open(&folder);
    for run in 0..3 * MANY {
        assert_eq!(
            pack.get(&key(&format!("q{run}"))),
            Some(format!("answer {run}"))
        );
    }
    drop(pack);
    let before = objects(&folder);
    drop(open(&folder));
    assert_eq!(objects(&folder), before, "nothing new, nothing written");
}

#[test]
fn many_answers_are_written_on_the_way() {
    let folder = tempfile::tempdir().expect("a folder");
    let pack = open(&folder);
    for n in 0..super::GATHERED {
        pack.put(&key(&n.to_string()), "yes");
    }
    assert_eq!(open(&folder).get(&key("7")).as_deref(), Some("yes"));
    pack.put(&key("lines"), "a\nb");
    pack.flush();
    assert_eq!(objects(&folder), 1, "what is no line is not kept");
}

#[test]
fn packs_side_by_side_lose_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let packs: Vec<Pack> = (0..4).map(|_| open(&folder)).collect();
    std::thread::scope(|scope| {
        for (k, pack) in packs.iter().enumerate() {
            scope.spawn(move || {
                for n in 0..600 {
                    pack.put(&key(&format!("{k}-{n}")), "yes");
                }
            });
        }
    });
    let stores: Vec<Store> = packs.iter().map(|p| p.store.clone()).collect();
    drop(packs);
    let pack = open(&folder);
    let all = (0..4).all(|k| (0..600).all(|n| pack.get(&key(&format!("{k}-{n}"))).is_some()));
    assert!(all && stores.iter().all(|s| s.problems().is_empty()));
}

#[test]
fn a_damaged_object_loses_its_own_answers_only() {
    let folder = tempfile::tempdir().expect("a folder");
    for answer in ["one", "two"] {
        open(&folder).put(&key(answer), "yes");
    }
    let all = fs::read_dir(folder.path().join("answers")).expect("it is there");
    let mut paths: Vec<_> = all.map(|e| e.expect("it is there").path()).collect();
    paths.sort();
    let text = fs::read_to_string(&paths[0]).expect("it is text");
    fs::write(&paths[0], text.replace("yes", "no")).expect("it is ours");
    let store = Store::at(folder.path());
    let pack = Pack::open(store.clone(), ANSWERS);
    let there = ["one", "two"].map(|q| pack.get(&key(q)).is_some());
    assert_eq!(there.iter().filter(|t| **t).count(), 1);
    assert_eq!(store.problems().len(), 1);
}

#[test]
fn what_took_long_is_written_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let pack = open(&folder);
    std::thread::sleep(super::PATIENCE + std::time::Duration::from_millis(10));
    pack.put(&key("slow"), "yes");
    assert_eq!(open(&folder).get(&key("slow")).as_deref(), Some("yes"));
    pack.put(&key("fast"), "yes");
    assert_eq!(open(&folder).get(&key("fast")), None, "it waits for others");
}
