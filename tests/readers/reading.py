"""What the tests of the readers share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

SAMPLES = Path(__file__).resolve().parent.parent / "samples"

STRANGE = [
    "with space",
    'quo"te',
    "a/b\\c",
    "x:y",
    "🐄🧬",
    "שלום \u202eمرحبا\u202c",
    "comma, tab\tsemi;",
    "line\nbreak",
    "cr\r\nlf",
    "nul\x00inside",
    "\ufeffbom",
    "inner \ufeff bom",
    "{}[]",
    "#1",
    "'",
    "Café",
    "Cafe\u0301",
]
"""Ids and texts that a careless reader or writer changes."""


def lines(path: Path) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in path.read_bytes().splitlines()] if path.exists() else []


def workspace_lines(folder: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[dict[str, Any]]]:
    """Nodes, edges and questions of a workspace, as they were written."""
    return tuple(lines(folder / f"{name}.jsonl") for name in ("nodes", "edges", "questions"))  # type: ignore[return-value]
