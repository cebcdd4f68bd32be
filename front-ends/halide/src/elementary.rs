//! `exp`, `log` and `pow` of vectors of `float32`, by polynomials.
//!
//! In: vectors. Out: the value in every lane, computed with the operations of the language: at
//! most one unit in the last place from the true value for `exp` and `log`, infinities, zeros,
//! subnormal numbers and the NaN where they belong. `pow` is the exponential of a product, so
//! that its error grows with the result's exponent, to 1e-5 of the value at the ends. Halide has
//! such polynomials too, others; single numbers are left to the C library. The polynomials were
//! fitted for this, with the least greatest error.

use super::import::Importer;
use super::value::{I32, apply, cast, constant};
use kernel::tree::{Expr, Function, Op};
use kernel::types::{Elem, Type};
use semantics::float::Format;

const F32: Elem = Elem::Float(Format::F32);

/// `(exp(r) - 1 - r) / r²` for `r` up to half of `ln 2`, lowest coefficient first.
const EXP: [u32; 5] = [
    0x3eff_fffe,
    0x3e2a_aa49,
    0x3d2a_ac79,
    0x3c09_1d10,
    0x3ab5_11e8,
];

/// `(2 artanh s - 2 s) / s³` over `s²`, for `(1 + s) / (1 - s)` from the root of ½ to that of 2.
const LOG: [u32; 4] = [0x3f2a_aaaa, 0x3ecc_cd3e, 0x3e92_1c3d, 0x3e71_828e];

/// `ln 2` as a float of few bits, 355/512, and the rest.
const LN2: [u32; 2] = [0x3f31_8000, 0xb95e_8083];

impl Importer<'_> {
    /// The function of vectors; `None` where it is left to the C library.
    pub(super) fn elementary(&mut self, function: Function, args: &[Expr]) -> Option<Expr> {
        let vectors = args.iter().any(|a| a.ty.lanes > 1) && args.iter().all(|a| a.ty.elem == F32);
        match (function, args) {
            (Function::Exp, [x]) if vectors => Some(self.exponential(x.clone())),
            (Function::Log, [x]) if vectors => Some(self.logarithm(x.clone())),
            (Function::Pow, [x, y]) if vectors => Some(self.power(x.clone(), y.clone())),
            _ => None,
        }
    }

    fn bits(&self, pattern: u32) -> Expr {
        constant(Type::scalar(F32), i128::from(pattern), self.span)
    }

    fn float(&self, value: f32) -> Expr {
        self.bits(value.to_bits())
    }

    fn whole(&self, value: i32) -> Expr {
        constant(Type::scalar(I32), i128::from(value), self.span)
    }

    fn two(&self, op: Op, a: &Expr, b: &Expr) -> Expr {
        let elem = match op {
            Op::Eq | Op::Ne | Op::Lt | Op::Le => Elem::Bool,
            _ => a.ty.elem,
        };
        self.fused_sum(apply(op, elem, vec![a.clone(), b.clone()], self.span))
    }

    fn select(&self, condition: Expr, a: &Expr, b: &Expr) -> Expr {
        let args = vec![condition, a.clone(), b.clone()];
        apply(Op::Select, a.ty.elem, args, self.span)
    }

    fn same_bits(&self, value: Expr, elem: Elem) -> Expr {
        apply(Op::Bits, elem, vec![value], self.span)
    }

    /// `c[0] + x (c[1] + x (c[2] + …))`.
    fn polynomial(&self, x: &Expr, coefficients: &[u32]) -> Expr {
        let mut terms = coefficients.iter().rev().map(|c| self.bits(*c));
        let highest = terms.next().expect("there are coefficients");
        terms.fold(highest, |sum, c| {
            self.two(Op::Add, &self.two(Op::Mul, &sum, x), &c)
        })
    }

    /// `2^n` for whole `n` from -126 to 127.
    fn power_of_two(&self, n: &Expr) -> Expr {
        let biased = self.two(Op::Add, n, &self.whole(127));
        self.same_bits(self.two(Op::Shl, &biased, &self.whole(23)), F32)
    }

    fn exponential(&mut self, x: Expr) -> Expr {
        // Of `min` and `max` the second operand is the result where one is the NaN.
        let above = self.two(Op::Max, &self.float(-105.0), &x);
        let x = self.two(Op::Min, &self.float(89.0), &above);
        let x = self.in_register("exponent", x);
        let doublings = self.two(Op::Mul, &x, &self.float(std::f32::consts::LOG2_E));
        let n = apply(Op::RoundEven, F32, vec![doublings], self.span);
        let n = self.in_register("doublings", n);
        let near = self.two(Op::Sub, &x, &self.two(Op::Mul, &n, &self.bits(LN2[0])));
        let r = self.two(Op::Sub, &near, &self.two(Op::Mul, &n, &self.bits(LN2[1])));
        let r = self.in_register("rest", r);
        let high = self.polynomial(&r, &EXP);
        let high = self.two(Op::Mul, &self.two(Op::Mul, &high, &r), &r);
        let sum = self.two(Op::Add, &high, &r);
        let sum = self.two(Op::Add, &sum, &self.float(1.0));
        let sum = self.in_register("mantissa", sum);
        // In two steps, for results that are subnormal or infinite.
        let n = self.in_register("doublings", cast(n, I32));
        let half = self.two(Op::Shr, &n, &self.whole(1));
        let other = self.two(Op::Sub, &n, &half);
        let scaled = self.two(Op::Mul, &sum, &self.power_of_two(&half));
        let scaled = self.two(Op::Mul, &scaled, &self.power_of_two(&other));
        self.in_register("exponential", scaled)
    }

    fn logarithm(&mut self, x: Expr) -> Expr {
        let x = self.in_register("argument", x);
        let small = self.two(Op::Lt, &x, &self.float(f32::MIN_POSITIVE));
        let normal = self.select(
            small.clone(),
            &self.two(Op::Mul, &x, &self.float(8_388_608.0)),
            &x,
        );
        let pattern = self.same_bits(normal, I32);
        let pattern = self.in_register("pattern", pattern);
        // What is subtracted is the pattern of the root of ½.
        let above = self.two(Op::Sub, &pattern, &self.whole(0x3f35_04f3));
        let exponent = self.two(Op::Shr, &above, &self.whole(23));
        let exponent = self.in_register("doublings", exponent);
        let scale = self.two(Op::Shl, &exponent, &self.whole(23));
        let mantissa = self.same_bits(self.two(Op::Sub, &pattern, &scale), F32);
        let f = self.two(Op::Sub, &mantissa, &self.float(1.0));
        let f = self.in_register("fraction", f);
        let less = self.select(small, &self.float(23.0), &self.float(0.0));
        let n = self.two(Op::Sub, &cast(exponent, F32), &less);
        let n = self.in_register("doublings", n);
        let s = self.two(Op::Div, &f, &self.two(Op::Add, &f, &self.float(2.0)));
        let s = self.in_register("ratio", s);
        let z = self.in_register("square", self.two(Op::Mul, &s, &s));
        let odd = self.two(Op::Mul, &self.polynomial(&z, &LOG), &z);
        let half = self.two(Op::Mul, &f, &self.two(Op::Mul, &f, &self.float(0.5)));
        let half = self.in_register("half", half);
        let odd = self.two(Op::Mul, &s, &self.two(Op::Add, &half, &odd));
        let low = self.two(Op::Mul, &n, &self.bits(LN2[1]));
        let near = self.two(Op::Sub, &half, &self.two(Op::Add, &odd, &low));
        let near = self.two(Op::Sub, &f, &near);
        let high = self.two(Op::Mul, &n, &self.bits(LN2[0]));
        let found = self.two(Op::Add, &high, &near);
        let found = self.in_register("logarithm", found);
        self.outside(&x, &found)
    }

    /// The logarithm of what has none, or an infinite one.
    fn outside(&mut self, x: &Expr, found: &Expr) -> Expr {
        let (zero, infinity) = (self.float(0.0), self.float(f32::INFINITY));
        let not = self.float(f32::NAN);
        // Infinity and the NaN are their own. A choice each, which is quickly found.
        let finite = self.two(Op::Lt, x, &infinity);
        let found = self.select(finite, found, x);
        let found = self.in_register("logarithm", found);
        let negative = self.two(Op::Lt, x, &zero);
        let found = self.select(negative, &not, &found);
        let found = self.in_register("logarithm", found);
        let none = self.two(Op::Eq, x, &zero);
        let found = self.select(none, &self.float(f32::NEG_INFINITY), &found);
        self.in_register("logarithm", found)
    }

    /// `x^y`: of a negative `x` where `y` is whole.
    fn power(&mut self, x: Expr, y: Expr) -> Expr {
        let x = self.in_register("base", x);
        let y = match y.ty.lanes {
            1 => y,
            _ => self.in_register("power", y),
        };
        let size = apply(Op::Abs, F32, vec![x.clone()], self.span);
        let log = self.logarithm(size);
        let size = self.exponential(self.two(Op::Mul, &log, &y));
        let not = self.float(f32::NAN);
        let whole = apply(Op::Trunc, F32, vec![y.clone()], self.span);
        let is_whole = self.two(Op::Eq, &whole, &y);
        let halved = self.two(Op::Mul, &y, &self.float(0.5));
        let even = apply(Op::Trunc, F32, vec![halved.clone()], self.span);
        let is_even = self.two(Op::Eq, &even, &halved);
        let opposite = apply(Op::Neg, F32, vec![size.clone()], self.span);
        let signed = self.select(is_even, &size, &opposite);
        let signed = self.in_register("signed", signed);
        let signed = self.select(is_whole, &signed, &not);
        let signed = self.in_register("signed", signed);
        let negative = self.two(Op::Lt, &x, &self.float(0.0));
        let found = self.select(negative, &signed, &size);
        let found = self.in_register("power", found);
        // Whatever the other is.
        let one = self.float(1.0);
        let nothing = self.two(Op::Eq, &y, &self.float(0.0));
        let same = self.two(Op::Eq, &x, &one);
        let either = apply(Op::Or, Elem::Bool, vec![nothing, same], self.span);
        let found = self.select(either, &one, &found);
        self.in_register("power", found)
    }
}
