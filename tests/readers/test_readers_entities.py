"""What LightRAG, Microsoft GraphRAG and HippoRAG leave behind."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from reading import SAMPLES, STRANGE, workspace_lines

from conftest import Run
from gme.readers.entities import relation_record
from gme.readers.protocol import ReadContext, Where
from gme.workspace.records import read_edges, read_nodes


def _read(gme: Run, folder: Path, name: str, *rest: object) -> tuple[dict[str, Any], set[tuple[str, ...]], str]:
    code, _, err = gme("graph", "read", name, *rest, "-w", folder)
    assert code == 0, err
    nodes, edges, questions = workspace_lines(folder)
    assert questions == []
    read_edges(folder / "edges.jsonl", read_nodes(folder / "nodes.jsonl"))
    return {node["id"]: node for node in nodes}, {(e["source"], e["type"], e["target"]) for e in edges}, err


def test_lightrag(tmp_path: Path, gme: Run) -> None:
    nodes, edges, err = _read(gme, tmp_path / "a", "lightrag", SAMPLES / "lightrag")
    assert nodes["doc-1"]["text"] == "letters.txt"
    assert nodes["doc-2"]["title"] == "An untitled note"
    assert nodes["chunk-a"]["text"] == "Ada wrote to Charles."
    assert nodes["chunk-a"]["tokens"] == 5
    ada = nodes["entity:Ada"]
    assert (ada["type"], ada["title"], ada["entity_type"]) == ("entity", "Ada", "person")
    assert ada["text"] == "Ada\nA mathematician.\nA correspondent."
    assert edges == {
        ("chunk-a", "part_of", "doc-1"),
        ("chunk-b", "part_of", "doc-1"),
        ("chunk-c", "part_of", "doc-2"),
        ("chunk-a", "mentions", "entity:Ada"),
        ("chunk-a", "mentions", "entity:Charles"),
        ("chunk-b", "mentions", "entity:Charles"),
        ("chunk-c", "mentions", "entity:London"),
        ("entity:Ada", "relation", "entity:Charles"),
        ("entity:Charles", "relation", "entity:London"),
    }
    assert "chunk 'chunk-gone'" in err
    assert "relations whose weight is no positive number of float32 (1)" in err
    weights = {edge["target"]: edge.get("weight") for edge in workspace_lines(tmp_path / "a")[1][-2:]}
    assert weights == {"entity:Charles": 2.0, "entity:London": None}
    names = _read(gme, tmp_path / "b", "lightrag", SAMPLES / "lightrag", "--names-only")[0]
    assert names["entity:Ada"]["text"] == "Ada"


@pytest.mark.parametrize(("weight", "kept"), [(2, True), (0.5, True), (True, False), ("2", False), (1e300, False)])
def test_relations_keep_the_weights_that_a_graph_takes(weight: object, kept: bool) -> None:
    context = ReadContext()
    record = relation_record("a", "b", {"weight": weight}, Where(Path("x")), context)
    assert (record.get("weight") == weight) == kept
    assert bool(list(context.warnings())) != kept


def test_lightrag_folders(tmp_path: Path, gme: Run) -> None:
    whole = _read(gme, tmp_path / "a", "lightrag", SAMPLES / "lightrag")
    shutil.copytree(SAMPLES / "lightrag", tmp_path / "rag" / "space")
    assert _read(gme, tmp_path / "b", "lightrag", tmp_path / "rag")[:2] == whole[:2]
    (tmp_path / "rag" / "space" / "kv_store_full_docs.json").unlink()
    nodes, edges, _ = _read(gme, tmp_path / "c", "lightrag", tmp_path / "rag")
    assert len(nodes) == 6
    assert not any(kind == "part_of" for _, kind, _ in edges)
    shutil.copytree(tmp_path / "rag" / "space", tmp_path / "rag" / "other")
    code, _, err = gme("graph", "read", "lightrag", tmp_path / "rag", "-w", tmp_path / "d")
    assert code == 1
    assert "several workspaces: other, space" in err
    (tmp_path / "rag" / "other" / "kv_store_text_chunks.json").unlink()
    code, _, err = gme("graph", "read", "lightrag", tmp_path / "rag" / "other", "-w", tmp_path / "d")
    assert code == 1
    assert "kv_store_text_chunks.json is missing" in err


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"chunk-a": {"tokens": 5}}', "kv_store_text_chunks.json:1: member 'chunk-a': 'content' is missing"),
        ('{"chunk-a":\n 5}', "member 'chunk-a': expected a JSON object, found 5"),
        ('{"chunk-a": {"content": "x"', "kv_store_text_chunks.json:1: not valid JSON"),
        ('{"chunk-a": {"content": "x"}, }', "expected a member name in quotes"),
        ('{"doc-1": {"content": "x"}}', "duplicate id 'doc-1'"),
    ],
)
def test_malformed_lightrag(text: str, expected: str, tmp_path: Path, gme: Run) -> None:
    shutil.copytree(SAMPLES / "lightrag", tmp_path / "rag")
    (tmp_path / "rag" / "kv_store_text_chunks.json").write_text(text)
    code, _, err = gme("graph", "read", "lightrag", tmp_path / "rag", "-w", tmp_path / "w")
    assert code == 1
    assert expected in err


def test_strict_lightrag(tmp_path: Path, gme: Run) -> None:
    code, _, err = gme("graph", "read", "lightrag", SAMPLES / "lightrag", "--strict", "-w", tmp_path)
    assert code == 1
    assert "entity 'London': chunk 'chunk-gone'" in err


# ---- GraphRAG --------------------------------------------------------------------------------------------------------


def _tables() -> dict[str, dict[str, list[Any]]]:
    return {
        "documents": {
            "id": ["t1", "d2"],
            "title": ["one.txt", "two.txt"],
            "text": ["All.", "More."],
        },
        "text_units": {
            "id": ["t1", "t2", "t3"],
            "text": ["All.", "Mo", "re."],
            "n_tokens": [1, 1, 1],
            "document_ids": [["t1"], ["d2"], ["d2"]],
            "entity_ids": [["e1"], ["e1", "e2"], None],
            "relationship_ids": [[], ["r1"], []],
        },
        "entities": {
            "id": ["e1", "e2"],
            "title": ["ADA", "BABBAGE"],
            "type": ["PERSON", "PERSON"],
            "description": ["A mathematician.", ""],
            "text_unit_ids": [["t1", "t2"], ["t2", "t3"]],
            "x": [0.5, 0.5],
        },
        "relationships": {
            "id": ["r1", "r2"],
            "source": ["ADA", "ADA"],
            "target": ["BABBAGE", "NOBODY"],
            "description": ["They wrote.", ""],
            "weight": [7.0, 1.0],
            "text_unit_ids": [["t2"], ["t2"]],
        },
    }


def _write(folder: Path, tables: dict[str, dict[str, list[Any]]], prefix: str = "") -> None:
    folder.mkdir(parents=True)
    for name, columns in tables.items():
        pq.write_table(pa.table(columns), folder / f"{prefix}{name}.parquet")


GRAPHRAG_EDGES = {
    ("t1", "part_of", "document:t1"),
    ("t2", "part_of", "document:d2"),
    ("t3", "part_of", "document:d2"),
    ("t1", "mentions", "e1"),
    ("t2", "mentions", "e1"),
    ("t2", "mentions", "e2"),
    ("t3", "mentions", "e2"),
    ("e1", "relation", "e2"),
}


def test_graphrag(tmp_path: Path, gme: Run) -> None:
    _write(tmp_path / "output", _tables())
    nodes, edges, err = _read(gme, tmp_path / "w", "graphrag", tmp_path)  # finds output/ in the project folder
    assert edges == GRAPHRAG_EDGES
    assert nodes["document:t1"]["text"] == "one.txt"  # its id is its only chunk's
    assert nodes["t1"] == {"id": "t1", "type": "chunk", "text": "All.", "n_tokens": 1}
    assert nodes["e1"]["text"] == "ADA\nA mathematician."
    assert (nodes["e1"]["entity_type"], nodes["e2"]["text"]) == ("PERSON", "BABBAGE")
    assert "x" not in nodes["e1"]
    assert "relationships.parquet: row 2: 'NOBODY'" in err
    relation = workspace_lines(tmp_path / "w")[1][-1]
    assert (relation["weight"], relation["description"]) == (7.0, "They wrote.")
    mentions = [edge for edge in workspace_lines(tmp_path / "w")[1] if edge["type"] == "mentions"]
    assert len(mentions) == 4  # though both tables say them


def test_graphrag_of_other_versions(tmp_path: Path, gme: Run) -> None:
    old = _tables()
    old["entities"]["name"] = old["entities"].pop("title")
    old["documents"]["raw_content"] = old["documents"].pop("text")
    old["text_units"].pop("entity_ids")
    _write(tmp_path / "old", old, prefix="create_final_")
    assert _read(gme, tmp_path / "a", "graphrag", tmp_path / "old")[1] == GRAPHRAG_EDGES
    new = _tables()
    new["text_units"]["document_id"] = [ids[0] for ids in new["text_units"].pop("document_ids")]
    _write(tmp_path / "new", new)
    assert _read(gme, tmp_path / "b", "graphrag", tmp_path / "new")[1] == GRAPHRAG_EDGES


def test_malformed_graphrag(tmp_path: Path, gme: Run) -> None:
    code, _, err = gme("graph", "read", "graphrag", tmp_path, "-w", tmp_path / "w")
    assert code == 1
    assert "holds no text_units.parquet" in err
    tables = _tables()
    tables["text_units"]["text"][1] = None
    _write(tmp_path / "x", tables)
    code, _, err = gme("graph", "read", "graphrag", tmp_path / "x", "-w", tmp_path / "w")
    assert code == 1
    assert "text_units.parquet: row 2: 'text' is missing" in err
    _write(tmp_path / "y", _tables())
    code, _, err = gme("graph", "read", "graphrag", tmp_path / "y", "--strict", "-w", tmp_path / "w")
    assert code == 1
    assert "'NOBODY'" in err


# ---- HippoRAG --------------------------------------------------------------------------------------------------------


def test_hipporag(tmp_path: Path, gme: Run) -> None:
    nodes, edges, err = _read(gme, tmp_path, "hipporag", SAMPLES / "openie.json")
    unnumbered = "chunk-5b9e55b204ff8b4a2bbe2f56a5e55393"  # its MD5, as HippoRAG 2 numbers passages
    assert nodes["chunk-1"]["title"] == "Radio City"
    assert nodes["chunk-1"]["text"].startswith("Radio City\nRadio City is")
    assert "title" not in nodes["chunk-2"]
    assert nodes[unnumbered]["title"] == "Given title"
    assert {"entity:India", "entity:india"} <= set(nodes)  # surface forms stay distinct
    assert edges == {
        ("chunk-1", "mentions", "entity:Radio City"),
        ("chunk-1", "mentions", "entity:India"),
        ("chunk-1", "mentions", "entity:private FM station"),
        ("chunk-2", "mentions", "entity:india"),
        (unnumbered, "mentions", "entity:Radio City"),
        (unnumbered, "mentions", "entity:planet"),
        ("entity:Radio City", "relation", "entity:India"),
        ("entity:Radio City", "relation", "entity:private FM station"),
        ("entity:Radio City", "relation", "entity:planet"),
    }
    assert "doc 1: ['Radio City', 'is']" in err
    relations = [edge for edge in workspace_lines(tmp_path)[1] if edge["type"] == "relation"]
    assert relations[0] == {
        "source": "entity:Radio City",
        "target": "entity:India",
        "type": "relation",
        "predicate": "located in",
        "passage": "chunk-1",
    }


def test_hipporag_keeps_strange_names(tmp_path: Path, gme: Run) -> None:
    docs = [
        {"idx": name, "passage": name, "extracted_entities": [name], "extracted_triples": [[name, name, name]]}
        for name in STRANGE
    ]
    (tmp_path / "x.json").write_text(json.dumps({"docs": docs}))
    nodes, _, _ = _read(gme, tmp_path / "w", "hipporag", tmp_path / "x.json")
    assert list(nodes) == [node for name in STRANGE for node in (name, f"entity:{name}")]
    assert [nodes[name]["text"] for name in STRANGE] == STRANGE


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}", "x.json: has no array 'docs'"),
        ('{"docs": [{"idx": "a"}]}', "x.json:1: doc 1: 'passage' is missing"),
        ('{"docs": [\n5]}', "x.json:2: doc 1: expected a JSON object"),
        ('{"docs": [{"idx": 1.5, "passage": "x"}]}', "'idx' must be a string or a whole number, found 1.5"),
        ('{"docs": [{"idx": 1, "passage": "x"}, {"idx": 1, "passage": "y"}]}', "doc 2: duplicate id '1'"),
        (
            '{"docs": [{"idx": 1, "passage": "x", "extracted_triples": 5}]}',
            "'extracted_triples' must be a list, found 5",
        ),
    ],
)
def test_malformed_hipporag(text: str, expected: str, tmp_path: Path, gme: Run) -> None:
    (tmp_path / "x.json").write_text(text)
    code, _, err = gme("graph", "read", "hipporag", tmp_path / "x.json", "-w", tmp_path / "w")
    assert code == 1
    assert expected in err


def test_strict_hipporag(tmp_path: Path, gme: Run) -> None:
    code, _, err = gme("graph", "read", "hipporag", SAMPLES / "openie.json", "--strict", "-w", tmp_path)
    assert code == 1
    assert "openie.json:1: doc 1: ['Radio City', 'is'] (triples that are not three strings)" in err
