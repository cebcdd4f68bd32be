//! The dictionary of parameterised operations and the programs over it.
//!
//! In: classes of instructions, or the text of a dictionary. Out:
//! [`Dictionary`](dictionary::Dictionary), in which an instruction or an operation is looked up
//! and its meaning made at its numbers; [`Program`](program::Program), a graph of operations with
//! concrete numbers; and [`InstructionTable`](instructions::InstructionTable), which instructions
//! implement them. It finds no classes and searches for no programs.
//!
//! ```
//! use autoir::dictionary::Dictionary;
//! use semantics::bits::Bits;
//! use semantics::eval::CompiledTerms;
//! use semantics::span::Source;
//! use semantics::value::Value;
//!
//! // What `isaforge build` writes, with one operation and one instruction.
//! let text = "isaforge-dictionary 1
//! (operation invert
//!   (parameters width)
//!   (arguments a)
//!   (formula |dst = ~a|)
//!   (result
//!     (argument 0 p0)
//!     (apply bvnot () %0))
//!   (member not8 toy single
//!     (operand a byte u8 8 register)
//!     (returns dst byte u8)
//!     (values 8)
//!     (bind a)
//!     (evidence |identical (1)|)))
//! (end 1)
//! ";
//! let dictionary = Dictionary::read(&Source::new("toy", text)).expect("a dictionary");
//! let (operation, member) = dictionary.member("not8").expect("it is there");
//! assert_eq!(operation.name, "invert");
//!
//! // The meaning at the member's numbers, over its own operands, and its value on an input.
//! let program = CompiledTerms::of(member.term(operation).expect("a meaning"));
//! let value = program.run(&[Value::Bv(Bits::from_u64(8, 0x0f))]);
//! assert_eq!(value, [Value::Bv(Bits::from_u64(8, 0xf0))]);
//! ```
//!
//! `examples/look_up.rs` does this with a file, and `examples/synthesise.rs` calls the synthesiser.

mod apart;
pub mod build;
pub mod contrast;
pub mod dictionary;
pub mod formula;
pub mod graph;
pub mod instructions;
mod lex;
pub mod names;
pub mod program;
pub mod text;
pub mod transfer;
pub mod verify;
