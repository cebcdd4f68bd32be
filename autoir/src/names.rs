//! Names for what was found.
//!
//! In: skeletons and the roles of parameters. Out: names in the field's words, from what is
//! computed alone: the same skeleton always has the same name. Operations of one name get
//! different ones in `apart`.

use semantics::op::OpCode;
use similarity::canon::Role;
use similarity::mode::Family;
use similarity::number::Number;
use similarity::skeleton::{Operator, Shape, Skeleton, SkeletonNode};
use std::cell::Cell;
use std::collections::BTreeSet;

/// Names of parameters from what they are; later ones of a kind are numbered.
pub fn parameters(roles: &[Role]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for role in roles {
        let base = match role {
            Role::Count => "count",
            Role::Lanes => "lanes",
            Role::Width => "width",
            Role::Register => "register",
            Role::Mode(Family::Saturate) => "saturation",
            Role::Mode(_) => "signed",
            Role::Format => "format",
            Role::Rounding => "rounding",
            Role::Function(_) => "function",
            Role::Bytes => "bytes",
            Role::Detail => "number",
            Role::Offset => "offset",
            Role::Stride => "stride",
            Role::Value => "constant",
        };
        let before = names
            .iter()
            .filter(|n| n.trim_end_matches(|c: char| c.is_ascii_digit()) == base)
            .count();
        names.push(if before == 0 {
            base.to_owned()
        } else {
            format!("{base}{}", before + 1)
        });
    }
    names
}

/// The name of an operation from its first result.
pub fn operation(skeleton: &Skeleton) -> String {
    let Some(root) = skeleton.nodes.len().checked_sub(1) else {
        return "nothing".to_owned();
    };
    let namer = Namer {
        skeleton,
        left: Cell::new(MAX_ELEMENTS),
    };
    let (element, looped) = namer.strip(root);
    namer.element(element, looped)
}

/// Elements that are looked at for one name: shared ones are looked at again.
const MAX_ELEMENTS: usize = 400;

struct Namer<'a> {
    skeleton: &'a Skeleton,
    left: Cell<usize>,
}

impl Namer<'_> {
    fn get(&self, at: usize) -> &SkeletonNode {
        &self.skeleton.nodes[at]
    }

    /// An application: its operator (the first of its family) and arguments.
    fn app(&self, at: usize) -> Option<(OpCode, &[usize])> {
        match self.get(at) {
            SkeletonNode::Apply(Operator::Fixed(code), _, args) => Some((*code, args)),
            SkeletonNode::Apply(Operator::Mode(family, _), _, args) => {
                Some((family.operators()[0], args))
            }
            _ => None,
        }
    }

    fn is(&self, at: usize, code: OpCode) -> bool {
        self.app(at).is_some_and(|(c, _)| c == code)
    }

    /// The body of the loops around an element, and whether there were any.
    fn strip(&self, mut at: usize) -> (usize, bool) {
        let mut looped = false;
        loop {
            match self.get(at) {
                SkeletonNode::Map(_, body) => {
                    looped = true;
                    at = *body;
                }
                SkeletonNode::Apply(Operator::Fixed(OpCode::Zext), _, args)
                    if matches!(self.get(args[0]), SkeletonNode::Map(..)) =>
                {
                    at = args[0];
                }
                _ => return (at, looped),
            }
        }
    }

    /// Bits of an argument, or a constant.
    fn is_leaf(&self, at: usize) -> bool {
        match self.get(at) {
            SkeletonNode::Argument(..) | SkeletonNode::Constant(..) | SkeletonNode::Fixed(_) => {
                true
            }
            _ => self
                .app(at)
                .is_some_and(|(c, args)| c == OpCode::Extract && self.is_argument(args[0])),
        }
    }

    /// An argument or bits of one.
    fn is_argument_part(&self, at: usize) -> bool {
        self.is_leaf(at) && !self.is_constant(at)
    }

    fn is_argument(&self, at: usize) -> bool {
        matches!(self.get(at), SkeletonNode::Argument(..))
    }

    fn is_constant(&self, at: usize) -> bool {
        matches!(
            self.get(at),
            SkeletonNode::Constant(..) | SkeletonNode::Fixed(_)
        )
    }

    /// One bit of an argument.
    fn is_one_bit(&self, at: usize) -> bool {
        match self.get(at) {
            SkeletonNode::Apply(Operator::Fixed(OpCode::Extract), params, from) => {
                params[0] == Number::Constant(1) && self.is_argument(from[0])
            }
            SkeletonNode::Argument(_, Shape::Bits(w)) => *w == Number::Constant(1),
            _ => false,
        }
    }

    /// One bit of an argument, compared with 1.
    fn is_mask_bit(&self, at: usize) -> bool {
        match self.app(at) {
            Some((OpCode::Eq, args)) => self.is_one_bit(args[0]) && self.is_constant(args[1]),
            _ => false,
        }
    }

    fn element(&self, at: usize, looped: bool) -> String {
        let Some(left) = self.left.get().checked_sub(1) else {
            return "mixed".to_owned();
        };
        self.left.set(left);
        if let Some((OpCode::Ite, args)) = self.app(at) {
            if self.is_mask_bit(args[0]) {
                if self.is_leaf(args[1]) && self.is_leaf(args[2]) {
                    return match (self.is_constant(args[1]), self.is_constant(args[2])) {
                        (_, true) => "move_zero_masked".to_owned(),
                        _ => "blend".to_owned(),
                    };
                }
                let zero = self.is_constant(args[2]);
                let inner = self.element(args[1], looped);
                return inner + if zero { "_zero_masked" } else { "_masked" };
            }
            if let Some(name) = self.rounded(args, looped) {
                return name;
            }
            let bits = (self.get(args[1]), self.get(args[2]));
            if let (SkeletonNode::Constant(w, _), SkeletonNode::Constant(_, _)) = bits {
                let truth = *w == Number::Constant(1) || !self.is_mask_bit(args[0]);
                if *w != Number::Constant(1) && truth {
                    return self.condition(args[0]);
                }
                if truth {
                    return format!("{}_mask", self.condition(args[0]));
                }
            }
        }
        if self.is_leaf(at) || self.is(at, OpCode::Concat) && self.moves(at) {
            return self.swizzle(at, looped);
        }
        match self.value(at) {
            name if !looped && name == "add_adjacent" => "reduce_add".to_owned(),
            name => name,
        }
    }

    /// Several parts: named by those that are computed, from the least significant up.
    fn parts(&self, parts: &[usize]) -> String {
        let mut names: Vec<String> = Vec::new();
        for &part in parts.iter().rev().filter(|&&p| !self.moves(p)) {
            let (element, looped) = self.strip(part);
            let name = self.element(element, looped);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let base = together(names);
        // The part above is another operand's: what C calls a scalar in a register.
        match parts {
            [above, low] if self.is_argument_part(*above) && !self.moves(*low) => base + "_scalar",
            _ => base,
        }
    }

    /// The same operation with the rounding that an operand says.
    fn rounded(&self, args: &[usize], looped: bool) -> Option<String> {
        let (code, compared) = self.app(args[0])?;
        let mode = code == OpCode::Eq
            && self.is_argument_part(compared[0])
            && !self.is_one_bit(compared[0])
            && self.is_constant(compared[1]);
        if !mode || self.is_leaf(args[1]) {
            return None;
        }
        let (one, others) = (self.element(args[1], looped), self.element(args[2], looped));
        let base = others.strip_suffix("_round").unwrap_or(&others);
        (one == base).then(|| match base {
            "round" => one.clone(),
            _ => format!("{one}_round"),
        })
    }

    fn moves(&self, at: usize) -> bool {
        match self.get(at) {
            SkeletonNode::Map(_, body) => self.moves(*body),
            _ if self.is_leaf(at) => true,
            _ => match self.app(at) {
                Some((OpCode::Concat | OpCode::Zext, args)) => args.iter().all(|&a| self.moves(a)),
                _ => false,
            },
        }
    }

    /// The arguments below a node, in the order in which they stand.
    fn sources(&self, at: usize, into: &mut Vec<usize>) {
        match self.get(at) {
            SkeletonNode::Argument(index, _) if !into.contains(index) => {
                into.push(*index);
            }
            SkeletonNode::Map(_, body) => self.sources(*body, into),
            SkeletonNode::Apply(_, _, args) => args.iter().for_each(|&a| self.sources(a, into)),
            _ => {}
        }
    }

    fn swizzle(&self, at: usize, looped: bool) -> String {
        let mut sources = Vec::new();
        self.sources(at, &mut sources);
        if let Some((OpCode::Concat, parts)) = self.app(at) {
            let runs = parts
                .iter()
                .any(|&p| matches!(self.get(p), SkeletonNode::Map(..)));
            let constant = parts.iter().any(|&p| self.is_constant(p));
            return match (sources.len(), runs, constant) {
                (0 | 1, _, true) => "move_low",
                (0 | 1, ..) => "shuffle",
                (_, true, _) => "join",
                _ => "interleave",
            }
            .to_owned();
        }
        let Some((OpCode::Extract, args)) = self.app(at) else {
            return if self.is_constant(at) {
                "constant"
            } else {
                "move"
            }
            .to_owned();
        };
        let varies = self.uses_index(args[1]);
        if looped && self.free_step(args[1]) {
            return "move_elements".to_owned();
        }
        match (looped, varies) {
            (true, true) => "take_every",
            (true, false) => "broadcast",
            (false, _) => "take_part",
        }
        .to_owned()
    }

    /// Whether the step from one element to the next is a parameter of its own.
    fn free_step(&self, at: usize) -> bool {
        match self.get(at) {
            SkeletonNode::Index(Number::Parameter(_)) => true,
            SkeletonNode::Apply(_, _, args) => args.iter().any(|&a| self.free_step(a)),
            _ => false,
        }
    }

    fn uses_index(&self, at: usize) -> bool {
        match self.get(at) {
            SkeletonNode::Bound(_, Shape::Other(_)) => true,
            SkeletonNode::Apply(_, _, args) => args.iter().any(|&a| self.uses_index(a)),
            _ => false,
        }
    }

    /// The name of a truth value.
    fn condition(&self, at: usize) -> String {
        if let SkeletonNode::Fold(_, _, body) = self.get(at) {
            return match self.app(*body) {
                Some((OpCode::Or, args)) => format!("any_{}", self.condition(args[1])),
                Some((OpCode::And, args)) => format!("all_{}", self.condition(args[1])),
                _ => "condition".to_owned(),
            };
        }
        let Some((code, args)) = self.app(at) else {
            return "condition".to_owned();
        };
        match code {
            OpCode::Eq if self.is_constant(args[1]) && self.is(args[0], OpCode::BvAnd) => {
                "test_zero".to_owned()
            }
            OpCode::Eq => "compare_equal".to_owned(),
            OpCode::BvUlt => "compare_less".to_owned(),
            OpCode::BvUle => "compare_at_most".to_owned(),
            OpCode::Not => match self.condition(args[0]).as_str() {
                "compare_equal" => "compare_not_equal".to_owned(),
                "test_zero" => "test".to_owned(),
                other => format!("not_{other}"),
            },
            OpCode::And if args.iter().any(|&a| self.is_mask_bit(a)) => {
                let other = args.iter().find(|&&a| !self.is_mask_bit(a));
                let other = other.map_or("and".to_owned(), |&a| self.condition(a));
                format!("{other}_masked")
            }
            _ => operator(code),
        }
    }

    /// The name of a computed element.
    fn value(&self, at: usize) -> String {
        if let SkeletonNode::Fold(_, init, body) = self.get(at) {
            return self.reduction(*init, *body);
        }
        let Some((code, args)) = self.app(at) else {
            return match self.get(at) {
                SkeletonNode::Map(..) => self.element(self.strip(at).0, true),
                _ if self.is_leaf(at) => "move".to_owned(),
                _ => "fold".to_owned(),
            };
        };
        match code {
            OpCode::SatSS => self.saturated(args[0]),
            OpCode::Zext if self.is_leaf(args[0]) => "extend".to_owned(),
            OpCode::Zext => self.value(args[0]),
            OpCode::Concat => self.parts(args),
            OpCode::Read => self.load(args[1]),
            OpCode::Write => self.store(args),
            OpCode::Extract => self.part_of(args),
            OpCode::BvAdd | OpCode::BvSub => self.sum(code, args),
            OpCode::BvMul => {
                let widens = args.iter().all(|&a| self.is(a, OpCode::Zext));
                if widens { "multiply_widen" } else { "multiply" }.to_owned()
            }
            OpCode::BvAnd if args.iter().any(|&a| self.is(a, OpCode::BvNot)) => "and_not".into(),
            OpCode::BvShl | OpCode::BvLshr | OpCode::Rotl | OpCode::Rotr => self.shift(code, args),
            OpCode::Elem if self.counts(args[1]) => "expand".to_owned(),
            OpCode::Elem | OpCode::Slice => "permute".to_owned(),
            OpCode::Ite => self.choice(args),
            OpCode::Umin => "min".to_owned(),
            OpCode::Umax => "max".to_owned(),
            OpCode::BvUdiv => "divide".to_owned(),
            OpCode::BvUrem => "remainder".to_owned(),
            OpCode::Popcnt => "count_ones".to_owned(),
            OpCode::Clz => "count_leading_zeros".to_owned(),
            OpCode::Ctz => "count_trailing_zeros".to_owned(),
            OpCode::Eq | OpCode::BvUlt | OpCode::BvUle | OpCode::And | OpCode::Or | OpCode::Not => {
                self.condition(at)
            }
            _ => operator(code),
        }
    }

    /// Whether a number of bits is counted below.
    fn counts(&self, at: usize) -> bool {
        self.any(at, &|n| matches!(self.get(n), SkeletonNode::Fold(..)))
    }

    /// Whether elements of an argument are read below, one after the other.
    fn uses_elements(&self, at: usize) -> bool {
        let element = |n: usize| match self.app(n) {
            Some((OpCode::Extract, args)) => self.uses_index(args[1]),
            _ => false,
        };
        self.any(at, &element)
    }

    fn load(&self, address: usize) -> String {
        let name = match (self.counts(address), self.uses_elements(address)) {
            (true, _) => "expand_load",
            (_, true) => "gather",
            _ => "load",
        };
        name.to_owned()
    }

    /// A write: memory, address, value.
    fn store(&self, args: &[usize]) -> String {
        let chosen = self.counts(args[1]) || self.below(args[1], OpCode::Ite);
        let name = match (chosen, self.uses_elements(args[1])) {
            (true, _) => "compress_store",
            (_, true) => "scatter",
            _ => "store",
        };
        if self.moves(args[2]) {
            return name.to_owned();
        }
        format!("{}_{name}", self.element(args[2], true))
    }

    fn saturated(&self, at: usize) -> String {
        if self.is_leaf(at) {
            return "narrow_sat".to_owned();
        }
        self.value(at) + "_sat"
    }

    fn sum(&self, code: OpCode, args: &[usize]) -> String {
        let product = |a: usize| self.is(a, OpCode::BvMul);
        if args
            .iter()
            .any(|&a| matches!(self.get(a), SkeletonNode::Fold(..)))
        {
            return "dot_product_acc".to_owned();
        }
        let base = if code == OpCode::BvAdd { "add" } else { "sub" };
        if args.iter().any(|&a| product(a)) {
            return format!("multiply_{base}");
        }
        base.to_owned()
    }

    /// A reduction: a sum or another operator over several arguments, or several writes.
    fn reduction(&self, init: usize, body: usize) -> String {
        let addend = match self.app(body) {
            Some((OpCode::BvAdd, args)) => args[1],
            Some((OpCode::Write, args)) => return self.store(args),
            Some((OpCode::Ite, args)) if self.is(args[1], OpCode::Write) => {
                return self.value(args[1]) + "_masked";
            }
            Some((code, args)) if args.len() == 2 => {
                let masked = self.app(args[1]);
                let masked =
                    masked.is_some_and(|(c, a)| c == OpCode::Ite && self.is_mask_bit(a[0]));
                let suffix = if masked { "_masked" } else { "" };
                return format!("reduce_{}{suffix}", reducer(code));
            }
            _ => return "fold".to_owned(),
        };
        let start = if self.is_constant(init) { "" } else { "_acc" };
        let product = self.is(addend, OpCode::BvMul)
            || self
                .app(addend)
                .is_some_and(|(c, a)| c == OpCode::Zext && self.is(a[0], OpCode::BvMul));
        let bits = self.app(addend).is_some_and(|(_, a)| self.is_one_bit(a[0]));
        let kind = if product {
            "dot_product"
        } else if bits {
            return "count_ones".to_owned();
        } else if self.below(addend, OpCode::Abs) {
            "sum_of_differences"
        } else if self.is_leaf(addend) || self.app(addend).is_some_and(|(_, a)| self.is_leaf(a[0]))
        {
            "add_adjacent"
        } else {
            "sum"
        };
        format!("{kind}{start}")
    }

    /// Some bits of a computed value.
    fn part_of(&self, args: &[usize]) -> String {
        let (of, low) = (args[0], self.get(args[1]));
        let inner = self.value(of);
        if matches!(low, SkeletonNode::Index(Number::Constant(0))) {
            return inner;
        }
        let halves = matches!(low, SkeletonNode::Index(Number::Constant(1)));
        let rounds = self
            .app(of)
            .is_some_and(|(c, a)| c == OpCode::BvAdd && a.iter().any(|&x| self.is_constant(x)));
        match (self.app(of), rounds) {
            (Some((OpCode::BvMul, _)), _) => "multiply_high".to_owned(),
            (Some((OpCode::BvAdd, a)), true) if self.below(a[0], OpCode::BvMul) => {
                "multiply_high_round".to_owned()
            }
            (Some((OpCode::BvAdd, _)), true) if halves => "average_round".to_owned(),
            (Some((OpCode::BvAdd, _)), false) if halves => "average".to_owned(),
            _ => format!("{inner}_part"),
        }
    }

    fn below(&self, at: usize, code: OpCode) -> bool {
        self.any(at, &|n| self.is(n, code))
    }

    /// Whether a node below, or the node itself, is such.
    fn any(&self, at: usize, such: &dyn Fn(usize) -> bool) -> bool {
        let (mut seen, mut stack) = (BTreeSet::from([at]), vec![at]);
        while let Some(n) = stack.pop() {
            if such(n) {
                return true;
            }
            let children = match self.get(n) {
                SkeletonNode::Apply(_, _, args) => args.clone(),
                SkeletonNode::Map(_, body) => vec![*body],
                SkeletonNode::Fold(_, init, body) => vec![*init, *body],
                _ => Vec::new(),
            };
            stack.extend(children.into_iter().filter(|&c| seen.insert(c)));
        }
        false
    }

    fn shift(&self, code: OpCode, args: &[usize]) -> String {
        let base = match code {
            OpCode::BvShl => "shift_left",
            OpCode::BvLshr => "shift_right",
            OpCode::Rotl => "rotate_left",
            _ => "rotate_right",
        };
        if self.uses_index(args[1]) {
            format!("{base}_var")
        } else {
            base.to_owned()
        }
    }

    /// A truth value as bits, all ones or all zeros.
    fn is_predicate(&self, at: usize) -> bool {
        match self.app(at) {
            Some((OpCode::Ite, args)) => {
                let constants = self.is_constant(args[1]) && self.is_constant(args[2]);
                constants && !self.is_mask_bit(args[0])
            }
            _ => false,
        }
    }

    fn choice(&self, args: &[usize]) -> String {
        let shifted = args[1..].iter().find(|&&a| {
            let shifts = [OpCode::BvShl, OpCode::BvLshr];
            shifts.iter().any(|&s| self.is(a, s))
        });
        match shifted {
            Some(&a) => self.value(a),
            None if self.is_predicate(args[1]) => "compare".to_owned(),
            None if self.is_leaf(args[1]) && self.is_leaf(args[2]) => {
                format!("select_{}", self.condition(args[0]))
            }
            None if self.compresses(args[0]) => "compress".to_owned(),
            None if self.below(args[1], OpCode::FEq) => "compare_by_code".to_owned(),
            None => "choose".to_owned(),
        }
    }

    /// Whether a place is compared with a number of bits.
    fn compresses(&self, at: usize) -> bool {
        match self.app(at) {
            Some((OpCode::BvUlt, args)) => self.is_constant(args[0]) && self.counts(args[1]),
            _ => false,
        }
    }
}

/// One name for several parts: what all of them end in stands once.
fn together(mut names: Vec<String>) -> String {
    // The lowest elements of an expansion or a compression have nothing to count yet.
    let counted = |n: &&String| n.contains("expand") || n.contains("compress");
    if let Some(counted) = names.iter().find(counted) {
        return counted.clone();
    }
    let mut end = String::new();
    while let Some(suffix) = SUFFIXES
        .iter()
        .find(|s| !names.is_empty() && names.iter().all(|n| n.ends_with(*s)))
    {
        end.insert_str(0, suffix);
        for name in &mut names {
            name.truncate(name.len() - suffix.len());
        }
    }
    names.dedup();
    let base = match names.as_slice() {
        [a] => a.clone(),
        [a, b] => format!("{a}_{b}"),
        [a, ..] => format!("{a}_mixed"),
        [] => "join".to_owned(),
    };
    base + &end
}

/// Ends of names that say how an operation is done, the longer first.
const SUFFIXES: [&str; 4] = ["_zero_masked", "_masked", "_round", "_sat"];

/// The word for an operator that has no better name.
fn operator(code: OpCode) -> String {
    match code {
        OpCode::FConvert => "convert".to_owned(),
        OpCode::FToSint => "convert_to_int".to_owned(),
        OpCode::FToUint => "convert_to_unsigned".to_owned(),
        OpCode::FFromSint => "convert_from_int".to_owned(),
        OpCode::FFromUint => "convert_from_unsigned".to_owned(),
        OpCode::FRound => "round".to_owned(),
        OpCode::FGetExp => "exponent".to_owned(),
        OpCode::FGetMant => "mantissa".to_owned(),
        OpCode::FRcp => "reciprocal".to_owned(),
        OpCode::FRsqrt => "reciprocal_sqrt".to_owned(),
        OpCode::FEq => "compare_equal_float".to_owned(),
        OpCode::FLt => "compare_less_float".to_owned(),
        OpCode::FLe => "compare_at_most_float".to_owned(),
        OpCode::FUnord => "compare_unordered_float".to_owned(),
        _ => {
            let name = code.info().name;
            let name = name.trim_start_matches("bv");
            name.strip_prefix("f_").unwrap_or(name).to_owned()
        }
    }
}

/// The word for the operator of a reduction.
fn reducer(code: OpCode) -> String {
    match code {
        OpCode::Umin => "min".to_owned(),
        OpCode::Umax => "max".to_owned(),
        OpCode::BvMul => "multiply".to_owned(),
        _ => operator(code),
    }
}
