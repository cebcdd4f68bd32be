from __future__ import annotations

from exo import DRAM, instr
from exo.core.extern import Extern, Extern_Typecheck_Error
from exo.core.memory import Memory, MemGenError, generate_offset


class _Rows(Memory):
    """Rows of cells, given out from the first one that is free; a name is the first of its rows."""

    rows = 0
    columns = 0
    given = {}

    @classmethod
    def global_(cls):
        return ""

    @classmethod
    def can_read(cls):
        return False

    @classmethod
    def alloc(cls, new_name, prim_type, shape, srcinfo):
        sizes = [int(size) if str(size).isdecimal() else 0 for size in shape]
        if len(sizes) < 2 or 0 in sizes or sizes[-1] != cls.columns:
            raise MemGenError(f"{srcinfo}: rows of {cls.__name__} have {cls.columns} columns, and as many as a number says are taken")
        count = 1
        for size in sizes[:-1]:
            count *= size
        first = 0
        for begin, end in sorted(cls.given.values()):
            if first + count <= begin:
                break
            first = max(first, end)
        if first + count > cls.rows:
            raise MemGenError(f"{srcinfo}: {cls.__name__} has {cls.rows} rows, and no {count} of them are free")
        cls.given[new_name] = (first, first + count)
        return f"enum {{ {new_name} = {first} }};"

    @classmethod
    def free(cls, new_name, prim_type, shape, srcinfo):
        del cls.given[new_name]
        return ""

    @classmethod
    def window(cls, basetyp, baseptr, indices, strides, srcinfo):
        return f"({baseptr} + ({generate_offset(indices, strides) or 0}) / {cls.columns})"


class _Function(Extern):
    """A function of a float, as C."""

    def __init__(self, name, text):
        super().__init__(name)
        self.text = text

    def globl(self, prim_type):
        return self.text

    def typecheck(self, args):
        if len(args) != 1 or not args[0].type.is_real_scalar():
            raise Extern_Typecheck_Error(f"{self.name()} takes a number")
        return args[0].type

    def compile(self, args, prim_type):
        return f"{self.name()}({args[0]})"
