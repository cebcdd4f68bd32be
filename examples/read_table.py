#!/usr/bin/env python3
"""Loads the instruction tables that `isaforge build` writes.

    python3 examples/read_table.py DIR/tables

checks that instructions.json keeps to its schema (with the PyPI package jsonschema, where that is
installed), that instructions.csv has the same instructions, and prints what they are.
"""

import csv
import json
import sys
from collections import Counter
from pathlib import Path


def load(folder: Path) -> dict:
    """The table, checked as far as this machine can."""
    table = json.loads((folder / "instructions.json").read_text(encoding="utf-8"))
    schema = json.loads((folder / "instructions.schema.json").read_text(encoding="utf-8"))
    if table["format"] != schema["properties"]["format"]["const"]:
        sys.exit(f"the format {table['format']!r} is not known here")
    try:
        import jsonschema
    except ImportError:
        print("schema: not checked, the package jsonschema is not installed")
        return table
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    for error in validator.iter_errors(table):
        sys.exit(f"{error.json_path}: {error.message}")
    print("schema: kept to")
    return table


def rows(folder: Path) -> list[dict]:
    """The lines of the CSV table; those before its header say what made it."""
    with (folder / "instructions.csv").open(encoding="utf-8", newline="") as file:
        lines = (line for line in file if not line.startswith("# "))
        return list(csv.DictReader(lines))


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("usage: read_table.py DIR/tables")
    folder = Path(sys.argv[1])
    table = load(folder)
    instructions = table["instructions"]
    if [i["name"] for i in instructions] != [r["name"] for r in rows(folder)]:
        sys.exit("instructions.csv has other instructions than instructions.json")
    print(f"{len(instructions)} instructions, {len(table['operations'])} operations")
    for isa, count in Counter(i["isa"] for i in instructions).items():
        print(f"  {isa}: {count}")
    shared = {}
    for i in instructions:
        shared.setdefault(i["class"], set()).add(i["isa"])
    both = sorted(name for name, isas in shared.items() if len(isas) > 1)
    print(f"operations on several instruction sets: {', '.join(both) or 'none'}")


if __name__ == "__main__":
    main()
