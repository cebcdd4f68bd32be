//! Comparisons and classes of floats, as IEEE 754 has them on patterns.
//!
//! In: an operator, patterns as words. Out: a truth value; nothing for other operators, of which
//! arithmetic is one.

use crate::circuit::{Circuit, Lit};
use crate::words::{Word, Words, constant};
use semantics::bits::Bits;
use semantics::float::Format;
use semantics::op::{Op, OpCode};

/// A pattern without its sign, and the sign.
fn split(word: &[Lit]) -> (&[Lit], Lit) {
    let (sign, size) = word.split_last().expect("a float has bits");
    (size, *sign)
}

impl Words {
    /// Whether floats compare so, or a float is of a class.
    pub(crate) fn of_floats(&mut self, op: Op, a: &Word, b: &Word) -> Option<Lit> {
        use OpCode as C;
        if !matches!(op.code, C::FUnord | C::FEq | C::FLt | C::FLe | C::FClass) {
            return None;
        }
        let format = Format::from_code(op.params[0])?;
        if op.code == C::FClass {
            return Some(self.of_class(format, a, b));
        }
        let nan = [a, b].map(|word| self.is_nan(format, word));
        let unordered = self.circuit.or(nan[0], nan[1]);
        if op.code == C::FUnord {
            return Some(unordered);
        }
        let both = self.each(a, b, Circuit::or);
        let zeros = !self.any(split(&both).0);
        let holds = match op.code {
            C::FEq => {
                let same = self.equal(a, b);
                self.circuit.or(same, zeros)
            }
            C::FLt => {
                let less = self.of_numbers(a, b);
                self.circuit.and(less, !zeros)
            }
            _ => {
                let greater = self.of_numbers(b, a);
                self.circuit.or(!greater, zeros)
            }
        };
        Some(self.circuit.and(holds, !unordered))
    }

    /// Whether a number is less than another, zeros having signs.
    fn of_numbers(&mut self, a: &Word, b: &Word) -> Lit {
        let ((_, s), (_, t)) = (split(a), split(b));
        let (up, down) = (self.less(a, b, false), self.less(b, a, false));
        let negative = self.circuit.choice(t, down, Lit::TRUE);
        let positive = self.circuit.and(!t, up);
        self.circuit.choice(s, negative, positive)
    }

    fn is_nan(&mut self, format: Format, word: &[Lit]) -> Lit {
        let (size, _) = split(word);
        let infinity = Bits::from_u64(size.len() as u32, format.infinity());
        self.less(&constant(&infinity), size, false)
    }

    fn any(&mut self, bits: &[Lit]) -> Lit {
        let bits = bits.iter();
        bits.fold(Lit::FALSE, |any, &bit| self.circuit.or(any, bit))
    }

    fn all(&mut self, bits: &[Lit]) -> Lit {
        let bits = bits.iter();
        bits.fold(Lit::TRUE, |all, &bit| self.circuit.and(all, bit))
    }

    /// Whether a float is of a class that a bit of the control word asks for.
    fn of_class(&mut self, format: Format, a: &Word, asked: &Word) -> Lit {
        let (size, negative) = split(a);
        let (fraction, exponent) = size.split_at(format.fraction() as usize);
        let quiet = fraction[fraction.len() - 1];
        let (full, none) = (self.all(exponent), !self.any(exponent));
        let empty = !self.any(fraction);
        let small = self.all(&[none, empty]);
        let classes = [
            vec![full, quiet],
            vec![!negative, small],
            vec![negative, small],
            vec![!negative, full, empty],
            vec![negative, full, empty],
            vec![none, !empty],
            vec![negative, !full, !small],
            vec![full, !empty, !quiet],
        ];
        let of = classes.iter().zip(asked);
        let of: Vec<Lit> = of
            .map(|(class, &asked)| {
                let class = self.all(class);
                self.circuit.and(class, asked)
            })
            .collect();
        self.any(&of)
    }
}
