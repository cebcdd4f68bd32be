//! Processes that are started and waited for.
//!
//! In: commands. Out: whether they work, what they said, how they ended within a time.

use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Whether a program is there and says its version.
pub fn works(mut program: Command) -> bool {
    let output = program.arg("--version").stdin(Stdio::null()).output();
    output.is_ok_and(|o| o.status.success())
}

/// What a program said, in the order of standard error and output.
pub fn text(output: &Output) -> String {
    let all = [&output.stderr[..], &output.stdout[..]].concat();
    String::from_utf8_lossy(&all).trim().to_owned()
}

/// Runs a program that says nothing, and ends it after a time; how it ended when that was not
/// well.
///
/// # Errors
/// It cannot be started or watched.
pub fn run_within(limit: Duration, program: &mut Command) -> Result<Option<String>, String> {
    let mut child = program
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|e| format!("the program does not start: {e}"))?;
    let start = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(None),
            Ok(Some(status)) => return Ok(Some(status.to_string())),
            Ok(None) if start.elapsed() > limit => {
                let _ = child.kill();
                let _ = child.wait();
                return Ok(Some(format!("it did not end within {} s", limit.as_secs())));
            }
            Ok(None) => std::thread::sleep(Duration::from_millis(5)),
            Err(error) => return Err(format!("the program cannot be watched: {error}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::run_within;
    use std::process::Command;
    use std::time::Duration;

    #[test]
    fn a_program_ends_well_badly_or_by_force() {
        let run = |limit, script| {
            let mut command = Command::new("sh");
            run_within(limit, command.args(["-c", script])).expect("it starts")
        };
        let (long, short) = (Duration::from_secs(60), Duration::ZERO);
        assert_eq!(run(long, "exit 0"), None);
        assert_eq!(run(long, "exit 3").as_deref(), Some("exit status: 3"));
        assert_eq!(
            run(short, "exec sleep 60").as_deref(),
            Some("it did not end within 0 s")
        );
    }
}
