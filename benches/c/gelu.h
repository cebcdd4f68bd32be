// GELU as the published benchmark has it: its integer constants have no bit behind the point.
#pragma once
#include "fixed_point.h"

static inline int32_t reciprocal(int32_t x) { return exp2_31(0, -(log2_14(x) * 2)); }
static inline int32_t reciprocal_root(int32_t x) { return exp2_31(0, -log2_14(x)); }

static inline int32_t gelu(int32_t sum) {
    uint32_t x = sum;
    int32_t above = reciprocal_root(6283), below = reciprocal_root(1000);
    int32_t root = below ? above / below : 0;
    return x * reciprocal(2) * (1 + x * reciprocal(3) * root * (6 + x * x));
}
