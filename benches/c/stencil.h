// What the stencils have in common: images that are continued at their edges.
#pragma once
#include <stdint.h>
#include <string.h>

// The nearest index inside.
static inline long inside(long i, long n) { return i < 0 ? 0 : i < n ? i : n - 1; }

// A copy of a row, continued by `reach` pixels at both ends.
static inline void continued(long w, long reach, const uint8_t *restrict row, uint8_t *restrict wide) {
    if (w > 0) {
        memset(wide, row[0], reach);
        memcpy(wide + reach, row, w);
        memset(wide + reach + w, row[w - 1], reach);
    }
}

static inline uint8_t min8(uint8_t a, uint8_t b) { return a < b ? a : b; }
static inline uint8_t max8(uint8_t a, uint8_t b) { return a > b ? a : b; }
