"""The envelope for a server: arrays or stores in, ranked rows out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import GmeError, unknown
from ..lexical.index import LexicalIndex
from ..stores.checks import kind_of, numbers
from ..stores.store import NO_ROW, Rows, Store
from ..types import Vectors
from .batch import as_ranks, as_store, retrieve
from .checks import check_list
from .options import BUDGET
from .strategies import STRATEGIES
from .title_matching import TitleMatcher


def envelope(
    queries: Vectors,
    original: Store | Vectors,
    modified: Store | Vectors,
    *,
    budget: int = BUDGET,
    ids: Sequence[str] | None = None,
    types: Sequence[str] | None = None,
    returns: str | Sequence[str] = (),
    allowed: npt.NDArray[np.bool_] | None = None,
    titles: TitleMatcher | Sequence[str | None] | None = None,
    questions: str | Sequence[str] | None = None,
    texts: LexicalIndex | Sequence[str] | None = None,
    threads: int = 0,
    **options: Any,
) -> tuple[Rows, Vectors]:
    """Answer one question or a batch as ``gme retrieve envelope`` does: the nodes to read, the best first.

    A server that answers many questions makes stores, `TitleMatcher` and `allowed` once: from arrays, titles and types
    they are made anew in each call, which takes a pass over all nodes.

    Args:
        queries: float32 (dim,) for one question, or (questions, dim).
        original: float32 (nodes, dim) or a store: what the model made of the nodes' texts.
        modified: float32 (nodes, any dim) or a store: the collection that guides, as ``gme transform signature`` makes.
        budget: how many nodes to return.
        ids: node ids, for breaking ties (smaller id first) when arrays are given; default: smaller row first.
        types: of each node. Chunks are returned where there are any; all nodes guide. Default: all are returned.
        returns: the types to return instead, one or several.
        allowed: bool (nodes,): the only nodes that may be returned; in place of `types`.
        titles: of each node, or a `TitleMatcher` over them. What a question names joins its top hits.
        questions: the text of the question, or the texts; with `titles` or `texts`.
        texts: of the nodes, or a `LexicalIndex` of them, whose words are searched as well.
        threads: 0 means all cores; any number gives the same bytes.
        options: options of `envelope`, e.g. ``lift=2.0``; ``gme retrieve --help`` has all.

    Returns:
        Rows, uint32, and scores, float32. For one question only what was found; for a batch (questions, budget), where
        lines that found fewer end in `gme.stores.NO_ROW` with score -inf.

    Raises:
        GmeError: a value out of range; arrays, texts and titles that do not fit each other.

    Example:
        >>> import gme, numpy as np
        >>> ids, texts = ["acme", "ada", "lund"], ["Acme was founded by Ada.", "Ada studied in Lund.", "A city."]
        >>> original = np.eye(3, 4, dtype=np.float32)  # in earnest: gme.make_embedder("local").embed(texts)
        >>> graph = gme.build_graph(ids, [("acme", "ada"), ("ada", "lund")])
        >>> signature = gme.transform("signature", graph, dim=16).vectors
        >>> stores = gme.ExactStore(original), gme.ExactStore(signature)
        >>> titles = gme.TitleMatcher(["Acme", "Ada", "Lund"])
        >>> question, query = "Who founded Acme?", np.array([1, 0, 0, 0.2], dtype=np.float32)
        >>> rows, scores = gme.envelope(query, *stores, budget=2, titles=titles, questions=question)
        >>> [ids[row] for row in rows]
        ['acme', 'ada']
    """
    array = numbers(queries)
    if array is None:
        raise GmeError(f"queries must be numbers, (dim,) or (questions, dim), found {kind_of(queries)}", "embed them")
    queries = array
    single = queries.ndim == 1
    if single:
        queries = queries[None]
        questions = [questions] if isinstance(questions, str) else questions
    if isinstance(questions, str):
        raise GmeError("questions is one text, but queries is a batch", "pass a list of texts, one a query")
    ranks = None if ids is None else as_ranks(ids)
    first = as_store(original, "original", ranks, threads)
    if queries.ndim == 2 and queries.shape[1] != first.vectors.shape[1]:
        raise GmeError(
            f"the questions have {queries.shape[1]} dimensions, the original vectors {first.vectors.shape[1]}", _ORDER
        )
    second = as_store(modified, "modified", ranks, threads)
    if allowed is None:
        allowed = _allowed(types, returns, len(first.vectors))
    elif types is not None or len(returns):
        raise GmeError("allowed says which nodes may be returned, and so do types and returns", "give one of the two")
    if texts is not None and options.get("lexical") is False:
        raise GmeError("texts are given, but lexical=False searches no words", "leave one of the two out")
    if texts is not None and questions is None:
        raise GmeError("texts without questions: there is nothing to look for", "pass questions as well")
    # Without titles, questions are only for the words.
    asked = None if titles is None and (texts is not None or options.get("lexical")) else questions
    named = _named(titles, asked, queries, first, threads)
    found = retrieve(
        "envelope",
        first,
        second,
        queries,
        allowed=allowed,
        named=named,
        texts=texts,
        questions=questions,
        threads=threads,
        budget=budget,
        **options,
    )
    if not single:
        return found.rows, found.scores
    present = found.rows[0] != NO_ROW
    return found.rows[0][present], found.scores[0][present]


_ORDER = "the order is envelope(queries, original, modified); one model must have embedded the first two"


def _allowed(types: Sequence[str] | None, returns: str | Sequence[str], nodes: int) -> npt.NDArray[np.bool_] | None:
    """Which nodes may be returned: those of the types asked for, or the strategy's own where there are any."""
    asked = [returns] if isinstance(returns, str) else list(returns)
    if types is None:
        if asked:
            raise GmeError("returns names node types, but types is missing", "pass the type of each node as types")
        return None
    check_list(types, "types")
    if len(types) != nodes:
        raise GmeError(f"there are {len(types)} types for {nodes} nodes", "one type a node")
    known = set(types)
    for name in asked:
        if name not in known:
            raise unknown("node type", name, known)
    wanted = set(asked) or {STRATEGIES["envelope"].returns} & known
    if not wanted or known <= wanted:
        return None
    return np.fromiter((kind in wanted for kind in types), dtype=np.bool_, count=nodes)


def _named(
    titles: TitleMatcher | Sequence[str | None] | None,
    questions: Sequence[str] | None,
    queries: Vectors,
    original: Store,
    threads: int,
) -> Rows | None:
    """The nodes that the questions name."""
    if titles is None and questions is None:
        return None
    if titles is None or questions is None:
        given, missing = ("titles", "questions") if questions is None else ("questions", "titles")
        raise GmeError(f"{given} without {missing}: there is nothing to look for", f"pass {missing} as well")
    if not isinstance(titles, TitleMatcher):
        check_list(titles, "titles")
        titles = TitleMatcher(titles)
    return titles.match(questions, queries, original, threads=threads)
