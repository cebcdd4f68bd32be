//! Our HVX families: they load, the meanings of a few are known by heart, and where clang's
//! header of intrinsics is at hand every C signature is that header's, and what it lists and we
//! do not have is counted. That part is skipped with a word where the header is absent.

mod support;

use semantics::bits::Bits;
use semantics::instruction::Instruction;
use spec_parser::specs::Specs;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;
use support::{assert_whole, find, result, shipped};
use test_support::need;

fn specs() -> &'static Specs {
    static SPECS: OnceLock<Specs> = OnceLock::new();
    SPECS.get_or_init(|| shipped("hvx"))
}

/// The result of an intrinsic on operands whose bytes repeat.
fn run(name: &str, operands: &[&[u8]]) -> Vec<u8> {
    let instruction = find(specs(), name);
    let repeated = |(bytes, width): (&&[u8], u32)| {
        let bytes = bytes.iter().copied().cycle().take(width as usize / 8);
        Bits::from_bytes(width, &bytes.collect::<Vec<u8>>())
    };
    let widths = instruction.operands.iter().map(|o| o.width);
    result(instruction, operands.iter().zip(widths).map(repeated)).to_bytes()
}

#[test]
fn all_families_have_meanings() {
    assert_whole(specs());
}

#[test]
fn elements_are_read_as_their_fields_say() {
    assert_eq!(
        run("Q6_Vub_vavg_VubVub_rnd", &[&[255, 0], &[254, 1]])[..2],
        [255, 1]
    );
    assert_eq!(
        run("Q6_Vb_vavg_VbVb", &[&[255, 1], &[254, 0]])[..2],
        [254, 0]
    );
    let pair = run("Q6_Wh_vmpy_VubVb", &[&[255, 2], &[255, 3]]);
    assert_eq!((&pair[..2], &pair[128..130]), (&[1, 255][..], &[6, 0][..]));
}

#[test]
fn what_is_read_and_written_begins_as_its_operand() {
    let sum = run(
        "Q6_Vw_vrmpyacc_VwVubVb",
        &[&[10, 0, 0, 0], &[1, 2, 3, 4], &[1, 1, 1, 255]],
    );
    assert_eq!(sum[..4], [12, 0, 0, 0]);
}

#[test]
fn predicates_are_bytes() {
    let greater = run("Q6_Q_vcmp_gt_VhVh", &[&[0, 128, 1, 0], &[0, 0, 0, 0]]);
    assert_eq!(greater[..4], [0, 0, 255, 255]);
    let chosen = run("Q6_V_vmux_QVV", &[&[0, 4], &[1], &[2]]);
    assert_eq!(chosen[..2], [2, 1]);
}

#[test]
fn sums_of_numbers_with_and_without_a_factor_are_exact() {
    // Index 3 of the second 32 entries of the first table: element 35, byte 70 of the register.
    let table: Vec<u8> = (0..128).collect();
    let found = run("Q6_Vb_vlut32_VbVbR_nomatch", &[&[3], &table, &[1, 0, 0, 0]]);
    assert_eq!(found[0], 70);
}

/// Types of the header's comments as C compilers know them.
fn plain(c_type: &str) -> String {
    match c_type.trim() {
        "Word32" => "int".to_owned(),
        "Word64" => "long long".to_owned(),
        other => other.to_owned(),
    }
}

/// Clang's table of intrinsics: for each name the C types of the result and of the operands; or why
/// there is none.
fn table() -> Result<BTreeMap<String, Vec<String>>, String> {
    let folder = Command::new("clang-19")
        .arg("-print-resource-dir")
        .output()
        .map_err(|error| format!("there is no clang-19: {error}"))?;
    let folder = String::from_utf8_lossy(&folder.stdout).trim().to_owned();
    let header = Path::new(&folder).join("include/hvx_hexagon_protos.h");
    let text = std::fs::read_to_string(header)
        .map_err(|error| format!("no header of HVX intrinsics: {error}"))?;
    let signature = |line: &str| {
        let (_, prototype) = line.split_once("C Intrinsic Prototype: ")?;
        let (head, tail) = prototype.split_once('(')?;
        let (returns, name) = head.trim().rsplit_once(' ')?;
        let mut types = vec![plain(returns)];
        for operand in tail.trim_end().trim_end_matches(')').split(',') {
            let operand = operand.trim();
            if let Some((c_type, name)) = operand.rsplit_once(' ') {
                let constant = name.starts_with("Iu");
                types.push(if constant {
                    "constant".to_owned()
                } else {
                    plain(c_type)
                });
            }
        }
        Some((name.to_owned(), types))
    };
    Ok(text.lines().filter_map(signature).collect())
}

#[test]
fn signatures_are_those_of_clangs_header() {
    let table = need!(table());
    let ours: BTreeMap<&str, &Instruction> = specs()
        .instructions
        .iter()
        .map(|i| (i.name.as_str(), i))
        .collect();
    let mut wrong = Vec::new();
    let mut missing = Vec::new();
    for (name, types) in &table {
        let Some(instruction) = ours.get(name.as_str()) else {
            missing.push(name.as_str());
            continue;
        };
        let returned = instruction.outputs.first().map_or("void", |o| &o.c_type);
        let operands = instruction.operands.iter().map(|o| match o.role {
            role if role.is_constant() => "constant".to_owned(),
            _ => o.c_type.clone(),
        });
        let own: Vec<String> = std::iter::once(returned.to_owned())
            .chain(operands)
            .collect();
        if own != *types {
            wrong.push(format!("{name}: {own:?}, in the header {types:?}"));
        }
    }
    let foreign: Vec<&&str> = ours
        .keys()
        .filter(|n| n.starts_with("Q6_") && !table.contains_key(**n))
        .collect();
    println!(
        "{} of {} intrinsics of the header",
        table.len() - missing.len(),
        table.len()
    );
    println!("  left: {}", missing.join(" "));
    assert!(foreign.is_empty(), "not in the header: {foreign:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
