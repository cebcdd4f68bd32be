//! Ctrl-C: the terminal is put right, temporary folders go, the exit code says so.
//!
//! In: folders that are to be removed. Out: nothing. Files of results are written whole or
//! not at all, so there is nothing else to undo; solvers and programs that were started get
//! the signal from the terminal too.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// The exit code of a program that Ctrl-C ended, as shells count it.
const INTERRUPTED: i32 = 130;

/// Folders to remove.
static FOLDERS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes the folder if the program is interrupted; the owner removes it otherwise.
pub(crate) fn remove_at_end(folder: &Path) {
    let mut folders = FOLDERS
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    folders.retain(|folder| folder.exists());
    folders.push(folder.to_owned());
}

/// Makes Ctrl-C end the program cleanly. Where the system does not allow that, Ctrl-C keeps
/// its usual effect.
pub(crate) fn install() {
    let handler = || {
        let folders = FOLDERS
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        for folder in folders.iter() {
            let _ = std::fs::remove_dir_all(folder);
        }
        let _ = console::Term::stderr().show_cursor();
        eprintln!("\ninterrupted; no result was written");
        std::process::exit(INTERRUPTED);
    };
    let _ = ctrlc::set_handler(handler);
}
