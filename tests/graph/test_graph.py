"""Title mentions over a corpus, and what happens to edges that exist already."""

from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np
import orjson
import pytest

from conftest import Run, write_lines
from gme.builders.mentions import MentionOptions, mention_edges
from gme.errors import GmeError
from gme.graph.construction import build_graph
from gme.workspace.records import read_nodes

PASSAGES = [
    ("p1", "Paris", "Paris is the capital of France. Comparisons aside, it is old."),
    ("p2", "France", "France borders Spain; its capital is Paris."),
    ("p3", "New York", "New York City is larger than York."),
    ("p4", "New York City", "The city of New York lies at the coast, far from paris."),
    ("p5", "York", "York (England)."),
    ("p6", "Paris", "Another text with the title of p1; it names nothing."),
    ("p7", None, "Untitled passages can mention: Spain, New York City."),
    ("p8", "It", "It is short."),
]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    records = [
        {"id": i, "type": "chunk", "text": text} | ({"title": title} if title else {}) for i, title, text in PASSAGES
    ]
    write_lines(tmp_path / "nodes.jsonl", records)
    return tmp_path


def _named(corpus: Path, **options: object) -> set[tuple[str, str]]:
    stop = options.pop("stop_titles", ())
    nodes = read_nodes(corpus / "nodes.jsonl")
    mentioning, mentioned = mention_edges(nodes, MentionOptions(**options), stop_titles=stop)  # type: ignore[arg-type]
    return {(nodes.ids[a], nodes.ids[b]) for a, b in zip(mentioning, mentioned, strict=True)}


def test_whole_words_longest_first_and_shared_titles(corpus: Path) -> None:
    assert _named(corpus) == {
        ("p1", "p6"),  # p1 names "Paris", which is also p6's title; its own is no edge
        ("p1", "p2"),
        ("p2", "p1"),
        ("p2", "p6"),
        ("p3", "p4"),  # "New York City", not the "New York" or "York" inside it
        ("p3", "p5"),
        ("p4", "p3"),  # "paris" is another case
        ("p7", "p4"),
    }


def test_options(corpus: Path) -> None:
    assert {("p4", "p1"), ("p4", "p6")} <= _named(corpus, ignore_case=True)
    assert ("p6", "p8") in _named(corpus, ignore_case=True, min_length=2)
    assert ("p6", "p8") not in _named(corpus, ignore_case=True)
    without = _named(corpus, stop_titles=["Paris"])
    assert without == _named(corpus) - {("p1", "p6"), ("p2", "p1"), ("p2", "p6")}


def test_the_command_keeps_edges_of_other_types(corpus: Path, gme: Run) -> None:
    mine = {"source": "p1", "target": "p8", "type": "link", "note": "mine"}
    write_lines(corpus / "edges.jsonl", [mine])
    for _ in range(2):  # the second run replaces the first one's edges instead of adding to them
        code, out, err = gme("graph", "mentions", "-w", corpus)
        assert (code, out) == (0, "8 edges\n"), err
        edges = [orjson.loads(line) for line in (corpus / "edges.jsonl").read_bytes().splitlines()]
        assert edges[0] == mine
        assert len(edges) == 9
        assert {edge["type"] for edge in edges[1:]} == {"title_mention"}


def test_edges_of_other_types_keep_their_bytes(corpus: Path, gme: Run) -> None:
    mine = '{"source": "p1", "target": "p8", "type": "link", "n": 12345678901234567890123, "f": 1.10, "u": "\\u00e9"}'
    (corpus / "edges.jsonl").write_text(mine)
    assert gme("graph", "mentions", "-w", corpus)[0] == 0
    assert (corpus / "edges.jsonl").read_text().splitlines()[0] == mine


def test_added_nodes_make_the_edges_stale_unless_they_are_the_users(corpus: Path, gme: Run) -> None:
    gme("graph", "mentions", "-w", corpus)
    with (corpus / "nodes.jsonl").open("a") as handle:
        handle.write('{"id": "p9", "type": "chunk", "text": "Paris again"}\n')
    code, _, err = gme("transform", "signature", "-w", corpus)
    assert code == 1
    assert "edges.jsonl is stale: nodes.jsonl has changed since it was made" in err
    assert "hint: re-run: gme graph mentions" in err
    with (corpus / "edges.jsonl").open("a") as handle:
        handle.write('{"source": "p9", "target": "p1", "type": "link"}\n')
    assert gme("transform", "signature", "-w", corpus)[0] == 0


def test_stop_titles_come_from_a_file(corpus: Path, gme: Run) -> None:
    (corpus / "stop.txt").write_text("Paris\n\nYork\n")
    assert gme("graph", "mentions", "--stop-titles", corpus / "stop.txt", "-w", corpus)[1] == "4 edges\n"
    code, _, err = gme("graph", "mentions", "--stop-titles", corpus / "nothing.txt", "-w", corpus)
    assert code == 1
    assert "nothing.txt" in err


def test_a_corpus_without_titles_is_an_error(tmp_path: Path, gme: Run) -> None:
    write_lines(tmp_path / "nodes.jsonl", [{"id": "a", "type": "chunk", "text": "x"}])
    code, _, err = gme("graph", "mentions", "-w", tmp_path)
    assert code == 1
    assert "has a title" in err


def test_build_graph_is_undirected_and_simple() -> None:
    graph = build_graph(["b", "a", "c"], [("a", "b", 2.0), ("b", "a"), ("a", "a"), ("c", "b")])
    assert (graph.nodes, graph.edges, graph.weighted) == (3, 2, True)
    assert graph.neighbors(0).tolist() == [1, 2]
    assert graph.order.tolist() == [1, 0, 2]
    assert graph.degrees.tolist() == [2, 1, 1]
    with pytest.raises(GmeError):
        build_graph(["a", "a"], [])
    with pytest.raises(GmeError):
        build_graph(["a", "b"], [("a", "b", -1.0)])


def test_real_passages(real_data: Path) -> None:
    nodes = read_nodes(real_data / "2wiki" / "nodes.jsonl")
    mentioning, mentioned = mention_edges(nodes)
    assert len(mentioning) > 1000
    generator = np.random.default_rng(0)
    for edge in generator.integers(0, len(mentioning), 200):
        assert (nodes.titles[mentioned[edge]] or "?") in nodes.texts[mentioning[edge]]


def test_disambiguators_are_kept_unless_asked(tmp_path: Path, gme: Run) -> None:
    titles = ["Mercury (planet)", "Mercury", "Venus (planet) ", "(Odd)", "Reader"]
    texts = ["See Venus (planet).", "A god.", "It is Venus.", "x", "Mercury (planet), Mercury and Venus. (Odd)"]
    write_lines(
        tmp_path / "nodes.jsonl",
        [
            {"id": title, "type": "chunk", "text": text, "title": title}
            for title, text in zip(titles, texts, strict=True)
        ],
    )
    kept = _named(tmp_path)
    assert ("Reader", "Mercury (planet)") in kept
    assert not any(mentioned.startswith("Venus") for _, mentioned in kept)
    stripped = _named(tmp_path, strip_disambiguators=True)
    assert ("Reader", "Venus (planet) ") in stripped
    assert {("Reader", "Mercury"), ("Reader", "Mercury (planet)"), ("Reader", "(Odd)")} <= stripped
    assert gme("graph", "mentions", "--strip-disambiguators", "-w", tmp_path)[1] == f"{len(stripped)} edges\n"


def test_one_title_found_in_both_forms_is_one_edge(tmp_path: Path) -> None:
    write_lines(
        tmp_path / "nodes.jsonl",
        [
            {"id": "a", "type": "chunk", "title": "Mercury (planet)", "text": "x"},
            {"id": "b", "type": "chunk", "text": "Mercury (planet), or Mercury. MERCURY (PLANET)"},
        ],
    )
    nodes = read_nodes(tmp_path / "nodes.jsonl")
    for ignore_case in (False, True):
        found = mention_edges(nodes, MentionOptions(strip_disambiguators=True, ignore_case=ignore_case))
        assert [array.tolist() for array in found] == [[1], [0]]


def test_the_stop_list_is_part_of_the_command(corpus: Path, gme: Run) -> None:
    stop = corpus / "my stop titles.txt"
    stop.write_bytes(b"\xef\xbb\xbfParis\n")
    assert gme("graph", "mentions", "--stop-titles", stop, "-w", corpus)[1] == "5 edges\n"
    command = orjson.loads((corpus / "manifests" / "edges.json").read_bytes())["command"]
    assert shlex.split(command) == ["gme", "graph", "mentions", "--stop-titles", str(stop)]
