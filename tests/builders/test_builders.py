"""Edge builders together: whose lines are whose, what makes them stale, and that their order does not matter."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import orjson
import pytest

from conftest import Run, write_lines
from gme import builders
from gme.builders.entities import EntityOptions
from gme.builders.registry import EDGE_BUILDERS
from gme.errors import GmeError, StaleError
from gme.pipeline.edges import add_edges
from gme.workspace import Workspace

NODES = [
    {"id": "p1", "type": "chunk", "title": "Paris", "text": "Paris lies on the Seine. See [[Lyon|the city]]."},
    {"id": "p2", "type": "chunk", "title": "Lyon", "text": "The way from Lyon to Paris, by Victor Hugo."},
    {"id": "p3", "type": "chunk", "title": "Seine", "text": "Painted by Monet, described by Victor Hugo."},
    {"id": "d1", "type": "document", "title": "Guide", "text": "Guide to Paris by Victor Hugo"},
]


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    write_lines(tmp_path / "nodes.jsonl", NODES)
    return Workspace(tmp_path)


def _lines(workspace: Workspace, name: str) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in workspace.path(f"{name}.jsonl").read_bytes().splitlines()]


def _edges(workspace: Workspace, kind: str) -> set[tuple[str, str]]:
    return {(edge["source"], edge["target"]) for edge in _lines(workspace, "edges") if edge["type"] == kind}


def _add_node(workspace: Workspace, node_id: str = "new") -> None:
    with workspace.path("nodes.jsonl").open("ab") as handle:
        handle.write(orjson.dumps({"id": node_id, "type": "chunk", "text": "Seine and Victor Hugo [[Paris]]"}) + b"\n")


def test_each_builder_by_hand(workspace: Workspace) -> None:
    for name in EDGE_BUILDERS:
        add_edges(workspace, name)
    assert _edges(workspace, "title_mention") == {
        ("p1", "p3"),
        ("p1", "p2"),
        ("p2", "p1"),
        ("d1", "p1"),
    }
    assert _edges(workspace, "link") == {("p1", "p2")}
    # Monet is in one chunk only; Victor Hugo is in the document too, which is no chunk.
    assert _edges(workspace, "mentions") == {
        ("p1", "entity:Paris"),
        ("p2", "entity:Paris"),
        ("p1", "entity:Lyon"),
        ("p2", "entity:Lyon"),
        ("p2", "entity:Victor Hugo"),
        ("p3", "entity:Victor Hugo"),
    }
    assert _edges(workspace, "shared_name") == {("p2", "p3")}  # Victor Hugo; the document is not searched
    nodes = _lines(workspace, "nodes")
    assert nodes[:4] == NODES
    assert nodes[4:] == [
        {"id": f"entity:{name}", "type": "entity", "text": name, "by": "gme graph entities"}
        for name in ("Lyon", "Paris", "Victor Hugo")
    ]


@pytest.mark.parametrize("order", list(itertools.permutations(EDGE_BUILDERS)), ids="-".join)
def test_any_order_finds_the_same_and_nothing_is_stale(order: tuple[str, ...], workspace: Workspace) -> None:
    for name in order:
        add_edges(workspace, name)
    assert len(workspace.edges) == 12
    commands = (workspace.origin("edges.jsonl") or {})["command"]
    assert commands == "gme graph entities && gme graph links && gme graph mentions && gme graph names"
    before = {name: workspace.path(name).read_bytes() for name in ("nodes.jsonl", "edges.jsonl")}
    for name in EDGE_BUILDERS:  # once more changes no byte, so that no embedding becomes stale
        add_edges(workspace, name)
    assert {name: workspace.path(name).read_bytes() for name in before} == before


def test_a_new_node_makes_all_stale_until_each_is_run_again(workspace: Workspace) -> None:
    add_edges(workspace, "mentions", builders.MentionOptions(min_length=4))
    add_edges(workspace, "links")
    _add_node(workspace)
    hint = "re-run: gme graph links && gme graph mentions --min-length 4"

    def stale() -> str | None:
        try:
            len(Workspace(workspace.folder).edges)
        except StaleError as error:
            return error.hint
        return None

    assert stale() == hint
    add_edges(Workspace(workspace.folder), "links")
    assert stale() == hint  # the mentions are still those of the old nodes
    add_edges(Workspace(workspace.folder), "entities")
    assert stale() == "re-run: gme graph entities && gme graph links && gme graph mentions --min-length 4"
    add_edges(Workspace(workspace.folder), "mentions")
    assert stale() is None
    assert ("new", "p3") in _edges(workspace, "title_mention")


@pytest.mark.parametrize("changed", [True, False], ids=["changed", "the-same"])
def test_a_corpus_read_anew_does_not_lose_its_graph_unsaid(changed: bool, tmp_path: Path, gme: Run) -> None:
    """The edges and entities that builders had added are gone, and the hint leads back to all of them in one go."""
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("# Tides\n\nAt sea, says Victor Hugo.\n")
    (notes / "b.md").write_text("# Moon\n\nIt makes the Tides, says Victor Hugo.\n")

    def run(command: str) -> tuple[int, str, str]:
        return gme(*command.split(), "-w", tmp_path)

    builds = ["gme graph entities", "gme graph mentions --min-length 4"]
    for command in (f"gme graph read text {notes}", *builds, "gme embed", "gme transform signature"):
        assert run(command.removeprefix("gme "))[0] == 0
    before = _edges(Workspace(tmp_path), "title_mention")
    assert before
    if changed:
        (notes / "a.md").write_text("# Tides\n\nAt sea and in the air, says Victor Hugo.\n")
    for _ in range(2):  # not forgotten when it is read once more
        code, _, err = run(f"graph read text {notes} --force")
        assert code == 0
        assert f"without the edges of these commands: {', '.join(builds)}\nhint: re-run: {' && '.join(builds)};" in err
    code, _, err = run("retrieve envelope --question Who?")
    assert code == 1
    commands = err.rpartition("hint: re-run: ")[2].strip().split(" && ")
    assert commands == [*builds, "gme embed", "gme transform signature"]
    for command in commands:
        assert run(command.removeprefix("gme "))[0] == 0
    assert run("retrieve envelope --question Who?")[0] == 0
    assert _edges(Workspace(tmp_path), "title_mention") == before
    assert _edges(Workspace(tmp_path), "mentions")


def test_a_corpus_read_anew_may_go_on_without_what_builders_had_added(tmp_path: Path, gme: Run) -> None:
    (tmp_path / "a.md").write_text("# Tides\n\nSee [the Moon](b.md).\n")
    (tmp_path / "b.md").write_text("# Moon\n\nIt makes the Tides.\n")
    read = ("graph", "read", "text", tmp_path, "-w", tmp_path)
    for arguments in (read, ("graph", "mentions", "-w", tmp_path), (*read, "--force")):
        assert gme(*arguments)[0] == 0
    with pytest.raises(StaleError, match="a corpus was read again, and the edges found in it before are gone"):
        len(Workspace(tmp_path).edges)
    (tmp_path / "edges.jsonl").unlink()
    code, _, err = gme(*read, "--force")
    assert code == 0
    assert "warning" not in err
    assert len(Workspace(tmp_path).edges) == 3


def test_a_file_edited_by_hand_is_never_stale(workspace: Workspace) -> None:
    add_edges(workspace, "mentions")
    with workspace.path("edges.jsonl").open("ab") as handle:
        handle.write(b'{"source": "p1", "target": "d1", "type": "part_of"}\n')
    _add_node(workspace)
    assert len(Workspace(workspace.folder).edges) == 5
    add_edges(Workspace(workspace.folder), "links")  # from here on the file is ours again, as far as links go
    assert (Workspace(workspace.folder).origin("edges.jsonl") or {})["command"] == "gme graph links"
    _add_node(workspace, "newer")
    with pytest.raises(StaleError) as caught:
        len(Workspace(workspace.folder).edges)
    assert caught.value.hint == "re-run: gme graph links"


def test_an_origin_from_before_builders_were_combined(workspace: Workspace) -> None:
    add_edges(workspace, "mentions")
    workspace.record_origin("edges.jsonl", "gme graph mentions --min-length 3", ["nodes.jsonl"])
    add_edges(workspace, "links")
    assert (workspace.origin("edges.jsonl") or {})["command"] == "gme graph links && gme graph mentions --min-length 3"


def test_lines_of_others_keep_their_bytes_and_places(workspace: Workspace) -> None:
    user = '{"id": "entity:Paris", "type": "entity", "text": "Paris", "n": 12345678901234567890123, "f": 1.10}'
    with workspace.path("nodes.jsonl").open("a") as handle:
        handle.write(user + "\n")
    mine = [
        '{"source": "p1", "target": "entity:Paris", "type": "mentions", "f": 1.10}',
        '{"source":"p1","target":"p3","type":"link"}',
    ]
    workspace.path("edges.jsonl").write_text("\n".join(mine))
    for name in ("mentions", "links", "entities", "mentions"):
        add_edges(workspace, name)
    assert workspace.path("edges.jsonl").read_text().splitlines()[:2] == mine
    lines = workspace.path("nodes.jsonl").read_text().splitlines()
    assert lines[4] == user
    assert [orjson.loads(line)["id"] for line in lines[5:]] == ["entity:Lyon", "entity:Victor Hugo"]
    ours = [edge for edge in _lines(workspace, "edges") if edge.get("by") == "gme graph entities"]
    assert {("p2", "entity:Paris")} <= {(edge["source"], edge["target"]) for edge in ours}  # the user's node, our edge
    add_edges(workspace, "entities", EntityOptions(min_chunks=3))
    assert workspace.path("nodes.jsonl").read_text().splitlines() == lines[:5]
    assert workspace.path("edges.jsonl").read_text().splitlines()[:2] == mine
    assert not any(edge.get("by") == "gme graph entities" for edge in _lines(workspace, "edges"))


def test_entities_make_embeddings_stale(small_workspace: Path, gme: Run) -> None:
    write_lines(
        small_workspace / "nodes.jsonl", [{**node, "id": name} for name, node in zip("abcdef", NODES * 2, strict=False)]
    )
    assert gme("transform", "walk", "-w", small_workspace)[0] == 0
    assert gme("graph", "entities", "-w", small_workspace)[:2] == (0, "4 nodes\n13 edges\n")
    code, _, err = gme("retrieve", "fused", "--collection", "walk", "-w", small_workspace)
    assert code == 1
    assert "6" in err
    assert "10" in err


def test_a_failure_leaves_both_files(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    add_edges(workspace, "entities")
    before = {name: workspace.path(name).read_bytes() for name in ("nodes.jsonl", "edges.jsonl")}

    def full(handle: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("gme.storage.atomic.os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        add_edges(workspace, "entities", EntityOptions(min_chunks=1))
    assert {name: workspace.path(name).read_bytes() for name in before} == before
    assert {path.name for path in workspace.folder.iterdir()} == {*before, "manifests"}


@pytest.mark.parametrize("name", EDGE_BUILDERS)
def test_every_builder_is_a_command(name: str, workspace: Workspace, gme: Run) -> None:
    code, out, err = gme("graph", name, "-w", workspace.folder)
    assert code == 0, err
    assert out.endswith((" edge\n", " edges\n"))
    assert EDGE_BUILDERS[name].summary.split(",")[0][:30] in gme("graph", "--help")[1]


def test_nothing_found_is_said(tmp_path: Path, gme: Run) -> None:
    write_lines(tmp_path / "nodes.jsonl", [{"id": "a", "type": "chunk", "title": "Abc", "text": "nothing here"}])
    for name in EDGE_BUILDERS:
        code, out, err = gme("graph", name, "-w", tmp_path)
        assert (code, out) == (0, "0 edges\n")
        assert f"warning: gme graph {name} found no edges" in err
    with pytest.raises(GmeError, match="unknown edge builder 'lnks'"):
        add_edges(Workspace(tmp_path), "lnks")


def test_a_document_is_not_tied_to_its_own_parts(tmp_path: Path, gme: Run) -> None:
    """Chunks begin with their document's title, which is that of the first chunk as well, and link within it."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("# Tides\n\nAt sea.\n\n## Spring\n\nSee [all](a.md) and [[Moon]].\n")
    (tmp_path / "notes" / "b.md").write_text("# Moon\n\nIt makes the Tides.\n")
    assert gme("graph", "read", "text", tmp_path / "notes", "--keep-markup", "--no-links", "-w", tmp_path)[0] == 0
    workspace = Workspace(tmp_path)
    for name in ("mentions", "links"):
        add_edges(workspace, name)
    moon, tides = {"b.md", "b.md#1"}, {"a.md", "a.md#1"}
    assert _edges(workspace, "title_mention") == {
        *(("a.md#2", part) for part in moon),
        *(("b.md#1", part) for part in tides),
    }
    assert _edges(workspace, "link") == {("a.md#2", part) for part in moon}


def test_notes_of_one_title_are_not_tied_to_each_other(tmp_path: Path, gme: Run) -> None:
    """A note's own title, in front of its chunks and in them, does not mean the other notes of that title."""
    for name in range(10):
        folder = tmp_path / "notes" / str(name)
        folder.mkdir(parents=True)
        (folder / "README.md").write_text(f"# README\n\nThe README of {name}.\n\n## Actions\n\nRead this README.\n")
    (tmp_path / "notes" / "other.md").write_text("# Other\n\nSee each README.\n")
    for flags in ((), ("--keep-markup",), ("--bare-text",)):
        assert gme("graph", "read", "text", tmp_path / "notes", *flags, "--force", "-w", tmp_path)[0] == 0
        code, _, err = gme("graph", "mentions", "-w", tmp_path)
        assert code == 0
        parts = {f"{name}/README.md{part}" for name in range(10) for part in ("", "#1")}
        assert _edges(Workspace(tmp_path), "title_mention") == {("other.md#1", part) for part in parts}
        assert (
            "20 nodes share the title 'README': a text that names it is connected with all; --stop-titles FILE" in err
        )
    (tmp_path / "stop.txt").write_text("README\n")
    code, out, err = gme("graph", "mentions", "--stop-titles", tmp_path / "stop.txt", "-w", tmp_path)
    assert (code, out) == (0, "0 edges\n")
    assert "share the title" not in err


def test_passages_of_no_document_mention_others_of_their_title(workspace: Workspace) -> None:
    """Benchmarks such as MuSiQue cut long pages into passages of one title; their graphs stay as they were measured."""
    write_lines(workspace.path("nodes.jsonl"), [_chunk(name, f"Paris. {name}", title="Paris") for name in "ab"])
    add_edges(workspace, "mentions")
    assert _edges(workspace, "title_mention") == {("a", "b"), ("b", "a")}


def test_only_documents_have_parts(tmp_path: Path) -> None:
    """What `part_of` says of other nodes, of places perhaps, is no reason to leave out what their texts say."""
    write_lines(tmp_path / "nodes.jsonl", NODES)
    inside = [("p1", "p2"), ("p3", "p2"), ("p1", "d1"), ("p3", "d1"), ("p1", "gone")]
    write_lines(
        tmp_path / "edges.jsonl", [{"source": part, "target": whole, "type": "part_of"} for part, whole in inside]
    )
    workspace = Workspace(tmp_path)
    add_edges(workspace, "mentions")
    assert _edges(workspace, "title_mention") == {("p1", "p2"), ("p2", "p1")}  # not p1 and p3, nor p1 and d1


def _chunk(node_id: str, text: str, **fields: str) -> dict[str, str]:
    return {"id": node_id, "type": "chunk", "text": text, **fields}


@pytest.mark.parametrize(
    ("command", "nodes", "hint"),
    [
        (
            "entities",
            [_chunk(str(n), "at Ohio") for n in range(11)],
            "gme graph entities --max-share 1.0 finds 11 edges",
        ),
        (
            "entities --min-chunks 3 --min-length 9",
            [_chunk(str(n), "at Ohio") for n in range(2)],
            "gme graph entities finds 2 edges",
        ),
        ("entities --min-chunks 3", [_chunk(str(n), "in Ada") for n in range(2)], "gme graph entities finds 2 edges"),
        (
            "entities --extractor none --entities NAMES",
            [_chunk(str(n), "OHIO") for n in range(2)],
            "gme graph entities --entities NAMES --extractor none --ignore-case finds 2 edges",
        ),
        (
            "mentions --min-length 9",
            [_chunk("a", "of ohio"), _chunk("b", "", title="Ohio")],
            "gme graph mentions --ignore-case finds 1 edge",
        ),
        ("entities", [_chunk("a", "at Ohio"), _chunk("b", "in Rome")], "no name is in two chunks; give names"),
        ("entities", [_chunk("a", "at Ohio")], "neither document nor entity, and there is 1"),
        (
            "entities",
            [{**_chunk("a", "at Ohio"), "type": "document"}],
            "neither document nor entity, and there is none",
        ),
        (
            "mentions",
            [_chunk("a", "of rome"), _chunk("b", "", title="Rome")],
            "gme graph mentions --ignore-case finds 1 edge",
        ),
        (
            "mentions --min-length 9 --stop-titles NAMES",
            [_chunk("a", "of Ohio"), _chunk("b", "", title="Ohio")],
            "gme graph mentions finds 1 edge",
        ),
        (
            "mentions",
            [_chunk("a", "no title"), _chunk("b", "", title="Rome")],
            "gme graph entities connects texts by the names in them",
        ),
        ("links --exact-case", [_chunk("a", "[[B]]"), _chunk("b", "")], "gme graph links finds 1 edge"),
        ("links", [_chunk("a", "[[c]]"), _chunk("b", "")], "the 'id' or the 'title' of the other one"),
        ("links", [_chunk("a", "[[a]]"), _chunk("b", "")], "the 'id' or the 'title' of the other one"),
        ("links", [_chunk("a", "no link"), _chunk("b", "")], "links look like [[Title]]"),
    ],
)
def test_the_hint_leads_to_edges_or_tells_why_there_are_none(
    command: str, nodes: list[dict[str, str]], hint: str, tmp_path: Path, gme: Run
) -> None:
    names = str(tmp_path / "names.txt")
    Path(names).write_text("Ohio\n")
    write_lines(tmp_path / "nodes.jsonl", nodes)
    code, out, err = gme("graph", *command.replace("NAMES", names).split(), "-w", tmp_path)
    assert (code, out) == (0, "0 edges\n"), err
    told = err.rpartition("hint: ")[2].strip()
    assert hint.replace("NAMES", names) in told
    proposed, finds, edges = told.partition(" finds ")
    if finds:
        assert gme(*proposed.split()[1:], "-w", tmp_path)[1].splitlines()[-1] == edges


def test_a_corpus_without_titles_is_led_to_its_names(tmp_path: Path, gme: Run) -> None:
    write_lines(tmp_path / "nodes.jsonl", [_chunk(node_id, "seen in Ohio") for node_id in "ab"])
    code, out, err = gme("graph", "mentions", "-w", tmp_path)
    assert (code, out) == (1, "")
    assert err.rpartition(": ")[2].strip() == "gme graph entities"
    assert gme("graph", "entities", "-w", tmp_path)[1] == "1 node\n2 edges\n"


def test_a_graph_without_edges_leads_to_all_builders(tmp_path: Path, gme: Run) -> None:
    """Which of them finds edges depends on the corpus: the hint names each, and each says when it can't."""
    write_lines(tmp_path / "nodes.jsonl", [_chunk(node_id, "seen in Ohio") for node_id in "ab"])
    missing = gme("transform", "signature", "-w", tmp_path)[2]
    (tmp_path / "edges.jsonl").touch()
    empty = gme("transform", "signature", "-w", tmp_path)[2]
    for err in (missing, empty):
        assert all(f"gme graph {name}" in err.rpartition("hint: ")[2] for name in EDGE_BUILDERS)
