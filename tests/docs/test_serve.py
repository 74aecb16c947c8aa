"""The lines that serve `envelope` from any vector store return what the command returns."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from documents import block

import gme as library
from conftest import REPOSITORY, Run, write_lines

PAGE = "docs/guides/serve.md"

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
        exec(compile(block(PAGE, "python", "import gme\nimport numpy as np\n\nx = "), PAGE, "exec"), namespace)
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


def test_the_server_in_python_is_the_command(
    tmp_path: Path, gme: Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    notes = REPOSITORY / "examples/notes"
    for words in (("graph", "read", "text", notes), ("graph", "mentions"), ("embed",), ("transform", "signature")):
        code, _, err = gme(*words)
        assert code == 0, err
    question = "Where did the designer of the harbor bridge study?"
    code, out, err = gme("retrieve", "envelope", "--budget", "3", "--question", question, "--json")
    assert code == 0, err
    namespace: dict[str, Any] = {}
    exec(compile(block(PAGE, "python", "import gme\nimport numpy as np\n\nworkspace"), PAGE, "exec"), namespace)
    found = [result["id"] for result in json.loads(out)["results"]]
    assert found[0] == "Harbor Bridge.md#1"
    assert namespace["answer"](question, budget=3) == found
    assert capsys.readouterr().out.splitlines()[-1] == str(found)


def _returned(run: Path) -> list[list[str]]:
    """The ids a run returns for each question."""
    lines = [json.loads(line) for line in run.read_text(encoding="utf-8").splitlines()]
    return [[result["id"] for result in line["results"]] for line in lines]
