"""The best Halide schedules that are known for the kernels of `benches/halide`.

A module here has a function for each kernel, which lists candidates: schedules as somebody writes
them who tunes for one machine, each with a label that says what it is. Which one is fastest depends
on the machine and on the sizes, so a tuner (`tune.py`) runs them all and picks. The algorithms are
those of the modules in the folder above: for all inputs a candidate computes the same as the
simple schedule does, and where it needs another form of the algorithm (an interleaved copy of an
operand, sums added up in another order), that is written out here, as Halide has no directive for it.
"""

from typing import Callable

from case import Case

Candidates = list[tuple[str, Callable[[], Case]]]

BEST: dict[str, Callable[[], Candidates]] = {}


def best(candidates):
    """Registers the candidates for a kernel under the name of their function."""
    BEST[candidates.__name__] = candidates
    return candidates
