"""What `run.py` times: libraries of one kernel, one for each way of computing it.

A library has one function `run(arrays, numbers, repeats)` that returns the seconds of one call, in the
time of the thread, or less than 0 where a call fails. Arrays and numbers have a fixed order, that of
the data. Our C and the C of `benches/c` are called with the kernel file's parameters, Halide's objects
with its buffers, and our C from Halide's statements with places and extents of arrays.
"""

import ctypes
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FLAGS = ["-std=gnu11", "-O3", "-march=native", "-fPIC"]

TIMER = """
#include <stdint.h>
#include <time.h>
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
double run(void **a, const int64_t *n, long repeats) {
    (void)a, (void)n;
    PREPARE
    double start = now();
    for (long i = 0; i < repeats; i++)
        CALL;
    return (now() - start) / (double)repeats;
}
"""

BUFFERS = """
#include <stdint.h>
typedef struct { uint8_t code, bits; uint16_t lanes; } type_of;
typedef struct { int32_t min, extent, stride; uint32_t flags; } dimension;
typedef struct { uint64_t device; void *interface; uint8_t *host; uint64_t flags; type_of type;
                 int32_t dimensions; dimension *dim; void *padding; } buffer;
"""


def parameters(kernel):
    """Name and kind of each parameter of a kernel file: `size`, a scalar type, or an array."""
    text = re.sub(r"//[^\n]*", "", kernel)
    at = text.index("kernel ")
    start = text.index("(", at) + 1
    depth, part, parts, end = 1, "", [], start
    while depth:
        c = text[end]
        depth += c in "(["
        depth -= c in ")]"
        if depth == 1 and c == "," or depth == 0:
            parts.append(part)
            part = ""
        else:
            part += c
        end += 1
    pairs = [p.split(":", 1) for p in parts if p.strip()]
    return [(name.strip(), kind.strip()) for name, kind in pairs]


@dataclass
class Place:
    """Where libraries are built, and the data of one size that they are called with."""

    folder: Path
    data: dict

    def __post_init__(self):
        import numpy as np

        self.folder.mkdir(parents=True, exist_ok=True)
        self.arrays = [name for name, value in self.data.items() if isinstance(value, np.ndarray)]
        self.numbers = [name for name in self.data if name not in self.arrays]

    def argument(self, name):
        """An argument as the wrapper passes it."""
        if name in self.arrays:
            return f"a[{self.arrays.index(name)}]"
        return f"n[{self.numbers.index(name)}]"

    def compiled(self, stem, compiler, sources, declared, call, prepare=(), warnings=("-w",)):
        """The library of sources and a wrapper that times `call`."""
        timer = TIMER.replace("PREPARE", "\n    ".join(prepare)).replace("CALL", call)
        path, library = self.folder / f"{stem}_run.c", self.folder / f"{stem}.so"
        path.write_text(declared + timer)
        command = [compiler, *FLAGS, *warnings, "-shared", *map(str, sources), str(path), "-o", str(library), "-lm", "-ldl", "-lpthread"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip())
        return library

    def run(self, library, result):
        """A library as `(repeats) -> seconds`, and the array of its own that it writes results to."""
        own = {name: self.data[name].copy() if name == result else self.data[name] for name in self.arrays}
        pointers = (ctypes.c_void_p * len(own))(*[array.ctypes.data for array in own.values()])
        values = (ctypes.c_int64 * max(1, len(self.numbers)))(*[int(self.data[name]) for name in self.numbers])
        function = ctypes.CDLL(str(library)).run
        function.restype = ctypes.c_double
        function.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_long]
        # The arrays live as long as the function that refers to them.
        return lambda repeats, kept=own: function(pointers, values, repeats), own[result]


def timed(calls, rounds, seconds):
    """The seconds of each call by its key, one number for each round; each round runs every call for about
    so many seconds."""
    repeats = {key: max(1, int(seconds / max(call(1), 1e-9))) for key, call in calls.items()}
    times = {key: [] for key in calls}
    for _ in range(rounds):
        for key, call in calls.items():
            times[key].append(call(repeats[key]))
    return times


def in_order(case):
    """Names of a pipeline's arguments, its result last."""
    return [argument.name() for argument in case.arguments] + [case.result]


def halide_library(place, stem, case, compiler):
    """Halide's own object code of a case."""
    import halide as hl

    pipeline = place.folder / f"{stem}.o"
    case.func.compile_to_object(str(pipeline), case.arguments, "pipeline", hl.get_host_target())
    codes = {"i": 0, "u": 1, "f": 2}
    prepare, words, kinds = [], [], []
    for name in in_order(case):
        value = place.data[name]
        if name in place.numbers:
            words.append(place.argument(name))
            kind = next(a for a in case.arguments if a.name() == name).type()
            kinds.append(f"{'u' if kind.is_uint() else ''}int{kind.bits()}_t")
            continue
        dims, stride = [], 1
        for extent in reversed(value.shape):
            dims.append(f"{{0, {extent}, {stride}, 0}}")
            stride *= extent
        at, kind = len(words), f"{{{codes[value.dtype.kind]}, {value.dtype.itemsize * 8}, 1}}"
        prepare.append(f"dimension d{at}[] = {{{', '.join(dims)}}};")
        prepare.append(f"buffer b{at} = {{0, 0, {place.argument(name)}, 0, {kind}, {value.ndim}, d{at}, 0}};")
        words.append(f"&b{at}")
        kinds.append("void *")
    declared = BUFFERS + f"int pipeline({', '.join(kinds)});\n"
    return place.compiled(stem, compiler, [pipeline], declared, f"if (pipeline({', '.join(words)}) != 0) return -1", prepare)


class Isaforge:
    """Our compiler: its binary, the seconds for a window, and the compiler of the C that it emits."""

    def __init__(self, binary, limit, cc):
        self.binary, self.limit, self.cc = binary, limit, cc

    def compile(self, words, output):
        command = [self.binary, "compile", *map(str, words), "--time-limit", str(self.limit), "-o", str(output)]
        done = subprocess.run(command, capture_output=True, text=True)
        # 3: some window is computed element by element, which its report says.
        if done.returncode not in (0, 3):
            raise RuntimeError(done.stderr.strip())

    def from_kernel(self, place, stem, name, words):
        """Our code of a kernel file."""
        source = place.folder / f"{stem}.c"
        self.compile(words, source)
        return c_library(place, stem, name, source, self.cc)

    def from_halide(self, place, stem, case):
        """Our code from the statements that Halide lowers a case to."""
        import halide as hl

        statements, source = place.folder / f"{stem}.stmt", place.folder / f"{stem}.c"
        case.func.compile_to_lowered_stmt(str(statements), case.arguments, hl.StmtOutputFormat.Text, hl.get_host_target())
        self.compile(["--from-halide", statements], source)
        name, parameters = re.search(r"^int (\w+)\((.*)\) \{$", source.read_text(), re.M).groups()
        words = []
        for argument in in_order(case):
            words.append(place.argument(argument))
            if argument in place.arrays:
                words += [f"INT64_C({extent})" for extent in reversed(place.data[argument].shape)]
        kinds = [re.sub(r"\w+$", "", parameter).strip() for parameter in parameters.split(",")]
        declared = f"#include <stdint.h>\nint {name}({', '.join(kinds)});\n"
        return place.compiled(stem, self.cc, [source], declared, f"if ({name}({', '.join(words)}) != 0) return -1")


def kernel_file(name):
    return ROOT / "kernels" / f"{name}.kernel"


def c_library(place, stem, name, source, compiler, warnings=("-w",)):
    """C with the parameters of a kernel file."""
    listed = parameters(kernel_file(name).read_text())
    kinds = ["void *" if "[" in kind else c_type(kind) for _, kind in listed]
    call = f"{name}({', '.join(place.argument(argument) for argument, _ in listed)})"
    return place.compiled(stem, compiler, [source], f"void {name}({', '.join(kinds)});\n", call, warnings=warnings)


def automatic_schedule(ours, place, stem, name):
    """Our code of a kernel file whose schedule is taken away and searched for at the data's sizes."""
    text, plain = kernel_file(name).read_text(), place.folder / f"{name}.kernel"
    plain.write_text(re.sub(r"\}\s*schedule\s*\{.*", "}\n", text, flags=re.S))
    sizes = [f"--size={size}={place.data[size]}" for size, kind in parameters(text) if kind == "size"]
    return ours.from_kernel(place, stem, name, [plain, "--schedule", "auto", *sizes])


def c_type(kind):
    """The C type of a kernel file's scalar or size."""
    if kind == "size":
        return "long"
    return {"u": "unsigned ", "i": "signed "}[kind[0]] + {"8": "char", "16": "short", "32": "int", "64": "long"}[kind[1:]]
