"""Pipelines as people post them: resampling with weights in tables, maps, recursions, Tuples, layers with
per-channel requantisation, domains with predicates, `rfactor`, `in_`, sorting networks, layouts of channels. Written
without a look at the compiler; each with two schedules, as in `corpus.py`, in whose list they are.
"""
from corpus import E, F, G, H, RDom, RVar, W, case, cast, chunky, clamp, edge, f32, functools, hl, i8, i16, i32, i64, img, rgb, select, u8, u16, u32, u64, x, xi, xo, y, yi, c
from packed import chunks, of_channels
from unnamed import plain
T = hl.TailStrategy
k, u = hl.Var("k"), hl.Var("u")


@case([img("a", "u8"), ("at", "i32", E(W)), ("w", "f32", E(W, 4))], [img("o", "u8")], tol=1)
def resize_table(s, a, at, w):
    """Four taps with weights of their own for each column, as resizers keep them."""
    o, e, r, sums = F("resize_table"), edge(a), RDom([(0, 4)], "r"), F("sums")
    sums[x, y] += w[x, r] * cast(f32, e[clamp(at[x], 0, a.width() - 4) + r, y])
    o[x, y] = cast(u8, clamp(sums[x, y] * 0.01 + 0.5, 0.0, 255.0))
    if s: sums.compute_at(o, x).vectorize(x).update().reorder(x, r.x).vectorize(x).unroll(r)
    else: sums.compute_at(o, y).vectorize(x, 8).update().reorder(r.x, x, y).vectorize(x, 8).unroll(r)
    o.vectorize(x, 8)
    return o


@case([img("a", "f32"), img("mx", "positive"), img("my", "positive")], [img("o", "f32")], tol=1e-3)
def remap_bilinear(s, a, mx, my):
    o = F("remap_bilinear")
    px, py = mx[x, y] * 7.0, my[x, y] * 3.0
    ix, iy = cast(i32, hl.floor(px)), cast(i32, hl.floor(py))
    fx, fy = px - ix, py - iy
    v = lambda i, j: a[clamp(ix + i, 0, a.width() - 1), clamp(iy + j, 0, a.height() - 1)]
    top, low = v(0, 0) + (v(1, 0) - v(0, 0)) * fx, v(0, 1) + (v(1, 1) - v(0, 1)) * fx
    o[x, y] = top + (low - top) * fy
    return plain(o, s, 8)


@case([img("a", "u8")], [img("o", "u8")])
def running_box(s, a):
    """A column sum that takes a row in and lets one go."""
    o, run, e = F("running_box"), F("run"), edge(a)
    at = lambda j: cast(u16, e[x, j])
    r = RDom([(1, a.height() - 1)], "r")
    run[x, y] = cast(u16, 0)
    run[x, 0] = sum((at(j) for j in range(-3, 5)), hl.u16(0))
    run[x, r] = run[x, r - 1] + at(r + 4) - at(r - 4)
    o[x, y] = cast(u8, (run[x, y] + 4) >> 3)
    if s:
        o.split(x, xo, xi, 32).reorder(xi, y, xo).vectorize(xi)
        run.compute_at(o, xo).vectorize(x, 16)
        run.update(0).vectorize(x, 16)
        run.update(1).vectorize(x, 16)
    else:
        run.compute_root().vectorize(x, 16)
        run.update(0).vectorize(x, 16)
        run.update(1).vectorize(x, 16)
        o.vectorize(x, 16)
    return o


@case([img("re", "f32"), img("im", "f32"), ("wr", "f32", E(W)), ("wi", "f32", E(W))], [img("p", "f32"), img("q", "f32")], tol=1e-2)
def fft_stage(s, re, im, wr, wi):
    """A stage of Tuples: columns of a half with those of the other, turned."""
    o, t = F("fft_stage"), F("t")
    half = re.height() / 2
    other = y % half + half
    t[x, y] = (re[x, other] * wr[x] - im[x, other] * wi[x], re[x, other] * wi[x] + im[x, other] * wr[x])
    first = y % half
    sign = select(y < half, 1.0, -1.0)
    o[x, y] = (re[x, clamp(first, 0, re.height() - 1)] + sign * t[x, y][0], im[x, clamp(first, 0, re.height() - 1)] + sign * t[x, y][1])
    if s: t.compute_at(o, y).vectorize(x, 8)
    o.vectorize(x, 8)
    return o


@case([rgb("a", "u8"), ("m", "u8", E(3, 8))], [img("o", "u8")])
def kmeans_u8(s, a, m):
    """The nearest of eight colours."""
    o, best, r = F("kmeans_u8"), F("best"), RDom([(0, 8)], "r")
    square = lambda ch: cast(u32, cast(u16, hl.absd(a[x, y, ch], m[ch, r])) * cast(u16, hl.absd(a[x, y, ch], m[ch, r])))
    far = square(0) + square(1) + square(2)
    best[x, y] = (hl.u8(0), hl.u32(0xffffffff))
    nearer = far < best[x, y][1]
    best[x, y] = (select(nearer, cast(u8, r), best[x, y][0]), select(nearer, far, best[x, y][1]))
    o[x, y] = best[x, y][0]
    o.vectorize(x, 16)
    if s: best.compute_at(o, x).vectorize(x).update().reorder(x, r.x).vectorize(x).unroll(r)
    else: best.compute_at(o, y).vectorize(x, 8).update().reorder(r.x, x, y).vectorize(x, 8)
    return o


@case([("a", "i8", E(W, lambda w, h: 2 * h + 1, 5))], [("o", "i8", E(W, H, 2))])
def pool3s2_nhwc(s, a):
    """Channels innermost, a window of three by three with steps of two."""
    o, most, r = F("pool3s2_nhwc"), F("most"), RDom([(0, 3), (0, 3)], "r")
    most[x, y, c] = i8.min()
    most[x, y, c] = hl.max(most[x, y, c], a[x, 2 * y + r.x, 2 * c + r.y])
    o[x, y, c] = most[x, y, c]
    o.vectorize(x, 32, T.ShiftInwards if s else G)
    most.compute_at(o, x).vectorize(x, 32 if s else 16).update().reorder(x, r.x, r.y).vectorize(x, 32 if s else 16)
    if s: most.update().unroll(r.x).unroll(r.y)
    return o


@case([("a", "i8", E(W, lambda w, h: h + 2, 3)), ("w", "i8", E(W, 3, 3)), ("b", "i32", E(W)), ("m", "i32", E(W))], [("o", "i8", E(W, H))])
def depthwise_i8(s, a, w, b, m):
    """With multiplier and bias of each channel: a high half that is doubled and rounded, then a shift that rounds."""
    o, sums, r = F("depthwise_i8"), F("sums"), RDom([(0, 3), (0, 3)], "r")
    sums[x, y] = b[x] >> 14
    sums[x, y] += (cast(i32, a[x, y + r.x, r.y]) + 3) * cast(i32, w[x, r.x, r.y])
    high = hl.rounding_mul_shift_right(sums[x, y], m[x] | 0x40000000, hl.u32(31))
    o[x, y] = cast(i8, clamp(hl.rounding_shift_right(high, hl.u32(6)) - 5, -128, 127))
    o.vectorize(x, 16)
    if s: sums.compute_at(o, x).vectorize(x, 8).update().reorder(x, r.x, r.y).unroll(r.x).unroll(r.y).vectorize(x, 8)
    else: sums.compute_at(o, y).vectorize(x, 8).update().reorder(r.x, r.y, x, y).vectorize(x, 8)
    return o


@case([img("a", "u16")], [img("o", "u16")])
def gradient_u16(s, a):
    """Dilated less eroded."""
    o, lo, hi, e = F("gradient_u16"), F("lo"), F("hi"), edge(a)
    three = lambda f, g, h: f(g(h - 1), g(h), g(h + 1))
    lo[x, y] = three(hl.min, lambda j: e[x, j], y)
    hi[x, y] = three(hl.max, lambda j: e[x, j], y)
    o[x, y] = three(hl.max, lambda i: hi[i, y], x) - three(hl.min, lambda i: lo[i, y], x)
    o.vectorize(x, 16)
    for f in (lo, hi):
        if s: f.store_root().compute_at(o, y).vectorize(x, 16)
        else: f.compute_at(o, y).vectorize(x, 16)
    return o


@case([rgb("a", "u8", 4)], [rgb("o", "u8", 4)])
def unpremultiply(s, a):
    """Each colour by its alpha, nothing where there is none."""
    o = F("unpremultiply")
    alpha = cast(u16, a[x, y, 3])
    v = (cast(u16, a[x, y, c]) * 255 + alpha / 2) / hl.max(alpha, 1)
    o[x, y, c] = select(c == 3, a[x, y, 3], alpha == 0, hl.u8(0), cast(u8, hl.min(v, 255)))
    if s: o.bound(c, 0, 4).reorder(c, x, y).unroll(c).vectorize(x, 16)
    else: o.vectorize(x, 16)
    return o


@case([img("a", "u8"), img("b", "u8")], [("o", "u32", E(16, 16))])
def joint_histogram(s, a, b):
    o, r = F("joint_histogram"), RDom([(0, a.width()), (0, a.height())], "r")
    o[x, y] = hl.u32(0)
    o[cast(i32, a[r.x, r.y] >> 4), cast(i32, b[r.x, r.y] >> 4)] += hl.u32(1)
    o.vectorize(x, 8)
    if s: o.update().unroll(r.x, 2)
    return o


@case([("a", "u8", E(W, H))], [("o", "u32", E(H))])
def adler_rows(s, a):
    """Two sums of each row, one of them weighted, joined."""
    o, t, r = F("adler_rows"), F("t"), RDom([(0, a.width())], "r")
    t[y] = (hl.u32(1), cast(u32, a.width()))
    t[y] = (t[y][0] + cast(u32, a[r, y]), t[y][1] + cast(u32, a[r, y]) * cast(u32, a.width() - r))
    o[y] = ((t[y][1] % 65521) << 16) | (t[y][0] % 65521)
    o.vectorize(y, 8, G)
    t.compute_root()
    if s:
        ro, ri = RVar("ro"), RVar("ri")
        part = t.update().split(r, ro, ri, 16, G).rfactor(ri, u)
        part.compute_at(t, y).vectorize(u).update().vectorize(u)
    return o


@case([img("a", "u32")], [("o", "u32", E(H))])
def xor_rows(s, a):
    o, r = F("xor_rows"), RDom([(0, a.width())], "r")
    o[y] = hl.u32(0)
    o[y] = o[y] ^ (a[r, y] * hl.u32(0x9e3779b1))
    if s: o.vectorize(y, 8, G).update().vectorize(y, 8, G).unroll(r, 4, G)
    else: o.vectorize(y, 4, G).update().vectorize(y, 4, G)
    return o


@case([img("a", "i16")], [img("o", "i16"), ("n", "i32", E(H))])
def compaction(s, a):
    """The positive ones of each row, moved to its front."""
    o, at, n, r = F("compaction"), F("at"), F("n"), RDom([(1, a.width() - 1)], "r")
    at[x, y] = cast(i32, 0)
    at[r, y] = at[r - 1, y] + cast(i32, a[r - 1, y] > 0)
    q = RDom([(0, a.width())], "q")
    q.where(a[q, y] > 0)
    o[x, y] = hl.i16(0)
    o[clamp(at[q, y], 0, a.width() - 1), y] = a[q, y]
    n[y] = at[a.width() - 1, y] + cast(i32, a[a.width() - 1, y] > 0)
    at.compute_root()
    o.vectorize(x, 16)
    if s: n.vectorize(y, 4, G)
    return [o, n]


@case([("a", "u8", E(W, H)), ("w", "i8", E(W))], [("o", "i16", E(H))])
def matvec_sat16(s, a, w):
    """Bytes times signed bytes, kept in 16 bits."""
    o, r, t = F("matvec_sat16"), RDom([(0, a.width() / 4 * 4)], "r"), F("t")
    ro, ri = RVar("ro"), RVar("ri")
    o[y] = hl.i16(0)
    if s:
        o[y] += cast(i16, a[r, y]) * cast(i16, w[r])
        o.update().atomic().vectorize(r, 16)
    else:
        o[y] = hl.saturating_add(o[y], cast(i16, a[r, y]) * cast(i16, w[r]))
        o.vectorize(y, 8, G).update().reorder(y, r.x).vectorize(y, 8, G)
    return o


@case([("t", "f32", E(W, 50)), ("ids", "u8", E(4, H))], [("o", "f32", E(W, H))], tol=1e-3)
def embedding_bag(s, t, ids):
    """The mean of four rows of a table."""
    o, sums, r = F("embedding_bag"), F("sums"), RDom([(0, 4)], "r")
    sums[x, y] += t[x, cast(i32, ids[r, y]) % 50]
    o[x, y] = sums[x, y] * 0.25
    o.vectorize(x, 8)
    if s: sums.compute_at(o, x).vectorize(x).update().reorder(x, r.x).unroll(r).vectorize(x)
    else: sums.compute_at(o, y).vectorize(x, 8).update().reorder(x, r.x, y).vectorize(x, 8)
    return o


@case([img("a", "f32")], [img("o", "f32")], tol=1e-3)
def disc_mean(s, a):
    """The mean over a disc, by a predicate."""
    o, sums, e = F("disc_mean"), F("sums"), edge(a)
    r = RDom([(-2, 5), (-2, 5)], "r")
    r.where(r.x * r.x + r.y * r.y <= 4)
    sums[x, y] += e[x + r.x, y + r.y]
    o[x, y] = sums[x, y] / 13.0
    o.vectorize(x, 8)
    sums.compute_at(o, x).vectorize(x)
    sums.update().reorder(x, r.x, r.y).vectorize(x)
    if s: sums.update().unroll(r.x).unroll(r.y)
    return o


@case([img("a", "f32")], [("mean", "f32", E(H)), ("dev", "f32", E(H))], tol=1e-3)
def deviation_rows(s, a):
    """Mean and deviation of each row, in parts that are joined."""
    mean, dev, m, r = F("deviation_rows"), F("dev"), F("m"), RDom([(0, a.width())], "r")
    m[y] += a[r, y]
    mean[y] = m[y] / a.width()
    d = F("d")
    d[y] += (a[r, y] - mean[y]) * (a[r, y] - mean[y])
    dev[y] = hl.sqrt(d[y] / a.width())
    ro, ri = RVar("ro"), RVar("ri")
    for f in (m, d):
        f.compute_root()
        if s: f.update().split(r, ro, ri, 8, G).rfactor(ri, u).compute_at(f, y).vectorize(u).update().vectorize(u)
        else: f.update().atomic().vectorize(r, 8)
    mean.compute_root()
    return [mean, dev]


@case([img("a", "u8"), img("b", "bool")], [img("o", "bool")])
def grow_marks(s, a, b):
    """A mark stays, and spreads to bright neighbours."""
    o, m, e = F("grow_marks"), F("m"), hl.BoundaryConditions.constant_exterior(b, hl.cast(hl.Bool(), 0))
    m[x, y] = e[x - 1, y] | e[x, y] | e[x + 1, y]
    o[x, y] = e[x, y] | ((m[x, y - 1] | m[x, y] | m[x, y + 1]) & (a[x, y] > 90))
    o.vectorize(x, 32 if s else 16)
    m.compute_root().vectorize(x, 32 if s else 16)
    return o


@case([img("a", "i64"), img("b", "i64")], [img("o", "i64")])
def mul_q32(s, a, b):
    """Numbers with 32 bits behind the point, saturated to 48 bits."""
    o = F("mul_q32")
    p = (a[x, y] >> 20) * (b[x, y] >> 40)
    o[x, y] = clamp((p + (hl.i64(1) << 11)) >> 12, -(hl.i64(1) << 47), (hl.i64(1) << 47) - 1)
    return plain(o, s, 4)


@case([("a", "i16", E(W, H, 8))], [("o", "i16", E(W, H, 8))])
def sort8(s, a):
    """A network that sorts eight planes."""
    o = F("sort8")
    v = [a[x, y, i] for i in range(8)]
    for i, j in [(0, 2), (1, 3), (4, 6), (5, 7), (0, 4), (1, 5), (2, 6), (3, 7), (0, 1), (2, 3), (4, 5), (6, 7), (2, 4), (3, 5), (1, 4), (3, 6), (1, 2), (3, 4), (5, 6)]:
        v[i], v[j] = hl.min(v[i], v[j]), hl.max(v[i], v[j])
    o[x, y, c] = hl.mux(c, v)
    o.bound(c, 0, 8).reorder(c, x, y).unroll(c).vectorize(x, 16 if s else 8)
    return o


@case([rgb("a", "u8"), ("t", "f32", E(3, 9, 9, 9))], [rgb("o", "u8")], tol=1)
def grade_lut3d(s, a, t):
    """A colour table in three dimensions, between whose points is interpolated."""
    o, g = F("grade_lut3d"), F("g")
    at = [cast(f32, a[x, y, i]) * (8.0 / 255.0) for i in range(3)]
    base = [clamp(cast(i32, v), 0, 7) for v in at]
    part = [v - b for v, b in zip(at, base)]
    mix = lambda p, q, w: p + (q - p) * w
    v = lambda i, j, l: t[c, base[0] + i, base[1] + j, base[2] + l]
    g[x, y, c] = mix(*(mix(*(mix(v(0, j, l), v(1, j, l), part[0]) for j in (0, 1)), part[1]) for l in (0, 1)), part[2])
    o[x, y, c] = cast(u8, clamp(g[x, y, c] * 2.0 + 128.0, 0.0, 255.0))
    o.bound(c, 0, 3)
    if s: o.reorder(c, x, y).unroll(c).vectorize(x, 8)
    else: o.vectorize(x, 8)
    return o


@case([("a", "f32", E(lambda w, h: 2 * w + 2, lambda w, h: 2 * h + 2))], [("o", "f32", E(W, H, 4, 4))], tol=1e-3)
def winograd_input(s, a):
    """Tiles of four by four, taken two apart, turned by both sides."""
    o, rows = F("winograd_input"), F("rows")
    d = lambda i, f: hl.mux(i, [f(0) - f(2), f(1) + f(2), f(2) - f(1), f(1) - f(3)])
    rows[x, y, k] = d(k, lambda j: a[x, 2 * y + j])
    o[x, y, c, k] = d(c, lambda i: rows[2 * x + i, y, k])
    o.bound(c, 0, 4).bound(k, 0, 4).reorder(c, k, x, y).unroll(c).unroll(k).vectorize(x, 8)
    if s: rows.compute_at(o, y).bound(k, 0, 4).reorder(k, x, y).unroll(k).vectorize(x, 8)
    return o


@case([("a", "i8", E(W, H, 4))], [("o", "i8", E(lambda w, h: 2 * w, lambda w, h: 2 * h))])
def depth_to_space(s, a):
    o = F("depth_to_space")
    o[x, y] = a[x / 2, y / 2, x % 2 + 2 * (y % 2)]
    if s: o.align_bounds(x, 2).align_bounds(y, 2).tile(x, y, xi, yi, 32, 2).unroll(yi).vectorize(xi)
    else: o.align_bounds(x, 2).split(y, y, yi, 2).unroll(yi).vectorize(x, 32)
    return o


@case([("a", "i8", E(lambda w, h: 2 * w, lambda w, h: 2 * h))], [("o", "i8", E(W, H, 4))])
def space_to_depth(s, a):
    o = F("space_to_depth")
    o[x, y, c] = a[2 * x + c % 2, 2 * y + c / 2]
    o.bound(c, 0, 4)
    if s: o.reorder(c, x, y).unroll(c).vectorize(x, 16)
    else: o.unroll(c).vectorize(x, 32)
    return o


@case([img("a", "i16")], [img("o", "u8")])
def mulaw_encode(s, a):
    o = F("mulaw_encode")
    sign = cast(u8, select(a[x, y] < 0, hl.u8(128), hl.u8(0)))
    size = cast(u16, hl.min(hl.abs(a[x, y]), hl.u16(32635))) + 132
    exponent = 8 - cast(u8, hl.count_leading_zeros(size))
    mantissa = cast(u8, (size >> (cast(u16, exponent) + 3)) & 15)
    o[x, y] = ~(sign | (exponent << 4) | mantissa)
    return plain(o, s, 16)


@case([rgb("a", "f32")], [rgb("o", "u8")], tol=1)
def filmic(s, a):
    """A quotient of two squares, to bytes."""
    o, v = F("filmic"), hl.max(a[x, y, c] * 0.05, 0.0)
    o[x, y, c] = cast(u8, clamp(v * (2.51 * v + 0.03) / (v * (2.43 * v + 0.59) + 0.14) * 255.0 + 0.5, 0.0, 255.0))
    if s: o.fuse(y, c, y).vectorize(x, 16)
    else: o.vectorize(x, 8)
    return o


@case([img("a", "i8"), img("b", "i8")], [img("o", "i8")])
def add_i8(s, a, b):
    """Two layers on scales of their own, added, as TensorFlow Lite does."""
    o = F("add_i8")
    scaled = lambda v, zero, m, sh: hl.rounding_shift_right(hl.rounding_mul_shift_right((cast(i32, v) - zero) << 20, hl.i32(m), hl.u32(31)), hl.u32(sh))
    t = scaled(a[x, y], -3, 1717986918, 1) + scaled(b[x, y], 9, 1073741824, 0)
    o[x, y] = cast(i8, clamp(hl.rounding_shift_right(hl.rounding_mul_shift_right(t, hl.i32(1401882624), hl.u32(31)), hl.u32(19)) + 4, -128, 127))
    return plain(o, s, 16)


@case([img("a", "f32"), img("b", "f32")], [("o", "f32", E(32, H))], tol=1e-2)
def correlate_shifts(s, a, b):
    """Products of two rows at 32 shifts."""
    o, r = F("correlate_shifts"), RDom([(0, a.width() - 32)], "r")
    o[x, y] += a[r, y] * b[r + x, y]
    o.vectorize(x, 8)
    o.bound(x, 0, 32)
    if s: o.update().reorder(x, r.x, y).vectorize(x, 8).unroll(x)
    else: o.update().reorder(r.x, x, y).vectorize(x, 8)
    return o


@case([img("a", "u16")], [img("o", "u16")])
def wrapped_tile(s, a):
    """A window of the input held in a buffer of its own, with columns that wrap."""
    o, e = F("wrapped_tile"), hl.BoundaryConditions.repeat_image(a)
    t = lambda i, j: cast(u32, e[x + i, y + j])
    o[x, y] = cast(u16, (t(-1, -1) + t(1, -1) + t(-1, 1) + t(1, 1) + 4 * t(0, 0)) >> 3)
    o.tile(x, y, xi, yi, 64, 8).vectorize(xi, 8 if s else 16)
    e.compute_at(o, x).align_storage(e.args()[0], 16)
    if s: e.vectorize(e.args()[0], 8)
    return o


@case([img("a", "f32")], [img("o", "f32")], tol=1e-2)
def staged_input(s, a):
    o, e = F("staged_input"), edge(a)
    o[x, y] = e[x, y] * 4.0 - e[x - 1, y] - e[x + 1, y] - e[x, y - 1] - e[x, y + 1]
    staged = a.in_()
    staged.compute_at(o, y if s else x).vectorize(hl.Var("_0"), 8)
    if s: o.vectorize(x, 8)
    else: o.tile(x, y, xi, yi, 32, 8).vectorize(xi, 8)
    return o


@case([img("a", "u8")], [img("o", "u8")])
def local_threshold(s, a):
    """Beside the mean of a window, from sums over rows and columns that slide."""
    o, rows, cols, e = F("local_threshold"), F("rows"), F("cols"), hl.BoundaryConditions.mirror_image(a)
    rows[x, y] = sum((cast(u16, e[x + i, y]) for i in range(-3, 4)), hl.u16(0))
    cols[x, y] = sum((rows[x, y + j] for j in range(-3, 4)), hl.u16(0))
    o[x, y] = select(cast(u16, a[x, y]) * 49 + 245 < cols[x, y], hl.u8(0), hl.u8(255))
    o.vectorize(x, 16)
    if s: rows.store_root().compute_at(o, y).fold_storage(y, 8).vectorize(x, 16)
    else: rows.compute_root().vectorize(x, 16)
    return o


@case([img("a", "f32")], [img("o", "f32")], tol=1e-3)
def wavelet_wrapped(s, a):
    """Eight taps with a signal that goes on as it began."""
    o, e = F("wavelet_wrapped"), hl.BoundaryConditions.repeat_image(a)
    taps = [0.23, 0.71, 0.63, -0.03, -0.19, 0.03, 0.03, -0.01]
    o[x, y] = sum((e[x + i, y] * t for i, t in enumerate(taps)), hl.f32(0.0))
    return plain(o, s, 8)


@case([img("a", "i16"), ("m", "bool", E(W, H))], [("o", "i32", E(H)), ("n", "u16", E(H))])
def masked_sums(s, a, m):
    """Sums of what a mask has, and how many."""
    o, n, r = F("masked_sums"), F("n"), RDom([(0, a.width())], "r")
    o[y] += select(m[r, y], cast(i32, a[r, y]), 0)
    n[y] += cast(u16, m[r, y])
    for f in (o, n):
        if s: f.update().atomic().vectorize(r, 16)
        else: f.vectorize(y, 8, G).update().vectorize(y, 8, G)
    return [o, n]


@case([rgb("a", "u8")], [rgb("o", "u8")])
def vibrance(s, a):
    """More colour where there is little of it: by the distance of the greatest from the least."""
    o = F("vibrance")
    most, low = hl.max(a[x, y, 0], a[x, y, 1], a[x, y, 2]), hl.min(a[x, y, 0], a[x, y, 1], a[x, y, 2])
    mean = cast(i16, (cast(u16, a[x, y, 0]) + 2 * cast(u16, a[x, y, 1]) + a[x, y, 2]) >> 2)
    by = cast(i16, 255 - (most - low)) >> 2
    o[x, y, c] = hl.saturating_cast(u8, cast(i16, a[x, y, c]) + (((cast(i16, a[x, y, c]) - mean) * by) >> 7))
    o.bound(c, 0, 3)
    if s: o.reorder(c, x, y).unroll(c).vectorize(x, 32)
    else: o.vectorize(x, 16)
    return o


@case([("a", "u8", E(lambda w, h: 3 * w, H))], [("o", "u8", E(lambda w, h: 4 * w, H))])
def base64_like(s, a):
    """Three bytes to four of six bits."""
    o = F("base64_like")
    v = lambda i: cast(u32, a[(x / 4) * 3 + i, y])
    word = (v(0) << 16) | (v(1) << 8) | v(2)
    o[x, y] = cast(u8, (word >> cast(u32, 18 - 6 * (x % 4))) & 63)
    o.align_bounds(x, 4)
    if s: o.vectorize(x, 32)
    else: o.vectorize(x, 16)
    return o


@case([img("a", "f64"), img("b", "f64")], [("o", "f64", E(H))], tol=1e-6)
def kahan_rows(s, a, b):
    """Sums with what rounding took, as Tuples."""
    k2, o, r = F("k2"), F("kahan_rows"), RDom([(0, a.width())], "r")
    k2[y] = (hl.f64(0.0), hl.f64(0.0))
    term = a[r, y] * b[r, y] - k2[y][1]
    total = hl.strict_float(k2[y][0] + term)
    k2[y] = (total, hl.strict_float(hl.strict_float(total - k2[y][0]) - term))
    o[y] = k2[y][0]
    k2.compute_root()
    if s: k2.vectorize(y, 4, G).update().reorder(y, r.x).vectorize(y, 4, G)
    else: k2.update().reorder(r.x, y)
    return o


@case([img("a", "u8"), img("p", "u8")], [img("o", "u8"), img("q", "u8")])
def motion_history(s, a, p):
    """A Tuple of results: what moved, and for how long it has not."""
    o = F("motion_history")
    moved = hl.absd(a[x, y], p[x, y]) > 24
    o[x, y] = (select(moved, hl.u8(255), hl.u8(0)), select(moved, hl.u8(255), p[x, y] - hl.min(p[x, y], hl.u8(16))))
    return plain(o, s, 16)


@case([("a", "i8", E(W, H)), ("w", "i8", E(W, 8)), ("z", "i32", E(8))], [("o", "i8", E(8, H))])
def dense_rows_i8(s, a, w, z):
    """A fully connected layer: sums over the innermost dimension."""
    o, t, r = F("dense_rows_i8"), F("t"), RDom([(0, a.width())], "r")
    t[x, y] = z[x] >> 16
    t[x, y] += cast(i32, cast(i16, a[r, y]) * cast(i16, w[r, x]))
    o[x, y] = hl.saturating_cast(i8, hl.rounding_shift_right(t[x, y], hl.u32(9)))
    o.bound(x, 0, 8).vectorize(x, 8)
    t.compute_at(o, y)
    if s: t.update().atomic().vectorize(r, 32)
    else: t.vectorize(x, 8).update().atomic().vectorize(r, 16).unroll(x, 2)
    return o
