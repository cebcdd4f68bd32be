"""Compiles the plain C of this folder and compares its results with Halide's.

    python check.py [--cc gcc --cc clang-19] [--times] [KERNEL …]

Needs `halide` and `numpy` from PyPI and the compilers. Every file is built without a warning, run
on the data of its case at two sizes, and compared with Halide's own code element by element; the
exit code is 0 when all agree. With `--times` there are also microseconds of the thread for each
compiler at the small size: medians of rounds in which each runs once.
"""

import argparse
import ctypes
import statistics
import subprocess
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
from build import c_type, parameters
from case import CASES, set_parameters

MODULES = (stencils, products, layers)
FLAGS = ["-std=gnu11", "-O3", "-march=native", "-fPIC", "-Wall", "-Wextra", "-Werror"]
ROUNDS, SECONDS = 11, 0.004  # how often each compiler's code is timed, and for how long

TIMER = """
#include <stdint.h>
#include <time.h>
void NAME(KINDS);
double run(void **a, const int64_t *n, long repeats) {
    struct timespec start, end;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
    for (long i = 0; i < repeats; i++)
        NAME(WORDS);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    return (end.tv_sec - start.tv_sec + 1e-9 * (end.tv_nsec - start.tv_nsec)) / repeats;
}
"""


def build(name, compiler, folder):
    """A kernel as a function of its data that runs it some times and returns the seconds of one."""
    pairs = parameters((HERE.parents[1] / "kernels" / f"{name}.kernel").read_text())
    arrays, numbers = [[n for n, kind in pairs if ("[" in kind) == wanted] for wanted in (True, False)]
    kinds = ["void *" if "[" in kind else c_type(kind) for _, kind in pairs]
    words = [f"a[{arrays.index(n)}]" if n in arrays else f"n[{numbers.index(n)}]" for n, _ in pairs]
    timer, library = folder / f"{name}.c", folder / f"{name}_{compiler}.so"
    timer.write_text(TIMER.replace("NAME", name).replace("KINDS", ", ".join(kinds)).replace("WORDS", ", ".join(words)))
    command = [compiler, *FLAGS, "-shared", str(HERE / f"{name}.c"), str(timer), "-o", str(library)]
    if (done := subprocess.run(command, capture_output=True, text=True)).returncode != 0:
        raise RuntimeError(done.stderr.strip())
    run = ctypes.CDLL(str(library)).run
    run.restype, run.argtypes = ctypes.c_double, [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_long]

    def call(data, repeats):
        pointers = (ctypes.c_void_p * len(arrays))(*[data[a].ctypes.data for a in arrays])
        return run(pointers, (ctypes.c_int64 * len(numbers))(*[int(data[n]) for n in numbers]), repeats)

    return call


def check(name, options, folder):
    """What is wrong with a kernel, a line for each mistake, and its functions."""
    wrong, calls = [], {}
    for compiler in options.cc:
        try:
            calls[compiler] = build(name, compiler, folder)
        except RuntimeError as error:
            wrong.append(f"{compiler}: {error}")
    made = CASES[name]()
    for size in ("test", "small"):
        data = made.data(size, np.random.default_rng(7))
        expected = np.array(data[made.result])
        set_parameters(made, data)
        made.func.realize(hl.Buffer(expected), hl.get_host_target())
        for compiler, call in calls.items():
            found = np.full_like(expected, 85)
            call({**data, made.result: found}, 1)
            if count := np.count_nonzero(expected != found):
                wrong.append(f"{compiler}: {count} of {found.size} elements differ, size {size}")
    return wrong, calls


def times(name, calls, options):
    """Medians of the seconds of each compiler."""
    data = CASES[name]().data(options.size, np.random.default_rng(7))
    repeats = {c: max(1, int(SECONDS / call(data, 1))) for c, call in calls.items()}
    series = [{c: call(data, repeats[c]) for c, call in calls.items()} for _ in range(ROUNDS)]
    return {c: statistics.median(s[c] for s in series) for c in calls}


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
            wrong, calls = check(name, options, Path(folder))
            failed += bool(wrong)
            found = times(name, calls, options) if options.times and not wrong else {}
            words = [f"{compiler} {seconds * 1e6:9.2f} us" for compiler, seconds in found.items()]
            print(f"{name:26} {'; '.join(wrong) or '  '.join(words) or 'agrees'}", flush=True)
    print(f"{len(names) - failed} of {len(names)} agree with Halide")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
