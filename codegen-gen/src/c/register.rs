//! Registers in C: types and constants by width.
//!
//! In: the register classes of a target, widths in bits. Out: C types and numbers. It names no
//! instruction: what moves registers are operations of a program like all others.

use semantics::bits::Bits;
use semantics::spelling::is_like;
use target::RegisterClass;

/// The types of values by their widths.
pub(super) struct Registers<'a>(pub(super) &'a [RegisterClass]);

impl Registers<'_> {
    fn class(&self, width: u32) -> Option<&RegisterClass> {
        self.0.iter().find(|class| class.width == width)
    }

    /// The C type of a variable that holds so many bits: a vector, or an unsigned number.
    pub(super) fn c_type(&self, width: u32) -> String {
        match self.class(width) {
            Some(class) => class.c_type.clone(),
            None => number_type(width).to_owned(),
        }
    }

    /// Whether so many bits are held in a vector register.
    pub(super) fn is_vector(&self, width: u32) -> bool {
        self.class(width).is_some()
    }

    /// The feature that holding registers of a width needs, if any.
    pub(super) fn feature(&self, width: u32) -> Option<&str> {
        self.class(width)?.needs.as_deref()
    }

    /// What GNU C calls the register that an operand of so many bits has to be in before an instruction;
    /// nothing where it may be anywhere.
    pub(super) fn held(
        &self,
        width: u32,
        instruction: &str,
        is_constant: impl FnOnce() -> bool,
    ) -> Option<&str> {
        let held = self.class(width)?.held.as_ref()?;
        let among = |all: &[String]| all.iter().any(|like| is_like(like, instruction));
        let is_held = among(&held.before) || among(&held.constants) && is_constant();
        is_held.then_some(held.constraint.as_str())
    }

    /// What GNU C calls a register of a width that is loaded once where it is read more than once.
    pub(super) fn constraint(&self, width: u32) -> Option<&str> {
        Some(self.class(width)?.held.as_ref()?.constraint.as_str())
    }
}

/// The unsigned number that holds so many bits.
fn number_type(width: u32) -> &'static str {
    match width {
        33.. => "uint64_t",
        17..=32 => "uint32_t",
        9..=16 => "uint16_t",
        _ => "uint8_t",
    }
}

/// The address so many bytes behind another one, as something that a cast may precede.
pub(super) fn offset(address: &str, bytes: u32) -> String {
    match bytes {
        0 => address.to_owned(),
        _ => format!("((uint8_t *){address} + {bytes})"),
    }
}

/// A constant of up to 64 bits.
pub(super) fn constant(bits: &Bits) -> String {
    let suffix = if bits.width() > 32 { "ull" } else { "u" };
    let value = bits.low_u64();
    match value {
        0..10_000 => format!("{value}{suffix}"),
        _ => format!("{value:#x}{suffix}"),
    }
}

/// The numbers of a table, each of so many bits.
pub(super) fn table(bits: &Bits, element: u32) -> Vec<String> {
    let element_of = |k| bits.extract(k * element, element).low_u64();
    let shown = |value: u64| match value {
        0..10_000 => value.to_string(),
        _ if value >> 32 == 0 => format!("{value:#x}"),
        _ => format!("{value:#x}ull"),
    };
    let all = 0..bits.width() / element;
    all.map(|k| shown(element_of(k))).collect()
}
