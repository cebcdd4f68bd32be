//! The function that a pipeline of Halide is called by.
//!
//! In: the arguments of an imported pipeline. Out: C that takes them in the form that was asked
//! for, checks them, and calls the kernel. It returns 0, or Halide's code of the check that
//! failed, before anything is written.

use super::operation::c_type;
use super::scope::Scope;
use super::text::Text;
use halide::{Argument, Asked, Buffer, Convention, Import, Signed};
use kernel::ast::Direction;
use kernel::tree::{Condition, Param, Relation, Role};
use kernel::types::Elem;

/// `halide_buffer_t`, for those who do not include Halide's own header before.
const BUFFER: &str = "\
#ifndef HALIDE_HALIDERUNTIME_H
struct halide_type_t {
    uint8_t code, bits;
    uint16_t lanes;
};
typedef struct halide_dimension_t {
    int32_t min, extent, stride;
    uint32_t flags;
} halide_dimension_t;
typedef struct halide_buffer_t {
    uint64_t device;
    const void *device_interface;
    uint8_t *host;
    uint64_t flags;
    struct halide_type_t type;
    int32_t dimensions;
    halide_dimension_t *dim;
    void *padding;
} halide_buffer_t;
#endif";

/// Halide's codes of errors.
const BAD_TYPE: i32 = -3;
const NULL_BUFFER: i32 = -12;
const BUFFER_EXTENT: i32 = -28;
const NULL_HOST: i32 = -34;
const BAD_DIMENSIONS: i32 = -43;

impl Scope<'_> {
    /// Adds the function.
    pub(super) fn entry(&mut self, import: &Import, text: &mut Text) {
        text.line("");
        if import.convention == Convention::Buffers {
            text.lines(BUFFER);
            text.line("");
        }
        let function = self.outer_function(&import.name);
        let list = &import.arguments.list;
        let names: Vec<String> = list.iter().map(|a| self.outer_name(a)).collect();
        let named = || list.iter().zip(&names);
        let parameters = named().map(|(a, name)| self.parameter_of(import, a, name));
        let parameters = parameters.collect::<Vec<_>>().join(", ");
        text.open(&format!("int {function}({parameters})"));
        for (argument, name) in named() {
            match argument {
                Argument::Buffer(buffer) if import.convention == Convention::Buffers => {
                    self.unpack(buffer, name, text);
                }
                Argument::Buffer(buffer) => self.pointer_checks(buffer, text),
                Argument::Number(number) => self.signed(number, name, text),
                Argument::Scalar(_) => {}
            }
        }
        for check in &import.arguments.checks {
            let holds = match &check.asked {
                Asked::Sizes(condition) => self.relation(condition),
                Asked::Scalars(value) => self.lane(value, text),
            };
            text.line(&format!("if (!({holds}))"));
            text.line(&format!("    return {};", check.code));
        }
        let names: Vec<String> = self.kernel.params.iter().map(|p| self.passed(p)).collect();
        text.line(&format!("{}({});", self.function, names.join(", ")));
        text.line("return 0;");
        text.close();
    }

    /// A comparison of indices.
    fn relation(&mut self, condition: &Condition) -> String {
        let relation = match condition.relation {
            Relation::Eq => "==",
            Relation::Ne => "!=",
            Relation::Le => "<=",
            Relation::Lt => "<",
        };
        let (left, right) = (self.index(&condition.left), self.index(&condition.right));
        format!("{left} {relation} {right}")
    }

    fn passed(&self, param: &Param) -> String {
        match *param {
            Param::Size(symbol) => self.symbol(symbol).to_owned(),
            Param::Scalar(id) => self.scalar(id).to_owned(),
            Param::Array(id) => self.array(id).to_owned(),
        }
    }

    /// Whether an array is only read.
    fn is_input(&self, array: usize) -> bool {
        matches!(self.kernel.arrays[array].role, Role::Param(Direction::In))
    }

    /// What an argument is called that is not passed on as it is.
    fn outer_name(&mut self, argument: &Argument) -> String {
        match argument {
            Argument::Buffer(buffer) => {
                let name = format!("{}_buffer", self.array(buffer.array));
                self.fresh(&name)
            }
            Argument::Number(number) => self.fresh(&number.name),
            Argument::Scalar(id) => self.scalar(*id).to_owned(),
        }
    }

    fn parameter_of(&self, import: &Import, argument: &Argument, name: &str) -> String {
        match argument {
            Argument::Buffer(_) if import.convention == Convention::Buffers => {
                format!("halide_buffer_t *{name}")
            }
            Argument::Buffer(buffer) => {
                let constant = if self.is_input(buffer.array) {
                    "const "
                } else {
                    ""
                };
                let elem = c_type(self.kernel.arrays[buffer.array].elem);
                let extents = buffer
                    .dims
                    .iter()
                    .map(|d| format!(", int64_t {}", self.symbol(d.extent)));
                let extents: String = extents.collect();
                format!("{constant}{elem} *{}{extents}", self.array(buffer.array))
            }
            Argument::Number(_) => format!("int32_t {name}"),
            Argument::Scalar(id) => {
                format!(
                    "{} {}",
                    c_type(self.kernel.scalars[*id].elem),
                    self.scalar(*id)
                )
            }
        }
    }

    fn pointer_checks(&self, buffer: &Buffer, text: &mut Text) {
        text.line(&format!("if (!{})", self.array(buffer.array)));
        text.line(&format!("    return {NULL_HOST};"));
        for dim in &buffer.dims {
            text.line(&format!("if ({} < 0)", self.symbol(dim.extent)));
            text.line(&format!("    return {BUFFER_EXTENT};"));
        }
    }

    /// A number as what it is above and below 0.
    fn signed(&self, number: &Signed, value: &str, text: &mut Text) {
        let (above, below) = (self.symbol(number.above), self.symbol(number.below));
        text.line(&format!(
            "const int64_t {above} = {value} > 0 ? {value} : 0;"
        ));
        text.line(&format!(
            "const int64_t {below} = {value} < 0 ? -(int64_t){value} : 0;"
        ));
    }

    /// The fields of a buffer.
    fn unpack(&self, buffer: &Buffer, from: &str, text: &mut Text) {
        let (array, elem) = (
            self.array(buffer.array),
            self.kernel.arrays[buffer.array].elem,
        );
        text.line(&format!("if (!{from})"));
        text.line(&format!("    return {NULL_BUFFER};"));
        let (code, bits) = match buffer.truth {
            true => (type_code(Elem::Bool), 1),
            false => (type_code(elem), elem.bits()),
        };
        text.line(&format!(
            "if ({from}->type.code != {code} || {from}->type.bits != {bits} || {from}->type.lanes != 1)"
        ));
        text.line(&format!("    return {BAD_TYPE};"));
        text.line(&format!("if ({from}->dimensions != {})", buffer.dims.len()));
        text.line(&format!("    return {BAD_DIMENSIONS};"));
        text.line(&format!("if (!{from}->host)"));
        text.line(&format!("    return {NULL_HOST};"));
        let constant = if self.is_input(buffer.array) {
            "const "
        } else {
            ""
        };
        let elem = c_type(elem);
        text.line(&format!(
            "{constant}{elem} *{array} = ({constant}{elem} *){from}->host;"
        ));
        for (d, dim) in buffer.dims.iter().enumerate() {
            let field = |name: &str| format!("{from}->dim[{d}].{name}");
            let extent = self.symbol(dim.extent);
            text.line(&format!("const int64_t {extent} = {};", field("extent")));
            text.line(&format!("if ({extent} < 0)"));
            text.line(&format!("    return {BUFFER_EXTENT};"));
            if let Some(min) = &dim.min {
                self.signed(min, &field("min"), text);
            }
            match &dim.stride {
                Some(stride) => self.signed(stride, &field("stride"), text),
                None => {
                    text.line(&format!("if ({} != 1)", field("stride")));
                    text.line("    return -8;");
                }
            }
        }
    }
}

/// Halide's code of a kind of type.
fn type_code(elem: Elem) -> u32 {
    match elem {
        Elem::Int { signed: true, .. } => 0,
        Elem::Int { signed: false, .. } | Elem::Bool => 1,
        Elem::Float(semantics::float::Format::Bf16) => 4,
        Elem::Float(_) => 2,
    }
}
