"""The entity layer: what counts as a name, which names become entities, and which chunks mention them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import Run, write_lines
from gme.builders.entities import EntityOptions, find_entities, read_entities
from gme.builders.name_extraction import candidates, spans
from gme.errors import GmeError
from gme.workspace.records import Nodes


@pytest.mark.parametrize(
    ("text", "surfaces"),
    [
        ("we met Ada Lovelace in London.", ["Ada Lovelace", "London"]),
        ("the University of the Arts in Bern", ["University of the Arts", "Bern"]),
        ("by Vincent van Gogh and Ludwig van Beethoven", ["Vincent van Gogh", "Ludwig van Beethoven"]),
        ("of J. R. R. Tolkien and George W. Bush", ["J. R. R. Tolkien", "George W. Bush"]),
        ("in St. Louis with Dr. Watson", ["St. Louis", "Dr. Watson"]),
        ("with Apollo 11 in 1969", ["Apollo 11"]),
        ("on World War II, said O'Brien", ["World War II", "O'Brien"]),
        ("see Obama's house and L’Oréal’s", ["Obama", "L’Oréal"]),
        ("the Bank of a nation", ["Bank"]),
        ("Simon & Garfunkel", ["Simon & Garfunkel"]),
        ("of Paris, France", ["Paris", "France"]),
        ("Jean-Luc Picard", ["Jean-Luc Picard"]),
        ("über Öl und Åse Årdal, в Москве живёт Лев Толстой", ["Öl", "Åse Årdal", "Москве", "Лев Толстой"]),
        ("Ada\nLovelace", ["Ada", "Lovelace"]),
        ("d'Artagnan met Jeanne d'Arc", ["d'Artagnan", "Jeanne d'Arc"]),
        ("ONE TWO THREE FOUR FIVE SIX SEVEN EIGHT NINE TEN ELEVEN", []),
        ("nothing here, 42 times", []),
        ("東京 と 大阪", []),
        ("", []),
    ],
)
def test_spans(text: str, surfaces: list[str]) -> None:
    assert [span.surface for span in spans(text)] == surfaces


@given(st.text(alphabet="ABc deé.'’-&\n1 ofthe", max_size=80) | st.text(max_size=60))
def test_a_surface_is_what_stands_in_the_text(text: str) -> None:
    last = 0
    for span in spans(text):
        last = text.index(span.surface, last) + len(span.surface)
        assert span.surface.strip() == span.surface != ""


def test_common_words_at_the_beginning_of_sentences_are_no_names() -> None:
    texts = [
        "The house is old. However, Ada Lovelace came. In Paris the rain fell.",
        "New York is large, new and old. They say that New York sleeps, however the rain falls in the night.",
        "They slept, and they ate; the cat ate in peace. Berlin is far from Bern. It is far to Berlin.",
    ]
    assert candidates(texts) == {"Ada Lovelace", "Paris", "New York", "Berlin", "Bern"}


@pytest.mark.parametrize(
    ("texts", "names"),
    [
        (["See the notes of Ada.", "See what Ada wrote."], {"Ada"}),
        (["It rains in Bern.", "It snows. The sun shines in Bern.", "The end."], {"Bern"}),
        (["See Ohio. See it.", "See Ohio, and stay in Ohio."], {"Ohio"}),
        (["# Notes\n- Ask Ada (Today)", '"Welcome", said Ada. Notes follow.', "Welcome! Ask. Today."], {"Ada"}),
        (["Ada Lovelace wrote.", "Ada Lovelace slept."], {"Ada Lovelace"}),
        (["Ada Lovelace wrote to Ada.", "Ada slept. Ada Lovelace slept."], {"Ada Lovelace", "Ada"}),
        (["NASA flew.", "NASA landed.", "McKinley won.", "McKinley lost.", "B52s rose."], {"NASA", "McKinley", "B52s"}),
        (["Bern's bears sleep.", "Bern's bears eat.", "in Bern"], {"Bern"}),
        (["Der Bär schläft.", "Der alte Bär frisst.", "Und so weiter."], {"Bär"}),
    ],
)
def test_a_capital_at_the_beginning_of_a_sentence_proves_no_name(texts: list[str], names: set[str]) -> None:
    """In a corpus so small that its common words never come in lower case."""
    assert candidates(texts) == names
    assert candidates(texts * 3) == names


def test_a_title_is_a_name_wherever_it_stands() -> None:
    assert _find(["Bern is old.", "Bern is far.", "It is late."], ["Bern", None, None]) == {"Bern": {0, 1}}


def test_what_is_learnt_from_the_corpus_holds_for_any_language() -> None:
    assert candidates(["Die Katze von Anna schläft. Und die Maus? Die wartet, und die Uhr tickt."]) == {
        "Katze von Anna",
        "Maus",
        "Uhr",
    }


def _find(
    texts: list[str], titles: list[str | None] | None = None, types: list[str] | None = None, **options: Any
) -> dict[str, set[int]]:
    ids = [str(row) for row in range(len(texts))]
    nodes = Nodes(
        ids, types or ["chunk"] * len(ids), texts, titles or [None] * len(ids), {i: row for row, i in enumerate(ids)}
    )
    found = find_entities(nodes, EntityOptions(**options), 0, None)
    mentions: dict[str, set[int]] = {}
    for edge in found.edges:
        assert edge["type"] == "mentions"
        mentions.setdefault(edge["target"], set()).add(int(edge["source"]))
    assert found.nodes is not None
    assert sorted(mentions) == [node["id"] for node in found.nodes]
    return {target.removeprefix("entity:"): rows for target, rows in mentions.items()}


def test_rare_names_do_not_hide_what_is_inside_them() -> None:
    texts = ["saw President Barack Obama", "met Barack Obama", "Barack Obama spoke", "President of Chad"]
    assert _find(texts) == {"Barack Obama": {0, 1, 2}}


def test_names_that_stand_within_rare_ones_only_are_found() -> None:
    texts = ["that Lincoln spoke", "at the Lincoln Memorial", "by Abraham Lincoln"]
    assert _find(texts) == {"Lincoln": {0, 1, 2}}
    # Nested names go from the outside in, and only as far as they are rare.
    texts = ["at Mount Royal Park Hotel", "at Royal Park Hotel", "at Grand Royal Park", "at Park", "at Green Park"]
    assert _find(texts) == {"Royal Park Hotel": {0, 1}, "Park": {2, 3, 4}}
    assert _find([*texts, "at Royal Park"]) == {
        "Royal Park Hotel": {0, 1},
        "Royal Park": {2, 5},
        "Park": {3, 4},
    }


def test_aliases_within_rare_names_count_for_their_own(tmp_path: Path) -> None:
    path = tmp_path / "names.jsonl"
    write_lines(path, [{"name": "iron", "aliases": ["iron ore"]}, {"name": "old iron ore mine"}])
    texts = ["iron ore", "an old iron ore mine", "coal"]
    assert _find(texts, entities=path, extractor="none") == {"iron": {0, 1}}
    # Crosswise, neither can wait for the other.
    write_lines(path, [{"name": "a b c", "aliases": ["y"]}, {"name": "x y z", "aliases": ["b"]}])
    assert _find(["a b c", "x y z"], entities=path, extractor="none", min_length=1) == {}


_nested = st.builds(
    lambda head, tail: head + "A B C D"[tail:], st.sampled_from(["", "X ", "Y "]), st.sampled_from([0, 2, 4, 6])
)


@given(st.lists(_nested, min_size=1, max_size=12))
def test_a_name_counts_where_no_longer_one_is_kept(texts: list[str]) -> None:
    expected: dict[str, set[int]] = {}
    for name in sorted(set(texts), key=len, reverse=True):
        within = {row for row, text in enumerate(texts) if text.endswith(name)}
        hidden = {row for longer, rows in expected.items() if longer.endswith(name) for row in rows}
        if len(within - hidden) > 1:
            expected[name] = within - hidden
    assert _find(texts, list(texts), max_share=1, min_length=1) == expected


def test_frequent_names_are_dropped_and_still_hide_what_is_inside_them() -> None:
    texts = ["in United States of old"] * 30 + ["at States"] * 3 + ["see Ohio"] * 3 + ["x"] * 64
    assert set(_find(texts, max_share=0.5)) == {"United States", "States", "Ohio"}
    found = _find(texts, max_share=0.2)
    assert set(found) == {"States", "Ohio"}
    assert found["States"] == {30, 31, 32}
    # In a small corpus a share means little: ten chunks are never too many.
    assert set(_find(["at Ohio"] * 10, max_share=0.05)) == {"Ohio"}
    assert set(_find(["at Ohio"] * 11, max_share=0.05)) == set()


def test_titles_are_names_and_documents_are_no_chunks() -> None:
    texts = ["on quantum foam", "more quantum foam", "quantum foam", "Ada", "about Ada"]
    titles = ["quantum foam", None, None, None, None]
    types = ["chunk", "chunk", "document", "entity", "chunk"]
    assert _find(texts, titles, types) == {"quantum foam": {0, 1}}
    assert _find(texts, titles, types, min_chunks=1) == {"quantum foam": {0, 1}, "Ada": {4}}


def test_surface_forms_stay_distinct() -> None:
    texts = ["saw NASA", "of NASA", "saw Nasa", "of Nasa"]
    assert _find(texts) == {"NASA": {0, 1}, "Nasa": {2, 3}}


def test_given_entities_and_aliases(tmp_path: Path) -> None:
    plain = tmp_path / "names.txt"
    plain.write_text("\ufeffiron ore\n\n  coal \niron ore\n", encoding="utf-8")
    texts = ["iron ore and coal", "coal", "iron ore of the UN", "the United Nations"]
    assert _find(texts, entities=plain, extractor="none") == {"iron ore": {0, 2}, "coal": {0, 1}}
    lines = tmp_path / "names.jsonl"
    write_lines(lines, [{"name": "United Nations", "aliases": ["UN", "UN"]}, {"name": "coal"}])
    assert _find(texts, entities=lines) == {"United Nations": {2, 3}, "coal": {0, 1}}
    assert _find(["Coal", "coal"], entities=plain, extractor="none", ignore_case=True) == {"coal": {0, 1}}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"name": "a"}\n{"nam": "b"}\n', ":2: 'name' must be a string"),
        (b'{"name": "a", "aliases": "b"}\n', ":1: 'aliases' must be a list of strings"),
        (b'{"name": "a"}\n{"name": "a"}\n', ":2: entity 'a' was on line 1 already"),
        (b'{"name": "a"\n', ":1: not valid JSON"),
        (b"fine\n\xff\n", ":2: not UTF-8 text"),
        (b"\n\n", "holds no entities"),
    ],
)
def test_bad_lists_name_their_line(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "list"
    path.write_bytes(content)
    with pytest.raises(GmeError) as caught:
        list(read_entities(path))
    assert message in caught.value.message


def test_no_source_of_names_is_an_error(small_workspace: Path, gme: Run) -> None:
    code, out, err = gme("graph", "entities", "--extractor", "none", "-w", small_workspace)
    assert (code, out) == (1, "")
    assert "--entities is not given" in err
    assert (
        "missing" not in gme("graph", "entities", "--entities", small_workspace / "none.txt", "-w", small_workspace)[1]
    )


def test_aliases_and_odd_names_survive_the_files(tmp_path: Path, gme: Run) -> None:
    names = ['a "quoted" name', "emoji 🎉 name", "long " + "x" * 2000, "שם בעברית"]
    write_lines(
        tmp_path / "nodes.jsonl", [{"id": str(i), "type": "chunk", "text": " and ".join(names)} for i in range(2)]
    )
    write_lines(tmp_path / "names.jsonl", [{"name": name, "aliases": ["other"]} for name in names])
    arguments = ("graph", "entities", "--extractor", "none", "--entities", tmp_path / "names.jsonl", "-w", tmp_path)
    code, out, err = gme(*arguments)
    assert (code, out) == (0, "3 nodes\n6 edges\n"), err
    assert "left out, because too long for an id: 1 name" in err
    nodes = [orjson.loads(line) for line in (tmp_path / "nodes.jsonl").read_bytes().splitlines()][2:]
    assert [node["id"] for node in nodes] == sorted(f"entity:{name}" for name in names if len(name) < 100)
    assert nodes[0]["aliases"] == ["other"]


def test_real_passages(real_data: Path, tmp_path: Path) -> None:
    lines = (real_data / "musique" / "nodes.jsonl").read_bytes().splitlines()[:800]
    records = [orjson.loads(line) for line in lines]
    found = _find([r["text"] for r in records], [r.get("title") for r in records])
    assert len(found) > 200
    for name, rows in list(found.items())[::20]:
        assert all(name in records[row]["text"] for row in rows)
        assert 2 <= len(rows) <= 40
