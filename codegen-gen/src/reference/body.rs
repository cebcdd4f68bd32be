//! The body of a reference function: a term as statements of portable C.
//!
//! In: terms, rolled as they are. Out: the statements, with a loop for each map and fold, and the
//! name of the value. A value of up to 64 bits is a word, a wider one an array of words; what works
//! on arrays is in `prelude.c`. Memory is read only where a choice wants it. What it has no C for
//! is refused by name.

use semantics::bits::Bits;
use semantics::op::{Op, OpCode, Smt};
use semantics::sort::Sort;
use semantics::term::{Kind, Term};
use std::collections::HashMap;

/// Why a term has no statements.
pub(super) type Written<T> = Result<T, String>;

/// A block of statements, with the values that are known in it.
#[derive(Default)]
struct Block {
    lines: Vec<String>,
    known: HashMap<Term, String>,
    /// How many variables are bound where it begins and inside of it.
    bound: usize,
}

/// The most statements of a body.
const MOST_STATEMENTS: usize = 2_000;

/// The statements of a function under construction.
pub(super) struct Body {
    blocks: Vec<Block>,
    /// What bound variables are called, the innermost last.
    bound: Vec<String>,
    reads: HashMap<Term, bool>,
    next: usize,
}

/// Words of a value.
pub(super) fn words(width: u32) -> u32 {
    width.div_ceil(64)
}

/// Whether a sort is held in an array.
fn is_wide(sort: Sort) -> bool {
    sort.width().is_some_and(|w| w > 64)
}

fn word(value: u64) -> String {
    match value {
        0..10_000 => format!("UINT64_C({value})"),
        _ => format!("UINT64_C({value:#x})"),
    }
}

/// The bits below a width, as a constant.
fn mask(width: u32) -> String {
    word(Bits::ones(width.min(64)).low_u64())
}

impl Body {
    /// No statements, and operands whose bits have these names.
    pub(super) fn new(operands: impl IntoIterator<Item = (Term, String)>) -> Body {
        Body {
            blocks: vec![Block {
                lines: Vec::new(),
                known: operands.into_iter().collect(),
                bound: 0,
            }],
            bound: Vec::new(),
            reads: HashMap::new(),
            next: 0,
        }
    }

    /// All statements.
    pub(super) fn finish(self) -> Vec<String> {
        self.blocks.into_iter().flat_map(|b| b.lines).collect()
    }

    /// Adds a statement.
    pub(super) fn line(&mut self, line: impl Into<String>) {
        let block = self.blocks.last_mut().expect("a body has a block");
        block.lines.push(line.into());
    }

    fn fresh(&mut self) -> String {
        self.next += 1;
        format!("t{}", self.next)
    }

    /// The statements of `inside` as a block behind `head`.
    fn block<T>(
        &mut self,
        head: String,
        inside: impl FnOnce(&mut Body) -> Written<T>,
    ) -> Written<T> {
        self.blocks.push(Block {
            bound: self.bound.len(),
            ..Block::default()
        });
        let done = inside(self);
        let block = self.blocks.pop().expect("it was pushed here");
        self.line(format!("{head} {{"));
        for line in block.lines {
            self.line(format!("    {line}"));
        }
        self.line("}");
        done
    }

    /// Whether a term reads memory.
    fn reads(&mut self, t: Term) -> bool {
        if let Some(&known) = self.reads.get(&t) {
            return known;
        }
        let own = matches!(t.as_app(), Some((op, _)) if op.code == OpCode::Read);
        let reads = own || t.children().any(|c| self.reads(c));
        self.reads.insert(t, reads);
        reads
    }

    /// The value of a term that is no memory: the name of a word or of an array, or a constant.
    pub(super) fn value(&mut self, t: Term) -> Written<String> {
        match t.kind() {
            Kind::Bool(truth) => return Ok(u8::from(*truth).to_string()),
            Kind::Int(i) => return Ok(format!("INT64_C({i})")),
            Kind::Bv(bits) if !is_wide(t.sort()) => return Ok(word(bits.low_u64())),
            Kind::Bound { depth, .. } => {
                let place = self.bound.len().checked_sub(*depth as usize + 1);
                let place = place.ok_or("an index is bound nowhere")?;
                return Ok(self.bound[place].clone());
            }
            _ => {}
        }
        let closed = t.binders() == 0;
        if self.next > MOST_STATEMENTS {
            return Err(format!("it takes more than {MOST_STATEMENTS} statements"));
        }
        // What has indices is the same in outer blocks with the same indices.
        let bound = self.bound.len();
        let blocks = self.blocks.iter().rev();
        let mut blocks = blocks.filter(|block| closed || block.bound == bound);
        let known = blocks.find_map(|block| block.known.get(&t)).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        // What no index decides is computed once, before all loops.
        if closed && self.blocks.len() > 1 && !self.reads(t) {
            let inner = self.blocks.split_off(1);
            let bound = std::mem::take(&mut self.bound);
            let value = self.computed(t);
            self.blocks.extend(inner);
            self.bound = bound;
            return value;
        }
        self.computed(t)
    }

    /// Computes a term in the present block.
    fn computed(&mut self, t: Term) -> Written<String> {
        let name = match t.kind() {
            Kind::Bv(bits) => self.constant(bits),
            Kind::Map { count, body } => self.map(t.width(), *count, *body)?,
            Kind::Fold { count, init, body } => self.fold(t.sort(), *count, *init, *body)?,
            Kind::App { op, args } => self.apply(t, *op, args)?,
            Kind::Var { name, .. } => return Err(format!("`{name}` is not an operand")),
            Kind::Bool(_) | Kind::Int(_) | Kind::Bound { .. } => self.value(t)?,
        };
        let block = self.blocks.last_mut().expect("a body has a block");
        block.known.insert(t, name.clone());
        Ok(name)
    }

    /// A variable for a word, a truth value or an index.
    fn variable(&mut self, sort: Sort, value: &str) -> String {
        let name = self.fresh();
        let ty = match sort {
            Sort::Bool => "int",
            Sort::Int => "int64_t",
            _ => "uint64_t",
        };
        self.line(format!("{ty} {name} = {value};"));
        name
    }

    /// An array of zeros, or a variable that is 0.
    fn zeros(&mut self, sort: Sort) -> String {
        match sort.width().filter(|&w| w > 64) {
            Some(width) => {
                let name = self.fresh();
                self.line(format!("uint64_t {name}[{}] = {{0}};", words(width)));
                name
            }
            None => self.variable(sort, "0"),
        }
    }

    fn constant(&mut self, bits: &Bits) -> String {
        let name = self.fresh();
        let list: Vec<String> = bits.limbs().iter().map(|&l| word(l)).collect();
        let count = list.len();
        let list = list.join(", ");
        self.line(format!(
            "static const uint64_t {name}[{count}] = {{{list}}};"
        ));
        name
    }

    /// The address of the words of a value.
    pub(super) fn address(&mut self, t: Term) -> Written<String> {
        let value = self.value(t)?;
        if is_wide(t.sort()) {
            return Ok(value);
        }
        let named = value.starts_with(|c: char| c.is_ascii_lowercase());
        let name = match named {
            true => value,
            false => self.variable(t.sort(), &value),
        };
        Ok(format!("&{name}"))
    }

    fn map(&mut self, width: u32, count: u32, body: Term) -> Written<String> {
        let result = self.zeros(Sort::Bv(width));
        let index = format!("i{}", self.blocks.len());
        let element = body.width();
        let head = format!("for (int64_t {index} = 0; {index} < {count}; {index}++)");
        self.bound.push(index.clone());
        let done = self.block(head, |b| {
            let (value, at) = (b.value(body)?, format!("(uint64_t){index} * {element}"));
            b.line(match (width > 64, element > 64) {
                (false, _) => format!("{result} |= {value} << ({at});"),
                (true, false) => format!("ref_put({result}, {at}, {element}, {value});"),
                (true, true) => format!("ref_place({result}, {at}, {element}, {value});"),
            });
            Ok(())
        });
        self.bound.pop();
        done.map(|()| result)
    }

    /// Gives a variable or an array a value.
    fn assign(&mut self, sort: Sort, to: &str, value: &str) {
        self.line(match is_wide(sort) {
            true => format!("memcpy({to}, {value}, sizeof {to});"),
            false => format!("{to} = {value};"),
        });
    }

    fn fold(&mut self, sort: Sort, count: u32, init: Term, body: Term) -> Written<String> {
        let first = self.value(init)?;
        let accumulator = self.zeros(sort);
        self.assign(sort, &accumulator, &first);
        let index = format!("i{}", self.blocks.len());
        let head = format!("for (int64_t {index} = 0; {index} < {count}; {index}++)");
        self.bound.extend([index.clone(), accumulator.clone()]);
        let done = self.block(head, |b| {
            let value = b.value(body)?;
            b.assign(sort, &accumulator, &value);
            Ok(())
        });
        self.bound.truncate(self.bound.len() - 2);
        done.map(|()| accumulator)
    }

    fn apply(&mut self, t: Term, op: Op, args: &[Term]) -> Written<String> {
        let wide = is_wide(t.sort()) || args.iter().any(|a| is_wide(a.sort()));
        match op.code {
            OpCode::Ite => self.choice(t.sort(), args),
            OpCode::Read => self.read(t.width(), args),
            OpCode::Concat => self.concat(t.sort(), args),
            OpCode::Extract | OpCode::Slice | OpCode::Elem => self.part(t, op, args),
            OpCode::FLibrary => Err("it is a function of a library".to_owned()),
            _ if wide => self.wide(t, op, args),
            _ if narrow(t, op, args, &vec![String::new(); args.len()]).is_none() => {
                self.defined(op, args)
            }
            _ => {
                let x = args.iter().map(|&a| self.value(a));
                let x = x.collect::<Written<Vec<_>>>()?;
                let value = narrow(t, op, args, &x).expect("it was asked before");
                Ok(self.variable(t.sort(), &value))
            }
        }
    }

    /// An operator that others define.
    fn defined(&mut self, op: Op, args: &[Term]) -> Written<String> {
        match op.info().smt {
            Smt::Defined(expand) => self.value(expand(op.params(), args)),
            _ => Err(format!("`{}` has no portable C yet", op.info().name)),
        }
    }

    /// A choice; where memory is read, only that side is computed.
    fn choice(&mut self, sort: Sort, args: &[Term]) -> Written<String> {
        let condition = self.value(args[0])?;
        let lazy = self.reads(args[1]) || self.reads(args[2]);
        if !lazy && !is_wide(sort) {
            let (x, y) = (self.value(args[1])?, self.value(args[2])?);
            return Ok(self.variable(sort, &format!("{condition} ? {x} : {y}")));
        }
        let result = self.zeros(sort);
        // What is computed before a block must not come between the two.
        for (head, side) in [
            (condition.clone(), args[1]),
            (format!("!{condition}"), args[2]),
        ] {
            self.block(format!("if ({head})"), |b| {
                let value = b.value(side)?;
                b.assign(sort, &result, &value);
                Ok(())
            })?;
        }
        Ok(result)
    }

    fn read(&mut self, width: u32, args: &[Term]) -> Written<String> {
        if args[0].as_var().is_none() {
            return Err("it reads what it has written".to_owned());
        }
        let address = self.value(args[1])?;
        let name = self.zeros(Sort::Bv(width));
        let to = if width > 64 { "" } else { "&" };
        self.line(format!("ref_read({to}{name}, {address}, {});", width / 8));
        Ok(name)
    }

    fn concat(&mut self, sort: Sort, args: &[Term]) -> Written<String> {
        let mut parts = Vec::new();
        for &arg in args {
            parts.push((self.value(arg)?, arg.width()));
        }
        let result = self.zeros(sort);
        let mut at = 0;
        for (value, width) in parts.into_iter().rev() {
            self.line(match (is_wide(sort), width > 64) {
                (false, _) => format!("{result} |= {value} << {at};"),
                (true, false) => format!("ref_put({result}, {at}, {width}, {value});"),
                (true, true) => format!("ref_place({result}, {at}, {width}, {value});"),
            });
            at += width;
        }
        Ok(result)
    }

    /// Bits of a value, from an index, a number or the start of an element on.
    fn part(&mut self, t: Term, op: Op, args: &[Term]) -> Written<String> {
        let (of, width) = (args[0].width(), t.width());
        let within = |lo: i64| u32::try_from(lo).ok().filter(|&lo| lo < of);
        if let (OpCode::Extract, false, Some(lo)) =
            (op.code, is_wide(args[0].sort()), args[1].as_int())
        {
            let x = self.value(args[0])?;
            let value = within(lo).map(|lo| format!("{x} >> {lo} & {}", mask(width)));
            return Ok(self.variable(t.sort(), value.as_deref().unwrap_or("0")));
        }
        if is_wide(args[1].sort()) {
            return self.defined(op, args);
        }
        let (x, at) = (self.address(args[0])?, self.value(args[1])?);
        // A negative index lies past all ends, as a number without a sign.
        let lo = match op.code {
            OpCode::Elem if width > 64 => {
                format!("({at} > {0} ? UINT64_C({of}) : {at} * {width})", of / width)
            }
            _ => format!("(uint64_t){at}"),
        };
        if width > 64 {
            let name = self.zeros(t.sort());
            self.line(format!("ref_take({name}, {x}, {of}, {lo}, {width});"));
            return Ok(name);
        }
        let function = match op.code {
            OpCode::Elem => "ref_elem",
            _ => "ref_get",
        };
        Ok(self.variable(t.sort(), &format!("{function}({x}, {of}, {lo}, {width})")))
    }

    /// Operators on arrays.
    fn wide(&mut self, t: Term, op: Op, args: &[Term]) -> Written<String> {
        use OpCode as O;
        let Some(width) = args[0].sort().width() else {
            return self.defined(op, args);
        };
        let known = matches!(
            op.code,
            O::BvAdd
                | O::BvSub
                | O::BvNeg
                | O::BvMul
                | O::BvShl
                | O::BvLshr
                | O::BvAshr
                | O::Zext
                | O::Sext
                | O::BvAnd
                | O::BvOr
                | O::BvXor
                | O::BvNot
                | O::Eq
                | O::BvUlt
                | O::BvUle
                | O::BvSlt
                | O::BvSle
        );
        if !known {
            return self.defined(op, args);
        }
        let x = args.iter().map(|&a| self.address(a));
        let x = x.collect::<Written<Vec<_>>>()?;
        let y = x.last().expect("an operator has arguments").clone();
        let x = &x[0];
        let truth = match op.code {
            O::Eq => Some(format!("ref_same({x}, {y}, {width})")),
            O::BvUlt => Some(format!("ref_less({x}, {y}, {width}, 0)")),
            O::BvUle => Some(format!("!ref_less({y}, {x}, {width}, 0)")),
            O::BvSlt => Some(format!("ref_less({x}, {y}, {width}, 1)")),
            O::BvSle => Some(format!("!ref_less({y}, {x}, {width}, 1)")),
            _ => None,
        };
        if let Some(truth) = truth {
            return Ok(self.variable(Sort::Bool, &truth));
        }
        let to = self.zeros(t.sort());
        let line = match op.code {
            O::BvAdd => format!("ref_add({to}, {x}, {y}, {width}, 0);"),
            O::BvSub => format!("ref_add({to}, {x}, {y}, {width}, 1);"),
            O::BvNeg => format!("ref_add({to}, {to}, {x}, {width}, 1);"),
            O::BvMul => format!("ref_multiply({to}, {x}, {y}, {width});"),
            O::BvShl => format!("ref_shift({to}, {x}, {y}, {width}, 0);"),
            O::BvLshr => format!("ref_shift({to}, {x}, {y}, {width}, 1);"),
            O::BvAshr => format!("ref_shift({to}, {x}, {y}, {width}, 2);"),
            O::Zext => format!("ref_extend({to}, {}, {x}, {width}, 0);", t.width()),
            O::Sext => format!("ref_extend({to}, {}, {x}, {width}, 1);", t.width()),
            _ => {
                let last = words(width) - 1;
                let (how, top) = match op.code {
                    O::BvAnd => (format!("{x}[k] & {y}[k]"), None),
                    O::BvOr => (format!("{x}[k] | {y}[k]"), None),
                    O::BvXor => (format!("{x}[k] ^ {y}[k]"), None),
                    _ => (format!("~{x}[k]"), Some(mask(width - 64 * last))),
                };
                self.line(format!("for (int k = 0; k < {}; k++)", last + 1));
                self.line(format!("    {to}[k] = {how};"));
                match top {
                    Some(top) => format!("{to}[{last}] &= {top};"),
                    None => return Ok(to),
                }
            }
        };
        self.line(line);
        Ok(to)
    }

    /// Writes to memory what a term of memory says; all that is read is read before.
    pub(super) fn perform(&mut self, t: Term) -> Written<()> {
        self.next += 1;
        if self.next > MOST_STATEMENTS {
            return Err(format!("it takes more than {MOST_STATEMENTS} statements"));
        }
        match t.kind() {
            Kind::Var { .. } | Kind::Bound { .. } => Ok(()),
            Kind::App { op, args } if op.code == OpCode::Write => {
                let (value, address) = (self.address(args[2])?, self.value(args[1])?);
                self.perform(args[0])?;
                let bytes = args[2].width() / 8;
                self.line(format!("ref_write({address}, {value}, {bytes});"));
                Ok(())
            }
            Kind::App { op, args } if op.code == OpCode::Ite => {
                let condition = self.value(args[0])?;
                // One write more on one side: what both have in common is done once.
                if let Some([before, address, value]) = args[1].args_of(OpCode::Write)
                    && *before == args[2]
                {
                    let (bytes, value) = (value.width() / 8, self.address(*value)?);
                    let address = self.value(*address)?;
                    self.perform(args[2])?;
                    self.line(format!("if ({condition})"));
                    self.line(format!("    ref_write({address}, {value}, {bytes});"));
                    return Ok(());
                }
                self.block(format!("if ({condition})"), |b| b.perform(args[1]))?;
                self.block(format!("if (!{condition})"), |b| b.perform(args[2]))
            }
            Kind::Fold { count, init, body } => {
                if self.reads(*body) {
                    return Err("it reads memory while it writes it".to_owned());
                }
                self.perform(*init)?;
                let index = format!("i{}", self.blocks.len());
                let head = format!("for (int64_t {index} = 0; {index} < {count}; {index}++)");
                self.bound.extend([index.clone(), String::new()]);
                let done = self.block(head, |b| b.perform(*body));
                self.bound.truncate(self.bound.len() - 2);
                done
            }
            _ => Err("it changes memory in another way".to_owned()),
        }
    }
}

/// An operator on words, truth values and indices as an expression.
fn narrow(t: Term, op: Op, args: &[Term], x: &[String]) -> Option<String> {
    use OpCode as O;
    let from = args[0].sort().width().unwrap_or(64);
    let to = t.sort().width().unwrap_or(64);
    let (a, b) = (x.first()?, x.last()?);
    let kept = |value: String| match to {
        64 => value,
        _ => format!("({value}) & {}", mask(to)),
    };
    let call = |function: &str| format!("ref_{function}({a}, {b}, {from})");
    let clamp =
        |signed: u8, to_signed: u8| format!("ref_sat({a}, {from}, {to}, {signed}, {to_signed})");
    Some(match op.code {
        O::Not => format!("!{a}"),
        O::And => format!("{a} && {b}"),
        O::Or => format!("{a} || {b}"),
        O::Eq => format!("{a} == {b}"),
        O::IntAdd => format!("{a} + {b}"),
        O::IntMul => format!("{a} * {b}"),
        O::IntLt => format!("{a} < {b}"),
        O::IntDiv | O::IntMod => {
            let divisor = args[1].as_int().filter(|&k| k > 0)?;
            match op.code {
                O::IntDiv => format!("{a} / {divisor} - ({a} % {divisor} < 0)"),
                _ => format!("({a} % {divisor} + {divisor}) % {divisor}"),
            }
        }
        O::IntToBv => kept(format!("(uint64_t){a}")),
        O::BvToInt => format!("(int64_t){a}"),
        O::BvNot => kept(format!("~{a}")),
        O::BvAnd => format!("{a} & {b}"),
        O::BvOr => format!("{a} | {b}"),
        O::BvXor => format!("{a} ^ {b}"),
        O::BvNeg => kept(format!("0 - {a}")),
        O::BvAdd => kept(format!("{a} + {b}")),
        O::BvSub => kept(format!("{a} - {b}")),
        O::BvMul => kept(format!("{a} * {b}")),
        O::BvUdiv => call("udiv"),
        O::BvUrem => format!("ref_urem({a}, {b})"),
        O::BvSdiv => call("sdiv"),
        O::BvSrem => call("srem"),
        O::BvShl => call("shl"),
        O::BvLshr => call("lshr"),
        O::BvAshr => call("ashr"),
        O::BvUlt => format!("{a} < {b}"),
        O::BvUle => format!("{a} <= {b}"),
        O::BvSlt => call("slt"),
        O::BvSle => format!("!ref_slt({b}, {a}, {from})"),
        O::Umin => format!("{a} < {b} ? {a} : {b}"),
        O::Umax => format!("{a} < {b} ? {b} : {a}"),
        O::Smin => format!("ref_slt({a}, {b}, {from}) ? {a} : {b}"),
        O::Smax => format!("ref_slt({a}, {b}, {from}) ? {b} : {a}"),
        O::Zext => a.clone(),
        O::Sext => format!("ref_sext({a}, {from}, {to})"),
        O::SatSS => clamp(1, 1),
        O::SatSU => clamp(1, 0),
        O::SatUS => clamp(0, 1),
        O::SatUU => clamp(0, 0),
        O::Abs => format!("ref_abs({a}, {from})"),
        O::Popcnt => kept(format!("ref_popcnt({a})")),
        O::Clz => kept(format!("ref_clz({a}, {from})")),
        O::Ctz => kept(format!("ref_ctz({a}, {from})")),
        _ => return None,
    })
}
