from __future__ import annotations

from exo import DRAM, instr
from exo.core.memory import MemGenError, Memory


class _Vectors(Memory):
    """Vector registers; the last dimension is a register's elements."""

    bits = 0
    types = {}

    @classmethod
    def global_(cls):
        return "#include <immintrin.h>"

    @classmethod
    def can_read(cls):
        return False

    @classmethod
    def alloc(cls, new_name, prim_type, shape, srcinfo):
        if prim_type not in cls.types:
            raise MemGenError(f"{srcinfo}: no vector of {prim_type}")
        bits, vector = cls.types[prim_type]
        if not shape or str(shape[-1]) != str(cls.bits // bits):
            raise MemGenError(f"{srcinfo}: a vector of {prim_type} has {cls.bits // bits} elements")
        dimensions = "".join(f"[{size}]" for size in shape[:-1])
        return f"{vector} {new_name}{dimensions};"

    @classmethod
    def free(cls, new_name, prim_type, shape, srcinfo):
        return ""

    @classmethod
    def window(cls, basetyp, baseptr, indices, strides, srcinfo):
        assert strides[-1] == "1"
        return baseptr + "".join(f"[{index}]" for index in indices[:-1])


def _types(bits):
    kinds = {"float": (32, ""), "double": (64, "d"), "int8_t": (8, "i"), "uint8_t": (8, "i"),
             "uint16_t": (16, "i"), "int32_t": (32, "i")}
    return {name: (width, f"__m{bits}{letter}") for name, (width, letter) in kinds.items()}


class Vector256(_Vectors):
    bits = 256
    types = _types(256)


class Vector512(_Vectors):
    bits = 512
    types = _types(512)
