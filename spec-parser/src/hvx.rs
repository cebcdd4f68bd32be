//! The dialect of the Hexagon HVX manual: a notation like C.
//!
//! In: C signatures and bodies in this notation. Out, through [`crate::pseudocode`]:
//! instructions whose results are rolled terms. Elements of registers are exact integers, read
//! as their field says; only what is written to a register is cut. Packets, slots and registers
//! that no intrinsic returns are not here.

mod builtin;
mod dialect;
mod grammar;
mod nesting;
mod parser;
mod register;
mod tree;

pub(crate) use dialect::Hvx;
