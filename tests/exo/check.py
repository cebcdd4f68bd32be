"""A product of matrices scheduled with the generated library, and what Exo's own has wrong.

Usage: python check.py FOLDER-OF-autoir_x86.py CC
Exits with 0 when all holds; 77 when this processor has no AVX-512.
"""

from __future__ import annotations

import ctypes
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, sys.argv[1])

import autoir_x86 as ours
from exo import DRAM, compile_procs_to_strings, proc
from exo.API_cursors import CallCursor, WindowStmtCursor
from exo.libs.memories import AVX2, AVX512
from exo.platforms import x86 as theirs
from exo.stdlib.scheduling import *

CC = sys.argv[2]


@proc
def product(K: size, A: f32[K, 6] @ DRAM, B: f32[K, 16] @ DRAM, C: f32[6, 16] @ DRAM):
    for k in seq(0, K):
        for i in seq(0, 6):
            for j in seq(0, 16):
                C[i, j] += A[k, i] * B[k, j]


def scheduled():
    p = rename(product, "scheduled")
    p = stage_mem(p, "for k in _:_", "C[0:6, 0:16]", "c")
    p = set_memory(p, "c", ours.Vector512)
    for name, pattern in [("a", "A[_]"), ("b", "B[_]")]:
        p = bind_expr(p, p.find(pattern, many=True), name)
        p = expand_dim(p, name, 16, "j")
        p = lift_alloc(p, name)
        p = fission(p, p.find(f"{name}[_] = _").after())
        p = set_memory(p, name, ours.Vector512)
    for instruction in [ours.mm512_set1_ps, ours.mm512_loadu_ps, ours.mm512_storeu_ps, ours.mm512_fmadd_ps_acc]:
        p = replace_all(p, instruction)
    return simplify(p)


# The same uses of Exo's entries and of ours, with the entry's own body as what must come out.
def masked_fmadd(module, memory, name):
    fmadd, load, store = module.mm512_mask_fmadd_ps, module.mm512_loadu_ps, module.mm512_storeu_ps

    @proc
    def masked(x: f32[16] @ DRAM, y: f32[16] @ DRAM, z: f32[16] @ DRAM):
        a: f32[16] @ memory
        b: f32[16] @ memory
        c: f32[16] @ memory
        load(a, x[0:16])
        load(b, y[0:16])
        load(c, z[0:16])
        fmadd(5, a, b, c)
        store(x[0:16], a)
        store(z[0:16], c)

    return rename(masked, name)


def masked_load(module, memory, name):
    masked, load, store = module.mm512_maskz_loadu_ps, module.mm512_loadu_ps, module.mm512_storeu_ps

    @proc
    def loaded(x: f32[16] @ DRAM, y: f32[16] @ DRAM, z: f32[16] @ DRAM):
        a: f32[16] @ memory
        load(a, x[0:16])
        masked(5, a, y[0:5])
        store(z[0:16], a)

    return rename(loaded, name)


def broadcast_ours(name):
    memory, load, store = ours.Vector256, ours.mm256_loadu_ps, ours.mm256_storeu_ps
    spread, fmadd = ours.mm256_broadcast_ss, ours.mm256_fmadd_ps_acc

    @proc
    def broadcast(x: f32[16] @ DRAM, y: f32[16] @ DRAM, z: f32[16] @ DRAM):
        a: f32[8] @ memory
        b: f32[8] @ memory
        c: f32[8] @ memory
        load(a, x[0:8])
        spread(b, y[0:1])
        load(c, z[0:8])
        fmadd(a, b, c)
        store(z[0:8], c)

    return rename(broadcast, name)


def broadcast_theirs(name):
    load, store, fmadd = theirs.mm256_loadu_ps, theirs.mm256_storeu_ps, theirs.mm256_fmadd_ps_broadcast

    @proc
    def broadcast(x: f32[16] @ DRAM, y: f32[16] @ DRAM, z: f32[16] @ DRAM):
        a: f32[8] @ AVX2
        c: f32[8] @ AVX2
        load(a, x[0:8])
        load(c, z[0:8])
        fmadd(c, a, y[0:1])
        store(z[0:8], c)

    return rename(broadcast, name)


def claimed(p, name):
    """The same procedure with the bodies of the definitions in place of their templates."""
    while True:
        calls = [c for c in p.body() if isinstance(c, CallCursor)]
        if not calls:
            break
        p = inline(p, calls[0])
    p = inline_windows(p)
    for register in ["a", "b", "c"]:
        try:
            p = set_memory(p, register, DRAM)
        except Exception:
            continue
    return rename(p, name)


def inline_windows(p):
    while True:
        windows = [c for c in p.body() if isinstance(c, WindowStmtCursor)]
        if not windows:
            return p
        p = inline_window(p, windows[0])


def built(procs):
    """The procedures as a library; the compiler's message where it refuses them."""
    text, header = compile_procs_to_strings(procs, "made.h")
    folder = tempfile.mkdtemp()
    with open(os.path.join(folder, "made.h"), "w") as file:
        file.write(header)
    with open(os.path.join(folder, "made.c"), "w") as file:
        file.write(text)
    target = os.path.join(folder, "made.so")
    flags = ["-O2", "-shared", "-fPIC", "-mavx2", "-mfma", "-mavx512f", "-mavx512bw", "-mavx512vl", "-mavx512dq", "-w"]
    run = subprocess.run([CC, *flags, "-o", target, os.path.join(folder, "made.c")], capture_output=True, text=True)
    if run.returncode:
        return None, run.stderr
    return ctypes.CDLL(target), text


def run(library, name, arrays):
    made = [(ctypes.c_float * 16)(*a) for a in arrays]
    getattr(library, name)(None, *made)
    return [list(m) for m in made]


def agrees(library, name):
    """Whether the machine does what the definitions claim, on random data."""
    draw = random.Random(1)
    for _ in range(100):
        arrays = [[float(draw.randint(-99, 99)) for _ in range(16)] for _ in range(3)]
        if run(library, name, arrays) != run(library, name + "_claimed", arrays):
            return False
    return True


def entries():
    """Each entry of Exo's own library that is wrong, ours beside it."""
    wrong = []
    for name, make in [
        ("mask_fmadd", masked_fmadd),
        ("maskz_loadu", masked_load),
    ]:
        for whose, module, memory in [("theirs", theirs, AVX512), ("ours", ours, ours.Vector512)]:
            p = make(module, memory, f"{name}_{whose}")
            wrong.append((name, whose, p))
    wrong.append(("fmadd_broadcast", "theirs", broadcast_theirs("fmadd_broadcast_theirs")))
    wrong.append(("fmadd_broadcast", "ours", broadcast_ours("fmadd_broadcast_ours")))
    right = {}
    for name, whose, p in wrong:
        library, text = built([p, claimed(p, f"{name}_{whose}_claimed")])
        if library is None:
            first = next(line for line in text.splitlines() if "error" in line)
            print(f"{name}: {whose} does not compile: {first}")
            right[name, whose] = False
        else:
            right[name, whose] = agrees(library, f"{name}_{whose}")
            print(f"{name}: {whose} {'does what it says' if right[name, whose] else 'does something else'}")
    return all(good == (whose == "ours") for (_, whose), good in right.items())


def multiplies():
    """Whether the scheduled product is the plain one."""
    library, text = built([product, scheduled()])
    if library is None:
        print(text)
        return False
    used = ["_mm512_set1_ps", "_mm512_loadu_ps", "_mm512_storeu_ps", "_mm512_fmadd_ps"]
    if not all(name in text for name in used):
        print(text)
        return False
    draw = random.Random(2)
    for k in [1, 2, 7, 64]:
        data = [[float(draw.randint(-9, 9)) for _ in range(n)] for n in (k * 6, k * 16, 96)]
        results = []
        for name in ["product", "scheduled"]:
            made = [(ctypes.c_float * len(a))(*a) for a in data]
            getattr(library, name)(None, ctypes.c_ssize_t(k), *made)
            results.append(list(made[2]))
        if results[0] != results[1]:
            print(f"K = {k}: the scheduled product differs")
            return False
    print("the scheduled product is the plain one")
    return True


if __name__ == "__main__":
    if "avx512vl" not in open("/proc/cpuinfo").read():
        print("this processor has no AVX-512")
        sys.exit(77)
    sys.exit(0 if all([multiplies(), entries()]) else 1)
