"""Times every candidate for kernels, and Halide's automatic schedulers, against the simple schedule.

    target/compare/venv/bin/python benches/halide/best/tune.py [--size small|large] [--rounds N]
                                                               [--no-automatic] [KERNEL …]

All are compiled for this machine, and each result is compared with that of the simple schedule on
the same data, element by element. Rounds are interleaved: each round runs every candidate for some
milliseconds and takes the time of the thread; what is printed are medians of the rounds, best first.
`chosen` is the fastest of a kernel at a size, which is remembered for a machine.
"""

import argparse
import json
import os
import statistics
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
if __name__ == "__main__":
    # In the place of this folder, whose modules have the names of those above.
    sys.path[:1] = [str(ROOT / "benches/halide"), str(ROOT / "benches/compare")]

import halide as hl  # noqa: E402
import numpy as np  # noqa: E402

import best.layers, best.products, best.stencils  # noqa: E401, E402, F401  (they register the candidates)
import layers, products, stencils  # noqa: E401, E402, F401  (and these the cases)
from best import BEST  # noqa: E402
from best.automatic import automatic  # noqa: E402
from build import Place, halide_library, timed  # noqa: E402
from case import CASES  # noqa: E402


def candidates(name, size, with_automatic=True):
    """The simple schedule, which the others are compared with, and all others."""
    listed = [("simple", CASES[name]), *(BEST[name]() if name in BEST else [])]
    return listed + (automatic(name, size) if with_automatic else [])


def survives(call):
    """Whether a call comes back: Halide's code ends the process where an array is too small for a schedule."""
    child = os.fork()
    if child == 0:
        for stream in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
        os._exit(call(1) < 0)
    return os.waitpid(child, 0)[1] == 0


def ready(name, options):
    """Calls of the candidates that compile and compute what they should, and what is wrong with the others."""
    calls, problems, expected = {}, {}, None
    place = Place(ROOT / "target/compare/tune" / options.size / name, CASES[name]().data(options.size, np.random.default_rng(1)))
    for number, (label, make) in enumerate(candidates(name, options.size, options.automatic)):
        try:
            case = make()
            library = halide_library(place, str(number), case, options.cc)
        except (RuntimeError, hl.HalideError, OSError) as error:
            problems[label] = str(error).strip().splitlines()[0]
            continue
        call, found = place.run(library, case.result)
        if not survives(call):
            problems[label] = "the call fails"
            continue
        call(1)
        expected = found.copy() if expected is None else expected
        wrong = int(np.count_nonzero(found != expected))
        if wrong:
            problems[label] = f"{wrong} of {found.size} elements differ"
        else:
            calls[label] = call
    return calls, problems


def tune(name, options):
    """Medians in seconds of the candidates for a kernel, best first, and what is wrong with the others."""
    calls, problems = ready(name, options)
    times = timed(calls, options.rounds, options.seconds)
    medians = {label: statistics.median(series) for label, series in times.items()}
    return dict(sorted(medians.items(), key=lambda pair: pair[1])), problems


def chosen(name, size, machine, again=False):
    """The label of the fastest candidate for a kernel at a size, and what makes it. It is found once for
    a machine and a version of Halide, or again where that is asked for or it is no candidate any more."""
    path = ROOT / "target/compare/chosen.json"
    table = json.loads(path.read_text()) if path.exists() else {}
    known = table.setdefault(f"{machine}, Halide {hl.get_host_target()}", {}).setdefault(size, {})
    makes = dict(candidates(name, size))
    if again or known.get(name) not in makes:
        times, problems = tune(name, arguments(["--size", size]))
        for label, problem in problems.items():
            print(f"{name}, {size}, {label}: {problem}", file=sys.stderr, flush=True)
        known[name] = next(iter(times))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(table, indent=1) + "\n")
    return known[name], makes[known[name]]


def arguments(words=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("kernels", nargs="*")
    parser.add_argument("--size", choices=["test", "small", "large"], default="small")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--seconds", type=float, default=0.01, help="for one candidate in one round")
    parser.add_argument("--no-automatic", dest="automatic", action="store_false", help="without Halide's automatic schedulers")
    parser.add_argument("--cc", default="gcc")
    return parser.parse_args(words)


def main():
    options = arguments()
    for name in options.kernels or list(CASES):
        times, problems = tune(name, options)
        print(f"{name}, {options.size}")
        for label, seconds in times.items():
            print(f"  {seconds * 1e6:10.2f} us  {times['simple'] / seconds:5.2f}x  {label}")
        for label, problem in problems.items():
            print(f"  {'–':>10}            {label}: {problem}")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
