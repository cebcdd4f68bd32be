"""Pipelines of the kinds that Halide's users write, each with two natural schedules.

A pipeline is a function of the schedule, 0 or 1, and of its inputs; it gives a Func, or several.
`corpus_check.py` imports each, compares its results with those of Halide's own code at several
sizes, and times both. Nothing here was chosen for what the importer takes.
"""
import functools
import math

import halide as hl

x, y, c, z = hl.Var("x"), hl.Var("y"), hl.Var("c"), hl.Var("z")
xo, yo, xi, yi = hl.Var("xo"), hl.Var("yo"), hl.Var("xi"), hl.Var("yi")
f16, bf16, f32, f64 = hl.Float(16), hl.BFloat(16), hl.Float(32), hl.Float(64)
i8, u8, i16, u16, i32, u32, i64, u64 = hl.Int(8), hl.UInt(8), hl.Int(16), hl.UInt(16), hl.Int(32), hl.UInt(32), hl.Int(64), hl.UInt(64)
cast, clamp, select = hl.cast, hl.clamp, hl.select
G = hl.TailStrategy.GuardWithIf
F, RDom, RVar = hl.Func, hl.RDom, hl.RVar
CASES = {}


class Case:
    """A pipeline with what it is run on."""

    def __init__(self, make, inputs, outputs, scalars, tol, chunky, sizes):
        self.make, self.inputs, self.outputs, self.scalars = make, inputs, outputs, scalars
        self.tol, self.chunky = tol, chunky
        self.sizes = sizes or [(131, 37), (200, 33), (97, 65), (384, 64)]


def case(inputs, outputs, scalars=(), tol=0.0, chunky=(), sizes=None):
    """Registers a pipeline. Inputs and outputs are (name, type, extents of a width and a height)."""

    def register(make):
        if make.__name__ in CASES:
            raise ValueError(f"there are two pipelines called `{make.__name__}`")
        CASES[make.__name__] = Case(make, inputs, outputs, scalars, tol, chunky, sizes)
        return make

    return register


def E(*extents):
    return lambda w, h: tuple(e(w, h) if callable(e) else e for e in extents)


def W(w, h):
    return w


def H(w, h):
    return h


def img(name, kind):
    return name, kind, E(W, H)


def rgb(name, kind, channels=3):
    return name, kind, E(W, H, channels)


def edge(a):
    return hl.BoundaryConditions.repeat_edge(a)


def chunky(*buffers, ch=3):
    """Channels beside each other in memory."""
    for b in buffers:
        b.dim(0).set_stride(ch)
        b.dim(2).set_stride(1).set_bounds(0, ch)

@case([rgb("a", "u8")], [img("o", "u8")], tol=1)
def gray(s, a):
    o = F("gray")
    o[x, y] = cast(u8, clamp(0.299 * a[x, y, 0] + 0.587 * a[x, y, 1] + 0.114 * a[x, y, 2] + 0.5, 0.0, 255.0))
    if s: o.tile(x, y, xi, yi, 64, 4).vectorize(xi, 16).parallel(y)
    else: o.vectorize(x, 32)
    return o

@case([rgb("a", "u8")], [img("oy", "u8"), ("ou", "u8", lambda w, h: (w // 2, h // 2)), ("ov", "u8", lambda w, h: (w // 2, h // 2))], chunky=("a",))
def yuv420(s, a):
    chunky(a)
    Y, U, V, p = F("lum"), F("cu"), F("cv"), F("p")
    px = lambda k: cast(i32, a[x, y, k])
    Y[x, y] = cast(u8, ((66 * px(0) + 129 * px(1) + 25 * px(2) + 128) >> 8) + 16)
    avg = lambda k: (cast(u16, a[2*x, 2*y, k]) + a[2*x+1, 2*y, k] + a[2*x, 2*y+1, k] + a[2*x+1, 2*y+1, k] + 2) / 4
    r, g, b = (cast(i32, avg(k)) for k in range(3))
    U[x, y] = cast(u8, ((-38 * r - 74 * g + 112 * b + 128) >> 8) + 128)
    V[x, y] = cast(u8, ((112 * r - 94 * g - 18 * b + 128) >> 8) + 128)
    Y.vectorize(x, 32)
    U.vectorize(x, 16); V.vectorize(x, 16)
    if s: Y.parallel(y, 4); U.parallel(y); V.parallel(y)
    return [Y, U, V]

@case([img("a", "u8")], [img("o", "u8")], scalars=[("g", "f32", 0.4545)])
def gamma_lut(s, a, g):
    lut, o = F("lut"), F("gamma_lut")
    lut[x] = cast(u8, clamp(hl.pow(cast(f32, x) / 255.0, g) * 255.0 + 0.5, 0.0, 255.0))
    o[x, y] = lut[cast(i32, a[x, y])]
    lut.compute_root()
    if s: lut.vectorize(x, 8); o.vectorize(x, 32).parallel(y)
    else: o.vectorize(x, 16)
    return o

@case([img("a", "u8")], [("o", "u32", lambda w, h: (256, h))])
def hist_rows(s, a):
    o, r = F("hist_rows"), RDom([(0, a.width())], "r")
    o[x, y] = hl.u32(0)
    o[clamp(cast(i32, a[r.x, y]), 0, 255), y] += hl.u32(1)
    if s: o.vectorize(x, 8).parallel(y); o.update().parallel(y)
    else: o.compute_root()
    return o

@case([img("a", "u8")], [img("o", "u8")], tol=1)
def unsharp(s, a):
    p, bx, by, o = edge(a), F("bx"), F("by"), F("unsharp")
    w = [math.exp(-i * i / (2 * 1.5 * 1.5)) for i in range(4)]
    t = w[0] + 2 * sum(w[1:])
    w = [v / t for v in w]
    g = F("g"); g[x, y] = cast(f32, p[x, y])
    by[x, y] = w[0] * g[x, y] + sum((w[i] * (g[x, y - i] + g[x, y + i]) for i in range(1, 4)), hl.f32(0))
    bx[x, y] = w[0] * by[x, y] + sum((w[i] * (by[x - i, y] + by[x + i, y]) for i in range(1, 4)), hl.f32(0))
    o[x, y] = hl.saturating_cast(u8, 2 * g[x, y] - bx[x, y])
    if s: o.split(y, y, yi, 16).parallel(y).vectorize(x, 8); by.store_at(o, y).compute_at(o, yi).vectorize(x, 8)
    else: o.vectorize(x, 16); by.compute_root().vectorize(x, 8)
    return o

@case([img("a", "f32")], [img("o", "f32")], tol=1e-3, sizes=[(65, 33), (104, 40), (97, 65), (192, 64)])
def bilateral_grid(s, a):
    ss, rs = 8, 10.0
    p = F("cl"); e = edge(a); p[x, y] = clamp(e[x, y] / 64.0, 0.0, 1.0)
    r = RDom([(0, ss), (0, ss)], "r")
    h = F("grid")
    v = p[x * ss + r.x - ss // 2, y * ss + r.y - ss // 2]
    zi = cast(i32, v * rs + 0.5)
    h[x, y, z, c] = hl.f32(0)
    h[x, y, zi, c] += hl.mux(c, [v, hl.f32(1.0)])
    bz, bx, by, o, it = F("bz"), F("bx"), F("by"), F("bilateral"), F("it")
    five = lambda f, d: f(-2) + f(-1) * 4 + f(0) * 6 + f(1) * 4 + f(2)
    bz[x, y, z, c] = five(lambda k: h[x, y, z + k, c], 0)
    bx[x, y, z, c] = five(lambda k: bz[x + k, y, z, c], 0)
    by[x, y, z, c] = five(lambda k: bx[x, y + k, z, c], 0)
    v = p[x, y] * rs
    zi = cast(i32, v); zf = v - zi
    xf, yf = cast(f32, x % ss) / ss, cast(f32, y % ss) / ss
    X, Y = x / ss, y / ss
    L = hl.lerp
    it[x, y, c] = L(L(L(by[X, Y, zi, c], by[X + 1, Y, zi, c], xf), L(by[X, Y + 1, zi, c], by[X + 1, Y + 1, zi, c], xf), yf),
                    L(L(by[X, Y, zi + 1, c], by[X + 1, Y, zi + 1, c], xf), L(by[X, Y + 1, zi + 1, c], by[X + 1, Y + 1, zi + 1, c], xf), yf), zf)
    o[x, y] = it[x, y, 0] / it[x, y, 1]
    h.compute_root()
    bz.compute_root().reorder(c, z, x, y)
    bx.compute_root().reorder(c, x, y, z); by.compute_root().reorder(c, x, y, z)
    if s: bx.vectorize(x, 8); by.vectorize(x, 8); o.parallel(y).vectorize(x, 8)
    else: o.vectorize(x, 4)
    return o

@case([img("a", "u16")], [img("o", "u16")], scalars=[("alpha", "f32", 0.7), ("levels", "i32", 4)], tol=1, sizes=[(131, 37), (200, 33), (97, 65), (256, 64)])
def local_laplacian(s, a, alpha, levels):
    e = edge(a)
    remap, g0, g1, gp, lap, out, o = F("remap"), F("g0"), F("g1"), F("gp"), F("lap"), F("outg"), F("local_laplacian")
    fx = cast(f32, x) / 256.0
    remap[x] = alpha * fx * hl.exp(-fx * fx / 2.0)
    fl = F("fl"); fl[x, y] = cast(f32, e[x, y]) / 65535.0
    lev = cast(f32, z) * (1.0 / (levels - 1))
    idx = clamp(cast(i32, fl[x, y] * cast(f32, levels - 1) * 256.0), 0, (levels - 1) * 256)
    gp[x, y, z] = (fl[x, y] - lev) + lev + remap[idx - 256 * z]
    dx, dn, ux, up = F("dx"), F("dn"), F("ux"), F("up")
    dx[x, y, z] = (gp[2 * x - 1, y, z] + 3.0 * (gp[2 * x, y, z] + gp[2 * x + 1, y, z]) + gp[2 * x + 2, y, z]) / 8.0
    dn[x, y, z] = (dx[x, 2 * y - 1, z] + 3.0 * (dx[x, 2 * y, z] + dx[x, 2 * y + 1, z]) + dx[x, 2 * y + 2, z]) / 8.0
    ux[x, y, z] = 0.25 * dn[(x / 2) - 1 + 2 * (x % 2), y, z] + 0.75 * dn[x / 2, y, z]
    up[x, y, z] = 0.25 * ux[x, (y / 2) - 1 + 2 * (y % 2), z] + 0.75 * ux[x, y / 2, z]
    lap[x, y, z] = gp[x, y, z] - up[x, y, z]
    level = fl[x, y] * cast(f32, levels - 1)
    li = clamp(cast(i32, level), 0, levels - 2); lf = level - cast(f32, li)
    o[x, y] = cast(u16, clamp(((1.0 - lf) * lap[x, y, li] + lf * lap[x, y, li + 1] + fl[x, y]), 0.0, 1.0) * 65535.0)
    remap.compute_root(); fl.compute_root().vectorize(x, 8)
    gp.compute_root().vectorize(x, 8); dn.compute_root().vectorize(x, 8)
    if s: o.vectorize(x, 8).parallel(y, 8); gp.parallel(z); ux.compute_at(o, y).vectorize(x, 8)
    else: o.vectorize(x, 4)
    return o

@case([img("a", "f32")], [img("o", "f32")], scalars=[("k", "f32", 0.3)], tol=1e-4)
def iir(s, a, k):
    b, o = F("b"), F("iir")
    w, h = a.width(), a.height()
    r, q = RDom([(1, h - 1)], "r"), RDom([(1, h - 1)], "q")
    b[x, y] = a[x, y]
    b[x, r.x] = lerp_(b[x, r.x - 1], a[x, r.x], k)
    yy = h - 1 - q.x
    b[x, yy] = lerp_(b[x, yy + 1], b[x, yy], k)
    o[x, y] = b[x, y]
    if s: b.compute_root().vectorize(x, 8); b.update(0).vectorize(x, 8); b.update(1).vectorize(x, 8); o.vectorize(x, 8)
    else: b.compute_root(); b.update(0).reorder(x, r.x).vectorize(x, 8, G); b.update(1).reorder(x, q.x).vectorize(x, 8, G)
    return o
def lerp_(p, q, k): return p * (1.0 - k) + q * k

@case([img("a", "u8")], [img("o", "u32")])
def integral(s, a):
    sx, o = F("sx"), F("integral")
    r, q = RDom([(1, a.width() - 1)], "r"), RDom([(1, a.height() - 1)], "q")
    sx[x, y] = cast(u32, a[x, y])
    sx[r.x, y] += sx[r.x - 1, y]
    o[x, y] = sx[x, y]
    o[x, q.x] += o[x, q.x - 1]
    sx.compute_root()
    o.update().reorder(x, q.x).vectorize(x, 8)
    if s: sx.vectorize(x, 16); sx.update().parallel(y); o.vectorize(x, 8)
    return o

@case([img("a", "u8")], [img("o", "u8")], scalars=[("rad", "i32", 3)])
def box_var(s, a, rad):
    e, sm, o = edge(a), F("sm"), F("box_var")
    r = RDom([(-rad, 2 * rad + 1), (-rad, 2 * rad + 1)], "r")
    sm[x, y] = hl.u32(0)
    sm[x, y] += cast(u32, e[x + r.x, y + r.y])
    n = cast(u32, (2 * rad + 1) * (2 * rad + 1))
    o[x, y] = cast(u8, sm[x, y] / n)
    if s: o.vectorize(x, 16); sm.compute_at(o, x).vectorize(x); sm.update().vectorize(x)
    else: o.vectorize(x, 8).parallel(y); sm.compute_at(o, y).vectorize(x, 8); sm.update().reorder(x, r.x, r.y).vectorize(x, 8)
    rad.set_range(0, 16)
    return o

@case([img("l", "u8"), img("rr", "u8")], [img("o", "u8")])
def sad_disparity(s, l, rr):
    L, R = edge(l), edge(rr)
    d, k = RDom([(0, 16)], "d"), RDom([(-2, 5), (-2, 5)], "k")
    sad, o = F("sad"), F("disparity")
    sad[x, y, c] = hl.u16(0)
    sad[x, y, c] += cast(u16, hl.absd(L[x + k.x, y + k.y], R[x + k.x - c, y + k.y]))
    o[x, y] = cast(u8, hl.argmin(sad[x, y, d.x])[0])
    if s: o.vectorize(x, 16); sad.compute_at(o, x).vectorize(x, 16); sad.update().vectorize(x, 16).unroll(k.x)
    else: sad.compute_root().vectorize(x, 16); sad.update().reorder(x, k.x, k.y).vectorize(x, 16)
    return o

@case([img("a", "u8")], [img("o", "u8")])
def erode_disc(s, a):
    e, m, o = edge(a), F("m"), F("erode_disc")
    r = RDom([(-3, 7), (-3, 7)], "r"); r.where(r.x * r.x + r.y * r.y <= 10)
    m[x, y] = hl.u8(255)
    m[x, y] = hl.min(m[x, y], e[x + r.x, y + r.y])
    o[x, y] = m[x, y]
    m.compute_at(o, xo if s else y)
    if s: o.tile(x, y, xo, yo, xi, yi, 32, 8).vectorize(xi); m.vectorize(x, 32); m.update().reorder(x, y, r.x, r.y).vectorize(x, 32)
    else: o.vectorize(x, 32); m.vectorize(x, 16); m.update().unroll(r.x).unroll(r.y).vectorize(x, 16)
    return o

@case([img("a", "u16")], [img("o", "u16")])
def median_h5(s, a):
    e, o = edge(a), F("median5")
    v = [e[x + i, y] for i in range(-2, 3)]
    def so(i, j): v[i], v[j] = hl.min(v[i], v[j]), hl.max(v[i], v[j])
    for i, j in [(0, 1), (3, 4), (2, 4), (2, 3), (1, 4), (0, 3), (0, 2), (1, 3), (1, 2)]: so(i, j)
    o[x, y] = v[2]
    if s: o.vectorize(x, 16, G).parallel(y)
    else: o.vectorize(x, 16).unroll(y, 2)
    return o

@case([img("a", "u8")], [("o", "u8", lambda w, h: (h, w))], sizes=[(128, 32), (200, 40), (96, 64), (384, 64)])
def transpose8(s, a):
    o = F("transposed")
    o[x, y] = a[y, x]
    if s:
        o.tile(x, y, xi, yi, 16, 16).vectorize(xi).unroll(yi)
        a.in_().compute_at(o, x).vectorize(hl.Var("_0"), 16)
    else: o.tile(x, y, xi, yi, 8, 8).vectorize(xi).unroll(yi)
    return o

@case([img("re", "f32"), img("im", "f32")], [("or_", "f32", lambda w, h: (w, h)), ("oi", "f32", lambda w, h: (w, h))], tol=1e-3, sizes=[(128, 32), (200, 40), (96, 64), (384, 64)])
def fft4(s, re, im):
    """Radix-4 butterflies over groups of four rows, with twiddles."""
    o, t, tw = F("fft4"), F("t"), F("tw")
    ang = -2.0 * math.pi * cast(f32, x * y) / 16.0
    tw[x, y] = (hl.cos(ang), hl.sin(ang))
    def ld(k):
        yy = (y / 4) * 4 + k
        a, b = re[x, yy], im[x, yy]
        w = tw[k, x % 4]
        return (a * w[0] - b * w[1], a * w[1] + b * w[0])
    (a, b), (c_, d), (e, f), (g, h) = [ld(k) for k in range(4)]
    s0, s1 = (a + e, b + f), (a - e, b - f)
    s2, s3 = (c_ + g, d + h), (c_ - g, d - h)
    q = y % 4
    o[x, y] = (hl.mux(q, [s0[0] + s2[0], s1[0] + s3[1], s0[0] - s2[0], s1[0] - s3[1]]),
               hl.mux(q, [s0[1] + s2[1], s1[1] - s3[0], s0[1] - s2[1], s1[1] + s3[0]]))
    tw.compute_root()
    if s: o.split(y, y, yi, 4).reorder(yi, x, y).unroll(yi).vectorize(x, 8)
    else: o.vectorize(x, 8)
    return o

@case([("a", "f32", E(16, W, H)), ("w", "f32", E(16, 3, 3, 16)), ("b", "f32", E(16))], [("o", "f32", lambda W, H: (16, W - 2, H - 2))], tol=1e-2, sizes=[(19, 11), (34, 9), (40, 7), (66, 18)])
def conv_layer(s, a, w, b):
    o, cv = F("conv_relu"), F("cv")
    r = RDom([(0, 16), (0, 3), (0, 3)], "r")
    cv[c, x, y] = b[c]
    cv[c, x, y] += w[c, r.y, r.z, r.x] * a[r.x, x + r.y, y + r.z]
    o[c, x, y] = hl.max(cv[c, x, y], 0.0)
    o.vectorize(c, 8)
    if s:
        o.split(x, x, xi, 4, G).reorder(c, xi, x, y)
        cv.compute_at(o, x).vectorize(c, 8).unroll(x); cv.update().reorder(c, x, r.x, r.y, r.z).vectorize(c, 8).unroll(x)
    else: cv.compute_at(o, x).vectorize(c, 8); cv.update().reorder(c, r.x, r.y, r.z).vectorize(c, 8)
    o.bound(c, 0, 16)
    return o

@case([("a", "u8", E(32, W, H)), ("w", "i8", E(32, 3, 3)), ("b", "i32", E(32))], [("o", "u8", lambda W, H: (32, W - 2, H - 2))], scalars=[("zp", "u8", 7), ("mul", "i32", 1 << 24), ("sh", "u32", 3)], sizes=[(19, 11), (34, 9), (40, 7), (66, 18)])
def depthwise_q(s, a, w, b, zp, mul, sh):
    o, acc = F("depthwise_q"), F("acc")
    r = RDom([(0, 3), (0, 3)], "r")
    acc[c, x, y] = b[c]
    acc[c, x, y] += cast(i32, cast(i16, a[c, x + r.x, y + r.y]) - cast(i16, zp)) * cast(i32, w[c, r.x, r.y])
    v = hl.rounding_shift_right(hl.rounding_mul_shift_right(acc[c, x, y], mul, 31), sh)
    o[c, x, y] = hl.saturating_cast(u8, hl.saturating_add(hl.saturating_cast(i16, v), cast(i16, zp)))
    o.vectorize(c, 16)
    if s: acc.compute_at(o, x).vectorize(c, 16); acc.update().unroll(r.x).unroll(r.y).vectorize(c, 16); o.parallel(y)
    else: acc.compute_at(o, c).vectorize(c, 16); acc.update().reorder(c, r.x, r.y).vectorize(c, 16)
    return o

@case([img("a", "f32")], [("o", "f32", lambda w, h: (w // 2, h // 2))])
def maxpool2(s, a):
    o, m = F("maxpool2"), F("m")
    r = RDom([(0, 2), (0, 2)], "r")
    if s:
        o[x, y] = hl.maximum(a[2 * x + r.x, 2 * y + r.y]); o.vectorize(x, 8)
    else:
        o[x, y] = hl.max(hl.max(a[2*x, 2*y], a[2*x+1, 2*y]), hl.max(a[2*x, 2*y+1], a[2*x+1, 2*y+1])); o.vectorize(x, 8).parallel(y)
    return o

@case([img("a", "f32"), ("mean", "f32", E(W)), ("vr", "positive", E(W))], [img("o", "f32")], tol=3e-3)
def batchnorm(s, a, mean, vr):
    o = F("batchnorm")
    o[x, y] = hl.max((a[x, y] - mean[x]) * hl.fast_inverse_sqrt(vr[x] + 1e-5), 0.0)
    if s: o.vectorize(x, 8).unroll(y, 2)
    else: o.vectorize(x, 16)
    return o

@case([img("a", "f32")], [img("o", "f32")], tol=1e-4)
def softmax(s, a):
    o, mx, ex, sm = F("softmax"), F("mx"), F("ex"), F("sm")
    r = RDom([(0, a.width())], "r")
    mx[y] = hl.maximum(a[r.x, y])
    ex[x, y] = hl.exp((a[x, y] - mx[y]) * 0.1)
    sm[y] = hl.sum(ex[r.x, y])
    o[x, y] = ex[x, y] / sm[y]
    o.vectorize(x, 8)
    if s: ex.compute_at(o, y).vectorize(x, 8); sm.compute_at(o, y); mx.compute_at(o, y)
    else: ex.compute_root().vectorize(x, 8); sm.compute_root().vectorize(y, 8); mx.compute_root().vectorize(y, 8)
    return o

@case([img("a", "u64")], [("o", "u64", lambda w, h: (w, h)), ("p", "u32", lambda w, h: (w, h))])
def hash64(s, a):
    o = F("hash64")
    h = a[x, y] + cast(u64, x) * hl.u64(0x9E3779B97F4A7C15)
    h = (h ^ (h >> 30)) * hl.u64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> 27)) * hl.u64(0x94D049BB133111EB)
    h = h ^ (h >> 31)
    o[x, y] = (h, cast(u32, h >> 32) ^ cast(u32, h))
    if s: o.vectorize(x, 8).unroll(x, 2)
    else: o.vectorize(x, 4, G)
    return o

@case([img("a", "f16"), img("b", "f16")], [img("o", "f16")], scalars=[("t", "f32", 0.25)], tol=1e-2)
def half_blend(s, a, b, t):
    o = F("half_blend")
    o[x, y] = cast(f16, cast(f32, a[x, y]) * (1.0 - t) + cast(f32, b[x, y]) * t)
    if s: o.vectorize(x, 16).parallel(y)
    else: o.vectorize(x, 8, G)
    return o

@case([img("a", "bf16"), ("v", "bf16", E(W))], [("o", "f32", E(H))], tol=1e-2)
def bf16_matvec(s, a, v):
    o, r = F("matvec"), RDom([(0, a.width())], "r")
    o[y] = hl.f32(0)
    o[y] += cast(f32, a[r.x, y]) * cast(f32, v[r.x])
    if s:
        ri, rr, u = RVar("ri"), RVar("rr"), hl.Var("u")
        it = o.update().split(r.x, rr, ri, 8).rfactor(ri, u)
        it.compute_at(o, y).vectorize(u, 8); it.update().reorder(u, rr).vectorize(u, 8)
    else: o.vectorize(y, 8); o.update().vectorize(y, 8)
    return o

@case([img("a", "u16")], [("o", "u8", lambda w, h: (w // 2 * 2, h // 2 * 2, 3))], sizes=[(132, 38), (200, 34), (96, 66), (384, 64)])
def demosaic(s, a):
    e, d, g, o = edge(a), F("d"), F("g"), F("demosaic")
    d[x, y] = cast(i16, e[x, y] >> 2)
    n4 = (d[x - 1, y] + d[x + 1, y] + d[x, y - 1] + d[x, y + 1]) / 4
    nd = (d[x - 1, y - 1] + d[x + 1, y + 1] + d[x - 1, y + 1] + d[x + 1, y - 1]) / 4
    nh, nv = (d[x - 1, y] + d[x + 1, y]) / 2, (d[x, y - 1] + d[x, y + 1]) / 2
    ev, ew = (x % 2) == 0, (y % 2) == 0
    R = select(ew, select(ev, d[x, y], nh), select(ev, nv, nd))
    B = select(ew, select(ev, nd, nv), select(ev, nh, d[x, y]))
    Gr = select(ew == ev, n4, d[x, y])
    o[x, y, c] = cast(u8, clamp(hl.mux(c, [R, Gr, B]) / 64, 0, 255))
    o.bound(c, 0, 3)
    if s: o.reorder(c, x, y).unroll(c).vectorize(x, 16); d.compute_root().vectorize(x, 16)
    else: o.reorder(c, x, y).tile(x, y, xi, yi, 32, 2).unroll(c).vectorize(xi, 32).unroll(yi).reorder(c, xi, yi, x, y); d.compute_at(o, y).store_at(o, y).vectorize(x, 16)
    return o

@case([rgb("a", "f32")], [rgb("o", "f32")], scalars=[("key", "f32", 0.18)], tol=1e-3)
def tonemap(s, a, key):
    lum, av, o = F("lum"), F("av"), F("tonemap")
    lum[x, y] = hl.max(0.2126 * a[x, y, 0] + 0.7152 * a[x, y, 1] + 0.0722 * a[x, y, 2], hl.f32(1e-4))
    r = RDom([(0, a.width()), (0, a.height())], "r")
    av[()] = hl.exp(hl.sum(hl.log(lum[r.x, r.y])) / cast(f32, a.width() * a.height()))
    L = lum[x, y] * key / av[()]
    o[x, y, c] = a[x, y, c] * (L / (1.0 + L)) / lum[x, y]
    lum.compute_root(); av.compute_root()
    if s: lum.vectorize(x, 8).parallel(y); o.vectorize(x, 8).parallel(c)
    else: o.vectorize(x, 8, G)
    return o

@case([img("a", "u8")], [img("o", "u8")], scalars=[("st", "i32", 2)])
def sharpen_special(s, a, st):
    e, o = edge(a), F("sharpen")
    p = lambda i, j: cast(i16, e[x + i, y + j])
    lap = 4 * p(0, 0) - p(-1, 0) - p(1, 0) - p(0, -1) - p(0, 1)
    o[x, y] = hl.saturating_cast(u8, p(0, 0) + cast(i16, lap * cast(i16, st)) / 4)
    if s: o.specialize(st == 0).vectorize(x, 32); o.specialize(a.width() >= 128).vectorize(x, 32).unroll(y, 2); o.vectorize(x, 8, G)
    else: o.specialize(st == 1).vectorize(x, 32); o.vectorize(x, 16)
    return o

@case([img("a", "u8")], [("o", "u8", lambda w, h: (w * 3 // 2, h * 3 // 2))], scalars=[("sx", "i32", 43690), ("sy", "i32", 43690)])
def bilinear_fixed(s, a, sx, sy):
    e, h, o = edge(a), F("h"), F("bilinear_fixed")
    px, py = x * sx, y * sy
    ix, fx = px >> 16, cast(u16, (px >> 8) & 255)
    iy, fy = py >> 16, cast(u16, (py >> 8) & 255)
    at = lambda i, j: cast(u16, e[i, j])
    h[x, y] = cast(u8, (at(ix, y) * (256 - fx) + at(ix + 1, y) * fx) >> 8)
    o[x, y] = cast(u8, (cast(u16, h[x, iy]) * (256 - fy) + cast(u16, h[x, iy + 1]) * fy) >> 8)
    if s: h.compute_at(o, y).vectorize(x, 16); o.vectorize(x, 16)
    else: o.vectorize(x, 16).parallel(y)
    sx.set_range(1024, 1 << 18); sy.set_range(1024, 1 << 18)
    return o

@case([img("a", "f32")], [("o", "f32", lambda w, h: (w // 2, h))], scalars=[("scale", "f32", 0.5)], tol=1e-3)
def lanczos(s, a, scale):
    e, k, o, kn = edge(a), F("k"), F("lanczos"), F("kn")
    r = RDom([(0, 12)], "r")
    src = (cast(f32, x) + 0.5) / scale
    beg = cast(i32, hl.ceil(src - 6.5))
    sinc = lambda t: select(hl.abs(t) < 1e-6, 1.0, hl.sin(math.pi * t) / (math.pi * t))
    t = (cast(f32, z + beg) + 0.5 - src) * scale
    k[x, z] = select(hl.abs(t) > 3.0, 0.0, sinc(t) * sinc(t / 3.0))
    kn[x, z] = k[x, z] / hl.sum(k[x, r.x])
    o[x, y] = hl.sum(kn[x, r.x] * e[r.x + beg, y])
    k.compute_root(); kn.compute_root()
    if s: k.vectorize(x, 8); kn.vectorize(x, 8); o.vectorize(x, 8).parallel(y)
    else: o.vectorize(x, 4)
    return o

@case([rgb("a", "u8", 4), rgb("b", "u8", 4)], [rgb("o", "u8", 4)], chunky=("a", "b", "o"))
def over_rgba(s, a, b):
    o = F("over")
    chunky(a, b, ch=4)
    al = cast(u16, 255 - a[x, y, 3])
    t = cast(u16, b[x, y, c]) * al + 128
    o[x, y, c] = hl.saturating_add(a[x, y, c], cast(u8, (t + (t >> 8)) >> 8))
    chunky(o.output_buffer(), ch=4)
    o.bound(c, 0, 4).reorder(c, x, y)
    if s: o.unroll(c).vectorize(x, 16)
    else: o.vectorize(c).unroll(x, 4)
    return o

@case([img("a", "u8")], [("o", "u8", lambda w, h: (w - 4, h))])
def sat_sum(s, a):
    o, r = F("sat_sum"), RDom([(0, 5)], "r")
    o[x, y] = hl.u8(0)
    o[x, y] = hl.saturating_add(o[x, y], a[x + r.x, y] >> 1)
    if s: o.vectorize(x, 32); o.update().reorder(x, r.x, y).vectorize(x, 32).unroll(r.x)
    else: o.vectorize(x, 16, G); o.update().vectorize(x, 16, G)
    return o

@case([img("a", "u8")], [img("o", "bool")], scalars=[("t", "u8", 100)])
def mask_close(s, a, t):
    e, m, d, o = edge(a), F("m"), F("d"), F("mask_close")
    m[x, y] = e[x, y] > t
    nb = lambda f: [f[x + i, y + j] for i in (-1, 0, 1) for j in (-1, 0, 1)]
    d[x, y] = functools.reduce(lambda p, q: p | q, nb(m))
    o[x, y] = functools.reduce(lambda p, q: p & q, nb(d))
    m.compute_root().vectorize(x, 32)
    if s: d.compute_at(o, y).vectorize(x, 32); o.vectorize(x, 32).parallel(y)
    else: d.compute_root().vectorize(x, 16); o.vectorize(x, 16, G)
    return o

@case([img("a", "u8")], [img("o", "u8")], tol=1)
def polar(s, a):
    o = F("polar")
    w, h = cast(f32, a.width()), cast(f32, a.height())
    th, rr = cast(f32, x) * 0.0314159, cast(f32, y) * 0.5
    fx = clamp(w / 2 + rr * hl.cos(th), 0.0, w - 2.0)
    fy = clamp(h / 2 + rr * hl.sin(th), 0.0, h - 2.0)
    ix, iy = cast(i32, fx), cast(i32, fy)
    ax, ay = fx - cast(f32, ix), fy - cast(f32, iy)
    px = lambda i, j: cast(f32, a[clamp(ix + i, 0, a.width() - 1), clamp(iy + j, 0, a.height() - 1)])
    o[x, y] = cast(u8, hl.lerp(hl.lerp(px(0, 0), px(1, 0), ax), hl.lerp(px(0, 1), px(1, 1), ax), ay))
    if s: o.vectorize(x, 8).parallel(y)
    else: o.vectorize(x, 16, G)
    return o

@case([img("a", "u8")], [img("o", "u8")], scalars=[("lo", "f32", 40.0)])
def nonmax(s, a, lo):
    e, gx, gy, m, o = edge(a), F("gx"), F("gy"), F("m"), F("nonmax")
    p = lambda i, j: cast(i16, e[x + i, y + j])
    gx[x, y] = p(1, -1) + 2 * p(1, 0) + p(1, 1) - p(-1, -1) - 2 * p(-1, 0) - p(-1, 1)
    gy[x, y] = p(-1, 1) + 2 * p(0, 1) + p(1, 1) - p(-1, -1) - 2 * p(0, -1) - p(1, -1)
    fx, fy = cast(f32, gx[x, y]), cast(f32, gy[x, y])
    m[x, y] = hl.sqrt(fx * fx + fy * fy)
    ax, ay = hl.abs(gx[x, y]), hl.abs(gy[x, y])
    horiz, vert = ay * 2 < ax, ax * 2 < ay
    same = (gx[x, y] > 0) == (gy[x, y] > 0)
    pick = lambda a_, b_, c_, d_: select(horiz, hl.Expr(m[a_]), select(vert, hl.Expr(m[b_]), select(same, hl.Expr(m[c_]), hl.Expr(m[d_]))))
    n1 = pick((x - 1, y), (x, y - 1), (x - 1, y - 1), (x + 1, y - 1))
    n2 = pick((x + 1, y), (x, y + 1), (x + 1, y + 1), (x - 1, y + 1))
    o[x, y] = select((m[x, y] > lo) & (m[x, y] >= n1) & (m[x, y] > n2), hl.u8(255), hl.u8(0))
    if s: gx.compute_at(o, y).vectorize(x, 16); gy.compute_at(o, y).vectorize(x, 16); m.compute_at(o, y).vectorize(x, 8); o.vectorize(x, 8)
    else: m.compute_root().vectorize(x, 8); o.vectorize(x, 16)
    return o

@case([img("a", "f32")], [("o", "f32", lambda w, h: (w - 6, h - 6))], tol=2e-1)
def harris(s, a):
    g = lambda i, j: a[x + i, y + j] * (1.0 / 64.0)
    ix, iy, ixx, iyy, ixy, o = F("ix"), F("iy"), F("ixx"), F("iyy"), F("ixy"), F("harris")
    ix[x, y] = (g(2, 0) - g(0, 0)) / 12.0 + (g(2, 1) - g(0, 1)) / 6.0 + (g(2, 2) - g(0, 2)) / 12.0
    iy[x, y] = (g(0, 2) - g(0, 0)) / 12.0 + (g(1, 2) - g(1, 0)) / 6.0 + (g(2, 2) - g(2, 0)) / 12.0
    ixx[x, y], iyy[x, y], ixy[x, y] = ix[x, y] * ix[x, y], iy[x, y] * iy[x, y], ix[x, y] * iy[x, y]
    box = lambda f: sum((f[x + i, y + j] for i in range(3) for j in range(3)), hl.f32(0))
    xx, yy, xy = box(ixx), box(iyy), box(ixy)
    o[x, y] = xx * yy - xy * xy - 0.04 * (xx + yy) * (xx + yy)
    if s:
        o.split(y, y, yi, 8, G).vectorize(x, 8)
        ix.store_at(o, y).compute_at(o, yi).vectorize(x, 8); iy.store_at(o, y).compute_at(o, yi).vectorize(x, 8).compute_with(ix, x)
    else: ix.compute_root().vectorize(x, 8); iy.compute_root().vectorize(x, 8); o.vectorize(x, 8, G)
    return o

@case([("a", "i32", E(W)), ("p", "u16", E(W))], [("o", "i32", E(1024))])
def scatter_add(s, a, p):
    o, r = F("scatter_add"), RDom([(0, a.width())], "r")
    o[x] = 0
    o[cast(i32, p[r.x] & 1023)] += a[r.x]
    o.vectorize(x, 8)
    if s: o.update().unroll(r.x, 4)
    return o

@case([("a", "f32", E(W, H)), ("b", "f32", E(lambda w, h: 64, W))], [("o", "f32", E(64, H))], tol=1e-1)
def gemm_f32(s, a, b):
    m, o, k = F("m"), F("gemm"), RDom([(0, a.width())], "k")
    m[x, y] += a[k.x, y] * b[x, k.x]
    o[x, y] = m[x, y]
    if s:
        o.tile(x, y, xi, yi, 16, 4, G).vectorize(xi, 8).unroll(xi).unroll(yi)
        m.compute_at(o, x).vectorize(x, 8).unroll(x).unroll(y)
        m.update().reorder(x, y, k.x).vectorize(x, 8).unroll(x).unroll(y)
    else: o.vectorize(x, 8); m.compute_at(o, y).vectorize(x, 8); m.update().reorder(x, k.x).vectorize(x, 8)
    return o

@case([("a", "u8", E(W, H)), ("b", "i8", E(64, W))], [("o", "i32", E(64, H))])
def gemm_i8(s, a, b):
    o, k = F("gemm_i8"), RDom([(0, a.width())], "k")
    o[x, y] = 0
    o[x, y] += cast(i32, a[k.x, y]) * cast(i32, b[x, k.x])
    o.vectorize(x, 8)
    if s: o.update().tile(x, y, xi, yi, 16, 3, G).reorder(xi, yi, k.x, x, y).vectorize(xi, 16).unroll(yi)
    else: o.update().reorder(x, k.x, y).vectorize(x, 16)
    return o

@case([("a", "u64", E(4, W)), ("q", "u64", E(4, H))], [("o", "i32", E(H)), ("d", "u32", E(H))])
def hamming(s, a, q):
    h, o, k, r = F("h"), F("hamming"), RDom([(0, 4)], "k"), RDom([(0, a.dim(1).extent())], "r")
    h[x, y] = hl.sum(cast(u32, hl.popcount(a[k.x, x] ^ q[k.x, y])))
    best = hl.argmin(h[r.x, y])
    o[y] = (best[0], best[1])
    if s: h.compute_at(o, y).vectorize(x, 8)
    else: h.compute_root().vectorize(x, 4, G)
    return o

@case([("a", "i16", E(lambda w, h: 2 * w + 32)), ("k", "i16", E(32))], [("o", "i16", E(W))])
def fir_q15(s, a, k):
    f, o, r = F("f"), F("fir"), RDom([(0, 32)], "r")
    f[x] = 0
    f[x] += cast(i32, a[2 * x + r.x]) * cast(i32, k[r.x])
    o[x] = hl.saturating_cast(i16, hl.rounding_shift_right(f[x], 15))
    o.vectorize(x, 16)
    if s: f.compute_at(o, x).vectorize(x, 16); f.update().reorder(x, r.x).vectorize(x, 16).unroll(r.x, 2)
    else: f.compute_at(o, x).vectorize(x, 8); f.update().atomic().vectorize(r.x, 8)
    return o

@case([rgb("a", "u8")], [rgb("o", "f32")], tol=1e-3)
def hsv(s, a):
    o = F("hsv")
    r, g, b = (cast(f32, a[x, y, k]) / 255.0 for k in range(3))
    mx, mn = hl.max(r, hl.max(g, b)), hl.min(r, hl.min(g, b))
    d = mx - mn
    h = select(d == 0, 0.0, mx == r, (g - b) / d, mx == g, (b - r) / d + 2.0, (r - g) / d + 4.0) / 6.0
    h = select(h < 0, h + 1.0, h)
    sat = select(mx == 0, 0.0, d / mx)
    o[x, y, c] = hl.mux(c, [h, sat, mx])
    o.bound(c, 0, 3)
    if s: o.reorder(c, x, y).unroll(c).vectorize(x, 8)
    else: o.reorder(x, y, c).unroll(c).vectorize(x, 8, G)
    return o

@case([img("a", "i16")], [img("o", "i16")])
def delta_decode(s, a):
    o, r = F("decode"), RDom([(1, a.width() - 1)], "r")
    o[x, y] = a[x, y]
    o[r.x, y] = o[r.x - 1, y] + a[r.x, y]
    if s: o.vectorize(x, 16); o.update().unroll(r.x, 2).parallel(y)
    else: o.vectorize(x, 8, G)
    return o

@case([("a", "f64", E(W, H, 5))], [("o", "f64", E(W, H, 5))], tol=1e-9)
def heat3d(s, a):
    e = edge(a); t, o = F("t"), F("heat")
    st = lambda f: f[x, y, z] + 0.1 * (f[x-1, y, z] + f[x+1, y, z] + f[x, y-1, z] + f[x, y+1, z] + f[x, y, z-1] + f[x, y, z+1] - 6.0 * f[x, y, z])
    t[x, y, z] = st(e)
    o[x, y, z] = st(t)
    if s: t.store_root().compute_at(o, z).vectorize(x, 4); o.vectorize(x, 4)
    else: t.compute_root().vectorize(x, 4); o.vectorize(x, 4).parallel(z)
    return o

@case([img("a", "u8")], [img("o", "u8")])
def life(s, a):
    e = hl.BoundaryConditions.repeat_image(a); l, o = F("l"), F("life")
    l[x, y] = e[x, y] & 1
    n = sum((l[x + i, y + j] for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j), hl.u8(0))
    o[x, y] = select((n == 3) | ((n == 2) & (l[x, y] != 0)), hl.u8(1), hl.u8(0))
    l.compute_root().vectorize(x, 16)
    if s: o.vectorize(x, 32).unroll(y, 2)
    else: o.vectorize(x, 16, G)
    return o

@case([("cx", "f32", E(W))], [("o", "i32", E(W, H))], sizes=[(131, 7), (200, 9), (97, 5), (256, 16)])
def mandelbrot(s, cx):
    m, o, t = F("m"), F("mandel"), RDom([(1, 15)], "t")
    c0, c1 = cx[x] * 0.02, cast(f32, y) * 0.25 - 1.0
    m[x, y, z] = (hl.f32(0), hl.f32(0))
    a, b = m[x, y, t.x - 1][0], m[x, y, t.x - 1][1]
    m[x, y, t.x] = (a * a - b * b + c0, 2.0 * a * b + c1)
    esc = m[x, y, t.x][0] * m[x, y, t.x][0] + m[x, y, t.x][1] * m[x, y, t.x][1] < 4.0
    cnt = F("cnt"); cnt[x, y] = 0
    cnt[x, y] += cast(i32, esc)
    o[x, y] = cnt[x, y]
    o.vectorize(x, 8)
    if s: m.compute_at(o, x).vectorize(x, 8); m.update().vectorize(x, 8); cnt.compute_at(o, x).vectorize(x, 8); cnt.update().vectorize(x, 8)
    else: m.compute_root(); cnt.compute_at(o, y).vectorize(x, 8); cnt.update().reorder(x, t.x).vectorize(x, 8)
    return o

@case([("a", "u8", E(W, H)), ("t", "u32", E(256))], [("o", "u32", E(H))])
def crc32(s, a, t):
    o, r = F("crc"), RDom([(0, a.width())], "r")
    o[y] = hl.u32(0xFFFFFFFF)
    o[y] = t[cast(i32, (o[y] ^ cast(u32, a[r.x, y])) & hl.u32(255))] ^ (o[y] >> 8)
    if s: o.update().vectorize(y, 8, G).unroll(r.x, 2)
    else: o.vectorize(y, 4, G)
    return o

@case([img("a", "u8")], [img("o", "u8")])
def dither(s, a):
    e, o, r = F("e"), F("dither"), RDom([(1, a.width() - 1)], "r")
    e[x, y] = (cast(i16, a[x, y]), hl.u8(0))
    v = e[r.x, y][0] + (e[r.x - 1, y][0] - select(e[r.x - 1, y][1] != 0, hl.i16(255), hl.i16(0))) / 2
    e[r.x, y] = (v, select(v > 127, hl.u8(1), hl.u8(0)))
    o[x, y] = select(e[x, y][1] != 0, hl.u8(255), hl.u8(0))
    e.compute_root()
    if s: e.update().parallel(y); o.vectorize(x, 16)
    else: e.vectorize(x, 8, G); o.vectorize(x, 32, G)
    return o

@case([("a", "f32", E(W, H)), ("k", "f32", E(5))], [("o", "f32", E(W, H))], tol=5e-2)
def biquad(s, a, k):
    o, w, r = F("biquad"), F("w"), RDom([(2, a.width() - 2)], "r")
    w[x, y] = a[x, y]
    w[r.x, y] = a[r.x, y] - 0.002 * k[0] * w[r.x - 1, y] - 0.002 * k[1] * w[r.x - 2, y]
    o[x, y] = k[2] * w[x, y] + k[3] * w[hl.max(x - 1, 0), y] + k[4] * w[hl.max(x - 2, 0), y]
    w.compute_root()
    if s: w.update().reorder(y, r.x).vectorize(y, 8, G); o.vectorize(x, 8, G)
    else: o.vectorize(x, 8).parallel(y)
    return o

@case([img("a", "f32")], [img("o", "f32")], tol=1e-3, sizes=[(65, 17), (104, 20), (97, 33), (192, 32)])
def nlmeans(s, a):
    e, d, wt, o = edge(a), F("d"), F("wt"), F("nlmeans")
    p, q = RDom([(-1, 3), (-1, 3)], "p"), RDom([(-2, 5), (-2, 5)], "q")
    dx, dy = hl.Var("dx"), hl.Var("dy")
    d[x, y, dx, dy] = hl.f32(0)
    apart = e[x + p.x, y + p.y] - e[x + p.x + dx, y + p.y + dy]
    d[x, y, dx, dy] += apart * apart
    wt[x, y, dx, dy] = hl.exp(-d[x, y, dx, dy] * 0.0005)
    acc = F("acc")
    acc[x, y] = (hl.f32(0), hl.f32(0))
    acc[x, y] = (acc[x, y][0] + wt[x, y, q.x, q.y] * e[x + q.x, y + q.y], acc[x, y][1] + wt[x, y, q.x, q.y])
    o[x, y] = acc[x, y][0] / acc[x, y][1]
    o.vectorize(x, 8)
    if s: acc.compute_at(o, x).vectorize(x, 8); acc.update().reorder(x, y, q.x, q.y).vectorize(x, 8); d.compute_at(acc, q.x).vectorize(x, 8); d.update().reorder(x, p.x, p.y).vectorize(x, 8)
    else: acc.compute_at(o, y).vectorize(x, 8); acc.update().reorder(x, q.x, q.y).vectorize(x, 8); d.compute_at(acc, x).vectorize(x, 8); d.update().vectorize(x, 8).unroll(p.x)
    return o

@case([("a", "f32", E(W, H)), ("g", "f32", E(W)), ("b", "f32", E(W))], [("o", "f32", E(W, H))], tol=1e-3)
def layer_norm(s, a, g, b):
    o, sm, sq, r = F("layer_norm"), F("sm"), F("sq"), RDom([(0, a.width())], "r")
    n = cast(f32, a.width())
    sm[y] += a[r.x, y]
    sq[y] += a[r.x, y] * a[r.x, y]
    mu = sm[y] / n
    o[x, y] = (a[x, y] - mu) / hl.sqrt(sq[y] / n - mu * mu + 1e-5) * g[x] + b[x]
    o.vectorize(x, 8)
    if s:
        for f in (sm, sq):
            ro, ri, u = RVar("ro"), RVar("ri"), hl.Var("u")
            f.compute_at(o, y)
            it = f.update().split(r.x, ro, ri, 8, G).rfactor(ri, u)
            it.compute_at(o, y).vectorize(u, 8); it.update().reorder(u, ro).vectorize(u, 8)
    else: sm.compute_root(); sq.compute_root().compute_with(sm, y)
    return o

@case([("a", "u8", E(lambda w, h: 4 * w, H)), ("k", "i8", E(16))], [("o", "i16", E(lambda w, h: w - 4, H))])
def strided_taps(s, a, k):
    o, f, r = F("strided"), F("f"), RDom([(0, 16)], "r")
    f[x, y] = hl.i32(0)
    f[x, y] += cast(i32, cast(i16, a[4 * x + r.x, y]) * cast(i16, k[r.x]))
    o[x, y] = hl.saturating_cast(i16, f[x, y] >> 2)
    o.vectorize(x, 8)
    f.compute_at(o, x).vectorize(x, 8)
    if s: f.update().reorder(r.x, x).atomic().vectorize(r.x, 16)
    else: f.update().reorder(x, r.x).vectorize(x, 8).unroll(r.x)
    return o

@case([img("a", "u16")], [rgb("o", "u8")])
def rgb565(s, a):
    o = F("rgb565")
    p = a[x, y]
    r, g, b = (p >> 11) & 31, (p >> 5) & 63, p & 31
    o[x, y, c] = cast(u8, hl.mux(c, [(r * 527 + 23) >> 6, (g * 259 + 33) >> 6, (b * 527 + 23) >> 6]))
    o.bound(c, 0, 3)
    if s: o.unroll(c).vectorize(x, 32)
    else: o.reorder(c, x, y).unroll(c).vectorize(x, 16)
    return o

@case([img("a", "u8")], [("o", "u8", lambda w, h: (w * 2, h * 2))])
def upsample2(s, a):
    e, ux, o = edge(a), F("ux"), F("upsample2")
    ux[x, y] = cast(u8, (3 * cast(u16, e[x / 2, y]) + e[x / 2 - 1 + 2 * (x % 2), y] + 2) >> 2)
    o[x, y] = cast(u8, (3 * cast(u16, ux[x, y / 2]) + ux[x, y / 2 - 1 + 2 * (y % 2)] + 2) >> 2)
    if s: o.vectorize(x, 32).unroll(y, 2); ux.compute_root().vectorize(x, 32)
    else: o.vectorize(x, 16); ux.compute_at(o, y).vectorize(x, 16)
    return o

@case([img("a", "u8"), img("b", "u8")], [("o", "u32", E(W, H))])
def census(s, a, b):
    ea, eb, ca, cb, o = edge(a), edge(b), F("ca"), F("cb"), F("census")
    def ct(f, e):
        v = hl.u32(0)
        for j in (-1, 0, 1):
            for i in (-1, 0, 1):
                if i or j: v = (v << 1) | cast(u32, e[x + i, y + j] < e[x, y])
        f[x, y] = v
    ct(ca, ea); ct(cb, eb)
    d = RDom([(0, 8)], "d")
    o[x, y] = hl.u32(99)
    o[x, y] = hl.min(o[x, y], cast(u32, hl.popcount(ca[x, y] ^ cb[x - d.x, y])) * 8 + cast(u32, d.x))
    ca.compute_root().vectorize(x, 16); cb.compute_root().vectorize(x, 16)
    if s: o.vectorize(x, 8); o.update().reorder(x, d.x, y).vectorize(x, 8)
    else: o.vectorize(x, 8, G); o.update().vectorize(x, 8, G).unroll(d.x)
    return o

@case([img("a", "u16")], [img("o", "u16")], scalars=[("gain", "u16", 300), ("black", "u16", 64)])
def white_balance(s, a, gain, black):
    o = F("white_balance")
    v = cast(u32, hl.saturating_sub(a[x, y], black)) * cast(u32, gain)
    o[x, y] = hl.saturating_cast(u16, hl.rounding_shift_right(v, 8))
    a.dim(0).set_min(0); a.dim(1).set_min(0)
    gain.set_range(1, 4096)
    if s: o.vectorize(x, 16).prefetch(a, y, y, 1)
    else: o.vectorize(x, 32, G).parallel(y)
    return o
