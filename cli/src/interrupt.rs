//! Ctrl-C: the terminal is put right, temporary folders go, the exit code says so.
//!
//! In: nothing. Out: nothing. Files of results are written whole or not at all, so there is
//! nothing else to undo; solvers and programs that were started get the signal from the
//! terminal too.

use toolchain::folder;

/// The exit code of a program that Ctrl-C ended, as shells count it.
const INTERRUPTED: i32 = 130;

/// Makes Ctrl-C end the program cleanly. Where the system does not allow that, Ctrl-C keeps
/// its usual effect.
pub(crate) fn install() {
    let handler = || {
        folder::remove_all();
        let terminal = console::Term::stderr();
        // A pipe has no cursor, and its reader no use for the escape sequence.
        if terminal.is_term() {
            let _ = terminal.show_cursor();
        }
        eprintln!("\ninterrupted; no result was written");
        std::process::exit(INTERRUPTED);
    };
    let _ = ctrlc::set_handler(handler);
}
