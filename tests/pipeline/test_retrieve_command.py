"""``gme retrieve`` as users type it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import Run
from gme.graph.construction import build_graph
from gme.pipeline.index import EXACT_BELOW
from gme.retrieval.batch import retrieve
from gme.retrieval.options import PlainOptions
from gme.retrieval.schedule import Schedule
from gme.retrieval.search import Search
from gme.retrieval.strategies import STRATEGIES, Strategy
from gme.types import Vectors
from gme.workspace import Workspace


@pytest.fixture
def workspace(small_workspace: Path) -> Path:
    """The small workspace with a modified collection."""
    _add(small_workspace, "walk")
    return small_workspace


def _add(folder: Path, name: str, dim: int = 8) -> None:
    generator = np.random.default_rng(len(name))
    np.save(folder / f"embeddings/{name}.npy", generator.normal(size=(6, dim)).astype(np.float32))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_writes_a_run_and_prints_its_name(strategy: str, workspace: Path, gme: Run) -> None:
    code, out, err = gme("retrieve", strategy, "-w", workspace, "--budget", "4")
    assert code == 0, err
    name = out.strip()
    assert name == f"{strategy}-budget4" if not STRATEGIES[strategy].needs_modified else f"{strategy}-walk-budget4"
    lines = [json.loads(line) for line in (workspace / f"runs/{name}.jsonl").read_text().splitlines()]
    assert [(line["question_id"], len(line["results"])) for line in lines] == [("q1", 4), ("q2", 4)]
    manifest = json.loads((workspace / f"runs/{name}.json").read_text())
    assert manifest["strategy"] == strategy
    assert manifest["index"]["original"] == "exact"
    assert manifest["options"]["budget"] == 4


def test_help_names_every_strategy_and_option(gme: Run) -> None:
    code, out, _ = gme("retrieve", "--help")
    assert code == 0
    assert all(f"  {strategy} " in out for strategy in STRATEGIES)
    for option in (
        "--collection",
        "--budget",
        "--mix",
        "--shift",
        "--schedule",
        "--exact",
        "--hnsw",
        "--question",
        "--name",
    ):
        assert option in out


def test_names_tell_what_was_changed(workspace: Path, gme: Run) -> None:
    _add(workspace, "hop1")
    run = ("retrieve", "fused", "-w", workspace, "-q", "--collection", "hop1")
    assert gme(*run, "--mix", "0.3")[1] == "fused-hop1-mix0.3\n"
    assert gme(*run, "--schedule", "original:2,fused:2")[1] == "fused-hop1-scheduleoriginal2-fused2\n"
    assert gme(*run, "--types", "chunk", "--hnsw")[1] == "fused-hop1-types-chunk-hnsw\n"
    assert gme(*run, "--name", "mine")[1] == "mine\n"
    assert gme("retrieve", "fused", "-w", workspace, "-q", "--collection", "original")[1] == "fused-original\n"


def test_the_only_collection_is_taken_and_named(workspace: Path, gme: Run) -> None:
    for given in (("--collection", ""), ("--collection",), ()):
        code, out, err = gme("retrieve", "chained", "-w", workspace, *given)
        assert (code, out) == (0, "chained-walk\n")
        assert "collection: walk, the only modified one" in err


def test_several_collections_must_be_chosen_from(workspace: Path, gme: Run) -> None:
    _add(workspace, "hop1")
    code, out, err = gme("retrieve", "chained", "-w", workspace)
    assert (code, out) == (1, "")
    assert "chained needs a collection" in err
    assert "hint: choose with --collection: hop1, walk" in err
    assert gme("retrieve", "envelope", "-w", workspace)[0] == 1
    _add(workspace, "signature", dim=5)
    assert gme("retrieve", "envelope", "-w", workspace)[1] == "envelope-signature\n"


def test_no_collection_says_how_to_make_one(small_workspace: Path, gme: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(small_workspace)
    code, _, err = gme("retrieve", "envelope")
    assert code == 1
    assert err.startswith("error: embeddings has no modified collection, and envelope needs one\n")
    assert "gme transform signature" in err
    assert "unknown collection 'wlak' in embeddings\n" in gme("retrieve", "fused", "--collection", "wlak")[2]


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["chaned"], "unknown strategy 'chaned'", "did you mean 'chained'?"),
        (["fused", "--collection", "wlak"], "unknown collection 'wlak'", "did you mean 'walk'?"),
        (["fused", "--mix", "1.5"], "--mix is 1.5, but must be at least 0 and at most 1", "default"),
        (["fused", "--mix", "auto"], "--mix is 'auto'", "only envelope"),
        (["envelope", "--temperature", "0.1"], "--temperature is 0.1, but has no effect with --mix auto", "--mix 0.5"),
        (["envelope", "--mix", "0.5", "--lift", "3"], "--lift is 3.0, but has no effect with --mix 0.5", "leave --mix"),
        (["fused", "--budget", "0"], "--budget is 0", "default"),
        (["chained", "--schedule", "fused:6"], "--schedule starts with 'fused'", "original:N"),
        (
            ["chained", "--schedule", "original:6", "--budget", "9"],
            "sizes in --schedule sum to 6",
            "leave --budget out",
        ),
        (["plain", "--types", "chank"], "unknown node type 'chank'", "did you mean 'chunk'?"),
        (["plain", "--format", "csv"], "unknown value for --format: 'csv'", "known: jsonl, trec"),
        (["plain", "--name", "a/b"], "run name 'a/b' is not a file name", "use letters"),
        (["plain", "--question", "x", "--name", "y"], "--name has no effect with --question", "it belongs to a run"),
        (["plain", "--question", "x", "--format", "trec"], "--format has no effect with", "it belongs to a run"),
        (["plain", "--question", "x", "--latency"], "--latency has no effect with --question", "it belongs to a run"),
        (["plain", "--question", "x", "--budget", "0"], "--budget is 0", "default: 10 with --question"),
        (["plain", "--model", "local"], "--model has no effect without --question", "it belongs to --question"),
    ],
)
def test_user_errors(arguments: list[str], message: str, hint: str, workspace: Path, gme: Run) -> None:
    code, out, err = gme("retrieve", *arguments, "-w", workspace)
    assert (code, out) == (1, "")
    error, hint_line = (line for line in err.splitlines() if line.startswith(("error: ", "hint: ")))
    assert message in error
    assert hint in hint_line
    assert not (workspace / "runs").exists()


def test_a_bare_collection_is_as_good_as_none_and_only_here(workspace: Path, gme: Run) -> None:
    """What ``--collection $NAME`` is when NAME is not set."""
    assert gme("retrieve", "plain", "-w", workspace, "--collection")[0] == 0
    for command in (["generate"], ["evaluate"], ["transform", "walk"], ["embed"]):
        code, out, err = gme(*command, "-w", workspace, "--collection")
        assert (code, out) == (2, ""), command
        assert "--collection" in err


def test_threads_for_building_are_bounded(workspace: Path, gme: Run) -> None:
    code, out, err = gme("retrieve", "plain", "--hnsw", "--build-threads", 10**23, "-w", workspace)
    assert (code, out) == (2, "")
    assert "--build-threads" in err


def test_a_budget_far_beyond_the_corpus_takes_no_memory(workspace: Path, gme: Run) -> None:
    code, _, err = gme("retrieve", "plain", "-w", workspace, "--budget", 10**13)
    assert code == 0, err
    assert "the budget of 10000000000000 is larger than the 6 nodes there are" in err
    for line in (workspace / "runs" / "plain-budget10000000000000.jsonl").read_text().splitlines():
        assert len(json.loads(line)["results"]) == 6
    code, _, err = gme("evaluate", "-w", workspace, "--k", "5,10000000000000", "--resamples", "10")
    assert code == 0, err
    assert gme("report", "-w", workspace)[0] == 0


@pytest.mark.parametrize(
    ("arguments", "reason", "hint"),
    [
        ("plain", "plain searches original vectors only", "it belongs to modified, split, rerank, fused, "),
        ("fused --budget 1", "at a budget of 1, fused has no stage left that", "give a larger --budget, or a --"),
        ("chained --budget 3", "modified vectors (original:1,shifted:1,shifted:1)", "give a larger --budget, or a --"),
        (
            "fused --schedule original:4",
            "no stage of original:4 searches modified",
            "the stages, modified and fused do",
        ),
    ],
)
def test_why_a_collection_has_no_effect(arguments: str, reason: str, hint: str, workspace: Path, gme: Run) -> None:
    code, _, err = gme("retrieve", *arguments.split(), "--collection", "walk", "-w", workspace)
    assert code == 0
    warning, hint_line = (line for line in err.splitlines() if line.startswith(("warning: ", "hint: ")))
    assert reason in warning
    assert warning.endswith(": --collection walk has no effect")
    assert hint in hint_line


def test_a_budget_beyond_the_corpus_is_said_once_and_last(workspace: Path, gme: Run) -> None:
    said = "the budget of {} is larger than the 6 nodes there are: all of them are returned"
    for budget, given in ((40, ()), (7, ("--budget", "7", "--latency"))):
        _, _, err = gme("retrieve", "plain", "-w", workspace, *given)
        assert err.count(said.format(budget)) == 1
        assert "warning" not in err
    assert gme("retrieve", "plain", "-w", workspace, "--quiet")[2] == ""
    assert "is larger than" not in gme("retrieve", "plain", "-w", workspace, "--budget", "6")[2]
    (workspace / "embeddings/questions.npy").unlink()
    code, _, err = gme("retrieve", "plain", "-w", workspace)
    assert code == 1
    assert "is larger than" not in err


def test_without_a_strategy_all_are_named(workspace: Path, gme: Run) -> None:
    code, out, err = gme("retrieve", "-w", workspace)
    assert (code, out) == (2, "")
    assert f"Missing argument 'STRATEGY': one of {', '.join(STRATEGIES)}" in err
    assert "hint: gme retrieve --help" in err


@pytest.mark.parametrize("words", [["Who founded Acme?"], ["-q", "Who founded Acme?"]])
def test_a_question_without_its_option(words: list[str], workspace: Path, gme: Run) -> None:
    code, out, err = gme("retrieve", "plain", *words, "-w", workspace)
    assert (code, out) == (2, "")
    assert err.endswith('\nhint: one question is given with --question "…"\n')


def test_without_questions_one_can_be_given(workspace: Path, gme: Run) -> None:
    (workspace / "questions.jsonl").unlink()
    code, _, err = gme("retrieve", "plain", "-w", workspace)
    assert code == 1
    assert "questions.jsonl is missing\n" in err
    assert err.endswith('or answer one question: --question "…"\n')
    (workspace / "nodes.jsonl").unlink()
    assert "nodes.jsonl is missing\n" in gme("retrieve", "plain", "-w", workspace)[2]


def test_help_explains_each_option(gme: Run) -> None:
    text = " ".join(gme("retrieve", "--help")[1].split())
    assert "Usage: gme retrieve [OPTIONS] STRATEGY " in text
    assert f"an index from {EXACT_BELOW:,} nodes on" in text
    assert "(mean), or each seed's by itself (per_seed)" in text
    assert "for example original:6,fused:6,shifted:14,shifted:14" in text
    assert "auto: what the graph adds is decided for each question" in text
    assert "or with a fixed --mix 3, but at most a quarter of the budget. [envelope only]" in text
    assert "[default: 40, or 10 with --question]" in text
    descriptions = [line[31:] for line in gme("retrieve", "--help")[1].splitlines() if line.startswith("  -")]
    assert all(not line[:1].islower() for line in descriptions)


def test_one_search_call_is_not_called_calls(workspace: Path, gme: Run) -> None:
    assert "2 questions in " in gme("retrieve", "plain", "-w", workspace)[2]
    assert " s, 1 search call each, " in gme("retrieve", "plain", "-w", workspace)[2]
    assert " s, 2 search calls each, " in gme("retrieve", "split", "-w", workspace)[2]


def test_a_small_budget_pins_a_quarter_at_most(workspace: Path, gme: Run) -> None:
    run = ("retrieve", "envelope", "-w", workspace, "-q", "--json", "--mix", "0.5", "--budget")
    for budget, given, pinned in (("3", (), 0), ("5", (), 1), ("40", (), 3), ("3", ("--pinned", "2"), 2)):
        manifest = json.loads(gme(*run, budget, *given)[1])
        assert manifest["options"]["pinned"] == pinned
        lines = (workspace / f"runs/{manifest['name']}.jsonl").read_text().splitlines()
        assert all(
            [result["stage"] for result in json.loads(line)["results"]].count("pinned") == pinned for line in lines
        )
    assert manifest["name"] == "envelope-walk-budget3-mix0.5-pinned2"
    assert "--pinned 2" in manifest["command"]
    assert "--pinned is -1, but must be at least 0" in gme(*run, "3", "--pinned", "-1")[2]


def test_wrong_dimensions_are_refused(workspace: Path, gme: Run) -> None:
    np.save(workspace / "embeddings/questions.npy", np.ones((2, 5), dtype=np.float32))
    code, _, err = gme("retrieve", "plain", "-w", workspace)
    assert code == 1
    assert "the questions have 5 dimensions, the original vectors 8" in err


def test_zero_and_broken_vectors_are_refused(workspace: Path, gme: Run) -> None:
    vectors: Vectors = np.load(workspace / "embeddings/questions.npy")
    vectors[1] = 0
    np.save(workspace / "embeddings/questions.npy", vectors)
    code, _, err = gme("retrieve", "plain", "-w", workspace)
    assert code == 1
    assert "row 1 (id 'q2') is zero" in err


def test_a_stale_collection_is_refused(workspace: Path, gme: Run) -> None:
    opened = Workspace(workspace)
    vectors = np.array(opened.collection("original").vectors)
    opened.write_array("embeddings/hop9.npy", vectors, inputs=["embeddings/original.npy"], started=0.0)
    assert gme("retrieve", "fused", "-w", workspace, "--collection", "hop9")[0] == 0
    np.save(workspace / "embeddings/original.npy", vectors * 2)
    code, _, err = gme("retrieve", "fused", "-w", workspace, "--collection", "hop9")
    assert code == 1
    assert "hop9.npy is stale: embeddings/original.npy has changed" in err


def test_json_is_the_manifest(workspace: Path, gme: Run) -> None:
    code, out, _ = gme(
        "retrieve", "chained", "-w", workspace, "--json", "--latency", "--format", "trec", "--budget", "5"
    )
    assert code == 0
    answer = json.loads(out)
    assert answer["name"] == "chained-walk-budget5"
    assert answer["search_calls"] == 5
    assert answer["schedule"] == "original:1,fused:1,shifted:2,shifted:1"
    assert set(answer["latency_milliseconds"]) == {"p50", "p95", "questions"}
    assert (workspace / "runs/chained-walk-budget5.trec").is_file()


def test_runs_do_not_depend_on_threads(workspace: Path, gme: Run) -> None:
    for threads in (1, 2):
        gme("retrieve", "chained", "-w", workspace, "--threads", threads, "--name", f"t{threads}")
    assert (workspace / "runs/t1.jsonl").read_bytes() == (workspace / "runs/t2.jsonl").read_bytes()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str | None]]:
    """What was asked with --question, and with which model; no model is loaded."""
    asked: list[tuple[str, str | None]] = []

    def embed(opened: Workspace, question: str, model: str | None = None, *, threads: int = 0) -> Vectors:
        asked.append((question, model))
        return np.array(opened.question_vectors()[:1])

    monkeypatch.setattr("gme.pipeline.question.embed_question", embed)
    return asked


def test_one_question_prints_a_table_and_writes_nothing(
    workspace: Path, gme: Run, asked: list[tuple[str, str | None]]
) -> None:
    question = ("retrieve", "fused", "-w", workspace, "--question", "who?", "--budget", "3")
    code, out, err = gme(*question)
    assert code == 0
    assert out.splitlines()[0].split() == ["rank", "score", "stage", "type", "id", "text"]
    assert len(out.splitlines()) == 4
    assert "score: original: similarity to the question; fused: blend of " in err
    answer = json.loads(gme(*question, "--json", "--model", "onnx:here")[1])
    assert [set(result) for result in answer["results"]] == [{"rank", "id", "type", "stage", "score", "text"}] * 3
    assert [result["stage"] for result in answer["results"]] == ["original", "original", "fused"]
    assert asked == [("who?", None), ("who?", "onnx:here")]
    assert not (workspace / "runs").exists()


@pytest.mark.parametrize(
    ("scores", "said"),
    [({"own": "a number of mine"}, "score: own: a number of mine\n"), ({"other": "of no stage"}, ""), ({}, "")],
)
def test_a_strategy_brings_what_its_scores_are_and_may_leave_it_out(
    scores: dict[str, str], said: str, workspace: Path, gme: Run, asked: list[tuple[str, str | None]]
) -> None:
    def run(search: Search, options: PlainOptions, schedule: Schedule | None) -> None:
        search.take("own", *search.top(search.original, search.queries, options.budget))

    entry = Strategy(run, PlainOptions, "with a label of its own", scores=scores, needs_modified=False)
    STRATEGIES.register("labelled", entry)
    try:
        code, out, err = gme("retrieve", "labelled", "-w", workspace, "--question", "who?", "--budget", "2")
    finally:
        STRATEGIES.unregister("labelled")
    assert code == 0, err
    assert [line.split()[2] for line in out.splitlines()] == ["stage", "own", "own"]
    assert [line for line in err.splitlines(keepends=True) if line.startswith("score")] == ([said] if said else [])


def test_one_question_gets_ten_results_unless_more_are_asked_for(
    workspace: Path, gme: Run, asked: list[tuple[str, str | None]]
) -> None:
    question = ("retrieve", "chained", "-w", workspace, "--question", "who?", "--json")
    assert json.loads(gme(*question)[1])["options"]["budget"] == 10
    assert json.loads(gme(*question, "--budget", "4")[1])["options"]["budget"] == 4
    assert json.loads(gme(*question, "--schedule", "original:2,fused:3")[1])["options"]["budget"] == 5
    assert "the budget of 10 is larger than the 6 nodes" in gme(*question)[2]
    assert len(asked) == 4


def test_every_stage_of_every_strategy_has_its_score_explained() -> None:
    generator = np.random.default_rng(0)
    x, z = (generator.standard_normal((60, 4), dtype=np.float32) for _ in range(2))
    ids = [f"n{number}" for number in range(60)]
    for strategy, entry in STRATEGIES.items():
        words: dict[str, Any] = {"texts": ids, "questions": ["n1"]}
        stages = retrieve(strategy, x, z, x[:1], ids=ids, graph=build_graph(ids, []), **words).stages
        assert set(stages) <= set(entry.scores), strategy


def test_missing_files_say_which_command_writes_them(workspace: Path, gme: Run) -> None:
    (workspace / "embeddings/questions.npy").unlink()
    code, _, err = gme("retrieve", "plain", "-w", workspace)
    assert code == 1
    assert "questions.npy is missing" in err
    assert "hint: write it with: gme embed" in err


@pytest.mark.parametrize("question", ["", "  "])
def test_an_empty_question_is_refused_and_writes_nothing(question: str, small_workspace: Path, gme: Run) -> None:
    code, out, err = gme("retrieve", "plain", "--budget", 2, "--question", question, "-w", small_workspace)
    assert (code, out) == (1, "")
    assert "error: --question is empty" in err
    assert not (small_workspace / "runs").exists()


def test_envelope_returns_chunks_unless_other_types_are_asked_for(workspace: Path, gme: Run) -> None:
    records = [json.loads(line) for line in (workspace / "nodes.jsonl").read_text().splitlines()]
    kinds = ["entity", "entity", *["chunk"] * (len(records) - 2)]
    lines = [json.dumps({**record, "type": kind}) for record, kind in zip(records, kinds, strict=True)]
    (workspace / "nodes.jsonl").write_text("\n".join(lines) + "\n")
    entities = {record["id"] for record in records[:2]}

    def returned(*arguments: str) -> tuple[list[set[str]], dict[str, object], str]:
        guides = ("--collection", "walk") if STRATEGIES[arguments[0]].needs_modified else ()
        code, out, err = gme("retrieve", *arguments, *guides, "-w", workspace, "--json")
        assert code == 0, err
        manifest = json.loads(out)
        runs = (workspace / f"runs/{manifest['name']}.jsonl").read_text().splitlines()
        return [{result["id"] for result in json.loads(line)["results"]} for line in runs], manifest, err

    results, manifest, err = returned("envelope", "--budget", "6")
    assert all(len(found) == 4 and not found & entities for found in results)
    assert (manifest["types"], manifest["search_calls"]) == (["chunk"], 6)
    assert "envelope returns nodes of type chunk, all types guide; for all: --types chunk,entity" in err
    assert "the budget of 6 is larger than the 4 nodes of type chunk there are: all of them are returned" in err
    results, manifest, _ = returned("envelope", "--budget", "6", "--types", "chunk,entity")
    assert all(len(found) == 6 for found in results)
    assert manifest["search_calls"] == 5
    results, manifest, _ = returned("envelope", "--budget", "6", "--types", "entity")
    assert results == [entities, entities]
    assert "types" not in returned("envelope", "--budget", "6", "--types", "chunk,entity")[2]
    for strategy in ("plain", "modified", "spread"):
        results, manifest, err = returned(strategy, "--budget", "6")
        assert all(len(found) == 6 for found in results)
        assert manifest["types"] == []
        assert f"{strategy} returns nodes of all types, chunk,entity; for chunk only: --types chunk" in err
    results, manifest, err = returned("plain", "--budget", "4", "--types", "chunk")
    assert not any(found & entities for found in results)
    assert "types" not in err


def test_the_precision_of_an_index(workspace: Path, gme: Run) -> None:
    code, out, err = gme("retrieve", "fused", "--budget", 2, "--hnsw", "--precision", "i8", "-w", workspace)
    assert (code, out) == (0, "fused-walk-budget2-hnsw-i8\n"), err
    manifest = json.loads((workspace / "runs/fused-walk-budget2-hnsw-i8.json").read_text())
    assert manifest["precision"] == "i8"
    assert manifest["command"] == "gme retrieve fused --collection walk --budget 2 --hnsw --precision i8"
    assert sorted(path.name for path in (workspace / "indexes").glob("*.usearch")) == [
        "original@i8.usearch",
        "walk@i8.usearch",
    ]
    code, out, err = gme("retrieve", "plain", "--precision", "f61", "-w", workspace)
    assert (code, out) == (1, "")
    assert "error: unknown precision 'f61'\nhint: did you mean 'f16'? known: f16, f32, i8" in err
