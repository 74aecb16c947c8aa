"""The slow, obvious twin of the compiled reader: one line at a time, by the rules of `gme.workspace.records`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gme.errors import GmeError
from gme.storage.files import read_jsonl
from gme.workspace.records import check_edge, check_node


def read_nodes(path: Path) -> tuple[list[str], list[str], list[str], list[str | None]]:
    """Ids, types, texts and titles."""
    records: list[dict[str, Any]] = []
    first_line: dict[str, int] = {}
    for number, record in read_jsonl(path):
        check_node(record, f"{path}:{number}", first_line, number)
        records.append(record)
    if not records:
        raise GmeError(f"{path} holds no nodes")
    ids, types, texts = ([record[key] for record in records] for key in ("id", "type", "text"))
    return ids, types, texts, [record.get("title") for record in records]


def read_edges(path: Path, ids: list[str]) -> list[tuple[int, int, float, str]]:
    """Source row, target row, weight and type of each edge."""
    rows = {node_id: row for row, node_id in enumerate(ids)}
    edges = []
    for number, record in read_jsonl(path):
        weight = check_edge(record, rows, f"{path}:{number}")
        edges.append((rows[record["source"]], rows[record["target"]], weight, record["type"]))
    return edges
