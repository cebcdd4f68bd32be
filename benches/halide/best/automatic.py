"""Schedules that Halide finds by itself, as further candidates for every kernel.

`automatic(name, size)` lists them like the functions of the other modules do; making one asks the
scheduler, for one thread, with the sizes and scalars of the kernel's own data as estimates. A
scheduler that does not load or that gives a pipeline up raises a RuntimeError.
"""

import importlib.metadata
import sys

import halide as hl
import numpy as np

from case import ALGORITHMS, set_parameters

SCHEDULERS = {"Mullapudi2016": "autoschedule_mullapudi2016", "Adams2019": "autoschedule_adams2019"}


def load(scheduler):
    """Loads the library of a scheduler, which stands in the Python package."""
    library = f"lib{SCHEDULERS[scheduler]}.so"
    files = importlib.metadata.files("halide") or []
    found = [str(file.locate()) for file in files if file.name == library]
    if not found:
        raise RuntimeError(f"the package has no {library}")
    hl.load_plugin(found[0])


def estimate(made, data):
    """Tells Halide the sizes and scalars of the data."""
    for argument in made.arguments:
        value = data[argument.name()]
        if isinstance(argument, hl.ImageParam):
            for i, extent in enumerate(reversed(value.shape)):
                argument.dim(i).set_estimate(0, extent)
        else:
            argument.set_estimate(value)
    made.func.set_estimates([hl.Range(0, extent) for extent in reversed(data[made.result].shape)])


def scheduled(name, size, scheduler, show=False):
    """A kernel with the schedule that a scheduler finds for it."""
    load(scheduler)
    made = ALGORITHMS[name]()
    estimate(made, made.data(size, np.random.default_rng(1)))
    parameters = hl.AutoschedulerParams(scheduler, {"parallelism": "1"})
    found = hl.Pipeline(made.func).apply_autoscheduler(hl.get_host_target(), parameters)
    if show:
        print(found.schedule_source)
    if ".parallel(" in found.schedule_source:
        raise RuntimeError(f"{scheduler} asks for several threads")
    return made


def automatic(name, size):
    """Candidates from the automatic schedulers for a kernel at a size."""
    return [(f"automatic, {s}", lambda s=s: scheduled(name, size, s)) for s in SCHEDULERS]
