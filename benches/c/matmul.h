// Products of matrices of 16-bit numbers, with sums of 32 bits and what follows them.
#pragma once
#include <stdlib.h>
#include "pairs.h"

enum { ROWS = 4, VECTORS = 2, COLUMNS = VECTORS * LANES };

// Pairs of k from ROWS rows of a, of which `height` exist, side by side, each in all lanes.
static inline void pack_rows(long height, long k, const int16_t *restrict a, paired *restrict packed) {
    for (long i = 0; i < ROWS; i++) {
        const int16_t *row = a + least(i, height - 1) * k;
        for (long p = 0; p < k / 2; p++)
            spread(&packed[p * ROWS + i], row + 2 * p);
        if (k % 2)
            spread(&packed[k / 2 * ROWS + i], (int16_t[2]){row[k - 1], 0});
    }
}

// Pairs of k from the columns of b, COLUMNS of them after each other; those past the end hold anything.
static inline void pack_columns(long n, long k, const int16_t *restrict b, paired *restrict packed) {
    for (long x = 0; x < n; x += COLUMNS)
        for (long p = 0; p < k; p += 2, packed += VECTORS) {
            const int16_t *first = b + p * n + x, *second = b + least(p + 1, k - 1) * n + x;
            if (x + COLUMNS <= n)
                for (long i = 0; i < VECTORS; i++)
                    VECTOR for (long j = 0; j < LANES; j++)
                        packed[i].v[j][0] = first[i * LANES + j], packed[i].v[j][1] = second[i * LANES + j];
            else
                for (long j = 0; j < n - x; j++)
                    packed[j / LANES].v[j % LANES][0] = first[j], packed[j / LANES].v[j % LANES][1] = second[j];
        }
}

// c = finish(a * b + add + bias); `add` may be missing.
static inline void product(long m, long n, long k, const int16_t *restrict a, const int16_t *restrict b,
                           const int32_t *restrict add, int32_t bias, int32_t (*finish)(int32_t), int32_t *restrict c) {
    long steps = (k + 1) / 2, panels = (n + COLUMNS - 1) / COLUMNS;
    paired *rows = malloc(ROWS * steps * sizeof *rows), *columns = malloc(panels * VECTORS * steps * sizeof *columns);
    pack_columns(n, k, b, columns);
    for (long y = 0; y < m; y += ROWS) {
        long height = least(ROWS, m - y);
        pack_rows(height, k, a + y * k, rows);
        for (long x = 0; x < n; x += COLUMNS) {
            const paired *panel = columns + x / LANES * steps;
            uint32_t sum[ROWS][VECTORS][LANES] = {0};
            for (long p = 0; p < steps; p++)
                for (long i = 0; i < ROWS; i++)
                    for (long j = 0; j < VECTORS; j++)
                        add_products(sum[i][j], &rows[p * ROWS + i], &panel[p * VECTORS + j]);
            uint32_t result[ROWS][COLUMNS];
            for (long i = 0; i < ROWS; i++)
                for (long j = 0; j < VECTORS; j++)
                    VECTOR for (long l = 0; l < LANES; l++)
                        result[i][j * LANES + l] = sum[i][j][l];
            for (long i = 0; i < height; i++) {
                long at = (y + i) * n + x;
                for (long j = 0; j < least(COLUMNS, n - x); j++)
                    c[at + j] = finish(result[i][j] + bias + (add ? (uint32_t)add[at + j] : 0));
            }
        }
    }
    free(rows);
    free(columns);
}
