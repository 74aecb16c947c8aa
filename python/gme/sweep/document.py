"""Grid files in TOML or YAML as plain data, with the line of every key for error messages."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import GmeError, cut, shorten, unknown
from ..storage.files import read_whole
from ..storage.yaml import load_yaml
from ..version import install_hint

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_TABLE = re.compile(r"^\s*\[\[?\s*([A-Za-z0-9_-]+)\s*\]\]?")
_KEY = re.compile(r"""^\s*["']?([A-Za-z0-9_-]+)["']?\s*=""")

_MOST_BYTES = 1 << 20

_SEE_FORMAT = "see docs/guides/sweep.md for the format"

Place = tuple[str, int, str]
"""(table, its number from 0, key). For example, ("", 0, key) is a key at the top, and ("strategy", 1, "") is the second
[[strategy]] itself."""


@dataclass(frozen=True)
class Document:
    """The content of a grid file, and the lines of its keys.

    Attributes:
        lines: place -> line from 1, as far as it is known.
    """

    path: Path
    data: dict[str, Any]
    lines: Mapping[Place, int] = field(repr=False)

    def where(self, table: str = "", number: int = 0, key: str = "") -> str:
        """The beginning of a message, such as ``grid.toml:12: strategy 2: mix``."""
        line = self.lines.get((table, number, key)) or self.lines.get((table, number, ""))
        names = [f"{table} {number + 1}" if isinstance(self.data.get(table), list) else table, key]
        return ": ".join([f"{self.path}:{line}" if line else str(self.path), *(cut(name) for name in names if name)])

    def tables(self, name: str) -> list[dict[str, Any]]:
        """The tables ``[[name]]``, in order."""
        tables = self.data.get(name, [])
        if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
            raise GmeError(
                f"{self.where(key=name)} must be a list of tables, found {shorten(tables)}",
                f"in TOML each begins with [[{name}]]",
            )
        return tables

    def table(self, name: str) -> dict[str, Any]:
        """The table ``[name]``. Empty if there is none."""
        table = self.data.get(name, {})
        if not isinstance(table, dict):
            raise GmeError(f"{self.where(key=name)} must be one table, found {shorten(table)}", f"write [{name}]")
        return table

    def check_keys(self, given: Mapping[str, Any], known: tuple[str, ...], table: str = "", number: int = 0) -> None:
        """Refuse an unknown key, and suggest the closest known one."""
        for key in given:
            if key not in known:
                error = unknown("key", str(key), known)
                raise GmeError(f"{self.where(table, number, str(key))}: {error.message}", error.hint)


def read_document(path: Path) -> Document:
    """Read a grid file. Its ending says whether it is TOML or YAML.

    Raises:
        GmeError: no such file, another ending, a syntax error (with its line), or YAML without the pyyaml package.
    """
    readers = {".toml": _read_toml, ".yaml": _read_yaml, ".yml": _read_yaml}
    if path.suffix.lower() not in readers:
        raise GmeError(f"{path}: a grid file ends in .toml, .yaml or .yml", _SEE_FORMAT)
    if not path.is_file():
        raise GmeError(f"{path} is missing", "give a grid file; examples/ has some")
    try:
        text = read_whole(path, _MOST_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise GmeError(f"{path}: not UTF-8: {error.reason} at byte {error.start}", "save the file as UTF-8") from error
    data, lines = readers[path.suffix.lower()](path, text)
    if not isinstance(data, dict):
        raise GmeError(f"{path}: expected keys and values, found {shorten(data)}", _SEE_FORMAT)
    return Document(path, data, lines)


def _read_toml(path: Path, text: str) -> tuple[Any, dict[Place, int]]:
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also raised for integers of thousands of digits, deep nesting
        raise GmeError(f"{path}: not valid TOML: {cut(str(error))}", f"strings need quotes; {_SEE_FORMAT}") from error
    # The parser gives no lines, so they are searched here. Messages about keys in nested or inline tables name no line.
    lines: dict[Place, int] = {}
    table, number, seen = "", 0, {"": 0}
    for count, line in enumerate(text.splitlines(), start=1):
        if header := _TABLE.match(line):
            table = header[1]
            number = seen[table] = seen.get(table, -1) + 1
            lines[table, number, ""] = lines.setdefault(("", 0, table), count) if number == 0 else count
        elif key := _KEY.match(line):
            lines.setdefault((table, number, key[1]), count)
    return data, lines


def _read_yaml(path: Path, text: str) -> tuple[Any, dict[Place, int]]:
    try:
        import yaml
    except ImportError:
        raise GmeError(f"{path}: YAML needs the pyyaml package", f"{install_hint('readers')}, or write TOML") from None
    try:
        data, root = load_yaml(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise GmeError(f"{path}{line}: not valid YAML: {cut(problem)}", _SEE_FORMAT) from error
    lines: dict[Place, int] = {}
    for key, value in root.value if isinstance(root, yaml.MappingNode) else []:
        lines["", 0, key.value] = key.start_mark.line + 1
        tables = value.value if isinstance(value, yaml.SequenceNode) else [value]
        for number, entry in enumerate(tables):
            lines[key.value, number, ""] = entry.start_mark.line + 1
            for inner, _ in entry.value if isinstance(entry, yaml.MappingNode) else []:
                lines[key.value, number, inner.value] = inner.start_mark.line + 1
    return data, lines
