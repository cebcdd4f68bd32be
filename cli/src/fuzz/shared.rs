//! What strangers leave in a shared store: programs for windows, with claims that prove them.
//!
//! In: kernels of the project, compiled by some families of x86. Out: seeds, and a reader that gives
//! a mutant, whose digest is right, to the proof that stands before every use. What is proved is run
//! beside the window's own meaning on random inputs: a mutant that is taken computes the window, or
//! the process ends.

use super::formats::{Reader, family, items, texts};
use autoir::instructions::InstructionTable;
use autoir::program::Program;
use lowering::window::Window;
use semantics::eval::{self, Input};
use semantics::random::Random;
use semantics::sort::Sort;
use semantics::span::Source;
use semantics::value::Value;
use smt::prover::Prover;
use std::fs;
use std::path::Path;
use store::backend::Folder;
use store::object::Store;
use store::shared::Shared;
use synth::compile::{Options, compile, prepared};
use synth::cost::CostTable;
use synth::operations::TargetOperations;
use synth::proof::computed;
use target::RegisterClass;

/// Families that kernels of bytes and words need, of these files so many.
const FAMILIES: [(&str, usize); 5] = [
    ("arithmetic", 8),
    ("saturating", 4),
    ("minmax", 4),
    ("shift", 6),
    ("multiply", 4),
];

/// Inputs that a program which was taken is run on.
const RUNS: usize = 32;

/// The operations of some families, with registers of two widths.
fn operations() -> TargetOperations {
    let folder = tempfile::tempdir().expect("there is room");
    let mut load = family(folder.path());
    let of = |(name, count): &(&str, usize)| items(&format!("isa-specs/x86/{name}.yaml"), *count);
    let text: String = FAMILIES.iter().flat_map(of).collect();
    assert!(load(&text), "families of ours");
    let manifest = folder.path().join("manifest.yaml");
    let loaded = spec_parser::specs::load(&manifest).expect("our manifest is right");
    let prover = Prover::new(smt::config::Config::default());
    let found = similarity::classify::classify(&loaded.instructions, &prover, &|_, _, _| {});
    let dictionary = autoir::build::build(&found, &loaded.instructions);
    let table = InstructionTable::of_dictionary(&dictionary);
    let features = table
        .rows()
        .flat_map(|row| row.features().collect::<Vec<_>>());
    let features = features.map(str::to_owned).collect();
    let costs = CostTable::uniform("none", 10, 5);
    let class = |width| RegisterClass {
        width,
        c_type: format!("__m{width}i"),
        needs: None,
        count: 16,
        unrolled: None,
        held: None,
    };
    TargetOperations::new(table, features, costs, vec![class(128), class(256)])
}

/// Kernels that these families suffice for.
fn kernels() -> Vec<lowering::window::Lowered> {
    let read = texts(&[
        "examples/average.kernel",
        "examples/absolute_difference.kernel",
        "kernels/dilate3x3.kernel",
        "kernels/average_pool.kernel",
    ]);
    let lowered = |text: &String| {
        let (kernels, _) = kernel::read(&Source::new("k", text.as_str()));
        let scheduled = schedule::apply(&kernels[0]).expect("a schedule of ours");
        lowering::lower(&scheduled).expect("a kernel of ours")
    };
    read.iter().map(lowered).collect()
}

/// Each seed: the number of a window, then what was left for it.
pub(super) fn seeds() -> Vec<String> {
    let (operations, prover) = (operations(), Prover::new(smt::config::Config::default()));
    let mut seeds = Vec::new();
    let mut first = 0;
    for lowered in kernels() {
        let [own, others] = [(); 2].map(|()| tempfile::tempdir().expect("there is room"));
        let shared = Shared::new(Box::new(Folder::new(others.path())));
        let store = Store::with(Box::new(Folder::new(own.path())), Some(shared));
        let options = Options::default();
        compile(
            &lowered,
            &operations,
            &prover,
            options,
            Some(&store),
            &|_| {},
        );
        let windows = prepared(&lowered);
        for text in left(others.path()) {
            let takes = |w: &Window| synth::shared::prove(&text, w, &operations, &prover).is_ok();
            let place = windows
                .iter()
                .position(takes)
                .expect("somebody can prove it");
            seeds.push(format!("{} {text}", first + place));
        }
        first += windows.len();
    }
    assert!(seeds.len() > 3, "{} programs were left", seeds.len());
    seeds
}

/// The texts of all objects below a folder, without their first lines.
fn left(folder: &Path) -> Vec<String> {
    let mut texts = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => texts.extend(left(&path)),
            false => {
                let text = fs::read_to_string(&path).expect("it was written");
                texts.push(text.split_once('\n').expect("a first line").1.to_owned());
            }
        }
    }
    texts
}

/// Proves a mutant, and runs what was proved.
pub(super) fn reader(_: &Path) -> Reader {
    let (operations, prover) = (operations(), Prover::new(smt::config::Config::default()));
    let windows: Vec<Window> = kernels().iter().flat_map(prepared).collect();
    Box::new(move |text| {
        let Some((number, text)) = text.split_once(' ') else {
            return false;
        };
        let window = number.parse::<usize>().ok().and_then(|k| windows.get(k));
        let Some(window) = window else { return false };
        match synth::shared::prove(text, window, &operations, &prover) {
            Ok((program, _)) => {
                assert!(
                    agrees(window, &program),
                    "it is wrong, and was proved:\n{text}"
                );
                true
            }
            Err(_) => false,
        }
    })
}

/// Whether a program gives what a window does, on random inputs.
fn agrees(window: &Window, program: &Program) -> bool {
    let whole = computed(window, program);
    let inputs = window.inputs.iter().map(|i| Input {
        name: i.name.clone(),
        sort: Sort::Bv(i.ty.width()),
    });
    let inputs: Vec<Input> = inputs.collect();
    let both = eval::CompiledTerms::compile(&[whole, window.term], &inputs).expect("closed terms");
    let mut random = Random::new(7);
    (0..RUNS).all(|_| {
        let values = window
            .inputs
            .iter()
            .map(|i| Value::Bv(random.bits(i.ty.width())));
        let found = both.run(&values.collect::<Vec<_>>());
        found[0] == found[1]
    })
}
