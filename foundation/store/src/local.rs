//! The cache folder of this machine's user, and files that are there whole or not at all.
//!
//! In: the environment, bytes. Out: the folder below which this program keeps what it can make
//! again; files. It does not know what is kept.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Where this program keeps what it can make again: below `$XDG_CACHE_HOME`, `~/.cache` or
/// the folder for temporary files.
pub fn cache_folder() -> PathBuf {
    let named = env::var_os("XDG_CACHE_HOME")
        .filter(|path| !path.is_empty())
        .map(PathBuf::from);
    let home = || env::var_os("HOME").map(|home| Path::new(&home).join(".cache"));
    let base = named.or_else(home).unwrap_or_else(env::temp_dir);
    base.join("isaforge").join(env!("CARGO_PKG_VERSION"))
}

/// Why what lies in [`cache_folder`] is not to be believed, where that is so: whoever else could have
/// written there has written what this user's code is made from. Objects have digests, which anybody
/// can compute; a folder for temporary files is open to all.
pub fn doubt() -> Option<String> {
    let own = cache_folder();
    let below = ["store", "isa-specs"].map(|name| own.join(name));
    let above = own.parent().map(Path::to_owned);
    let mut all = above.into_iter().chain([own]).chain(below);
    all.find_map(|folder| doubt_of(&folder))
}

#[cfg(unix)]
fn doubt_of(folder: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let about = fs::metadata(folder).ok()?;
    let shown = folder.display();
    let why = open_to_others(about.uid(), about.mode(), this_user())?;
    Some(format!("`{shown}` {why}"))
}

#[cfg(not(unix))]
fn doubt_of(_: &Path) -> Option<String> {
    None
}

/// What is wrong with a folder of some owner and mode, for a user.
#[cfg(unix)]
fn open_to_others(owner: u32, mode: u32, user: Option<u32>) -> Option<String> {
    const ROOT: u32 = 0;
    const WRITTEN_BY_ALL: u32 = 0o002;
    if owner != ROOT && user != Some(owner) {
        return Some(format!("belongs to another user (number {owner})"));
    }
    (mode & WRITTEN_BY_ALL != 0).then(|| "can be written by every user".to_owned())
}

/// The number of the user that this process acts for: what it makes is that user's.
#[cfg(unix)]
fn this_user() -> Option<u32> {
    use std::os::unix::fs::MetadataExt;
    let own = fs::metadata("/proc/self");
    let made = || tempfile::tempfile().and_then(|file| file.metadata());
    own.or_else(|_| made()).ok().map(|about| about.uid())
}

/// Makes a folder below which nobody but its owner and group writes, whatever the process would
/// leave open.
///
/// # Errors
/// When it is not there and cannot be made.
pub fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o775);
    builder.recursive(true).create(folder)
}

/// What tells this very program from others: its version, its size, when it was made; nothing
/// when that is not known.
pub fn program() -> Option<String> {
    let file = fs::metadata(env::current_exe().ok()?).ok()?;
    let (version, modified) = (env!("CARGO_PKG_VERSION"), file.modified().ok()?);
    Some(format!("{version} {} {modified:?}\n", file.len()))
}

/// Writes a file so that nobody ever sees half of it. What is no file, such as a pipe or
/// `/dev/null`, is written to as it is: it must not be replaced by a file. A link stays a link:
/// what it leads to is written.
///
/// # Errors
/// When its folder cannot be made or written.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if path == Path::new("-") {
        let message = "standard output is not written here; `./-` is a file of that name";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    let behind = path.is_symlink().then(|| behind_links(path)).transpose()?;
    let path = behind.as_deref().unwrap_or(path);
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

/// What a link leads to, whether it is there or not.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..40 {
        if !path.is_symlink() {
            return Ok(path);
        }
        let target = fs::read_link(&path)?;
        path = path.parent().unwrap_or(Path::new("")).join(target);
    }
    Err(io::Error::other("too many links lead to each other"))
}

#[cfg(all(test, unix))]
mod tests {
    use super::{open_to_others, this_user, write_whole};
    use std::os::unix::fs::{FileTypeExt, MetadataExt};

    #[test]
    fn folders_of_others_and_those_that_all_can_write_are_doubted() {
        for (owner, mode, user, doubted) in [
            (1000, 0o40755, Some(1000), false),
            // A group of one user each is what many systems have.
            (1000, 0o40775, Some(1000), false),
            (0, 0o40755, Some(1000), false),
            (1001, 0o40755, Some(1000), true),
            // What a user has left is not believed by the system's owner either.
            (1000, 0o40755, Some(0), true),
            (1000, 0o40757, Some(1000), true),
            (0, 0o41777, Some(0), true),
            (1000, 0o40755, None, true),
        ] {
            let found = open_to_others(owner, mode, user);
            assert_eq!(found.is_some(), doubted, "{owner} {mode:o} {user:?}");
        }
        let folder = tempfile::tempdir().expect("there is room");
        let owner = folder.path().metadata().expect("it is there").uid();
        assert_eq!(this_user(), Some(owner));
    }

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

    #[test]
    fn what_is_behind_a_link_is_written_and_the_link_stays() {
        let folder = tempfile::tempdir().expect("there is room");
        let [file, link, none] = ["file", "link", "none"].map(|n| folder.path().join(n));
        std::fs::write(&file, "old").expect("there is room");
        std::os::unix::fs::symlink("file", &link).expect("links are there");
        write_whole(&link, b"new").expect("it is written");
        assert!(link.is_symlink());
        assert_eq!(std::fs::read(&file).expect("it is there"), b"new");
        std::os::unix::fs::symlink("later", &none).expect("links are there");
        write_whole(&none, b"text").expect("it is written");
        assert!(none.is_symlink() && folder.path().join("later").is_file());
        let circle = folder.path().join("circle");
        std::os::unix::fs::symlink("circle", &circle).expect("links are there");
        assert!(write_whole(&circle, b"text").is_err());
    }
}
