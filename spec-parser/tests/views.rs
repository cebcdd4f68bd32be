//! Views of commands on declared state: what they mean, and mistakes in them.

use semantics::bits::Bits;
use semantics::eval::{CompiledTerms, Input};
use semantics::instruction::Instruction;
use semantics::machine::Machine;
use semantics::random::Random;
use semantics::sort::Sort;
use semantics::unroll::unroll;
use semantics::value::Value;
use spec_parser::matrix::load::load;
use std::path::{Path, PathBuf};

fn specs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../isa-specs/gemmini")
}

/// The specification with one edit in a file; its machine, and messages.
fn edited(file: &str, from: &str, to: &str) -> (Machine, String) {
    let folder = tempfile::tempdir().expect("there is room");
    for entry in specs().read_dir().expect("it is there") {
        let path = entry.expect("it is listed").path();
        let mut text = std::fs::read_to_string(&path).expect("it is text");
        if path.ends_with(file) {
            assert!(text.contains(from), "{from}");
            text = text.replacen(from, to, 1);
        }
        let name = path.file_name().expect("a file");
        std::fs::write(folder.path().join(name), text).expect("there is room");
    }
    let (machine, wrong) = load(&folder.path().join("manifest.yaml")).expect("it is a machine");
    (machine, semantics::diagnostic::render(&wrong))
}

fn view<'m>(machine: &'m Machine, name: &str) -> &'m Instruction {
    let found = machine.views.iter().find(|v| v.name == name);
    found.expect("the view is there")
}

/// Elements of a value, as signed numbers.
fn elements(bits: &Bits, width: u32) -> Vec<i64> {
    let shift = 64 - width;
    let one = |k| (bits.extract(k * width, width).low_u64() << shift).cast_signed() >> shift;
    (0..bits.width() / width).map(one).collect()
}

fn product_agrees(machine: &Machine, name: &str, rows: usize, transposed: bool) {
    let view = view(machine, name);
    let inputs: Vec<Input> = view
        .operands
        .iter()
        .map(|o| Input {
            name: o.name.clone(),
            sort: Sort::Bv(o.width),
        })
        .collect();
    let program = CompiledTerms::compile(&[unroll(view.term())], &inputs).expect("all are inputs");
    let mut random = Random::new(5);
    let values: Vec<Bits> = view.operands.iter().map(|o| random.bits(o.width)).collect();
    let (a, b) = (elements(&values[0], 8), elements(&values[1], 8));
    let c = elements(&values[2], 32);
    let expected = (0..rows * rows).map(|at| {
        let (i, j) = (at / rows, at % rows);
        let right = |k: usize| {
            if transposed {
                b[j * rows + k]
            } else {
                b[k * rows + j]
            }
        };
        let sum: i64 = (0..rows).map(|k| a[i * rows + k] * right(k)).sum();
        i64::from((c[at] + sum) as i32)
    });
    let run = program.run(&values.iter().cloned().map(Value::Bv).collect::<Vec<_>>());
    assert_eq!(elements(run[0].bits(), 32), expected.collect::<Vec<_>>());
}

#[test]
fn products_are_plain_loops() {
    let (machine, wrong) = edited("views.yaml", "", "");
    assert_eq!(wrong, "");
    product_agrees(&machine, "tile_product", 16, false);
    product_agrees(&machine, "tile_product_transposed", 16, true);
    let (machine, wrong) = edited("manifest.yaml", "DIM: 16 ", "DIM: 8 ");
    assert_eq!(wrong, "");
    product_agrees(&machine, "tile_product", 8, false);
}

/// What is left out is what was wrong: the other views are there.
fn refused(from: &str, to: &str, message: &str, hint: &str) {
    let (machine, wrong) = edited("views.yaml", from, to);
    assert!(wrong.contains(message), "{wrong}");
    assert!(wrong.contains(hint), "{wrong}");
    assert!(wrong.contains("views.yaml:"), "{wrong}");
    assert_eq!(machine.views.len(), 2, "{wrong}");
    assert_eq!(
        machine.instructions.len(),
        edited("views.yaml", "", "").0.instructions.len()
    );
}

#[test]
fn mistakes_are_told_and_stop_no_other() {
    refused(
        "ld_stride[0] = ",
        "ld_stride[1] = ",
        "`ld_stride[0]` was never set",
        "a view sets every field that its commands read",
    );
    refused(
        "a: {array: accumulator, at: 0, rows: DIM}\n    b:",
        "a: {array: accumulator, at: 1, rows: DIM}\n    b:",
        "the row 0 of `accumulator` was never written",
        "a view sets every field",
    );
    refused(
        "array: mem, at: 0x1000, rows: DIM, columns: DIM, type: acc",
        "array: memory, at: 0x1000, rows: DIM, columns: DIM, type: acc",
        "`memory` is no tile of this machine",
        "rows of spad, accumulator, pe; or of `mem`",
    );
    refused(
        "type: acc}\n  writes: {array: accumulator, at: 0, rows: DIM}",
        "type: acc}\n  writes: {array: accumulator, at: 0, rows: DIM + 1}",
        "it does not write row 16 of its result",
        "",
    );
    refused(
        "rows: DIM, columns: DIM, type: acc",
        "rows: 1000, columns: DIM, type: acc",
        "a tile of 1000 rows and 16 columns cannot be",
        "up to 256 of each",
    );
}

#[test]
fn mistakes_in_blocks_are_told_and_stop_no_other() {
    let all = edited("blocks.yaml", "", "").0.blocks.len();
    for (from, to, message) in [
        ("{size: DIM}", "{size: 0}", "a size of up to 0 cannot be"),
        (
            "{size: DIM}",
            "{sized: DIM}",
            "the operand `n` is not what was expected",
        ),
        (
            "type: elem, rows: n",
            "type: elm, rows: n",
            "there is no type `elm`",
        ),
        (
            "array: spad, rows: n",
            "array: pad, rows: n",
            "`pad` is no array of this machine",
        ),
        (
            "rows: n, columns: m",
            "rows: n",
            "an operand is a size, a real number or a tile",
        ),
        ("rows: n, columns: m", "rows: r, columns: m", "`r`"),
        ("src_stride)", "stride)", "`stride`"),
        (
            "instruction: load_sums",
            "instruction: load",
            "the block `load` is there twice",
        ),
    ] {
        let (machine, wrong) = edited("blocks.yaml", from, to);
        assert!(wrong.contains(message), "{wrong}");
        assert!(wrong.contains("blocks.yaml:"), "{wrong}");
        assert_eq!(machine.blocks.len(), all - 1, "{wrong}");
    }
}
