"""Hostile input from end to end: names, ids, links, bytes, what a terminal or a browser would obey."""

from __future__ import annotations

import json
import os
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from hostile_inputs import TRIED
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conftest import Run, write_lines
from gme.cli import _output
from gme.errors import GmeError
from gme.pipeline.runs import read_run
from gme.readers.checking import read_records
from gme.storage.files import read_jsonl
from gme.workspace import Workspace, check_name
from gme.workspace.manifests import is_inside
from gme.workspace.records import read_nodes
from properties import examples

NODE = {"id": "a", "type": "chunk", "text": "t"}
ACTING = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")

# ---- names -----------------------------------------------------------------------------------------------------------

NAMES = [
    "../x",
    "/etc/passwd",
    "a/b",
    "a\x00b",
    "a\nb",
    "\x1b[2J",
    "..",
    "",
    ".hidden",
    "x" * 300,
    "a\\b",
    "\x9b2J",
    "\u202e",
]


@pytest.mark.parametrize("name", NAMES)
def test_names_lead_nowhere_else(small_workspace: Path, gme: Run, name: str) -> None:
    TRIED["name"] += 1
    before = sorted(small_workspace.parent.rglob("*"))
    with pytest.raises(GmeError):
        check_name(name, "collection")
    for work in (Workspace(small_workspace).collection, lambda name: read_run(Workspace(small_workspace), name)):
        with pytest.raises(GmeError):
            work(name)
    for command in (
        ("transform", "walk", "--name", name),
        ("retrieve", "plain", "--name", name),
        ("retrieve", "modified", "--collection", name),
        ("evaluate", name),
        ("evaluate", "--name", name),
        ("report", "--name", name),
    ):
        code, out, err = gme(*command, "-w", small_workspace)
        if name:
            assert code in (1, 2), command
        assert not ACTING.search(out + err), command
    after = sorted(small_workspace.parent.rglob("*"))
    if name:
        assert after == before


@pytest.mark.parametrize(
    "node_id", [*NAMES, "x" * 1024, "<script>", "é\u0301", "\ufeff", "a b", "-n", "--help", "=1+1"]
)
def test_ids_are_only_keys(tmp_path: Path, gme: Run, node_id: str) -> None:
    """Any id goes through every command, none makes a file, and none reaches the terminal as it is."""
    TRIED["id"] += 1
    if not node_id:
        pytest.skip("an empty id is refused, see test_records")
    write_lines(tmp_path / "nodes.jsonl", [{**NODE, "id": node_id, "title": node_id}, {**NODE, "id": "b"}])
    write_lines(tmp_path / "edges.jsonl", [{"source": node_id, "target": "b", "type": node_id}])
    write_lines(
        tmp_path / "questions.jsonl", [{"id": node_id, "question": node_id, "gold": [node_id], "family": node_id}]
    )
    (tmp_path / "embeddings").mkdir()
    np.save(tmp_path / "embeddings/original.npy", np.eye(2, dtype=np.float32))
    np.save(tmp_path / "embeddings/questions.npy", np.eye(1, 2, dtype=np.float32))
    for command in (
        ("graph", "check"),
        ("graph", "mentions"),
        ("transform", "walk"),
        ("retrieve", "fused", "--collection", "walk", "--format", "trec"),
        ("evaluate",),
        ("report",),
    ):
        code, out, err = gme(*command, "-w", tmp_path)
        assert code == 0, err
        assert not ACTING.search(out + err), command
    assert not [path for path in tmp_path.rglob("*") if not is_inside(path.relative_to(tmp_path).as_posix())]


# ---- links -----------------------------------------------------------------------------------------------------------


def test_links_are_followed_for_reading_and_replaced_for_writing(
    small_workspace: Path, tmp_path: Path, gme: Run
) -> None:
    elsewhere = tmp_path / "elsewhere.jsonl"
    (small_workspace / "nodes.jsonl").rename(elsewhere)
    (small_workspace / "nodes.jsonl").symlink_to(elsewhere)
    precious = tmp_path / "precious"
    precious.write_text("precious")
    for name in ("walk.npy", "walk.json"):
        (small_workspace / "embeddings" / name).symlink_to(precious)
    assert gme("transform", "walk", "-w", small_workspace)[0] == 0
    assert precious.read_text() == "precious"
    assert not (small_workspace / "embeddings/walk.npy").is_symlink()


def test_text_readers_follow_no_links_and_no_pipes(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / "a.md").write_text("# A\ntext")
    (folder / "b.md").symlink_to(tmp_path / "secret")
    (folder / "c").symlink_to(tmp_path)
    os.mkfifo(folder / "d.md")
    ids = [record.value["id"] for record in read_records("text", [folder]) if record.kind == "nodes"]
    assert ids == ["a.md", "a.md#1"]


# ---- bytes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"id": "b", "type": "t", "text": "\xff"}', "not valid JSON"),
        (b'{"id": "b", "type": "t", "text": "\xed\xa0\x80"}', "not valid JSON"),
        (b'{"id": "b", "type": "t", "text": "\\ud800"}', "not valid JSON"),
        (b'{"id": "b", "type": "t", "text": "t", "x": NaN}', "not valid JSON"),
        (b'{"id": "b", "type": "t", "text": "t", "x": -Infinity}', "not valid JSON"),
        (b'\xef\xbb\xbf{"id": "b", "type": "t", "text": "t"}', "not valid JSON"),
        (b'{"id": "b", "type": "t", "text": "\x1b[2J"}', "not valid JSON"),
        (b'{"id": "\\u001b[2J", "type": "t", "text": 5}', "'text' must be a string"),
    ],
)
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_bad_bytes_name_their_line(tmp_path: Path, gme: Run, line: bytes, message: str, end: bytes) -> None:
    TRIED["bytes"] += 1
    good = b'\xef\xbb\xbf{"id": "a", "type": "t", "text": "t"}'
    (tmp_path / "nodes.jsonl").write_bytes(end.join([good, b"", line, b""]))
    code, out, err = gme("graph", "check", "-w", tmp_path)
    assert (code, out) == (1, "")
    assert f"nodes.jsonl:3: {message}" in err
    assert "hint: " in err
    assert not ACTING.search(err)


def test_marks_and_line_ends_do_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "nodes.jsonl"
    path.write_bytes(
        b'\xef\xbb\xbf{"id": "a", "type": "t", "text": "t"}\r\n\r\n{"id": "b", "type": "t", "text": "t"}\r\n'
    )
    assert read_nodes(path).ids == ["a", "b"]
    assert [number for number, _ in read_jsonl(path)] == [1, 3]


# ---- terminals -------------------------------------------------------------------------------------------------------


@given(st.text())
def test_plain_text_acts_on_nothing(text: str) -> None:
    shown = _output.plain(text)
    assert not ACTING.search(shown.replace("\t", ""))
    shown.encode()
    if text.isprintable() and text.isascii():
        assert shown == text


def test_json_for_machines_reads_back(capsys: pytest.CaptureFixture[str]) -> None:
    value = {"a": "\x1b[2J\x9b\u202e\x7f é 🦀"}
    _output.data_json(value)
    out = capsys.readouterr().out
    assert not ACTING.search(out)
    assert json.loads(out) == value


def test_tables_show_no_escapes(small_workspace: Path, gme: Run) -> None:
    lines = [json.loads(line) for line in (small_workspace / "nodes.jsonl").read_text().splitlines()]
    evil = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e\r"
    write_lines(small_workspace / "nodes.jsonl", [{**line, "text": evil, "title": evil} for line in lines])
    assert gme("retrieve", "plain", "-w", small_workspace)[0] == 0
    np.save(small_workspace / "embeddings/original.npy", np.eye(6, 384, dtype=np.float32))
    code, out, err = gme("retrieve", "plain", "-w", small_workspace, "--question", evil + "who", "--model", "local")
    assert code == 0, err
    assert not ACTING.search(out + err)
    assert "\\x1b" in out


# ---- the page --------------------------------------------------------------------------------------------------------

MARKUP = st.lists(
    st.sampled_from(
        [
            *("<script>alert(1)</script>", "</script>", "<!--", "-->", "]]>", "\"'", "<img src=x onerror=alert(1)>"),
            *(
                "</title>",
                "</style>",
                "javascript:alert(1)",
                "${x}",
                "\u2028",
                "\x00",
                "<svg/onload=1>",
                "`",
                "\\",
                "&lt;",
            ),
        ]
    ),
    min_size=1,
    max_size=4,
).map("".join)


class _Shape(HTMLParser):
    """The elements of a page and the names of their attributes."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.found: list[tuple[str, tuple[str, ...]]] = []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, tuple(name for name, _ in attrs)))

    def handle_comment(self, data: str) -> None:
        self.found.append(("comment", ()))


def _page(folder: Path, text: str, gme: Run) -> list[tuple[str, tuple[str, ...]]]:
    write_lines(
        folder / "nodes.jsonl", [{"id": f"{text}{n}", "type": text, "text": text, "title": text} for n in range(3)]
    )
    ids = [f"{text}{n}" for n in range(3)]
    write_lines(
        folder / "questions.jsonl",
        [{"id": text + q, "question": text, "gold": ids[:1], "family": text, "group": text} for q in "ab"],
    )
    (folder / "runs").mkdir(exist_ok=True)
    for run, order in (("plain", ids), ("other", ids[::-1])):
        results = [{"id": node, "score": 1, "stage": text} for node in order]
        write_lines(folder / f"runs/{run}.jsonl", [{"question_id": text + q, "results": results} for q in "ab"])
        manifest = {"strategy": text, "collection": text, "command": text, "model": text, "gme": text}
        (folder / f"runs/{run}.json").write_text(json.dumps(manifest))
    code, out, err = gme("report", "-w", folder)
    assert code == 0, err
    return _Shape(Path(out.splitlines()[0]).read_text(encoding="utf-8")).found


@settings(examples(8), suppress_health_check=list(HealthCheck))
@given(text=MARKUP)
def test_no_element_and_no_attribute_comes_from_data(tmp_path: Path, gme: Run, text: str) -> None:
    TRIED["page"] += 1
    assert _page(tmp_path, text, gme) == _page(tmp_path, "harmless", gme)
