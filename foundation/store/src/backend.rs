//! Where objects lie.
//!
//! In: names of objects, with slashes between folders. Out: their bytes. [`Folder`] is a
//! folder of this machine, or of a disk that several machines see; nobody holds a lock, and
//! whoever lists an object may find that it is gone. [`Memory`] ends with the program. [`Doubted`] is one that others could have
//! written, and has nothing. Of a store that others share no more is asked
//! than reading and writing whole objects: it is a [`Place`], and a folder can be one.

use crate::local::{make_folder, write_whole};
use crate::shared::Place;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

/// Reads and writes objects.
pub trait Backend: Send + Sync {
    /// The bytes of an object; none when there is no such object.
    ///
    /// # Errors
    /// It is there and cannot be read.
    fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>>;

    /// Writes an object, so that nobody ever reads half of it.
    ///
    /// # Errors
    /// It cannot be written; then what was there before is there.
    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()>;

    /// The names of the objects of a folder, the oldest first. No folder has no objects.
    ///
    /// # Errors
    /// It cannot be read.
    fn list(&self, folder: &str) -> io::Result<Vec<String>>;

    /// Gives an object another name; what had that name is gone.
    ///
    /// # Errors
    /// It is not there, or keeps its name.
    fn rename(&self, name: &str, to: &str) -> io::Result<()>;

    /// Removes an object; one that is not there is as good as removed.
    ///
    /// # Errors
    /// It is there and stays.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// The name of an object as a person finds it.
    fn shown(&self, name: &str) -> String;
}

/// Objects that are there for as long as a program runs.
#[derive(Debug, Default)]
pub struct Memory(Mutex<Objects>);

/// Objects by name, each with the number of the writing that it is from.
#[derive(Debug, Default)]
struct Objects {
    all: BTreeMap<String, (u64, Vec<u8>)>,
    writings: u64,
}

impl Memory {
    fn objects(&self) -> MutexGuard<'_, Objects> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Backend for Memory {
    fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        Ok(self.objects().all.get(name).map(|(_, bytes)| bytes.clone()))
    }

    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let mut objects = self.objects();
        objects.writings += 1;
        let object = (objects.writings, bytes.to_vec());
        objects.all.insert(name.to_owned(), object);
        Ok(())
    }

    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        let objects = self.objects();
        let below = |name: &str| Some(name.strip_prefix(folder)?.strip_prefix('/')?.to_owned());
        let all = objects.all.iter();
        let within = all.filter_map(|(name, (at, _))| Some((*at, below(name)?)));
        let mut within: Vec<(u64, String)> =
            within.filter(|(_, name)| !name.contains('/')).collect();
        within.sort();
        Ok(within.into_iter().map(|(_, name)| name).collect())
    }

    fn rename(&self, name: &str, to: &str) -> io::Result<()> {
        let mut objects = self.objects();
        let object = objects.all.remove(name).ok_or(io::ErrorKind::NotFound)?;
        objects.all.insert(to.to_owned(), object);
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.objects().all.remove(name);
        Ok(())
    }

    fn shown(&self, name: &str) -> String {
        name.to_owned()
    }
}

/// A folder of this machine.
#[derive(Debug)]
pub struct Folder(PathBuf);

/// The most bytes of an object of this machine that are read.
const MOST_BYTES: u64 = 256 << 20;
/// When a file that was never renamed to its place is taken for left behind.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);

impl Folder {
    /// A folder, which need not be there.
    pub fn new(path: &Path) -> Folder {
        Folder(path.to_owned())
    }

    /// The bytes of a file, at most so many.
    fn bytes(&self, name: &str, most: u64) -> io::Result<Option<Vec<u8>>> {
        let path = self.0.join(name);
        let Some(about) = found(fs::metadata(&path))? else {
            return Ok(None);
        };
        if !about.is_file() {
            // Whoever opens a pipe waits for its other end.
            return Err(io::Error::other(format!("`{name}` is no file")));
        }
        if about.len() > most {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let Some(file) = found(fs::File::open(&path))? else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        file.take(most + 1).read_to_end(&mut bytes)?;
        // It may grow meanwhile.
        match bytes.len() as u64 > most {
            true => Err(io::ErrorKind::FileTooLarge.into()),
            false => Ok(Some(bytes)),
        }
    }
}

/// What is not there is no error.
fn found<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

impl Backend for Folder {
    fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        self.bytes(name, MOST_BYTES)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.0.join(name);
        path.parent().map_or(Ok(()), make_folder)?;
        write_whole(&path, bytes)
    }

    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        let Some(entries) = found(fs::read_dir(self.0.join(folder)))? else {
            return Ok(Vec::new());
        };
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry?;
            // Gone in the meantime.
            let Ok(written) = entry.metadata().and_then(|file| file.modified()) else {
                continue;
            };
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with('.') {
                // A process was ended while it wrote this.
                let age = SystemTime::now().duration_since(written);
                if age.is_ok_and(|age| age > ABANDONED) {
                    let _ = fs::remove_file(entry.path());
                }
                continue;
            }
            names.push((written, format!("{folder}/{name}")));
        }
        names.sort();
        Ok(names.into_iter().map(|(_, name)| name).collect())
    }

    fn rename(&self, name: &str, to: &str) -> io::Result<()> {
        fs::rename(self.0.join(name), self.0.join(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        found(fs::remove_file(self.0.join(name))).map(|_| ())
    }

    fn shown(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }
}

/// A folder that is not to be believed: nothing is read there and nothing written.
#[derive(Debug)]
pub struct Doubted {
    folder: PathBuf,
    why: String,
}

impl Doubted {
    /// A folder, and what is wrong with it.
    pub fn new(folder: &Path, why: String) -> Doubted {
        Doubted {
            folder: folder.to_owned(),
            why,
        }
    }

    fn refused(&self) -> io::Error {
        io::Error::new(io::ErrorKind::PermissionDenied, self.why.clone())
    }
}

impl Backend for Doubted {
    fn read(&self, _: &str) -> io::Result<Option<Vec<u8>>> {
        Ok(None)
    }

    fn write(&self, _: &str, _: &[u8]) -> io::Result<()> {
        Err(self.refused())
    }

    fn list(&self, _: &str) -> io::Result<Vec<String>> {
        Ok(Vec::new())
    }

    fn rename(&self, _: &str, _: &str) -> io::Result<()> {
        Err(self.refused())
    }

    fn remove(&self, _: &str) -> io::Result<()> {
        Err(self.refused())
    }

    fn shown(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }
}

impl Place for Folder {
    fn read(&self, name: &str, most: u64) -> io::Result<Option<Vec<u8>>> {
        self.bytes(name, most)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        write_whole(&self.0.join(name), bytes)
    }

    fn shown(&self) -> String {
        format!("the shared store `{}`", self.0.display())
    }
}
