"""The comparison: isaforge against Halide and against well-written C by gcc and clang.

    python3 benches/compare/run.py [--quick] [--size small|large|both] [--variants LIST]
                                   [--tune] [--output DIR] [KERNEL …]

Installs what it needs into `target/compare` (see `setup.sh`) and starts itself again there. For
each of the 33 kernels, and each size:

- `halide`, Halide's own code of the simple schedule in `benches/halide`, and `from_halide`, ours from
  the statements that Halide lowers it to;
- `halide_best`, Halide's code of the fastest of the schedules in `benches/halide/best` on this
  machine at this size (hand-made ones and those that Halide's own schedulers find; `tune.py` there
  chooses, once for a machine, or again with `--tune`), and `from_halide_best`, ours from its statements;
- `kernel`, our code of the kernel file with its schedule, and `auto`, of the file without it, whose
  schedule is searched for at that size;
- `gcc` and `clang`, the C in `benches/c` at -O3 -march=native.

Our C is compiled by clang 19 too where there is one (`--ours-cc`), as Halide's code is by LLVM. The
results are compared element by element before anything is timed. Rounds are interleaved: each round
runs every variant once; medians and quartiles are of the rounds. Writes `results.json`, `table.md`,
`chart.svg` and `chart_large.svg`.
"""

import argparse
import concurrent.futures
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

from build import Isaforge, Place, automatic_schedule, c_library, halide_library, kernel_file, timed

ROOT = Path(__file__).resolve().parents[2]
VARIANTS = ["halide", "from_halide", "halide_best", "from_halide_best", "kernel", "auto", "gcc", "clang"]
OURS = ("kernel", "auto", "from_halide", "from_halide_best")
# Comparisons: the peers, of which the fastest counts, and ours, of which the fastest does.
COMPARISONS = {
    "same schedule, simple": (("halide",), ("from_halide",)),
    "same schedule, best": (("halide_best",), ("from_halide_best",)),
    "best against best": (("halide", "halide_best"), OURS),
    "well-written C": (("gcc", "clang"), OURS),
    "kernel / auto": (("kernel",), ("auto",)),
}


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


class Kernel:
    """One kernel at one size: its libraries, and what could not be built."""

    def __init__(self, name, size, best, options):
        import numpy as np
        from case import CASES

        self.name, self.options = name, options
        self.simple, self.best = CASES[name], best
        self.result = self.simple().result
        data = self.simple().data(size, np.random.default_rng(1))
        self.place = Place(ROOT / "target/compare/build" / size / name, data)
        self.problems, self.libraries, self.seconds = {}, {}, {}

    def build(self, variant):
        options, place = self.options, self.place
        ours = Isaforge(options.isaforge, options.time_limit, options.ours_cc)
        if variant == "kernel":
            return ours.from_kernel(place, variant, self.name, [kernel_file(self.name)])
        if variant == "auto":
            return automatic_schedule(ours, place, variant, self.name)
        if variant in ("gcc", "clang"):
            source = ROOT / "benches/c" / f"{self.name}.c"
            return c_library(place, variant, self.name, source, options.cc if variant == "gcc" else options.clang)
        case = (self.best if variant.endswith("_best") else self.simple)()
        if variant.startswith("from_halide"):
            return ours.from_halide(place, variant, case)
        return halide_library(place, variant, case, options.cc)

    def build_all(self):
        for variant in self.options.variants:
            if variant == "clang" and not self.options.clang or variant.endswith("_best") and not self.best:
                continue
            begin = time.monotonic()
            try:
                self.libraries[variant] = self.build(variant)
            except (RuntimeError, OSError) as error:
                self.problems[variant] = str(error).replace(f"{ROOT}/", "")
            self.seconds[variant] = round(time.monotonic() - begin, 2)


def measure(kernel, options):
    """The times of one kernel at one size."""
    import numpy as np

    calls, outputs = {}, {}
    for variant, library in kernel.libraries.items():
        calls[variant], outputs[variant] = kernel.place.run(library, kernel.result)
    judge = next((v for v in ("halide", "gcc", "kernel") if v in calls), None)
    if judge is None:
        return {"problems": kernel.problems}
    once = {variant: call(1) for variant, call in calls.items()}
    reference = outputs[judge]
    for variant in list(calls):
        wrong = int(np.count_nonzero(outputs[variant] != reference))
        if once[variant] < 0 or wrong:
            kernel.problems[variant] = f"{wrong} of {reference.size} elements differ from those of {judge}"
            del calls[variant]
    found = {}
    for variant, series in timed(calls, options.rounds, options.seconds).items():
        quartiles = statistics.quantiles(series, n=4) if len(series) > 1 else [series[0]] * 3
        found[variant] = {"median": quartiles[1], "quartiles": [quartiles[0], quartiles[2]], "rounds": len(series)}
    return {"times": found, "problems": kernel.problems, "built in, s": kernel.seconds}


def geometric(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def ratios(result):
    """How many times faster ours is, for each comparison of which both sides were timed."""
    times = {variant: of["median"] for variant, of in result.get("times", {}).items()}
    fastest = lambda side: min((times[v] for v in side if v in times), default=None)
    found = {}
    for name, (peers, ours) in COMPARISONS.items():
        peer, own = fastest(peers), fastest(ours)
        if peer and own:
            found[name] = peer / own
    return found


def means(kernels):
    """Geometric means of all kernels, and of those that are no products of matrices."""
    of = lambda names: {c: geometric([kernels[n]["ratios"][c] for n in names if c in kernels[n]["ratios"]]) for c in COMPARISONS}
    return {"all": of(list(kernels)), "without products": of([n for n in kernels if not n.startswith("matmul")])}


def table(results):
    """The results as Markdown: microseconds, and how many times faster ours is."""
    lines, variants = [], results["variants"]
    number = lambda value: f"{value:.2f}" if value else "–"
    for size, kernels in results["sizes"].items():
        titles = ["kernel", *COMPARISONS, *(f"{v}, us" for v in variants), "Halide's best schedule"]
        lines += [f"## {size}", "", f"| {' | '.join(titles)} |", "|---" * len(titles) + "|"]
        for kind, row in results["means"][size].items():
            lines.append(f"| **geometric mean, {kind}** | " + " | ".join(f"**{number(row[c])}**" for c in COMPARISONS) + " |" * (2 + len(variants)))
        for name, result in kernels.items():
            cells = [number(result["ratios"].get(c)) for c in COMPARISONS]
            cells += [number(result.get("times", {}).get(v, {"median": 0})["median"] * 1e6) for v in variants]
            lines.append(f"| {name} | {' | '.join(cells)} | {result['schedule'] or '–'} |")
        lines.append("")
    for size, kernels in results["sizes"].items():
        for name, result in kernels.items():
            lines += [f"- {name}, {size}, {v}: {p.splitlines()[0]}" for v, p in result["problems"].items() if p]
    return "\n".join(lines) + "\n"


# Of the chart: what is drawn, as bars or as marks on them.
BARS, MARKS = "best against best", "same schedule, best"


def chart(results, size):
    """For each kernel how many times faster than Halide ours is, on a logarithmic axis."""
    rows = [(n, r["ratios"]) for n, r in results["sizes"][size].items() if BARS in r["ratios"]]
    height, left, width = 18 * len(rows) + 84, 210, 420
    place = lambda ratio: left + width * (math.log2(min(max(ratio, 0.5), 4)) + 1) / 3
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 60}" height="{height}" font-family="sans-serif" font-size="12">']
    of = results["machine"]
    out.append(f'<rect width="{left + width + 60}" height="{height}" fill="#fff"/>')
    out.append(f'<text x="8" y="16" font-size="14">Speed against Halide {of["halide"]}, {size} sizes: bars {BARS}, marks {MARKS}</text>')
    words = [of["processor"], of["halide_target"], of["isaforge"], "compiled by " + re.sub(r"\(.*", "", of["ours_compiled_by"] or "").strip()]
    out.append(f'<text x="8" y="31" font-size="10">{"; ".join(words)}</text>')
    for tick in (0.5, 0.71, 1, 1.41, 2, 2.83, 4):
        at = place(tick)
        out.append(f'<line x1="{at:.1f}" y1="38" x2="{at:.1f}" y2="{height - 22}" stroke="{"#333" if tick == 1 else "#ccc"}"/>')
        out.append(f'<text x="{at:.1f}" y="{height - 8}" text-anchor="middle">{tick}×</text>')
    for i, (name, ratio) in enumerate(rows):
        top, a, z = 42 + 18 * i, place(1), place(ratio[BARS])
        colour = "#2a7f4f" if ratio[BARS] >= 1 else "#b5532a"
        out.append(f'<text x="{left - 8}" y="{top + 11}" text-anchor="end">{name}</text>')
        out.append(f'<rect x="{min(a, z):.1f}" y="{top}" width="{abs(z - a):.1f}" height="13" fill="{colour}"/>')
        out.append(f'<text x="{left + width + 54}" y="{top + 11}" text-anchor="end">{ratio[BARS]:.2f}</text>')
        if MARKS in ratio:
            out.append(f'<circle cx="{place(ratio[MARKS]):.1f}" cy="{top + 6.5}" r="4" fill="#fff" stroke="#333" stroke-width="1.5"/>')
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
    parser.add_argument("--quick", action="store_true", help="small sizes, few rounds, no search for schedules")
    parser.add_argument("--size", choices=["small", "large", "both"], default=None)
    parser.add_argument("--output", type=Path, default=ROOT / "target/compare/results")
    parser.add_argument("--variants", type=lambda text: text.split(","), default=None, help=f"of {', '.join(VARIANTS)}")
    parser.add_argument("--tune", action="store_true", help="choose Halide's best schedules again")
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


def settle(options, folder):
    """Fills in what the command leaves open."""
    own = folder / "clang"
    options.clang = options.clang or shutil.which("clang-19") or (str(own) if own.exists() else None)
    options.ours_cc = options.ours_cc or options.clang or options.cc
    options.rounds, options.seconds = (7, 0.004) if options.quick else (21, 0.02)
    options.variants = options.variants or [v for v in VARIANTS if not (options.quick and v == "auto")]
    options.output.mkdir(parents=True, exist_ok=True)
    return {"small": ["small"], "large": ["large"], "both": ["small", "large"]}[options.size or ("small" if options.quick else "both")]


def main():
    options, folder = arguments(), ROOT / "target/compare"
    if "ISAFORGE_COMPARE" not in os.environ:
        start_again(folder)
    sys.path.insert(0, str(ROOT / "benches/halide"))
    from best.tune import chosen
    from case import CASES

    sizes = settle(options, folder)
    names = options.kernels or list(CASES)
    results = {"machine": machine(options), "variants": options.variants, "quick": options.quick, "sizes": {}, "means": {}}
    for size in sizes:
        kernels = results["sizes"].setdefault(size, {})
        wanted = any(v.endswith("_best") for v in options.variants)
        best = {name: chosen(name, size, processor_numbers(), options.tune) if wanted else (None, None) for name in names}
        # Everything is built before anything is timed, as many kernels at a time as there are cores.
        built = {name: Kernel(name, size, best[name][1], options) for name in names}
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for done in [pool.submit(kernel.build_all) for kernel in built.values()]:
                done.result()
        for name, kernel in built.items():
            result = kernels[name] = measure(kernel, options)
            result["schedule"], result["ratios"] = best[name][0], ratios(result)
            print(size, name, {k: round(v, 2) for k, v in result["ratios"].items()}, result["problems"] or "", flush=True)
            results["means"][size] = means(kernels)
            write(options.output, results, size)
    print(table(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
