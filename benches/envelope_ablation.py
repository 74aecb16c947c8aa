"""What each part of `envelope` is worth: the rule without it, on development data.

    python benches/envelope_ablation.py --folder FOLDER [--data FOLDER]

Workspaces in the folder are used as they are. The table is part of docs/research/envelope.md. Signatures are made with
four random seeds for the real sets: a figure of these is the mean over the seeds, and its interval that over questions.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import numpy.typing as npt
from data_sets import add_data_option
from envelope_study import header, row
from lexical_study import DEVELOPMENT, REAL, Found, Questions, interval, questions_of, shuffled, workspaces

import gme
from gme.retrieval import envelope
from gme.stores.exact import ExactStore
from gme.stores.store import Rows

SIGNATURE_SEEDS = (42, 1, 2, 3)

Ablation = tuple[str, AbstractContextManager[Any], Callable[[Questions], Rows]]


def without(name: str, value: Any) -> AbstractContextManager[Any]:
    """The rule with another value of one of its constants, or another function in place of one of its parts."""
    return mock.patch.object(envelope, name, value)


def full_confidence(search: Any, hits: Rows, *_: Any) -> npt.NDArray[np.float64]:
    """In place of `graph_confidence`: every graph is believed."""
    return np.ones(len(hits))


def no_proximity(base: npt.NDArray[np.floating], exponent: float) -> npt.NDArray[np.float64]:
    """In place of the power of closeness: nothing is near any seed."""
    return np.zeros(base.shape)


def answered(**options: Any) -> Callable[[Questions], Rows]:
    """`envelope` with some options."""
    return lambda questions: questions.answer("envelope", **options)


def ablations() -> Iterator[Ablation]:
    """The whole rule first; the others are compared with it."""
    whole, nothing = answered(), nullcontext()
    yield "envelope", nothing, whole
    yield "without words", nothing, answered(lexical=False)
    yield "without the rest of the question", nothing, answered(rest_weight=0.0)
    yield "without titles", nothing, answered(named=None)
    yield "named seeds count once", without("NAMED_WEIGHT", 1.0), whole
    yield "named nodes not first", without("_named_first", lambda pool, scores, named, nodes: scores), whole
    yield "without seed proximity", without("raised", no_proximity), whole
    yield "without neighborhood support", nothing, answered(lift=0.0)
    yield "without redundancy penalty", nothing, answered(redundancy_penalty=0.0)
    yield "without searches from single seeds", without("SEED_SEARCHES", 0), whole
    yield "without graph confidence", without("graph_confidence", full_confidence), whole
    yield "shuffled graph, without titles", nothing, lambda questions: shuffled(questions).answer("envelope")
    yield (
        "shuffled graph, without titles and confidence",
        without("graph_confidence", full_confidence),
        lambda questions: shuffled(questions).answer("envelope"),
    )
    yield "no graph: `hybrid`", nothing, lambda questions: questions.answer("hybrid")
    yield "neither graph nor words: `plain`", nothing, lambda questions: questions.answer("plain")


def variants(questions: Questions) -> list[Questions]:
    """The same questions with signatures of several random seeds."""
    graph, original = questions.workspace.graph(), questions.stores[0]
    found = []
    for seed in SIGNATURE_SEEDS:
        signature = gme.transform("signature", graph, seed=seed).vectors
        other = Questions(questions.workspace, questions.chosen)
        vars(other)["stores"] = [original, ExactStore(signature, original.ranks)]
        vars(other)["index"] = questions.index
        found.append(other)
    return found


def table(folder: Path, data: Path) -> Iterator[str]:
    """The table."""
    opened = workspaces(folder, data, DEVELOPMENT)
    sets = {name: questions_of(name, workspace, True) for name, workspace in opened.items()}
    groups = {name: variants(sets[name]) if name in REAL else [sets[name]] for name in sets}
    columns = ["hard", "over all parts", "hop3", "worst family over plain"]
    for name in REAL:
        columns += [f"{name} @5/@10/@40", "@5 over all parts", "@10 over all parts", "recall@3 over all parts"]
    yield from header("rule", *columns)
    everything = list(ablations())
    plain = measured(groups, everything[-1])
    first = None
    for ablation in everything:
        found = measured(groups, ablation)
        first = first or found
        yield row(ablation[0], *cells(sets, found, None if found is first else first, plain))


def measured(groups: dict[str, list[Questions]], ablation: Ablation) -> dict[str, Found]:
    """By set: what each question has found at each place, (seeds, questions, places)."""
    _, changed, rule = ablation
    with changed:
        return {name: np.stack([each.found(rule(each)) for each in group]) for name, group in groups.items()}


def cells(
    sets: dict[str, Questions], found: dict[str, Found], first: dict[str, Found] | None, plain: dict[str, Found]
) -> Iterator[str]:
    """The cells of a line."""
    made_up = [name for name in sets if name not in REAL]

    def joined(results: dict[str, Found]) -> Found:
        return np.concatenate([results[name][0][:, -1] for name in made_up])

    hard = np.concatenate([sets[name].hard for name in made_up])
    families = np.concatenate([np.array(sets[name].workspace.questions.families) for name in made_up])
    share, gain = joined(found), joined(found) - joined(plain)
    yield f"{100 * share[hard].mean():.1f}"
    yield "" if first is None else interval((share - joined(first))[hard])
    yield f"{100 * share[families == 'hop3'].mean():.1f}"
    worst, family = min((gain[families == name].mean(), name) for name in np.unique(families))
    yield f"{100 * worst:+.1f} {family}" if worst < -5e-4 else "none"
    for name in REAL:
        whole = (found[name] > 1 - 1e-9).mean(axis=0)
        yield "/".join(f"{100 * whole[:, depth - 1].mean():.1f}" for depth in (5, 10, 40))
        if first is None:
            yield from ("", "", "")
            continue
        before = (first[name] > 1 - 1e-9).mean(axis=0)
        yield interval(whole[:, 4] - before[:, 4])
        yield interval(whole[:, 9] - before[:, 9])
        yield interval(found[name][:, :, 2].mean(axis=0) - first[name][:, :, 2].mean(axis=0))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_data_option(parser, required=True)
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        for line in table(given.folder or Path(temporary), given.data):
            print(line, flush=True)


if __name__ == "__main__":
    main()
