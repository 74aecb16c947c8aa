"""``gme evaluate`` as users type it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from conftest import Run


@pytest.fixture
def workspace(small_workspace: Path, gme: Run) -> Path:
    """The small workspace with two runs."""
    vectors = np.load(small_workspace / "embeddings/original.npy")
    np.save(small_workspace / "embeddings/walk.npy", vectors[::-1].copy())
    assert gme("retrieve", "plain", "-w", small_workspace, "--budget", "3", "--name", "plain")[0] == 0
    assert gme("retrieve", "fused", "-w", small_workspace, "--budget", "4", "--name", "fused-walk")[0] == 0
    return small_workspace


def test_tables_and_report(workspace: Path, gme: Run) -> None:
    code, out, err = gme("evaluate", "-w", workspace, "--k", "1,3")
    assert code == 0, err
    assert "Evidence recovery in percent, 2 questions" in out
    assert "Difference from plain in points, with the 95% bootstrap interval" in out
    assert "by family" in out
    report = json.loads((workspace / "reports/evaluation.json").read_text())
    assert [run["name"] for run in report["runs"]] == ["plain", "fused-walk"]
    recovery = report["runs"][1]["populations"]["all"]["recovery"]
    assert f"{100 * recovery:.1f}" in next(line for line in out.splitlines() if line.startswith(" fused-walk"))
    code, out, _ = gme("evaluate", "-w", workspace, "--k", "1,3", "--json")
    assert json.loads(out) == report


def test_chosen_runs_and_baseline(workspace: Path, gme: Run) -> None:
    code, out, _ = gme("evaluate", "plain", "-w", workspace, "--baseline", "fused-walk", "--json", "--name", "mine")
    assert code == 0
    report = json.loads(out)
    assert report["baseline"] == "fused-walk"
    assert [run["name"] for run in report["runs"]] == ["fused-walk", "plain"]
    assert (workspace / "reports/mine.json").is_file()


def test_without_a_baseline_no_differences_are_shown(workspace: Path, gme: Run) -> None:
    (workspace / "runs/plain.jsonl").unlink()
    code, out, err = gme("evaluate", "-w", workspace)
    assert code == 0
    assert "Difference" not in out
    assert "no differences are shown, for want of a baseline run: gme retrieve plain" in err


def test_questions_without_gold_are_counted(workspace: Path, gme: Run) -> None:
    path = workspace / "questions.jsonl"
    for manifest in (workspace / "runs").glob("*.json"):
        manifest.unlink()
    path.write_text(path.read_text().replace('["d"]', "[]"))
    code, out, err = gme("evaluate", "-w", workspace)
    assert code == 0
    assert "in percent, 1 question\n" in out
    assert "left out for want of gold evidence: 1 question\n" in err


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["fused"], "unknown run 'fused'", "did you mean 'fused-walk'?"),
        (["--baseline", "plane"], "unknown baseline run 'plane'", "did you mean 'plain'?"),
        (["--k", "5,x"], "--k is '5,x'", "--k 5,10,20,40"),
        (["--k", "0"], "--k is '0'", "--k 5,10,20,40"),
        (["--resamples", "0"], "--resamples is 0", "default: 10000"),
        (["--name", "../x"], "run name '../x' is not a file name", "use letters"),
    ],
)
def test_user_errors(arguments: list[str], message: str, hint: str, workspace: Path, gme: Run) -> None:
    code, out, err = gme("evaluate", *arguments, "-w", workspace)
    assert (code, out) == (1, "")
    error, hint_line = (line for line in err.splitlines() if line.startswith(("error: ", "hint: ")))
    assert message in error
    assert hint in hint_line
    assert not (workspace / "reports").exists()


def test_a_workspace_without_runs_says_how_to_make_one(small_workspace: Path, gme: Run) -> None:
    code, _, err = gme("evaluate", "-w", small_workspace)
    assert code == 1
    assert "holds no runs" in err
    assert "hint: make one with: gme retrieve plain" in err


def test_a_stale_run_is_refused(workspace: Path, gme: Run) -> None:
    vectors = np.load(workspace / "embeddings/original.npy")
    np.save(workspace / "embeddings/original.npy", vectors * 2)
    code, _, err = gme("evaluate", "-w", workspace)
    assert code == 1
    assert "is stale: embeddings/original.npy has changed" in err
    assert "hint: re-run: gme retrieve" in err
