"""Gold evidence: which nodes answer which question, the populations of questions, and the comparison with runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..errors import GmeError
from ..workspace.records import NOT_EVIDENCE, Nodes, Questions
from .runs import Run

GROUPS = ("single-fact", "extremisation", "relational")
HARD = ("extremisation", "relational")

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class JudgedRun:
    """A run compared with the gold. There is one line for each question with gold, sorted by question id.

    Attributes:
        found: float64 (questions, places): the share of the question's gold among the first 1, 2, … returned nodes.
        places: for each question, the places of its gold in the run, counted from 1 and rising. Missing gold has no
            place.
        depth: the budget that the run was made with, as far as it is known. Deeper measures are not defined.
    """

    name: str
    found: Floats
    places: list[list[int]]
    depth: float

    @property
    def budget(self) -> int:
        """How many nodes the run returns at most."""
        return int(self.found.shape[1])

    def reaches(self, k: int) -> bool:
        """Whether the run has a depth of k: a run of 10 nodes has no recall@40."""
        return k <= self.depth

    def recall(self, k: int) -> Floats:
        """For each question, the share of its gold among the first k nodes, or in the whole list if k is larger."""
        return self.found[:, min(k, self.budget) - 1]

    def all_supporting(self, k: int) -> Floats:
        """For each question, 1 if all of its gold is among the first k nodes, else 0."""
        return (self.recall(k) >= 1).astype(np.float64)


@dataclass(frozen=True)
class Gold:
    """The questions that have evidence, sorted by id, and the populations they belong to.

    Attributes:
        rows: the gold rows of each question.
        grades: the grade of each of those rows: the question's `relevance` if that is 1 or above, else 1.
        hops: the hop count of each question. If the question gives none, the number of its gold nodes (RT).
        populations: name -> the lines of its questions: ``all``, ``hard`` (extremisation and relational), groups,
            families.
        kinds: name -> "all", "hard", "group" or "family".
        without: the number of questions that have no evidence and are left out.
        nodes: the number of nodes.
    """

    ids: list[str]
    rows: list[set[int]]
    grades: list[dict[int, int]]
    hops: list[int]
    populations: dict[str, npt.NDArray[np.intp]]
    kinds: dict[str, str]
    without: int
    nodes: int


def collect_gold(questions: Questions, nodes: Nodes) -> Gold:
    """Sort questions by id, keep those with evidence, and group them.

    Raises:
        GmeError: no question has evidence.
    """
    order = sorted(range(len(questions)), key=questions.ids.__getitem__)
    rows_of = [
        {row for row in map(nodes.rows.__getitem__, gold) if nodes.types[row] not in NOT_EVIDENCE}
        for gold in questions.gold
    ]
    relevance = questions.relevance or [{}] * len(questions)
    kept = [number for number in order if rows_of[number]]
    if not kept:
        raise GmeError(
            "no question has gold evidence",
            "give questions.jsonl a 'gold' list of node ids (not documents or entities)",
        )
    groups = [questions.groups[number] for number in kept]
    families = [questions.families[number] for number in kept]
    populations: dict[str, npt.NDArray[np.intp]] = {"all": np.arange(len(kept))}
    kinds = {"all": "all"}
    hard = np.flatnonzero([group in HARD for group in groups])
    if len(hard):
        populations["hard"], kinds["hard"] = hard, "hard"
    for kind, labels, names in (
        ("group", groups, _group_order(groups)),
        ("family", families, _family_order(families, groups)),
    ):
        for name in names:
            key = name if name not in populations else f"{kind} {name}"
            populations[key], kinds[key] = np.flatnonzero([label == name for label in labels]), kind
    return Gold(
        [questions.ids[n] for n in kept],
        [rows_of[n] for n in kept],
        [{row: max(1, relevance[n].get(nodes.ids[row], 1)) for row in sorted(rows_of[n])} for n in kept],
        [questions.hops[n] or len(rows_of[n]) for n in kept],
        populations,
        kinds,
        len(order) - len(kept),
        len(nodes),
    )


def _group_order(groups: Sequence[str]) -> list[str]:
    present = set(groups) - {""}
    return [name for name in GROUPS if name in present] + sorted(present - set(GROUPS))


def _family_order(families: Sequence[str], groups: Sequence[str]) -> list[str]:
    """The families, sorted by group and then by name."""
    places = {name: place for place, name in enumerate(_group_order(groups))}
    group_of = {
        family: min(places.get(g, len(places)) for f, g in zip(families, groups, strict=True) if f == family)
        for family in set(families)
    }
    return sorted(set(families) - {""}, key=lambda family: (group_of[family], family))


def judge(run: Run, gold: Gold) -> JudgedRun:
    """Compare a run with the gold."""
    longest = max(len(run.results[question]) for question in gold.ids)
    hits = np.zeros((len(gold.ids), max(1, longest)), dtype=np.int64)
    for line, (question, rows) in enumerate(zip(gold.ids, gold.rows, strict=True)):
        for place, row in enumerate(run.results[question]):
            hits[line, place] = row in rows
    sizes = np.array([len(rows) for rows in gold.rows])
    places = [(np.flatnonzero(line) + 1).tolist() for line in hits]
    budget = run.manifest.get("options", {}).get("budget", 0)
    # A run that returns all nodes has every depth.
    depth = float("inf") if longest >= gold.nodes else max(longest, budget if isinstance(budget, int) else 0)
    return JudgedRun(run.name, np.cumsum(hits, axis=1) / sizes[:, None], places, depth)
