"""The tables that `isaforge build` writes, as Python objects.

    table = isaforge.tables.read("DIR/tables")
    table.instructions["x86", "_mm_adds_epu8"]["formula"]
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterator

__all__ = ["Table", "read"]


@dataclass(frozen=True)
class Table:
    """Operations by name, and instructions by instruction set and name, as instructions.json has them."""

    about: list[str]
    operations: dict[str, dict[str, Any]]
    instructions: dict[tuple[str, str], dict[str, Any]]

    def of(self, operation: str) -> Iterator[dict[str, Any]]:
        """The instructions that are an operation."""
        return (i for i in self.instructions.values() if i["class"] == operation)


def read(folder: str | Path) -> Table:
    """The tables of a folder.

    Raises ValueError for a format that this version does not know.
    """
    folder = Path(folder)
    table = json.loads((folder / "instructions.json").read_text(encoding="utf-8"))
    schema = json.loads((folder / "instructions.schema.json").read_text(encoding="utf-8"))
    if table["format"] != schema["properties"]["format"]["const"]:
        raise ValueError(f"the format {table['format']!r} is not known here")
    return Table(
        about=list(table.get("about", [])),
        operations={o["name"]: o for o in table["operations"]},
        instructions={(i["isa"], i["name"]): i for i in table["instructions"]},
    )
