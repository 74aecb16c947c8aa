"""The JSONL files of a workspace: nodes, edges and questions, read whole and checked line by line.

The compiled reader reads nodes and edges. It only accepts or refuses a line. The first refused line is read again here,
to say in words which rule it breaks.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn, TypeGuard, TypeVar

import numpy as np
import numpy.typing as npt

from .. import _core
from .._core import NodeTable
from ..errors import GmeError, RefusedLine, shorten
from ..storage.files import LONGEST_LINE, parse_line, read_jsonl, strip_line
from ..types import Progress

NOT_EVIDENCE = frozenset({"document", "entity"})
"""Node types that use up budget but never count as gold."""

MAX_ID_LENGTH = 1024
_BLOCK = 32 << 20  # bytes read at a time

_QUOTE = "put it in double quotes"

# The graph keeps weights as float32. Weights at or beyond these bounds would become 0 or infinity.
_WEIGHT_ABOVE, _WEIGHT_BELOW = 2.0**-150, 2.0**128 - 2.0**103


@dataclass(frozen=True)
class Nodes:
    """The nodes of a workspace, in file order. Row i of every array of embeddings belongs to node i."""

    ids: list[str]
    types: list[str]
    texts: list[str]
    titles: list[str | None]
    rows: dict[str, int] = field(repr=False)

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def table(self) -> NodeTable:
        """The ids in the form that the compiled code uses."""
        return NodeTable(self.ids)


@dataclass(frozen=True)
class Edges:
    """Edges as parallel arrays over node rows, in file order, with duplicates and self-loops.

    `sources` and `targets` are uint32 rows. `weights` are float64, 1 where the file gives none. `types` are indices
    into `type_names`, one byte each if that is enough.
    """

    sources: npt.NDArray[np.uint32]
    targets: npt.NDArray[np.uint32]
    weights: npt.NDArray[np.float64]
    types: npt.NDArray[np.uint8] | npt.NDArray[np.uint32]
    type_names: list[str]

    def __len__(self) -> int:
        return len(self.sources)

    @property
    def stored_weights(self) -> npt.NDArray[np.float64] | None:
        """The weights; None if `weights` is a single 1 that is broadcast to all edges and takes no memory."""
        if self.weights.strides != (0,):
            return self.weights
        return None if (self.weights[:1] == 1).all() else np.ascontiguousarray(self.weights)


@dataclass(frozen=True)
class Questions:
    """The questions of a workspace, in file order. `gold` holds node ids. Missing fields are "", 0 or {}.

    `relevance` holds grades by node id. It may name nodes that are not gold, and is empty for hand-made questions.
    """

    ids: list[str]
    texts: list[str]
    gold: list[list[str]]
    families: list[str]
    groups: list[str]
    hops: list[int]
    relevance: list[dict[str, int]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.ids)


def read_ids(path: Path, progress: Progress | None = None) -> NodeTable:
    """Read and check `nodes.jsonl` like `read_nodes`, but keep only the ids."""
    table = _read(path, progress, _core.read_ids, _node)
    if not len(table):
        raise _no_nodes(path)
    return table


def read_nodes(path: Path, progress: Progress | None = None) -> Nodes:
    """Read `nodes.jsonl`; `progress` is called with bytes.

    Raises:
        GmeError: a bad line, a missing or duplicate id, no node at all; the message names the line.
    """
    table, types, texts, titles = _read(path, progress, _core.read_nodes, _node)
    if not len(table):
        raise _no_nodes(path)
    ids = table.ids
    nodes = Nodes(ids, types, texts, titles, dict(zip(ids, range(len(ids)), strict=True)))
    vars(nodes)["table"] = table  # fills the cached property
    return nodes


def read_edges(path: Path, nodes: Nodes | NodeTable, progress: Progress | None = None) -> Edges:
    """Read `edges.jsonl` as rows of `nodes`. An empty file is a graph without edges. `progress` is called with bytes.

    Raises:
        GmeError: a bad line, an edge to an unknown node, a weight that is not positive; the message names the line.
    """
    table = nodes if isinstance(nodes, NodeTable) else nodes.table

    def read(path: Path, **given: Any) -> _core._EdgeColumns:
        return _core.read_edges(path, table, **given)

    def check(record: dict[str, Any], where: str, refused: RefusedLine) -> None:
        check_edge(record, table, where)

    sources, targets, weights, types, type_names = _read(path, progress, read, check)
    given = np.broadcast_to(np.float64(1), len(sources)) if weights is None else weights
    return Edges(sources, targets, given, types, type_names)


_Result = TypeVar("_Result")


def _read(
    path: Path,
    progress: Progress | None,
    read: Callable[..., _Result],
    check: Callable[[dict[str, Any], str, RefusedLine], None],
) -> _Result:
    """Read a file with the compiled reader. For the first refused line, raise the error that `check` gives."""
    with path.open("rb"):  # raises Python's own OSError, with the file's name
        pass
    try:
        return read(path, block=_BLOCK, longest=LONGEST_LINE, progress=progress)
    except RefusedLine as refused:
        _explain(path, refused, check)


def _explain(path: Path, refused: RefusedLine, check: Callable[[dict[str, Any], str, RefusedLine], None]) -> NoReturn:
    where = f"{path}:{refused.line}"
    with path.open("rb") as handle:
        handle.seek(refused.offset)
        line = handle.readline(LONGEST_LINE + 2)
    if len(line.removesuffix(b"\n")) > LONGEST_LINE:
        raise GmeError(f"{where}: the line has more than {LONGEST_LINE:,} bytes", "split the text into several nodes")
    check(parse_line(path, refused.line, strip_line(line, refused.line)), where, refused)
    raise GmeError(f"{where} has changed while it was read", "run the command again")


def _no_nodes(path: Path) -> GmeError:
    return GmeError(f"{path} holds no nodes", "write one JSON object a line with id, type and text")


def _node(record: dict[str, Any], where: str, refused: RefusedLine) -> None:
    first = {} if refused.first is None else {record.get("id"): refused.first}
    check_node(record, where, first, refused.line)


def check_node(record: dict[str, Any], where: str, first_line: dict[Any, int], number: int) -> None:
    """Check a line of `nodes.jsonl` by the same rules as `rust/records.rs`, and add its id to `first_line`."""
    _identifier(record, where, first_line, number)
    _string(record, "type", where)
    _string(record, "text", where)
    title = record.get("title")
    if title is not None and not isinstance(title, str):
        raise GmeError(f"{where}: 'title' must be a string, found {shorten(title)}", _QUOTE)


def check_edge(record: dict[str, Any], ids: Container[str], where: str) -> float:
    """Check a line of `edges.jsonl` by the same rules as `rust/records.rs`, and return its weight."""
    for key in ("source", "target"):
        node_id = _string(record, key, where)
        if node_id not in ids:
            raise GmeError(
                f"{where}: edge {key} {shorten(node_id)} is not in nodes.jsonl", "add the node or remove the edge"
            )
    weight = check_weight(record.get("weight", 1.0), where)
    _string(record, "type", where)
    return weight


def read_questions(path: Path, nodes: Nodes | None = None) -> Questions:
    """Read `questions.jsonl`; with `nodes`, check that every gold id exists.

    Raises:
        GmeError: a bad line, a duplicate id, an unknown gold id, or no question at all; the message names the line.
    """
    questions = Questions([], [], [], [], [], [])
    first_line: dict[str, int] = {}
    for number, record in read_jsonl(path):
        where = f"{path}:{number}"
        questions.ids.append(_identifier(record, where, first_line, number))
        questions.texts.append(_string(record, "question", where))
        questions.gold.append(_gold(record, nodes, where))
        questions.families.append(_string(record, "family", where, default=""))
        questions.groups.append(_string(record, "group", where, default=""))
        questions.hops.append(_hops(record.get("hops"), where))
        questions.relevance.append(_relevance(record.get("relevance"), where))
    if not questions.ids:
        raise GmeError(f"{path} holds no questions", "write one JSON object a line with id, question and gold")
    return questions


def _identifier(record: dict[str, Any], where: str, first_line: dict[str, int], number: int) -> str:
    value = _string(record, "id", where)
    if not value:
        raise GmeError(f"{where}: 'id' is empty", "ids are keys: give every line its own")
    if len(value) > MAX_ID_LENGTH:
        raise GmeError(
            f"{where}: 'id' has {len(value)} characters, the limit is {MAX_ID_LENGTH}: {shorten(value)}",
            "ids are keys, repeated in every run: use a short one and keep the long form in another field",
        )
    if value in first_line:
        raise GmeError(
            f"{where}: duplicate id {shorten(value)}, first seen on line {first_line[value]}", "ids must be unique"
        )
    first_line[value] = number
    return value


def _string(record: dict[str, Any], key: str, where: str, default: str | None = None) -> str:
    value = record.get(key, default)
    if value is None:
        raise GmeError(f"{where}: {key!r} is missing", f"found the fields {', '.join(sorted(record)) or 'none'}")
    if not isinstance(value, str):
        raise GmeError(f"{where}: {key!r} must be a string, found {shorten(value)}", _QUOTE)
    return value


def is_weight(value: object) -> TypeGuard[float]:
    """Whether a graph accepts a value as the weight of an edge."""
    return isinstance(value, int | float) and not isinstance(value, bool) and _WEIGHT_ABOVE < value < _WEIGHT_BELOW


def check_weight(value: object, where: object) -> float:
    """Check the weight of an edge, and return it."""
    if is_weight(value):
        return float(value)
    if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
        raise GmeError(
            f"{where}: 'weight' must lie within the range of float32, found {shorten(value)}",
            "only ratios of weights matter: scale them all",
        )
    raise GmeError(
        f"{where}: 'weight' must be a positive number, found {shorten(value)}",
        "leave 'weight' out for 1, and leave out the edges that have no strength",
    )


def _gold(record: dict[str, Any], nodes: Nodes | None, where: str) -> list[str]:
    gold = record.get("gold", [])
    if not isinstance(gold, list) or not all(isinstance(entry, str) for entry in gold):
        raise GmeError(
            f"{where}: 'gold' must be a list of node ids, found {shorten(gold)}", 'for example: "gold": ["a", "b"]'
        )
    distinct = list(dict.fromkeys(gold))
    for entry in distinct:
        if nodes is not None and entry not in nodes.rows:
            raise GmeError(
                f"{where}: gold id {shorten(entry)} is not in nodes.jsonl", "gold lists the ids of evidence nodes"
            )
    return distinct


def _hops(value: object, where: str) -> int:
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise GmeError(
            f"{where}: 'hops' must be a whole number, found {shorten(value)}", "leave 'hops' out where it is not known"
        )
    return value


def _relevance(value: object, where: str) -> dict[str, int]:
    """Check the grades. Grades below 0 are legal: TREC gives them to what is worse than irrelevant. None is gold."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise GmeError(
            f"{where}: 'relevance' must be an object of node ids and grades, found {shorten(value)}",
            'for example: "relevance": {"a": 2, "b": 1}',
        )
    for node_id, grade in value.items():
        # TREC's programs keep grades in 32 bits and wrap larger ones without a warning.
        if isinstance(grade, bool) or not isinstance(grade, int) or abs(grade) >= 2**31:
            raise GmeError(
                f"{where}: 'relevance' of {shorten(node_id)} must be a whole number of 32 bits, found {shorten(grade)}",
                "grades are 1 and above for gold; leave a node out for 1",
            )
    return value
