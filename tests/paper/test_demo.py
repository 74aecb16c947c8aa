"""The demo runs from end to end, small, and reports what its evaluations say."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from conftest import Run
from gme.cli import run
from gme.evaluation.measures import scores_by_run
from gme.paper.demo import DemoResult, configurations, run_demo
from gme.paper.published import ALL_QUESTIONS, HARD_QUESTIONS

SMALL = ["--people", "12", "--questions", "2"]


@dataclass(frozen=True)
class Shown:
    """One run of the demo: where it left its workspaces, what it returned, what it printed."""

    folder: Path
    result: DemoResult
    out: str


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Shown:
    """The command ran once for all tests of this file, because it takes long."""
    folder, results = tmp_path_factory.mktemp("demo"), []

    def kept(*arguments: Any, **options: Any) -> DemoResult:
        results.append(run_demo(*arguments, **options))
        return results[-1]

    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr("gme.paper.demo.run_demo", kept)
        code = run(["demo", *SMALL, "-w", str(folder), "--collections", "residual-walk-steps3"])
    assert code == 0, err.getvalue()
    return Shown(folder, results[0], out.getvalue())


def test_published_numbers_belong_to_configurations() -> None:
    runs = {(c.strategy, c.collection) for c in configurations() if not c.name}
    assert set(HARD_QUESTIONS) | set(ALL_QUESTIONS) <= runs


@pytest.mark.slow
def test_the_demo_prints_the_table_and_keeps_the_workspaces(demo: Shown, gme: Run) -> None:
    assert (demo.folder / "development" / "embeddings" / "residual-walk-steps3.npy").is_file()
    lines = demo.out.splitlines()
    names = [configuration.run for configuration in configurations()]
    assert [line.split()[0] for line in lines if line.split() and line.split()[0] in names] == names
    chained = next(line for line in lines if line.startswith(" chained-walk "))
    assert "60.8" in chained, "the paper's figure stands beside ours"
    assert "Best of the paper's configurations on development:" in demo.out
    for split in ("development", "validation"):
        code, out, _ = gme("evaluate", "-w", demo.folder / split, "--json")
        assert code == 0
        assert next(each["name"] for each in json.loads(out)["runs"]) == "plain"
        assert {each["name"] for each in json.loads(out)["runs"]} == set(names)


@pytest.mark.slow
def test_what_was_selected_is_best_on_development(demo: Shown) -> None:
    development = scores_by_run(demo.result.evaluations["development"])
    runs = {run: populations["hard"]["recovery"] for run, populations in development.items()}
    paper = {c.run for c in configurations() if not c.name and c.strategy not in ("plain", "envelope")}
    assert runs[demo.result.selected] == max(runs[name] for name in paper)
