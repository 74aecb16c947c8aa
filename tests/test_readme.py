"""What the README shows works as it stands there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gme
from conftest import REPOSITORY, Run
from gme.builders import TITLE_MENTION
from gme.builders.links import LINK
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
    exec(compile(_block("python", "import gme"), "README.md", "exec"), {})
    assert capsys.readouterr().out.splitlines() == ["['acme', 'ada', 'rye']", "['acme', 'ada', 'lund']"]


def test_the_serving_recipe_is_the_envelope_strategy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(5)
    centres = generator.normal(size=(30, 24))
    vectors = (centres[np.arange(600) % 30] + generator.normal(size=(600, 24))).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    ids = [f"{row:03d}" for row in range(600)]
    ends = generator.integers(0, 20, (1500, 2)) * 30 + generator.integers(0, 30, (1500, 1))
    graph = gme.build_graph(ids, [(ids[a], ids[b]) for a, b in ends])
    signature = gme.transform("signature", graph, dim=64).vectors
    (tmp_path / "embeddings").mkdir()
    np.save(tmp_path / "embeddings" / "original.npy", vectors)
    np.save(tmp_path / "embeddings" / "signature.npy", signature)
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {}
    exec(compile(_block("python", "import numpy"), "README.md", "exec"), namespace)
    questions = vectors[::50] + generator.normal(size=(12, 24), scale=0.1).astype(np.float32)
    questions /= np.linalg.norm(questions, axis=1, keepdims=True)
    ours = gme.retrieve("envelope", vectors, signature, questions, ids=ids).rows
    for question, rows in zip(questions, ours, strict=True):
        assert namespace["envelope"](question).tolist() == rows.tolist()


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
        *re.findall(r"--edge-type-weights ([\w=.,]+=[\w=.,]+)", " ".join(pages)),
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
    entry = transforms.Transform("a test", namespace["CenterOptions"], namespace["center"])
    monkeypatch.setitem(transforms.TRANSFORMS, "center", entry)
    vectors = np.eye(3, dtype=np.float32)
    graph = Graph(list("abc"), np.array([0], dtype=np.uint32), np.array([1], dtype=np.uint32))
    result = transforms.transform("center", graph, vectors, alpha=0.25).vectors
    np.testing.assert_allclose(result, 0.25 * vectors + 0.25, rtol=1e-6)
