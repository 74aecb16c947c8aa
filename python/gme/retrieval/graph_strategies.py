"""Strategies that walk the graph for every question: ceiling and cost that graph-free retrieval is measured against."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .. import _core
from ..errors import GmeError
from ..stores.exact import vector_set
from ..stores.store import NO_ROW, Rows, contained
from ..types import Vectors
from .options import PagerankOptions, SpreadOptions
from .schedule import Schedule
from .search import Search

ENTITY = "entity"
"""The node type `pagerank` takes for entities; nodes of every other type count as chunks."""

SPREAD_SCORE = "activation; 0 where it does not reach, by similarity to the question"
PAGERANK_SCORE = "PageRank mass times similarity to the question; 0 where no walk leads, by similarity"

_TINY = np.finfo(np.float64).tiny


def run_spread(search: Search, options: SpreadOptions, schedule: Schedule | None = None) -> None:
    """Activation spreads from the top seeds (NG): by activation, then similarity to the question, then id.

    Seeds are the nearest of the nodes that may be returned, with their cosines; one that is not positive starts
    nothing. Activation passes through all nodes. Those it does not reach follow by similarity to the question with
    score 0, so that the budget is filled; without any edge the ranking is `plain`'s.
    """
    near, similarity = search.top(search.original, search.queries, max(options.budget, options.seeds))
    seeds, strengths = near[:, : options.seeds], similarity[:, : options.seeds]
    rows, scores = _core.spread(
        search.links,
        vector_set(search.original, search.threads),
        search.queries,
        np.ascontiguousarray(seeds),
        np.ascontiguousarray(strengths),
        search.capped(options.budget),
        decay=options.decay,
        hops=options.hops,
        gated=options.gate == "cosine",
        allowed=search.allowed,
        threads=search.threads,
    )
    _take(search, "spread", rows, scores, near)


def run_pagerank(search: Search, options: PagerankOptions, schedule: Schedule | None = None) -> None:
    """Personalized PageRank mass times similarity to the question (RT; HippoRAG works alike).

    Walks start from softmax(cos(q, x)/τ) over the nearest entities, chunks or both, whether or not those may be
    returned. Nodes with neither mass nor positive similarity follow by similarity with score 0.
    """
    near, relevance = search.top(search.original, search.queries, max(options.budget, options.starts))
    starts, similarity = _starts(search, options, near, relevance)
    rows, scores = _core.pagerank(
        search.links,
        vector_set(search.original, search.threads),
        search.queries,
        starts,
        softmax(similarity, options.temperature).astype(np.float32),
        search.capped(options.budget),
        restart=options.restart,
        tolerance=options.tolerance,
        weighted=True,
        allowed=search.allowed,
        threads=search.threads,
    )
    _take(search, "pagerank", rows, scores, near)


def softmax(similarity: Vectors, temperature: float) -> npt.NDArray[np.float64]:
    """exp(cos/τ) scaled to sum 1 for each question, in float64; 0 where there is no node (-inf)."""
    present = np.isfinite(similarity)
    cosines = np.where(present, similarity, -np.inf).astype(np.float64)
    largest = np.where(present.any(axis=1), cosines.max(axis=1, initial=-np.inf), 0.0)[:, None]
    strengths = np.exp((cosines - largest) / temperature)
    weights: npt.NDArray[np.float64] = strengths / np.maximum(strengths.sum(axis=1, keepdims=True), _TINY)
    return weights


def _starts(search: Search, options: PagerankOptions, near: Rows, relevance: Vectors) -> tuple[Rows, Vectors]:
    """The nodes walks start from and their cosines: one search for each kind of node, none if `near` has them."""
    count = len(search.original.vectors)
    entities = np.zeros(count, dtype=bool) if search.entities is None else search.entities
    there_are = bool(entities.any())
    if options.start == "entities" and not there_are:
        raise GmeError("pagerank cannot start from entities: there are none", f"nodes of type {ENTITY!r} are entities")
    kind = ("entities" if there_are else "chunks") if options.start == "auto" else options.start
    found = []
    for mask in {"entities": [entities], "chunks": [~entities], "both": [entities, ~entities]}[kind]:
        if mask.all() and search.allowed is None:
            found.append((near[:, : options.starts], relevance[:, : options.starts]))
        elif mask.any():
            search.calls += 1
            found.append(search.original.search(search.queries, min(options.starts, count), None, mask))
    if not found:
        return near[:, :0].copy(), relevance[:, :0].copy()
    rows, similarity = (np.ascontiguousarray(np.concatenate(parts, axis=1)) for parts in zip(*found, strict=True))
    return rows, similarity


def _take(search: Search, stage: str, rows: Rows, scores: Vectors, near: Rows) -> None:
    """Return what the graph gave, then with score 0 the nearest nodes it did not give, as many as were asked for."""
    width = rows.shape[1]
    found = contained(near, rows, len(search.original.vectors))
    rows = np.concatenate([rows, np.where(found, np.uint32(NO_ROW), near)], axis=1)
    scores = np.concatenate([scores, np.zeros(near.shape, dtype=np.float32)], axis=1)
    order = np.argsort(rows == NO_ROW, axis=1, kind="stable")[:, :width]
    rows, scores = np.take_along_axis(rows, order, axis=1), np.take_along_axis(scores, order, axis=1)
    search.take(stage, rows, np.where(rows == NO_ROW, np.float32(-np.inf), scores))
