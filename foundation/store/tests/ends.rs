//! A process that is ended while it writes loses nothing that it has kept, and damages nothing.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use store::object::{Key, Kind, Store};

/// Names the folder in the process that is ended.
const PLACE: &str = "ISAFORGE_TEST_STORE";

const TEXTS: Kind = Kind {
    name: "texts",
    version: 1,
    most: None,
};

fn entry(n: usize) -> (Key, String) {
    (Key::of([n.to_string()]), format!("text {n} ").repeat(5000))
}

#[test]
fn ends_at_random_points() {
    if let Some(place) = std::env::var_os(PLACE) {
        return keep_on(Path::new(&place));
    }
    let folder = tempfile::tempdir().expect("a folder");
    let mut state = 1u64;
    let mut said = 0;
    for _ in 0..40 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        said += end_one(folder.path(), Duration::from_micros(state >> 48));
    }
    assert!(said > 0, "some writer got to write");
}

/// Keeps texts until it is ended, and says after each that it is kept.
fn keep_on(place: &Path) {
    let store = Store::at(place);
    for n in 0.. {
        let (key, text) = entry(n);
        store.put(TEXTS, &key, &text);
        println!("\nkept {n}.");
    }
}

/// Starts a writer, ends it after a while; how many texts it said it kept, all of which are
/// there.
fn end_one(place: &Path, after: Duration) -> usize {
    let program = std::env::current_exe().expect("this test");
    let mut child = Command::new(program)
        .args(["ends_at_random_points", "--exact", "--nocapture"])
        .env(PLACE, place)
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    std::thread::sleep(after + Duration::from_millis(10));
    child.kill().expect("it is ours");
    let output = child.wait_with_output().expect("its words");
    let text = String::from_utf8_lossy(&output.stdout);
    let kept = text
        .lines()
        .filter(|line| line.starts_with("kept ") && line.ends_with('.'));
    let kept = kept.count();
    let store = Store::at(place);
    for n in 0..kept + 10 {
        let (key, text) = entry(n);
        let found = store.get(TEXTS, &key);
        assert!(n >= kept || found.is_some(), "{n} of {kept}");
        assert!(found.is_none_or(|found| found == text), "{n}");
    }
    assert_eq!(store.problems(), vec![], "nothing is damaged");
    kept
}
