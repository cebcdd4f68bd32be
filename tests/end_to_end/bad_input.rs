//! Wrong input of every kind gets a message that says where, what and how to mend it, and
//! the rest of the run goes on.

use expect_test::{ExpectFile, expect_file};

/// Runs the binary in the folder of wrong inputs and compares all that it shows.
#[track_caller]
fn check(arguments: &[&str], expected: ExpectFile) {
    let output = super::isaforge(arguments, &super::folder().join("bad_input"));
    expected.assert_eq(&super::shown(&output));
}

#[test]
fn a_missing_file() {
    check(
        &["compile", "type_eror.kernel", "--target", "znver4"],
        expect_file!["../bad_input/missing_file.expected"],
    );
}

/// On a machine where nothing is kept, finding the classes takes long: not for a file that is not there.
#[test]
fn a_missing_file_is_told_at_once() {
    let cache = tempfile::tempdir().expect("a temporary folder");
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_isaforge"))
        .args(["compile", "none.kernel", "--target", "znver44"])
        .env("XDG_CACHE_HOME", cache.path())
        .output()
        .expect("the binary starts");
    let log = super::shown(&output);
    assert_eq!(output.status.code(), Some(1), "{log}");
    assert!(log.contains("cannot read `none.kernel`"), "{log}");
    // What else is wrong is told all the same.
    assert!(log.contains("unknown target `znver44`"), "{log}");
    let kept = cache
        .path()
        .join("isaforge")
        .join(env!("CARGO_PKG_VERSION"));
    assert!(!kept.join("store").exists(), "{log}");
}

#[test]
fn an_unknown_target() {
    check(
        &["compile", "good.kernel", "--target", "znver44"],
        expect_file!["../bad_input/unknown_target.expected"],
    );
}

#[test]
fn a_target_of_another_set() {
    check(
        &["compile", "good.kernel", "--target", "neoverse-v2"],
        expect_file!["../bad_input/target_of_another_set.expected"],
    );
}

#[test]
fn a_misspelt_target_of_another_set() {
    check(
        &["compile", "good.kernel", "--target", "neoverse-v3"],
        expect_file!["../bad_input/misspelt_target_of_another_set.expected"],
    );
}

#[test]
fn an_unknown_target_unlike_any_other() {
    check(
        &["compile", "good.kernel", "--target", "m68k"],
        expect_file!["../bad_input/unlike_target.expected"],
    );
}

#[test]
fn an_unknown_instruction_set() {
    check(
        &["compile", "good.kernel", "--isa", "x68"],
        expect_file!["../bad_input/unknown_isa.expected"],
    );
}

#[test]
fn type_errors_in_a_kernel_and_a_sound_one_beside_it() {
    check(
        &[
            "compile",
            "type_error.kernel",
            "--target",
            "x86-64-v4",
            "-o",
            "-",
        ],
        expect_file!["../bad_input/type_error.expected"],
    );
}

#[test]
fn accesses_outside_arrays() {
    check(
        &["compile", "out_of_range.kernel", "--target", "x86-64"],
        expect_file!["../bad_input/out_of_range.expected"],
    );
}

#[test]
fn text_that_is_no_kernel() {
    check(
        &["compile", "syntax.kernel", "--target", "x86-64"],
        expect_file!["../bad_input/syntax.expected"],
    );
}

#[test]
fn an_option_that_is_not_there() {
    check(
        &["compile", "good.kernel", "--traget", "host"],
        expect_file!["../bad_input/option.expected"],
    );
}

#[test]
fn a_file_that_cannot_be_written() {
    check(
        &[
            "compile",
            "good.kernel",
            "--target",
            "x86-64",
            "-o",
            "good.kernel/out.c",
        ],
        expect_file!["../bad_input/unwritable.expected"],
    );
}

#[test]
fn a_misspelt_helper_and_a_slice_out_of_range_in_a_specification() {
    check(
        &["classes", "--isa-specs", "specs_wrong"],
        expect_file!["../bad_input/specs_wrong.expected"],
    );
}

#[test]
fn a_slip_of_indentation_in_a_specification() {
    check(
        &["classes", "--isa-specs", "specs_slip"],
        expect_file!["../bad_input/specs_slip.expected"],
    );
}

#[test]
fn a_misspelt_intrinsic() {
    check(
        &["explain", "_mm512_ad_epi8", "--isa-specs", "specs_small"],
        expect_file!["../bad_input/misspelt_intrinsic.expected"],
    );
}

#[test]
fn a_solver_that_is_not_there() {
    check(
        &["classes", "--isa-specs", "specs_small", "--solver", "z33"],
        expect_file!["../bad_input/no_solver.expected"],
    );
}

/// Kept files that were cut off are told of and made anew; the answer is the same.
#[test]
fn a_truncated_cache() {
    let cache = tempfile::tempdir().expect("a temporary folder");
    let folder = super::folder().join("bad_input");
    let run = || {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_isaforge"));
        command
            .args(["classes", "--isa-specs", "specs_small"])
            .current_dir(&folder);
        command
            .env("XDG_CACHE_HOME", cache.path())
            .output()
            .expect("the binary starts")
    };
    let first = run();
    assert!(
        first.status.success() && first.stderr.is_empty(),
        "{}",
        super::shown(&first)
    );
    let store = cache
        .path()
        .join("isaforge")
        .join(env!("CARGO_PKG_VERSION"))
        .join("store");
    let entries = |folder: &std::path::Path| {
        let all = std::fs::read_dir(folder).expect("the cache is there");
        all.flatten().map(|entry| entry.path()).collect::<Vec<_>>()
    };
    let whole: Vec<_> = entries(&store)
        .iter()
        .flat_map(|kind| entries(kind))
        .collect();
    let kinds: std::collections::BTreeSet<_> = whole.iter().filter_map(|p| p.parent()).collect();
    let kinds: Vec<_> = kinds.iter().filter_map(|k| k.file_name()).collect();
    assert_eq!(kinds, ["canonical", "dictionaries", "lowered", "proofs"]);
    for path in &whole {
        let text = std::fs::read(path).expect("it can be read");
        std::fs::write(path, &text[..text.len() / 2]).expect("it can be written");
    }
    let second = run();
    let log = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(
        second.status.success() && second.stdout == first.stdout,
        "{}",
        super::shown(&second)
    );
    assert_eq!(log.matches("warning: ").count(), whole.len(), "{log}");
    assert_eq!(log.matches("made anew").count(), whole.len(), "{log}");
    assert!(run().stderr.is_empty(), "the new one is whole");
}

/// Runs the binary in a folder of the test's own.
fn within(folder: &std::path::Path, arguments: &[&str]) -> (Option<i32>, String) {
    let output = super::isaforge(arguments, folder);
    (output.status.code(), super::shown(&output))
}

#[cfg(unix)]
#[test]
fn an_input_is_not_written_over() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = |name: &str| folder.path().join(name);
    let kernel = "kernel k(o: out u8[4]) { for x in 0..4 { o[x] = 1; } }\n";
    std::fs::write(at("k.kernel"), kernel).expect("there is room");
    std::fs::write(at("m.ll"), "; nothing\n").expect("there is room");
    std::os::unix::fs::symlink("k.kernel", at("link")).expect("links are there");
    std::fs::hard_link(at("k.kernel"), at("hard")).expect("links are there");
    for output in ["k.kernel", "./k.kernel", "link", "hard"] {
        for command in [
            vec!["compile", "k.kernel", "--target", "x86-64", "-o", output],
            vec!["map", "k.kernel", "-o", output],
            vec!["schedule", "k.kernel", "--html", output],
        ] {
            let (code, log) = within(folder.path(), &command);
            assert_eq!(code, Some(1), "{log}");
            assert!(log.contains("would be written over the input"), "{log}");
        }
    }
    let (code, log) = within(
        folder.path(),
        &["lower", "m.ll", "--build", ".", "-o", "m.ll"],
    );
    assert!(
        code == Some(1) && log.contains("would be written over"),
        "{log}"
    );
    let now = std::fs::read_to_string(at("k.kernel")).expect("it is there");
    assert_eq!(now, kernel);
    // What a link leads to is written, and the link stays.
    std::os::unix::fs::symlink("page.html", at("page")).expect("links are there");
    let (code, log) = within(folder.path(), &["schedule", "k.kernel", "--html", "page"]);
    assert_eq!(code, Some(0), "{log}");
    assert!(at("page").is_symlink() && at("page.html").is_file());
}

#[test]
fn texts_that_are_told_well() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).expect("there is room");
    };
    let kernel = "kernel k(o: out u8[4]) { for x in 0..4 { o[x] = 1; } }\n";
    write("mark.kernel", &format!("\u{feff}{kernel}"));
    let (code, log) = within(folder.path(), &["schedule", "mark.kernel"]);
    assert_eq!(code, Some(0), "{log}");
    write("umlaut.kernel", &kernel.replace("kernel k", "kernel käse"));
    let (_, log) = within(folder.path(), &["schedule", "umlaut.kernel"]);
    assert!(log.contains("names have the letters a to z"), "{log}");
    let (code, log) = within(folder.path(), &["schedule", "/dev/zero"]);
    assert!(
        code == Some(1) && log.contains("more than 256 MiB"),
        "{log}"
    );
    let limits = ["compile", "mark.kernel", "--time-limit", "0"];
    let (code, log) = within(folder.path(), &limits);
    assert!(code == Some(1) && log.contains("more than 0"), "{log}");
    let signs = format!(
        "kernel k(o: out i32[1]) {{ o[0] = {}1; }}\n",
        "- ~".repeat(40)
    );
    write("signs.kernel", &signs);
    let (code, log) = within(folder.path(), &["schedule", "signs.kernel", "--show"]);
    assert!(code == Some(0) && log.contains("-~-~1;"), "{log}");
    // Each of them writes out eight times what the one before did.
    let many = "jam x by 8; ".repeat(400);
    for (of, length, limit) in [
        ("", "16777216", "more than 16384 operators"),
        ("n: size, ", "n", "more than 128 parts"),
    ] {
        let often =
            format!("kernel k({of}o: out u8[{length}]) {{ for x in 0..{length} {{ o[x] = 1; }} }}");
        write("often.kernel", &format!("{often} schedule {{ {many} }}\n"));
        let (code, log) = within(folder.path(), &["schedule", "often.kernel"]);
        assert_eq!(code, Some(1), "{log}");
        assert!(log.contains(limit), "{log}");
    }
    // Many copies of many accesses, of which most pairs are one question.
    let copies = "jam y by 8; ".repeat(2);
    let sums = "o[y, x] = o[y, x] + 1; ".repeat(3);
    let pairs = format!(
        "kernel k(n: size, o: inout u8[n, 8]) {{ for y in 0..n {{ for x in 0..8 {{ {sums} }} }} }} \
         schedule {{ {copies} jam y by 2; }}\n"
    );
    write("pairs.kernel", &pairs);
    let (code, log) = within(folder.path(), &["schedule", "pairs.kernel"]);
    assert_eq!(code, Some(0), "{log}");
    let deep = format!(
        "kernel k(o: out i32[1]) {{ o[0] = {}1; }}\n",
        "- ".repeat(20_000)
    );
    write("deep.kernel", &deep);
    let (code, log) = within(folder.path(), &["schedule", "deep.kernel"]);
    assert!(code == Some(1) && log.contains("levels deep"), "{log}");
}

/// Sizes that are none, that no kernel has, or that nobody asks for.
#[test]
fn sizes_that_say_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let kernel =
        "kernel k(n: size, a: in u8[n], o: out u8[n]) { for x in 0..n { o[x] = a[x]; } }\n";
    std::fs::write(folder.path().join("k.kernel"), kernel).expect("there is room");
    for (command, said) in [
        ("schedule k.kernel --size n=-1", "a size is a number from 0"),
        (
            "schedule k.kernel --size n=99999999999999999999",
            "a size is a number from 0",
        ),
        (
            "schedule k.kernel --size n",
            "a name and a number were expected",
        ),
        ("map k.kernel --size =3", "a size is a number from 0"),
        (
            "schedule k.kernel --size zz=3",
            "no kernel of this file has a size `zz`",
        ),
        (
            "compile k.kernel --target x86-64 --size n=3",
            "add `--schedule auto`",
        ),
        ("reach --least 101", "a share from 0 to 100"),
    ] {
        let words: Vec<&str> = command.split(' ').collect();
        let (code, log) = within(folder.path(), &words);
        assert!(code == Some(1) && log.contains(said), "{command}: {log}");
    }
}

/// Numbers and names on the command line that no machine has room or time for.
#[test]
fn arguments_without_measure() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let kernel =
        "kernel k(n: size, a: in u8[n], o: out u8[n]) { for x in 0..n { o[x] = a[x]; } }\n";
    std::fs::write(folder.path().join("k.kernel"), kernel).expect("there is room");
    for size in ["n=9223372036854775807", "n=274877906945"] {
        let (code, log) = within(folder.path(), &["map", "k.kernel", "--size", size]);
        assert_eq!(code, Some(1), "{log}");
        assert!(log.contains("is too large"), "{log}");
    }
    let inputs = ["check", "--inputs", "99999999999"];
    let (code, log) = within(folder.path(), &inputs);
    assert!(code == Some(1) && log.contains("1..=100000"), "{log}");
    let name = "a".repeat(100_000);
    let (code, log) = within(folder.path(), &["explain", &name]);
    assert_eq!(code, Some(1), "{log}");
    assert!(log.contains("characters more"), "{log}");
}

/// Specifications are inside the program: a cache that cannot be written is no obstacle.
#[test]
fn a_cache_that_cannot_be_written() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let temporary = folder.path().join("temporary");
    std::fs::create_dir(&temporary).expect("there is room");
    let program = folder.path().join("p.s");
    std::fs::write(&program, "addi x5, x0, 1\n").expect("there is room");
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_isaforge"))
        .args(["sim", "p.s", "--isa", "rvm"])
        .current_dir(folder.path())
        .env("XDG_CACHE_HOME", "/dev/null/none")
        .env("TMPDIR", &temporary)
        .output()
        .expect("the binary starts");
    assert!(output.status.success(), "{}", super::shown(&output));
    let left = std::fs::read_dir(&temporary).expect("it is there").count();
    assert_eq!(left, 0, "the run leaves nothing behind");
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_isaforge"))
        .args(["classes", "--isa-specs", "specs_small"])
        .current_dir(super::folder().join("bad_input"))
        .env("XDG_CACHE_HOME", "/dev/null/none")
        .output()
        .expect("the binary starts");
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{}", super::shown(&output));
    assert_eq!(log.matches("cannot be kept").count(), 1, "told once: {log}");
}

/// Pipes, devices and links that lead back, where the files of an instruction set are expected:
/// nobody waits for them, and nothing takes all memory.
#[cfg(unix)]
#[test]
fn what_is_no_file_is_not_waited_for() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let specs = folder.path().join("specs/x86");
    std::fs::create_dir_all(specs.join("cost")).expect("there is room");
    for name in [
        "manifest.yaml",
        "family.yaml",
        "targets.yaml",
        "cost/generic.yaml",
    ] {
        let ours = super::folder().join("bad_input/specs_small/x86").join(name);
        std::fs::copy(ours, specs.join(name)).expect("there is room");
    }
    let kernel = "kernel k(o: out u8[4]) { for x in 0..4 { o[x] = 1; } }\n";
    std::fs::write(folder.path().join("k.kernel"), kernel).expect("there is room");
    let run = |arguments: &[&str]| {
        let output = std::process::Command::new("timeout")
            .args(["120", env!("CARGO_BIN_EXE_isaforge")])
            .args(arguments)
            .args(["--isa-specs", "specs"])
            .current_dir(folder.path())
            .env("XDG_CACHE_HOME", folder.path().join("cache"))
            .output()
            .expect("the binary starts");
        (output.status.code(), super::shown(&output))
    };
    let pipe = |name: &str| {
        let made = std::process::Command::new("mkfifo")
            .arg(specs.join(name))
            .status();
        assert!(made.is_ok_and(|status| status.success()));
    };
    let link = |to: &str, name: &str| {
        std::os::unix::fs::symlink(to, specs.join(name)).expect("links are there");
    };
    let compile = ["compile", "k.kernel", "--target", "small", "-o", "k.c"];
    // Beside what the manifest lists.
    pipe("pipe");
    for name in ["one", "two", "three"] {
        link(".", name);
    }
    link("/dev/zero", "pinned.yaml");
    let (code, log) = run(&compile);
    assert_eq!(code, Some(0), "{log}");
    // In the place of what is read.
    for (name, command) in [
        ("family.yaml", &["check", "--isa", "x86"][..]),
        ("targets.yaml", &["check", "--isa", "x86"]),
    ] {
        let text = std::fs::read(specs.join(name)).expect("it is there");
        for to in ["pipe", "/dev/zero"] {
            std::fs::remove_file(specs.join(name)).expect("it is there");
            link(to, name);
            let (code, log) = run(command);
            let is_told = log.contains("is no file");
            assert!(code == Some(1) && is_told, "{name} is {to}: {code:?} {log}");
        }
        std::fs::remove_file(specs.join(name)).expect("it is there");
        std::fs::write(specs.join(name), text).expect("there is room");
    }
    // What is there, but too much, has no neighbour that was meant.
    let (code, log) = within(folder.path(), &["schedule", "/dev/zero"]);
    assert!(code == Some(1) && !log.contains("did you mean"), "{log}");
}
