//! Places, masks and conditions that depend on data.
//!
//! In: values of which some are data. Out: symbols that have such a value in the loop that is
//! opened for it, `for i in … at value`, so that indices are made of them as of any loop variable.
//! Several lanes are moved one by one: their places are computed as a vector, and written into a local
//! array. Halide has checked the places; the loops cover all that their type has.

use super::import::{Importer, Made, at_lane};
use super::masked::{prefix, unclamped};
use super::operation;
use super::syntax;
use super::value::{Number, Value, cast, expr};
use kernel::index::{Index, Symbol};
use kernel::tree::{Expr, ExprKind, For, Id, Local, Stmt};
use kernel::types::{Elem, Type};
use semantics::span::Span;

/// For which lanes something is done.
#[derive(Clone, Debug)]
pub(super) enum Mask {
    Number(Number),
    /// Truth values, or one for all lanes.
    Data(Expr),
}

impl Mask {
    /// How many truth values it has.
    pub(super) fn lanes(&self) -> u32 {
        match self {
            Mask::Number(number) => number.ty.lanes,
            Mask::Data(truth) => truth.ty.lanes,
        }
    }
}

/// Where the lanes of a load or store are.
#[derive(Clone, Debug)]
pub(super) enum Place {
    Number(Number),
    /// Whole numbers, of several lanes.
    Data(Expr),
}

impl Place {
    pub(super) fn lanes(&self) -> u32 {
        match self {
            Place::Number(n) => n.ty.lanes,
            Place::Data(e) => e.ty.lanes,
        }
    }
}

/// What is known of each lane: a number, or an element of a local array.
pub(super) enum Lanes {
    Number(Number),
    InArray(Id),
}

/// Statements inside the loops that the statements before them open: those without a body.
pub(super) fn inside(before: Vec<Stmt>, body: Vec<Stmt>) -> Vec<Stmt> {
    let mut body = body;
    for stmt in before.into_iter().rev() {
        match stmt {
            Stmt::For(f) if f.at.is_some() && f.body.is_empty() => {
                body = vec![Stmt::For(For { body, ..f })];
            }
            other => body.insert(0, other),
        }
    }
    body
}

/// What a type has, as the bounds of a loop.
fn all_of(elem: Elem) -> (Index, Index) {
    let fits = |x: i128| Index::Const(i64::try_from(x).unwrap_or(i64::MAX));
    (fits(elem.min()), fits(elem.max() + 1))
}

impl Importer<'_> {
    /// A symbol that has the value of a whole number, in what follows.
    pub(super) fn picked(&mut self, value: Expr) -> Symbol {
        let id = match value.kind {
            ExprKind::Local(id) if self.kernel.locals[id].stated => id,
            _ => {
                let id = self.named_value("place", value.clone());
                self.before.push(Stmt::Let(id));
                id
            }
        };
        if let Some((_, symbol)) = self.chosen.iter().find(|(known, _)| *known == id) {
            return *symbol;
        }
        let name = self.kernel.locals[id].name.clone();
        let opened = self.only(&name, id, all_of(value.ty.elem), Vec::new());
        let symbol = opened.var;
        self.before.push(Stmt::For(opened));
        self.chosen.push((id, symbol));
        symbol
    }

    fn named_value(&mut self, name: &str, value: Expr) -> Id {
        self.kernel.locals.push(Local {
            name: name.to_owned(),
            value,
            stated: true,
        });
        self.kernel.locals.len() - 1
    }

    /// A loop of which the one iteration is run that a value chooses.
    fn only(&mut self, name: &str, at: Id, (lo, hi): (Index, Index), body: Vec<Stmt>) -> For {
        For {
            at: Some(at),
            ..For::new(self.variable(name), (lo, hi), body, self.span)
        }
    }

    /// What is 1 where a truth value of one lane holds, else 0.
    pub(super) fn truth(&mut self, e: Expr) -> Index {
        let value = cast(e, super::arguments::TRUTH);
        Index::Sym(self.picked(value))
    }

    pub(super) fn mask(&mut self, e: &syntax::Expr) -> Made<Mask> {
        match self.value(e)? {
            Value::Index(n) => Ok(Mask::Number(unclamped(n))),
            Value::Data(e) => Ok(Mask::Data(e)),
            Value::Opaque => self.refuse(
                e.span,
                "this mask is an address",
                "the text is damaged: let Halide write it again",
            ),
        }
    }

    pub(super) fn place(&mut self, e: &syntax::Expr) -> Made<Place> {
        match self.value(e)? {
            Value::Index(n) if n.ty.elem != Elem::Bool => Ok(Place::Number(n)),
            Value::Data(e) if e.ty.elem.is_int() && e.ty.lanes == 1 => {
                let elem = e.ty.elem;
                let place = Index::Sym(self.picked(e));
                Ok(Place::Number(Number::scalar(&place, elem)))
            }
            Value::Data(e) if e.ty.elem.is_int() => Ok(Place::Data(e)),
            _ => self.refuse(
                e.span,
                "this place is no whole number",
                "the text is damaged: let Halide write it again",
            ),
        }
    }

    /// Whether so many lanes of each can be stored: one for all, or one for each place.
    pub(super) fn fits(&self, place: &Place, lanes: &[u32], span: Span) -> Made<()> {
        let places = place.lanes();
        match lanes.iter().find(|&&own| own != 1 && own != places) {
            None => Ok(()),
            Some(own) => self.refuse(
                span,
                format!("{own} lanes are stored at {places} places"),
                "the text is damaged: let Halide write it again",
            ),
        }
    }

    /// Lanes in a local array, to be gone through one by one.
    fn in_array(&mut self, name: &str, value: Expr, lanes: u32) -> Id {
        let array = self.local_array(name, value.ty.elem, Index::Const(i64::from(lanes)));
        let whole = self.access(array, Index::Const(0), lanes, 1);
        let stmt = self.assign(whole, value);
        self.before.push(stmt);
        array
    }

    pub(super) fn places(&mut self, place: &Place) -> Lanes {
        match place {
            Place::Number(n) => Lanes::Number(n.clone()),
            Place::Data(e) => Lanes::InArray(self.in_array("places", e.clone(), e.ty.lanes)),
        }
    }

    pub(super) fn masked(&mut self, mask: Option<&Mask>, lanes: u32) -> Option<Lanes> {
        Some(match mask? {
            Mask::Number(n) => Lanes::Number(n.clone()),
            Mask::Data(e) => {
                let bytes = cast(e.clone(), super::arguments::TRUTH);
                Lanes::InArray(self.in_array("mask", bytes, lanes))
            }
        })
    }

    /// What a statement makes of the place of one lane.
    pub(super) fn at_place(
        &mut self,
        places: &Lanes,
        lane: Symbol,
        make: impl FnOnce(&mut Self, Index) -> Stmt,
    ) -> Vec<Stmt> {
        match places {
            Lanes::Number(n) => {
                let index = at_lane(n, lane);
                vec![make(self, index)]
            }
            Lanes::InArray(array) => {
                let elem = self.kernel.arrays[*array].elem;
                let id = self.lane_of(*array, lane);
                let mut only = self.only("place", id, all_of(elem), Vec::new());
                only.body = vec![make(self, Index::Sym(only.var))];
                vec![Stmt::Let(id), Stmt::For(only)]
            }
        }
    }

    fn lane_of(&mut self, array: Id, lane: Symbol) -> Id {
        let elem = self.kernel.arrays[array].elem;
        let access = self.access(array, Index::Sym(lane), 1, 1);
        let value = expr(ExprKind::Load(access), Type::scalar(elem), self.span);
        self.named_value("place", value)
    }

    /// Statements for each lane, where a mask holds.
    pub(super) fn each_lane(
        &mut self,
        lanes: u32,
        mask: Option<&Lanes>,
        make: impl FnOnce(&mut Self, Symbol) -> Vec<Stmt>,
    ) -> Stmt {
        let lane = self.variable("lane");
        let mut body = make(self, lane);
        let mut count = Index::Const(i64::from(lanes));
        match mask {
            None => {}
            Some(Lanes::Number(mask)) => match prefix(mask) {
                Some(leading) => count = leading,
                None => {
                    let once = self.variable("once");
                    let hi = super::value::least(&at_lane(mask, lane), &Index::Const(1));
                    body = vec![self.loop_of(once, Index::Const(0), hi, body)];
                }
            },
            Some(Lanes::InArray(array)) => {
                let id = self.lane_of(*array, lane);
                let yes = (Index::Const(1), Index::Const(2));
                let only = self.only("once", id, yes, body);
                body = vec![Stmt::Let(id), Stmt::For(only)];
            }
        }
        self.loop_of(lane, Index::Const(0), count, body)
    }

    /// Notes that lanes of the statement are moved one at a time wherever it runs.
    pub(super) fn tell_of_lanes(&mut self, lanes: u32, mask: Option<&Mask>, why: &str) {
        let rarely = matches!(mask, Some(Mask::Number(_))) || !self.parted.is_empty();
        let known = |(span, _): &(semantics::span::Span, _)| *span == self.span;
        if lanes > 1 && !rarely && !self.one_by_one.iter().any(known) {
            let why = format!("{lanes} elements: {why}");
            self.one_by_one.push((self.span, why));
        }
    }

    /// A function of one lane, on each lane of its operands.
    pub(super) fn lane_by_lane(
        &mut self,
        args: &[Expr],
        elem: Elem,
        make: impl FnOnce(Vec<Expr>) -> Expr,
    ) -> Expr {
        let (span, lanes) = (
            self.span,
            args.iter().map(|a| a.ty.lanes).max().unwrap_or(1),
        );
        if lanes == 1 {
            return make(args.to_vec());
        }
        let why = "a function of the C library is called for each";
        self.tell_of_lanes(lanes, None, why);
        let arrays: Vec<Result<Id, Expr>> = args
            .iter()
            .map(|arg| match arg.ty.lanes {
                1 => Err(arg.clone()),
                _ => Ok(self.in_array("operand", arg.clone(), lanes)),
            })
            .collect();
        let results = self.local_array("result", elem, Index::Const(i64::from(lanes)));
        let each = self.each_lane(lanes, None, |importer, lane| {
            let of = |operand: &Result<Id, Expr>| match operand {
                Err(scalar) => scalar.clone(),
                Ok(array) => {
                    let access = importer.access(*array, Index::Sym(lane), 1, 1);
                    let ty = Type::scalar(importer.kernel.arrays[*array].elem);
                    expr(ExprKind::Load(access), ty, span)
                }
            };
            let value = make(arrays.iter().map(of).collect());
            let to = importer.access(results, Index::Sym(lane), 1, 1);
            vec![importer.assign(to, value)]
        });
        self.before.push(each);
        let whole = self.access(results, Index::Const(0), lanes, 1);
        expr(ExprKind::Load(whole), Type { elem, lanes }, span)
    }

    /// Values as data; an operand that is an address is refused.
    pub(super) fn operands(&self, values: &[Value]) -> Option<Vec<Expr>> {
        values
            .iter()
            .map(|v| operation::data(v, self.span))
            .collect()
    }
}
