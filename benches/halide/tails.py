"""Pipelines whose tails run under masks, of elements of all widths: predicated vectors, and guarded tiles. Each
with two schedules, as in `corpus.py`, in whose list they are.
"""
from corpus import E, F, G, H, RDom, RVar, W, case, cast, chunky, clamp, edge, f32, hl, i8, i16, i32, i64, img, rgb, select, u8, u16, u32, u64, x, xi, y, yi, c
T = hl.TailStrategy

def tail(o, s, lanes):
    """Predicated vectors, or guarded tiles."""
    if s: o.tile(x, y, xi, yi, 2 * lanes, 4, G).vectorize(xi, lanes).unroll(yi)
    else: o.vectorize(x, lanes, T.Predicate)
    return o

@case([img("a", "u8"), img("b", "u8")], [img("o", "u8")])
def t_blend(s, a, b):
    o = F("t_blend")
    o[x, y] = cast(u8, (cast(u16, a[x, y]) * 77 + cast(u16, b[x, y]) * 179 + 128) >> 8)
    return tail(o, s, 32)

@case([img("a", "f32"), img("b", "f32")], [img("o", "f32")])
def t_axpy(s, a, b):
    o = F("t_axpy")
    o[x, y] = a[x, y] * 1.5 + b[x, y]
    return tail(o, s, 16)

@case([img("a", "i16")], [("o", "i16", E(lambda w, h: w - 4, H))])
def t_fir5(s, a):
    o = F("t_fir5")
    v = lambda k: cast(i32, a[x + k, y])
    o[x, y] = cast(i16, (v(0) + 4 * v(1) + 6 * v(2) + 4 * v(3) + v(4) + 8) >> 4)
    return tail(o, s, 16)

@case([img("a", "f32")], [img("o", "u8")])
def t_quant(s, a):
    o = F("t_quant")
    o[x, y] = cast(u8, clamp(hl.round(a[x, y] * 255.0), 0.0, 255.0))
    return tail(o, s, 16)

@case([("a", "u8", E(lambda w, h: 2 * w, H))], [img("o", "u8")])
def t_pairs(s, a):
    o = F("t_pairs")
    o[x, y] = cast(u8, (cast(u16, a[2 * x, y]) + a[2 * x + 1, y] + 1) >> 1)
    return tail(o, s, 32)

@case([img("a", "f64")], [img("o", "f64")])
def t_poly64(s, a):
    o = F("t_poly64")
    v = a[x, y]
    o[x, y] = ((v * 0.5 + 1.25) * v - 3.0) * v + 0.125
    return tail(o, s, 8)

@case([img("a", "i32")], [img("o", "i32")])
def t_rows(s, a):
    """A sum over rows in an update, guarded."""
    o, r = F("t_rows"), RDom([(0, 8)])
    e = edge(a)
    o[x, y] = 0
    o[x, y] += e[x, y + r] * (r + 1)
    o.vectorize(x, 8, G)
    if s: o.update().reorder(x, r.x, y).vectorize(x, 16, T.Predicate)
    else: o.update().vectorize(x, 8, G).unroll(r)
    return o

@case([img("a", "u16")], [img("o", "u16")])
def t_thresh(s, a):
    o = F("t_thresh")
    v = a[x, y]
    o[x, y] = select(v > 4000, v - 4000, v < 100, v * 3, v)
    return tail(o, s, 32)

@case([img("a", "u8")], [("o", "u8", E(lambda w, h: w - 2, lambda w, h: h - 2))])
def t_median(s, a):
    o, m = F("t_median"), F("m")
    mn, mx = hl.min, hl.max
    med = lambda p, q, r: mx(mn(p, q), mn(mx(p, q), r))
    m[x, y] = med(a[x, y], a[x + 1, y], a[x + 2, y])
    o[x, y] = med(m[x, y], m[x, y + 1], m[x, y + 2])
    if s: m.compute_at(o, y).vectorize(x, 64, G); o.vectorize(x, 64, G)
    else: m.compute_root().vectorize(x, 32, T.Predicate); o.vectorize(x, 32, T.Predicate)
    return o

@case([img("a", "i8")], [img("o", "i32")])
def t_widen(s, a):
    o = F("t_widen")
    v = cast(i32, a[x, y])
    o[x, y] = v * v + 3 * v
    return tail(o, s, 32)

@case([img("a", "u8")], [("o", "u8", E(lambda w, h: 2 * w, H))])
def t_twice(s, a):
    o = F("t_twice")
    o[x, y] = a[x / 2, y]
    return tail(o, s, 32)

@case([img("a", "u8")], [img("o", "u8")])
def t_late(s, a):
    """The first lanes are the inactive ones."""
    o = F("t_late")
    r = RDom([(0, a.width())])
    r.where(r.x >= 5)
    o[x, y] = a[x, y]
    o[r.x, y] = a[r.x, y] + 9
    o.vectorize(x, 32)
    o.update().vectorize(r.x, 32, G)
    return o
