"""Edge lists, GraphML, GEXF, node-link JSON and networkx graphs in memory."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reading import SAMPLES, STRANGE, workspace_lines

from conftest import REPOSITORY, Run, write_lines
from gme import from_networkx
from gme.errors import GmeError
from gme.graph.construction import build_graph
from gme.readers.checking import read_records
from gme.workspace.graphs import workspace_graph
from gme.workspace.records import read_edges, read_nodes
from properties import examples


def _read(gme: Run, folder: Path, name: str, *rest: object) -> tuple[list[Any], list[Any]]:
    code, _, err = gme("graph", "read", name, *rest, "-w", folder)
    assert code == 0, err
    read_edges(folder / "edges.jsonl", read_nodes(folder / "nodes.jsonl"))
    return workspace_lines(folder)[:2]


# ---- edge lists ------------------------------------------------------------------------------------------------------


def test_an_edge_list_with_nodes(tmp_path: Path, gme: Run) -> None:
    nodes, edges = _read(
        gme, tmp_path, "edges", SAMPLES / "edges.csv", "--nodes", SAMPLES / "nodes.tsv", "--skip-unknown"
    )
    assert nodes[0] == {"id": "a", "type": "person", "text": 'Ada, who said "hm"', "title": "Ada", "born": "1815"}
    assert nodes[2] == {"id": "e", "type": "chunk", "text": "two\nlines", "title": "Engine", "born": ""}
    assert edges == [
        {"source": "a", "target": "c", "type": "wrote to", "weight": 2.5, "year": "1843"},
        {"source": "c", "target": "e", "type": "link", "year": ""},
    ]


def test_unknown_ends_are_an_error(tmp_path: Path, gme: Run) -> None:
    code, _, err = gme(
        "graph", "read", "edges", SAMPLES / "edges.csv", "--nodes", SAMPLES / "nodes.tsv", "-w", tmp_path
    )
    assert code == 1
    assert "edges.csv:4: node 'zed' is not in" in err
    assert "--skip-unknown" in err


def test_ids_become_nodes(tmp_path: Path, gme: Run) -> None:
    nodes, edges = _read(gme, tmp_path, "edges", SAMPLES / "edges.csv", "--node-type", "entity")
    assert nodes[0] == {"id": "a", "type": "entity", "text": "a"}
    assert [node["id"] for node in nodes] == ["a", "c", "e", "zed"]
    assert len(edges) == 3


@pytest.mark.parametrize(
    ("name", "text", "options", "expected"),
    [
        ("x.csv", "from,to\na,b\n", (), [("a", "b", "link", None)]),
        ("x.csv", "Target,Source,Type,Weight\na,b,t,2\n", (), [("b", "a", "t", 2)]),
        ("x.tsv", "subject\tpredicate\tobject\na\tis\tb\n", (), [("a", "b", "is", None)]),
        ("x.txt", "source;target\na,1;b\n", (), [("a,1", "b", "link", None)]),
        ("x.csv", "u,v,w\na,b,3\n", ("--source-column", "u", "--target-column", "v"), [("a", "b", "link", None)]),
        ("x.csv", "a,b\nb,c\n", ("--no-header",), [("a", "b", "link", None), ("b", "c", "link", None)]),
        ("x.csv", "a,b,3\n", ("--no-header",), [("a", "b", "link", 3)]),
        ("x.csv", "a,b,knows,3\n", ("--no-header", "--edge-type", "x"), [("a", "b", "knows", 3)]),
        ("x.txt", "a|b\n", ("--no-header", "--delimiter", "|"), [("a", "b", "link", None)]),
        ("x.csv", "source,target\n\na,b\n", ("--edge-type", "cites"), [("a", "b", "cites", None)]),
        ("x.jsonl", '{"source": 1, "target": "b"}\n', (), [("1", "b", "link", None)]),
    ],
)
def test_columns(name: str, text: str, options: Any, expected: Any, tmp_path: Path, gme: Run) -> None:
    (tmp_path / name).write_bytes(b"\xef\xbb\xbf" + text.encode())
    _, edges = _read(gme, tmp_path / "w", "edges", tmp_path / name, *options)
    assert [(edge["source"], edge["target"], edge["type"], edge.get("weight")) for edge in edges] == expected


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ("u,v\na,b\n", (), "x.csv:1: no columns for source and target among ['u', 'v']"),
        ("u,v\na,b\n", ("--source-column", "w"), "unknown source column 'w'"),
        ("source,target\na,b\na,\n", (), "x.csv:3: 'target' is missing or empty"),
        ("source,target\na,b\na\n", (), "x.csv:3: 'target' is missing or empty"),
        ("source,target\na,b,c\n", (), "x.csv:2: 3 fields, but there are 2 columns"),
        ("source,target,weight\na,b,heavy\n", (), "x.csv:2: 'weight' must be a positive number, found 'heavy'"),
        ("source,target,weight\na,b,-1\n", (), "x.csv:2: 'weight' must be a positive number"),
        ("source,target,weight\na,b,nan\n", (), "x.csv:2: 'weight' must be a positive number"),
        ('source,target\n"a,b\n', (), "x.csv:2: unexpected end of data"),
        ("source,source\na,b\n", (), "no columns for source and target"),
        ("source,target,x,x\na,b,1,2\n", (), "x.csv:1: a column name occurs twice"),
        (f"source,target\na,b\n{'c' * 10_000},b\n", (), "x.csv:3: the id has 10000 characters, the limit is 1024"),
        ("source,target\n", (), "holds no nodes"),
        ("source,target\na,b\n", ("--nodes", "nothing.csv"), "nothing.csv is missing"),
        ("source,target\na,b\n", ("--delimiter", "::"), "must be one character"),
    ],
)
def test_malformed_edge_lists(text: str, options: Any, expected: str, tmp_path: Path, gme: Run) -> None:
    (tmp_path / "x.csv").write_text(text)
    code, out, err = gme("graph", "read", "edges", tmp_path / "x.csv", *options, "-w", tmp_path / "w")
    assert (code, out) == (1, "")
    assert expected in err


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("id,text\na,x\na,y\n", "n.csv:3: duplicate id 'a', first seen on line 2"),
        ("id,text\n,x\n", "n.csv:2: 'id' is missing or empty"),
        ("key,text\na,x\n", "unknown id column 'id'"),
    ],
)
def test_malformed_node_tables(text: str, expected: str, tmp_path: Path, gme: Run) -> None:
    (tmp_path / "x.csv").write_text("source,target\na,a\n")
    (tmp_path / "n.csv").write_text(text)
    options = ("--nodes", tmp_path / "n.csv")
    code, _, err = gme("graph", "read", "edges", tmp_path / "x.csv", *options, "-w", tmp_path / "w")
    assert code == 1
    assert expected in err


def test_latin_1_names_line_and_byte(tmp_path: Path, gme: Run) -> None:
    (tmp_path / "x.csv").write_bytes(b"source,target\na,b\nM\xfcller,b\n")
    code, _, err = gme("graph", "read", "edges", tmp_path / "x.csv", "-w", tmp_path / "w")
    assert code == 1
    assert "x.csv:3: not UTF-8 text: byte 0xfc at offset 19" in err


@pytest.mark.parametrize("ending", ["parquet", "PARQUET", "Pq", "jsonl", "JSONL", "NDJSON", "csv", "CSV", "TSV"])
@pytest.mark.parametrize("header", [(), ("--no-header",)])
def test_endings_tell_in_any_case(ending: str, header: tuple[str, ...], tmp_path: Path, gme: Run) -> None:
    edges, nodes = tmp_path / f"e.{ending}", tmp_path / f"n.{ending}"
    for path, row in ((edges, {"source": "a", "target": "b"}), (nodes, {"id": "a", "text": "x"})):
        if ending.lower() in ("parquet", "pq"):
            pq.write_table(pa.Table.from_pylist([row]), path)
        elif ending.lower() in ("jsonl", "ndjson"):
            write_lines(path, [row])
        else:
            lines = [row.values()] if header and path == edges else [row, row.values()]
            path.write_text("\n".join(("\t" if ending == "TSV" else ",").join(line) for line in lines))
    assert _read(gme, tmp_path / "w", "edges", edges, *header)[1] == [{"source": "a", "target": "b", "type": "link"}]
    options = ("--nodes", nodes, "--skip-unknown", *header)
    assert _read(gme, tmp_path / "v", "edges", edges, *options)[0] == [{"id": "a", "type": "chunk", "text": "x"}]


def test_the_help_names_every_kind_of_table(gme: Run) -> None:
    assert "CSV, TSV, Parquet or JSON lines" in " ".join(gme("graph", "read", "--help")[1].split())


def test_parquet(tmp_path: Path, gme: Run) -> None:
    pq.write_table(pa.table({"source": [1, 2], "target": [2, 3], "weight": [0.5, None]}), tmp_path / "e.parquet")
    pq.write_table(
        pa.table({"key": [1, 2, 3], "body": ["x", None, "z"], "tags": [["a"], [], None]}), tmp_path / "n.parquet"
    )
    options = ("--nodes", tmp_path / "n.parquet", "--id-column", "key", "--text-column", "body")
    nodes, edges = _read(gme, tmp_path / "w", "edges", tmp_path / "e.parquet", *options)
    assert nodes == [
        {"id": "1", "type": "chunk", "text": "x", "tags": ["a"]},
        {"id": "2", "type": "chunk", "text": "", "tags": []},
        {"id": "3", "type": "chunk", "text": "z"},
    ]
    assert edges[0] == {"source": "1", "target": "2", "type": "link", "weight": 0.5}
    assert "weight" not in edges[1]
    pq.write_table(pa.table({"source": ["a", None], "target": ["b", "c"]}), tmp_path / "bad.parquet")
    code, _, err = gme("graph", "read", "edges", tmp_path / "bad.parquet", "-w", tmp_path / "v")
    assert code == 1
    assert "bad.parquet: row 2: 'source' is missing" in err
    (tmp_path / "not.parquet").write_text("source,target\n")
    code, _, err = gme("graph", "read", "edges", tmp_path / "not.parquet", "-w", tmp_path / "v")
    assert code == 1
    assert "not a Parquet file" in err


TEXTS = st.text(st.characters(codec="utf-8"))
NAMES = st.one_of(st.sampled_from(STRANGE), st.text(st.characters(codec="utf-8"), min_size=1, max_size=20))


@settings(examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pairs=st.lists(st.tuples(NAMES, NAMES), min_size=1, max_size=8))
def test_csv_round_trip(pairs: list[tuple[str, str]], tmp_path: Path) -> None:
    pairs = [(a.replace("\x00", ""), b.replace("\x00", "")) for a, b in pairs]  # the csv module of 3.10 refuses NUL
    pairs = [pair for pair in pairs if all(pair)] or [("a", "b")]
    for name, kind in (("x.csv", csv.excel), ("x.tsv", csv.excel_tab)):
        with (tmp_path / name).open("w", encoding="utf-8", newline="") as handle:
            writer = csv.writer(handle, kind, quoting=csv.QUOTE_ALL)
            writer.writerow(["source", "target", "type"])
            writer.writerows([a, b, b] for a, b in pairs)
        edges = [record.value for record in read_records("edges", [tmp_path / name]) if record.kind == "edges"]
        assert [(edge["source"], edge["target"], edge["type"]) for edge in edges] == [(a, b, b) for a, b in pairs]


# ---- networkx --------------------------------------------------------------------------------------------------------


def _graph(kind: type[Any] = nx.Graph) -> Any:
    graph = kind()
    graph.add_node("a", text="Ada wrote.", title="Ada", type="person", born=1815)
    graph.add_node("b", label="Babbage")
    graph.add_node("c")
    graph.add_edge("a", "b", type="knows", weight=2.5, since=1833)
    graph.add_edge("b", "c", label="built")
    graph.add_edge("c", "c")
    return graph


NODES: list[dict[str, Any]] = [
    {"id": "a", "type": "person", "text": "Ada wrote.", "title": "Ada", "born": 1815},
    {"id": "b", "type": "chunk", "text": "Babbage", "title": "Babbage"},
    {"id": "c", "type": "chunk", "text": "c"},
]
EDGES = [
    {"source": "a", "target": "b", "type": "knows", "weight": 2.5, "since": 1833},
    {"source": "b", "target": "c", "type": "built"},
    {"source": "c", "target": "c", "type": "link"},
]


def _node_link(graph: Any, path: Path, **options: Any) -> None:
    path.write_text(json.dumps(nx.node_link_data(graph, **{"edges": "links", **options})))


WRITERS: dict[str, Callable[[Any, Path], None]] = {
    "graphml": nx.write_graphml,
    "gexf": nx.write_gexf,
    "node-link": _node_link,
}


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
@pytest.mark.parametrize("name", WRITERS)
def test_files_of_networkx(name: str, kind: type[Any], tmp_path: Path, gme: Run) -> None:
    graph = _graph(kind)
    if name == "gexf":  # its type of an edge is "directed" or "undirected"; networkx loses any other
        for _, _, attributes in graph.edges(data=True):
            attributes |= {"label": attributes.pop("type")} if "type" in attributes else {}
    WRITERS[name](graph, tmp_path / "graph")
    nodes, edges = _read(gme, tmp_path / "w", name, tmp_path / "graph")
    if name == "gexf":  # networkx writes the id as the label of nodes that have none
        assert (nodes[0].pop("label"), nodes[2].pop("title")) == ("a", "c")
    assert nodes == NODES
    keys = {"id", "key"}  # numbers that the formats and multigraphs give their edges
    assert [{k: v for k, v in edge.items() if k not in keys} for edge in edges] == EDGES


@pytest.mark.parametrize("links", ["links", "edges"])
def test_node_link_names(links: str, tmp_path: Path, gme: Run) -> None:
    _node_link(_graph(), tmp_path / "graph.json", edges=links)
    assert _read(gme, tmp_path / "w", "node-link", tmp_path / "graph.json") == (NODES, EDGES)


def test_attributes_are_chosen(tmp_path: Path, gme: Run) -> None:
    graph = nx.Graph()
    graph.add_node(1, body="text", name="One", kind="page", text="other")
    graph.add_edge(1, 2, rel="cites", strength=3)
    _node_link(graph, tmp_path / "graph.json")
    options = "--text-attribute body --title-attribute name --type-attribute kind --node-type stub"
    more = "--edge-type-attribute rel --weight-attribute strength"
    nodes, edges = _read(gme, tmp_path / "w", "node-link", tmp_path / "graph.json", *options.split(), *more.split())
    assert nodes == [
        {"id": "1", "type": "page", "text": "text", "title": "One", "metadata": {"text": "other"}},
        {"id": "2", "type": "stub", "text": "2"},
    ]
    assert edges == [{"source": "1", "target": "2", "type": "cites", "weight": 3}]


@settings(examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.dictionaries(NAMES, st.one_of(TEXTS, NAMES), min_size=1))
def test_node_link_round_trip(texts: dict[str, str], tmp_path: Path) -> None:
    graph = nx.Graph()
    graph.add_nodes_from((name, {"text": text}) for name, text in texts.items())
    nx.add_path(graph, texts)
    _node_link(graph, tmp_path / "graph.json")
    records = list(read_records("node-link", [tmp_path / "graph.json"]))
    assert {r.value["id"]: r.value["text"] for r in records if r.kind == "nodes"} == texts
    again = build_graph(list(texts), [(r.value["source"], r.value["target"]) for r in records if r.kind == "edges"])
    assert again.edges == graph.number_of_edges()
    nodes, edges = from_networkx(graph)
    assert dict(zip(nodes.ids, nodes.texts, strict=True)) == texts
    assert workspace_graph(nodes, edges).edges == graph.number_of_edges()


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("graphml", "<graphml>\n<graph", "x:2: not valid XML"),
        ("graphml", "", "x:1: not valid XML"),
        ("graphml", "<a/>", "networkx can't read it"),
        ("gexf", "<gexf>\n</gex>", "x:2: not valid XML"),
        ("gexf", "<gexf version='1.2'/>", "networkx can't read it"),
        ("node-link", "[]", "x:1: not valid JSON: expected '{', found '['"),
        ("node-link", '{"nodes": []}', "expected 'nodes' and 'links' (or 'edges'), found nodes"),
        ("node-link", '{"nodes": [{"id": "a"}, {}], "links": []}', "x:1: node 2: a node without an id"),
        ("node-link", '{"nodes": [\n{"id": "a"},\n5], "links": []}', "x:3: node 2: expected a JSON object"),
        (
            "node-link",
            '{"nodes": [{"id": "a"}],\n"links": [{"source": "a", "target": "b"}]}',
            "x:2: edge 1: edge target 'b'",
        ),
        ("node-link", '{"nodes": [{"id": "a"}], "links": [{"source": "a", "target": "a", "weight": 0}]}', "edge 1"),
        (
            "node-link",
            '{"nodes": [{"id": "a"}],\n"links": [{"source": "a", "target": "a", "weight": 1e300}]}',
            "x:2: edge 1: 'weight' must lie within the range of float32, found 1e+300",
        ),
        ("node-link", '{"nodes": [{"id": 1}, {"id": "1"}], "links": []}', "node 2: duplicate id '1'"),
        (
            "node-link",
            '{"nodes": [{"id": "a", "text": []}], "links": []}',
            "attribute 'text' must be a string, found []",
        ),
    ],
)
def test_malformed_graph_files(name: str, text: str, expected: str, tmp_path: Path, gme: Run) -> None:
    (tmp_path / "x").write_text(text)
    code, out, err = gme("graph", "read", name, tmp_path / "x", "-w", tmp_path / "w")
    assert (code, out) == (1, "")
    assert expected in err


def test_what_a_parser_repeats_of_a_file_is_cut(tmp_path: Path, gme: Run) -> None:
    (tmp_path / "x").write_text(f"<?xml version='1.0' encoding='u{'9' * 5000}'?><graphml/>")
    code, _, err = gme("graph", "read", "graphml", tmp_path / "x", "-w", tmp_path / "w")
    assert code == 1
    assert "networkx can't read it: unknown encoding: u99" in err
    assert len(err) < 1000


def test_a_graph_without_edges_says_so(tmp_path: Path, gme: Run) -> None:
    _node_link(nx.empty_graph(3), tmp_path / "graph.json")
    nodes, edges = _read(gme, tmp_path / "w", "node-link", tmp_path / "graph.json")
    assert (len(nodes), edges) == (3, [])
    assert (tmp_path / "w" / "edges.jsonl").read_bytes() == b""


def test_graphs_in_memory() -> None:
    nodes, edges = from_networkx(_graph(nx.MultiDiGraph))
    assert (nodes.ids, nodes.texts) == (["a", "b", "c"], ["Ada wrote.", "Babbage", "c"])
    assert (nodes.types, nodes.titles) == (["person", "chunk", "chunk"], ["Ada", "Babbage", None])
    assert (edges.sources.tolist(), edges.targets.tolist()) == ([0, 1, 2], [1, 2, 2])
    assert edges.weights.tolist() == [2.5, 1.0, 1.0]
    assert [edges.type_names[kind] for kind in edges.types] == ["knows", "built", "link"]
    assert (str(edges.sources.dtype), str(edges.weights.dtype)) == ("uint32", "float64")
    assert from_networkx(nx.grid_graph([2, 2]))[0].ids == ["(0, 0)", "(0, 1)", "(1, 0)", "(1, 1)"]
    missing = nx.Graph()
    missing.add_node("a", text=float("nan"))  # what pandas makes of an empty cell
    assert from_networkx(missing)[0].texts == ["a"]


NUMBERS = [np.int64(2), np.uint8(2), np.float32(2), np.float64(2), np.float16(2), 2, 2.0, Fraction(2)]


@pytest.mark.parametrize("weight", NUMBERS, ids=lambda weight: type(weight).__name__)
def test_weights_are_numbers_of_any_type(weight: Any) -> None:
    assert build_graph(["a", "b"], [("a", "b", weight)]).csr()[2].tolist() == [2, 2]
    graph = nx.Graph()
    graph.add_node("a", title=weight)
    graph.add_edge("a", "b", weight=weight)
    nodes, edges = from_networkx(graph)
    assert edges.weights.tolist() == [2]
    assert nodes.titles == [str(weight), None]
    assert workspace_graph(nodes, edges, type_weights={"link": weight}).csr()[2].tolist() == [4, 4]


@pytest.mark.parametrize(
    "weight", [True, np.bool_(True), "2", None, [2], 1j, 10**400, -(10**400), Fraction(10**400), 0, -1, np.nan]
)
def test_other_weights_are_refused(weight: Any) -> None:
    with pytest.raises(GmeError):
        build_graph(["a", "b"], [("a", "b", weight)])
    graph = nx.Graph()
    graph.add_edge("a", "b", weight=weight)
    if weight is not None:
        with pytest.raises(GmeError):
            from_networkx(graph)
    nodes, edges = from_networkx(nx.Graph([("a", "b")]))
    with pytest.raises(GmeError):
        workspace_graph(nodes, edges, type_weights={"link": weight})


def test_graphs_that_can_not_be_used() -> None:
    clash = nx.Graph()
    clash.add_nodes_from([1, "1"])
    with pytest.raises(GmeError, match="duplicate id '1'"):
        from_networkx(clash)
    heavy = nx.Graph()
    heavy.add_edge("a", "b", weight=-1)
    with pytest.raises(GmeError, match="must be a positive number"):
        from_networkx(heavy)
    long = nx.Graph()
    long.add_node("x" * 10_000)
    with pytest.raises(GmeError, match="10000 characters, the limit is 1024"):
        from_networkx(long)


def test_the_example_of_the_docs(capsys: pytest.CaptureFixture[str]) -> None:
    """Ten lines of Python from a networkx graph to evidence, as docs/guides/readers.md shows them."""
    text = (REPOSITORY / "docs" / "guides" / "readers.md").read_text(encoding="utf-8")
    example, printed = re.findall(r"```python\n(import networkx.*?)```\s+.*?```text\n(.*?)```", text, re.DOTALL)[0]
    exec(compile(example, "docs/guides/readers.md", "exec"), {})
    assert capsys.readouterr().out == printed


def test_the_docs_name_every_reader() -> None:
    from gme.readers.registry import READERS

    text = (REPOSITORY / "docs" / "guides" / "readers.md").read_text(encoding="utf-8")
    assert [name for name in READERS if f"`{name}`" not in text] == []


def test_from_an_edge_list_to_a_collection(tmp_path: Path, gme: Run) -> None:
    write_lines(tmp_path / "n.jsonl", [{"id": name, "text": name} for name in STRANGE])
    with (tmp_path / "e.csv").open("w", encoding="utf-8", newline="") as handle:
        pairs = [pair for pair in pairwise(STRANGE) if "\x00" not in "".join(pair)]
        csv.writer(handle, quoting=csv.QUOTE_ALL).writerows([("source", "target"), *pairs])
    nodes, edges = _read(gme, tmp_path, "edges", tmp_path / "e.csv", "--nodes", tmp_path / "n.jsonl")
    assert [node["id"] for node in nodes] == STRANGE
    assert [(edge["source"], edge["target"]) for edge in edges] == pairs
    assert gme("transform", "signature", "--dim", "16", "-w", tmp_path)[0] == 0
