//! How fast compiled terms run.
//!
//! Prints, for a few instruction-sized terms, the time of one evaluation on one input (the
//! frame is reused) and per input of a batch. Run with `cargo bench -p semantics`.

use semantics::bits::Bits;
use semantics::build as b;
use semantics::eval::CompiledTerms;
use semantics::float::{Format, Rounding};
use semantics::op::{Op, OpCode};
use semantics::sort::Sort;
use semantics::term::Term;
use semantics::value::Value;
use std::hint::black_box;
use std::time::Instant;

/// Inputs of one batch.
const BATCH: usize = 64;

/// Element `k` of a 512-bit input within the current group of `group` elements.
fn element(name: &str, width: u32, group: i64, k: i64) -> Term {
    let stride = Term::int(i64::from(width) * group);
    let lo = b::int_add(
        b::int_mul(Term::index(), stride),
        Term::int(i64::from(width) * k),
    );
    b::extract_at(Term::var(name, Sort::Bv(512)), lo, width)
}

/// Sixteen sums of two products of signed 16-bit elements (`vpmaddwd`).
fn multiply_add() -> Term {
    let product = |k| {
        let wide = |name| b::sext(element(name, 16, 2, k), 32);
        b::mul(wide("a"), wide("b"))
    };
    b::map(16, b::add(product(0), product(1)))
}

/// Sixty-four rounding averages of bytes (`vpavgb`).
fn average() -> Term {
    let wide = |name| b::zext(element(name, 8, 1, 0), 9);
    let sum = b::add(b::add(wide("a"), wide("b")), Term::bv(9, 1));
    b::map(64, b::extract(sum, 1, 8))
}

/// Thirty-two saturating sums of signed 16-bit elements (`vpaddsw`).
fn saturating_add() -> Term {
    let wide = |name| b::sext(element(name, 16, 1, 0), 17);
    b::map(32, b::sat_ss(b::add(wide("a"), wide("b")), 16))
}

/// Sixty-four bytes chosen by the low six bits of each index byte (`vpermb`).
fn permute() -> Term {
    let index = b::extract(element("b", 8, 1, 0), 0, 6);
    b::map(64, b::elem(Term::var("a", Sort::Bv(512)), index, 8))
}

/// Sixteen fused multiply-adds of single precision (`vfmadd213ps`, `a*b+a`).
fn float_multiply_add() -> Term {
    let (x, y) = (element("a", 32, 1, 0), element("b", 32, 1, 0));
    let (format, rounding) = (Format::F32, Rounding::NearestEven);
    let op = Op::with2(OpCode::FMadd, format.code(), rounding.code());
    b::map(16, b::app(op, &[x, y, x]))
}

/// The whole register shifted left by a byte: a wide operator.
fn wide_shift() -> Term {
    b::add(
        b::shl(Term::var("a", Sort::Bv(512)), Term::bv(512, 8)),
        Term::var("b", Sort::Bv(512)),
    )
}

/// Nanoseconds of one run: the best of many short rounds, so that what else the machine
/// does counts as little as possible.
fn best(mut run: impl FnMut()) -> f64 {
    let rounds = (0..400).map(|_| {
        let (start, mut count) = (Instant::now(), 0u32);
        while start.elapsed().as_micros() < 500 {
            (0..16).for_each(|_| run());
            count += 16;
        }
        start.elapsed().as_nanos() as f64 / f64::from(count)
    });
    rounds.fold(f64::INFINITY, f64::min)
}

fn input(seed: u64) -> Value {
    let limbs: Vec<u64> = (1..=8u64)
        .map(|k| (seed + k).wrapping_mul(0x9e37_79b9_7f4a_7c15))
        .collect();
    Value::Bv(Bits::from_limbs(512, &limbs))
}

fn measure(name: &str, term: Term) {
    let start = Instant::now();
    let program = CompiledTerms::of(term);
    let compile = start.elapsed().as_secs_f64() * 1e6;
    let values: Vec<Value> = (0..program.inputs().len() as u64)
        .map(|k| input(k << 32))
        .collect();
    let mut frame = program.frame(1);
    let single = best(|| {
        for (k, value) in values.iter().enumerate() {
            program.set(&mut frame, k, 0, black_box(value));
        }
        program.execute(&mut frame);
        black_box(program.get(&frame, 0, 0));
    });
    let fresh = best(|| {
        black_box(program.run(black_box(&values)));
    });
    let mut frame = program.frame(BATCH);
    for lane in 0..BATCH {
        for (k, value) in values.iter().enumerate() {
            program.set(&mut frame, k, lane, value);
        }
    }
    let batch = best(|| {
        program.execute(black_box(&mut frame));
    }) / BATCH as f64;
    println!(
        "{name:<16} compile {compile:>7.0} us   one input {single:>7.0} ns (fresh frame {fresh:>6.0} ns)   in a batch of {BATCH} {batch:>6.1} ns   {} steps",
        program.len()
    );
}

fn main() {
    measure("multiply_add", multiply_add());
    measure("average", average());
    measure("saturating_add", saturating_add());
    measure("permute", permute());
    measure("float_fma", float_multiply_add());
    measure("wide_shift", wide_shift());
}
