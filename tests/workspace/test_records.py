"""Nodes, edges and questions: every way a line can be wrong, and what must survive."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import write_lines
from gme.errors import GmeError
from gme.workspace.graphs import workspace_graph
from gme.workspace.records import Edges, Nodes, read_edges, read_nodes, read_questions

NODE: dict[str, Any] = {"id": "a", "type": "chunk", "text": "t"}


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([], "holds no nodes"),
        ([NODE, NODE], "nodes.jsonl:2: duplicate id 'a', first seen on line 1"),
        ([{"type": "chunk", "text": "t"}], "nodes.jsonl:1: 'id' is missing"),
        ([NODE | {"id": ""}], "nodes.jsonl:1: 'id' is empty"),
        ([NODE | {"id": 7}], "nodes.jsonl:1: 'id' must be a string, found 7"),
        ([NODE | {"id": "x" * 10_000}], "'id' has 10000 characters, the limit is 1024"),
        ([{"id": "a", "type": "chunk"}], "nodes.jsonl:1: 'text' is missing"),
        ([NODE | {"title": ["x"]}], "nodes.jsonl:1: 'title' must be a string"),
    ],
)
def test_bad_nodes(tmp_path: Path, records: list[dict[str, Any]], message: str) -> None:
    write_lines(tmp_path / "nodes.jsonl", records)
    with pytest.raises(GmeError) as caught:
        read_nodes(tmp_path / "nodes.jsonl")
    assert message in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"target": "zzz"}, "edges.jsonl:1: edge target 'zzz' is not in nodes.jsonl"),
        ({"source": None}, "edges.jsonl:1: 'source' is missing"),
        ({"weight": 0}, "edges.jsonl:1: 'weight' must be a positive number, found 0"),
        ({"weight": -1.5}, "'weight' must be a positive number, found -1.5"),
        ({"weight": "1"}, "'weight' must be a positive number, found '1'"),
        ({"weight": True}, "'weight' must be a positive number, found True"),
        ({"weight": 1e-46}, "edges.jsonl:1: 'weight' must lie within the range of float32, found 1e-46"),
        ({"weight": 1e39}, "edges.jsonl:1: 'weight' must lie within the range of float32, found 1e+39"),
        ({"type": 3}, "edges.jsonl:1: 'type' must be a string, found 3"),
    ],
)
def test_bad_edges(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    write_lines(tmp_path / "nodes.jsonl", [NODE, NODE | {"id": "b"}])
    write_lines(tmp_path / "edges.jsonl", [{"source": "a", "target": "b", "type": "link"} | change])
    with pytest.raises(GmeError) as caught:
        read_edges(tmp_path / "edges.jsonl", read_nodes(tmp_path / "nodes.jsonl"))
    assert message in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"gold": ["a", "zzz"]}, "questions.jsonl:1: gold id 'zzz' is not in nodes.jsonl"),
        ({"gold": "a"}, "questions.jsonl:1: 'gold' must be a list of node ids"),
        ({"hops": -1}, "questions.jsonl:1: 'hops' must be a whole number"),
        ({"relevance": ["a"]}, "questions.jsonl:1: 'relevance' must be an object of node ids and grades"),
        (
            {"relevance": {"a": 1.5}},
            "questions.jsonl:1: 'relevance' of 'a' must be a whole number of 32 bits, found 1.5",
        ),
        ({"relevance": {"a": 2**31}}, "questions.jsonl:1: 'relevance' of 'a' must be a whole number of 32 bits"),
        ({"relevance": {"a": True}}, "questions.jsonl:1: 'relevance' of 'a' must be a whole number of 32 bits, found"),
        ({"question": None}, "questions.jsonl:1: 'question' is missing"),
        ({"family": 5}, "questions.jsonl:1: 'family' must be a string"),
    ],
)
def test_bad_questions(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    write_lines(tmp_path / "nodes.jsonl", [NODE])
    write_lines(tmp_path / "questions.jsonl", [{"id": "q", "question": "?", "gold": ["a"]} | change])
    with pytest.raises(GmeError) as caught:
        read_questions(tmp_path / "questions.jsonl", read_nodes(tmp_path / "nodes.jsonl"))
    assert message in caught.value.message
    assert caught.value.hint


def test_what_is_read(tmp_path: Path) -> None:
    write_lines(tmp_path / "nodes.jsonl", [NODE, {"id": "b", "type": "entity", "text": "", "title": "B", "extra": 1}])
    edges = [
        {"source": "b", "target": "a", "type": "x"},
        {"source": "a", "target": "a", "type": "y", "weight": 2},
        {"source": "a", "target": "b", "type": "x"},
    ]
    write_lines(tmp_path / "edges.jsonl", edges)
    write_lines(tmp_path / "questions.jsonl", [{"id": "q", "question": "?", "gold": ["b", "b"], "hops": 2}])
    graded = {"id": "r", "question": "?", "gold": ["a"], "relevance": {"a": 2, "b": -1}}
    write_lines(tmp_path / "graded.jsonl", [graded, {"id": "s", "question": "?", "relevance": None}])
    nodes = read_nodes(tmp_path / "nodes.jsonl")
    assert (nodes.ids, nodes.types, nodes.titles, len(nodes)) == (["a", "b"], ["chunk", "entity"], [None, "B"], 2)
    read = read_edges(tmp_path / "edges.jsonl", nodes)
    assert read.sources.tolist() == [1, 0, 0]
    assert read.targets.tolist() == [0, 0, 1]
    assert read.weights.tolist() == [1, 2, 1]
    assert [read.type_names[t] for t in read.types] == ["x", "y", "x"]
    questions = read_questions(tmp_path / "questions.jsonl", nodes)
    assert (questions.gold, questions.hops, questions.families) == ([["b"]], [2], [""])
    assert questions.relevance == [{}]
    assert read_questions(tmp_path / "graded.jsonl", nodes).relevance == [{"a": 2, "b": -1}, {}]


def test_no_edges_is_a_graph(tmp_path: Path) -> None:
    write_lines(tmp_path / "nodes.jsonl", [NODE])
    (tmp_path / "edges.jsonl").touch()
    assert len(read_edges(tmp_path / "edges.jsonl", read_nodes(tmp_path / "nodes.jsonl"))) == 0


@pytest.mark.parametrize("weight", [1.0, 5.0])
def test_a_weight_that_stands_for_all_keeps_its_value(weight: float) -> None:
    nodes = Nodes(["a", "b", "c"], ["chunk"] * 3, [""] * 3, [None] * 3, {"a": 0, "b": 1, "c": 2})
    ends = np.array([0, 1], dtype=np.uint32), np.array([1, 2], dtype=np.uint32)
    edges = Edges(*ends, np.broadcast_to(np.float64(weight), 2), np.zeros(2, dtype=np.uint8), ["link"])
    assert (edges.stored_weights is None) == (weight == 1)
    for given in ({}, {"edge_types": ["link"]}, {"type_weights": {"link": 1.0}}):
        assert workspace_graph(nodes, edges, **given).csr()[2].tolist() == [weight] * 4


@pytest.mark.parametrize("weight", [1e-45, 2.0**-149, 3.4028234e38])
def test_the_smallest_and_largest_weights_pass(tmp_path: Path, weight: float) -> None:
    write_lines(tmp_path / "nodes.jsonl", [NODE, NODE | {"id": "b"}])
    write_lines(tmp_path / "edges.jsonl", [{"source": "a", "target": "b", "type": "link", "weight": weight}])
    nodes = read_nodes(tmp_path / "nodes.jsonl")
    assert workspace_graph(nodes, read_edges(tmp_path / "edges.jsonl", nodes)).edges == 1
