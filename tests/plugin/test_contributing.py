"""The packages that CONTRIBUTING.md shows are complete: they pass the project's own checks, install and run."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from installing import install, run_gme

import gme
from conftest import REPOSITORY, write_lines

GUIDE = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"```(?:toml|python)\n# (\S+)\n(.*?)```", GUIDE, re.DOTALL))
PYTHON = [name for name in FILES if name.endswith(".py")]


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files as the guide shows them."""
    folder = tmp_path_factory.mktemp("package")
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def site(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    install(folder, FILES["pyproject.toml"], [package / name for name in PYTHON])
    return folder


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Sixty nodes on a ring, and vectors of random directions: enough that not every node is a candidate."""
    folder = tmp_path / "workspace"
    (folder / "embeddings").mkdir(parents=True)
    ids = [f"{row:02d}" for row in range(60)]
    write_lines(folder / "nodes.jsonl", [{"id": node, "type": "chunk", "text": node} for node in ids])
    edges = [{"source": a, "target": b, "type": "link"} for a, b in zip(ids, ids[1:] + ids[:1], strict=True)]
    write_lines(folder / "edges.jsonl", edges)
    write_lines(folder / "questions.jsonl", [{"id": "q", "question": "which?", "gold": ["00"]}])
    vectors = np.random.default_rng(0).normal(size=(61, 16)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    np.save(folder / "embeddings/original.npy", vectors[:60])
    np.save(folder / "embeddings/questions.npy", vectors[60:])
    return folder


def test_every_code_block_is_one_of_these_files() -> None:
    assert GUIDE.count("```") == 2 * len(FILES)
    assert list(FILES) == ["pyproject.toml", "gme_average.py", "gme_halves.py", "gme_sketch.py"]


def test_they_pass_the_projects_own_checks(package: Path) -> None:
    """Ruff with the project's settings, mypy in strict mode."""
    files = [package / name for name in PYTHON]
    settings = REPOSITORY / "pyproject.toml"
    sources = Path(gme.__file__).parent.parent
    environment = dict(os.environ)
    if sources.name != "site-packages":  # an installed gme is found anyway, and mypy refuses to be told where it is
        environment["MYPYPATH"] = str(sources)
    for command in (
        ["ruff", "format", "--check", "--config", settings],
        ["ruff", "check", "--no-cache", "--config", settings, "--config", "lint.isort.known-first-party=['gme']"],
        ["mypy", "--strict", "--config-file=", "--follow-imports=silent", "--cache-dir", REPOSITORY / ".mypy_cache"],
    ):
        words = [sys.executable, "-m", *map(str, command), *map(str, files)]
        done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment)
        assert done.returncode == 0, done.stdout + done.stderr


def _done(site: Path, workspace: Path, *arguments: object) -> str:
    done = run_gme(site, *arguments, workspace=workspace)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def _results(workspace: Path, run: str) -> list[tuple[str, str]]:
    [line] = (workspace / f"runs/{run}.jsonl").read_text(encoding="utf-8").splitlines()
    return [(result["id"], result["stage"]) for result in json.loads(line)["results"]]


def test_the_transform(site: Path, workspace: Path) -> None:
    assert _done(site, workspace, "transform", "average", "--alpha", "0.25") == "average-alpha0.25"
    original = np.load(workspace / "embeddings/original.npy")
    expected = 0.25 * original + 0.375 * (np.roll(original, 1, axis=0) + np.roll(original, -1, axis=0))
    np.testing.assert_allclose(np.load(workspace / "embeddings/average-alpha0.25.npy"), expected, rtol=1e-5, atol=1e-7)
    manifest = json.loads((workspace / "embeddings/average-alpha0.25.json").read_text())
    assert manifest["plugins"]["method"].items() >= {"distribution": "gme-examples", "version": "0.1"}.items()


def test_the_strategy(site: Path, workspace: Path) -> None:
    run = _done(site, workspace, "retrieve", "halves", "--collection", "original", "--budget", "5")
    results = _results(workspace, run)
    assert [stage for _, stage in results] == ["seeds"] * 3 + ["near"] * 2
    assert len(set(results)) == 5
    plain = _results(workspace, _done(site, workspace, "retrieve", "plain", "--budget", "3"))
    assert [node for node, _ in plain] == [node for node, _ in results[:3]]
    assert "half by the question, half near what it found" in _done(site, workspace, "retrieve", "--help")


def test_the_store(site: Path, workspace: Path) -> None:
    run = _done(site, workspace, "retrieve", "plain", "--budget", "5", "--index", "sketch")
    assert run == "plain-budget5-sketch"
    exact = [node for node, _ in _results(workspace, _done(site, workspace, "retrieve", "plain", "--budget", "5"))]
    found = [node for node, _ in _results(workspace, run)]
    assert len(set(found)) == 5
    assert set(found) & set(exact)  # 64 signs tell the nearest from the rest, but not all of them
