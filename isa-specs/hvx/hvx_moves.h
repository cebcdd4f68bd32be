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

/* The numbers are constants. */
#define hvx_half(v, n) ((n) ? Q6_V_hi_W(v) : Q6_V_lo_W(v))
#define hvx_word(v, n) Q6_R_vextract_VR(v, 4 * (n))
#define hvx_raise(v) Q6_W_vcombine_VV(Q6_V_vzero(), v)

#endif
