"""``gme evaluate`` as users type it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from conftest import Run
from gme.cli import _output
from gme.cli._evaluation_tables import tables
from gme.evaluation.measures import evaluate
from gme.evaluation.runs import Run as RunFile
from gme.evaluation.significance import EvaluationOptions
from gme.workspace.records import Nodes, Questions


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
    assert "no differences are shown, because there is no baseline run: gme retrieve plain" in err


@pytest.mark.parametrize("command", ["evaluate", "report"])
def test_a_run_of_another_strategy_is_no_baseline_in_spite_of_its_name(command: str, workspace: Path, gme: Run) -> None:
    made = gme("retrieve", "fused", "-w", workspace, "--collection", "walk", "--budget", "3", "--name", "plain")
    assert made[0] == 0
    written = workspace / f"reports/{'evaluation' if command == 'evaluate' else 'report'}.json"
    code, _, err = gme(command, "-w", workspace)
    assert code == 0
    assert "warning: the run plain was made with the strategy fused, so it is not taken as the baseline\n" in err
    assert "hint: choose one with --baseline, or if you mean this one: --baseline plain\n" in err
    assert "because there is no baseline run: choose one with --baseline\n" in err
    report = json.loads(written.read_text())
    assert report["baseline"] is None
    assert [run["name"] for run in report["runs"]] == ["fused-walk", "plain"]
    assert gme("retrieve", "plain", "-w", workspace, "--budget", "3", "--name", "first")[0] == 0
    assert "because there is no baseline run: choose one with --baseline: first\n" in gme(command, "-w", workspace)[2]
    code, _, err = gme(command, "-w", workspace, "--baseline", "plain")
    assert code == 0
    assert "made with the strategy" not in err
    assert json.loads(written.read_text())["baseline"] == "plain"
    (workspace / "runs/plain.json").unlink()  # as a run that another program wrote
    assert gme(command, "-w", workspace)[0] == 0
    assert json.loads(written.read_text())["baseline"] == "plain"


@pytest.mark.parametrize(
    ("names", "baseline"),
    [
        (["sweep-plain", "sweep-plain-budget4"], "sweep-plain"),
        (["sweep-plain-budget4"], "sweep-plain-budget4"),
        (["sweep-plain-budget3", "sweep-plain-budget4"], None),
        ([], None),
    ],
)
def test_among_runs_of_sweeps_alone_theirs_is_the_baseline(
    names: list[str], baseline: str | None, workspace: Path, gme: Run
) -> None:
    for name in names:
        own = name.removeprefix("sweep-")
        assert gme("retrieve", "plain", "-w", workspace, "--budget", "3", "--name", own)[0] == 0
    for path in (workspace / "runs").iterdir():
        if path.name.startswith("fused") or f"sweep-{path.stem}" in names:
            path.rename(path.with_name(f"sweep-{path.name}"))
    for path in (workspace / "runs").glob("plain.*"):
        path.unlink()
    for chosen in ([], ["sweep-fused-walk"]):
        code, out, err = gme("evaluate", *chosen, "-w", workspace, "--json")
        assert code == 0
        assert json.loads(out)["baseline"] == baseline
        hint = f"choose one with --baseline: {', '.join(names)}" if names else "gme retrieve plain"
        assert (f"because there is no baseline run: {hint}\n" in err) == (baseline is None)
    assert gme("retrieve", "fused", "-w", workspace, "--budget", "3", "--collection", "walk")[0] == 0
    _, out, err = gme("evaluate", "-w", workspace, "--json")  # beside other runs, those of sweeps are left out
    assert json.loads(out)["baseline"] is None
    assert f"because there is no baseline run: {hint}\n" in err


@pytest.mark.parametrize("command", [["retrieve", "plain"], ["evaluate"], ["report"]])
def test_names_of_sweeps_are_theirs(command: list[str], workspace: Path, gme: Run) -> None:
    before = set(workspace.rglob("*"))
    code, out, err = gme(*command, "--name", "sweep-mine", "-w", workspace)
    assert (code, out) == (1, "")
    assert (
        err == "error: the name 'sweep-mine' is one of gme sweep's, which begin with 'sweep-'\nhint: use another name\n"
    )
    assert set(workspace.rglob("*")) == before


def test_a_stale_run_of_a_sweep_is_made_again_under_its_name(workspace: Path, gme: Run) -> None:
    path = workspace / "runs/plain.jsonl"
    path.rename(path.with_stem("sweep-plain"))
    code, out, _ = gme("retrieve", "plain", "--budget", 3, "--name", "sweep-plain", "-w", workspace)
    assert (code, out) == (0, "sweep-plain\n")


def test_questions_without_gold_are_counted(workspace: Path, gme: Run) -> None:
    path = workspace / "questions.jsonl"
    for manifest in (workspace / "runs").glob("*.json"):
        manifest.unlink()
    path.write_text(path.read_text().replace('["d"]', "[]"))
    code, out, err = gme("evaluate", "-w", workspace)
    assert code == 0
    assert "in percent, 1 question\n" in out
    assert "left out because they have no gold evidence: 1 question\n" in err


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
    for name in ("questions", "nodes"):  # without which none can be made
        (small_workspace / f"{name}.jsonl").unlink()
        for command in ("evaluate", "report"):
            code, _, err = gme(command, "-w", small_workspace)
            assert code == 1
            assert f"{name}.jsonl is missing\n" in err


def test_stale_runs_that_nobody_named_are_left_out(workspace: Path, gme: Run) -> None:
    assert gme("retrieve", "plain", "-w", workspace, "--budget", "3", "--name", "other")[0] == 0
    walk = np.load(workspace / "embeddings/walk.npy")
    np.save(workspace / "embeddings/walk.npy", walk * 2)
    code, out, err = gme("evaluate", "-w", workspace, "--json")
    assert code == 0
    assert err.count("warning: ") == 1
    assert "warning: left out 1 stale run: fused-walk (embeddings/walk.npy has changed)" in err
    hint = "hint: re-make them, or delete them: gme retrieve fused --collection walk --budget 4 --name fused-walk\n"
    assert hint in err
    assert [run["name"] for run in json.loads(out)["runs"]] == ["plain", "other"]
    assert json.loads(out)["stale"] == ["fused-walk"]
    code, out, err = gme("evaluate", "fused-walk", "-w", workspace)
    assert (code, out) == (1, "")
    assert "is stale: embeddings/walk.npy has changed" in err
    assert gme("evaluate", "-w", workspace, "--baseline", "fused-walk")[0] == 1


def test_a_stale_default_baseline_is_left_out(workspace: Path, gme: Run) -> None:
    manifest = workspace / "runs/plain.json"
    manifest.write_text(manifest.read_text().replace('"sha256": "', '"sha256": "0'))
    code, out, err = gme("evaluate", "fused-walk", "-w", workspace, "--json")
    assert code == 0
    assert "left out 1 stale run: plain (the file itself has changed)" in err
    assert "because there is no baseline run: gme retrieve plain" in err
    assert json.loads(out)["baseline"] is None


def test_nothing_but_stale_runs_is_an_error(workspace: Path, gme: Run) -> None:
    vectors = np.load(workspace / "embeddings/original.npy")
    np.save(workspace / "embeddings/original.npy", vectors * 2)
    code, _, err = gme("evaluate", "-w", workspace)
    assert code == 1
    assert "holds nothing but 2 stale runs: plain, fused-walk (embeddings/original.npy has changed)" in err
    assert "gme retrieve plain --budget 3 --name plain && gme retrieve fused" in err


def test_budgets_that_differ_from_the_baselines_are_pointed_out(workspace: Path, gme: Run) -> None:
    code, out, err = gme("evaluate", "-w", workspace, "--k", "3,4")
    assert code == 0
    assert "warning: not all runs return 3 nodes as the baseline plain does: fused-walk 4" in err
    depths = out[out.index("recall@k") : out.index("Difference")].splitlines()
    assert next(line for line in depths if line.startswith(" plain")).split()[2::2] == ["–", "–"]
    report = json.loads((workspace / "reports/evaluation.json").read_text())
    assert [run["populations"]["all"]["recall"]["4"] is None for run in report["runs"]] == [True, False]
    assert gme("retrieve", "fused", "-w", workspace, "--budget", "3", "--name", "fused-walk")[0] == 0
    assert "warning" not in gme("evaluate", "-w", workspace)[2]


def _with_a_document(workspace: Path, gme: Run) -> None:
    """One node becomes a document; runs of all types and of chunks only."""
    nodes = workspace / "nodes.jsonl"
    nodes.write_text(nodes.read_text().replace('"chunk"', '"document"', 1))
    for strategy, *more in (["plain"], ["envelope", "--collection", "walk"], ["fused", "--types", "chunk,document"]):
        arguments = ["--budget", 3, "--name", "fused-walk" if strategy == "fused" else strategy]
        assert gme("retrieve", strategy, *more, *arguments, "-w", workspace)[0] == 0


def test_types_that_differ_from_the_baselines_are_pointed_out(workspace: Path, gme: Run) -> None:
    _with_a_document(workspace, gme)
    code, out, err = gme("evaluate", "-w", workspace, "--json")
    assert code == 0
    types = {run["name"]: run["types"] for run in json.loads(out)["runs"]}
    assert types == {"plain": ["chunk", "document"], "envelope": ["chunk"], "fused-walk": ["chunk", "document"]}
    assert err.count("warning: ") == 1
    assert (
        "warning: not all runs return nodes of the same types as the baseline plain (chunk, document): "
        "envelope (chunk)\nhint: a baseline of the same types: gme retrieve plain --types chunk, "
        "then --baseline with the name it prints\n"
    ) in err
    code, name, _ = gme("retrieve", "plain", "--types", "chunk", "--budget", 3, "-w", workspace)
    assert code == 0
    err = gme("evaluate", "-w", workspace, "--baseline", name.strip())[2]
    assert f"as the baseline {name.strip()} (chunk): fused-walk (chunk, document)\n" in err
    assert "hint: retrieve them again with --types chunk\n" in err
    assert "warning" not in gme("evaluate", "plain", "envelope", "-w", workspace, "--baseline", name.strip())[2]
    (workspace / "runs/envelope.json").unlink()  # as a run that another program wrote
    assert "warning" not in gme("evaluate", "-w", workspace)[2]


def test_the_page_tells_of_types_that_differ(workspace: Path, gme: Run) -> None:
    _with_a_document(workspace, gme)
    told = "from other types of nodes than the baseline&#x27;s (chunk, document): envelope (chunk)"
    for runs, there in (([], True), (["fused-walk"], False)):
        assert gme("report", *runs, "-w", workspace)[0] == 0
        assert (told in (workspace / "reports/report.html").read_text()) == there


def test_slots_qrels_and_measures(workspace: Path, gme: Run) -> None:
    pytest.importorskip("ir_measures")
    code, out, err = gme(
        "evaluate", "-w", workspace, "--slots", "--qrels", "--measures", "R@3, nDCG(dcg='exp-log2')@3,Success@1"
    )
    assert code == 0, err
    assert "Slots, 1 hop (1 question): i-th gold passage within the first k, percent" in out
    assert "Slots, 2 hops (1 question)" in out
    report = json.loads((workspace / "reports/evaluation.json").read_text())
    assert set(report["runs"][0]["measures"]) == {"R@3", "nDCG(dcg='exp-log2')@3", "Success@1"}
    assert f"{report['runs'][0]['measures']['R@3']:.4f}" in out
    assert f"gold: {workspace / 'runs/qrels.trec'}" in err
    assert (workspace / "runs/qrels.trec").read_text() == "q1 0 a 1\nq1 0 b 1\nq2 0 d 1\n"
    assert "Slots" not in gme("evaluate", "-w", workspace)[1]
    # JSON shows them in any case.
    with_slots, without = (gme("evaluate", "--json", *asked, "-w", workspace)[1] for asked in (("--slots",), ()))
    assert with_slots == without
    assert json.loads(without)["runs"][0]["slots"]


def test_gold_can_be_written_before_there_are_runs(small_workspace: Path, gme: Run) -> None:
    assert gme("evaluate", "--qrels", "-w", small_workspace)[:2] == (0, "")
    assert (small_workspace / "runs/qrels.trec").is_file()


@pytest.mark.parametrize("terminal", [False, True])
@pytest.mark.parametrize("runs", [2, 9])
def test_numbers_stay_whole_however_narrow_the_terminal(
    terminal: bool, runs: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    generator = np.random.default_rng(runs)
    rows = Nodes([f"n{i}" for i in range(50)], ["chunk"] * 50, [""] * 50, [None] * 50, {f"n{i}": i for i in range(50)})
    families = [("collect_global_collect", "relational"), ("hop1", "single-fact"), ("extremize", "extremisation")] * 20
    questions = Questions(
        [f"q{i:02}" for i in range(60)],
        [""] * 60,
        [[f"n{g}" for g in generator.permutation(50)[:3]] for _ in families],
        [family for family, _ in families],
        [group for _, group in families],
        [2] * 60,
    )
    names = [f"envelope-signature-budget{number}" for number in range(runs)]
    made = [RunFile(name, {q: generator.permutation(50)[:40].tolist() for q in questions.ids}, {}) for name in names]
    report = evaluate(made, questions, rows, baseline=names[0], options=EvaluationOptions(resamples=50))
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setattr("sys.stdout.isatty", lambda: terminal, raising=False)
    printed = {}
    for title, table in tables(report, slots=True):
        _output.table(table)
        printed[title.split(",")[0]] = capsys.readouterr().out
    for title, text in printed.items():
        assert "…" not in text
        if not terminal:  # in a pipe a name stays whole where it names a line
            assert title.endswith("family") or title.startswith("Difference") or names[0] in text
    for run in report["runs"]:
        scores = run["populations"]["hop1"]
        assert f" {100 * scores['recovery']:.1f}" in printed["Evidence recovery by family"]
        if "interval" in scores:
            low, high = (f"{100 * end + 0.0:+.1f}" for end in scores["interval"])
            assert f"[{low}, {high}]" in printed["Difference by family"]
    across = runs <= 6
    lines = printed["Evidence recovery by family"].splitlines()
    assert any(line.startswith(" hop1 (20)") for line in lines) == across
    if across and not terminal:
        assert any(line.startswith(" collect_global_collect (20) ") for line in lines)
