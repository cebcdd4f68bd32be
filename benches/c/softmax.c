// Softmax of rows of bytes, in fixed point. As in every such layer beta and the multiplier are not
// negative, 1 <= beta_shift <= 15 and 1 <= shift <= 15.
#include <stdlib.h>
#include "fixed_point.h"

// Of 2^x - 1. Compilers are not to know them: gcc finds the rounding product only of factors unknown.
static const volatile int16_t CUBIC = 2592, SQUARE = 7363, LINEAR = 22812;

static inline void exponentials(long n, int16_t beta, int beta_shift, int16_t *restrict powers, int16_t *restrict e) {
    int16_t cubic = CUBIC, square = SQUARE, linear = LINEAR;
    int16_t mask = (1 << beta_shift) - 1, up = 1 << (15 - beta_shift);
    for (long k = 0; k < n; k++) {
        int16_t scaled = multiply15(e[k], beta);
        // The lowest whole number of x / 2^beta_shift, which is not positive, and what is above it.
        uint16_t halvings = -((int16_t)(2 * scaled) * up >> 16);
        int16_t part = (scaled & mask) * up;
        // 2^15 does not fit; from 16 halvings on nothing is left.
        uint16_t further = halvings - 1;
        further = further < 15 ? further : 15;
        int16_t power = 0x4000 >> further;
        powers[k] = halvings ? power : 0x7fff;
        int16_t part2 = multiply15(part, part), part3 = multiply15(part2, part);
        e[k] = multiply15(part3, cubic) + multiply15(part2, square) + multiply15(part, linear);
    }
    for (long k = 0; k < n; k++) {
        uint16_t sum = powers[k] + multiply15(powers[k], e[k]);
        e[k] = sum < 0x7fff ? sum : 0x7fff;
    }
}

// Factors that are parameters are of 16 bits for the compiler as well.
static __attribute__((noinline)) void shares(long n, const int16_t *restrict e, int16_t inverse, int16_t multiplier,
                                             int16_t down, int16_t zero, uint8_t *restrict out) {
    int16_t most = 255 - zero;
    for (long x = 0; x < n; x++) {
        int16_t scaled = multiply15(multiply15(multiply15(e[x], inverse), multiplier), down);
        out[x] = (scaled < most ? scaled : most) + zero;
    }
}

void softmax(long rows, long n, int16_t beta, int16_t beta_shift, int16_t multiplier, int16_t shift, uint8_t zero,
             const uint8_t *restrict input, uint8_t *restrict out) {
    int16_t *e = malloc(n * sizeof *e), *powers = malloc(n * sizeof *powers);
    for (long y = 0; y < rows; y++, input += n, out += n) {
        uint8_t largest = 0;
        for (long i = 0; i < n; i++)
            largest = largest > input[i] ? largest : input[i];
        for (long k = 0; k < n; k++)
            e[k] = (input[k] - largest) * 64;
        exponentials(n, beta, beta_shift, powers, e);
        int32_t sum = 0;
        for (long j = 0; j < n; j++)
            sum += e[j];
        // 2^30 / sum = 2^(30 - log2(sum)), the logarithm with 15 bits behind the point.
        int32_t negative = -(log2_14(sum) * 2);
        int16_t power = clamp32(power_of_two((negative >> 15) + 30), INT16_MIN, INT16_MAX);
        int16_t inverse = clamp32(power + multiply15(power, exp2_part(negative & 0x7fff)), INT16_MIN, INT16_MAX);
        shares(n, e, inverse, multiplier, 1 << (15 - shift), zero, out);
    }
    free(e);
    free(powers);
}
