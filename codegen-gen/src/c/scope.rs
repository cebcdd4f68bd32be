//! What emitted statements refer to: names, indices, places in arrays.
//!
//! In: a checked kernel. Out: C expressions for its indices and accesses. It emits no
//! statement.

use super::names::Names;
use super::operation::{Functions, c_type};
use super::register::Registers;
use super::text::Text;
use autoir::program::placed::Placement;
use kernel::index::{Index, Symbol};
use kernel::tree::{Access, Kernel, Op};
use kernel::types::Elem;
use std::collections::BTreeMap;
use target::RegisterClass;

/// Where quotients and remainders are computed once: at the head of a loop, or of the function.
struct Head {
    /// The variable of the loop.
    var: Option<Symbol>,
    /// What is computed there, and the names of it.
    parts: Vec<(Index, String)>,
}

/// The kernel with a C name for everything in it.
pub(super) struct Scope<'k> {
    pub(super) kernel: &'k Kernel,
    /// Which instruction implements each operation of the programs, and what becomes of loads.
    pub(super) placement: &'k Placement,
    /// The registers of local values that a window computes.
    pub(super) materialized: BTreeMap<usize, usize>,
    /// How C has the vector registers of the target.
    pub(super) registers: Registers<'k>,
    /// Bytes of which the addresses of arrays are multiples.
    pub(super) align: u32,
    /// The registers of the kernel that are variables of vectors: the names of these.
    pub(super) pieces: BTreeMap<usize, Vec<String>>,
    /// The variable that counts the active lanes of a result, and how many lanes that has.
    pub(super) active: Option<(String, u32)>,
    pub(super) function: String,
    pub(super) functions: Functions,
    /// The variable that holds a local value during one statement.
    pub(super) shared: BTreeMap<usize, String>,
    /// The loops that are open, with the quotients and remainders that are computed at the head of
    /// each, by name; before them those of sizes alone.
    heads: Vec<Head>,
    /// What is to be written at the head of loops, by their number.
    pending: Vec<(usize, String)>,
    /// Local arrays that have to be freed.
    pub(super) on_heap: Vec<String>,
    names: Names,
    symbols: Vec<String>,
    arrays: Vec<String>,
    scalars: Vec<String>,
    register_names: Vec<String>,
}

impl<'k> Scope<'k> {
    /// Names for all that the kernel declares.
    pub(super) fn new(
        kernel: &'k Kernel,
        placement: &'k Placement,
        (registers, align): (&'k [RegisterClass], u32),
    ) -> Scope<'k> {
        let mut names = Names::default();
        let function = names.function(&kernel.name);
        let mut all = |list: &mut dyn Iterator<Item = &str>| -> Vec<String> {
            list.map(|name| names.fresh(name)).collect()
        };
        let symbols = all(&mut kernel.symbols.iter().map(|s| s.name.as_str()));
        let arrays = all(&mut kernel.arrays.iter().map(|a| a.name.as_str()));
        let scalars = all(&mut kernel.scalars.iter().map(|s| s.name.as_str()));
        let register_names = all(&mut kernel.registers.iter().map(|r| r.name.as_str()));
        Scope {
            kernel,
            placement,
            registers: Registers(registers),
            align,
            materialized: BTreeMap::new(),
            pieces: BTreeMap::new(),
            heads: Vec::new(),
            pending: Vec::new(),
            active: None,
            on_heap: Vec::new(),
            function,
            functions: Functions::default(),
            shared: BTreeMap::new(),
            names,
            symbols,
            arrays,
            scalars,
            register_names,
        }
    }

    /// The declaration of a value with lanes: a scalar, or an array aligned for vectors.
    pub(super) fn declaration(&self, elem: Elem, lanes: u32, name: &str) -> String {
        match lanes {
            1 => format!("{} {name}", c_type(elem)),
            _ => format!("_Alignas({}) {} {name}[{lanes}]", self.align, c_type(elem)),
        }
    }

    /// Makes these registers variables of vectors of these widths.
    pub(super) fn split(&mut self, widths: &BTreeMap<usize, u32>) {
        for (&id, &width) in widths {
            let count = self.kernel.registers[id].ty.width() / width;
            let names = match count {
                1 => vec![self.register_names[id].clone()],
                _ => (0..count)
                    .map(|k| {
                        self.names
                            .fresh(&format!("{}_{k}", self.register_names[id]))
                    })
                    .collect(),
            };
            self.pieces.insert(id, names);
        }
    }

    /// A new name.
    pub(super) fn fresh(&mut self, name: &str) -> String {
        self.names.fresh(name)
    }

    /// The name of a second function that others link with. Variables of the kernel may shade it:
    /// no function is called by itself.
    pub(super) fn outer_function(&self, name: &str) -> String {
        let mut names = Names::default();
        names.function(&self.function);
        names.function(name)
    }

    /// The name of a size or loop variable.
    pub(super) fn symbol(&self, symbol: Symbol) -> &str {
        &self.symbols[symbol.0 as usize]
    }

    /// The name of an array.
    pub(super) fn array(&self, id: usize) -> &str {
        &self.arrays[id]
    }

    /// The name of a scalar parameter.
    pub(super) fn scalar(&self, id: usize) -> &str {
        &self.scalars[id]
    }

    /// The name of a register.
    pub(super) fn register(&self, id: usize) -> &str {
        &self.register_names[id]
    }

    /// An index as a C expression of type `int64_t`.
    pub(super) fn index(&mut self, index: &Index) -> String {
        match index {
            Index::Const(c) => c.to_string(),
            Index::Sym(s) => self.symbol(*s).to_owned(),
            Index::Add(a, b) => match &**b {
                Index::Const(c) if *c < 0 => format!("{} - {}", self.index(a), c.unsigned_abs()),
                _ => format!("{} + {}", self.index(a), self.index(b)),
            },
            Index::Mul(a, b) => format!("{} * {}", self.factor(a), self.factor(b)),
            Index::Div(..) | Index::Mod(..) => self.computed_once(index),
            Index::Min(a, b) => self.binary(Op::Min, a, b),
            Index::Max(a, b) => self.binary(Op::Max, a, b),
        }
    }

    /// A quotient or remainder: a variable at the head of the innermost loop that it depends on. To
    /// divide takes long, and C compilers do not see that it may be done before it is needed.
    fn computed_once(&mut self, index: &Index) -> String {
        let depends = |head: &Head| head.var.is_none_or(|v| index.mentions(v));
        let head = self.heads.iter().rposition(depends);
        let known = head.and_then(|h| self.heads[h].parts.iter().find(|(of, _)| of == index));
        if let Some((_, name)) = known {
            return name.clone();
        }
        let value = match index {
            Index::Div(a, b) => self.binary(Op::Div, a, b),
            Index::Mod(a, b) => self.binary(Op::Rem, a, b),
            other => return self.index(other),
        };
        let Some(head) = head else { return value };
        let name = self.fresh("part");
        self.heads[head].parts.push((index.clone(), name.clone()));
        self.pending
            .push((head, format!("const int64_t {name} = {value};")));
        name
    }

    /// Text in which quotients and remainders may be computed once, at its head; `var` is the variable of
    /// the loop that it is in.
    pub(super) fn headed(
        &mut self,
        var: Option<Symbol>,
        text: &mut Text,
        body: impl FnOnce(&mut Self, &mut Text),
    ) {
        let mut inner = text.apart();
        let head = self.heads.len();
        self.heads.push(Head {
            var,
            parts: Vec::new(),
        });
        body(self, &mut inner);
        self.heads.pop();
        let (mine, others) = std::mem::take(&mut self.pending)
            .into_iter()
            .partition(|(of, _)| *of == head);
        self.pending = others;
        let mine: Vec<(usize, String)> = mine;
        mine.iter().for_each(|(_, line)| text.line(line));
        text.add(inner);
    }

    /// An index that may stand beside `*`.
    fn factor(&mut self, index: &Index) -> String {
        let text = self.index(index);
        match index {
            Index::Add(..) => format!("({text})"),
            Index::Const(c) if *c < 0 => format!("({text})"),
            _ => text,
        }
    }

    /// A call with two indices.
    fn binary(&mut self, op: Op, a: &Index, b: &Index) -> String {
        let (a, b) = (self.index(a), self.index(b));
        self.functions.index(op, &a, &b)
    }

    /// The number of elements of an array, as a C expression.
    pub(super) fn length(&mut self, array: usize) -> String {
        let dims = self.kernel.arrays[array].memory_dims();
        let dims: Vec<String> = dims.iter().map(|d| self.factor(d)).collect();
        dims.join(" * ")
    }

    /// The element of an access that lane `lane` (a C expression) touches.
    pub(super) fn element(&mut self, access: &Access, lane: Option<&str>) -> String {
        let dims = self.kernel.arrays[access.array].dims.clone();
        let memory = self.kernel.arrays[access.array].memory_dims();
        let mut place = String::new();
        for (d, (index, len)) in access.index.iter().zip(&dims).enumerate() {
            let mut here = self.index(index);
            if d == access.dim {
                if let Some(lane) = lane.filter(|_| access.lanes > 1) {
                    here = match access.stride {
                        1 if here == "0" => lane.to_owned(),
                        1 => format!("{here} + {lane}"),
                        stride => format!("{here} + {lane} * {stride}"),
                    };
                }
                if access.clamped {
                    let last = self.index(&len.offset(-1));
                    let above = self.functions.index(Op::Min, &here, &last);
                    here = self.functions.index(Op::Max, &above, "0");
                }
            }
            let len = self.factor(&memory[d]);
            place = match (place.as_str(), is_sum(&place)) {
                ("", _) | ("0", _) => here,
                (_, false) => format!("{place} * {len} + {here}"),
                (_, true) => format!("({place}) * {len} + {here}"),
            };
        }
        format!("{}[{place}]", self.array(access.array))
    }

    /// The parameters of the C function, as declared.
    pub(super) fn parameters(&self) -> Vec<String> {
        use kernel::ast::Direction;
        use kernel::tree::{Param, Role};
        let parameter = |param: &Param| match *param {
            Param::Size(symbol) => format!("int64_t {}", self.symbol(symbol)),
            Param::Scalar(id) => format!(
                "{} {}",
                c_type(self.kernel.scalars[id].elem),
                self.scalar(id)
            ),
            Param::Array(id) => {
                let array = &self.kernel.arrays[id];
                let read = matches!(array.role, Role::Param(Direction::In));
                let constant = if read { "const " } else { "" };
                format!(
                    "{constant}{} *restrict {}",
                    c_type(array.elem),
                    self.array(id)
                )
            }
        };
        self.kernel.params.iter().map(parameter).collect()
    }
}

/// Whether the text is a sum outside of all brackets.
fn is_sum(text: &str) -> bool {
    let mut depth = 0;
    text.chars().any(|c| {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ => {}
        }
        depth == 0 && (c == '+' || c == '-')
    })
}
