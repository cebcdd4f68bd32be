"""Pipelines that were written without a look at the compiler, after all others: what people do with video,
sensors, sound, small networks and text. Each with two natural schedules, as in `corpus.py`, in whose list
they are.
"""
from corpus import E, F, G, H, RDom, RVar, W, case, cast, chunky, clamp, edge, f32, hl, i8, i16, i32, i64, img, rgb, select, u8, u16, u32, u64, x, xi, y, yi, c
from packed import chunks, of_channels


def plain(o, s, lanes):
    """Two schedules of a pointwise result: plain vectors, or tiles of wider ones."""
    if s: o.tile(x, y, xi, yi, 2 * lanes, 4).vectorize(xi, 2 * lanes)
    else: o.vectorize(x, lanes)
    return o


@case([rgb("a", "u8")], [img("o", "u8")], scalars=[("kr", "u8", 40), ("kg", "u8", 200), ("kb", "u8", 60)])
def chroma_key(s, a, kr, kg, kb):
    o = F("chroma_key")
    d = cast(u16, hl.absd(a[x, y, 0], kr)) + hl.absd(a[x, y, 1], kg) + hl.absd(a[x, y, 2], kb)
    o[x, y] = select(d < 60, hl.u8(0), d > 180, hl.u8(255), cast(u8, (d - 60) * 17 >> 3))
    return plain(o, s, 32)


@case([img("a", "u8")], [img("o", "u8")])
def gradient_sector(s, a):
    """The direction of an edge in four sectors, and none where it is weak."""
    e, o, v = edge(a), F("gradient_sector"), F("v")
    v[x, y] = cast(i16, e[x, y])
    gx = v[x + 1, y - 1] + 2 * v[x + 1, y] + v[x + 1, y + 1] - v[x - 1, y - 1] - 2 * v[x - 1, y] - v[x - 1, y + 1]
    gy = v[x - 1, y + 1] + 2 * v[x, y + 1] + v[x + 1, y + 1] - v[x - 1, y - 1] - 2 * v[x, y - 1] - v[x + 1, y - 1]
    ax, ay = cast(i16, hl.abs(gx)), cast(i16, hl.abs(gy))
    sector = select(ay * 5 < ax * 2, hl.u8(1), ax * 5 < ay * 2, hl.u8(3), (gx ^ gy) >= 0, hl.u8(2), hl.u8(4))
    o[x, y] = select(ax + ay < 48, hl.u8(0), sector)
    v.compute_root().vectorize(x, 16)
    return plain(o, s, 16)


@case([("a", "u8", E(lambda w, h: w // 2 * 4, H))], [(n, "u8", e) for n, e in (("yy", E(lambda w, h: w // 2 * 2, H)), ("u", E(lambda w, h: w // 2, H)), ("v", E(lambda w, h: w // 2, H)))])
def yuyv_planes(s, a):
    p, q, r = F("yuyv_planes"), F("u"), F("v")
    p[x, y] = a[2 * x, y]
    q[x, y] = a[4 * x + 1, y]
    r[x, y] = a[4 * x + 3, y]
    for f in (p, q, r): f.vectorize(x, 32 if s else 16)
    return [p, q, r]


@case([chunks("a", "u8", 3)], [rgb("o", "f32")], chunky=("a",), scalars=[("scale", "f32", 0.0171)], tol=1e-4)
def normalise_chw(s, a, scale):
    """What goes in front of most networks."""
    chunky(a)
    o = F("normalise_chw")
    mean = hl.mux(c, [hl.f32(2.12), hl.f32(2.03), hl.f32(1.80)])
    o[x, y, c] = cast(f32, a[x, y, c]) * scale - mean
    o.bound(c, 0, 3)
    if s: o.reorder(c, x, y).unroll(c).vectorize(x, 16)
    else: o.vectorize(x, 8)
    return o


@case([img("a", "i16")], [("o", "f32", E(H))], tol=1e-4)
def rms_rows(s, a):
    sq, o = F("sq"), F("rms_rows")
    r = RDom([(0, a.width())], "r")
    sq[y] = hl.cast(i64, 0)
    sq[y] += cast(i64, cast(i32, a[r, y]) * cast(i32, a[r, y]))
    o[y] = hl.sqrt(cast(f32, sq[y]) / cast(f32, a.width()))
    if s:
        ro, ri = RVar("ro"), RVar("ri")
        u = hl.Var("u")
        part = sq.update().split(r, ro, ri, 8).rfactor(ri, u)
        part.compute_at(sq, y).vectorize(u).update().vectorize(u)
    sq.compute_root()
    return o


@case([img("a", "u8")], [img("o", "f32")], tol=1e-4)
def sobel_magnitude(s, a):
    e, o = edge(a), F("sobel_magnitude")
    v = lambda i, j: cast(i16, e[x + i, y + j])
    gx = v(1, -1) + 2 * v(1, 0) + v(1, 1) - v(-1, -1) - 2 * v(-1, 0) - v(-1, 1)
    gy = v(-1, 1) + 2 * v(0, 1) + v(1, 1) - v(-1, -1) - 2 * v(0, -1) - v(1, -1)
    o[x, y] = hl.sqrt(cast(f32, cast(i32, gx) * gx + cast(i32, gy) * gy))
    return plain(o, s, 16)


@case([img("a", "u8")], [img("o", "bool")], scalars=[("delta", "i16", 7)])
def adaptive_threshold(s, a, delta):
    e, rows, o = edge(a), F("rows"), F("adaptive_threshold")
    rows[x, y] = sum((cast(u16, e[x, y + k]) for k in range(-3, 4)), hl.u16(0))
    total = sum((rows[x + k, y] for k in range(-3, 4)), hl.u16(0))
    o[x, y] = cast(i16, a[x, y]) > cast(i16, total / 49) - delta
    if s: rows.compute_at(o, y).vectorize(x, 16)
    else: rows.compute_root().vectorize(x, 32)
    o.vectorize(x, 32)
    return o


@case([img("a", "u64")], [("n", "u32", E(H)), img("g", "u64")])
def bit_counts(s, a):
    n, g = F("bit_counts"), F("g")
    r = RDom([(0, a.width())], "r")
    n[y] = hl.u32(0)
    n[y] += cast(u32, hl.popcount(a[r, y]))
    g[x, y] = a[x, y] ^ (a[x, y] >> 1)
    if s: g.vectorize(x, 8); n.update().atomic().vectorize(r, 8)
    else: g.vectorize(x, 4)
    return [n, g]


@case([img("a", "u16"), ("t", "u16", E(4096))], [img("o", "u8")])
def tone_4096(s, a, t):
    o = F("tone_4096")
    o[x, y] = cast(u8, t[cast(i32, a[x, y] >> 4)] >> 8)
    return plain(o, s, 16)


@case([rgb("a", "u8")], [rgb("o", "u8")], scalars=[("p", "f32", 0.9), ("q", "f32", 0.3)], tol=1)
def hue_matrix(s, a, p, q):
    o = F("hue_matrix")
    v = [cast(f32, a[x, y, k]) for k in range(3)]
    rows = [v[0] * p + v[1] * q - v[2] * 0.2, v[1] * p + v[2] * q - v[0] * 0.2, v[2] * p + v[0] * q - v[1] * 0.2]
    o[x, y, c] = hl.mux(c, [cast(u8, clamp(hl.round(e), 0.0, 255.0)) for e in rows])
    o.bound(c, 0, 3).reorder(c, x, y).unroll(c).vectorize(x, 32 if s else 16)
    return o


@case([("a", "i32", E(W, H))], [("o", "i32", E(lambda w, h: w - 4, H))])
def median5(s, a):
    o = F("median5")
    v = [a[x + k, y] for k in range(5)]
    lo, hi = hl.min, hl.max
    p, q = lo(v[0], v[1]), hi(v[0], v[1])
    r, t = lo(v[3], v[4]), hi(v[3], v[4])
    low, high = hi(p, r), lo(q, t)
    o[x, y] = hi(lo(low, high), lo(hi(low, high), v[2]))
    return plain(o, s, 8)


@case([img("a", "u8")], [img("o", "i16")])
def mulaw_decode(s, a):
    o = F("mulaw_decode")
    v = ~a[x, y]
    sign, e, m = v & 0x80, (v >> 4) & 7, v & 15
    t = ((cast(i16, m) << 3) + 0x84) << e
    o[x, y] = select(sign != 0, 0x84 - t, t - 0x84)
    return plain(o, s, 16)


@case([img("a", "f32")], [img("o", "u8")], tol=1)
def sigmoid_u8(s, a):
    o = F("sigmoid_u8")
    o[x, y] = cast(u8, 255.0 / (1.0 + hl.exp(-a[x, y] * 0.1)) + 0.5)
    return plain(o, s, 16)


@case([img("a", "u8")], [("n", "u32", E(H)), ("m", "u8", E(H)), ("q", "u32", E(H))], scalars=[("t", "u8", 90)])
def row_counts(s, a, t):
    """How many are above a threshold, the largest of those, and their sum."""
    n, m, q = F("row_counts"), F("m"), F("q")
    r = RDom([(0, a.width())], "r")
    n[y], m[y], q[y] = hl.u32(0), hl.u8(0), hl.u32(0)
    above = a[r, y] > t
    n[y] += cast(u32, above)
    m[y] = hl.max(m[y], select(above, a[r, y], hl.u8(0)))
    q[y] += select(above, cast(u32, a[r, y]), hl.u32(0))
    if s:
        for f in (n, m, q): f.update().atomic().vectorize(r, 32)
    return [n, m, q]


@case([img("a", "u16"), img("b", "u16")], [("o", "u64", E(H))])
def sad_u16(s, a, b):
    o = F("sad_u16")
    r = RDom([(0, a.width())], "r")
    o[y] = hl.cast(u64, 0)
    o[y] += cast(u64, hl.absd(a[r, y], b[r, y]))
    if s: o.update().atomic().vectorize(r, 16)
    return o


@case([img("a", "u8")], [("o", "u8", E(lambda w, h: 2 * w - 2, lambda w, h: 2 * h - 2))])
def upsample_9331(s, a):
    o, v = F("upsample_9331"), F("v")
    v[x, y] = cast(u16, a[x, y])
    i, j = x / 2, y / 2
    near = lambda k: select(k % 2 == 0, 0, 1)
    row = lambda yy: 3 * v[i + near(x), yy] + v[i + 1 - near(x), yy]
    o[x, y] = cast(u8, (3 * row(j + near(y)) + row(j + 1 - near(y)) + 8) >> 4)
    o.align_bounds(x, 2, 0).align_bounds(y, 2, 0)
    if s: o.tile(x, y, xi, yi, 32, 2).unroll(yi).vectorize(xi, 32)
    else: o.vectorize(x, 16)
    return o


@case([chunks("a", "i16", 2)], [chunks("o", "i16", 2)], chunky=("a", "o"), scalars=[("l", "i16", 23170), ("m", "i16", 11585)])
def stereo_mix(s, a, l, m):
    chunky(a, ch=2)
    w = lambda k: cast(i32, a[x, y, k])
    mix = lambda p, q: hl.saturating_cast(i16, (w(p) * cast(i32, l) + w(q) * cast(i32, m) + 0x4000) >> 15)
    return of_channels(F("stereo_mix"), [mix(0, 1), mix(1, 0)], 2, s, 16, s)


@case([img(n, "u16") for n in "abde"], [chunks("o", "u16", 4)], chunky=("o",))
def planes_u16x4(s, a, b, d, e):
    return of_channels(F("planes_u16x4"), [p[x, y] for p in (a, b, d, e)], 4, s, 16, s)


@case([("a", "u16", E(lambda w, h: 3 * w, H))], [img("o", "u32")])
def pack_10_10_10(s, a):
    o = F("pack_10_10_10")
    v = lambda k: cast(u32, a[3 * x + k, y] & 1023)
    o[x, y] = v(0) | (v(1) << 10) | (v(2) << 20)
    return plain(o, s, 8)


@case([("a", "u8", E(W, H)), ("b", "u8", E(48, W))], [("o", "i32", E(48, H))], scalars=[("za", "u8", 3), ("zb", "u8", 9)], sizes=[(64, 12), (96, 17), (128, 9), (256, 24)])
def gemm_u8_zero(s, a, b, za, zb):
    o, p = F("o"), F("gemm_u8_zero")
    r = RDom([(0, a.width())], "r")
    o[x, y] = 0
    o[x, y] += (cast(i32, a[r, y]) - cast(i32, za)) * (cast(i32, b[x, r]) - cast(i32, zb))
    p[x, y] = o[x, y]
    if s: p.tile(x, y, xi, yi, 16, 4, G).vectorize(xi, 16); o.compute_at(p, x).vectorize(x, 16).unroll(y).update().reorder(x, y, r).vectorize(x, 16).unroll(y)
    else: p.vectorize(x, 16); o.compute_at(p, y).vectorize(x, 16).update().reorder(x, r).vectorize(x, 16)
    return p


@case([img("a", "f32"), img("b", "f32")], [("d", "f32", E(H)), ("n", "f32", E(H))], tol=1e-2)
def cosine_rows(s, a, b):
    d, n = F("cosine_rows"), F("n")
    r = RDom([(0, a.width())], "r")
    d[y], n[y] = hl.f32(0), hl.f32(0)
    d[y] += a[r, y] * b[r, y]
    n[y] += a[r, y] * a[r, y]
    if s:
        for f in (d, n):
            ro, ri, u = RVar("ro"), RVar("ri"), hl.Var("u")
            part = f.update().split(r, ro, ri, 16).rfactor(ri, u)
            part.compute_at(f, y).vectorize(u).update().vectorize(u)
    return [d, n]


@case([img("a", "u8")], [img("o", "u8")])
def text_fold(s, a):
    """Letters small, digits as `#`, all that is no letter a blank."""
    o = F("text_fold")
    v = a[x, y]
    low = v | 0x20
    o[x, y] = select((low >= 97) & (low <= 122), low, (v >= 48) & (v <= 57), hl.u8(35), hl.u8(32))
    return plain(o, s, 32)


@case([img("a", "i16")], [("o", "i32", E(lambda w, h: w - 15, H))])
def fir16_even(s, a):
    """A symmetric filter, as people fold it."""
    o = F("fir16_even")
    taps = [3, -7, 12, -21, 36, -64, 141, 924]
    o[x, y] = sum(((cast(i32, a[x + k, y]) + cast(i32, a[x + 15 - k, y])) * t for k, t in enumerate(taps)), hl.i32(0)) >> 4
    return plain(o, s, 8)


@case([img("a", "f32")], [("o", "f32", E(lambda w, h: w // 2, lambda w, h: h))], tol=1e-3)
def decimate_halfband(s, a):
    o = F("decimate_halfband")
    v = lambda k: edge(a)[2 * x + k, y]
    o[x, y] = 0.5 * v(3) + 0.28125 * (v(2) + v(4)) - 0.03125 * (v(0) + v(6))
    return plain(o, s, 8)


@case([rgb("a", "u8")], [img("o", "u8")])
def saturation_of(s, a):
    o = F("saturation_of")
    hi = hl.max(a[x, y, 0], a[x, y, 1], a[x, y, 2])
    lo = hl.min(a[x, y, 0], a[x, y, 1], a[x, y, 2])
    o[x, y] = select(hi == 0, hl.u8(0), cast(u8, (cast(u16, hi - lo) * 255) / cast(u16, hl.max(hi, 1))))
    return plain(o, s, 16)


@case([img("a", "i32"), img("b", "i32")], [img("o", "i32")], scalars=[("sh", "i32", 7)])
def q31_product(s, a, b, sh):
    o = F("q31_product")
    t = cast(i64, a[x, y]) * cast(i64, b[x, y])
    o[x, y] = hl.saturating_cast(i32, (t + (hl.i64(1) << 30)) >> 31) >> sh
    return plain(o, s, 8)
