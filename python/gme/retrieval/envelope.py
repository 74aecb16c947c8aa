"""The `envelope` strategy (ours): few weighted seeds in graph-signature space, then one long fused stage."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .. import _core
from ..stores import NO_ROW, Rows, Store
from ..types import Vectors
from .options import AUTO, EnvelopeOptions
from .search import Search, blend, mean, union

Floats = npt.NDArray[np.float64]

APART_SEARCHES = 4
"""With the neighbourhoods apart, so many of the first seeds are searched from; all seeds score the pool. One search by
the question and four by seeds keep within five calls, as many as `chained` takes."""

LOW_MIX, HIGH_MIX, MIX_RISE, MIX_CENTRE, MIX_WIDTH = 0.1, 0.6, 0.5, 0.5, 0.2


def envelope(search: Search, options: EnvelopeOptions) -> None:
    """Seeds weighted by softmax(cos(q, x)/τ); then the best by (1 − mix)·cos(q, x) + mix·guidance.

    Guidance is cos(m, z) with m = Σ w_k z_k over the seeds, or with the neighbourhoods apart
    max_k v_k·cos(z_k, z) with v_k = exp((cos(q, x_k) − best)/τ). Relevance always uses original vectors. The first
    `pinned` hits are returned first; all other nodes, unpinned seeds too, compete by blended score.
    """
    depth = max(options.pool_depth * options.budget, options.seeds)
    near_question, relevance = search.top(search.original, search.queries, depth)
    seeds, likeness = near_question[:, : options.seeds], relevance[:, : options.seeds]
    pinned = min(options.pins, near_question.shape[1])
    search.take("pinned", near_question[:, :pinned], relevance[:, :pinned])
    strengths = _strengths(likeness, options.temperature)
    weights = strengths / np.maximum(strengths.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
    mix = _mix(search.guide, seeds, weights) if options.mix == AUTO else float(options.mix)
    guided = _apart if options.neighbourhoods == "apart" else _together
    pool, guidance = guided(search, near_question[:, pinned:], seeds, strengths, weights, depth)
    scores = blend(search.original.cosines(search.queries, pool), guidance, mix)
    search.take_best("envelope", pool, scores, options.budget - pinned)


def _strengths(likeness: Vectors, temperature: float) -> Floats:
    """exp((cos − best)/τ) per seed: softmax before normalising; 0 where there is no seed."""
    present = np.isfinite(likeness)
    cosines = np.where(present, likeness, 0.0).astype(np.float64)
    return np.where(present, np.exp((cosines - cosines[:, :1]) / temperature), 0.0)


def _together(
    search: Search, near: Rows, seeds: Rows, strengths: Floats, weights: Floats, depth: int
) -> tuple[Rows, Vectors]:
    """Pool and guidance by one mean envelope: one search call."""
    target = mean(search.guide.vectors, seeds, weights)
    near_target, _ = search.top(search.guide, target, depth)
    pool = union([near, near_target], search.original.ranks)
    return pool, search.guide.cosines(target, pool)


def _apart(
    search: Search, near: Rows, seeds: Rows, strengths: Floats, weights: Floats, depth: int
) -> tuple[Rows, Vectors]:
    """Pool and guidance with each seed's neighbourhood by itself: up to `APART_SEARCHES` search calls."""
    targets = [_gather(search.guide, seeds[:, k]) for k in range(seeds.shape[1])]
    found = [search.top(search.guide, target, depth)[0] for target in targets[:APART_SEARCHES]]
    pool = union([near, *found], search.original.ranks)
    guidance = np.full(pool.shape, -np.inf, dtype=np.float32)
    for k, target in enumerate(targets):
        near_seed = search.guide.cosines(target, pool).astype(np.float64)
        weighted = np.where(pool == NO_ROW, -np.inf, strengths[:, k : k + 1] * np.where(pool == NO_ROW, 0, near_seed))
        guidance = np.maximum(guidance, weighted.astype(np.float32))
    return pool, guidance


def _gather(store: Store, rows: Rows) -> Vectors:
    """The vectors of one row a question; zero where there is none."""
    vectors = store.vectors[np.where(rows == NO_ROW, 0, rows)]
    return np.where((rows == NO_ROW)[:, None], np.float32(0), vectors)


def concentration(store: Store, seeds: Rows, weights: Floats) -> Floats:
    """‖Σ_k w_k ŝ_k‖ of the seeds' unit vectors: 1 when their neighbourhoods coincide, towards 0 when they scatter.

    Args:
        seeds: uint32 (questions, seeds). weights: float64 of the same shape, summing to 1 per question.
    """
    rows = np.where(seeds == NO_ROW, 0, seeds)
    norms = store.norms[rows].astype(np.float64)
    scales = np.divide(weights, norms, out=np.zeros_like(norms), where=(norms > 0) & (seeds != NO_ROW))
    total = np.zeros((len(seeds), store.vectors.shape[1]), dtype=np.float64)
    for k in range(seeds.shape[1]):
        total += store.vectors[rows[:, k]] * scales[:, k : k + 1]
    length: Floats = _core.row_norms(total.astype(np.float32)).astype(np.float64)
    return length


def _mix(store: Store, seeds: Rows, weights: Floats) -> Floats:
    """The mix of each question from its seeds' concentration C: clip(.1 + .5·(C − .5)/.2, .1, .6)."""
    rise = LOW_MIX + MIX_RISE * (concentration(store, seeds, weights) - MIX_CENTRE) / MIX_WIDTH
    mix: Floats = np.clip(rise, LOW_MIX, HIGH_MIX)
    return mix
