//! The parser by `grammar.pest`.
//!
//! In: a body of pseudocode. Out: pairs, one [`Rule`] each. [`super::parser`] makes the tree.

::grammar::grammar! {
    /// The grammar; its rules are named as in `grammar.pest`.
    pub(crate) Grammar in "grammar.pest":
    body formula choice requirement spending performing settling blank text for_loop block
    binding assignment assign_op place index expr call neg not op_shl op_shr op_eq op_ne op_le
    op_lt op_ge op_gt op_or op_xor op_and op_add op_sub op_mul op_div op_rem kw_if kw_else
    kw_require kw_spend kw_perform kw_settle kw_var kw_for kw_in kw_let name command number
}
