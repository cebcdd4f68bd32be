//! What was found before, kept on disk.
//!
//! In: keys and texts. Out: the texts, in this process or a later one. The store is one
//! file of an embedded database whose transactions survive the end of a process at any
//! point. It is opened for as long as a reading or a writing takes, so that processes share
//! it; who finds it busy for too long goes on without. A file that is damaged, or is not such
//! a file, is set aside and begun anew, and [`Memo::problems`] says so.
//!
//! It does not know what the texts mean: [`crate::record`] does.

use redb::{Database, DatabaseError, ReadableDatabase, TableDefinition, TableError};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The table: keys and texts.
const TABLE: TableDefinition<&str, &str> = TableDefinition::new("windows 1");
/// How long a busy file is waited for.
const PATIENCE: Duration = Duration::from_millis(400);
/// The most memory that the database keeps of the file.
const CACHE: usize = 8 << 20;

/// A memo file.
pub struct Memo {
    path: PathBuf,
    problems: Mutex<Vec<String>>,
}

/// Why an operation on the file failed.
enum Failure {
    /// Another process has it.
    Busy,
    /// It cannot be used; why.
    Broken(String),
}

impl From<DatabaseError> for Failure {
    fn from(error: DatabaseError) -> Failure {
        match error {
            DatabaseError::DatabaseAlreadyOpen => Failure::Busy,
            other => Failure::Broken(other.to_string()),
        }
    }
}

impl Memo {
    /// A memo in a file, which need not be there.
    pub fn new(path: PathBuf) -> Memo {
        Memo {
            path,
            problems: Mutex::default(),
        }
    }

    /// What is kept under each key.
    pub fn find(&self, keys: &[String]) -> Vec<Option<String>> {
        if !self.path.exists() {
            return vec![None; keys.len()];
        }
        let found = self.patiently(|| {
            let database = self.open()?;
            let broken = |e: redb::Error| Failure::Broken(e.to_string());
            let reading = database.begin_read().map_err(|e| broken(e.into()))?;
            let table = match reading.open_table(TABLE) {
                Ok(table) => table,
                Err(TableError::TableDoesNotExist(_)) => return Ok(vec![None; keys.len()]),
                Err(error) => return Err(broken(error.into())),
            };
            keys.iter()
                .map(|key| {
                    let kept = table.get(key.as_str()).map_err(|e| broken(e.into()))?;
                    Ok(kept.map(|text| text.value().to_owned()))
                })
                .collect()
        });
        found.unwrap_or_else(|| vec![None; keys.len()])
    }

    /// Keeps texts, all of them or none.
    pub fn keep(&self, entries: &[(String, String)]) {
        if entries.is_empty() {
            return;
        }
        self.patiently(|| {
            let database = self.open()?;
            let broken = |e: redb::Error| Failure::Broken(e.to_string());
            let writing = database.begin_write().map_err(|e| broken(e.into()))?;
            {
                let mut table = writing.open_table(TABLE).map_err(|e| broken(e.into()))?;
                for (key, text) in entries {
                    table
                        .insert(key.as_str(), text.as_str())
                        .map_err(|e| broken(e.into()))?;
                }
            }
            writing.commit().map_err(|e| broken(e.into()))
        });
    }

    /// What went wrong so far, each told once.
    pub fn problems(&self) -> Vec<String> {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<String>> {
        self.problems
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn open(&self) -> Result<Database, Failure> {
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder).map_err(|e| Failure::Broken(e.to_string()))?;
        }
        let mut builder = Database::builder();
        builder.set_cache_size(CACHE);
        Ok(builder.create(&self.path)?)
    }

    /// Does something as soon as the file is free; sets a file aside that cannot be used, and
    /// does it once more. The database's own checks may end in a panic on a file that was
    /// damaged on purpose: that is a damaged file too.
    fn patiently<T>(&self, work: impl Fn() -> Result<T, Failure>) -> Option<T> {
        let start = Instant::now();
        let mut again = true;
        loop {
            let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(&work))
                .unwrap_or_else(|_| Err(Failure::Broken("its contents are damaged".to_owned())));
            match done {
                Ok(value) => return Some(value),
                Err(Failure::Busy) if start.elapsed() < PATIENCE => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                Err(Failure::Busy) => return None,
                Err(Failure::Broken(why)) => {
                    if !again || !self.set_aside(&why) {
                        return None;
                    }
                    again = false;
                }
            }
        }
    }

    /// Renames the file; whether that could be done.
    fn set_aside(&self, why: &str) -> bool {
        let aside = aside(&self.path);
        let done = fs::rename(&self.path, &aside);
        let what = match &done {
            Ok(()) => format!("it was set aside as {}", aside.display()),
            Err(error) => format!("it cannot be set aside: {error}"),
        };
        let path = self.path.display();
        self.lock()
            .push(format!("cannot use the memo {path}: {why}; {what}"));
        done.is_ok()
    }
}

/// The name under which a file is set aside.
fn aside(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".broken-{}", std::process::id()));
    path.with_file_name(name)
}
