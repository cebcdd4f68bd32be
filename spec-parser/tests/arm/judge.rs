//! Arm's families on an emulator: every intrinsic is compiled from its C name and run on edges
//! and random bits, many in one program, and compared with the interpreter. Skipped with a word
//! where the cross compiler or the emulator is missing. It uses nothing of `isaforge check`, so
//! that two programs that were written apart say the same. By itself it runs one intrinsic in
//! [`STEP`]; `ARM_JUDGE=all` runs all of them, `ARM_JUDGE=vqadd` those with that in their names.

use super::{program, specs};
use semantics::bits::Bits;
use semantics::instruction::{Element, Instruction};
use semantics::random::Random;
use semantics::value::Value;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use test_support::{need, skip_part};

const COMPILER: &str = "aarch64-linux-gnu-gcc";
const EMULATOR: &str = "qemu-aarch64";
const FLAGS: [&str; 6] = [
    "-O1",
    "-w",
    "-Werror=implicit-function-declaration",
    "-fmax-errors=0",
    "-ffp-contract=off",
    "-static",
];
const MARCH: &str = "-march=armv8.6-a+crypto+sha3+fp16fml";

/// Records for each intrinsic, and intrinsics in one program.
const RECORDS: usize = 1000;
const BATCH: usize = 600;
/// Of so many intrinsics one is run when nothing else is asked.
const STEP: usize = 16;
/// The most lists of constants of one intrinsic.
const LISTS: u64 = 64;

/// Whether a program runs, or why not.
fn works(program: &str) -> Result<(), String> {
    let found = Command::new(program).arg("--version").output();
    let packages = "qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross";
    match found.is_ok_and(|o| o.status.success()) {
        true => Ok(()),
        false => Err(format!("there is no {program}: apt-get install {packages}")),
    }
}

/// An intrinsic with its inputs: lists of constants, and records of a list and of values.
struct Job {
    instruction: &'static Instruction,
    lists: Vec<Vec<u32>>,
    records: Vec<(usize, Vec<Bits>)>,
}

/// Numbers at which integers of that many bits, or floats, turn.
fn edge(element: Element, width: u32, random: &mut Random) -> u64 {
    let top = 1u64 << (width - 1);
    let all = top | (top - 1);
    if let (Element::Float(_) | Element::Bfloat16, 16..=64) = (element, width) {
        let fraction = match (element, width) {
            (Element::Bfloat16, _) => 7,
            (_, 16) => 10,
            (_, 32) => 23,
            _ => 52,
        };
        let infinity = (top - 1) >> fraction << fraction;
        let one = (infinity >> 1) & infinity;
        let step = 1u64 << fraction;
        let few = random.below(8) << (fraction - 3);
        let magnitude = match random.below(12) {
            0 => 0,
            1 => 1,
            2 => step - 1,
            3 => step,
            4 => infinity - 1,
            5 => infinity,
            6 => infinity | step >> 1 | random.below(4),
            7 => infinity | 1,
            8 => one | few,
            9 => one - step * random.below(4) + few,
            _ => one + step * random.below(20) + few,
        };
        return magnitude | if random.below(2) == 0 { 0 } else { top };
    }
    let near = random.below(3).wrapping_sub(1);
    match random.below(7) {
        0 => near & all,
        1 => top.wrapping_add(near) & all,
        2 => (top - 1).wrapping_add(near) & all,
        3 => (1u64 << random.below(u64::from(width))).wrapping_add(near) & all,
        4 => random.below(2 * u64::from(width)) & all,
        5 => random.below(2 * u64::from(width)).wrapping_neg() & all,
        _ => all,
    }
}

fn value(element: Element, width: u32, random: &mut Random) -> Bits {
    let lane = element.width().unwrap_or(64).min(64).min(width);
    let style = random.below(4);
    let mut bytes = Vec::new();
    for _ in 0..width / lane {
        let number = match style {
            0 => random.next_bits(),
            1 => edge(element, lane, random),
            _ if random.below(2) == 0 => random.next_bits(),
            _ => edge(element, lane, random),
        };
        bytes.extend_from_slice(&number.to_le_bytes()[..lane as usize / 8]);
    }
    Bits::from_bytes(width, &bytes)
}

impl Job {
    fn new(instruction: &'static Instruction) -> Job {
        let seed = instruction.name.bytes().fold(17u64, |h, b| {
            (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01B3)
        });
        let mut random = Random::new(seed);
        let ranges: Vec<_> = instruction
            .operands
            .iter()
            .filter_map(|o| o.role.constants())
            .collect();
        let all: u64 = ranges.iter().map(|r| r.count()).product();
        let lists: Vec<Vec<u32>> = (0..all.min(LISTS))
            .map(|n| {
                let mut n = if all > LISTS { random.below(all) } else { n };
                let mut digit = |r: &semantics::instruction::Constants| {
                    let digit = n % r.count();
                    n /= r.count();
                    r.nth(digit).expect("it is below the count")
                };
                ranges.iter().map(&mut digit).collect()
            })
            .collect();
        let records = (0..RECORDS)
            .map(|n| {
                let registers = instruction
                    .operands
                    .iter()
                    .filter(|o| !o.role.is_constant());
                let values = registers.map(|o| value(o.element, o.width, &mut random));
                (n % lists.len(), values.collect())
            })
            .collect();
        Job {
            instruction,
            lists,
            records,
        }
    }

    fn in_bytes(&self) -> u32 {
        let registers = self
            .instruction
            .operands
            .iter()
            .filter(|o| !o.role.is_constant());
        2 + registers.map(|o| o.width / 8).sum::<u32>()
    }

    fn out_bytes(&self) -> u32 {
        self.instruction.term().width() / 8
    }

    /// The C function that runs it on one record.
    fn function(&self, number: usize) -> String {
        let instruction = self.instruction;
        let mut text = format!("static void case{number}(const uint8_t *in, uint8_t *out) {{\n");
        let mut at = 2;
        for (k, o) in instruction.operands.iter().enumerate() {
            if !o.role.is_constant() {
                let _ = write!(
                    text,
                    "{} x{k}; memcpy(&x{k}, in + {at}, {}); ",
                    o.c_type,
                    o.width / 8
                );
                at += o.width / 8;
            }
        }
        let _ = writeln!(
            text,
            "{} r; switch (in[0]) {{",
            instruction.outputs[0].c_type
        );
        for (n, list) in self.lists.iter().enumerate() {
            let mut constants = list.iter();
            let arguments: Vec<String> = instruction
                .operands
                .iter()
                .enumerate()
                .map(|(k, o)| match o.role.is_constant() {
                    true => constants.next().expect("one for each").to_string(),
                    false => format!("x{k}"),
                })
                .collect();
            let call = format!("{}({})", instruction.name, arguments.join(", "));
            let _ = writeln!(text, "case {n}: r = {call}; break;");
        }
        let _ = writeln!(
            text,
            "default: abort(); }} memcpy(out, &r, {}); }}",
            self.out_bytes()
        );
        text
    }

    /// The records on which the machine's results are others, and those with another NaN.
    fn compare(&self, results: &[u8]) -> (Vec<usize>, usize) {
        let program = program(self.instruction);
        let mut frame = program.frame(1);
        let size = self.out_bytes() as usize;
        let (mut wrong, mut nans) = (Vec::new(), 0);
        for (n, ((list, values), found)) in
            self.records.iter().zip(results.chunks(size)).enumerate()
        {
            let (mut constants, mut registers) = (self.lists[*list].iter(), values.iter());
            for (k, o) in self.instruction.operands.iter().enumerate() {
                let bits = match o.role.is_constant() {
                    true => {
                        let constant = constants.next().expect("one for each");
                        Bits::from_u64(o.width, u64::from(*constant))
                    }
                    false => registers.next().expect("one for each").clone(),
                };
                program.set(&mut frame, k, 0, &Value::Bv(bits));
            }
            program.execute(&mut frame);
            let Value::Bv(expected) = program.get(&frame, 0, 0) else {
                panic!("a result is bits");
            };
            let found = Bits::from_bytes(expected.width(), found);
            if expected != found {
                match same_but_nans(self.instruction.outputs[0].element, &expected, &found) {
                    true => nans += 1,
                    false => wrong.push(n),
                }
            }
        }
        (wrong, nans)
    }
}

/// Whether every element is the same, or a NaN in both.
fn same_but_nans(element: Element, x: &Bits, y: &Bits) -> bool {
    let (width, infinity) = match element {
        Element::Float(16) => (16, 0x7c00),
        Element::Bfloat16 => (16, 0x7f80),
        Element::Float(32) => (32, 0x7f80_0000),
        Element::Float(64) => (64, 0x7ff0_0000_0000_0000_u64),
        _ => return false,
    };
    let sign = 1u64 << (width - 1);
    (0..x.width() / width).all(|lane| {
        let part = |b: &Bits| b.extract(lane * width, width).low_u64();
        let nan = |v: u64| v & !sign > infinity;
        part(x) == part(y) || nan(part(x)) && nan(part(y))
    })
}

/// The program of some jobs.
fn text(jobs: &[&Job]) -> String {
    let mut text = String::from(
        "#include <arm_neon.h>\n#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n",
    );
    for (k, job) in jobs.iter().enumerate() {
        text.push_str(&job.function(k));
    }
    text.push_str("static const struct { void (*run)(const uint8_t *, uint8_t *); unsigned in, out; } cases[] = {\n");
    for (k, job) in jobs.iter().enumerate() {
        let _ = writeln!(
            text,
            "{{case{k}, {}, {}}},",
            job.in_bytes(),
            job.out_bytes()
        );
    }
    let _ = write!(
        text,
        "}};\nint main(void) {{\nstatic uint8_t in[4096], out[4096];\nfor (unsigned k = 0; k < sizeof cases / sizeof *cases; k++)\nfor (int n = 0; n < {RECORDS}; n++) {{\nif (fread(in, cases[k].in, 1, stdin) != 1) return 1;\ncases[k].run(in, out);\nif (fwrite(out, cases[k].out, 1, stdout) != 1) return 2; }}\nreturn 0; }}\n"
    );
    text
}

/// The names that the compiler does not know or refuses; none when it takes all.
fn refused<'a>(jobs: &[&'a Job], folder: &Path) -> BTreeSet<&'a str> {
    std::fs::write(folder.join("judge.c"), text(jobs)).expect("a temporary file");
    let output = Command::new(COMPILER)
        .args(FLAGS)
        .args([MARCH, "-o", "judge", "judge.c"])
        .current_dir(folder)
        .env("LC_ALL", "C")
        .output()
        .expect("the compiler runs");
    if output.status.success() {
        return BTreeSet::new();
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let number = |line: &str| {
        let (_, rest) = line.split_once("In function 'case")?;
        rest.split('\'').next()?.parse::<usize>().ok()
    };
    let cases = said.lines().filter_map(number).filter_map(|k| jobs.get(k));
    let found: BTreeSet<&str> = cases.map(|j| j.instruction.name.as_str()).collect();
    assert!(!found.is_empty(), "{said}");
    found
}

/// Runs some jobs; the results one after the other.
fn run(jobs: &[&Job], folder: &Path) -> Vec<u8> {
    let mut input = Vec::new();
    for (list, values) in jobs.iter().flat_map(|j| &j.records) {
        input.extend_from_slice(&u16::try_from(*list).expect("few lists").to_le_bytes());
        for value in values {
            input.extend_from_slice(&value.to_bytes());
        }
    }
    std::fs::write(folder.join("input"), input).expect("a temporary file");
    let input = std::fs::File::open(folder.join("input")).expect("it was just written");
    let output = Command::new(EMULATOR)
        .args(["-cpu", "max", "./judge"])
        .current_dir(folder)
        .stdin(input)
        .output()
        .expect("the emulator runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    output.stdout
}

/// What is asked for; nothing that takes a pointer.
fn chosen() -> Vec<&'static Instruction> {
    let asked = std::env::var("ARM_JUDGE").unwrap_or_default();
    let plain = |i: &&Instruction| i.operands.iter().all(|o| !o.role.is_pointer());
    let all = specs().instructions.iter().filter(plain);
    match asked.as_str() {
        "" => {
            skip_part!("one of {STEP} intrinsics is run: all with `ARM_JUDGE=all`");
            all.step_by(STEP).collect()
        }
        "all" => all.collect(),
        part => all.filter(|i| i.name.contains(part)).collect(),
    }
}

/// The names in `compilers.yaml`: what the compiler is known to get wrong.
fn compiler_faults() -> BTreeSet<String> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../isa-specs/arm/compilers.yaml"
    );
    let text = std::fs::read_to_string(path).expect("it is there");
    let names = text.lines().filter_map(|l| l.trim().strip_prefix("- v"));
    names.map(|n| format!("v{n}")).collect()
}

#[test]
fn every_intrinsic_agrees_with_the_emulator() {
    need!(works(COMPILER));
    need!(works(EMULATOR));
    let chosen = chosen();
    let faults = compiler_faults();
    let (mut agreed, mut other_nan, mut unknown) = (0, 0, Vec::new());
    let (mut wrong, mut known) = (String::new(), 0);
    for batch in chosen.chunks(BATCH) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let all: Vec<Job> = batch.iter().map(|i| Job::new(i)).collect();
        let mut jobs: Vec<&Job> = all.iter().collect();
        loop {
            let names = refused(&jobs, folder.path());
            if names.is_empty() {
                break;
            }
            unknown.extend(names.iter().map(|n| (*n).to_owned()));
            jobs.retain(|j| !names.contains(j.instruction.name.as_str()));
        }
        let results = run(&jobs, folder.path());
        let mut rest = results.as_slice();
        for job in jobs {
            let (own, more) = rest.split_at(job.out_bytes() as usize * RECORDS);
            rest = more;
            let (differing, nans) = job.compare(own);
            agreed += usize::from(differing.is_empty());
            other_nan += usize::from(nans > 0);
            if !differing.is_empty() && faults.contains(&job.instruction.name) {
                known += 1;
            } else if let Some(&first) = differing.first() {
                let (list, values) = &job.records[first];
                let size = job.out_bytes() as usize;
                let _ = writeln!(
                    wrong,
                    "{}: {} records differ, the first on {:x?} {values:x?}: found {:x?}",
                    job.instruction.name,
                    differing.len(),
                    job.lists[*list],
                    &own[first * size..][..size]
                );
            }
        }
    }
    println!(
        "{agreed} of {} intrinsics agree on {RECORDS} inputs each, {other_nan} up to which NaN; {known} differ by known faults of the compiler, and {} it does not know: {}",
        chosen.len(),
        unknown.len(),
        unknown.join(" ")
    );
    assert!(wrong.is_empty(), "{wrong}");
}
