"""Compiles the plain C of this folder and compares its results with Halide's.

    python check.py [--cc gcc --cc clang-19] [--times] [KERNEL …]

Needs `halide` and `numpy` from PyPI and the compilers. Every file is built without a warning, run
on the data of its case at two sizes, and compared with Halide's own code element by element; the
exit code is 0 when all agree. With `--times` there are also microseconds of the thread for each
compiler at the small size: medians of rounds in which each runs once.
"""

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "halide"), str(HERE.parent / "compare")]
import halide as hl
import layers
import numpy as np
import products
import stencils
from build import Place, c_library, timed
from case import CASES, set_parameters

MODULES = (stencils, products, layers)
WARNINGS = ("-Wall", "-Wextra", "-Werror")
ROUNDS, SECONDS = 11, 0.004  # how often each compiler's code is timed, and for how long


def calls_of(name, size, compilers, folder):
    """A kernel at a size: its case, its data, and for each compiler a call and the array that it fills."""
    made = CASES[name]()
    data = made.data(size, np.random.default_rng(7))
    place = Place(folder / name / size, data)
    libraries = {c: c_library(place, c, name, HERE / f"{name}.c", c, WARNINGS) for c in compilers}
    return made, data, {c: place.run(library, made.result) for c, library in libraries.items()}


def check(name, options, folder):
    """What is wrong with a kernel, a line for each mistake."""
    wrong = []
    for size in ("test", "small"):
        try:
            made, data, calls = calls_of(name, size, options.cc, folder)
        except RuntimeError as error:
            return [str(error)]
        expected = np.array(data[made.result])
        set_parameters(made, data)
        made.func.realize(hl.Buffer(expected), hl.get_host_target())
        for compiler, (call, found) in calls.items():
            found.fill(85)
            call(1)
            if count := np.count_nonzero(expected != found):
                wrong.append(f"{compiler}: {count} of {found.size} elements differ, size {size}")
    return wrong


def times(name, options, folder):
    """Medians of the seconds of each compiler."""
    _, _, calls = calls_of(name, options.size, options.cc, folder)
    series = timed({compiler: call for compiler, (call, _) in calls.items()}, ROUNDS, SECONDS)
    return {compiler: statistics.median(seconds) for compiler, seconds in series.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("kernels", nargs="*")
    parser.add_argument("--cc", action="append", help="a compiler; gcc and clang-19 if there is none")
    parser.add_argument("--times", action="store_true", help="measure as well")
    parser.add_argument("--size", choices=["small", "large"], default="small", help="what is measured")
    options = parser.parse_args()
    options.cc = options.cc or ["gcc", "clang-19"]
    failed, names = 0, options.kernels or list(CASES)
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            wrong = check(name, options, Path(folder))
            failed += bool(wrong)
            found = times(name, options, Path(folder)) if options.times and not wrong else {}
            words = [f"{compiler} {seconds * 1e6:9.2f} us" for compiler, seconds in found.items()]
            print(f"{name:26} {'; '.join(wrong) or '  '.join(words) or 'agrees'}", flush=True)
    print(f"{len(names) - failed} of {len(names)} agree with Halide")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
