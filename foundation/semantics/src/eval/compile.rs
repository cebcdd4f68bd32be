//! Terms to programs.
//!
//! In: terms and inputs. Out: [`CompiledTerms`]. Terms are unrolled, each distinct subterm gets
//! its rows once, in an order in which arguments come first.

use super::narrow::{self, Code};
use super::{CompiledTerms, Input, Piece, Place, Step, rows_of};
use crate::bits::Bits;
use crate::float::WordFn;
use crate::op::{Op, OpCode};
use crate::sort::Sort;
use crate::table::float_words;
use crate::term::{Kind, SortError, Term};
use crate::unroll::unroll;
use hashbrown::HashMap;

/// A program under construction.
pub(super) struct Compiler {
    program: CompiledTerms,
    places: HashMap<Term, Place>,
    constants: HashMap<u64, u32>,
}

impl Compiler {
    /// A program with these inputs and no steps.
    pub(super) fn new(inputs: &[Input]) -> Compiler {
        let program = CompiledTerms {
            inputs: inputs.to_vec(),
            input_places: Vec::new(),
            constants: Vec::new(),
            steps: Vec::new(),
            outputs: Vec::new(),
            rows: 0,
            slots: 0,
        };
        let mut compiler = Compiler {
            program,
            places: HashMap::new(),
            constants: HashMap::new(),
        };
        for input in inputs {
            let place = compiler.fresh(input.sort);
            compiler.program.input_places.push(place);
            compiler
                .places
                .insert(Term::var(&input.name, input.sort), place);
        }
        compiler
    }

    /// Compiles the outputs.
    pub(super) fn finish(mut self, outputs: &[Term]) -> Result<CompiledTerms, SortError> {
        for &t in outputs {
            let place = self.compile(unroll(t))?;
            self.program.outputs.push(place);
        }
        Ok(self.program)
    }

    fn rows(&mut self, count: u32) -> u32 {
        let first = self.program.rows;
        self.program.rows += count;
        first
    }

    fn fresh(&mut self, sort: Sort) -> Place {
        if sort == Sort::Mem {
            self.program.slots += 1;
            return Place::Slot(self.program.slots - 1);
        }
        Place::Rows {
            first: self.rows(rows_of(sort)),
            sort,
        }
    }

    /// A row that always holds this word.
    fn constant(&mut self, word: u64) -> u32 {
        if let Some(&row) = self.constants.get(&word) {
            return row;
        }
        let row = self.rows(1);
        self.program.constants.push((row, word));
        self.constants.insert(word, row);
        row
    }

    /// Compiles a flat term, arguments first, without recursion: terms may be deep.
    fn compile(&mut self, root: Term) -> Result<Place, SortError> {
        let mut stack = vec![root];
        while let Some(&t) = stack.last() {
            if self.places.contains_key(&t) {
                stack.pop();
                continue;
            }
            let missing: Vec<Term> = needed(t)
                .into_iter()
                .filter(|c| !self.places.contains_key(c))
                .collect();
            if missing.is_empty() {
                let place = self.emit(t)?;
                self.places.insert(t, place);
                stack.pop();
            } else {
                stack.extend(missing);
            }
        }
        Ok(self.places[&root])
    }

    fn emit(&mut self, t: Term) -> Result<Place, SortError> {
        match t.kind() {
            Kind::Bv(bits) => Ok(self.constant_bits(bits, t.sort())),
            Kind::Bool(b) => Ok(Place::Rows {
                first: self.constant(u64::from(*b)),
                sort: Sort::Bool,
            }),
            Kind::Int(i) => Ok(Place::Rows {
                first: self.constant(*i as u64),
                sort: Sort::Int,
            }),
            Kind::App { op, .. } if !op.is_evaluable() => Err(SortError {
                operator: op.to_string(),
                message: "a function of a library has no value here".to_owned(),
            }),
            Kind::App { op, args } => Ok(self.app(t, *op, args)),
            Kind::Var { name, sort } => {
                let message = match self.program.inputs.iter().find(|i| *i.name == **name) {
                    Some(input) => format!(
                        "`{name}` has sort {sort} here, but {} as an input",
                        input.sort
                    ),
                    None => format!("`{name}` is not an input"),
                };
                Err(SortError {
                    operator: "program".to_owned(),
                    message,
                })
            }
            Kind::Bound { .. } | Kind::Map { .. } | Kind::Fold { .. } => {
                unreachable!("unrolled terms have no binders")
            }
        }
    }

    fn constant_bits(&mut self, bits: &Bits, sort: Sort) -> Place {
        if let [word] = bits.limbs() {
            return Place::Rows {
                first: self.constant(*word),
                sort,
            };
        }
        let first = self.rows(rows_of(sort));
        for (row, &word) in (first..).zip(bits.limbs()) {
            self.program.constants.push((row, word));
        }
        Place::Rows { first, sort }
    }

    fn place(&self, t: Term) -> Place {
        self.places[&t]
    }

    /// The rows of a term that is not a memory.
    fn row(&self, t: Term) -> u32 {
        self.first(self.places[&t])
    }

    fn first(&self, place: Place) -> u32 {
        match place {
            Place::Rows { first, .. } => first,
            Place::Slot(_) => unreachable!("a memory has no rows"),
        }
    }

    fn push(&mut self, step: Step) {
        self.program.steps.push(step);
    }

    fn app(&mut self, t: Term, op: Op, args: &[Term]) -> Place {
        let sort = t.sort();
        let one_row = |s: Sort| s != Sort::Mem && rows_of(s) == 1;
        let narrow = one_row(sort) && args.iter().all(|a| one_row(a.sort()));
        match op.code {
            OpCode::Ite if one_row(sort) => {
                let to = self.rows(1);
                let (condition, a, b) = (self.row(args[0]), self.row(args[1]), self.row(args[2]));
                self.push(Step::Choose {
                    to,
                    condition,
                    a,
                    b,
                });
                Place::Rows { first: to, sort }
            }
            OpCode::Ite if sort != Sort::Mem => self.each_row(sort, |c, k, to| Step::Choose {
                to,
                condition: c.row(args[0]),
                a: c.row(args[1]) + k,
                b: c.row(args[2]) + k,
            }),
            OpCode::Extract if args[1].as_int().is_some() => self.extract(args, sort),
            OpCode::Concat => self.concat(args, sort),
            OpCode::Zext | OpCode::Sext => self.extend(op.code, args[0], sort),
            OpCode::Elem | OpCode::Slice if one_row(sort) && one_row(args[1].sort()) => {
                self.gather(op, args, sort)
            }
            OpCode::SatSS | OpCode::SatSU | OpCode::SatUS | OpCode::SatUU if narrow => {
                let code = saturation(op.code, args[0].width());
                self.narrow(code, sort, sort.width().unwrap_or(1), args)
            }
            code if narrow && narrow::supported(code) => {
                let width = args[0].sort().width().unwrap_or(64);
                self.narrow(Code::Table(code), sort, width, args)
            }
            OpCode::BvAnd | OpCode::BvOr | OpCode::BvXor => {
                self.each_row(sort, |c, k, to| Step::Narrow {
                    code: Code::Table(op.code),
                    width: 64,
                    to,
                    a: c.row(args[0]) + k,
                    b: c.row(args[1]) + k,
                })
            }
            OpCode::BvNot => self.each_row(sort, |c, k, to| Step::Narrow {
                code: Code::Table(op.code),
                width: (t.width() - 64 * k).min(64),
                to,
                a: c.row(args[0]) + k,
                b: c.row(args[0]) + k,
            }),
            code if narrow::supported_double(code) && rows_of(args[0].sort()) == 2 => {
                self.double(code, args, sort)
            }
            OpCode::Eq if args[0].sort() != Sort::Mem => self.equality(args),
            code => match float_words(code) {
                Some(function) => self.float(function, op, args, sort),
                None => self.table(op, args, sort),
            },
        }
    }

    fn double(&mut self, code: OpCode, args: &[Term], sort: Sort) -> Place {
        let (a, b) = (self.row(args[0]), self.row(args[args.len() - 1]));
        let to = self.rows(rows_of(sort));
        self.push(Step::Double {
            code,
            width: args[0].width(),
            to,
            a,
            b,
        });
        Place::Rows { first: to, sort }
    }

    /// Equality of wide values: no bit differs.
    fn equality(&mut self, args: &[Term]) -> Place {
        let (a, b) = (self.row(args[0]), self.row(args[1]));
        let (difference, zero) = (self.rows(1), self.constant(0));
        self.push(Step::Clear { to: difference });
        for k in 0..rows_of(args[0].sort()) {
            self.push(Step::Differ {
                to: difference,
                a: a + k,
                b: b + k,
            });
        }
        let to = self.rows(1);
        self.push(Step::Narrow {
            code: Code::Table(OpCode::Eq),
            width: 64,
            to,
            a: difference,
            b: zero,
        });
        Place::Rows {
            first: to,
            sort: Sort::Bool,
        }
    }

    fn gather(&mut self, op: Op, args: &[Term], sort: Sort) -> Place {
        let width = op.params[0];
        let (a, index) = (self.row(args[0]), self.row(args[1]));
        let to = self.rows(1);
        self.push(Step::Gather {
            to,
            a,
            rows: rows_of(args[0].sort()),
            index,
            scale: if op.code == OpCode::Elem { width } else { 1 },
            width,
        });
        Place::Rows { first: to, sort }
    }

    fn float(&mut self, function: WordFn, op: Op, args: &[Term], sort: Sort) -> Place {
        let mut rows = [self.row(args[0]); 3];
        for (row, &arg) in rows.iter_mut().zip(args) {
            *row = self.row(arg);
        }
        if op.code == OpCode::FFromSint && args[0].width() < 64 {
            let from = args[0].width();
            let wide = self.narrow(Code::Sext { from }, Sort::Bv(64), 64, args);
            rows = [self.first(wide); 3];
        }
        let to = self.rows(1);
        self.push(Step::Float {
            function,
            op,
            to,
            args: rows,
        });
        Place::Rows { first: to, sort }
    }

    fn table(&mut self, op: Op, args: &[Term], sort: Sort) -> Place {
        let places = args.iter().map(|&a| self.place(a)).collect();
        let to = self.fresh(sort);
        self.push(Step::Table {
            op,
            to,
            args: places,
        });
        to
    }

    fn narrow(&mut self, code: Code, sort: Sort, width: u32, args: &[Term]) -> Place {
        let (a, b) = (
            self.row(args[0]),
            self.row(*args.last().expect("operators have arguments")),
        );
        let to = self.rows(1);
        self.push(Step::Narrow {
            code,
            width,
            to,
            a,
            b,
        });
        Place::Rows { first: to, sort }
    }

    /// One step for each row of a wide result.
    fn each_row(&mut self, sort: Sort, step: impl Fn(&Compiler, u32, u32) -> Step) -> Place {
        let first = self.rows(rows_of(sort));
        for k in 0..rows_of(sort) {
            let step = step(self, k, first + k);
            self.push(step);
        }
        Place::Rows { first, sort }
    }

    fn extract(&mut self, args: &[Term], sort: Sort) -> Place {
        let width = sort.width().expect("an extraction is a bit vector");
        let source = args[0].width();
        let lo = args[1]
            .as_int()
            .and_then(|lo| u32::try_from(lo).ok())
            .filter(|&lo| lo < source);
        let base = self.row(args[0]);
        let whole_rows = |&lo: &u32| {
            let ends = width.is_multiple_of(64) && lo + width <= source || lo + width == source;
            lo.is_multiple_of(64) && ends
        };
        if let Some(lo) = lo.filter(whole_rows) {
            return Place::Rows {
                first: base + lo / 64,
                sort,
            };
        }
        let first = self.rows(rows_of(sort));
        for k in 0..rows_of(sort) {
            let to = first + k;
            let piece = (width - 64 * k).min(64);
            match lo
                .and_then(|lo| lo.checked_add(64 * k))
                .filter(|&lo| lo < source)
            {
                None => self.push(Step::Clear { to }),
                Some(lo) => {
                    let (a, shift) = (base + lo / 64, lo % 64);
                    let second = shift + piece > 64 && (lo / 64 + 1) * 64 < source;
                    self.push(Step::Bits {
                        to,
                        a,
                        shift,
                        width: piece,
                        second,
                    });
                }
            }
        }
        Place::Rows { first, sort }
    }

    fn concat(&mut self, args: &[Term], sort: Sort) -> Place {
        let first = self.rows(rows_of(sort));
        let mut pieces: Vec<Vec<Piece>> = vec![Vec::new(); rows_of(sort) as usize];
        let mut at = 0;
        for &part in args.iter().rev() {
            let (base, width) = (self.row(part), part.width());
            for k in 0..rows_of(part.sort()) {
                let (start, size) = (at + 64 * k, (width - 64 * k).min(64));
                let (to, shift) = ((start / 64) as usize, (start % 64) as i32);
                let row = base + k;
                pieces[to].push(Piece { row, shift });
                if start % 64 + size > 64 {
                    let shift = shift - 64;
                    pieces[to + 1].push(Piece { row, shift });
                }
            }
            at += width;
        }
        for (to, pieces) in (first..).zip(pieces) {
            let pieces = pieces.into();
            self.push(Step::Pack { to, pieces });
        }
        Place::Rows { first, sort }
    }

    fn extend(&mut self, code: OpCode, arg: Term, sort: Sort) -> Place {
        let (from, to_width) = (
            arg.width(),
            sort.width().expect("an extension is a bit vector"),
        );
        if let Some((source, lo)) = signed_field(code, arg, to_width) {
            let (a, to) = (self.row(source) + lo / 64, self.rows(1));
            self.push(Step::SignedBits {
                to,
                a,
                shift: lo % 64,
                from,
                width: to_width,
            });
            return Place::Rows { first: to, sort };
        }
        let base = self.row(arg);
        if rows_of(sort) == 1 && code == OpCode::Zext {
            return Place::Rows { first: base, sort };
        }
        if rows_of(sort) == 1 {
            return self.narrow(Code::Sext { from }, sort, to_width, &[arg]);
        }
        let first = self.rows(rows_of(sort));
        let top = (from - 1) / 64;
        for k in 0..rows_of(sort) {
            let (to, width) = (first + k, (to_width - 64 * k).min(64));
            let step = match (code, k.cmp(&top)) {
                (_, std::cmp::Ordering::Less) => Step::Copy {
                    to,
                    a: base + k,
                    width: 64,
                },
                (OpCode::Zext, std::cmp::Ordering::Equal) => Step::Copy {
                    to,
                    a: base + k,
                    width,
                },
                (OpCode::Zext, std::cmp::Ordering::Greater) => Step::Clear { to },
                (_, std::cmp::Ordering::Equal) => Step::Narrow {
                    code: Code::Sext {
                        from: from - 64 * top,
                    },
                    width,
                    to,
                    a: base + k,
                    b: base + k,
                },
                _ => Step::Fill {
                    to,
                    a: base + top,
                    bit: (from - 1) % 64,
                    width,
                },
            };
            self.push(step);
        }
        Place::Rows { first, sort }
    }
}

/// A sign extension to at most 64 bits of a constant bit field that lies in one row of a
/// wide value: the value and where the field starts.
fn signed_field(code: OpCode, arg: Term, to_width: u32) -> Option<(Term, u32)> {
    let field = arg.args_of(OpCode::Extract)?;
    let (source, lo) = (field[0], u32::try_from(field[1].as_int()?).ok()?);
    let inside = lo.checked_add(arg.width())? <= source.width();
    let one_row = to_width <= 64 && lo % 64 + arg.width() <= 64;
    (code == OpCode::Sext && inside && one_row).then_some((source, lo))
}

/// The subterms whose values a term's step reads.
fn needed(t: Term) -> Vec<Term> {
    match t.as_app() {
        Some((op, args)) if op.code == OpCode::Extract && args[1].as_int().is_some() => {
            vec![args[0]]
        }
        Some((op, args)) if op.code == OpCode::Sext => {
            match signed_field(op.code, args[0], t.width()) {
                Some((source, _)) => vec![source],
                None => vec![args[0]],
            }
        }
        _ => t.children().collect(),
    }
}

fn saturation(code: OpCode, from: u32) -> Code {
    let signed = matches!(code, OpCode::SatSS | OpCode::SatSU);
    let to_signed = matches!(code, OpCode::SatSS | OpCode::SatUS);
    Code::Saturate {
        from,
        signed,
        to_signed,
    }
}
