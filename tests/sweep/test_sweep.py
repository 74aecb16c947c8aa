"""Sweeps run from end to end on small workspaces: scores, resuming, collections, what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sweep_cases
from sweep_cases import FAMILIES, GRID, Make, sweep

from conftest import REPOSITORY, Run, write_lines
from gme.evaluation.measures import evaluate
from gme.pipeline.prepare import RetrievalSetting
from gme.pipeline.retrieve import retrieve_workspace
from gme.pipeline.runs import read_run
from gme.sweep.grid import read_grid
from gme.sweep.runner import Bench
from gme.workspace import Workspace

make = sweep_cases.make
grid_file = sweep_cases.grid_file
calls = sweep_cases.calls


def test_every_value_is_what_evaluate_gives(make: Make, grid_file: Path, gme: Run) -> None:
    folder = make("first", 1)
    pytest.importorskip("ir_measures")
    grid_file.write_text(
        'show = ["recall@4", "all-supporting@5:relational", "gain:families", "recovery:families", "nDCG@10", '
        '"nodes-to-match:hard", "search-calls", "budget"]\n' + GRID,
        encoding="utf-8",
    )
    report = sweep(gme, grid_file, "-w", folder)
    grid, workspace = read_grid(grid_file), Workspace(folder)
    assert len(report["configurations"]) == len(grid.configurations) == 13
    for configuration in (grid.baseline.at_budget(12), *grid.configurations):
        setting = RetrievalSetting(collection=configuration.collection or "")
        retrieve_workspace(workspace, configuration.strategy, setting, name=configuration.name, **configuration.given)
    names = ["plain-budget12", *(row["name"] for row in report["configurations"])]
    runs = [read_run(workspace, name) for name in names]
    expected = evaluate(runs, workspace.questions, workspace.nodes, baseline=names[0], ks=(4, 5), measures=["nDCG@10"])
    for row, run in zip([*report["baselines"], *report["configurations"]], expected["runs"], strict=True):
        populations: Any = run["populations"]
        families = [populations[family] for family, _ in FAMILIES]
        assert row["value"] == 100 * populations["hard"]["recovery"]
        # means of the same questions, added up in another order
        assert row["shown"]["recall@4"] == pytest.approx(100 * populations["all"]["recall"]["4"], abs=1e-9)
        supporting = populations["relational"]["all_supporting"]["5"]
        assert row["shown"]["all-supporting@5:relational"] == pytest.approx(100 * supporting, abs=1e-9)
        assert row["shown"]["recovery:families"] == 100 * min(family["recovery"] for family in families)
        assert row["shown"]["nDCG@10"] == run["measures"]["nDCG@10"]
        assert row["nodes_to_match"] == populations["hard"]["nodes_to_match"]
        if "difference" in populations["hard"]:
            worst = min(family["difference"] for family in families)
            assert row["shown"]["gain:families"] == pytest.approx(100 * worst, abs=1e-9)
    values = [row["value"] for row in report["configurations"]]
    assert values == pytest.approx(sorted(values, reverse=True), abs=1e-9)
    assert len({round(value, 6) for value in values}) > 5
    assert [row["rank"] for row in report["configurations"]] == list(range(1, 14))


def test_an_interrupted_sweep_goes_on_where_it_was(
    make: Make, grid_file: Path, gme: Run, calls: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, folder = make("whole", 1), make("cut", 1)
    complete = sweep(gme, grid_file, "-w", whole)
    everything = list(calls)
    calls.clear()
    score, finished = Bench.score, 0

    def interrupted(self: Bench, *arguments: Any) -> Any:
        nonlocal finished
        finished += 1
        if finished == 6:
            raise KeyboardInterrupt
        return score(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Bench, "score", interrupted)
        code, out, err = gme("sweep", grid_file, "-w", folder)
    assert (code, out) == (130, "")
    assert "run the command again to go on" in err
    done = calls[:-1]
    ledger = folder / "reports/sweep-small.jsonl"
    assert ledger.read_bytes().count(b"\n") == 5
    with ledger.open("ab") as handle:
        handle.write(b'damaged\n{"key": "cut off')
    calls.clear()
    code, out, err = gme("sweep", grid_file, "-w", folder, "--json")
    assert code == 0
    assert "has damaged lines (1)" in err, "the one that a kill has cut off is none"
    assert f"{folder}: 13 configurations and 1 baseline: 9 to run, 5 in the ledger\n" in err
    assert calls == everything[len(done) :]
    for key in ("configurations", "baselines", "selected"):
        assert json.loads(out)[key] == complete[key]
    calls.clear()
    sweep(gme, grid_file, "-w", folder)
    assert calls == [], "the line that took the place of the torn one was kept too"
    assert b"cut off" not in ledger.read_bytes()


def test_a_change_invalidates_what_it_touches(make: Make, grid_file: Path, gme: Run, calls: list[str]) -> None:
    grid_file.write_text(GRID.replace("curve", "#"), encoding="utf-8")
    folder = make("first", 1)
    sweep(gme, grid_file, "-w", folder)
    everything = set(calls)
    on_text = {name for name in everything if "walk" in name}
    assert {"plain-budget12", "spread-budget12", "make signature-dim16"} <= everything

    calls.clear()
    sweep(gme, grid_file, "-w", folder, "--criterion", "gain:families", "--threads", 1)
    assert calls == [], "another criterion computes nothing"

    grid_file.write_text(GRID.replace("curve", "#").replace("[0.3, 0.7]", "[0.3, 0.5, 0.7]"), encoding="utf-8")
    sweep(gme, grid_file, "-w", folder)
    # 0.5 is the default of fused, but not of envelope
    assert len(calls) == 6
    assert {name for name in calls if name.startswith("envelope")} == {n for n in calls if "mix0.5" in n}

    calls.clear()
    edges = (folder / "edges.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "edges.jsonl").write_bytes(b"".join(edges[10:]))
    sweep(gme, grid_file, "-w", folder)
    assert everything - set(calls) == {"plain-budget12"}, "only plain looks at no graph"

    calls.clear()
    vectors = np.load(folder / "embeddings/original.npy")
    np.save(folder / "embeddings/original.npy", vectors[:, ::-1].copy())
    sweep(gme, grid_file, "-w", folder)
    assert everything - set(calls) == {"make signature-dim16"}, "signatures are not made from text"
    assert on_text <= set(calls)


def test_a_dry_run_needs_no_workspace(tmp_path: Path, grid_file: Path, gme: Run) -> None:
    code, out, err = gme("sweep", grid_file, "-w", tmp_path / "none", "--dry-run")
    assert code == 0
    assert out.splitlines() == [c.name for c in read_grid(grid_file).configurations]
    assert err.strip() == "13 configurations on 3 collections"
    assert sorted(tmp_path.iterdir()) == [grid_file]


def test_a_hand_made_collection_is_not_overwritten(make: Make, grid_file: Path, gme: Run) -> None:
    folder = make("first", 1)
    own = np.load(folder / "embeddings/original.npy")[::-1].copy()
    np.save(folder / "embeddings/walk.npy", own)
    code, _, err = gme("sweep", grid_file, "-w", folder)
    assert code == 1
    assert f"{folder / 'embeddings/walk.npy'} was not made by gme transform walk" in err
    np.testing.assert_array_equal(np.load(folder / "embeddings/walk.npy"), own)


def test_collections_that_are_there_are_used_unless_they_are_somebodys_own(
    make: Make, grid_file: Path, gme: Run, calls: list[str]
) -> None:
    folder = make("first", 1)
    assert gme("transform", "walk", "-w", folder)[0] == 0
    sweep(gme, grid_file, "-w", folder)
    assert [name for name in calls if name.startswith("make")] == ["make walk-steps3", "make signature-dim16"]
    assert gme("transform", "walk", "--alpha", 0.5, "--name", "walk", "-w", folder)[0] == 0
    code, _, err = gme("sweep", grid_file, "-w", folder)
    assert code == 1
    assert "the sweep would overwrite it: rename or remove it" in err


def test_questions_without_groups_and_families(small_workspace: Path, grid_file: Path, gme: Run) -> None:
    grid_file.write_text(GRID.replace('criterion = "recovery:hard"', ""), encoding="utf-8")
    report = sweep(gme, grid_file, "-w", small_workspace)
    assert report["criterion"] == "recovery"
    assert "recovery:groups" not in report["shown"]
    code, _, err = gme("sweep", grid_file, "-w", small_workspace, "--criterion", "recovery:groups")
    assert code == 1
    assert "recovery:groups looks at groups, but the questions in" in err
    code, _, err = gme("sweep", grid_file, "-w", small_workspace, "--criterion", "recovery:on")
    assert code == 1
    assert "unknown population of questions 'on'" in err
    assert "did you mean 'one'?" in err


def test_the_example_for_own_corpora_asks_for_no_groups_and_families(tmp_path: Path, gme: Run) -> None:
    notes = {"Acme": "Acme was founded by Ada Moreno.", "Ada Moreno": "Ada Moreno studied at Lund.", "Lund": "A city."}
    (tmp_path / "notes").mkdir()
    for title, text in notes.items():
        (tmp_path / f"notes/{title}.md").write_text(f"# {title}\n\n{text}\n", encoding="utf-8")
    folder = tmp_path / "workspace"
    assert gme("graph", "read", "text", tmp_path / "notes", "-w", folder)[0] == 0
    gold = ["Acme.md#1", "Ada Moreno.md#1"]
    write_lines(folder / "questions.jsonl", [{"id": "q", "question": "Where did Acme's founder study?", "gold": gold}])
    assert gme("graph", "mentions", "-w", folder)[0] == gme("embed", "-w", folder)[0] == 0
    report = sweep(gme, REPOSITORY / "examples/own.toml", "-w", folder)
    assert report["criterion"] == "all-supporting@10"
    assert len(report["configurations"]) == 4
    code, _, err = gme("sweep", REPOSITORY / "examples/envelope.toml", "-w", folder)
    assert code == 1
    assert "unknown population of questions 'hard'" in err
    assert err.endswith("hint: known: all\n")


def test_a_depth_that_no_budget_reaches(make: Make, grid_file: Path, gme: Run) -> None:
    code, _, err = gme("sweep", grid_file, "-w", make("first", 1), "--criterion", "all-supporting@40")
    assert code == 1
    assert "all-supporting@40 needs 40 nodes" in err
    assert "returns 12" in err


@pytest.mark.parametrize(
    "options", ["edge_types = 'lnik'", "edge_type_weights = 'lnik=2'", "edge_type_weights = 'lnik=1'"]
)
def test_types_that_no_edge_has_are_refused_before_any_work(options: str, make: Make, tmp_path: Path, gme: Run) -> None:
    folder = make("one", 1)
    grid = tmp_path / "types.toml"
    grid.write_text(
        f"[[transform]]\nmethod = 'walk'\n[[transform]]\nmethod = 'ppr'\n{options}\n[[strategy]]\nstrategy = 'fused'\n"
    )
    code, out, err = gme("sweep", grid, "-w", folder)
    assert (code, out) == (1, "")
    assert f"error: {folder}/edges.jsonl: unknown edge type 'lnik'" in err
    assert not (folder / "embeddings/walk.npy").exists()


def test_what_all_configurations_run_with_is_part_of_the_names_of_runs(make: Make, tmp_path: Path, gme: Run) -> None:
    folder = make("one", 1)
    strategy = "[[strategy]]\nstrategy = 'plain'\n"
    for name, retrieve in (("a", ""), ("b", "[retrieve]\ntypes = ['chunk']\nindex = 'hnsw'\n")):
        (tmp_path / f"{name}.toml").write_text(retrieve + strategy)
        assert gme("sweep", tmp_path / f"{name}.toml", "-w", folder)[0] == 0
    runs = sorted(path.stem for path in (folder / "runs").glob("*.jsonl"))
    assert runs == ["sweep-plain", "sweep-plain-types-chunk-hnsw"]
    assert (folder / "reports/budget40-sweep-a.json").is_file()
