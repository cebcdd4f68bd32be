"""Puts the program into the package.

It is the file that $ISAFORGE_BINARY names, else what cargo builds from the workspace around this
folder. A wheel holds one program, so it is for one platform and for every Python 3 there.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py
from setuptools.errors import SetupError

ROOT = Path(__file__).resolve().parent.parent.parent
NAME = "isaforge.exe" if os.name == "nt" else "isaforge"


def program():
    """The path of the program."""
    named = os.environ.get("ISAFORGE_BINARY")
    if named:
        if not Path(named).is_file():
            raise SetupError(f"$ISAFORGE_BINARY names {named}, which is no file")
        return Path(named)
    cargo = shutil.which("cargo")
    if not cargo or not (ROOT / "Cargo.toml").is_file():
        raise SetupError("to build the program, cargo and the whole source tree are needed; or install a wheel, "
                         "which `cargo xtask wheel` makes, or name a program in $ISAFORGE_BINARY")
    subprocess.run([cargo, "build", "--release", "--package", "cli", "--bin", "isaforge"], cwd=ROOT, check=True)
    told = subprocess.run([cargo, "metadata", "--format-version", "1", "--no-deps"], cwd=ROOT, check=True, capture_output=True)
    return Path(json.loads(told.stdout)["target_directory"]) / "release" / NAME


class BuildWithProgram(build_py):
    """Adds the program to what is built."""

    def run(self):
        super().run()
        # Whoever works on the package takes the program from the PATH.
        if self.editable_mode:
            return
        to = Path(self.build_lib) / "isaforge" / "bin" / NAME
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(program(), to)
        to.chmod(0o755)
        # Symbols are four fifths of it.
        if shutil.which("strip"):
            subprocess.run(["strip", str(to)], check=False)


class WheelForPlatform(bdist_wheel):
    """A wheel for this platform and every Python 3."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


setup(cmdclass={"build_py": BuildWithProgram, "bdist_wheel": WheelForPlatform})
