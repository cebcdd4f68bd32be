//! A folder of results that is there whole or not at all.
//!
//! In: the folder's path and the files, each with what writes it. Out: the folder. Files are
//! written beside their place, several at a time, and renamed when all of them are whole;
//! whatever goes wrong before that leaves nothing behind. What is in the files is none of
//! this module's business.

use codegen_gen::artefact::Artefact;
use rayon::prelude::*;
use semantics::diagnostic::Diagnostic;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::{env, fs};
use toolchain::folder::remove_at_end;

#[cfg(test)]
mod tests;

/// The file that lists the others; a folder with it was written by us.
pub(crate) const CONTENTS: &str = "contents.txt";

/// Its first line.
const VERSION: &str = "isaforge-build 1";

/// A folder that can be written.
pub(crate) struct Output {
    /// The folder, from the root.
    folder: PathBuf,
    /// What is there now.
    there: There,
}

/// What is at the path of a folder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum There {
    Nothing,
    EmptyFolder,
    EarlierBuild,
}

/// A file that was written.
pub(crate) struct Written {
    /// Its path below the folder.
    pub(crate) path: String,
    /// Its length.
    pub(crate) bytes: u64,
    /// What its writer says of it.
    pub(crate) about: String,
}

impl Output {
    /// Looks at the folder before anything is computed.
    ///
    /// # Errors
    /// What is there is no folder, or has files that `replace` does not allow to go.
    pub(crate) fn prepare(path: &Path, replace: bool) -> Result<Output, Diagnostic> {
        let cannot = |error: io::Error| cannot_write(path, &error);
        let folder = env::current_dir().map_err(cannot)?.join(path);
        let there = match fs::read_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => There::Nothing,
            Err(error) => return Err(cannot(error)),
            Ok(mut entries) => match entries.next() {
                None => There::EmptyFolder,
                Some(_) if replace && is_build(&folder) => There::EarlierBuild,
                Some(_) => return Err(not_empty(path, &folder, replace)),
            },
        };
        let output = Output { folder, there };
        let stage = output.stage().map_err(cannot)?;
        stage.close().map_err(cannot)?;
        Ok(output)
    }

    /// A folder for the files until all are there, on the same file system.
    fn stage(&self) -> io::Result<tempfile::TempDir> {
        let place = match (self.there, self.folder.parent()) {
            (There::EmptyFolder, _) | (_, None) => &self.folder,
            (_, Some(parent)) => parent,
        };
        fs::create_dir_all(place)?;
        let mut builder = tempfile::Builder::new();
        builder.prefix(".isaforge-build-");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o777));
        let stage = builder.tempdir_in(place)?;
        remove_at_end(stage.path());
        Ok(stage)
    }

    /// Writes the files, and puts all of them in place.
    ///
    /// # Errors
    /// A file that cannot be written; then the folder is as it was.
    pub(crate) fn write(&self, files: &[Artefact<'_>]) -> Result<Vec<Written>, Diagnostic> {
        let cannot = |error: io::Error| cannot_write(&self.folder, &error);
        let stage = self.stage().map_err(cannot)?;
        let one = |file: &Artefact<'_>| {
            let found = write_one(stage.path(), file);
            found.map_err(|error| cannot_write(&self.folder.join(&file.path), &error))
        };
        let done: Result<Vec<(Written, String)>, Diagnostic> = files.par_iter().map(one).collect();
        let mut done = done?;
        done.sort_by(|a, b| a.0.path.cmp(&b.0.path));
        let mut contents = format!("{VERSION}\n");
        for (file, digest) in &done {
            let _ = writeln!(contents, "{digest} {:>9} {}", file.bytes, file.path);
        }
        fs::write(stage.path().join(CONTENTS), contents).map_err(cannot)?;
        self.put_in_place(stage).map_err(cannot)?;
        Ok(done.into_iter().map(|(file, _)| file).collect())
    }

    /// Renames what was written to where it belongs.
    fn put_in_place(&self, stage: tempfile::TempDir) -> io::Result<()> {
        match self.there {
            There::Nothing => {
                fs::rename(stage.path(), &self.folder)?;
                let _ = stage.keep();
                Ok(())
            }
            There::EmptyFolder => move_entries(stage.path(), &self.folder),
            There::EarlierBuild => {
                let aside = self.stage()?;
                let earlier = aside.path().join("earlier");
                fs::rename(&self.folder, &earlier)?;
                if let Err(error) = fs::rename(stage.path(), &self.folder) {
                    fs::rename(&earlier, &self.folder)?;
                    return Err(error);
                }
                let _ = stage.keep();
                Ok(())
            }
        }
    }
}

/// Whether an earlier build left the folder.
fn is_build(folder: &Path) -> bool {
    fs::read_to_string(folder.join(CONTENTS)).is_ok_and(|text| text.starts_with("isaforge-build "))
}

/// Moves what is in one folder to another, all of it or nothing.
fn move_entries(from: &Path, to: &Path) -> io::Result<()> {
    let mut moved: Vec<(PathBuf, PathBuf)> = Vec::new();
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if let Err(error) = fs::rename(entry.path(), &target) {
            for (source, target) in moved {
                fs::rename(target, source)?;
            }
            return Err(error);
        }
        moved.push((entry.path(), target));
    }
    Ok(())
}

/// Writes one file; gives its digest too.
fn write_one(stage: &Path, file: &Artefact<'_>) -> io::Result<(Written, String)> {
    let path = stage.join(&file.path);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut counted = Counted {
        inner: BufWriter::new(fs::File::create(path)?),
        hash: Sha256::new(),
        bytes: 0,
    };
    let about = (file.write)(&mut counted)?;
    counted.flush()?;
    let written = Written {
        path: file.path.clone(),
        bytes: counted.bytes,
        about,
    };
    Ok((written, format!("{:x}", counted.hash.finalize())))
}

/// Counts and digests what goes through.
struct Counted {
    inner: BufWriter<fs::File>,
    hash: Sha256,
    bytes: u64,
}

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.inner.write_all(bytes)?;
        self.hash.update(bytes);
        self.bytes += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

fn cannot_write(path: &Path, error: &io::Error) -> Diagnostic {
    let found = Diagnostic::error(format!("cannot write `{}`: {error}", path.display()));
    let found = found.with_note("nothing was left behind");
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            found.hint("a build of all instruction sets needs about 100 MB")
        }
        io::ErrorKind::NotADirectory => found.hint("name a folder"),
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            found.hint("name a folder that you can write")
        }
        _ => found,
    }
}

fn not_empty(path: &Path, folder: &Path, replace: bool) -> Diagnostic {
    let found = Diagnostic::error(format!("`{}` is not empty", path.display()));
    match (is_build(folder), replace) {
        (true, _) => found.hint("`--replace` lets go of what an earlier build left there"),
        (false, true) => found
            .with_note(format!("it has no `{CONTENTS}` of an earlier build"))
            .hint("`--replace` lets go of nothing else; name another folder"),
        (false, false) => found.hint("name a folder that is new or empty"),
    }
}
