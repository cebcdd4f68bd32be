//! The same instructions give the same bytes, whatever the number of threads; and what the
//! dictionary of real instructions looks like.

use autoir::dictionary::Dictionary;
use semantics::bits::Bits;
use semantics::eval::{CompiledTerms, Input};
use semantics::instruction::Instruction;
use semantics::span::Source;
use semantics::subst::free_vars;
use semantics::term::Term;
use semantics::value::Value;
use smt::config::Config;
use smt::prover::Prover;
use std::path::Path;

/// Some instructions of every family.
fn some() -> Vec<Instruction> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../isa-specs/x86/manifest.yaml");
    let specs = spec_parser::specs::load(&manifest).expect("our specifications");
    specs.instructions.into_iter().step_by(23).collect()
}

fn dictionary(instructions: &[Instruction], threads: usize) -> Dictionary {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.expect("threads").install(|| {
        let prover = Prover::new(Config::default());
        let found = similarity::classify::classify(instructions, &prover, &|_, _, _| {});
        autoir::build::build(&found, instructions)
    })
}

#[test]
fn the_same_bytes_with_any_number_of_threads() {
    let some = some();
    let one = dictionary(&some, 1).to_string();
    assert_eq!(one, dictionary(&some, 5).to_string());
    let source = Source::new("dictionary", one.as_str());
    let back = Dictionary::read(&source).expect("what was written reads back");
    assert_eq!(back.to_string(), one);
}

#[test]
fn every_member_is_proved_and_parameters_are_few() {
    let some = some();
    let dictionary = dictionary(&some, 2);
    assert_eq!(dictionary.members().count(), some.len());
    for operation in &dictionary.operations {
        let count = operation.parameters.len();
        assert!(count <= 16, "{} has {count} parameters", operation.name);
        assert!(operation.members.iter().all(|m| !m.evidence.0.is_empty()));
    }
    let mut counts: Vec<usize> = dictionary
        .operations
        .iter()
        .map(|o| o.parameters.len())
        .collect();
    counts.sort_unstable();
    assert!(counts[counts.len() / 2] <= 6);
}

/// The member's result on bits from a generator, or on zeros.
fn result(term: Term, seed: &[Option<u64>]) -> Bits {
    let inputs: Vec<Input> = free_vars(term)
        .into_iter()
        .map(|v| Input {
            name: v.as_var().expect("a variable").to_owned(),
            sort: v.sort(),
        })
        .collect();
    let bits = |width: u32, which: usize| {
        seed.iter().flatten().fold(Bits::zero(width), |sum, s| {
            let mut state = s.wrapping_add(which as u64 * 77);
            let limbs = (0..width.div_ceil(64)).map(|_| {
                state = state
                    .wrapping_mul(0x5851_f42d_4c95_7f2d)
                    .wrapping_add(0x1405_7b7e_f767_814f);
                state ^ (state >> 29)
            });
            sum.xor(&Bits::from_limbs(width, &limbs.collect::<Vec<u64>>()))
        })
    };
    let values: Vec<Value> = inputs
        .iter()
        .enumerate()
        .map(|(k, i)| Value::Bv(bits(i.sort.width().expect("registers only"), k)))
        .collect();
    let program = CompiledTerms::compile(&[term], &inputs).expect("a closed term");
    program.run(&values)[0].bits().clone()
}

#[test]
fn what_is_marked_as_a_swizzle_only_moves_bits() {
    let dictionary = dictionary(&some(), 2);
    let swizzles = dictionary.operations.iter().filter(|o| o.swizzle);
    let mut seen = 0;
    for operation in swizzles {
        for member in &operation.members {
            let term = member.term(operation).expect("a meaning");
            // Moves are linear: the result of a difference is the difference of results.
            let [x, y, both, none] = [
                vec![Some(1)],
                vec![Some(9)],
                vec![Some(1), Some(9)],
                vec![None],
            ]
            .map(|seed| result(term, &seed));
            assert_eq!(x.xor(&y), both.xor(&none), "{}", member.name);
            seen += 1;
        }
    }
    assert!(seen > 10, "{seen} swizzles");
    let interleave = dictionary.operation("interleave").expect("interleaves");
    assert!(interleave.swizzle, "{}", interleave.formula);
}
