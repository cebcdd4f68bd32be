//! Our Arm families: they load, the meanings of a few are known by heart, and where Arm's own
//! table of intrinsics is at hand every C signature is that table's, and what it lists and we
//! do not have is counted. That part is skipped with a word where the table is absent.

mod support;

use semantics::bits::Bits;
use semantics::instruction::Instruction;
use spec_parser::specs::Specs;
use std::collections::BTreeMap;
use std::sync::OnceLock;
use support::{assert_whole, find, program, result, shipped};
use test_support::need;

#[path = "arm/judge.rs"]
mod judge;

const TABLE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../shared/vendor/arm/advsimd.csv"
);

fn specs() -> &'static Specs {
    static SPECS: OnceLock<Specs> = OnceLock::new();
    SPECS.get_or_init(|| shipped("arm"))
}

/// The result of an intrinsic on operands given as little-endian bytes of their width.
fn run(name: &str, operands: &[u128]) -> u128 {
    let instruction = find(specs(), name);
    let value = |(value, width): (&u128, u32)| {
        Bits::from_bytes(width, &value.to_le_bytes()[..width as usize / 8])
    };
    let widths = instruction.operands.iter().map(|o| o.width);
    let result = result(instruction, operands.iter().zip(widths).map(value));
    result.to_u128().expect("at most 128 bits")
}

#[test]
fn all_families_have_meanings() {
    assert_whole(specs());
}

#[test]
fn elements_are_added_apart() {
    assert_eq!(run("vadd_u8", &[0xff01, 0x02ff]), 0x0100);
    assert_eq!(run("vadd_s16", &[0xffff_0001, 0x0001_0001]), 0x0000_0002);
}

/// Rows of the table that are slips: of twelve functions of one kind these alone name bytes
/// where the others name their own element.
const SLIPS: [&str; 4] = ["vld3_mf8", "vld3q_mf8", "vst1_mf8_x4", "vst1q_mf8_x4"];

/// The rows of the table: name, and the C types of the result and of the operands; or why there is
/// none.
fn table() -> Result<BTreeMap<String, Vec<String>>, String> {
    let text = std::fs::read_to_string(TABLE)
        .map_err(|error| format!("no table of Arm's intrinsics: {error}"))?;
    let signature = |line: &str| {
        let (head, tail) = line.split('\t').next()?.split_once('(')?;
        let (returns, name) = head.trim().rsplit_once(' ')?;
        let operands = tail.trim_end().trim_end_matches(')').split(',');
        let mut types = vec![returns.trim().to_owned()];
        for operand in operands.filter(|o| !o.trim().is_empty() && o.trim() != "void") {
            if operand.contains("__builtin_constant_p") {
                types.push("constant".to_owned());
                continue;
            }
            let end = operand.trim_end().rfind([' ', '*'])?;
            types.push(plain(&operand[..=end]));
        }
        let name = name.trim().to_owned();
        name.starts_with('v').then_some((name, types))
    };
    Ok(text.lines().filter_map(signature).collect())
}

/// A C type without qualifiers that change nothing for its value.
fn plain(c_type: &str) -> String {
    let words = c_type.replace('*', " * ");
    let words: Vec<&str> = words.split_whitespace().collect();
    let pointer = words.contains(&"*");
    let kept = words.into_iter().filter(|w| pointer || *w != "const");
    kept.collect::<Vec<_>>().join(" ")
}

#[test]
fn signatures_are_those_of_arms_table() {
    let table = need!(table());
    let mut wrong = Vec::new();
    let mut missing: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let ours: BTreeMap<&str, &Instruction> = specs()
        .instructions
        .iter()
        .map(|i| (i.name.as_str(), i))
        .collect();
    for (name, types) in &table {
        let Some(instruction) = ours.get(name.as_str()) else {
            let stem = name.split('_').next().unwrap_or(name);
            missing.entry(stem).or_default().push(name);
            continue;
        };
        let returned = instruction
            .outputs
            .first()
            .map_or("void", |o| o.c_type.as_str());
        let operands = instruction.operands.iter().map(|o| match o.role {
            role if role.is_constant() => "constant".to_owned(),
            _ => plain(&o.c_type),
        });
        let own: Vec<String> = std::iter::once(plain(returned)).chain(operands).collect();
        if own != *types && !SLIPS.contains(&name.as_str()) {
            wrong.push(format!("{name}: {own:?}, in the table {types:?}"));
        }
    }
    let foreign: Vec<&&str> = ours.keys().filter(|n| !table.contains_key(**n)).collect();
    let left: usize = missing.values().map(Vec::len).sum();
    println!(
        "{} of {} intrinsics of the table",
        table.len() - left,
        table.len()
    );
    for (stem, names) in &missing {
        println!("  left: {stem} {}: {}", names.len(), names.join(" "));
    }
    assert!(foreign.is_empty(), "not in the table: {foreign:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
