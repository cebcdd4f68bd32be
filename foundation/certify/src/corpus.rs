//! Small terms of one width, on which rewrites are tried.
//!
//! In: a width. Out: applications exactly as they stand ([`Corpus`]): every operator of bit
//! vectors over inputs, constants at the ends of the range, extensions, parts, sums, products,
//! choices. What is not here is not tried, so whoever names a rewrite that nothing here needs
//! hears of it.

use semantics::bits::Bits;
use semantics::op::{Op, OpCode, Smt};
use semantics::random::Random;
use semantics::sort::Sort;
use semantics::term::Term;

/// Operators of operators, for each width.
const LARGER: usize = 40;

/// Terms of one width and the applications of operators to them.
pub struct Corpus {
    /// The width.
    pub width: u32,
    /// Applications: an operator and its arguments.
    pub applications: Vec<(Op, Vec<Term>)>,
    /// Terms for rewrites that look for something larger.
    pub larger: Vec<Term>,
}

fn raw(op: Op, args: &[Term]) -> Term {
    Term::raw_app(op, args).expect("the corpus has the sorts that its operators want")
}

fn two(code: OpCode, x: Term, y: Term) -> Term {
    raw(Op::new(code), &[x, y])
}

fn one(code: OpCode, x: Term) -> Term {
    raw(Op::new(code), &[x])
}

fn part(x: Term, lo: u32, width: u32) -> Term {
    raw(Op::with(OpCode::Extract, width), &[x, Term::int(lo.into())])
}

fn extended(code: OpCode, x: Term, width: u32) -> Term {
    raw(Op::with(code, width), &[x])
}

/// An input of a width.
fn input(name: &str, width: u32) -> Term {
    Term::var(&format!("{name}{width}"), Sort::Bv(width))
}

fn constants(w: u32) -> Vec<Term> {
    let top = Bits::zero(w).with_bit(w - 1, true);
    let mut all = vec![
        Term::bits(Bits::zero(w)),
        Term::bits(Bits::one(w)),
        Term::bits(Bits::ones(w)),
        Term::bits(top.clone()),
        Term::bits(top.not()),
        Term::bv(w, 3),
        Term::bv(w, (w / 2).into()),
        Term::bv(w, w.into()),
    ];
    all.dedup();
    all
}

/// Terms of a width with something in them for rules to find.
fn words(w: u32) -> Vec<Term> {
    use OpCode as C;
    let (x, y, p) = (input("x", w), input("y", w), Term::var("p", Sort::Bool));
    let (one_, k) = (Term::bits(Bits::one(w)), Term::bv(w, 3));
    let mut all = vec![
        x,
        y,
        one(C::BvNot, x),
        one(C::BvNeg, x),
        two(C::BvAdd, x, y),
        two(C::BvAdd, x, k),
        two(C::BvSub, x, y),
        two(C::BvMul, x, k),
        two(C::BvAnd, x, k),
        two(C::BvOr, x, y),
        two(C::BvXor, x, y),
        two(C::BvXor, x, one_),
        two(C::BvShl, x, one_),
        two(C::Smin, x, y),
        two(C::Umax, x, k),
        part(input("z", 2 * w), w, w),
        part(input("z", 2 * w), 0, w),
        part(input("z", 2 * w), w / 2, w),
        raw(Op::new(C::Ite), &[p, x, y]),
        raw(Op::new(C::Ite), &[p, one_, Term::bits(Bits::zero(w))]),
        raw(Op::new(C::Ite), &[two(C::BvSlt, x, y), x, y]),
        raw(Op::new(C::Ite), &[two(C::BvUle, x, y), y, x]),
        raw(
            Op::new(C::Ite),
            &[
                two(C::BvUlt, x, y),
                two(C::BvSub, y, x),
                two(C::BvSub, x, y),
            ],
        ),
        raw(
            Op::new(C::Ite),
            &[
                two(C::BvSle, x, y),
                two(C::BvSub, y, x),
                two(C::BvSub, x, y),
            ],
        ),
        raw(Op::new(C::Ite), &[p, raw(Op::new(C::Ite), &[p, y, x]), k]),
        raw(Op::new(C::Ite), &[p, k, raw(Op::new(C::Ite), &[p, y, x])]),
    ];
    if w > 1 {
        let (h, rest) = (input("h", w / 2), input("r", w - w / 2));
        all.extend([
            extended(C::Zext, h, w),
            extended(C::Sext, h, w),
            raw(Op::new(C::Concat), &[rest, h]),
            raw(Op::new(C::Concat), &[Term::bits(Bits::zero(w - w / 2)), h]),
            two(C::BvAdd, extended(C::Zext, h, w), one_),
            two(C::BvMul, extended(C::Sext, h, w), extended(C::Sext, h, w)),
        ]);
    }
    all.extend(constants(w));
    all
}

fn truths(w: u32) -> Vec<Term> {
    use OpCode as C;
    let (x, y) = (input("x", w), input("y", w));
    let (p, q) = (Term::var("p", Sort::Bool), Term::var("q", Sort::Bool));
    vec![
        p,
        q,
        one(C::Not, p),
        two(C::And, p, q),
        two(C::Or, p, q),
        two(C::BvUlt, x, y),
        two(C::BvSle, x, y),
        two(C::Eq, x, y),
        one(C::Not, two(C::BvUlt, x, y)),
        one(C::Not, two(C::BvSle, x, y)),
        Term::bool(true),
        Term::bool(false),
    ]
}

impl Corpus {
    /// The corpus of a width.
    pub fn of(width: u32) -> Corpus {
        let mut corpus = Corpus {
            width,
            applications: Vec::new(),
            larger: Vec::new(),
        };
        let words = words(width);
        corpus.of_words(&words);
        corpus.of_parts(&words);
        corpus.of_choices(&words);
        corpus.of_indices();
        corpus.of_quotients();
        corpus.of_chains();
        corpus.of_halves();
        corpus.of_two_levels(&words);
        corpus
    }

    /// The applications as terms.
    pub fn terms(&self) -> impl Iterator<Item = Term> + '_ {
        self.applications.iter().map(|(op, args)| raw(*op, args))
    }

    /// An application, where the operator takes such arguments.
    fn add(&mut self, op: Op, args: &[Term]) {
        if Term::raw_app(op, args).is_ok() {
            self.applications.push((op, args.to_vec()));
        }
    }

    fn of_words(&mut self, words: &[Term]) {
        use OpCode as C;
        let unary = [C::BvNot, C::BvNeg, C::Abs, C::Popcnt, C::Clz, C::Ctz];
        let binary = [
            C::BvAnd,
            C::BvOr,
            C::BvXor,
            C::BvAdd,
            C::BvSub,
            C::BvMul,
            C::BvUdiv,
            C::BvUrem,
            C::BvSdiv,
            C::BvSrem,
            C::BvShl,
            C::BvLshr,
            C::BvAshr,
            C::Rotl,
            C::Rotr,
            C::BvUlt,
            C::BvUle,
            C::BvSlt,
            C::BvSle,
            C::Smin,
            C::Smax,
            C::Umin,
            C::Umax,
            C::Eq,
            C::Concat,
        ];
        for &x in words {
            for code in unary {
                self.add(Op::new(code), &[x]);
            }
            self.add(Op::new(C::Concat), &[x]);
            for &y in words {
                for code in binary {
                    self.add(Op::new(code), &[x, y]);
                }
            }
        }
    }

    fn of_parts(&mut self, words: &[Term]) {
        use OpCode as C;
        let w = self.width;
        for &x in words {
            for to in [w, w + 1, 2 * w] {
                self.add(Op::with(C::Zext, to), &[x]);
                self.add(Op::with(C::Sext, to), &[x]);
                let wider = [extended(C::Zext, x, to), extended(C::Sext, x, to)];
                for x in wider {
                    self.add(Op::with(C::Sext, 2 * w + 1), &[x]);
                    self.add(Op::new(C::Eq), &[x, Term::bv(to, 3)]);
                    self.add(Op::new(C::Eq), &[x, Term::bits(Bits::ones(to))]);
                    self.saturations(x, &[to, w + 1, w, w.div_ceil(2)]);
                    self.extractions(x);
                }
            }
            self.saturations(x, &[w, w.div_ceil(2), 1]);
            self.extractions(x);
            self.extractions(two(C::Concat, x, input("y", w)));
            for offset in [
                input("o", 3),
                extended(C::Zext, input("o", 3), 5),
                Term::bv(5, 1),
            ] {
                self.add(Op::with(C::Slice, w.div_ceil(2)), &[x, offset]);
                self.add(Op::with(C::Elem, w.div_ceil(2)), &[x, offset]);
                self.add(Op::new(C::Insert), &[x, offset, input("s", w.div_ceil(2))]);
            }
            self.add(Op::new(C::Insert), &[x, Term::bv(9, 300), input("s", 1)]);
        }
    }

    fn saturations(&mut self, x: Term, widths: &[u32]) {
        use OpCode as C;
        for &to in widths {
            for code in [C::SatSS, C::SatSU, C::SatUS, C::SatUU] {
                self.add(Op::with(code, to), &[x]);
            }
        }
    }

    fn extractions(&mut self, x: Term) {
        let w = x.width();
        for lo in [0, 1, w / 2, w - 1, w] {
            for size in [1, w.div_ceil(2), w] {
                let at = Term::int(lo.into());
                self.add(Op::with(OpCode::Extract, size), &[x, at]);
            }
        }
    }

    fn of_choices(&mut self, words: &[Term]) {
        use OpCode as C;
        let truths = truths(self.width);
        for &p in &truths {
            // Of what is not compared: a choice of it is an extreme, whose ties do not matter.
            self.extractions(raw(
                Op::new(C::Ite),
                &[p, input("z", self.width), input("y", self.width)],
            ));
            self.add(Op::new(C::Not), &[p]);
            for &q in &truths {
                for code in [C::And, C::Or, C::Eq] {
                    self.add(Op::new(code), &[p, q]);
                }
                for &r in &truths {
                    self.add(Op::new(C::Ite), &[p, q, r]);
                }
            }
            for &x in words {
                for &y in words.iter().step_by(3) {
                    self.add(Op::new(C::Ite), &[p, x, y]);
                }
            }
        }
    }

    /// Remainders and quotients by constants, rounded so that no remainder is negative.
    fn of_quotients(&mut self) {
        use OpCode as C;
        let x = input("x", self.width);
        let zero = Term::bits(Bits::zero(self.width));
        for divisor in [3, 5, -3, 4, 10] {
            let d = Term::bv(self.width, divisor);
            let (rest, quotient) = (two(C::BvSrem, x, d), two(C::BvSdiv, x, d));
            let negative = two(C::BvSlt, rest, zero);
            let size = Term::bv(self.width, divisor.abs());
            let one = Term::bv(self.width, if divisor < 0 { 1 } else { -1 });
            for (plain, by) in [(rest, size), (quotient, one)] {
                let mended = semantics::build::add(plain, by);
                self.larger
                    .push(raw(Op::new(C::Ite), &[negative, mended, plain]));
            }
            self.larger.push(two(C::BvUdiv, x, d));
            self.larger.push(two(C::BvUrem, x, d));
        }
        self.of_divisors(x);
        self.of_extended_dividends(x);
    }

    /// The same of values that were extended, of which low bits are kept.
    fn of_extended_dividends(&mut self, x: Term) {
        use OpCode as C;
        let (w, wide) = (self.width, 2 * self.width);
        for divisor in [3, -5, 10] {
            let d = Term::bv(wide, divisor);
            let signed = extended(C::Sext, x, wide);
            let rest = two(C::BvSrem, signed, d);
            let negative = two(C::BvSlt, rest, Term::bits(Bits::zero(wide)));
            let one = if divisor < 0 { 1 } else { -1 };
            for (of, by) in [(rest, divisor.abs()), (two(C::BvSdiv, signed, d), one)] {
                for kept in [w, w + 1, wide] {
                    let plain = semantics::build::extract(of, 0, kept);
                    let mended = semantics::build::add(plain, Term::bv(kept, by));
                    self.larger
                        .push(raw(Op::new(C::Ite), &[negative, mended, plain]));
                }
            }
            for (extension, codes) in [
                (C::Zext, [C::BvUdiv, C::BvUrem]),
                (C::Zext, [C::BvSdiv, C::BvSrem]),
                (C::Sext, [C::BvSdiv, C::BvSrem]),
            ] {
                for code in codes {
                    self.larger.push(two(code, extended(extension, x, wide), d));
                }
            }
        }
        let y = input("y", w);
        for (code, extension) in [(C::BvUrem, C::Zext), (C::BvSrem, C::Sext)] {
            let at = |t| extended(extension, t, wide);
            self.larger.push(two(code, at(x), at(y)));
        }
    }

    /// Quotients by what is no constant: of extended values, and beside choices by whether it is 0.
    fn of_divisors(&mut self, x: Term) {
        use OpCode as C;
        let (w, y) = (self.width, input("y", self.width));
        let zero = semantics::build::eq(y, Term::bits(Bits::zero(w)));
        for (divide, extension) in [(C::BvUdiv, C::Zext), (C::BvSdiv, C::Sext)] {
            let wide = |t: Term| extended(extension, t, 2 * w);
            self.larger.push(two(divide, wide(x), wide(y)));
            let quotient = raw(Op::new(C::Ite), &[zero, x, two(divide, x, y)]);
            let rest = two(C::BvSub, x, two(C::BvMul, quotient, y));
            self.larger.push(rest);
            self.larger.push(raw(Op::new(C::Ite), &[zero, y, quotient]));
        }
    }

    /// Zeros counted by choices, from either end.
    fn of_chains(&mut self) {
        let x = input("x", self.width);
        for code in [OpCode::Clz, OpCode::Ctz] {
            if let Smt::Defined(expand) = code.info().smt {
                self.larger.push(expand(&[], &[x]));
            }
        }
        // What constructors make of the same, written out as a person would.
        let (w, zero) = (self.width, semantics::build::zero(self.width));
        let negative = two(OpCode::BvSlt, x, zero);
        let minus = one(OpCode::BvNeg, x);
        self.larger
            .push(raw(Op::new(OpCode::Ite), &[negative, minus, x]));
        let bit = two(OpCode::Eq, part(x, w - 1, 1), Term::bv(1, 1));
        let ones = Term::bits(Bits::ones(w));
        self.larger
            .push(raw(Op::new(OpCode::Ite), &[bit, ones, zero]));
        for code in [OpCode::Clz, OpCode::Ctz, OpCode::Popcnt] {
            let enough = (u32::BITS - w.leading_zeros()).min(w);
            for size in [enough, w] {
                let count = part(one(code, x), 0, size);
                self.larger.push(extended(OpCode::Zext, count, 2 * w));
            }
        }
    }

    /// The upper word of a product by the products of halves, with what they carry: of words of which
    /// every one is tried.
    fn of_halves(&mut self) {
        use OpCode as C;
        let w = self.width;
        if !w.is_multiple_of(2) || w > 8 {
            return;
        }
        let half = w / 2;
        let of = |t: Term, upper: bool| {
            let word = part(t, if upper { half } else { 0 }, half);
            extended(C::Zext, word, w)
        };
        let (low, high) = (|t| of(t, false), |t| of(t, true));
        let add = |x: Term, y: Term| two(C::BvAdd, x, y);
        for (x, y) in [("x", input("y", w)), ("x", Term::bv(w, 11))].map(|(x, y)| (input(x, w), y))
        {
            let by = |x: Term, y: Term| two(C::BvMul, x, y);
            let crossed = [by(low(x), high(y)), by(high(x), low(y))];
            let carried = add(high(by(low(x), low(y))), low(crossed[0]));
            let carried = high(add(carried, low(crossed[1])));
            let above = add(
                add(by(high(x), high(y)), high(crossed[0])),
                high(crossed[1]),
            );
            self.larger.push(add(above, carried));
        }
    }

    /// Operators of operators, drawn at random.
    fn of_two_levels(&mut self, words: &[Term]) {
        use OpCode as C;
        let codes = [
            C::BvAnd,
            C::BvOr,
            C::BvXor,
            C::BvAdd,
            C::BvSub,
            C::BvMul,
            C::Smin,
            C::Umax,
        ];
        let mut random = Random::new(self.width.into());
        for _ in 0..LARGER {
            let mut word = || {
                let code = *random.pick(&codes);
                two(code, *random.pick(words), *random.pick(words))
            };
            let (x, y) = (word(), word());
            let t = two(*random.pick(&codes), x, y);
            let lo = random.below(self.width.into()) as u32;
            self.larger.push(t);
            self.larger.push(part(t, lo, self.width - lo));
            self.larger.push(two(C::BvSlt, x, y));
            self.larger
                .push(raw(Op::new(C::Ite), &[two(C::BvUlt, x, y), y, x]));
        }
    }

    /// Offsets with an index in them, which a map around the application binds.
    fn of_indices(&mut self) {
        use OpCode as C;
        let (w, i) = (self.width, Term::index());
        let z = input("i", 16 * w);
        let int = |n: u32| Term::int(n.into());
        let at = two(C::IntMul, i, int(w));
        let sums = [
            (C::IntAdd, two(C::IntMul, i, int(4)), int(2)),
            (C::IntMul, two(C::IntAdd, i, int(1)), int(3)),
            (
                C::IntDiv,
                two(C::IntAdd, two(C::IntMul, int(4), i), int(6)),
                int(2),
            ),
            (
                C::IntMod,
                two(C::IntAdd, two(C::IntMul, int(4), i), int(7)),
                int(2),
            ),
        ];
        for (code, x, y) in sums {
            self.add(Op::new(code), &[x, y]);
        }
        let nothing = two(C::IntAdd, two(C::IntMul, i, int(0)), int(1));
        self.add(Op::with(C::Extract, w), &[z, nothing]);
        let element = two(
            C::BvAdd,
            raw(Op::with(C::Extract, w), &[z, at]),
            Term::bv(w, 1),
        );
        let map = Term::raw_map(4, element).expect("four elements fit");
        for (lo, size) in [(w, w), (w, 2 * w), (0, 3 * w), (2 * w, w.div_ceil(2))] {
            self.add(Op::with(C::Extract, size), &[map, int(lo)]);
        }
        let inner = raw(Op::with(C::Extract, 2 * w), &[z, at]);
        self.add(Op::with(C::Extract, w), &[inner, int(w)]);
    }
}
