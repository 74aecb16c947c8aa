"""Where the defaults of `envelope` come from, and what they are worth: every figure of docs/research/envelope.md.

    python benches/envelope_study.py                      all parts, workspaces in a temporary folder
    python benches/envelope_study.py --folder FOLDER      workspaces are kept there, and used if they are there already
    python benches/envelope_study.py --part development   what was tried, on development data only
    python benches/envelope_study.py --part gate          a learned gate, on development data only
    python benches/envelope_study.py --part final         validation, test and the real sets, with intervals
    python benches/envelope_study.py --part ablations     other collections and damaged graphs
    python benches/envelope_study.py --data FOLDER        the real sets from another folder

Development data are the synthetic development split with three seeds and half of the questions of each real set, those
whose id has an even SHA-256. Nothing else was looked at before a rule was chosen.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from data_sets import add_data_option
from envelope_gate import gate
from envelope_variants import development
from graph_baselines import milliseconds, prepare

from gme.benchmark import write_benchmark
from gme.embedders.options import EmbedOptions
from gme.evaluation.measures import scores_by_run
from gme.pipeline.embed import embed_workspace
from gme.pipeline.evaluate import evaluate_workspace
from gme.pipeline.prepare import RetrievalSetting, prepare_retrieval
from gme.pipeline.retrieve import retrieve_workspace
from gme.pipeline.transform import transform_workspace
from gme.transforms.diffusion import SignatureOptions
from gme.workspace import Workspace

SYNTHETIC = ("validation-42", "test-42")
DEVELOPMENT = ("development-41", "development-42", "development-43")
REAL = ("2wiki", "musique")
PARTS = ("development", "gate", "final", "ablations")
ALL_TYPES = ("chunk", "document", "entity")

Run = tuple[str, str, dict[str, Any], tuple[str, ...]]  # name, strategy, options, types

FINAL: list[Run] = [
    ("plain", "plain", {}, ()),
    ("plain, chunks only", "plain", {}, ("chunk",)),
    ("spread", "spread", {}, ()),
    ("spread, ungated", "spread", {"gate": "none"}, ()),
    ("spread, direct neighbors", "spread", {"hops": 1}, ()),
    ("pagerank", "pagerank", {}, ()),
    ("envelope", "envelope", {}, ()),
    ("envelope, titles ignored", "envelope", {"ignore_titles": True}, ()),
    ("envelope, all types returned", "envelope", {}, ALL_TYPES),
    ("envelope, mix .5", "envelope", {"mix": 0.5}, ()),
]


def workspaces(folder: Path, data: Path) -> dict[str, Workspace]:
    """All workspaces with vectors and a signature collection; those in `folder` already are used as they are."""
    found = {}
    for name in (*DEVELOPMENT, *SYNTHETIC, *REAL):
        workspace = Workspace(folder / name)
        if not (folder / name / "embeddings" / "signature.npy").is_file():
            if name in REAL:
                workspace = prepare(data / name, folder / name)
            else:
                split, seed = name.rsplit("-", 1)
                (folder / name).mkdir()
                write_benchmark(workspace, split=split, seed=int(seed))
                embed_workspace(workspace, EmbedOptions())
                transform_workspace(workspace, "signature")
        found[name] = workspace
    return found


def in_development(question: str) -> bool:
    """Whether a question of a real set belongs to the half that rules were chosen on."""
    return hashlib.sha256(question.encode()).digest()[0] % 2 == 0


def run_name(title: str) -> str:
    """The name of a run."""
    return title.replace(", ", "-").replace(" ", "-").replace(".", "").replace(":", "")


def measure(workspace: Workspace, runs: Sequence[Run], collection: str = "signature") -> dict[str, dict[str, Any]]:
    """Run and evaluate against plain; by title: the scores by population, and the number of ``searches``."""
    searches = {}
    kinds = set(workspace.nodes.types)
    for title, strategy, options, types in runs:
        setting = RetrievalSetting(
            collection=collection if strategy == "envelope" else "",
            types=[kind for kind in types if kind in kinds],
            threads=1,
        )
        manifest = retrieve_workspace(workspace, strategy, setting, name=run_name(title), **options)[1]
        searches[title] = manifest["search_calls"]
    evaluation = evaluate_workspace(workspace, [run_name(title) for title, *_ in runs], baseline="plain")
    scores = scores_by_run(evaluation)
    return {title: {**scores[run_name(title)], "searches": searches[title]} for title, *_ in runs}


def against(workspace: Workspace, reference: str) -> dict[str, Any]:
    """The scores of `envelope` by population, compared with another run that is there."""
    evaluation = evaluate_workspace(workspace, [run_name(reference), "envelope"], baseline=run_name(reference))
    scores: dict[str, Any] = evaluation["runs"][1]["populations"]
    return scores


def points(scores: dict[str, Any]) -> str:
    """A difference from plain with its 95 % interval, in points."""
    if "difference" not in scores:
        return ""
    low, high = scores["interval"]
    return f"{100 * scores['difference']:+.1f} [{100 * low:+.1f}, {100 * high:+.1f}]"


def row(*cells: object) -> str:
    """A line of a Markdown table; shares in percent."""
    return f"| {' | '.join(f'{100 * cell:.1f}' if isinstance(cell, float) else str(cell) for cell in cells)} |"


def header(*cells: str) -> Iterator[str]:
    """The first two lines of a Markdown table."""
    yield from (row(*cells), "|" + "---|" * len(cells))


def synthetic_tables(workspace: Workspace, name: str) -> Iterator[str]:
    """Recovery at 40 on a synthetic split: by run, then by family."""
    results = measure(workspace, FINAL)
    plain = results["plain"]["hard"]["recovery"]
    yield from (f"### {name}", "")
    yield from header("run", "hard", "over plain", "relative", "single-fact", "nodes for plain's 40", "searches")
    for title, scores in results.items():
        hard = scores["hard"]
        gain = f"{100 * (hard['recovery'] / plain - 1):+.0f} %"
        matched = hard.get("nodes_to_match", 40) or "never"
        single = scores["single-fact"]["recovery"]
        yield row(title, hard["recovery"], points(hard), gain, single, matched, scores["searches"])
    shown = ["envelope", "envelope, all types returned"]
    yield from ("", *header("family", "plain", "plain, chunks only", *shown))
    families = [family for family in dict.fromkeys(workspace.questions.families) if family]
    for family in families:
        cells = [f"{100 * results[run][family]['recovery']:.1f} ({points(results[run][family])})" for run in shown]
        bases = [results[run][family]["recovery"] for run in ("plain", "plain, chunks only")]
        yield row(family, *bases, *cells)
    compared = against(workspace, "plain, chunks only")
    matched = compared["hard"]["nodes_to_match"]
    worst, least = min((compared[family]["difference"], family) for family in families)
    yield from (
        "",
        f"`envelope` over plain, chunks only: hard {points(compared['hard'])}; least: {least} {100 * worst:+.1f};",
    )
    yield from (f"with {matched} nodes it finds what that finds with 40.", "")


def supporting(workspace: Workspace, title: str, development_half: bool, depth: int = 10) -> float:
    """all-supporting@depth on one half of the questions of a real set."""
    gold = {record["id"]: set(record["gold"]) for record in map(json.loads, workspace.path("questions.jsonl").open())}
    hits = []
    for record in map(json.loads, workspace.path(f"runs/{run_name(title)}.jsonl").open()):
        if in_development(record["question_id"]) == development_half:
            returned = {result["id"] for result in record["results"][:depth]}
            hits.append(gold[record["question_id"]] <= returned)
    return float(np.mean(hits))


def real_tables(workspace: Workspace, name: str) -> Iterator[str]:
    """all-supporting at 10 and 40 on a real set: all questions, and the half that no rule has seen."""
    runs = [run for run in FINAL if not run[3]]
    results = measure(workspace, runs)
    yield from (f"### {name}", "")
    columns = ["run", "all-supporting@10", "over plain", "McNemar p", "the other half@10", "all-supporting@40"]
    yield from header(*columns, "recovery@40", "searches")
    for title, scores in results.items():
        all_ = scores["all"]
        compared = all_.get("all_supporting_difference", {}).get("10")
        unseen = supporting(workspace, title, development_half=False)
        at = all_["all_supporting"]
        tested = (points(compared), f"{compared['p']:.2g}") if compared else ("", "")
        yield row(title, at["10"], *tested, unseen, at["40"], all_["recovery"], scores["searches"])
    walkers = [title for title, strategy, *_ in runs if strategy in ("spread", "pagerank")]
    reference = max(walkers, key=lambda title: results[title]["all"]["all_supporting"]["10"])
    best = against(workspace, reference)["all"]["all_supporting_difference"]["10"]
    yield from ("", f"`envelope` over {reference} at 10: {points(best)}, p = {best['p']:.2g}.")
    yield from ("", *header("family", "plain@40", "envelope@40"))
    for family in dict.fromkeys(workspace.questions.families):
        ours = results["envelope"][family]
        yield row(family, results["plain"][family]["recovery"], f"{100 * ours['recovery']:.1f} ({points(ours)})")
    yield ""


def latency(found: dict[str, Workspace]) -> Iterator[str]:
    """Milliseconds of a single question on one thread, and how many times as long as plain in the same rounds."""
    chosen = [run for run in FINAL if run[0] in ("plain", "pagerank", "envelope", "envelope, mix .5")]
    yield from header("one question, one thread, ms (× plain)", *(title for title, *_ in chosen))
    for name in ("validation-42", *REAL):
        ready = [prepare_retrieval(found[name], s, RetrievalSetting(threads=1), options) for _, s, options, _ in chosen]
        least = milliseconds(found[name], ready)
        yield row(name, *(f"{value:.1f} ({value / least[0]:.1f} ×)" for value in least))
    yield ""


def final(found: dict[str, Workspace]) -> Iterator[str]:
    """The figures of the chosen configuration."""
    for name in SYNTHETIC:
        yield from synthetic_tables(found[name], name)
    for name in REAL:
        yield from real_tables(found[name], name)
    yield from latency(found)


def damaged(source: Workspace, folder: Path, damage: str) -> Workspace:
    """A copy of a workspace with a signature collection of a damaged graph.

    ``shuffled``: the edges connect other nodes, chosen at random. ``half``: every second edge at random is missing.
    ``wrong``: a tenth more edges, between nodes at random.
    """
    shutil.copytree(source.folder, folder, ignore=shutil.ignore_patterns("runs", "reports", "indexes", "signature*"))
    edges = [json.loads(line) for line in source.path("edges.jsonl").open()]
    ids = sorted(source.nodes.ids)
    generator = np.random.default_rng(7)
    if damage == "shuffled":
        other = dict(zip(ids, (ids[i] for i in generator.permutation(len(ids))), strict=True))
        edges = [{**edge, "source": other[edge["source"]], "target": other[edge["target"]]} for edge in edges]
    elif damage == "half":
        edges = [edge for edge, keep in zip(edges, generator.random(len(edges)) < 0.5, strict=True) if keep]
    else:
        ends = generator.integers(0, len(ids), (len(edges) // 10, 2))
        edges += [{"source": ids[a], "target": ids[b], "type": "wrong"} for a, b in ends if a != b]
    (folder / "edges.jsonl").write_text("".join(json.dumps(edge) + "\n" for edge in edges), encoding="utf-8")
    workspace = Workspace(folder)
    transform_workspace(workspace, "signature")
    return workspace


def ablations(found: dict[str, Workspace]) -> Iterator[str]:
    """Hard recovery, the worst family and all-supporting@10 with other collections, damaged graphs, without text.

    Titles are ignored in all but the first, so that what is left of a damaged graph is the graph's.
    """

    def with_options(**options: Any) -> list[Run]:
        return [FINAL[0], FINAL[1], ("ablation", "envelope", {"ignore_titles": True, **options}, ())]

    default = with_options()
    cases: list[tuple[str, str, str, list[Run]]] = [
        ("envelope", "", "signature", with_options(ignore_titles=False)),
        ("titles ignored, as in all below", "", "signature", default),
        ("titles, shuffled graph", "shuffled", "signature", with_options(ignore_titles=False)),
        ("signature without text: mix 1", "", "signature", with_options(mix=1.0)),
        ("text walk instead of signature", "", "walk", default),
        ("signature, dim 256", "", "signature-dim256", default),
        ("signature, dim 1024", "", "signature-dim1024", default),
        ("signature, restart .3", "", "signature-restart0.3", default),
        ("crowding 0", "", "signature", with_options(redundancy_penalty=0.0)),
        ("shuffled graph", "shuffled", "signature", default),
        ("half of the edges removed", "half", "signature", default),
        ("10 % wrong edges added", "wrong", "signature", default),
    ]
    names = ("validation-42", *REAL)
    yield from header("ablation", "hard", "worst family, points", "2wiki, all-supporting@10", "musique")
    with tempfile.TemporaryDirectory() as temporary:
        for number, (title, damage, collection, runs) in enumerate(cases):
            results = {}
            for name in names:
                workspace = found[name]
                if damage:
                    workspace = damaged(workspace, Path(temporary) / f"{number}-{name}", damage)
                elif collection not in workspace.collections():
                    transform_collection(workspace, collection)
                results[name] = measure(workspace, runs, collection)
            if number == 0:
                yield ablation_row("plain", results, "plain")
                yield ablation_row("plain, chunks only", results, "plain, chunks only")
            yield ablation_row(title, results, "ablation")
    yield ""


def transform_collection(workspace: Workspace, name: str) -> None:
    """Make a collection of an ablation from its name."""
    method, _, option = name.partition("-")
    changed = {"dim256": {"dim": 256}, "dim1024": {"dim": 1024}, "restart0.3": {"restart": 0.3}}.get(option, {})
    transform_workspace(workspace, method, SignatureOptions(**changed) if method == "signature" else None)


def ablation_row(title: str, results: dict[str, dict[str, dict[str, Any]]], run: str) -> str:
    """A line of the table of ablations."""
    synthetic, *real = results.values()
    groups = {"all", "hard", "single-fact", "extremisation", "relational", "searches"}
    families = [name for name in synthetic[run] if name not in groups]
    worst = min(synthetic[run][name].get("difference", 0.0) for name in families)
    hard = synthetic[run]["hard"]
    gain = f" ({points(hard)})" if "difference" in hard else ""
    return row(
        title,
        f"{100 * hard['recovery']:.1f}{gain}",
        f"{100 * worst:+.1f}",
        *(scores[run]["all"]["all_supporting"]["10"] for scores in real),
    )


def main() -> None:
    """Print the parts asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_data_option(parser, required=True)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--part", choices=PARTS, action="append")
    given = parser.parse_args()
    parts = given.part or PARTS
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        folder.mkdir(exist_ok=True)
        found = workspaces(folder, given.data)
        sections = {
            "development": lambda: development([found[name] for name in (*DEVELOPMENT, *REAL)], in_development),
            "gate": lambda: gate([found[name] for name in (*DEVELOPMENT, *REAL)], in_development),
            "final": lambda: final(found),
            "ablations": lambda: ablations(found),
        }
        for part in parts:
            print(f"## {part.capitalize()}\n")
            for line in sections[part]():
                print(line, flush=True)


if __name__ == "__main__":
    main()
