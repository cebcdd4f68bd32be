"""What the Halide programs of this folder have in common.

A case is one kernel: a Halide pipeline with its schedule, and data to run it on. Arrays and
scalars have the names that the kernel of the same name under `kernels/` gives them, so that
one set of data serves every way of computing it.
"""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Callable

import halide as hl
import numpy as np

x, y, z, b = hl.Var("x"), hl.Var("y"), hl.Var("z"), hl.Var("b")
xi, yi = hl.Var("xi"), hl.Var("yi")


@dataclass
class Case:
    """A kernel as a Halide program."""

    name: str
    func: hl.Func
    arguments: list
    # size ("test", "small", "large") and a generator -> names to arrays, scalars and sizes
    data: Callable
    # the names of the result in the kernel file, and how much of it there is
    result: str = "out"
    # the simple schedule, where the function that makes the case leaves it to `case`
    schedule: Callable = lambda: None
    # Funcs, variables and expressions that other schedules speak of
    parts: SimpleNamespace = field(default_factory=SimpleNamespace)


# Kernels with their simple schedules, and as the functions of the modules make them: without those
# that are given as `schedule`.
CASES: dict[str, Callable[[], Case]] = {}
ALGORITHMS: dict[str, Callable[[], Case]] = {}


def case(make):
    """Registers a kernel under the name of its function, and gives it its schedule."""

    def scheduled():
        made = make()
        made.schedule()
        return made

    ALGORITHMS[make.__name__], CASES[make.__name__] = make, scheduled
    return scheduled


def image(kind, dims, name):
    return hl.ImageParam(kind, dims, name)


def widen(e, bits, signed=False):
    return hl.cast(hl.Int(bits) if signed else hl.UInt(bits), e)


def i16(e):
    return hl.cast(hl.Int(16), e)


def i32(e):
    return hl.cast(hl.Int(32), e)


def u8(e):
    return hl.cast(hl.UInt(8), e)


def u16(e):
    return hl.cast(hl.UInt(16), e)


def sat(kind, e):
    return hl.saturating_cast(kind, e)


def rounding_mul_shr(a, c, shift):
    return hl.rounding_mul_shift_right(a, c, shift)


def requantize(total, multiplier, shift, zero, low, high):
    """Scales a sum back to bytes."""
    scaled = sat(hl.Int(16), hl.rounding_shift_right(rounding_mul_shr(total, multiplier, hl.u32(31)), hl.cast(hl.UInt(32), shift)))
    return hl.clamp(sat(hl.UInt(8), hl.saturating_add(scaled, i16(zero))), low, high)


def array(rng, dtype, *shape):
    """Random elements over the whole range of a type."""
    info = np.iinfo(dtype)
    return rng.integers(info.min, int(info.max) + 1, size=shape, dtype=dtype)


def set_parameters(made, values):
    """Gives the arguments of a pipeline their values, by name."""
    for argument in made.arguments:
        value = values[argument.name()]
        argument.set(hl.Buffer(value) if isinstance(argument, hl.ImageParam) else value)
