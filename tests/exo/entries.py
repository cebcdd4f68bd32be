"""Every entry of a library of Exo, run beside its own body.

Usage: python entries.py FOLDER-OF-autoir_ISA.py ISA CC FLAGS RUNNER [PLATFORM WRONG...]
Each instruction of the generated library, and of Exo's own library PLATFORM where one is named, is
called once by Exo with its template, and once as a plain procedure with its body. Exits with 0 when
all of ours do what they say, and of Exo's all but those named WRONG.
"""

from __future__ import annotations

import importlib
import os
import shlex
import subprocess
import sys
import tempfile

sys.path.insert(0, sys.argv[1])

from exo import DRAM, compile_procs_to_strings
from exo.API import Procedure

ISA, CC, FLAGS, RUNNER = sys.argv[2], sys.argv[3], shlex.split(sys.argv[4]), shlex.split(sys.argv[5])
TYPES = {"f16": "_Float16", "f32": "float", "f64": "double", "i8": "int8_t", "ui8": "uint8_t", "ui16": "uint16_t", "i32": "int32_t"}

# Numbers that an operand of a kind `index` or `size` takes.
NUMBERS = [1, 3]

HARNESS = """
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "made.h"
static uint64_t state = 1;
static uint64_t next(void) { state = state * 6364136223846793005u + 1442695040888963407u; return state >> 33; }
static double small(void) { return (double)(next() % 9 + 1) * (next() % 2 ? 1 : -1); }
static int bad;
"""


class Entry:
    """An instruction, and how it is called."""

    def __init__(self, whose, module, procedure, number):
        self.ir = procedure._loopir_proc
        self.whose, self.module, self.number = whose, module, number
        self.name = f"{whose}_{self.ir.name}" + (f"_{number}" if self.has_number() else "")

    def has_number(self):
        return any(not a.type.is_numeric() for a in self.ir.args)

    def arrays(self):
        """Names, elements, lengths (nothing for a scalar) and memories of the operands that hold data."""
        for a in self.ir.args:
            if a.type.is_numeric():
                shape = [str(n) for n in a.type.shape()]
                yield str(a.name), str(a.type.basetype()), shape[0] if shape else None, a.mem

    def python(self, memories):
        """A procedure that calls the instruction, as Python that Exo reads."""
        parameters, head, tail, given = [], [], [], []
        arrays = {name: (element, length, mem) for name, element, length, mem in self.arrays()}
        for a in self.ir.args:
            name = str(a.name)
            if name not in arrays:
                given.append(str(self.number))
                continue
            element, length, mem = arrays[name]
            if length is None:
                parameters.append(f"x_{name}: {element} @ DRAM")
                given.append(f"x_{name}")
                continue
            parameters.append(f"x_{name}: {element}[{length}] @ DRAM")
            if mem is DRAM:
                given.append(f"x_{name}[0:{length}]")
                continue
            memory = f"{self.whose}_{mem.__name__}"
            memories[memory, element, length] = mem
            move = f"{memory}_{element}_{length}"
            head += [f"    r_{name}: {element}[{length}] @ {memory}", f"    load_{move}(r_{name}, x_{name}[0:{length}])"]
            tail.append(f"    store_{move}(x_{name}[0:{length}], r_{name})")
            given.append(f"r_{name}[0:{length}]")
        call = f"    called_{self.name}({', '.join(given)})"
        lines = [f"@proc\ndef {self.name}({', '.join(parameters)}):", *head, call, *tail]
        return "\n".join(lines) + "\n\n"

    def claimed(self):
        """The body as a procedure of its own, with plain arrays."""
        def plain(a):
            kind = a.type.update(is_window=False) if a.type.is_tensor_or_window() else a.type
            return a.update(mem=DRAM, type=kind)
        args = [plain(a) for a in self.ir.args]
        return Procedure(self.ir.update(name=f"{self.name}_claimed", instr=None, args=args))

    def check(self):
        """C that runs both on the same data."""
        text, own, claimed = "", [], []
        for name, element, length, _ in self.arrays():
            c, count = TYPES[element], length or "1"
            value = f"({c})small()" if element.startswith("f") else f"({c})next()"
            text += f"    {c} {name}[2][{count}];\n    for (int i = 0; i < {count}; i++) {name}[0][i] = {name}[1][i] = {value};\n"
            own.append(f"{name}[0]")
            claimed.append(f"{name}[1]")
        every = [str(self.number) if not a.type.is_numeric() else f"{a.name}[1]" for a in self.ir.args]
        same = " || ".join(f"memcmp({name}[0], {name}[1], sizeof {name}[0])" for name, *_ in self.arrays())
        text += f"    {self.name}(0, {', '.join(own)});\n    {self.name}_claimed(0, {', '.join(every)});\n"
        return f'static int check_{self.name}(void) {{\n{text}    return {same};\n}}\n'


MOVES = """
@instr("__builtin_memcpy(&{{dst_data}}, &{{src_data}}, sizeof {{dst_data}});")
def load_{name}(dst: [{element}][{length}] @ {memory}, src: [{element}][{length}] @ DRAM):
    for i in seq(0, {length}):
        dst[i] = src[i]

@instr("__builtin_memcpy(&{{dst_data}}, &{{src_data}}, sizeof {{src_data}});")
def store_{name}(dst: [{element}][{length}] @ DRAM, src: [{element}][{length}] @ {memory}):
    for i in seq(0, {length}):
        dst[i] = src[i]
"""


def procedures(entries, folder):
    """The procedures that call the instructions."""
    memories = {}
    body = "".join(entry.python(memories) for entry in entries)
    head = "from __future__ import annotations\nfrom exo import DRAM, instr, proc\n"
    for whose, module in {(e.whose, e.module.__name__) for e in entries}:
        head += f"import {module} as {whose}\n"
    for e in entries:
        head += f"called_{e.name} = {e.whose}.{e.ir.name}\n"
    for memory in sorted({memory for memory, _, _ in memories}):
        whose, name = memory.split("_", 1)
        head += f"{memory} = {whose}.{name}\n"
    for memory, element, length in sorted(memories):
        head += MOVES.format(name=f"{memory}_{element}_{length}", memory=memory, element=element, length=length)
    with open(os.path.join(folder, "calls.py"), "w") as file:
        file.write(head + "\n" + body)
    sys.path.insert(0, folder)
    sys.modules.pop("calls", None)
    importlib.invalidate_caches()
    calls = importlib.import_module("calls")
    return [getattr(calls, entry.name) for entry in entries]


def run(entries):
    """The entries that do something else than they say; what the compiler says where it refuses them."""
    folder = tempfile.mkdtemp()
    procs = procedures(entries, folder) + [entry.claimed() for entry in entries]
    text, header = compile_procs_to_strings(procs, "made.h")
    checks = "".join(entry.check() for entry in entries)
    calls = "".join(
        f'    for (int i = 0; i < 100; i++) if (check_{e.name}()) {{ puts("{e.name}"); break; }}\n' for e in entries
    )
    main = f"{HARNESS}{checks}int main(void) {{\n{calls}    return bad;\n}}\n"
    for name, content in [("made.h", header), ("made.c", text), ("main.c", main)]:
        with open(os.path.join(folder, name), "w") as file:
            file.write(content)
    command = [CC, "-O1", "-w", "-fwrapv", *FLAGS, "-o", "program", "made.c", "main.c"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        return None, done.stderr
    done = subprocess.run([*RUNNER, "./program"], cwd=folder, capture_output=True, text=True, check=True)
    return set(done.stdout.split()), ""


def wrong(entries):
    """The names of the entries that are wrong, with why."""
    found, message = run(entries)
    if found is not None:
        return {name: "does something else" for name in found}
    if len(entries) == 1:
        first = next((line for line in message.splitlines() if "error" in line), message)
        return {entries[0].name: f"does not compile: {first}"}
    middle = len(entries) // 2
    return wrong(entries[:middle]) | wrong(entries[middle:])


def entries(whose, module):
    module = importlib.import_module(module)
    for procedure in vars(module).values():
        if isinstance(procedure, Procedure) and procedure.is_instr():
            first = Entry(whose, module, procedure, NUMBERS[0])
            yield first
            if first.has_number():
                yield from (Entry(whose, module, procedure, n) for n in NUMBERS[1:])


if __name__ == "__main__":
    ours = list(entries("ours", f"autoir_{ISA}"))
    theirs = list(entries("theirs", sys.argv[6])) if len(sys.argv) > 6 else []
    good = len(ours) > 0
    for whose, all_of_them, expected in [("ours", ours, []), ("theirs", theirs, sys.argv[7:])]:
        bad = wrong(all_of_them) if all_of_them else {}
        for name, why in sorted(bad.items()):
            print(f"{name}: {why}")
        print(f"{whose}: {len(all_of_them) - len(bad)} of {len(all_of_them)} do what they say")
        good = good and {name.removeprefix("theirs_") for name in bad} == set(expected)
    sys.exit(0 if good else 1)
