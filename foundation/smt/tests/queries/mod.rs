//! The queries that are known to defeat solvers, as pairs of terms.
//!
//! In: nothing. Out: [`all`]. Used by the tests, which hold each to its verdict, and by the
//! benchmark, which times them.

use semantics::bits::Bits;
use semantics::build as b;
use semantics::sort::Sort;
use semantics::term::Term;

/// What is known of a query.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Known {
    /// Equal, and the normal form shows it.
    NormalForm,
    /// Equal; an engine is asked about one element.
    Equal,
    /// Different.
    Different,
}

/// One query.
pub(crate) struct Query {
    /// What it asks, in words.
    pub(crate) name: &'static str,
    /// One side.
    pub(crate) a: Term,
    /// The other.
    pub(crate) b: Term,
    /// What is known of it.
    pub(crate) known: Known,
    /// Number of output elements.
    pub(crate) elements: usize,
}

fn reg(name: &str, width: u32) -> Term {
    Term::var(name, Sort::Bv(width))
}

/// Element `k` of a register.
fn el(t: Term, k: u32, width: u32) -> Term {
    b::extract(t, k * width, width)
}

/// A register from its elements, the first least significant.
fn lanes(count: u32, f: impl Fn(u32) -> Term) -> Term {
    let parts: Vec<Term> = (0..count).rev().map(f).collect();
    b::concat(&parts)
}

fn constant(element: Bits, count: u32) -> Term {
    lanes(count, |_| Term::bits(element.clone()))
}

fn madd(a: Term, c: Term, k: u32, width: u32) -> Term {
    let product = |i| b::mul(b::sext(el(a, i, 16), width), b::sext(el(c, i, 16), width));
    b::add(product(2 * k), product(2 * k + 1))
}

/// The 32-bit product of two 16-bit integers from the low half and the high half of it.
fn halves(a: Term, c: Term) -> Term {
    let product = b::mul(b::sext(a, 32), b::sext(c, 32));
    b::concat(&[b::extract(product, 16, 16), b::mul(a, c)])
}

/// Two 512-bit registers.
fn pair() -> (Term, Term) {
    (reg("x", 512), reg("y", 512))
}

fn wide_sum() -> (Term, Term) {
    let (x, y) = pair();
    let low = constant(Bits::from_u64(16, 0x7fff), 32);
    let high = constant(Bits::from_u64(16, 0x8000), 32);
    let sum = b::add(b::and(x, low), b::and(y, low));
    let wide = b::xor(sum, b::and(b::xor(x, y), high));
    (lanes(32, |k| b::add(el(x, k, 16), el(y, k, 16))), wide)
}

fn commuted() -> (Term, Term) {
    // Written without the smart constructors, which would order the operands themselves.
    let (x, y) = pair();
    let raw = |code, p, q| {
        Term::raw_app(semantics::op::Op::new(code), &[p, q]).expect("both have one width")
    };
    let product = |p, q, i| {
        raw(
            semantics::op::OpCode::BvMul,
            b::sext(el(p, i, 16), 32),
            b::sext(el(q, i, 16), 32),
        )
    };
    let dot = |p, q| {
        lanes(16, |k| {
            raw(
                semantics::op::OpCode::BvAdd,
                product(p, q, 2 * k + 1),
                product(p, q, 2 * k),
            )
        })
    };
    (lanes(16, |k| madd(x, y, k, 32)), dot(y, x))
}

fn widened_first() -> (Term, Term) {
    let (x, y) = pair();
    let wide = |k| {
        let sum = madd(x, y, k, 64);
        b::concat(&[b::extract(sum, 16, 16), b::extract(sum, 0, 16)])
    };
    (lanes(16, |k| madd(x, y, k, 32)), lanes(16, wide))
}

fn from_halves(count: u32) -> (Term, Term) {
    let (x, y) = (reg("x", 32 * count), reg("y", 32 * count));
    let by_halves = lanes(count, |k| {
        let product = |i| halves(el(x, i, 16), el(y, i, 16));
        b::add(product(2 * k), product(2 * k + 1))
    });
    (lanes(count, |k| madd(x, y, k, 32)), by_halves)
}

fn interleaved() -> (Term, Term) {
    let (acc, a1, b1, a2, b2) = (
        reg("acc", 512),
        reg("a1", 256),
        reg("b1", 256),
        reg("a2", 256),
        reg("b2", 256),
    );
    let interleave =
        |p: Term, q: Term| lanes(32, |k| el(if k % 2 == 0 { p } else { q }, k / 2, 16));
    let (p, q) = (interleave(a1, a2), interleave(b1, b2));
    let dot = lanes(16, |k| b::add(el(acc, k, 32), madd(p, q, k, 32)));
    let product = |p, q, k| b::mul(b::sext(el(p, k, 16), 32), b::sext(el(q, k, 16), 32));
    let sums = lanes(16, |k| {
        b::add(
            b::add(product(b2, a2, k), el(acc, k, 32)),
            product(a1, b1, k),
        )
    });
    (dot, sums)
}

fn saturating_sum() -> (Term, Term) {
    let (x, y) = pair();
    let wide = lanes(32, |k| {
        b::sat_ss(
            b::add(b::sext(el(x, k, 16), 32), b::sext(el(y, k, 16), 32)),
            16,
        )
    });
    let by_overflow = lanes(32, |k| {
        let (a, c) = (el(x, k, 16), el(y, k, 16));
        let sum = b::add(a, c);
        let overflow = b::bit(b::and(b::xor(a, sum), b::xor(c, sum)), 15);
        let limit = b::ite(b::bit(a, 15), Term::bv(16, 0x8000), Term::bv(16, 0x7fff));
        b::ite(overflow, limit, sum)
    });
    (wide, by_overflow)
}

fn rounding_average() -> (Term, Term) {
    let (x, y) = pair();
    let wide = lanes(64, |k| {
        let sum = b::add(
            b::add(b::zext(el(x, k, 8), 16), b::zext(el(y, k, 8), 16)),
            Term::bv(16, 1),
        );
        b::extract(b::lshr(sum, Term::bv(16, 1)), 0, 8)
    });
    let narrow = lanes(64, |k| {
        let (a, c) = (el(x, k, 8), el(y, k, 8));
        b::sub(b::or(a, c), b::lshr(b::xor(a, c), Term::bv(8, 1)))
    });
    (wide, narrow)
}

fn population_count(count: u32) -> (Term, Term) {
    let x = reg("x", 32 * count);
    let tricks = |x: Term| {
        let k = |n: i128| Term::bv(32, n);
        let masked = |t: Term, n: i128, m: i128| b::and(b::lshr(t, k(n)), k(m));
        let t = b::sub(x, masked(x, 1, 0x5555_5555));
        let t = b::add(b::and(t, k(0x3333_3333)), masked(t, 2, 0x3333_3333));
        let t = b::and(b::add(t, b::lshr(t, k(4))), k(0x0f0f_0f0f));
        b::lshr(b::mul(t, k(0x0101_0101)), k(24))
    };
    (
        lanes(count, |k| b::popcnt(el(x, k, 32))),
        lanes(count, |k| tricks(el(x, k, 32))),
    )
}

fn eight_bit_halves() -> (Term, Term) {
    let (x, y) = (reg("x", 16), reg("y", 16));
    let low = |t| b::zext(el(t, 0, 8), 32);
    let high = |t| b::sext(el(t, 1, 8), 32);
    let k = |n| Term::bv(32, n);
    let cross = b::add(b::mul(high(x), low(y)), b::mul(low(x), high(y)));
    let sum = b::add(b::mul(low(x), low(y)), b::mul(cross, k(256)));
    let sum = b::add(sum, b::shl(b::mul(high(x), high(y)), k(16)));
    (b::mul(b::sext(x, 32), b::sext(y, 32)), sum)
}

fn wrapping_against_saturating(count: u32) -> (Term, Term) {
    let (x, y) = (reg("x", 32 * count), reg("y", 32 * count));
    (
        lanes(count, |k| madd(x, y, k, 32)),
        lanes(count, |k| b::sat_ss(madd(x, y, k, 64), 32)),
    )
}

/// The rounded high half of a product as the instruction says it and as a kernel does.
fn rounded_product(saturate: bool) -> (Term, Term) {
    let (x, y) = pair();
    let product = |k: u32| b::mul(b::sext(el(x, k, 16), 32), b::sext(el(y, k, 16), 32));
    let instruction = lanes(32, |k| {
        let half = b::add(b::ashr(product(k), Term::bv(32, 14)), Term::bv(32, 1));
        b::extract(half, 1, 16)
    });
    let kernel = lanes(32, |k| {
        let sum = b::ashr(b::add(product(k), Term::bv(32, 0x4000)), Term::bv(32, 15));
        if saturate {
            b::sat_ss(sum, 16)
        } else {
            b::extract(sum, 0, 16)
        }
    });
    (instruction, kernel)
}

fn absolute_difference() -> (Term, Term) {
    let (x, y) = pair();
    let subtract = |a: Term, c: Term| b::sat_su(b::sub(b::zext(a, 16), b::zext(c, 16)), 8);
    let joined = lanes(64, |k| {
        b::or(
            subtract(el(x, k, 8), el(y, k, 8)),
            subtract(el(y, k, 8), el(x, k, 8)),
        )
    });
    let size = lanes(64, |k| {
        let d = b::sub(b::zext(el(x, k, 8), 16), b::zext(el(y, k, 8), 16));
        b::extract(b::abs(d), 0, 8)
    });
    (joined, size)
}

/// Every query.
pub(crate) fn all() -> Vec<Query> {
    use Known::{Different, Equal, NormalForm};
    let query = |name, (a, b), known, elements| Query {
        name,
        a,
        b,
        known,
        elements,
    };
    vec![
        query(
            "32 x i16 add, lanes against a carry-suppressed wide add",
            wide_sum(),
            NormalForm,
            32,
        ),
        query(
            "pmaddwd 512-bit, operands commuted",
            commuted(),
            NormalForm,
            16,
        ),
        query(
            "pmaddwd 512-bit, widened first",
            widened_first(),
            NormalForm,
            16,
        ),
        query(
            "pmaddwd, one lane, products from high and low halves",
            from_halves(1),
            NormalForm,
            1,
        ),
        query(
            "pmaddwd 512-bit, products from high and low halves",
            from_halves(16),
            NormalForm,
            16,
        ),
        query(
            "unpack + dpwssd against two products, re-associated",
            interleaved(),
            NormalForm,
            16,
        ),
        query(
            "saturating i16 add, 32 lanes, widened against overflow bits",
            saturating_sum(),
            Equal,
            32,
        ),
        query(
            "rounding average u8, 64 lanes, widened against bit tricks",
            rounding_average(),
            Equal,
            64,
        ),
        query(
            "popcount by bit tricks, 32-bit, 1 lane",
            population_count(1),
            NormalForm,
            1,
        ),
        query(
            "popcount by bit tricks, 32-bit, 16 lanes",
            population_count(16),
            NormalForm,
            16,
        ),
        query(
            "16x16 product from 8-bit halves",
            eight_bit_halves(),
            NormalForm,
            1,
        ),
        query(
            "wrap against saturate, 16 lanes of pmaddwd",
            wrapping_against_saturating(16),
            Different,
            16,
        ),
        query(
            "wrap against saturate, 1 lane of pmaddwd",
            wrapping_against_saturating(1),
            Different,
            1,
        ),
        query(
            "rounded high product, instruction against kernel",
            rounded_product(false),
            NormalForm,
            32,
        ),
        query(
            "rounded high product against its saturating kin",
            rounded_product(true),
            Different,
            32,
        ),
        query(
            "absolute difference u8 from saturating subtractions",
            absolute_difference(),
            Equal,
            64,
        ),
    ]
}
