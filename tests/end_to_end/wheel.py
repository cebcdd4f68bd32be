"""Run where the wheel is installed: a pipeline of Halide, when that is there, else a statement that it
has written, and a wrong argument."""

import sys

import isaforge
import numpy as np

statement = sys.argv[1]
try:
    import halide as hl

    a = hl.ImageParam(hl.UInt(8), 1, "a")
    x, f = hl.Var("x"), hl.Func("f")
    f[x] = hl.saturating_cast(hl.UInt(8), hl.widening_add(a[x], hl.u8(9)))
    f.vectorize(x, 64)
    run = isaforge.compile(f, [a], hl.get_host_target())
    given = np.arange(256, dtype=np.uint8)
    result = np.zeros_like(given)
    run(given, result)
    assert (result == np.minimum(given.astype(int) + 9, 255)).all()
    print("halide: a pipeline is computed right")
    try:
        run(given.astype(np.int8), result)
        sys.exit("a wrong type was not refused")
    except ValueError as error:
        print(f"refused: {error}")
except ImportError:
    run = isaforge.load(statement)
    print(f"statement: {len(run._parameters)} parameters")
