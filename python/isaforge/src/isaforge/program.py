"""The program that the package brings, and the command `isaforge`, which runs it."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import NoReturn

_NAME = "isaforge.exe" if os.name == "nt" else "isaforge"


def path() -> str:
    """The program: the one that $ISAFORGE names, else the package's own, else one on the PATH.

    Raises FileNotFoundError when there is none.
    """
    named = os.environ.get("ISAFORGE")
    if named:
        return named
    own = Path(__file__).with_name("bin") / _NAME
    if own.is_file():
        return str(own)
    # The command of this package is called so too, and is not the program.
    command = Path(sysconfig.get_path("scripts")).resolve()
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        found = Path(folder) / _NAME
        if folder and found.is_file() and found.resolve().parent != command:
            return str(found)
    raise FileNotFoundError("this package has no program in it, and none is on the PATH: install a wheel, "
                            "or name a program in $ISAFORGE")


def main() -> NoReturn:
    """Runs the program with the arguments of this process."""
    try:
        words = [path(), *sys.argv[1:]]
    except FileNotFoundError as error:
        sys.exit(f"isaforge: {error}")
    if os.name == "nt":
        sys.exit(subprocess.run(words).returncode)
    os.execv(words[0], words)
