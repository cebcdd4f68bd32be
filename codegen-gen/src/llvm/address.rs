//! Indices and places in arrays as values of LLVM IR.
//!
//! In: indices, accesses. Out: names of values of `i64` and `ptr`.

use super::text::Function;
use kernel::index::Index;
use kernel::tree::Access;

impl Function<'_> {
    /// An index as a value of `i64`.
    pub(super) fn index(&mut self, index: &Index) -> String {
        match index {
            Index::Const(c) => c.to_string(),
            Index::Sym(s) => self.symbols[s].clone(),
            Index::Add(a, b) => self.two("add", a, b),
            Index::Mul(a, b) => self.two("mul", a, b),
            Index::Min(a, b) => {
                let (a, b) = (self.index(a), self.index(b));
                self.call("llvm.smin.i64", "i64", &[("i64", &a), ("i64", &b)])
            }
            Index::Max(a, b) => {
                let (a, b) = (self.index(a), self.index(b));
                self.call("llvm.smax.i64", "i64", &[("i64", &a), ("i64", &b)])
            }
            Index::Div(a, b) => self.division(a, b).0,
            Index::Mod(a, b) => self.division(a, b).1,
        }
    }

    fn two(&mut self, op: &str, a: &Index, b: &Index) -> String {
        let (a, b) = (self.index(a), self.index(b));
        self.value(&format!("{op} i64 {a}, {b}"))
    }

    /// The Euclidean quotient and remainder; both 0 by zero.
    fn division(&mut self, a: &Index, b: &Index) -> (String, String) {
        let (a, b) = (self.index(a), self.index(b));
        let zero = self.value(&format!("icmp eq i64 {b}, 0"));
        let divisor = self.value(&format!("select i1 {zero}, i64 1, i64 {b}"));
        let quotient = self.value(&format!("sdiv i64 {a}, {divisor}"));
        let rest = self.value(&format!("srem i64 {a}, {divisor}"));
        let negative = self.value(&format!("icmp slt i64 {rest}, 0"));
        let down = self.value(&format!("icmp slt i64 {divisor}, 0"));
        let by = self.value(&format!("select i1 {down}, i64 1, i64 -1"));
        let moved = self.value(&format!("add i64 {quotient}, {by}"));
        let size = self.value(&format!("sub i64 0, {divisor}"));
        let size = self.value(&format!("select i1 {down}, i64 {size}, i64 {divisor}"));
        let lifted = self.value(&format!("add i64 {rest}, {size}"));
        let quotient = self.value(&format!(
            "select i1 {negative}, i64 {moved}, i64 {quotient}"
        ));
        let rest = self.value(&format!("select i1 {negative}, i64 {lifted}, i64 {rest}"));
        (
            self.value(&format!("select i1 {zero}, i64 0, i64 {quotient}")),
            self.value(&format!("select i1 {zero}, i64 0, i64 {rest}")),
        )
    }

    /// How many elements an array has in memory.
    pub(super) fn length(&mut self, array: usize) -> String {
        let dims = self.unit.lowered.kernel.arrays[array].memory_dims();
        dims.iter().fold("1".to_owned(), |length, dim| {
            let dim = self.index(dim);
            self.value(&format!("mul i64 {length}, {dim}"))
        })
    }

    /// The address of the element that a lane of an access touches.
    pub(super) fn element(&mut self, access: &Access, lane: &str) -> String {
        let array = &self.unit.lowered.kernel.arrays[access.array];
        let memory = array.memory_dims();
        let mut place = "0".to_owned();
        for (d, index) in access.index.iter().enumerate() {
            let mut here = self.index(index);
            if d == access.dim && access.lanes > 1 {
                let far = self.value(&format!("mul i64 {lane}, {}", access.stride));
                here = self.value(&format!("add i64 {here}, {far}"));
                if access.clamped {
                    let last = self.index(&array.dims[d].offset(-1));
                    here = self.call("llvm.smin.i64", "i64", &[("i64", &here), ("i64", &last)]);
                    here = self.call("llvm.smax.i64", "i64", &[("i64", &here), ("i64", "0")]);
                }
            }
            let row = self.index(&memory[d]);
            let above = self.value(&format!("mul i64 {place}, {row}"));
            place = self.value(&format!("add i64 {above}, {here}"));
        }
        let base = self.arrays[&access.array].clone();
        self.at(&base, array.elem.bits(), &place)
    }

    /// The address so many elements behind another one.
    pub(super) fn at(&mut self, base: &str, bits: u32, number: &str) -> String {
        self.value(&format!("getelementptr i{bits}, ptr {base}, i64 {number}"))
    }
}
