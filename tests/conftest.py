"""Fixtures that several test files share, and the option that says where the real multi-hop sets lie."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from hostile_inputs import TRIED

from properties import register_profiles

register_profiles()

# A shell that starts the tests in the background has them ignore Ctrl-C, which many tests send.
signal.signal(signal.SIGINT, signal.default_int_handler)

REPOSITORY = Path(__file__).resolve().parent.parent


FAULTS: Counter[str] = Counter()
"""What the tests of faults count: commands, faults injected, checks that failed."""


class Counts:
    """Counts of several processes that run tests become one."""

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """In a process that works for another one, hand it the counts."""
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output["counts"] = {"faults": dict(FAULTS), "tried": dict(TRIED)}

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        counts = getattr(node, "workeroutput", {}).get("counts", {})
        FAULTS.update(counts.get("faults", {}))
        TRIED.update(counts.get("tried", {}))


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Counts(), "gme-counts")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if FAULTS:
        injected, commands, failed = (FAULTS[name] for name in ("injected", "commands", "failed"))
        terminalreporter.write_line(f"faults: {injected} injected into {commands} commands, {failed} failed checks")
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
