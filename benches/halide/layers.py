"""Layers of quantised networks."""

from types import SimpleNamespace

import halide as hl
import numpy as np

from case import Case, array, b, case, i16, i32, image, requantize, rounding_mul_shr, sat, u16, u8, x, xi, y, z
from fixed_point import log2_14, exp2_part, polynomial, reciprocal_sqrt, saturated_power, shr15

c = hl.Var("c")


def parameter(kind, name):
    return hl.Param(kind, name)


def bytes_of(*names):
    return [parameter(hl.UInt(8), n) for n in names]


TENSORS = {"test": 1000, "small": 16384, "large": 3840 * 2160}


def tensors(size, rng, **scalars):
    n = TENSORS[size]
    return {"n": n, "input1": array(rng, np.uint8, n), "input2": array(rng, np.uint8, n), "out": np.zeros(n, np.uint8), **scalars}


def shifted(e, zero):
    return (i16(e) - i16(zero)) << hl.u16(6)


@case
def add():
    first, second = image(hl.UInt(8), 1, "input1"), image(hl.UInt(8), 1, "input2")
    zero1, zero2, out_zero, low, high = bytes_of("zero1", "zero2", "out_zero", "low", "high")
    m1, m2 = parameter(hl.Int(16), "multiplier1"), parameter(hl.Int(16), "multiplier2")
    total = hl.widening_mul(shifted(first[x], zero1), m1) + hl.widening_mul(shifted(second[x], zero2), m2)
    scaled = sat(hl.Int(16), hl.rounding_shift_right(total, hl.u32(16)))
    out = hl.Func("add")
    out[x] = hl.clamp(sat(hl.UInt(8), hl.saturating_add(scaled, i16(out_zero))), low, high)
    schedule = lambda: out.vectorize(x, 64, hl.TailStrategy.GuardWithIf)
    data = lambda size, rng: tensors(size, rng, zero1=3, zero2=7, multiplier1=11000, multiplier2=-9000, out_zero=5, low=5, high=225)
    return Case("add", out, [first, second, zero1, zero2, m1, m2, out_zero, low, high], data, schedule=schedule)


@case
def mul():
    first, second = image(hl.UInt(8), 1, "input1"), image(hl.UInt(8), 1, "input2")
    zero1, zero2, out_zero, low, high = bytes_of("zero1", "zero2", "out_zero", "low", "high")
    multiplier, shift = parameter(hl.Int(32), "multiplier"), parameter(hl.Int(32), "shift")
    product = hl.widening_mul(shifted(first[x], zero1), shifted(second[x], zero2))
    product = rounding_mul_shr(product, multiplier, hl.u32(31))
    scaled = sat(hl.Int(16), hl.rounding_shift_right(product, hl.cast(hl.UInt(32), hl.min(shift, 15))))
    out = hl.Func("mul")
    out[x] = hl.clamp(sat(hl.UInt(8), hl.saturating_add(scaled, i16(out_zero))), low, high)
    schedule = lambda: out.vectorize(x, 64, hl.TailStrategy.Predicate)
    data = lambda size, rng: tensors(size, rng, zero1=2, zero2=5, multiplier=1 << 28, shift=8, out_zero=5, low=5, high=225)
    return Case("mul", out, [first, second, zero1, zero2, multiplier, shift, out_zero, low, high], data, schedule=schedule)


POOLS = {"test": (1, 5, 7, 96), "small": (1, 8, 8, 64), "large": (1, 240, 135, 256)}


def pool_data(size, rng):
    n, h, w, channels = POOLS[size]
    fh, fw = 8, 8
    return {
        "n": n, "h": h, "w": w, "c": channels, "fh": fh, "fw": fw, "low": 3, "high": 250,
        "input": array(rng, np.uint8, n, 2 * h + fh, 2 * w + fw, channels),
        "tensor": array(rng, np.uint8, n, h, w, channels),
        "out": np.zeros((n, h, w, channels), np.uint8),
    }


def pool(name, maximum, added):
    source, tensor = image(hl.UInt(8), 4, "input"), image(hl.UInt(8), 4, "tensor")
    fw, fh = parameter(hl.Int(32), "fw"), parameter(hl.Int(32), "fh")
    low, high = bytes_of("low", "high")
    window = hl.RDom([(0, fw), (0, fh)], "window")
    total, out = hl.Func("total"), hl.Func(name)
    element = source[c, 2 * x + window.x, 2 * y + window.y, b]
    plus_tensor = lambda value: value + tensor[c, x, y, b] if added else value
    if maximum:
        total[c, x, y, b] = low
        total[c, x, y, b] = hl.max(total[c, x, y, b], element)
        finish = lambda value: hl.min(plus_tensor(value), high)
    else:
        total[c, x, y, b] = hl.u16(0)
        total[c, x, y, b] += u16(element)
        count = hl.cast(hl.UInt(32), fw * fh)
        inverse = sat(hl.UInt(16), (hl.u32(0x20000) + count) / (count * hl.u32(2)))
        mean = lambda value: sat(hl.UInt(8), rounding_mul_shr(value, inverse, hl.u16(16)))
        finish = lambda value: hl.clamp(plus_tensor(mean(value)), low, high)
    out[c, x, y, b] = finish(total[c, x, y, b])

    def schedule():
        out.vectorize(c, 64)
        total.compute_at(out, c).vectorize(c)
        total.update().reorder(c, window.x, window.y).vectorize(c)

    arguments = [source] + ([tensor] if added else []) + [fw, fh, low, high]
    parts = SimpleNamespace(source=source, fw=fw, fh=fh, low=low, maximum=maximum, total=total, window=window, finish=finish)
    return Case(name, out, arguments, pool_data, schedule=schedule, parts=parts)


@case
def average_pool():
    return pool("average_pool", False, False)


@case
def average_pool_add():
    return pool("average_pool_add", False, True)


@case
def max_pool():
    return pool("max_pool", True, False)


@case
def max_pool_add():
    return pool("max_pool_add", True, True)


@case
def l2norm():
    source = image(hl.UInt(8), 2, "input")
    (zero,) = bytes_of("zero")
    along = hl.RDom([(0, source.dim(0).extent())], "k")
    total, inverse, out = hl.Func("sum"), hl.Func("inverse"), hl.Func("l2norm")
    t = lambda xx, yy: i16(source[xx, yy]) - i16(zero)
    total[y] = hl.i32(0)
    total[y] += i32(t(along.x, y)) * i32(t(along.x, y))
    inverse[y] = reciprocal_sqrt(15, total[y])
    scaled = sat(hl.Int(16), hl.rounding_shift_right(i32(t(x, y)) * inverse[y], hl.u32(8)))
    out[x, y] = sat(hl.UInt(8), hl.saturating_add(scaled, hl.i16(128)))

    def schedule():
        outer, inner = hl.RVar("ko"), hl.RVar("ki")
        out.vectorize(x, 64)
        inverse.compute_at(out, y)
        total.compute_at(out, y)
        total.update().split(along.x, outer, inner, 64).atomic().vectorize(inner)

    def data(size, rng):
        rows, n = {"test": (5, 200), "small": (8, 2048), "large": (2160, 3840)}[size]
        return {"rows": rows, "n": n, "zero": 0, "input": array(rng, np.uint8, rows, n), "out": np.zeros((rows, n), np.uint8)}

    parts = SimpleNamespace(total=total, inverse=inverse, along=along)
    return Case("l2norm", out, [source, zero], data, schedule=schedule, parts=parts)


def share_of(total):
    """What each exponential is multiplied by for its share of their total."""
    negative = -(log2_14(total) << hl.u32(1))
    whole = saturated_power((negative >> hl.u32(15)) + 30)
    return hl.saturating_add(whole, shr15(whole, exp2_part(negative)))


@case
def softmax():
    source = image(hl.UInt(8), 2, "input")
    beta, beta_shift, multiplier, shift = (parameter(hl.Int(16), n) for n in ("beta", "beta_shift", "multiplier", "shift"))
    (zero,) = bytes_of("zero")
    i = hl.RDom([(0, source.dim(0).extent())], "i")
    largest, exponential, total, inverse = (hl.Func(n) for n in ("largest", "exponential", "total", "inverse"))
    out = hl.Func("softmax")
    largest[y] = hl.u8(0)
    largest[y] = hl.max(largest[y], source[i.x, y])
    difference = (i16(source[x, y]) - i16(largest[y])) << hl.u16(6)
    scaled = shr15(difference, beta)
    by = hl.cast(hl.UInt(16), beta_shift)
    floor = scaled >> by
    power = saturated_power(i32(floor) + 15)
    part = (scaled - (floor << by)) << hl.cast(hl.UInt(16), hl.i16(15) - beta_shift)
    exponential[x, y] = hl.saturating_add(power, shr15(power, polynomial(part)))
    total[y] = hl.i32(0)
    total[y] += i32(exponential[i.x, y])
    inverse[y] = share_of(total[y])
    share = shr15(exponential[x, y], inverse[y])
    result = hl.rounding_shift_right(shr15(share, multiplier), hl.cast(hl.UInt(16), shift))
    out[x, y] = sat(hl.UInt(8), hl.saturating_add(result, i16(zero)))

    def schedule():
        out.vectorize(x, 32)
        for f in (largest, exponential, total, inverse):
            f.compute_at(out, y)
        exponential.vectorize(x, 32)
        for f, lanes in ((largest, 64), (total, 32)):
            outer, inner = hl.RVar(), hl.RVar()
            f.update().split(i.x, outer, inner, lanes).atomic().vectorize(inner)

    def data(size, rng):
        rows, n = {"test": (5, 200), "small": (8, 2048), "large": (2160, 3840)}[size]
        return {
            "rows": rows, "n": n, "beta": 12000, "beta_shift": 9, "multiplier": 20000, "shift": 4, "zero": 3,
            "input": array(rng, np.uint8, rows, n), "out": np.zeros((rows, n), np.uint8),
        }

    parts = SimpleNamespace(largest=largest, exponential=exponential, total=total, inverse=inverse, i=i)
    return Case("softmax", out, [source, beta, beta_shift, multiplier, shift, zero], data, schedule=schedule, parts=parts)


@case
def depthwise_conv():
    source, filters = image(hl.UInt(8), 4, "input"), image(hl.UInt(8), 3, "filter")
    bias = image(hl.Int(32), 1, "bias")
    in_zero, filter_zero, out_zero, low, high = bytes_of("in_zero", "filter_zero", "out_zero", "low", "high")
    multiplier, shift = parameter(hl.Int(32), "multiplier"), parameter(hl.Int(32), "shift")
    window = hl.RDom([(0, filters.dim(1).extent()), (0, filters.dim(2).extent())], "window")
    total, out = hl.Func("total"), hl.Func("depthwise_conv")
    weight = i16(filters[c, window.x, window.y]) - i16(filter_zero)
    pixel = i16(source[c, x + window.x, y + window.y, b])
    total[c, x, y, b] = bias[c]
    total[c, x, y, b] += i32(weight) * i32(pixel) - i32(in_zero) * i32(weight)
    out[c, x, y, b] = requantize(total[c, x, y, b], multiplier, shift, out_zero, low, high)

    def schedule():
        out.tile(c, x, z, xi, 16, 2).vectorize(z).unroll(xi)
        total.compute_at(out, c).vectorize(c).unroll(x)
        total.update().reorder(c, x, window.x, window.y).vectorize(c).unroll(x)

    def data(size, rng):
        n, h, w, channels = {"test": (1, 5, 6, 48), "small": (1, 8, 8, 64), "large": (1, 32, 32, 1024)}[size]
        fh = fw = 4
        return {
            "n": n, "h": h, "w": w, "c": channels, "fh": fh, "fw": fw,
            "in_zero": 3, "filter_zero": 5, "multiplier": 1 << 28, "shift": 2, "out_zero": 3, "low": 5, "high": 250,
            "input": array(rng, np.uint8, n, h + fh - 1, w + fw - 1, channels),
            "filter": array(rng, np.uint8, fh, fw, channels), "bias": array(rng, np.int32, channels) >> 12,
            "out": np.zeros((n, h, w, channels), np.uint8),
        }

    arguments = [source, filters, bias, in_zero, filter_zero, multiplier, shift, out_zero, low, high]
    parts = SimpleNamespace(total=total, window=window)
    return Case("depthwise_conv", out, arguments, data, schedule=schedule, parts=parts)


@case
def fully_connected():
    source, filters = image(hl.UInt(8), 2, "input"), image(hl.UInt(8), 2, "filter")
    bias = image(hl.Int(32), 1, "bias")
    in_zero, filter_zero = bytes_of("in_zero", "filter_zero")
    multiplier, shift = parameter(hl.Int(32), "multiplier"), parameter(hl.Int(32), "shift")
    k = hl.RDom([(0, source.dim(0).extent())], "k")
    total, out = hl.Func("total"), hl.Func("fully_connected")
    weight = i16(filters[k.x, c]) - i16(filter_zero)
    value = i16(source[k.x, b]) - i16(in_zero)
    total[c, b] = bias[c]
    total[c, b] += i32(weight) * i32(value)
    scaled = rounding_mul_shr(total[c, b], multiplier, hl.u32(31))
    out[c, b] = sat(hl.Int(16), hl.rounding_shift_right(scaled, hl.cast(hl.UInt(32), shift)))

    def schedule():
        total.compute_at(out, c)
        outer, inner = hl.RVar("ko"), hl.RVar("ki")
        total.update().split(k.x, outer, inner, 32).atomic().vectorize(inner)

    def data(size, rng):
        n, channels, depth = {"test": (2, 20, 130), "small": (1, 32, 512), "large": (4, 1024, 1024)}[size]
        return {
            "n": n, "c": channels, "depth": depth, "in_zero": 3, "filter_zero": 5, "multiplier": 1 << 28, "shift": 2,
            "input": array(rng, np.uint8, n, depth), "filter": array(rng, np.uint8, channels, depth),
            "bias": array(rng, np.int32, channels) >> 8, "out": np.zeros((n, channels), np.int16),
        }

    arguments, parts = [source, filters, bias, in_zero, filter_zero, multiplier, shift], SimpleNamespace(total=total, k=k)
    return Case("fully_connected", out, arguments, data, schedule=schedule, parts=parts)


@case
def conv_nn():
    source, filters = image(hl.UInt(8), 3, "img"), image(hl.Int(16), 5, "filter")
    bias = image(hl.Int(32), 2, "bias")
    in_zero, out_zero, low, high = bytes_of("in_zero", "out_zero", "low", "high")
    multiplier, shift = parameter(hl.Int(32), "multiplier"), parameter(hl.Int(32), "shift")
    co, cb = hl.Var("co"), hl.Var("cb")
    # Two input channels, blocks of pairs of them, columns and rows of the filter.
    r = hl.RDom([(0, 2), (0, filters.dim(1).extent()), (0, filters.dim(3).extent()), (0, filters.dim(4).extent())], "r")
    total, out = hl.Func("total"), hl.Func("conv_nn")
    pixel = i16(source[r.y * 2 + r.x, x + r.z, y + r.w]) - i16(in_zero)
    total[co, cb, x, y] = bias[co, cb]
    total[co, cb, x, y] += i32(pixel) * i32(filters[co * 2 + r.x, r.y, cb, r.z, r.w])
    out[co, cb, x, y] = requantize(total[co, cb, x, y], multiplier, shift, out_zero, low, high)

    def schedule():
        out.bound(co, 0, 16)
        out.split(x, x, xi, 4).reorder(co, xi, x, cb, y).vectorize(co, 16).unroll(xi)
        total.compute_at(out, x).vectorize(co, 16).unroll(x)
        total.update().reorder(r.x, co, x, r.y, r.z, r.w).vectorize(co, 16).unroll(x).atomic().vectorize(r.x)

    def data(size, rng):
        h, w, pairs, blocks = {"test": (5, 8, 3, 2), "small": (8, 8, 16, 2), "large": (128, 128, 32, 4)}[size]
        fh = fw = 3
        return {
            "h": h, "w": w, "pairs": pairs, "blocks": blocks, "fh": fh, "fw": fw,
            "in_zero": 3, "multiplier": 1 << 26, "shift": 2, "out_zero": 3, "low": 5, "high": 250,
            "img": array(rng, np.uint8, h + fh - 1, w + fw - 1, 2 * pairs),
            "filter": array(rng, np.int16, fh, fw, blocks, pairs, 32) >> 6, "bias": array(rng, np.int32, blocks, 16) >> 12,
            "out": np.zeros((h, w, blocks, 16), np.uint8),
        }

    arguments = [source, filters, bias, in_zero, multiplier, shift, out_zero, low, high]
    parts = SimpleNamespace(total=total, r=r, co=co, cb=cb)
    return Case("conv_nn", out, arguments, data, schedule=schedule, parts=parts)
