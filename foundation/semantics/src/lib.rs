//! What an instruction means: bit-vector terms, the operator table, the interpreter.
//!
//! In: operators of [`table`] applied to operands. Out: a [`term::Term`] (hash-consed, built
//! and simplified by [`build`]), its value on inputs ([`eval`]), its flat form ([`mod@unroll`]),
//! its text ([`mod@print`], [`parse`]). Terms stay rolled: a map over lanes is one node, whatever
//! its width. Every other crate shares [`span`] and [`diagnostic`] for what it tells people.
//!
//! It reads no files, starts no solver and knows no vendor's words.
//!
//! ```
//! use semantics::bits::Bits;
//! use semantics::build as b;
//! use semantics::eval::CompiledTerms;
//! use semantics::sort::Sort;
//! use semantics::span::{Source, Span};
//! use semantics::term::Term;
//! use semantics::value::Value;
//!
//! // Eight sums of 16-bit elements.
//! let element = |name| {
//!     let lo = b::int_mul(Term::index(), Term::int(16));
//!     b::extract_at(Term::var(name, Sort::Bv(128)), lo, 16)
//! };
//! let sums = b::map(8, b::add(element("a"), element("b")));
//! assert_eq!(sums.sort(), Sort::Bv(128));
//!
//! // Its text reads back as the same term.
//! let text = sums.to_string();
//! assert_eq!(text, "(map 8 (i1) (bvadd (extract[16] a (imul i1 16)) (extract[16] b (imul i1 16))))");
//! let inputs = [("a".into(), Sort::Bv(128)), ("b".into(), Sort::Bv(128))].into();
//! let source = Source::new("sums", text.as_str());
//! let read = semantics::parse::term(&source, Span::new(0, text.len()), &inputs);
//! assert_eq!(read, Ok(sums));
//!
//! // Compiled once, it runs on many inputs.
//! let program = CompiledTerms::of(sums);
//! let a = Value::Bv(Bits::from_u128(128, 0xffff_0001));
//! let b = Value::Bv(Bits::from_u128(128, 0x0001_0002));
//! assert_eq!(program.run(&[a, b]), [Value::Bv(Bits::from_u64(128, 0x0000_0003))]);
//! ```

pub mod affine;
pub mod bits;
pub mod build;
pub mod diagnostic;
pub mod difference;
pub mod digest;
pub mod division;
pub mod eval;
mod expand;
pub mod fault;
pub mod float;
pub mod galois;
pub mod instruction;
pub mod machine;
mod named;
pub mod nodes;
pub mod op;
pub mod parse;
pub mod print;
pub mod random;
pub mod range;
pub mod rule;
mod rules;
pub mod sexpr;
pub mod sort;
pub mod span;
pub mod spelling;
pub mod subst;
pub mod table;
pub mod term;
#[cfg(test)]
mod testing;
pub mod unroll;
pub mod value;
