"""Pipelines on data that lie close together: interleaved channels, complex numbers, bits, bytes that
are added up, products of small integers, fixed point. Each with two natural schedules, as in `corpus.py`,
in whose list they are.
"""
from corpus import E, F, H, RDom, W, case, cast, chunky, clamp, edge, f32, hl, i8, i16, i32, img, select, u8, u16, u32, u64, x, xi, xo, y, yi, c


def chunks(name, kind, channels):
    return name, kind, E(W, H, channels)


def pairs(name, kind):
    return name, kind, E(lambda w, h: w // 2, H, 4)


def of_channels(o, values, count, s, lanes=16, tile=False):
    """`o` with a value for each channel, unrolled and innermost, as people schedule interleaved results."""
    o[x, y, c] = hl.mux(c, values)
    o.bound(c, 0, count).reorder(c, x, y).unroll(c)
    if tile: o.tile(x, y, xi, yi, 2 * lanes, 4).reorder(c, xi, yi, x, y).vectorize(xi, lanes)
    else: o.vectorize(x, lanes)
    chunky(o.output_buffer(), ch=count)
    return o


@case([chunks("a", "f32", 2), chunks("b", "f32", 2)], [chunks("o", "f32", 2)], chunky=("a", "b", "o"), tol=1e-3)
def complex_mul(s, a, b):
    chunky(a, b, ch=2)
    re = a[x, y, 0] * b[x, y, 0] - a[x, y, 1] * b[x, y, 1]
    im = a[x, y, 0] * b[x, y, 1] + a[x, y, 1] * b[x, y, 0]
    return of_channels(F("complex_mul"), [re, im], 2, s, 16 if s else 8, s)


@case([chunks("a", "i16", 2), chunks("b", "i16", 2)], [chunks("o", "i16", 2)], chunky=("a", "b", "o"))
def complex_q15(s, a, b):
    chunky(a, b, ch=2)
    v = lambda p, k: cast(i32, p[x, y, k])
    q = lambda e: hl.saturating_cast(i16, (e + 0x4000) >> 15)
    re = q(v(a, 0) * v(b, 0) - v(a, 1) * v(b, 1))
    im = q(v(a, 0) * v(b, 1) + v(a, 1) * v(b, 0))
    return of_channels(F("complex_q15"), [re, im], 2, s, 32 if s else 16, s)


@case([chunks("a", "f32", 2)], [img("o", "f32")], chunky=("a",), tol=1e-5)
def magnitude(s, a):
    chunky(a, ch=2)
    o = F("magnitude")
    o[x, y] = hl.sqrt(a[x, y, 0] * a[x, y, 0] + a[x, y, 1] * a[x, y, 1])
    o.vectorize(x, 16 if s else 8)
    if s: o.unroll(y, 2, hl.TailStrategy.GuardWithIf)
    return o


@case([chunks("a", "u8", 3)], [chunks("o", "u8", 3)], chunky=("a", "o"))
def ycc_chunky(s, a):
    chunky(a)
    p = lambda k: cast(i32, a[x, y, k])
    sat = lambda e: hl.saturating_cast(u8, e)
    Y = sat((77 * p(0) + 150 * p(1) + 29 * p(2) + 128) >> 8)
    U = sat(((-43 * p(0) - 85 * p(1) + 128 * p(2) + 128) >> 8) + 128)
    V = sat(((128 * p(0) - 107 * p(1) - 21 * p(2) + 128) >> 8) + 128)
    return of_channels(F("ycc_chunky"), [Y, U, V], 3, s, 32 if s else 16, s)


@case([img("a", "f32"), img("b", "f32"), img("d", "f32"), img("e", "f32")], [chunks("o", "u8", 4)], chunky=("o",))
def planes_rgba(s, a, b, d, e):
    sat = lambda p: hl.saturating_cast(u8, p[x, y] * 255.0 + 0.5)
    return of_channels(F("planes_rgba"), [sat(a), sat(b), sat(d), sat(e)], 4, s, 16, s)


@case([chunks("a", "u8", 4)], [chunks("o", "u8", 4)], chunky=("a", "o"))
def premultiply(s, a):
    chunky(a, ch=4)
    def by(k):
        t = cast(u16, a[x, y, k]) * cast(u16, a[x, y, 3]) + 128
        return cast(u8, (t + (t >> 8)) >> 8)
    return of_channels(F("premultiply"), [by(0), by(1), by(2), a[x, y, 3]], 4, s, 32 if s else 16, s)


@case([chunks("a", "u8", 3)], [chunks("o", "u8", 4)], chunky=("a", "o"))
def rgb_bgra(s, a):
    chunky(a)
    return of_channels(F("rgb_bgra"), [a[x, y, 2], a[x, y, 1], a[x, y, 0], hl.u8(255)], 4, s, 32 if s else 16, s)


@case([img("a", "u8"), img("b", "u8"), img("d", "u8")], [chunks("o", "u8", 3)], chunky=("o",))
def planes_rgb(s, a, b, d):
    return of_channels(F("planes_rgb"), [a[x, y], b[x, y], d[x, y]], 3, s, 32 if s else 16, s)


@case([chunks("a", "u16", 3)], [chunks("o", "u8", 3)], chunky=("a", "o"))
def tone_chunky(s, a):
    chunky(a)
    v = lambda k: cast(u8, hl.min(cast(u32, a[x, y, k]) * 181 + 32768 >> 16, 255))
    return of_channels(F("tone_chunky"), [v(0), v(1), v(2)], 3, s, 32 if s else 16, s)


@case([("a", "u8", E(lambda w, h: w // 2 * 4, H))], [chunks("o", "u8", 3)], chunky=("o",), sizes=[(130, 37), (200, 33), (98, 65), (384, 64)])
def yuyv_rgb(s, a):
    o = F("yuyv_rgb")
    p = lambda k: cast(i16, a[4 * (x // 2) + k, y])
    lum = cast(i16, a[2 * x, y]) - 16
    u, v = p(1) - 128, p(3) - 128
    sat = lambda e: hl.saturating_cast(u8, e)
    values = [sat((lum * 74 + v * 102 + 32) >> 6), sat((lum * 74 - u * 25 - v * 52 + 32) >> 6), sat((lum * 74 + u * 129 + 32) >> 6)]
    return of_channels(o, values, 3, s, 32 if s else 16, s)


@case([("a", "u8", E(lambda w, h: (w + 7) // 8, H))], [img("o", "u8")])
def unpack_bits(s, a):
    o = F("unpack_bits")
    o[x, y] = select((a[x // 8, y] >> cast(u8, x % 8)) & 1 != 0, hl.u8(255), hl.u8(0))
    if s: o.align_bounds(x, 8).vectorize(x, 64, hl.TailStrategy.GuardWithIf)
    else: o.vectorize(x, 32)
    return o


@case([img("a", "u8")], [("o", "u8", E(lambda w, h: w // 8, H))])
def pack_bits(s, a):
    o = F("pack_bits")
    bits = [select(a[8 * x + k, y] > 127, hl.u8(1 << k), hl.u8(0)) for k in range(8)]
    o[x, y] = bits[0] | bits[1] | bits[2] | bits[3] | bits[4] | bits[5] | bits[6] | bits[7]
    o.vectorize(x, 16 if s else 8)
    return o


@case([("a", "u8", E(lambda w, h: (w + 1) // 2, H))], [img("o", "i8")])
def unpack_nibbles(s, a):
    o = F("unpack_nibbles")
    v = a[x // 2, y]
    o[x, y] = cast(i8, select(x % 2 == 0, v & 15, v >> 4)) - 8
    o.vectorize(x, 64 if s else 32)
    return o


@case([img("a", "i32"), img("b", "i32")], [img("o", "bool")])
def flags(s, a, b):
    o = F("flags")
    o[x, y] = (a[x, y] % 8 == 3) | (a[x, y] < b[x, y])
    o.vectorize(x, 32 if s else 16)
    return o


@case([img("a", "u8")], [("o", "u8", E(lambda w, h: w - 2, lambda w, h: h - 2))])
def box3(s, a):
    o, v = F("box3"), F("v")
    v[x, y] = cast(u16, a[x, y]) + a[x, y + 1] + a[x, y + 2]
    o[x, y] = cast(u8, (v[x, y] + v[x + 1, y] + v[x + 2, y]) / 9)
    if s: v.compute_at(o, y).vectorize(x, 32); o.vectorize(x, 32)
    else: o.vectorize(x, 32)
    return o


@case([img("a", "u8"), img("b", "u8")], [("o", "u8", E(lambda w, h: w // 8, lambda w, h: h // 8))], sizes=[(96, 40), (200, 32), (160, 64), (256, 64)])
def block_match(s, a, b):
    o, cost, r, d = F("block_match"), F("cost"), RDom([(0, 8), (0, 8)], "r"), RDom([(0, 8)], "d")
    cost[c, x, y] = hl.u16(0)
    cost[c, x, y] += cast(u16, hl.absd(a[8 * x + r.x, 8 * y + r.y], b[clamp(8 * x + r.x + c, 0, b.width() - 1), 8 * y + r.y]))
    o[x, y] = cast(u8, hl.argmin(d, cost[d, x, y])[0])
    cost.compute_at(o, x).vectorize(c, 8)
    if s: cost.update().reorder(c, r.x, r.y, x, y).vectorize(c, 8).unroll(r.x)
    else: cost.update().vectorize(c, 8)
    return o


@case([img("a", "u8"), img("b", "u8")], [("o", "u32", E(lambda w, h: w // 16, lambda w, h: h // 4))])
def sad16(s, a, b):
    o, r = F("sad16"), RDom([(0, 16), (0, 4)], "r")
    o[x, y] = hl.u32(0)
    o[x, y] += cast(u32, hl.absd(a[16 * x + r.x, 4 * y + r.y], b[16 * x + r.x, 4 * y + r.y]))
    if s: o.update().atomic().vectorize(r.x)
    else: o.update().reorder(r.x, r.y, x, y).unroll(r.y).atomic().vectorize(r.x, 16)
    return o


@case([("a", "u32", E(W, H)), ("w", "u32", E(8))], [("o", "i32", E(lambda w, h: w - 7, H))])
def xnor_conv(s, a, w):
    o = F("xnor_conv")
    o[x, y] = 32 * 8 - 2 * sum((cast(i32, hl.popcount(a[x + k, y] ^ w[k])) for k in range(8)), hl.i32(0))
    o.vectorize(x, 16 if s else 8)
    return o


@case([("a", "i16", E(64, H)), ("b", "i16", E(W, 64))], [("o", "i32", E(W, H))], sizes=[(64, 24), (96, 17), (130, 20), (128, 64)])
def gemm_i16(s, a, b):
    o, m, r = F("gemm_i16"), F("m"), RDom([(0, 64)], "r")
    m[x, y] = hl.i32(0)
    m[x, y] += cast(i32, a[r, y]) * cast(i32, b[x, r])
    o[x, y] = m[x, y]
    if s: o.tile(x, y, xi, yi, 32, 4).vectorize(xi, 16).unroll(yi); m.compute_at(o, x).vectorize(x, 16).unroll(y); m.update().reorder(x, y, r).vectorize(x, 16).unroll(x).unroll(y)
    else: o.vectorize(x, 16); m.compute_at(o, x).vectorize(x, 16); m.update().reorder(x, r, y).vectorize(x, 16)
    return o


@case([img("a", "i16"), img("b", "i16")], [("o", "i32", E(H))])
def dot_i16(s, a, b):
    o, r = F("dot_i16"), RDom([(0, a.width() // 32 * 32)], "r")
    o[x] = hl.i32(0)
    o[x] += cast(i32, a[r, x]) * cast(i32, b[r, x])
    o.update().atomic().vectorize(r, 32 if s else 16)
    return o


@case([img("a", "u8"), img("b", "u8")], [img("o", "u8")], scalars=[("t", "u8", 77)])
def crossfade(s, a, b, t):
    o = F("crossfade")
    o[x, y] = cast(u8, (cast(u16, a[x, y]) * cast(u16, 255 - t) + cast(u16, b[x, y]) * cast(u16, t) + 128) / 256)
    o.vectorize(x, 64 if s else 32)
    return o


@case([img("a", "i16"), ("w", "i16", E(8))], [("o", "i16", E(lambda w, h: w - 7, H))])
def fir_q15_rows(s, a, w):
    o = F("fir_q15_rows")
    t = sum((cast(i32, a[x + k, y]) * cast(i32, w[k]) for k in range(8)), hl.i32(0))
    o[x, y] = hl.saturating_cast(i16, (t + (1 << 14)) >> 15)
    o.vectorize(x, 32 if s else 16)
    return o


@case([img("a", "i32"), img("b", "i32")], [img("o", "i8")])
def requantised(s, a, b):
    o = F("requantised")
    t = hl.rounding_mul_shift_right(a[x, y], b[x, y], hl.u32(31))
    o[x, y] = hl.saturating_cast(i8, hl.rounding_shift_right(t, 12) + 3)
    o.vectorize(x, 32 if s else 16)
    return o


@case([chunks("a", "u8", 4)], [img("o", "u8")], chunky=("a",))
def splat_max(s, a):
    chunky(a, ch=4)
    o = F("splat_max")
    o[x, y] = hl.max(a[x, y, 0], a[x, y, 1], a[x, y, 2]) - hl.min(a[x, y, 0], a[x, y, 1], a[x, y, 2])
    o.vectorize(x, 32 if s else 16)
    return o


@case([img("l", "i16"), img("m", "i16")], [chunks("o", "i16", 2)], chunky=("o",))
def mid_side(s, l, m):
    half = lambda a, b: hl.rounding_halving_add(a[x, y], b[x, y])
    return of_channels(F("mid_side"), [half(l, m), hl.saturating_sub(l[x, y], m[x, y])], 2, s, 32 if s else 16, s)


@case([img("a", "u8")], [("o", "u8", E(lambda w, h: 2 * w, H))])
def doubled(s, a):
    o = F("doubled")
    p = edge(a)
    o[x, y] = select(x % 2 == 0, p[x // 2, y], cast(u8, (cast(u16, p[x // 2, y]) + p[x // 2 + 1, y] + 1) >> 1))
    if s: o.split(x, xo, xi, 2).reorder(xi, xo, y).unroll(xi).vectorize(xo, 32)
    else: o.vectorize(x, 32)
    return o
