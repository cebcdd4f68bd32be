//! The checker: syntax tree to checked kernel.
//!
//! In: a [`crate::ast::File`]. Out: the kernels that are right, and a diagnostic for every
//! mistake of the others. It resolves names, gives every expression a type (numbers take
//! theirs from what stands beside them) and inlines functions. A mistake yields no value
//! and no further complaint about that value; checking goes on behind it. Bounds are
//! checked afterwards, by [`crate::bounds`].

pub(crate) mod call;
mod expr;
mod index;
mod scope;
mod stmt;

use crate::ast;
use crate::index::{Index, Symbol};
use crate::tree::{
    self, Array, Condition, Definition, Kernel, Param, Relation, Role, Scalar, SymbolKind,
};
use crate::types::{Elem, Type};
use scope::{Binding, FunctionDef, Scopes};
use semantics::diagnostic::{Diagnostic, suggest};
use semantics::span::{Source, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Checks a file.
pub(crate) fn check(source: &Source, file: &ast::File) -> (Vec<Kernel>, Vec<Diagnostic>) {
    let mut checker = Checker::new(source);
    let declared = file.functions.iter().map(|f| &f.name);
    checker.file_functions = declared.map(|n| (n.name.clone(), n.span)).collect();
    for function in &file.functions {
        checker.kernel = empty_kernel(source, &function.name);
        checker.function(function);
    }
    let mut names: Vec<&ast::Ident> = Vec::new();
    let mut kernels = Vec::new();
    for kernel in &file.kernels {
        if names.iter().any(|n| n.name == kernel.name.name) {
            checker.error(
                kernel.name.span,
                format!("there is already a kernel `{}`", kernel.name.name),
            );
        }
        names.push(&kernel.name);
        let before = checker.diagnostics.len();
        let checked = checker.kernel(kernel);
        if checker.diagnostics.len() == before && !checker.uses_broken {
            kernels.push(checked);
        }
    }
    (kernels, checker.diagnostics)
}

fn empty_kernel(source: &Source, name: &ast::Ident) -> Kernel {
    Kernel {
        source: source.clone(),
        name: name.name.clone(),
        symbols: Vec::new(),
        params: Vec::new(),
        arrays: Vec::new(),
        scalars: Vec::new(),
        registers: Vec::new(),
        locals: Vec::new(),
        definitions: Vec::new(),
        requires: Vec::new(),
        body: Vec::new(),
        schedule: Vec::new(),
        span: name.span,
    }
}

/// How deep values may nest, through the names that are merged into one window.
const MAX_DEPTH: u32 = 300;

/// How many calls of functions one kernel or function may unfold to.
const MAX_EXPANSIONS: u32 = 20_000;

/// The most parts of a function's value that is kept for schedules.
const MAX_DEFINITION: usize = 4_000;

/// The most elements that the constant dimensions of an array may have: 2^38.
pub(crate) const MAX_ELEMENTS: i64 = 1 << 38;

/// Whether a name is made like that of a type: `u9`, `i16x5000`.
fn looks_like_a_type(name: &str) -> bool {
    let digits = name.strip_prefix("bf").unwrap_or(name);
    let digits = digits.strip_prefix(['i', 'u', 'f']).unwrap_or(digits);
    let digits = if digits.len() < name.len() {
        digits
    } else {
        ""
    };
    !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit() || c == 'x')
}

/// The state of checking one file.
struct Checker<'a> {
    source: Source,
    diagnostics: Vec<Diagnostic>,
    scopes: Scopes<'a>,
    kernel: Kernel,
    /// The functions at file level, and where they are declared.
    file_functions: BTreeMap<String, Span>,
    /// How many loops surround the statement.
    depth: u32,
    /// How many calls of functions were put in place so far, in this declaration.
    expansions: u32,
    /// How deep the value of each local is nested, through other locals.
    depths: Vec<u32>,
    /// The arrays of truth values, which are bytes.
    truths: BTreeSet<usize>,
    /// Whether the kernel uses a function that is wrong, which was reported at the function.
    uses_broken: bool,
}

impl<'a> Checker<'a> {
    fn new(source: &Source) -> Self {
        let nowhere = ast::Ident {
            name: String::new(),
            span: Span::default(),
        };
        Checker {
            source: source.clone(),
            diagnostics: Vec::new(),
            scopes: Scopes::default(),
            kernel: empty_kernel(source, &nowhere),
            file_functions: BTreeMap::new(),
            depth: 0,
            truths: BTreeSet::new(),
            expansions: 0,
            depths: Vec::new(),
            uses_broken: false,
        }
    }

    fn error(&mut self, span: Span, message: impl Into<String>) {
        self.diagnostics
            .push(Diagnostic::error(message).at(&self.source, span));
    }

    fn error_hint(&mut self, span: Span, message: impl Into<String>, hint: impl Into<String>) {
        self.diagnostics
            .push(Diagnostic::error(message).at(&self.source, span).hint(hint));
    }

    fn declare(&mut self, name: &ast::Ident, binding: Binding<'a>) {
        if !self.scopes.declare(&name.name, binding) {
            self.error(
                name.span,
                format!("`{}` is already declared here", name.name),
            );
        }
    }

    fn unknown_name(&mut self, name: &str, span: Span) {
        let message = format!("there is no `{name}` here");
        if looks_like_a_type(name) {
            return self.unknown_type(&ast::Ident {
                name: name.to_owned(),
                span,
            });
        }
        match self.scopes.nearest(name).filter(|_| name.len() > 2) {
            Some(near) => self.error_hint(span, message, format!("did you mean `{near}`?")),
            None => self.error(span, message),
        }
    }

    /// A name in an index that nothing declares, told once.
    fn unknown_size(&mut self, name: &str, span: Span) {
        let known = self.scopes.nearest(name).filter(|_| name.len() > 2);
        if known.is_some() || looks_like_a_type(name) {
            return self.unknown_name(name, span);
        }
        let message = format!("there is no `{name}` here");
        let hint = format!("a size is a parameter: `{name}: size`");
        self.error_hint(span, message, hint);
        self.scopes.declare(name, Binding::Broken);
    }

    fn element_type(&mut self, name: &ast::Ident) -> Option<Elem> {
        match Type::by_name(&name.name) {
            Some(Type { elem, lanes: 1 }) => Some(elem),
            Some(ty) => {
                self.error_hint(
                    name.span,
                    format!("`{ty}` is a vector type; elements are scalars"),
                    format!("write `{}`", ty.elem),
                );
                None
            }
            None => {
                self.unknown_type(name);
                None
            }
        }
    }

    /// The type of an array's elements: truth values too.
    fn array_type(&mut self, name: &ast::Ident) -> Option<Elem> {
        match name.name.as_str() {
            "bool" => Some(Elem::Bool),
            _ => self.element_type(name),
        }
    }

    fn any_type(&mut self, name: &ast::Ident) -> Option<Type> {
        let ty = Type::by_name(&name.name);
        if ty.is_none() {
            self.unknown_type(name);
        }
        ty
    }

    fn unknown_type(&mut self, name: &ast::Ident) {
        if name.name == "bool" {
            let hint =
                "arrays hold truth values, all else is numbers: `select(a < b, u8(1), u8(0))`";
            return self.error_hint(name.span, "`bool` is the type of arrays alone", hint);
        }
        let all = "types are i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, and vectors of them such as i16x32";
        let meant = meant_type(&name.name).map(|near| format!("did you mean `{near}`?"));
        let hint = meant.unwrap_or_else(|| all.to_owned());
        self.error_hint(name.span, format!("`{}` is not a type", name.name), hint);
    }

    /// Checks a kernel; what comes back is only meaningful without new diagnostics.
    fn kernel(&mut self, source: &'a ast::Kernel) -> Kernel {
        self.truths.clear();
        self.kernel = empty_kernel(&self.source, &source.name);
        self.depth = 0;
        self.depths.clear();
        self.expansions = 0;
        self.uses_broken = false;
        self.scopes.push();
        for param in source.params.iter().filter(|p| p.ty.name == "size") {
            self.size_param(param);
        }
        for param in source.params.iter().filter(|p| p.ty.name != "size") {
            self.data_param(param);
        }
        self.order_params(source);
        for condition in &source.requires {
            self.condition(condition);
        }
        self.scopes.push();
        let body = self.block(&source.body);
        self.scopes.pop();
        self.scopes.pop();
        let mut kernel =
            std::mem::replace(&mut self.kernel, empty_kernel(&self.source, &source.name));
        kernel.body = body;
        kernel.schedule = source.schedule.clone();
        kernel
    }

    fn size_param(&mut self, param: &'a ast::Param) {
        if param.direction.is_some() || !param.dims.sizes.is_empty() {
            self.error(param.ty.span, "a size has no direction and no dimensions");
        }
        let symbol = self.symbol(&param.name, SymbolKind::Size);
        self.kernel.params.push(Param::Size(symbol));
        self.declare(&param.name, Binding::Index(Index::Sym(symbol)));
    }

    fn symbol(&mut self, name: &ast::Ident, kind: SymbolKind) -> Symbol {
        self.kernel.new_symbol(name.name.clone(), kind, name.span)
    }

    fn data_param(&mut self, param: &'a ast::Param) {
        let elem = match param.dims.sizes.is_empty() {
            true => self.element_type(&param.ty),
            false => self.array_type(&param.ty),
        };
        let direction = param.direction.unwrap_or(ast::Direction::In);
        if param.dims.sizes.is_empty() {
            if direction != ast::Direction::In {
                self.error_hint(
                    param.name.span,
                    "a scalar is read only",
                    "use an array of one element: `[1]`",
                );
            }
            let Some(elem) = elem else {
                return self.declare(&param.name, Binding::Broken);
            };
            let id = self.kernel.scalars.len();
            self.kernel.scalars.push(Scalar {
                name: param.name.name.clone(),
                elem,
            });
            self.kernel.params.push(Param::Scalar(id));
            let value = tree::Expr {
                kind: tree::ExprKind::Scalar(id),
                ty: Type::scalar(elem),
                span: param.name.span,
            };
            return self.declare(&param.name, Binding::Value(value));
        }
        match self.array(&param.name, elem, &param.dims, Role::Param(direction)) {
            Some(id) => self.kernel.params.push(Param::Array(id)),
            None => self.declare(&param.name, Binding::Broken),
        }
    }

    /// Declares an array; its dimensions are made of sizes.
    fn array(
        &mut self,
        name: &ast::Ident,
        elem: Option<Elem>,
        dims: &'a ast::Dims,
        role: Role,
    ) -> Option<usize> {
        let pad = match dims.pad {
            None => 1,
            Some((pad, _)) if (1..=4096).contains(&pad) => i64::try_from(pad).ok()?,
            Some((_, span)) => {
                self.error(span, "rows are padded to a multiple of 1 to 4096 elements");
                1
            }
        };
        let dims: Option<Vec<Index>> = dims.sizes.iter().map(|d| self.index(d)).collect();
        let (elem, dims) = (elem?, dims?);
        let truth = elem == Elem::Bool;
        let elem = if truth { Elem::unsigned(8) } else { elem };
        if let Some(d) = dims
            .iter()
            .position(|d| d.constant_value().is_some_and(|n| n < 1))
        {
            let message = format!("dimension {d} of `{}` has no elements", name.name);
            let hint = "a size that may be 0 when the code runs is a parameter: `n: size`";
            self.error_hint(name.span, message, hint);
            return None;
        }
        let constants = dims.iter().filter_map(Index::constant_value);
        let elements = constants.fold(1_i64, i64::saturating_mul);
        if elements > MAX_ELEMENTS {
            let message = format!("`{}` has {elements} elements or more", name.name);
            let hint = format!("an array has at most {MAX_ELEMENTS}");
            self.error_hint(name.span, message, &hint);
            return None;
        }
        let mut local = false;
        dims.iter().for_each(|d| {
            d.for_each_symbol(&mut |s| {
                local |= self.kernel.symbols[s.0 as usize].kind == SymbolKind::Loop
            });
        });
        if local {
            self.error(
                name.span,
                format!(
                    "the dimensions of `{}` depend on a loop variable",
                    name.name
                ),
            );
            return None;
        }
        let id = self.kernel.arrays.len();
        self.kernel.arrays.push(Array {
            name: name.name.clone(),
            elem,
            dims,
            pad,
            role,
            placement: crate::tree::Placement::default(),
            span: name.span,
        });
        if truth {
            self.truths.insert(id);
        }
        self.declare(name, Binding::Array(id));
        Some(id)
    }

    /// Parameters in the order in which they were written.
    fn order_params(&mut self, source: &ast::Kernel) {
        let names = source.params.iter().map(|p| p.name.name.as_str());
        let positions: BTreeMap<&str, usize> = names.zip(0..).collect();
        let position = |name: &str| positions.get(name).copied();
        let mut params = std::mem::take(&mut self.kernel.params);
        params.sort_by_key(|p| match *p {
            Param::Size(s) => position(&self.kernel.symbols[s.0 as usize].name),
            Param::Scalar(id) => position(&self.kernel.scalars[id].name),
            Param::Array(id) => position(&self.kernel.arrays[id].name),
        });
        self.kernel.params = params;
    }

    fn condition(&mut self, e: &'a ast::Expr) {
        use ast::BinaryOp as B;
        let (relation, swap) = match &e.kind {
            ast::ExprKind::Binary(B::LogicalAnd, a, b) => {
                self.condition(a);
                return self.condition(b);
            }
            ast::ExprKind::Binary(op, ..) => match op {
                B::Eq => (Some(Relation::Eq), false),
                B::Ne => (Some(Relation::Ne), false),
                B::Le => (Some(Relation::Le), false),
                B::Lt => (Some(Relation::Lt), false),
                B::Ge => (Some(Relation::Le), true),
                B::Gt => (Some(Relation::Lt), true),
                _ => (None, false),
            },
            _ => (None, false),
        };
        let (Some(relation), ast::ExprKind::Binary(_, a, b)) = (relation, &e.kind) else {
            let hint = "for example `requires n % 16 == 0, n >= 16`";
            return self.error_hint(e.span, "a precondition is a comparison of sizes", hint);
        };
        let (left, right) = (self.index(a), self.index(b));
        if let (Some(left), Some(right)) = (left, right) {
            let (left, right) = if swap { (right, left) } else { (left, right) };
            self.kernel.requires.push(Condition {
                relation,
                left,
                right,
                span: e.span,
            });
        }
    }

    /// Declares a function and checks its body once for itself, so that mistakes in it are
    /// reported where they stand and once.
    fn function(&mut self, source: &'a ast::Function) {
        let before = self.diagnostics.len();
        let locals = self.kernel.locals.len();
        let expansions = std::mem::take(&mut self.expansions);
        let mut args = Vec::new();
        for (_, ty) in &source.params {
            args.push(match ty.name.as_str() {
                "index" => Some(Binding::Index(Index::Const(0))),
                _ => self.element_type(ty).map(|elem| {
                    Binding::Value(tree::Expr {
                        kind: tree::ExprKind::Const(vec![0]),
                        ty: Type::scalar(elem),
                        span: ty.span,
                    })
                }),
            });
        }
        let def = Rc::new(FunctionDef {
            source,
            depth: self.scopes.depth(),
            sound: true,
        });
        let args = args
            .into_iter()
            .map(|a| a.unwrap_or(Binding::Broken))
            .collect();
        self.expand(&def, args);
        let sound = self.diagnostics.len() == before;
        if sound {
            let defined = self.defined(&def);
            self.diagnostics.truncate(before);
            self.kernel.definitions.extend(defined);
        }
        self.kernel.locals.truncate(locals);
        self.depths.truncate(locals);
        self.expansions = expansions;
        let def = FunctionDef {
            source,
            depth: self.scopes.depth(),
            sound,
        };
        self.declare(&source.name, Binding::Function(Rc::new(def)));
    }

    /// A function as a value over its parameters, where these are indices and it needs no numbers for them.
    fn defined(&mut self, def: &FunctionDef<'a>) -> Option<Definition> {
        let params = &def.source.params;
        if params.is_empty() || !params.iter().all(|(_, ty)| ty.name == "index") {
            return None;
        }
        let (symbols, uses_broken) = (self.kernel.symbols.len(), self.uses_broken);
        let own = params
            .iter()
            .map(|(name, _)| self.symbol(name, SymbolKind::Loop));
        let own: Vec<Symbol> = own.collect();
        let args = own.iter().map(|s| Binding::Index(Index::Sym(*s))).collect();
        let value = self.expand(def, args);
        self.kernel.symbols.truncate(symbols);
        self.uses_broken = uses_broken;
        // What a statement computes is another value where the function is computed.
        let computed = |e: &tree::Expr| {
            matches!(
                e.kind,
                tree::ExprKind::Local(_) | tree::ExprKind::Register(_)
            )
        };
        let fixed = |e: tree::Expr| (!computed(&e)).then_some(e);
        let mut left = MAX_DEFINITION;
        let mut value = self.kernel.written_out(&value?, &mut left, &fixed)?;
        value.for_each_index_mut(&mut |index| {
            for (k, symbol) in own.iter().enumerate() {
                *index = index.substitute(*symbol, &Index::Sym(Definition::parameter(k)));
            }
        });
        (value.ty.lanes == 1).then(|| Definition {
            name: def.source.name.name.clone(),
            params: params.iter().map(|(name, _)| name.name.clone()).collect(),
            value,
        })
    }

    /// The body of a function with its parameters bound.
    fn expand(&mut self, def: &FunctionDef<'a>, args: Vec<Binding<'a>>) -> Option<tree::Expr> {
        self.expansions += 1;
        if self.expansions > MAX_EXPANSIONS {
            if self.expansions == MAX_EXPANSIONS + 1 {
                let message =
                    format!("calls of functions unfold to more than {MAX_EXPANSIONS} here");
                self.error(def.source.name.span, message);
            }
            self.uses_broken = true;
            return None;
        }
        let hidden = self.scopes.hide_above(def.depth);
        self.scopes.push();
        for ((name, _), arg) in def.source.params.iter().zip(args) {
            self.declare(name, arg);
        }
        for l in &def.source.lets {
            self.let_value(l, false);
        }
        let result = self.element_type(&def.source.result);
        let value = self.expr(&def.source.value, result);
        let value = match (result, value) {
            (Some(elem), Some(value)) => self.expect_elem(value, elem),
            _ => None,
        };
        self.scopes.pop();
        self.scopes.restore(hidden);
        value
    }
}

#[cfg(test)]
mod tests;

/// The type that somebody meant: a misspelt word, letters and digits in another order, or what C calls it.
/// Other numbers are no slip: who writes `u24` means no `u64`.
fn meant_type(name: &str) -> Option<&'static str> {
    const NAMES: [&str; 13] = [
        "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64", "size",
    ];
    let in_c = match name {
        "int8_t" | "char" => Some("i8"),
        "int16_t" | "short" => Some("i16"),
        "int32_t" | "int" => Some("i32"),
        "int64_t" | "long" => Some("i64"),
        "uint8_t" | "uchar" | "byte" => Some("u8"),
        "uint16_t" | "ushort" => Some("u16"),
        "uint32_t" | "uint" | "unsigned" => Some("u32"),
        "uint64_t" | "ulong" => Some("u64"),
        "half" | "float16" => Some("f16"),
        "bfloat16" => Some("bf16"),
        "float" | "float32" => Some("f32"),
        "double" | "float64" => Some("f64"),
        "size_t" | "usize" => Some("size"),
        _ => None,
    };
    let sorted = |text: &str| {
        let mut all: Vec<char> = text.to_lowercase().chars().collect();
        all.sort_unstable();
        all
    };
    let turned = || {
        NAMES
            .into_iter()
            .find(|known| sorted(known) == sorted(name))
    };
    let word = || suggest(name, ["size", "bool"]);
    // A letter too many; another number is another type.
    let digits = |text: &str| -> String { text.chars().filter(char::is_ascii_digit).collect() };
    let longer = |known: &&str| known.len() < name.len() && digits(known) == digits(name);
    let letter = || suggest(name, NAMES.into_iter().filter(longer));
    in_c.or_else(turned).or_else(word).or_else(letter)
}
