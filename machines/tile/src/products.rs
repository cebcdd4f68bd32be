//! Which instructions are products of tiles, and how their factors lie in tiles.
//!
//! In: the meaning of an instruction on two tiles that updates a third. Out: [`Product`]: the types
//! of its elements, and the [`Layout`] of each factor. It is found by trying: the instruction is run
//! on random tiles, and what it adds is compared with the sums that types and layouts would give.
//! So it is a guess that directs who makes tiles of sums; that a block is the instruction is proved
//! from its meaning all the same.

use kernel::types::Elem;
use semantics::bits::Bits;
use semantics::eval::{CompiledTerms, Input};
use semantics::float::Format;
use semantics::random::Random;
use semantics::sort::Sort;
use semantics::term::Term;
use semantics::value::Value;
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

/// How the elements of a factor lie in its tile: for each line of it (a row or a column of results)
/// those of the depth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Layout {
    /// A row of the tile is a line.
    Lines,
    /// A row of the tile has for each line so many neighbours in the depth, one line behind the
    /// other.
    Packs(i64),
}

impl Layout {
    /// Neighbours in the depth that lie together, where not all do.
    pub(crate) fn pack(self) -> i64 {
        match self {
            Layout::Lines => 1,
            Layout::Packs(n) => n,
        }
    }

    /// Lines and depth of a tile with rows of so many elements.
    fn shape(self, (rows, columns): (i64, i64)) -> (i64, i64) {
        match self {
            Layout::Lines => (rows, columns),
            Layout::Packs(n) => (columns / n, rows * n),
        }
    }

    /// The row and the column of an element.
    fn at(self, line: i64, deep: i64) -> (i64, i64) {
        match self {
            Layout::Lines => (line, deep),
            Layout::Packs(n) => (deep / n, line * n + deep % n),
        }
    }
}

/// A product of tiles that is added to a third.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Product {
    /// The types of elements of the factor that is down the rows, and of the other.
    pub(crate) elems: (Elem, Elem),
    pub(crate) sum: Elem,
    /// Their layouts.
    pub(crate) layouts: (Layout, Layout),
    /// Lines of both factors, which are rows and columns of results.
    pub(crate) lines: i64,
    /// How many products each result is the sum of.
    pub(crate) deep: i64,
    /// Whether the factor that is down the rows is the second source.
    pub(crate) swapped: bool,
}

/// A tile: its bits, and those of a row.
pub(crate) type Size = (u32, u32);

/// An instruction: its meaning, and the names of its target and its sources.
pub(crate) type Named<'a> = (Term, &'a str, [&'a str; 2]);

/// What is tried.
struct Trial {
    program: CompiledTerms,
    size: Size,
}

/// What is known of a meaning: with the names of its target and its sources, and the size of tiles.
type Known = HashMap<(Term, [String; 3], Size), Option<Product>>;

/// Products that were found before. Terms live as long as the process, and so does this.
static FOUND: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);

/// The product that an instruction adds.
pub(crate) fn product(of: Named<'_>, size: Size) -> Option<Product> {
    let known = || FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    let (meaning, target, [left, right]) = of;
    let key = (meaning, [target, left, right].map(str::to_owned), size);
    if let Some(&found) = known().get(&key) {
        return found;
    }
    let found = tried(of, size);
    known().insert(key, found);
    found
}

fn tried((meaning, target, sources): Named<'_>, size: Size) -> Option<Product> {
    let input = |name: &str| Input {
        name: name.to_owned(),
        sort: Sort::Bv(size.0),
    };
    let inputs: Vec<Input> = [target, sources[0], sources[1]].map(input).to_vec();
    let program = CompiledTerms::compile(&[meaning], &inputs).ok()?;
    let trial = Trial { program, size };
    let int = [8, 16, 32].map(|bits| [Elem::signed(bits), Elem::unsigned(bits)]);
    let integers: Vec<Elem> = int.concat();
    trial
        .integers(&integers)
        .or_else(|| FLOATS.iter().find_map(|elem| trial.floats(*elem)))
}

/// The floats that factors may be.
const FLOATS: [Format; 3] = [Format::F32, Format::Bf16, Format::F16];

/// The packs that are tried.
const PACKS: [i64; 4] = [1, 2, 4, 8];

impl Trial {
    fn run(&self, values: [Bits; 3]) -> Bits {
        let mut frame = self.program.frame(1);
        for (k, value) in values.into_iter().enumerate() {
            self.program.set(&mut frame, k, 0, &Value::Bv(value));
        }
        self.program.execute(&mut frame);
        self.program.get(&frame, 0, 0).bits().clone()
    }

    /// A tile of elements.
    fn tile(&self, bits: u32, mut element: impl FnMut() -> u64) -> Bits {
        let mut bytes = Vec::new();
        for _ in 0..self.size.0 / bits {
            bytes.extend_from_slice(&element().to_le_bytes()[..bits as usize / 8]);
        }
        Bits::from_bytes(self.size.0, &bytes)
    }

    fn rows(&self, bits: u32) -> (i64, i64) {
        (
            i64::from(self.size.0 / self.size.1),
            i64::from(self.size.1 / bits),
        )
    }

    fn element(&self, of: &Bits, bits: u32, (row, column): (i64, i64)) -> u64 {
        let at = row * i64::from(self.size.1) + column * i64::from(bits);
        of.extract(u32::try_from(at).unwrap_or(0), bits).low_u64()
    }

    fn integers(&self, elems: &[Elem]) -> Option<Product> {
        let mut random = Random::new(1);
        let values = [0; 3].map(|_| self.tile(8, || random.next_bits()));
        let (before, sources) = (values[0].clone(), [values[1].clone(), values[2].clone()]);
        let after = self.run(values);
        let read = |of: &Bits, elem: Elem, at| {
            let raw = i128::from(self.element(of, elem.bits(), at));
            elem.wrap(raw)
        };
        let sum = Elem::signed(32);
        for &x in elems {
            for &y in elems.iter().filter(|y| y.bits() == x.bits()) {
                // A product as wide as the sum has no sign.
                if x.bits() == sum.bits() && (x != sum || y != sum) {
                    continue;
                }
                let found = self.layouts((x, y), sum, &|product, (i, j)| {
                    let of = usize::from(product.swapped);
                    let (left, right) = (&sources[of], &sources[1 - of]);
                    let terms = (0..product.deep).map(|k| {
                        let (p, q) = (product.layouts.0.at(i, k), product.layouts.1.at(j, k));
                        read(left, x, p) * read(right, y, q)
                    });
                    let wanted = read(&before, sum, (i, j)) + terms.sum::<i128>();
                    read(&after, sum, (i, j)) == sum.wrap(wanted)
                });
                if found.is_some() {
                    return found;
                }
            }
        }
        None
    }

    fn floats(&self, format: Format) -> Option<Product> {
        let (elem, sum) = (Elem::Float(format), Elem::Float(Format::F32));
        let mut random = Random::new(1);
        let mut drawn = |elem: Elem| {
            let numbers = numbers(elem.format().unwrap_or(Format::F32));
            self.tile(elem.bits(), || random.pick(&numbers).1)
        };
        let before = drawn(sum);
        let sources = [drawn(elem), drawn(elem)];
        let after = self.run([before.clone(), sources[0].clone(), sources[1].clone()]);
        let read = |of: &Bits, elem: Elem, at| {
            let raw = self.element(of, elem.bits(), at);
            let format = elem.format().unwrap_or(Format::F32);
            let known = numbers(format).into_iter().find(|n| n.1 == raw);
            known.map_or(f64::NAN, |n| n.0)
        };
        self.layouts((elem, elem), sum, &|product, (i, j)| {
            let of = usize::from(product.swapped);
            let (left, right) = (&sources[of], &sources[1 - of]);
            let terms = (0..product.deep).map(|k| {
                let (p, q) = (product.layouts.0.at(i, k), product.layouts.1.at(j, k));
                read(left, elem, p) * read(right, elem, q)
            });
            let wanted = read(&before, sum, (i, j)) + terms.sum::<f64>();
            let found = f32::from_bits(self.element(&after, 32, (i, j)) as u32);
            f64::from(found) == wanted
        })
    }

    /// The layouts with which all results are right.
    fn layouts(
        &self,
        elems: (Elem, Elem),
        sum: Elem,
        right: &dyn Fn(&Product, (i64, i64)) -> bool,
    ) -> Option<Product> {
        let size = self.rows(elems.0.bits());
        let (rows, columns) = self.rows(sum.bits());
        let packs = || PACKS.into_iter().map(Layout::Packs);
        let all = || std::iter::once(Layout::Lines).chain(packs());
        for (a, b) in all().flat_map(|a| all().map(move |b| (a, b))) {
            let ((lines, deep), others) = (a.shape(size), b.shape(size));
            let packs = (a.pack(), b.pack());
            if packs.0 != packs.1 && a != Layout::Lines && b != Layout::Lines {
                continue;
            }
            if others != (lines, deep) || deep < 1 || lines != rows || lines > columns {
                continue;
            }
            for swapped in [false, true] {
                let product = Product {
                    elems,
                    sum,
                    layouts: (a, b),
                    lines,
                    deep,
                    swapped,
                };
                let places = || (0..lines).flat_map(|i| (0..lines).map(move |j| (i, j)));
                if places().all(|at| right(&product, at)) {
                    return Some(product);
                }
            }
        }
        None
    }
}

/// Numbers of which sums of products are exact in any order, with their bits. One of them has bits of a
/// fraction: of the others the upper half says all, so that products of halves would pass for those of wholes.
fn numbers(format: Format) -> [(f64, u64); 5] {
    let one = (format.infinity() >> 1) & format.infinity();
    let sign = 1_u64 << (format.width() - 1);
    let low = format.fraction() / 3 + 1;
    [
        (0.0, 0),
        (1.0, one),
        (2.0, one + (1 << format.fraction())),
        (-1.0, one | sign),
        (
            1.0 + f64::from(1 << low).recip(),
            one + (1 << (format.fraction() - low)),
        ),
    ]
}
