// A product of matrices plus a bias, through GELU with integer constants, times a third matrix.
#include "chain.h"
#include "gelu.h"

void matmul_bias_gelu_matmul(long m, long n, long k, long l, const int16_t *restrict a, const int16_t *restrict b,
                             const int32_t *restrict bias, const int16_t *restrict d, int32_t *restrict c) {
    chain(m, n, k, l, a, b, bias[0], gelu, d, c);
}
