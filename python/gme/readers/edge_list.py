"""Edge lists in CSV, TSV, Parquet or JSON lines. The nodes are in another table, or follow from the edges."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import GmeError, shorten
from ..options import Options, option
from .protocol import ReadContext, Record, Where, identifier, with_extra
from .tables import choose, columns, rows, table_kind

# Column names that need no option, best first. They are compared in lower case.
_ENDS = [
    ("source", "target"),
    ("from", "to"),
    ("src", "dst"),
    ("head", "tail"),
    ("subject", "object"),
    (":start_id", ":end_id"),
    ("source_id", "target_id"),
]
_TYPES = ("type", "relation", "predicate", ":type", "edge_type")
_WEIGHTS = ("weight",)


@dataclass(frozen=True)
class EdgeListOptions(Options):
    """Options of `edges`."""

    nodes: str = option("", "a table of nodes (.csv, .tsv, .parquet, .jsonl) with id, text and, if it has, title, type")
    source_column: str = option("", "column of the edge's source [default: source, from, src, head, subject]")
    target_column: str = option("", "column of the edge's target [default: target, to, dst, tail, object]")
    type_column: str = option("", "column of the edge's type [default: type, relation, predicate, if there]")
    weight_column: str = option("", "column of the edge's weight [default: weight, if there]")
    edge_type: str = option("link", "type of edges that name none")
    no_header: bool = option(False, "the first line is an edge: columns are source, target, type or weight, weight")
    delimiter: str = option("", "between fields [default: tab or comma by the file's ending, else by its first line]")
    id_column: str = option("id", "column of the node's id, in the node table")
    text_column: str = option("text", "column of the node's text")
    title_column: str = option("title", "column of the node's title, if there")
    node_type_column: str = option("type", "column of the node's type, if there")
    node_type: str = option("chunk", "type of nodes that name none")
    skip_unknown: bool = option(False, "leave out edges whose ends are not in the node table, instead of stopping")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.delimiter in ("\\t", "tab"):
            object.__setattr__(self, "delimiter", "\t")
        if len(self.delimiter) > 1:
            raise GmeError(f"--delimiter is {shorten(self.delimiter)}, but must be one character", "for a tab say: tab")


@dataclass(frozen=True)
class _Columns:
    source: str
    target: str
    type: str | None
    weight: str | None


def read_edges(paths: list[Path], options: EdgeListOptions, context: ReadContext) -> Iterator[Record]:
    """Yield the nodes of the node table, then the edges. Without a table, each id in an edge becomes a node."""
    table = Path(options.nodes) if options.nodes else None
    context.expect([*([table] if table else []), *paths])
    known: set[str] = set()
    if table is not None:
        for where, row in _node_rows(table, options, context):
            node = _node(row, options, where)
            known.add(node["id"])
            yield Record("nodes", node, where)
    for path in paths:
        names = _edge_columns(path, options)
        header = _header(path, options)
        for where, row in rows(path, context, delimiter=options.delimiter, header=header):
            edge = _edge(row, names, options, where)
            unknown = [edge[end] for end in ("source", "target") if edge[end] not in known]
            if table is not None and unknown:
                case = f"{where}: node {shorten(unknown[0])} is not in {table}"
                if not options.skip_unknown:
                    raise GmeError(case, "add it there, or leave such edges out with --skip-unknown")
                context.add_warning("edges left out", case, "add the nodes to have them")
                continue
            for node_id in dict.fromkeys(unknown):
                known.add(node_id)
                yield Record("nodes", {"id": node_id, "type": options.node_type, "text": node_id}, where)
            yield Record("edges", edge, where)


def _node_rows(table: Path, options: EdgeListOptions, context: ReadContext) -> Iterator[tuple[Where, dict[str, Any]]]:
    names = columns(table)
    choose(table, names, options.id_column, "id")
    if options.text_column != "text":
        choose(table, names, options.text_column, "text")
    yield from rows(table, context)


def _node(row: dict[str, Any], options: EdgeListOptions, where: Where) -> dict[str, Any]:
    """A node. Without a text column the title is the text, and without a title the id."""
    node_id = identifier(row.get(options.id_column), options.id_column, where)
    title = _optional(row, options.title_column, where)
    text = _optional(row, options.text_column, where) if options.text_column in row else title or node_id
    kind = _optional(row, options.node_type_column, where) or options.node_type
    node: dict[str, Any] = {"id": node_id, "type": kind, "text": text or ""}
    if title:
        node["title"] = title
    used = {options.id_column, options.text_column, options.title_column, options.node_type_column}
    return with_extra(node, {key: value for key, value in row.items() if key not in used})


def _optional(row: dict[str, Any], column: str, where: Where) -> str | None:
    value = row.get(column)
    if value is None or isinstance(value, str):
        return value
    raise GmeError(f"{where}: {column!r} must be a string, found {shorten(value)}")


def _header(path: Path, options: EdgeListOptions) -> list[str] | None:
    """Column names for a file without a header line. If the third of three columns holds a number, it is the weight."""
    if not options.no_header or table_kind(path) != "text":
        return None
    first = columns(path, delimiter=options.delimiter)
    names = ["source", "target", "weight" if len(first) == 3 and _number(first[2]) is not None else "type", "weight"]
    return [*names, *(f"column {number}" for number in range(5, len(first) + 1))][: max(len(first), 2)]


def _edge_columns(path: Path, options: EdgeListOptions) -> _Columns:
    names = _header(path, options) or columns(path, delimiter=options.delimiter)
    folded = {name.strip().lower(): name for name in reversed(names)}
    source, target = next(
        ((folded[first], folded[second]) for first, second in _ENDS if first in folded and second in folded),
        (None, None),
    )
    source = choose(path, names, options.source_column, "source") if options.source_column else source
    target = choose(path, names, options.target_column, "target") if options.target_column else target
    if source is None or target is None:
        raise GmeError(
            f"{path}:1: no columns for source and target among {shorten(names)}",
            "name them with --source-column and --target-column, or say --no-header",
        )
    kind = next((folded[name] for name in _TYPES if name in folded), None)
    weight = next((folded[name] for name in _WEIGHTS if name in folded), None)
    return _Columns(
        source,
        target,
        choose(path, names, options.type_column, "type") if options.type_column else kind,
        choose(path, names, options.weight_column, "weight") if options.weight_column else weight,
    )


def _edge(row: dict[str, Any], names: _Columns, options: EdgeListOptions, where: Where) -> dict[str, Any]:
    kind = row.get(names.type) if names.type else None
    edge: dict[str, Any] = {
        "source": identifier(row.get(names.source), names.source, where),
        "target": identifier(row.get(names.target), names.target, where),
        "type": identifier(kind, names.type or "type", where) if kind not in (None, "") else options.edge_type,
    }
    given = row.get(names.weight) if names.weight else None
    if given not in (None, ""):
        weight = _number(given)
        if weight is None or weight <= 0:
            raise GmeError(f"{where}: {names.weight!r} must be a positive number, found {shorten(given)}")
        edge["weight"] = weight
    used = {names.source, names.target, names.type, names.weight}
    return with_extra(edge, {key: value for key, value in row.items() if key not in used})


def _number(value: object) -> float | None:
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None
