//! What is written: C and assembly, with Debian's toolchain for RISC-V.

use super::bench::{beside_host, gemmini, mapped};
use crate::riscv::{run, there, words};
use codegen_gen::back_end::BackEnd as _;
use codegen_gen::loops::c;
use codegen_gen::machine::{self, TextForm, Tiles};
use semantics::machine::{Machine, OperandKind};
use std::path::{Path, PathBuf};
use test_support::need;
use tile::mapped::{MappedProgram, Verdict};
use tile::program::Function;
use tile::systolic::code::{for_each_with_host, function};
use tile::systolic::place::Constraints;
use tile::systolic::plan::{Plan, Stationary};
use tile::systolic::program::CommandProgram;

const TARGET: [&str; 2] = ["-march=rv64imac", "-mabi=lp64"];

fn built(name: &str, extension: &str, text: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let source = folder.join(name).with_extension(extension);
    let object = folder.join(format!("{name}-{extension}.o"));
    std::fs::write(&source, text).expect("the test's folder can be written");
    let (from, to) = (source.display().to_string(), object.display().to_string());
    let plain = [
        "-O2",
        "-Wall",
        "-Werror",
        "-ffreestanding",
        "-nostdinc",
        "-c",
    ];
    let rest = ["-o", &to, &from];
    run("gcc", &[&TARGET[..], &plain[..], &rest[..]].concat());
    object
}

/// The machine code of commands, and its assembly.
fn assembly(machine: &Machine, program: &CommandProgram) -> (Function, String) {
    let addresses = vec![0; program.arrays.len()];
    let function = function(machine, program, &addresses).expect("a host");
    let text = machine::function(machine, &function).expect("assembly");
    (function, text)
}

/// The functions of the commands among words.
fn commands(words: &[u64]) -> Vec<u64> {
    let custom = words.iter().filter(|w| **w & 0x7f == 0x7b);
    let mut functions: Vec<u64> = custom.map(|w| w >> 25).collect();
    functions.sort_unstable();
    functions.dedup();
    functions
}

const KERNEL: &str = include_str!("../../../kernels/gemmini/matmul.kernel");

/// Blocks of 2 by 2 tiles.
fn constraints() -> Constraints {
    Constraints {
        tile: Some((2, 2)),
        ..Constraints::default()
    }
}

/// Operands that are computed where they are used took 19 instructions a command, and convolutions 11 where
/// some were kept. The model of cost lets the host issue a command every four cycles, and an
/// instruction in each: four or fewer are what that says of assembly.
#[test]
fn a_command_is_issued_every_four_instructions() {
    let machine = gemmini();
    let convolution = include_str!("../../../kernels/gemmini/conv3x3.kernel");
    let pooled = include_str!("../../../kernels/gemmini/conv3x3_pool.kernel");
    let outputs = Constraints {
        plan: Plan {
            stationary: Stationary::Outputs,
            ..Plan::default()
        },
        tile: Some((2, 2)),
        ..Constraints::default()
    };
    let usual = Constraints::default;
    for (text, sizes, constraints) in [
        (KERNEL, &[96, 128, 64][..], usual()),
        (KERNEL, &[196, 250, 100], usual()),
        (KERNEL, &[196, 256, 256], outputs),
        (convolution, &[2, 14, 14, 64, 64], usual()),
        (convolution, &[4, 7, 7, 64, 96], usual()),
        (pooled, &[1, 14, 14, 32, 32], usual()),
    ] {
        let (program, _) = mapped(&machine, text, sizes, constraints).expect("a product");
        let (mut commands, mut host) = (0, 0);
        let addresses = vec![0; program.arrays.len()];
        let counted = for_each_with_host(&machine, &program, &addresses, &mut |_, _, n| {
            commands += 1;
            host += n;
        });
        counted.expect("a host");
        println!("{sizes:?}: {host} instructions for {commands} commands");
        // What comes into registers before loops is run once.
        assert!(host + commands <= 4 * commands + 64, "{sizes:?}");
    }
}

#[test]
fn c_is_compiled_without_any_header() {
    need!(there(&["gcc"]));
    let machine = gemmini();
    let (program, _) = mapped(&machine, KERNEL, &[70, 50, 40], constraints()).expect("a product");
    let text = c(&machine, &program, &["A test.".to_owned()])
        .expect("C")
        .to_string();
    assert!(!text.contains("#include"));
    let words = words(&built("gemmini-product", "c", &text));
    // Configuration, two factors, what sums begin with, stores, preloads, both products.
    assert_eq!(commands(&words), [0, 1, 2, 3, 4, 5, 6, 14]);
    assert!(words.contains(&0x0ff0_000f), "a fence ends it");
}

/// A factor that has every other byte, and sums that go to what is there.
const ACROSS: &str = "kernel t(m: size, n: size, k: size, a: in i8[m, k], b: in i8[n, k, 2], c: inout i32[m, n]) \
    { for i in 0..m { for j in 0..n { for p in 0..k { c[i, j] += i32(a[i, p]) * i32(b[j, p, 1]); } } } }";

#[test]
fn code_of_the_host_stands_among_commands() {
    let machine = gemmini();
    let program = beside_host(&machine, ACROSS, &[19, 21, 37]);
    assert_eq!(program.host.len(), 2, "before the commands and behind them");
    need!(there(&["gcc"]));
    let text = c(&machine, &program, &["A test.".to_owned()]);
    let text = text.expect("C").to_string();
    // What is between pieces is the function's own.
    assert!(text.contains("void t(const void *a, const void *b, void *c) {"));
    let in_c = words(&built("gemmini-across", "c", &text));
    let (_, text) = assembly(&machine, &program);
    let in_assembly = words(&built("gemmini-across", "s", &text));
    for words in [in_c, in_assembly] {
        let commands = commands(&words);
        assert!([0, 2, 3, 4, 6].iter().all(|f| commands.contains(f)));
        for host in &program.host {
            let (at, values) = host.code.last().expect("a loop ends it");
            let encoding = &machine.instructions[*at].encoding;
            let last = encoding.word(values, |k| k == 2).expect("it fits");
            assert!(words.contains(&last), "{last:#x}");
        }
    }
}

/// The registers that RISC-V's calling convention has a function keep, but for the stack's; and
/// where it returns to.
const SAVED: [u32; 13] = [1, 8, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27];

/// A program whose loops fit into registers that need no keeping, and one that needs more.
#[test]
fn assembly_has_the_words_of_the_listing() {
    need!(there(&["gcc"]));
    let machine = gemmini();
    let kept = [constraints(), Constraints::default()].map(|constraints| {
        let (program, _) = mapped(&machine, KERNEL, &[70, 50, 40], constraints).expect("a product");
        let (Function { code, .. }, text) = assembly(&machine, &program);
        let found = words(&built("gemmini-product", "s", &text));
        let wanted = code.iter().map(|(at, values)| {
            let found = &machine.instructions[*at];
            let signed = |k: usize| {
                let kind = &found.operands[k].kind;
                matches!(kind, OperandKind::Immediate { signed: true, .. })
            };
            found.encoding.word(values, signed).expect("it fits")
        });
        let wanted: Vec<u64> = wanted.collect();
        // The function keeps registers around them, those that it changes: it moves the stack
        // and stores each.
        let changed = tile::frame::changed(&machine, 0, &code);
        let kept = SAVED.iter().filter(|r| changed.contains(r)).count();
        let start = if kept == 0 { 0 } else { kept + 1 };
        assert_eq!(&found[start..start + wanted.len()], wanted);
        assert_eq!(found.len(), wanted.len() + 2 * start + 1);
        kept
    });
    assert!(kept[0] == 0 && kept[1] > 1, "{kept:?}");
}

/// Names that C, or the code itself, has for something else: `v0` is a variable of its loops.
#[test]
fn names_of_kernels_and_arrays_are_names_in_c() {
    need!(toolchain::find::on_path("gcc"));
    let machine = gemmini();
    let tiles = |form| Tiles {
        machine: &machine,
        form,
    };
    for (n, [kernel, a, b, c]) in [
        ["restrict", "while", "int", "NULL"],
        ["v0", "v0", "v1", "v2"],
        ["_", "isaforge_0", "COMMAND", "op_1"],
        ["main", "main", "auto", "register"],
        ["k", "a", "b", "c"],
    ]
    .into_iter()
    .enumerate()
    {
        let text = format!(
            "kernel {kernel}(m: size, n: size, k: size, {a}: in i8[m, k], {b}: in i8[k, n], {c}: out i32[m, n]) {{ \
             for x in 0..m {{ for y in 0..n {{ var s: i32 = 0; \
             for p in 0..k {{ s += i32({a}[x, p]) * i32({b}[p, y]); }} {c}[x, y] = s; }} }} }}"
        );
        let (program, _) =
            mapped(&machine, &text, &[70, 50, 40], constraints()).expect("a product");
        let plain = n == 4;
        let addresses = vec![0; program.arrays.len()];
        let function = function(&machine, &program, &addresses);
        let mapped = MappedProgram {
            code: tile::mapped::Code::Commands(program, function),
            addresses,
            verdict: Verdict::Proved,
            untiled: Vec::new(),
        };
        let written = tiles(TextForm::C)
            .code(&mapped, &[])
            .expect("C")
            .to_string();
        let assembly = tiles(TextForm::Assembly)
            .code(&mapped, &[])
            .expect("assembly");
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("names-{n}.c"));
        std::fs::write(&file, &written).expect("the test's folder can be written");
        // The host's compiler reads all but what stands in the assembly's quotes.
        let gcc = std::process::Command::new("gcc")
            .args(["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"])
            .arg(&file)
            .output()
            .expect("gcc runs");
        let told = String::from_utf8_lossy(&gcc.stderr);
        assert!(gcc.status.success(), "{told}\n{written}");
        let (_, rest) = written.split_once("\nvoid ").expect("a function");
        let (function, rest) = rest.split_once('(').expect("parameters");
        let parameters = rest.split(')').next().expect("parameters");
        let label = format!("{function}:");
        assert!(assembly.to_string().contains(&label), "{function}");
        // Loops have their variables for themselves.
        assert!(!parameters.contains("*v0,"), "{parameters}");
        assert_eq!(plain, parameters.ends_with("*c"), "{parameters}");
    }
}
