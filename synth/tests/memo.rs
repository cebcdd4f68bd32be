//! The memo on disk: kept through the end of a process at any point, rebuilt where damaged.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use synth::memo::Memo;

const PLACE: &str = "ISAFORGE_TEST_MEMO";

fn entries(n: usize) -> Vec<(String, String)> {
    ["a", "b"]
        .map(|half| (format!("{n}{half}"), format!("text {n} {half} ").repeat(50)))
        .to_vec()
}

#[test]
fn texts_come_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("below/memo");
    let memo = Memo::new(path.clone());
    let keys = ["1a", "2a"].map(str::to_owned);
    assert_eq!(memo.find(&keys), [None, None]);
    memo.keep(&entries(1));
    let again = Memo::new(path);
    assert_eq!(again.find(&keys), [Some("text 1 a ".repeat(50)), None]);
    assert!(memo.problems().is_empty() && again.problems().is_empty());
}

#[test]
fn a_damaged_or_foreign_file_is_set_aside() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("memo");
    let write = |bytes: &[u8]| std::fs::write(&path, bytes).expect("a file");
    let memo = Memo::new(path.clone());
    memo.keep(&entries(1));
    let whole = std::fs::read(&path).expect("it was written");
    let mut damaged = whole.clone();
    damaged[64..320].fill(0xa5);
    for contents in [
        b"a text by somebody else".as_slice(),
        &whole[..1000],
        &damaged,
    ] {
        write(contents);
        memo.keep(&entries(2));
        assert_eq!(memo.problems().len(), 1, "told once");
        assert!(memo.find(&["2b".to_owned()])[0].is_some(), "begun anew");
    }
}

/// Not a test by itself: the process that [`ends_at_random_points`] ends. It keeps pairs, and
/// says after each that it is kept.
#[test]
fn writer() {
    let Ok(path) = std::env::var(PLACE) else {
        return;
    };
    let memo = Memo::new(path.into());
    for n in 0.. {
        memo.keep(&entries(n));
        println!("\nkept {n}.");
    }
}

#[test]
fn ends_at_random_points() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("memo");
    let mut state = 1u64;
    let mut said = 0;
    for _ in 0..100 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        said += end_one(&path, Duration::from_micros(state >> 47));
        let memo = Memo::new(path.clone());
        let keys: Vec<String> = (0..40).flat_map(entries).map(|(key, _)| key).collect();
        for (pair, found) in keys.chunks(2).zip(memo.find(&keys).chunks(2)) {
            assert_eq!(found[0].is_some(), found[1].is_some(), "half of {pair:?}");
        }
        assert_eq!(memo.problems(), Vec::<String>::new());
    }
    assert!(said > 0, "some writer got to write");
}

/// Starts a writer, ends it after a while; how many pairs it said it kept, all of which are
/// there.
fn end_one(path: &Path, after: Duration) -> usize {
    let program = std::env::current_exe().expect("this test");
    let mut child = Command::new(program)
        .args(["writer", "--exact", "--nocapture"])
        .env(PLACE, path)
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
    let memo = Memo::new(path.to_owned());
    let keys: Vec<String> = (0..kept).flat_map(entries).map(|(key, _)| key).collect();
    assert!(
        memo.find(&keys).iter().all(Option::is_some),
        "{kept} were kept"
    );
    kept
}
