//! What a build writes, read by the tools that it is for; `cargo xtask tools` brings them.

use super::{isaforge, shown};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use test_support::{need, skip_part};
use toolchain::find::llvm;

/// A build of x86, made once.
pub(super) fn built() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let place = Path::new(env!("CARGO_TARGET_TMPDIR")).to_owned();
        let folder = place.join("back_ends");
        let output = isaforge(&["build", "--output", "back_ends", "--replace"], &place);
        assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
        folder
    })
}

/// A tool, to be run in a folder of the build with its own libraries.
pub(super) fn command((program, folder): &(PathBuf, PathBuf), at: &Path) -> Command {
    let beside = folder.join("../x86_64-linux-gnu");
    let libraries = format!("{}:{}", folder.join("lib").display(), beside.display());
    let mut command = Command::new(program);
    command.current_dir(at).env("LD_LIBRARY_PATH", libraries);
    command
}

/// What a tool prints; it must succeed.
#[track_caller]
pub(super) fn printed(command: &mut Command) -> String {
    let output = command.output().expect("the tool starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    let errors: String = errors.chars().take(2000).collect();
    assert!(output.status.success(), "{command:?}: {errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What a tool for TableGen makes of a file of the build.
#[track_caller]
fn generated(tool: &(PathBuf, PathBuf), arguments: &[&str], at: &Path) -> String {
    let include = tool.1.join("include");
    printed(command(tool, at).args(arguments).arg("-I").arg(include))
}

/// Operations and instructions of the dictionary.
fn counts() -> (usize, usize) {
    let text = fs::read_to_string(built().join("x86.dictionary")).expect("it was built");
    let begin = |what: &str| text.lines().filter(|l| l.trim().starts_with(what)).count();
    (begin("(operation "), begin("(member "))
}

#[test]
fn llvm_tblgen_reads_every_class_and_member() {
    let tblgen = need!(llvm("llvm-tblgen"));
    let at = built().join("llvm");
    let (classes, members) = counts();
    let records = generated(
        &tblgen,
        &["-print-records", "autoir_x86.td", "-I", "."],
        &at,
    );
    let of = |class: &str| records.lines().filter(|l| l.ends_with(class)).count();
    assert_eq!(of(" AutoIRInstruction"), members);
    assert_eq!(of(" AutoIRSelection"), members);
    let enums = [
        "-gen-intrinsic-enums",
        "-intrinsic-prefix=autoir",
        "autoir.td",
    ];
    let enums = generated(&tblgen, &enums, &at);
    let named = enums.lines().filter(|l| l.contains("// llvm.autoir."));
    assert_eq!(named.count(), classes);
    let table = generated(&tblgen, &["-gen-intrinsic-impl", "autoir.td"], &at);
    assert!(table.contains("llvm.autoir.add"));
}

#[test]
fn mlir_reads_every_class() {
    let tblgen = need!(llvm("mlir-tblgen"));
    let opt = need!(llvm("mlir-opt"));
    let irdl = need!(llvm("tblgen-to-irdl"));
    let at = built().join("mlir");
    let (classes, _) = counts();
    for what in ["-gen-op-decls", "-gen-op-defs", "-gen-op-doc"] {
        let text = generated(&tblgen, &[what, "-dialect=autoir", "autoir.td"], &at);
        assert!(text.contains("autoir"), "{what}");
    }
    // The dialect as IRDL is registered, so that each op is verified against it.
    let place = tempfile::tempdir().expect("there is room");
    let dialect = place.path().join("autoir.irdl");
    let text = generated(
        &irdl,
        &["-gen-dialect-irdl-defs", "-dialect=autoir", "autoir.td"],
        &at,
    );
    fs::write(&dialect, text).expect("there is room");
    let dialect = format!("--irdl-file={}", dialect.display());
    let text = printed(command(&opt, &at).args([&dialect, "autoir.mlir"]));
    let ops = text.lines().filter(|l| l.contains("\"autoir."));
    assert_eq!(ops.count(), classes);
}

/// The mnemonics that each function with that beginning has in assembly.
pub(super) fn mnemonics<'a>(assembly: &'a str, prefix: &str) -> BTreeMap<&'a str, Vec<&'a str>> {
    let mut found: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut function = "";
    for line in assembly.lines() {
        if let Some(name) = line.split(':').next().filter(|n| n.starts_with(prefix)) {
            function = name;
        } else if let Some(code) = line.strip_prefix('\t').filter(|c| !c.starts_with('.')) {
            let word = code.split_whitespace().next().unwrap_or_default();
            found.entry(function).or_default().push(word);
        }
    }
    found
}

#[test]
fn llvm_selects_the_instructions() {
    let (opt, llc) = (need!(llvm("opt")), need!(llvm("llc")));
    let at = built().join("llvm");
    let verify = ["-passes=verify", "-disable-output", "autoir_x86.ll"];
    printed(command(&opt, &at).args(verify));
    let assembly = printed(command(&llc, &at).args(["-O1", "-o", "-", "autoir_x86.ll"]));
    let found = mnemonics(&assembly, "autoir.");
    let text = fs::read_to_string(at.join("autoir_x86.ll")).expect("it was built");
    let (mut own, mut all) = (0, 0);
    let lines: Vec<&str> = text.lines().collect();
    for pair in lines.windows(2).filter(|p| p[1].starts_with("define ")) {
        let mnemonic = pair[0].split(' ').nth(2).unwrap_or("-");
        let name = pair[1].split('@').nth(1).and_then(|n| n.split('(').next());
        let code = found.get(name.expect("a function has a name"));
        let code = code.unwrap_or_else(|| panic!("{name:?} has no code"));
        if mnemonic != "-" {
            let plain = |word: &str| word.trim_start_matches('v').to_owned();
            let own_one = |word: &&&str| plain(word).starts_with(&plain(mnemonic));
            all += 1;
            own += usize::from(code.iter().any(|word| own_one(&word)));
        }
    }
    println!("{own} of {all} functions have their member's own mnemonic");
    assert!(own * 10 > all * 8, "{own} of {all}");
}

#[test]
fn c_compilers_take_the_header() {
    let at = built().join("c");
    let program = "#include \"autoir_x86.h\"\nint main(void) { return 0; }\n";
    let place = tempfile::tempdir().expect("there is room");
    for (compiler, languages) in [("gcc", ["c", "c++"]), ("clang-19", ["c", "c++"])] {
        for language in languages {
            let source = place.path().join(format!("program.{language}"));
            fs::write(&source, program).expect("there is room");
            let output = Command::new(compiler)
                .args(["-x", language, "-O1", "-Wall", "-Wextra", "-Werror", "-c"])
                .args(["-march=sapphirerapids", "-mavx512vp2intersect"])
                .args(["-I", &at.display().to_string(), "-o"])
                .arg(place.path().join("program.o"))
                .arg(&source)
                .output();
            match output {
                Ok(output) => assert!(output.status.success(), "{}", shown(&output)),
                Err(_) => skip_part!("there is no `{compiler}`"),
            }
        }
    }
}

#[test]
fn functions_of_the_header_agree_with_their_operations() {
    let folder = built().display().to_string();
    let check = ["check", "--build", &folder, "--inputs", "100"];
    let output = isaforge(
        &[&check[..], &["--filter", "autoir_add_p"]].concat(),
        built(),
    );
    assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
    assert!(!shown(&output).contains("refuses"), "{}", shown(&output));
}

/// The small specifications, to be built in a folder of the test's own.
fn small(arguments: &[&str], at: &Path) -> Output {
    let specs = super::folder().join("bad_input/specs_small");
    let specs = specs.display().to_string();
    let more = ["--isa-specs", &specs];
    isaforge(&[&["build"], arguments, &more].concat(), at)
}

#[test]
fn builds_have_the_same_bytes() {
    let place = tempfile::tempdir().expect("there is room");
    for name in ["one", "two"] {
        let output = small(&["-o", name], place.path());
        assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
    }
    let contents = |name: &str| {
        let file = place.path().join(name).join("contents.txt");
        fs::read_to_string(file).expect("it was built")
    };
    assert_eq!(contents("one"), contents("two"));
    assert!(contents("one").contains("llvm/autoir.td"));
}

#[test]
fn wrong_places_and_names_leave_nothing() {
    let place = tempfile::tempdir().expect("there is room");
    let mine = place.path().join("mine");
    fs::create_dir(&mine).expect("there is room");
    fs::write(mine.join("file"), "mine").expect("there is room");
    fs::write(place.path().join("old"), "isaforge-dictionary 0\n(end 0)\n").expect("there is room");
    for (arguments, says) in [
        (&["-o", "mine"][..], "is not empty"),
        (&["-o", "mine", "--replace"], "an earlier build"),
        (&["-o", "mine/file"], "cannot write"),
        (&["-o", "/proc/nowhere"], "cannot write"),
        (&["-o", "new", "--isa", "x68"], "there is no"),
        (&["-o", "new", "--dictionary", "old"], "another version"),
    ] {
        let output = small(arguments, place.path());
        assert_eq!(output.status.code(), Some(1), "{}", shown(&output));
        assert!(shown(&output).contains(says), "{}", shown(&output));
    }
    let output = isaforge(&["build", "-o", "new", "--isa", "x68"], place.path());
    assert_eq!(output.status.code(), Some(1));
    assert!(shown(&output).contains("did you mean `x86`?"));
    let left = fs::read_dir(place.path()).expect("it is a folder").count();
    assert_eq!(left, 2);
    assert_eq!(fs::read_dir(&mine).expect("it is a folder").count(), 1);
}
