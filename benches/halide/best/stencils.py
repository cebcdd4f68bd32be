"""Schedules of the kernels on images that a Halide expert would try, for `tune`.

The image is read where it lies: update definitions split the interior, which does without the
continued edges, from the borders, and its last blocks overlap those before. (Loops that Halide
partitions itself were up to twice as slow, and took minutes to compile.) Rows side by side share
what is computed of them; where the algorithm is a sum or an extreme along x and then along y, or may
be computed so, the rows' values are also a Func of its own.
"""

import halide as hl

import stencils
from best import best
from case import ALGORITHMS, Case, i16, i32, image, sat, u8, u16, x, xi, y, yi

# Lanes and rows of blocks.
TILES = [(32, 2), (32, 4), (64, 2), (64, 4)]


def blocks(this, img, out, lanes, rows, halves):
    """The interior in blocks, of which the last along both dimensions overlap; borders by themselves.
    With `halves`, `first(p)` at (x, y) is a Func whose rows in a block are computed once, and the
    interior is `second` of it."""
    w, h, reach = img.width(), img.height(), this.reach
    edge, ends, stage, inside = (hl.Func(n) for n in ("edge", "ends", "stage", "inside"))
    edge[x, y] = hl.BoundaryConditions.repeat_edge(img)[x, y]
    ends[x, y] = img[x, hl.clamp(y, 0, h - 1)]
    if halves:
        stage[x, y] = halves[0](img)
        inside[x, y] = halves[1](stage)
    else:
        inside[x, y] = this.value(img)
    wide, high = w - 2 * reach, h - 2 * reach
    fits = (wide >= lanes) & (high >= rows)
    across, down = (wide + lanes - 1) // lanes, (high + rows - 1) // rows
    within = lambda block, lane: hl.min(block * lanes, wide - lanes) + reach + lane
    whole = lambda extent: (0, hl.select(fits, extent, 0))
    out[x, y] = hl.undef(hl.UInt(8))
    r = hl.RDom([(0, lanes), (0, rows), whole(across), whole(down)])
    at_x, at_y = within(r[2], r[0]), hl.min(r[3] * rows, high - rows) + reach + r[1]
    out[at_x, at_y] = inside[at_x, at_y]
    out.update(0).allow_race_conditions().vectorize(r[0]).unroll(r[1])
    if halves:
        stage.compute_at(out, r[2]).vectorize(x, lanes).unroll(y)
    # Rows above and below, of which only the places along y are continued.
    over, all_around = hl.Func("over"), hl.Func("all_around")
    over[x, y], all_around[x, y] = this.value(ends), this.value(edge)
    t = hl.RDom([(0, lanes), whole(across), (0, reach)])
    for first in (0, h - reach):
        out[within(t[1], t[0]), first + t[2]] = over[within(t[1], t[0]), first + t[2]]
    # Columns left and right; all of an image that is too small for blocks.
    left = hl.RDom([(0, hl.select(fits, reach, w)), (0, h)])
    right = hl.RDom([whole(reach), (0, h)])
    out[left.x, left.y] = all_around[left.x, left.y]
    out[w - reach + right.x, right.y] = all_around[w - reach + right.x, right.y]
    for update in (1, 2):
        out.update(update).allow_race_conditions().vectorize(t[0])
    for update in (3, 4):
        out.update(update).unscheduled()


def candidates(name, tiles, halves=None):
    """All candidates of an algorithm of bytes; `halves` are functions whose composition it is."""
    forms = [(*tile, form) for form in ([None, halves] if halves else [None]) for tile in tiles]

    def make(lanes, rows, form):
        this, img, out = stencils.STENCILS[name](), image(hl.UInt(8), 2, "img"), hl.Func(name)
        blocks(this, img, out, lanes, rows, form)
        return Case(name, out, [img, *this.others], stencils.data_of(this))

    label = lambda lanes, rows, form: f"{'staged' if form else 'blocks'}, {rows} rows of {lanes}"
    return [(label(*form), lambda form=form: make(*form)) for form in forms]


def taps(weights, kind, at):
    reach = len(weights) // 2
    return stencils.weigh([at(i) for i in range(-reach, reach + 1)], weights, kind)


def sums(weights, narrow, wide, finish):
    """Weighted sums along x in `narrow` and then along y in `wide`."""
    along = lambda p: taps(weights, narrow, lambda i: p[x + i, y])
    return along, lambda f: finish(taps(weights, wide, lambda i: f[x, y + i]))


@best
def sobel3x3():
    return candidates("sobel3x3", TILES)


@best
def sobel5x5():
    return candidates("sobel5x5", TILES)


@best
def median3x3():
    return candidates("median3x3", TILES)


@best
def conv3x3a16():
    return candidates("conv3x3a16", TILES)


@best
def dilate3x3():
    three = lambda at: hl.max(hl.max(at(-1), at(0)), at(1))
    halves = (lambda p: three(lambda i: p[x + i, y])), (lambda f: three(lambda i: f[x, y + i]))
    return candidates("dilate3x3", TILES, halves)


@best
def dilate5x5():
    return candidates("dilate5x5", [*TILES, (128, 1)])


@best
def dilate7x7():
    return candidates("dilate7x7", [*TILES, (128, 1)])


@best
def gaussian3x3():
    return candidates("gaussian3x3", TILES, sums([1, 2, 1], i16, i16, lambda e: u8((e + 8) >> 4)))


@best
def gaussian5x5():
    return candidates("gaussian5x5", TILES, sums([1, 4, 6, 4, 1], i16, i16, lambda e: u8(e >> 8)))


@best
def gaussian7x7():
    weights = [1, 6, 15, 20, 15, 6, 1]
    # 64 times 255 fits into 16 bits, so that products of pairs may be 16-bit ones.
    halves = sums(weights, i16, i32, lambda e: sat(hl.UInt(8), e >> 12))
    return candidates("gaussian7x7", [(8, 2), (16, 2), (16, 4), (32, 2)], halves)


def blur(count):
    def scheduled(lanes, rows):
        made = ALGORITHMS[f"blur{count}x{count}"]()
        out, along_x = made.func, made.parts.along_x
        if rows is None:
            out.split(x, x, xi, lanes).reorder(xi, y, x).vectorize(xi)
            along_x.store_at(out, x).compute_at(out, y).vectorize(x)
        else:
            out.tile(x, y, xi, yi, lanes, rows).vectorize(xi).unroll(yi)
            along_x.compute_at(out, x).vectorize(x).unroll(y)
        return made

    forms = [(lanes, rows) for lanes in (16, 32, 64) for rows in (4, 8, 16, None)]
    name = lambda lanes, rows: f"staged, {rows} rows of {lanes}" if rows else f"sliding, {lanes}"
    return [(name(*form), lambda form=form: scheduled(*form)) for form in forms]


@best
def blur3x3():
    return blur(3)


@best
def blur5x5():
    return blur(5)


@best
def blur7x7():
    return blur(7)
