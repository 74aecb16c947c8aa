"""What was tried on the way to `envelope`, in numpy on whole score matrices: the development part of envelope_study.py.

Every variant is a rule from arrays to scores of all nodes; the strategy itself only scores the candidates its searches
return. The line of the chosen rule and that of the strategy can be compared with ``--part final`` on other data.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

import gme
from gme.pipeline.transform import transform_workspace
from gme.stores.store import NO_ROW
from gme.transforms.diffusion import SignatureOptions
from gme.workspace import Workspace

Array = npt.NDArray[Any]
HARD = ("extremisation", "relational")
BUDGET, HORIZON, NEIGHBORHOOD, CROWD = 40, 40, 160, 80


@dataclass(frozen=True)
class Data:
    """One set of development questions: unit vectors of nodes in the order of their ids, and gold as a matrix."""

    name: str
    x: Array
    s: Array
    q: Array
    gold: Array
    families: Array
    groups: Array
    chunks: Array
    named: Array  # bool (questions, nodes): the nodes whose titles stand in the question
    rise: float = 0.0  # of the nodes that are named, as a share of Δ; inf: up to the best hit

    @cached_property
    def cosines(self) -> Array:
        """cos(q, x), float32 (questions, nodes)."""
        return self.q @ self.x.T

    @cached_property
    def relevance(self) -> Array:
        """The same, with what is named nearer."""
        hits = -np.sort(-self.cosines, axis=1)[:, [0, HORIZON - 1]]
        if self.rise == np.inf:
            return np.where(self.named, np.maximum(self.cosines, hits[:, :1]), self.cosines)
        return self.cosines + self.named * np.float32(self.rise) * (hits[:, :1] - hits[:, 1:])

    @cached_property
    def kernel(self) -> Array:
        """max(0, cos(s_i, s_j))."""
        return np.maximum(self.s @ self.s.T, 0)

    @cached_property
    def near(self) -> Array:
        """The nearest nodes of each question."""
        return ranking(self.relevance, NEIGHBORHOOD)

    @cached_property
    def agreement(self) -> dict[int, tuple[Array, Array]]:
        """By number of hits: agreement of text and graph over the pairs of a question's hits, and without the prior."""
        return {count: self.agree(count) for count in (64, NEIGHBORHOOD)}

    def agree(self, hits: int) -> tuple[Array, Array]:
        """Σ w·(t − t̄) and Σ w over the pairs of each question's first hits."""
        i, j = np.triu_indices(hits, 1)
        excess, weight = [], []
        for rows in self.near[:, :hits]:
            text = (self.x[rows] @ self.x[rows].T)[i, j]
            close = self.kernel[np.ix_(rows, rows)][i, j] ** 4
            excess.append(close @ (text - text.mean()))
            weight.append(close.sum())
        return np.array(excess), np.array(weight)

    def recovery(self, rows: Array) -> Array:
        """Share of each question's gold among these rows."""
        found: Array = np.take_along_axis(self.gold, rows, axis=1).sum(axis=1)
        return found


def ranking(scores: Array, count: int) -> Array:
    """The best rows of each line, ties to the smaller id."""
    best = np.sort(np.argpartition(-scores, count - 1, axis=1)[:, :count], axis=1)
    order = np.argsort(-np.take_along_axis(scores, best, axis=1), axis=1, kind="stable")
    return np.take_along_axis(best, order, axis=1)


def load(workspace: Workspace, chosen: Callable[[str], bool] | None, collection: str = "signature") -> Data:
    """A workspace's questions, or those that `chosen` takes."""
    order = np.argsort(np.array(workspace.nodes.ids))
    row = {workspace.nodes.ids[old]: new for new, old in enumerate(order)}
    records = [json.loads(line) for line in workspace.path("questions.jsonl").open()]
    kept = [number for number, record in enumerate(records) if chosen is None or chosen(record["id"])]
    gold = np.zeros((len(kept), len(order)), dtype=np.float32)
    for line, number in enumerate(kept):
        rows = [row[node] for node in records[number]["gold"]]
        gold[line, rows] = 1 / len(rows)
    vectors = {
        name: np.load(workspace.path(f"embeddings/{name}.npy")) for name in ("original", "questions", collection)
    }
    units = {name: v / np.maximum(np.linalg.norm(v, axis=1, keepdims=True), 1e-12) for name, v in vectors.items()}
    family, group = ([records[number].get(key) or "" for number in kept] for key in ("family", "group"))
    chunks = np.array(workspace.nodes.types)[order] == "chunk"
    questions = units["questions"][kept]
    x, s = units["original"][order], units[collection][order]
    texts = [records[number]["question"] for number in kept]
    titles = [workspace.nodes.titles[old] for old in order]
    named = np.zeros(gold.shape, dtype=bool)
    for line, rows in enumerate(gme.match_titles(titles, texts, questions, np.ascontiguousarray(x))):
        named[line, rows[rows != NO_ROW]] = True
    return Data(workspace.folder.name, x, s, questions, gold, np.array(family), np.array(group), chunks, named)


@dataclass(frozen=True)
class Rule:
    """The rule of `envelope` and what was changed about it; the defaults are the chosen ones."""

    seeds: int = 5
    lift: float = 2.0
    margin: float = 0.2
    closeness: float = 4.0
    sharpness: float = 2.0
    join: float = (
        1.5  # exponent of the norm that joins twin and shared: 1 their sum, 2 the root of squares, inf the larger
    )
    redundancy_penalty: float = (
        0.05  # what is taken off for each candidate before at the same place, as a share of the gap
    )
    agreement: float = 0.0  # by how much the lift rises with the mean signature cosine of two seeds
    novelty: float = 0.0  # how much of what is lent is kept back where texts are alike
    plausible: float = -1.0  # text cosines to a seed below it lend nothing, above it by .2 everything; -1: no limit
    hubs: float = 0.0  # exponent by which a seed lends less for each close neighbor it has
    twin: str = "pull"  # towards the seed; "surplus": lift by max instead; "": none
    concentration: float = 0.0  # exponent of ‖Σ p_k s_k‖ as a factor of the lift
    gate: float = 0.0  # exponent of cos(q, x)/best as a factor of shared
    floor: float = 0.0  # signature cosines below it count as 0
    centered: bool = False  # signatures without their mean
    second: bool = False  # shared from the ten best of a first pass
    trust: int = NEIGHBORHOOD  # hits that tell whether text and graph agree; 0: the graph is always believed
    chunks: bool = True  # only chunks are returned

    def __call__(self, data: Data) -> Array:
        """Scores of all nodes."""
        if self.centered:
            signatures = data.s - data.s.mean(axis=0)
            signatures /= np.maximum(np.linalg.norm(signatures, axis=1, keepdims=True), 1e-12)
            data = replace(data, s=signatures)
        near, heights, gap, shares = standing(data, self.seeds, self.sharpness)
        twin, shared = np.zeros_like(data.relevance), np.zeros_like(data.relevance)
        for k in range(self.seeds):
            close = self.close(data, near[:, k])
            shared += shares[:, k : k + 1] * close
            if self.twin == "pull":
                worth = heights[:, k : k + 1] + self.margin * gap - data.relevance
                twin = np.maximum(twin, close**self.closeness * worth)
            elif self.twin == "surplus":
                twin = np.maximum(twin, self.lift * (heights[:, k : k + 1] - heights[:, -1:]) * close)
        if self.second:
            first = data.relevance + np.sqrt(twin**2 + (self.lift * gap * shared) ** 2)
            best = ranking(first, HORIZON)
            above = np.take_along_axis(first, best, axis=1)
            weights = (above - above[:, -1:])[:, :10] ** self.sharpness
            weights /= np.maximum(weights.sum(axis=1, keepdims=True), 1e-12)
            shared = np.maximum(np.einsum("qk,qkd->qd", weights, data.s[best[:, :10]]) @ data.s.T, 0)
        if self.concentration:
            length = np.linalg.norm(np.einsum("qk,qkd->qd", shares, data.s[near[:, : self.seeds]]), axis=1)
            shared *= length[:, None] ** self.concentration
        lift = self.lift + self.agreement * seed_agreement(data, near[:, : self.seeds])
        shared *= lift * gap * np.clip(data.relevance / heights[:, :1], 0, 1) ** self.gate
        trust = self.believed(data)[:, None]
        scores = data.relevance + trust * joined(twin, shared, self.join)
        return (
            scores
            if self.redundancy_penalty == 0
            else crowded(data, scores, self.redundancy_penalty * trust * gap, self.chunks)
        )

    def close(self, data: Data, seeds: Array) -> Array:
        """How close all nodes are to a seed of each question."""
        close = np.maximum(data.kernel[seeds] - self.floor, 0) / (1 - self.floor)
        if self.novelty:
            close *= 1 - self.novelty * np.maximum(data.x[seeds] @ data.x.T, 0)
        if self.plausible > -1:
            close *= np.clip((data.x[seeds] @ data.x.T - self.plausible) / 0.2, 0, 1)
        if self.hubs:
            close *= (close**4).sum(axis=1, keepdims=True) ** -self.hubs
        return close

    def believed(self, data: Data) -> Array:
        """Trust in the graph, by question."""
        if not self.trust:
            return np.ones(len(data.q))
        excess, weight = data.agreement[self.trust]
        trust: Array = np.clip((excess / (weight + 1) - 0.02) / 0.04, 0, 1)
        return trust


def joined(twin: Array, shared: Array, exponent: float) -> Array:
    """A norm of the two."""
    if exponent == np.inf:
        return np.maximum(twin, shared)
    norm: Array = (twin**exponent + shared**exponent) ** (1 / exponent)
    return norm


def crowded(data: Data, scores: Array, loss: Array, chunks: bool) -> Array:
    """Scores without what is lost to better candidates at the same place; the rest of the nodes stays behind."""
    eligible = np.where(data.chunks, scores, -9) if chunks else scores
    lowered = eligible - 9
    for question, rows in enumerate(ranking(eligible, CROWD)):
        close = np.tril(np.maximum(data.s[rows] @ data.s[rows].T, 0) ** 4, -1)
        lowered[question, rows] = eligible[question, rows] - loss[question] * close.sum(axis=1)
    return lowered


def seed_agreement(data: Data, seeds: Array) -> Array:
    """The mean signature cosine of two seeds, at least 0, (questions, 1)."""
    signatures = data.s[seeds]
    cosines = np.maximum(np.einsum("qid,qjd->qij", signatures, signatures), 0)
    count = seeds.shape[1]
    mean: Array = (cosines.sum(axis=(1, 2)) - count) / (count * (count - 1))
    return mean[:, None]


def standing(data: Data, seeds: int, sharpness: float) -> tuple[Array, Array, Array, Array]:
    """Hits, their similarities, how far the best stands out, and the seeds' shares."""
    near = data.near[:, :HORIZON]
    heights = np.take_along_axis(data.relevance, near, axis=1)
    shares = (heights[:, :seeds] - heights[:, -1:]) ** sharpness
    shares /= np.maximum(shares.sum(axis=1, keepdims=True), 1e-12)
    return near, heights, heights[:, :1] - heights[:, -1:], shares


def softmax_mean(seeds: int, temperature: float, mix: float | None) -> Callable[[Data], Array]:
    """Relevance and the cosine to a mean of seeds, by a fixed mix or by the seeds' concentration; three pinned."""

    def scores(data: Data) -> Array:
        near = data.near[:, :seeds]
        heights = np.take_along_axis(data.relevance, near, axis=1)
        weights = np.exp((heights - heights[:, :1]) / temperature)
        mean = np.einsum("qk,qkd->qd", weights / weights.sum(axis=1, keepdims=True), data.s[near])
        length = np.linalg.norm(mean, axis=1, keepdims=True)
        share = np.clip(0.1 + 0.5 * (length - 0.5) / 0.2, 0.1, 0.6) if mix is None else mix
        return pinned(data, (1 - share) * data.relevance + share * (mean @ data.s.T) / np.maximum(length, 1e-12))

    return scores


def apart(seeds: int, temperature: float, mix: float) -> Callable[[Data], Array]:
    """Relevance and the best weighted cosine to a seed, by a fixed mix; three pinned."""

    def scores(data: Data) -> Array:
        near = data.near[:, :seeds]
        heights = np.take_along_axis(data.relevance, near, axis=1)
        weights = np.exp((heights - heights[:, :1]) / temperature)
        guidance = np.max([weights[:, k : k + 1] * data.kernel[near[:, k]] for k in range(seeds)], axis=0)
        return pinned(data, (1 - mix) * data.relevance + mix * guidance)

    return scores


def kriging(seeds: int, lift: float, noise: float) -> Callable[[Data], Array]:
    """What seeds have above the horizon, interpolated over the graph: k(K + noise)⁻¹u."""

    def scores(data: Data) -> Array:
        near, heights, _, _ = standing(data, seeds, 1.0)
        above = heights[:, :seeds] - heights[:, -1:]
        lifted = data.relevance.copy()
        for question, rows in enumerate(near[:, :seeds]):
            kernel = data.kernel[rows]
            weights = np.linalg.solve(kernel[:, rows] + noise * np.eye(seeds), above[question] * (1 + noise))
            lifted[question] += lift * (weights @ kernel)
        return lifted

    return scores


def pinned(data: Data, scores: Array) -> Array:
    """The first three hits first."""
    np.put_along_axis(scores, data.near[:, :3], 9 - np.arange(3, dtype=scores.dtype)[None], axis=1)
    return scores


def shuffled(data: Data) -> Data:
    """With the signatures of other nodes."""
    return replace(data, s=data.s[np.random.default_rng(1).permutation(len(data.s))])


BEFORE = Rule(join=2, redundancy_penalty=0)
"""The rule as it was, with which most of the table was made."""

RULE = Rule()
VARIANTS: list[tuple[str, Callable[[Data], Array], bool]] = [
    ("plain", lambda data: data.relevance, False),
    ("plain, chunks only", lambda data: data.relevance, True),
    ("mean of 10, mix by concentration", softmax_mean(10, 0.05, None), False),
    ("mean of 3, mix .5", softmax_mean(3, 1000, 0.5), False),
    ("apart, 5 seeds, τ .2, mix .5", apart(5, 0.2, 0.5), False),
    ("apart, 10 seeds, τ .05, mix .3", apart(10, 0.05, 0.3), False),
    ("kriging of what hits have above the horizon", kriging(5, 1.5, 1.0), False),
    ("surplus, largest", replace(BEFORE, twin="surplus", join=np.inf, lift=1.5, sharpness=1e-9, trust=0), False),
    ("shared only", replace(BEFORE, twin="", trust=0), False),
    ("twin only", replace(BEFORE, lift=0, trust=0), False),
    ("twin only, closeness 1", replace(BEFORE, lift=0, closeness=1, trust=0), False),
    ("both, larger of the two", replace(BEFORE, join=np.inf, trust=0), False),
    ("both, sum", replace(BEFORE, join=1, trust=0), False),
    ("both, root of squares", replace(BEFORE, trust=0), False),
    ("+ trust from 64 hits", replace(BEFORE, trust=64), False),
    ("+ trust from 160 hits", BEFORE, False),
    ("+ only chunks returned: second choice", BEFORE, True),
    ("first choice: lift 2.5, margin 0", replace(BEFORE, lift=2.5, margin=0), True),
    ("margin 0", replace(BEFORE, margin=0), True),
    ("margin .5", replace(BEFORE, margin=0.5), True),
    ("lift 1", replace(BEFORE, lift=1), True),
    ("lift 1.5", replace(BEFORE, lift=1.5), True),
    ("lift 3", replace(BEFORE, lift=3), True),
    ("lift 4", replace(BEFORE, lift=4), True),
    ("3 seeds", replace(BEFORE, seeds=3), True),
    ("8 seeds", replace(BEFORE, seeds=8), True),
    ("closeness 2", replace(BEFORE, closeness=2), True),
    ("closeness 6", replace(BEFORE, closeness=6), True),
    ("sharpness 1", replace(BEFORE, sharpness=1), True),
    ("sharpness 3", replace(BEFORE, sharpness=3), True),
    ("lift 3.5 × concentration", replace(BEFORE, lift=3.5, concentration=1), True),
    ("shared gated by relevance, lift 3", replace(BEFORE, gate=0.5, lift=3), True),
    ("second expansion from the fused results", replace(BEFORE, second=True), True),
    ("signatures centered", replace(BEFORE, centered=True), True),
    ("cosines below .06 count as 0", replace(BEFORE, floor=0.06), True),
    ("cosines below 1/√512 count as 0", replace(BEFORE, floor=512**-0.5), True),
    ("lift 1 + 4 × agreement of seeds", replace(BEFORE, lift=1, agreement=4), True),
    ("unlike texts lend nothing", replace(BEFORE, plausible=-0.1), True),
    ("less where texts are alike", replace(BEFORE, novelty=0.5), True),
    ("seeds with many neighbors lend less", replace(BEFORE, hubs=0.2), True),
    ("join 1", replace(BEFORE, join=1), True),
    ("join 1.25", replace(BEFORE, join=1.25), True),
    ("join 1.5", replace(BEFORE, join=1.5), True),
    ("join 1.75", replace(BEFORE, join=1.75), True),
    ("crowding .02", replace(BEFORE, redundancy_penalty=0.02), True),
    ("crowding .05", replace(BEFORE, redundancy_penalty=0.05), True),
    ("crowding .1", replace(BEFORE, redundancy_penalty=0.1), True),
    ("**join 1.5, crowding .05: third choice**", RULE, True),
    ("join 1.5, crowding .03", replace(RULE, redundancy_penalty=0.03), True),
    ("join 1.5, crowding .07", replace(RULE, redundancy_penalty=0.07), True),
    ("join 1.25, crowding .05", replace(RULE, join=1.25), True),
    ("join 1.75, crowding .05", replace(RULE, join=1.75), True),
    ("third choice, unlike texts lend nothing", replace(RULE, plausible=-0.1), True),
    ("third choice, cosines below 1/√512 count as 0", replace(RULE, floor=512**-0.5), True),
    ("third choice, lift 1.5 + 2.5 × agreement", replace(RULE, lift=1.5, agreement=2.5), True),
    ("all three", replace(RULE, lift=1.5, agreement=2.5, floor=512**-0.5, plausible=-0.1), True),
]
SIGNATURES = {
    "dim 1024": SignatureOptions(dim=1024),
    "restart .15": SignatureOptions(restart=0.15),
    "restart .3": SignatureOptions(restart=0.3),
}


def line(title: str, rule: Callable[[Data], Array], chunks: bool, sets: Sequence[Data]) -> str:
    """A variant's figures: means over the synthetic sets, then each real set."""
    hard, plain, single, matched, families, real = [], [], [], [], {}, []
    for data in sets:
        scores = rule(data)
        eligible = np.where(data.chunks, scores, -99) if chunks else scores
        rows = ranking(eligible, BUDGET)
        if not data.groups[0]:
            real.append(real_cells(data, eligible, rows))
            continue
        found, before = data.recovery(rows), data.recovery(ranking(data.cosines, BUDGET))
        difficult = np.isin(data.groups, HARD)
        hard.append(found[difficult].mean())
        plain.append(before[difficult].mean())
        single.append((found - before)[data.groups == "single-fact"].mean())
        curve = np.take_along_axis(data.gold, rows, axis=1)[difficult].cumsum(axis=1).mean(axis=0)
        enough = np.flatnonzero(curve >= plain[-1] - 1e-7)
        matched.append(int(enough[0]) + 1 if len(enough) else 99)
        for family in np.unique(data.families):
            families.setdefault(family, []).append((found - before)[data.families == family].mean())
    worst, family = min((float(np.mean(values)), family) for family, values in families.items())
    relative = 100 * (np.mean(hard) / np.mean(plain) - 1)
    nodes = max(matched) if max(matched) < 99 else "never"
    cells = [title, f"{100 * np.mean(hard):.1f} ({relative:+.0f} %)", f"{100 * np.mean(single):+.1f}"]
    cells += [f"{100 * worst:+.1f} {family}" if worst < 0 else "none", str(nodes), *real]
    return f"| {' | '.join(cells)} |"


def real_cells(data: Data, scores: Array, rows: Array) -> str:
    """All-supporting at 5, 10, 20, 40; recall at 10; the mean log2 of the rank of the last gold node."""
    supported = "/".join(f"{100 * (data.recovery(rows[:, :k]) > 0.999).mean():.1f}" for k in (5, 10, 20, 40))
    last = np.where(data.gold > 0, scores, np.inf).min(axis=1, keepdims=True)
    rank = np.log2((scores > last).sum(axis=1) + 1).mean()
    return f"{supported} | {100 * data.recovery(rows[:, :10]).mean():.1f} | {rank:.2f}"


def development(workspaces: Sequence[Workspace], chosen: Callable[[str], bool]) -> Iterator[str]:
    """The table of all variants."""
    sets = [load(w, None if w.folder.name.startswith("development") else chosen) for w in workspaces]
    columns = ["variant", "hard (over plain)", "single-fact", "worst family", "nodes for plain's 40"]
    columns += [f"{name} {what}" for name in ("2wiki", "musique") for what in ("@5/10/20/40", "recall@10", "last")]
    yield f"| {' | '.join(columns)} |"
    yield "|---" * len(columns) + "|"
    for title, rule, chunks in VARIANTS:
        yield line(title, rule, chunks, sets)
    for rise in (0.25, 0.5, 1):
        yield line(f"named nodes rise by {rise:g} Δ", RULE, True, [replace(data, rise=rise) for data in sets])
    named = [replace(data, rise=np.inf) for data in sets]
    yield line("**third choice, named nodes as near as the best hit: chosen**", RULE, True, named)
    yield line("plain, named nodes as near as the best hit", lambda data: data.relevance, True, named)
    for title, chunks in (("third choice", True), ("all types returned", False)):
        yield line(f"shuffled graph, {title}", replace(RULE, chunks=chunks), chunks, [shuffled(data) for data in sets])
    yield line(
        "shuffled graph, third choice without trust", replace(RULE, trust=0), True, [shuffled(data) for data in sets]
    )
    del sets
    for title, options in SIGNATURES.items():
        loaded = []
        for workspace in workspaces:
            name, _ = transform_workspace(workspace, "signature", options)
            loaded.append(load(workspace, None if workspace.folder.name.startswith("dev") else chosen, name))
        yield line(f"signature with {title}", RULE, True, loaded)
    yield ""
