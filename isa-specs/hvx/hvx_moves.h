/* Moves that clang's headers of HVX have no function for, for code that Isaforge makes. */
#ifndef HVX_MOVES_H
#define HVX_MOVES_H

typedef struct {
    HVX_Vector vector;
} __attribute__((packed, may_alias)) hvx_anywhere;

static inline __attribute__((always_inline)) HVX_Vector hvx_load(const void *p)
{
    return ((const hvx_anywhere *)p)->vector;
}

static inline __attribute__((always_inline)) void hvx_store(void *p, HVX_Vector v)
{
    ((hvx_anywhere *)p)->vector = v;
}

static inline __attribute__((always_inline)) HVX_VectorPair hvx_load_pair(const void *p)
{
    return Q6_W_vcombine_VV(hvx_load((const char *)p + sizeof(HVX_Vector)), hvx_load(p));
}

static inline __attribute__((always_inline)) void hvx_store_pair(void *p, HVX_VectorPair v)
{
    hvx_store(p, Q6_V_lo_W(v));
    hvx_store((char *)p + sizeof(HVX_Vector), Q6_V_hi_W(v));
}

/* The aligned register that an address lies in. It may reach past the array, which a load that the
   compiler sees may not: it would take an array narrower than a register for another one, and drop
   the stores before. */
static inline __attribute__((always_inline)) HVX_Vector hvx_load_around(unsigned address)
{
    HVX_Vector v;
    __asm__("%0 = vmem(%1+#0)" : "=v"(v) : "r"(address & -sizeof(HVX_Vector)) : "memory");
    return v;
}

/* Fewer bytes than a register has, zeros above them. Whole aligned registers are read, which reach
   into no page that none of the bytes is in. */
static inline __attribute__((always_inline)) HVX_Vector hvx_load_part(const void *p, int bytes)
{
    HVX_Vector first = hvx_load_around((unsigned)p);
    HVX_Vector last = hvx_load_around((unsigned)p + bytes - 1);
    HVX_Vector v = Q6_V_valign_VVR(last, first, (int)p);
    return Q6_V_vmux_QVV(Q6_Q_vsetq_R(bytes), v, Q6_V_vzero());
}

/* The low bytes of a register; no others are written. */
static inline __attribute__((always_inline)) void hvx_store_part(void *p, HVX_Vector v, int bytes)
{
    int at = (int)p & ((int)sizeof(HVX_Vector) - 1), end = at + bytes;
    HVX_Vector *to = (HVX_Vector *)((unsigned)p & -sizeof(HVX_Vector));
    HVX_VectorPred before = Q6_Q_vsetq_R(at);
    v = Q6_V_vlalign_VVR(v, v, at);
    if (end > (int)sizeof(HVX_Vector)) {
        Q6_vmem_QnRIV(before, to, v);
        Q6_vmem_QRIV(Q6_Q_vsetq_R(end), to + 1, v);
    } else {
        Q6_vmem_QRIV(Q6_Q_and_QQn(Q6_Q_vsetq2_R(end), before), to, v);
    }
}

#define HVX_PART(bytes)                                                                            \
    static inline __attribute__((always_inline)) HVX_Vector hvx_load_##bytes(const void *p)        \
    {                                                                                              \
        return hvx_load_part(p, bytes);                                                            \
    }                                                                                              \
    static inline __attribute__((always_inline)) void hvx_store_##bytes(void *p, HVX_Vector v)     \
    {                                                                                              \
        hvx_store_part(p, v, bytes);                                                               \
    }
HVX_PART(3) HVX_PART(5) HVX_PART(6) HVX_PART(7) HVX_PART(8) HVX_PART(9) HVX_PART(10) HVX_PART(11)
HVX_PART(12) HVX_PART(13) HVX_PART(14) HVX_PART(15) HVX_PART(16) HVX_PART(17) HVX_PART(18) HVX_PART(19)
HVX_PART(20) HVX_PART(21) HVX_PART(22) HVX_PART(23) HVX_PART(24) HVX_PART(25) HVX_PART(26) HVX_PART(27)
HVX_PART(28) HVX_PART(29) HVX_PART(30) HVX_PART(31) HVX_PART(32) HVX_PART(33) HVX_PART(34) HVX_PART(35)
HVX_PART(36) HVX_PART(37) HVX_PART(38) HVX_PART(39) HVX_PART(40) HVX_PART(41) HVX_PART(42) HVX_PART(43)
HVX_PART(44) HVX_PART(45) HVX_PART(46) HVX_PART(47) HVX_PART(48) HVX_PART(49) HVX_PART(50) HVX_PART(51)
HVX_PART(52) HVX_PART(53) HVX_PART(54) HVX_PART(55) HVX_PART(56) HVX_PART(57) HVX_PART(58) HVX_PART(59)
HVX_PART(60) HVX_PART(61) HVX_PART(62) HVX_PART(63) HVX_PART(64) HVX_PART(65) HVX_PART(66) HVX_PART(67)
HVX_PART(68) HVX_PART(69) HVX_PART(70) HVX_PART(71) HVX_PART(72) HVX_PART(73) HVX_PART(74) HVX_PART(75)
HVX_PART(76) HVX_PART(77) HVX_PART(78) HVX_PART(79) HVX_PART(80) HVX_PART(81) HVX_PART(82) HVX_PART(83)
HVX_PART(84) HVX_PART(85) HVX_PART(86) HVX_PART(87) HVX_PART(88) HVX_PART(89) HVX_PART(90) HVX_PART(91)
HVX_PART(92) HVX_PART(93) HVX_PART(94) HVX_PART(95) HVX_PART(96) HVX_PART(97) HVX_PART(98) HVX_PART(99)
HVX_PART(100) HVX_PART(101) HVX_PART(102) HVX_PART(103) HVX_PART(104) HVX_PART(105) HVX_PART(106) HVX_PART(107)
HVX_PART(108) HVX_PART(109) HVX_PART(110) HVX_PART(111) HVX_PART(112) HVX_PART(113) HVX_PART(114) HVX_PART(115)
HVX_PART(116) HVX_PART(117) HVX_PART(118) HVX_PART(119) HVX_PART(120) HVX_PART(121) HVX_PART(122) HVX_PART(123)
HVX_PART(124) HVX_PART(125) HVX_PART(126) HVX_PART(127)

/* The numbers are constants. */
#define hvx_half(v, n) ((n) ? Q6_V_hi_W(v) : Q6_V_lo_W(v))
#define hvx_word(v, n) Q6_R_vextract_VR(v, 4 * (n))
#define hvx_raise(v) Q6_W_vcombine_VV(Q6_V_vzero(), v)

/* Operations whose number is a constant. */
#define hvx_asl_h(v, n) Q6_Vh_vasl_VhR(v, n)
#define hvx_asl_w(v, n) Q6_Vw_vasl_VwR(v, n)
#define hvx_asr_h(v, n) Q6_Vh_vasr_VhR(v, n)
#define hvx_asr_w(v, n) Q6_Vw_vasr_VwR(v, n)
#define hvx_lsr_uh(v, n) Q6_Vuh_vlsr_VuhR(v, n)
#define hvx_lsr_uw(v, n) Q6_Vuw_vlsr_VuwR(v, n)
#define hvx_lsr_ub(v, n) Q6_Vub_vlsr_VubR(v, n)
#define hvx_aslacc_w(x, v, n) Q6_Vw_vaslacc_VwVwR(x, v, n)
#define hvx_aslacc_h(x, v, n) Q6_Vh_vaslacc_VhVhR(x, v, n)
#define hvx_asracc_w(x, v, n) Q6_Vw_vasracc_VwVwR(x, v, n)
#define hvx_asracc_h(x, v, n) Q6_Vh_vasracc_VhVhR(x, v, n)
#define hvx_asr_h_w(u, v, n) Q6_Vh_vasr_VwVwR(u, v, n)
#define hvx_asr_b_h_rnd_sat(u, v, n) Q6_Vb_vasr_VhVhR_rnd_sat(u, v, n)
#define hvx_asr_b_h_sat(u, v, n) Q6_Vb_vasr_VhVhR_sat(u, v, n)
#define hvx_asr_ub_h_rnd_sat(u, v, n) Q6_Vub_vasr_VhVhR_rnd_sat(u, v, n)
#define hvx_asr_ub_h_sat(u, v, n) Q6_Vub_vasr_VhVhR_sat(u, v, n)
#define hvx_asr_h_w_rnd_sat(u, v, n) Q6_Vh_vasr_VwVwR_rnd_sat(u, v, n)
#define hvx_asr_h_w_sat(u, v, n) Q6_Vh_vasr_VwVwR_sat(u, v, n)
#define hvx_asr_uh_w_rnd_sat(u, v, n) Q6_Vuh_vasr_VwVwR_rnd_sat(u, v, n)
#define hvx_asr_uh_w_sat(u, v, n) Q6_Vuh_vasr_VwVwR_sat(u, v, n)
#define hvx_asr_uh_uw_rnd_sat(u, v, n) Q6_Vuh_vasr_VuwVuwR_rnd_sat(u, v, n)
#define hvx_asr_uh_uw_sat(u, v, n) Q6_Vuh_vasr_VuwVuwR_sat(u, v, n)
#define hvx_asr_ub_uh_rnd_sat(u, v, n) Q6_Vub_vasr_VuhVuhR_rnd_sat(u, v, n)
#define hvx_asr_ub_uh_sat(u, v, n) Q6_Vub_vasr_VuhVuhR_sat(u, v, n)
#define hvx_align(u, v, n) Q6_V_valign_VVR(u, v, n)
#define hvx_interleave_b(u, v) Q6_W_vshuff_VVR(u, v, -1)
#define hvx_deinterleave_b(u, v) Q6_W_vdeal_VVR(u, v, -1)
#define hvx_interleave_h(u, v) Q6_W_vshuff_VVR(u, v, -2)
#define hvx_deinterleave_h(u, v) Q6_W_vdeal_VVR(u, v, -2)
#define hvx_interleave_w(u, v) Q6_W_vshuff_VVR(u, v, -4)
#define hvx_deinterleave_w(u, v) Q6_W_vdeal_VVR(u, v, -4)

/* Numbers of an element's own width. */
#define hvx_splat_b(x) Q6_Vb_vsplat_R(x)
#define hvx_splat_h(x) Q6_Vh_vsplat_R(x)

#endif
