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

/* Fewer bytes than a register has, zeros above them. Whole aligned registers are read, which reach
   into no page that none of the bytes is in. */
static inline __attribute__((always_inline)) HVX_Vector hvx_load_part(const void *p, int bytes)
{
    const HVX_Vector *first = (const HVX_Vector *)((unsigned)p & -sizeof(HVX_Vector));
    const HVX_Vector *last = (const HVX_Vector *)(((unsigned)p + bytes - 1) & -sizeof(HVX_Vector));
    HVX_Vector v = Q6_V_valign_VVR(*last, *first, (int)p);
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

#define hvx_load_8(p) hvx_load_part(p, 8)
#define hvx_load_16(p) hvx_load_part(p, 16)
#define hvx_load_32(p) hvx_load_part(p, 32)
#define hvx_load_64(p) hvx_load_part(p, 64)
#define hvx_store_8(p, v) hvx_store_part(p, v, 8)
#define hvx_store_16(p, v) hvx_store_part(p, v, 16)
#define hvx_store_32(p, v) hvx_store_part(p, v, 32)
#define hvx_store_64(p, v) hvx_store_part(p, v, 64)

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
