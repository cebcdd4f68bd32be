"""What LLVM makes of the intrinsics of C: `isa-specs/SET/llvm_members.yaml`.

In: an instruction set, a dictionary (`isaforge build`), clang 19 (`$CLANG`). Out, on standard
output: a line for each intrinsic without constant operands that clang knows and that is
straight-line code in LLVM IR: its name, the type of its result, the types of its operands, and its
statements. Target, features and headers are those of the set's `targets.yaml` and `manifest.yaml`.
Run by hand, with PyYAML, when clang or the instructions change:

    python3 xtask/llvm_rows.py arm OUT/arm.dictionary > isa-specs/arm/llvm_members.yaml
"""

import os
import re
import subprocess
import sys
import tempfile

import yaml

CLANG = os.environ.get("CLANG", "clang-19")
HEAD = """\
# What LLVM calls the intrinsics of C, or how it writes them without an intrinsic of its own, as
# clang {version} lowers them; made by `xtask/llvm_rows.py`. Fields, between bars: the
# intrinsic, the type of its result, the types of its operands (between semicolons), its
# statements (also). Operands are %0, %1, ...; the last statement returns.
rows: |
"""


def members(text, wanted):
    """Name, result, operand types of each intrinsic of a set without constant operands."""
    for block in text.split("\n  (member ")[1:]:
        name, isa, form = block.split("\n", 1)[0].split()[:3]
        if isa != wanted or form == "library":
            continue
        operands = re.findall(r"\(operand (?:\|[^|]*\||\S+) (\|[^|]*\||\S+) \S+ \d+ (\w+)", block)
        if any(role in ("immediate", "rounding", "sae", "scale") for _, role in operands):
            continue
        returns = re.findall(r"\(returns (?:\|[^|]*\||\S+) (\|[^|]*\||\S+) ", block)
        yield name, plain(returns[0]), [plain(ty) for ty, _ in operands]


def plain(ty):
    """A type of C as clang has it."""
    ty = ty.strip("|").replace("__bfloat16", "__bf16")
    for sized, known in (("__int64", "long long"), ("__int32", "int"), ("__int16", "short"), ("__int8", "char")):
        ty = ty.replace(sized, known)
    return ty.replace("constexpr", "").strip()


def lowered(found, headers, flags):
    """The module of wrappers as LLVM IR; those that clang refuses are left out."""
    refused = set()
    while True:
        lines = [f"#include <{header}>" for header in headers]
        where = {}
        for number, (name, result, operands) in enumerate(found):
            if number in refused:
                continue
            typed = ", ".join(f"{ty} x{k}" for k, ty in enumerate(operands))
            call = f"{name}({', '.join(f'x{k}' for k in range(len(operands)))})"
            back = "" if result == "void" else "return "
            lines.append(f"{result} w{number}({typed}) {{ {back}{call}; }}")
            where[len(lines)] = number
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "w.c")
            with open(path, "w") as file:
                file.write("\n".join(lines) + "\n")
            run = subprocess.run(
                [CLANG, *flags, "-O1", "-fno-vectorize", "-fno-slp-vectorize", "-w", "-ferror-limit=0", "-S", "-emit-llvm", "-o", "-", path],
                capture_output=True, text=True)
        wrong = {where[int(n)] for n in re.findall(r"w\.c:(\d+):\d+: error", run.stderr) if int(n) in where}
        if run.returncode == 0:
            return run.stdout
        if not wrong:
            sys.exit(run.stderr)
        refused |= wrong


def settings(folder):
    """The headers of a set, and the flags that give clang all of its features."""
    def read(name):
        with open(os.path.join(folder, name)) as file:
            return yaml.safe_load(file)
    targets, manifest = read("targets.yaml"), read("manifest.yaml")
    features = []
    for feature in targets["features"].values():
        features += feature.get("llvm") or [feature["flag"]]
    flags = [f"--target={targets['llvm']['triple']}", "-ffreestanding", f"-I{folder}"]
    for feature in features:
        flags += ["-Xclang", "-target-feature", "-Xclang", f"+{feature}"]
    # What the macros of headers ask for is the compiler's own flag.
    own = [flag for flag in manifest["c"].get("flags", []) if flag.startswith("-m") and "-march" not in flag]
    return manifest["c"]["headers"], flags + [flag for flag in own if flag != "-mllvm"]


def main():
    isa = sys.argv[1]
    text = open(sys.argv[2]).read()
    here = os.path.dirname(os.path.abspath(__file__))
    headers, flags = settings(os.path.join(here, "..", "isa-specs", isa))
    version = re.search(r"version (\d+)", subprocess.run([CLANG, "--version"], capture_output=True, text=True).stdout)
    found = sorted(set((n, r, tuple(o)) for n, r, o in members(text, isa)))
    module = lowered(found, headers, flags)
    sys.stdout.write(HEAD.format(version=version.group(1)))
    pattern = r"^define [^\n]*?(<[^>]*>|void|i\d+|float|double|half|bfloat|\{[^}]*\}) @w(\d+)\(([^\n]*)\)[^\n]*\{\n(.*?)^\}"
    for result, number, parameters, body in re.findall(pattern, module, re.M | re.S):
        statements = [re.sub(r",? !\w+ !\d+| #\d+", "", line.strip()) for line in body.splitlines()]
        statements = [re.sub(r"\b(tail call|call)\b( \w+)*? (?=<|i\d|void|float|double|half|bfloat|ptr|\{)", "call ", s) for s in statements if s]
        # LLVM 19 has no instruction for these on AArch64, and `llc` ends at them.
        if any("bitcast" in s and "half>" in s and "bfloat>" in s for s in statements):
            continue
        if any(re.match(r"\d+:|br |switch ", s) or "@w" in s for s in statements):
            continue
        types = [re.sub(r" (noundef|nocapture|readonly|writeonly|signext|zeroext|readnone|returned|captures\(none\))", "", p) for p in split(parameters)]
        types = [t.rsplit(" ", 1)[0] for t in types]
        name = found[int(number)][0]
        # What passes structures passes them in ways of its own.
        if not all(re.fullmatch(r"<\d+ x \w+>|\w+|\{[^}\[]*\}", t) for t in [result, *types]):
            continue
        print("  " + "|".join([name, result, ";".join(types), ";".join(statements)]))


def split(parameters):
    """Parameters at commas outside of brackets."""
    parts, depth, part = [], 0, ""
    for letter in parameters:
        depth += letter in "<({"
        depth -= letter in ">)}"
        if letter == "," and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += letter
    return [p for p in [*parts, part.strip()] if p]


main()
