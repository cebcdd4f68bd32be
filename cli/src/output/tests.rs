//! Nothing half-written is left.

use super::{CONTENTS, Output};
use codegen_gen::artefact::Artefact;
use std::fs;
use std::io;
use std::path::Path;

fn good(path: &str) -> Artefact<'static> {
    let text = format!("the text of {path}\n");
    Artefact::new(path, move |out| {
        out.write_all(text.as_bytes())?;
        Ok(String::new())
    })
}

/// A file at which the disk is full.
fn full() -> Artefact<'static> {
    Artefact::new("b/full", |out| {
        out.write_all(b"half of")?;
        Err(io::Error::from(io::ErrorKind::StorageFull))
    })
}

fn entries(folder: &Path) -> Vec<String> {
    let list = fs::read_dir(folder).expect("it is a folder");
    let mut names: Vec<String> = list
        .map(|e| {
            let name = e.expect("it is listed").file_name();
            name.to_string_lossy().into_owned()
        })
        .collect();
    names.sort();
    names
}

#[test]
fn a_new_folder_an_empty_one_and_an_earlier_build() {
    let place = tempfile::tempdir().expect("there is room");
    let folder = place.path().join("out");
    for (replace, files) in [(false, ["a", "b/c"]), (true, ["a", "b"])] {
        let output = Output::prepare(&folder, replace).expect("it can be written");
        output.write(&files.map(good)).expect("there is room");
        let first = files[1].split('/').next().expect("a name");
        assert_eq!(entries(&folder), ["a", first, CONTENTS]);
    }
    assert_eq!(entries(place.path()), ["out"]);
    let again = Output::prepare(&folder, false).err().expect("not empty");
    assert!(again.message.contains("is not empty"));
    fs::remove_file(folder.join(CONTENTS)).expect("it is there");
    assert!(Output::prepare(&folder, true).is_err());
    fs::remove_dir_all(&folder).expect("it is there");
    fs::create_dir(&folder).expect("there is room");
    let output = Output::prepare(&folder, false).expect("it is empty");
    output.write(&[good("x/y")]).expect("there is room");
    assert_eq!(entries(&folder), [CONTENTS, "x"]);
}

#[test]
fn a_full_disk_leaves_things_as_they_were() {
    let place = tempfile::tempdir().expect("there is room");
    let folder = place.path().join("out");
    let files = [good("a"), full(), good("c")];
    let output = Output::prepare(&folder, false).expect("it can be written");
    let error = output.write(&files).err().expect("the disk is full");
    assert!(error.message.contains("b/full"), "{}", error.message);
    assert!(entries(place.path()).is_empty());
    fs::create_dir(&folder).expect("there is room");
    let output = Output::prepare(&folder, false).expect("it is empty");
    assert!(output.write(&files).is_err());
    assert!(entries(&folder).is_empty());
    let earlier = Output::prepare(&folder, false).expect("it is empty");
    earlier.write(&[good("a")]).expect("there is room");
    let output = Output::prepare(&folder, true).expect("it is ours");
    assert!(output.write(&files).is_err());
    assert_eq!(entries(&folder), ["a", CONTENTS]);
    assert_eq!(entries(place.path()), ["out"]);
}

#[test]
fn a_file_is_no_folder() {
    let place = tempfile::tempdir().expect("there is room");
    let file = place.path().join("out");
    fs::write(&file, "mine").expect("there is room");
    let error = Output::prepare(&file, true).err().expect("it is a file");
    assert!(error.message.contains("cannot write"), "{}", error.message);
    assert!(Output::prepare(&file.join("deeper"), false).is_err());
    assert_eq!(entries(place.path()), ["out"]);
}
