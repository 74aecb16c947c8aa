"""Question sets with their passages: HotpotQA, 2WikiMultihopQA, MuSiQue and BEIR folders."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest
from reading import SAMPLES, STRANGE, workspace_lines

from conftest import Run, write_lines
from gme.workspace.records import read_nodes, read_questions


def _read(gme: Run, folder: Path, name: str, *rest: object) -> tuple[list[Any], list[Any], str]:
    code, _, err = gme("graph", "read", name, *rest, "-w", folder)
    assert code == 0, err
    nodes, edges, questions = workspace_lines(folder)
    assert edges == []
    assert not (folder / "edges.jsonl").exists()  # edge builders come next
    read_questions(folder / "questions.jsonl", read_nodes(folder / "nodes.jsonl"))
    return nodes, questions, err


def test_hotpotqa_pools_passages(tmp_path: Path, gme: Run) -> None:
    nodes, questions, err = _read(gme, tmp_path, "hotpotqa", SAMPLES / "hotpotqa.json")
    texts = {node["id"]: node["text"] for node in nodes}
    assert len(nodes) == 6  # Hafen (film) and Mercury the planet occur twice
    assert texts["Hafen (film)"] == "Hafen (film). Hafen is a film. It was directed by Inga Moe."
    # The title "Mercury" has two texts; the number 2 is skipped because a passage is titled so.
    assert {texts["Mercury"], texts["Mercury#3"]} == {
        "Mercury. Mercury is a planet.",
        "Mercury. Mercury is a metal. It is used in thermometers.",
    }
    assert texts["Mercury#2"].endswith("reads like a number.")
    by_id = {question["id"]: question for question in questions}
    assert by_id["h1"]["gold"] == ["Hafen (film)", "Inga Moe"]
    assert (by_id["h1"]["family"], by_id["h1"]["hops"], by_id["h1"]["level"]) == ("bridge", 2, "hard")
    assert [texts[gold] for gold in by_id["h2"]["gold"]] == [
        "Mercury. Mercury is a planet.",
        "Venus. Venus is a planet.",
    ]
    assert "supporting facts that name no passage (1)" in err
    assert "question 'h2': no passage is titled 'Jupiter'" in err


def test_strict_stops_at_dangling_facts(tmp_path: Path, gme: Run) -> None:
    code, out, err = gme("graph", "read", "hotpotqa", SAMPLES / "hotpotqa.json", "--strict", "-w", tmp_path)
    assert (code, out) == (1, "")
    assert "hotpotqa.json:1: question 'h2': no passage is titled 'Jupiter'" in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("seed", range(5))
def test_pooled_ids_do_not_depend_on_the_order(seed: int, tmp_path: Path, gme: Run) -> None:
    records = json.loads((SAMPLES / "hotpotqa.json").read_text())
    expected = {
        question["id"]: question["context"]
        for question in _read(gme, tmp_path / "a", "hotpotqa", SAMPLES / "hotpotqa.json")[1]
    }
    generator = random.Random(seed)
    generator.shuffle(records)
    for record in records:
        generator.shuffle(record["context"])
    for number, record in enumerate(records):  # also over several files
        (tmp_path / f"{number}.json").write_text(json.dumps([record]))
    files = [tmp_path / f"{number}.json" for number in range(len(records))]
    for question in _read(gme, tmp_path / "b", "hotpotqa", *files)[1]:
        assert sorted(question["context"]) == sorted(expected[question["id"]])


def test_2wiki(tmp_path: Path, gme: Run) -> None:
    nodes, questions, err = _read(gme, tmp_path, "2wiki", SAMPLES / "2wiki.json", "--bare-text")
    assert nodes[0]["text"] == "Nord is a film by A. Berg. It was shot in 1950."  # its sentences carry no space
    assert (questions[0]["family"], questions[0]["hops"]) == ("bridge_comparison", 4)
    assert questions[0]["gold"] == ["Nord", "Süd", "A. Berg", "C. Dahl"]
    assert questions[0]["evidences"][0] == ["Nord", "director", "A. Berg"]
    assert "warning" not in err


def test_columns_of_the_datasets_library(tmp_path: Path, gme: Run) -> None:
    records = json.loads((SAMPLES / "2wiki.json").read_text())
    plain = _read(gme, tmp_path / "a", "2wiki", SAMPLES / "2wiki.json")
    for record in records:
        titles, sentences = zip(*record["context"], strict=True)
        record["context"] = {"title": titles, "sentences": sentences}
        facts, places = zip(*record["supporting_facts"], strict=True)
        record["supporting_facts"] = {"title": facts, "sent_id": places}
        record["id"] = record.pop("_id")
    write_lines(tmp_path / "columns.jsonl", records)
    columns = _read(gme, tmp_path / "b", "2wiki", tmp_path / "columns.jsonl")
    assert columns[0] == plain[0]
    assert [question["gold"] for question in columns[1]] == [question["gold"] for question in plain[1]]


def test_musique(tmp_path: Path, gme: Run) -> None:
    nodes, questions, err = _read(gme, tmp_path / "a", "musique", SAMPLES / "musique.jsonl")
    texts = {node["id"]: node["text"] for node in nodes}
    assert len(nodes) == 5
    assert texts["untitled"] == "A paragraph without a title."
    assert [(question["family"], question["hops"]) for question in questions] == [("2hop", 2), ("3hop2", 3)]
    assert [texts[gold] for gold in questions[0]["gold"]] == [
        "Green. Green is an album by Steve Hillage.",
        "Miquette Giraudy. Miquette Giraudy is the partner of Steve Hillage.",
    ]
    assert questions[0]["answer_aliases"] == ["M. Giraudy"]
    assert "1 unanswerable questions left out" in err
    both = _read(gme, tmp_path / "b", "musique", SAMPLES / "musique.jsonl", "--unanswerable")[1]
    assert [question["id"] for question in both] == ["2hop__1_2", "2hop__1_2#unanswerable", "3hop2__4_5_6"]


def test_an_array_and_lines_are_the_same(tmp_path: Path, gme: Run) -> None:
    records = [json.loads(line) for line in (SAMPLES / "musique.jsonl").read_text().splitlines()]
    (tmp_path / "array.json").write_bytes(b"\xef\xbb\xbf" + json.dumps(records, indent=2).encode())
    assert (
        _read(gme, tmp_path / "a", "musique", SAMPLES / "musique.jsonl")[:2]
        == _read(gme, tmp_path / "b", "musique", tmp_path / "array.json")[:2]
    )


def test_beir(tmp_path: Path, gme: Run) -> None:
    nodes, questions, err = _read(gme, tmp_path, "beir", SAMPLES / "beir")
    assert [node["id"] for node in nodes] == ["d 1", 'd/2:"q"', "d3"]
    assert nodes[0] == {
        "id": "d 1",
        "type": "chunk",
        "title": "Tides",
        "text": "Tides. The moon pulls the sea.",
        "metadata": {"url": "u1"},
    }
    assert nodes[2]["text"] == "Sand. line one\r\nline two\x00\ufeff"
    assert [(question["id"], question["gold"]) for question in questions] == [
        ("q1", ["d 1", "d3"]),
        ("q2", ['d/2:"q"']),
    ]
    assert questions[0]["relevance"]["d 1"] == 2
    assert "qrels/test.tsv:6: unknown document 'gone'" in err


def test_beir_options(tmp_path: Path, gme: Run) -> None:
    assert [q["id"] for q in _read(gme, tmp_path / "a", "beir", SAMPLES / "beir", "--split", "dev")[1]] == ["q3"]
    assert len(_read(gme, tmp_path / "b", "beir", SAMPLES / "beir", "--all-queries")[1]) == 3
    graded = _read(gme, tmp_path / "c", "beir", SAMPLES / "beir", "--min-score", "2")[1]
    assert [q["gold"] for q in graded] == [["d 1"], []]
    code, _, err = gme("graph", "read", "beir", SAMPLES / "beir", "--split", "tset", "-w", tmp_path / "d")
    assert code == 1
    assert "did you mean 'test'" in err
    code, _, err = gme("graph", "read", "beir", SAMPLES / "beir", "--strict", "-w", tmp_path / "d")
    assert code == 1
    assert "test.tsv:6" in err


def test_beir_keeps_strange_ids_and_texts(tmp_path: Path, gme: Run) -> None:
    folder = tmp_path / "beir"
    (folder / "qrels").mkdir(parents=True)
    write_lines(folder / "corpus.jsonl", [{"_id": text, "title": "", "text": text} for text in STRANGE])
    write_lines(folder / "queries.jsonl", [{"_id": text, "text": text} for text in STRANGE])
    import csv

    with (folder / "qrels" / "test.tsv").open("w", encoding="utf-8", newline="") as handle:
        writer = csv.writer(handle, csv.excel_tab)
        writer.writerow(["query-id", "corpus-id", "score"])
        writer.writerows([text, text, 1] for text in STRANGE if "\x00" not in text)  # csv of 3.10 refuses NUL
    nodes, questions, _ = _read(gme, tmp_path / "w", "beir", folder, "--all-queries")
    assert [(node["id"], node["text"]) for node in nodes] == [(text, text) for text in STRANGE]
    assert [q["id"] for q in questions] == STRANGE
    assert [q["gold"] for q in questions] == [[text] if "\x00" not in text else [] for text in STRANGE]


def _broken(change: dict[str, Any], drop: str = "") -> str:
    record = {**json.loads((SAMPLES / "hotpotqa.json").read_text())[0], **change}
    record.pop(drop, None)
    return json.dumps(record)


LONE = "\ud800"  # half of a surrogate pair: JSON can say it, UTF-8 can't
GOOD = _broken({"_id": "good"})


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("hotpotqa", f"[{GOOD},\n{GOOD[:-20]}]", "x:2 (element 2): not valid JSON"),
        ("hotpotqa", f"[{GOOD},\n{GOOD[:-20]}", "x:2 (element 2): not valid JSON"),
        ("hotpotqa", f"[{GOOD}\n{GOOD}]", "x:2: not valid JSON: expected ',', found '{'"),
        ("hotpotqa", f"[{GOOD},\n\n", "x:3: not valid JSON: the file ends too early"),
        ("hotpotqa", f"[{GOOD}] x", "after the end"),
        ("hotpotqa", '[{"a": NaN}]', "NaN is not JSON"),
        ("hotpotqa", f"[{GOOD},\n5]", "x:2: element 2: expected a JSON object, found 5"),
        ("hotpotqa", "", "x is empty"),
        ("hotpotqa", "[]", "holds no nodes"),
        ("hotpotqa", f"[{GOOD},\n{GOOD}]", "x:2: element 2: duplicate id 'good', first seen on line 1"),
        ("hotpotqa", f"[{_broken({}, '_id')}]", "x:1: element 1: '_id' is missing"),
        ("hotpotqa", f"[{_broken({}, 'question')}]", "x:1: question 'h1': 'question' is missing"),
        ("hotpotqa", f"[{_broken({'question': 5})}]", "question 'h1': 'question' must be a string, found 5"),
        ("hotpotqa", f"[{_broken({}, 'context')}]", "'context' must be a list of [title, sentences], found None"),
        ("hotpotqa", f"[{_broken({'context': [['T', ['s']], ['T', 's']]})}]", "entry 2 of 'context' must be"),
        ("hotpotqa", f"[{_broken({'supporting_facts': [['T']]})}]", "entry 1 of 'supporting_facts' must be"),
        (
            "hotpotqa",
            f"[{_broken({'context': [['T' * 2000, ['s']]]})}]",
            "the id has 2000 characters, the limit is 1024",
        ),
        ("hotpotqa", f"[{_broken({'context': [['T', [LONE]]]})}]", "x:1: element 1: can't be written as JSON"),
        ("musique", '{"id": "a", "question": "?"}', "x:1: question 'a': 'paragraphs' must be a list"),
        (
            "musique",
            '\n{"id": "a", "paragraphs": [{"title": "t"}]}',
            "x:2: question 'a', paragraph 0: 'paragraph",
        ),
        ("musique", '{"id": "a", "paragraphs": [5]}', "entry 1 of 'paragraphs' must be an object"),
        ("musique", '{"id": "a"', "x:1: not valid JSON"),
    ],
)
def test_malformed_files_name_the_place(name: str, text: str, expected: str, tmp_path: Path, gme: Run) -> None:
    (tmp_path / "x").write_text(text)
    code, out, err = gme("graph", "read", name, tmp_path / "x", "-w", tmp_path / "w")
    assert (code, out) == (1, "")
    assert err.startswith("error: ")
    assert expected in err
    assert not any((tmp_path / "w").glob("*")) if (tmp_path / "w").exists() else True


def test_a_long_array_is_read_in_blocks(tmp_path: Path, gme: Run) -> None:
    """Elements over the block's border, multi-byte characters and escapes among them."""
    base = json.loads(GOOD)
    records = [{**base, "_id": f"q{n}", "context": [[f"T{n}", ['ü🐄\\"' * (n * 37 % 9000)]]]} for n in range(600)]
    for ascii_only in (True, False):
        (tmp_path / "long.json").write_text(json.dumps(records, ensure_ascii=ascii_only))
        assert (tmp_path / "long.json").stat().st_size > 5 << 20
        nodes, _, _ = _read(gme, tmp_path / f"w{ascii_only}", "hotpotqa", tmp_path / "long.json", "--bare-text")
        assert [node["text"] for node in nodes] == [record["context"][0][1][0] for record in records]


def test_invalid_utf8_names_the_byte(tmp_path: Path, gme: Run) -> None:
    (tmp_path / "x.json").write_bytes(b'[{"_id": "\xff"}]')
    code, _, err = gme("graph", "read", "hotpotqa", tmp_path / "x.json", "-w", tmp_path / "w")
    assert code == 1
    assert "x.json:1: not UTF-8 text: byte 0xff at offset 10" in err


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        ("corpus.jsonl", '{"_id": "a", "text": "t"}\n{"text": "x"}\n', "corpus.jsonl:2: '_id' is missing"),
        ("corpus.jsonl", '{"_id": "a", "text": "t"}\n{"_id": "b"}\n', "corpus.jsonl:2: 'text' is missing"),
        ("corpus.jsonl", '{"_id": "a", "text": "t"}\n{"_id": "a", "text": ""}\n', "corpus.jsonl:2: duplicate id 'a'"),
        ("corpus.jsonl", "[1]\n", "corpus.jsonl:1: expected a JSON object"),
        ("queries.jsonl", '{"_id": "q1"}\n', "queries.jsonl:1: 'text' is missing"),
        ("qrels/test.tsv", "query-id\tcorpus-id\tscore\nq1\td3\tyes\n", "test.tsv:2: the score must be a whole number"),
        ("qrels/test.tsv", "query-id\tcorpus-id\tscore\nq1 d3 1\n", "test.tsv:2: expected query-id"),
        ("qrels/test.tsv", 'query-id\tcorpus-id\tscore\n"q1\td3\t1\n', "test.tsv:2: unexpected end of data"),
    ],
)
def test_malformed_beir_folders(file: str, text: str, expected: str, tmp_path: Path, gme: Run) -> None:
    shutil.copytree(SAMPLES / "beir", tmp_path / "beir")
    (tmp_path / "beir" / file).write_text(text)
    code, _, err = gme("graph", "read", "beir", tmp_path / "beir", "-w", tmp_path / "w")
    assert code == 1
    assert expected in err


def test_a_beir_folder_without_queries(tmp_path: Path, gme: Run) -> None:
    shutil.copytree(SAMPLES / "beir", tmp_path / "beir")
    (tmp_path / "beir" / "queries.jsonl").unlink()
    code, out, err = gme("graph", "read", "beir", tmp_path / "beir", "-w", tmp_path / "w")
    assert (code, out) == (0, "nodes\t3\tchunk 3\n")
    assert "a corpus without questions" in err


@pytest.mark.parametrize(("title", "builder"), [("Ohio", "mentions"), ("", "entities")])
def test_a_source_without_edges_leads_to_a_builder_that_can_find_some(
    title: str, builder: str, tmp_path: Path, gme: Run
) -> None:
    write_lines(tmp_path / "corpus.jsonl", [{"_id": n, "title": title, "text": "seen in Ohio"} for n in "ab"])
    write_lines(tmp_path / "queries.jsonl", [{"_id": "q", "text": "where"}])
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq\ta\t1\n")
    code, _, err = gme("graph", "read", "beir", tmp_path, "-w", tmp_path / "w")
    assert code == 0, err
    assert f"find some, for example with: gme graph {builder}" in err
    assert gme("graph", builder, "-w", tmp_path / "w")[1].endswith("2 edges\n")
