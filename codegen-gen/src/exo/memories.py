from __future__ import annotations

from exo import DRAM, instr
from exo.core.memory import MemGenError, Memory


class _Vectors(Memory):
    """Vector registers; the last dimension is a register's elements."""

    headers = ""
    bits = 0
    types = {}

    @classmethod
    def global_(cls):
        return cls.headers

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
