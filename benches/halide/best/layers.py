"""Layers of quantised networks: register blocks, interleaved pairs for the products of 16 bits, sums in
vectors, windows that share their columns, and narrower arithmetic where it is exact.
"""

import halide as hl

from best import best
from case import ALGORITHMS, Case, b, i16, i32, requantize, rounding_mul_shr, sat, u8, u16, x, xi, y, z
from layers import c, share_of, shifted

# Layers of elements. Lanes of a vector, and how many vectors at a time.
ELEMENTS = ((32, 1), (64, 1), (64, 2), (128, 1), (128, 2))


def whole_vectors(func, lanes, unroll=1):
    """Vectors of which the last overlaps the one before, where one fits; else a guarded one."""
    extent = func.output_buffer().dim(0).extent()
    for block in (lanes * unroll, lanes):
        fits = func.specialize(extent >= block)
        if block > lanes:
            fits.split(x, x, xi, block, hl.TailStrategy.ShiftInwards).vectorize(xi, lanes).unroll(xi)
        else:
            fits.vectorize(x, lanes, hl.TailStrategy.ShiftInwards)
        if unroll == 1:
            break
    func.vectorize(x, lanes, hl.TailStrategy.GuardWithIf)


def elements(name):
    """Candidates for what is computed of each element by itself."""

    def make(lanes, unroll):
        made = ALGORITHMS[name]()
        whole_vectors(made.func, lanes, unroll)
        return made

    return [(f"{lanes} lanes, {n} at a time", lambda l=lanes, n=n: make(l, n)) for lanes, n in ELEMENTS]


@best
def add():
    return elements("add")


def shifted_product(p, multiplier):
    """(p * multiplier + 2^30) >> 31, where it is known to fit: the upper bits of 64 need no sign."""
    wide = hl.cast(hl.Int(64), p) * hl.cast(hl.Int(64), multiplier) + hl.i64(1 << 30)
    return i32(hl.cast(hl.UInt(64), wide) >> hl.u64(31))


def high_product(a, multiplier):
    """The rounded, saturated a * multiplier / 2^31: only one product is too large."""
    least = hl.Int(32).min()
    return hl.select((a == least) & (multiplier == least), hl.Int(32).max(), shifted_product(a, multiplier))


def mul_of(lanes, unroll):
    """The products of bytes have 28 bits, so those with the multiplier fit."""
    made = ALGORITHMS["mul"]()
    first, second, zero1, zero2, multiplier, shift, out_zero, low, high = made.arguments
    product = shifted_product(hl.widening_mul(shifted(first[x], zero1), shifted(second[x], zero2)), multiplier)
    scaled = sat(hl.Int(16), hl.rounding_shift_right(product, hl.cast(hl.UInt(32), hl.min(shift, 15))))
    out = hl.Func("mul")
    out[x] = hl.clamp(sat(hl.UInt(8), hl.saturating_add(scaled, i16(out_zero))), low, high)
    whole_vectors(out, lanes, unroll)
    return Case("mul", out, made.arguments, made.data)


@best
def mul():
    unsigned = [(f"unsigned shift, {lanes} lanes, {n} at a time", lambda l=lanes, n=n: mul_of(l, n)) for lanes, n in ELEMENTS]
    return elements("mul") + unsigned


# Layers of windows.


def direct_pool(name, lanes):
    """Sums of a window for some channels at a time."""
    made = ALGORITHMS[name]()
    total, window = made.parts.total, made.parts.window
    made.func.vectorize(c, lanes)
    total.compute_at(made.func, c).vectorize(c)
    total.update().reorder(c, window.x, window.y).vectorize(c)
    return made


def separable_pool(name, lanes, places):
    """First the columns of windows side by side, then the windows from the columns: for some channels
    along a row, or for all channels of some places."""
    made = ALGORITHMS[name]()
    p, out = made.parts, hl.Func(name)
    down, along = hl.RDom([(0, p.fh)], "down"), hl.RDom([(0, p.fw)], "along")
    column, columns, total, place = hl.Func("column"), hl.Func("columns"), hl.Func("total"), (c, x, y, b)
    element, below = p.source[c, x, 2 * y + down.x, b], lambda: columns[c, 2 * x + along.x, y, b]
    if p.maximum:
        column[place], total[place] = hl.u8(0), p.low
        column[place] = hl.max(column[place], element)
        columns[place] = column[place]
        total[place] = hl.max(total[place], below())
    else:
        column[place], total[place] = hl.u16(0), hl.u16(0)
        column[place] += u16(element)
        columns[place] = column[place]
        total[place] += below()
    out[place] = p.finish(total[place])
    co = hl.Var("co")
    out.split(c, co, c, lanes).vectorize(c)
    if places:
        out.split(x, x, xi, places, hl.TailStrategy.GuardWithIf).reorder(c, co, xi, x, y, b)
    else:
        out.reorder(c, x, co, y, b)
    columns.compute_at(out, x if places else co).vectorize(c, lanes)
    column.compute_at(columns, c).vectorize(c, lanes)
    column.update().reorder(c, down.x).vectorize(c, lanes)
    total.compute_at(out, co if places else x).vectorize(c, lanes)
    total.update().reorder(c, along.x).vectorize(c, lanes)
    return Case(name, out, made.arguments, made.data)


def pools(name):
    """Candidates for a layer of windows."""
    found = [(f"windows, {lanes} lanes", lambda l=lanes: direct_pool(name, l)) for lanes in (32, 64)]
    tiles = [(64, 0), (32, 16), (64, 8), (64, 16), (64, 32), (64, 64)]
    label = lambda lanes, n: f"columns, {lanes} lanes, {f'{n} places' if n else 'whole rows'}"
    return found + [(label(*t), lambda t=t: separable_pool(name, *t)) for t in tiles]


@best
def average_pool():
    return pools("average_pool")


@best
def average_pool_add():
    return pools("average_pool_add")


@best
def max_pool():
    return pools("max_pool")


@best
def max_pool_add():
    return pools("max_pool_add")


# Layers along rows.


def in_lanes(func, k, lanes, pairs=False):
    """A reduction with a vector of partial results, of which one is made at the end."""
    outer, inner, lane, half, u = hl.RVar("outer"), hl.RVar("inner"), hl.RVar("lane"), hl.RVar("half"), hl.Var("u")
    update = func.update()
    if pairs:
        part = update.split(k, outer, inner, 2 * lanes).split(inner, lane, half, 2).rfactor(lane, u)
        part.vectorize(u)
        part.update().reorder(half, u, outer).vectorize(u).atomic().vectorize(half)
    else:
        part = update.split(k, outer, lane, lanes).rfactor(lane, u)
        part.vectorize(u)
        part.update().reorder(u, outer).vectorize(u)
    func.update().atomic().vectorize(lane)
    return part


def l2norm_of(lanes, parts, pairs):
    made = ALGORITHMS["l2norm"]()
    p, out = made.parts, made.func
    out.vectorize(x, lanes)
    p.inverse.compute_at(out, y)
    p.total.compute_at(out, y)
    in_lanes(p.total, p.along.x, parts, pairs).compute_at(out, y)
    return made


def l2norm_in_16_bits(lanes, parts):
    """With products of 16 bits, where the row's factor has no more: (t * 128 * factor) >> 15, which the
    instructions for fractions compute. It has more where a row's sum is 0 or 1."""
    made = ALGORITHMS["l2norm"]()
    p, (source, zero) = made.parts, made.arguments
    t, factor = i16(source[x, y]) - i16(zero), p.inverse[y]
    narrow = i16(hl.rounding_shift_right(hl.widening_mul(t << hl.u16(7), i16(factor)), hl.u32(15)))
    wide = sat(hl.Int(16), hl.rounding_shift_right(i32(t) * factor, hl.u32(8)))
    row, out = hl.Func("row"), hl.Func("l2norm")
    row[x, y] = hl.undef(hl.UInt(8))
    for value, fits in ((narrow, factor <= 32767), (wide, factor > 32767)):
        once = hl.RDom([(0, 1)])
        once.where(fits)
        row[x, y] = sat(hl.UInt(8), hl.saturating_add(value, hl.i16(128))) + u8(once.x)
    out[x, y] = row[x, y]
    out.vectorize(x, 64)
    for i in range(2):
        row.update(i).vectorize(x, lanes, hl.TailStrategy.GuardWithIf)
    for func in (p.inverse, p.total, in_lanes(p.total, p.along.x, parts, True), row):
        func.compute_at(out, y)
    return Case("l2norm", out, made.arguments, made.data)


@best
def l2norm():
    wide = [(lanes, 32, True) for lanes in (32, 64)] + [(64, 16, False)]
    found = [(f"{l} lanes, {n} sums{' of pairs' if p else ''}", lambda l=l, n=n, p=p: l2norm_of(l, n, p)) for l, n, p in wide]
    narrow = [(lanes, sums) for lanes in (32, 64, 128) for sums in (32, 64)]
    return found + [(f"16 bits, {l} lanes, {n} sums of pairs", lambda l=l, n=n: l2norm_in_16_bits(l, n)) for l, n in narrow]


def along_rows(out, largest, exponential, total, inverse, lanes, maxima, parts, pairs):
    """The schedule of softmax: both reductions, each with what it goes along, have vectors of results."""
    out.vectorize(x, lanes)
    for func in (largest[0], exponential, total[0], inverse):
        func.compute_at(out, y)
    exponential.vectorize(x, lanes)
    in_lanes(largest[0], largest[1].x, maxima).compute_at(out, y)
    in_lanes(total[0], total[1].x, parts, pairs).compute_at(out, y)


def softmax_of(lanes, maxima, parts, pairs):
    made = ALGORITHMS["softmax"]()
    p = made.parts
    along_rows(made.func, (p.largest, p.i), p.exponential, (p.total, p.i), p.inverse, lanes, maxima, parts, pairs)
    return made


def fraction(a, b):
    """shr15 without its saturation, which shows only where both are the least number."""
    return i16(hl.rounding_shift_right(hl.widening_mul(a, b), hl.u32(15)))


def softmax_in_16_bits(lanes, maxima, parts, pairs):
    """Without saturation where none of two factors can be the least number: of the powers' parts and of
    the row's factor, none is negative. A power is one shift, which is 0 past the width by itself."""
    made = ALGORITHMS["softmax"]()
    source, beta, beta_shift, multiplier, shift, zero = made.arguments
    p, exponential, total, inverse, out = made.parts, *(hl.Func(n) for n in ("exponential", "total", "inverse", "softmax"))
    scaled = fraction((i16(source[x, y]) - i16(p.largest[y])) << hl.u16(6), beta)
    by = hl.cast(hl.UInt(16), beta_shift)
    floor = scaled >> by
    count = hl.cast(hl.UInt(32), i32(floor) + 15)
    power = sat(hl.Int(16), hl.select(count < 32, hl.i32(1) << count, 0))
    part = (scaled - (floor << by)) << hl.cast(hl.UInt(16), hl.i16(15) - beta_shift)
    square = fraction(part, part)
    curve = fraction(fraction(square, part), hl.i16(2592)) + fraction(square, hl.i16(7363)) + fraction(part, hl.i16(22812))
    exponential[x, y] = hl.saturating_add(power, fraction(power, curve))
    i = hl.RDom([(0, source.dim(0).extent())], "i")
    total[y] = hl.i32(0)
    total[y] += i32(exponential[i.x, y])
    inverse[y] = share_of(total[y])
    result = hl.rounding_shift_right(fraction(fraction(exponential[x, y], inverse[y]), multiplier), hl.cast(hl.UInt(16), shift))
    out[x, y] = sat(hl.UInt(8), hl.saturating_add(result, i16(zero)))
    along_rows(out, (p.largest, p.i), exponential, (total, i), inverse, lanes, maxima, parts, pairs)
    return Case("softmax", out, made.arguments, made.data)


@best
def softmax():
    tiles = [(lanes, 64, 32, False) for lanes in (16, 32, 64)] + [(32, 64, 16, True), (32, 128, 32, False), (64, 128, 32, False)]
    label = lambda l, m, n, p: f"{l} lanes, {m} maxima, {n} sums{' of pairs' if p else ''}"
    forms = (("", softmax_of), ("16 bits, ", softmax_in_16_bits))
    return [(form + label(*t), lambda make=make, t=t: make(*t)) for form, make in forms for t in tiles]


# Layers of products.


def requantized(total, multiplier, shift, zero, low, high):
    """`requantize` with an upper half of a product as it is on machines without signed shifts of 64 bits."""
    scaled = sat(hl.Int(16), hl.rounding_shift_right(high_product(total, multiplier), hl.cast(hl.UInt(32), shift)))
    return hl.clamp(sat(hl.UInt(8), hl.saturating_add(scaled, i16(zero))), low, high)


def conv_nn_of(places, lanes, blocks, fast, at):
    """Sums of some places and blocks of output channels in registers; pixels without their zero in a
    copy of their own, as pairs of 16 bits."""
    made = ALGORITHMS["conv_nn"]()
    source, filters, bias, in_zero, multiplier, shift, out_zero, low, high = made.arguments
    co, cb, r, k = made.parts.co, made.parts.cb, made.parts.r, hl.Var("k")
    pixels, total, out = hl.Func("pixels"), hl.Func("total"), hl.Func("conv_nn")
    pixels[k, x, y] = i16(source[k, x, y]) - i16(in_zero)
    total[co, cb, x, y] = bias[co, cb]
    total[co, cb, x, y] += i32(pixels[r.y * 2 + r.x, x + r.z, y + r.w]) * i32(filters[co * 2 + r.x, r.y, cb, r.z, r.w])
    scale = requantized if fast else requantize
    out[co, cb, x, y] = scale(total[co, cb, x, y], multiplier, shift, out_zero, low, high)
    bi = hl.Var("bi")
    out.bound(co, 0, 16)
    out.split(x, x, xi, places).split(cb, cb, bi, blocks).reorder(co, bi, xi, x, cb, y).vectorize(co, 16).unroll(xi).unroll(bi)
    total.compute_at(out, x).vectorize(co, lanes).unroll(co).unroll(x).unroll(cb)
    main = total.update().reorder(r.x, co, cb, x, r.y, r.z, r.w).vectorize(co, lanes).unroll(co).unroll(x).unroll(cb)
    main.atomic().vectorize(r.x)
    pixels.vectorize(k, 16, hl.TailStrategy.GuardWithIf)
    pixels.compute_root() if at == "all" else pixels.compute_at(out, y)
    return Case("conv_nn", out, made.arguments, made.data)


@best
def conv_nn():
    few = [(4, 1), (2, 2), (3, 2), (6, 1)]
    many = [(8, 1), (4, 2), (6, 2), (8, 2), (12, 1)]
    listed = [(t, True, at) for t in few for at in ("all", "rows")] + [(t, False, "all") for t in few[:2] + many]
    label = lambda t, fast, at: f"{t[0]} places, {t[1]} blocks, {'upper half' if fast else 'wide'}, pixels of {at}"
    return [(label(*l), lambda t=l[0], f=l[1], at=l[2]: conv_nn_of(t[0], 16, t[1], f, at)) for l in listed]


def depthwise_of(places, lanes, fast):
    """Sums of some places in registers. Pairs of rows lie interleaved, of the pixels for a row of places
    and of the filter for all; the pixels' zero is taken out of the bias once."""
    made = ALGORITHMS["depthwise_conv"]()
    source, filters, bias, in_zero, filter_zero, multiplier, shift, out_zero, low, high = made.arguments
    fw, fh, half, pair, co = filters.dim(1).extent(), filters.dim(2).extent(), hl.Var("half"), hl.Var("pair"), hl.Var("co")
    pixels, weights, base, total, out = (hl.Func(n) for n in ("pixels", "weights", "base", "total", "depthwise_conv"))
    weight = lambda xx, yy: i16(filters[c, xx, yy]) - i16(filter_zero)
    whole, once = hl.RDom([(0, fw), (0, fh)]), hl.RDom([(0, fw), (fh // 2 * 2, fh % 2)])
    base[c] = bias[c]
    base[c] -= i32(weight(whole.x, whole.y)) * i32(in_zero)
    pixels[half, c, x, pair, y, b] = i16(hl.select(half == 0, source[c, x, y + 2 * pair, b], source[c, x, y + 2 * pair + 1, b]))
    weights[half, c, x, pair] = hl.select(half == 0, weight(x, 2 * pair), weight(x, 2 * pair + 1))
    r = hl.RDom([(0, 2), (0, fw), (0, fh // 2)])
    total[c, x, y, b] = base[c]
    total[c, x, y, b] += i32(pixels[r.x, c, x + r.y, r.z, y, b]) * i32(weights[r.x, c, r.y, r.z])
    total[c, x, y, b] += i32(weight(once.x, once.y)) * i32(source[c, x + once.x, y + once.y, b])
    scale = requantized if fast else requantize
    out[c, x, y, b] = scale(total[c, x, y, b], multiplier, shift, out_zero, low, high)
    out.split(c, co, c, lanes).split(x, x, xi, places).reorder(c, xi, x, co, y, b).vectorize(c).unroll(xi)
    total.compute_at(out, x).vectorize(c, lanes).unroll(x)
    total.update(0).reorder(r.x, c, x, r.y, r.z).vectorize(c, lanes).unroll(x).atomic().vectorize(r.x)
    total.update(1).reorder(c, x, once.x, once.y).vectorize(c, lanes).unroll(x)
    for func in (pixels, weights):
        func.bound(half, 0, 2).vectorize(c, 16).vectorize(half)
    pixels.compute_at(out, co)
    weights.compute_root()
    base.compute_root().vectorize(c, 16).update().reorder(c, whole.x, whole.y).vectorize(c, 16, hl.TailStrategy.GuardWithIf)
    return Case("depthwise_conv", out, made.arguments, made.data)


def depthwise_direct(places, lanes, fast):
    """Each product by itself."""
    made = ALGORITHMS["depthwise_conv"]()
    _, _, _, _, _, multiplier, shift, out_zero, low, high = made.arguments
    total, window = made.parts.total, made.parts.window
    out = hl.Func("depthwise_conv")
    scale = requantized if fast else requantize
    out[c, x, y, b] = scale(total[c, x, y, b], multiplier, shift, out_zero, low, high)
    out.tile(c, x, z, xi, lanes, places).vectorize(z).unroll(xi)
    total.compute_at(out, c).vectorize(c).unroll(x)
    total.update().reorder(c, x, window.x, window.y).vectorize(c).unroll(x)
    return Case("depthwise_conv", out, made.arguments, made.data)


@best
def depthwise_conv():
    label = lambda n, lanes, fast: f"{n} places, {lanes} lanes, {'upper half' if fast else 'wide'}"
    pairs = [(n, lanes, fast) for n, lanes in ((4, 16), (8, 16), (2, 32), (4, 32), (8, 32)) for fast in (True, False)]
    found = [(f"pairs, {label(*t)}", lambda t=t: depthwise_of(*t)) for t in pairs]
    alone = [(4, 16, True), (2, 32, True), (4, 32, False)]
    return found + [(f"alone, {label(*t)}", lambda t=t: depthwise_direct(*t)) for t in alone]


def fully_connected_of(channels, rows, lanes, fast):
    """Vectors of sums of pairs along the depth for some channels and rows; what is added to the
    weights is taken out of the sums, as it goes with the sum of a row's values."""
    made = ALGORITHMS["fully_connected"]()
    source, filters, bias, in_zero, filter_zero, multiplier, shift = made.arguments
    depth, u, k = source.dim(0).extent(), hl.Var("u"), hl.Var("k")
    values, value_sum, parts, total, out = (hl.Func(n) for n in ("values", "value_sum", "parts", "total", "fully_connected"))
    values[k, b] = i16(source[k, b]) - i16(in_zero)
    whole, lane = hl.RDom([(0, depth)]), hl.RDom([(0, lanes)])
    r, rest = hl.RDom([(0, 2), (0, depth // (2 * lanes))]), hl.RDom([(depth // (2 * lanes) * (2 * lanes), depth % (2 * lanes))])
    value_sum[b] = hl.i32(0)
    value_sum[b] += i32(values[whole.x, b])
    at = r.y * (2 * lanes) + 2 * u + r.x
    parts[u, c, b] = hl.i32(0)
    parts[u, c, b] += i32(values[at, b]) * i32(i16(filters[at, c]))
    total[c, b] = bias[c] - i32(filter_zero) * value_sum[b]
    total[c, b] += parts[lane.x, c, b]
    total[c, b] += i32(values[rest.x, b]) * i32(i16(filters[rest.x, c]))
    scaled = high_product(total[c, b], multiplier) if fast else rounding_mul_shr(total[c, b], multiplier, hl.u32(31))
    out[c, b] = sat(hl.Int(16), hl.rounding_shift_right(scaled, hl.cast(hl.UInt(32), shift)))
    co, ci, bo, bi = (hl.Var(n) for n in ("co", "ci", "bo", "bi"))
    forms = [(out.specialize(out.output_buffer().dim(1).extent() >= rows), rows)] if rows > 1 else []
    for form, n in [*forms, (out, 1)]:
        form.split(c, co, ci, channels).split(b, bo, bi, n).reorder(ci, bi, co, bo).vectorize(ci).unroll(bi)
    values.compute_at(out, bo).vectorize(k, 16, hl.TailStrategy.GuardWithIf)
    value_sum.compute_at(out, bo)
    in_lanes(value_sum, whole.x, 16).compute_at(out, bo)
    parts.compute_at(out, co).vectorize(u).unroll(c).unroll(b)
    parts.update().reorder(r.x, u, c, b, r.y).vectorize(u).unroll(c).unroll(b).atomic().vectorize(r.x)
    total.compute_at(out, co).unroll(c)
    total.update(0).unroll(c).atomic().vectorize(lane.x)
    total.update(1).unscheduled()
    return Case("fully_connected", out, made.arguments, made.data)


@best
def fully_connected():
    few = [(8, 1, 8), (4, 1, 8), (4, 1, 16), (2, 4, 8), (4, 2, 8), (3, 4, 8)]
    many = [(8, 1, 16), (2, 4, 16), (4, 4, 16), (8, 2, 16)]
    listed = [(*t, fast) for t in few + many for fast in ((True, False) if t in few[:1] else (True,))]
    label = lambda n, rows, lanes, fast: f"{n} channels, {rows} rows, {lanes} lanes, {'upper half' if fast else 'wide'}"
    return [(label(*t), lambda t=t: fully_connected_of(*t)) for t in listed]
