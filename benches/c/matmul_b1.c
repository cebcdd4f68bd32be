// A product of matrices of 16-bit integers, with sums of 32 bits.
#include "matmul.h"

static inline int32_t same(int32_t x) { return x; }

void matmul_b1(long batch, long m, long n, long k, const int16_t *restrict a, const int16_t *restrict b,
               int32_t *restrict c) {
    for (long z = 0; z < batch; z++)
        product(m, n, k, a + z * m * k, b + z * k * n, 0, 0, same, c + z * m * n);
}
