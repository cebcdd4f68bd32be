//! A store that several people share, and the offline phase in parts.
//!
//! A machine is a cache folder of its own. What needs servers is in `servers`, a module that only
//! builds with their clients have.

#[path = "store/mutants.rs"]
mod mutants;
#[cfg(feature = "servers")]
#[path = "store/servers.rs"]
mod servers;

use super::{folder, root};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// Kernels with several windows of vectors, that take a second.
const KERNELS: [&str; 3] = ["dilate3x3", "matmul_bias", "average_pool_add"];

/// A folder of the tests.
fn room() -> TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("there is room")
}

/// The binary on a machine.
fn on(machine: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_isaforge"))
        .args(arguments)
        .current_dir(root())
        .env("XDG_CACHE_HOME", machine)
        .env_remove("ISAFORGE_STORE")
        .output()
        .expect("the binary starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Compiles a kernel for a processor that is not asked for here; the C, and what was complained.
fn compiled(machine: &Path, kernel: &str, store: &str) -> (String, String) {
    let file = format!("kernels/{kernel}.kernel");
    let target = ["--target", "x86-64-v3", "-o", "-"];
    let mut arguments = vec!["compile", &file];
    arguments.extend(target);
    if !store.is_empty() {
        arguments.extend(["--store", store]);
    }
    let output = on(machine, &arguments);
    let log = text(&output.stderr);
    assert!(
        output.status.code().is_some_and(|c| c == 0),
        "{kernel}: {log}"
    );
    (text(&output.stdout), log)
}

/// What a run says of its shared store: asked for, taken, refused, left there.
fn counts(log: &str) -> [usize; 4] {
    let line = log
        .lines()
        .find(|l| l.starts_with("note: the shared store"));
    let line = line.unwrap_or_else(|| panic!("nothing is told of the store: {log}"));
    let line = line.rsplit("`: ").next().unwrap_or_default();
    let numbers = line.split(|c: char| !c.is_ascii_digit());
    let numbers: Vec<usize> = numbers.filter_map(|n| n.parse().ok()).collect();
    numbers
        .try_into()
        .unwrap_or_else(|n| panic!("{n:?}: {line}"))
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.path() {
            path if path.is_dir() => all.extend(files(&path)),
            path => all.push(path),
        }
    }
    all.sort();
    all
}

/// Whether a machine did the offline phase.
fn worked_offline(machine: &Path) -> bool {
    files(machine)
        .iter()
        .any(|path| path.to_string_lossy().contains("/lowered/"))
}

/// Two machines and what is between them; the second finds all that the first has found.
fn second_machine(store: &str, more: impl Fn(&Path, &[(String, String)])) {
    let (first, second) = (room(), room());
    let made: Vec<_> = KERNELS.map(|k| compiled(first.path(), k, store)).into();
    let left: usize = made.iter().map(|(_, log)| counts(log)[3]).sum();
    assert!(left > KERNELS.len(), "programs and the table: {left}");
    for (kernel, (code, _)) in KERNELS.iter().zip(&made) {
        let (again, log) = compiled(second.path(), kernel, store);
        assert_eq!(*code, again, "{kernel}");
        let [asked, taken, refused, left] = counts(&log);
        assert!(
            asked > 0 && taken == asked && refused == 0 && left == 0,
            "{log}"
        );
    }
    assert!(worked_offline(first.path()) && !worked_offline(second.path()));
    more(first.path(), &made);
}

#[test]
fn a_second_machine_proves_what_the_first_found_and_searches_nothing() {
    let shared = room();
    let store = shared.path().display().to_string();
    second_machine(&store, |first, made| {
        mutants::none_is_taken(first, shared.path());
        all_changed(first, &store, made);
        open_to_all(first, &store, made);
        // Whoever can write there can write a right digest too.
        let all = files(shared.path());
        let programs = all
            .iter()
            .filter(|p| p.to_string_lossy().contains("programs-"));
        let mut programs: Vec<_> = programs.collect();
        // Short ones beside long ones: programs that are alike may both be right for a window.
        programs.sort_by_key(|path| (body(path).len(), body(path)));
        let half = programs.len() / 2;
        let bodies: Vec<_> = programs.iter().map(|path| body(path)).collect();
        let others = all
            .iter()
            .filter(|p| !p.to_string_lossy().contains("programs-"));
        for (k, path) in programs
            .iter()
            .chain(&others.collect::<Vec<_>>())
            .enumerate()
        {
            // Windows that differ in what runs beside them may have one program.
            let mut next = bodies.iter().cycle().skip(k + half);
            let other = next.find(|other| **other != body(path));
            forge(path, other.expect("programs differ"));
        }
        let third = room();
        for (kernel, (code, _)) in KERNELS.iter().zip(made) {
            let (again, log) = compiled(third.path(), kernel, &store);
            assert_eq!(*code, again, "{kernel}");
            let [asked, taken, refused, _] = counts(&log);
            assert!(asked > 0 && taken == 0 && refused == asked, "{log}");
            assert_eq!(log.matches("is wrong: ").count(), refused, "{log}");
        }
        // What was wrong has been replaced.
        let fourth = room();
        let (_, log) = compiled(fourth.path(), KERNELS[0], &store);
        let [asked, taken, ..] = counts(&log);
        assert_eq!(asked, taken, "{log}");
    });
}

/// Compiles where every object of a machine and of a shared store is changed.
fn all_changed(first: &Path, shared: &str, made: &[(String, String)]) {
    for seed in 0..2 {
        let (own, others) = (room(), room());
        copy(first, own.path(), "");
        copy(Path::new(shared), others.path(), "");
        assert!(mutants::change_all(others.path(), seed) > KERNELS.len());
        // The offline phase takes long: once it is done anew too.
        match seed {
            0 => assert!(mutants::change_all(own.path(), seed) > KERNELS.len()),
            _ => {
                let gone = files(own.path()).into_iter();
                for path in gone.filter(|p| p.to_string_lossy().contains("/windows/")) {
                    fs::remove_file(path).expect("it is there");
                }
            }
        }
        for (kernel, (code, _)) in KERNELS.iter().zip(made) {
            let store = others.path().display().to_string();
            let (again, log) = compiled(own.path(), kernel, &store);
            assert_eq!(*code, again, "{kernel}");
            let [asked, taken, refused, _] = counts(&log);
            assert!(asked > 0 && taken == 0 && refused == asked, "{log}");
            assert_eq!(log.matches("is wrong: ").count(), refused, "{log}");
            assert_eq!(log.contains("` is damaged\n"), seed == 0, "{log}");
        }
    }
}

/// Copies the files below a folder whose paths have some text in them.
fn copy(from: &Path, to: &Path, having: &str) {
    for path in files(from) {
        if path.to_string_lossy().contains(having) {
            let copy = to.join(path.strip_prefix(from).expect("it is below"));
            fs::create_dir_all(copy.parent().expect("a folder")).expect("there is room");
            fs::copy(&path, copy).expect("there is room");
        }
    }
}

/// A cache that every user can write is not believed: what lies there is a lie with a right digest.
fn open_to_all(first: &Path, shared: &str, made: &[(String, String)]) {
    use std::os::unix::fs::PermissionsExt;
    let machine = room();
    copy(first, machine.path(), "");
    let all = files(machine.path()).into_iter();
    for path in all.filter(|p| p.to_string_lossy().contains("/windows/")) {
        forge(&path, "nothing\n");
    }
    let folder = machine.path().join("isaforge");
    let mode = |mode| fs::set_permissions(&folder, PermissionsExt::from_mode(mode));
    mode(0o777).expect("it is ours");
    let before = files(&folder);
    let (again, log) = compiled(machine.path(), KERNELS[0], shared);
    assert_eq!(made[0].0, again);
    let why = "can be written by every user";
    assert_eq!(log.matches(why).count(), 1, "{log}");
    assert_eq!(before, files(&folder));
}

/// What an entry holds below its first line.
fn body(path: &Path) -> String {
    let text = fs::read_to_string(path).expect("it was left");
    text.split_once('\n').expect("a first line").1.to_owned()
}

/// Puts another text under the name of an object, with a digest that is right.
fn forge(path: &Path, body: &str) {
    use sha2::{Digest, Sha256};
    let own = fs::read_to_string(path).expect("it was left");
    let head = own.split_once('\n').expect("a first line").0;
    let head = head.rsplit_once(' ').expect("a digest").0;
    let digest = format!("{:x}", Sha256::digest(body.as_bytes()));
    fs::write(path, format!("{head} {digest}\n{body}")).expect("there is room");
}

#[test]
fn what_is_no_store_is_told_before_anything_is_done() {
    let machine = room();
    let kernel = "kernels/dilate3x3.kernel";
    let cases = [
        ("ftp://host", "there is no kind of store `ftp://`"),
        ("redis:/host", "begins with `redis://`"),
        (
            "kernels/dilate3x3.kernel",
            "is no folder that a store can be in",
        ),
    ];
    for (store, message) in cases {
        let output = on(machine.path(), &["compile", kernel, "--store", store]);
        let log = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{log}");
        assert!(log.contains(message) && log.contains("= hint: "), "{log}");
    }
    assert_eq!(files(machine.path()), Vec::<PathBuf>::new());
    if cfg!(not(feature = "servers")) {
        let store = "redis://:hunter2@localhost:1";
        let output = on(machine.path(), &["compile", kernel, "--store", store]);
        let log = text(&output.stderr);
        assert!(
            log.contains("cargo build --release --features servers"),
            "{log}"
        );
        assert!(!log.contains("hunter2"), "{log}");
    }
}

#[test]
fn parts_of_a_build_merge_to_the_bytes_of_a_whole_one() {
    let machine = room();
    let (cache, out) = (machine.path().join("cache"), machine.path().join("out"));
    let specs = folder().join("bad_input/specs_small");
    let small = specs.display().to_string();
    let build = |more: &[&str]| {
        let isa = ["build", "--isa", "x86"];
        let specs = ["--isa-specs", &small];
        on(&cache, &[&isa[..], &specs[..], more].concat())
    };
    let shown = |name: &str| out.join(name).display().to_string();
    let whole = build(&["-o", &shown("whole")]);
    assert_eq!(whole.status.code(), Some(0), "{}", text(&whole.stderr));
    let parts: Vec<String> = (1..=3).map(|k| shown(&format!("part-{k}"))).collect();
    for (k, part) in parts.iter().enumerate() {
        let done = build(&["--shard", &format!("{}/3", k + 1), "-o", part]);
        assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    }
    // The order in which they are named makes no difference.
    let [one, two, three] = [&parts[0], &parts[1], &parts[2]];
    let merged = build(&["-o", &shown("merged"), "--merge", three, one, two]);
    let log = text(&merged.stdout);
    assert_eq!(merged.status.code(), Some(0), "{}", text(&merged.stderr));
    assert!(
        log.contains("left to the merge: 0 bodies, 0 candidates"),
        "{log}"
    );
    let same = |other: &str| {
        let (a, b) = (files(&out.join("whole")), files(&out.join(other)));
        assert_eq!(a.len(), b.len());
        for (a, b) in a.iter().zip(&b) {
            assert_eq!(fs::read(a).ok(), fs::read(b).ok(), "{}", b.display());
        }
    };
    same("merged");
    // What the parts have left is divided too.
    let rest: Vec<String> = (1..=2).map(|k| shown(&format!("rest-{k}"))).collect();
    for (k, file) in rest.iter().enumerate() {
        let share = format!("{}/2", k + 1);
        let done = build(&["--shard", &share, "-o", file, "--merge", one, two, three]);
        assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    }
    let [half, other] = [&rest[0], &rest[1]];
    let merged = build(&[
        "-o",
        &shown("twice"),
        "--merge",
        half,
        one,
        two,
        other,
        three,
    ]);
    let log = text(&merged.stdout);
    let nothing = "left to the merge: 0 bodies, 0 candidates, 0 elements";
    assert!(log.contains(nothing), "{log}{}", text(&merged.stderr));
    same("twice");
    let over = build(&["--shard", "1/2", "-o", one, "--merge", one, two, three]);
    assert!(text(&over.stderr).contains("would be written over the input"));
    let damaged = shown("damaged");
    let mut bytes = fs::read(one).expect("it was written");
    *bytes.last_mut().expect("it is not empty") ^= 1;
    fs::write(&damaged, bytes).expect("there is room");
    let cases: [(&[&str], &str); 7] = [
        (&[one, two], "part 3/3 is not among the files"),
        (&[one, two, three, other], "rest 1/2 is not among the files"),
        (
            &[half, other],
            "the parts of the work on single instructions are not",
        ),
        (&[one, two, three, two], "is part 2/3 once more"),
        (&[&damaged, two, three], "is damaged"),
        (&["kernels/add.kernel", two, three], "is no part of a build"),
        (&["none", two, three], "cannot read `none`"),
    ];
    for (named, message) in cases {
        let wrong = shown("wrong");
        let arguments = [&["-o", &wrong, "--merge"][..], named].concat();
        let output = build(&arguments);
        let log = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{log}");
        assert!(log.contains(message), "{log}");
    }
    let other = on(
        &cache,
        &[
            "build",
            "--isa",
            "rvm",
            "-o",
            &shown("x"),
            "--merge",
            one,
            two,
            three,
        ],
    );
    assert!(text(&other.stderr).contains("other specifications"));
}

/// Sets whose tables can be taken from a shared store.
const PINNED: [&str; 3] = ["x86", "arm", "hvx"];

/// After a change of families or of how classes are found, `UPDATE_EXPECT=1` writes the pins anew.
#[test]
fn the_pins_of_our_sets_are_those_of_this_program() {
    let specs = root().join("isa-specs");
    let copy = room();
    for isa in PINNED {
        for path in files(&specs.join(isa)) {
            let to = copy
                .path()
                .join(path.strip_prefix(&specs).expect("it is below"));
            fs::create_dir_all(to.parent().expect("a folder")).expect("there is room");
            fs::copy(&path, to).expect("there is room");
        }
        let (out, copy) = (room(), copy.path());
        let [out, shown] = [out.path(), copy].map(|p| p.display().to_string());
        let build = [
            "build",
            "--isa",
            isa,
            "--isa-specs",
            &shown,
            "-o",
            &out,
            "--pin",
        ];
        let cache = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let done = on(cache, &build);
        assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
        let [made, ours] = [copy, &specs].map(|p| p.join(isa).join("pinned.yaml"));
        let made = fs::read_to_string(made).expect("it was written");
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            fs::write(&ours, &made).expect("there is room");
        }
        let ours = fs::read_to_string(ours).unwrap_or_default();
        assert_eq!(made, ours, "UPDATE_EXPECT=1 writes the pin of `{isa}` anew");
    }
}
