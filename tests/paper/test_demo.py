"""The demo runs from end to end, small, and reports what its evaluations say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import Run
from gme.evaluation.measures import scores_by_run
from gme.paper.demo import configurations
from gme.paper.published import ALL_QUESTIONS, HARD_QUESTIONS

SMALL = ["--people", "12", "--questions", "2"]


def test_published_numbers_belong_to_configurations() -> None:
    runs = {(c.strategy, c.collection) for c in configurations() if not c.name}
    assert set(HARD_QUESTIONS) | set(ALL_QUESTIONS) <= runs


@pytest.mark.slow
def test_the_demo_prints_the_table_and_keeps_the_workspaces(tmp_path: Path, gme: Run) -> None:
    code, out, err = gme("demo", *SMALL, "-w", tmp_path, "--collections", "residual-walk-steps3")
    assert code == 0, err
    assert (tmp_path / "development" / "embeddings" / "residual-walk-steps3.npy").is_file()
    lines = out.splitlines()
    names = [configuration.run for configuration in configurations()]
    assert [line.split()[0] for line in lines if line.split() and line.split()[0] in names] == names
    chained = next(line for line in lines if line.startswith(" chained-walk "))
    assert "60.8" in chained, "the paper's figure stands beside ours"
    assert "Best of the paper's configurations on development:" in out
    for split in ("development", "validation"):
        code, out, _ = gme("evaluate", "-w", tmp_path / split, "--json")
        assert code == 0
        assert next(run["name"] for run in json.loads(out)["runs"]) == "plain"
        assert {run["name"] for run in json.loads(out)["runs"]} == set(names)


@pytest.mark.slow
def test_what_was_selected_is_best_on_development(gme: Run) -> None:
    code, out, err = gme("demo", *SMALL, "--json")
    assert code == 0, err
    result = json.loads(out)
    development = scores_by_run(result["evaluations"]["development"])
    runs = {run: populations["hard"]["recovery"] for run, populations in development.items()}
    paper = {c.run for c in configurations() if not c.name and c.strategy not in ("plain", "envelope")}
    assert runs[result["selected"]] == max(runs[name] for name in paper)
