//! The parser by `grammar.pest`.
//!
//! In: laid-out text. Out: pairs, one [`Rule`] each. [`super::tree`] makes the tree of them.

::grammar::grammar! {
    /// The grammar; its rules are named as in `grammar.pest`.
    pub(crate) Grammar in "grammar.pest":
    body block for_loop direction while_loop if_else else_if else_block case arm label define
    formal return_value break_loop raise enumeration member table declaration simple assign_op
    expr choice operand prefix primary numbered postfix arguments slice field infix op_or op_and
    op_xor op_rotl op_shl op_shr op_eq op_ne op_le op_ge op_lt op_gt op_add op_sub op_mul op_div
    op_rem op_variable name field_name number hexadecimal decimal keyword kw_for kw_endfor kw_if
    kw_fi kw_else kw_case kw_of kw_esac kw_define kw_return kw_do kw_while kw_od kw_break kw_to
    kw_downto kw_enum kw_and kw_or kw_xor kw_not
}
