"""Checks of what a batch of questions is answered from, and of what another package's strategy returns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .._core import Graph
from ..errors import GmeError
from ..stores.checks import kind_of, numbers, rows_fault
from ..stores.store import NO_ROW, Rows, Store
from ..types import Vectors
from .search import Search, union

ORDER = "the order is retrieve(strategy, original, modified, queries, ids=ids)"


def as_queries(queries: Any) -> Vectors:
    """Question vectors as the kernels take them."""
    array = numbers(queries)
    if array is None:
        raise GmeError(f"queries must be an array (questions, dim), found {kind_of(queries)}", ORDER)
    if array.ndim != 2:
        hint = "use question[None]" if array.ndim == 1 else ORDER
        raise GmeError(f"queries must be (questions, dim), found {array.shape}", hint)
    return array


def as_rows(named: Any, questions: int, ranks: Rows) -> Rows:
    """The nodes that questions name, checked, each once."""
    rows, nodes = np.asarray(named), len(ranks)
    if rows.ndim != 2 or rows.dtype.kind not in "iu" or len(rows) != questions:
        raise GmeError(
            f"named must be rows of nodes, ({questions}, any), found {kind_of(rows)}", "make it with gme.match_titles"
        )
    if ((rows < 0) | ((rows >= nodes) & (rows != NO_ROW))).any():
        raise GmeError(f"named holds a row that none of the {nodes} nodes has", "fill places with gme.stores.NO_ROW")
    return union([rows.astype(np.uint32)], ranks)


def check_list(values: object, name: str) -> None:
    """Refuse one text, or nothing that has a length, where one value a node or question is needed."""
    if isinstance(values, (str, bytes)) or not isinstance(values, (Sequence, np.ndarray)):
        raise GmeError(f"{name} must be a list of texts, found {kind_of(values)}", "one text for each")


def check_inputs(
    name: str,
    original: Store,
    modified: Store | None,
    queries: Vectors,
    allowed: npt.NDArray[np.bool_] | None,
    *,
    needs: bool,
) -> None:
    """Refuse inputs that do not belong together. `needs`: whether the strategy needs a modified collection."""
    nodes, dim = original.vectors.shape
    if queries.shape[1] != dim:
        raise GmeError(
            f"the questions have {queries.shape[1]} dimensions, the original vectors {dim}",
            "embed nodes and questions with the same model: gme embed",
        )
    if not np.isfinite(queries).all():
        raise GmeError("the question vectors hold NaN or infinity", "embed the questions again: gme embed")
    if needs and modified is None:
        raise GmeError(f"{name} needs a modified collection", "make one with gme transform")
    if modified is not None and len(modified.vectors) != nodes:
        raise GmeError(f"the modified collection has {len(modified.vectors)} rows, the original one {nodes}", ORDER)
    if len(original.ranks) != nodes:
        raise GmeError(f"the original store has {len(original.ranks)} ranks for {nodes} vectors", "one rank a vector")
    if allowed is not None and (getattr(allowed, "dtype", None) != np.bool_ or allowed.shape != (nodes,)):
        raise GmeError(
            f"allowed must be a bool array ({nodes},), found {kind_of(allowed)}", "True where a node may be returned"
        )


def check_graph(name: str, graph: Graph | None, original: Store, entities: npt.NDArray[np.bool_] | None) -> None:
    """Refuse a graph that is missing or about other nodes, or the same ones in another order."""
    if graph is None:
        raise GmeError(f"{name} needs the graph at query time", "pass graph=gme.build_graph(ids, edges)")
    nodes = len(original.vectors)
    if not isinstance(graph, Graph):
        raise GmeError(
            f"graph must be a gme.Graph, found {kind_of(graph)}", "make one with gme.build_graph(ids, edges)"
        )
    if graph.nodes != nodes:
        raise GmeError(f"the graph has {graph.nodes} nodes, the original vectors {nodes} rows", "one vector a node")
    if not np.array_equal(graph.ranks, original.ranks):
        raise GmeError(
            "the graph's nodes are not those of the vectors, or in another order", "use the same ids for both"
        )
    if entities is not None and (getattr(entities, "dtype", None) != np.bool_ or entities.shape != (nodes,)):
        raise GmeError(
            f"entities must be a bool array ({nodes},), found {kind_of(entities)}", "True where an entity is"
        )


def check_comparable(name: str, original: Store, modified: Store) -> None:
    """Refuse a modified collection whose vectors the question can't be compared with."""
    dim, other = original.vectors.shape[1], modified.vectors.shape[1]
    if dim != other:
        raise GmeError(
            f"{name} compares questions ({dim} dimensions) with a collection of {other}",
            "such a collection can only guide: use it with fused, requery, chained or envelope",
        )


def check_results(strategy: str, search: Search, first: int) -> None:
    """Refuse results that no run can hold. gme's own strategies are tested, so only those of others are checked.

    Args:
        strategy: its name, distribution and version. first: the number of the block's first question, from 0.
    """
    fault = _results_fault(search, first)
    if fault:
        raise GmeError(
            f"{strategy} returned {fault}",
            "it must take distinct nodes once each with search.take(label, rows, scores), rows uint32, scores float32",
        )


def _results_fault(search: Search, first: int) -> str:
    """What is wrong with the results of a block of questions; empty if nothing is."""
    rows, scores, questions = search.rows, search.scores, len(search.queries)
    if not search.taken and questions:
        return f"nothing for question {first + 1}: it called neither search.take nor search.take_best"
    if scores.dtype != np.float32 or scores.shape != rows.shape or len(search.stages) != rows.shape[1]:
        return f"scores {scores.dtype} {scores.shape} for rows {rows.shape}"
    fault, line = rows_fault(rows, questions, len(search.original.vectors))
    if not fault and search.allowed is not None:
        wrong = (rows != NO_ROW) & ~search.allowed[np.where(rows == NO_ROW, 0, rows)]
        fault, line = ("a node that may not be returned", _first(wrong)) if wrong.any() else ("", None)
    if not fault:
        wrong = (rows != NO_ROW) & ~np.isfinite(scores)
        fault, line = ("a score that is no finite number", _first(wrong)) if wrong.any() else ("", None)
    return fault if line is None else f"{fault} for question {first + line + 1}"


def _first(wrong: npt.NDArray[np.bool_]) -> int:
    """The first line with a wrong entry."""
    return int(wrong.any(axis=1).argmax())
