"""What holds for every command: nobody may read what it prints, exit codes follow one rule, names have suggestions."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

from conftest import Run
from gme import transform
from gme.errors import GmeError, joined, unknown
from gme.graph.construction import build_graph

GRID = """
[[transform]]
method = "walk"
[[strategy]]
strategy = "fused"
budget = 3
"""

PRINTING = {
    "--help": [],
    "--version": [],
    "retrieve --help": [],
    "transform --list": [],
    "generate --people 20 --questions 1 --force": ["nodes.jsonl", "manifests/questions.json"],
    "graph read text notes": ["nodes.jsonl"],
    "graph mentions": ["manifests/edges.json"],
    "graph check": [],
    "graph check --json": [],
    "embed": ["embeddings/questions.json"],
    "transform walk --steps 3": ["embeddings/walk-steps3.npy"],
    "transform --collections main": [f"embeddings/{name}.npy" for name in ("hop1", "hop2", "convex", "louvain")],
    "retrieve fused": ["runs/fused-walk.jsonl"],
    "retrieve fused --json": ["runs/fused-walk.jsonl"],
    "retrieve fused --question why?": [],
    "evaluate": ["reports/evaluation.json"],
    "evaluate --json": ["reports/evaluation.json"],
    "report": ["reports/report.html"],
    "sweep grid.toml": ["reports/sweep-grid.json"],
    "sweep grid.toml --dry-run": [],
    "demo -w demo --people 4 --questions 1": ["demo/validation/reports/evaluation.json"],
}
"""Command line -> files that it writes besides what it prints."""


@pytest.fixture
def ready(small_workspace: Path, gme: Run) -> Path:
    """A workspace on which every command can run."""
    (small_workspace / "notes").mkdir()
    (small_workspace / "notes/one.txt").write_text("a note")
    (small_workspace / "grid.toml").write_text(GRID)
    for words in (["embed"], ["transform", "walk"], ["retrieve", "plain"]):
        assert gme(*words, "-w", small_workspace)[0] == 0
    return small_workspace


def _gme(
    words: list[str], folder: Path, stdout: int | IO[str], stderr: int | IO[str] = subprocess.PIPE
) -> tuple[int, str]:
    """Run one command line in `folder`; returns its exit code and what it told people."""
    command = [sys.executable, "-c", "from gme.cli import main; main()", *words]
    done = subprocess.run(command, cwd=folder, stdout=stdout, stderr=stderr, text=True, check=False)
    return done.returncode, done.stderr or ""


def _words(line: str, folder: Path) -> list[str]:
    if line.startswith("graph read"):  # it would need --force
        (folder / "nodes.jsonl").unlink()
        return [*line.split(), "--force"]
    return line.split()


@pytest.mark.parametrize("line", PRINTING)
def test_what_a_command_makes_is_made_although_nobody_reads(line: str, ready: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    code, err = _gme(_words(line, ready), ready, writing)
    os.close(writing)
    assert (code, "error" in err) == (0, False), err
    assert [name for name in PRINTING[line] if not (ready / name).is_file()] == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("line", PRINTING)
def test_what_a_command_makes_is_made_although_standard_output_is_full(line: str, ready: Path) -> None:
    with Path("/dev/full").open("w") as full:
        code, err = _gme(_words(line, ready), ready, full)
    assert code == 1
    assert err.splitlines()[-2] == "error: standard output: no space left on device"
    assert err.splitlines()[-1].startswith("hint: the files are complete")
    assert [name for name in PRINTING[line] if not (ready / name).is_file()] == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_what_people_are_told_may_be_lost_as_well(ready: Path) -> None:
    with Path("/dev/full").open("w") as full:
        assert _gme(["evaluate"], ready, subprocess.DEVNULL, full)[0] == 0
        assert _gme(["evaluate"], ready, full, full)[0] == 1
    closed = ["sh", "-c", f"exec {sys.executable} -c 'from gme.cli import main; main()' evaluate >&- 2>&-"]
    (ready / "reports/evaluation.json").unlink()
    assert subprocess.run(closed, cwd=ready, check=False).returncode == 0
    assert (ready / "reports/evaluation.json").is_file()


def test_an_error_keeps_its_code_when_nobody_reads(ready: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    assert _gme(["graph", "check", "--gate", "linkage=1,lift=1000"], ready, writing)[0] == 1
    os.close(writing)


@pytest.mark.parametrize(
    "line",
    [
        "nope",
        "graph nope",
        "graph read nope",
        "graph read text",
        "generate --people many",
        "transform nope",
        "transform walk --nope",
        "transform walk --steps x",
        "transform walk --threads -1",
        "transform --threads 1 walk",
        "retrieve",
        "retrieve plain --nope",
        "retrieve plain --build-threads -1",
        "sweep",
        "sweep grid.toml --top 0",
    ],
)
def test_what_cannot_be_parsed_is_wrong_usage(
    line: str, ready: Path, gme: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ready)
    code, out, err = gme(*line.split())
    assert (code, out) == (2, ""), err
    assert "error: " in err


@pytest.mark.parametrize(
    "line",
    [
        "graph check --gate nope=1",
        "graph check --gate linkage=x",
        "generate --split nope",
        "generate --people 1",
        "generate --questions 0",
        "embed --model nope",
        "embed --model local:x",
        "embed --model file:",
        "embed --batch-size 0",
        "embed --model openai:x --base-url ftp://x",
        "embed --dimensions 3",
        "transform walk --steps 0",
        "transform walk --alpha nan",
        "transform walk --name a/b",
        "transform walk --name original",
        "transform residual",
        "transform walk --edge-types ,",
        "transform louvain --backend nope",
        "transform ppr --edge-type-weights link",
        "transform convex --sweeps 2 --tolerance 0.1",
        "transform --collections nope",
        "transform --collections ,",
        "retrieve nope",
        "retrieve plain --budget 0",
        "retrieve plain --format nope",
        "retrieve plain --precision nope",
        "retrieve plain --name a/b",
        "retrieve plain --question x --latency",
        "retrieve fused --mix nope",
        "retrieve fused --schedule nope:3",
        "retrieve fused --collection a/b",
        "evaluate --k 0",
        "evaluate --k x",
        "evaluate --resamples 0",
        "evaluate --measures nope",
        "evaluate --name a/b",
        "report --questions -1",
        "report --name a/b",
        "sweep grid.toml --criterion nope",
        "sweep grid.toml --criterion recovery:",
        "sweep grid.toml --constraint nope",
        "sweep grid.toml --name a/b",
        "sweep grid.toml --rows 3 --json",
        "demo --model nope",
        "demo --people 1",
        "demo --collections nope",
        "graph read text missing -w other",
        "graph check -w missing",
        "graph check --edge-types nope",
        "graph check --gate linkage=1,lift=1000",
        "generate",
        "embed -w missing",
        "embed --model file:missing.npy",
        "embed --model onnx:missing",
        "transform walk -w missing",
        "transform walk --edge-types nope",
        "transform residual --source nope",
        "retrieve fused --collection nope",
        "retrieve plain --types nope",
        "evaluate nope",
        "evaluate --baseline nope",
        "evaluate -w missing",
        "report nope",
        "sweep missing.toml",
        "sweep grid.toml --criterion recovery:nope",
    ],
)
def test_wrong_values_names_and_files_are_wrong_input(
    line: str, ready: Path, gme: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ready)
    code, _, err = gme(*line.split())
    assert code == 1, err
    assert "error: " in err


@pytest.mark.parametrize(
    "words",
    ["--mix 0.5", "--collection walk", "--edge-types link", "--precision i8", "--exact --precision i8"],
)
def test_one_command_line_can_be_tried_with_every_strategy(words: str, ready: Path, gme: Run) -> None:
    code, out, err = gme("retrieve", "plain", *words.split(), "-w", ready)
    assert (code, out) == (0, "plain\n")
    assert "has no effect\nhint: it belongs to " in err


def test_a_grid_is_input(ready: Path, gme: Run) -> None:
    for content in (GRID.replace("fused", "fusd"), GRID.replace("3", "0"), f"criterion = 'recal@5'\n{GRID}"):
        (ready / "grid.toml").write_text(content)
        assert gme("sweep", ready / "grid.toml", "-w", ready)[0] == 1


@pytest.mark.parametrize(
    ("line", "guess"),
    [
        ("transform sig", "did you mean 'signature'? known: convex, "),
        ("transform hop", "did you mean 'hop1' or 'hop2'? "),
        ("transform PPR", "did you mean 'ppr'? "),
        ("graph read markdown", "did you mean 'text'? known: 2wiki, "),
        ("graph mention", "did you mean 'mentions'"),
        ("retreive", "did you mean 'retrieve'? known: demo, "),
        ("retrieve pag", "did you mean 'pagerank'? known: bm25, chained, "),
        ("retrieve fused --collection wa", "did you mean 'walk'? known: original, walk"),
        ("transform --collections nope", "all names: main, all, and those of gme transform --list"),
        ("transform --collections sha", "did you mean 'shared', "),
        ("evaluate pl", "did you mean 'plain'? known: plain"),
        ("evaluate --baseline pl", "did you mean 'plain'? known: plain"),
        ("evaluate --measures ndcg@10", "did you mean "),
        ("sweep grid.toml --criterion recal@5", "did you mean 'Recall', 'recall@K'"),
        ("sweep grid.toml --criterion recovry", "did you mean 'recovery'? measures: recovery, gain, "),
        ("sweep grid.toml --criterion foo", "measures: recovery, gain, "),
        ("generate --split val", "did you mean 'validation'? "),
        ("embed --model open", "did you mean 'openai:NAME'? "),
    ],
)
def test_unknown_names_have_suggestions(
    line: str, guess: str, ready: Path, gme: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ready)
    monkeypatch.setitem(sys.modules, "ir_measures", None)  # a mistyped name is no reason to ask for the package
    error, hint = gme(*line.split())[2].strip().splitlines()[-2:]
    assert error.startswith("error: unknown ")
    assert hint.startswith(f"hint: {guess}")


def test_what_looks_like_a_measure_of_the_package_asks_for_it(
    ready: Path, gme: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    for words in (["evaluate", "--measures", "nDCG@10"], ["sweep", ready / "grid.toml", "--criterion", "P(rel=2)@5"]):
        code, _, err = gme(*words, "-w", ready)
        assert code == 1
        assert "error: the measures need the ir-measures package\nhint: install it: pip install ir-measures" in err


def test_suggestions_from_python() -> None:
    with pytest.raises(GmeError, match="unknown transform 'sig'") as caught:
        transform("sig", build_graph(["a"], []))
    assert caught.value.__notes__ == [f"hint: {caught.value.hint}"]
    assert str(caught.value.hint).startswith("did you mean 'signature'? known: ")
    assert not hasattr(GmeError("wrong"), "__notes__")


def test_long_lists_are_cut() -> None:
    assert joined("abc", last=" or ") == "a, b or c"
    assert joined("abc", 2) == "a, b … and 1 more"
    assert (joined([]), joined("a", last=" or ")) == ("", "a")
    hint = str(unknown("run", "x", [f"name{number}" for number in range(500)]).hint)
    assert hint.endswith(" … and 460 more")


def test_rows_are_those_of_the_table(ready: Path, gme: Run) -> None:
    report = json.loads(gme("sweep", ready / "grid.toml", "-w", ready, "--json")[1])
    assert len(report["configurations"]) == 1


def test_a_hint_that_warnings_share_is_given_once(tmp_path: Path, gme: Run) -> None:
    err = gme("generate", "--people", 3, "-w", tmp_path)[2]
    assert err.count("warning: ") == 11
    assert err.count("hint: ") == 1
    assert gme("generate", "--people", 3, "-w", tmp_path)[2].count("hint: ") == 1


@pytest.mark.parametrize("command", ["evaluate", "report"])
def test_runs_of_sweeps_are_shown_when_named(command: str, ready: Path, gme: Run) -> None:
    assert gme("sweep", ready / "grid.toml", "-w", ready, "-q")[0] == 0
    evaluated = ready / "reports" / ("evaluation.json" if command == "evaluate" else "report.json")

    def shown(*names: str) -> tuple[list[str], str]:
        code, _, err = gme(command, *names, "-w", ready)
        assert code == 0
        return [run["name"] for run in json.loads(evaluated.read_text())["runs"]], err

    names, err = shown()
    assert names == ["plain"]
    assert "left out 2 runs of gme sweep (sweep-…): they are shown when named\n" in err
    names, err = shown("sweep-fused-walk-budget3")
    assert names == ["plain", "sweep-fused-walk-budget3"]
    assert "left out" not in err
    for path in (ready / "runs").glob("plain*"):
        path.unlink()
    names, err = shown()
    assert names == ["sweep-plain-budget3", "sweep-fused-walk-budget3"], "the baseline comes first"
    assert "left out" not in err
