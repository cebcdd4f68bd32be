"""Products of matrices scheduled with the generated library for RVM, as C.

Usage: python rvm.py FOLDER-OF-autoir_rvm.py FOLDER
Writes `words.c` and `bytes.c` with their headers into FOLDER; exits with 0 when each product
is one tile product between loads and stores of tiles.
"""

from __future__ import annotations

import sys

sys.path.insert(0, sys.argv[1])

import autoir_rvm as rvm
from exo import DRAM, proc
from exo.stdlib.scheduling import *
from output import written


@proc
def words(M: size, N: size, K: size, A: [i32][4 * M, 4 * K] @ DRAM, B: [i32][4 * N, 4 * K] @ DRAM, C: [i32][4 * M, 4 * N] @ DRAM):
    assert stride(A, 1) == 1
    assert stride(B, 1) == 1
    assert stride(C, 1) == 1
    for i in seq(0, 4 * M):
        for j in seq(0, 4 * N):
            for k in seq(0, 4 * K):
                C[i, j] += A[i, k] * B[j, k]


@proc
def bytes(M: size, N: size, K: size, A: [i8][4 * M, 16 * K] @ DRAM, B: [i8][4 * N, 16 * K] @ DRAM, C: [i32][4 * M, 4 * N] @ DRAM):
    assert stride(A, 1) == 1
    assert stride(B, 1) == 1
    assert stride(C, 1) == 1
    for i in seq(0, 4 * M):
        for j in seq(0, 4 * N):
            for k in seq(0, 16 * K):
                C[i, j] += A[i, k] * B[j, k]


def scheduled(p, depth, instructions):
    for loop, step in [("i", 4), ("j", 4), ("k", depth)]:
        p = divide_loop(p, loop, step, [loop + "o", loop + "i"], perfect=True)
    p = reorder_loops(p, "ii jo")
    p = reorder_loops(p, "ji ko")
    p = reorder_loops(p, "ii ko")
    p = stage_mem(p, "for ko in _:_", "C[4 * io:4 * io + 4, 4 * jo:4 * jo + 4]", "c")
    p = stage_mem(p, "for ii in _:_", f"A[4 * io:4 * io + 4, {depth} * ko:{depth} * ko + {depth}]", "a")
    p = stage_mem(p, "for ii in _:_", f"B[4 * jo:4 * jo + 4, {depth} * ko:{depth} * ko + {depth}]", "b")
    for tile in ["a", "b", "c"]:
        p = set_memory(p, tile, rvm.Tile)
    for instruction in instructions:
        p = replace_all(p, instruction)
    return simplify(p)


def sound(p):
    """Writes a procedure; whether it is tile instructions and loops around them."""
    code = written(p, sys.argv[2])
    counts = code.count(".word"), code.count(".insn"), code.count("for (")
    print(f"{p.name()}: {counts[0]} products, {counts[1]} moves, {counts[2]} loops")
    return counts == (1, 4, 3)


if __name__ == "__main__":
    of_words = scheduled(words, 4, [rvm.mmasa_w, rvm.mld_w, rvm.mst_w])
    of_bytes = scheduled(bytes, 16, [rvm.mmaqa_b, rvm.mld_w_i8, rvm.mld_w, rvm.mst_w])
    sys.exit(0 if all([sound(of_words), sound(of_bytes)]) else 1)
