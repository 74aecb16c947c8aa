"""Whether a learned gate beats the fixed rule of `envelope`: the gate part of envelope_study.py, on development data.

A gate looks at what the searches return and sets lift and twin for each question. Ridge regression foretells by how
much each setting finds more than the fixed one, and the best is taken. Questions weigh so that the three synthetic sets
together, and each real set, count the same. Every figure is for questions that the gate was not fitted to: tenths of
all sets in turn, or a whole real set at a time, and the synthetic ones together. The rule is the one without crowding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from envelope_variants import HARD, NEIGHBORHOOD, RULE, Array, Data, joined, load, ranking, standing

from gme.workspace import Workspace

SETTINGS = [(lift, twin) for lift in (0.0, 1.0, 2.0, 3.0, 4.0) for twin in (0.0, 0.5, 1.0)]
FIXED = SETTINGS.index((RULE.lift, 1.0))
FOLDS = 10
ROUNDS = 5


def features(data: Data) -> Array:
    """What the searches say about each question, (questions, features): gaps, agreement of seeds, trust, crowds."""
    near, heights, gap, shares = standing(data, RULE.seeds, RULE.sharpness)
    seeds = near[:, : RULE.seeds]
    apart = ~np.eye(RULE.seeds, dtype=bool)
    graph, text = (np.einsum("qid,qjd->qij", v[seeds], v[seeds]) for v in (data.s, data.x))
    concentration = np.linalg.norm(np.einsum("qk,qkd->qd", shares, data.s[seeds]), axis=1)
    excess, weight = data.agreement[NEIGHBORHOOD]
    close = np.maximum([data.s[rows[:1]] @ data.s[rows].T for rows in data.near], 0)[:, 0] ** 4
    columns = [gap[:, 0], heights[:, 0], heights[:, 0] - heights[:, 1], heights[:, 1] - heights[:, RULE.seeds - 1]]
    columns += [heights[:, RULE.seeds - 1] - heights[:, -1], gap[:, 0] / np.maximum(heights[:, 0], 1e-6), shares[:, 0]]
    columns += [graph[:, apart].mean(axis=1), graph[:, apart].max(axis=1), graph[:, 0, 1:].max(axis=1)]
    columns += [text[:, apart].mean(axis=1), text[:, 0, 1:].max(axis=1), concentration]
    columns += [excess / (weight + 1), np.log1p(weight), np.log1p(close.sum(axis=1))]
    return np.stack(columns, axis=1)


def outcomes(data: Data) -> tuple[Array, Array]:
    """By question and setting: the share of gold found, at 40 or on a real set the mean of 10, 20 and 40; and at 10."""
    near, heights, gap, shares = standing(data, RULE.seeds, RULE.sharpness)
    twin, shared = np.zeros_like(data.relevance), np.zeros_like(data.relevance)
    for k in range(RULE.seeds):
        close = RULE.close(data, near[:, k])
        shared += gap * shares[:, k : k + 1] * close
        worth = heights[:, k : k + 1] + RULE.margin * gap - data.relevance
        twin = np.maximum(twin, close**RULE.closeness * worth)
    found = []
    for lift, share in SETTINGS:
        lifted = RULE.believed(data)[:, None] * joined(share * twin, lift * shared, RULE.join)
        rows = ranking(np.where(data.chunks, data.relevance + lifted, -9), 40)
        found.append(np.take_along_axis(data.gold, rows, axis=1).cumsum(axis=1)[:, [9, 19, 39]])
    curve = np.stack(found, axis=1)
    return curve[:, :, 2] if data.groups[0] else curve.mean(axis=2), curve[:, :, 0]


def linear(table: Array) -> Array:
    """A column of ones and the features."""
    return np.concatenate([np.ones((len(table), 1)), table], axis=1)


def quadratic(table: Array) -> Array:
    """And their products."""
    first, second = np.triu_indices(table.shape[1])
    return np.concatenate([linear(table), table[:, first] * table[:, second]], axis=1)


def fit(
    table: Array, gains: Array, weights: Array, basis: Callable[[Array], Array], ridge: float
) -> Callable[..., Array]:
    """The gate: from features to settings."""
    weights = weights / weights.sum()
    center = weights @ table
    scale = np.sqrt(weights @ (table - center) ** 2) + 1e-9
    terms = basis((table - center) / scale)
    penalty = ridge * np.diag([0.0] + [1.0] * (terms.shape[1] - 1))
    coefficients = np.linalg.solve(terms.T @ (weights[:, None] * terms) + penalty, terms.T @ (weights[:, None] * gains))
    return lambda other: (basis((other - center) / scale) @ coefficients).argmax(axis=1)


def chosen(
    tables: Sequence[Array],
    gains: Sequence[Array],
    folds: Sequence[Array],
    basis: Callable[[Array], Array],
    ridge: float,
) -> list[Array]:
    """The settings of all questions, each by a gate fitted to the other folds."""
    share = [1 / 3, 1 / 3, 1 / 3, 1.0, 1.0]
    picked = [np.full(len(table), FIXED) for table in tables]
    for fold in np.unique(np.concatenate(folds)):
        kept = [of_set != fold for of_set in folds]
        weights = [np.full(k.sum(), s / max(k.sum(), 1)) for k, s in zip(kept, share, strict=True)]
        parts = [np.concatenate([t[k] for t, k in zip(whole, kept, strict=True)]) for whole in (tables, gains)]
        gate = fit(parts[0], parts[1], np.concatenate(weights), basis, ridge)
        for settings, table, of_set in zip(picked, tables, folds, strict=True):
            if (of_set == fold).any():
                settings[of_set == fold] = gate(table[of_set == fold])
    return picked


def gate(workspaces: Sequence[Workspace], in_half: Callable[[str], bool]) -> Iterator[str]:
    """The table: every gate against the fixed rule, in points; three synthetic sets first, then two real ones."""
    sets = [load(w, None if w.folder.name.startswith("development") else in_half) for w in workspaces]
    tables, results = [features(data) for data in sets], [outcomes(data) for data in sets]
    gains = [total - total[:, FIXED : FIXED + 1] for total, _ in results]
    yield "| chosen for each question | hard@40 | worst family | 2wiki recall@10 | @10 | musique recall@10 | @10 |"
    yield "|---|---|---|---|---|---|---|"
    for lift in (1.0, 3.0, 4.0):
        same = [np.full(len(data.q), SETTINGS.index((lift, 1.0))) for data in sets]
        yield line(f"nothing: lift {lift:g} for all", [same], sets, results)
    for title, basis, ridge in (
        ("ridge .001", linear, 0.001),
        ("ridge .03", linear, 0.03),
        ("ridge .3", linear, 0.3),
        ("ridge .1, with products", quadratic, 0.1),
        ("ridge 1, with products", quadratic, 1.0),
    ):
        generators = [np.random.default_rng(number) for number in range(ROUNDS)]
        tenths = [[g.permutation(len(data.q)) % FOLDS for data in sets] for g in generators]
        yield line(f"{title}, tenths", [chosen(tables, gains, folds, basis, ridge) for folds in tenths], sets, results)
        whole = [np.full(len(data.q), max(number - 2, 0)) for number, data in enumerate(sets)]
        yield line(f"{title}, unseen corpus", [chosen(tables, gains, whole, basis, ridge)], sets, results)
    best = [total.argmax(axis=1) for total, _ in results]
    yield line("the best, known afterwards", [best], sets, results)
    yield ""


def line(
    title: str, rounds: Sequence[Sequence[Array]], sets: Sequence[Data], results: Sequence[tuple[Array, Array]]
) -> str:
    """Differences from the fixed setting, means over the rounds."""
    hard, families, real = [], {}, []
    for number, (data, (total, at_10)) in enumerate(zip(sets, results, strict=True)):
        places = np.arange(len(data.q))
        if not data.groups[0]:
            here = np.array([at_10[places, settings[number]] for settings in rounds]).T
            real += [
                (here - at_10[:, FIXED, None]).mean(),
                ((here > 0.999) * 1.0 - (at_10[:, FIXED, None] > 0.999)).mean(),
            ]
            continue
        gains = np.mean([total[places, settings[number]] for settings in rounds], axis=0) - total[:, FIXED]
        hard.append(gains[np.isin(data.groups, HARD)].mean())
        for family in np.unique(data.families):
            families.setdefault(family, []).append(gains[data.families == family].mean())
    worst = min(np.mean(values) for values in families.values())
    return f"| {' | '.join([title, *(f'{100 * value:+.1f}' for value in (np.mean(hard), worst, *real))])} |"
