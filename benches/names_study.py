"""What shared names add: the tables of docs/research/names.md.

    python benches/names_study.py                      all parts, workspaces in a temporary folder
    python benches/names_study.py --folder FOLDER      workspaces are kept there, and used if they are there already
    python benches/names_study.py --part development   the form of the layer, on development data only
    python benches/names_study.py --part final         with and without names, on the other halves; with intervals
    python benches/names_study.py --part entities      names beside an entity layer: the synthetic development split
    python benches/names_study.py --part pool          both real sets as one corpus, development halves
    python benches/names_study.py --part speed         100,000 passages: those of the real sets, with changed names
    python benches/names_study.py --data FOLDER        the real sets from another folder

Development data are half of the questions of each real set, those whose id has an even SHA-256. All runs are
`envelope` with words and return chunks only. Figures of the development part are means over the seeds of signatures.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from data_sets import add_data_option
from envelope_study import header, in_development, row
from graph_baselines import prepare
from lexical_study import REAL, Found, Questions, interval, questions_of, workspaces

import gme
from gme.builders.name_phrases import phrase_texts, read_words
from gme.builders.names import NameOptions, SharedNames, shared_names
from gme.stores.exact import ExactStore
from gme.workspace import Workspace
from gme.workspace.records import Nodes

PARTS = ("development", "final", "entities", "pool", "speed")
SEEDS = (42, 1, 2, 3)
PASSAGES = 100_000
DEPTHS = (5, 10, 20, 40)

Edges = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64]]
"""Edges between rows, with weights."""


def other_edges(questions: Questions) -> Edges:
    """The edges without names; each weighs 1."""
    edges = questions.workspace.edges
    return edges.sources.astype(np.int64), edges.targets.astype(np.int64), np.ones(len(edges))


def joined(*parts: Edges) -> Edges:
    """All edges of several lists."""
    first, second, weights = (np.concatenate(column) for column in zip(*parts, strict=True))
    return first, second, weights


def signatures(ids: list[str], edges: Edges, seed: int) -> npt.NDArray[np.float32]:
    """Signatures with the options that are the default, but for the seed."""
    first, second, weights = edges
    graph = gme.Graph(ids, first.astype(np.uint32), second.astype(np.uint32), weights)
    return gme.transform("signature", graph, weighted=True, seed=seed, threads=1).vectors


def answers(questions: Questions, vectors: npt.NDArray[np.float32], **options: Any) -> Found:
    """What `envelope` with words finds by these signatures."""
    other = Questions(questions.workspace, questions.chosen)
    for name in ("ids", "texts", "queries", "index", "allowed", "named"):
        vars(other)[name] = getattr(questions, name)
    store = ExactStore(np.ascontiguousarray(vectors), questions.stores[0].ranks)
    vars(other)["stores"] = [questions.stores[0], store]
    return other.found(other.answer("envelope", **{"lexical": True, **options}))


def edges_of(found: SharedNames, weights: npt.NDArray[np.float64] | None = None) -> Edges:
    """The edges that the builder makes, perhaps with other weights."""
    return found.sources, found.targets, found.weights if weights is None else weights


def name_sets(questions: Questions, most: int = 20) -> list[npt.NDArray[np.int64]]:
    """The rows of each name's passages, an array for each number of passages."""
    return phrase_texts(read_words(questions.workspace.nodes.texts), most)[0]


def hidden(questions: Questions, scale: float) -> Callable[[int], npt.NDArray[np.float32]]:
    """Names as nodes that only walks see: the edges of one in n passages weigh scale/(n - 1)."""
    sets, nodes = name_sets(questions), len(questions.ids)
    passages = np.concatenate([each.ravel() for each in sets])
    sizes = np.concatenate([np.full(len(each), each.shape[1]) for each in sets])
    names = nodes + np.repeat(np.arange(len(sizes)), sizes)
    edges = joined(other_edges(questions), (passages, names, scale / (np.repeat(sizes, sizes) - 1.0)))
    ids = [*questions.ids, *(f"name:{number}" for number in range(len(sizes)))]
    return lambda seed: signatures(ids, edges, seed)[:nodes]


def undivided(questions: Questions, scale: float, power: float = 2) -> Edges:
    """The sums over names, not divided by how many names the passages have."""
    keys, weights = [], []
    for each in name_sets(questions):
        size = each.shape[1]
        first, second = np.triu_indices(size, 1)
        keys.append((each[:, first] * len(questions.ids) + each[:, second]).ravel())
        weights.append(np.full(len(keys[-1]), scale * (size - 1.0) ** -power))
    pairs, place = np.unique(np.concatenate(keys), return_inverse=True)
    sums = np.bincount(place, weights=np.concatenate(weights))
    return pairs // len(questions.ids), pairs % len(questions.ids), sums


def variants(questions: Questions) -> Iterator[tuple[str, Callable[[int], npt.NDArray[np.float32]]]]:
    """The forms that were compared. The one that was chosen stands second."""
    others = other_edges(questions)
    found = shared_names(questions.workspace.nodes)
    forms = {
        "no names": others,
        "names": joined(others, edges_of(found)),
        "names, weights · 2": joined(others, edges_of(found, 2 * found.weights)),
        "names, weights · 0.5": joined(others, edges_of(found, 0.5 * found.weights)),
        "names, weights 1": joined(others, edges_of(found, np.ones_like(found.weights))),
        **{
            f"names in at most {most} passages": joined(
                others, edges_of(shared_names(questions.workspace.nodes, NameOptions(max_passages=most)))
            )
            for most in (10, 50)
        },
        **{f"sums not divided, · {scale:g}": joined(others, undivided(questions, scale)) for scale in (1, 0.5, 0.25)},
    }
    for title, edges in forms.items():
        yield title, lambda seed, edges=edges: signatures(questions.ids, edges, seed)  # type: ignore[misc]
    for scale in (1.0, 0.5):
        yield f"hidden nodes, · {scale:g}", hidden(questions, scale)


def cells(found: Found, reference: Found | None) -> list[float | str]:
    """All-supporting and recall by depth, and what a run has over another at 5 and 10."""
    whole = [found[:, depth - 1] > 1 - 1e-9 for depth in DEPTHS]
    shares = [float(each.mean()) for each in whole] + [float(found[:, depth - 1].mean()) for depth in (5, 10)]
    if reference is None:
        return [*shares, "", ""]
    before = [(reference[:, depth - 1] > 1 - 1e-9).astype(float) for depth in (5, 10)]
    return [*shares, *(interval(now.astype(float) - then) for now, then in zip(whole, before, strict=False))]


COLUMNS = (
    *(f"all@{depth}" for depth in DEPTHS),
    "recall@5",
    "recall@10",
    "all@5 over no names",
    "all@10 over no names",
)


def development(folder: Path, data: Path) -> Iterator[str]:
    """The forms of the layer. Intervals are those of the first seed."""
    for name, workspace in workspaces(folder, data, REAL).items():
        questions = questions_of(name, workspace, True)
        yield from (f"{name}, development half, {len(questions.chosen)} questions:", "")
        yield from header("form", *COLUMNS)
        reference = None
        for title, make in variants(questions):
            runs = [answers(questions, make(seed)) for seed in SEEDS]
            means = np.mean([cells(run, None)[:6] for run in runs], axis=0)
            yield row(title, *map(float, means), *cells(runs[0], reference)[6:])
            reference = runs[0] if reference is None else reference
        yield ""


def with_and_without(questions: Questions) -> Iterator[str]:
    """Names and no names, with words and without."""
    others = other_edges(questions)
    names = joined(others, edges_of(shared_names(questions.workspace.nodes)))
    yield from header("run", *COLUMNS)
    for words in (True, False):
        reference = None
        for title, edges in (("no names", others), ("names", names)):
            found = answers(questions, signatures(questions.ids, edges, SEEDS[0]), lexical=words)
            yield row(title + ("" if words else ", without words"), *cells(found, reference))
            reference = found
    yield ""


def pool(folder: Path, data: Path) -> Iterator[str]:
    """Each set's questions, with the passages of both sets to choose from."""
    source = folder / "pool-source"
    if not (folder / "pool").exists():
        source.mkdir()
        for name in ("nodes.jsonl", "questions.jsonl"):
            lines = [
                {
                    **record,
                    "id": f"{each}:{record['id']}",
                    "gold": [f"{each}:{gold}" for gold in record.get("gold", ())],
                }
                for each in REAL
                for record in map(json.loads, (data / each / name).read_text(encoding="utf-8").splitlines())
            ]
            (source / name).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        for name in ("original-f16.npy", "questions-f16.npy"):
            np.save(source / name, np.concatenate([np.load(data / each / name) for each in REAL]))
        prepare(source, folder / "pool")
    workspace = Workspace(folder / "pool")
    parts = [question.partition(":") for question in workspace.questions.ids]
    for each in REAL:
        chosen = [place for place, part in enumerate(parts) if part[0] == each and in_development(part[2])]
        yield from (f"{each}, development half, {len(chosen)} questions, {len(workspace.nodes):,} passages:", "")
        yield from with_and_without(Questions(workspace, chosen))


def final(folder: Path, data: Path) -> Iterator[str]:
    """With and without names, on the questions that no choice was made on."""
    for name, workspace in workspaces(folder, data, REAL).items():
        questions = questions_of(name, workspace, False)
        yield from (f"{name}, the other half, {len(questions.chosen)} questions:", "")
        yield from with_and_without(questions)


def entities(folder: Path, data: Path) -> Iterator[str]:
    """Recovery at 40 where the corpus has entities of its own."""
    name = "development-41"
    workspace = workspaces(folder, data, [name])[name]
    questions = questions_of(name, workspace, True)
    others = other_edges(questions)
    names = joined(others, edges_of(shared_names(workspace.nodes)))
    families = sorted(set(workspace.questions.families))
    yield from header("run", "hard", *families)
    for title, edges in (("no names", others), ("names", names)):
        last = answers(questions, signatures(questions.ids, edges, SEEDS[0]))[:, -1]
        yield row(
            title, float(last[questions.hard].mean()), *(float(last[questions.of_family(f)].mean()) for f in families)
        )
    yield ""


def speed(folder: Path, data: Path) -> Iterator[str]:
    """Passages a second of one core, and what is found. Each round of passages has other names than the one before."""
    texts = [text for workspace in workspaces(folder, data, REAL).values() for text in workspace.nodes.texts]
    many: list[str] = []
    for letter in "abcdefghijklmnopqrstuvwxyz":
        many += [re.sub(r"\b[A-Z][a-z]+", rf"\g<0>{letter}", text) for text in texts[: PASSAGES - len(many)]]
    ids = [f"{number:08d}" for number in range(len(many))]
    nodes = Nodes(ids, ["chunk"] * len(many), many, [None] * len(many), {})
    started = time.process_time()
    found = shared_names(nodes)
    seconds = time.process_time() - started
    yield f"{len(many):,} passages, {found.names:,} names, {len(found.sources):,} edges: {seconds:.1f} s of one core"
    yield ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path)
    add_data_option(parser, required=True)
    parser.add_argument("--part", choices=PARTS, action="append")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        for part in given.part or PARTS:
            print(f"## {part}\n", flush=True)
            run = {"development": development, "final": final, "entities": entities, "pool": pool, "speed": speed}[part]
            for line in run(given.folder or Path(temporary), given.data):
                print(line, flush=True)


if __name__ == "__main__":
    main()
