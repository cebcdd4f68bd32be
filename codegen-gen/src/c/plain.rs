//! The plain route: a window computed element by element.
//!
//! In: a window of a lowered kernel. Out: C that computes each lane in a loop, as the
//! kernel's evaluator does. It always succeeds; making it fast is the search's business.

use super::operation::{c_type, constant};
use super::scope::Scope;
use super::text::Text;
use kernel::index::Index;
use kernel::tree::{Expr, ExprKind, Op, Reduction};
use lowering::window::{Store, Window};

/// The loop variable over lanes.
const LANE: &str = "l";

impl Scope<'_> {
    /// A window, element by element; only `active` leading lanes are loaded and stored when
    /// that is given.
    pub(super) fn plain(&mut self, window: &Window, active: Option<&Index>, text: &mut Text) {
        self.heading(window, text);
        self.shared.clear();
        let lanes = window.output.lanes;
        if lanes == 1 {
            let value = self.lane(&window.value, text);
            self.store(window, &value, text);
            return;
        }
        self.active = active.map(|index| {
            let name = self.fresh("active");
            text.line(&format!("const int64_t {name} = {};", self.index(index)));
            (name, lanes)
        });
        let value = match &window.value.kind {
            ExprKind::Const(values) if values.len() == 1 => constant(window.output.elem, values[0]),
            _ => {
                let name = self.materialised(&window.value, "value", text);
                if window.value.ty.lanes == 1 {
                    name
                } else {
                    format!("{name}[{LANE}]")
                }
            }
        };
        self.for_lanes(lanes, text, |scope, text| scope.store(window, &value, text));
        self.active = None;
    }

    /// A comment that says which window follows.
    pub(super) fn heading(&self, window: &Window, text: &mut Text) {
        let line = self.kernel.source.line(window.span.start);
        text.line(&format!("// {}: line {line}", window.name));
    }

    /// Fills a declared variable with the lanes of an expression.
    pub(super) fn compute(&mut self, value: &Expr, name: &str, text: &mut Text) {
        let lane = self.lane(value, text);
        self.for_lanes(value.ty.lanes, text, |_, text| {
            text.line(&format!("{name}[{LANE}] = {lane};"))
        });
    }

    /// A loop over lanes: all, or those that the active ones of the result need.
    fn for_lanes(&mut self, lanes: u32, text: &mut Text, body: impl FnOnce(&mut Self, &mut Text)) {
        let bound = match &self.active {
            None => lanes.to_string(),
            Some((active, of)) if *of == lanes => active.clone(),
            Some((active, of)) => format!("({active} * {lanes} + {}) / {of}", of - 1),
        };
        text.open(&format!("for (int {LANE} = 0; {LANE} < {bound}; {LANE}++)"));
        body(self, text);
        text.close();
    }

    /// One element stored, or added to what is there.
    fn store(&mut self, window: &Window, value: &str, text: &mut Text) {
        let elem = window.output.elem;
        let place = match &window.store {
            Store::Register(id) if window.output.lanes == 1 => self.register(*id).to_owned(),
            Store::Register(id) => format!("{}[{LANE}]", self.register(*id)),
            Store::Array(access) => self.element(access, Some(LANE)),
        };
        let value = if window.accumulate {
            let args = [place.clone(), value.to_owned()];
            self.functions.apply(Op::Add, elem, &[elem, elem], &args)
        } else {
            value.to_owned()
        };
        text.line(&format!("{place} = {value};"));
    }

    /// The value as something that may be indexed by lane (or, with one lane, used as it
    /// is): a variable of its own, filled first, when it is not a named value.
    pub(super) fn materialised(&mut self, value: &Expr, hint: &str, text: &mut Text) -> String {
        match &value.kind {
            ExprKind::Register(id) => return self.register(*id).to_owned(),
            ExprKind::Local(id) => {
                if let Some(register) = self.materialized.get(id) {
                    return self.register(*register).to_owned();
                }
            }
            _ => {}
        }
        let name = self.fresh(hint);
        if value.ty.lanes == 1 {
            let lane = self.lane(value, text);
            text.line(&format!("const {} {name} = {lane};", c_type(value.ty.elem)));
            return name;
        }
        let declared = self.declaration(value.ty.elem, value.ty.lanes, &name);
        let start = if self.active.is_some() { " = {0}" } else { "" };
        text.line(&format!("{declared}{start};"));
        self.compute(value, &name, text);
        name
    }

    /// The C expression of lane `l` of a value. What is not lane by lane is put into
    /// variables before.
    pub(super) fn lane(&mut self, value: &Expr, text: &mut Text) -> String {
        let at = |name: &str| {
            if value.ty.lanes == 1 {
                name.to_owned()
            } else {
                format!("{name}[{LANE}]")
            }
        };
        let elem = value.ty.elem;
        match &value.kind {
            ExprKind::Const(values) if values.len() == 1 => constant(elem, values[0]),
            ExprKind::Const(values) => {
                let name = self.fresh("constants");
                let values: Vec<String> = values.iter().map(|&v| constant(elem, v)).collect();
                let list = values.join(", ");
                text.line(&format!(
                    "static const {} {name}[{}] = {{{list}}};",
                    c_type(elem),
                    values.len()
                ));
                at(&name)
            }
            ExprKind::Scalar(id) => self.scalar(*id).to_owned(),
            ExprKind::Register(id) => at(self.register(*id)),
            ExprKind::Local(id) => match self.materialized.get(id) {
                Some(register) => at(self.register(*register)),
                None => at(&self.shared(*id, text)),
            },
            ExprKind::Load(access) => self.element(access, Some(LANE)),
            ExprKind::Index(index) => format!("({})({})", c_type(elem), self.index(index)),
            ExprKind::Apply(op, args) => {
                let from: Vec<_> = args.iter().map(|arg| arg.ty.elem).collect();
                let args: Vec<String> = args.iter().map(|arg| self.lane(arg, text)).collect();
                self.functions.apply(*op, elem, &from, &args)
            }
            // One element is what it combines to.
            ExprKind::Reduce(_, arg, _) if arg.ty.lanes == 1 => self.lane(arg, text),
            ExprKind::Reduce(reduction, arg, n) => {
                let whole = self.materialised(arg, "operand", text);
                let name = self.reduce(value, *reduction, &whole, *n, text);
                at(&name)
            }
            ExprKind::Shuffle(parts, lanes) => self.shuffle(value, parts, lanes, text),
        }
    }

    /// A value that a statement computes once and may use several times.
    fn shared(&mut self, id: usize, text: &mut Text) -> String {
        if let Some(name) = self.shared.get(&id) {
            return name.clone();
        }
        let value = self.kernel.locals[id].value.clone();
        let hint = self.kernel.locals[id].name.clone();
        let name = self.materialised(&value, &hint, text);
        self.shared.insert(id, name.clone());
        name
    }

    /// Every `n` adjacent elements of `whole` combined; the name of the result.
    fn reduce(
        &mut self,
        value: &Expr,
        reduction: Reduction,
        whole: &str,
        n: u32,
        text: &mut Text,
    ) -> String {
        let (elem, lanes) = (value.ty.elem, value.ty.lanes);
        let name = self.fresh("reduced");
        text.line(&format!("{};", self.declaration(elem, lanes, &name)));
        let (first, result) = match lanes {
            1 => ("0".to_owned(), name.clone()),
            _ => (format!("{LANE} * {n}"), format!("{name}[{LANE}]")),
        };
        let args = [result.clone(), format!("{whole}[{first} + k]")];
        let step = self.functions.reduce(reduction, elem, &args);
        let body = format!(
            "{result} = {whole}[{first}];\nfor (int k = 1; k < {n}; k++)\n    {result} = {step};"
        );
        match lanes {
            1 => text.lines(&body),
            _ => self.for_lanes(lanes, text, |_, text| text.lines(&body)),
        }
        name
    }

    /// Lanes chosen from several values.
    fn shuffle(&mut self, value: &Expr, parts: &[Expr], lanes: &[u32], text: &mut Text) -> String {
        let whole = self.fresh("parts");
        let total: u32 = parts.iter().map(|part| part.ty.lanes).sum();
        text.line(&format!("{} {whole}[{total}];", c_type(value.ty.elem)));
        let mut start = 0;
        for part in parts {
            let name = self.materialised(part, "part", text);
            match part.ty.lanes {
                1 => text.line(&format!("{whole}[{start}] = {name};")),
                n => self.for_lanes(n, text, |_, text| {
                    text.line(&format!("{whole}[{start} + {LANE}] = {name}[{LANE}];"));
                }),
            }
            start += part.ty.lanes;
        }
        if let [lane] = lanes {
            return format!("{whole}[{lane}]");
        }
        let order = self.fresh("order");
        let list: Vec<String> = lanes.iter().map(u32::to_string).collect();
        text.line(&format!(
            "static const uint16_t {order}[{}] = {{{}}};",
            lanes.len(),
            list.join(", ")
        ));
        format!("{whole}[{order}[{LANE}]]")
    }
}
