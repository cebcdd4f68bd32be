// Products of matrices plus a bias for each, negative results replaced by 0.
#include "matmul.h"

static inline int32_t relu(int32_t x) { return x > 0 ? x : 0; }

void matmul_bias_relu(long batch, long m, long n, long k, const int16_t *restrict a, const int16_t *restrict b,
                      const int32_t *restrict bias, int32_t *restrict c) {
    for (long z = 0; z < batch; z++)
        product(m, n, k, a + z * m * k, b + z * k * n, 0, bias[z], relu, c + z * m * n);
}
