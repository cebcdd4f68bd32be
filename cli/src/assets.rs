//! The specifications inside the program.
//!
//! In: the name of an instruction set, or a folder that replaces ours. Out: a folder with
//! its files. The embedded texts are written under the user's cache folder, where a message
//! about them can be followed; a copy that differs from the embedded text is replaced.

use semantics::diagnostic::{Diagnostic, suggest};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// (path below `isa-specs/`, text), sorted by path.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/isa_specs.rs"));

/// The folder of an instruction set: below `replacement` when there is one, else a copy of
/// the embedded one.
///
/// # Errors
/// When there is no such instruction set, or the copy cannot be written.
pub(crate) fn folder(isa: &str, replacement: Option<&Path>) -> Result<PathBuf, Diagnostic> {
    if let Some(folder) = replacement {
        let folder = folder.join(isa);
        return if folder.join("manifest.yaml").is_file() {
            Ok(folder)
        } else {
            let message = format!("there is no `{}`", folder.join("manifest.yaml").display());
            Err(Diagnostic::error(message)
                .hint("`--isa-specs` names a folder with a folder for each instruction set"))
        };
    }
    let names: BTreeSet<&str> = FILES
        .iter()
        .filter_map(|(path, _)| path.split_once('/'))
        .map(|(isa, _)| isa)
        .collect();
    if !names.contains(isa) {
        let complaint = Diagnostic::error(format!("unknown instruction set `{isa}`"));
        let known = names.iter().copied().collect::<Vec<_>>().join(", ");
        return Err(match suggest(isa, names.iter().copied()) {
            Some(near) => complaint.hint(format!("did you mean `{near}`?")),
            None => complaint.hint(format!("known ones are: {known}")),
        });
    }
    let root = cache_folder().join("isa-specs");
    unpack(isa, &root).map_err(|error| {
        Diagnostic::error(format!(
            "cannot write the specifications to `{}`: {error}",
            root.display()
        ))
        .hint("set XDG_CACHE_HOME to a folder that can be written")
    })?;
    Ok(root.join(isa))
}

/// Where this version keeps what it can make again: below `$XDG_CACHE_HOME`, `~/.cache` or
/// the folder for temporary files.
pub(crate) fn cache_folder() -> PathBuf {
    let named = env::var_os("XDG_CACHE_HOME")
        .filter(|path| !path.is_empty())
        .map(PathBuf::from);
    let home = || env::var_os("HOME").map(|home| Path::new(&home).join(".cache"));
    let base = named.or_else(home).unwrap_or_else(env::temp_dir);
    base.join("isaforge").join(env!("CARGO_PKG_VERSION"))
}

/// Writes the files of an instruction set that are not there or differ.
fn unpack(isa: &str, root: &Path) -> io::Result<()> {
    let own = |path: &str| path.split_once('/').is_some_and(|(first, _)| first == isa);
    for (path, text) in FILES.iter().filter(|(path, _)| own(path)) {
        let path = root.join(path);
        if fs::read_to_string(&path).is_ok_and(|there| there == *text) {
            continue;
        }
        write_whole(&path, text.as_bytes())?;
    }
    Ok(())
}

/// Writes a file so that nobody ever sees half of it. What is no file, such as a pipe or
/// `/dev/null`, is written to as it is: it must not be replaced by a file.
///
/// # Errors
/// When its folder cannot be made or written.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if path.metadata().is_ok_and(|m| !m.is_file()) {
        return fs::OpenOptions::new()
            .write(true)
            .open(path)
            .and_then(|mut file| io::Write::write_all(&mut file, bytes));
    }
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(folder)?;
    io::Write::write_all(&mut file, bytes)?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use super::write_whole;
    use std::os::unix::fs::FileTypeExt;

    #[test]
    fn a_pipe_is_written_to_and_stays_a_pipe() {
        let folder = tempfile::tempdir().expect("there is room");
        let path = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.expect("mkfifo starts").success());
        let reader = {
            let path = path.clone();
            std::thread::spawn(move || std::fs::read(path))
        };
        write_whole(&path, b"text").expect("it is written");
        let read = reader.join().expect("it ends").expect("it is read");
        assert_eq!(read, b"text");
        let kind = path.metadata().expect("it is there").file_type();
        assert!(kind.is_fifo(), "{kind:?}");
    }
}
