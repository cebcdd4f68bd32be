"""Compiles every Halide program of this folder with isaforge and compares the results.

    python check.py [KERNEL …]

Needs `halide` and `numpy` from PyPI, a C compiler, and the binary `isaforge` on the PATH or in
$ISAFORGE. Each result is compared element by element with that of Halide's own code. The exit
code is 0 when all agree.
"""

import os
import sys
from pathlib import Path

import halide as hl
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python" / "isaforge" / "src"))
import isaforge
import layers
import products
import stencils
from case import CASES, set_parameters

MODULES = (stencils, products, layers)


def check(name, limit):
    """What is wrong with a kernel; nothing when all is well."""
    made, target = CASES[name](), hl.get_host_target()
    try:
        function = isaforge.compile(made.func, made.arguments, target, time_limit=limit)
    except isaforge.CompileError as error:
        return f"refused: {error}"
    for size in ("test", "small"):
        data = made.data(size, np.random.default_rng(7))
        expected, found = np.array(data[made.result]), np.array(data[made.result])
        set_parameters(made, data)
        made.func.realize(hl.Buffer(expected), target)
        function(*[data[a.name()] for a in made.arguments], found)
        wrong = np.count_nonzero(expected != found)
        if wrong:
            return f"{wrong} of {expected.size} elements differ, size {size}"
    return None


def main():
    limit = float(os.environ.get("ISAFORGE_TIME_LIMIT", "10"))
    failed = 0
    names = sys.argv[1:] or list(CASES)
    for name in names:
        problem = check(name, limit)
        failed += problem is not None
        print(f"{name:32} {problem or 'agrees'}", flush=True)
    print(f"{len(names) - failed} of {len(names)} agree with Halide")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
