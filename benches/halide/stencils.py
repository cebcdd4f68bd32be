"""Kernels on images: Sobel, dilation, blur, median, Gaussian, convolution."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Callable

import halide as hl
import numpy as np

from case import Case, array, case, i16, i32, image, sat, u8, u16, x, xi, y, yi

SIZES = {"test": (131, 37), "small": (384, 64), "large": (3840, 2160)}


def sizes(size):
    w, h = SIZES[size]
    return w, h


def bytes_in(size, rng):
    w, h = sizes(size)
    return {"w": w, "h": h, "img": array(rng, np.uint8, h, w), "out": np.zeros((h, w), np.uint8)}


@dataclass
class Stencil:
    """An algorithm on an image of bytes: `value(p)` is the byte at (x, y), from any Func or image `p`
    of bytes; `reach` is how far from there it looks. Other inputs stand in `others`."""

    name: str
    value: Callable
    reach: int
    others: list


def clamped():
    """An image of bytes, and it continued at its edges."""
    img = image(hl.UInt(8), 2, "img")
    edge = hl.Func("edge")
    edge[x, y] = hl.BoundaryConditions.repeat_edge(img)[x, y]
    return img, edge


STENCILS: dict[str, Callable[[], Stencil]] = {}


def stencil(reach, lanes, rows=4):
    """Registers an algorithm on an image that is continued at its edges, and as a case with the
    simple schedule: tiles of some rows, lanes along x; the continued image is made for each row
    of tiles. The function takes `p`, and an image of weights if it has a parameter for it."""

    def register(value):
        name = value.__name__

        def made():
            others = [image(hl.Int(8), 2, "mask")] if value.__code__.co_argcount == 2 else []
            return Stencil(name, lambda p: value(p, *others), reach, others)

        def plain():
            this, (img, edge), out = made(), clamped(), hl.Func(name)
            out[x, y] = this.value(edge)

            def simple():
                out.tile(x, y, xi, yi, lanes, rows).vectorize(xi).unroll(yi)
                edge.compute_at(out, y).vectorize(x, 64)

            return Case(name, out, [img, *this.others], data_of(this), schedule=simple)

        STENCILS[name], plain.__name__ = made, name
        case(plain)
        return value

    return register


def data_of(this):
    """Data for an algorithm on an image: weights, where it has them, are those of a Gaussian."""
    weights = {"mask": np.array([[1, 2, 1], [2, 4, 2], [1, 2, 1]], np.int8)} if this.others else {}
    return lambda size, rng: bytes_in(size, rng) | weights


def weigh(values, weights, kind):
    total = None
    for value, weight in zip(values, weights):
        term = kind(value) if weight == 1 else kind(value) * weight
        total = term if total is None else total + term
    return total


@stencil(reach=1, lanes=32)
def sobel3x3(p):
    along_x = lambda yy: weigh([p[x - 1, yy], p[x, yy], p[x + 1, yy]], [1, 2, 1], u16)
    along_y = lambda xx: weigh([p[xx, y - 1], p[xx, y], p[xx, y + 1]], [1, 2, 1], u16)
    value = hl.absd(along_x(y - 1), along_x(y + 1)) + hl.absd(along_y(x - 1), along_y(x + 1))
    return u8(hl.min(value, hl.u16(255)))


@stencil(reach=2, lanes=32, rows=2)
def sobel5x5(p):
    high_x = lambda yy: weigh([p[x + i, yy] for i in range(-2, 3)], [2, 2, 4, 2, 2], u16)
    low_x = lambda yy: weigh([p[x + i, yy] for i in range(-2, 3)], [1, 1, 2, 1, 1], u16)
    high_y = lambda xx: weigh([p[xx, y + i] for i in range(-2, 3)], [2, 2, 4, 2, 2], u16)
    bound = lambda e: u8(hl.clamp(e, hl.u16(0), hl.u16(255)))
    sobel_x = bound(hl.absd(high_x(y - 2), high_x(y + 2)) + hl.absd(low_x(y - 1), low_x(y + 1)))
    low = lambda xx: weigh([p[xx + i, y] for i in range(-2, 3)], [1, 1, 2, 1, 1], u16)
    sobel_y = bound(hl.absd(high_y(x - 2), high_y(x + 2)) + hl.absd(low(x - 1), low(x + 1)))
    return sobel_x + sobel_y


@stencil(reach=1, lanes=64)
def dilate3x3(p):
    column = lambda xx: hl.max(hl.max(p[xx, y - 1], p[xx, y]), p[xx, y + 1])
    return hl.max(hl.max(column(x - 1), column(x)), column(x + 1))


def widest(p, reach):
    value = p[x - reach, y]
    for i in range(1 - reach, reach + 1):
        value = hl.max(value, p[x + i, y])
    return value


@stencil(reach=2, lanes=64)
def dilate5x5(p):
    return widest(p, 2)


@stencil(reach=3, lanes=64)
def dilate7x7(p):
    return widest(p, 3)


def blur(taps):
    """Means along x, which other schedules speak of, and then along y."""
    r = image(hl.UInt(16), 2, "r")
    along_x, out = hl.Func("along_x"), hl.Func(f"blur{taps}x{taps}")
    along_x[x, y] = weigh([r[x + i, y] for i in range(taps)], [1] * taps, u16) / hl.u16(taps)
    out[x, y] = weigh([along_x[x, y + i] for i in range(taps)], [1] * taps, u16) / hl.u16(taps)

    def data(size, rng):
        w, h = {"test": (131, 37), "small": (192, 64), "large": (1920, 2160)}[size]
        source = array(rng, np.uint16, h + taps - 1, w + taps - 1)
        return {"w": w, "h": h, "r": source, "out": np.zeros((h, w), np.uint16)}

    def simple():
        out.tile(x, y, xi, yi, 32, 8).vectorize(xi).unroll(yi)
        along_x.compute_at(out, x).vectorize(x).unroll(y)

    parts = SimpleNamespace(along_x=along_x)
    return Case(f"blur{taps}x{taps}", out, [r], data, schedule=simple, parts=parts)


@case
def blur3x3():
    return blur(3)


@case
def blur5x5():
    return blur(5)


@case
def blur7x7():
    return blur(7)


@stencil(reach=1, lanes=64)
def median3x3(p):
    middle = lambda a, c, d: hl.max(hl.min(hl.max(a, c), d), hl.min(a, c))
    rows = lambda xx: (p[xx, y - 1], p[xx, y], p[xx, y + 1])
    high = [hl.max(hl.max(a, c), d) for a, c, d in map(rows, (x - 1, x, x + 1))]
    low = [hl.min(hl.min(a, c), d) for a, c, d in map(rows, (x - 1, x, x + 1))]
    mid = [middle(a, c, d) for a, c, d in map(rows, (x - 1, x, x + 1))]
    least = hl.min(hl.min(high[0], high[1]), high[2])
    most = hl.max(hl.max(low[0], low[1]), low[2])
    return middle(least, most, middle(*mid))


def separable(p, weights, kind):
    reach = len(weights) // 2
    span = range(-reach, reach + 1)
    column = lambda xx: weigh([p[xx, y + i] for i in span], weights, kind)
    total = None
    for i, weight in zip(span, weights):
        term = column(x + i) if weight == 1 else column(x + i) * weight
        total = term if total is None else total + term
    return total


@stencil(reach=1, lanes=32)
def gaussian3x3(p):
    return u8((separable(p, [1, 2, 1], i16) + 8) >> 4)


@stencil(reach=2, lanes=32)
def gaussian5x5(p):
    return u8(separable(p, [1, 4, 6, 4, 1], i16) >> 8)


@stencil(reach=3, lanes=16, rows=1)
def gaussian7x7(p):
    return sat(hl.UInt(8), separable(p, [1, 6, 15, 20, 15, 6, 1], i32) >> 12)


@stencil(reach=1, lanes=32)
def conv3x3a16(p, mask):
    total = None
    for dy in range(3):
        for dx in range(3):
            term = i16(p[x + dx - 1, y + dy - 1]) * i16(mask[dx, dy])
            total = term if total is None else total + term
    return u8(hl.clamp(total >> 4, hl.i16(0), hl.i16(255)))
