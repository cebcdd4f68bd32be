// A product of matrices, something on it, and a second product with factors of 32 bits.
#pragma once
#include "matmul.h"

// c = t * d for ROWS rows of t, of which `height` exist.
static inline void second(long height, long n, long l, const int32_t *restrict t, const int16_t *restrict d,
                          int32_t *restrict c) {
    for (long x = 0; x < l; x += COLUMNS) {
        uint32_t sum[ROWS][VECTORS][LANES] = {0}, result[ROWS][COLUMNS];
        if (x + COLUMNS <= l)
            for (long q = 0; q < n; q++)
                for (long i = 0; i < ROWS; i++)
                    for (long j = 0; j < VECTORS; j++)
                        VECTOR for (long v = 0; v < LANES; v++)
                            sum[i][j][v] += (uint32_t)t[i * n + q] * d[q * l + x + j * LANES + v];
        else
            for (long i = 0; i < ROWS; i++)
                for (long q = 0; q < n; q++)
                    for (long v = 0; v < l - x; v++)
                        sum[i][v / LANES][v % LANES] += (uint32_t)t[i * n + q] * d[q * l + x + v];
        for (long i = 0; i < ROWS; i++)
            for (long j = 0; j < VECTORS; j++)
                VECTOR for (long v = 0; v < LANES; v++)
                    result[i][j * LANES + v] = sum[i][j][v];
        for (long i = 0; i < height; i++)
            for (long v = 0; v < least(COLUMNS, l - x); v++)
                c[i * l + x + v] = result[i][v];
    }
}

// c = finish(a * b + bias) * d.
static inline void chain(long m, long n, long k, long l, const int16_t *restrict a, const int16_t *restrict b, int32_t bias,
                         int32_t (*finish)(int32_t), const int16_t *restrict d, int32_t *restrict c) {
    int32_t *t = malloc((m + ROWS) * n * sizeof *t);
    product(m, n, k, a, b, 0, bias, finish, t);
    for (long y = 0; y < m; y += ROWS)
        second(least(ROWS, m - y), n, l, t + y * n, d, c + y * l);
    free(t);
}
