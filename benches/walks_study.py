"""Graph walks that know what `envelope` knows: titles that questions name, and words.

    python benches/walks_study.py --part development   the walks' settings, on development data only
    python benches/walks_study.py --part final         like beside like on the rest, with intervals
    python benches/walks_study.py --names              the real sets' passages connected by shared names as well
    python benches/walks_study.py --folder FOLDER      workspaces are kept there, and used if they are there already
    python benches/walks_study.py --data FOLDER        the real sets from another folder

The settings of each walk at each level of knowledge were chosen by the first part: by the mean of hard recovery at 40
on the synthetic sets and all-supporting@10 on half of each real set. Walks go over all nodes and edges; all runs return
chunks only, but for those that say otherwise.
"""

from __future__ import annotations

import argparse
import itertools
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from data_sets import add_data_option
from envelope_study import header, row
from lexical_study import DEVELOPMENT, FINAL, REAL, Found, Questions, interval, questions_of, synthetic, workspaces

from gme.pipeline.edges import add_edges
from gme.pipeline.transform import transform_workspace
from gme.retrieval.batch import retrieve
from gme.retrieval.graph_strategies import ENTITY
from gme.workspace import Workspace
from gme.workspace.graphs import workspace_graph

REFERENCE = "envelope, lexical"
KNOWLEDGE: dict[str, dict[str, Any]] = {
    "": {"titles": "ignore", "lexical": False},
    "titles": {"titles": "seeds", "lexical": False},
    "titles only": {"titles": "only", "lexical": False},
    "lexical": {"titles": "ignore", "lexical": True},
    "titles, lexical": {"titles": "seeds", "lexical": True},
    "titles only, lexical": {"titles": "only", "lexical": True},
}
GRID: dict[str, dict[str, tuple[Any, ...]]] = {
    "spread": {"decay": (0.7, 0.85), "gate": ("cosine", "none"), "seeds": (5, 10, 20)},
    "pagerank": {"restart": (0.15, 0.4, 0.6), "temperature": (0.05, 0.1), "start": ("auto", "chunks")},
}
CHOSEN: dict[str, dict[str, dict[str, Any]]] = {
    "spread": {
        "": {"decay": 0.85, "gate": "none", "seeds": 20},
        "titles": {"decay": 0.85, "gate": "none", "seeds": 20},
        "titles only": {"decay": 0.85, "gate": "none", "seeds": 20},
        "lexical": {"decay": 0.85, "gate": "none", "seeds": 20},
        "titles, lexical": {"decay": 0.85, "gate": "none", "seeds": 20},
        "titles only, lexical": {"decay": 0.7, "gate": "none", "seeds": 20},
    },
    "pagerank": {
        "": {"restart": 0.15, "temperature": 0.05, "start": "chunks"},
        "titles": {"restart": 0.15, "temperature": 0.05, "start": "chunks"},
        "titles only": {"restart": 0.6, "temperature": 0.05, "start": "chunks"},
        "lexical": {"restart": 0.4, "temperature": 0.1, "start": "chunks"},
        "titles, lexical": {"restart": 0.4, "temperature": 0.1, "start": "chunks"},
        "titles only, lexical": {"restart": 0.6, "temperature": 0.1, "start": "chunks"},
    },
}
"""By strategy and knowledge: the best of the grid on development data."""

CHOSEN_WITH_NAMES: dict[str, dict[str, dict[str, Any]]] = {
    "spread": {
        **CHOSEN["spread"],
        "titles only": {"decay": 0.7, "gate": "none", "seeds": 20},
        "titles only, lexical": {"decay": 0.7, "gate": "cosine", "seeds": 20},
    },
    "pagerank": {**CHOSEN["pagerank"], "titles, lexical": {"restart": 0.6, "temperature": 0.05, "start": "chunks"}},
}
"""The same where the real sets have shared names: three of the twelve differ."""


@dataclass(frozen=True)
class Case:
    """A line of the tables: a strategy, its options, and whether it returns nodes of all types."""

    strategy: str
    options: dict[str, Any] = field(default_factory=dict)
    everything: bool = False


def settings(strategy: str) -> list[dict[str, Any]]:
    """All settings of a walk that are tried."""
    return [dict(zip(GRID[strategy], values, strict=True)) for values in itertools.product(*GRID[strategy].values())]


def run(questions: Questions, case: Case) -> Found:
    """The share of evidence found at each place."""
    nodes = questions.workspace.nodes
    kept = vars(questions)
    if "graph" not in kept:
        kept["graph"] = workspace_graph(nodes, questions.workspace.edges, None)
    walks = case.strategy in GRID
    original, signature = questions.stores
    rows = retrieve(
        case.strategy,
        original,
        signature,
        questions.queries,
        allowed=None if case.everything else questions.allowed,
        graph=kept["graph"],
        entities=np.array([kind == ENTITY for kind in nodes.types]) if walks else None,
        named=questions.named,
        texts=questions.index,
        questions=questions.texts,
        budget=40,
        threads=1,
        **case.options,
    ).rows
    return questions.found(rows)


def worth(name: str, questions: Questions, found: Found) -> float:
    """What a set counts by: hard recovery at 40, or all-supporting at 10."""
    return float((found[:, 9] > 1 - 1e-9).mean() if name in REAL else found[questions.hard, -1].mean())


def development(sets: dict[str, Questions]) -> Iterator[str]:
    """The grid of each walk at each level of knowledge, best first; the first line is the choice."""
    for strategy, (knowledge, known) in itertools.product(GRID, KNOWLEDGE.items()):
        lines = []
        for setting in settings(strategy):
            case = Case(strategy, {**known, **setting})
            cells = [worth(name, questions, run(questions, case)) for name, questions in sets.items()]
            lines.append((float(np.mean(cells)), setting, cells))
        lines.sort(key=lambda line: -line[0])
        yield from (f"{strategy}, {knowledge or 'vectors only'}:", "")
        yield from header("setting", "mean", *sets)
        for mean, setting, cells in lines:
            yield row(", ".join(f"{name} {value}" for name, value in setting.items()), mean, *cells)
        yield ""


def cases(chosen: Mapping[str, Mapping[str, dict[str, Any]]]) -> dict[str, Case]:
    """What the last part compares: the walks at each level of knowledge, with defaults and as chosen."""
    found = {"plain": Case("plain"), "hybrid": Case("hybrid")}
    for strategy in GRID:
        found[f"{strategy}, all types"] = Case(strategy, KNOWLEDGE[""], everything=True)
        for knowledge, known in KNOWLEDGE.items():
            name = f"{strategy}, {knowledge}" if knowledge else strategy
            found[name] = Case(strategy, known)
            found[f"{name}, chosen settings"] = Case(strategy, {**known, **chosen[strategy][knowledge]})
    found["envelope"] = Case("envelope", {"lexical": False})
    found[REFERENCE] = Case("envelope", {"lexical": True})
    return found


def final(sets: dict[str, Questions], chosen: Mapping[str, Mapping[str, dict[str, Any]]] = CHOSEN) -> Iterator[str]:
    """One table for the synthetic sets and one for each real set, with paired intervals against `REFERENCE`."""
    results = {title: {name: run(sets[name], case) for name in sets} for title, case in cases(chosen).items()}
    made_up = {name: questions for name, questions in sets.items() if name not in REAL}
    yield from synthetic(made_up, results, REFERENCE)
    for name in (name for name in sets if name in REAL):
        whole = {title: found[name] > 1 - 1e-9 for title, found in results.items()}
        yield from (f"{name}, {len(sets[name].chosen)} questions:", "")
        yield from header("run", "all@5", "all@10", "all@40", *(f"@{d} over {REFERENCE}" for d in (5, 10, 40)))
        for title, found in whole.items():
            yield row(title, *(float(found[:, d - 1].mean()) for d in (5, 10, 40)), *over(found, whole[REFERENCE]))
        yield ""


def over(found: npt.NDArray[np.bool_], reference: npt.NDArray[np.bool_]) -> list[str]:
    """What a run has over another at 5, 10 and 40, with intervals."""
    return [interval(found[:, d - 1].astype(float) - reference[:, d - 1]) for d in (5, 10, 40)]


def with_names(workspace: Workspace) -> Workspace:
    """The workspace with edges between passages that share names, and signatures of this graph."""
    if "shared_name" not in workspace.edges.type_names:
        add_edges(workspace, "names")
        workspace = Workspace(workspace.folder)
        transform_workspace(workspace, "signature")
    return Workspace(workspace.folder)


def main() -> None:
    """Print the parts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path)
    add_data_option(parser, required=True)
    parser.add_argument("--part", choices=("development", "final"), action="append")
    parser.add_argument("--names", action="store_true", help="with shared names; needs a --folder of its own")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        for part in given.part or ("development", "final"):
            names = DEVELOPMENT if part == "development" else FINAL
            found = workspaces(given.folder or Path(temporary), given.data, names)
            if given.names:
                found |= {name: with_names(found[name]) for name in REAL}
            sets = {name: questions_of(name, workspace, part == "development") for name, workspace in found.items()}
            print(f"## {part}\n", flush=True)
            chosen = CHOSEN_WITH_NAMES if given.names else CHOSEN
            for line in development(sets) if part == "development" else final(sets, chosen):
                print(line, flush=True)


if __name__ == "__main__":
    main()
