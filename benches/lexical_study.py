"""What words and pairs of words add: the tables of docs/research/lexical.md.

    python benches/lexical_study.py                      all parts, workspaces in a temporary folder
    python benches/lexical_study.py --folder FOLDER      workspaces are kept there, and used if they are there already
    python benches/lexical_study.py --part development   how the two evidences are joined, on development data only
    python benches/lexical_study.py --part final         the rest: validation, test, the other halves; with intervals
    python benches/lexical_study.py --part latency       what the search by words takes of a question's time
    python benches/lexical_study.py --part peers         the index beside bm25s (pip install bm25s)
    python benches/lexical_study.py --part scale         an index of 5 million texts, which takes 19 GB on the disk
    python benches/lexical_study.py --data FOLDER        the real sets from another folder

Development data are the synthetic development split with three seeds, and half of the questions of each real set, those
whose id has an even SHA-256. All runs return chunks only, of a corpus that has other types.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from data_sets import add_data_option
from envelope_study import header, in_development, row
from graph_baselines import prepare
from lexical_speed import latency, peers, scale

import gme
from gme.benchmark import write_benchmark
from gme.embedders.options import EmbedOptions
from gme.evaluation.significance import bootstrap
from gme.lexical import LexicalIndex
from gme.pipeline.embed import embed_workspace
from gme.pipeline.lexical import open_lexical
from gme.pipeline.transform import transform_workspace
from gme.stores.exact import ExactStore
from gme.stores.store import NO_ROW, Rows, best, sorted_ranks
from gme.workspace import Workspace

REAL = ("2wiki", "musique")
DEVELOPMENT = ("development-41", "development-42", "development-43", *REAL)
SPLITS = ("validation", "test")
FINAL = (*(f"{split}-{seed}" for split in SPLITS for seed in (101, 102, 103)), *REAL)
PARTS = ("development", "final", "latency", "peers", "scale")
BUDGET = 40
WEIGHTS = (0.5, 1.0, 2.0, 3.0, 4.0)
REST_WEIGHTS = (0.0, 0.5, 2.0)


@dataclass(frozen=True)
class Questions:
    """The questions of a set that count, and what is needed to answer them."""

    workspace: Workspace
    chosen: list[int]

    @cached_property
    def ids(self) -> list[str]:
        """The ids of the nodes."""
        return self.workspace.nodes.ids

    @cached_property
    def texts(self) -> list[str]:
        """The questions' texts."""
        return [self.workspace.questions.texts[place] for place in self.chosen]

    @cached_property
    def queries(self) -> npt.NDArray[np.float32]:
        """The questions' vectors."""
        return np.ascontiguousarray(self.workspace.question_vectors()[self.chosen])

    @cached_property
    def index(self) -> LexicalIndex:
        """The nodes' words."""
        return open_lexical(self.workspace)

    @cached_property
    def stores(self) -> list[ExactStore]:
        """The original vectors and the signatures."""
        ranks = sorted_ranks(self.ids)
        return [ExactStore(self.workspace.collection(name).vectors, ranks) for name in ("original", "signature")]

    @cached_property
    def allowed(self) -> npt.NDArray[np.bool_]:
        """Which nodes are chunks."""
        return np.array([kind == "chunk" for kind in self.workspace.nodes.types])

    @cached_property
    def named(self) -> Rows:
        """The nodes that questions name."""
        return gme.match_titles(self.workspace.nodes.titles, self.texts, self.queries, self.stores[0])

    def answer(self, strategy: str, **options: Any) -> Rows:
        """The rows that a strategy returns."""
        named = self.named if strategy == "envelope" else None
        words = {"texts": self.index, "questions": self.texts}
        given = {"allowed": self.allowed, "named": named, "budget": BUDGET, **words, **options}
        return gme.retrieve(strategy, *self.stores, self.queries, **given).rows

    def found(self, rows: Rows) -> npt.NDArray[np.float64]:
        """The share of its evidence that each question has found at each place, (questions, places)."""
        hits = np.zeros(rows.shape)
        for line, (place, found) in enumerate(zip(self.chosen, rows, strict=True)):
            gold = set(self.workspace.questions.gold[place])
            hits[line] = [node != NO_ROW and self.ids[node] in gold for node in found]
            hits[line] /= len(gold)
        return hits.cumsum(axis=1)

    @cached_property
    def hard(self) -> npt.NDArray[np.bool_]:
        """Which questions are of the hard synthetic groups; those of a real set are none."""
        groups = [self.workspace.questions.groups[place] for place in self.chosen]
        return np.isin(groups, ["extremisation", "relational"])

    def of_family(self, name: str) -> npt.NDArray[np.bool_]:
        """Which questions are of a family."""
        return np.array([self.workspace.questions.families[place] for place in self.chosen]) == name


Found = npt.NDArray[np.float64]
Rule = Callable[[Questions], Rows]


def by_ranks(questions: Questions, constant: int, depth: int) -> Rows:
    """Reciprocal rank fusion of `plain` and `bm25` (Cormack, Clarke and Büttcher 2009)."""
    total: dict[tuple[int, int], float] = {}
    for strategy in ("plain", "bm25"):
        for line, found in enumerate(questions.answer(strategy, budget=depth).tolist()):
            for place, node in enumerate(found, start=1):
                if node != NO_ROW:
                    total[line, node] = total.get((line, node), 0.0) + 1 / (constant + place)
    lines: list[list[int]] = [[] for _ in questions.chosen]
    for line, node in total:
        lines[line].append(node)
    width = max(map(len, lines))
    rows = np.array([line + [NO_ROW] * (width - len(line)) for line in lines], dtype=np.uint32)
    scores = np.array(
        [[total.get((line, node), -np.inf) for node in found] for line, found in enumerate(rows.tolist())]
    )
    return best(rows, scores.astype(np.float32), questions.stores[0].ranks, BUDGET)[0]


FINAL_RULES: dict[str, Rule] = {
    "plain": lambda questions: questions.answer("plain"),
    "bm25": lambda questions: questions.answer("bm25"),
    "hybrid": lambda questions: questions.answer("hybrid"),
    "envelope, no words": lambda questions: questions.answer("envelope", lexical=False),
    "envelope, no rest": lambda questions: questions.answer("envelope", rest_weight=0.0),
    "envelope": lambda questions: questions.answer("envelope"),
    "envelope, titles ignored": lambda questions: questions.answer("envelope", named=None),
    "shuffled graph, titles ignored": lambda questions: shuffled(questions).answer("envelope"),
}
DEVELOPMENT_RULES: dict[str, Rule] = {
    **{name: FINAL_RULES[name] for name in ("plain", "bm25")},
    "reciprocal ranks, 60, of 40": lambda questions: by_ranks(questions, 60, 40),
    "reciprocal ranks, 60, of 160": lambda questions: by_ranks(questions, 60, 160),
    "reciprocal ranks, 10, of 40": lambda questions: by_ranks(questions, 10, 40),
    **{f"hybrid, {w:g}": lambda q, w=w: q.answer("hybrid", lexical_weight=w) for w in WEIGHTS},  # type: ignore[misc]
    "envelope, no words": FINAL_RULES["envelope, no words"],
    **{f"envelope, {w:g}": lambda q, w=w: q.answer("envelope", lexical_weight=w) for w in WEIGHTS},  # type: ignore[misc]
    **{f"envelope, rest {w:g}": lambda q, w=w: q.answer("envelope", rest_weight=w) for w in REST_WEIGHTS},  # type: ignore[misc]
    **{f"envelope, lift {w:g}": lambda q, w=w: q.answer("envelope", lift=w) for w in (2.0, 3.0)},  # type: ignore[misc]
    "envelope, closeness 4": lambda questions: questions.answer("envelope", closeness=4.0),
}


def shuffled(questions: Questions) -> Questions:
    """The same questions with the signatures of other nodes, and no titles: what is left is words and vectors."""
    other = Questions(questions.workspace, questions.chosen)
    original, signature = questions.stores
    order = np.random.default_rng(1).permutation(len(signature.vectors))
    vars(other)["stores"] = [original, ExactStore(np.ascontiguousarray(signature.vectors[order]), original.ranks)]
    vars(other)["named"] = np.empty((len(questions.chosen), 0), dtype=np.uint32)
    return other


def workspaces(folder: Path, data: Path, names: Sequence[str]) -> dict[str, Workspace]:
    """Workspaces with vectors and a signature collection; those in `folder` already are used as they are."""
    found = {}
    for name in names:
        workspace = Workspace(folder / name)
        if not workspace.path("embeddings/signature.npy").is_file():
            if name in REAL:
                workspace = prepare(data / name, folder / name)
            else:
                split, seed = name.rsplit("-", 1)
                (folder / name).mkdir(exist_ok=True)
                write_benchmark(workspace, split=split, seed=int(seed))
                embed_workspace(workspace, EmbedOptions())
                transform_workspace(workspace, "signature")
        found[name] = workspace
    return found


def questions_of(name: str, workspace: Workspace, development: bool) -> Questions:
    """All questions of a synthetic split, or one half of those of a real set."""
    ids = workspace.questions.ids
    chosen = [place for place, i in enumerate(ids) if name not in REAL or in_development(i) == development]
    return Questions(workspace, chosen)


def interval(differences: npt.NDArray[np.float64]) -> str:
    """A mean difference with its 95 % interval, in points, and how many questions gain and lose."""
    low, high = bootstrap(differences[:, None])[0]
    won, lost = int((differences > 1e-9).sum()), int((differences < -1e-9).sum())
    return f"{100 * differences.mean():+.1f} [{100 * low:+.1f}, {100 * high:+.1f}], won {won}, lost {lost}"


def synthetic(
    sets: Mapping[str, Questions], results: Mapping[str, Mapping[str, Found]], reference: str
) -> Iterator[str]:
    """Recovery at 40 over all questions of several sets: hard, with its interval, and by family."""
    families = sorted({family for questions in sets.values() for family in questions.workspace.questions.families})
    yield from header("run", "hard", f"hard over {reference}", *families)

    def chosen(rule: str, which: Callable[[Questions], npt.NDArray[np.bool_]]) -> Found:
        return np.concatenate([results[rule][name][which(questions), -1] for name, questions in sets.items()])

    def hard(questions: Questions) -> npt.NDArray[np.bool_]:
        return questions.hard

    for rule in results:
        gain = "" if rule == reference else interval(chosen(rule, hard) - chosen(reference, hard))
        cells = [float(chosen(rule, lambda q, f=family: q.of_family(f)).mean()) for family in families]  # type: ignore[misc]
        yield row(rule, float(chosen(rule, hard).mean()), gain, *cells)
    yield ""


def real(name: str, results: Mapping[str, Mapping[str, Found]], reference: str) -> Iterator[str]:
    """All-supporting and recall by depth, and what each run has over another at 5 and 10."""
    yield from (f"{name}, {len(next(iter(results.values()))[name])} questions:", "")
    over = [f"all@{depth} over {reference}" for depth in (5, 10)]
    yield from header("run", "all@5", "all@10", "all@20", "all@40", "recall@5", "recall@10", *over)
    whole = {rule: found[name] > 1 - 1e-9 for rule, found in results.items()}
    for rule, found in results.items():
        shares = [whole[rule][:, depth - 1].mean() for depth in (5, 10, 20, 40)]
        recall = [found[name][:, depth - 1].mean() for depth in (5, 10)]
        gains = [interval(whole[rule][:, d].astype(float) - whole[reference][:, d]) for d in (4, 9)]
        yield row(rule, *map(float, (*shares, *recall)), *(["", ""] if rule == reference else gains))
    yield ""


def tables(folder: Path, data: Path, names: Sequence[str], rules: Mapping[str, Rule], reference: str) -> Iterator[str]:
    """One table for each split of the synthetic sets, one for each real set."""
    found = workspaces(folder, data, names)
    sets = {name: questions_of(name, workspace, names == DEVELOPMENT) for name, workspace in found.items()}
    results = {title: {name: sets[name].found(rule(sets[name])) for name in sets} for title, rule in rules.items()}
    for split in dict.fromkeys(name.rsplit("-", 1)[0] for name in names if name not in REAL):
        made_up = {name: questions for name, questions in sets.items() if name.startswith(split)}
        seeds = ", ".join(name.rsplit("-", 1)[1] for name in made_up)
        yield from (f"{split}, seeds {seeds}, {sum(len(s.chosen) for s in made_up.values()):,} questions:", "")
        yield from synthetic(made_up, results, reference)
    for name in REAL:
        yield from real(name, results, reference)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path)
    add_data_option(parser, required=False)
    parser.add_argument("--part", choices=PARTS, action="append")
    parser.add_argument("--sizes", type=int, nargs="*", default=[6_000, 100_000])
    given = parser.parse_args()
    if given.data is None and {"development", "final"} & set(given.part or PARTS):
        parser.error("the parts development and final need --data")
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        for part in given.part or PARTS:
            print(f"## {part}\n", flush=True)
            lines: Iterator[str] = {
                "development": lambda: tables(folder, given.data, DEVELOPMENT, DEVELOPMENT_RULES, "envelope, 2"),
                "final": lambda: tables(folder, given.data, FINAL, FINAL_RULES, "envelope"),
                "latency": lambda: latency(given.sizes),
                "peers": lambda: peers(given.sizes),
                "scale": lambda: scale(5_000_000, folder),
            }[part]()
            for line in lines:
                print(line, flush=True)


if __name__ == "__main__":
    main()
