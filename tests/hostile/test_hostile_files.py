"""Every reader of files on damaged and hostile ones: it reads them or says what is wrong, and nothing else happens."""

from __future__ import annotations

import contextlib
import io
import json
import pickle
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hostile_inputs import TRIED, misshapen, mutated, refused_or_read, written
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reading import SAMPLES

from conftest import Run, write_lines
from gme.builders.mentions import read_titles
from gme.cli import run
from gme.embedders.precomputed import read_vectors
from gme.embedders.response import MalformedError, read_answer
from gme.errors import GmeError
from gme.readers.checking import read_records
from gme.readers.registry import READERS
from gme.storage.arrays import load_array, open_vectors
from gme.sweep.grid import read_grid
from gme.sweep.ledger import Ledger
from gme.workspace.manifests import Manifest, is_inside, read_manifest
from gme.workspace.records import read_edges, read_nodes, read_questions
from properties import examples

FUZZ = settings(suppress_health_check=list(HealthCheck))


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


# ---- sources ---------------------------------------------------------------------------------------------------------

GRAPH = nx.Graph([("a", "b", {"weight": 2.0, "type": "x"}), ("b", "c", {"note": True})])
GRAPH.add_node("d", text="a text", title="D", age=3)


def _written(write: Any) -> bytes:
    buffer = io.BytesIO()
    write(GRAPH, buffer)
    return buffer.getvalue()


def _parquet() -> bytes:
    import pyarrow
    from pyarrow.parquet import write_table

    buffer = io.BytesIO()
    write_table(pyarrow.table({"source": ["a", "b"], "target": ["b", "c"], "weight": [1.0, 2.0]}), buffer)
    return buffer.getvalue()


NODE_LINK = json.dumps(nx.node_link_data(GRAPH, edges="links")).encode()
VAULT = (
    b"---\ntitle: T\ntags: [a, &x b, *x]\ndate: 2024-01-01\n---\n# Head\ntext [[other#Head]] `code`\n\n## Next\nmore\n"
)
SOURCES: dict[str, tuple[str, bytes]] = {
    "hotpotqa": ("x.json", (SAMPLES / "hotpotqa.json").read_bytes()),
    "2wiki": ("x.json", (SAMPLES / "2wiki.json").read_bytes()),
    "musique": ("x.jsonl", (SAMPLES / "musique.jsonl").read_bytes()),
    "hipporag": ("x.json", (SAMPLES / "openie.json").read_bytes()),
    "edges": ("x.csv", (SAMPLES / "edges.csv").read_bytes()),
    "edges, parquet": ("x.parquet", _parquet()),
    "edges, jsonl": ("x.jsonl", b'{"source": "a", "target": "b", "weight": 2}\n' * 2),
    "graphml": ("x.graphml", _written(nx.write_graphml)),
    "gexf": ("x.gexf", _written(nx.write_gexf)),
    "node-link": ("x.json", NODE_LINK),
    "text": ("x.md", VAULT),
}
FOLDERS = {
    "beir": ("corpus.jsonl", "queries.jsonl", "qrels/test.tsv"),
    "lightrag": ("graph_chunk_entity_relation.graphml", "kv_store_text_chunks.json", "kv_store_full_docs.json"),
}


def _read_all(name: str, path: Path) -> None:
    for record in read_records(name, [path]):
        assert record.kind in ("nodes", "edges", "questions")


@pytest.mark.parametrize("source", SOURCES)
@FUZZ
@given(data=st.data())
def test_sources(source: str, data: st.DataObject) -> None:
    name, content = SOURCES[source]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data.draw(mutated(content)))
        refused_or_read(f"reader {source}", lambda: _read_all(source.partition(",")[0], path))


@pytest.mark.parametrize(("source", "name"), [(source, name) for source, names in FOLDERS.items() for name in names])
@FUZZ
@given(data=st.data())
def test_sources_that_are_folders(source: str, name: str, data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as top:
        folder = Path(shutil.copytree(SAMPLES / source, Path(top) / "x"))
        (folder / name).write_bytes(data.draw(mutated((folder / name).read_bytes())))
        refused_or_read(f"reader {source}", lambda: _read_all(source, folder))


def test_every_reader_is_tried() -> None:
    untried = set(READERS) - {source.partition(",")[0] for source in SOURCES} - set(FOLDERS)
    assert untried == {"graphrag"}, "graphrag reads Parquet tables alone, as 'edges, parquet' does"


# ---- the files of a workspace ----------------------------------------------------------------------------------------

LINES = {
    "nodes": b'{"id": "a", "type": "chunk", "text": "t", "title": "T"}\n{"id": "b", "type": "chunk", "text": ""}\n',
    "edges": b'{"source": "a", "target": "b", "type": "link", "weight": 0.5}\n' * 2,
    "questions": b'{"id": "q", "question": "?", "gold": ["a"], "hops": 2, "family": "f", "relevance": {"a": 2}}\n',
}


@pytest.mark.parametrize("kind", LINES)
@FUZZ
@given(data=st.data())
def test_lines_of_a_workspace(kind: str, data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        for name, content in LINES.items():
            (path / f"{name}.jsonl").write_bytes(content)
        bad = path / f"{kind}.jsonl"
        bad.write_bytes(data.draw(mutated(LINES[kind])))
        nodes = read_nodes(path / "nodes.jsonl") if kind != "nodes" else None

        def read() -> None:
            if kind == "nodes":
                read_nodes(bad)
            elif kind == "edges":
                assert nodes is not None
                read_edges(bad, nodes)
            else:
                read_questions(bad, nodes)

        said = refused_or_read(kind, read)
        assert not said or str(bad) in said


GRIDS = {
    "grid.toml": b"criterion = 'recovery:hard'\ncurve = [1, 5]\n[[transform]]\nmethod = 'walk'\nsteps = [2, 3]\n"
    b"[[strategy]]\nstrategy = ['plain', 'envelope']\nmix = [0.5, 'auto']\n[[exclude]]\nmethod = 'ppr'\n",
    "grid.yaml": b"criterion: recovery\ntransform:\n- method: &m walk\n  alpha: [0, 1]\nstrategy:\n- strategy: plain\n",
}


@pytest.mark.parametrize("name", GRIDS)
@FUZZ
@given(data=st.data())
def test_grids(name: str, data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data.draw(mutated(GRIDS[name])))
        refused_or_read(name, lambda: read_grid(path))


LONG = b"9" * 5000


@pytest.mark.parametrize(
    "content",
    [
        LONG + b" = 1\n",
        b"[" + LONG + b"]\n",
        (b"[" + LONG + b"]\n") * 2,
        b"[[transform]]\nmethod = '" + LONG + b"'\n",
        b"[[strategy]]\nstrategy = 'plain'\n" + LONG + b" = 1\n",
        b"[[strategy]]\nstrategy = 'plain'\nbudget = '" + LONG + b"'\n",
    ],
)
def test_messages_about_grids_do_not_repeat_what_is_long(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "grid.toml").write_bytes(content)
    assert refused_or_read("grid.toml", lambda: read_grid(tmp_path / "grid.toml"))


@FUZZ
@given(data=st.data())
def test_ledgers_and_lists_of_titles(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x"
        path.write_bytes(data.draw(mutated(b'{"key": "a", "scores": {"x": 1}}\n{"key": "b"}\n')))
        refused_or_read("ledger", lambda: Ledger(path))
        refused_or_read("stop titles", lambda: read_titles(path))


@FUZZ
@given(content=mutated(b'{"data": [{"index": 0, "embedding": [1.0, 2.0]}, {"index": 1, "embedding": "AACAPwAAAEA="}]}'))
def test_answers_of_a_server(content: bytes) -> None:
    TRIED["answer of a server"] += 1
    with contextlib.suppress(MalformedError):
        assert read_answer(content, 2).vectors.shape[0] == 2


# ---- manifests -------------------------------------------------------------------------------------------------------

COMMANDS = (
    ("evaluate", "--json"),
    ("report",),
    ("graph", "check", "--json"),
    ("retrieve", "fused", "--collection", "walk", "--name", "again"),
    ("retrieve", "plain", "--hnsw", "--name", "again"),
    ("transform", "residual", "--source", "walk"),
)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with all kinds of manifests."""
    folder = tmp_path_factory.mktemp("finished")
    generator = np.random.default_rng(1)
    write_lines(folder / "nodes.jsonl", [{"id": i, "type": "chunk", "text": f"text {i}", "title": i} for i in "abcdef"])
    write_lines(
        folder / "questions.jsonl", [{"id": f"q{i}", "question": "?", "gold": ["a", "b"][i:]} for i in range(2)]
    )
    write_lines(folder / "edges.jsonl", [{"source": a, "target": b, "type": "link"} for a, b in ("ab", "bc", "cd")])
    for name, rows in (("nodes", 6), ("questions", 2)):
        np.save(folder / f"{name}.npy", generator.normal(size=(rows, 8)).astype(np.float32))
    files = ("--model", f"file:{folder}/nodes.npy", "--questions-file", f"{folder}/questions.npy")
    for command in (
        ("embed", *files),
        ("transform", "walk"),
        ("retrieve", "plain"),
        ("retrieve", "fused", "--collection", "walk", "--hnsw"),
    ):
        assert run([*command, "-w", str(folder), "--quiet"]) == 0
    return folder


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@settings(examples(25), suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_manifests(finished: Path, command: tuple[str, ...], data: st.DataObject) -> None:
    """A command on a workspace whose manifest says anything ends with a code, not with an exception."""
    with tempfile.TemporaryDirectory() as top:
        folder = Path(shutil.copytree(finished, Path(top) / "w"))
        manifests = sorted(path.relative_to(folder) for path in folder.rglob("*.json"))
        path = folder / data.draw(st.sampled_from(manifests))
        if data.draw(st.booleans()):
            path.write_bytes(written(data.draw(misshapen(json.loads(path.read_bytes())))))
        else:
            path.write_bytes(data.draw(mutated(path.read_bytes())))
        TRIED["manifest"] += 1
        assert run([*command, "-w", str(folder)]) in (0, 1, 2)


@FUZZ
@given(content=st.data())
def test_the_manifest_parser(content: st.DataObject) -> None:
    good = {"command": "gme embed", "inputs": {"nodes.jsonl": "0"}, "rows": 1, "parameters": {}, "builders": {}}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.json"
        path.write_bytes(content.draw(mutated(written(good)) | misshapen(good).map(written)))
        found: list[Manifest] = []
        refused_or_read("manifest parser", lambda: found.append(read_manifest(path)))
        for manifest in found:
            assert all(is_inside(name) for name in manifest.get("inputs", {}))


@pytest.mark.parametrize("name", ["../nodes.jsonl", "/etc/passwd", "a/../../b", "", "a\\b", "a\nb", "\x1b[2J", "a\x00"])
def test_inputs_are_files_of_the_workspace(finished: Path, folder: Path, gme: Run, name: str) -> None:
    assert not is_inside(name)
    workspace = Path(shutil.copytree(finished, folder / "w"))
    path = workspace / "embeddings/walk.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "inputs": {name: "0"}}))
    code, _, err = gme("retrieve", "fused", "--collection", "walk", "-w", workspace)
    assert code == 1
    assert f"{path}: inputs must be an object of file names in the workspace" in err


def test_manifests_that_name_each_other_come_to_an_end(finished: Path, folder: Path, gme: Run) -> None:
    workspace = Path(shutil.copytree(finished, folder / "w"))
    path = workspace / "embeddings/original.json"
    manifest = json.loads(path.read_text())
    walk = json.loads((workspace / "embeddings/walk.json").read_text())["sha256"]
    path.write_text(json.dumps({**manifest, "inputs": {"embeddings/walk.npy": walk}}))
    code, _, err = gme("retrieve", "fused", "--collection", "walk", "-w", workspace)
    assert code in (0, 1), err


# ---- arrays ----------------------------------------------------------------------------------------------------------


class _Bomb:
    """Makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self.path,)


def _npy(array: Any, version: tuple[int, int] | None = None) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, version=version)
    return buffer.getvalue()


GOOD = _npy(np.eye(3, dtype=np.float32))


@st.composite
def _headers(draw: st.DrawFn) -> bytes:
    """A file whose header is a dictionary of odd things, or no dictionary."""
    descr = st.sampled_from(
        ["'<f4'", "'|O'", "'<f8'", "'<U9999999'", "[('a', '<f4'), ('b', '|O')]", "'V0'", "None", "'m8'"]
    )
    numbers = st.sampled_from([0, 1, 3, -1, 2**31, 2**62, 2**63, 2**64, 10**30])
    shapes = st.lists(numbers, max_size=4).map(lambda shape: repr(tuple(shape)))
    text = "{{'descr': {}, 'fortran_order': {}, 'shape': {}}}".format(
        draw(descr | st.text("'<f4[](),OV ", max_size=8)),
        draw(st.sampled_from(["False", "True", "0", "'x'", "[]"])),
        draw(shapes | st.sampled_from(["3", "(3, 'a')", "[3, 3]", "(3.0, 3)", "(" * 200 + ")" * 200, "3**3"])),
    )
    text = draw(st.just(text) | st.just(text[:20]) | st.text(max_size=20) | st.just("(" * 3000)) + "\n"
    raw = text.encode("latin-1", "replace")
    length = draw(st.sampled_from([len(raw), len(raw), len(raw), 0, 65535]))
    return (
        b"\x93NUMPY"
        + draw(st.sampled_from([b"\x01\x00", b"\x02\x00", b"\x03\x00", b"\x09\x00"]))
        + (length.to_bytes(2, "little") + raw + bytes(draw(st.sampled_from([0, 36, 100]))))
    )


@FUZZ
@given(content=mutated(GOOD) | _headers() | _headers() | _headers())
def test_arrays(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.npy"
        path.write_bytes(content)
        refused_or_read("npy", lambda: open_vectors(path, 3, "nodes.jsonl"))
        refused_or_read("npy", lambda: read_vectors(path, ["a", "b", "c"], "nodes.jsonl"))


def test_pickles_are_never_loaded(folder: Path) -> None:
    sprung = folder / "sprung"
    bomb = np.array([_Bomb(sprung), 1], dtype=object)
    nested = np.zeros(2, dtype=[("a", "<f4"), ("b", [("c", "O")])])
    nested["b"]["c"][0] = _Bomb(sprung)
    contents = {
        "plain": pickle.dumps(_Bomb(sprung)),
        "array": _npy(bomb),
        "nested": _npy(nested),
        "two": _npy(bomb, (2, 0)),
    }
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as opened:
        opened.writestr("x.npy", contents["array"])
        opened.writestr("y", contents["plain"])
    contents["npz"] = archive.getvalue()
    for name, content in contents.items():
        path = folder / f"{name}.npy"
        path.write_bytes(content)
        for work in (load_array, lambda path: read_vectors(path, ["a", "b"], "nodes.jsonl")):
            with pytest.raises(GmeError) as caught:
                work(path)
            assert str(path) in caught.value.message
            assert "allow_pickle" not in str(caught.value)
    assert not sprung.exists()
    np.load(folder / "array.npy", allow_pickle=True)
    assert sprung.exists(), "the trap works"
