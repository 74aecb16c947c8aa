"""The commands that write, each on a workspace where there is something for it to replace, or nothing yet."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

TESTS = Path(__file__).resolve().parent.parent
SAMPLES = TESTS / "samples"

GRID = """
criterion = "recovery"
curve = [3, 6]

[[transform]]
method = "walk"
steps = [2, 3]

[[strategy]]
strategy = ["fused"]
mix = [0.3, 0.7]
budget = 8
"""


@dataclass(frozen=True)
class Scenario:
    """A command and those that come before it; ``{inputs}`` is the folder of `write_inputs`.

    `points` bounds how many steps of a long command a fault is tried at, also when all are asked for; a sample of a
    `slow` one is a single step.
    """

    command: str
    before: tuple[str, ...] = ()
    points: int = 400
    slow: bool = False


_GENERATE = "generate --people 4 --questions 1"
_EMBED = "embed --model file:{inputs}/nodes.npy --questions-file {inputs}/questions.npy"
_EMBEDDED = (_GENERATE, _EMBED)
_WALKED = (*_EMBEDDED, "transform walk --name walk")
_RETRIEVED = (*_WALKED, "retrieve plain", "retrieve fused --collection walk")

SCENARIOS = {
    "generate": Scenario(_GENERATE),
    "generate again": Scenario("generate --people 4 --questions 2 --seed 7", (_GENERATE,)),
    "graph read": Scenario("graph read text {samples}/vault --force"),
    "graph read again": Scenario("graph read beir {samples}/beir --force", ("graph read text {samples}/vault",)),
    "graph mentions": Scenario("graph mentions", (_GENERATE,)),
    "graph links": Scenario("graph links", ("graph read text {samples}/vault --keep-markup", "graph mentions")),
    "graph names": Scenario("graph names --beside-entities", (_GENERATE,)),
    "graph entities": Scenario("graph entities --min-chunks 1", ("graph read text {samples}/vault",)),
    "embed file": Scenario(_EMBED, (_GENERATE,)),
    "embed model": Scenario("embed --model onnx:{inputs}/model", (_GENERATE,)),
    "embed again": Scenario("embed --model onnx:{inputs}/model --no-cache", _EMBEDDED),
    "transform": Scenario("transform convex", _EMBEDDED),
    "transform again": Scenario("transform walk --steps 3 --name walk", _WALKED),
    "transform signature": Scenario("transform signature --dim 16", _EMBEDDED),
    "transform residual": Scenario("transform residual --source walk", _WALKED),
    "transform all main": Scenario("transform --collections main", _EMBEDDED, points=100),
    "retrieve": Scenario("retrieve plain --format trec", _EMBEDDED),
    "retrieve again": Scenario(
        "retrieve fused --collection walk --name r --format trec --mix 0.7",
        (*_WALKED, "retrieve fused --collection walk --name r --format trec"),
    ),
    "retrieve index": Scenario("retrieve plain --hnsw", _EMBEDDED),
    "retrieve words": Scenario("retrieve bm25", _EMBEDDED),
    "evaluate": Scenario("evaluate --resamples 20 --qrels", _RETRIEVED),
    "report": Scenario("report", _RETRIEVED, points=40, slow=True),
    "report again": Scenario("report fused-walk --baseline plain", (*_RETRIEVED, "report plain"), points=40, slow=True),
    "sweep": Scenario("sweep {inputs}/grid.toml", _EMBEDDED, points=100),
    "demo": Scenario("demo --people 4 --questions 1 --model onnx:{inputs}/model", points=8, slow=True),
}


def arguments(command: str, inputs: Path, workspace: Path) -> list[str]:
    """The command line, on a workspace."""
    words = [word.replace("{inputs}", str(inputs)).replace("{samples}", str(SAMPLES)) for word in command.split()]
    threads = ["--threads", "1"] if words[0] in ("transform", "retrieve", "embed", "sweep", "demo") else []
    return [*words, *threads, "--workspace", str(workspace)]


def write_inputs(folder: Path) -> None:
    """What the commands need beside a workspace: vectors, a model, a grid."""
    if str(TESTS / "embedders") not in sys.path:
        sys.path.insert(0, str(TESTS / "embedders"))
    from toy_onnx import write_model, write_tokenizer

    from gme.benchmark import generate

    made = generate(people=4, questions=1)
    generator = np.random.default_rng(5)
    for name, rows in (("nodes", len(list(made.nodes()))), ("questions", len(made.questions))):
        np.save(folder / f"{name}.npy", generator.normal(size=(rows, 8)).astype(np.float32))
    (folder / "model").mkdir()
    write_model(folder / "model/model.onnx")
    write_tokenizer(folder / "model/tokenizer.json")
    (folder / "grid.toml").write_text(GRID, encoding="utf-8")
