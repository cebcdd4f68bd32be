//! What a build writes, read by the tools that it is for; `cargo xtask tools` brings them.

use super::{isaforge, shown};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use test_support::{need, skip_part};
use toolchain::c;
use toolchain::find::llvm;

/// A build of x86, made once.
pub(super) fn built() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| build("x86", "back_ends"))
}

/// A build of the other vector instruction sets in one, made once.
pub(super) fn others() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| build("arm,hvx", "other_back_ends"))
}

fn build(isas: &str, folder: &str) -> PathBuf {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let arguments = ["build", "--isa", isas, "--output", folder, "--replace"];
    let output = isaforge(&arguments, place);
    assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
    place.join(folder)
}

/// Each build with its instruction sets.
fn builds() -> [(&'static Path, &'static [&'static str]); 2] {
    [(built(), &["x86"]), (others(), &["arm", "hvx"])]
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

/// A tool for TableGen with a file that it includes, which Debian has in another package.
fn with_file(name: &str, file: &str) -> Result<(PathBuf, PathBuf), String> {
    let tool = llvm(name)?;
    match tool.1.join("include").join(file).exists() {
        true => Ok(tool),
        false => Err(format!(
            "`{name}` is there without `{file}`; `cargo xtask tools` brings both"
        )),
    }
}

/// What a tool for TableGen makes of a file of the build.
#[track_caller]
fn generated(tool: &(PathBuf, PathBuf), arguments: &[&str], at: &Path) -> String {
    let include = tool.1.join("include");
    printed(command(tool, at).args(arguments).arg("-I").arg(include))
}

/// Operations of a build's dictionary, and those of its instructions that are of a set.
fn counts(build: &Path, isa: &str) -> (usize, usize) {
    let mut files = fs::read_dir(build).expect("it was built").flatten();
    let is_dictionary = |path: &PathBuf| path.extension().is_some_and(|e| e == "dictionary");
    let path = files.find_map(|file| Some(file.path()).filter(is_dictionary));
    let text = fs::read_to_string(path.expect("a build has one")).expect("it was built");
    let of = |line: &&str| line.split(' ').nth(2) == Some(isa);
    let members = text
        .lines()
        .map(str::trim)
        .filter(|l| l.starts_with("(member "));
    let operations = text.lines().filter(|l| l.starts_with("(operation "));
    (operations.count(), members.filter(of).count())
}

#[test]
fn llvm_tblgen_reads_every_class_and_member() {
    let tblgen = need!(with_file("llvm-tblgen", "llvm/IR/Intrinsics.td"));
    for (build, isas) in builds() {
        let at = build.join("llvm");
        for isa in isas {
            let (classes, members) = counts(build, isa);
            assert!(members > 300, "{isa}: {members}");
            let file = format!("autoir_{isa}.td");
            let records = generated(&tblgen, &["-print-records", &file, "-I", "."], &at);
            let of = |class: &str| records.lines().filter(|l| l.ends_with(class)).count();
            assert_eq!(of(" AutoIRInstruction"), members, "{isa}");
            assert_eq!(of(" AutoIRSelection"), members, "{isa}");
            let enums = [
                "-gen-intrinsic-enums",
                "-intrinsic-prefix=autoir",
                "autoir.td",
            ];
            let enums = generated(&tblgen, &enums, &at);
            let named = enums.lines().filter(|l| l.contains("// llvm.autoir."));
            assert_eq!(named.count(), classes, "{isa}");
            let table = generated(&tblgen, &["-gen-intrinsic-impl", "autoir.td"], &at);
            assert!(table.contains("llvm.autoir.add"), "{isa}");
        }
    }
}

#[test]
fn mlir_reads_every_class() {
    let tblgen = need!(with_file("mlir-tblgen", "mlir/IR/OpBase.td"));
    let opt = need!(llvm("mlir-opt"));
    let irdl = need!(llvm("tblgen-to-irdl"));
    for (build, isas) in builds() {
        mlir_reads(&tblgen, &opt, &irdl, build, isas[0]);
    }
}

/// The dialect of a build is one, and every op of it verifies.
#[track_caller]
fn mlir_reads(
    tblgen: &(PathBuf, PathBuf),
    opt: &(PathBuf, PathBuf),
    irdl: &(PathBuf, PathBuf),
    build: &Path,
    isa: &str,
) {
    let at = build.join("mlir");
    let (classes, _) = counts(build, isa);
    for what in ["-gen-op-decls", "-gen-op-defs", "-gen-op-doc"] {
        let text = generated(tblgen, &[what, "-dialect=autoir", "autoir.td"], &at);
        assert!(text.contains("autoir"), "{what}");
    }
    // The dialect as IRDL is registered, so that each op is verified against it.
    let place = tempfile::tempdir().expect("there is room");
    let dialect = place.path().join("autoir.irdl");
    let text = generated(
        irdl,
        &["-gen-dialect-irdl-defs", "-dialect=autoir", "autoir.td"],
        &at,
    );
    fs::write(&dialect, text).expect("there is room");
    let dialect = format!("--irdl-file={}", dialect.display());
    let text = printed(command(opt, &at).args([&dialect, "autoir.mlir"]));
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
    for (build, isas) in builds() {
        for isa in isas {
            llvm_selects(&opt, &llc, build, isa);
        }
    }
}

/// LLVM takes the functions of a set, and makes their members' own instructions of them.
#[track_caller]
fn llvm_selects(opt: &(PathBuf, PathBuf), llc: &(PathBuf, PathBuf), build: &Path, isa: &str) {
    let at = build.join("llvm");
    for file in [format!("autoir_{isa}.ll"), format!("autoir_{isa}_calls.ll")] {
        let verify = ["-passes=verify", "-disable-output", file.as_str()];
        printed(command(opt, &at).args(verify));
    }
    let file = format!("autoir_{isa}.ll");
    let options: &[&str] = if isa == "hvx" {
        &["-hvc-va=false"]
    } else {
        &[]
    };
    let mut llc = command(llc, &at);
    let assembly = printed(llc.args(["-O1", "-o", "-", &file]).args(options));
    let found = mnemonics(&assembly, "autoir.");
    let text = fs::read_to_string(at.join(&file)).expect("it was built");
    let (mut own, mut all) = (0, 0);
    let lines: Vec<&str> = text.lines().collect();
    for pair in lines.windows(2).filter(|p| p[1].starts_with("define ")) {
        let mnemonic = pair[0].split(' ').nth(2).unwrap_or("-");
        let name = pair[1].split('@').nth(1).and_then(|n| n.split('(').next());
        let code = found.get(name.expect("a function has a name"));
        let code = code.unwrap_or_else(|| panic!("{name:?} has no code"));
        if mnemonic != "-" {
            let plain = |word: &str| word.trim_start_matches('v').to_lowercase();
            let own_one = |word: &&&str| plain(word).starts_with(&plain(mnemonic));
            all += 1;
            own += usize::from(code.iter().any(|word| own_one(&word)));
        }
    }
    println!("{isa}: {own} of {all} functions have their member's own mnemonic");
    // Hexagon's assembly has expressions in place of mnemonics.
    let least = if isa == "hvx" { 0 } else { all * 8 };
    assert!(own * 10 > least || all == 0, "{isa}: {own} of {all}");
    assert!(!found.is_empty(), "{isa}");
}

/// A set, a compiler, its flags for all of the set, and the languages that it takes.
type Compilers = (
    &'static str,
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
);

const COMPILERS: [Compilers; 5] = [
    (
        "x86",
        "gcc",
        &["-march=sapphirerapids", "-mavx512vp2intersect"],
        &["c", "c++"],
    ),
    (
        "x86",
        "clang-19",
        &["-march=sapphirerapids", "-mavx512vp2intersect"],
        &["c", "c++"],
    ),
    ("arm", "aarch64-linux-gnu-gcc", ARM, &["c"]),
    ("arm", "clang-19", ARM_CLANG, &["c", "c++"]),
    ("hvx", "clang-19", HEXAGON, &["c", "c++"]),
];

const ARM: &[&str] = &["-march=armv8.6-a+fp16+fp16fml+dotprod+i8mm+bf16+sha3+sm4+crypto+rdma"];
const ARM_CLANG: &[&str] = &[
    "--target=aarch64-linux-gnu",
    "-ffreestanding",
    "-march=armv8.6-a+fp16+fp16fml+dotprod+i8mm+bf16+sha3+sm4+aes+crypto+rdm",
];
const HEXAGON: &[&str] = &[
    "--target=hexagon",
    "-ffreestanding",
    "-mhvx",
    "-mhvx-length=128b",
    "-mv69",
];

#[test]
fn c_compilers_take_the_headers() {
    let place = tempfile::tempdir().expect("there is room");
    for (isa, compiler, flags, languages) in COMPILERS {
        let build = if isa == "x86" { built() } else { others() };
        let text = fs::read_to_string(build.join(format!("c/autoir_{isa}.h")));
        let text = text.expect("it was built");
        let whole = functions(&text);
        for language in languages {
            let source = place.path().join("program");
            let program = format!("#include \"autoir_{isa}.h\"\nint main(void) {{ return 0; }}\n");
            fs::write(&source, program).expect("there is room");
            let include = format!("-I{}", build.join("c").display());
            let run = |how: &[&str]| {
                let asked = [
                    "-x", language, "-O1", "-Wall", "-Wextra", "-Werror", &include,
                ];
                let all = [&asked[..], flags, how, &["program"]].concat();
                c::compile(compiler, all, place.path())
            };
            match run(&["-c", "-o", "program.o"]) {
                Ok(()) => {}
                Err(c::Failure::Absent(why)) => {
                    skip_part!("{why}");
                    continue;
                }
                Err(c::Failure::Refused(messages)) => panic!("{compiler}: {messages}"),
            }
            // What the compiler may not use is not there: most of it must be.
            run(&["-E", "-P", "-o", "whole"]).expect("it ran");
            let whole_text = fs::read_to_string(place.path().join("whole"));
            let there = functions(&whole_text.expect("it was written"));
            println!("{isa}, {compiler} as {language}: {there} of {whole} functions");
            assert!(
                there * 10 >= whole * 9,
                "{isa}, {compiler}: {there} of {whole}"
            );
        }
    }
}

/// How many functions a header has.
fn functions(text: &str) -> usize {
    let begins = |line: &&str| line.starts_with("static inline ") && line.contains(" autoir_");
    text.lines().filter(begins).count()
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
