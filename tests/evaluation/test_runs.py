"""Run files: what is written, and the line that is wrong when one is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import orjson
import pytest

from conftest import Run as Command
from conftest import write_lines
from gme.errors import GmeError, StaleError
from gme.evaluation.runs import check_run_name, encode
from gme.pipeline.evaluate import evaluate_workspace
from gme.pipeline.prepare import RetrievalSetting
from gme.pipeline.qrels import write_qrels
from gme.pipeline.retrieve import retrieve_workspace
from gme.pipeline.runs import read_run, run_names
from gme.storage.files import read_json
from gme.workspace import Workspace

GOOD = {"question_id": "q1", "results": [{"id": "a", "score": 1.0, "stage": "original"}, {"id": "b"}]}


def lines(folder: Path, *records: object) -> Workspace:
    (folder / "runs").mkdir(exist_ok=True)
    (folder / "runs/mine.jsonl").write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))
    return Workspace(folder)


def test_a_written_run_reads_back(small_workspace: Path) -> None:
    workspace = Workspace(small_workspace)
    name, manifest = retrieve_workspace(workspace, "plain", budget=3)
    assert name == "plain-budget3"
    written = [orjson.loads(line) for line in (small_workspace / f"runs/{name}.jsonl").read_bytes().splitlines()]
    assert [record["question_id"] for record in written] == ["q1", "q2"]
    assert all(list(result) == ["id", "score", "stage"] for result in written[0]["results"])
    vectors, queries = (np.load(small_workspace / f"embeddings/{n}.npy") for n in ("original", "questions"))
    assert [result["score"] for result in written[1]["results"]] == pytest.approx(
        sorted(vectors @ queries[1])[::-1][:3]
    )
    run = read_run(workspace, name)
    assert run.results == {r["question_id"]: ["abcdef".index(x["id"]) for x in r["results"]] for r in written}
    assert run.manifest == read_json(small_workspace / f"runs/{name}.json")
    assert set(run.manifest["inputs"]) == {
        "nodes.jsonl",
        "questions.jsonl",
        "embeddings/original.npy",
        "embeddings/questions.npy",
    }
    assert run.manifest["search_calls"] == 1 == manifest["search_calls"]
    assert run.manifest["command"] == "gme retrieve plain --budget 3"
    assert run_names(workspace) == [name]


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"question_id": "q9", "results": []}, r"mine.jsonl:2: question_id 'q9' is not in questions.jsonl"),
        ({"results": []}, r"mine.jsonl:2: question_id None is not"),
        (GOOD, r"mine.jsonl:2: question 'q1' comes a second time"),
        ({"question_id": "q2", "results": "a"}, r"mine.jsonl:2: 'results' must be a list, found 'a'"),
        ({"question_id": "q2", "results": ["a"]}, r"mine.jsonl:2: each result must be an object with an id"),
        ({"question_id": "q2", "results": [{"id": "x"}]}, r"mine.jsonl:2: result 'x' is not in nodes.jsonl"),
        ({"question_id": "q2", "results": [{"id": "a"}, {"id": "a"}]}, r"mine.jsonl:2: result 'a' comes twice"),
        (["no object"], r"mine.jsonl:2: expected a JSON object"),
    ],
)
def test_a_bad_line_is_named(record: object, message: str, small_workspace: Path) -> None:
    with pytest.raises(GmeError, match=message):
        read_run(lines(small_workspace, GOOD, record), "mine")


def test_missing_questions_and_runs_are_named(small_workspace: Path) -> None:
    workspace = lines(small_workspace, GOOD)
    with pytest.raises(GmeError, match="lacks 1 of 2 questions, the first being 'q2'"):
        read_run(workspace, "mine")
    with pytest.raises(GmeError, match="unknown run 'mind'") as raised:
        read_run(workspace, "mind")
    assert raised.value.hint == "did you mean 'mine'? known: mine"


def test_a_run_made_by_hand_needs_no_manifest(small_workspace: Path) -> None:
    run = read_run(lines(small_workspace, GOOD, {"question_id": "q2", "results": []}), "mine")
    assert (run.results, run.manifest) == ({"q1": [0, 1], "q2": []}, {})


def test_a_run_of_other_inputs_is_stale(small_workspace: Path) -> None:
    workspace = Workspace(small_workspace)
    vectors = np.load(small_workspace / "embeddings/original.npy")
    np.save(small_workspace / "embeddings/walk.npy", vectors)
    name, _ = retrieve_workspace(workspace, "fused", RetrievalSetting(collection="walk"), budget=2)
    np.save(small_workspace / "embeddings/walk.npy", vectors + 1)
    with pytest.raises(StaleError, match=r"is stale: embeddings/walk\.npy has changed") as raised:
        read_run(workspace, name)
    assert raised.value.hint == "re-run: gme retrieve fused --collection walk --budget 2"
    # A collection that was deleted to save space cannot be compared, and scoring does not need it.
    (small_workspace / "embeddings/walk.npy").unlink()
    assert len(read_run(workspace, name).results) == 2
    path = small_workspace / f"runs/{name}.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"a"', b'"f"'))
    with pytest.raises(StaleError, match="is stale: the file itself has changed since it was made"):
        read_run(workspace, name)


def test_trec_runs_keep_order_and_six_columns(small_workspace: Path) -> None:
    for name in ("nodes", "edges", "questions"):
        path = small_workspace / f"{name}.jsonl"
        path.write_text(path.read_text().replace('"a"', '"a b%"').replace('"q1"', '"q\\u00a01"'))
    name, _ = retrieve_workspace(Workspace(small_workspace), "plain", trec=True, budget=4)
    rows = [line.split() for line in (small_workspace / f"runs/{name}.trec").read_text().splitlines()]
    assert all(len(row) == 6 for row in rows)
    assert {row[0] for row in rows} == {"q%C2%A01", "q2"}
    assert [(row[3], row[4]) for row in rows[:4]] == [("1", "4"), ("2", "3"), ("3", "2"), ("4", "1")]
    assert {row[5] for row in rows} == {name}
    jsonl = [orjson.loads(line) for line in (small_workspace / f"runs/{name}.jsonl").read_bytes().splitlines()]
    assert [row[2] for row in rows] == [encode(result["id"]) for record in jsonl for result in record["results"]]


def test_trec_files_are_those_of_the_last_run_and_of_the_gold_as_it_is(small_workspace: Path, gme: Command) -> None:
    for words in (["retrieve", "plain", "--format", "trec"], ["evaluate", "--qrels"]):
        assert gme(*words, "-w", small_workspace)[0] == 0
    gold = small_workspace / "runs/qrels.trec"
    assert gold.read_text().startswith("q1 0 a 1\n")
    questions = small_workspace / "questions.jsonl"
    questions.write_text(questions.read_text().replace('["a","b"]', '["f"]').replace('["a", "b"]', '["f"]'))
    assert gme("evaluate", "-w", small_workspace)[0] == 0
    assert gold.read_text().startswith("q1 0 f 1\n")
    assert gme("retrieve", "plain", "--budget", 2, "--name", "plain", "-w", small_workspace)[0] == 0
    assert not (small_workspace / "runs/plain.trec").exists()


def test_trec_runs_are_read_by_ir_measures_in_returned_order(small_workspace: Path) -> None:
    ir_measures = pytest.importorskip("ir_measures")
    name, _ = retrieve_workspace(Workspace(small_workspace), "plain", trec=True, budget=5)
    theirs = list(ir_measures.read_trec_run(str(small_workspace / f"runs/{name}.trec")))
    ours = read_run(Workspace(small_workspace), name).results
    for question, rows in ours.items():
        docs = sorted((d for d in theirs if d.query_id == question), key=lambda d: -d.score)
        assert [d.doc_id for d in docs] == ["abcdef"[row] for row in rows]


def test_gold_in_trec_columns_is_sorted_and_only_evidence(small_workspace: Path) -> None:
    for name in ("nodes", "edges", "questions"):
        path = small_workspace / f"{name}.jsonl"
        path.write_text(path.read_text().replace('"a"', '"a b%"').replace('"q1"', '"z\\u00a01"'))
    nodes = small_workspace / "nodes.jsonl"
    nodes.write_text(nodes.read_text().replace('"b","type":"chunk"', '"b","type":"document"'))
    path = write_qrels(Workspace(small_workspace))
    assert path == small_workspace / "runs/qrels.trec"
    assert path.read_text() == "q2 0 d 1\nz%C2%A01 0 a%20b%25 1\n"


def test_no_run_takes_the_name_of_the_gold(small_workspace: Path) -> None:
    with pytest.raises(GmeError, match="'qrels' belongs to the gold evidence"):
        retrieve_workspace(Workspace(small_workspace), "plain", name="qrels", trec=True)


def test_recall_of_the_exported_files_is_that_of_ir_measures(tmp_path: Path) -> None:
    ir_measures = pytest.importorskip("ir_measures")
    generator = np.random.default_rng(7)
    (tmp_path / "embeddings").mkdir()
    nodes = [f"node {number}%" for number in range(60)]
    golds = [[nodes[row] for row in generator.permutation(60)[: 1 + number % 5]] for number in range(40)]
    lines: dict[str, list[dict[str, object]]] = {
        "nodes": [
            {"id": node, "type": "chunk" if row % 7 else "entity", "text": node} for row, node in enumerate(nodes)
        ],
        "edges": [{"source": nodes[0], "target": nodes[1], "type": "link"}],
        "questions": [{"id": f"q {n}", "question": "?", "gold": gold} for n, gold in enumerate(golds)],
    }
    for name, records in lines.items():
        (tmp_path / f"{name}.jsonl").write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))
    for name, rows in (("original", 60), ("questions", 40)):
        np.save(tmp_path / f"embeddings/{name}.npy", generator.standard_normal((rows, 8), dtype=np.float32))
    workspace = Workspace(tmp_path)
    name, _ = retrieve_workspace(workspace, "plain", trec=True, budget=20)
    qrels = list(ir_measures.read_trec_qrels(str(write_qrels(workspace))))
    run = list(ir_measures.read_trec_run(str(tmp_path / f"runs/{name}.trec")))
    report: Any = evaluate_workspace(workspace, measures=["R@10", "nDCG@10", "Success@1"])["runs"][0]
    theirs = ir_measures.calc_aggregate([ir_measures.parse_measure(m) for m in report["measures"]], qrels, run)
    assert report["measures"] == {str(measure): pytest.approx(value) for measure, value in theirs.items()}
    assert report["measures"]["R@10"] > 0
    assert round(report["populations"]["all"]["recall"]["10"], 4) == round(report["measures"]["R@10"], 4)


def test_control_characters_are_encoded_so_that_no_reader_cuts_an_id() -> None:
    controls = [chr(code) for code in (*range(0x20), *range(0x7F, 0xA0))]
    encoded = [encode(f"a{control}b") for control in controls]
    assert all(text.isprintable() and "%" in text for text in encoded)
    assert [unquote(text) for text in encoded] == [f"a{control}b" for control in controls]
    assert encode("a\x00\x7f\x85%é") == "a%00%7F%C2%85%25é"


GRADED = [  # question, document, official grade: 0 and -1 are judged and not relevant
    ("q1", "d1\x00a", 2), ("q1", "d1\x00b", 1), ("q1", "d5", 0), ("q2", "d3", 1), ("q2", "d2", 2),
    ("q2", "d4", 2), ("q2", "d7", -1), ("q3", "d6", 1), ("q4", "d7", 3), ("q4", "d8", 1),
]  # fmt: skip


def test_graded_measures_are_those_of_the_official_judgments(tmp_path: Path, gme: Command) -> None:
    ir_measures = pytest.importorskip("ir_measures")
    source, target = tmp_path / "beir", tmp_path / "workspace"
    (source / "qrels").mkdir(parents=True)
    documents = ["d1\x00a", "d1\x00b", *(f"d{number}" for number in range(2, 19))]
    write_lines(source / "corpus.jsonl", [{"_id": name, "title": "", "text": f"text {name}"} for name in documents])
    write_lines(source / "queries.jsonl", [{"_id": f"q{number}", "text": "?"} for number in range(1, 5)])
    # The reader of tables refuses NUL in 3.10, so ids with NUL get their judgments below.
    judged = [row for row in GRADED if "\x00" not in row[1]]
    rows = ["query-id\tcorpus-id\tscore", *("\t".join(map(str, row)) for row in judged)]
    (source / "qrels/test.tsv").write_text("\n".join(rows) + "\n")
    assert gme("graph", "read", "beir", source, "-w", target)[0] == 0
    questions = [orjson.loads(line) for line in (target / "questions.jsonl").read_bytes().splitlines()]
    questions[0] |= {"gold": ["d1\x00a", "d1\x00b"], "relevance": {"d1\x00a": 2, "d5": 0}}  # d1\0b: 1, unsaid
    write_lines(target / "questions.jsonl", questions)
    (target / "embeddings").mkdir(exist_ok=True)
    generator = np.random.default_rng(3)
    for name, count in (("original", len(documents)), ("questions", 4)):
        np.save(target / f"embeddings/{name}.npy", generator.standard_normal((count, 8), dtype=np.float32))
    workspace = Workspace(target)
    name, _ = retrieve_workspace(workspace, "plain", trec=True, budget=12)
    report: Any = evaluate_workspace(workspace, measures=["nDCG@10", "R@10", "AP"])["runs"][0]
    wanted = [ir_measures.parse_measure(measure) for measure in report["measures"]]

    run = list(ir_measures.read_trec_run(str(target / f"runs/{name}.trec")))
    assert len({(result.query_id, result.doc_id) for result in run}) == 4 * 12
    exported = list(ir_measures.read_trec_qrels(str(write_qrels(workspace))))
    official = [ir_measures.Qrel(question, encode(document), grade) for question, document, grade in GRADED]
    flat = [ir_measures.Qrel(qrel.query_id, qrel.doc_id, min(qrel.relevance, 1)) for qrel in official]
    ours = {measure: round(value, 4) for measure, value in report["measures"].items()}

    def theirs(qrels: list[object]) -> dict[str, float]:
        return {str(m): round(value, 4) for m, value in ir_measures.calc_aggregate(wanted, qrels, run).items()}

    assert {(q.query_id, q.doc_id, q.relevance) for q in exported} == {
        (q.query_id, q.doc_id, q.relevance) for q in official if q.relevance > 0
    }
    assert ours == theirs(official) == theirs(exported)
    assert ours["nDCG@10"] != theirs(flat)["nDCG@10"]
    assert {m: ours[m] for m in ("R@10", "AP")} == {m: theirs(flat)[m] for m in ("R@10", "AP")}
    assert round(report["populations"]["all"]["recall"]["10"], 4) == ours["R@10"] > 0


@pytest.mark.parametrize("name", ["", "a/b", "..", ".hidden", "a\\b", "x" * 201, "a\nb"])
def test_run_names_are_file_names(name: str) -> None:
    with pytest.raises(GmeError, match="is not a file name") as caught:
        check_run_name(name)
    assert caught.value.hint is not None
    assert "no slashes, no dot or space in front, 200 bytes at most" in caught.value.hint
    for good in ("chained-walk-mix0.3", "a b", "größe"):
        assert check_run_name(good) == good


def test_a_run_on_a_collection_that_is_stale_itself_is_stale(small_workspace: Path, gme: Command) -> None:
    assert gme("transform", "hop1", "-w", small_workspace)[0] == 0
    assert gme("retrieve", "fused", "--collection", "hop1", "--budget", 4, "-w", small_workspace)[0] == 0
    with (small_workspace / "edges.jsonl").open("a") as handle:
        handle.write('{"source": "e", "target": "f", "type": "link"}\n')
    code, _, err = gme("evaluate", "fused-hop1-budget4", "-w", small_workspace)
    assert code == 1
    assert "embeddings/hop1.npy is stale itself" in err
    assert "gme transform hop1 && gme retrieve fused --collection hop1" in err
    (small_workspace / "edges.jsonl").unlink()
    assert gme("evaluate", "fused-hop1-budget4", "-w", small_workspace)[0] == 0
