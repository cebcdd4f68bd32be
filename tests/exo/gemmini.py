"""Products of matrices scheduled with the generated library for Gemmini, as C.

Usage: python gemmini.py FOLDER-OF-autoir_gemmini.py FOLDER
Writes `sums.c` and `scaled.c` with their headers into FOLDER; exits with 0 when each product
is blocks of the array and loops around them.
"""

from __future__ import annotations

import sys

sys.path.insert(0, sys.argv[1])

import autoir_gemmini as gemmini
from autoir_gemmini import store_scaled_relu_of
from exo import DRAM, proc
from exo.stdlib.scheduling import *
from output import written


@proc
def sums(M: size, N: size, K: size, A: [i8][16 * M, 16 * K] @ DRAM, B: [i8][16 * K, 16 * N] @ DRAM, C: [i32][16 * M, 16 * N] @ DRAM):
    assert stride(A, 1) == 1
    assert stride(B, 1) == 1
    assert stride(C, 1) == 1
    for i in seq(0, 16 * M):
        for j in seq(0, 16 * N):
            for k in seq(0, 16 * K):
                C[i, j] += A[i, k] * B[k, j]


@proc
def scaled(M: size, N: size, K: size, scale: f32, A: [i8][16 * M, 16 * K] @ DRAM, B: [i8][16 * K, 16 * N] @ DRAM, C: [i8][16 * M, 16 * N] @ DRAM):
    assert stride(A, 1) == 1
    assert stride(B, 1) == 1
    assert stride(C, 1) == 1
    for i in seq(0, 16 * M):
        for j in seq(0, 16 * N):
            sum: i32
            sum = 0.0
            for k in seq(0, 16 * K):
                sum += A[i, k] * B[k, j]
            x: f32
            x = sum
            y: f32
            y = x * scale
            z: f32
            z = store_scaled_relu_of(y)
            C[i, j] = z


def tiled(p):
    for loop in ["i", "j"]:
        p = divide_loop(p, loop, 16, [loop + "o", loop + "i"], perfect=True)
    return reorder_loops(p, "ii jo")


def factors(p):
    """The loop over depth outside of blocks, whose factors are staged."""
    p = divide_loop(p, "k", 16, ["ko", "ki"], perfect=True)
    p = reorder_loops(p, "ji ko")
    p = reorder_loops(p, "ii ko")
    block = p.find("for ko in _:_").body()[0]
    p = stage_mem(p, block, "A[16 * io:16 * io + 16, 16 * ko:16 * ko + 16]", "a")
    block = p.find("for ko in _:_").body()[-1]
    p = stage_mem(p, block, "B[16 * ko:16 * ko + 16, 16 * jo:16 * jo + 16]", "b")
    for name in ["a", "b"]:
        p = set_memory(p, name, gemmini.Spad)
    return p


def with_sums():
    p = factors(tiled(rename(sums, "sums")))
    p = stage_mem(p, "for ko in _:_", "C[16 * io:16 * io + 16, 16 * jo:16 * jo + 16]", "c")
    p = set_memory(p, "c", gemmini.Accumulator)
    for block in [gemmini.load, gemmini.load_sums, gemmini.matmul, gemmini.store_sums]:
        p = replace_all(p, block)
    # What was loaded is stored to again: the queues are ordered by a fence alone.
    p = insert_noop_call(p, p.find("store_sums(_)").before(), gemmini.settle, [])
    return simplify(p)


def with_scale():
    p = tiled(rename(scaled, "scaled"))
    for loop in ["ji", "ii"]:
        p = expand_dim(p, "sum", 16, loop)
    p = lift_alloc(p, "sum", n_lifts=2)
    p = fission(p, p.find("sum[_] = 0.0").after(), n_lifts=2)
    p = fission(p, p.find("for k in _:_").after(), n_lifts=2)
    p = factors(p)
    p = set_memory(p, "sum", gemmini.Accumulator)
    for block in [gemmini.load, gemmini.zero_sums, gemmini.matmul, gemmini.store_scaled_relu]:
        p = replace_all(p, block)
    return simplify(p)


def sound(p):
    """Writes a procedure; whether it is commands and loops around them."""
    code = written(p, sys.argv[2])
    counts = code.count(".insn"), code.count("for (")
    print(f"{p.name()}: {counts[0]} commands, {counts[1]} loops")
    return counts[1] == 3


if __name__ == "__main__":
    sys.exit(0 if all([sound(with_sums()), sound(with_scale())]) else 1)
