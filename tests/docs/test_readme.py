"""What the README shows works as it stands there."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gme as library
from conftest import REPOSITORY, Run, write_lines
from gme.builders.links import LINK
from gme.builders.mentions import TITLE_MENTION
from gme.readers.entities import MENTIONS, PART_OF, RELATION

README = (REPOSITORY / "README.md").read_text(encoding="utf-8")


def _block(language: str, start: str) -> str:
    blocks: list[str] = re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)
    return next(block for block in blocks if block.startswith(start))


def _shell(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a script that must succeed, with this environment's commands first on the path."""
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", script], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done


def test_the_python_example_finds_what_plain_retrieval_misses(capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(_block("python", "import gme\nimport networkx"), "README.md", "exec"), {})
    assert capsys.readouterr().out.splitlines() == ["['acme', 'ada', 'rye']", "['acme', 'ada', 'lund']"]


KINDS = ("chunk", "document", "chunk", "entity", "chunk", "chunk", "chunk")


@pytest.mark.parametrize("kinds", [KINDS, ("person",)], ids=["chunks-and-others", "one-type"])
@pytest.mark.parametrize("size", [600, 159, 41, 40, 39, 6, 2, 1])
def test_the_serving_recipe_is_the_command(
    size: int, kinds: tuple[str, ...], tmp_path: Path, gme: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The recipe returns what `gme retrieve envelope` does, however few nodes there are."""
    generator = np.random.default_rng(5)
    groups = max(size // 20, 1)  # of vectors that are alike, with edges within, so that text and graph agree
    vectors = generator.normal(size=(groups, 384))[np.arange(size) % groups] + generator.normal(size=(size, 384))
    questions = vectors[:: max(size // 12, 1)] + generator.normal(size=vectors[:: max(size // 12, 1)].shape, scale=0.5)
    ids = [f"{row:03d}" for row in range(size)]
    ends = generator.integers(0, groups, (3 * size, 1)) + groups * generator.integers(0, 20, (3 * size, 2))
    edges = [{"source": ids[a], "target": ids[b], "type": "link"} for a, b in ends.tolist() if max(a, b) < size]
    nodes = [
        {"id": node, "type": kinds[row % len(kinds)], "text": node, "title": f"Node {node}"}
        for row, node in enumerate(ids)
    ]
    texts = [f"Question {n}" + (f" of Node {ids[n * 7 % size]}?" if n % 2 else "?") for n in range(len(questions))]
    monkeypatch.chdir(tmp_path)
    write_lines(Path("nodes.jsonl"), nodes)
    write_lines(Path("edges.jsonl"), edges)
    write_lines(Path("questions.jsonl"), [{"id": f"{n:02d}", "question": text} for n, text in enumerate(texts)])
    for name, array in (("nodes", vectors), ("questions", questions)):
        np.save(f"{name}.npy", (array / np.linalg.norm(array, axis=1, keepdims=True)).astype(np.float32))
    for arguments in (
        ("embed", "--model", "file:nodes.npy", "--questions-file", "questions.npy"),
        ("transform", "signature"),
        ("retrieve", "envelope"),
        ("retrieve", "plain", "--types", kinds[0], "--name", "plain"),
    ):
        code, _, err = gme(*arguments)
        assert code == 0, err
    vector_of = dict(zip(texts, np.load("embeddings/questions.npy"), strict=True))
    vector_of["Who founded Acme?"] = vector_of[texts[0]]
    monkeypatch.setattr(library, "make_embedder", lambda name: Embedder(vector_of))
    namespace: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # as of a mean of nothing
        exec(compile(_block("python", "import gme\nimport numpy"), "README.md", "exec"), namespace)
        recipe = [namespace["envelope"](text).tolist() for text in texts]
    assert len(namespace["rows"]) == min(40, len(namespace["chunks"]))
    command = _returned(Path("runs/envelope-signature.jsonl"))
    assert [[ids[row] for row in rows] for rows in recipe] == command
    if size > 40:  # the graph takes part
        assert command != _returned(Path("runs/plain.jsonl"))


class Embedder:
    """Stands for a model: it knows the vectors of some texts."""

    def __init__(self, vectors: dict[str, Any]) -> None:
        self.vectors = vectors

    def embed(self, texts: list[str]) -> Any:
        return np.array([self.vectors[text] for text in texts])


def _returned(run: Path) -> list[list[str]]:
    """The ids a run returns for each question."""
    lines = [json.loads(line) for line in run.read_text(encoding="utf-8").splitlines()]
    return [[result["id"] for result in line["results"]] for line in lines]


def test_the_pipeline_runs_word_for_word_from_an_empty_folder(tmp_path: Path) -> None:
    done = _shell("set -euo pipefail\n" + _block("sh", "gme generate"), tmp_path)
    assert "chained-walk" in done.stdout
    written = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert {
        "embeddings/walk.json",
        "embeddings/walk.npy",
        "runs/chained-walk.jsonl",
        "runs/envelope-signature.jsonl",
        "runs/plain.jsonl",
        "reports/evaluation.json",
    } <= written


def test_an_unset_name_after_collection_means_the_only_one_there_is(small_workspace: Path) -> None:
    """`gme retrieve chained --collection $NAME` with NAME unset, as the one-line pipeline has it."""
    script = (
        "set -eo pipefail; unset NAME\n"
        "gme transform walk --steps 2 && gme retrieve chained --budget 4 --collection $NAME && gme evaluate"
    )
    done = _shell(script, small_workspace)
    assert "chained-walk" in done.stdout
    assert "no differences are shown" in done.stderr


def test_examples_name_edge_types_that_are_written(gme: Run) -> None:
    pages = [README, *(page.read_text(encoding="utf-8") for page in (REPOSITORY / "docs").glob("*.md"))]
    helps = [gme(*command, "--help")[1] for command in (("transform", "walk"), ("retrieve",), ("graph", "check"))]
    examples = [
        *re.findall(r"--edge-type-weights ([a-z_]+=[a-z_=.,\d]+)", " ".join(pages)),
        *re.findall(r"by type: ([\w=.,]+)", " ".join(" ".join(text.split()) for text in helps)),
        *re.findall(r"--edge-types ([a-z_]+(?:,[a-z_]+)+)", " ".join(pages)),
        *re.findall(r"edges of these types, e\.g\. ([a-z_,]+)", " ".join(" ".join(text.split()) for text in helps)),
    ]
    assert len(examples) >= 6
    named = {part.partition("=")[0] for example in examples for part in example.split(",")}
    assert {TITLE_MENTION, LINK} <= named <= {TITLE_MENTION, LINK, MENTIONS, PART_OF, RELATION}


def test_every_command_of_the_readme_exists() -> None:
    from gme.cli import COMMANDS

    named = set(re.findall(r"`gme ([a-z]+)", README))
    assert named == set(COMMANDS)


def test_the_transform_that_contributing_adds(monkeypatch: pytest.MonkeyPatch) -> None:
    from gme import transforms
    from gme._core import Graph

    guide = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8")
    code = re.findall(r"```python\n(.*?)```", guide, re.DOTALL)[0]
    namespace: dict[str, Any] = {"__name__": __name__}
    exec(compile(code, "CONTRIBUTING.md", "exec"), namespace)
    entry = transforms.Transform("a test", namespace["AverageOptions"], namespace["average"])
    monkeypatch.setitem(transforms.TRANSFORMS.own, "average", entry)
    vectors = np.eye(4, dtype=np.float32)
    graph = Graph(list("abcd"), np.array([0, 1], dtype=np.uint32), np.array([1, 2], dtype=np.uint32))
    result = transforms.transform("average", graph, vectors, alpha=0.25).vectors
    expected = np.array([[0.25, 0.75, 0, 0], [0.375, 0.25, 0.375, 0], [0, 0.75, 0.25, 0], [0, 0, 0, 1]])
    np.testing.assert_allclose(result, expected, rtol=1e-6)
