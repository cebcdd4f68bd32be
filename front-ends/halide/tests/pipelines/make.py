"""Writes the statement texts beside this file, and what Halide itself computes for them.

    pip install halide==21.0.0 numpy && python make.py [NAME …]

For each pipeline: NAME.stmt as Halide writes it; NAME.c, the function of Halide's C, where the
pipeline has float constants that the text rounds; NAME.expected, sizes, what inputs are filled by,
and Halide's own results on this machine.
"""

import os
import sys
from pathlib import Path

import halide as hl
import numpy as np

HERE = Path(__file__).parent
x, y, c = hl.Var("x"), hl.Var("y"), hl.Var("c")
f32, i8, u8, i16, u16, i32, u32, boolean = hl.Float(32), hl.Int(8), hl.UInt(8), hl.Int(16), hl.UInt(16), hl.Int(32), hl.UInt(32), hl.Bool()
TYPES = {"f32": (f32, np.float32), "u8": (u8, np.uint8), "i8": (i8, np.int8), "i16": (i16, np.int16), "u16": (u16, np.uint16),
         "i32": (i32, np.int32), "u32": (u32, np.uint32), "bool": (boolean, np.bool_)}
cast = hl.cast


def values(kind, count, seed):
    """Numbers that the test makes in the same way."""
    n = (np.arange(count, dtype=np.uint64) * np.uint64(2654435761) + np.uint64(seed) * np.uint64(40503)) % np.uint64(1 << 32)
    high = (n >> np.uint64(7)).astype(np.int64)
    if kind == "f32":
        return (((high % 2000) - 900) / 16.0).astype(np.float32)
    if kind == "positive":
        return (((high % 2000) + 4) / 16.0).astype(np.float32)
    if kind == "bool":
        return (high & 1).astype(np.bool_)
    if kind.startswith("below"):
        return high % int(kind[5:].split("_")[0])
    return high.astype(TYPES[kind][1])


class Case:
    """A pipeline: inputs by name, type, what fills them, and extents as Halide counts them; outputs."""

    def __init__(self, make, inputs, outputs, scalars=(), tolerance=0.0, constants=False, chunky=()):
        self.make, self.inputs, self.outputs, self.scalars = make, inputs, outputs, scalars
        self.tolerance, self.constants, self.chunky = tolerance, constants, chunky

    def buffer(self, name, kind, extents, seed):
        """An array and a view of it with Halide's order of dimensions reversed."""
        elem = TYPES[kind.split("_")[-1] if "_" in kind else {"positive": "f32"}.get(kind, kind)][1]
        flat = np.zeros(int(np.prod(extents, dtype=np.int64)), elem) if seed is None else values(kind, int(np.prod(extents, dtype=np.int64)), seed).astype(elem)
        if name in self.chunky:  # x, y, c with c contiguous
            array = flat.reshape(extents[1], extents[0], extents[2])
            return flat, array.transpose(2, 0, 1)
        return flat, flat.reshape(tuple(reversed(extents)))

    def write(self, name):
        params = [hl.ImageParam(TYPES[k.split("_")[-1] if "_" in k else {"positive": "f32"}.get(k, k)][0], len(e), n) for n, k, e in self.inputs]
        scalars = [hl.Param(TYPES[k][0], n) for n, k, _ in self.scalars]
        func = self.make(*params, *scalars)
        base = HERE / name
        target = hl.Target("x86-64-linux-avx-avx2-f16c-fma-sse41")
        func.compile_to_lowered_stmt(f"{base}.stmt", [*params, *scalars], hl.StmtOutputFormat.Text, target)
        if self.constants:
            func.compile_to_c(f"{base}.c", [*params, *scalars], name, target)
            text = Path(f"{base}.c").read_text()
            Path(f"{base}.c").write_text(text[text.index(f"int {name}(struct"):])
        lines, kept = [f"tolerance {self.tolerance}"], []
        for (n, kind, extents), param, seed in zip(self.inputs, params, range(1, 99)):
            kept.append(self.buffer(n, kind, extents, seed))
            kept.append(hl.Buffer(kept[-1][1]))
            param.set(kept[-1])
            lines.append(f"input {n} {kind} {seed} {' '.join(map(str, extents))}")
        for (n, kind, value), param in zip(self.scalars, scalars):
            param.set(value)
            lines.append(f"scalar {n} {kind} {value}")
        buffers = [self.buffer(n, kind, extents, None) for n, kind, extents in self.outputs]
        func.realize([hl.Buffer(view) for _, view in buffers] if len(buffers) > 1 else hl.Buffer(buffers[0][1]))
        for (n, kind, extents), (flat, _) in zip(self.outputs, buffers):
            lines.append(f"output {n} {kind} {' '.join(map(str, extents))}")
            shown = flat.view(np.uint32) if kind == "f32" else flat.astype(np.int64)
            lines.append(" ".join(map(str, shown.tolist())))
        Path(f"{base}.expected").write_text("\n".join(lines) + "\n")


def out(name):
    return hl.Func(name)


def sigmoid(a):
    o = out("sigmoid")
    o[x] = 1.0 / (1.0 + hl.exp(-a[x] * hl.f32(0.0625) * hl.f32(1.442695)))
    return o.vectorize(x, 8)


def fast_log(a):
    o = out("fast_log")
    bits = hl.reinterpret(i32, a[x])
    m = hl.reinterpret(f32, (bits & 0x7FFFFF) | 0x3F800000)
    o[x] = (cast(f32, (bits >> 23) - 127) + m * hl.f32(0.3333333) - hl.f32(0.7)) * hl.f32(0.6931472)
    return o.vectorize(x, 8, hl.TailStrategy.GuardWithIf)


def library(a, g):
    o = out("library")
    o[x] = hl.pow(a[x], g) + hl.log(a[x] + 1.0) + hl.sin(a[x]) + hl.atan2(a[x], g)
    return o.vectorize(x, 8)


def table(a, t):
    o = out("table")
    o[x, y] = t[cast(i32, a[x, y])]
    return o.vectorize(x, 32)


def histogram(a):
    o, r = out("histogram"), hl.RDom([(0, a.width()), (0, a.height())], "r")
    o[x] = cast(u32, 0)
    o[cast(i32, a[r.x, r.y])] += cast(u32, 1)
    o.vectorize(x, 8)
    return o


def equalized(a):
    h, s, o = hl.Func("h"), hl.Func("s"), out("equalized")
    r, q = hl.RDom([(0, a.width()), (0, a.height())], "r"), hl.RDom([(1, 255)], "q")
    h[x] = 0
    h[cast(i32, a[r.x, r.y])] += 1
    s[x] = h[0]
    s[q.x] = s[q.x - 1] + h[q.x]
    o[x, y] = cast(u8, hl.clamp(s[cast(i32, a[x, y])] * 255 / (a.width() * a.height()), 0, 255))
    h.compute_root()
    s.compute_root()
    return o.vectorize(x, 16)


def warp(a, m):
    o = out("warp")
    fx = hl.clamp(m[x, y, 0], 0.0, cast(f32, a.width() - 2))
    fy = hl.clamp(m[x, y, 1], 0.0, cast(f32, a.height() - 2))
    ix = hl.clamp(cast(i32, hl.floor(fx)), 0, a.width() - 2)
    iy = hl.clamp(cast(i32, hl.floor(fy)), 0, a.height() - 2)
    wx, wy = fx - cast(f32, ix), fy - cast(f32, iy)
    o[x, y] = hl.lerp(hl.lerp(a[ix, iy], a[ix + 1, iy], wx), hl.lerp(a[ix, iy + 1], a[ix + 1, iy + 1], wx), wy)
    return o.vectorize(x, 8)


def blend(a, b, w):
    o = out("op_blend")
    o[x, y] = hl.lerp(a[x, y], b[x, y], w[x, y])
    return o.vectorize(x, 16).parallel(y)


def blends(a, b, w, v, s):
    o = out("blends")
    o[x] = (hl.lerp(a[x], b[x], w[x]), hl.lerp(a[x], b[x], v[x]), hl.lerp(s[x], cast(i16, b[x]), v[x]), hl.lerp(cast(f32, s[x]), cast(f32, b[x]), w[x]))
    return o.vectorize(x, 8)


def resample(a, step):
    o = out("resample")
    at = lambda i: cast(u16, a[hl.clamp(i, 0, a.width() - 1), y])
    px = x * step
    o[x, y] = cast(u8, (at(px >> 16) * (256 - cast(u16, (px >> 8) & 255)) + at((px >> 16) + 1) * cast(u16, (px >> 8) & 255)) >> 8)
    return o.vectorize(x, 16)


def triangle(a):
    o, r = out("triangle"), hl.RDom([(0, 6), (0, 6)], "r")
    r.where(r.x + r.y < 6)
    r.where(r.x * 2 >= r.y)
    o[x, y] = 0
    o[x, y] += cast(i32, a[x + r.x, y + r.y])
    o.vectorize(x, 8)
    o.update().vectorize(x, 8)
    return o


def diagonal(m, v):
    """Masks that hold for all lanes, for the last ones, and for none."""
    o, r = out("diagonal"), hl.RDom([(0, 29)], "r")
    r.where(r.x <= x)
    o[x] = hl.f32(0)
    o[x] += m[x, r.x] * v[r.x]
    o.vectorize(x, 8)
    o.update().reorder(x, r.x).vectorize(x, 8)
    return o


def kept(m, v):
    """Sums in an output buffer, in vectors and in what is left of them."""
    o, r = out("kept"), hl.RDom([(0, m.width())], "r")
    o[y] = cast(i32, 3)
    o[y] += cast(i32, m[r.x, y]) * cast(i32, v[r.x])
    ri, rr = hl.RVar("ri"), hl.RVar("rr")
    o.update().split(r.x, rr, ri, 8, hl.TailStrategy.GuardWithIf).atomic().vectorize(ri)
    return o


def rounded(a):
    """Floats to small integers, some out of range."""
    o = out("rounded")
    v = a[x] * 16.0
    o[x] = (hl.saturating_cast(u8, v), hl.saturating_cast(i8, v), hl.saturating_cast(u16, v * 16.0), cast(u8, hl.clamp(v, 3.0, 250.0)))
    return o.vectorize(x, 16)


def arg_max(a):
    o, r = out("arg_max"), hl.RDom([(0, a.width())], "r")
    o[y] = (cast(i32, 0), cast(u8, 0))
    n = a[r.x, y]
    o[y] = (hl.select(n > o[y][1], r.x, o[y][0]), hl.max(n, o[y][1]))
    o.vectorize(y, 8)
    o.update().vectorize(y, 8)
    return o


def slide(a):
    b, o, yo, yi = hl.Func("b"), out("slide"), hl.Var("yo"), hl.Var("yi")
    b[x, y] = cast(u16, a[x, y]) + cast(u16, a[x + 1, y]) * 2 + a[x + 2, y]
    o[x, y] = cast(u8, (b[x, y] + b[x, y + 1] * 2 + b[x, y + 2] + 8) >> 4)
    o.split(y, yo, yi, 8).parallel(yo).vectorize(x, 32)
    b.store_at(o, yo).compute_at(o, yi).vectorize(x, 32)
    return o


def root_slide(a):
    b, o = hl.Func("b"), out("root_slide")
    b[x, y] = cast(u16, a[x, y]) + a[x + 1, y]
    o[x, y] = b[x, y] + b[x, y + 1]
    b.store_root().compute_at(o, y).vectorize(x, 16)
    return o.vectorize(x, 16).prefetch(a, y, y, 2)


def interleaved(a):
    o = out("interleaved")
    o[x, y, c] = cast(u8, (cast(u16, a[x, y, c]) * 3 + a[x, y, 0]) / 4)
    for b in (a, o.output_buffer()):
        b.dim(0).set_stride(3)
        b.dim(2).set_stride(1).set_bounds(0, 3)
    return o.bound(c, 0, 3).reorder(c, x, y).unroll(c).vectorize(x, 16)


def special(a, k):
    o = out("special")
    o[x, y] = cast(u8, hl.absd(a[x, y], a[x, y + 1]) * cast(u8, k))
    o.specialize(k == 1).vectorize(x, 32)
    o.specialize(a.width() >= 64).vectorize(x, 64)
    a.dim(0).set_min(0)
    a.dim(1).set_min(0)
    return o


def saturated(a, b):
    o, k = out("saturated"), hl.RDom([(0, 8)], "k")
    o[x] = cast(u16, 0)
    o[x] = hl.saturating_add(o[x], cast(u16, a[8 * x + k.x]) * cast(u16, b[8 * x + k.x]))
    o.vectorize(x, 8)
    o.update().atomic().vectorize(k.x).vectorize(x, 4)
    return o


def halving(a, b, s, t):
    o = out("halving")
    o[x] = (hl.halving_sub(a[x], b[x]) + hl.rounding_halving_add(a[x], b[x]), hl.halving_sub(s[x], t[x]), hl.count_trailing_zeros(a[x]), hl.saturating_sub(a[x], b[x]))
    return o.vectorize(x, 32)


def inverses(a):
    o = out("inverses")
    o[x] = hl.fast_inverse_sqrt(a[x]) + hl.fast_inverse(a[x] + 1.0)
    return o.vectorize(x, 8)


def dot(a, b):
    o, r, ro, ri = out("dot"), hl.RDom([(0, a.width() / 8 * 8)], "r"), hl.RVar("ro"), hl.RVar("ri")
    o[()] = hl.f32(0.0)
    o[()] += a[r.x] * b[r.x]
    o.update().split(r.x, ro, ri, 8).atomic().vectorize(ri)
    return o


def within(a, m, t, on):
    o = out("within")
    o[x, y] = (a[x, y] > t) & ((a[x, y] < t + 100) | m[x, y]) & on
    return o.vectorize(x, 32)


def chroma(a):
    o = out("chroma")
    a.dim(0).set_stride(3)
    a.dim(2).set_stride(1).set_bounds(0, 3)
    mean = lambda k: cast(i32, (cast(i16, a[2 * x, 2 * y, k]) + a[2 * x + 1, 2 * y, k] + a[2 * x, 2 * y + 1, k] + a[2 * x + 1, 2 * y + 1, k] + 2) >> 2)
    r, g, b = mean(0), mean(1), mean(2)
    u = cast(u8, hl.clamp(((-38 * r - 74 * g + 112 * b + 128) >> 8) + 128, 0, 255))
    v = cast(u8, hl.clamp(((112 * r - 94 * g - 18 * b + 128) >> 8) + 128, 0, 255))
    o[c, x, y] = hl.select(c == 0, u, v)
    return o.bound(c, 0, 2).reorder(c, x, y).unroll(c).vectorize(x, 16)


def weights(a, w):
    o, k = out("weights"), hl.RDom([(0, w.dim(1).extent())], "k")
    o[x] = cast(i32, 0)
    o[x] += cast(i32, a[k.x]) * cast(i32, w[x * 4, k.x])
    o.vectorize(x, 16)
    o.update().vectorize(x, 16)
    return o


def scattered(a, p):
    o, r = out("scattered"), hl.RDom([(0, p.width())], "r")
    o[x] = cast(i16, -1)
    o[hl.clamp(p[r.x], 0, 99)] = a[r.x]
    o.vectorize(x, 8)
    o.update().vectorize(r.x, 8) if False else None
    return o


def rows(a, n):
    """Rows as long as data say, and a condition on data."""
    o, r = out("rows"), hl.RDom([(0, 16)], "r")
    r.where(r.x < cast(i32, n[y]) & 15)
    o[y] = cast(i32, 0)
    o[y] += cast(i32, a[r.x, y])
    return o


def ranged(a, g, k):
    g.set_range(0.0, 4.0)
    k.set_range(1, 9)
    o = out("ranged")
    o[x, y] = cast(u8, hl.clamp(cast(f32, a[x, y]) * g / cast(f32, k), 0.0, 255.0))
    return o.vectorize(x, 32, hl.TailStrategy.GuardWithIf)


def tiny(a):
    o = out("tiny")
    o[x] = hl.max(a[x] * hl.f32(1e-7) + hl.f32(3e-9), 0.0)
    return o.vectorize(x, 8)


def grey(a):
    """Floats that become bytes, and the sums of three planes."""
    o = out("grey")
    o[x, y] = cast(u8, hl.clamp(0.25 * a[x, y, 0] + 0.625 * a[x, y, 1] + 0.125 * a[x, y, 2] + 0.5, 0.0, 255.0))
    return o.vectorize(x, 16)


def sharpened(a):
    """Neighbours that are continued at the edges, with no interior of their own, and a saturation of floats."""
    e, m, o = hl.BoundaryConditions.repeat_edge(a), hl.Func("m"), out("sharpened")
    m[x, y] = cast(f32, e[x - 1, y]) + cast(f32, e[x + 1, y]) + cast(f32, e[x, y + 1])
    o[x, y] = hl.saturating_cast(u8, 2.5 * cast(f32, e[x, y]) - 0.5 * m[x, y])
    m.compute_at(o, y).vectorize(x, 8)
    return o.vectorize(x, 8)


def phases(a):
    """One of several by a number, of lanes and of rows, and truth values that are compared."""
    o = out("phases")
    of_lanes = hl.mux(x % 3, [a[x, y], a[x, y] >> 1, 255 - a[x, y]])
    same = (a[x, y] > 100) == (a[x + 1, y] > 100)
    o[x, y] = hl.select(same, of_lanes, hl.mux(y % 2, [hl.u8(3), a[x, y]]))
    return o.vectorize(x, 16)


def composed(a, b):
    """Interleaved pixels over others: quotients by 255, lanes taken apart and joined."""
    o = out("composed")
    for p in (a, b):
        p.dim(0).set_stride(4)
        p.dim(2).set_stride(1).set_bounds(0, 4)
    t = cast(u16, b[x, y, c]) * cast(u16, 255 - a[x, y, 3]) + 128
    o[x, y, c] = hl.saturating_add(a[x, y, c], cast(u8, (t + (t >> 8)) >> 8))
    o.output_buffer().dim(0).set_stride(4)
    o.output_buffer().dim(2).set_stride(1).set_bounds(0, 4)
    return o.bound(c, 0, 4).reorder(c, x, y).unroll(c).vectorize(x, 16)


def blocked(a, b):
    """An allocation whose extents have a bound only one by one."""
    m, o, k = hl.Func("m"), out("blocked"), hl.RDom([(0, a.width())], "k")
    m[x, y] += cast(i32, a[k.x, y]) * cast(i32, b[x, k.x])
    o[x, y] = m[x, y]
    xi, yi = hl.Var("xi"), hl.Var("yi")
    o.tile(x, y, xi, yi, 16, 4, hl.TailStrategy.GuardWithIf).vectorize(xi, 8).unroll(yi)
    m.compute_at(o, x).vectorize(x, 8).unroll(y)
    m.update().reorder(x, y, k.x).vectorize(x, 8).unroll(y)
    return o


def levels(a, n):
    """A table as long as a parameter says that goes through floats, and a check on a parameter."""
    t, o = hl.Func("t"), out("levels")
    t[x] = cast(f32, x) * 0.5
    at = hl.clamp(cast(i32, a[x, y] * cast(f32, n - 1) * 16.0), 0, (n - 1) * 16)
    o[x, y] = t[at] + a[x, y]
    t.compute_root().vectorize(x, 8)
    return o.vectorize(x, 8)


def zoomed(a, scale):
    """Places that depend on a parameter that is a float."""
    o, r = out("zoomed"), hl.RDom([(0, 4)], "r")
    first = cast(i32, hl.ceil((cast(f32, x) + 0.5) / scale - 2.5))
    o[x, y] = hl.sum(hl.BoundaryConditions.repeat_edge(a)[first + r.x, y])
    return o.vectorize(x, 8)


def elementary(a, g):
    """Functions of vectors that are polynomials here."""
    o = out("elementary")
    o[x] = (hl.exp(a[x]), hl.log(a[x]), hl.pow(a[x], g), hl.exp(-hl.abs(a[x]) * 2))
    return o.vectorize(x, 8)


def paired(a, b):
    """A copy of rows of `b` by turns, filled by a choice in two lanes again and again."""
    o, pairs, total = out("paired"), hl.Func("pairs"), hl.Func("total")
    k, half = hl.Var("k"), hl.Var("half")
    row = lambda r: b[x, hl.min(r, b.dim(1).extent() - 1)]
    pairs[half, x, k] = hl.select(half == 0, row(2 * k), row(2 * k + 1))
    r = hl.RDom([(0, 2), (0, a.dim(0).extent() // 2)])
    total[x, y] = hl.i32(0)
    total[x, y] += cast(i32, a[2 * r[1] + r[0], y]) * cast(i32, pairs[r[0], x, r[1]])
    o[x, y] = total[x, y]
    o.vectorize(x, 8)
    pairs.compute_root().bound(half, 0, 2).reorder_storage(half, x, k).reorder(half, x, k)
    pairs.vectorize(x, 8).vectorize(half)
    total.compute_at(o, x).vectorize(x).update().reorder(r[0], x, r[1]).vectorize(x).atomic().vectorize(r[0])
    return o


def extents(a, b):
    """Only how wide `b` is matters."""
    o = out("extents")
    o[x] = a[hl.clamp(x, 0, a.dim(0).extent() - 1)] + cast(u8, b.dim(0).extent())
    return o.vectorize(x, 8)


CASES = {
    "paired": Case(paired, [("a", "i16", (10, 4)), ("b", "i16", (21, 10))], [("paired", "i32", (21, 4))]),
    "extents": Case(extents, [("a", "u8", (33,)), ("b", "i16", (7, 3))], [("extents", "u8", (40,))]),
    "ranged": Case(ranged, [("a", "u8", (45, 3))], [("ranged", "u8", (45, 3))], [("g", "f32", 2.5), ("k", "u8", 3)]),
    "tiny": Case(tiny, [("a", "f32", (21,))], [("tiny", "f32", (21,))], tolerance=1e-9, constants=True),
    "sigmoid": Case(sigmoid, [("a", "f32", (37,))], [("sigmoid", "f32", (37,))], tolerance=1e-5, constants=True),
    "fast_log": Case(fast_log, [("a", "positive", (37,))], [("fast_log", "f32", (37,))], tolerance=1e-5, constants=True),
    "library": Case(library, [("a", "positive", (19,))], [("library", "f32", (19,))], [("g", "f32", 1.5)], tolerance=1e-4),
    "table": Case(table, [("a", "u8", (70, 3)), ("t", "u8", (256,))], [("table", "u8", (70, 3))]),
    "histogram": Case(histogram, [("a", "u8", (40, 9))], [("histogram", "u32", (256,))]),
    "equalized": Case(equalized, [("a", "u8", (40, 9))], [("equalized", "u8", (40, 9))]),
    "warp": Case(warp, [("a", "f32", (23, 11)), ("m", "f32", (17, 5, 2))], [("warp", "f32", (17, 5))], tolerance=1e-5),
    "blend": Case(blend, [("a", "u8", (50, 3)), ("b", "u8", (50, 3)), ("w", "u8", (50, 3))], [("op_blend", "u8", (50, 3))]),
    "blends": Case(blends, [("a", "u8", (64,)), ("b", "u8", (64,)), ("w", "u16", (64,)), ("v", "u8", (64,)), ("s", "i16", (64,))],
                   [("blends_0", "u8", (64,)), ("blends_1", "u8", (64,)), ("blends_2", "i16", (64,)), ("blends_3", "f32", (64,))], tolerance=1e-5),
    "resample": Case(resample, [("a", "u8", (61, 2))], [("resample", "u8", (90, 2))], [("step", "i32", 43000)]),
    "triangle": Case(triangle, [("a", "i16", (30, 12))], [("triangle", "i32", (24, 7))]),
    "diagonal": Case(diagonal, [("m", "f32", (32, 29)), ("v", "f32", (29,))], [("diagonal", "f32", (32,))], tolerance=1e-5),
    "kept": Case(kept, [("m", "u8", (43, 5)), ("v", "i8", (43,))], [("kept", "i32", (5,))]),
    "rounded": Case(rounded, [("a", "f32", (40,))], [("rounded_0", "u8", (40,)), ("rounded_1", "i8", (40,)), ("rounded_2", "u16", (40,)), ("rounded_3", "u8", (40,))]),
    "arg_max": Case(arg_max, [("a", "u8", (21, 16))], [("arg_max_0", "i32", (16,)), ("arg_max_1", "u8", (16,))]),
    "slide": Case(slide, [("a", "u8", (72, 21))], [("slide", "u8", (70, 19))]),
    "root_slide": Case(root_slide, [("a", "u8", (72, 21))], [("root_slide", "u16", (70, 19))]),
    "interleaved": Case(interleaved, [("a", "u8", (37, 4, 3))], [("interleaved", "u8", (37, 4, 3))], chunky=("a", "interleaved")),
    "special": Case(special, [("a", "u8", (70, 5))], [("special", "u8", (70, 4))], [("k", "i32", 3)]),
    "saturated": Case(saturated, [("a", "u8", (160,)), ("b", "u8", (160,))], [("saturated", "u16", (20,))]),
    "halving": Case(halving, [("a", "u8", (40,)), ("b", "u8", (40,)), ("s", "i16", (40,)), ("t", "i16", (40,))],
                    [("halving_0", "u8", (40,)), ("halving_1", "i16", (40,)), ("halving_2", "u8", (40,)), ("halving_3", "u8", (40,))]),
    "inverses": Case(inverses, [("a", "positive", (37,))], [("inverses", "f32", (37,))], tolerance=2e-3),
    "dot": Case(dot, [("a", "f32", (43,)), ("b", "f32", (43,))], [("dot", "f32", ())], tolerance=1e-4),
    "within": Case(within, [("a", "i16", (70, 3)), ("m", "bool", (70, 3))], [("within", "bool", (70, 3))], [("t", "i16", 50), ("on", "bool", True)]),
    "chroma": Case(chroma, [("a", "u8", (76, 6, 3))], [("chroma", "u8", (2, 38, 3))], chunky=("a",)),
    "weights": Case(weights, [("a", "u8", (9,)), ("w", "i8", (125, 9))], [("weights", "i32", (32,))]),
    "scattered": Case(scattered, [("a", "i16", (50,)), ("p", "i32", (50,))], [("scattered", "i16", (100,))]),
    "grey": Case(grey, [("a", "u8", (37, 3, 3))], [("grey", "u8", (37, 3))]),
    "sharpened": Case(sharpened, [("a", "u8", (37, 5))], [("sharpened", "u8", (37, 5))]),
    "phases": Case(phases, [("a", "u8", (50, 4))], [("phases", "u8", (49, 4))]),
    "composed": Case(composed, [("a", "u8", (21, 3, 4)), ("b", "u8", (21, 3, 4))], [("composed", "u8", (21, 3, 4))], chunky=("a", "b", "composed")),
    "blocked": Case(blocked, [("a", "u8", (9, 11)), ("b", "i8", (48, 9))], [("blocked", "i32", (37, 11))]),
    "levels": Case(levels, [("a", "f32", (21, 2))], [("levels", "f32", (21, 2))], [("n", "i32", 5)], tolerance=1e-5),
    "zoomed": Case(zoomed, [("a", "f32", (40, 3))], [("zoomed", "f32", (20, 3))], [("scale", "f32", 0.5)], tolerance=1e-5),
    "elementary": Case(elementary, [("a", "f32", (64,))], [(f"elementary_{k}", "f32", (64,)) for k in range(4)], [("g", "f32", 1.75)], tolerance=2e-5),
    "rows": Case(rows, [("a", "u8", (16, 9)), ("n", "u8", (9,))], [("rows", "i32", (9,))]),
}

for name in sys.argv[1:] or CASES:
    # Names of functions are numbered within a process.
    child = os.fork()
    if child == 0:
        CASES[name].write(name)
        os._exit(0)
    if os.waitpid(child, 0)[1] != 0:
        print(f"{name}: failed", file=sys.stderr)
