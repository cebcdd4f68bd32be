"""Pipelines that were written after all others, and not looked at before they were first run: bytes and text, bit
tricks, pairs of words, sums over windows, tables, small networks, floats, boundary conditions and every tail
strategy. Each with two natural schedules, as in `corpus.py`, in whose list they are.
"""
from corpus import E, F, G, H, RDom, RVar, W, case, cast, chunky, clamp, edge, f32, hl, i8, i16, i32, i64, img, rgb, select, u8, u16, u32, u64, x, xi, y, yi, c
from packed import chunks, of_channels
from unnamed import plain
T = hl.TailStrategy


@case([img("a", "u32")], [img("o", "u8")])
def run_lengths(s, a):
    """Ones at the end of a word, and whether there are more above them."""
    o = F("run_lengths")
    v = a[x, y]
    ones = cast(u8, hl.popcount(v & ~(v + 1)))
    o[x, y] = ones | select((v & (v + 1)) != 0, hl.u8(128), hl.u8(0))
    return plain(o, s, 16)


@case([img("a", "u64")], [img("o", "u16")])
def popcount_words(s, a):
    o = F("popcount_words")
    o[x, y] = cast(u16, hl.popcount(a[x, y] & (a[x, y] >> 1)))
    return plain(o, s, 8)


@case([img("a", "u16")], [img("o", "u8")])
def float_class(s, a):
    """Exponent and leading bits of a small float of its own."""
    o = F("float_class")
    n = hl.count_leading_zeros(a[x, y] | 1)
    o[x, y] = cast(u8, (15 - n) << 4) | cast(u8, ((a[x, y] << n) >> 11) & 15)
    return plain(o, s, 16)


@case([chunks("a", "f32", 2)], [img("m", "f32"), img("p", "f32")], chunky=("a",), tol=1e-3)
def power_phase(s, a):
    chunky(a, ch=2)
    m, p = F("power_phase"), F("p")
    m[x, y] = a[x, y, 0] * a[x, y, 0] + a[x, y, 1] * a[x, y, 1]
    p[x, y] = a[x, y, 1] * 0.5 - a[x, y, 0] * 0.25
    for f in (m, p): plain(f, s, 8)
    return [m, p]


@case([img("a", "i32"), img("b", "i32")], [chunks("o", "i32", 2)], chunky=("o",))
def butterflies(s, a, b):
    return of_channels(F("butterflies"), [a[x, y] + b[x, y], a[x, y] - b[x, y]], 2, s, 8, s)


@case([img("a", "i16"), img("b", "i16")], [chunks("o", "i16", 2)], chunky=("o",))
def stereo_join(s, a, b):
    half = lambda v: cast(i16, (cast(i32, v) * 3) >> 2)
    return of_channels(F("stereo_join"), [half(a[x, y]), half(b[x, y])], 2, s, 16)


@case([chunks("a", "u32", 2)], [img("o", "u32")], chunky=("a",))
def hash_pairs(s, a):
    chunky(a, ch=2)
    o = F("hash_pairs")
    h = (a[x, y, 0] ^ hl.u32(0x9e3779b9)) * hl.u32(0x85ebca6b)
    o[x, y] = (h ^ (h >> 13)) + a[x, y, 1] * hl.u32(0xc2b2ae35)
    return plain(o, s, 8)


@case([img("a", "i16")], [img("o", "i16")], scalars=[("t", "i16", 900)])
def soft_threshold(s, a, t):
    o, v = F("soft_threshold"), a[x, y]
    o[x, y] = select(v > t, v - t, v < -t, v + t, hl.i16(0))
    return plain(o, s, 16)


@case([img("a", "u16")], [img("o", "u16")])
def knee_u16(s, a):
    o, v = F("knee_u16"), a[x, y]
    o[x, y] = select(v < 20000, v, 20000 + (v - 20000) / 4)
    return plain(o, s, 16)


@case([img("a", "u8")], [img("o", "u8")])
def rot13(s, a):
    o, v = F("rot13"), a[x, y]
    letter = ((v | 32) >= 97) & ((v | 32) <= 122)
    o[x, y] = select(letter, select((v | 32) <= 109, v + 13, v - 13), v)
    return plain(o, s, 32)


@case([img("a", "u8")], [("o", "u32", E(H))])
def words_per_row(s, a):
    """How often a letter follows a blank."""
    o, r = F("words_per_row"), RDom([(1, a.width() - 1)], "r")
    o[y] = hl.u32(0)
    o[y] += cast(u32, (a[r, y] > 32) & (a[r - 1, y] <= 32))
    if s: o.update().atomic().vectorize(r, 32)
    return o


@case([img("a", "u8")], [img("o", "u8")])
def mirror_sharpen(s, a):
    e, o = hl.BoundaryConditions.mirror_interior(a), F("mirror_sharpen")
    v = lambda i, j: cast(i16, e[x + i, y + j])
    o[x, y] = hl.saturating_cast(u8, 5 * v(0, 0) - v(-1, 0) - v(1, 0) - v(0, -1) - v(0, 1))
    return plain(o, s, 16)


@case([img("a", "f32")], [img("o", "f32")], tol=1e-4)
def slide_max5(s, a):
    rows, o, e = F("rows"), F("slide_max5"), edge(a)
    rows[x, y] = hl.max(e[x - 2, y], e[x - 1, y], e[x, y], e[x + 1, y], e[x + 2, y])
    o[x, y] = hl.max(rows[x, y - 2], rows[x, y - 1], rows[x, y], rows[x, y + 1], rows[x, y + 2])
    if s: rows.store_root().compute_at(o, y).vectorize(x, 8)
    else: rows.compute_root().vectorize(x, 8)
    o.vectorize(x, 8)
    return o


@case([("a", "i8", E(W, H)), ("w", "i8", E(W))], [("o", "i32", E(H))])
def dense_i8(s, a, w):
    o, r = F("dense_i8"), RDom([(0, a.width())], "r")
    o[y] = 0
    o[y] += cast(i32, a[r, y]) * cast(i32, w[r])
    if s: o.update().atomic().vectorize(r, 16)
    else: o.vectorize(y, 8); o.update().vectorize(y, 8)
    return o


@case([img("a", "i32")], [img("o", "i8")], scalars=[("m", "i32", 1518500250), ("z", "i8", -7)])
def requant_i8(s, a, m, z):
    o = F("requant_i8")
    v = cast(i32, (cast(i64, a[x, y] >> 12) * cast(i64, m) + (hl.i64(1) << 30)) >> 31)
    o[x, y] = hl.saturating_cast(i8, ((v + 8) >> 4) + cast(i32, z))
    return plain(o, s, 16)


@case([img("a", "u8"), ("t", "f32", E(256))], [img("o", "f32")])
def linearise(s, a, t):
    o = F("linearise")
    o[x, y] = t[cast(i32, a[x, y])] * 1.25
    return plain(o, s, 8)


@case([img("a", "f32")], [("lo", "f32", E(H)), ("at", "i32", E(H))])
def first_minimum(s, a):
    m, r = F("first_minimum"), RDom([(0, a.width())], "r")
    m[y] = (hl.f32(1e30), hl.i32(-1))
    better = a[r, y] < m[y][0]
    m[y] = (select(better, a[r, y], m[y][0]), select(better, cast(i32, r.x), m[y][1]))
    if s: m.vectorize(y, 8, G).update().vectorize(y, 8, G)
    return m


@case([img("a", "i32")], [img("o", "i32")])
def triangle_sums(s, a):
    """A domain with a predicate."""
    o, r = F("triangle_sums"), RDom([(0, 4), (0, 4)], "r")
    e = edge(a)
    r.where(r.x + r.y < 4)
    o[x, y] = 0
    o[x, y] += e[x + r.x, y + r.y] * (r.x - r.y)
    o.vectorize(x, 8)
    if s: o.update().reorder(x, r.x, r.y, y).vectorize(x, 8)
    else: o.update().vectorize(x, 16)
    return o


@case([img("a", "f32"), img("b", "f32")], [img("o", "f32")], scalars=[("g", "f32", 1.0)], tol=1e-4)
def special_gain(s, a, b, g):
    o = F("special_gain")
    o[x, y] = a[x, y] * g + b[x, y] * (1.0 - g)
    o.specialize(g == 1.0)
    return plain(o, s, 8)


@case([img("a", "u16")], [("o", "u16", E(lambda w, h: w // 2, lambda w, h: h // 2))])
def bin2x2_u16(s, a):
    o = F("bin2x2_u16")
    v = lambda i, j: cast(u32, a[2 * x + i, 2 * y + j])
    o[x, y] = cast(u16, (v(0, 0) + v(1, 0) + v(0, 1) + v(1, 1) + 2) >> 2)
    return plain(o, s, 16)


@case([("a", "f32", E(lambda w, h: 2 * w, H))], [img("o", "f32")], tol=1e-4)
def haar_f32(s, a):
    o = F("haar_f32")
    o[x, y] = (a[2 * x, y] + a[2 * x + 1, y]) * 0.70710678
    return plain(o, s, 8)


@case([img("a", "f64")], [img("o", "f64")], tol=1e-9)
def logistic_steps(s, a):
    o, v = F("logistic_steps"), clamp(a[x, y] * 0.01, 0.0, 1.0)
    for _ in range(3): v = hl.f64(3.7) * v * (hl.f64(1.0) - v)
    o[x, y] = v
    if s: o.vectorize(x, 8, T.ShiftInwards)
    else: o.vectorize(x, 4, T.PredicateStores)
    return o


@case([img("a", "i32")], [img("o", "i32")])
def every_tail(s, a):
    p, q, o = F("p"), F("q"), F("every_tail")
    p[x, y] = a[x, y] * 3 + 1
    q[x, y] = p[x, y] ^ (p[x, y] >> 3)
    o[x, y] = q[x, y] - p[x, y]
    p.compute_root().vectorize(x, 8, T.RoundUp)
    q.compute_at(o, y).vectorize(x, 8, T.PredicateLoads if s else T.GuardWithIf)
    o.split(y, y, yi, 3, T.GuardWithIf).vectorize(x, 16 if s else 8, T.ShiftInwards)
    return o


@case([img("a", "u8")], [("o", "u32", E(W, H))])
def integral_u8(s, a):
    rows, o = F("rows"), F("integral_u8")
    rx, ry = RDom([(1, a.width() - 1)], "rx"), RDom([(1, a.height() - 1)], "ry")
    rows[x, y] = cast(u32, a[x, y])
    rows[rx, y] += rows[rx - 1, y]
    o[x, y] = rows[x, y]
    o[x, ry] += o[x, ry - 1]
    rows.compute_root()
    o.vectorize(x, 8)
    o.update().vectorize(x, 16 if s else 8)
    return o
