"""Halide pipelines compiled by the isaforge binary and called on NumPy arrays."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import tempfile
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import program, tables

if TYPE_CHECKING:
    import halide as hl

__all__ = ["CompileError", "Function", "compile", "load", "program", "tables"]


class CompileError(Exception):
    """What the binary, or the C compiler, says of a pipeline that it cannot compile."""


class Function:
    """A compiled pipeline: call it with its arguments in order, the result last."""

    def __init__(self, library: Path, name: str, parameters: list[str], folder: str):
        self.source = library.with_suffix(".c").read_text()
        self._call = getattr(ctypes.CDLL(str(library)), name)
        self._call.restype = ctypes.c_int
        self._parameters = _arguments(parameters)
        self._clean = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)

    def __call__(self, *arguments: Any) -> None:
        code = self._call(*self.prepare(*arguments))
        if code != 0:
            why = _CODES.get(code, "a check of the arguments failed")
            raise RuntimeError(f"{why}: Halide's error {code}")

    def prepare(self, *arguments: Any) -> list[Any]:
        """The arguments as C takes them; arrays must outlive the result."""
        if len(arguments) != len(self._parameters):
            raise ValueError(f"{len(self._parameters)} arguments are needed, {len(arguments)} were given")
        words = []
        for value, (name, dtype, dims) in zip(arguments, self._parameters):
            if dims is None:
                words.append(_SCALARS[dtype](value))
                continue
            truths = isinstance(value, np.ndarray) and value.dtype == np.bool_ and dtype == "uint8"
            if not isinstance(value, np.ndarray) or value.dtype != dtype and not truths or value.ndim != dims:
                raise ValueError(f"`{name}` is an array of {dtype} with {dims} dimensions")
            if not value.flags.c_contiguous:
                raise ValueError(f"`{name}` is not contiguous: pass `np.ascontiguousarray(…)`")
            words.append(ctypes.c_void_p(value.ctypes.data))
            words.extend(ctypes.c_int64(n) for n in reversed(value.shape))
        return words


# What Halide's codes of errors mean, as `HalideRuntime.h` numbers them.
_CODES = {
    -2: "the bounds that the schedule states are too small for the output",
    -4: "an array is smaller than what the pipeline accesses; by default a schedule with vectors needs at least one whole "
        "vector, so that a narrow image is refused (`TailStrategy.GuardWithIf` takes any)",
    -5: "an array has more bytes than Halide indexes",
    -6: "an array has more elements than Halide indexes",
    -7: "what an array is constrained to is less than what the pipeline accesses",
    -8: "an extent, first coordinate or stride is not what the pipeline constrains it to be",
    -9: "a parameter is below its range",
    -10: "a parameter is above its range",
    -27: "a requirement of the pipeline does not hold",
    -28: "an extent is negative",
    -34: "an array has no data",
}

_SCALARS = {
    "int8": ctypes.c_int8, "int16": ctypes.c_int16, "int32": ctypes.c_int32, "int64": ctypes.c_int64,
    "uint8": ctypes.c_uint8, "uint16": ctypes.c_uint16, "uint32": ctypes.c_uint32, "uint64": ctypes.c_uint64,
    "float32": ctypes.c_float, "float64": ctypes.c_double,
}
_TYPES = {"float": "float32", "double": "float64"}


def _arguments(parameters: list[str]) -> list[tuple[str, str, int | None]]:
    """The parameters of the C function as (name, type, dimensions or None)."""
    out = []
    for text in parameters:
        kind, star, name = re.fullmatch(r"(?:const )?(\w+) (\*?)(\w+)", text.strip()).groups()
        dtype = _TYPES.get(kind, kind.removesuffix("_t"))
        if star:
            out.append([name, dtype, 0])
        elif out and out[-1][2] is not None and re.fullmatch(re.escape(out[-1][0]) + r"_extent_\d+(_\d+)?|\w+_extent_\d+", name):
            out[-1][2] += 1
        else:
            out.append([name, dtype, None])
    return [tuple(a) for a in out]


def _run(words: Sequence[str], what: str) -> subprocess.CompletedProcess[str]:
    try:
        done = subprocess.run(words, capture_output=True, text=True)
    except FileNotFoundError:
        raise CompileError(f"{what} `{words[0]}` is not found") from None
    if done.returncode not in (0, 3):
        raise CompileError((done.stderr + done.stdout).strip())
    return done


def compile(
    func: hl.Func,
    args: Sequence[Any],
    target: hl.Target | None = None,
    *,
    command: str | None = None,
    processor: str = "host",
    time_limit: float | None = None,
    flags: Sequence[str] = (),
) -> Function:
    """A Halide pipeline as a function of NumPy arrays.

    `func` and `args` are what `compile_to_lowered_stmt` takes, `target` a `halide.Target`.
    `processor` is what `isaforge compile --target` takes; `flags` are for the C compiler.
    """
    import halide as hl

    target = target or hl.get_host_target()
    with tempfile.TemporaryDirectory() as folder:
        path, in_c, in_llvm = (Path(folder) / f"pipeline.{end}" for end in ("stmt", "c", "ll"))
        constants = [in_c]
        try:
            func.compile_to({hl.OutputFileType.stmt: str(path), hl.OutputFileType.c_source: str(in_c)}, args, func.name(), target)
        except hl.HalideError:
            # Not everything has a form in Halide's C; the text rounds float constants.
            constants = []
            func.compile_to_lowered_stmt(str(path), args, hl.StmtOutputFormat.Text, target)
        checks = (line.lstrip().startswith("assert") for line in path.open())
        doubles = (re.search(r"\d\.\d{6}(e[-+]\d+)?(?![\dfh])", line) for line in path.open())
        if any(double and not check for double, check in zip(doubles, checks)):
            # Its C rounds those of float64.
            func.compile_to_llvm_assembly(str(in_llvm), args, func.name(), target)
            constants.append(in_llvm)
        return load(path, constants=constants, command=command, processor=processor, time_limit=time_limit, flags=flags)


def load(
    path: str | Path,
    *,
    constants: Sequence[str | Path] = (),
    command: str | None = None,
    processor: str = "host",
    time_limit: float | None = None,
    flags: Sequence[str] = (),
) -> Function:
    """A statement text that Halide has written as a function of NumPy arrays.

    `constants` are Halide's C of the same pipeline, or its LLVM text, from which float constants are read exactly.
    """
    if command is None:
        try:
            command = program.path()
        except FileNotFoundError as error:
            raise CompileError(str(error)) from None
    folder = tempfile.mkdtemp(prefix="isaforge-")
    code, library = Path(folder) / "pipeline.c", Path(folder) / "pipeline.so"
    words = [command, "compile", "--from-halide", str(path), "--target", processor, "-o", str(code)]
    for file in constants:
        words += ["--constants", str(file)]
    if time_limit is not None:
        words += ["--time-limit", str(time_limit)]
    try:
        _run(words, "the binary")
        usual = ("clang-19", "clang", "cc", "gcc")
        compiler = os.environ.get("CC") or next(filter(shutil.which, usual), "cc")
        _run([compiler, "-std=gnu11", "-O3", "-march=native", "-shared", "-fPIC", *flags, str(code), "-o", str(library), "-lm"], "the C compiler")
        entry = re.search(r"^int (\w+)\((.*)\) \{$", code.read_text(), re.M)
        return Function(library, entry[1], entry[2].split(","), folder)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise

