//! What an operation computes, on one line.
//!
//! In: a skeleton and names. Out: infix text for people: loops in front, then an element:
//! `i < count: dst[i] = saturate(a[i] + b[i])`. It is not read back.

use semantics::op::OpCode;
use similarity::mode::Family;
use similarity::number::Number;
use similarity::skeleton::{Node, Operator, Skeleton};

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
    if let Node::Apply(Operator::Fixed(OpCode::Zext), params, args) = &skeleton.nodes[at]
        && matches!(skeleton.nodes[args[0]], Node::Map(..))
    {
        above = format!(", zeros up to bit {}", params[0].infix(parameters));
        at = args[0];
    }
    let (mut head, mut place) = (Vec::new(), String::from("dst"));
    while let Node::Map(count, body) = &skeleton.nodes[at] {
        let name = writer.open();
        head.push(format!("{name} < {}", count.infix(parameters)));
        place += &format!("[{name}]");
        at = *body;
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
        Node::Apply(Operator::Fixed(code), ..) => matches!(
            code,
            OpCode::Extract | OpCode::Concat | OpCode::IntAdd | OpCode::IntMul | OpCode::Zext
        ),
        Node::Apply(Operator::Mode(..), ..) | Node::Fold(..) => false,
        _ => true,
    })
}

/// What a bound variable is called.
enum Loop {
    Index(String),
    Accumulator,
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
            Node::Argument(index, _) => self.argument(*index),
            Node::Constant(Number::Constant(1), Number::Constant(v)) => (v & 1).to_string(),
            Node::Constant(_, v) => self.number(v),
            Node::Fixed(bits) => bits.to_string(),
            Node::Truth(b) => b.to_string(),
            Node::Index(n) => self.number(n),
            Node::Bound(depth, _) => match self.loops.iter().rev().nth(*depth as usize) {
                Some(Loop::Index(name)) => name.clone(),
                _ => "acc".to_owned(),
            },
            Node::Map(count, body) => {
                let name = self.open();
                let body = self.node(*body, false);
                self.close(1);
                format!("[{name} < {}: {body}]", self.number(count))
            }
            Node::Fold(count, init, body) => self.fold(count, *init, *body),
            Node::Apply(op, params, args) => self.apply(op, params, args, tight),
        }
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
            Node::Apply(Operator::Fixed(OpCode::BvAdd), _, args)
                if matches!(self.skeleton.nodes[args[0]], Node::Bound(0, _)) =>
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

    /// Bits of something: `a[i]` for the elements of its own width, else `a[from +: width]`.
    fn part(&mut self, width: &Number, args: &[usize]) -> String {
        let source = self.node(args[0], true);
        if let Node::Apply(Operator::Fixed(OpCode::IntMul), _, product) =
            &self.skeleton.nodes[args[1]]
            && let (Node::Bound(..), Node::Index(step)) = (
                &self.skeleton.nodes[product[0]],
                &self.skeleton.nodes[product[1]],
            )
            && step == width
        {
            return format!("{source}[{}]", self.node(product[0], false));
        }
        if matches!(self.skeleton.nodes[args[1]], Node::Bound(..)) && *width == Number::Constant(1)
        {
            return format!("{source}[{}]", self.node(args[1], false));
        }
        let from = self.node(args[1], false);
        format!("{source}[{from} +: {}]", self.number(width))
    }
}

/// The constant that a bit is compared with when it is a truth value.
fn one_bit() -> Node {
    Node::Constant(Number::Constant(1), Number::Constant(1))
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
