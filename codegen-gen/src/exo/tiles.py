from __future__ import annotations

from exo import DRAM, instr
from exo.core.memory import MemGenError, StaticMemory


class _Tiles(StaticMemory):
    """Tile registers, numbered as they are allocated."""

    rows = 0
    bytes = 0
    numbers = {}

    @classmethod
    def global_(cls):
        return ""

    @classmethod
    def can_read(cls):
        return False

    @classmethod
    def alloc(cls, new_name, prim_type, shape, srcinfo):
        sizes = {"float": 4, "int32_t": 4, "int8_t": 1}
        if prim_type not in sizes:
            raise MemGenError(f"{srcinfo}: no tile of {prim_type}")
        wanted = [str(cls.rows), str(cls.bytes // sizes[prim_type])]
        if [str(size) for size in shape] != wanted:
            raise MemGenError(f"{srcinfo}: a tile of {prim_type} is {' by '.join(wanted)}")
        number = cls.find_free_chunk()
        cls.mark(number)
        cls.numbers[new_name] = number
        return f"enum {{ {new_name} = {number} }};"

    @classmethod
    def free(cls, new_name, prim_type, shape, srcinfo):
        cls.unmark(cls.numbers.pop(new_name))
        return ""

    @classmethod
    def window(cls, basetyp, baseptr, indices, strides, srcinfo):
        return baseptr
