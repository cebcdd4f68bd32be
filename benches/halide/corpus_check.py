"""Imports every pipeline of `corpus.py`, `packed.py`, `mixed.py`, `varied.py`, `unnamed.py`, `tails.py`, `fresh.py` and `strangers.py`, compares its results with Halide's own, and times both.

    python corpus_check.py [--jobs N] [--target NAME] [--time-limit SECONDS] [--json FILE] [PIPELINE ...]

Needs `halide` and `numpy` from PyPI, gcc (or $CC), and the binary `isaforge` on the PATH or in
$ISAFORGE. Each schedule of each pipeline is a process of its own. A line says whether it imports,
whether it agrees at four sizes with three seeds each, how often Halide's time is ours (above 1 is
faster), how many warnings there are and how many of computing element by element, and the seconds
and megabytes of a first and a second compilation. The exit code is 0 when all import and agree.
"""

import argparse
import concurrent.futures
import ctypes
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import halide as hl
import numpy as np

import fresh  # noqa: F401  Registers its pipelines beside those of `corpus`.
import mixed  # noqa: F401  So does this.
import packed  # noqa: F401  And this.
import strangers  # noqa: F401  And this.
import tails  # noqa: F401  And this.
import unnamed  # noqa: F401  And this.
import varied  # noqa: F401  And this.
from corpus import CASES

TYPES = {
    "f16": (hl.Float(16), np.float16), "bf16": (hl.BFloat(16), np.uint16), "f32": (hl.Float(32), np.float32),
    "positive": (hl.Float(32), np.float32), "f64": (hl.Float(64), np.float64), "bool": (hl.Bool(), np.uint8),
}
SCALARS = {"f32": ctypes.c_float, "f64": ctypes.c_double, "bool": ctypes.c_bool}
for _bits in (8, 16, 32, 64):
    TYPES[f"i{_bits}"] = (hl.Int(_bits), getattr(np, f"int{_bits}"))
    TYPES[f"u{_bits}"] = (hl.UInt(_bits), getattr(np, f"uint{_bits}"))
    SCALARS[f"i{_bits}"] = getattr(ctypes, f"c_int{_bits}")
    SCALARS[f"u{_bits}"] = getattr(ctypes, f"c_uint{_bits}")


class Dimension(ctypes.Structure):
    _fields_ = [("min", ctypes.c_int32), ("extent", ctypes.c_int32), ("stride", ctypes.c_int32), ("flags", ctypes.c_uint32)]


class Buffer(ctypes.Structure):
    """`halide_buffer_t`."""

    _fields_ = [
        ("device", ctypes.c_uint64), ("interface", ctypes.c_void_p), ("host", ctypes.c_void_p), ("flags", ctypes.c_uint64),
        ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("dimensions", ctypes.c_int32),
        ("dim", ctypes.POINTER(Dimension)), ("padding", ctypes.c_void_p),
    ]

    @staticmethod
    def of(array, kind, extents, chunky):
        made, dims, stride = Buffer(), (Dimension * max(len(extents), 1))(), 1
        for d in [2, 0, 1] if chunky else range(len(extents)):
            dims[d].extent, dims[d].stride = extents[d], stride
            stride *= extents[d]
        made.host, made.dimensions, made.dim, made.lanes = array.ctypes.data, len(extents), dims, 1
        made.bits = {"bool": 1, "positive": 32}.get(kind) or int(re.sub(r"\D", "", kind))
        made.code = 4 if kind == "bf16" else 2 if kind[0] in "fp" else 0 if kind[0] == "i" else 1
        made.kept = (array, dims)
        return made


def filled(kind, count, seed, name):
    rng = np.random.default_rng(seed * 1000 + sum(map(ord, name)))
    if kind == "positive":
        return rng.uniform(0.25, 8, count).astype(np.float32)
    if kind == "f16":
        return rng.uniform(-4, 4, count).astype(np.float16)
    if kind == "bf16":
        return (rng.uniform(-4, 4, count).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    if kind[0] == "f":
        return rng.uniform(-50, 60, count).astype(TYPES[kind][1])
    if kind == "bool":
        return rng.integers(0, 2, count).astype(np.uint8)
    info = np.iinfo(TYPES[kind][1])
    return rng.integers(info.min, info.max, count, dtype=TYPES[kind][1], endpoint=True)


# What Halide's targets and gcc may use of the machine, by the target of ours; Halide tunes for the machine's processor.
FEATURES = {
    "host": ("", "native"),
    "x86-64-v3": ("avx512|avxvnni", "x86-64-v3"),
}


def halide_target(target):
    """The machine's, without what the target does not have."""
    without = FEATURES[target][0]
    words = str(hl.get_host_target()).split("-")
    return hl.Target("-".join(word for word in words if not without or not re.match(without, word)))


def written(case, schedule, base, peer):
    """Halide's text, its constants and its object code; the name of the function, the files of constants."""
    params = [hl.ImageParam(TYPES[kind][0], len(extents(64, 64)), name) for name, kind, extents in case.inputs]
    scalars = [hl.Param(TYPES[kind][0], name) for name, kind, _ in case.scalars]
    made = case.make(schedule, *params, *scalars)
    funcs = made if isinstance(made, list) else [made]
    pipeline, arguments, target = hl.Pipeline(funcs), [*params, *scalars], halide_target(peer)
    name, kinds = funcs[0].name(), hl.OutputFileType
    constants = []
    try:
        pipeline.compile_to({kinds.stmt: f"{base}.stmt", kinds.c_source: f"{base}.hl.c"}, arguments, name, target)
        constants.append(f"{base}.hl.c")
    except hl.HalideError:
        # Not everything has a form in Halide's C.
        pipeline.compile_to({kinds.stmt: f"{base}.stmt"}, arguments, name, target)
    pipeline.compile_to({kinds.llvm_assembly: f"{base}.ll", kinds.object: f"{base}.o"}, arguments, name, target)
    lines = Path(f"{base}.stmt").read_text().splitlines()
    text = "\n".join(line for line in lines if not line.lstrip().startswith("assert"))
    if not constants or re.search(r"\d\.\d{6}(e[-+]\d+)?(?![\dfh])", text):
        constants.append(f"{base}.ll")
    return name, constants


def compiled(words, base):
    """Exit code, seconds and megabytes of a compilation, and what it warns of."""
    start = time.monotonic()
    with open(f"{base}.err", "wb") as error:
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=error)
        _, status, used = os.wait4(process.pid, 0)
    return os.waitstatus_to_exitcode(status), time.monotonic() - start, used.ru_maxrss / 1024, Path(f"{base}.err").read_text()


def aligned(array):
    """A copy that begins with a line of the cache: where arrays happen to lie is part of no comparison."""
    room = np.zeros(array.nbytes + 64, np.uint8)
    first = -room.ctypes.data % 64
    copy = room[first : first + array.nbytes].view(array.dtype)
    copy[:] = array
    return copy


def calls(case, size, seed, ours, theirs):
    """Both functions with their arguments, and what they write."""
    def with_extents(buffers):
        return [(name, kind, extents(*size)) for name, kind, extents in buffers]

    inputs, outputs = with_extents(case.inputs), with_extents(case.outputs)
    given = [aligned(filled(kind, math.prod(extents), seed, name)) for name, kind, extents in inputs]
    scalars = [SCALARS[kind](value) for _, kind, value in case.scalars]
    made = []
    for function in (ours, theirs):
        results = [aligned(np.zeros(math.prod(extents), TYPES[kind][1])) for _, kind, extents in outputs]
        words, groups = [], []
        for buffers, arrays in ((inputs, given), (outputs, results)):
            if function is theirs:
                groups.append([ctypes.byref(Buffer.of(a, kind, e, name in case.chunky)) for (name, kind, e), a in zip(buffers, arrays)])
            else:
                groups.append([w for (_, _, e), a in zip(buffers, arrays) for w in (ctypes.c_void_p(a.ctypes.data), *map(ctypes.c_int64, e))])
        words = [*groups[0], *scalars, *groups[1]]
        made.append((function, words, results))
    return made, outputs, given


def same(kind, found, wanted, tolerance):
    if kind[0] == "f":
        found, wanted = found.astype(np.float64), wanted.astype(np.float64)
        near = np.abs(found - wanted) <= tolerance * np.maximum(1, np.abs(wanted))
        return near | (found == wanted) | (np.isnan(found) & np.isnan(wanted))
    return np.abs(found.astype(np.int64) - wanted.astype(np.int64)) <= tolerance if tolerance else found == wanted


def seconds(calls):
    """Of the fastest of some calls in a row, for each function; they take turns, so that what else the
    machine does in the meantime is none's alone."""
    once, best = [0.0] * len(calls), [math.inf] * len(calls)
    for _ in range(12):
        for k, (function, words) in enumerate(calls):
            count = max(1, int(0.005 / once[k])) if once[k] else 3
            start = time.thread_time()
            for _ in range(count):
                function(*words)
            once[k] = max((time.thread_time() - start) / count, 1e-7)
            best[k] = min(best[k], once[k])
    return best


def without_calling(calls, base):
    """The seconds of functions less those that Python takes to call one with their arguments: ours has
    three for each buffer where Halide's has one."""
    Path(f"{base}.none.c").write_text("int nothing(void) { return 0; }\n")
    subprocess.run([os.environ.get("CC", "gcc"), "-shared", "-fPIC", f"{base}.none.c", "-o", f"{base}.none.so"], check=True)
    nothing = ctypes.CDLL(f"{base}.none.so").nothing
    found = seconds([*calls, *((nothing, words) for _, words in calls)])
    return [max(whole - calling, 1e-9) for whole, calling in zip(found, found[len(calls) :])]


def compared(case, entry, name, base):
    """What differs, in how many runs, and how often Halide's time is ours."""
    ours, theirs = ctypes.CDLL(f"{base}.so"), ctypes.CDLL(f"{base}.hl.so")
    # What a check says is its code; Halide's own handler ends the process.
    quiet = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)(lambda *_: None)
    theirs.halide_set_error_handler(quiet)
    wrong, ran, ratio = [], 0, None
    for size in case.sizes:
        for seed in (1, 2, 3):
            made, outputs, _given = calls(case, size, seed, ours[entry], theirs[name])
            codes = [function(*words) for function, words, _ in made]
            if codes[0] != codes[1]:
                wrong.append(f"{size}: code {codes[0]}, Halide's {codes[1]}")
            elif codes[0] == 0:
                ran += 1
                for (output, kind, _), found, wanted in zip(outputs, made[0][2], made[1][2]):
                    fits = same(kind, found, wanted, case.tol)
                    if not fits.all():
                        at = int(np.argmin(fits))
                        wrong.append(f"{size}, seed {seed}: {(~fits).sum()} of `{output}` differ, [{at}] is {found[at]}, not {wanted[at]}")
                if size == case.sizes[-1] and seed == 3:
                    mine, its = without_calling([one[:2] for one in made], base)
                    ratio = its / mine
    return wrong, ran, ratio


def one(options):
    """One schedule of one pipeline; a JSON object on standard output."""
    case, out = CASES[options.pipelines[0]], {}
    with tempfile.TemporaryDirectory() as folder:
        base = f"{folder}/pipeline"
        name, constants = written(case, options.one, base, options.target)
        words = [os.environ.get("ISAFORGE", "isaforge"), "compile", "--from-halide", f"{base}.stmt", "-o", f"{base}.c"]
        words += ["--target", options.target, "--time-limit", str(options.time_limit)]
        words += [word for file in constants for word in ("--constants", file)]
        code, out["first"], memory, told = compiled(words, base)
        out["imports"] = code in (0, 3) and Path(f"{base}.c").exists()
        out["code"], out["told"] = code, told
        if out["imports"]:
            _, out["second"], again, _ = compiled(words, base)
            out["memory"] = max(memory, again)
            shared = ["-shared", "-fPIC", "-lm"]
            march = f"-march={FEATURES[options.target][1]}"
            subprocess.run([os.environ.get("CC", "gcc"), "-std=gnu11", "-O3", march, f"{base}.c", "-o", f"{base}.so", *shared], check=True)
            subprocess.run([os.environ.get("CC", "gcc"), f"{base}.o", "-o", f"{base}.hl.so", *shared, "-lpthread", "-ldl"], check=True)
            entry = re.search(r"^int (\w+)\(.*\) \{$", Path(f"{base}.c").read_text(), re.M)[1]
            out["wrong"], out["ran"], out["ratio"] = compared(case, entry, name, base)
    print(json.dumps(out))


def line(name, schedule, found):
    head = f"{name:18}{schedule} "
    if "failed" in found:
        return head + "failed: " + found["failed"]
    if not found["imports"]:
        return head + "refused: " + " ".join(found["told"].split())[:300]
    agrees = "agrees" if not found["wrong"] else "differs: " + found["wrong"][0]
    ratio = f"{found['ratio']:5.2f}" if found["ratio"] else "    -"
    told = found["told"]
    return head + (
        f"{agrees} in {found['ran']:2}, {ratio}, {told.count('warning:')} warnings, {told.count('element by element')} scalar, "
        f"{found['first']:.2f} s, {found['second']:.2f} s, {found['memory']:.0f} MB"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--target", default="host", choices=FEATURES, help="for which all three compile: isaforge, Halide and gcc")
    parser.add_argument("--time-limit", type=int, default=10)
    parser.add_argument("--json")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    parser.add_argument("pipelines", nargs="*")
    options = parser.parse_args()
    if options.one is not None:
        return one(options)

    def run(job):
        words = [sys.executable, "-W", "ignore", __file__, "--one", str(job[1]), "--target", options.target, "--time-limit", str(options.time_limit), job[0]]
        done = subprocess.run(words, capture_output=True, text=True, env=dict(os.environ, HL_NUM_THREADS="1"))
        last = done.stdout.strip().splitlines()[-1:] or [""]
        return json.loads(last[0]) if last[0].startswith("{") else {"failed": done.stderr.strip()[-300:] or f"signal {-done.returncode}"}

    jobs = [(name, schedule) for name in options.pipelines or CASES for schedule in (0, 1)]
    results = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for job, found in zip(jobs, pool.map(run, jobs)):
            results.append({"name": job[0], "schedule": job[1], **found})
            print(line(*job, found), flush=True)
    imported = [r for r in results if r.get("imports")]
    agree = [r for r in imported if not r["wrong"] and r["ran"]]
    ratios = [math.log(r["ratio"]) for r in agree if r["ratio"]]
    mean = math.exp(sum(ratios) / len(ratios)) if ratios else math.nan
    print(f"{len(results)} tried, {len(imported)} imported, {len(agree)} agree; geometric mean {mean:.2f} times Halide")
    if options.json:
        Path(options.json).write_text(json.dumps(results, indent=1) + "\n")
    return 0 if len(agree) == len(results) else 1


if __name__ == "__main__":
    sys.exit(main())
