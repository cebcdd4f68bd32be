//! Whether the disk has room for what the tests build.
//!
//! In: the workspace root. Out: nothing, or what is missing. A disk that fills up on the way fails in
//! many places, none of which says so first. Where `df` cannot be asked, nothing is said.

use std::path::Path;
use std::process::Command;

/// What a first run writes below `target`: 1.6 GB by cargo, 1 GB of tools, 0.4 GB by tests (measured). What
/// incremental builds keep is 3.5 GB more, which cargo can be told to do without.
const FIRST_MB: u64 = 3_000;
/// What a later run adds at least.
const AGAIN_MB: u64 = 500;

/// What is wrong with the disk that holds the workspace, if anything.
pub(crate) fn lacking(root: &Path) -> Option<String> {
    let is_built = root.join("target/debug/deps").is_dir();
    let wanted = if is_built { AGAIN_MB } else { FIRST_MB };
    let out = Command::new("df").arg("-Pm").arg(root).output().ok()?;
    too_little(free_mb(&String::from_utf8_lossy(&out.stdout))?, wanted)
}

/// The megabytes that are available, of what `df -Pm` prints for one path.
fn free_mb(printed: &str) -> Option<u64> {
    printed
        .lines()
        .nth(1)?
        .split_whitespace()
        .nth(3)?
        .parse()
        .ok()
}

fn too_little(free: u64, wanted: u64) -> Option<String> {
    (free < wanted).then(|| {
        format!("the tests write at least {wanted} MB below `target`, and {free} MB are free on its disk: make room first")
    })
}

#[cfg(test)]
mod tests {
    use super::{free_mb, too_little};

    #[test]
    fn a_full_disk_is_told() {
        let printed = "Filesystem 1048576-blocks  Used Available Capacity Mounted on\n\
                       /dev/vda          257783 91000       252     100% /\n";
        assert_eq!(free_mb(printed), Some(252));
        assert_eq!(free_mb("df: no such file\n"), None);
        let reported = too_little(252, 3_000).expect("too little");
        assert!(reported.contains("3000 MB") && reported.contains("252 MB are free"));
        assert_eq!(too_little(3_000, 3_000), None);
    }
}
