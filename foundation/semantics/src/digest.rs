//! Digests: what tells values apart across runs, where the values themselves are not at hand.
//!
//! In: terms, or anything that can be hashed. Out: [`Digest`], 128 bits of SHA-256. Those of
//! terms say what the text of a term says, each shared node looked at once, and stay the
//! same from run to run and from version to version. Those of other values hold for one
//! program on one machine only.

use crate::term::{Kind, Term};
use hashbrown::HashMap;
use sha2::{Digest as _, Sha256};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

/// 128 bits that differ where values do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Digest([u8; 16]);

impl Digest {
    /// The digest of a value, by all that its `Hash` looks at.
    pub fn of(value: &(impl Hash + ?Sized)) -> Digest {
        let mut feed = Feed(Sha256::new());
        value.hash(&mut feed);
        Digest::end(feed.0)
    }

    fn end(hash: Sha256) -> Digest {
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&hash.finalize()[..16]);
        Digest(bytes)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", u128::from_be_bytes(self.0))
    }
}

impl FromStr for Digest {
    type Err = std::num::ParseIntError;

    /// Reads what [`Display`](fmt::Display) writes.
    fn from_str(text: &str) -> Result<Digest, Self::Err> {
        Ok(Digest(u128::from_str_radix(text, 16)?.to_be_bytes()))
    }
}

/// A hasher that passes everything on. Its own 64 bits are asked for by nobody.
struct Feed(Sha256);

impl Hasher for Feed {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        let all = self.0.clone().finalize();
        u64::from_be_bytes([
            all[0], all[1], all[2], all[3], all[4], all[5], all[6], all[7],
        ])
    }
}

/// Digests of terms, each node's once.
#[derive(Default)]
pub struct Digests {
    known: HashMap<Term, Digest>,
}

impl Digests {
    /// The digest of a term.
    pub fn of(&mut self, term: Term) -> Digest {
        let mut open = vec![term];
        while let Some(&next) = open.last() {
            let before = open.len();
            if !self.known.contains_key(&next) {
                open.extend(next.children().filter(|c| !self.known.contains_key(c)));
            }
            if open.len() == before {
                open.pop();
                if !self.known.contains_key(&next) {
                    let digest = self.node(next);
                    self.known.insert(next, digest);
                }
            }
        }
        self.known[&term]
    }

    /// The digest of a node whose children's are known.
    fn node(&self, t: Term) -> Digest {
        let mut hash = Sha256::new();
        let mut add = |kind: u8, text: &str, numbers: &[u32]| {
            hash.update([kind]);
            hash.update(text.len().to_le_bytes());
            hash.update(text);
            numbers.iter().for_each(|n| hash.update(n.to_le_bytes()));
        };
        match t.kind() {
            Kind::Var { name, sort } => add(b'v', &format!("{sort} {name}"), &[]),
            Kind::Bv(bits) => add(b'k', &bits.to_string(), &[]),
            Kind::Bool(value) => add(b'b', "", &[u32::from(*value)]),
            Kind::Int(value) => add(b'i', &value.to_string(), &[]),
            Kind::Bound { depth, sort } => add(b'd', &sort.to_string(), &[*depth]),
            Kind::App { op, .. } => add(b'a', op.info().name, &op.params),
            Kind::Map { count, .. } => add(b'm', "", &[*count]),
            Kind::Fold { count, .. } => add(b'f', "", &[*count]),
        }
        t.children().for_each(|c| hash.update(self.known[&c].0));
        Digest::end(hash)
    }
}

#[cfg(test)]
mod tests {
    use super::{Digest, Digests};
    use crate::build as b;
    use crate::sort::Sort;
    use crate::term::Term;

    #[test]
    fn what_is_written_reads_back() {
        let digest = Digest::of("some text");
        assert_eq!(digest.to_string().parse(), Ok(digest));
        assert_ne!(digest, Digest::of("some texts"));
    }

    #[test]
    fn terms_have_one_digest_each_whatever_was_asked_before() {
        let (x, y) = (Term::var("x", Sort::Bv(8)), Term::var("y", Sort::Bv(8)));
        let wide = b::add(b::zext(x, 16), b::zext(y, 16));
        let terms = [
            x,
            y,
            Term::var("x", Sort::Bv(16)),
            Term::bv(8, 1),
            Term::bv(16, 1),
            Term::int(1),
            Term::bool(true),
            b::sub(x, y),
            b::sub(y, x),
            b::sext(x, 16),
            wide,
            b::map(2, wide),
            b::map(4, wide),
        ];
        let mut all = Digests::default();
        let forward: Vec<Digest> = terms.iter().map(|&t| all.of(t)).collect();
        for (k, &term) in terms.iter().enumerate() {
            assert_eq!(Digests::default().of(term), forward[k]);
            assert!(!forward[..k].contains(&forward[k]), "{term} is not new");
        }
    }
}
