"""What a sweep selects, compares and confirms, and how it tells."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sweep_cases
from sweep_cases import FAMILIES, Make, sweep

from conftest import Run, write_lines
from gme.evaluation.measures import evaluate, scores_by_run
from gme.pipeline.prepare import RetrievalSetting
from gme.pipeline.retrieve import retrieve_workspace
from gme.pipeline.runs import read_run
from gme.sweep.criteria import parse_measure
from gme.sweep.grid import read_grid
from gme.sweep.run import SweepSetting, run_sweep
from gme.workspace import Workspace

make = sweep_cases.make
grid_file = sweep_cases.grid_file
calls = sweep_cases.calls


def test_selection_under_constraints(make: Make, grid_file: Path, gme: Run) -> None:
    folder = make("first", 1)
    free = sweep(gme, grid_file, "-w", folder, "--top", 3)
    assert free["selected"] == [row["name"] for row in free["configurations"][:3]]
    bounded = sweep(gme, grid_file, "-w", folder, "--constraint", "search-calls <= 2", "--constraint", "gain:hard>=-99")
    keeps = [row["search_calls"] <= 2 for row in bounded["configurations"]]
    assert True in keeps
    assert False in keeps
    assert [row["eligible"] for row in bounded["configurations"]] == sorted(keeps, reverse=True)
    best = max((row for row in bounded["configurations"] if row["search_calls"] <= 2), key=lambda row: row["value"])
    assert bounded["selected"] == [best["name"]]
    fewest = sweep(gme, grid_file, "-w", folder, "--criterion", "search-calls")
    calls = [row["search_calls"] for row in fewest["configurations"]]
    assert calls == sorted(calls)
    assert calls[0] < calls[-1]


def test_nothing_that_meets_the_constraints(make: Make, grid_file: Path, gme: Run) -> None:
    folder, other = make("first", 1), make("second", 2)
    code, out, err = gme("sweep", grid_file, "-w", folder, "--constraint", "gain:families >= 99")
    assert code == 0
    assert "warning: no configuration meets gain:families >= 99" in err
    assert " ×" in out
    for bound in ("recovery > 100", "gain:all > 100"):
        code, out, err = gme("sweep", grid_file, "-w", folder, "--constraint", bound, "--confirm", other)
        assert (code, out) == (1, "")
        assert f"no configuration meets {bound}: there is nothing to confirm" in err


@pytest.mark.parametrize("criterion", ["recovery:hard", "all-supporting@10", "gain:families", "recall@4:relational"])
def test_confirmed_intervals_are_those_of_evaluate(criterion: str, make: Make, grid_file: Path, gme: Run) -> None:
    folder, other = make("first", 1), make("second", 2)
    report = sweep(gme, grid_file, "-w", folder, "--confirm", other, "--top", 2, "--criterion", criterion)
    assert [c["confirmed"] for c in report["comparisons"]] == [False, True]
    for comparison, place in zip(report["comparisons"], (folder, other), strict=True):
        assert comparison["workspace"] == str(place)
        names = [row["run"] for row in comparison["rows"]]
        assert [row["name"] for row in comparison["rows"]] == ["plain-budget12", *report["selected"]]
        code, out, err = gme("evaluate", *names, "-w", place, "--baseline", names[0], "--k", "4,5,10", "--json")
        assert code == 0, err
        evaluation: Any = scores_by_run(json.loads(out))
        for row in comparison["rows"][1:]:
            measure = parse_measure(row["compared"])
            scores = evaluation[row["run"]][measure.population]
            entry = scores["all_supporting_difference"]["10"] if measure.depth == 10 else scores
            if measure.kind == "recall":
                baseline = evaluation[names[0]][measure.population]
                expected = scores["recall"]["4"] - baseline["recall"]["4"]
                assert row["difference"] == pytest.approx(100 * expected)
                assert row["interval"][0] <= row["difference"] <= row["interval"][1]
                continue
            assert row["difference"] == 100 * entry["difference"]
            assert row["interval"] == [100 * end for end in entry["interval"]]
            if criterion == "gain:families":
                losses = {family: evaluation[row["run"]][family]["difference"] for family, _ in FAMILIES}
                assert measure.population == min(losses, key=losses.__getitem__)
                assert row["value"] == pytest.approx(row["difference"])


def test_a_selection_is_not_confirmed_on_its_own_questions(make: Make, grid_file: Path, gme: Run) -> None:
    folder, other, copy = make("first", 1), make("second", 2), make("copy", 3)
    (copy / "questions.jsonl").write_bytes((folder / "questions.jsonl").read_bytes())
    for confirm, message in (
        ([folder], "is the workspace of the selection"),
        ([folder / ".." / "first"], "is the workspace of the selection"),
        ([copy], "holds the questions of the workspace of the selection"),
        ([other, other], "is another --confirm"),
    ):
        given = [part for each in confirm for part in ("--confirm", each)]
        code, out, err = gme("sweep", grid_file, "-w", folder, *given)
        assert (code, out) == (1, "")
        assert message in err
    assert not (folder / "reports").exists()


@pytest.mark.parametrize("missing", [("family",), ("group",), ("family", "group")])
def test_what_is_shown_by_default_is_what_all_workspaces_have_questions_for(
    missing: tuple[str, ...], make: Make, grid_file: Path, gme: Run
) -> None:
    folder, other = make("first", 1), make("second", 2)
    questions = [json.loads(line) for line in (other / "questions.jsonl").read_text().splitlines()]
    kept = [{key: value for key, value in question.items() if key not in missing} for question in questions]
    write_lines(other / "questions.jsonl", kept)
    report = sweep(gme, grid_file, "-w", folder, "--confirm", other, "--criterion", "recovery")
    of_kind = {"recovery:groups": "group", "gain:families": "family"}
    shown = ["recovery", "recovery:groups", "gain:families", "all-supporting@10"]
    assert report["shown"] == [measure for measure in shown if of_kind.get(measure) not in missing]
    assert all(list(row["shown"]) == report["shown"] for part in report["comparisons"] for row in part["rows"])


def test_the_report_is_the_same_for_any_number_of_threads_and_order_of_files(
    make: Make, grid_file: Path, gme: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, other = make("first", 1), make("second", 2)
    monkeypatch.chdir(folder.parent)
    report = folder / "reports/sweep-small.json"
    texts = []
    for threads in (1, 2):
        assert gme("sweep", grid_file, "-w", "first", "--confirm", "second", "--threads", threads)[0] == 0
        texts.append(report.read_bytes())
        for path in (folder, other):
            for made in [*path.glob("embeddings/walk*"), *path.glob("embeddings/sig*"), *path.glob("reports/*.jsonl")]:
                made.unlink()
    for path in (folder, other):  # questions and edges in another order
        questions = (path / "questions.jsonl").read_bytes().splitlines(keepends=True)
        (path / "questions.jsonl").write_bytes(b"".join(questions[::-1]))
        np.save(path / "embeddings/questions.npy", np.load(path / "embeddings/questions.npy")[::-1].copy())
        edges = (path / "edges.jsonl").read_bytes().splitlines(keepends=True)
        (path / "edges.jsonl").write_bytes(b"".join(edges[::-1]))
    assert gme("sweep", grid_file, "-w", "first", "--confirm", "second")[0] == 0
    assert texts[0] == texts[1] == report.read_bytes()


def test_budget_curves(make: Make, grid_file: Path, gme: Run) -> None:
    folder = make("first", 1)
    report = sweep(gme, grid_file, "-w", folder, "--criterion", "recovery:relational", "--top", 13)
    (curve,) = report["curves"]
    assert (curve["measure"], curve["budgets"]) == ("recovery:relational", [3, 6])
    lines = {line["name"]: line for line in curve["lines"]}
    assert len(lines) == 14
    assert lines["plain-budget12"]["same"]
    assert not lines["fused-walk-budget12-mix0.3"]["same"], "its stages are scaled to the budget"
    workspace = Workspace(folder)
    retrieve_workspace(workspace, "fused", RetrievalSetting(collection="walk"), name="six", budget=6, mix=0.3)
    result = evaluate([read_run(workspace, "six")], workspace.questions, workspace.nodes, ks=(6,))
    expected = result["runs"][0]["populations"]["relational"]["recovery"]
    assert lines["fused-walk-budget12-mix0.3"]["rerun"][1] == 100 * expected


def test_tables_for_people(make: Make, grid_file: Path, gme: Run) -> None:
    folder, other = make("first", 1), make("second", 2)
    code, out, err = gme(
        "sweep", grid_file, "-w", folder, "--confirm", other, "--rows", 4, "--constraint", "search-calls <= 3"
    )
    assert code == 0, err
    lines = out.splitlines()
    assert lines[0] == (
        f"By recovery:hard, subject to search-calls <= 3 (×: broken); on {folder}, shares in percent, gains in points"
    )
    ranked = [
        line for line in lines[: lines.index(next(x for x in lines if x.startswith("Selected")))] if line[:2] != " ─"
    ]
    assert sum(line.startswith((" fused", " envelope", " spread")) for line in ranked) == 4
    assert any(line.startswith(" plain-budget12 (baseline)") for line in ranked)
    titles = [line for line in lines if line.startswith("Selected on")]
    assert titles[0].startswith(f"Selected on {folder}, judged by the same questions: recovery:hard")
    assert titles[1].startswith(f"Selected on {folder}, confirmed on {other}: recovery:hard")
    assert "9 more configurations: --rows 0 shows all" in err
    assert f"in full: {folder / 'reports/sweep-small.json'}" in err
    report = json.loads((folder / "reports/sweep-small.json").read_text())
    low, high = report["comparisons"][1]["rows"][1]["interval"]
    assert f"[{low + 0.0:+.1f}, {high + 0.0:+.1f}]" in out


def test_warnings_about_what_the_tables_do_not_show(make: Make, grid_file: Path, gme: Run) -> None:
    folder, other = make("first", 1), make("second", 2)
    lines, seen = ((path / "questions.jsonl").read_text().splitlines() for path in (other, folder))
    same_text = lines[1].replace("second 1?", "first 1?")  # asks for other gold: not the same question
    (other / "questions.jsonl").write_text("\n".join([seen[0], same_text, *lines[2:]]) + "\n")
    grid_file.write_text('[[strategy]]\nstrategy = "plain"\nbudget = [5, 10]\n', encoding="utf-8")
    code, _, err = gme("sweep", grid_file, "-w", folder, "--confirm", other)
    assert code == 0
    assert "warning: configurations of different budgets are ranked together: 5, 10" in err
    assert "warning: no configuration beats the baseline plain-budget10 by recovery:hard" in err
    assert f"warning: 1 of the 24 questions in {other} are also in {folder}" in err


def test_a_constraint_that_breaks_on_confirmation_is_pointed_out(make: Make, grid_file: Path, gme: Run) -> None:
    folder, other = make("first", 1), make("second", 2)
    report = sweep(gme, grid_file, "-w", folder, "--confirm", other)
    selected, confirmed = (comparison["rows"][1]["value"] for comparison in report["comparisons"])
    sign = ">" if selected > confirmed else "<"
    between = f"recovery:hard {sign} {(selected + confirmed) / 2:.4f}"
    code, out, err = gme("sweep", grid_file, "-w", folder, "--confirm", other, "--constraint", between)
    assert code == 0
    assert f"warning: {report['selected'][0]} does not keep recovery:hard {sign} " in err
    assert " ×" in out[out.index("confirmed on") :]


def test_another_baseline_and_control(make: Make, grid_file: Path) -> None:
    grid_file.write_text(
        '[baseline]\nstrategy = "fused"\ncollection = "original"\nmix = 0.3\n'
        '[[strategy]]\nstrategy = "fused"\ncollections = "original"\nbudget = [10, 20]\nmix = [0.3, 0.7]\n',
        encoding="utf-8",
    )
    report = run_sweep(Workspace(make("first", 1)), read_grid(grid_file), setting=SweepSetting(top=4))
    assert [row["name"] for row in report["baselines"]] == [
        "fused-original-budget10-mix0.3",
        "fused-original-budget20-mix0.3",
    ]
    rows = {row["name"]: row for row in report["configurations"]}
    assert rows["fused-original-budget10-mix0.3"]["shown"]["gain:families"] == 0
    assert len(report["comparisons"][0]["evaluations"]) == 2, "one a budget, each against the baseline of that budget"
