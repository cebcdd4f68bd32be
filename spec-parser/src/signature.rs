//! The C signature that a body of pseudocode belongs to.
//!
//! In: the attributes of a vendor's entry, or one expansion of a family. Out: [`Signature`],
//! all that lowering needs besides the text: which names are operands, how wide they are and
//! how their elements are read. It also holds what C's own types and element types say
//! ([`c_type_width`], [`element_of`]). It knows nothing of pseudocode.

use semantics::instruction::{Element, Form, Operand};
use semantics::spelling::{self, Names, Spelling};
use semantics::table::MAX_WIDTH;

/// A returned value.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Returned {
    /// Its type in C; `void` when nothing is returned.
    pub c_type: String,
    /// How its elements are read.
    pub element: Element,
    /// Its width in bits; 0 for `void`.
    pub width: u32,
}

/// The signature of a C function that stands for an instruction.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Signature {
    /// Its name in C.
    pub name: String,
    /// The instruction set.
    pub isa: String,
    /// What it returns.
    pub returns: Returned,
    /// Its operands in C order.
    pub operands: Vec<Operand>,
    /// Processor features that must all be there.
    pub features: Vec<String>,
    /// The assembly mnemonic and operand form, where known.
    pub mnemonic: Option<String>,
    /// What it is on the machine.
    pub form: Form,
}

impl Signature {
    /// Whether its names are names: back ends write them as they are.
    ///
    /// # Errors
    /// The first that is not.
    pub fn check(&self) -> Result<(), String> {
        Names {
            name: &self.name,
            isa: &self.isa,
            mnemonic: self.mnemonic.as_deref(),
            features: &self.features,
            operands: &self.operands,
        }
        .check()?;
        Spelling::Function.check("the name of an instruction", &self.name)?;
        spelling::result("dst", &self.returns.c_type)
    }
}

impl Returned {
    /// Number of elements of the given width in bits.
    pub fn lanes_of(&self, element: u32) -> u32 {
        self.width.checked_div(element).unwrap_or(0)
    }
}

/// The width in bits of one of C's own types by value; 0 for `void`, `None` for pointers and
/// for the types of an instruction set, which its manifest lists.
pub fn c_type_width(c_type: &str) -> Option<u32> {
    Some(match c_type {
        "void" => 0,
        "char" | "signed char" | "unsigned char" | "int8_t" | "uint8_t" => 8,
        "short" | "unsigned short" | "int16_t" | "uint16_t" | "_Float16" => 16,
        "int" | "unsigned" | "unsigned int" | "int32_t" | "uint32_t" | "float" => 32,
        "long long" | "unsigned long long" | "size_t" | "unsigned long" | "int64_t"
        | "uint64_t" | "double" => 64,
        _ => return None,
    })
}

/// An element type, as families name it: `UI8`, `SI40` …, integers of up to [`MAX_WIDTH`]
/// bits; `FP16` … `FP64`, `BF16`, `MASK`.
pub fn element_of(etype: &str) -> Element {
    let width = |stem: &str| {
        let width = etype.strip_prefix(stem)?.parse::<u32>().ok()?;
        (1..=MAX_WIDTH).contains(&width).then_some(width)
    };
    match etype {
        "FP16" => Element::Float(16),
        "FP32" => Element::Float(32),
        "FP64" => Element::Float(64),
        "BF16" => Element::Bfloat16,
        "MASK" => Element::Mask,
        _ => match (width("UI"), width("SI")) {
            (Some(width), _) => Element::Unsigned(width),
            (_, Some(width)) => Element::Signed(width),
            _ => Element::Untyped,
        },
    }
}
