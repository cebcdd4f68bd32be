"""A product of matrices written with the generated library for RVM.

Usage: python rvm.py FOLDER-OF-autoir_rvm.py
Says how many instructions the code has; exits with 0 when the tiles were all replaced.
"""

from __future__ import annotations

import sys

sys.path.insert(0, sys.argv[1])

import autoir_rvm as rvm
from exo import DRAM, compile_procs_to_strings, proc
from exo.stdlib.scheduling import *


@proc
def product(N: size, A: [i32][4, 4 * N] @ DRAM, B: [i32][4, 4 * N] @ DRAM, C: [i32][4, 4] @ DRAM):
    assert stride(A, 1) == 1
    assert stride(B, 1) == 1
    assert stride(C, 1) == 1
    for n in seq(0, N):
        for i in seq(0, 4):
            for j in seq(0, 4):
                for k in seq(0, 4):
                    C[i, j] += A[i, 4 * n + k] * B[j, 4 * n + k]


def scheduled():
    p = rename(product, "scheduled")
    p = stage_mem(p, "for n in _:_", "C[0:4, 0:4]", "c")
    p = stage_mem(p, "for i in _:_", "A[0:4, 4 * n:4 * n + 4]", "a")
    p = stage_mem(p, "for i in _:_", "B[0:4, 4 * n:4 * n + 4]", "b")
    for tile in ["a", "b", "c"]:
        p = set_memory(p, tile, rvm.Tile)
    for instruction in [rvm.mmasa_w, rvm.mld_w, rvm.mst_w]:
        p = replace_all(p, instruction)
    return simplify(p)


text, _ = compile_procs_to_strings([scheduled()], "made.h")
words, tiles = text.count(".word"), text.count(".insn")
print(f"a product has {words} tile product and {tiles} loads and stores")
sys.exit(0 if (words, tiles) == (1, 4) else 1)
