//! The matrix dialect on RVM: words, meanings against plain loops, and mistakes.

use semantics::bits::Bits;
use semantics::eval::{CompiledTerms, Input};
use semantics::machine::Machine;
use semantics::random::Random;
use semantics::value::{Memory, Value};
use spec_parser::matrix::load::load;
use std::path::{Path, PathBuf};

fn specs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../isa-specs/rvm")
}

fn rvm() -> Machine {
    let (machine, wrong) = load(&specs().join("manifest.yaml")).expect("the manifest is right");
    assert!(
        wrong.is_empty(),
        "{}",
        semantics::diagnostic::render(&wrong)
    );
    machine
}

/// A copy of the specification with one text replaced, under a folder of its own.
fn edited(name: &str, file: &str, from: &str, to: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("a folder for the test");
    for each in ["manifest.yaml", "matrix.yaml", "host.yaml"] {
        let text = std::fs::read_to_string(specs().join(each)).expect("our specification");
        let text = if each == file {
            assert!(text.contains(from), "`{from}` is in {file}");
            text.replacen(from, to, 1)
        } else {
            text
        };
        std::fs::write(folder.join(each), text).expect("the test's folder can be written");
    }
    folder.join("manifest.yaml")
}

fn messages(name: &str, file: &str, from: &str, to: &str) -> String {
    match load(&edited(name, file, from, to)) {
        Ok((_, wrong)) | Err(wrong) => semantics::diagnostic::render(&wrong),
    }
}

/// Bytes of which some are at the edges of their type.
fn edgy_bytes(random: &mut Random, count: usize) -> Vec<u8> {
    let edges = [0x00, 0xff, 0x80, 0x7f, 0x01];
    let byte = |x: u64| match x % 3 {
        0 => edges[(x >> 8) as usize % edges.len()],
        _ => (x >> 16) as u8,
    };
    (0..count).map(|_| byte(random.next_bits())).collect()
}

/// Runs one instruction on values of its inputs by name; gives its first output.
fn run(machine: &Machine, name: &str, values: &[(&str, Value)]) -> Value {
    let found = machine.instruction(name).expect("it is specified");
    let inputs: Vec<Input> = values
        .iter()
        .map(|(name, value)| Input {
            name: (*name).to_owned(),
            sort: value.sort(),
        })
        .collect();
    let term = semantics::unroll::unroll(found.instruction.term());
    let program = CompiledTerms::compile(&[term], &inputs).expect("the inputs are given");
    let values: Vec<Value> = values.iter().map(|v| v.1.clone()).collect();
    program.run(&values).remove(0)
}

fn tile(bytes: &[u8]) -> Value {
    let width = u32::try_from(bytes.len() * 8).expect("a tile is small");
    Value::Bv(Bits::from_bytes(width, bytes))
}

fn element(bytes: &[u8], row: usize, k: usize, size: usize, row_bytes: usize) -> i32 {
    let at = row * row_bytes + k * size;
    match size {
        1 => i32::from(bytes[at] as i8),
        2 => i32::from(i16::from_le_bytes([bytes[at], bytes[at + 1]])),
        _ => i32::from_le_bytes(bytes[at..at + 4].try_into().expect("4 bytes")),
    }
}

/// C += A * transposed B in plain loops.
fn product(c: &[u8], a: &[u8], b: &[u8], size: usize, rows: usize) -> Vec<u8> {
    let row_bytes = 4 * rows;
    let mut out = c.to_vec();
    for i in 0..rows {
        for j in 0..rows {
            let mut sum = element(c, i, j, 4, row_bytes);
            for k in 0..row_bytes / size {
                let (x, y) = (
                    element(a, i, k, size, row_bytes),
                    element(b, j, k, size, row_bytes),
                );
                sum = sum.wrapping_add(x.wrapping_mul(y));
            }
            out[i * row_bytes + 4 * j..][..4].copy_from_slice(&sum.to_le_bytes());
        }
    }
    out
}

fn products_agree(machine: &Machine, rows: usize, times: usize) {
    let mut random = Random::new(rows as u64);
    for (name, size) in [("mmasa.w", 4), ("mmada.h", 2), ("mmaqa.b", 1)] {
        for _ in 0..times {
            let mut bytes = || edgy_bytes(&mut random, rows * rows * 4);
            let (c, a, b) = (bytes(), bytes(), bytes());
            let values = [("md", tile(&c)), ("ms1", tile(&a)), ("ms2", tile(&b))];
            let expected = product(&c, &a, &b, size, rows);
            assert_eq!(run(machine, name, &values), tile(&expected), "{name}");
        }
    }
}

#[test]
fn words_are_the_vendors() {
    let machine = rvm();
    let expected: [(&str, u64, u64); 7] = [
        ("fmmacc.s", 0x0800_082b, 0xff00_7fff),
        ("mmasa.w", 0xf000_082b, 0xff00_7fff),
        ("mmada.h", 0xe000_042b, 0xff00_7fff),
        ("mmaqa.b", 0x1000_002b, 0xff00_7fff),
        ("mzero", 0xf800_002b, 0xfffc_7fff),
        ("mld.w", 0x0400_082b, 0xfe00_7c7f),
        ("mst.w", 0x0c00_082b, 0xfe00_7c7f),
    ];
    for (name, bits, mask) in expected {
        let encoding = &machine.instruction(name).expect("it is specified").encoding;
        assert_eq!((encoding.bits, encoding.mask), (bits, mask), "{name}");
    }
}

#[test]
fn operands_stand_as_the_assembler_has_them() {
    let machine = rvm();
    let mac = machine.instruction("mmasa.w").expect("it is specified");
    // md = 5, ms2 = 2, ms1 = 1.
    assert_eq!(mac.text(&machine, &[5, 2, 1]), "mmasa.w m5, m2, m1");
    let word = mac.encoding.word(&[5, 2, 1], |_| false).expect("it fits");
    let fields = [word >> 15 & 7, word >> 18 & 7, word >> 21 & 7];
    assert_eq!(fields, [5, 1, 2], "md, the left factor, the transposed one");
    let load = machine.instruction("mld.w").expect("it is specified");
    assert_eq!(load.text(&machine, &[3, 10, 11]), "mld.w m3, (a0), a1");
    let word = load
        .encoding
        .word(&[3, 10, 11], |_| false)
        .expect("it fits");
    assert_eq!(word >> 7 & 7, 3, "the tile of a load is in bits 9:7");
}

#[test]
fn products_are_plain_loops() {
    products_agree(&rvm(), 4, 40);
}

#[test]
fn eight_by_eight_is_one_number() {
    let path = edited("eight", "manifest.yaml", "ROWS: 4 ", "ROWS: 8 ");
    let (machine, wrong) = load(&path).expect("the manifest is right");
    assert!(
        wrong.is_empty(),
        "{}",
        semantics::diagnostic::render(&wrong)
    );
    assert_eq!(machine.files[0].width, 8 * 256);
    products_agree(&machine, 8, 3);
}

#[test]
fn floats_are_rounded_twice_and_in_order() {
    let machine = rvm();
    let mut random = Random::new(7);
    let (mut differs, rows) = (0, 4);
    for _ in 0..50 {
        let mut floats = || -> Vec<f32> {
            let one = |x: u64| ((x % 2001) as f32 - 1000.0) / 7.0;
            (0..16).map(|_| one(random.next_bits())).collect()
        };
        let (c, a, b) = (floats(), floats(), floats());
        let bytes = |v: &[f32]| tile(&v.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>());
        let mut out = c.clone();
        for i in 0..rows {
            for j in 0..rows {
                let mut fused = c[i * 4 + j];
                for k in 0..4 {
                    out[i * 4 + j] += a[i * 4 + k] * b[j * 4 + k];
                    fused = a[i * 4 + k].mul_add(b[j * 4 + k], fused);
                }
                differs += usize::from(fused.to_bits() != out[i * 4 + j].to_bits());
            }
        }
        let values = [("md", bytes(&c)), ("ms1", bytes(&a)), ("ms2", bytes(&b))];
        assert_eq!(run(&machine, "fmmacc.s", &values), bytes(&out));
    }
    assert!(differs > 0, "the data tells fused from unfused");
}

fn memory(bytes: &[(u64, u8)]) -> Value {
    let mut memory = Memory::default();
    bytes.iter().for_each(|&(at, b)| memory.write(at, &[b]));
    Value::Mem(memory)
}

fn scalar(x: u32) -> Value {
    Value::Bv(Bits::from_u64(32, u64::from(x)))
}

#[test]
fn strides_are_bytes_and_wrap() {
    let machine = rvm();
    let mut random = Random::new(3);
    for (base, stride) in [
        (0x1000_u32, 16_u32),
        (0x1000, 20),
        (0x1000, 0),
        (0x1000, 0_u32.wrapping_sub(16)),
        (0xffff_fff0, 32),
    ] {
        let data = edgy_bytes(&mut random, 4096);
        let at =
            |i: u32, j: u32| u64::from(base.wrapping_add(i.wrapping_mul(stride)).wrapping_add(j));
        let bytes: Vec<(u64, u8)> = (0..4)
            .flat_map(|i| (0..16).map(move |j| (i, j)))
            .map(|(i, j)| (at(i, j), data[at(i, j) as usize % 4096]))
            .collect();
        let expected: Vec<u8> = bytes
            .iter()
            .map(|&(at, _)| data[at as usize % 4096])
            .collect();
        let values = [
            ("mem", memory(&bytes)),
            ("rs1", scalar(base)),
            ("rs2", scalar(stride)),
        ];
        assert_eq!(
            run(&machine, "mld.w", &values),
            tile(&expected),
            "{base:#x} {stride:#x}"
        );
        let stored = edgy_bytes(&mut random, 64);
        let values = [
            ("ms", tile(&stored)),
            ("mem", memory(&[])),
            ("rs1", scalar(base)),
            ("rs2", scalar(stride)),
        ];
        let mut after = Memory::default();
        for i in 0..4 {
            for j in 0..16 {
                after.write(at(i, j), &[stored[(i * 16 + j) as usize]]);
            }
        }
        assert_eq!(
            run(&machine, "mst.w", &values),
            Value::Mem(after),
            "{base:#x} {stride:#x}"
        );
    }
    let zero = run(&machine, "mzero", &[]);
    assert_eq!(zero, tile(&[0; 64]));
}

#[test]
fn mistakes_are_told_with_place_and_hint() {
    let cases = [
        (
            "overlap",
            "matrix.yaml",
            "encoding: 11110 00",
            "encoding: 00001 00",
            "is both `fmmacc.s` and `mmasa.w`",
        ),
        (
            "name",
            "matrix.yaml",
            "ms1.s32[i][k] * ms2",
            "ms3.s32[i][k] * ms2",
            "did you mean `ms1`?",
        ),
        (
            "types",
            "matrix.yaml",
            "s32(ms1.s16[i][k])",
            "ms1.s16[i][k]",
            "this is s32, and s16 is expected",
        ),
        (
            "width",
            "matrix.yaml",
            "for k in 0..RLEN/32",
            "for k in 0..ms2/32",
            "elements have no quotient here",
        ),
        (
            "row",
            "matrix.yaml",
            "for i in 0..ROWS { for j in 0..ROWS",
            "for i in 0..9 { for j in 0..ROWS",
            "has no row 4",
        ),
        (
            "bits",
            "matrix.yaml",
            "ms2:3 ms1:3 md:3 000 10",
            "ms2:3 ms1:3 md:3 00 10",
            "these are 31 bits",
        ),
        (
            "lost",
            "matrix.yaml",
            "ms2:3 ms1:3 md:3 000 10",
            "ms2:3 000 md:3 000 10",
            "the operand `ms1` is not in the word",
        ),
        (
            "few",
            "matrix.yaml",
            "ms2:3 ms1:3 md:3 000 10",
            "0 ms2:2 ms1:3 md:3 000 10",
            "there are 8 registers `m`",
        ),
        (
            "text",
            "matrix.yaml",
            "\"{md}, {ms2}, {ms1}\"",
            "\"{md}, {ms2}\"",
            "the operand `ms1` is not in the text",
        ),
        (
            "same",
            "matrix.yaml",
            "[md, ms2]]",
            "[md, ms7]]",
            "are not both operands",
        ),
        (
            "grammar",
            "matrix.yaml",
            "md.s32[i][j] += ms1",
            "md.s32[i][j] ++ ms1",
            "unexpected `+`",
        ),
        (
            "kind",
            "matrix.yaml",
            "operands: {md: m}",
            "operands: {md: q}",
            "is no kind of operand",
        ),
        (
            "size",
            "manifest.yaml",
            "RLEN: 32 * ROWS",
            "RLEN: 32 * ROW",
            "did you mean `ROWS`?",
        ),
        (
            "whole",
            "manifest.yaml",
            "row: RLEN",
            "row: 24",
            "rows of 24 cannot be",
        ),
        (
            "twice",
            "matrix.yaml",
            "instruction: mmada.h",
            "instruction: mmasa.w",
            "is there twice",
        ),
        (
            "endless",
            "manifest.yaml",
            "XLEN: 32 ",
            "XLEN: 1 << 99 ",
            "cannot be computed",
        ),
    ];
    for (name, file, from, to, expected) in cases {
        let text = messages(name, file, from, to);
        assert!(text.contains(expected), "{name}: {text}");
        assert!(text.contains("  = hint: "), "{name}: {text}");
        assert!(text.contains(&format!("{file}:")), "{name}: {text}");
    }
}

#[test]
fn one_mistake_costs_one_instruction() {
    let path = edited(
        "cost",
        "matrix.yaml",
        "ms1.s32[i][k] * ms2",
        "ms3.s32[i][k] * ms2",
    );
    let (machine, wrong) = load(&path).expect("the manifest is right");
    assert_eq!(wrong.len(), 1, "{}", semantics::diagnostic::render(&wrong));
    assert_eq!(machine.instructions.len() + 1, rvm().instructions.len());
}

/// Each argument is read once: twice at each level would be as often as two to the depth.
#[test]
fn functions_in_functions_take_no_longer() {
    let ours = specs().join("../gemmini");
    let folder = tempfile::tempdir().expect("a temporary folder");
    for entry in std::fs::read_dir(&ours).expect("our specification") {
        let path = entry.expect("a file").path();
        if path.is_file() {
            let name = path.file_name().expect("it has a name");
            std::fs::copy(&path, folder.path().join(name)).expect("there is room");
        }
    }
    let path = folder.path().join("compute.yaml");
    let text = std::fs::read_to_string(&path).expect("it is there");
    let from = "max(a_rows, 4)";
    assert!(text.contains(from));
    let deep = format!("{}a_rows{}", "max(".repeat(60), ", 4)".repeat(60));
    std::fs::write(&path, text.replace(from, &deep)).expect("there is room");
    let (machine, wrong) = load(&folder.path().join("manifest.yaml")).expect("it is right");
    assert!(wrong.is_empty() && !machine.instructions.is_empty());
}
