"""Answering a batch of questions with a strategy: checks, blocks of questions, one result."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from .._core import Graph
from ..command_line import flag
from ..errors import GmeError
from ..lexical.index import LexicalIndex
from ..options import Options, former_names, make, renamed
from ..stores.checks import kind_of
from ..stores.exact import ExactStore
from ..stores.store import NO_ROW, Rows, Store, sorted_ranks
from ..types import Progress, Vectors
from .checks import ORDER, as_queries, as_rows, check_comparable, check_graph, check_inputs, check_list, check_results
from .options import StagedOptions
from .result import Retrieved
from .schedule import Schedule
from .search import Search
from .strategies import STRATEGIES, Strategy

QUESTION_BLOCK = 1024
"""Questions per pass: bounds the memory of candidate pools; each question's result does not depend on it."""


def retrieve(
    strategy: str,
    original: Store | Vectors,
    modified: Store | Vectors | None,
    queries: Vectors,
    *,
    ids: Sequence[str] | None = None,
    allowed: npt.NDArray[np.bool_] | None = None,
    graph: Graph | None = None,
    entities: npt.NDArray[np.bool_] | None = None,
    named: Rows | None = None,
    texts: LexicalIndex | Sequence[str] | None = None,
    questions: Sequence[str] | None = None,
    threads: int = 0,
    progress: Progress | None = None,
    **options: Any,
) -> Retrieved:
    """Answer a batch of questions with a strategy.

    Args:
        strategy: a key of `STRATEGIES`.
        original: float32 (nodes, dim) or a store: the vectors relevance is measured by.
        modified: float32 (nodes, any dim) or a store: the vectors that guide; the original ones again as a control.
            May be None for strategies that use none.
        queries: float32 (questions, dim).
        ids: node ids, for breaking ties (smaller id first) when arrays are given; default: smaller row first.
        allowed: bool (nodes,): the only nodes that may be returned; default: all. Others still guide `envelope`.
        graph: for the strategies that need it at query time (`Strategy.needs_graph`), over the same nodes.
        entities: bool (nodes,): which nodes are entities, for `pagerank`; default: none.
        named: uint32 (questions, any): the nodes that each question names, `NO_ROW` elsewhere, for `envelope` and
            for walks with ``titles``: `gme.match_titles` finds them by their titles; default: none.
        texts: of the nodes, or their index (`gme.LexicalIndex.build` with the same ids), for strategies that search
            words: `bm25`, `hybrid`, `envelope` unless ``lexical=False``, `spread` and `pagerank` with ``lexical=True``.
        questions: the texts of the questions.
        progress: called with (questions done, all questions).
        options: the strategy's options, e.g. ``budget=40, mix=0.5``.

    Raises:
        GmeError: unknown strategy or option, a value out of range, dimensions or row counts that do not fit.

    Example:
        >>> import gme, numpy as np
        >>> original = np.array([[1, 0], [0.8, 0.6], [0, 1]], dtype=np.float32)
        >>> queries = np.array([[1, 0.1]], dtype=np.float32)
        >>> gme.retrieve("plain", original, None, queries, budget=2).rows.tolist()
        [[0, 1]]
    """
    return answer(
        strategy,
        strategy_options(strategy, options),
        original,
        modified,
        queries,
        ids=ids,
        allowed=allowed,
        graph=graph,
        entities=entities,
        named=named,
        texts=texts,
        questions=questions,
        threads=threads,
        progress=progress,
    )


def answer(
    strategy: str,
    settings: Options,
    original: Store | Vectors,
    modified: Store | Vectors | None,
    queries: Vectors,
    *,
    ids: Sequence[str] | None = None,
    allowed: npt.NDArray[np.bool_] | None = None,
    graph: Graph | None = None,
    entities: npt.NDArray[np.bool_] | None = None,
    named: Rows | None = None,
    texts: LexicalIndex | Sequence[str] | None = None,
    questions: Sequence[str] | None = None,
    threads: int = 0,
    progress: Progress | None = None,
) -> Retrieved:
    """`retrieve` with options that are checked already, as `strategy_options` gives them."""
    entry = find_strategy(strategy)
    ranks = as_ranks(ids) if ids is not None else graph.ranks if entry.needs_graph and graph is not None else None
    first = as_store(original, "original", ranks, threads)
    second = None if modified is None else as_store(modified, "modified", ranks, threads)
    schedule = settings.stages(cast(Schedule, entry.schedule)) if isinstance(settings, StagedOptions) else None
    queries = as_queries(queries)
    check_inputs(strategy, first, second, queries, allowed, needs=needs_modified(strategy, settings))
    if second is not None and compares_question(strategy, settings):
        check_comparable(strategy, first, second)
    if entry.needs_graph:
        check_graph(strategy, graph, first, entities)

    if named is not None:
        named = as_rows(named, len(queries), first.ranks)
    words = None
    if searches_words(strategy, settings, texts is not None and questions is not None):
        words = as_index(strategy, texts, questions, queries, first, threads)
    started = time.perf_counter()
    width = min(settings.as_dict()["budget"], len(first.vectors))
    searches = []
    for start in range(0, max(len(queries), 1), QUESTION_BLOCK):
        block = slice(start, start + QUESTION_BLOCK)
        names = None if named is None else named[block]
        asked = None if questions is None else questions[block]
        search = Search(first, second, queries[block], allowed, graph, entities, threads, names, words, asked)
        if len(first.vectors):  # among no nodes there is nothing to search
            with STRATEGIES.blaming(strategy):
                entry.run(search, settings, schedule)
            if strategy not in STRATEGIES.own:
                check_results(STRATEGIES.described(strategy), search, start)
        searches.append(search)
        if progress is not None:
            progress(min(start + QUESTION_BLOCK, len(queries)), len(queries))
    # Another package's strategy may return more columns for one block of questions than for another.
    widest = max(searches, key=lambda search: len(search.stages))
    return Retrieved(
        np.concatenate([_as_wide(search.rows, width, NO_ROW) for search in searches]),
        np.concatenate([_as_wide(search.scores, width, -np.inf) for search in searches]),
        tuple(widest.stages[:width]),
        searches[0].calls,
        schedule,
        time.perf_counter() - started,
    )


def find_strategy(name: str) -> Strategy:
    """The strategy of that name, or a `GmeError` with the closest match."""
    if not isinstance(name, str):
        raise GmeError(f"the strategy must be a name, found {kind_of(name)}", ORDER)
    return STRATEGIES.find(name)


def strategy_options(strategy: str, given: Mapping[str, Any]) -> Options:
    """A strategy's checked options from keyword arguments.

    Raises:
        GmeError: an option that is unknown, or another strategy's; a value out of range.
    """
    kind = find_strategy(strategy).options
    given = renamed(kind, given)
    for name, owners in others_options(strategy, given).items():
        raise GmeError(f"{strategy} has no option --{flag(name)}", f"it belongs to {', '.join(owners)}")
    return make(kind, given, strategy)


def others_options(strategy: str, given: Iterable[str]) -> dict[str, list[str]]:
    """The given options that other strategies have but not this one, and which have them."""
    own = _option_names(find_strategy(strategy))
    owners = {
        name: [other for other, entry in STRATEGIES.items() if name in _option_names(entry)]
        for name in given
        if name not in own
    }
    return {name: strategies for name, strategies in owners.items() if strategies}


def _option_names(entry: Strategy) -> set[str]:
    """The options that a strategy takes, under present and former names."""
    return {*entry.options.__dataclass_fields__, *former_names(entry.options)}


def needs_modified(strategy: str, options: Options) -> bool:
    """Whether a strategy with these options looks at a modified collection; a custom schedule may not."""
    entry = find_strategy(strategy)
    if isinstance(options, StagedOptions):
        return options.stages(cast(Schedule, entry.schedule)).needs_modified
    return entry.needs_modified


def searches_words(strategy: str, options: Options, at_hand: bool) -> bool:
    """Whether a strategy with these options searches the words of texts.

    Args:
        at_hand: whether there are texts. An option ``lexical`` that is None is on where there are.
    """
    lexical = getattr(options, "lexical", False)
    return find_strategy(strategy).needs_texts or (at_hand if lexical is None else bool(lexical))


def as_index(
    strategy: str,
    texts: LexicalIndex | Sequence[str] | None,
    questions: Sequence[str] | None,
    queries: Vectors,
    original: Store,
    threads: int,
) -> LexicalIndex:
    """The index of the nodes' texts, checked against the nodes and questions; made here where texts are given."""
    if texts is None or questions is None:
        missing = "the nodes' texts" if texts is None else "the questions' texts"
        raise GmeError(f"{strategy} searches words and needs {missing}", "pass texts=texts, questions=questions")
    check_list(questions, "questions")
    if len(questions) != len(queries):
        raise GmeError(f"there are {len(questions)} questions for {len(queries)} vectors", "one text a question")
    if not isinstance(texts, LexicalIndex):
        check_list(texts, "texts")
        if len(texts) != len(original.vectors):
            raise GmeError(f"there are {len(texts)} texts for {len(original.vectors)} vectors", "one text a node")
        return LexicalIndex.of_ranks(texts, original.ranks, threads=threads)
    if not np.array_equal(texts.ranks, original.ranks):
        raise GmeError(
            "the indexed texts are not those of the vectors, or in another order", "use the same ids for both"
        )
    return texts


def compares_question(strategy: str, options: Options) -> bool:
    """Whether a strategy with these options compares questions themselves with the modified vectors."""
    entry = find_strategy(strategy)
    if isinstance(options, StagedOptions):
        return options.stages(cast(Schedule, entry.schedule)).compares_question
    return entry.compares_question


def as_ranks(ids: Sequence[str]) -> Rows:
    """`sorted_ranks` of ids that are checked first."""
    check_list(ids, "ids")
    if not all(isinstance(each, str) for each in ids):
        raise GmeError("ids must be texts", "convert with [str(each) for each in ids]")
    return sorted_ranks(ids)


def as_store(source: Store | Vectors, role: str, ranks: Rows | None, threads: int) -> Store:
    """A store as it is, or an exact one over vectors."""
    if not isinstance(source, np.ndarray):
        if hasattr(source, "search") and hasattr(source, "vectors"):
            return source
        convert = "numpy.asarray(vectors, dtype='float32')"
        hint = f"convert with {convert}" if isinstance(source, (list, tuple)) else ORDER
        raise GmeError(f"the {role} vectors must be a float32 array (nodes, dim), found {kind_of(source)}", hint)
    if source.ndim != 2 or source.dtype != np.float32 or not source.flags.c_contiguous:
        order = "" if source.flags.c_contiguous else " in another order"
        raise GmeError(
            f"expected float32 vectors (nodes, dim) in C order, found {source.dtype} of shape {source.shape}{order}",
            "convert with numpy.ascontiguousarray(vectors, dtype='float32')",
        )
    if ranks is not None and len(ranks) != len(source):
        raise GmeError(f"there are {len(ranks)} ids for {len(source)} {role} vectors", ORDER)
    ranks = np.arange(len(source), dtype=np.uint32) if ranks is None else ranks
    return ExactStore(source, ranks, threads, name=role)


def _as_wide(array: Any, width: int, fill: float) -> Any:
    """The array with as many columns; what is cut off holds no node, for a line gets each at most once."""
    if array.shape[1] == width:
        return array
    wide = np.full((len(array), width), fill, dtype=array.dtype)
    wide[:, : array.shape[1]] = array[:, :width]
    return wide
