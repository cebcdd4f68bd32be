//! Pipelines that Halide 21 has written, unmodified, and what Halide itself computes for them: each
//! is read in both forms, run by the evaluator on Halide's inputs, and compared. `pipelines/make.py`
//! writes the files.

use halide::{Constants, Convention, Import, Options, read};
use kernel::data::{Limits, generate};
use kernel::eval::{Data, run};
use kernel::types::Elem;
use semantics::diagnostic::{Diagnostic, lines};
use semantics::span::Source;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pipelines")
}

fn names() -> Vec<String> {
    let entries = std::fs::read_dir(folder()).expect("the folder is there");
    let paths = entries.map(|entry| entry.expect("it can be read").path());
    let texts = paths.filter(|path| path.extension().is_some_and(|e| e == "stmt"));
    let name = |path: PathBuf| {
        path.file_stem()
            .expect("a name")
            .to_string_lossy()
            .into_owned()
    };
    let mut names: Vec<String> = texts.map(name).collect();
    names.sort();
    names
}

fn source(name: &str) -> Source {
    let path = folder().join(format!("{name}.stmt"));
    let text = std::fs::read_to_string(path).expect("the text is there");
    Source::new(format!("{name}.stmt"), text)
}

fn constants(name: &str) -> Constants {
    match std::fs::read_to_string(folder().join(format!("{name}.c"))) {
        Ok(text) => Constants::of(&text),
        Err(_) => Constants::default(),
    }
}

fn import(name: &str, convention: Convention) -> Import {
    let constants = constants(name);
    let options = Options {
        sums: 512,
        ..Options::new(convention, &constants)
    };
    read(&source(name), &options).unwrap_or_else(|d| panic!("{name}: {}", lines(&d)))
}

/// The numbers that `make.py` fills an input with.
fn filled(kind: &str, count: usize, seed: u64) -> Vec<i128> {
    let number = |at: usize| {
        let n = (at as u64)
            .wrapping_mul(2_654_435_761)
            .wrapping_add(seed * 40503)
            % (1 << 32);
        i128::from(n >> 7)
    };
    let float = |x: i128| i128::from((x as f32 / 16.0).to_bits());
    let value = |at| match kind {
        "f32" => float(number(at) % 2000 - 900),
        "positive" => float(number(at) % 2000 + 4),
        "bool" => number(at) & 1,
        _ => Elem::by_name(kind).expect("a type").wrap(number(at)),
    };
    (0..count).map(value).collect()
}

/// What is given to a pipeline, and what Halide computes.
struct Expected {
    data: Data,
    tolerance: f64,
    outputs: Vec<(String, String, Vec<i128>)>,
}

fn expected(name: &str) -> Expected {
    let path = folder().join(format!("{name}.expected"));
    let text = std::fs::read_to_string(path).expect("the results are there");
    let (mut data, mut tolerance, mut outputs) = (Data::default(), 0.0, Vec::new());
    let mut rest = text.lines();
    while let Some(line) = rest.next() {
        let words: Vec<&str> = line.split(' ').collect();
        let mut extents = |name: &str, words: &[&str]| -> usize {
            let mut count = 1;
            for (d, word) in words.iter().filter(|w| !w.is_empty()).enumerate() {
                let extent: i64 = word.parse().expect("an extent");
                data.sizes.insert(format!("{name}_extent_{d}"), extent);
                count *= usize::try_from(extent).expect("it is not negative");
            }
            count
        };
        match words[..] {
            ["tolerance", value] => tolerance = value.parse().expect("a number"),
            ["input", name, kind, seed, ref dims @ ..] => {
                let count = extents(name, dims);
                let values = filled(kind, count, seed.parse().expect("a seed"));
                data.arrays.insert(name.to_owned(), values);
            }
            ["output", name, kind, ref dims @ ..] => {
                let count = extents(name, dims);
                let values = rest.next().expect("values follow").split(' ');
                let values: Vec<i128> = values.map(|v| v.parse().expect("a number")).collect();
                assert_eq!(values.len(), count, "{name}");
                data.arrays.insert(name.to_owned(), vec![0; count]);
                outputs.push((name.to_owned(), kind.to_owned(), values));
            }
            ["scalar", name, kind, value] => scalar(&mut data, name, kind, value),
            _ => panic!("{line}"),
        }
    }
    Expected {
        data,
        tolerance,
        outputs,
    }
}

fn scalar(data: &mut Data, name: &str, kind: &str, value: &str) {
    if kind == "i32" {
        let value: i64 = value.parse().expect("a number");
        data.sizes.insert(format!("{name}_above"), value.max(0));
        data.sizes.insert(format!("{name}_below"), (-value).max(0));
        return;
    }
    let value = match kind {
        "f32" => i128::from(value.parse::<f32>().expect("a number").to_bits()),
        "bool" => i128::from(value == "True"),
        _ => value.parse().expect("a number"),
    };
    data.scalars.insert(name.to_owned(), value);
}

fn same(kind: &str, found: i128, wanted: i128, tolerance: f64) -> bool {
    if kind != "f32" {
        return found == wanted;
    }
    let value = |bits: i128| f64::from(f32::from_bits(u32::try_from(bits).expect("32 bits")));
    let (found, wanted) = (value(found), value(wanted));
    let apart = (found - wanted).abs();
    found.is_nan() && wanted.is_nan()
        || found == wanted
        || apart <= tolerance * wanted.abs().max(1.0)
}

#[test]
fn results_are_those_of_halide() {
    let names = names();
    assert!(names.len() >= 34, "{names:?}");
    let mut wrong = Vec::new();
    for name in names {
        let import = import(&name, Convention::Pointers);
        let expected = expected(&name);
        let after = run(&import.kernel, &expected.data).unwrap_or_else(|e| panic!("{name}: {e}"));
        for (output, kind, wanted) in &expected.outputs {
            let found = &after.arrays[output];
            for (at, (&f, &w)) in found.iter().zip(wanted).enumerate() {
                let tolerance = expected.tolerance;
                if !same(kind, f, w, tolerance) {
                    wrong.push(format!("{name}: {output}[{at}] is {f}, not {w}"));
                }
            }
            assert_eq!(found.len(), wanted.len(), "{name}: {output}");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn arguments_are_found_on_which_they_run() {
    for name in names() {
        for convention in [Convention::Pointers, Convention::Buffers] {
            let kernel = import(&name, convention).on_samples();
            for seed in 0..4 {
                let data = generate(&kernel, seed, &Limits::default());
                let data = data.unwrap_or_else(|| panic!("{name}: no sizes for {convention:?}"));
                let ran = run(&kernel, &data);
                ran.unwrap_or_else(|e| panic!("{name}, {convention:?}, seed {seed}: {e}"));
            }
        }
    }
}

#[test]
fn constants_that_the_text_rounds_need_the_other_output() {
    let text = source("sigmoid");
    let wrong = read(
        &text,
        &Options::new(Convention::Pointers, &Constants::default()),
    )
    .expect_err("it is rounded");
    let log = lines(&wrong);
    assert!(
        log.contains("is not a f32 exactly") && log.contains("--constants"),
        "{log}"
    );
    let others = Constants::of("float_from_bits(1065353216 /* 1 */)");
    let log = lines(
        &read(&text, &Options::new(Convention::Pointers, &others))
            .expect_err("it is not among them"),
    );
    assert!(log.contains("none of the constants"), "{log}");
    let alike = "%2 = fmul <8 x float> %1, splat (float 0xBFB7154760000000)\n\
        %3 = fmul float %2, 0xBFB7154780000000\n%4 = fadd float 1.000000e+00, %3\n";
    let log = lines(
        &read(
            &text,
            &Options::new(Convention::Pointers, &Constants::of(alike)),
        )
        .expect_err("there are two"),
    );
    assert!(log.contains("several constants"), "{log}");
}

#[test]
fn constants_that_are_taken_as_printed_are_told_of() {
    let import = import("library", Convention::Pointers);
    let log = lines(&import.warnings);
    assert!(log.contains("with six decimals"), "{log}");
    assert!(!lines(&import_plainly("sigmoid").warnings).contains("six decimals"));
}

fn import_plainly(name: &str) -> Import {
    import(name, Convention::Pointers)
}

#[test]
fn arrays_of_truth_values_and_interleaved_ones_keep_their_form() {
    let within = import("within", Convention::Buffers);
    let truths: BTreeMap<&str, bool> = within
        .arguments
        .list
        .iter()
        .filter_map(|argument| match argument {
            halide::Argument::Buffer(buffer) => Some(buffer),
            _ => None,
        })
        .map(|b| (within.kernel.arrays[b.array].name.as_str(), b.truth))
        .collect();
    assert_eq!(truths, [("a", false), ("m", true), ("within", true)].into());
    let chunky = import("interleaved", Convention::Pointers);
    let halide::Argument::Buffer(a) = &chunky.arguments.list[0] else {
        panic!("the first argument is a buffer");
    };
    assert_eq!(a.order, [2, 0, 1]);
}

#[test]
fn lanes_that_are_moved_one_at_a_time_are_told_of() {
    let lanes = |name: &str| import_plainly(name).one_by_one;
    let table = lanes("table");
    assert!(table.iter().all(|(_, why)| why.contains("elements: ")));
    assert!(!table.is_empty() && !lanes("equalized").is_empty());
    // Masks that hold for whole vectors, edges and tails are no such.
    for name in ["diagonal", "kept", "slide", "rounded"] {
        assert!(lanes(name).is_empty(), "{name}: {:?}", lanes(name));
    }
}

/// What Halide writes checks its bounds; where the text says something else, the place is told.
#[test]
fn places_outside_of_buffers_are_told_of() {
    let outside = |warnings: &[Diagnostic]| {
        let log = warnings
            .iter()
            .filter(|w| w.message.contains(" is outside dimension "));
        log.cloned().collect::<Vec<_>>()
    };
    for name in names() {
        let found = outside(&import(&name, Convention::Pointers).warnings);
        assert!(found.is_empty(), "{name}: {}", lines(&found));
    }
    let text = source("grey").text().to_owned();
    for (from, to) in [
        (
            "let t27 = grey.extent.0/16",
            "let t27 = (grey.extent.0/16) + 1",
        ),
        ("(grey.s0.x.x*16) + t38", "(grey.s0.x.x*32) + t38"),
        ("+ t32\n", "+ (t32 + 16)\n"),
    ] {
        assert!(text.contains(from), "{from}");
        let source = Source::new("grey.stmt", text.replacen(from, to, 1));
        let import = read(
            &source,
            &Options::new(Convention::Pointers, &Constants::default()),
        );
        let found = outside(&import.unwrap_or_else(|d| panic!("{}", lines(&d))).warnings);
        assert_eq!(found.len(), 1, "{to}");
    }
}

#[test]
fn a_word_that_is_nearly_known_and_another_output_of_halide_are_told() {
    let text = source("grey").text().to_owned();
    let said = |text: String| {
        let source = Source::new("f.stmt", text);
        let wrong = read(
            &source,
            &Options::new(Convention::Pointers, &Constants::default()),
        )
        .err();
        semantics::diagnostic::render(&wrong.expect("it is refused"))
    };
    let log = said(text.replacen("a[ramp(", "a[ramq(", 1));
    assert!(log.contains("if this is `ramp`"), "{log}");
    let c = std::fs::read_to_string(folder().join("tiny.c")).expect("it is there");
    let log = said(c);
    assert!(log.contains("this is the C that Halide writes"), "{log}");
}
