"""``gme report``: it shows what ``gme evaluate`` measures, and every question as the runs have it."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_page import make, write_runs, write_workspace

from conftest import Run, write_lines
from gme.cli._evaluation_tables import tables
from gme.report import QUESTIONS
from gme.report.data import FEATURED, Results
from gme.report.figures import FIGURES
from gme.report.svg import Scale


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    write_workspace(tmp_path)
    return tmp_path


def test_it_prints_what_it_writes(workspace: Path, gme: Run) -> None:
    code, out, _ = gme("report", "-w", workspace, "--name", "mine")
    assert code == 0
    written = [Path(line) for line in out.splitlines()]
    assert written[:2] == [workspace / "reports/mine.html", workspace / "reports/mine.json"]
    assert all(path.is_file() for path in written)
    assert set(written) == {path for path in (workspace / "reports").rglob("*") if path.is_file()}
    assert {path.stem for path in written[2:]} == {f"mine-{figure}" for figure in FIGURES}  # this workspace has all
    assert not any("-" in figure for figure in FIGURES)  # or reports `a` and `a-b` could share a file


# ---- the same numbers as gme evaluate -------------------------------------------------------------------------------


def test_the_table_shows_what_evaluate_shows(workspace: Path, gme: Run) -> None:
    page = make(gme, workspace)
    code, out, _ = gme("evaluate", "-w", workspace, "--json")
    assert code == 0
    evaluation = json.loads(out)
    assert json.loads((workspace / "reports/report.json").read_text()) == evaluation
    heads, *lines = page.rows
    shown = {line[0]: dict(zip(heads, line, strict=True)) for line in lines}
    printed = {
        title: {str(column.header).replace("\n", " "): list(map(str, column.cells)) for column in table.columns}
        for title, table in tables(evaluation)
    }
    recovery = next(columns for title, columns in printed.items() if title.startswith("Evidence recovery in percent"))
    populations = ["all (6)", "hard (4)", "single-fact (2)", "extremisation (2)", "relational (2)"]
    for population in populations:
        assert [shown[name][population] for name in recovery["run"]] == recovery[population]
    depths = next(columns for title, columns in printed.items() if title.startswith("All questions"))
    for k in (5, 10, 20, 40):
        assert [shown[name][f"recall@{k}"] for name in depths["run"]] == depths[f"recall @{k}"]
        assert [shown[name][f"all-supporting@{k}"] for name in depths["run"]] == depths[f"all-sup. @{k}"]
    differences = next(columns for title, columns in printed.items() if title.startswith("Difference from plain"))
    hard = differences["questions"].index("hard (4)")
    assert shown["other"]["hard: points over plain"] == differences["other"][hard].replace("\n", " ")
    # By hand: of q2 … q5's gold plain finds 1, 0, 2, 0 of 2 and other 2, 2, 1, 2.
    assert shown["plain"]["hard (4)"] == "37.5"
    assert shown["other"]["hard (4)"] == "87.5"
    assert shown["other"]["ms a question"] == "2.50"
    lead = "".join(text for tag, text in page.texts if tag in ("p", "strong"))
    assert "Of all runs here, other finds most of the evidence of the hard questions: 87.5 %, plain 37.5 %" in lead


def test_runs_that_tie_are_told_and_come_by_searches_then_name(workspace: Path, gme: Run) -> None:
    runs = workspace / "runs"
    manifest = json.loads((runs / "other.json").read_text()) if (runs / "other.json").is_file() else {}
    for name, calls in (("another", 9), ("zero", 1)):
        (runs / f"{name}.jsonl").write_bytes((runs / "other.jsonl").read_bytes())
        (runs / f"{name}.json").write_text(json.dumps(manifest | {"search_calls": calls}))
    (runs / "other.json").write_text(json.dumps(manifest | {"search_calls": 9}))
    page = make(gme, workspace)
    lead = "".join(text for tag, text in page.texts if tag in ("p", "strong"))
    assert "zero finds most of the evidence of the hard questions: 87.5 %, tied with another and other, plain" in lead
    figure = (workspace / "reports/figures/report-recovery.svg").read_text()
    assert "Best on hard questions (4): zero, 87.5 %, tied with another and other; plain: 37.5 %." in figure


def test_figures_show_the_evaluations_numbers(workspace: Path, gme: Run) -> None:
    make(gme, workspace)
    entries = json.loads((workspace / "reports/report.json").read_text())["runs"]
    other = next(entry for entry in entries if entry["name"] == "other")["populations"]
    texts = {
        figure: [node.text or "" for node in ElementTree.parse(path).iter() if node.text]
        for figure in FIGURES
        if (path := workspace / f"reports/figures/report-{figure}.svg").is_file()
    }
    assert f"other: {100 * other['hard']['recovery']:.1f} %" in texts["recovery"]
    low, high = (f"{100 * end + 0.0:+.1f}" for end in other["hard"]["interval"])
    assert f"other, hard: {100 * other['hard']['difference']:+.1f} [{low}, {high}]" in texts["changes"]
    assert f"other reaches plain's recovery with {other['hard']['nodes_to_match']} nodes" in texts["curves"]
    assert f"other: near ends at 2, {100 * other['hard']['curve'][1]:.1f} %" in texts["curves"]
    assert f"other, family1 (2): {100 * other['family1']['difference']:+.1f}" in texts["families"]
    assert any("plain at 3" in text for text in texts["curves"])


def test_the_families_figure_says_what_its_rows_hold(workspace: Path, gme: Run) -> None:
    title = "Change against plain by family, in points (plain itself: recovery in percent). Every run"
    assert title in make(gme, workspace).text("figcaption")
    (workspace / "runs/plain.jsonl").unlink()
    assert "Recovery by family, in percent. Every run" in make(gme, workspace).text("figcaption")


# ---- the drill-down -------------------------------------------------------------------------------------------------


def test_the_drill_down_holds_every_run_as_its_file_does(workspace: Path, gme: Run) -> None:
    data = make(gme, workspace).data
    assert [run["name"] for run in data["runs"]] == ["plain", "other"]
    assert data["baseline"] == 0
    nodes = [node[0] for node in data["nodes"]]
    assert len(set(nodes)) == len(nodes)
    assert {node[2] for node in data["nodes"]} <= {f"Title {i}" for i in range(8)}
    assert all(len(node[3]) <= 280 and node[3].endswith("…") for node in data["nodes"])
    for number, run in enumerate(data["runs"]):
        lines = (workspace / f"runs/{run['name']}.jsonl").read_bytes().splitlines()
        results = {record["question_id"]: record["results"] for record in map(orjson.loads, lines)}
        for question in data["questions"]:
            found, scores, layout = question["runs"][number]
            stages = [data["stages"][stage] for stage, length in run["layouts"][layout] for _ in range(length)]
            expected = results[question["id"]]
            assert [nodes[node] for node in found] == [result["id"] for result in expected]
            assert stages == [result["stage"] for result in expected]
            assert [score / 10 ** run["decimals"] for score in scores] == pytest.approx([r["score"] for r in expected])
    assert [[nodes[node] for node in question["gold"]] for question in data["questions"] if question["id"] == "q3"] == [
        ["n3", "n4"]
    ]


@pytest.mark.parametrize("scale", [1e-320, 1e-9, 1e5, 2.0**53, 2.0**63, 2.0**64, 4e23, 1.7e308])
def test_scores_of_any_size(scale: float, workspace: Path, gme: Run) -> None:
    scores = [scale, scale / 2, -scale]
    results = [{"id": f"n{place}", "score": score} for place, score in enumerate(scores)]
    write_lines(workspace / "runs/plain.jsonl", [{"question_id": f"q{i}", "results": results} for i in range(6)])
    data = make(gme, workspace).data
    decimals = data["runs"][0]["decimals"]
    shown = [score / 10**decimals for score in data["questions"][0]["runs"][0][1]]
    assert shown == pytest.approx(scores, rel=1e-3, abs=1e-15)


def test_the_largest_changes_go_in_and_the_page_says_so(workspace: Path, gme: Run) -> None:
    page = make(gme, workspace, "--questions", 2)
    assert [question["id"] for question in page.data["questions"]] == ["q3", "q5"]  # 0 to 1 both; others change by half
    assert "2 of 6 questions, those where the change against the baseline is largest" in page.text("p")
    assert "gme report --questions 2" in page.text("code")
    assert "All of 6 questions" in make(gme, workspace).text("p")
    empty = make(gme, workspace, "--questions", 0)
    assert empty.data["questions"] == []
    assert "No question is shown" in empty.text("p")


def test_texts_that_come_late_are_cut_shorter(tmp_path: Path, gme: Run) -> None:
    ids = [f"n{i:02d}" for i in range(13)]
    write_lines(tmp_path / "nodes.jsonl", [{"id": i, "type": "chunk", "text": "word " * 99} for i in ids])
    write_lines(tmp_path / "questions.jsonl", [{"id": "q0", "question": "?", "gold": ["n12"]}])
    write_runs(tmp_path, plain=[ids])
    lengths = {node[0]: len(node[3]) for node in make(gme, tmp_path).data["nodes"]}
    assert all(lengths[i] > 270 for i in [*ids[:10], "n12"])
    assert lengths["n10"] == lengths["n11"] <= 100


def test_more_runs_than_can_be_told_apart(workspace: Path, gme: Run) -> None:
    write_runs(workspace, **{f"poor{n}": [["n7"]] * 6 for n in range(FEATURED)})
    page = make(gme, workspace)
    assert [run["name"] for run in page.data["runs"]] == ["plain", "other", *(f"poor{n}" for n in range(FEATURED - 2))]
    assert f"show {FEATURED} of {FEATURED + 2} runs" in page.text("p")
    assert len(page.rows) == 1 + FEATURED + 2


def test_the_page_names_other_packages_that_took_part(workspace: Path, gme: Run) -> None:
    assert "Other packages" not in make(gme, workspace).text("p")
    ours = {"distribution": "gme-examples", "version": "0.1", "code_sha256": "0"}
    path = workspace / "runs/other.json"
    run = {"strategy": "halves", "plugins": {"strategy": ours}, "inputs": {"embeddings/average.npy": "0" * 64}}
    path.write_text(json.dumps(json.loads(path.read_text()) | run))
    (workspace / "embeddings").mkdir()
    collection = {"method": "average", "plugins": {"method": ours}, "inputs": {"edges.jsonl": "0" * 64}}
    (workspace / "embeddings/average.json").write_text(json.dumps(collection))
    (workspace / "manifests").mkdir(exist_ok=True)
    parts = {"chain": {"command": "", "inputs": {}, "plugins": {"builder": {"module": "notebook"}}}}
    (workspace / "manifests/edges.json").write_text(json.dumps({"builders": parts}))
    expected = "Other packages took part: gme-examples 0.1 (strategy halves, transform average); module notebook ("
    assert f"{expected}edge builder chain)." in make(gme, workspace).text("p")


def test_without_a_baseline(workspace: Path, gme: Run) -> None:
    (workspace / "runs/plain.jsonl").rename(workspace / "runs/first.jsonl")
    page = make(gme, workspace, "other", "first")
    assert page.data["baseline"] is None
    assert "because there is no baseline run" in page.text("p")
    assert [question["id"] for question in page.data["questions"]][:2] == ["q3", "q5"]
    assert not (workspace / "reports/figures/report-changes.svg").exists()


def test_runs_with_nothing_but_ids_and_questions_with_nothing_but_gold(tmp_path: Path, gme: Run) -> None:
    write_lines(tmp_path / "nodes.jsonl", [{"id": "n0", "type": "chunk", "text": ""}])
    write_lines(tmp_path / "questions.jsonl", [{"id": "q0", "question": "", "gold": ["n0"]}])
    (tmp_path / "runs").mkdir()
    write_lines(tmp_path / "runs/a.jsonl", [{"question_id": "q0", "results": [{"id": "n0"}]}])
    write_lines(tmp_path / "runs/b.jsonl", [{"question_id": "q0", "results": [{"id": "n0", "score": "x", "stage": 3}]}])
    write_lines(tmp_path / "runs/plain.jsonl", [{"question_id": "q0", "results": []}])
    data = make(gme, tmp_path).data
    assert [entry[1] for entry in data["questions"][0]["runs"]] == [[], [None], [None]]
    assert data["stages"] == [""]


# ---- the same bytes -------------------------------------------------------------------------------------------------


def test_the_same_runs_give_the_same_bytes_in_any_order_of_lines(workspace: Path, gme: Run) -> None:
    def snapshot() -> dict[str, bytes]:
        code, out, err = gme("report", "-w", workspace)
        assert code == 0, err
        return {path: Path(path).read_bytes() for path in out.splitlines()}

    before = snapshot()
    assert snapshot() == before
    for name in ("nodes.jsonl", "questions.jsonl", "runs/plain.jsonl", "runs/other.jsonl"):
        lines = (workspace / name).read_bytes().splitlines(keepends=True)
        (workspace / name).write_bytes(b"".join(lines[::-1]))
    assert snapshot() == before


def test_png_files_are_left_out_without_the_extra(workspace: Path, gme: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    left = workspace / "reports/figures/report-curves.png"
    left.parent.mkdir(parents=True)
    left.write_bytes(b"of an earlier report")
    monkeypatch.setattr("gme.report.can_draw_png", lambda: False)
    code, out, err = gme("report", "-w", workspace)
    assert code == 0
    hint = "for PNG files as well: pip install 'graph-modified-embeddings[report]'"
    assert f"warning: figures are written as SVG only\nhint: {hint}\n" in err
    assert ".png" not in out
    assert not left.exists()
    assert gme("report", "-w", workspace, "--quiet")[2] == ""


def test_png_files_show_the_drawing(workspace: Path, gme: Run) -> None:
    pytest.importorskip("resvg_py")
    pytest.importorskip("font_roboto")
    from gme.report.images import ENLARGED

    make(gme, workspace)
    for figure in FIGURES:
        svg = ElementTree.parse(workspace / f"reports/figures/report-{figure}.svg").getroot()
        png = (workspace / f"reports/figures/report-{figure}.png").read_bytes()
        assert png.startswith(b"\x89PNG\r\n\x1a\n")
        width, height = (int.from_bytes(png[place : place + 4], "big") for place in (16, 20))
        assert abs(width - ENLARGED * float(svg.attrib["width"])) <= 1
        assert abs(height - ENLARGED * float(svg.attrib["height"])) <= 1


# ---- errors ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["othre"], "unknown run 'othre'", "did you mean 'other'?"),
        (["--baseline", "plane"], "unknown baseline run 'plane'", "did you mean 'plain'?"),
        (["--questions", "-1"], "--questions is -1", "--questions 500"),
        (["--name", "../x"], "run name '../x' is not a file name", "use letters"),
    ],
)
def test_user_errors(arguments: list[str], message: str, hint: str, workspace: Path, gme: Run) -> None:
    code, out, err = gme("report", *arguments, "-w", workspace)
    assert (code, out) == (1, "")
    assert f"error: {message}" in err
    assert hint in err
    assert not (workspace / "reports").exists()


def test_no_runs_and_runs_of_other_questions(workspace: Path, gme: Run) -> None:
    lines = (workspace / "runs/other.jsonl").read_text()
    (workspace / "runs/other.jsonl").write_text(lines.replace('"q5"', '"q9"'))
    code, _, err = gme("report", "-w", workspace)
    assert code == 1
    assert "other.jsonl:6: question_id 'q9' is not in questions.jsonl" in err
    for path in (workspace / "runs").iterdir():
        path.unlink()
    code, _, err = gme("report", "-w", workspace)
    assert code == 1
    assert "hint: make one with: gme retrieve plain" in err


def test_the_commands_default_is_the_functions(gme: Run) -> None:
    assert f"[default: {QUESTIONS}]" in gme("report", "--help")[1]


# ---- parts ----------------------------------------------------------------------------------------------------------


def _results(*stages: list[str]) -> Results:
    return Results([[]] * len(stages), [[]] * len(stages), list(stages), np.zeros((len(stages), 1)))


def test_marks_stand_where_stages_end_for_most_questions() -> None:
    assert _results(["a", "a", "b"], ["a", "b", "b"], ["a", "a", "b", "b"]).stage_ends == [(2, "a"), (4, "b")]
    assert _results(["a", "a"]).stage_ends == []
    assert _results(["a", "b"] * 10).stage_ends == []
    assert _results([], []).stage_ends == []


@given(st.floats(-1, 1), st.floats(1e-6, 2))
def test_ticks_are_round_and_within(low: float, width: float) -> None:
    scale = Scale(low, low + width, 0, 100)
    ticks = scale.ticks()
    assert 1 <= len(ticks) <= 7
    assert all(low - 1e-6 * width <= tick <= low + width + 1e-6 * width for tick in ticks)
    steps = np.diff(ticks)
    assert np.allclose(steps, steps[0] if len(steps) else 0)
