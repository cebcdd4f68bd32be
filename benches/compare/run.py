"""The comparison: isaforge against Halide, gcc and clang on the kernels of `benches/halide`.

    python3 benches/compare/run.py [--quick] [--size small|large|both] [--variants LIST]
                                   [--output DIR] [KERNEL …]

Installs what it needs into `target/compare` (see `setup.sh`) and starts itself again there. For
every kernel: `kernel`, our code from the kernel file; `from_halide`, our code from Halide's lowered
statements; `halide`, Halide's own code at the same schedule; `gcc` and `clang`, plain C of the
same algorithm (the kernel file without its schedule) with `restrict`, at -O3 -march=native; where
it is asked for by `--variants`, `auto`, our code of that file with a schedule that is searched for. Our
C is compiled by clang 19 too where there is one (`--ours-cc`), as Halide's code is by LLVM. The
results are compared element by element before anything is timed. Rounds are interleaved:
each round runs every variant once; medians and quartiles are of the rounds. Writes
`results.json`, `table.md`, `chart.svg` and `chart_large.svg`.
"""

import argparse
import concurrent.futures
import ctypes
import importlib.metadata
import json
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VARIANTS = ["kernel", "from_halide", "halide", "gcc", "clang"]
FLAGS = ["-std=gnu11", "-O3", "-march=native", "-fPIC", "-w"]

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


def tool(words):
    """The first line that a tool says of itself."""
    try:
        done = subprocess.run(words, capture_output=True, text=True)
        return (done.stdout + done.stderr).strip().splitlines()[0]
    except (FileNotFoundError, IndexError):
        return None


def start_again(folder):
    """Installs what is needed and runs this program with it."""
    subprocess.run(["sh", str(Path(__file__).with_name("setup.sh")), str(folder)], check=True)
    environment = dict(os.environ, ISAFORGE_COMPARE="1")
    python = str(folder / "venv/bin/python")
    os.execve(python, [python, *sys.argv], environment)


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


class Build:
    """Libraries of one kernel, one for each variant."""

    def __init__(self, name, folder, options):
        import halide as hl
        from case import CASES

        self.name, self.folder, self.options = name, folder / name, options
        self.folder.mkdir(parents=True, exist_ok=True)
        self.case, self.target = CASES[name](), hl.get_host_target()
        self.text = (ROOT / "kernels" / f"{name}.kernel").read_text()
        self.problems, self.libraries = {}, {}
        # What the search for a schedule took.
        self.seconds = None
        self.case.func.compile_to_lowered_stmt(
            str(self.folder / "lowered.stmt"), self.case.arguments, hl.StmtOutputFormat.Text, self.target
        )
        self.case.func.compile_to_object(str(self.folder / "pipeline.o"), self.case.arguments, "pipeline", self.target)

    def without_schedule(self):
        """The kernel file without its schedule, as gcc and clang get it."""
        plain = self.folder / f"{self.name}.kernel"
        plain.write_text(re.sub(r"\}\s*schedule\s*\{.*", "}\n", self.text, flags=re.S))
        return str(plain)

    def isaforge(self, words, output):
        command = [self.options.isaforge, "compile", *words, "--time-limit", str(self.options.time_limit), "-o", str(output)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode not in (0, 3):
            raise RuntimeError(done.stderr.strip())

    def shared_library(self, variant, compiler, sources, wrapper):
        path, library = self.folder / f"{variant}_run.c", self.folder / f"{variant}.so"
        path.write_text(wrapper)
        command = [compiler, *FLAGS, "-shared", *map(str, sources), str(path), "-o", str(library), "-lm", "-ldl", "-lpthread"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip())
        return library

    def arrays(self, data):
        """Names of arrays and of numbers in a fixed order."""
        import numpy as np

        arrays = [k for k, v in data.items() if isinstance(v, np.ndarray)]
        return arrays, [k for k in data if k not in arrays]

    def from_kernel(self, variant, data, source, compiler):
        arrays, numbers = self.arrays(data)
        words = []
        for name, kind in parameters(self.text):
            if "[" in kind:
                words.append(f"a[{arrays.index(name)}]")
            else:
                words.append(f"n[{numbers.index(name)}]")
        kinds = ["void *" if "[" in k else c_type(k) for _, k in parameters(self.text)]
        declaration = f"void {self.name}({', '.join(kinds)});\n"
        call = f"{self.name}({', '.join(words)})"
        wrapper = declaration + TIMER.replace("PREPARE", "").replace("CALL", call)
        return self.shared_library(variant, compiler, [source], wrapper)

    def build(self, variant, data):
        import numpy as np

        arrays, numbers = self.arrays(data)
        order = [a.name() for a in self.case.arguments] + [self.case.result]
        if variant == "kernel":
            source = self.folder / "kernel.c"
            self.isaforge([str(ROOT / "kernels" / f"{self.name}.kernel")], source)
            return self.from_kernel(variant, data, source, self.options.ours_cc)
        if variant in ("gcc", "clang"):
            source = self.folder / "plain.c"
            if not source.exists():
                self.isaforge([self.without_schedule()], source)
            return self.from_kernel(variant, data, source, self.options.cc if variant == "gcc" else self.options.clang)
        if variant == "auto":
            source = self.folder / "auto.c"
            sizes = [f"--size={name}={data[name]}" for name, kind in parameters(self.text) if kind == "size"]
            begin = time.monotonic()
            self.isaforge([self.without_schedule(), "--schedule", "auto", *sizes], source)
            self.seconds = time.monotonic() - begin
            return self.from_kernel(variant, data, source, self.options.ours_cc)
        if variant == "from_halide":
            source = self.folder / "from_halide.c"
            self.isaforge(["--from-halide", str(self.folder / "lowered.stmt")], source)
            name, declared = re.search(r"^int (\w+)\((.*)\) \{$", source.read_text(), re.M).groups()
            words = []
            for argument in order:
                if argument in arrays:
                    words.append(f"a[{arrays.index(argument)}]")
                    words += [f"INT64_C({n})" for n in reversed(data[argument].shape)]
                else:
                    words.append(f"n[{numbers.index(argument)}]")
            kinds = [re.sub(r"\w+$", "", p).strip() for p in declared.split(",")]
            wrapper = f"#include <stdint.h>\nint {name}({', '.join(kinds)});\n" + TIMER.replace("PREPARE", "").replace(
                "CALL", f"if ({name}({', '.join(words)}) != 0) return -1"
            )
            return self.shared_library(variant, self.options.ours_cc, [source], wrapper)
        codes = {"i": 0, "u": 1, "f": 2}
        prepare, words, kinds = [], [], []
        for argument in order:
            value = data[argument]
            if isinstance(value, np.ndarray):
                dims, stride = [], 1
                for extent in reversed(value.shape):
                    dims.append(f"{{0, {extent}, {stride}, 0}}")
                    stride *= extent
                place = arrays.index(argument)
                kind = f"{{{codes[value.dtype.kind]}, {value.dtype.itemsize * 8}, 1}}"
                prepare.append(f"dimension d{place}[] = {{{', '.join(dims)}}};")
                prepare.append(f"buffer b{place} = {{0, 0, a[{place}], 0, {kind}, {value.ndim}, d{place}, 0}};")
                words.append(f"&b{place}")
                kinds.append("void *")
            else:
                words.append(f"n[{numbers.index(argument)}]")
                hl_type = next(a for a in self.case.arguments if a.name() == argument).type()
                kinds.append(f"{'u' if hl_type.is_uint() else ''}int{hl_type.bits()}_t")
        wrapper = BUFFERS + f"int pipeline({', '.join(kinds)});\n" + TIMER.replace("PREPARE", "\n    ".join(prepare)).replace(
            "CALL", f"if (pipeline({', '.join(words)}) != 0) return -1"
        )
        return self.shared_library(variant, self.options.cc, [self.folder / "pipeline.o"], wrapper)


def c_type(kind):
    """The C type of a kernel file's scalar or size."""
    if kind == "size":
        return "long"
    return {"u": "unsigned ", "i": "signed "}[kind[0]] + {"8": "char", "16": "short", "32": "int", "64": "long"}[kind[1:]]


def build_all(build, data):
    """The libraries of one kernel; what cannot be built is a problem of the kernel."""
    for variant in build.options.variants:
        if variant == "clang" and not build.options.clang:
            continue
        try:
            build.libraries[variant] = build.build(variant, data)
        except (RuntimeError, OSError) as error:
            build.problems[variant] = str(error)


def prepared(build, data):
    """The function of each variant that could be built, as `(repeats) -> seconds`."""
    arrays, numbers = build.arrays(data)
    calls, outputs = {}, {}
    for variant, path in build.libraries.items():
        library = ctypes.CDLL(str(path))
        own = {k: data[k].copy() if k == build.case.result else data[k] for k in arrays}
        pointers = (ctypes.c_void_p * len(arrays))(*[own[k].ctypes.data for k in arrays])
        values = (ctypes.c_int64 * max(1, len(numbers)))(*[int(data[k]) for k in numbers])
        library.run.restype = ctypes.c_double
        library.run.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_long]
        calls[variant] = lambda repeats, f=library.run, p=pointers, v=values, o=own: f(p, v, repeats)
        outputs[variant] = own[build.case.result]
    return calls, outputs


def measure(build, data, options):
    """One kernel at one size."""
    import numpy as np

    calls, outputs = prepared(build, data)
    judge = next((v for v in ("halide", "gcc", "kernel") if v in calls), None)
    if judge is None:
        return {"problems": build.problems}
    once = {}
    for variant, call in calls.items():
        once[variant] = call(1)
    reference = outputs[judge]
    for variant in list(calls):
        wrong = int(np.count_nonzero(outputs[variant] != reference))
        if once[variant] < 0 or wrong:
            build.problems[variant] = f"{wrong} of {reference.size} elements differ from those of {judge}"
            del calls[variant]
    repeats = {v: max(1, int(options.seconds / max(c(1), 1e-9))) for v, c in calls.items()}
    times = {v: [] for v in calls}
    for _ in range(options.rounds):
        for variant, call in calls.items():
            times[variant].append(call(repeats[variant]))
    found = {}
    for variant, series in times.items():
        quartiles = statistics.quantiles(series, n=4) if len(series) > 1 else [series[0]] * 3
        found[variant] = {"median": quartiles[1], "quartiles": [quartiles[0], quartiles[2]], "rounds": len(series)}
    return {"times": found, "problems": dict(build.problems), "searched for, s": build.seconds}


def geometric(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def ratios(result):
    """Times of Halide and of the better of gcc and clang, by our best and by each way in."""
    t = {v: r["median"] for v, r in result.get("times", {}).items()}
    compilers = [t[v] for v in ("gcc", "clang") if v in t]
    out = {}
    for ours in ("kernel", "from_halide"):
        if ours in t and "halide" in t:
            out[f"halide/{ours}"] = t["halide"] / t[ours]
            if compilers:
                out[f"compilers/{ours}"] = min(compilers) / t[ours]
    if "auto" in t and "kernel" in t:
        out["kernel/auto"] = t["kernel"] / t["auto"]
    best = [t[v] for v in ("kernel", "from_halide") if v in t]
    if best and "halide" in t:
        out["halide/best"] = t["halide"] / min(best)
        if compilers:
            out["compilers/best"] = min(compilers) / min(best)
    return out


COLUMNS = ("halide/kernel", "halide/from_halide", "halide/best", "compilers/best", "kernel/auto")


def table(results):
    """The results as Markdown: microseconds, and how many times faster ours is."""
    lines = []
    variants = results["variants"]
    for size, kernels in results["sizes"].items():
        lines += [f"## {size}", "", "| kernel | " + " | ".join(f"{v}, us" for v in variants) + " | " + " | ".join(COLUMNS) + " |"]
        lines.append("|---" * (1 + len(variants) + len(COLUMNS)) + "|")
        for name, result in kernels.items():
            times = result.get("times", {})
            cells = [f"{times[v]['median'] * 1e6:.2f}" if v in times else "–" for v in variants]
            cells += [f"{result['ratios'][c]:.2f}" if c in result["ratios"] else "–" for c in COLUMNS]
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
        means = [results["means"][size].get(c) for c in COLUMNS]
        lines.append("| geometric mean |" + " |" * len(variants) + " " + " | ".join(f"{m:.2f}" if m else "–" for m in means) + " |")
        lines.append("")
    for size, kernels in results["sizes"].items():
        for name, result in kernels.items():
            lines += [f"- {name}, {size}, {v}: {p.splitlines()[0]}" for v, p in result["problems"].items() if p]
    return "\n".join(lines) + "\n"


def chart(results, size):
    """Bars: how many times faster than Halide our better code is, on a logarithmic axis."""
    rows = [(n, r["ratios"]["halide/best"]) for n, r in results["sizes"][size].items() if "halide/best" in r["ratios"]]
    height, left, width = 18 * len(rows) + 70, 210, 420
    place = lambda ratio: left + width * (math.log2(min(max(ratio, 0.25), 8)) + 2) / 5
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 60}" height="{height}" font-family="sans-serif" font-size="12">']
    of = results["machine"]
    out.append(f'<text x="8" y="16" font-size="14">Speed against Halide {of["halide"]}, {size} sizes</text>')
    words = [of["processor"], of["isaforge"], "compiled by " + re.sub(r"\(.*", "", of["ours_compiled_by"] or "").strip()]
    out.append(f'<text x="8" y="31" font-size="10">{"; ".join(words)}</text>')
    for tick in (0.25, 0.5, 1, 2, 4, 8):
        at = place(tick)
        out.append(f'<line x1="{at:.1f}" y1="38" x2="{at:.1f}" y2="{height - 22}" stroke="{"#333" if tick == 1 else "#ccc"}"/>')
        out.append(f'<text x="{at:.1f}" y="{height - 8}" text-anchor="middle">{tick}×</text>')
    for i, (name, ratio) in enumerate(rows):
        top, a, z = 42 + 18 * i, place(1), place(ratio)
        colour = "#2a7f4f" if ratio >= 1 else "#b5532a"
        out.append(f'<text x="{left - 8}" y="{top + 11}" text-anchor="end">{name}</text>')
        out.append(f'<rect x="{min(a, z):.1f}" y="{top}" width="{abs(z - a):.1f}" height="13" fill="{colour}"/>')
        out.append(f'<text x="{max(a, z) + 4:.1f}" y="{top + 11}">{ratio:.2f}</text>')
    return "\n".join(out + ["</svg>"]) + "\n"


def processor_numbers():
    """Family, model and stepping: what tells processors of one name apart."""
    text = Path("/proc/cpuinfo").read_text()
    found = [re.search(rf"^{key}\s*: (.*)", text, re.M) for key in ("cpu family", "model", "stepping")]
    return "/".join(f[1] if f else "?" for f in found)


def machine(options):
    """What the numbers were measured on and with."""
    import halide as hl
    import numpy as np

    model = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    return {
        "processor": model[1] if model else "unknown",
        "halide_target": str(hl.get_host_target()),
        "halide": importlib.metadata.version("halide"),
        "numpy": np.__version__,
        "gcc": tool([options.cc, "--version"]),
        "clang": tool([options.clang, "--version"]) if options.clang else None,
        "ours_compiled_by": tool([options.ours_cc, "--version"]),
        "isaforge": tool([options.isaforge, "--version"]),
        "model": processor_numbers(),
        "load": os.getloadavg()[0],
    }


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("kernels", nargs="*")
    parser.add_argument("--quick", action="store_true", help="small sizes and few rounds: about 3 minutes")
    parser.add_argument("--size", choices=["small", "large", "both"], default=None)
    parser.add_argument("--output", type=Path, default=ROOT / "target/compare/results")
    parser.add_argument("--variants", type=lambda text: text.split(","), default=VARIANTS, help=f"of {', '.join(VARIANTS)}, auto")
    parser.add_argument("--isaforge", default=os.environ.get("ISAFORGE") or str(ROOT / "target/release/isaforge"))
    parser.add_argument("--cc", default="gcc")
    parser.add_argument("--clang", default=None)
    parser.add_argument("--ours-cc", default=None, help="the compiler of our C: clang 19 where there is one, else --cc")
    parser.add_argument("--time-limit", type=float, default=10, help="seconds of search for each window")
    return parser.parse_args()


def write(folder, results, size):
    """The results so far: what was measured is kept when a run is stopped."""
    picture = "chart.svg" if size == "small" else f"chart_{size}.svg"
    (folder / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    (folder / "table.md").write_text(table(results))
    (folder / picture).write_text(chart(results, size))


def main():
    options, folder = arguments(), ROOT / "target/compare"
    if "ISAFORGE_COMPARE" not in os.environ:
        start_again(folder)
    sys.path.insert(0, str(ROOT / "benches/halide"))
    import numpy as np
    import layers, products, stencils  # noqa: F401  (they register the cases)
    from case import CASES

    own = folder / "clang"
    options.clang = options.clang or shutil.which("clang-19") or (str(own) if own.exists() else None)
    options.ours_cc = options.ours_cc or options.clang or options.cc
    options.rounds, options.seconds = (7, 0.004) if options.quick else (21, 0.02)
    sizes = {"small": ["small"], "large": ["large"], "both": ["small", "large"]}[options.size or ("small" if options.quick else "both")]
    options.output.mkdir(parents=True, exist_ok=True)
    names = options.kernels or list(CASES)
    results = {"machine": machine(options), "variants": options.variants, "quick": options.quick, "sizes": {}, "means": {}}
    for size in sizes:
        kernels = results["sizes"].setdefault(size, {})
        # Everything is built before anything is timed, as many kernels at a time as there are cores.
        builds = {}
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            waiting = []
            for name in names:
                build = Build(name, folder / "build" / size, options)
                builds[name] = build, build.case.data(size, np.random.default_rng(1))
                waiting.append(pool.submit(build_all, *builds[name]))
            for done in waiting:
                done.result()
        for name, (build, data) in builds.items():
            result = measure(build, data, options)
            result["ratios"] = ratios(result)
            kernels[name] = result
            seconds = f"searched for in {build.seconds:.1f} s" if build.seconds else ""
            print(size, name, {k: round(v, 2) for k, v in result["ratios"].items()}, seconds, result["problems"] or "", flush=True)
            means = {c: geometric([r["ratios"][c] for r in kernels.values() if c in r["ratios"]]) for c in COLUMNS}
            results["means"][size] = means
            write(options.output, results, sizes[0])
    print(table(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
