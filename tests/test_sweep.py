"""Sweeps run from end to end on small workspaces: scores, selection, confirmation, resuming."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import Run, write_lines
from gme.evaluation import evaluate, scores_by_run
from gme.retrieval import RetrievalSetting, retrieve_workspace
from gme.runs import read_run
from gme.sweep import SweepSetting, parse_measure, read_grid, run_sweep
from gme.sweep.bench import Bench
from gme.workspace import Workspace

NODES, QUESTIONS = 60, 24
GRID = """
criterion = "recovery:hard"
curve = [3, 6]

[[transform]]
method = "walk"
steps = [2, 3]

[[transform]]
method = "signature"
dim = 16

[[strategy]]
strategy = ["fused", "envelope"]
mix = [0.3, 0.7]
budget = 12

[[strategy]]
strategy = "spread"
budget = 12
"""
FAMILIES = [("easy", "single-fact"), ("most", "extremisation"), ("two", "relational")]

Make = Callable[[str, int], Path]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Workspaces of random vectors, edges and questions in three families."""

    def make(name: str, seed: int) -> Path:
        generator = np.random.default_rng(seed)
        folder = tmp_path / name
        (folder / "embeddings").mkdir(parents=True)
        ids = [f"n{i:02}" for i in range(NODES)]
        centres = generator.normal(size=(6, 16))
        vectors = centres[np.arange(NODES) % 6] + 1.5 * generator.normal(size=(NODES, 16))
        gold = [sorted({ids[g] for g in generator.integers(NODES, size=3)}) for _ in range(QUESTIONS)]
        queries = [vectors[int(g[0][1:])] + generator.normal(size=16) for g in gold]
        ends = generator.integers(NODES, size=(150, 2))
        write_lines(folder / "nodes.jsonl", [{"id": i, "type": "chunk", "text": f"text {i}"} for i in ids])
        write_lines(
            folder / "edges.jsonl", [{"source": ids[a], "target": ids[b], "type": "link"} for a, b in ends if a != b]
        )
        write_lines(
            folder / "questions.jsonl",
            [
                {
                    "id": f"q{i}",
                    "question": f"{name} {i}?",
                    "gold": gold[i],
                    "family": FAMILIES[i % 3][0],
                    "group": FAMILIES[i % 3][1],
                }
                for i in range(QUESTIONS)
            ],
        )
        for array, rows in (("original", vectors), ("questions", np.array(queries))):
            unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
            np.save(folder / "embeddings" / f"{array}.npy", unit.astype(np.float32))
        return folder

    return make


@pytest.fixture
def grid_file(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(GRID, encoding="utf-8")
    return path


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the configurations and collections that are computed, as they are."""
    computed: list[str] = []
    retrieve, collect = Bench._retrieve, Bench.make

    def counted(self: Bench, configuration: Any) -> Any:
        result = retrieve(self, configuration)
        computed.append(configuration.name)
        return result

    def made(self: Bench, collection: Any, progress: Any = None) -> None:
        computed.append(f"make {collection.name}")
        collect(self, collection, progress)

    monkeypatch.setattr(Bench, "_retrieve", counted)
    monkeypatch.setattr(Bench, "make", made)
    return computed


def sweep(gme: Run, *arguments: object) -> dict[str, Any]:
    code, out, err = gme("sweep", *arguments, "--json")
    assert code == 0, err
    report: dict[str, Any] = json.loads(out)
    return report


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
        populations = run["populations"]
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
    code, out, err = gme("sweep", grid_file, "-w", folder, "--constraint", "recovery > 100", "--confirm", other)
    assert (code, out) == (1, "")
    assert "no configuration meets recovery > 100: there is nothing to confirm" in err


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
        evaluation = scores_by_run(json.loads(out))
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


def test_a_depth_that_no_budget_reaches(make: Make, grid_file: Path, gme: Run) -> None:
    code, _, err = gme("sweep", grid_file, "-w", make("first", 1), "--criterion", "all-supporting@40")
    assert code == 1
    assert "all-supporting@40 needs 40 nodes" in err
    assert "returns 12" in err


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
