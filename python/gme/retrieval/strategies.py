"""The retrieval strategies, one registry for all: the command line's choices, help and tests derive from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias, get_type_hints

import numpy as np

from ..command_line import flag
from ..options import Options
from ..registry import Registry, Rules
from ..stores.store import NO_ROW, Rows
from .envelope import ENVELOPE_SCORE, run_envelope
from .graph_strategies import PAGERANK_SCORE, SPREAD_SCORE, run_pagerank, run_spread
from .lexical import BM25_SCORE, HYBRID_SCORE, run_bm25, run_hybrid
from .options import (
    BlendOptions,
    Bm25Options,
    EnvelopeOptions,
    HybridOptions,
    PagerankOptions,
    PlainOptions,
    SplitOptions,
    SpreadOptions,
    StagedOptions,
)
from .schedule import Schedule, parse_schedule
from .search import Search, blend, mean
from .stages import SIMILARITY, STAGE_SCORES, run_schedule

CHUNK = "chunk"
"""The type of nodes that are evidence: a reader can cite them."""


StrategyFunction: TypeAlias = Callable[[Search, Any, Schedule | None], None]


@dataclass(frozen=True)
class Strategy:
    """One way to spend the budget: all there is to say about it, for retrieval, the command line and sweeps.

    Attributes:
        run: called with (search, options, schedule); leaves the results in the search. The schedule is None for a
            strategy without stages.
        options: its option class, with a ``budget``. help: one line.
        scores: what the scores of each of its stages are, for people, by the labels that it gives to `Search.take`.
            Scores of different stages can't be compared. A label without a description is shown as it is.
        needs_modified: whether it looks at a modified collection (a custom schedule may not).
        compares_question: whether it compares the question itself with modified vectors, which needs equal dims.
        schedule: the default stages of a staged strategy.
        needs_graph: whether it walks the graph at query time.
        returns: the node type it returns when none is asked for and the corpus has it; empty: all types.
        prefers: the transform whose collection it takes when none is named and there are several; empty: none.
        needs_texts: whether it searches the words of texts; one with an option ``lexical`` does as that says.
    """

    run: StrategyFunction
    options: type[Options]
    help: str
    scores: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    needs_modified: bool = True
    compares_question: bool = False
    schedule: Schedule | None = None
    needs_graph: bool = False
    returns: str = ""
    prefers: str = ""
    needs_texts: bool = False


def run_plain(search: Search, options: PlainOptions, schedule: Schedule | None = None) -> None:
    """The nearest to the question by original vectors."""
    search.take("original", *search.top(search.original, search.queries, options.budget))


def run_modified(search: Search, options: PlainOptions, schedule: Schedule | None = None) -> None:
    """The nearest to the question by modified vectors."""
    search.take("modified", *search.top(search.modified, search.queries, options.budget))


def run_split(search: Search, options: SplitOptions, schedule: Schedule | None = None) -> None:
    """Two rankings take turns; a space skips what the other has given already, so the budget is always filled."""
    rankings = [search.top(store, search.queries, options.budget) for store in (search.original, search.modified)]
    count = min(options.budget, rankings[0][0].shape[1])
    turns = split_turns(count, options.modified_share)
    rows = np.full((len(search.queries), count), NO_ROW, dtype=np.uint32)
    scores = np.full(rows.shape, -np.inf, dtype=np.float32)
    for question in range(len(rows)):
        _take_turns(turns, [(r[question], s[question]) for r, s in rankings], rows[question], scores[question])
    for column, turn in enumerate(turns):
        search.take(("original", "modified")[turn], rows[:, column : column + 1], scores[:, column : column + 1])


def split_turns(count: int, modified_share: float) -> list[int]:
    """Whose turn each place is, 0 original or 1 modified: the space furthest behind its share, original at a tie.

    At .5 that is strict alternation. The share counts as the decimal it is written as, so ties are exact.
    """
    share = Fraction(str(modified_share))
    turns: list[int] = []
    for place in range(count):
        behind_modified = share * (place + 1) - sum(turns)
        behind_original = (1 - share) * (place + 1) - (place - sum(turns))
        turns.append(int(behind_modified > behind_original))
    return turns


def _take_turns(turns: list[int], rankings: list[tuple[Rows, Any]], rows: Rows, scores: Any) -> None:
    taken: set[int] = {NO_ROW}
    next_place = [0, 0]
    for place, turn in enumerate(turns):
        candidates, similarities = rankings[turn]
        while next_place[turn] < len(candidates) and int(candidates[next_place[turn]]) in taken:
            next_place[turn] += 1
        if next_place[turn] < len(candidates):
            rows[place] = candidates[next_place[turn]]
            scores[place] = similarities[next_place[turn]]
            taken.add(int(rows[place]))


def run_rerank(search: Search, options: BlendOptions, schedule: Schedule | None = None) -> None:
    """A pool by the question, ranked again with the mean z of its first half budget as guide (GME: rerank)."""
    pool, relevance = search.top(search.original, search.queries, options.pool_depth * options.budget)
    target = mean(search.modified.vectors, pool[:, : max(1, options.budget // 2)])
    guidance = search.modified.cosines(target, pool)
    search.take_best("rerank", pool, blend(relevance, guidance, options.mix), options.budget)


def register_strategy(name: str, entry: Strategy, *, replace: bool = False) -> None:
    """Add a strategy for as long as this process runs; see `Registry.register`.

    Example:
        >>> import gme
        >>> from gme.retrieval.options import PlainOptions
        >>> def run(search, options, schedule):
        ...     search.take("original", *search.top(search.original, search.queries, options.budget))
        >>> nearest = gme.Strategy(
        ...     run, PlainOptions, "nearest to the question", scores={"original": "similarity"}, needs_modified=False
        ... )
        >>> gme.register_strategy("nearest", nearest)
        >>> gme.STRATEGIES.unregister("nearest")
    """
    STRATEGIES.register(name, entry, replace=replace)


def _check(entry: Strategy, own: Mapping[str, Strategy]) -> str:
    """A strategy needs a budget; options of one name are one option of the command line, so of one type."""
    types = get_type_hints(entry.options)
    if types.get("budget") is not int:
        return "a strategy must have an option --budget, a whole number: how many nodes to return"
    for name in entry.options.__dataclass_fields__:
        known = [get_type_hints(other.options)[name] for other in own.values() if hasattr(other.options, name)]
        if known and types[name] not in known:
            return f"its option --{flag(name)} is declared with another type than that of gme's own strategies"
    return ""


_OWN: dict[str, Strategy] = {
    "plain": Strategy(
        run_plain,
        PlainOptions,
        "nearest to the question by original vectors",
        scores={"original": SIMILARITY},
        needs_modified=False,
    ),
    "modified": Strategy(
        run_modified,
        PlainOptions,
        "nearest to the question by modified vectors",
        scores={"modified": STAGE_SCORES["modified"]},
        compares_question=True,
    ),
    "split": Strategy(
        run_split,
        SplitOptions,
        "original and modified rankings take turns",
        scores={"original": SIMILARITY, "modified": STAGE_SCORES["modified"]},
        compares_question=True,
    ),
    "rerank": Strategy(
        run_rerank,
        BlendOptions,
        "nearest by original vectors, ranked again with modified ones",
        scores={"rerank": "blend of similarity to the question and to the first results' modified vectors"},
    ),
    "fused": Strategy(
        run_schedule,
        StagedOptions,
        "seeds, then the best by similarity to the question and to the seeds",
        scores=STAGE_SCORES,
        schedule=parse_schedule("original:20,fused:20"),
    ),
    "requery": Strategy(
        run_schedule,
        StagedOptions,
        "fused, then a question shifted towards the results",
        scores=STAGE_SCORES,
        schedule=parse_schedule("original:16,fused:12,shifted:12"),
    ),
    "chained": Strategy(
        run_schedule,
        StagedOptions,
        "few seeds, fused, then two shifted questions",
        scores=STAGE_SCORES,
        schedule=parse_schedule("original:6,fused:6,shifted:14,shifted:14"),
    ),
    "bm25": Strategy(
        run_bm25,
        Bm25Options,
        "by shared words and pairs of words (BM25); no vectors",
        scores={"bm25": BM25_SCORE},
        needs_modified=False,
        needs_texts=True,
    ),
    "hybrid": Strategy(
        run_hybrid,
        HybridOptions,
        "by original vectors and shared words together",
        scores={"hybrid": HYBRID_SCORE},
        needs_modified=False,
        needs_texts=True,
    ),
    "envelope": Strategy(
        run_envelope,
        EnvelopeOptions,
        "top hits lift chunks that are near them in the graph",
        scores={"pinned": SIMILARITY, "envelope": ENVELOPE_SCORE},
        returns=CHUNK,
        prefers="signature",
    ),
    "spread": Strategy(
        run_spread,
        SpreadOptions,
        "activation spreads from the top hits; needs the graph at query time",
        scores={"spread": SPREAD_SCORE},
        needs_modified=False,
        needs_graph=True,
    ),
    "pagerank": Strategy(
        run_pagerank,
        PagerankOptions,
        "personalized PageRank times similarity; needs the graph at query time",
        scores={"pagerank": PAGERANK_SCORE},
        needs_modified=False,
        needs_graph=True,
    ),
}

STRATEGIES: Registry[Strategy] = Registry(
    "strategy",
    "gme.strategies",
    Strategy,
    _OWN,
    rules=Rules(
        options=(
            *("allowed", "build_threads", "collection", "edge_types", "entities", "exact", "format", "graph", "ids"),
            *("index", "json", "latency", "model", "modified", "name", "named", "original", "precision", "progress"),
            *("queries", "question", "questions", "quiet", "setting", "strategy", "texts", "threads", "trec", "types"),
            "workspace",
        ),
        function="run",
        check=_check,
    ),
    about=lambda entry: entry.help,
)
"""All strategies by name: this package's, then those of other packages."""
