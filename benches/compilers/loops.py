"""Plain loops of one statement: as a kernel and as the C that one would write for it.

Each line: the element types of the arrays `a`, `b`, … and of the result `o`, the kernel's
expression over `a[x]`, …, the C expression, and perhaps a prelude of C functions (below). Signed
arithmetic that may wrap is written in unsigned types in C, as one has to. A result type with `+`
is a sum over all elements.
"""

PRELUDE = """
#define MIN(p, q) ((p) < (q) ? (p) : (q))
#define MAX(p, q) ((p) > (q) ? (p) : (q))
#define CLAMP(v, l, h) ((v) < (l) ? (l) : (v) > (h) ? (h) : (v))
#define I8(v) ((int8_t)CLAMP(v, -128, 127))
#define U8(v) ((uint8_t)CLAMP(v, 0, 255))
#define I16(v) ((int16_t)CLAMP(v, -32768, 32767))
#define U16(v) ((uint16_t)CLAMP(v, 0, 65535))
#define I32(v) ((int32_t)CLAMP(v, -2147483647LL - 1, 2147483647LL))
"""

# inputs, result, kernel, C
LOOPS = [
    # sums and differences
    ("u8 u8", "u8", "a[x] + b[x]", "a[x] + b[x]"),
    ("i16 i16", "i16", "sat_add(a[x], b[x])", "I16(a[x] + b[x])"),
    ("u8 u8", "u8", "sat_add(a[x], b[x])", "U8(a[x] + b[x])"),
    ("u8 u8", "u8", "sat_sub(a[x], b[x])", "U8(a[x] - b[x])"),
    ("i32 i32", "i32", "sat_add(a[x], b[x])", "I32((int64_t)a[x] + b[x])"),
    ("u32 u32", "u32", "sat_sub(a[x], b[x])", "a[x] > b[x] ? a[x] - b[x] : 0"),
    ("i64 i64", "i64", "a[x] - b[x]", "(int64_t)((uint64_t)a[x] - b[x])"),
    ("u8 u8", "u16", "widening_add(a[x], b[x])", "a[x] + b[x]"),
    ("u8 u8", "i16", "widening_sub(a[x], b[x])", "a[x] - b[x]"),
    ("i16 i16", "i32", "widening_sub(a[x], b[x])", "a[x] - b[x]"),
    ("u8 u8", "u8", "avg(a[x], b[x])", "(a[x] + b[x] + 1) >> 1"),
    ("u8 u8", "u8", "avg_floor(a[x], b[x])", "(a[x] + b[x]) >> 1"),
    ("i16 i16", "i16", "avg_floor(a[x], b[x])", "(a[x] + b[x]) >> 1"),
    ("i8 i8", "i8", "avg(a[x], b[x])", "(a[x] + b[x] + 1) >> 1"),
    ("u32 u32", "u32", "avg_floor(a[x], b[x])", "(uint32_t)(((uint64_t)a[x] + b[x]) >> 1)"),
    ("u8 u8", "u8", "absd(a[x], b[x])", "a[x] > b[x] ? a[x] - b[x] : b[x] - a[x]"),
    ("i16 i16", "u16", "absd(a[x], b[x])", "(uint16_t)(a[x] > b[x] ? a[x] - b[x] : b[x] - a[x])"),
    ("i32", "u32", "abs(a[x])", "a[x] < 0 ? -(uint32_t)a[x] : (uint32_t)a[x]"),
    ("i64", "u64", "abs(a[x])", "a[x] < 0 ? -(uint64_t)a[x] : (uint64_t)a[x]"),
    # products
    ("u8 u8", "u8", "a[x] * b[x]", "a[x] * b[x]"),
    ("u8 i8", "i16", "i16(a[x]) * i16(b[x])", "(int16_t)(a[x] * b[x])"),
    ("i16 i16", "i32", "widening_mul(a[x], b[x])", "a[x] * b[x]"),
    ("u32 u32", "u64", "widening_mul(a[x], b[x])", "(uint64_t)a[x] * b[x]"),
    ("i32 i32", "i32", "a[x] * b[x]", "(int32_t)((uint32_t)a[x] * (uint32_t)b[x])"),
    ("i64 i64", "i64", "a[x] * b[x]", "(int64_t)((uint64_t)a[x] * (uint64_t)b[x])"),
    ("i16 i16", "i16", "mul_shr(a[x], b[x], 16)", "(a[x] * b[x]) >> 16"),
    ("u16 u16", "u16", "mul_shr(a[x], b[x], 16)", "((uint32_t)a[x] * b[x]) >> 16"),
    ("i32 i32", "i32", "mul_shr(a[x], b[x], 32)", "(int32_t)(((int64_t)a[x] * b[x]) >> 32)"),
    ("u32 u32", "u32", "mul_shr(a[x], b[x], 32)", "(uint32_t)(((uint64_t)a[x] * b[x]) >> 32)"),
    ("i16 i16", "i16", "rounding_mul_shr(a[x], b[x], 15)", "I16((a[x] * b[x] + (1 << 14)) >> 15)"),
    ("i32 i32", "i32", "rounding_mul_shr(a[x], b[x], 31)", "I32(((int64_t)a[x] * b[x] + (1LL << 30)) >> 31)"),
    ("u8 u8", "u8", "u8((u16(a[x]) * u16(b[x]) + 128) >> 8)", "(a[x] * b[x] + 128) >> 8"),
    ("u8 u8 u8", "u8", "u8((u16(a[x]) * u16(c[x]) + u16(b[x]) * (255 - u16(c[x])) + 127) / 255)", "(a[x] * c[x] + b[x] * (255 - c[x]) + 127) / 255"),
    # shifts
    ("u8", "u8", "a[x] >> 3", "a[x] >> 3"),
    ("i8", "i8", "a[x] >> 2", "a[x] >> 2"),
    ("u8", "u8", "a[x] << 4", "a[x] << 4"),
    ("u8 u8", "u8", "a[x] >> (b[x] & 7)", "a[x] >> (b[x] & 7)"),
    ("u16 u16", "u16", "a[x] << (b[x] & 15)", "a[x] << (b[x] & 15)"),
    ("i32 i32", "i32", "a[x] >> (b[x] & 31)", "a[x] >> (b[x] & 31)"),
    ("i64", "i64", "a[x] >> 7", "a[x] >> 7"),
    ("u32", "u32", "a[x] << 13 | a[x] >> 19", "a[x] << 13 | a[x] >> 19"),
    ("u16", "u16", "a[x] << 8 | a[x] >> 8", "(uint16_t)(a[x] << 8 | a[x] >> 8)"),
    ("u32", "u32", "a[x] << 24 | (a[x] & 0xff00) << 8 | a[x] >> 8 & 0xff00 | a[x] >> 24", "__builtin_bswap32(a[x])"),
    ("i16", "i16", "rounding_shr(a[x], 4)", "(a[x] + 8) >> 4"),
    ("i32", "i16", "i16_sat(rounding_shr(a[x], 8))", "I16(((int64_t)a[x] + 128) >> 8)"),
    # constant division
    ("u8", "u8", "a[x] / 10", "a[x] / 10"),
    ("u16", "u16", "a[x] / 7", "a[x] / 7"),
    ("u32", "u32", "a[x] / 10", "a[x] / 10"),
    ("u32", "u32", "a[x] % 10", "a[x] % 10"),
    ("u16", "u8", "u8(a[x] / 255)", "(uint8_t)(a[x] / 255)"),
    ("u64", "u64", "a[x] / 1000", "a[x] / 1000"),
    # comparisons and choices
    ("u8", "u8", "select(a[x] == 7, 1, 0)", "a[x] == 7"),
    ("u8 u8", "u8", "select(a[x] > b[x], 255, 0)", "a[x] > b[x] ? 255 : 0"),
    ("i32 i32", "i32", "select(a[x] < b[x], a[x], b[x])", "a[x] < b[x] ? a[x] : b[x]"),
    ("u16 u16 u16", "u16", "select(a[x] > 100, b[x], c[x])", "a[x] > 100 ? b[x] : c[x]"),
    ("u64 u64", "u64", "max(a[x], b[x])", "MAX(a[x], b[x])"),
    ("u32 u32", "u8", "u8(a[x] < b[x])", "a[x] < b[x]"),
    ("f32 f32", "f32", "select(a[x] > b[x], a[x], b[x] * 2.0)", "a[x] > b[x] ? a[x] : b[x] * 2.0f"),
    ("i16", "i16", "clamp(a[x], -100, 100)", "CLAMP(a[x], -100, 100)"),
    ("u8", "u8", "select(a[x] >= 97 && a[x] <= 122, a[x] - 32, a[x])", "a[x] >= 'a' && a[x] <= 'z' ? a[x] - 32 : a[x]"),
    # bits
    ("u8", "u8", "popcount(a[x])", "__builtin_popcount(a[x])"),
    ("u32", "u32", "popcount(a[x])", "__builtin_popcount(a[x])"),
    ("u32", "u32", "clz(a[x])", "a[x] ? __builtin_clz(a[x]) : 32"),
    ("u32 u32 u32", "u32", "a[x] & b[x] | ~a[x] & c[x]", "(a[x] & b[x]) | (~a[x] & c[x])"),
    ("u64 u64", "u64", "a[x] & ~b[x]", "a[x] & ~b[x]"),
    # conversions
    ("u8", "i32", "i32(a[x])", "a[x]"),
    ("i8", "i64", "i64(a[x])", "a[x]"),
    ("i32", "u8", "u8(a[x])", "(uint8_t)a[x]"),
    ("i32", "u8", "u8_sat(a[x])", "U8(a[x])"),
    ("i16", "u8", "u8_sat(a[x])", "U8(a[x])"),
    ("i32", "i16", "i16_sat(a[x])", "I16(a[x])"),
    ("u64", "u16", "u16(a[x])", "(uint16_t)a[x]"),
    ("i64", "i32", "i32_sat(a[x])", "I32(a[x])"),
    ("u8", "f32", "f32(a[x])", "(float)a[x]"),
    ("u32", "f32", "f32(a[x])", "(float)a[x]"),
    ("i32", "f64", "f64(a[x])", "(double)a[x]"),
    ("f32", "i32", "i32(a[x])", "(int32_t)a[x]"),
    ("f32", "u8", "u8_sat(a[x])", "(uint8_t)(a[x] > 0 ? a[x] < 255 ? a[x] : 255 : 0)"),
    ("f64", "f32", "f32(a[x])", "(float)a[x]"),
    # floats
    ("f32 f32 f32", "f32", "fma(a[x], b[x], c[x])", "__builtin_fmaf(a[x], b[x], c[x])"),
    ("f64 f64", "f64", "a[x] / b[x]", "a[x] / b[x]"),
    ("f32", "f32", "sqrt(a[x])", "__builtin_sqrtf(a[x])"),
    ("f32", "f32", "abs(a[x])", "__builtin_fabsf(a[x])"),
    ("f32", "f32", "floor(a[x])", "__builtin_floorf(a[x])"),
    ("f32 f32", "f32", "max(a[x], b[x])", "MAX(a[x], b[x])"),
    ("f32", "f32", "max(a[x], 0.0)", "MAX(a[x], 0.0f)"),
    # sums over all elements
    ("u8 u8", "+u32", "u32(absd(a[x], b[x]))", "(uint32_t)(a[x] > b[x] ? a[x] - b[x] : b[x] - a[x])"),
    ("i16 i16", "+i32", "i32(a[x]) * i32(b[x])", "(uint32_t)(a[x] * b[x])"),
    ("u8 i8", "+i32", "i32(a[x]) * i32(b[x])", "(uint32_t)(a[x] * b[x])"),
    ("u8", "+u32", "u32(a[x])", "a[x]"),
    ("i32", "+i32", "a[x]", "(uint32_t)a[x]"),
    ("i16", "+i64", "i64(a[x])", "(uint64_t)a[x]"),
    ("u8", "+u32", "u32(popcount(a[x]))", "(uint32_t)__builtin_popcount(a[x])"),
    ("u8", "+u32", "u32(a[x] == 32)", "a[x] == 32"),
    ("i32 i32", "+i64", "i64(a[x]) * i64(b[x])", "(uint64_t)((int64_t)a[x] * b[x])"),
]
