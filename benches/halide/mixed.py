"""Pipelines of mixed kinds, none like those of `corpus.py` and `packed.py`: sums with weights, small matrices,
sampling down and up, rotations, sensors' packed words, sound, extremes of rows. Each with two natural
schedules, as in `corpus.py`, in whose list they are.
"""
import math

from corpus import E, F, G, H, RDom, W, case, cast, chunky, clamp, f32, f16, hl, i8, i16, i32, img, u8, u16, u32, x, xi, y, yi, c, z
from packed import chunks, of_channels


@case([img("a", "i16"), img("b", "i16"), img("d", "i16")], [img("o", "i16")])
def weighted3(s, a, b, d):
    o = F("weighted3")
    v = lambda p: cast(i32, p[x, y])
    o[x, y] = cast(i16, (3 * v(a) + 3 * v(b) + 2 * v(d) + 4) >> 3)
    o.vectorize(x, 32 if s else 16)
    return o


@case([img("a", "u8"), img("b", "u8"), img("d", "u8")], [img("o", "u8")])
def weighted_u8(s, a, b, d):
    o = F("weighted_u8")
    v = lambda p: cast(u16, p[x, y])
    o[x, y] = cast(u8, (5 * v(a) + 6 * v(b) + 5 * v(d) + 8) >> 4)
    o.vectorize(x, 64 if s else 32)
    return o


@case([img("a", "i16"), img("b", "i16"), ("k", "i16", E(2))], [img("o", "i16")])
def mix_params(s, a, b, k):
    o = F("mix_params")
    t = cast(i32, a[x, y]) * cast(i32, k[0]) + cast(i32, b[x, y]) * cast(i32, k[1])
    o[x, y] = hl.saturating_cast(i16, (t + 8192) >> 14)
    o.vectorize(x, 32 if s else 16)
    return o


@case([("a", "i16", E(48, H)), ("b", "i16", E(48, W))], [("o", "i32", E(W, H))], sizes=[(33, 13), (40, 17), (31, 20), (64, 32)])
def gemm_i16_nt(s, a, b):
    """Both factors along k."""
    o, m, r = F("gemm_nt"), F("m"), RDom([(0, 48)], "r")
    m[x, y] = hl.i32(0)
    m[x, y] += cast(i32, a[r, y]) * cast(i32, b[r, x])
    o[x, y] = m[x, y]
    m.compute_at(o, x)
    if s: m.update().atomic().vectorize(r, 16)
    else: m.update().atomic().vectorize(r, 8)
    return o


@case([("a", "i16", E(W, H)), ("v", "i16", E(H))], [("o", "i32", E(W))])
def matvec_i16(s, a, v):
    o, r = F("matvec_i16"), RDom([(0, v.width())], "r")
    o[x] = hl.i32(0)
    o[x] += cast(i32, a[x, r]) * cast(i32, v[r])
    o.vectorize(x, 16)
    if s: o.update().reorder(x, r).vectorize(x, 16)
    else: o.update().split(x, x, xi, 32, G).reorder(xi, r, x).vectorize(xi, 16).unroll(xi)
    return o


@case([chunks("a", "f32", 2)], [chunks("o", "f32", 2)], scalars=[("c", "f32", 0.8), ("sn", "f32", 0.6)], chunky=("a", "o"), tol=1e-4)
def rotate_iq(s, a, co, sn):
    chunky(a, ch=2)
    return of_channels(F("rotate_iq"), [a[x, y, 0] * co - a[x, y, 1] * sn, a[x, y, 0] * sn + a[x, y, 1] * co], 2, s, 16 if s else 8, s)


@case([chunks("a", "i16", 2)], [img("o", "i32")], chunky=("a",))
def power_iq(s, a):
    chunky(a, ch=2)
    o = F("power_iq")
    v = lambda k: cast(i32, a[x, y, k])
    o[x, y] = v(0) * v(0) + v(1) * v(1)
    o.vectorize(x, 16 if s else 8)
    return o


@case([chunks("a", "u8", 3)], [img("o", "u8")], chunky=("a",))
def luma_chunky(s, a):
    chunky(a)
    o = F("luma_chunky")
    v = lambda k: cast(u16, a[x, y, k])
    o[x, y] = cast(u8, (v(0) * 54 + v(1) * 183 + v(2) * 19 + 128) >> 8)
    o.vectorize(x, 32 if s else 16)
    return o


@case([chunks("a", "u8", 3)], [chunks("o", "u8", 3)], chunky=("a", "o"), scalars=[("m0", "i16", 300), ("m1", "i16", -30), ("m2", "i16", 12)])
def color_matrix(s, a, m0, m1, m2):
    chunky(a)
    v = lambda k: cast(i32, a[x, y, k])
    f = lambda p, q, r: hl.saturating_cast(u8, (v(0) * p + v(1) * q + v(2) * r + 128) >> 8)
    w = [cast(i32, m) for m in (m0, m1, m2)]
    return of_channels(F("color_matrix"), [f(w[0], w[1], w[2]), f(w[1], w[0], w[2]), f(w[2], w[1], w[0])], 3, s, 32 if s else 16, s)


@case([chunks("a", "u8", 4)], [chunks("o", "f32", 4)], chunky=("a", "o"))
def rgba_float(s, a):
    chunky(a, ch=4)
    return of_channels(F("rgba_float"), [cast(f32, a[x, y, k]) * 0.0625 for k in range(4)], 4, s, 16 if s else 8, s)


@case([img("a", "u8")], [("o", "u8", E(lambda w, h: w - 4, lambda w, h: h - 4))])
def box5(s, a):
    o, v = F("box5"), F("v")
    v[x, y] = sum((cast(u16, a[x, y + k]) for k in range(5)), hl.u16(0))
    o[x, y] = cast(u8, (sum((v[x + k, y] for k in range(5)), hl.u16(0)) + 12) / 25)
    if s: v.compute_at(o, y).vectorize(x, 32); o.vectorize(x, 32)
    else: v.compute_root().vectorize(x, 16); o.vectorize(x, 16)
    return o


@case([img("a", "u8")], [("o", "u8", E(lambda w, h: w // 2, lambda w, h: h // 2))])
def halve2x2(s, a):
    o = F("halve2x2")
    v = lambda i, j: cast(u16, a[2 * x + i, 2 * y + j])
    o[x, y] = cast(u8, (v(0, 0) + v(1, 0) + v(0, 1) + v(1, 1) + 2) >> 2)
    o.vectorize(x, 32 if s else 16)
    return o


@case([img("a", "u8")], [("o", "u8", E(lambda w, h: w // 2 - 2, lambda w, h: h))])
def pyr_row(s, a):
    o = F("pyr_row")
    v = lambda i: cast(u16, a[2 * x + i, y])
    o[x, y] = cast(u8, (v(0) + 4 * v(1) + 6 * v(2) + 4 * v(3) + v(4) + 8) >> 4)
    o.vectorize(x, 32 if s else 16)
    return o


@case([img("a", "f32")], [("o", "f32", E(lambda w, h: w // 2 - 2, lambda w, h: h))], tol=1e-4)
def wavelet_f32(s, a):
    o, lo, hi = F("wavelet"), F("lo"), F("hi")
    hi[x, y] = a[2 * x + 1, y] - 0.5 * (a[2 * x, y] + a[2 * x + 2, y])
    o[x, y] = a[2 * x + 2, y] + 0.25 * (hi[x, y] + hi[x + 1, y])
    if s: hi.compute_at(o, y).vectorize(x, 16)
    o.vectorize(x, 16 if s else 8)
    return o


@case([("a", "u16", E(lambda w, h: (w * 10 + 15) // 16 + 2, H))], [img("o", "u16")])
def unpack10(s, a):
    """10-bit samples, packed."""
    o = F("unpack10")
    at = x * 10
    w0, w1 = cast(u32, a[at / 16, y]), cast(u32, a[at / 16 + 1, y])
    o[x, y] = cast(u16, ((w0 | (w1 << 16)) >> cast(u32, at % 16)) & 1023)
    o.vectorize(x, 32 if s else 16)
    return o


@case([("a", "u8", E(lambda w, h: w // 4 * 5 + 5, H))], [img("o", "u16")])
def raw10(s, a):
    """MIPI RAW10: four bytes and their low bits."""
    o = F("raw10")
    g = x / 4
    hi = cast(u16, a[g * 5 + x % 4, y])
    lo = cast(u16, a[g * 5 + 4, y])
    o[x, y] = (hi << 2) | ((lo >> cast(u16, (x % 4) * 2)) & 3)
    o.vectorize(x, 32 if s else 16)
    return o


@case([img("a", "u32")], [img("o", "u8")])
def parity(s, a):
    o = F("parity")
    o[x, y] = cast(u8, hl.popcount(a[x, y]) & 1)
    o.vectorize(x, 32 if s else 16)
    return o


@case([img("a", "u8"), img("b", "u8"), img("m", "u8")], [img("o", "u8")])
def alpha_mask(s, a, b, m):
    o = F("alpha_mask")
    t = cast(u16, a[x, y]) * m[x, y] + cast(u16, b[x, y]) * (255 - m[x, y])
    o[x, y] = cast(u8, (t + 127) / 255)
    o.vectorize(x, 32 if s else 16)
    return o


@case([img("a", "u8"), img("b", "u8"), img("m", "u8")], [img("o", "u8")])
def lerp_mask(s, a, b, m):
    o = F("lerp_mask")
    o[x, y] = hl.lerp(a[x, y], b[x, y], m[x, y])
    o.vectorize(x, 32 if s else 16)
    return o


@case([img("a", "u8"), img("b", "u8")], [("o", "u16", E(lambda w, h: w // 4, lambda w, h: h // 4))])
def sad4x4(s, a, b):
    o, r = F("sad4x4"), RDom([(0, 4), (0, 4)], "r")
    o[x, y] = hl.u16(0)
    o[x, y] += cast(u16, hl.absd(a[4 * x + r.x, 4 * y + r.y], b[4 * x + r.x, 4 * y + r.y]))
    o.vectorize(x, 8)
    if s: o.update().reorder(r.x, r.y, x, y).unroll(r.x).unroll(r.y).vectorize(x, 16)
    else: o.update().reorder(x, r.x, r.y, y).vectorize(x, 8)
    return o


@case([img("a", "u8"), img("b", "u8")], [("o", "u32", E(lambda w, h: w // 8, lambda w, h: h // 8))])
def ssd8(s, a, b):
    o, r = F("ssd8"), RDom([(0, 8), (0, 8)], "r")
    d = cast(i32, a[8 * x + r.x, 8 * y + r.y]) - cast(i32, b[8 * x + r.x, 8 * y + r.y])
    o[x, y] = hl.u32(0)
    o[x, y] += cast(u32, d * d)
    if s: o.update().atomic().vectorize(r.x)
    else: o.update().reorder(r.x, r.y, x, y).unroll(r.y).atomic().vectorize(r.x, 8)
    return o


@case([("a", "i8", E(W, H)), ("b", "i8", E(W))], [("o", "i32", E(H))])
def dot_i8(s, a, b):
    o, r = F("dot_i8"), RDom([(0, a.width() // 32 * 32)], "r")
    o[x] = hl.i32(0)
    o[x] += cast(i32, a[r, x]) * cast(i32, b[r])
    o.update().atomic().vectorize(r, 32 if s else 16)
    return o


@case([("a", "u8", E(32, W, H)), ("w", "u8", E(16, 32)), ("b", "i32", E(16))], [("o", "u8", E(16, W, H))], sizes=[(9, 7), (13, 5), (20, 4), (24, 8)])
def conv1x1_q(s, a, w, b):
    o, m, r = F("conv1x1_q"), F("m"), RDom([(0, 32)], "r")
    m[c, x, y] = b[c]
    m[c, x, y] += cast(i32, a[r, x, y]) * (cast(i32, w[c, r]) - 128)
    o[c, x, y] = hl.saturating_cast(u8, (m[c, x, y] + 512) >> 10)
    o.bound(c, 0, 16).vectorize(c, 16)
    m.compute_at(o, x).vectorize(c, 16)
    if s: m.update().reorder(c, r, x, y).vectorize(c, 16).unroll(r, 4)
    else: m.update().reorder(c, r, x, y).vectorize(c, 16)
    return o


@case([("a", "f32", E(W, H))], [("o", "f32", E(H)), ("i", "i32", E(H))])
def row_argmax(s, a):
    o, r = F("row_argmax"), RDom([(0, a.width())], "r")
    m = hl.argmax(r, a[r, x])
    o[x] = (m[1], m[0])
    if s: o.vectorize(x, 8, G)
    return o


@case([img("a", "f32")], [("o", "f32", E(lambda w, h: h)), ("p", "f32", E(lambda w, h: h))], tol=1e-4)
def minmax_rows(s, a):
    o, r = F("minmax"), RDom([(0, a.width() // 16 * 16)], "r")
    o[x] = (hl.f32(1e30), hl.f32(-1e30))
    o[x] = (hl.min(o[x][0], a[r, x]), hl.max(o[x][1], a[r, x]))
    if s: o.vectorize(x, 8, G); o.update().reorder(x, r).vectorize(x, 8, G)
    return o


@case([img("a", "u8"), ("t", "u8", E(256))], [img("o", "u8")])
def lut_u8(s, a, t):
    o = F("lut_u8")
    o[x, y] = t[cast(i32, a[x, y])]
    o.vectorize(x, 64 if s else 16)
    return o


@case([img("a", "u8"), ("t", "i16", E(16))], [img("o", "i16")])
def lut16(s, a, t):
    o = F("lut16")
    o[x, y] = t[cast(i32, a[x, y] & 15)]
    o.vectorize(x, 32 if s else 16)
    return o


@case([img("a", "f32"), ("t", "f32", E(256))], [img("o", "f32")], tol=1e-3)
def lut_interp(s, a, t):
    o = F("lut_interp")
    v = clamp(a[x, y] * 2.0 + 100.0, 0.0, 254.0)
    i = cast(i32, hl.floor(v))
    fr = v - cast(f32, i)
    o[x, y] = t[clamp(i, 0, 254)] * (1.0 - fr) + t[clamp(i, 0, 254) + 1] * fr
    o.vectorize(x, 16 if s else 8)
    return o


@case([img("a", "i16")], [img("o", "i16")], scalars=[("g", "i16", 23170)])
def gain_q15(s, a, g):
    o = F("gain_q15")
    o[x, y] = hl.rounding_mul_shift_right(a[x, y], g, 15)
    o.vectorize(x, 32 if s else 16)
    return o


@case([img("a", "i32")], [img("o", "i16")], scalars=[("g", "i32", 1 << 28)])
def pcm24(s, a, g):
    o = F("pcm24")
    o[x, y] = hl.saturating_cast(i16, hl.rounding_shift_right(hl.mul_shift_right(a[x, y], g, 31), 8))
    o.vectorize(x, 16 if s else 8)
    return o


@case([img("a", "f32")], [chunks("o", "i16", 2)], chunky=("o",), tol=1)
def pcm_stereo(s, a):
    q = lambda e: hl.saturating_cast(i16, hl.round(e * 327.0))
    return of_channels(F("pcm_stereo"), [q(a[x, y]), q(a[x, y] * 0.5)], 2, s, 32 if s else 16, s)


@case([img("a", "u8")], [("o", "u8", E(lambda w, h: w - 2, lambda w, h: h - 2))])
def emboss(s, a):
    o = F("emboss")
    v = lambda i, j: cast(i16, a[x + i, y + j])
    o[x, y] = hl.saturating_cast(u8, -2 * v(0, 0) - v(1, 0) - v(0, 1) + v(1, 1) + v(2, 1) + v(1, 2) + 2 * v(2, 2))
    if s: o.tile(x, y, xi, yi, 64, 4, G).vectorize(xi, 32).unroll(yi)
    else: o.vectorize(x, 32)
    return o


@case([img("a", "u8")], [("o", "u8", E(lambda w, h: w - 2, lambda w, h: h - 2))])
def local_contrast(s, a):
    o = F("local_contrast")
    v = [a[x + i, y + j] for i in range(3) for j in range(3)]
    o[x, y] = hl.max(v[0], *v[1:]) - hl.min(v[0], *v[1:])
    if s: o.split(y, y, yi, 4, G).reorder(yi, x, y).unroll(yi).vectorize(x, 32)
    else: o.vectorize(x, 64)
    return o


@case([img("a", "u16")], [("o", "u16", E(lambda w, h: w - 4, lambda w, h: h))])
def savgol(s, a):
    o = F("savgol")
    v = lambda k: cast(i32, a[x + k, y])
    o[x, y] = hl.saturating_cast(u16, (-3 * v(0) + 12 * v(1) + 17 * v(2) + 12 * v(3) - 3 * v(4) + 17) / 35)
    o.vectorize(x, 32 if s else 16)
    return o


@case([img("a", "i16")], [("o", "i16", E(8, 8, lambda w, h: (w // 8) * (h // 8)))], sizes=[(40, 16), (72, 24), (64, 32), (128, 64)])
def dct_rows(s, a):
    o, d, r = F("dct_rows"), F("d"), RDom([(0, 8)], "r")
    ct = F("ct")
    ct[x, y] = cast(i16, hl.round(8192.0 * hl.cos((2 * x + 1) * y * (math.pi / 16))))
    nb = a.width() / 8
    d[x, y, z] = hl.i32(0)
    d[x, y, z] += cast(i32, ct[r, x]) * cast(i32, a[(z % nb) * 8 + r, (z / nb) * 8 + y])
    o[x, y, z] = hl.saturating_cast(i16, (d[x, y, z] + 8192) >> 14)
    ct.compute_root()
    o.bound(x, 0, 8).bound(y, 0, 8)
    d.compute_at(o, z)
    if s: d.vectorize(x, 8).update().reorder(x, y, r).vectorize(x, 8); o.vectorize(x, 8)
    else: d.vectorize(x, 8).update().atomic().vectorize(r, 8); o.vectorize(x, 8)
    return o


@case([img("a", "f16")], [img("o", "f16")], tol=2e-2)
def half_affine(s, a):
    o = F("half_affine")
    o[x, y] = cast(f16, cast(f32, a[x, y]) * 1.5 + 0.25)
    o.vectorize(x, 16 if s else 8)
    return o


@case([("a", "u8", E(lambda w, h: w // 2 * 2, H)), ("uv", "u8", E(lambda w, h: w // 2 * 2, lambda w, h: h // 2 + 1))], [chunks("o", "u8", 4)], chunky=("o",), sizes=[(130, 37), (200, 33), (98, 65), (384, 64)])
def nv12_rgba(s, a, uv):
    Y = (cast(i32, a[x, y]) - 16) * 298
    u, v = cast(i32, uv[(x / 2) * 2, y / 2]) - 128, cast(i32, uv[(x / 2) * 2 + 1, y / 2]) - 128
    sat = lambda e: hl.saturating_cast(u8, (e + 128) >> 8)
    return of_channels(F("nv12_rgba"), [sat(Y + 409 * v), sat(Y - 100 * u - 208 * v), sat(Y + 516 * u), hl.u8(255)], 4, s, 32 if s else 16, s)


@case([img("a", "u8")], [("o", "u8", E(H, W))])
def rotate90(s, a):
    o = F("rotate90")
    o[x, y] = a[y, a.height() - 1 - x]
    if s: o.tile(x, y, xi, yi, 16, 16, G).vectorize(xi, 16).unroll(yi)
    else: o.vectorize(x, 16)
    return o


@case([img("a", "u16")], [img("o", "u16")])
def mirror(s, a):
    o = F("mirror")
    o[x, y] = a[a.width() - 1 - x, y]
    o.vectorize(x, 32 if s else 16)
    return o


@case([img("a", "u32")], [img("o", "u32")])
def bswap(s, a):
    o = F("bswap")
    v = a[x, y]
    o[x, y] = (v >> 24) | ((v >> 8) & 0xff00) | ((v << 8) & 0xff0000) | (v << 24)
    o.vectorize(x, 16 if s else 8)
    return o


@case([img("a", "u32"), img("b", "u32")], [img("o", "u32")])
def xoshiro(s, a, b):
    o = F("xoshiro")
    v, w = a[x, y], b[x, y]
    r = (v + w)
    r = ((r << 7) | (r >> 25)) + v
    t = v ^ (w << 9)
    o[x, y] = r ^ ((t << 11) | (t >> 21))
    o.vectorize(x, 16 if s else 8)
    return o
