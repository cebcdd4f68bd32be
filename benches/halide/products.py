"""Products of matrices of 16-bit integers, with what follows them."""

from types import SimpleNamespace

import halide as hl
import numpy as np

from case import Case, array, case, i16, i32, image, x, xi, y, yi, z
from fixed_point import gelu

SIZES = {"test": (64, 32, 96), "small": (64, 64, 64), "large": (256, 256, 256)}


def accumulate(name, a, b, start, batched=True):
    """Sums of products in a Func of its own, scheduled by `keep_in_registers`."""
    depth = hl.RDom([(0, a.dim(0).extent())], "p")
    total = hl.Func(name)
    if batched:
        total[x, y, z] = start
        total[x, y, z] += i32(a[depth.x, y, z]) * i32(b[x, depth.x, z])
    else:
        total[x, y] = start
        total[x, y] += i32(a[depth.x, y]) * i32(b[x, depth.x])
    return total, depth


def keep_in_registers(total, depth, out, tile=(32, 4)):
    """Tiles of 4 rows and 64 columns; two products at a time for the 16-bit dot products."""
    out.tile(x, y, xi, yi, *tile).vectorize(xi, 16).unroll(xi).unroll(yi)
    total.compute_at(out, x).vectorize(x, 16).unroll(x).unroll(y)
    outer, inner = hl.RVar("po"), hl.RVar("pi")
    total.update().split(depth.x, outer, inner, 2).reorder(inner, x, y, outer)
    total.update().vectorize(x, 16).unroll(x).unroll(y).atomic().vectorize(inner)


def product_data(batch):
    def data(size, rng):
        m, k, n = SIZES[size]
        return {
            "batch": batch, "m": m, "n": n, "k": k,
            "a": array(rng, np.int16, batch, m, k), "b": array(rng, np.int16, batch, k, n),
            "bias": array(rng, np.int32, batch), "add": array(rng, np.int32, batch, m, n),
            "c": np.zeros((batch, m, n), np.int32),
        }

    return data


def operands(dims=3):
    return image(hl.Int(16), dims, "a"), image(hl.Int(16), dims, "b")


def batched(name, batch, finish=None, extra=(), start=None):
    a, b = operands()
    total, depth = accumulate("total", a, b, hl.i32(0) if start is None else start)
    out = hl.Func(name)
    out[x, y, z] = total[x, y, z] if finish is None else finish(total[x, y, z])
    parts = SimpleNamespace(a=a, b=b, start=start, finish=finish)
    schedule = lambda: keep_in_registers(total, depth, out)
    return Case(name, out, [a, b, *extra], product_data(batch), "c", schedule, parts)


@case
def matmul_b1():
    return batched("matmul_b1", 1)


@case
def matmul_b2():
    return batched("matmul_b2", 2)


@case
def matmul_b4():
    return batched("matmul_b4", 4)


@case
def matmul_bias():
    bias = image(hl.Int(32), 1, "bias")
    return batched("matmul_bias", 4, lambda e: e + bias[z], [bias])


@case
def matmul_bias_relu():
    bias = image(hl.Int(32), 1, "bias")
    return batched("matmul_bias_relu", 4, lambda e: hl.max(e + bias[z], 0), [bias])


@case
def matmul_bias_add():
    bias, add = image(hl.Int(32), 1, "bias"), image(hl.Int(32), 3, "add")
    return batched("matmul_bias_add", 4, lambda e: hl.max(e + bias[z], 0), [bias, add], add[x, y, z])


@case
def matmul_bias_gelu():
    bias = image(hl.Int(32), 1, "bias")
    return batched("matmul_bias_gelu", 4, lambda e: gelu(e + bias[z]), [bias])


def chained(name, between):
    """A product, something on it, and a second product with 32-bit multiplications."""
    a, b = operands(2)
    bias, d = image(hl.Int(32), 1, "bias"), image(hl.Int(16), 2, "d")
    total, depth = accumulate("total", a, b, hl.i32(0), batched=False)
    middle = hl.Func("t")
    middle[x, y] = between(total[x, y] + bias[0])
    second = hl.RDom([(0, b.dim(0).extent())], "q")
    result, out = hl.Func("result"), hl.Func(name)
    result[x, y] = hl.i32(0)
    result[x, y] += middle[second.x, y] * i32(d[x, second.x])
    out[x, y] = result[x, y]

    def schedule():
        keep_in_registers(total, depth, middle)
        middle.compute_root()
        out.tile(x, y, xi, yi, 32, 4).vectorize(xi, 16).unroll(xi).unroll(yi)
        result.compute_at(out, x).vectorize(x, 16).unroll(x).unroll(y)
        result.update().reorder(x, y, second.x).vectorize(x, 16).unroll(x).unroll(y)

    def data(size, rng):
        m, k, n = SIZES[size]
        return {
            "m": m, "n": n, "k": k, "l": n,
            "a": array(rng, np.int16, m, k), "b": array(rng, np.int16, k, n),
            "bias": array(rng, np.int32, 1), "d": array(rng, np.int16, n, n),
            "c": np.zeros((m, n), np.int32),
        }

    parts = SimpleNamespace(a=a, b=b, d=d, finish=lambda e: between(e + bias[0]))
    return Case(name, out, [a, b, bias, d], data, "c", schedule, parts)


@case
def matmul_bias_relu_matmul():
    return chained("matmul_bias_relu_matmul", lambda e: hl.max(e, 0))


@case
def matmul_bias_gelu_matmul():
    return chained("matmul_bias_gelu_matmul", gelu)
