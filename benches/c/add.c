// The sum of two quantised tensors. The factor 64 of both terms is taken out: (64 s + 2^15) >> 16 is
// (s + 2^9) >> 10; what follows has no more than 16 bits, so the clamps to types become those to bounds.
#include <stdint.h>

void add(long n, uint8_t zero1, uint8_t zero2, int16_t multiplier1, int16_t multiplier2, uint8_t out_zero, uint8_t low,
         uint8_t high, const uint8_t *restrict input1, const uint8_t *restrict input2, uint8_t *restrict out) {
    int32_t rounding = (1 << 9) - zero1 * multiplier1 - zero2 * multiplier2;
    for (long x = 0; x < n; x++) {
        int16_t scaled = (input1[x] * multiplier1 + input2[x] * multiplier2 + rounding) >> 10;
        int16_t value = scaled + out_zero;
        value = value > low ? value : low;
        out[x] = value < high ? value : high;
    }
}
