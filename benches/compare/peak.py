"""Micro-kernels against what the machine can do at most, and against libraries.

    python3 benches/compare/peak.py [--quick] [--output DIR] [NAME …]

Installs what it needs into `target/compare` (see `setup.sh`) and starts itself again there. Five
kernels, each written in the kernel language with a schedule: products of matrices of floats,
of unsigned with signed bytes, of 16-bit integers and of bf16, and a layer of convolutions in
floats. The most that the machine can do is measured by a loop of nothing but the one
instruction, 24 independent ones, in the same rounds. One thread each. OpenBLAS (Debian's, and
the one that NumPy brings) and oneDNN (Debian's) do the same where they have it. Results are
compared with NumPy's before anything is timed: integers exactly, floats within rounding. Writes
`peak.json` and `peak.md`.
"""

import argparse
import ctypes
import glob
import json
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

import build
import run

ROOT, FOLDER = run.ROOT, run.ROOT / "target/compare"
INSTRUCTIONS = {"fma": ("vfmadd231ps", 32), "u8": ("vpdpbusd", 128), "i16": ("vpdpwssd", 64), "bf16": ("vdpbf16ps", 64)}


def peak_source():
    """Loops of one instruction each: operations a second."""
    text = [build.TIMER.split("double run")[0]]
    for name, (instruction, _) in INSTRUCTIONS.items():
        clear = "".join(f"vpxorq %%zmm{i}, %%zmm{i}, %%zmm{i}\\n" for i in range(32))
        loop = "".join(f"{instruction} %%zmm30, %%zmm31, %%zmm{i}\\n" for i in range(24))
        used = ", ".join(f'"xmm{i}"' for i in range(32))
        text += [
            f"double peak_{name}(long n) {{",
            "    long left = n;",
            "    double start = now();",
            f'    __asm__ volatile("{clear}.p2align 5\\n1:\\n{loop}dec %0\\njnz 1b\\n" : "+r"(left) :: "cc", {used});',
            "    return 24.0 * (double)n / (now() - start);",
            "}",
        ]
    return "\n".join(text) + "\n"


def library(name, sources, text, flags=(), compiler="gcc"):
    """A shared library of a wrapper and other sources."""
    path, out = FOLDER / f"peak/{name}_run.c", FOLDER / f"peak/{name}.so"
    path.write_text(text)
    subprocess.run([compiler, *build.FLAGS, "-w", "-shared", *map(str, sources), str(path), *flags, "-o", str(out), "-lm"], check=True)
    return ctypes.CDLL(str(out))


def ours(name, options):
    """Our code, called with sizes and addresses."""
    path = next(p for p in (ROOT / f"examples/{name}.kernel", ROOT / f"kernels/{name}.kernel") if p.exists())
    source = FOLDER / f"peak/{name}.c"
    subprocess.run([options.isaforge, "compile", str(path), "-o", str(source)], check=True, capture_output=True)
    kinds = [kind for _, kind in build.parameters(path.read_text())]
    declared = ", ".join("void *" if "[" in kind else "int64_t" for kind in kinds)
    arrays, sizes, words = 0, 0, []
    for kind in kinds:
        if "[" in kind:
            words.append(f"a[{arrays}]")
            arrays += 1
        else:
            words.append(f"n[{sizes}]")
            sizes += 1
    text = f"#include <stdint.h>\nvoid {name}({declared});\n" + build.TIMER.replace("PREPARE", "").replace("CALL", f"{name}({', '.join(words)})")
    return library(f"ours_{name}", [source], text, compiler=options.ours_cc).run


ONEDNN = """
#include <dnnl.h>
static dnnl_engine_t engine; static dnnl_stream_t stream; static dnnl_primitive_t primitive;
static dnnl_exec_arg_t args[5]; static int count;
static dnnl_memory_desc_t plain(int d, const int64_t *s, dnnl_data_type_t t, dnnl_format_tag_t f) {
    dnnl_memory_desc_t m; dnnl_dims_t dims; for (int i = 0; i < d; i++) dims[i] = s[i];
    dnnl_memory_desc_init_by_tag(&m, d, dims, t, f); return m;
}
/* An operand as the library wants it: reordered once, before anything is timed. */
static dnnl_memory_t as_wanted(dnnl_memory_desc_t user, const dnnl_memory_desc_t *wanted, void *data) {
    dnnl_memory_t from, to; dnnl_primitive_desc_t d; dnnl_primitive_t p;
    dnnl_memory_create(&from, &user, engine, data);
    if (dnnl_memory_desc_equal(&user, wanted)) return from;
    dnnl_memory_create(&to, wanted, engine, DNNL_MEMORY_ALLOCATE);
    dnnl_reorder_primitive_desc_create(&d, &user, engine, wanted, engine, 0);
    dnnl_primitive_create(&p, d);
    dnnl_exec_arg_t a[] = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}};
    dnnl_primitive_execute(p, stream, 2, a); dnnl_stream_wait(stream); return to;
}
static void add(int what, dnnl_memory_t m) { args[count].arg = what; args[count++].memory = m; }
static int prepare(void **a, const int64_t *n) {
    if (primitive) return 0;
    dnnl_engine_create(&engine, dnnl_cpu, 0); dnnl_stream_create(&stream, engine, dnnl_stream_default_flags);
    BODY
    return primitive == 0;
}
"""

MATMUL = """
    int64_t sa[] = {n[0], n[2]}, sb[] = {n[2], n[1]}, sc[] = {n[0], n[1]};
    dnnl_memory_desc_t x = plain(2, sa, TA, dnnl_ab), w = plain(2, sb, TB, dnnl_ab), y = plain(2, sc, TC, dnnl_ab);
    dnnl_memory_desc_t any = plain(2, sb, TB, dnnl_ab); dnnl_dims_t d = {n[2], n[1]};
    dnnl_memory_desc_init_by_tag(&any, 2, d, TB, dnnl_format_tag_any);
    dnnl_matmul_desc_t desc; dnnl_primitive_desc_t pd;
    dnnl_matmul_desc_init(&desc, &x, &any, 0, &y);
    if (dnnl_primitive_desc_create(&pd, &desc, 0, engine, 0)) return 1;
    const dnnl_memory_desc_t *q = dnnl_primitive_desc_query_md(pd, dnnl_query_weights_md, 0);
    dnnl_memory_t mx, my; dnnl_memory_create(&mx, &x, engine, a[0]); dnnl_memory_create(&my, &y, engine, a[2]);
    add(DNNL_ARG_SRC, mx); add(DNNL_ARG_WEIGHTS, as_wanted(w, q, a[1])); add(DNNL_ARG_DST, my);
    dnnl_primitive_create(&primitive, pd);
"""

CONVOLUTION = """
    int64_t h = n[1], w = n[2], ic = n[3], oc = 64 * n[4];
    int64_t si[] = {n[0], ic, h + 2, w + 2}, sw[] = {oc, ic, 3, 3}, sb[] = {oc}, so[] = {n[0], oc, h, w};
    dnnl_memory_desc_t x = plain(4, si, dnnl_f32, dnnl_nhwc), f = plain(4, sw, dnnl_f32, dnnl_hwio);
    dnnl_memory_desc_t b = plain(1, sb, dnnl_f32, dnnl_a), y = plain(4, so, dnnl_f32, dnnl_nhwc), any;
    dnnl_dims_t d = {oc, ic, 3, 3}, one = {1, 1}, none = {0, 0};
    dnnl_memory_desc_init_by_tag(&any, 4, d, dnnl_f32, dnnl_format_tag_any);
    dnnl_convolution_desc_t desc; dnnl_primitive_desc_t pd; dnnl_primitive_attr_t attr; dnnl_post_ops_t ops;
    dnnl_primitive_attr_create(&attr); dnnl_post_ops_create(&ops);
    dnnl_post_ops_append_eltwise(ops, 1.f, dnnl_eltwise_relu, 0.f, 0.f); dnnl_primitive_attr_set_post_ops(attr, ops);
    dnnl_convolution_forward_desc_init(&desc, dnnl_forward_inference, dnnl_convolution_direct, &x, &any, &b, &y, one, none, none);
    if (dnnl_primitive_desc_create(&pd, &desc, attr, engine, 0)) return 1;
    dnnl_memory_t mx, mb, my; dnnl_memory_create(&mx, &x, engine, a[0]);
    dnnl_memory_create(&mb, &b, engine, a[2]); dnnl_memory_create(&my, &y, engine, a[3]);
    add(DNNL_ARG_SRC, mx); add(DNNL_ARG_BIAS, mb); add(DNNL_ARG_DST, my);
    add(DNNL_ARG_WEIGHTS, as_wanted(f, dnnl_primitive_desc_query_md(pd, dnnl_query_weights_md, 0), a[1]));
    dnnl_primitive_create(&primitive, pd);
"""


def onednn(name, body, types=()):
    """The same by oneDNN: nothing where it is not there or has no such operation."""
    debian = FOLDER / "debian/usr"
    if not (debian / "include/dnnl.h").exists():
        return None
    for letter, kind in zip("ABC", types):
        body = body.replace(f"T{letter}", f"dnnl_{kind}")
    text = "#include <stdint.h>\n" + ONEDNN.replace("BODY", body) + build.TIMER.replace("PREPARE", "if (prepare(a, n)) return -1;").replace(
        "CALL", "{ dnnl_primitive_execute(primitive, stream, count, args); dnnl_stream_wait(stream); }"
    )
    place = debian / "lib/x86_64-linux-gnu"
    # What the library itself needs, where the system has none.
    for needed in ("libOpenCL.so.1", "libgomp.so.1"):
        if (place / needed).exists():
            ctypes.CDLL(str(place / needed), ctypes.RTLD_GLOBAL)
    flags = [f"-I{debian}/include", f"-L{place}", "-ldnnl", f"-Wl,-rpath,{place}"]
    return library(f"onednn_{name}", [], text, flags).run


def openblas(path, names):
    """`cblas_sgemm` of a library, as `c += a * b`."""
    if not Path(path).exists():
        return None
    for needed in ("libquadmath.so.0", "libgfortran.so.5"):
        if (path.parents[1] / needed).exists():
            ctypes.CDLL(str(path.parents[1] / needed), ctypes.RTLD_GLOBAL)
    loaded = ctypes.CDLL(str(path))
    for name, number in names:
        if hasattr(loaded, name):
            text = f"""#include <stdint.h>
            static void (*sgemm)(int, int, int, {number}, {number}, {number}, float, const float *, {number}, const float *, {number}, float, float *, {number});
            void use(void *f) {{ sgemm = f; }}
            """ + build.TIMER.replace("PREPARE", "").replace("CALL", "sgemm(101, 111, 111, n[0], n[1], n[2], 1.f, a[0], n[2], a[1], n[1], 1.f, a[2], n[1])")
            made = library(f"blas_{name}", [], text)
            made.use(ctypes.cast(getattr(loaded, name), ctypes.c_void_p))
            return made.run
    return None


def bf16(values):
    """Floats as bf16, and the floats that these are."""
    import numpy as np

    bits = (values.view(np.uint32) >> 16).astype(np.uint16)
    return bits, (bits.astype(np.uint32) << 16).view(np.float32)


def product(kind, rows, blocks, depth, rng):
    """Operands of a blocked product: columns in blocks of 16, the depth in groups of 2 or 4."""
    import numpy as np

    group = 4 if kind == "u8" else 2
    low, high = {"u8": (0, 256), "i16": (-1000, 1000), "bf16": (-8, 8)}[kind]
    a = rng.integers(low, high, (rows, group * depth))
    b = rng.integers(-128 if kind == "u8" else low, 128 if kind == "u8" else high, (group * depth, 16 * blocks))
    packed = b.reshape(depth, group, blocks, 16).transpose(2, 0, 3, 1).reshape(blocks, depth, 16 * group)
    wanted = (a @ b).reshape(rows, blocks, 16)
    if kind == "bf16":
        return [bf16(a.astype(np.float32))[0], bf16(packed.astype(np.float32))[0], np.zeros(wanted.shape, np.float32)], wanted, b
    types = (np.uint8, np.int8) if kind == "u8" else (np.int16, np.int16)
    return [a.astype(types[0]), np.ascontiguousarray(packed.astype(types[1])), np.zeros(wanted.shape, np.int32)], wanted, b


def cases(options):
    """Name, instruction, sizes, operands, what is wanted, multiply-adds, and who does it."""
    import numpy as np

    rng = np.random.default_rng(1)
    site = Path(np.__file__).parent.parent
    debian = FOLDER / "debian/usr/lib/x86_64-linux-gnu/openblas-pthread/libopenblas.so.0"
    for n in (256, 512) if options.quick else (256, 512, 1024, 2048):
        a, b = (rng.integers(-4, 5, (n, n)).astype(np.float32) for _ in "ab")
        others = {"OpenBLAS (Debian)": lambda: openblas(debian, [("cblas_sgemm", "int")])}
        for path in glob.glob(str(site / "numpy.libs/*openblas*")):
            others["OpenBLAS (NumPy)"] = lambda p=path: openblas(Path(p), [("scipy_cblas_sgemm64_", "int64_t"), ("cblas_sgemm64_", "int64_t")])
        yield f"sgemm {n}", "sgemm", "fma", [n, n, n], [a, b, np.zeros((n, n), np.float32)], a @ b, n**3, others
    for name, kind in (("matmul_u8", "u8"), ("matmul_i16", "i16"), ("matmul_bf16", "bf16")):
        group = 4 if kind == "u8" else 2
        for rows, blocks, depth in [(192, 4, 96), (256, 16, 256 // group)]:
            data, wanted, b = product(kind, rows, blocks, depth, rng)
            title = f"{name} {rows}x{16 * blocks}x{group * depth}"
            others = {}
            if kind != "i16" and blocks == 16:
                types = {"u8": ("u8", "s8", "s32"), "bf16": ("bf16", "bf16", "f32")}[kind]
                plain = b.astype(np.int8) if kind == "u8" else bf16(b.astype(np.float32))[0]
                others["oneDNN"] = lambda t=types, k=kind, p=plain: (onednn(k, MATMUL, t), [rows, 16 * blocks, group * depth], p)
            yield title, name, kind, [rows, blocks, depth], data, wanted, rows * 16 * blocks * group * depth, others
    n, h, w, c = (1, 40, 50, 128) if options.quick else (5, 80, 100, 128)
    img = rng.integers(-3, 4, (n, h + 2, w + 2, c)).astype(np.float32)
    weights, bias = rng.integers(-3, 4, (3, 3, c, c)).astype(np.float32), rng.integers(-3, 4, c).astype(np.float32)
    wanted = np.zeros((n, h, w, c), np.float32) + bias
    for dy in range(3):
        for dx in range(3):
            wanted += img[:, dy : dy + h, dx : dx + w] @ weights[dy, dx]
    data = [img, weights, bias, np.zeros(wanted.shape, np.float32)]
    others = {"oneDNN": lambda: onednn("conv", CONVOLUTION)}
    yield f"conv_f32 {n}x{h + 2}x{w + 2}x{c}", "conv_f32", "fma", [n, h, w, c, c // 64], data, np.maximum(wanted, 0), n * h * w * 9 * c * c, others


def call(function, sizes, data):
    """Seconds of one call, as a function of repeats."""
    function.restype, function.argtypes = ctypes.c_double, [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_long]
    pointers = (ctypes.c_void_p * len(data))(*[d.ctypes.data for d in data])
    numbers = (ctypes.c_int64 * len(sizes))(*sizes)
    return lambda repeats: function(pointers, numbers, repeats)


def measure(case, peaks, options):
    """One kernel: ours, libraries and the most that the machine can do, round by round."""
    import numpy as np

    title, name, kind, sizes, data, wanted, work, others = case
    calls, problems = {}, {}
    for who, make in {"ours": lambda: ours(name, options), **others}.items():
        try:
            made = make()
        except (subprocess.CalledProcessError, OSError) as error:
            problems[who] = str(error)[:200]
            continue
        own = [d.copy() for d in data]
        place = sizes
        if isinstance(made, tuple):
            made, place, own[1] = made
        if made is None:
            continue
        out = own[-1]
        one = call(made, place, own)
        one.keep = own
        seconds = one(1)
        wrong = int(np.count_nonzero(out.reshape(wanted.shape) != wanted))
        if seconds < 0 or wrong:
            problems[who] = f"{wrong} of {wanted.size} elements differ" if seconds >= 0 else "is not supported"
            continue
        calls[who] = one
    peak = getattr(peaks, f"peak_{kind}")
    peak.restype, peak.argtypes = ctypes.c_double, [ctypes.c_long]
    repeats = {w: max(1, int(options.seconds / max(c(1), 1e-9))) for w, c in calls.items()}
    rounds = {w: [] for w in [*calls, "peak"]}
    for _ in range(options.rounds):
        rounds["peak"].append(peak(100_000) * INSTRUCTIONS[kind][1])
        for who, one in calls.items():
            rounds[who].append(2 * work / one(repeats[who]))
    row = {who: statistics.median(r) / 1e9 for who, r in rounds.items()}
    # The clock moves between rounds: the share is of the same round.
    row["share"] = statistics.median(o / p for o, p in zip(rounds["ours"], rounds["peak"])) if "ours" in rounds else None
    return {"kernel": title, "instruction": INSTRUCTIONS[kind][0], "giga": row, "problems": problems}


def table(results):
    """Thousand million operations a second (a multiply-add is two)."""
    lines = ["| kernel | peak of | peak | ours | ours/peak | libraries |", "|---|---|---|---|---|---|"]
    for r in results["rows"]:
        g = r["giga"]
        others = ", ".join(f"{who} {v:.0f} (ours {g['ours'] / v:.2f} times)" for who, v in g.items() if who not in ("ours", "peak", "share"))
        lines.append(f"| {r['kernel']} | `{r['instruction']}` | {g['peak']:.0f} | {g.get('ours', 0):.0f} | {100 * (g['share'] or 0):.0f}% | {others or '–'} |")
    lines += [f"\n- {r['kernel']}, {who}: {p}" for r in results["rows"] for who, p in r["problems"].items()]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--output", type=Path, default=ROOT / "target/compare/results")
    parser.add_argument("--isaforge", default=os.environ.get("ISAFORGE") or str(ROOT / "target/release/isaforge"))
    parser.add_argument("--ours-cc", default=shutil.which("clang-19") or "gcc")
    options = parser.parse_args()
    if "ISAFORGE_COMPARE" not in os.environ:
        os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
        run.start_again(FOLDER)
    options.cc, options.clang = "gcc", shutil.which("clang-19")
    options.rounds, options.seconds = (7, 0.01) if options.quick else (15, 0.05)
    (FOLDER / "peak").mkdir(parents=True, exist_ok=True)
    options.output.mkdir(parents=True, exist_ok=True)
    peaks = library("peaks", [], peak_source())
    results = {"machine": run.machine(options), "quick": options.quick, "rows": []}
    for case in cases(options):
        if not options.names or case[1] in options.names:
            results["rows"].append(measure(case, peaks, options))
            (options.output / "peak.json").write_text(json.dumps(results, indent=1) + "\n")
            (options.output / "peak.md").write_text(table(results))
    print(table(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
