"""What `gme graph check` says of graphs whose worth is known: the tables of docs/research/graph-check.md.

    python benches/graph_check_study.py                  all parts, workspaces in a temporary folder
    python benches/graph_check_study.py --folder FOLDER  workspaces and cases are kept there, and used if they are there
    python benches/graph_check_study.py --data FOLDER    the real sets from another folder
    python benches/graph_check_study.py --agreement      what other bounds of agreement bring, and nothing else
    python benches/graph_check_study.py --own            the same of the real sets' own graphs, with shared names too

Every set is a corpus with development questions. Its own graph is thinned, shuffled or replaced (graph_treatments.py);
texts, vectors and questions stay. In a set with *many gold* each question has the gold of the eight questions most like
it, which is more than 10 hits can hold.
"""

from __future__ import annotations

import argparse
import pickle
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from data_sets import add_data_option
from envelope_study import header, in_development, row
from graph_treatments import treated
from lexical_study import REAL, Found, Questions, interval, questions_of, workspaces
from names_study import answers, edges_of, joined, other_edges, signatures

import gme
from gme._core import Graph
from gme.builders.names import shared_names
from gme.diagnostics.check import check_graph
from gme.diagnostics.gain import FLOOR, HIGH, LOW, best_pointed, promised
from gme.diagnostics.results import CheckReport
from gme.diagnostics.verdict import verdict
from gme.retrieval import neighborhood
from gme.stores.exact import ExactStore
from gme.stores.store import Rows

SETS = ("2wiki", "musique", "development-41", "development-42")
ALIKE = 8
"""Questions whose gold is put together where there is much of it."""

MOST = 500
"""Of sets with more questions every third is asked."""

FEW = 0.02
"""Below this, next to nothing is promised: the floor of the range is fitted on such graphs."""

OUTSIDE = 0.1
"""The share of graphs that may lie beyond each end of the range."""

BOUNDS = ((4.0, (0.02, 0.06)), (8.0, (0.04, 0.10)), (8.0, (0.05, 0.12)), (8.0, (0.06, 0.16)), (8.0, (0.08, 0.20)))
"""Exponent of closeness, agreement of no and of full confidence."""


@dataclass(frozen=True)
class Case:
    """A graph, what it brings, and what the check says of it.

    Attributes:
        gains: by strategy, float64 (questions, 40): recall by depth with the graph less recall without it.
    """

    corpus: str
    treatment: str
    gains: dict[str, npt.NDArray[np.float64]]
    report: CheckReport

    @property
    def fitted(self) -> bool:
        """Whether the case belongs to the half that the range is fitted on."""
        return in_development(f"{self.corpus}: {self.treatment}")

    @property
    def gain(self) -> float:
        """What recall at 10 gains with words."""
        return float(self.gains["lexical"][:, 9].mean())

    @property
    def promised(self) -> float:
        """What the graph points to, as the range counts it."""
        assert self.report["oracle"] is not None
        return promised(self.report, self.report["oracle"])[0]


def gold_sets(questions: Questions) -> dict[str, list[list[int]]]:
    """The rows of each question's gold: its own, and many."""
    rows = {node: number for number, node in enumerate(questions.ids)}
    own = [[rows[node] for node in questions.workspace.questions.gold[place]] for place in questions.chosen]
    nearest = np.argsort(-(questions.queries @ questions.queries.T), axis=1, kind="stable")[:, :ALIKE]
    many = [sorted({row for other in line for row in own[other]}) for line in nearest]
    return {"": own, ", many gold": many}


def found(rows: Rows, gold: Sequence[Sequence[int]]) -> Found:
    """Recall of each question by depth."""
    return np.array([np.isin(line, wanted).cumsum() / len(wanted) for line, wanted in zip(rows, gold, strict=True)])


def use(questions: Questions, graph: Graph) -> None:
    """Replace the signatures by those of a graph."""
    original = questions.stores[0]
    signatures = np.ascontiguousarray(gme.transform("signature", graph).vectors)
    vars(questions)["stores"] = [original, ExactStore(signatures, original.ranks)]


def cases(name: str, questions: Questions) -> Iterator[Case]:
    """All treatments of a set, each with its own gold and with many."""
    original = np.asarray(questions.stores[0].vectors)
    golds = gold_sets(questions)
    without = {"plain": questions.answer("plain"), "hybrid": questions.answer("hybrid")}
    for treatment, graph in treated(questions.workspace):
        use(questions, graph)
        runs = {"plain": questions.answer("envelope"), "hybrid": questions.answer("envelope", lexical=True)}
        for suffix, gold in golds.items():
            report = check_graph(
                graph, questions.workspace.nodes.types, gold, vectors=original, questions=questions.queries
            )
            plain, lexical = (found(runs[key], gold) - found(without[key], gold) for key in ("plain", "hybrid"))
            yield Case(name + suffix, treatment, {"plain": plain, "lexical": lexical}, report)


def kept_cases(name: str, questions: Questions, folder: Path) -> list[Case]:
    """The cases of a set, from a file of an earlier run if there is one; what the check says of them is said anew."""
    path = folder / f"graph-check-{name}.pickle"
    if not path.is_file():
        path.write_bytes(pickle.dumps(list(cases(name, questions))))
    found_there: list[Case] = pickle.loads(path.read_bytes())
    for case in found_there:
        case.report["verdict"] = verdict(case.report)
    return found_there


def calibration(every: Sequence[Case]) -> Iterator[str]:
    """What each graph brings, and what the check sees and says."""
    for corpus in dict.fromkeys(case.corpus for case in every):
        yield from (f"### {corpus}", "")
        yield from header(
            "edges",
            "envelope with words over hybrid @10",
            "@40",
            "envelope over plain @10",
            "@40",
            "open",
            "pointed to",
            "linkage, lift",
            "more alike",
            "expected @10",
            "sure",
        )
        for case in every:
            if case.corpus == corpus:
                yield row(case.treatment, *_measured(case), *_seen(case))
        yield ""


def _measured(case: Case) -> Iterator[str]:
    for strategy in ("lexical", "plain"):
        gains = case.gains[strategy]
        yield interval(gains[:, 9]) if strategy == "lexical" else f"{100 * gains[:, 9].mean():+.1f}"
        yield f"{100 * gains[:, 39].mean():+.1f}"


def _seen(case: Case) -> Iterator[str]:
    oracle, linkage, alike = case.report["oracle"], case.report["linkage"], case.report["agreement"]
    gain = case.report["verdict"]["gain"]
    assert oracle is not None
    assert linkage is not None
    line = best_pointed(oracle)
    yield f"{100 * oracle['room']['open']:.1f}"
    yield f"{100 * line['share']:+.1f} ± {200 * (line['error'] or 0.0):.1f}"
    yield f"{100 * linkage['share']:.0f} %, {'–' if linkage['lift'] is None else format(linkage['lift'], ',.1f')}"
    yield "–" if alike is None else f"{100 * alike['more_alike']:.0f} %"
    yield "–" if gain is None else f"{100 * gain['low']:+.1f} to {100 * gain['high']:+.1f}"
    yield "–" if gain is None else gain["sure"]


def line_of(chosen: Sequence[Case], share: float, floor: float = -1.0) -> tuple[float, float]:
    """Slope and offset of the line that a share of the graphs lie below, by the least pinball loss on a grid."""
    told, gains = np.array([case.promised for case in chosen]), np.array([case.gain for case in chosen])
    best = (np.inf, 0.0, 0.0)
    for slope in np.arange(0.0, 2.01, 0.05):
        for offset in np.arange(-0.20, 0.051, 0.002):
            left = gains - np.maximum(slope * told + offset, floor)
            loss = float(np.where(left > 0, share * left, (share - 1) * left).sum())
            best = min(best, (loss, float(slope), float(offset)))
    return best[1], best[2]


def judge(every: Sequence[Case]) -> Iterator[str]:
    """The fit on one half of the graphs, and how often the range, wider by half a point, holds on each half."""
    fitted = [case for case in every if case.fitted]
    floor = float(np.quantile([case.gain for case in fitted if case.promised < FEW], OUTSIDE))
    yield f"- FLOOR: {floor:.3f}; in use: {FLOOR:.3f}"
    for name, share, bottom, used in (("LOW", OUTSIDE, floor, LOW), ("HIGH", 1 - OUTSIDE, -1.0, HIGH)):
        slope, offset = line_of(fitted, share, bottom)
        yield f"- {name}: {slope:.2f}·promised {offset:+.3f}; in use: {used[0]:.2f}·promised {used[1]:+.3f}"
    yield ""
    yield from header("half", "sure", "graphs", "within the range", "below it", "above it", "median width")
    for half, of_half in (("fitted on", True), ("not fitted on", False)):
        for sure in ("likely", "unsure"):
            ranges = [(case, case.report["verdict"]["gain"]) for case in every if case.fitted == of_half]
            told = [(case, gain) for case, gain in ranges if gain is not None and gain["sure"] == sure]
            below = [case for case, gain in told if case.gain < gain["low"]]
            above = [case for case, gain in told if case.gain > gain["high"]]
            width = float(np.median([gain["high"] - gain["low"] for _, gain in told])) if told else 0.0
            inside = len(told) - len(below) - len(above)
            yield row(half, sure, len(told), inside, len(below), len(above), f"{100 * width:.1f}")
    yield ""
    for case in every:
        gain = case.report["verdict"]["gain"]
        if not case.fitted and gain is not None and not gain["low"] <= case.gain <= gain["high"]:
            told_range = f"{100 * gain['low']:+.1f} to {100 * gain['high']:+.1f}, {gain['sure']}"
            yield f"- outside: {case.corpus}, {case.treatment}: {100 * case.gain:+.1f}, expected {told_range}"
    yield ""


def bounds(sets: dict[str, Questions]) -> Iterator[str]:
    """What other bounds of agreement bring: points of recall over `hybrid`, at 10 and at 40."""
    for name, questions in sets.items():
        yield from (f"### {name}", "")
        yield from header("edges", *(f"closeness^{power:g}, {low:g} to {full:g}" for power, (low, full) in BOUNDS))
        gold = gold_sets(questions)[""]
        without = found(questions.answer("hybrid"), gold)
        for treatment, graph in treated(questions.workspace):
            use(questions, graph)
            cells = []
            for neighborhood.PAIR_CLOSENESS, neighborhood.BELIEF in BOUNDS:
                gains = found(questions.answer("envelope", lexical=True), gold) - without
                cells.append(" / ".join(f"{100 * gains[:, depth - 1].mean():+.1f}" for depth in (10, 40)))
            yield row(treatment, *cells)
        yield ""


def own_graphs(sets: dict[str, Questions]) -> Iterator[str]:
    """All-supporting at 5, 10 and 40 by bounds of agreement: title mentions, and these with shared names."""
    yield from header("edges", *(f"closeness^{power:g}, {low:g} to {full:g}" for power, (low, full) in BOUNDS))
    for name in REAL:
        questions = sets[name]
        others = other_edges(questions)
        names = joined(others, edges_of(shared_names(questions.workspace.nodes)))
        for title, edges in (("own edges", others), ("own edges and shared names", names)):
            vectors = signatures(questions.ids, edges, 42)
            for words in (True, False):
                cells = []
                for neighborhood.PAIR_CLOSENESS, neighborhood.BELIEF in BOUNDS:
                    whole = answers(questions, vectors, lexical=words) > 1 - 1e-9
                    cells.append("/".join(f"{100 * whole[:, depth - 1].mean():.1f}" for depth in (5, 10, 40)))
                yield row(f"{name}, {title}, {'with' if words else 'without'} words", *cells)
    yield ""


def _some(questions: Questions) -> Questions:
    """All questions, or every third of a set with many of each family."""
    return questions if len(questions.chosen) < MOST else Questions(questions.workspace, questions.chosen[::3])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--set", choices=SETS, action="append", help="only this set; default: all")
    parser.add_argument("--agreement", action="store_true")
    parser.add_argument("--own", action="store_true")
    add_data_option(parser, required=True)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        opened = workspaces(folder, given.data, REAL if given.own else given.set or SETS)
        sets = {name: _some(questions_of(name, workspace, development=True)) for name, workspace in opened.items()}
        if given.agreement:
            lines = bounds(sets)
        elif given.own:
            lines = own_graphs(sets)
        else:
            every = [case for name, questions in sets.items() for case in kept_cases(name, questions, folder)]
            lines = iter([*judge(every), *calibration(every)])
        for line in lines:
            print(line, flush=True)


if __name__ == "__main__":
    main()
