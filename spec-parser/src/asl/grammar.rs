//! The parser by `grammar.pest`.
//!
//! In: laid-out text. Out: pairs, one [`Rule`] each. [`super::tree`] makes the tree of them.

::grammar::grammar! {
    /// The grammar; its rules are named as in `grammar.pest`.
    pub(crate) Grammar in "grammar.pest":
    body newline block enter leave for_loop direction while_loop if_else else_if else_block case arm
    label return_value assertion function formal declaration tuple_assign target ignored assign
    call kind expr choice operand atom prefix primary postfix arguments index slice upward part
    linear infix op_both op_either op_and op_or op_xor op_shl op_shr op_eq op_ne op_le op_ge
    op_lt op_gt op_add op_sub op_mul op_div op_rem op_concat name number hexadecimal bit_string
    keyword kw_for kw_to kw_downto kw_do kw_while kw_if kw_then kw_elsif kw_else kw_case kw_of
    kw_when kw_otherwise kw_return kw_assert kw_constant kw_bits kw_bit kw_integer kw_boolean
    kw_and kw_or kw_eor kw_not kw_div kw_mod
}
