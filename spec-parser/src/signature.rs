//! The C signature that a body of pseudocode belongs to.
//!
//! In: the attributes of a vendor's entry, or one expansion of a family. Out: [`Signature`],
//! all that lowering needs besides the text: which names are operands, how wide they are and
//! how their elements are read. It also holds what C's types and Intel's element types say
//! ([`c_type_width`], [`element_of`]). It knows nothing of pseudocode.

use semantics::instruction::{Element, Form, Operand};
use semantics::spelling::{self, Names, Spelling};

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
        Spelling::Identifier.check("the name of an instruction", &self.name)?;
        spelling::result("dst", &self.returns.c_type)
    }
}

impl Returned {
    /// Number of elements of the given width in bits.
    pub fn lanes_of(&self, element: u32) -> u32 {
        self.width.checked_div(element).unwrap_or(0)
    }
}

/// The width in bits of a C type by value; 0 for `void`, `None` for pointers and for types
/// that are not known.
pub fn c_type_width(c_type: &str) -> Option<u32> {
    let bare = c_type
        .trim_start_matches("constexpr ")
        .trim_start_matches("const ")
        .trim();
    if bare.contains('*') {
        return None;
    }
    Some(match bare {
        "void" => 0,
        "__m64" => 64,
        "__m128" | "__m128d" | "__m128i" | "__m128h" | "__m128bh" => 128,
        "__m256" | "__m256d" | "__m256i" | "__m256h" | "__m256bh" => 256,
        "__m512" | "__m512d" | "__m512i" | "__m512h" | "__m512bh" => 512,
        "__mmask8" | "char" | "signed char" | "unsigned char" | "__int8" => 8,
        "__mmask16" | "short" | "unsigned short" | "__int16" | "_Float16" | "__bfloat16"
        | "__bf16" => 16,
        "__mmask32" | "int" | "unsigned" | "unsigned int" | "__int32" | "unsigned __int32"
        | "float" => 32,
        "__mmask64" | "__int64" | "unsigned __int64" | "long long" | "unsigned long long"
        | "size_t" | "unsigned long" | "double" => 64,
        name if name.starts_with("_MM_") && name.ends_with("_ENUM") => 32,
        _ => return None,
    })
}

/// Intel's element type: `UI8` … `SI64`, `FP16` … `FP64`, `BF16`, `MASK`.
pub fn element_of(etype: &str) -> Element {
    match etype {
        "UI8" => Element::Unsigned(8),
        "UI16" => Element::Unsigned(16),
        "UI32" => Element::Unsigned(32),
        "UI64" => Element::Unsigned(64),
        "SI8" => Element::Signed(8),
        "SI16" => Element::Signed(16),
        "SI32" => Element::Signed(32),
        "SI64" => Element::Signed(64),
        "FP16" => Element::Float(16),
        "FP32" => Element::Float(32),
        "FP64" => Element::Float(64),
        "BF16" => Element::Bfloat16,
        "MASK" => Element::Mask,
        _ => Element::Untyped,
    }
}
