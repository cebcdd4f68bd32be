// What the pools have in common: windows of some neighbouring channels.
#pragma once
#include <stdint.h>

enum { LANES = 64 };

static inline long least(long a, long b) { return a < b ? a : b; }

// The largest of `lanes` channels, a constant where it can be.
static inline void largest_of(long lanes, long c, long fh, long fw, long pitch, const uint8_t *restrict in,
                              uint8_t most[LANES]) {
    for (long dy = 0; dy < fh; dy++)
        for (long dx = 0; dx < fw; dx++)
            for (long z = 0; z < lanes; z++) {
                uint8_t byte = in[dy * pitch + dx * c + z];
                most[z] = most[z] > byte ? most[z] : byte;
            }
}

static inline void largest(long lanes, long c, long fh, long fw, long pitch, const uint8_t *restrict in,
                           uint8_t low, uint8_t most[LANES]) {
    for (long z = 0; z < LANES; z++)
        most[z] = low;
    if (lanes == LANES)
        largest_of(LANES, c, fh, fw, pitch, in, most);
    else
        largest_of(lanes, c, fh, fw, pitch, in, most);
}

// Their sums, modulo 2^16.
static inline void sums_of(long lanes, long c, long fh, long fw, long pitch, const uint8_t *restrict in,
                           uint16_t sum[LANES]) {
    for (long dy = 0; dy < fh; dy++)
        for (long dx = 0; dx < fw; dx++)
            for (long z = 0; z < lanes; z++)
                sum[z] += in[dy * pitch + dx * c + z];
}

static inline void sums(long lanes, long c, long fh, long fw, long pitch, const uint8_t *restrict in,
                           uint16_t sum[LANES]) {
    for (long z = 0; z < LANES; z++)
        sum[z] = 0;
    if (lanes == LANES)
        sums_of(LANES, c, fh, fw, pitch, in, sum);
    else
        sums_of(lanes, c, fh, fw, pitch, in, sum);
}

// The factor of an average, with 16 bits behind the point.
static inline uint32_t inverse_of(uint32_t count) {
    uint32_t inverse = (0x20000 + count) / (2 * count);
    return inverse < 0xffff ? inverse : 0xffff;
}
