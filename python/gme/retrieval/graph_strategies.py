"""Strategies that walk the graph for every question: ceiling and cost that graph-free retrieval is measured against."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .. import _core
from ..errors import GmeError
from ..stores.exact import vector_set
from ..stores.store import NO_ROW, Rows, best, contained
from ..types import Vectors
from .lexical import WordEvidence, nearest_with_words, similarity_and_words
from .options import PagerankOptions, SpreadOptions, WalkOptions
from .schedule import Schedule
from .search import Search, only, union

ENTITY = "entity"
"""The node type `pagerank` takes for entities; nodes of every other type count as chunks."""

SPREAD_SCORE = "activation; 0 where it does not reach, by similarity to the question"
PAGERANK_SCORE = "PageRank mass times similarity to the question; 0 where no walk leads, by similarity"

_TINY = np.finfo(np.float64).tiny


def run_spread(search: Search, options: SpreadOptions, schedule: Schedule | None = None) -> None:
    """Activation spreads from the top seeds (NG): by activation, then similarity to the question, then id.

    Seeds are the nearest of the nodes that may be returned, with their cosines; one that is not positive starts
    nothing. Activation passes through all nodes. Those it does not reach follow by similarity to the question with
    score 0, so that the budget is filled; without any edge the ranking is `plain`'s. With `titles`, nodes that the
    question names are seeds too, even if they may not be returned. With `lexical`, relevance takes the cosines' place
    in the choice and the strengths of seeds and in the order of what is not reached.
    """
    near, relevance, _ = _nearest(search, options, max(options.budget, options.seeds))
    seeds, strengths = _with_named(search, options, near[:, : options.seeds], relevance[:, : options.seeds])
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
    returned. Nodes with neither mass nor positive similarity follow by similarity with score 0. With `titles`, walks
    start from the nodes that the question names too. With `lexical`, relevance chooses and weighs the starts.
    """
    near, relevance, evidence = _nearest(search, options, max(options.budget, options.starts))
    starts, similarity = _with_named(search, options, *_starts(search, options, near, relevance, evidence))
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


def _nearest(search: Search, options: WalkOptions, depth: int) -> tuple[Rows, Vectors, WordEvidence | None]:
    """The most relevant nodes that may be returned, their relevance, and what words add to that of any node."""
    if options.lexical:
        return nearest_with_words(search, depth, options.lexical_weight)
    return *search.top(search.original, search.queries, depth), None


def _with_named(search: Search, options: WalkOptions, rows: Rows, relevance: Vectors) -> tuple[Rows, Vectors]:
    """The starts of each question, and before them the nodes that it names, as relevant as the most relevant start.

    There are as many starts as before, or as many as a question names if those are more. With titles ``only``, a
    question that names any node starts from no other.
    """
    named = search.named
    if options.ignore_titles or named is None or not named.shape[1] or not rows.shape[1]:
        return np.ascontiguousarray(rows), np.ascontiguousarray(relevance)
    top = np.broadcast_to(relevance.max(axis=1, keepdims=True), named.shape)
    # A question without any start, because no node may be returned, has none to be as relevant as.
    named = np.where(np.isfinite(top), named, np.uint32(NO_ROW))
    left_out = contained(rows, named, len(search.original.vectors))
    if options.titles == "only":
        left_out = left_out | (named != NO_ROW).any(axis=1, keepdims=True)
    others = np.where(left_out, np.uint32(NO_ROW), rows)
    found = np.concatenate([named, others], axis=1)
    scores = np.where(found == NO_ROW, np.float32(-np.inf), np.concatenate([top, relevance], axis=1))
    width = max(rows.shape[1], named.shape[1])
    rows, relevance = best(found, scores, search.original.ranks, width)
    return np.ascontiguousarray(rows), np.ascontiguousarray(relevance)


def _starts(
    search: Search, options: PagerankOptions, near: Rows, relevance: Vectors, evidence: WordEvidence | None
) -> tuple[Rows, Vectors]:
    """The nodes walks start from and their relevance: one search for each kind of node, none if `near` has them."""
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
            starts = search.original.search(search.queries, min(options.starts, count), None, mask)
            found.append(starts if evidence is None else _lifted_by_words(search, starts[0], evidence, mask))
    if not found:
        return near[:, :0].copy(), relevance[:, :0].copy()
    rows, similarity = (np.ascontiguousarray(np.concatenate(parts, axis=1)) for parts in zip(*found, strict=True))
    return rows, similarity


def _lifted_by_words(
    search: Search, rows: Rows, evidence: WordEvidence, mask: npt.NDArray[np.bool_]
) -> tuple[Rows, Vectors]:
    """As many nodes of one kind as before, by relevance; what words lift may enter."""
    pool = union([rows, only(evidence.rows, mask)], search.original.ranks)
    return best(pool, similarity_and_words(search, pool, evidence), search.original.ranks, rows.shape[1])


def _take(search: Search, stage: str, rows: Rows, scores: Vectors, near: Rows) -> None:
    """Return what the graph gave, then with score 0 the nearest nodes it did not give, as many as were asked for."""
    width = rows.shape[1]
    found = contained(near, rows, len(search.original.vectors))
    rows = np.concatenate([rows, np.where(found, np.uint32(NO_ROW), near)], axis=1)
    scores = np.concatenate([scores, np.zeros(near.shape, dtype=np.float32)], axis=1)
    order = np.argsort(rows == NO_ROW, axis=1, kind="stable")[:, :width]
    rows, scores = np.take_along_axis(rows, order, axis=1), np.take_along_axis(scores, order, axis=1)
    search.take(stage, rows, np.where(rows == NO_ROW, np.float32(-np.inf), scores))
