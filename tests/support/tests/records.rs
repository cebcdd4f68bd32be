//! A test that is skipped ends there and leaves a record; this one starts itself to see it.

use std::fs;
use std::path::Path;
use std::process::Command;
use test_support::{RECORDS, need, skip_part};

/// Set in the process that skips.
const SKIPS: &str = "TEST_SUPPORT_SKIPS";

#[test]
fn what_is_skipped_is_recorded() {
    if std::env::var_os(SKIPS).is_some() {
        assert_eq!(need!(Ok::<u32, &str>(7)), 7);
        skip_part!("there is no `{}`", "one");
        need!(Err::<(), &str>("there is no `other`"));
        panic!("the test goes on");
    }
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("records");
    let _ = fs::remove_file(&file);
    let output = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "what_is_skipped_is_recorded", "--test-threads=2"])
        .env(SKIPS, "1")
        .env(RECORDS, &file)
        .output()
        .expect("it starts again");
    let records = fs::read_to_string(&file).expect("it has left records");
    assert_eq!(
        records,
        "skipped in part\trecords::what_is_skipped_is_recorded\tthere is no `one`\n\
         skipped\trecords::what_is_skipped_is_recorded\tthere is no `other`\n"
    );
    let shown = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && shown.contains(&records),
        "{shown}"
    );
}
