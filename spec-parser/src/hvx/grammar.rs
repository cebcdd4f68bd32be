//! The parser by `grammar.pest`.
//!
//! In: text. Out: pairs, one [`Rule`] each. [`super::tree`] makes the tree of them.

::grammar::grammar! {
    /// The grammar; its rules are named as in `grammar.pest`.
    pub(crate) Grammar in "grammar.pest":
    body block for_loop below step if_else empty declaration assign becomes call expr infixed
    operand prefix primary postfix arguments index field infix op_both op_either op_shl op_shr
    op_eq op_ne op_le op_ge op_lt op_gt op_and op_or op_xor op_add op_sub op_mul op_div op_rem
    name number keyword kw_for kw_if kw_else kw_int
}
