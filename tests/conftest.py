"""Fixtures that several test files share, and the option that says where the real multi-hop sets lie."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import orjson
import pytest
from hypothesis import settings

settings.register_profile("long", max_examples=int(os.environ.get("GME_EXAMPLES", "5000")), deadline=None)
"""``pytest --hypothesis-profile=long``: for fuzzing by hand."""

REPOSITORY = Path(__file__).resolve().parent.parent


SUMMARY = pytest.StashKey[list[str]]()
"""Lines that are printed when all tests have run."""


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    for line in config.stash.get(SUMMARY, []):
        terminalreporter.write_line(line)
    from hostile_inputs import TRIED  # the tests that try hostile inputs count them

    if TRIED:
        counts = ", ".join(f"{target} {count:,}" for target, count in sorted(TRIED.items()))
        terminalreporter.write_line(f"hostile inputs tried: {sum(TRIED.values()):,} ({counts})")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--data",
        type=Path,
        default=os.environ.get("GME_DATA"),
        help="folder with the real multi-hop sets (default: $GME_DATA); tests that need them are skipped without",
    )


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The developer's own settings must not reach the tests."""
    for name in ("GME_WORKSPACE", "GME_DEBUG", "GME_CACHE", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def real_data(request: pytest.FixtureRequest) -> Path:
    given = request.config.getoption("--data")
    if not given:
        pytest.skip("no real data sets: --data FOLDER or $GME_DATA says where they lie")
    folder = Path(given)
    if not folder.is_dir():
        pytest.fail(f"--data (or $GME_DATA) is {folder}, but there is no such folder")
    return folder


Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def gme(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run one command line in this process: ``gme("embed", "-w", folder)`` gives (exit code, stdout, stderr)."""
    from gme.cli import run

    def call(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def write_lines(path: Path, records: Iterable[object]) -> None:
    path.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))


@pytest.fixture
def small_workspace(tmp_path: Path) -> Path:
    """Six nodes on a path with a triangle, two questions, random unit vectors: every later command can run on it."""
    ids = ["a", "b", "c", "d", "e", "f"]
    edges = [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("d", "e")]
    folder = tmp_path / "workspace"
    (folder / "embeddings").mkdir(parents=True)
    write_lines(
        folder / "nodes.jsonl", [{"id": i, "type": "chunk", "text": f"text {i}", "title": f"Title {i}"} for i in ids]
    )
    write_lines(folder / "edges.jsonl", [{"source": a, "target": b, "type": "link"} for a, b in edges])
    write_lines(
        folder / "questions.jsonl",
        [
            {"id": "q1", "question": "first?", "gold": ["a", "b"], "family": "one"},
            {"id": "q2", "question": "second?", "gold": ["d"], "family": "two"},
        ],
    )
    generator = np.random.default_rng(0)
    for name, rows in (("original", len(ids)), ("questions", 2)):
        vectors = generator.normal(size=(rows, 8)).astype(np.float32)
        np.save(folder / "embeddings" / f"{name}.npy", vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
    return folder
