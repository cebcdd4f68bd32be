//! The tutorials, run as they stand: files are written, commands typed, and what is printed is what
//! the page says.
//!
//! A fenced block says what it is: `sh`, commands; `text`, lines that the commands before it print, in this order and
//! with others between, where `…` stands for anything; a language and a path, a file, and `append`
//! after it what comes to its end. A command after `!` fails.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use test_support::need;

/// A fenced block: the words after its fence, the line, the text.
struct Block<'p> {
    words: Vec<&'p str>,
    line: usize,
    text: String,
}

fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut found: Vec<Block<'_>> = Vec::new();
    let mut open = false;
    for (line, text) in (1..).zip(page.lines()) {
        match text.strip_prefix("```") {
            Some(_) if open => open = false,
            Some(words) => {
                let words = words.split_whitespace().collect();
                found.push(Block {
                    words,
                    line,
                    text: String::new(),
                });
                open = true;
            }
            None if open => {
                let block = found.last_mut().expect("one is open");
                block.text.push_str(text);
                block.text.push('\n');
            }
            None => {}
        }
    }
    assert!(!open, "a block is left open");
    found
}

/// Whether a line is as the page has it, where `…` stands for anything.
fn fits(wanted: &str, line: &str) -> bool {
    let mut pieces = wanted.split('…');
    let first = pieces.next().expect("a text has a first piece");
    let Some(mut rest) = line.strip_prefix(first) else {
        return false;
    };
    let mut last = first;
    for piece in pieces {
        let Some(at) = rest.find(piece) else {
            return false;
        };
        (rest, last) = (&rest[at + piece.len()..], piece);
    }
    rest.is_empty() || (last.is_empty() && wanted.ends_with('…'))
}

/// The lines of a page that what was printed has not, in their order.
fn missing<'w>(wanted: &'w str, printed: &str) -> Vec<&'w str> {
    let mut lines = printed.lines();
    let wanted = wanted.lines().filter(|line| !line.is_empty());
    wanted
        .filter(|wanted| !lines.by_ref().any(|line| fits(wanted, line)))
        .collect()
}

/// Runs commands with the program on the `PATH`; what they print.
fn typed(commands: &str, folder: &Path) -> Result<String, String> {
    let program = Path::new(env!("CARGO_BIN_EXE_isaforge"));
    let own = program.parent().expect("it is in a folder");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = std::iter::once(own.to_owned()).chain(std::env::split_paths(&path));
    let path = std::env::join_paths(all).expect("folders have no colon");
    let run = Command::new("bash")
        .args([
            "-c",
            &format!(
                "exec 2>&1; set -e; trap 'echo \"failed: $BASH_COMMAND\"' ERR\n{}",
                denied(commands)
            ),
        ])
        .env("PATH", path)
        .env("XDG_CACHE_HOME", folder.join("cache"))
        .current_dir(folder)
        .output();
    let run = run.map_err(|error| format!("bash: {error}"))?;
    let printed = String::from_utf8_lossy(&run.stdout).into_owned();
    match run.status.success() {
        true => Ok(printed),
        false => Err(printed),
    }
}

/// What is read off a set of instructions, whatever is compiled.
const OF_SETS: [&str; 4] = ["canonical", "dictionaries", "instruction-tables", "lowered"];

/// The folder below which the program keeps what it made.
fn store(cache: &Path) -> PathBuf {
    let program = Path::new("isaforge").join(env!("CARGO_PKG_VERSION"));
    cache.join(program).join("store")
}

/// Begins a cache of a page's own. That of the tests gives what is read off sets of instructions, so that
/// it is not made anew for each page; nothing of a kernel, and nothing that the page leaves comes back.
fn prepare(cache: &Path) {
    static MADE: LazyLock<()> = LazyLock::new(|| {
        let (report, log, code) = super::run(&[
            "compile",
            "examples/average.kernel",
            "--target",
            "x86-64-v3",
        ]);
        assert_eq!(code, Some(0), "{report}{log}");
    });
    LazyLock::force(&MADE);
    let [from, to] = [Path::new(env!("CARGO_TARGET_TMPDIR")), cache].map(store);
    for kind in OF_SETS {
        std::fs::create_dir_all(to.join(kind)).expect("the test's folder can be written");
        let kept = std::fs::read_dir(from.join(kind)).expect("a compilation keeps it");
        // Files that other tests are just writing have other names until they are whole.
        for file in kept.flatten() {
            let to = to.join(kind).join(file.file_name());
            let _ = std::fs::copy(file.path(), to);
        }
    }
}

/// A command after `!` that does not fail ends the run, which the shell alone would go on from.
fn denied(commands: &str) -> String {
    let line = |line: &str| match line.strip_prefix("! ") {
        Some(command) => format!("if {command}; then echo 'does not fail'; exit 1; fi\n"),
        None => format!("{line}\n"),
    };
    commands.lines().map(line).collect()
}

fn put(block: &Block<'_>, path: &str, folder: &Path) {
    let path = folder.join(path);
    let before = match block.words.get(2) {
        Some(&"append") => std::fs::read_to_string(&path).expect("what is appended to is there"),
        Some(word) => panic!("line {}: a file is not `{word}`", block.line),
        None => String::new(),
    };
    std::fs::write(&path, before + &block.text).expect("the test's folder can be written");
}

/// Runs a page; how many commands it has and how many lines were compared.
fn run(page: &Path) -> (usize, usize) {
    let name = page
        .file_stem()
        .expect("a file")
        .to_string_lossy()
        .into_owned();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("tutorials")
        .join(&name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("the test's folder can be written");
    prepare(&folder.join("cache"));
    for shared in ["examples", "kernels"] {
        let from = super::root()
            .join(shared)
            .canonicalize()
            .expect("it is there");
        std::os::unix::fs::symlink(from, folder.join(shared)).expect("a link can be made");
    }
    let text = std::fs::read_to_string(page).expect("the page is there");
    let (mut commands, mut lines, mut printed) = (0, 0, String::new());
    for block in blocks(&text) {
        let at = format!("{name}.md, line {}", block.line);
        match block.words.as_slice() {
            ["sh"] => {
                commands += block.text.lines().count();
                printed = typed(&block.text, &folder).unwrap_or_else(|log| panic!("{at}: {log}"));
            }
            ["text"] => {
                let absent = missing(&block.text, &printed);
                assert!(
                    absent.is_empty(),
                    "{at}: not printed: {absent:#?} in\n{printed}"
                );
                lines += block.text.lines().count();
            }
            [_, path, ..] => put(&block, path, &folder),
            _ => panic!("{at}: a block of `{}`", block.words.join(" ")),
        }
    }
    println!("{name}: {commands} commands, {lines} lines compared");
    (commands, lines)
}

fn page(name: &str) -> PathBuf {
    super::root().join("docs").join(name)
}

/// What pages need beside the program.
fn tools() -> Result<(), String> {
    let has = |name: &str| Command::new(name).arg("--version").output().is_ok();
    match ["bash", "gcc"].iter().find(|name| !has(name)) {
        Some(name) => Err(format!("`{name}` is not here")),
        None => Ok(()),
    }
}

fn runs(name: &str) {
    let () = need!(tools());
    let (commands, lines) = run(&page(name));
    assert!(
        commands >= 3 && lines >= 4,
        "{commands} commands, {lines} lines"
    );
}

#[test]
fn a_compiler_engineer_gets_there() {
    runs("compiler-engineer.md");
}

#[test]
fn a_performance_engineer_gets_there() {
    runs("performance-engineer.md");
}

#[test]
fn an_architect_gets_there() {
    runs("architect.md");
}

#[test]
fn a_library_author_gets_there() {
    runs("library-author.md");
}

#[test]
fn every_tutorial_is_run() {
    let list = std::fs::read_to_string(page("README.md")).expect("the list is there");
    let source = include_str!("tutorials.rs");
    let mut count = 0;
    for file in std::fs::read_dir(page(""))
        .expect("the folder is there")
        .flatten()
    {
        let name = file.file_name().to_string_lossy().into_owned();
        if name.ends_with(".md") && name != "README.md" {
            assert!(list.contains(&format!("({name})")), "{name} is in no list");
            assert!(
                source.contains(&format!("runs(\"{name}\")")),
                "{name} is not run"
            );
            count += 1;
        }
    }
    assert_eq!(count, 4);
}

#[test]
fn what_a_page_says_wrong_is_found() {
    assert!(fits("cost … (… s)", "cost 3.0 (0.5 s)"));
    assert!(fits("proved: …", "proved: identical (1)"));
    assert!(!fits("cost 3.0", "cost 3.05"));
    assert!(!fits("cost … s", "cost 3.0"));
    assert_eq!(missing("a\nb\n", "a\nx\nb\n"), Vec::<&str>::new());
    assert_eq!(missing("b\na\n", "a\nb\n"), ["a"]);
    let folder = tempfile::tempdir().expect("a folder");
    assert!(typed("false\ntrue", folder.path()).is_err());
    assert!(typed("! true", folder.path()).is_err());
    assert_eq!(
        typed("! false\necho on", folder.path()),
        Ok("on\n".to_owned())
    );
}
