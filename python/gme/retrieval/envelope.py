"""The `envelope` strategy (ours): a question's top hits lift their neighbors in graph-signature space.

Plain similarity is the score to beat. Every hit that stands out lends some of what it has to the nodes near it in the
graph, near by the cosine of two stored signatures. How much is decided for each question from what the searches return:
how far its hits stand out, how much their neighborhoods agree, and whether text and graph agree around it at all. Where
texts are at hand, words say how similar nodes are, too, and what of the question is left to say.
docs/research/envelope.md tells what else was tried, and what each part is worth.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..stores.store import NO_ROW, Rows, Store, best, contained
from ..types import Vectors
from .lexical import WORD_DEPTH, WordEvidence, similarity_and_words, with_words
from .neighborhood import NEIGHBORHOOD, Floats, at_place, graph_confidence, penalize_redundancy, raised
from .options import AUTO, EnvelopeOptions
from .schedule import Schedule
from .search import Search, blend, mean, only, union

HORIZON = 40
"""Hits stand out against the one at this place (the paper's budget), whatever the budget is."""

JOIN = 1.5
"""Exponent by which seed proximity and neighborhood support are joined: 1 is their sum, a large one the larger of the
two."""

SEED_SEARCHES = 2
"""So many of the first seeds are searched from by themselves, besides the seeds' mean: in large corpora the mean of
five drowns the neighbors of each in noise."""

NAMED_WEIGHT = 2.0
"""A seed that the question names counts as much as two others: its look-alikes, say namesakes, are seeds too."""

MOST_SEARCHES = 5
"""Vector searches a question takes at most; one is the question's own, a second where only some nodes may be
returned. A search by words comes to them where there are texts."""

ENVELOPE_SCORE = "similarity and words shared with the question, lifted by nearness to its top hits; no upper limit"

_TINY = np.finfo(np.float64).tiny


def run_envelope(search: Search, options: EnvelopeOptions, schedule: Schedule | None = None) -> None:
    """Run the rule that `mix` asks for: ``auto`` decides for each question, a number blends with a fixed share.

    Seeds are a question's nearest nodes, whether or not those may be returned: documents and entities guide to chunks.
    A node that the question names is a hit as near as the nearest: so the passage "A" is found for "Who directed A?"
    before all that is said of directing. The first `pinned` hits are returned first; all other nodes, unpinned seeds
    too, compete by score. Where texts are searched, similarity is cos(q, x) and what words add to it, wherever it
    counts (`gme.retrieval.lexical.WordEvidence`).
    """
    lexical = search.texts is not None
    depth = max(options.pool_depth * options.budget, options.seeds)
    if options.mix == AUTO:
        depth = max(depth, NEIGHBORHOOD)
    if lexical:
        depth = max(depth, WORD_DEPTH)
    if options.ignore_titles:
        search.named = None
    hits, hit_scores = search.top(search.original, search.queries, depth, everywhere=True)
    evidence = WordEvidence.find(search, hit_scores, options.lexical_weight) if lexical else None
    if evidence is not None:
        hits, hit_scores = with_words(search, hits, evidence, everywhere=True)
    near, near_scores = hits, hit_scores
    if search.allowed is not None:
        near, near_scores = search.top(search.original, search.queries, depth)
        if evidence is not None:
            near, near_scores = with_words(search, near, evidence)
    likely = None
    if search.named is not None:
        among_hits = contained(search.named, hits[:, :HORIZON], len(search.original.vectors))
        likely = np.where(among_hits, search.named, np.uint32(NO_ROW))
        top = at_place(hit_scores, 1).astype(np.float32)
        near, near_scores = _with_named(search, near, near_scores, top, search.allowed)
        hits, hit_scores = _with_named(search, hits, hit_scores, top)
    pinned = min(options.pins, near.shape[1])
    search.take("pinned", near[:, :pinned], near_scores[:, :pinned])
    rule = _lifted if options.mix == AUTO else _blended
    pool, scores = rule(search, options, near[:, pinned:], Hits(hits, hit_scores, evidence, likely), depth)
    search.take_best("envelope", pool, scores, options.budget - pinned)


@dataclass(frozen=True)
class Hits:
    """The most similar nodes of each question, those that must not be returned too.

    Attributes:
        rows: uint32 (questions, hits), best first. scores: float32 of the same shape, their similarity.
        evidence: what words add to the similarity of any node; None: nothing.
        named: uint32 (questions, any): the nodes that a question names and that are among its first `HORIZON` hits
            without their names, `NO_ROW` elsewhere; None: none. Those beyond are mostly titles that only happen to be
            words of the question.
    """

    rows: Rows
    scores: Vectors
    evidence: WordEvidence | None
    named: Rows | None


def _lifted(search: Search, options: EnvelopeOptions, near: Rows, hits: Hits, depth: int) -> tuple[Rows, Vectors]:
    """similarity + graph_confidence·(join(seed_proximity, neighborhood_support) − redundancy_penalty·gap·redundancy).

    similarity = cos(q, x) of a candidate, and what words add; seed_scores_k that of seed k;
    close_k = max(0, cos(s_k, s)) of seed and candidate by modified vectors; join(a, b) = (a^1.5 + b^1.5)^(2/3).
    gap is what the best hit has above the `HORIZON`-th.
    seed_proximity = max_k close_k^closeness·(seed_scores_k + margin·gap − similarity), at least 0. A candidate at the
    place of a seed is worth what the seed is worth. The margin puts it before hits that are as similar but have no seed
    beside them.
    neighborhood_support = lift·gap·Σ_k share_k·close_k·(1 + rest_weight·rest_k), with Σ_k share_k = 1 and share_k in
    proportion to (what seed k has above the `HORIZON`-th)^sharpness, and twice that if the question names seed k. Seeds
    that stand out lift a candidate that is near several of them. rest_k is the share of the question's words that the
    candidate says and seed k does not (`gme.LexicalIndex.rest`): the neighbors of "A" that know of birth come before
    the others for "Where was the director of A born?".
    redundancy is how many candidates that score higher lie at the same place, as
    `gme.retrieval.neighborhood.penalize_redundancy` counts them.
    Where many hits are equally good, the gap is small and the shares scatter over neighborhoods: little is lifted.
    At last, nodes that the question names come before all others (`_named_first`).
    """
    hit_scores, seeds = hits.scores, hits.rows[:, : options.seeds]
    horizon = at_place(hit_scores, HORIZON)
    # Where there is no seed, it has no share and no neighbors.
    seed_scores = np.where(seeds == NO_ROW, horizon, hit_scores[:, : options.seeds].astype(np.float64))
    shares = np.maximum(seed_scores - horizon, 0.0) ** options.sharpness
    if hits.named is not None:
        shares *= np.where(contained(seeds, hits.named, len(search.original.vectors)), NAMED_WEIGHT, 1.0)
    shares /= np.maximum(shares.sum(axis=1, keepdims=True), _TINY)
    gap = seed_scores[:, :1] - horizon

    targets = _gather(search.modified, seeds)
    middle = _weighted(search.modified, seeds, targets, shares)
    sought = np.concatenate([middle[:, None], targets[:, :SEED_SEARCHES]], axis=1)
    pool = union([near, search.neighbors(search.modified, sought, depth)], search.original.ranks)

    present = pool != NO_ROW
    similarity = np.where(present, _similarity(search, pool, hits), 0.0).astype(np.float64)
    seed_proximity, near_seeds = np.zeros_like(similarity), np.zeros_like(similarity)
    in_graph = _each(search.modified, targets, pool)
    rest = _rest(search, options.rest_weight, seeds, pool)
    for k, cosines in enumerate(in_graph):
        close = np.maximum(np.where(present, cosines, 0.0), 0.0).astype(np.float64)
        worth = seed_scores[:, k : k + 1] + options.margin * gap
        seed_proximity = np.maximum(seed_proximity, raised(close, options.closeness) * (worth - similarity))
        near_seeds += shares[:, k : k + 1] * close * (1.0 if rest is None else 1.0 + rest[:, k])
    neighborhood_support = options.lift * gap * near_seeds
    in_text = _each(search.original, _gather(search.original, seeds), pool)
    confidence = graph_confidence(search, hits.rows[:, :NEIGHBORHOOD], seeds, pool, in_graph, in_text)[:, None]
    lifted = (seed_proximity**JOIN + neighborhood_support**JOIN) ** (1 / JOIN)
    scores = np.where(present, similarity + confidence * lifted, -np.inf).astype(np.float32)
    if options.redundancy_penalty > 0:
        penalty = options.redundancy_penalty * confidence * gap
        pool, scores = penalize_redundancy(search, pool, scores, penalty, options.closeness)
    return pool, _named_first(pool, scores, hits.named, len(search.original.vectors))


def _rest(search: Search, weight: float, seeds: Rows, pool: Rows) -> Floats | None:
    """weight·rest_k of each seed and candidate, float64 (questions, seeds, candidates); None where nothing adds it."""
    if search.texts is None or weight == 0:
        return None
    assert search.questions is not None
    return weight * search.texts.rest(search.questions, seeds, pool).astype(np.float64)


def _named_first(pool: Rows, scores: Vectors, named: Rows | None, nodes: int) -> Vectors:
    """The scores of candidates, with those of named ones raised alike so that each is above all others.

    A question may compare two nodes. Both are evidence, but the neighbors of one may be lifted above the other.
    """
    if named is None:
        return scores
    first = contained(pool, named, nodes) & (pool != NO_ROW)
    highest = np.where(first, -np.inf, scores).max(axis=1, keepdims=True, initial=-np.inf).astype(np.float64)
    lowest = np.where(first, scores, np.inf).min(axis=1, keepdims=True, initial=np.inf).astype(np.float64)
    above = np.nextafter(highest.astype(np.float32), np.float32(np.inf))
    raised_scores = np.maximum((scores + np.maximum(highest - lowest, 0.0)).astype(np.float32), above)
    return np.where(first, raised_scores, scores)


def _blended(search: Search, options: EnvelopeOptions, near: Rows, hits: Hits, depth: int) -> tuple[Rows, Vectors]:
    """(1 − mix)·similarity + mix·guidance, with seeds weighted by softmax(seed_scores/temperature).

    Guidance is cos(m, z) with m = Σ_k weight_k z_k over the seeds. With ``per_seed`` each seed guides by itself:
    max_k strength_k·cos(z_k, z) with strength_k = exp((seed_scores_k − best)/temperature).
    """
    seeds = hits.rows[:, : options.seeds]
    strengths = _strengths(hits.scores[:, : options.seeds], options.temperature)
    if options.neighborhoods == "per_seed":
        searches = MOST_SEARCHES + (hits.evidence is not None) - search.calls
        pool, guidance = _per_seed(search, near, (seeds, strengths), depth, searches)
    else:
        weights = strengths / np.maximum(strengths.sum(axis=1, keepdims=True), _TINY)
        target = mean(search.modified.vectors, seeds, weights)
        pool = union([near, search.top(search.modified, target, depth)[0]], search.original.ranks)
        guidance = search.modified.cosines(target, pool)
    return pool, blend(_similarity(search, pool, hits), guidance, float(options.mix))


def _with_named(
    search: Search, hits: Rows, similarity: Vectors, top: Vectors, allowed: npt.NDArray[np.bool_] | None = None
) -> tuple[Rows, Vectors]:
    """As many hits as before, with the nodes that each question names among them, or the allowed ones of these."""
    assert search.named is not None
    named = search.named
    if allowed is not None:
        named = only(named, allowed)
    others = np.where(_is_named(search, hits), np.uint32(NO_ROW), hits)
    scores = np.concatenate([np.broadcast_to(top, named.shape), similarity], axis=1)
    return best(np.concatenate([named, others], axis=1), scores, search.original.ranks, hits.shape[1])


def _similarity(search: Search, pool: Rows, hits: Hits) -> Vectors:
    """The similarity of each candidate, and what words add; what the question names is as near as its best hit."""
    found = similarity_and_words(search, pool, hits.evidence)
    return found if search.named is None else np.where(_is_named(search, pool), hits.scores[:, :1], found)


def _is_named(search: Search, rows: Rows) -> npt.NDArray[np.bool_]:
    assert search.named is not None
    found: npt.NDArray[np.bool_] = contained(rows, search.named, len(search.original.vectors)) & (rows != NO_ROW)
    return found


def _strengths(seed_scores: Vectors, temperature: float) -> Floats:
    """exp((score − best)/temperature) per seed: softmax before normalizing; 0 where there is no seed."""
    present = np.isfinite(seed_scores)
    cosines = np.where(present, seed_scores, 0.0).astype(np.float64)
    return np.where(present, np.exp((cosines - cosines[:, :1]) / temperature), 0.0)


def _per_seed(
    search: Search, near: Rows, seeds: tuple[Rows, Floats], depth: int, searches: int
) -> tuple[Rows, Vectors]:
    """Pool and guidance with each seed's neighborhood by itself: all seeds score the pool, not all are searched.

    Args:
        seeds: their rows and strengths. searches: how many of them are searched from.
    """
    rows, strengths = seeds
    targets = _gather(search.modified, rows)
    found = search.neighbors(search.modified, targets[:, :searches], depth)
    pool = union([near, found], search.original.ranks)
    absent = pool == NO_ROW
    guidance = np.full(pool.shape, -np.inf, dtype=np.float32)
    for k, near_seed in enumerate(_each(search.modified, targets, pool)):
        weighted = np.where(
            absent, -np.inf, strengths[:, k : k + 1] * np.where(absent, 0, near_seed).astype(np.float64)
        )
        guidance = np.maximum(guidance, weighted.astype(np.float32))
    return pool, guidance


def _gather(store: Store, seeds: Rows) -> Vectors:
    """The vectors of each question's seeds, float32 (questions, seeds, dim); zero where there is none."""
    vectors = np.asarray(store.vectors)[np.where(seeds == NO_ROW, 0, seeds)]
    vectors[seeds == NO_ROW] = 0
    return vectors


def _each(store: Store, targets: Vectors, pool: Rows) -> Vectors:
    """The cosine of each target with each candidate, float32 (targets, questions, candidates); -inf at `NO_ROW`."""
    questions, count, dim = targets.shape
    cosines = store.cosines(targets.reshape(questions * count, dim), pool)
    return cosines.reshape(questions, count, pool.shape[1]).transpose(1, 0, 2)


def _weighted(store: Store, seeds: Rows, targets: Vectors, shares: Floats) -> Vectors:
    """Σ_k share_k s_k/‖s_k‖ of each question's seeds, float32; a zero vector adds nothing."""
    norms = store.norms[np.where(seeds == NO_ROW, 0, seeds)].astype(np.float64)
    weights = np.divide(shares, norms, out=np.zeros_like(norms), where=(norms > 0) & (seeds != NO_ROW))
    total = np.zeros((len(seeds), targets.shape[2]))
    for k in range(seeds.shape[1]):
        total += targets[:, k] * weights[:, k : k + 1]
    return total.astype(np.float32)
