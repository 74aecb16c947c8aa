"""The graph at query time against retrieval without it, on the real multi-hop sets, as Markdown.

    python benches/graph_baselines.py                   both tables: all strategies, and spread by number of seeds
    python benches/graph_baselines.py --rules           and spread by decay, hops and gate
    python benches/graph_baselines.py --data FOLDER     the folder of the sets: nodes, questions, float16 vectors

Graphs are title mentions. Every strategy runs with its defaults, the same on all sets, but for what its line names.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from data_sets import add_data_option

from gme.embedders.options import EmbedOptions
from gme.evaluation.measures import scores_by_run
from gme.pipeline.edges import write_mentions
from gme.pipeline.embed import embed_workspace
from gme.pipeline.evaluate import evaluate_workspace
from gme.pipeline.prepare import Prepared, RetrievalSetting, prepare_retrieval
from gme.pipeline.retrieve import retrieve_workspace, single_latency
from gme.pipeline.transform import transform_workspace
from gme.workspace import Workspace

DEPTHS = (5, 10, 20, 40)


@dataclass(frozen=True)
class Baseline:
    """A line of a table: what it is called, and what is run."""

    title: str
    strategy: str
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def run(self) -> str:
        """The name of its run."""
        return "-".join([self.strategy, *(f"{name}-{value}" for name, value in self.options.items())])


BASELINES = [
    Baseline("dense (`plain`)", "plain"),
    Baseline("`spread`, ungated", "spread", {"gate": "none"}),
    Baseline("`spread`", "spread"),
    Baseline("`spread`, direct neighbors only", "spread", {"hops": 1}),
    Baseline("`pagerank`", "pagerank"),
    Baseline("`envelope`, signature", "envelope"),
]
SEEDS = [
    Baseline("dense (`plain`)", "plain"),
    *(
        Baseline(f"{seeds}, {words}", "spread", {"seeds": seeds, "gate": gate})
        for gate, words in (("cosine", "gated"), ("none", "ungated"))
        for seeds in (1, 5, 10, 200)
    ),
]

RULES = [
    Baseline("dense (`plain`)", "plain"),
    *(
        Baseline(f"decay {decay}, {hops} hops, {words}", "spread", {"decay": decay, "hops": hops, "gate": gate})
        for gate, words in (("cosine", "gated"), ("none", "ungated"))
        for decay in (0.5, 0.85, 0.95)
        for hops in (1, 2, 3)
    ),
]


def prepare(source: Path, folder: Path) -> Workspace:
    """A workspace of one set in `folder`: title mentions, the stored vectors, a signature collection."""
    folder.mkdir()
    for name in ("nodes.jsonl", "questions.jsonl"):
        shutil.copy(source / name, folder / name)
    workspace = Workspace(folder)
    write_mentions(workspace)
    model = f"file:{source / 'original-f16.npy'}"
    embed_workspace(workspace, EmbedOptions(model=model, questions_file=str(source / "questions-f16.npy")))
    transform_workspace(workspace, "signature")
    return workspace


def measure(workspace: Workspace, baselines: Sequence[Baseline]) -> list[dict[str, Any]]:
    """Run each baseline on a workspace that has what it needs, and score it.

    Returns:
        For each: ``title``, ``all_supporting`` by depth, McNemar's ``p`` against plain at 10 (None for plain itself),
        ``milliseconds`` of a single question, when it needs the ``graph`` (at query time, offline, not at all).
    """
    manifests = {}
    for entry in baselines:
        manifests[entry.run] = retrieve_workspace(workspace, entry.strategy, name=entry.run, **entry.options)[1]
    evaluation = evaluate_workspace(workspace, list(manifests), baseline="plain")
    scores = {run: populations["all"] for run, populations in scores_by_run(evaluation).items()}
    setting = RetrievalSetting(threads=1)  # more do not help a single question
    ready = [prepare_retrieval(workspace, entry.strategy, setting, entry.options) for entry in baselines]
    latency = milliseconds(workspace, ready)
    return [
        {
            "title": entry.title,
            "all_supporting": {depth: scores[entry.run]["all_supporting"][str(depth)] for depth in DEPTHS},
            "p": scores[entry.run].get("all_supporting_difference", {}).get("10", {}).get("p"),
            "milliseconds": least,
            "graph": "at query time"
            if manifests[entry.run]["graph_at_query_time"]
            else "offline"
            if manifests[entry.run]["collection"]
            else "none",
        }
        for entry, least in zip(baselines, latency, strict=True)
    ]


def milliseconds(workspace: Workspace, ready: Sequence[Prepared], rounds: int = 5) -> list[float]:
    """Of each, the median of single questions: the least of several rounds in turn, for other work comes and goes."""
    queries, texts = workspace.question_vectors(), workspace.questions.texts
    pairs = [(prepared, prepared.match_titles(queries, texts)) for prepared in ready]
    medians = [[single_latency(prepared, queries, named)["p50"] for prepared, named in pairs] for _ in range(rounds)]
    return [min(values) for values in zip(*medians, strict=True)]


def table(results: Sequence[dict[str, Any]], heading: str) -> list[str]:
    """Results as a Markdown table; shares in percent."""
    columns = [
        heading,
        *(f"all-supporting@{depth}" for depth in DEPTHS),
        "McNemar p at 10",
        "ms a question, one thread",
        "graph",
    ]
    lines = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    for result in results:
        cells = [
            result["title"],
            *(f"{100 * result['all_supporting'][depth]:.1f}" for depth in DEPTHS),
            "" if result["p"] is None else f"{result['p']:.2g}",
            f"{result['milliseconds']:.2f}",
            result["graph"],
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def sections(data: Path, rules: bool = False) -> Iterator[str]:
    """The tables for every set in a folder, line by line; `rules` adds the one `SpreadOptions` refers to."""
    with tempfile.TemporaryDirectory() as temporary:
        for source in sorted(path for path in data.iterdir() if (path / "original-f16.npy").is_file()):
            workspace = prepare(source, Path(temporary) / source.name)
            nodes, questions = len(workspace.nodes), len(workspace.questions)
            yield from (f"### {source.name}: {questions} questions, {nodes:,} passages", "")
            yield from (*table(measure(workspace, BASELINES), "strategy"), "")
            yield from (*table(measure(workspace, SEEDS), "seeds of `spread`"), "")
            if rules:
                yield from (*table(measure(workspace, RULES), "rules of `spread`"), "")


def main() -> None:
    """Print everything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_data_option(parser, required=True)
    parser.add_argument("--rules", action="store_true")
    given = parser.parse_args()
    for line in sections(given.data, given.rules):
        print(line, flush=True)


if __name__ == "__main__":
    main()
