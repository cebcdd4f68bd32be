// Sums of products of 16-bit numbers in pairs, written so that a compiler sees the instruction that
// multiplies pairs and adds the two products: both factors lie in memory as pairs.
#pragma once
#include <stdint.h>
#include <string.h>

#ifdef __AVX512BW__
enum { LANES = 16 };
#else
enum { LANES = 8 };
#endif

// Loops of LANES iterations are one vector; unrolled before that they would be none.
#ifdef __clang__
#define VECTOR _Pragma("clang loop vectorize_width(LANES) interleave_count(1) unroll(disable)")
#else
#define VECTOR
#endif

typedef struct {
    int16_t v[LANES][2];
} paired;

// One pair in all lanes.
static inline void spread(paired *restrict p, const int16_t *restrict pair) {
    for (long i = 0; i < LANES; i++)
        memcpy(p->v[i], pair, sizeof p->v[i]);
}

// Adds the sums of both products. They have an array of their own: in one expression the additions
// would be regrouped.
static inline void add_products(uint32_t sum[LANES], const paired *restrict a, const paired *restrict b) {
    uint32_t t[LANES];
    VECTOR for (long i = 0; i < LANES; i++)
        t[i] = (uint32_t)(a->v[i][0] * b->v[i][0]) + (uint32_t)(a->v[i][1] * b->v[i][1]);
    VECTOR for (long i = 0; i < LANES; i++)
        sum[i] += t[i];
}

static inline long least(long a, long b) { return a < b ? a : b; }
