//! Mutated pseudocode and mutated data files: no panic, bounded time, and what has a meaning
//! has one of the right width that can be compiled.
//!
//! By default a few seconds with fixed seeds. `ISAFORGE_FUZZ_MINUTES=30 cargo test --release
//! -p spec-parser --test fuzz -- --nocapture` runs on, each batch of seeds in a process of its
//! own, so that a find that kills the process is told with its text: seeds repeat only as long
//! as the specifications that they start from are the same. `ISAFORGE_FUZZ_SEED=N` runs one
//! case and prints its text. Finds become tests in `tests/hostile.rs`.

use semantics::eval::{CompiledTerms, Input};
use semantics::instruction::{Element, Form, Instruction, Operand, Role};
use semantics::random::Random;
use semantics::sort::Sort;
use semantics::span::{Source, Span};
use spec_parser::errata::Errata;
use spec_parser::family;
use spec_parser::intel::{guide, lower, vendor};
use spec_parser::manifest;
use spec_parser::signature::{Returned, Signature};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Cases of the default run.
const CASES: u64 = 2_000;
/// Cases of one process of a long run: terms live as long as their process.
const BATCH: u64 = 20_000;
/// Names the file that holds the text of the case that runs.
const LAST: &str = "ISAFORGE_FUZZ_LAST";
/// The longest time of one case: many times what the slowest needs on an idle processor.
const LONGEST: Duration = Duration::from_secs(30);

/// Texts of our own that touch every statement and operator.
const TEXTS: &[&str] = &[
    "FOR j := 0 to 31\n i := j*16\n dst[i+15:i] := Saturate16(a[i+15:i] + b[i+15:i])\nENDFOR\ndst[MAX:512] := 0\n",
    "FOR j := 0 to 31\n i := 16*j\n IF k[j]\n  dst[i+15:i] := a[i+15:i] >> imm8[3:0]\n ELSE\n  dst[i+15:i] := 0\n FI\nENDFOR\n",
    "CASE imm8[1:0] OF\n0: dst[127:0] := a[127:0]\n1: dst[127:0] := b[127:0]\nDEFAULT: dst := 0\nESAC\n",
    "DEFINE F(x[15:0], n) {\n t := x >> n\n RETURN (t << 3) OR (x AND 7)\n}\nFOR j := 0 to 7\n dst.word[j] := F(a.word[j], b.word[j])\nENDFOR\n",
    "m := 0\nFOR j := 0 to 15\n IF k[j]\n  dst[m+31:m] := a[32*j+31:32*j]\n  m := m + 32\n FI\nENDFOR\ndst[511:m] := b[511:m]\n",
    "tmp := 31\ndst[31:0] := 0\nDO WHILE (tmp >= 0 AND a[tmp] == 0)\n tmp := tmp - 1\n dst[31:0] := dst[31:0] + 1\nOD\n",
    "dst[63:0] := (a[63:0] << b[5:0]) XOR (a[63:0] >> (64 - b[5:0])) \n",
    "tmp[511:0] := b[511:0] <<< 7\ndst := imm8[0] ? tmp : NOT a\n",
    "FOR j := 0 to 7\n dst[64*j+63:64*j] := SignExtend64(a[64*j+31:64*j]) * ZeroExtend64(b[64*j+31:64*j])\nENDFOR\n",
    "FOR j := 0 to 15\n i := 32*j\n IF k[j]\n  dst[i+31:i] := MEM[p+i+31:p+i]\n FI\nENDFOR\n",
    "FOR j := 0 to 15\n i := 32*j\n dst.fp32[j] := (x.fp32[j] * y.fp32[j]) + SQRT(x.fp32[j])\nENDFOR\n",
    "CASE imm8[2:0] OF\n0: OP := _MM_CMPINT_EQ\n1: OP := _MM_CMPINT_LT\n2: OP := _MM_CMPINT_LE\nESAC\nFOR j := 0 to 31\n dst[j] := (a[16*j+15:16*j] OP b[16*j+15:16*j]) ? 1 : 0\nENDFOR\n",
    "BYTE t[4] = { 1, 2, 3, 0xff }\nFOR j := 0 to 63\n dst.byte[j] := t[a.byte[j] & 3] % 7 / 2\nENDFOR\n",
    "enum E { P := 0, Q := 3, R }\ndst[7:0] := (a[7:0] == Q) ? R : -P\n#DE\n",
    "FOR i := 15 downto 1\n n := 4*b.dword[i][3:0]\n dst.dword[i] |= POPCNT(a[n+31:n]) + ABS(a.dword[i]) - MIN(a.dword[i], b.dword[0])\nENDFOR\n",
    "dst[127:0] := MixColumns(ShiftRows(SubBytes(a[127:0])))\ndst[31:0] := MOD2(b[39:0], 0x11EDC6F41)\ndst[255:240] := STRING_COMPARE(a, 3, b, b[3:0], imm8)\n",
];

/// What stands instead of a token, beside tokens of the text itself.
const WORDS: &[&str] = &[
    "FOR",
    "ENDFOR",
    "IF",
    "FI",
    "ELSE",
    "CASE",
    "OF",
    "ESAC",
    "DEFINE",
    "RETURN",
    "DO",
    "WHILE",
    "OD",
    "BREAK",
    "to",
    "downto",
    "AND",
    "OR",
    "XOR",
    "NOT",
    "OP",
    "MAX",
    "MEM",
    "dst",
    "a",
    "b",
    "k",
    "imm8",
    "p",
    "x",
    "y",
    "tmp",
    "i",
    "j",
    ":=",
    "+=",
    "|=",
    ">>=",
    "==",
    "!=",
    "<=",
    "<<",
    ">>",
    "<<<",
    "+",
    "-",
    "*",
    "/",
    "%",
    "?",
    ":",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ".",
    ";",
    "\n",
    "#",
    "0",
    "1",
    "-1",
    "7",
    "8",
    "31",
    "63",
    "64",
    "127",
    "128",
    "511",
    "512",
    "1024",
    "8191",
    "8192",
    "65536",
    "2147483648",
    "1152921504606846976",
    "170141183460469231731687303715884105727",
    "99999999999999999999999999999999999999999999",
    "0.0",
    "1.5",
    "0x",
    "0xffffffffffffffff",
    ".byte[i]",
    ".word[j]",
    ".dword",
    ".qword[0]",
    ".m128[1]",
    ".fp32[j]",
    ".bit[3]",
    ".rows",
    "[i+15:i]",
    "[0:31]",
    "[b[3:0]]",
    "SignExtend64(",
    "Saturate8(",
    "ABS(",
    "POPCNT(",
    "FMA(",
    "ROUND(",
    "Convert_FP32_To_Int32(",
    "GETMANT(",
    "POW(",
    "//",
    "\\\n",
    "&gt;",
    "é",
    "\0",
];

fn tokens(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    for c in text.chars() {
        match out.last_mut() {
            Some(last) if word(c) && last.chars().all(word) => last.push(c),
            _ => out.push(c.to_string()),
        }
    }
    out
}

/// A change that mostly keeps the text in the grammar: a number, a name or an operator
/// becomes another one.
fn exchange(tokens: &mut [String], random: &mut Random) {
    const NUMBERS: &[&str] = &[
        "0",
        "1",
        "2",
        "3",
        "7",
        "8",
        "15",
        "16",
        "31",
        "32",
        "63",
        "64",
        "127",
        "255",
        "511",
        "512",
        "513",
        "8191",
        "100000",
        "1152921504606846976",
        "i",
        "j",
        "imm8",
        "b[3:0]",
        "k",
    ];
    const OPERATORS: &[&str] = &[
        "+", "-", "*", "/", "%", "<<", ">>", "<<<", "&", "|", "^", "<", "==",
    ];
    let numbers = |t: &String| t.starts_with(|c: char| c.is_ascii_digit());
    let names = |t: &String| t.len() < 6 && t.chars().all(|c| c.is_ascii_lowercase());
    let operators = |t: &String| OPERATORS.contains(&t.as_str());
    type Kind<'a> = (&'a dyn Fn(&String) -> bool, &'a [&'a str]);
    let (kind, choices): Kind = match random.index(4) {
        0 | 1 => (&numbers, NUMBERS),
        2 => (
            &names,
            &["a", "b", "x", "y", "k", "i", "j", "tmp", "dst", "imm8", "p"],
        ),
        _ => (&operators, OPERATORS),
    };
    let places: Vec<usize> = (0..tokens.len()).filter(|&n| kind(&tokens[n])).collect();
    if !places.is_empty() {
        let place = *random.pick(&places);
        tokens[place] = (*random.pick(choices)).to_owned();
    }
}

/// Whole lines repeated, moved or dropped.
fn lines(tokens: &mut Vec<String>, others: &[String], random: &mut Random) {
    let split = |tokens: &[String]| -> Vec<Vec<String>> {
        tokens
            .split_inclusive(|t| t == "\n")
            .map(<[String]>::to_vec)
            .collect()
    };
    let mut all = split(tokens);
    let (at, to) = (random.index(all.len()), random.index(all.len() + 1));
    match random.index(4) {
        0 => drop(all.remove(at)),
        1 => {
            let copies = 1 + random.index(30);
            let line = all[at].clone();
            all.splice(to..to, std::iter::repeat_n(line, copies));
        }
        2 => {
            let other = split(others);
            let line = random.pick(&other).clone();
            all.insert(to, line);
        }
        _ => {
            let other = random.index(all.len());
            all.swap(at, other);
        }
    }
    *tokens = all.concat();
}

/// One change of a list of tokens.
fn mutate(tokens: &mut Vec<String>, others: &[String], random: &mut Random) {
    if tokens.is_empty() {
        return;
    }
    match random.index(8) {
        0..4 => return exchange(tokens, random),
        4 | 5 => return lines(tokens, others, random),
        _ => {}
    }
    let at = random.index(tokens.len());
    let length = 1 + random.index(12);
    let end = (at + length).min(tokens.len());
    match random.index(9) {
        0 => drop(tokens.drain(at..end)),
        1 => {
            let copy: Vec<String> = tokens[at..end].to_vec();
            let to = random.index(tokens.len() + 1);
            tokens.splice(to..to, copy);
        }
        2 => {
            let other = random.index(tokens.len());
            tokens.swap(at, other);
        }
        3 | 4 => tokens.insert(at, (*random.pick(WORDS)).to_owned()),
        5 => tokens[at] = (*random.pick(WORDS)).to_owned(),
        6 => {
            let from = random.index(others.len());
            let piece = others[from..(from + 3 * length).min(others.len())].to_vec();
            tokens.splice(at..at, piece);
        }
        7 => {
            // The same lines many times over.
            let copy: Vec<String> = tokens[at..end].to_vec();
            for _ in 0..1 + random.index(40) {
                tokens.splice(at..at, copy.iter().cloned());
            }
        }
        _ => tokens.truncate(at.max(1)),
    }
}

fn operand(name: &str, c_type: &str, element: Element, width: u32, role: Role) -> Operand {
    Operand {
        name: name.to_owned(),
        c_type: c_type.to_owned(),
        element,
        width,
        role,
    }
}

/// Operands of every kind.
fn signature(random: &mut Random) -> Signature {
    let width = *random.pick(&[512, 512, 512, 128, 64, 32, 8, 0]);
    let element = *random.pick(&[
        Element::Unsigned(16),
        Element::Signed(32),
        Element::Float(32),
        Element::Mask,
    ]);
    let register = |name, element| operand(name, "__m512i", element, 512, Role::Register);
    Signature {
        name: "f".to_owned(),
        isa: "x86".to_owned(),
        returns: Returned {
            c_type: "__m512i".to_owned(),
            element,
            width,
        },
        operands: vec![
            register("a", Element::Signed(16)),
            register("b", Element::Unsigned(32)),
            register("x", Element::Float(32)),
            register("y", Element::Float(64)),
            operand("k", "__mmask32", Element::Mask, 32, Role::Mask),
            operand(
                "imm8",
                "int",
                Element::Untyped,
                8,
                Role::Immediate { max: 255 },
            ),
            operand(
                "p",
                "void*",
                Element::Untyped,
                64,
                Role::Pointer { align: 1 },
            ),
        ],
        features: Vec::new(),
        mnemonic: None,
        form: Form::Single,
    }
}

/// Bodies to start from: our own texts, and some of each family of the specifications.
fn seeds() -> Vec<(Option<Signature>, Vec<String>)> {
    let mut out: Vec<_> = TEXTS.iter().map(|t| (None, tokens(t))).collect();
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../isa-specs/x86/manifest.yaml"
    );
    let manifest = manifest::load(Path::new(path)).expect("our manifest is right");
    let members = family::load(&manifest).members;
    for member in members.iter().step_by(97) {
        let text = tokens(&member.pseudocode.text);
        out.push((Some(member.signature.clone()), text));
    }
    out
}

const FILE: &str = r#"<?xml version="1.0"?><list version="3.6.9">
<intrinsic tech="T" name="f"><type>Integer</type><CPUID>X</CPUID><category>Arithmetic</category>
<return type="__m128i" varname="dst" etype="SI16"/><parameter type="__m128i" varname="a" etype="UI8"/>
<parameter type="const int" varname="imm8" etype="IMM" immwidth="2"/><operation>
dst[127:0] := a[127:0] &gt;&gt; imm8[1:0] // &amp;
</operation><instruction name="F" form="xmm, imm8"/></intrinsic>
<intrinsic tech='SSE2' rettype='__m128i' name='_mm_max_epi16'><parameter varname='a' type='__m128i'/>
<operation><![CDATA[dst := a]]></operation></intrinsic></list>"#;

/// What a case gave, for the tally.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Refused,
    Meaning,
}

/// One case: its text, which `tell` is told, and a check of it.
fn case(seed: u64, seeds: &[(Option<Signature>, Vec<String>)], tell: &dyn Fn(&str)) -> Outcome {
    let mut random = Random::new(seed);
    if random.index(12) == 0 {
        return data_file(&mut random, tell);
    }
    let (signature_of_seed, text) = random.pick(seeds);
    let others = &random.pick(seeds).1;
    let mut text = text.clone();
    for _ in 0..1 + random.index(4) {
        mutate(&mut text, others, &mut random);
    }
    let text = text.concat();
    let signature = signature_of_seed
        .clone()
        .unwrap_or_else(|| signature(&mut random));
    tell(&format!("{signature:?}\n{text}"));
    let source = Source::new("fuzz", text.as_str());
    let whole = Span::new(0, text.len());
    match lower::lower_body(&signature, &source, whole, random.index(2) == 0) {
        Ok(instruction) => {
            sound(&signature, &instruction);
            Outcome::Meaning
        }
        Err(diagnostics) => {
            assert!(!diagnostics.is_empty(), "a refusal has a reason");
            for diagnostic in diagnostics {
                assert!(!diagnostic.to_string().is_empty());
            }
            Outcome::Refused
        }
    }
}

/// A meaning has the width of the result and can be compiled over its operands.
fn sound(signature: &Signature, instruction: &Instruction) {
    let inputs: Vec<Input> = signature
        .operands
        .iter()
        .map(|o| Input {
            name: o.name.clone(),
            sort: Sort::Bv(o.width),
        })
        .chain([Input {
            name: "mem".to_owned(),
            sort: Sort::Mem,
        }])
        .collect();
    for output in &instruction.outputs {
        if output.name == "dst" {
            assert_eq!(output.term.sort(), Sort::Bv(signature.returns.width));
        }
        if let Err(refused) = CompiledTerms::compile(&[output.term], &inputs) {
            let known = ["a function of a library", "is not an input"];
            let message = refused.message;
            assert!(known.iter().any(|k| message.contains(k)), "{message}");
        }
    }
}

fn data_file(random: &mut Random, tell: &dyn Fn(&str)) -> Outcome {
    let mut bytes = FILE.as_bytes().to_vec();
    for _ in 0..1 + random.index(8) {
        if bytes.is_empty() {
            break;
        }
        let at = random.index(bytes.len());
        let end = (at + random.index(30)).min(bytes.len());
        match random.index(5) {
            0 => drop(bytes.drain(at..end)),
            1 => bytes[at] = *random.pick(b"<>&\"'/=;![]- \nx0"),
            2 => {
                let copy = bytes[at..end].to_vec();
                bytes.splice(at..at, copy);
            }
            3 => bytes.truncate(at.max(1)),
            _ => drop(bytes.splice(at..at, random.pick(WORDS).bytes())),
        }
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    tell(&text);
    let source = Source::new("fuzz.xml", text);
    let _ = vendor::read(&source);
    match guide::load(&source, &Errata::default()) {
        Ok(loaded) if loaded.counts.lowered > 0 => Outcome::Meaning,
        _ => Outcome::Refused,
    }
}

/// What this process has computed so far: a loaded machine does not make a case slow.
fn processor_time() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::try_from(now).expect("a time since the start")
}

/// Runs cases one after the other; each must end in time.
fn batch(first: u64, count: u64, tell: &dyn Fn(&str)) -> [u64; 2] {
    let seeds = seeds();
    let mut tally = [0; 2];
    for seed in first..first + count {
        let start = processor_time();
        let outcome = case(seed, &seeds, tell);
        let time = processor_time() - start;
        assert!(time < LONGEST, "case {seed} took {time:?}");
        tally[usize::from(outcome == Outcome::Meaning)] += 1;
    }
    tally
}

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn mutated_texts_are_read_or_refused() {
    if let (Some(first), Ok(file)) = (variable("ISAFORGE_FUZZ_BATCH"), std::env::var(LAST)) {
        batch(first, BATCH, &|text| {
            std::fs::write(&file, text).expect("the file can be written");
            println!("case");
        });
        return;
    }
    if let Some(seed) = variable("ISAFORGE_FUZZ_SEED") {
        let outcome = case(seed, &seeds(), &|text| println!("{text}"));
        let word = if outcome == Outcome::Meaning {
            "has a meaning"
        } else {
            "is refused"
        };
        println!("the case {word}");
        return;
    }
    if let Some(minutes) = variable("ISAFORGE_FUZZ_MINUTES") {
        run_on(Duration::from_secs(60 * minutes));
        return;
    }
    let [refused, meaning] = batch(0, CASES, &|_| {});
    println!("{refused} refused, {meaning} with a meaning");
    assert!(meaning > CASES / 20, "few mutations survive: {meaning}");
    assert!(refused > CASES / 4, "few mutations are refused: {refused}");
}

/// Batches in processes of their own, until the time is over.
fn run_on(time: Duration) {
    let start = Instant::now();
    let program = std::env::current_exe().expect("the test has a path");
    let mut finds = 0;
    let file = std::env::temp_dir().join(format!("isaforge-fuzz-{}", std::process::id()));
    // Not the seeds of the default run, nor those of another run on this day.
    let mut first = 1_000_000 * (start_of_day() % 1_000_000);
    let begun = first;
    while start.elapsed() < time {
        let mut child = Command::new(&program)
            .args(["mutated_texts", "--nocapture"])
            .env("ISAFORGE_FUZZ_BATCH", first.to_string())
            .env(LAST, &file)
            .env_remove("ISAFORGE_FUZZ_MINUTES")
            .stdout(Stdio::piped())
            .spawn()
            .expect("the test starts again");
        let output = child.stdout.take().expect("it is piped");
        let lines = BufReader::new(output).lines().map_while(Result::ok);
        first += lines.filter(|line| line == "case").count() as u64;
        let status = child.wait().expect("it ends");
        if !status.success() {
            let text = std::fs::read_to_string(&file).unwrap_or_default();
            println!("FOUND ({status}):\n{text}");
            finds += 1;
        }
    }
    let _ = std::fs::remove_file(&file);
    println!("{} cases, {finds} finds", first - begun);
    assert_eq!(finds, 0, "cases that fail");
}

fn start_of_day() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(1, |d| d.as_secs() / 60)
}
