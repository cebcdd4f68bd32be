//! The specifications inside the program.
//!
//! In: the name of an instruction set, or a folder that replaces ours. Out: a folder with
//! its files. The embedded texts are written under the user's cache folder, where a message
//! about them can be followed; a copy that differs from the embedded text is replaced.

use semantics::diagnostic::{Diagnostic, suggest};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::{fs, io};
use store::backend::{Backend, Doubted, Folder};
use store::local::{self, cache_folder, make_folder, write_whole};
use store::object::Store;
use store::shared::Shared;

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
        let manifest = folder.join("manifest.yaml");
        return if manifest.is_file() {
            spec_parser::manifest::misnamed(&manifest).map_or(Ok(folder), Err)
        } else {
            let message = format!("there is no `{}`", folder.join("manifest.yaml").display());
            let missing = replacement.filter(|named| !named.exists());
            let near = crate::compile::neighbour(missing.unwrap_or(&folder));
            Err(Diagnostic::error(message).hint(match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => {
                    "`--isa-specs` names a folder with a folder for each instruction set".to_owned()
                }
            }))
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
    if local::doubt().is_none() && unpack(isa, &root).is_ok() {
        return Ok(root.join(isa));
    }
    // A cache that cannot be written, or that others can, is no reason to do nothing: they are for this run then.
    let root = own_folder().join("isa-specs");
    unpack(isa, &root).map_err(|error| {
        Diagnostic::error(format!(
            "cannot write the specifications to `{}`: {error}",
            root.display()
        ))
        .hint("set XDG_CACHE_HOME or TMPDIR to a folder that can be written")
    })?;
    Ok(root.join(isa))
}

/// The instruction set inside the program that has a model of that name, or of one nearly spelt so, and
/// the model.
pub(crate) fn with_model(name: &str) -> Option<(&'static str, String)> {
    let of = |(path, text): (&'static str, &str)| {
        let isa = path.strip_suffix("/targets.yaml")?;
        let targets: target::Targets = spec_parser::yaml::from_str(text).ok()?;
        let models = targets.models().map(|model| (model.to_owned(), isa));
        Some(models.collect::<Vec<_>>())
    };
    let models: BTreeMap<String, &str> = FILES.iter().copied().filter_map(of).flatten().collect();
    let meant = match models.contains_key(name) {
        true => name,
        false => suggest(name, models.keys().map(String::as_str))?,
    };
    Some((models[meant], meant.to_owned()))
}

/// The folder of this run, where it has one.
static OWN: OnceLock<Option<tempfile::TempDir>> = OnceLock::new();

/// A folder of this run, which [`clean`] removes; one that is not there when none can be made.
fn own_folder() -> &'static Path {
    let made = OWN.get_or_init(|| {
        let folder = tempfile::Builder::new()
            .prefix("isaforge-")
            .tempdir()
            .ok()?;
        toolchain::folder::remove_at_end(folder.path());
        Some(folder)
    });
    match made {
        Some(folder) => folder.path(),
        None => Path::new("/nonexistent"),
    }
}

/// Removes what this run has made for itself.
pub(crate) fn clean() {
    if let Some(Some(folder)) = OWN.get() {
        let _ = fs::remove_dir_all(folder.path());
    }
}

/// The store of this run.
static STORE: OnceLock<Store> = OnceLock::new();

/// The environment variable that names a shared store.
const SHARED: &str = "ISAFORGE_STORE";

/// What runs leave for later runs, below the user's cache folder.
pub(crate) fn store() -> &'static Store {
    STORE.get_or_init(|| own(None))
}

fn own(shared: Option<Shared>) -> Store {
    let folder = cache_folder().join("store");
    let backend: Box<dyn Backend> = match local::doubt() {
        None => Box::new(Folder::new(&folder)),
        Some(why) => Box::new(Doubted::new(&folder, why)),
    };
    Store::with(backend, shared)
}

/// Uses a store that others share beside that of this machine: the one that is named, else that of
/// the environment, where there is one.
///
/// # Errors
/// When no store is written so, or this program cannot speak to it.
pub(crate) fn share(named: Option<String>) -> Result<(), Diagnostic> {
    let of_environment = || std::env::var(SHARED).ok();
    let Some(name) = named
        .or_else(of_environment)
        .filter(|name| !name.is_empty())
    else {
        return Ok(());
    };
    let place = remote::open(&name)?;
    STORE.get_or_init(|| own(Some(Shared::new(place))));
    Ok(())
}

/// What was done with the shared store, where it was used.
pub(crate) fn shared_counts() -> Vec<Diagnostic> {
    let reported = store().shared().and_then(|shared| {
        let counts = shared.counts();
        let used = counts != store::shared::Counts::default();
        used.then(|| Diagnostic::note(format!("{}: {counts}", shared.shown())))
    });
    reported.into_iter().collect()
}

/// Writes the files of an instruction set that are not there or differ.
fn unpack(isa: &str, root: &Path) -> io::Result<()> {
    let own = |path: &str| path.split_once('/').is_some_and(|(first, _)| first == isa);
    for (path, text) in FILES.iter().filter(|(path, _)| own(path)) {
        let path = root.join(path);
        let length = fs::metadata(&path).map(|about| about.len());
        let alike = length.is_ok_and(|length| length == text.len() as u64);
        if alike && fs::read_to_string(&path).is_ok_and(|there| there == *text) {
            continue;
        }
        path.parent().map_or(Ok(()), make_folder)?;
        write_whole(&path, text.as_bytes())?;
    }
    Ok(())
}

/// The most bytes of a file that is read: a vendor's file has ten million.
const MOST_BYTES: u64 = 256 << 20;

/// The contents of a file, or of a device or pipe that ends; more than [`MOST_BYTES`] are an error.
///
/// # Errors
/// When it cannot be read, or has too much.
pub(crate) fn contents(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = fs::File::open(path)?;
    io::Read::read_to_end(&mut io::Read::take(file, MOST_BYTES + 1), &mut bytes)?;
    match bytes.len() as u64 > MOST_BYTES {
        true => Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("it has more than {} MiB", MOST_BYTES >> 20),
        )),
        false => Ok(bytes),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::contents;

    #[test]
    fn what_does_not_end_is_not_read_to_its_end() {
        let reported = contents("/dev/zero".as_ref()).expect_err("it has no end");
        assert!(reported.to_string().contains("256 MiB"), "{reported}");
    }
}
