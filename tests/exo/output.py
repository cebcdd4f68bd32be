"""What the scripts beside this one write: a procedure of Exo as C."""

from __future__ import annotations

import os
import re

from exo import compile_procs_to_strings


def written(p, folder):
    """Writes a procedure's C and header into a folder; its C without comments, in which Exo
    repeats each definition."""
    name = p.name()
    text, header = compile_procs_to_strings([p], f"{name}.h")
    for end, made in [("c", text), ("h", header)]:
        with open(os.path.join(folder, f"{name}.{end}"), "w") as file:
            file.write(made)
    return re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
