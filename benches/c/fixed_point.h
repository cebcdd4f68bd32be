// Fixed point: scaling of sums, logarithms, powers. No sum of the shifts' roundings may overflow,
// and products of 15 bits behind the point are never those of two least numbers.
#pragma once
#include <stdint.h>

static inline int32_t clamp32(int32_t a, int32_t low, int32_t high) {
    a = a > low ? a : low;
    return a < high ? a : high;
}

// a >> shift, rounded; 0 <= shift < 32.
static inline int32_t rounding_shift(int32_t a, int32_t shift) {
    int32_t half = shift > 0 ? shift - 1 : 0, one = shift > 0;
    return (a >> shift) + ((a >> half) & one);
}

// (a * b + 2^30) >> 31. Only the product of two least numbers does not fit: it becomes the greatest,
// which is what the product with the greatest but one is.
static inline int32_t multiply31(int32_t a, int32_t b) {
    int32_t least = b == INT32_MIN ? -INT32_MAX : INT32_MIN;
    a = a > least ? a : least;
    return (uint64_t)((int64_t)a * b + (1 << 30)) >> 31;
}

// A sum scaled to a byte.
static inline uint8_t requantize(int32_t sum, int32_t multiplier, int32_t shift, uint8_t zero, uint8_t low, uint8_t high) {
    return clamp32(rounding_shift(multiply31(sum, multiplier), shift), low - zero, high - zero) + zero;
}

// (a * b + 2^14) >> 15.
static inline int16_t multiply15(int16_t a, int16_t b) { return ((a * b >> 14) + 1) >> 1; }

// The base-2 logarithm with 14 bits behind the point.
static inline int32_t log2_14(int32_t x) {
    int32_t whole = x ? 31 - __builtin_clz(x) : -1;
    int16_t part = (whole > 15 ? x >> (whole - 15) : x << (15 - whole)) & 0x7fff;
    int16_t square = multiply15(part, part), cube = multiply15(square, part);
    int16_t curve = multiply15(cube, 2555) + multiply15(square, -9421) + multiply15(part, 23249) + 5;
    return whole * (1 << 14) + curve;
}

// 2^part - 1, with 15 bits behind the point.
static inline int16_t exp2_part(int16_t part) {
    int16_t square = multiply15(part, part), cube = multiply15(square, part);
    return multiply15(cube, 2592) + multiply15(square, 7363) + multiply15(part, 22812);
}

// 1 << count, 0 where that is no bit.
static inline int32_t power_of_two(int32_t count) { return (uint32_t)count < 32 ? (int32_t)(1u << count) : 0; }

// 2^(x + q), from x with 15 bits behind the point.
static inline int32_t exp2_31(int32_t q, int32_t x) {
    int32_t power = power_of_two((x >> 15) + q);
    int64_t sum = (int64_t)power + multiply31(power, exp2_part(x & 0x7fff) * (1 << 16));
    return sum < INT32_MIN ? INT32_MIN : sum > INT32_MAX ? INT32_MAX : sum;
}
