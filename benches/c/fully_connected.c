// A fully connected layer of a quantised network, with 16-bit results. The values without their zero
// are made once; what the zero of the filter takes away is the same for all channels.
#include <stdlib.h>
#include "fixed_point.h"

enum { ROWS = 4 };

// Sums of products for some channels.
static inline void dots(long rows, long depth, const uint8_t *restrict filter, const int16_t *restrict values,
                        uint32_t sum[ROWS]) {
    uint32_t s[ROWS] = {0};
    for (long k = 0; k < depth; k++)
        for (long i = 0; i < rows; i++)
            s[i] += filter[i * depth + k] * values[k];
    for (long i = 0; i < rows; i++)
        sum[i] = s[i];
}

void fully_connected(long n, long c, long depth, uint8_t in_zero, uint8_t filter_zero, int32_t multiplier, int32_t shift,
                     const uint8_t *restrict input, const uint8_t *restrict filter, const int32_t *restrict bias,
                     int16_t *restrict out) {
    int16_t *values = malloc(depth * sizeof *values);
    for (long b = 0; b < n; b++, input += depth, out += c) {
        uint32_t total = 0;
        for (long k = 0; k < depth; k++) {
            values[k] = input[k] - in_zero;
            total += values[k];
        }
        for (long z = 0; z < c; z += ROWS) {
            uint32_t sum[ROWS];
            long rows = c - z < ROWS ? c - z : ROWS;
            if (rows == ROWS)
                dots(ROWS, depth, filter + z * depth, values, sum);
            else
                dots(rows, depth, filter + z * depth, values, sum);
            for (long i = 0; i < rows; i++) {
                int32_t scaled = multiply31(bias[z + i] + sum[i] - total * filter_zero, multiplier);
                out[z + i] = clamp32(rounding_shift(scaled, shift), INT16_MIN, INT16_MAX);
            }
        }
    }
    free(values);
}
