// A product of matrices plus a bias, negative results replaced by 0, times a third matrix.
#include "chain.h"

static inline int32_t relu(int32_t x) { return x > 0 ? x : 0; }

void matmul_bias_relu_matmul(long m, long n, long k, long l, const int16_t *restrict a, const int16_t *restrict b,
                             const int32_t *restrict bias, const int16_t *restrict d, int32_t *restrict c) {
    chain(m, n, k, l, a, b, bias[0], relu, d, c);
}
