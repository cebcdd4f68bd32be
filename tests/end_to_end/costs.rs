//! What plain loops cost at most: each row stands for a kind of sequence that is known.
//!
//! The costs are the model's for named targets, whose instructions are fixed; that the code is right
//! is shown elsewhere (random loops, proofs). A search that finds less makes a row smaller.

use serde_json::Value;

/// Arrays' type, the result's type (`+`: a sum over all elements), the expression, lanes, the most
/// that the window may cost.
type Row = (&'static str, &'static str, &'static str, u32, f64);

/// On `znver4`, whose products also add, and take four cycles for it: rounds wait for a plain
/// sum instead.
const SUMS: [Row; 7] = [
    // Quotients that a truncation could compute too, for more.
    ("i16", "i16", "a[x] / 7", 16, 2.5),
    ("u16", "u16", "(a[x] % 100) * 3", 16, 2.0),
    ("u8", "+u32", "u32(a[x])", 64, 1.0),
    ("i16", "+i32", "i32(a[x]) * i32(b[x])", 32, 1.5),
    ("i16", "+i32", "i32(a[x])", 32, 1.0),
    // Products of signs that no instruction has: with one factor turned over.
    ("i8", "+i32", "i32(a[x]) * i32(b[x])", 32, 1.5),
    ("u8", "+u32", "u32(a[x]) * u32(b[x])", 32, 1.5),
];

/// On `znver4`: takes as long as the others together.
const LONG_SUMS: [Row; 1] = [("u8", "+u32", "select(a[x] > 100, u32(3), u32(1))", 32, 2.5)];

/// On `x86-64-v3`.
#[rustfmt::skip]
const LOOPS: [Row; 146] = [
    // Bytes are added eight at a time in wide lanes, and signed ones by products with ones.
    ("u8", "+u32", "u32(a[x])", 64, 3.0),
    ("u8", "+u16", "u16(a[x])", 64, 3.0),
    ("u8", "+u64", "u64(a[x])", 64, 3.0),
    ("u8", "+u32", "u32(absd(a[x], b[x]))", 64, 4.0),
    ("i16", "+i32", "i32(a[x])", 32, 3.0),
    // What is computed in narrow elements before it is extended fills registers, whose parts are extended.
    ("u8", "u16", "u16(absd(a[x], b[x]))", 64, 9.0),
    ("u8", "u32", "u32(max(absd(a[x], b[x]), a[x])) * 3", 64, 24.0),
    ("u8", "i32", "i32(select(a[x] > b[x], a[x], 7))", 64, 15.0),
    // What holds a narrower element is computed in it where one instruction does that.
    ("u8", "u16", "u16(avg(a[x], b[x])) * 3", 64, 10.0),
    ("u8", "i32", "i32(avg(a[x], b[x])) - 20", 64, 16.0),
    ("u16", "u32", "u32(avg(a[x], b[x])) + 9", 64, 16.0),
    ("u8", "u16", "u16(avg_floor(a[x], b[x])) + 9", 64, 14.0),
    ("i16", "u32", "max(u32(min(a[x], 9)), u32(b[x]))", 64, 16.0),
    // Bytes are multiplied by sums of themselves and by shifts, as no instruction does it.
    ("u8", "u8", "max(b[x], a[x] * 3)", 32, 1.5),
    ("u8", "u8", "max(b[x], a[x] * 12 + 1)", 32, 3.0),
    ("i8", "i8", "select(b[x] == 7, b[x], a[x] + a[x])", 32, 1.5),
    // Rounded products with a factor that is a sum of products, and with one whose shift is taken together
    // with that of the product.
    ("i16", "i16", "rounding_mul_shr(a[x], rounding_mul_shr(b[x], 2592, 15) + rounding_mul_shr(a[x], 7363, 15), 15)", 16, 3.5),
    ("u8", "i16", "rounding_mul_shr((i16(a[x]) << 6) + i16(b[x]) * -64, i16(a[x]) * 100 + i16(b[x]), 15)", 16, 6.5),
    // The low part of one register beside the high part of another: one instruction takes both.
    ("u32", "u32", "u32((u64(a[x]) * u64(b[x])) >> 32)", 8, 4.0),
    ("u64", "u64", "(a[x] + b[x]) >> 32 | ((a[x] - b[x]) & 18446744069414584320)", 4, 2.0),
    // Factors of 64 bits that steps compute otherwise than the window has them: proved step by step.
    ("i64", "i64", "(a[x] >> 20) * b[x]", 4, 7.0),
    ("i64", "i64", "rounding_shr((a[x] >> 20) * (b[x] >> 40), 12)", 4, 12.0),
    // As terms are ordered, the lane without a sum has its factors the other way round.
    ("u32", "u32", "u32(100000 - x) * a[x]", 8, 2.5),
    // Where only some bytes of a wider lane matter, what is claimed of them has to be so.
    ("u32", "u32", "popcount(a[x]) + b[x]", 4, 5.5),
    ("u32", "u32", "popcount(a[x]) - (-b[x])", 8, 5.5),
    // Bits are counted in bytes, which are added at once or by neighbours.
    ("u64", "+u64", "popcount(a[x])", 4, 4.5),
    ("u32", "u16", "u16(popcount(a[x]))", 16, 12.5),
    // Both registers are made of the same moved one.
    ("u8", "u16", "u16(a[x]) << 8 | u16(a[x])", 32, 2.0),
    // Fields of wider elements are brought together before they are cut.
    ("u16", "u8", "u8((a[x] >> 11) << 3)", 32, 3.5),
    ("u16", "u8", "u8(((a[x] >> 11) << 3) | (a[x] >> 13))", 32, 5.5),
    ("u16", "u8", "u8(((a[x] >> 5) & 63) << 2 | ((a[x] >> 9) & 3))", 32, 5.5),
    ("u16", "u8", "u8(a[x] >> 3) ^ u8(b[x] >> 8)", 32, 5.5),
    // A quotient by a power of two is a shift, also where there is a sign.
    ("u8", "u8", "u8((i16(a[x]) - i16(b[x])) / 2 + 128)", 32, 1.0),
    ("i8", "i8", "i8((i16(a[x]) - i16(b[x])) / 2)", 32, 2.0),
    ("u8", "u8", "u8((i16(a[x]) + i16(b[x]) * 3) / 4)", 32, 3.0),
    // Conversions that no instruction makes: by halves of what fits.
    ("f64", "u32", "u32_sat(a[x])", 8, 17.0),
    ("f64", "i32", "i32_sat(floor(a[x]))", 8, 10.0),
    // Dividends that fit fewer bits than their type: sums of bytes, interpolations.
    ("u8", "u8", "u8((u32(a[x]) + 2 * u32(b[x]) + 1) / 3)", 32, 7.5),
    ("u8", "u8", "u8((u32(a[x]) * u32(b[x]) + 77 * (255 - u32(b[x])) + 127) / 255)", 32, 13.5),
    ("u16", "u16", "u16((u64(a[x]) + u64(b[x])) / 10 % 1000)", 16, 16.5),
    // Fixed point: the upper half of a product of a factor with room, both halves, two registers of dealt lanes.
    ("u16", "u16", "u16((u32(a[x]) * 77) >> 8)", 16, 1.5),
    ("i16", "i16", "i16((i32(a[x]) * 181 + 128) >> 8)", 16, 1.5),
    ("i16", "i16", "i16((i32(a[x]) * i32(b[x]) + 4096) >> 13)", 16, 4.0),
    ("i16", "i16", "i16_sat((i32(a[x]) * i32(b[x])) >> 12)", 16, 4.5),
    ("i16", "i16", "i16_sat((i32(a[x]) * i32(b[x]) + 2048) >> 12)", 16, 5.5),
    ("i16", "i32", "i32(a[x]) * i32(b[x])", 16, 5.0),
    // Factors that are constants lie beside each other, too; one factor is taken out.
    ("i16", "i16", "i16_sat((i32(a[x]) * 11 + i32(b[x]) * 53 + 64) >> 7)", 16, 5.5),
    ("i16", "i32", "i32(a[x]) * 11 - i32(b[x]) * 53", 16, 5.0),
    ("i16", "i32", "i32(a[x]) * 13 - i32(b[x]) * 13", 8, 3.0),
    // Choices that are the greater value.
    ("i16", "i16", "select(a[x] - b[x] > 0, a[x] - b[x], (a[x] - b[x]) >> 2)", 16, 1.5),
    ("i32", "i32", "select(a[x] < 0, a[x] >> 4, a[x])", 8, 1.0),
    // The upper bits of products that are wider than lanes: in pairs, whose signs nothing reads.
    ("i32", "i32", "i32((i64(a[x]) * i64(b[x])) >> 32)", 8, 4.5),
    ("i32", "i32", "i32((i64(a[x]) * i64(b[x])) >> 31)", 8, 5.5),
    // Small pieces of what is written otherwise: one comparison and a mask, bits of a float's exponent.
    ("u8", "u8", "u8((a[x] & 192) != 128)", 32, 1.5),
    ("u32", "u8", "u8(31 - clz(a[x] | 1))", 8, 17.5),
    // Quotients: a shift by an immediate behind the upper half; fewer bits of a dividend.
    ("i16", "i16", "a[x] / 10", 16, 3.0),
    ("u16", "u16", "(a[x] & 0x7fff) / 7", 16, 2.0),
    // What ranges decide.
    ("i32", "i32", "select(a[x] % 360 < 0, a[x] % 360 + 360, a[x] % 360)", 8, 7.5),
    ("u16", "u8", "select(a[x] / 300 > 240, 0, u8(a[x] / 300))", 16, 3.5),
    // Clamped differences of the other sign, less half the range; a test for an interval.
    ("u8", "i8", "i8_sat(i16(a[x]) - i16(b[x]))", 32, 1.5),
    ("i8", "u8", "u8_sat(i16(a[x]) - i16(b[x]))", 32, 1.5),
    ("u16", "i16", "i16_sat(i32(a[x]) - i32(b[x]))", 16, 1.5),
    ("u8", "u8", "select(a[x] >= 97 && a[x] <= 122, a[x] - 32, a[x])", 32, 2.5),
    // Floats as short integers: clamped before they are converted, rounded by the conversion.
    ("f32", "u8", "u8_sat(a[x])", 32, 8.5),
    ("f32", "u8", "u8(clamp(a[x], 0, 255))", 32, 10.5),
    ("f32", "i8", "i8(round_even(clamp(a[x], -128, 127)))", 32, 10.5),
    ("f32", "i8", "i8_sat(round_even(a[x]))", 32, 12.5),
    ("f64", "i16", "i16_sat(a[x])", 8, 4.5),
    ("f32", "i32", "i32_sat(round_even(a[x]))", 8, 2.5),
    // The upper half of what is used as a whole too.
    ("u32", "u32", "((a[x] ^ (a[x] >> 16)) * 77) ^ ((a[x] ^ (a[x] >> 16)) >> 13)", 8, 4.0),
    // Quotients by what is no constant, through floats.
    ("u16", "u16", "a[x] / b[x]", 16, 7.5),
    ("i16", "i16", "a[x] % b[x]", 8, 14.0),
    ("u8", "u8", "a[x] / max(b[x], 1)", 32, 25.5),
    ("i8", "i8", "a[x] % b[x]", 16, 22.5),
    ("i32", "i32", "a[x] / b[x]", 8, 13.0),
    ("u32", "u32", "a[x] / b[x]", 8, 18.0),
    ("u16", "u32", "u32(a[x]) / u32(b[x])", 8, 6.0),
    ("u16", "u16", "((a[x] & 255) * 255 + (b[x] >> 1)) / b[x]", 16, 10.5),
    // Differences from zero inside of an expression.
    ("u16", "u16", "a[x] | (0 - a[x])", 16, 1.0),
    ("i8", "i8", "select(a[x] > b[x], -a[x], b[x])", 32, 2.5),
    ("u16", "u16", "(0 - a[x]) >> 3", 16, 1.0),
    // One product in place of two: parts of a sum that are written apart.
    ("i64", "i64", "a[x] * 77 + b[x] * 77", 4, 5.0),
    ("i32", "i32", "a[x] * 6 + b[x] + a[x] * b[x] + b[x] * 6", 8, 3.5),
    // Computed elements and a constant: clamped where nothing clamps, the high half of a product.
    ("i32", "i32", "sat_add(a[x], 30)", 8, 1.0),
    ("u32", "u32", "sat_sub(min(a[x], b[x]), 70000)", 8, 1.5),
    ("u16", "u16", "u16((u32(a[x] ^ b[x]) * 12345) >> 16)", 16, 1.5),
    // Lanes that are packed, once, twice, out of order.
    ("i32", "i16", "i16_sat(a[x])", 8, 1.0),
    ("i32", "i16", "i16_sat(a[x])", 16, 1.5),
    ("i16", "u8", "u8_sat(a[x])", 32, 1.5),
    ("i32", "u8", "u8_sat(a[x])", 32, 4.5),
    ("i32", "i8", "i8_sat(a[x])", 16, 2.0),
    ("u32", "u8", "u8(a[x] < b[x])", 32, 12.5),
    ("i32", "i16", "i16_sat(rounding_shr(a[x], 8))", 16, 4.5),
    // Computed in two registers, wider, and narrowed into one.
    ("i32", "i16", "i16(a[x] >> 5)", 16, 3.5),
    ("i32", "u8", "u8(a[x] >> 5)", 16, 6.0),
    ("i16", "i16", "i16_sat(rounding_shr(widening_mul(a[x], b[x]), 16))", 16, 9.5),
    ("i16", "i16", "i16_sat(rounding_shr(widening_mul(a[x], b[x]) + widening_mul(a[x], a[x]), 8))", 8, 7.0),
    ("u16", "u8", "u8_sat((u32(a[x]) * u32(b[x])) >> 12)", 32, 17.5),
    ("u8", "u16", "u16((u32(a[x]) * u32(b[x]) * 3) >> 4)", 16, 11.5),
    // Averages that no instruction has.
    ("i16", "i16", "avg_floor(a[x], b[x])", 16, 2.0),
    ("i8", "i8", "avg(a[x], b[x])", 32, 2.0),
    ("u32", "u32", "avg_floor(a[x], b[x])", 8, 2.0),
    // Weighted averages, by averages; saturation twice in place of once in more bits.
    ("u8", "u8", "u8((u16(a[x]) + 3 * u16(b[x]) + 2) >> 2)", 32, 2.0),
    ("u8", "u8", "u8((5 * u16(a[x]) + 3 * u16(b[x]) + 4) >> 3)", 32, 3.5),
    ("u16", "u16", "u16((u32(a[x]) + 3 * u32(b[x]) + 1) >> 2)", 16, 2.0),
    ("i8", "i8", "i8_sat(i16(a[x]) - 2 * i16(b[x]))", 32, 1.0),
    ("u8", "u8", "u8_sat(u16(a[x]) + 3 * u16(b[x]))", 32, 1.5),
    // Rounding shifts, shifts with the sign.
    ("i16", "i16", "rounding_shr(a[x], 4)", 16, 1.5),
    ("u32", "u32", "rounding_shr(a[x], 9)", 8, 1.5),
    ("i8", "i8", "a[x] >> 2", 32, 2.0),
    ("i64", "i64", "a[x] >> 7", 4, 1.5),
    // Products by constants of few digits.
    ("i64", "i64", "a[x] * 1024", 4, 0.5),
    ("u64", "u64", "a[x] * 12", 4, 1.5),
    ("i32", "i32", "a[x] * 1024", 8, 0.5),
    ("u16", "u16", "a[x] * 16", 16, 0.5),
    ("i64", "i64", "a[x] * -3", 4, 1.0),
    // Functions of few bits, looked up.
    ("u8", "u8", "popcount(a[x])", 32, 3.0),
    ("i8", "i8", "clz(a[x] ^ b[x])", 32, 3.5),
    ("u16", "u16", "clz(a[x])", 16, 5.5),
    ("u16", "u8", "u8(clz(a[x]))", 32, 14.0),
    ("u16", "u16", "clz(a[x]) - popcount(a[x])", 16, 8.5),
    ("u8", "u8", "lookup([7, 1, 3, 200, 9, 4, 4, 2], a[x] & 7)", 32, 1.0),
    ("u8", "i8", "lookup([1, -5, 3, 7, -9, 11, 13, 15, 2, 4, 6, 8, 10, 12, 14, 16, 3, 1, 4, 1, 5], a[x] & 31)", 32, 3.0),
    ("i32", "f32", "lookup([0.5, 1.5, -2.5, 3, 4, 5, 6, 7], a[x] & 7)", 8, 1.5),
    // Bytes that only move.
    ("u32", "u32", "a[x] << 24 | (a[x] & 0xff00) << 8 | a[x] >> 8 & 0xff00 | a[x] >> 24", 8, 0.5),
    ("u16", "u16", "a[x] << 8 | a[x] >> 8", 16, 0.5),
    ("u64", "u64", "a[x] << 24 | a[x] >> 40", 4, 0.5),
    // Counts in wider elements than are looked up.
    ("u16", "u16", "popcount(a[x])", 16, 4.0),
    // Quotients with a sign, averages of which the upper bits are wanted.
    ("i16", "i16", "a[x] / 3", 16, 2.5),
    ("i32", "i32", "a[x] / 7", 8, 6.0),
    // Of extended elements, as C has them.
    ("i16", "i16", "i16(i32(a[x]) / -6)", 16, 3.0),
    ("u16", "u16", "u16(u32(a[x]) % 10)", 16, 3.0),
    ("i8", "i8", "i8(i32(a[x]) / 3)", 32, 5.5),
    ("u16", "u8", "u8((u32(a[x]) + u32(b[x])) >> 9)", 32, 13.0),
    // Narrowing by half several times, and of floats.
    ("u64", "u16", "u16(a[x])", 16, 5.0),
    ("f32", "i16", "i16_sat(a[x])", 16, 6.5),
    ("f32", "u8", "u8_sat(a[x])", 32, 14.5),
    // Sums of all elements: what is added up is dealt to lanes as suits the instructions.
    ("i16", "+i64", "i64(a[x])", 16, 5.0),
    ("i32", "+i64", "i64(a[x])", 8, 3.0),
    ("u16", "+u32", "u32(a[x] == 7)", 16, 2.5),
    // Bounds are applied after narrowing.
    (
        "i16",
        "u8",
        "u8(min(max(i32(a[x]) + i32(b[x]), 16), 235))",
        32,
        3.5,
    ),
    (
        "i32",
        "i16",
        "i16(min(max(a[x] >> 6, 0), 1023))",
        16,
        3.0,
    ),
    // Fields of sums, and turned sums.
    ("u32", "u32", "(a[x] + b[x]) << 16 >> 25", 8, 1.5),
    (
        "u32",
        "u32",
        "((a[x] + b[x]) << 16 | (a[x] + b[x]) >> 16) << 7 | ((a[x] + b[x]) << 16 | (a[x] + b[x]) >> 16) >> 25",
        8,
        2.0,
    ),
    // Products two at a time, of which one is taken away.
    (
        "u8",
        "u8",
        "u8_sat((i16(a[x]) * 20 - 5 * i16(b[x]) + 16) >> 5)",
        32,
        5.5,
    ),
    (
        "u8",
        "i16",
        "i16(a[x]) * 20 - 5 * i16(b[x]) + 16",
        32,
        6.0,
    ),
];

/// On `x86-64-v3`: each takes seconds to search for. `cargo xtask costs` asks for these.
const LONG: [Row; 7] = [
    (
        "u8",
        "u8",
        "lookup([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4, 6, 2, 6, 4, 3, 3, 8, 3, 2, 7, 9, 5, \
         0, 2, 8, 8, 4, 1, 9, 7, 1, 6, 9, 3, 9, 9, 3, 7, 5, 1, 0, 5, 8, 2, 0, 9, 7, 4, 9, 4, 4, 5, 9, 2], a[x] >> 2)",
        32,
        6.0,
    ),
    ("u32", "u32", "popcount(a[x])", 8, 5.0),
    ("u16", "u16", "clz(a[x])", 16, 6.0),
    ("i8", "+i32", "i32(a[x])", 32, 2.5),
    ("u8", "+u32", "u32(a[x] > b[x])", 32, 4.5),
    ("u8", "+u32", "select(a[x] > 100, u32(3), u32(1))", 32, 4.0),
    ("i8", "+i32", "i32(a[x]) * i32(b[x])", 32, 7.0),
];

/// On `hvx-v68`, which holds two registers as one, deals what is wider to both in turn, and multiplies
/// words by halfwords.
const PAIRS: [Row; 12] = [
    ("i16", "i32", "i32(a[x]) * i32(b[x])", 64, 2.0),
    ("u8", "u16", "u16(a[x]) + u16(b[x])", 128, 1.5),
    (
        "i16",
        "i16",
        "i16_sat(rounding_shr(widening_mul(a[x], b[x]), 16))",
        64,
        2.0,
    ),
    (
        "u8",
        "u8",
        "u8((u16(a[x]) * 3 + u16(b[x]) * 5 + 8) >> 4)",
        128,
        2.0,
    ),
    ("i32", "i32", "a[x] * b[x]", 32, 2.0),
    ("i32", "i32", "mul_shr(a[x], b[x], 32)", 32, 2.0),
    ("i32", "i32", "rounding_mul_shr(a[x], b[x], 31)", 32, 1.5),
    ("i32", "i32", "a[x] >> (b[x] & 31)", 32, 1.5),
    ("i16", "i16", "a[x] << (b[x] & 15)", 64, 2.0),
    ("i32", "i16", "i16(a[x] >> 5)", 64, 3.0),
    ("i16", "u8", "u8(a[x] >> 5)", 128, 3.0),
    ("i32", "u8", "u8(a[x] >> 5)", 128, 7.0),
];

/// On `neoverse-v2`, whose conversions saturate, whose shifts round, narrow and saturate at once, and
/// go down by negative numbers.
#[rustfmt::skip]
const ROUNDED: [Row; 43] = [
    // Extended in steps, each of which fills registers, and what is computed before that.
    ("i8", "i32", "i32(a[x])", 64, 12.0),
    ("i8", "i32", "i32(max(a[x], b[x]))", 64, 14.0),
    ("u8", "i32", "i32(select(a[x] > b[x], a[x], 7))", 64, 16.0),
    ("i16", "i64", "i64(min(a[x], b[x])) - 9", 64, 44.0),
    ("i8", "i32", "i32(max(a[x], b[x])) + 9", 64, 14.0),
    ("u8", "i32", "i32(min(a[x], b[x])) - i32(a[x])", 64, 18.0),
    // Upper halves are read where they are, and what is narrowed is left above them.
    ("u8", "i16", "i16(a[x]) - i16(b[x])", 16, 1.0),
    ("i16", "i16", "i16((i32(a[x]) * i32(b[x]) + 0x4000) >> 15)", 8, 4.0),
    ("i32", "i16", "i16_sat((i64(a[x]) + 0x8000) >> 16)", 8, 2.0),
    ("i16", "u8", "u8_sat((i32(a[x]) + 8) >> 4)", 16, 2.0),
    ("i32", "i32", "i32((i64(a[x]) * i64(b[x])) >> 16) + a[x]", 8, 9.0),
    // A factor that is computed and fits in an element.
    ("u8", "u8", "u8((u16(b[x]) * u16(255 - a[x]) + 128) >> 8)", 16, 3.5),
    // Ones of bytes, added up pairwise; shifts that add.
    ("u16", "u16", "popcount(a[x])", 8, 1.0),
    ("u32", "u32", "popcount(a[x] ^ b[x])", 8, 4.0),
    ("u32", "u32", "(a[x] << 5) | (a[x] >> 27)", 8, 4.0),
    ("i8", "i8", "i8_sat((i16(a[x]) * i16(b[x])) >> 7)", 16, 4.0),
    // Through floats, which it converts only from and to integers as wide.
    ("u32", "u32", "a[x] / b[x]", 8, 45.0),
    ("i32", "i32", "a[x] / b[x]", 8, 57.0),
    ("u16", "u16", "a[x] / b[x]", 16, 45.0),
    ("i32", "i32", "a[x] * 12345 + b[x] * 12345", 8, 3.0),
    ("u8", "i32", "i32(a[x]) * 300 + i32(b[x]) * 300", 8, 5.0),
    ("u8", "u8", "u8((u16(a[x]) * 33 + u16(b[x]) * 33 + 64) >> 7)", 16, 5.5),
    ("u8", "u8", "sat_sub(max(a[x], b[x]), 9)", 32, 2.0),
    ("f32", "i32", "i32(a[x])", 4, 2.0),
    ("f32", "u32", "u32(a[x])", 4, 3.0),
    ("f64", "i64", "i64(a[x])", 2, 2.0),
    ("f32", "i32", "i32_sat(a[x])", 4, 1.0),
    ("f32", "i16", "i16_sat(a[x])", 8, 4.5),
    // Conversions that saturate, of as many bits to as many; a quotient by a power of two is a product.
    ("f32", "u32", "u32_sat(a[x])", 8, 2.0),
    ("f64", "u64", "u64_sat(a[x])", 8, 4.0),
    ("f64", "u32", "u32_sat(a[x])", 8, 8.0),
    ("f64", "i32", "i32_sat(floor(a[x]))", 8, 8.0),
    ("f64", "i32", "i32(a[x])", 8, 15.0),
    ("i16", "f32", "f32(a[x]) / 32768.0", 16, 8.0),
    ("u8", "u8", "a[x] << (b[x] & 7)", 16, 1.5),
    ("i16", "i16", "a[x] >> (b[x] & 15)", 8, 2.0),
    ("u16", "u16", "a[x] >> b[x]", 8, 2.0),
    ("i64", "i64", "a[x] >> (b[x] & 63)", 2, 2.5),
    ("u8", "u8", "u8((u16(a[x]) + 3 * u16(b[x]) + 2) >> 2)", 16, 1.0),
    ("i8", "i8", "i8_sat(rounding_shr(i16(a[x]) * i16(b[x]), 7))", 8, 2.0),
    ("u8", "u8", "u8_sat(rounding_shr(u16(a[x]) * u16(b[x]), 6))", 8, 2.0),
    ("i16", "i16", "i16_sat(rounding_shr(i32(a[x]) * i32(b[x]), 11))", 4, 2.0),
    ("i8", "i16", "rounding_shr(i16(a[x]) * i16(b[x]), 7)", 8, 2.0),
];

#[test]
fn known_sequences_are_found() {
    cost_at_most(["x86", "x86-64-v3"], &LOOPS);
    cost_at_most(["x86", "znver4"], &SUMS);
    cost_at_most(["arm", "neoverse-v2"], &ROUNDED);
    cost_at_most(["hvx", "hvx-v68"], &PAIRS);
}

/// Sums of blocks: the type of the elements, that of the result, an element, how many are added and
/// how many sums stand beside each other, what they cost at most on `x86-64-v3` and on `znver4`.
type Block = (&'static str, &'static str, &'static str, u32, u32, [f64; 2]);

const BLOCKS: [Block; 10] = [
    ("u8", "u32", "absd(a[AT], b[AT])", 16, 1, [2.0, 2.0]),
    ("u8", "i32", "a[AT]", 16, 1, [2.0, 2.0]),
    ("u8", "u32", "absd(a[AT], b[AT])", 64, 1, [5.0, 5.0]),
    ("u8", "u64", "a[AT]", 8, 2, [1.0, 1.0]),
    ("u8", "u32", "absd(a[AT], b[AT])", 8, 2, [1.5, 1.5]),
    ("u8", "u32", "a[AT]", 8, 8, [5.0, 2.0]),
    ("i16", "i32", "i32(a[AT]) * i32(b[AT])", 16, 1, [4.5, 3.5]),
    ("u8", "u16", "absd(a[AT], b[AT])", 16, 2, [3.5, 3.5]),
    // What is added is computed before.
    ("i8", "i32", "absd(a[AT], b[AT])", 16, 1, [3.5, 4.5]),
    ("u16", "u32", "absd(a[AT], b[AT])", 8, 1, [6.0, 6.0]),
];

#[test]
fn sums_of_blocks_are_added_in_wide_lanes() {
    let kernel = |(k, (from, to, value, added, beside, _)): (usize, &Block)| {
        let all = added * beside;
        let value = value.replace("AT", &format!("{all} * x..+{all}"));
        let (place, groups) = match beside {
            1 => ("x".to_owned(), String::new()),
            _ => (format!("{beside} * x..+{beside}"), format!(", {added}")),
        };
        format!(
            "kernel block{k}(n: size, a: in {from}[n], b: in {from}[n], o: out {to}[n]) {{\n  \
             for x in 0..n / {all} {{ o[{place}] = reduce_add({to}({value}){groups}); }}\n}}\n"
        )
    };
    let text: String = BLOCKS.iter().enumerate().map(kernel).collect();
    let file = super::written("costs_blocks.kernel", &text);
    for (which, target) in ["x86-64-v3", "znver4"].into_iter().enumerate() {
        let report = compiled(&file, ["x86", target], &[]);
        for (k, (_, to, value, added, beside, most)) in BLOCKS.iter().enumerate() {
            let cost = report["kernels"][k]["windows"][0]["cost"].as_f64();
            assert!(
                cost.is_some_and(|cost| cost <= most[which]),
                "{beside} sums of {added} {value} as {to} on {target}: {cost:?}, at most {}",
                most[which]
            );
        }
    }
}

/// What asks for the rows that take long; the command is `cargo xtask costs`.
const ALL: &str = "ISAFORGE_COSTS";

#[test]
fn known_sequences_that_are_searched_for_long_are_found() {
    if std::env::var_os(ALL).is_none() {
        test_support::skip!("not asked for here: `cargo xtask costs`");
    }
    cost_at_most(["x86", "x86-64-v3"], &LONG);
    cost_at_most(["x86", "znver4"], &LONG_SUMS);
}

/// What is told of the kernels of a file, compiled for a target and found anew.
fn compiled(file: &str, [isa, target]: [&str; 2], more: &[&str]) -> Value {
    let words = ["compile", file, "--isa", isa, "--target", target];
    let how = ["--no-memo", "--report", "json"];
    let (out, err, code) = super::run(&[&words[..], &how, more].concat());
    assert_eq!(code, Some(0), "{out}{err}");
    serde_json::from_str(&out).expect("the report is JSON")
}

fn cost_at_most([isa, target]: [&str; 2], rows: &[Row]) {
    let kernel = |(k, (from, to, value, lanes, _)): (usize, &Row)| {
        let (length, body) = match to.strip_prefix('+') {
            Some(to) => (
                "1",
                format!("var sum: {to} = 0;\n  for x in 0..n {{ sum += {value}; }}\n  o[0] = sum;"),
            ),
            None => ("n", format!("for x in 0..n {{ o[x] = {value}; }}")),
        };
        let to = to.trim_start_matches('+');
        format!(
            "kernel loop{k}(n: size, a: in {from}[n], b: in {from}[n], o: out {to}[{length}]) {{\n  \
             {body}\n}} schedule {{ vectorize x by {lanes}; }}\n"
        )
    };
    let text: String = rows.iter().enumerate().map(kernel).collect();
    let file = super::written(&format!("costs_{target}_{}.kernel", rows.len()), &text);
    let report = compiled(&file, [isa, target], &[]);
    let kernels = report["kernels"].as_array().expect("kernels");
    assert_eq!(kernels.len(), rows.len());
    let mut above = Vec::new();
    for (kernel, (from, to, value, lanes, most)) in kernels.iter().zip(rows) {
        // Before the loop of a sum stand what it begins with and its lanes.
        let window = if to.starts_with('+') { 2 } else { 0 };
        let cost = kernel["windows"][window]["cost"].as_f64();
        if cost.is_none_or(|cost| cost > *most) {
            above.push(format!(
                "{value} of {lanes} {from}: {cost:?}, at most {most}"
            ));
        }
    }
    assert!(above.is_empty(), "{}", above.join("\n"));
}

/// Matrices of bits, written by steps as people do, cost their steps: the type, the statements, lanes,
/// what they cost at most with and without instructions for bits.
const BITS: [(&str, &str, u32, [f64; 2]); 11] = [
    // Gray codes, decoded.
    (
        "u16",
        "let p = x ^ (x >> 8); let q = p ^ (p >> 4); let r = q ^ (q >> 2); o[i] = r ^ (r >> 1);",
        16,
        [8.0, 4.0],
    ),
    // The parity.
    (
        "u32",
        "let p = x ^ (x >> 16); let q = p ^ (p >> 8); let r = q ^ (q >> 4); let s = r ^ (r >> 2); \
         o[i] = (s ^ (s >> 1)) & 1;",
        8,
        [2.0, 5.5],
    ),
    // Ones from the first one down.
    (
        "u32",
        "let p = x | (x >> 1); let q = p | (p >> 2); let r = q | (q >> 4); let s = r | (r >> 8); \
         o[i] = s | (s >> 16);",
        8,
        [2.0, 5.0],
    ),
    // A round of random numbers.
    (
        "u64",
        "let p = x ^ (x >> 12); let q = p ^ (p << 25); o[i] = q ^ (q >> 27);",
        4,
        [3.0, 3.0],
    ),
    // All bits the other way round.
    (
        "u32",
        "let p = ((x >> 1) & 0x55555555) | ((x & 0x55555555) << 1); \
         let q = ((p >> 2) & 0x33333333) | ((p & 0x33333333) << 2); \
         let r = ((q >> 4) & 0x0f0f0f0f) | ((q & 0x0f0f0f0f) << 4); \
         let s = ((r >> 8) & 0x00ff00ff) | ((r & 0x00ff00ff) << 8); o[i] = (s >> 16) | (s << 16);",
        8,
        [7.0, 11.5],
    ),
    // Bytes by matrices: one instruction where the machine has it.
    (
        "u8",
        "let p = x ^ (x << 1); let q = p ^ (p << 2); o[i] = q ^ (q << 4);",
        32,
        [1.0, 6.0],
    ),
    // Ones from the last one up.
    (
        "u16",
        "let p = x | (x << 1); let q = p | (p << 2); let r = q | (q << 4); o[i] = r | (r << 8);",
        16,
        [1.0, 1.0],
    ),
    // The first one alone.
    (
        "u32",
        "let p = x | (x >> 1); let q = p | (p >> 2); let r = q | (q >> 4); let s = r | (r >> 8); \
         let t = s | (s >> 16); o[i] = t ^ (t >> 1);",
        8,
        [14.0, 6.5],
    ),
    ("u8", "o[i] = ~((x << 3) | (x >> 5));", 32, [2.0, 6.0]),
    (
        "u16",
        "o[i] = ((x >> 4) & 0x0f0f) | ((x & 0x0f0f) << 4);",
        16,
        [1.0, 5.0],
    ),
    // Bits of every other place together.
    (
        "u32",
        "let p = (x ^ (x >> 3) ^ (x << 3)); let q = p ^ (p >> 6); o[i] = q ^ (q << 11);",
        8,
        [6.0, 4.0],
    ),
];

#[test]
fn matrices_of_bits_take_few_steps() {
    let kernel = |(k, (ty, body, lanes, _)): (usize, &(&str, &str, u32, [f64; 2]))| {
        format!(
            "kernel bits{k}(n: size, a: in {ty}[n], o: out {ty}[n]) {{\n  \
             for i in 0..n {{ let x = a[i]; {body} }}\n}} schedule {{ vectorize i by {lanes}; }}\n"
        )
    };
    let text: String = BITS.iter().enumerate().map(kernel).collect();
    let file = super::written("costs_bits.kernel", &text);
    for (k, target) in ["znver4", "x86-64-v3"].into_iter().enumerate() {
        let report = compiled(&file, ["x86", target], &["--run"]);
        for (kernel, (_, body, _, most)) in report["kernels"].as_array().unwrap().iter().zip(BITS) {
            let cost = kernel["windows"][0]["cost"].as_f64();
            assert!(
                cost.is_some_and(|cost| cost <= most[k]),
                "{target} {body}: {cost:?}"
            );
        }
    }
}

/// Operations of a target are found by what they mean, and however that is written.
#[test]
fn operations_are_reached() {
    for (identities, least) in [("0", "97"), ("2", "95")] {
        let words = [
            "reach",
            "--target",
            "x86-64-v3",
            "--sample",
            "40",
            "--seed",
            "7",
        ];
        let more = ["--identities", identities, "--least", least];
        let (out, err, code) = super::run(&[&words[..], &more].concat());
        assert_eq!(code, Some(0), "{out}{err}");
        assert!(out.contains("operations found"), "{out}");
    }
}

/// The same functions, written as people write them: on AVX2, with the most that each may cost.
const SPELLED: &[(&str, &[&str], f64)] = &[
    ("i8", &["avg(x, y)", "(x | y) - ((x ^ y) >> 1)"], 2.0),
    ("i8", &["avg_floor(x, y)", "(x & y) + ((x ^ y) >> 1)"], 3.5),
    ("i16", &["avg_floor(x, y)", "(x & y) + ((x ^ y) >> 1)"], 2.0),
    (
        "u32",
        &[
            "avg_floor(x, y)",
            "(x & y) + ((x ^ y) >> 1)",
            "(x | y) - (x ^ y) + ((x ^ y) >> 1)",
        ],
        2.0,
    ),
    (
        "u32",
        &[
            "absd(x, y)",
            "sat_sub(x, y) | sat_sub(y, x)",
            "sat_sub(x, y) + sat_sub(y, x)",
        ],
        1.5,
    ),
    (
        "u32",
        &[
            "sat_add(x, y)",
            "select(x + y < x, 4294967295, x + y)",
            "min(x, ~y) + y",
        ],
        1.5,
    ),
    (
        "u64",
        &[
            "max(x, y)",
            "x ^ ((x ^ y) & select(x < y, 18446744073709551615, 0))",
        ],
        2.0,
    ),
    ("u8", &["select(sat_sub(x, y) == 0, 255, 0)"], 1.5),
    ("i32", &["max(x, 0)", "x & ~(x >> 31)"], 0.5),
];

#[test]
fn functions_are_known_however_they_are_written() {
    let mut text = String::new();
    for (k, (ty, forms, _)) in SPELLED.iter().enumerate() {
        let lanes = 256 / ty[1..].parse::<u32>().expect("a width");
        for (j, form) in forms.iter().enumerate() {
            text += &format!(
                "kernel spelled{k}_{j}(n: size, a: in {ty}[n], b: in {ty}[n], o: out {ty}[n]) {{\n  \
                 for i in 0..n {{ let x = a[i]; let y = b[i]; o[i] = {form}; }}\n}} \
                 schedule {{ vectorize i by {lanes}; }}\n"
            );
        }
    }
    let file = super::written("costs_spelled.kernel", &text);
    let report = compiled(&file, ["x86", "x86-64-v3"], &["--run"]);
    let mut kernels = report["kernels"].as_array().unwrap().iter();
    for (ty, forms, most) in SPELLED {
        for form in *forms {
            let cost = kernels
                .next()
                .and_then(|k| k["windows"][0]["cost"].as_f64());
            assert!(
                cost.is_some_and(|cost| cost <= *most),
                "{ty} {form}: {cost:?}"
            );
        }
    }
}

/// Elements of 16 bits that only an instruction for bytes brings into order at once, with what that costs
/// on AVX2.
const MOVED: &[(&str, f64)] = &[
    (
        "kernel moved0(n: size, a: in u16[n], o: out u16[n]) requires n % 8 == 0 {
  for i in 0..n step 8 { o[i..+8] = shuffle(a[i..+8], [7, 6, 5, 4, 3, 2, 1, 0]); } }",
        0.5,
    ),
    (
        "kernel moved1(n: size, a: in i32[n], o: out i16[n]) {
  for i in 0..n { o[i] = i16(a[i]); } } schedule { vectorize i by 4; }",
        0.5,
    ),
    (
        "kernel moved2(n: size, a: in i32[n], b: in i32[n], o: out i16[n]) {
  for i in 0..n { o[i] = i16((a[i] * b[i]) >> 7); } } schedule { vectorize i by 4; }",
        2.0,
    ),
    // Even elements of two registers: a step inside of their halves and one across.
    (
        "kernel apart(n: size, a: in f32[2 * n], o: out f32[n]) requires n % 8 == 0 { for i in 0..n step 8 { o[i..+8] = a[2*i..+8 by 2]; } }",
        1.5,
    ),
    // Parts of elements that lie side by side are masked and shifted where they lie.
    (
        "kernel moved3(n: size, a: in u8[2 * n], b: in u8[2 * n], o: out u8[n]) {
  for x in 0..n {
    o[x] = u8((u16(a[2*x]) + u16(a[2*x + 1]) + u16(b[2*x]) + u16(b[2*x + 1]) + 2) >> 2);
  }
} schedule { vectorize x by 16; }",
        6.0,
    ),
    // The second register of sums of products is computed as the first is.
    (
        "kernel moved4(n: size, a: in u8[n], b: in i8[n], o: inout i32[16]) requires n % 64 == 0 {
  var sum: i32x16 = 0;
  for x in 0..n step 64 { sum += reduce_add(i32(a[x..+64]) * i32(b[x..+64]), 4); }
  o[0..+16] = sum;
}",
        12.0,
    ),
    // What no single load brings is put together, and moved as one register.
    (
        "kernel moved5(n: size, a: in u8[n, 12], o: out u32[n, 4]) {
  for i in 0..n {
    let t = a[i, 0..+12];
    o[i, 0..+4] = (u32(t[0..+4 by 3]) << 16) | (u32(t[1..+4 by 3]) << 8) | u32(t[2..+4 by 3]);
  }
}",
        1.0,
    ),
    (
        "kernel moved6(n: size, a: in u8[n, 11], o: out u8[n, 11]) {
  for i in 0..n { o[i, 0..+11] = a[i, 10..+11 by -1]; }
}",
        1.5,
    ),
    // Constants between elements.
    (
        "kernel moved7(n: size, a: in i16[n, 8], o: out i16[n, 16]) {
  for i in 0..n { for j in 0..8 { o[i, 2*j] = a[i, j]; o[i, 2*j + 1] = 100; } }
} schedule { vectorize j by 8; }",
        1.5,
    ),
    (
        "kernel moved8(n: size, a: in u8[n, 24], o: out u8[n, 32]) {
  for i in 0..n {
    for j in 0..8 {
      o[i, 4*j] = a[i, 3*j + 2]; o[i, 4*j + 1] = a[i, 3*j + 1]; o[i, 4*j + 2] = a[i, 3*j];
      o[i, 4*j + 3] = 255;
    }
  }
} schedule { vectorize j by 8; }",
        2.0,
    ),
    // Elements of four registers beside each other: two by two.
    (
        "kernel moved9(n: size, a: in u16[n, 8], b: in u16[n, 8], c: in u16[n, 8], d: in u16[n, 8],
               o: out u16[n, 32]) {
  for i in 0..n {
    for j in 0..8 {
      o[i, 4*j] = a[i, j]; o[i, 4*j + 1] = b[i, j]; o[i, 4*j + 2] = c[i, j]; o[i, 4*j + 3] = d[i, j];
    }
  }
} schedule { vectorize j by 8; }",
        6.0,
    ),
];

#[test]
fn elements_are_moved_by_their_bytes() {
    let text: String = MOVED.iter().map(|(text, _)| format!("{text}\n")).collect();
    let file = super::written("costs_moved.kernel", &text);
    let report = compiled(&file, ["x86", "x86-64-v3"], &["--run"]);
    for (kernel, (text, most)) in report["kernels"].as_array().unwrap().iter().zip(MOVED) {
        // The first is that of the vectors, after what only begins a sum.
        let costs = kernel["windows"].as_array().unwrap().iter();
        let cost = costs.filter_map(|w| w["cost"].as_f64()).find(|c| *c > 0.0);
        assert!(cost.is_some_and(|cost| cost <= *most), "{text}: {cost:?}");
    }
}
