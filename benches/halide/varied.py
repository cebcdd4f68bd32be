"""Pipelines of kinds that the other three lists lack: parts of cameras, equalised histograms, resizing by
fractions, dynamic programming, scans of wide integers, quantised layers, outputs of different types, and
tails and folds that are asked for by name. Each with two natural schedules, as in `corpus.py`, in whose
list they are.
"""
import math

from corpus import E, F, G, H, RDom, RVar, W, bf16, case, cast, clamp, edge, f16, f32, f64, hl, i8, i16, i32, i64, img, rgb, select, u8, u16, u32, u64, x, xi, xo, y, yi, yo, c

Tail = hl.TailStrategy


@case([img("a", "u16")], [img("o", "u16")])
def hot_pixels(s, a):
    """Values beyond all neighbours of the same colour."""
    e, d, o = edge(a), F("d"), F("hot_pixels")
    d[x, y] = e[x, y]
    around = [d[x - 2, y], d[x + 2, y], d[x, y - 2], d[x, y + 2]]
    o[x, y] = clamp(d[x, y], hl.min(*around), hl.max(*around))
    if s: o.split(y, yo, yi, 8).vectorize(x, 16).parallel(yo); d.store_at(o, yo).compute_at(o, yi).vectorize(x, 16)
    else: o.vectorize(x, 32, G); d.compute_root().vectorize(x, 16)
    return o


@case([img("a", "u16")], [img("o", "u16")], scalars=[("k", "f32", 0.00002)], tol=1)
def vignette(s, a, k):
    o = F("vignette")
    dx, dy = cast(f32, x - a.width() / 2), cast(f32, y - a.height() / 2)
    r2 = (dx * dx + dy * dy) * k
    o[x, y] = cast(u16, clamp(cast(f32, a[x, y]) * (1.0 + r2 * (0.5 + r2 * 0.25)) + 0.5, 0.0, 65535.0))
    if s: o.vectorize(x, 16).unroll(y, 2)
    else: o.vectorize(x, 8, G)
    return o


@case([img("a", "u8")], [img("o", "u8")])
def equalise(s, a):
    h, cdf, o = F("h"), F("cdf"), F("equalise")
    r, q = RDom([(0, a.width()), (0, a.height())], "r"), RDom([(1, 255)], "q")
    h[x] = hl.u32(0)
    h[cast(i32, a[r.x, r.y])] += hl.u32(1)
    cdf[x] = h[x]
    cdf[q.x] += cdf[q.x - 1]
    o[x, y] = cast(u8, cdf[cast(i32, a[x, y])] * hl.u32(255) / cast(u32, a.width() * a.height()))
    h.compute_root(); cdf.compute_root()
    if s: h.vectorize(x, 8); cdf.vectorize(x, 8); o.vectorize(x, 16).parallel(y)
    else: o.vectorize(x, 8, G)
    return o


@case([img("a", "u8")], [("o", "i32", E(1)), ("v", "f32", E(1))], tol=1e-3)
def otsu(s, a):
    """The threshold that sets two groups apart furthest."""
    h, n, m, sep, o = F("h"), F("n"), F("m"), F("sep"), F("otsu")
    r, q, t = RDom([(0, a.width()), (0, a.height())], "r"), RDom([(1, 255)], "q"), RDom([(0, 256)], "t")
    h[x] = 0
    h[cast(i32, a[r.x, r.y])] += 1
    n[x], m[x] = h[x], h[x] * x
    n[q.x] += n[q.x - 1]
    m[q.x] += m[q.x - 1]
    total, mean = cast(f32, n[255]), cast(f32, m[255])
    w = cast(f32, n[x])
    apart = mean * w / total - cast(f32, m[x])
    sep[x] = select((w == 0.0) | (w == total), 0.0, apart * apart / (w * (total - w)))
    best = hl.argmax(sep[t.x])
    o[x] = (best[0], best[1])
    h.compute_root(); n.compute_root(); m.compute_root(); sep.compute_root()
    if s: sep.vectorize(x, 8); n.vectorize(x, 8); m.vectorize(x, 8)
    return o


@case([img("a", "u8")], [("o", "u8", lambda w, h: (w * 5 // 7, h * 5 // 7))], scalars=[("scale", "f32", 1.4)], tol=1)
def bicubic(s, a, scale):
    e, k, hx, o = edge(a), F("k"), F("hx"), F("bicubic")
    r = RDom([(0, 4)], "r")
    at = (cast(f32, x) + 0.5) * scale - 0.5
    first = cast(i32, hl.floor(at))
    t = hl.abs(at - cast(f32, first + c - 1))
    k[x, c] = select(t < 1.0, (1.5 * t - 2.5) * t * t + 1.0, t < 2.0, ((-0.5 * t + 2.5) * t - 4.0) * t + 2.0, 0.0)
    ys = (cast(f32, y) + 0.5) * scale - 0.5
    fy = cast(i32, hl.floor(ys))
    hx[x, y] = hl.sum(k[x, r.x] * cast(f32, e[first + r.x - 1, y]))
    o[x, y] = hl.saturating_cast(u8, hl.sum(k[y, r.x] * hx[x, fy + r.x - 1]) + 0.5)
    k.compute_root().vectorize(x, 8)
    if s: hx.compute_root().vectorize(x, 8); o.vectorize(x, 8).parallel(y)
    else: hx.compute_at(o, y).vectorize(x, 8); o.vectorize(x, 16)
    return o


@case([img("a", "i64")], [img("o", "i64")])
def scan_i64(s, a):
    o, r = F("scan_i64"), RDom([(1, a.height() - 1)], "r")
    o[x, y] = a[x, y] >> 8
    o[x, r.x] += o[x, r.x - 1]
    if s: o.vectorize(x, 4); o.update().vectorize(x, 4, G)
    else: o.vectorize(x, 8, G); o.update().reorder(x, r.x).vectorize(x, 8, G).unroll(x, 2)
    return o


@case([("a", "i16", E(W, 8, H))], [("o", "i16", E(W, 8, H))])
def hadamard8(s, a):
    o, stages = F("hadamard8"), [a]
    for k, step in enumerate((1, 2, 4)):
        f, p = F(f"stage{k}"), stages[-1]
        low = (y / step) % 2 == 0
        f[x, y, c] = select(low, p[x, y, c] + p[x, hl.min(y + step, 7), c], p[x, hl.max(y - step, 0), c] - p[x, y, c])
        stages.append(f)
    o[x, y, c] = stages[-1][x, y, c]
    o.bound(y, 0, 8).vectorize(x, 16)
    for f in stages[1:]: f.compute_at(o, c).vectorize(x, 16)
    if s:
        o.unroll(y)
        for f in stages[1:]: f.bound_storage(y, 8).unroll(y)
    return o


@case([img("a", "i16")], [("l", "i16", lambda w, h: (w // 2, h)), ("h", "i16", lambda w, h: (w // 2, h))])
def lifting53(s, a):
    """The reversible wavelet of JPEG 2000, along rows."""
    e, hi, lo, o = edge(a), F("hi"), F("lo"), F("lifting53")
    hi[x, y] = e[2 * x + 1, y] - ((cast(i32, e[2 * x, y]) + e[2 * x + 2, y]) >> 1)
    hi16 = lambda i: cast(i32, cast(i16, hi[i, y]))
    o[x, y] = (cast(i16, e[2 * x, y] + ((hi16(x - 1) + hi16(x) + 2) >> 2)), cast(i16, hi[x, y]))
    if s: hi.compute_at(o, y).vectorize(x, 8); o.vectorize(x, 8)
    else: o.vectorize(x, 16, G)
    return o


@case([("a", "u8", E(16, W, H))], [("o", "u8", lambda w, h: (16, (w + 1) // 2, (h + 1) // 2))], sizes=[(19, 11), (34, 9), (40, 7), (66, 18)])
def avgpool3s2_q(s, a):
    """Windows of three by three by step two, of what is inside of the image."""
    sm, o, r = F("sm"), F("avgpool3s2_q"), RDom([(-1, 3), (-1, 3)], "r")
    px, py = 2 * x + r.x, 2 * y + r.y
    r.where((px >= 0) & (px < a.dim(1).extent()) & (py >= 0) & (py < a.dim(2).extent()))
    sm[c, x, y] = (hl.u16(0), hl.u16(0))
    sm[c, x, y] = (sm[c, x, y][0] + cast(u16, a[c, clamp(px, 0, a.dim(1).extent() - 1), clamp(py, 0, a.dim(2).extent() - 1)]), sm[c, x, y][1] + hl.u16(1))
    o[c, x, y] = cast(u8, (sm[c, x, y][0] + sm[c, x, y][1] / 2) / hl.max(sm[c, x, y][1], hl.u16(1)))
    o.bound(c, 0, 16).vectorize(c, 16)
    sm.compute_at(o, x).vectorize(c, 16)
    sm.update().reorder(c, r.x, r.y).vectorize(c, 16)
    if s: sm.update().unroll(r.x).unroll(r.y)
    return o


@case([("a", "u8", E(8, W, H)), ("w", "u8", E(16, 8, 3, 3)), ("b", "i32", E(16))], [("o", "u8", lambda W, H: (16, W - 2, H - 2))], scalars=[("za", "u8", 11), ("zw", "u8", 128)], sizes=[(19, 11), (34, 9), (40, 7), (66, 18)])
def conv3x3_q(s, a, w, b, za, zw):
    o, acc = F("conv3x3_q"), F("acc")
    r = RDom([(0, 8), (0, 3), (0, 3)], "r")
    acc[c, x, y] = b[c] >> 16
    acc[c, x, y] += (cast(i32, a[r.x, x + r.y, y + r.z]) - cast(i32, za)) * (cast(i32, w[c, r.x, r.y, r.z]) - cast(i32, zw))
    o[c, x, y] = hl.saturating_cast(u8, (acc[c, x, y] >> 9) + 128)
    o.bound(c, 0, 16).vectorize(c, 16)
    acc.compute_at(o, x).vectorize(c, 8)
    if s: acc.update().reorder(c, r.x, r.y, r.z).vectorize(c, 8).unroll(c).unroll(r.x, 2)
    else: acc.update().reorder(c, r.x, r.y, r.z).vectorize(c, 8)
    return o


@case([("a", "f32", E(16, W, H)), ("w", "f32", E(16, 3, 3))], [("o", "f32", lambda w, h: (16, (w - 1) // 2, (h - 1) // 2))], tol=1e-2, sizes=[(19, 11), (34, 9), (40, 7), (66, 18)])
def depthwise_s2(s, a, w):
    o, d, r = F("depthwise_s2"), F("dw"), RDom([(0, 3), (0, 3)], "r")
    d[c, x, y] += w[c, r.x, r.y] * a[c, 2 * x + r.x, 2 * y + r.y]
    o[c, x, y] = clamp(d[c, x, y], 0.0, 6.0)
    o.vectorize(c, 8)
    if s: o.split(x, x, xi, 2, G).reorder(c, xi, x, y); d.compute_at(o, x).vectorize(c, 8).unroll(x); d.update().reorder(c, x, r.x, r.y).vectorize(c, 8).unroll(x)
    else: d.compute_at(o, x).vectorize(c, 8); d.update().unroll(r.x).unroll(r.y).vectorize(c, 8)
    return o


@case([("a", "f64", E(W, H))], [("o", "f64", lambda w, h: (h, w))])
def transpose64(s, a):
    o = F("transpose64")
    o[x, y] = a[y, x]
    if s: o.tile(x, y, xi, yi, 4, 4, G).vectorize(xi).unroll(yi)
    else: o.vectorize(x, 4, G)
    return o


@case([img("a", "f32")], [("o", "i32", E(W)), ("v", "f32", E(W))])
def argmax_columns(s, a):
    m, o, r = F("m"), F("argmax_columns"), RDom([(0, a.height())], "r")
    m[x] = (0, hl.f32(-1e30))
    better = a[x, r.x] > m[x][1]
    m[x] = (select(better, r.x, m[x][0]), select(better, a[x, r.x], m[x][1]))
    o[x] = (m[x][0], m[x][1])
    o.vectorize(x, 8)
    if s: m.compute_at(o, x).vectorize(x, 8); m.update().reorder(x, r.x).vectorize(x, 8)
    else: m.compute_root().vectorize(x, 8); m.update().reorder(x, r.x).vectorize(x, 16, G)
    return o


@case([("a", "f64", E(W, H)), ("v", "f64", E(W))], [("o", "f64", E(H))], tol=1e-9)
def matvec_f64(s, a, v):
    o, m, r = F("matvec_f64"), F("m"), RDom([(0, a.width())], "r")
    m[y] += a[r.x, y] * v[r.x]
    o[y] = m[y]
    if s:
        ro, ri, u = RVar("ro"), RVar("ri"), hl.Var("u")
        m.compute_at(o, y)
        it = m.update().split(r.x, ro, ri, 4, G).rfactor(ri, u)
        it.compute_at(m, y).vectorize(u, 4); it.update().reorder(u, ro).vectorize(u, 4)
    else: m.compute_root(); o.vectorize(y, 4, G)
    return o


@case([img("y8", "u8"), ("cu", "u8", lambda w, h: (w // 2 + 1, h // 2 + 1)), ("cv", "u8", lambda w, h: (w // 2 + 1, h // 2 + 1))], [rgb("o", "u8")])
def i420_rgb(s, y8, cu, cv):
    o = F("i420_rgb")
    Y = (cast(i32, y8[x, y]) - 16) * 298
    u, v = cast(i32, cu[x / 2, y / 2]) - 128, cast(i32, cv[x / 2, y / 2]) - 128
    part = lambda e: hl.saturating_cast(u8, (e + 128) >> 8)
    o[x, y, c] = hl.mux(c, [part(Y + 409 * v), part(Y - 100 * u - 208 * v), part(Y + 516 * u)])
    o.bound(c, 0, 3).reorder(c, x, y).unroll(c)
    if s: o.align_bounds(x, 2).vectorize(x, 16, G).unroll(y, 2)
    else: o.vectorize(x, 32, G)
    return o


@case([img("a", "u8"), img("b", "i16")], [("n", "u64", E(H)), ("q", "i64", E(H)), ("m", "u8", E(H)), ("f", "f64", E(H))])
def row_statistics(s, a, b):
    """Four sums of four types at once."""
    o, t, r = F("row_statistics"), F("t"), RDom([(0, a.width())], "r")
    p, q = a[r.x, y], b[r.x, y]
    t[y] = (hl.u64(0), hl.i64(0), hl.u8(0), hl.f64(0))
    t[y] = (t[y][0] + cast(u64, p), t[y][1] + cast(i64, q) * cast(i64, q), hl.max(t[y][2], p), t[y][3] + cast(f64, p) * 0.5)
    o[y] = (t[y][0], t[y][1], t[y][2], t[y][3])
    if s: t.compute_at(o, y); o.parallel(y)
    else: t.compute_root(); o.vectorize(y, 4, G)
    return o


@case([img("a", "i32"), img("b", "u64")], [("o", "i32", E(W, H)), ("p", "u64", E(W, H))], scalars=[("d", "i32", 77)])
def quotients(s, a, b, d):
    """Quotients and rests, by constants and by a number that is given."""
    o = F("quotients")
    o[x, y] = (a[x, y] / 7 + a[x, y] % 13 + (a[x, y] >> 3) / d, b[x, y] / hl.u64(10) + b[x, y] % hl.u64(1000))
    d.set_range(1, 1000)
    if s: o.vectorize(x, 8)
    else: o.vectorize(x, 4, G)
    return o


@case([img("a", "u8"), img("b", "u8")], [("o", "bool", E(H)), ("p", "bool", E(H))])
def any_all(s, a, b):
    o, t, r = F("any_all"), F("t"), RDom([(0, a.width())], "r")
    more = a[r.x, y] > (b[r.x, y] >> 1)
    t[y] = (cast(hl.Bool(), False), cast(hl.Bool(), True))
    t[y] = (t[y][0] | more, t[y][1] & (more | (a[r.x, y] < 250)))
    o[y] = (t[y][0], t[y][1])
    if s: t.compute_root().vectorize(y, 8); t.update().vectorize(y, 8, G); o.vectorize(y, 8, G)
    else: t.compute_at(o, y)
    return o


@case([img("a", "i16"), img("b", "u8")], [img("o", "i16")])
def tails_predicate(s, a, b):
    o = F("tails_predicate")
    v = cast(i32, a[x, y]) * cast(i32, b[x, y])
    o[x, y] = hl.saturating_cast(i16, (v + 64) >> 7)
    if s: o.vectorize(x, 16, Tail.Predicate)
    else: o.vectorize(x, 16, Tail.PredicateStores)
    return o


@case([img("a", "u8")], [img("o", "u16")])
def tails_named(s, a):
    e, b, o = edge(a), F("b"), F("tails_named")
    b[x, y] = cast(u16, e[x - 1, y]) + 2 * cast(u16, e[x, y]) + cast(u16, e[x + 1, y])
    o[x, y] = b[x, y - 1] + 2 * b[x, y] + b[x, y + 1]
    if s: o.split(x, xo, xi, 64, Tail.ShiftInwards).vectorize(xi, 16); b.compute_at(o, xo).vectorize(x, 16, Tail.RoundUp)
    else: o.vectorize(x, 16, Tail.GuardWithIf); b.compute_at(o, y).vectorize(x, 16, Tail.PredicateLoads)
    return o


@case([("a", "bf16", E(W, H)), ("g", "bf16", E(W))], [("o", "bf16", E(W, H))], tol=128)
def bf16_gelu(s, a, g):
    o = F("bf16_gelu")
    v = cast(f32, a[x, y]) * cast(f32, g[x])
    o[x, y] = cast(bf16, v / (1.0 + hl.exp(-1.702 * v)))
    if s: o.vectorize(x, 16).parallel(y)
    else: o.vectorize(x, 8, G)
    return o


@case([img("a", "f16"), img("b", "f16")], [img("o", "f16")], tol=3e-2)
def half_native(s, a, b):
    """Arithmetic of half floats, not of floats that were extended."""
    o = F("half_native")
    o[x, y] = hl.max(a[x, y] * b[x, y] + a[x, y], cast(f16, 0.0))
    if s: o.vectorize(x, 16)
    else: o.vectorize(x, 8, G)
    return o


@case([("l", "f32", E(H, H)), ("b", "f32", E(W, H))], [("o", "f32", E(W, H))], tol=1e-2, sizes=[(37, 13), (40, 16), (65, 9), (128, 24)])
def forward_substitution(s, l, b):
    """Solves a system that is a triangle of ones below the diagonal, for many columns."""
    o, r = F("forward_substitution"), RDom([(0, l.height()), (0, l.height())], "r")
    r.where(r.x < r.y)
    o[x, y] = b[x, y]
    o[x, r.y] -= l[r.x, r.y] * 0.002 * o[x, r.x]
    o.vectorize(x, 8)
    if s: o.update().reorder(x, r.x, r.y).vectorize(x, 8)
    else: o.update().reorder(r.x, r.y, x).vectorize(x, 8)
    return o


@case([img("a", "u8")], [img("o", "u8")])
def folded_stages(s, a):
    """Three stages that slide along rows, the storage of which is folded."""
    e, f, g, o = edge(a), F("f"), F("g"), F("folded_stages")
    w = lambda p, i, j: cast(u16, p[x + i, y + j])
    f[x, y] = cast(u8, (w(e, -1, 0) + 2 * w(e, 0, 0) + w(e, 1, 0) + 2) >> 2)
    g[x, y] = cast(u8, (w(f, 0, -1) + 2 * w(f, 0, 0) + w(f, 0, 1) + 2) >> 2)
    o[x, y] = hl.absd(g[x, y + 1], g[x, y - 1])
    if s: f.store_root().compute_at(o, y).fold_storage(y, 8).vectorize(x, 32); g.store_root().compute_at(o, y).vectorize(x, 32); o.vectorize(x, 32)
    else: f.store_at(o, yo).compute_at(g, y).vectorize(x, 16); g.store_at(o, yo).compute_at(o, yi).vectorize(x, 16); o.split(y, yo, yi, 16, G).vectorize(x, 16)
    return o


@case([img("a", "f32"), img("p", "f32")], [img("o", "f32")], tol=2e-2)
def guided_filter(s, a, p):
    ea, ep = edge(a), edge(p)
    t, row, mean, ab, o = F("t"), F("row"), F("mean"), F("ab"), F("guided_filter")
    i, q = ea[x, y] * 0.02, ep[x, y] * 0.02
    t[x, y, c] = hl.mux(c, [i, q, i * q, i * i])
    row[x, y, c] = t[x - 1, y, c] + t[x, y, c] + t[x + 1, y, c]
    mean[x, y, c] = (row[x, y - 1, c] + row[x, y, c] + row[x, y + 1, c]) * (1.0 / 9.0)
    slope = (mean[x, y, 2] - mean[x, y, 0] * mean[x, y, 1]) / (mean[x, y, 3] - mean[x, y, 0] * mean[x, y, 0] + 0.1)
    ab[x, y] = (slope, mean[x, y, 1] - slope * mean[x, y, 0])
    o[x, y] = ab[x, y][0] * ea[x, y] * 0.02 + ab[x, y][1]
    o.vectorize(x, 8)
    if s: row.compute_at(o, y).store_at(o, yo).vectorize(x, 8).unroll(c); o.split(y, yo, y, 8, G)
    else: t.compute_root().vectorize(x, 8); mean.compute_root().vectorize(x, 8); ab.compute_at(o, y).vectorize(x, 8)
    return o


@case([img("a", "u8")], [img("o", "u16")])
def seam_costs(s, a):
    """The cheapest way down to each place."""
    e, m, o = edge(a), F("m"), F("seam_costs")
    w = a.width()
    r = RDom([(0, w), (1, a.height() - 1)], "r")
    m[x, y] = cast(u16, hl.absd(e[x + 1, y], e[x - 1, y]))
    before = lambda i: m[clamp(r.x + i, 0, w - 1), r.y - 1]
    m[r.x, r.y] += hl.min(before(-1), before(0), before(1))
    o[x, y] = m[x, y]
    m.compute_root().vectorize(x, 16)
    # A row reads only the one before it.
    if s: m.update().allow_race_conditions().vectorize(r.x, 16, G); o.vectorize(x, 16)
    else: o.vectorize(x, 32, G)
    return o


@case([img("a", "u8")], [img("o", "u16")])
def distance_rows(s, a):
    """How far the nearest bright pixel is: down, then up."""
    d, o = F("d"), F("distance_rows")
    r = RDom([(1, a.height() - 1)], "r")
    up = a.height() - 1 - r.x
    d[x, y] = select(a[x, y] > 200, hl.u16(0), hl.u16(10000))
    d[x, r.x] = hl.min(d[x, r.x], d[x, r.x - 1] + hl.u16(1))
    d[x, up] = hl.min(d[x, up], d[x, up + 1] + hl.u16(1))
    o[x, y] = d[x, y]
    d.compute_root()
    if s: d.vectorize(x, 16); d.update(0).vectorize(x, 16); d.update(1).vectorize(x, 16); o.vectorize(x, 16)
    else: d.update(0).reorder(x, r.x).vectorize(x, 16, G); d.update(1).reorder(x, r.x).vectorize(x, 16, G)
    return o


@case([rgb("a", "u8"), ("p", "u8", E(3, 16))], [img("o", "u8")])
def palette16(s, a, p):
    """The nearest of sixteen colours."""
    o, d, r = F("palette16"), F("d"), RDom([(0, 16)], "r")
    apart = lambda k: cast(i32, a[x, y, k]) - cast(i32, p[k, c])
    d[x, y, c] = apart(0) * apart(0) + apart(1) * apart(1) + apart(2) * apart(2)
    o[x, y] = cast(u8, hl.argmin(d[x, y, r.x])[0])
    if s: o.vectorize(x, 16)
    else: o.vectorize(x, 8, G)
    return o


@case([img("a", "u8")], [img("o", "u8")], scalars=[("co", "f32", 0.96), ("si", "f32", 0.28)])
def warp_nearest(s, a, co, si):
    o = F("warp_nearest")
    sx = cast(i32, hl.round(co * cast(f32, x) - si * cast(f32, y)))
    sy = cast(i32, hl.round(si * cast(f32, x) + co * cast(f32, y)))
    inside = (sx >= 0) & (sx < a.width()) & (sy >= 0) & (sy < a.height())
    o[x, y] = select(inside, a[clamp(sx, 0, a.width() - 1), clamp(sy, 0, a.height() - 1)], hl.u8(0))
    if s: o.vectorize(x, 16).parallel(y)
    else: o.vectorize(x, 8, G)
    return o


@case([("a", "i16", E(64, H)), ("t", "u16", E(64)), ("z", "u8", E(64))], [("o", "i16", E(64, H))])
def quantised_zigzag(s, a, t, z):
    """Coefficients by their steps, in the order of a table."""
    q, o = F("q"), F("quantised_zigzag")
    step = cast(i32, t[x] >> 8) + 1
    v = cast(i32, a[x, y])
    q[x, y] = cast(i16, select(v < 0, -((-v + step / 2) / step), (v + step / 2) / step))
    o[x, y] = q[cast(i32, z[x] & 63), y]
    q.compute_at(o, y).vectorize(x, 8)
    if s: o.bound(x, 0, 64).vectorize(x, 16)
    else: o.vectorize(x, 8, G)
    return o


@case([img("a", "u16")], [(n, "u16", lambda w, h: (w // 2, h // 2)) for n in ("r", "gr", "gb", "b")])
def bayer_planes(s, a):
    o = F("bayer_planes")
    p = lambda i, j: hl.saturating_sub(a[2 * x + i, 2 * y + j], hl.u16(64))
    o[x, y] = (p(0, 0), p(1, 0), p(0, 1), p(1, 1))
    if s: o.vectorize(x, 16).parallel(y)
    else: o.vectorize(x, 8, G)
    return o


@case([img("re", "f32"), img("im", "f32")], [("m", "f32", E(W, H)), ("p", "f32", E(W, H))], tol=1e-4)
def polar_of(s, re, im):
    o = F("polar_of")
    o[x, y] = (hl.sqrt(re[x, y] * re[x, y] + im[x, y] * im[x, y]), hl.atan2(im[x, y], re[x, y]))
    if s: o.vectorize(x, 8)
    else: o.vectorize(x, 4, G)
    return o


@case([img("a", "u32")], [("o", "u8", E(W, H)), ("z", "u32", E(W, H))])
def leading_bits(s, a):
    o = F("leading_bits")
    v = a[x, y] >> cast(u32, x & 31)
    o[x, y] = (cast(u8, 32 - hl.count_leading_zeros(v | 1)), cast(u32, hl.count_trailing_zeros(v | hl.u32(0x80000000))) ^ ~v)
    if s: o.vectorize(x, 8)
    else: o.vectorize(x, 16, G)
    return o


@case([("a", "u8", lambda w, h: (w * 3, h)), ("t", "u8", E(64))], [("o", "u8", lambda w, h: (w * 4, h))])
def base64(s, a, t):
    o = F("base64")
    p = lambda k: cast(u32, a[x / 4 * 3 + k, y])
    word = (p(0) << 16) | (p(1) << 8) | p(2)
    o[x, y] = t[cast(i32, (word >> cast(u32, 18 - 6 * (x % 4))) & 63)]
    if s: o.align_bounds(x, 4).vectorize(x, 16, G)
    else: o.split(x, xo, xi, 4, G).unroll(xi).vectorize(xo, 8, G)
    return o
