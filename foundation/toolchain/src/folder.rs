//! Temporary folders, which go away however the program ends.
//!
//! In: nothing, or a folder that somebody else made. Out: a folder; and when the program is
//! interrupted, no folder. Who installs the handler of the interruption calls [`remove_all`].

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Folders to remove.
static FOLDERS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A folder of a user's own.
///
/// # Errors
/// There is no room for it.
pub fn temporary() -> Result<tempfile::TempDir, String> {
    let folder = tempfile::tempdir().map_err(|error| format!("no temporary folder: {error}"))?;
    remove_at_end(folder.path());
    Ok(folder)
}

/// Removes the folder if the program is interrupted; the owner removes it otherwise.
pub fn remove_at_end(folder: &Path) {
    let mut folders = FOLDERS.lock().unwrap_or_else(PoisonError::into_inner);
    folders.retain(|folder| folder.exists());
    folders.push(folder.to_owned());
}

/// Removes what is there of all folders.
pub fn remove_all() {
    let folders = FOLDERS.lock().unwrap_or_else(PoisonError::into_inner);
    for folder in folders.iter() {
        let _ = std::fs::remove_dir_all(folder);
    }
}
