//! Kept texts come back as they were left, by the same program and undamaged, or not at all.

use super::Kept;
use std::fs;

#[test]
fn what_was_left_comes_back_to_the_same_program_only() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("below/texts");
    let read = |program: &str, told: &mut Vec<_>| {
        Kept::at(&path, Some(program)).read(|text| Some(text.to_owned()), told)
    };
    let mut told = Vec::new();
    assert_eq!(read("one", &mut told), None);
    Kept::at(&path, Some("one")).write("a\nb\n", &mut told);
    assert_eq!(read("one", &mut told).as_deref(), Some("a\nb\n"));
    assert_eq!(read("two", &mut told), None);
    assert!(told.is_empty(), "{told:?}");
    assert!(path.exists(), "what another program left is no damage");
}

#[test]
fn damage_is_told_of_and_set_aside() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("texts");
    let kept = Kept::at(&path, Some("one"));
    let mut told = Vec::new();
    kept.write("some text\n", &mut told);
    let right = fs::read(&path).expect("it was written");
    let mut flipped = right.clone();
    *flipped.last_mut().expect("it is not empty") ^= 1;
    let cut = right[..right.len() - 3].to_vec();
    for wrong in [flipped, cut, b"\xff".to_vec(), Vec::new()] {
        fs::write(&path, &wrong).expect("it can be written");
        let before = told.len();
        assert_eq!(kept.read(|_| Some(()), &mut told), None);
        assert_eq!(told.len(), before + 1, "{wrong:?}");
        assert!(!path.exists());
        assert_eq!(kept.read(|_| Some(()), &mut told), None);
        assert_eq!(told.len(), before + 1);
    }
    kept.write("not understood\n", &mut told);
    assert_eq!(kept.read(|_| None::<()>, &mut told), None);
    assert!(!path.exists());
}
