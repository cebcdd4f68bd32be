"""Plain loops against what gcc and clang make of them by themselves.

    python3 benches/compilers/run.py [--isaforge EXE] [--rounds N] [--output FILE] [NAME …]

For every loop of `loops.py`: our code (`vectorize x` by as many lanes as a register holds of the
narrowest type of the loop, of `--register` bits) and the C that one would write, by gcc and
clang at -O3 -march=native. Results are compared element by element first; a difference is
printed. Arrays of 4,096 elements lie in the caches; times are the least of interleaved rounds,
of the thread. Our C is compiled by both compilers, and the better is taken, as of theirs. Prints
every loop with its nanoseconds and the ratio of the better compiler's to ours, then the loops
in which we are behind; `--output` writes them as JSON.
"""

import argparse
import ctypes
import json
import math
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from loops import LOOPS, PRELUDE

ROOT = Path(__file__).resolve().parents[2]
FLAGS = ["-std=gnu11", "-O3", "-march=native", "-fwrapv", "-fPIC", "-shared", "-w"]
N = 4096
C = {"f32": "float", "f64": "double"} | {
    f"{s}{w}": f"{'u' if s == 'u' else ''}int{w}_t" for s in "iu" for w in (8, 16, 32, 64)
}
REPEATS = 64

TIMER = f"""
#include <stdint.h>
#include <time.h>
static double now(void) {{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}}
double run(void (*f)(const void **, void *), const void **in, void *out) {{
    double start = now();
    for (int i = 0; i < {REPEATS}; i++) f(in, out);
    return (now() - start) / {REPEATS};
}}
"""


def bits(kind):
    return int(kind.lstrip("+iuf"))


def kernel(name, inputs, result, expression, register):
    arrays = ", ".join(f"{n}: in {t}[n]" for n, t in zip("abc", inputs))
    kinds = [*inputs, result]
    lanes = register // min(bits(k) for k in kinds)
    head = f"kernel {name}(n: size, {arrays}, o: out {result.lstrip('+')}"
    if result.startswith("+"):
        kind = result[1:]
        return (
            f"{head}[1]) {{\n  var sum: {kind} = 0;\n"
            f"  for x in 0..n {{ sum += {expression}; }}\n  o[0] = sum;\n"
            f"}} schedule {{\n  vectorize x by {lanes};\n}}\n"
        )
    return (
        f"{head}[n]) {{\n  for x in 0..n {{ o[x] = {expression}; }}\n"
        f"}} schedule {{\n  vectorize x by {lanes};\n}}\n"
    )


def plain(name, inputs, result, expression):
    arrays = ", ".join(f"const {C[t]} *restrict {n}" for n, t in zip("abc", inputs))
    kind = result.lstrip("+")
    if result.startswith("+"):
        wide = f"uint{bits(kind)}_t"
        body = (
            f"    {wide} sum = 0;\n    for (int64_t x = 0; x < n; x++) sum += {expression};\n"
            f"    o[0] = ({C[kind]})sum;"
        )
    else:
        body = f"    for (int64_t x = 0; x < n; x++) o[x] = ({C[kind]})({expression});"
    return f"void {name}(int64_t n, {arrays}, {C[kind]} *restrict o) {{\n{body}\n}}\n"


def bridge(name, inputs, result):
    """A function of one shape for all loops."""
    arrays = ", ".join(f"(const {C[t]} *)in[{k}]" for k, t in enumerate(inputs))
    kind = C[result.lstrip("+")]
    return f"void run_{name}(const void **in, void *out) {{ {name}({N}, {arrays}, ({kind} *)out); }}\n"


def bytes_of(kind, seed):
    """The elements of an array: any bits of integers, floats of moderate size."""
    source = random.Random(seed)
    if kind == "f32":
        return b"".join(
            bytes(ctypes.c_float(source.uniform(-1000, 1000))) for _ in range(N)
        )
    if kind == "f64":
        return b"".join(
            bytes(ctypes.c_double(source.uniform(-1000, 1000))) for _ in range(N)
        )
    return source.randbytes(N * bits(kind) // 8)


def library(compiler, text, folder, name):
    source, out = folder / f"{name}.c", folder / f"{name}.so"
    source.write_text(text)
    subprocess.run([compiler, *FLAGS, str(source), "-o", str(out)], check=True)
    return ctypes.CDLL(str(out))


def measured(libraries, names, rounds):
    """The least nanoseconds of each library's code for each loop, results compared first."""
    timer = libraries["timer"].run
    timer.restype = ctypes.c_double
    times = {}
    for name, inputs, result in names:
        kind = result.lstrip("+")
        arrays = [
            ctypes.create_string_buffer(bytes_of(t, f"{name}{k}")) for k, t in enumerate(inputs)
        ]
        pointers = (ctypes.c_void_p * len(arrays))(*map(ctypes.addressof, arrays))
        size = (1 if result.startswith("+") else N) * bits(kind) // 8
        codes = {k: lib[f"run_{name}"] for k, lib in libraries.items() if k != "timer"}
        outputs = {}
        for variant, code in codes.items():
            out = ctypes.create_string_buffer(size)
            code(pointers, out)
            outputs[variant] = out.raw[:size]
        differ = [k for k, v in outputs.items() if v != outputs["gcc"]]
        if differ:
            print(f"  {name}: the result of {', '.join(differ)} is not gcc's")
        out = ctypes.create_string_buffer(size)
        least = dict.fromkeys(codes, math.inf)
        for _ in range(rounds):
            for variant, code in codes.items():
                address = ctypes.cast(code, ctypes.c_void_p)
                least[variant] = min(least[variant], timer(address, pointers, out))
        times[name] = least
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--isaforge", default=str(ROOT / "target/release/isaforge"))
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--register", type=int, default=256, help="bits of a vector register")
    parser.add_argument("--target", default="host")
    parser.add_argument("--output")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    clang = shutil.which("clang-19") or shutil.which("clang")
    compilers = {"gcc": shutil.which("gcc"), "clang": clang}
    compilers = {name: path for name, path in compilers.items() if path}
    chosen = [
        (f"{i:02}_{'_'.join([*a.split(), r.replace('+', 'sum_')])}", a.split(), r, k, c)
        for i, (a, r, k, c) in enumerate(LOOPS)
    ]
    chosen = [(f"loop_{n}", *rest) for n, *rest in chosen]
    if options.names:
        chosen = [row for row in chosen if any(n in row[0] for n in options.names)]
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        text = "".join(kernel(n, a, r, k, options.register) for n, a, r, k, _ in chosen)
        (folder / "loops.kernel").write_text(text)
        command = [options.isaforge, "compile", str(folder / "loops.kernel")]
        command += ["--target", options.target, "-o", str(folder / "ours.c")]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode not in (0, 3):
            sys.exit(done.stdout + done.stderr)
        warnings = done.stderr
        bridges = "".join(bridge(n, a, r) for n, a, r, *_ in chosen)
        ours = (folder / "ours.c").read_text() + bridges
        theirs = "#include <stdint.h>\n" + PRELUDE + "".join(plain(n, a, r, c) for n, a, r, _, c in chosen) + bridges
        libraries = {"timer": library(compilers["gcc"], TIMER, folder, "timer")}
        for name, path in compilers.items():
            libraries[name] = library(path, theirs, folder, f"plain_{name}")
            libraries[f"ours by {name}"] = library(path, ours, folder, f"ours_{name}")
        times = measured(libraries, [(n, a, r) for n, a, r, *_ in chosen], options.rounds)
    rows = []
    for name, _, _, text, _ in chosen:
        t = times[name]
        best = min(v for k, v in t.items() if k.startswith("ours"))
        plain_best = min(t[k] for k in compilers)
        rows.append({"loop": name, "kernel": text, "ours": best, **{k: t[k] for k in compilers}, "ratio": plain_best / best})
        print(f"{name:40} ours {best:8.1f}  " + "  ".join(f"{k} {t[k]:8.1f}" for k in compilers) + f"  {plain_best / best:6.2f}  {text}")
    ratios = [r["ratio"] for r in rows]
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    behind = [r for r in rows if r["ratio"] < 0.95]
    print(f"geometric mean {mean:.2f}; {len(rows) - len(behind)} of {len(rows)} as fast or faster (0.95); behind:")
    for row in sorted(behind, key=lambda r: r["ratio"]):
        print(f"  {row['ratio']:.2f} {row['loop']}: {row['kernel']}")
    if warnings:
        print(warnings)
    if options.output:
        Path(options.output).write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
