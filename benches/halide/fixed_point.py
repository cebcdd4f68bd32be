"""Logarithms, powers and what is made of them, in fixed point."""

import halide as hl

from case import i16, i32, rounding_mul_shr, sat


def shr15(a, b):
    return rounding_mul_shr(a, b, hl.u16(15))


def log2_14(e):
    """The base-2 logarithm with 14 bits behind the point."""
    whole = hl.i32(31) - hl.cast(hl.Int(32), hl.count_leading_zeros(e))
    down = e >> hl.cast(hl.UInt(32), hl.max(whole - 15, 0))
    up = e << hl.cast(hl.UInt(32), hl.max(15 - whole, 0))
    part = i16(hl.select(whole > 15, down, up)) & hl.i16(0x7FFF)
    square = shr15(part, part)
    cube = shr15(square, part)
    curve = shr15(cube, hl.i16(2555)) + shr15(square, hl.i16(-9421)) + shr15(part, hl.i16(23249)) + hl.i16(5)
    return hl.saturating_add(whole << hl.u32(14), i32(curve))


def polynomial(part):
    square = shr15(part, part)
    cube = shr15(square, part)
    return shr15(cube, hl.i16(2592)) + shr15(square, hl.i16(7363)) + shr15(part, hl.i16(22812))


def exp2_part(e):
    return polynomial(i16(e & hl.i32(0x7FFF)))


def power_of_two(count):
    """1 << count, which is 0 where the count is negative or past the width."""
    inside = (count >= 0) & (count < 32)
    shifted = hl.i32(1) << hl.cast(hl.UInt(32), hl.clamp(count, 0, 31))
    return hl.select(inside, shifted, hl.i32(0))


def exp2(q, e):
    power = power_of_two((e >> hl.u32(15)) + q)
    return hl.saturating_add(power, rounding_mul_shr(power, i32(exp2_part(e)) << hl.u32(16), hl.u32(31)))


def reciprocal(e):
    return exp2(0, -(log2_14(e) << hl.u32(1)))


def reciprocal_sqrt(q, e):
    return exp2(q, -log2_14(e))


def gelu(e):
    """As the published benchmark has it: its integer constants are all 0."""
    root = reciprocal_sqrt(0, hl.i32(6283)) / reciprocal_sqrt(0, hl.i32(1000))
    return e * reciprocal(hl.i32(2)) * (1 + e * reciprocal(hl.i32(3)) * root * (6 + e * e))


def saturated_power(count):
    return sat(hl.Int(16), power_of_two(count))
