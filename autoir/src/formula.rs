//! What an operation computes, on one line.
//!
//! In: a skeleton and names. Out: infix text for people: loops in front, then an element:
//! `i < count: dst[i] = saturate(a[i] + b[i])`. Where numbers are known, a loop that runs once is none
//! and bits are elements of their width: `i < 16: dst[i] = c[i] + sum(j < 4: a[4*i + j]*b[4*i + j])`.
//! It is not read back.

use semantics::op::OpCode;
use similarity::mode::Family;
use similarity::number::Number;
use similarity::skeleton::{Operator, Shape, Skeleton, SkeletonNode};

/// Characters after which a formula is cut.
const MAX_LENGTH: usize = 400;

/// The formula of one result.
pub fn formula(skeleton: &Skeleton, parameters: &[String], arguments: &[String]) -> String {
    let mut writer = Writer {
        skeleton,
        parameters,
        arguments,
        loops: Vec::new(),
        names: Vec::new(),
        left: MAX_LENGTH * 4,
    };
    let Some(mut at) = skeleton.nodes.len().checked_sub(1) else {
        return String::new();
    };
    let mut above = String::new();
    if let SkeletonNode::Apply(Operator::Fixed(OpCode::Zext), params, args) = &skeleton.nodes[at]
        && matches!(skeleton.nodes[args[0]], SkeletonNode::Map(..))
    {
        above = format!(", zeros up to bit {}", params[0].infix(parameters));
        at = args[0];
    }
    let (mut head, mut place) = (Vec::new(), String::from("dst"));
    while let SkeletonNode::Map(count, body) = &skeleton.nodes[at] {
        at = *body;
        if *count == Number::Constant(1) {
            writer.loops.push(Loop::Once);
            continue;
        }
        let name = writer.open();
        head.push(format!("{name} < {}", count.infix(parameters)));
        place += &format!("[{name}]");
    }
    let element = writer.node(at, false);
    let head = if head.is_empty() {
        String::new()
    } else {
        format!("{}: ", head.join(", "))
    };
    let text = format!("{head}{place} = {element}{above}");
    match text.char_indices().nth(MAX_LENGTH) {
        Some((cut, _)) => format!("{} ...", &text[..cut]),
        None => text,
    }
}

/// Whether an operation only moves, repeats and drops bits.
pub fn only_moves(skeleton: &Skeleton) -> bool {
    skeleton.nodes.iter().all(|node| match node {
        SkeletonNode::Apply(Operator::Fixed(code), ..) => matches!(
            code,
            OpCode::Extract | OpCode::Concat | OpCode::IntAdd | OpCode::IntMul | OpCode::Zext
        ),
        SkeletonNode::Apply(Operator::Mode(..), ..) | SkeletonNode::Fold(..) => false,
        _ => true,
    })
}

/// What a bound variable is called.
enum Loop {
    Index(String),
    /// That of a loop which runs once: it is 0.
    Once,
    Accumulator,
}

/// A sum of bound variables with factors, and a number.
#[derive(Default)]
struct Linear {
    terms: Vec<(String, i64)>,
    constant: i64,
}

impl Linear {
    /// In units of so many, when it is a multiple.
    fn over(&self, unit: i64) -> Option<String> {
        let mut factors = self.terms.iter().map(|t| t.1).chain([self.constant]);
        if unit <= 0 || !factors.all(|f| f >= 0 && f % unit == 0) {
            return None;
        }
        let mut terms = self.terms.clone();
        terms.sort_by_key(|t| std::cmp::Reverse(t.1));
        let term = |(name, factor): &(String, i64)| match factor / unit {
            1 => name.clone(),
            n => format!("{n}*{name}"),
        };
        let mut parts: Vec<String> = terms.iter().map(term).collect();
        if self.constant > 0 || parts.is_empty() {
            parts.push((self.constant / unit).to_string());
        }
        Some(parts.join(" + "))
    }
}

struct Writer<'a> {
    skeleton: &'a Skeleton,
    parameters: &'a [String],
    arguments: &'a [String],
    /// Bound variables, the innermost last.
    loops: Vec<Loop>,
    names: Vec<String>,
    /// Nodes that may still be written: shared ones are written again.
    left: usize,
}

impl Writer<'_> {
    fn open(&mut self) -> String {
        const NAMES: [&str; 6] = ["i", "j", "r", "s", "t", "u"];
        let name = match NAMES.get(self.names.len()) {
            Some(name) => (*name).to_owned(),
            None => format!("i{}", self.names.len()),
        };
        self.names.push(name.clone());
        self.loops.push(Loop::Index(name.clone()));
        name
    }

    fn number(&self, n: &Number) -> String {
        n.infix(self.parameters)
    }

    fn argument(&self, index: usize) -> String {
        self.arguments.get(index).cloned().unwrap_or_default()
    }

    fn node(&mut self, at: usize, tight: bool) -> String {
        if self.left == 0 {
            return "...".to_owned();
        }
        self.left -= 1;
        match &self.skeleton.nodes[at] {
            SkeletonNode::Argument(index, _) => self.argument(*index),
            SkeletonNode::Constant(Number::Constant(1), Number::Constant(v)) => (v & 1).to_string(),
            SkeletonNode::Constant(_, v) => self.number(v),
            SkeletonNode::Fixed(bits) => bits.to_string(),
            SkeletonNode::Truth(b) => b.to_string(),
            SkeletonNode::Index(n) => self.number(n),
            SkeletonNode::Bound(depth, _) => match self.bound(*depth) {
                Some(Loop::Index(name)) => name.clone(),
                Some(Loop::Once) => "0".to_owned(),
                _ => "acc".to_owned(),
            },
            SkeletonNode::Map(Number::Constant(1), body) => {
                self.loops.push(Loop::Once);
                let body = self.node(*body, tight);
                self.loops.pop();
                body
            }
            SkeletonNode::Map(count, body) => {
                let name = self.open();
                let body = self.node(*body, false);
                self.close(1);
                format!("[{name} < {}: {body}]", self.number(count))
            }
            SkeletonNode::Fold(count, init, body) => self.fold(count, *init, *body),
            SkeletonNode::Apply(op, params, args) => self.apply(op, params, args, tight),
        }
    }

    fn bound(&self, depth: u32) -> Option<&Loop> {
        self.loops.iter().rev().nth(depth as usize)
    }

    /// An index of numbers that are all known, as a sum; none where it is not one.
    fn linear(&self, at: usize) -> Option<Linear> {
        let mut out = Linear::default();
        match &self.skeleton.nodes[at] {
            SkeletonNode::Index(Number::Constant(n)) => out.constant = *n,
            SkeletonNode::Bound(depth, _) => match self.bound(*depth)? {
                Loop::Index(name) => out.terms.push((name.clone(), 1)),
                Loop::Once => {}
                Loop::Accumulator => return None,
            },
            SkeletonNode::Apply(Operator::Fixed(OpCode::IntAdd), _, args) => {
                for &arg in args {
                    let part = self.linear(arg)?;
                    out.terms.extend(part.terms);
                    out.constant = out.constant.checked_add(part.constant)?;
                }
            }
            SkeletonNode::Apply(Operator::Fixed(OpCode::IntMul), _, args) => {
                let (a, b) = (self.linear(args[0])?, self.linear(args[1])?);
                let (sum, by) = match (a.terms.is_empty(), b.terms.is_empty()) {
                    (_, true) => (a, b.constant),
                    (true, _) => (b, a.constant),
                    _ => return None,
                };
                out.constant = sum.constant.checked_mul(by)?;
                for (name, factor) in sum.terms {
                    out.terms.push((name, factor.checked_mul(by)?));
                }
                out.terms.retain(|t| t.1 != 0);
            }
            _ => return None,
        }
        Some(out)
    }

    fn close(&mut self, n: usize) {
        self.loops.truncate(self.loops.len() - n);
        self.names.pop();
    }

    /// A fold that adds is a sum; another one is written as it is.
    fn fold(&mut self, count: &Number, init: usize, body: usize) -> String {
        let start = self.node(init, true);
        let name = self.open();
        self.loops.push(Loop::Accumulator);
        let text = match &self.skeleton.nodes[body] {
            SkeletonNode::Apply(Operator::Fixed(OpCode::BvAdd), _, args)
                if matches!(self.skeleton.nodes[args[0]], SkeletonNode::Bound(0, _)) =>
            {
                let addend = self.node(args[1], true);
                let sum = format!("sum({name} < {}: {addend})", self.number(count));
                if start == "0" {
                    sum
                } else {
                    format!("{start} + {sum}")
                }
            }
            _ => {
                let step = self.node(body, false);
                format!(
                    "fold({name} < {}: acc = {start}; {step})",
                    self.number(count)
                )
            }
        };
        self.close(2);
        text
    }

    fn apply(&mut self, op: &Operator, params: &[Number], args: &[usize], tight: bool) -> String {
        let wrap = |text: String| if tight { format!("({text})") } else { text };
        let code = match op {
            Operator::Fixed(code) => *code,
            Operator::Mode(family, mode) => return self.mode(*family, mode, params, args),
        };
        if code == OpCode::Eq && self.skeleton.nodes[args[1]] == one_bit() {
            return self.node(args[0], true);
        }
        if let Some(sign) = infix(code) {
            let parts: Vec<String> = args.iter().map(|&a| self.node(a, true)).collect();
            return wrap(parts.join(sign));
        }
        match code {
            OpCode::Extract => self.part(&params[0], args),
            OpCode::Ite => {
                let parts: Vec<String> = args.iter().map(|&a| self.node(a, true)).collect();
                wrap(format!("{} ? {} : {}", parts[0], parts[1], parts[2]))
            }
            OpCode::Concat => {
                let parts: Vec<String> = args.iter().map(|&a| self.node(a, false)).collect();
                format!("{{{}}}", parts.join(", "))
            }
            OpCode::BvNot | OpCode::Not => format!("~{}", self.node(args[0], true)),
            OpCode::BvNeg => format!("-{}", self.node(args[0], true)),
            _ => {
                let name = code.info().name.trim_start_matches("bv");
                self.call(name, params, args)
            }
        }
    }

    fn call(&mut self, name: &str, params: &[Number], args: &[usize]) -> String {
        let params: Vec<String> = params.iter().map(|p| self.number(p)).collect();
        let args: Vec<String> = args.iter().map(|&a| self.node(a, false)).collect();
        let params = if params.is_empty() {
            String::new()
        } else {
            format!("<{}>", params.join(","))
        };
        format!("{name}{params}({})", args.join(", "))
    }

    fn mode(&mut self, family: Family, mode: &Number, params: &[Number], args: &[usize]) -> String {
        if let Number::Constant(m) = mode {
            let fixed = usize::try_from(*m).ok();
            if let Some(code) = fixed.and_then(|m| family.operators().get(m)) {
                let name = code.info().name.trim_start_matches("bv");
                return self.call(name, params, args);
            }
        }
        let name = format!("{}[{}]", family.name(), self.number(mode));
        self.call(&name, params, args)
    }

    /// Whether so many bits of an argument are one of its elements: it is read by no other number.
    fn is_element(&self, source: usize, width: i64) -> bool {
        let of = &self.skeleton.nodes[source];
        let other = |node: &SkeletonNode| match node {
            SkeletonNode::Apply(Operator::Fixed(OpCode::Extract), params, args) => {
                self.skeleton.nodes[args[0]] == *of && params[0] != Number::Constant(width)
            }
            _ => false,
        };
        width >= 8
            && matches!(of, SkeletonNode::Argument(..))
            && !self.skeleton.nodes.iter().any(other)
    }

    /// Bits of something: `a[i]` for the elements of its own width, else `a[from +: width]`.
    fn part(&mut self, width: &Number, args: &[usize]) -> String {
        let source = self.node(args[0], true);
        if let Number::Constant(width) = *width
            && self.is_element(args[0], width)
            && let Some(from) = self.linear(args[1])
        {
            let whole = Shape::Bits(Number::Constant(width));
            let alone = from.terms.is_empty();
            let all = matches!(&self.skeleton.nodes[args[0]], SkeletonNode::Argument(_, s) if *s == whole);
            if all && alone && from.constant == 0 {
                return source;
            }
            if let Some(index) = from.over(width).filter(|_| !alone) {
                return format!("{source}[{index}]");
            }
        }
        if let SkeletonNode::Apply(Operator::Fixed(OpCode::IntMul), _, product) =
            &self.skeleton.nodes[args[1]]
            && let (SkeletonNode::Bound(..), SkeletonNode::Index(step)) = (
                &self.skeleton.nodes[product[0]],
                &self.skeleton.nodes[product[1]],
            )
            && step == width
        {
            return format!("{source}[{}]", self.node(product[0], false));
        }
        if matches!(self.skeleton.nodes[args[1]], SkeletonNode::Bound(..))
            && *width == Number::Constant(1)
        {
            return format!("{source}[{}]", self.node(args[1], false));
        }
        let from = self.linear(args[1]).and_then(|from| from.over(1));
        let from = from.unwrap_or_else(|| self.node(args[1], false));
        format!("{source}[{from} +: {}]", self.number(width))
    }
}

/// The constant that a bit is compared with when it is a truth value.
fn one_bit() -> SkeletonNode {
    SkeletonNode::Constant(Number::Constant(1), Number::Constant(1))
}

/// Operators that are written between their arguments.
fn infix(code: OpCode) -> Option<&'static str> {
    Some(match code {
        OpCode::BvAdd | OpCode::IntAdd => " + ",
        OpCode::BvSub => " - ",
        OpCode::BvMul | OpCode::IntMul => "*",
        OpCode::BvAnd => " & ",
        OpCode::BvXor => " ^ ",
        OpCode::BvOr => " or ",
        OpCode::And => " and ",
        OpCode::Or => " or ",
        OpCode::Eq => " == ",
        OpCode::BvShl => " << ",
        _ => return None,
    })
}
