"""Products of matrices from interleaved copies, with a block of sums in registers.

The instructions for products of 16 bits add two neighbours up, so the right operand is copied with
each two rows interleaved: then both operands are read as they lie in memory, the left one as pairs
that are repeated over the lanes. A block is some rows by some columns of the result. What is left of
an odd depth is added in an update of its own.
"""

from types import SimpleNamespace

import halide as hl

from best import best
from case import ALGORITHMS, Case, i16, i32, x, xi, y, yi, z
from fixed_point import reciprocal, reciprocal_sqrt

half, pair = hl.Var("half"), hl.Var("pair")

# Rows, columns and lanes of a block, and pairs at a time. Sixteen registers hold the first four,
# 32 registers of 512 bits the others.
FEW = [(4, 16, 16, 1), (4, 16, 16, 4), (6, 16, 16, 1), (6, 16, 16, 4)]
MANY = [(8, 16, 16, 2), (4, 32, 16, 1), (4, 32, 16, 4), (6, 32, 16, 1), (8, 32, 16, 1), (12, 32, 16, 1), (4, 64, 16, 1)]


def interleaved(operand, *others):
    """A copy of the right operand in which two neighbours of a column lie next to each other."""
    pairs = hl.Func("pairs")
    pairs[(half, x, pair, *others)] = hl.select(half == 0, operand[(x, 2 * pair, *others)], operand[(x, 2 * pair + 1, *others)])
    return pairs.bound(half, 0, 2).vectorize(x, 16).vectorize(half)


def sums(name, start, depth, left, pairs, right, *others):
    """Sums of `left(k) * right[x, k]`: pairs of them, and what is left of an odd depth."""
    r = hl.RDom([(0, 2), (0, depth // 2)], "r")
    last = hl.RDom([(depth // 2 * 2, depth % 2)], "last")
    total, place = hl.Func(name), (x, y, *others)
    total[place] = start
    total[place] += i32(left(2 * r.y + r.x)) * i32(pairs[(r.x, x, r.y, *others)])
    total[place] += i32(left(last.x)) * i32(right[(x, last.x, *others)])
    return SimpleNamespace(func=total, r=r, last=last)


def keep(made, at, place, lanes, together):
    """Sums of a block stay in registers while the depth is gone along."""
    total, r, last = made.func, made.r, made.last
    total.compute_at(at, place).vectorize(x, lanes).unroll(x).unroll(y)
    main = total.update(0).reorder(r.x, x, y, r.y).vectorize(x, lanes).unroll(x).unroll(y)
    main.atomic().vectorize(r.x)
    if together > 1:
        main.unroll(r.y, together)
    total.update(1).reorder(x, y, last.x).vectorize(x, lanes).unroll(x).unroll(y)


def block(func, rows, columns, lanes):
    """Blocks of a result, below each other first."""
    func.tile(x, y, xi, yi, columns, rows).reorder(xi, yi, y, x).vectorize(xi, lanes).unroll(xi).unroll(yi)


def product(made, rows, columns, lanes, together, panel, finish=None):
    """A product of the batch, from a copy of the whole right operand or of a panel of columns."""
    a, b, parts = made.parts.a, made.parts.b, made.parts
    start = hl.i32(0) if parts.start is None else parts.start
    finish = finish or parts.finish or (lambda e: e)
    pairs = interleaved(b, z)
    total = sums("total", start, a.dim(0).extent(), lambda k: a[k, y, z], pairs, b, z)
    out = hl.Func(made.name)
    out[x, y, z] = finish(total.func[x, y, z])
    block(out, rows, columns, lanes)
    keep(total, out, y, lanes, together)
    pairs.compute_at(out, x if panel else z)
    return Case(made.name, out, made.arguments, made.data, made.result)


def products(name):
    """Candidates for a product and what follows it."""
    tiles = [(*t, False) for t in FEW + MANY] + [(*t, True) for t in (FEW[1], FEW[2], MANY[4])]
    label = lambda rows, columns, lanes, together, panel: (
        f"{'panels' if panel else 'pairs'} {rows}x{columns}, {together} at a time"
    )
    return [(label(*t), lambda t=t: product(ALGORITHMS[name](), *t)) for t in tiles]


@best
def matmul_b1():
    return products("matmul_b1")


@best
def matmul_b2():
    return products("matmul_b2")


@best
def matmul_b4():
    return products("matmul_b4")


@best
def matmul_bias():
    return products("matmul_bias")


@best
def matmul_bias_relu():
    return products("matmul_bias_relu")


@best
def matmul_bias_add():
    return products("matmul_bias_add")


def evaluated(e):
    """The value of an expression without variables, which Halide would compute for each element."""
    func = hl.Func("evaluated")
    func[()] = e
    return hl.i32(func.realize([])[()])


def gelu(e):
    """That of `fixed_point` with its constants evaluated first; they are 0, so nothing is left of it."""
    root = evaluated(reciprocal_sqrt(0, hl.i32(6283)) / reciprocal_sqrt(0, hl.i32(1000)))
    return e * evaluated(reciprocal(hl.i32(2))) * (1 + e * evaluated(reciprocal(hl.i32(3))) * root * (6 + e * e))


@best
def matmul_bias_gelu():
    def constant(lanes):
        made = ALGORITHMS["matmul_bias_gelu"]()
        return product(made, 4, lanes, lanes, 1, False, lambda e: gelu(e + made.arguments[2][z]))

    folded = [(f"constants evaluated, {lanes} lanes", lambda lanes=lanes: constant(lanes)) for lanes in (16, 32, 64)]
    return folded + products("matmul_bias_gelu")[: len(FEW + MANY)]


def first_of_two(made, rows, lanes, columns, together):
    """The first of two products, in blocks, for some rows at a time or for all."""
    a, b = made.parts.a, made.parts.b
    pairs = interleaved(b)
    total = sums("total", hl.i32(0), a.dim(0).extent(), lambda k: a[k, y], pairs, b)
    middle = hl.Func("t")
    middle[x, y] = made.parts.finish(total.func[x, y])
    block(middle, rows, columns, lanes)
    keep(total, middle, y, lanes, together)
    pairs.compute_root()
    return middle


def chained(made, rows, columns, lanes, together, by_rows):
    """Two products, of which the second multiplies 32 bits; the result of the first is kept for the
    rows of a block or as a whole."""
    b, d = made.parts.b, made.parts.d
    middle = first_of_two(made, rows, lanes, columns, together)
    depth = hl.RDom([(0, b.dim(0).extent())], "q")
    result, out = hl.Func("result"), hl.Func(made.name)
    result[x, y] = hl.i32(0)
    result[x, y] += middle[depth.x, y] * i32(d[x, depth.x])
    out[x, y] = result[x, y]
    out.tile(x, y, xi, yi, columns, rows).vectorize(xi, lanes).unroll(xi).unroll(yi)
    if not by_rows:
        out.reorder(xi, yi, y, x)
    result.compute_at(out, x if by_rows else y).vectorize(x, lanes).unroll(x).unroll(y)
    main = result.update().reorder(x, y, depth.x).vectorize(x, lanes).unroll(x).unroll(y)
    if together > 1:
        main.unroll(depth.x, together)
    middle.compute_at(out, y) if by_rows else middle.compute_root()
    return Case(made.name, out, made.arguments, made.data, made.result)


def in_halves(made, rows, columns, lanes, together, by_rows):
    """Two products, of which the second is of the upper and lower 16 bits of what the first computes:
    t = low + 65536 * high with a signed low, so t * d = low * d + 65536 * (high * d), as far as it
    shows in 32 bits."""
    b, d = made.parts.b, made.parts.d
    middle, halves = first_of_two(made, rows, lanes, columns, together), hl.Func("halves")
    t = middle[x, y]
    halves[x, y] = (i16(t), i16(t >> 16) + i16((t >> 15) & 1))
    depth, pairs, out = b.dim(0).extent(), interleaved(d), hl.Func(made.name)
    low, high = (sums(n, hl.i32(0), depth, lambda k, i=i: halves[k, y][i], pairs, d) for i, n in enumerate(("low", "high")))
    out[x, y] = low.func[x, y] + (high.func[x, y] << 16)
    out.tile(x, y, xi, yi, columns, rows).vectorize(xi, lanes).unroll(xi).unroll(yi)
    if not by_rows:
        out.reorder(xi, yi, y, x)
    for part in (low, high):
        keep(part, out, x if by_rows else y, lanes, together)
    halves.vectorize(x, lanes)
    pairs.compute_root()
    for func in (middle, halves):
        func.compute_at(out, y) if by_rows else func.compute_root()
    return Case(made.name, out, made.arguments, made.data, made.result)


def pairs_of_products(name):
    """Candidates for two products with something between them."""
    few = [(FEW[1], True), (FEW[1], False), (FEW[2], True), (FEW[2], False)]
    many = [(t, rows) for t in ((4, 32, 16, 1), (8, 32, 16, 1)) for rows in (False, True)]
    listed = [("32 bits", chained, *t) for t in few + many]
    listed += [("halves", in_halves, *t) for t in few[1::2] + many + [((6, 32, 16, 1), False)]]
    label = lambda form, t, rows: f"{form} {t[0]}x{t[1]}, {t[3]} at a time, {'rows' if rows else 'all'} between"
    return [(label(f, t, rows), lambda m=m, t=t, r=rows: m(ALGORITHMS[name](), *t, r)) for f, m, t, rows in listed]


@best
def matmul_bias_relu_matmul():
    return pairs_of_products("matmul_bias_relu_matmul")


@best
def matmul_bias_gelu_matmul():
    def constant():
        made = ALGORITHMS["matmul_bias_gelu_matmul"]()
        b, d, bias = made.parts.b, made.parts.d, made.arguments[2]
        depth, result, out = hl.RDom([(0, b.dim(0).extent())], "q"), hl.Func("result"), hl.Func(made.name)
        # Whatever the first product is.
        result[x, y] += gelu(bias[0]) * i32(d[x, depth.x])
        out[x, y] = result[x, y]
        out.vectorize(x, 32)
        result.compute_at(out, x).vectorize(x)
        result.update().vectorize(x)
        return Case(made.name, out, made.arguments, made.data, made.result)

    return [("constants evaluated", constant), *pairs_of_products("matmul_bias_gelu_matmul")]
