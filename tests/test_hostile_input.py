"""Hostile input from end to end: names, links, bombs, endless lines, keys, what a terminal or a browser would obey."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import traceback
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conftest import Run, write_lines
from fake_openai_server import Fault, running
from gme.cli import _output
from gme.errors import GmeError
from gme.files import read_jsonl
from gme.manifests import is_inside
from gme.readers import json_stream, read_records
from gme.records import read_nodes, read_questions
from gme.runs import read_run
from gme.sweep import read_grid
from gme.workspace import Workspace, check_name
from hostile import TRIED, refused_or_read

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


# ---- bombs and endless lines -----------------------------------------------------------------------------------------

_MEASURE = """
import resource, sys
from pathlib import Path
from gme.errors import GmeError
{imports}
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    {work}
except GmeError as error:
    print(error)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


def peak(imports: str, work: str, *paths: Path) -> tuple[str, int]:
    """What a piece of work in a process of its own says, and by how many MiB it made the process grow."""
    code = _MEASURE.format(imports=imports, work=work)
    done = subprocess.run([sys.executable, "-c", code, *paths], capture_output=True, text=True, timeout=300, check=True)
    *said, grown = done.stdout.splitlines()
    return "\n".join(said), int(grown)


LONG = {
    "nodes.jsonl": ("from gme.records import read_nodes", "read_nodes(Path(sys.argv[1]))"),
    "questions.jsonl": ("from gme.records import read_questions", "read_questions(Path(sys.argv[1]))"),
    "x.csv": ("from gme.readers import read_records", "list(read_records('edges', [Path(sys.argv[1])]))"),
    "x.md": ("from gme.readers import read_records", "list(read_records('text', [Path(sys.argv[1])]))"),
    "x.json": ("from gme.readers import read_records", "list(read_records('hotpotqa', [Path(sys.argv[1])]))"),
    "grid.toml": ("from gme.sweep import read_grid", "read_grid(Path(sys.argv[1]))"),
}


@pytest.mark.parametrize("name", LONG)
def test_ten_gigabytes_in_a_line(tmp_path: Path, name: str) -> None:
    TRIED["10 GB line"] += 1
    path = tmp_path / name
    with path.open("wb") as handle:
        handle.write({"x.json": b'[{"_id": "', "x.csv": b"source,target\n"}.get(name, b""))
        handle.truncate(10 * 10**9)
    said, grown = peak(*LONG[name], path)
    assert str(path) in said
    assert re.search("more than [0-9,]+ (bytes|characters)|not valid JSON", said)
    assert grown < 1500, said


def test_a_json_value_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_stream, "LONGEST_LINE", 5000)
    monkeypatch.setattr(json_stream, "_BLOCK", 100)
    path = tmp_path / "x.json"
    path.write_text('[\n{"_id": "' + "x" * 100_000)
    with pytest.raises(GmeError, match=r"x\.json:2: .* one value has more than 5,000 characters"):
        list(read_records("hotpotqa", [path]))


def test_json_bombs(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    start = '{"id": "q", "question": "?", "x": '
    for bomb in (
        "[" * 100_000 + "]" * 100_000,
        '{"a":' * 100_000 + "1" + "}" * 100_000,
        "9" * 100_000,
        "1" + "0" * 400 + "e-400",
        "1e" + "9" * 1000,
        "{" + ",".join(f'"{n}": {n}' for n in range(1_000_000)) + "}",
        "{" + ",".join(['"a": 1'] * 1_000_000) + "}",
        "[" + "[]," * 20_000_000 + "1]",
        '"' + "\\u0000" * 1_000_000 + '"',
    ):
        path.write_text(start + bomb + "}\n")
        said = refused_or_read("JSON bomb", lambda: read_questions(path))
        assert not said or f"{path}:1: " in said
    for bomb in ("[" * 100_000, '[{"a":' * 10_000, "[" + "9" * 100_000):
        path.write_text(bomb)
        assert refused_or_read("JSON bomb", lambda: list(read_records("hotpotqa", [path])))


YAML_BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(12)
)


@pytest.mark.parametrize(
    "text", [YAML_BOMB, "a: &a [*a]", "a: " + "[" * 5000, "a: " + "{a: " * 3000, "a: 2024-99-99", "a: " + "9" * 5000]
)
def test_yaml_bombs(tmp_path: Path, text: str) -> None:
    TRIED["YAML bomb"] += 1
    path = tmp_path / "x.md"
    path.write_text(f"---\n{text}\n---\n# Title\nbody\n")
    records = list(read_records("text", [path]))
    assert records[0].value["metadata"] == {"front_matter": text + "\n"}
    (tmp_path / "grid.yaml").write_text(text)
    with pytest.raises(GmeError, match=r"grid\.yaml"):
        read_grid(tmp_path / "grid.yaml")


def _read_graphml(path: Path) -> None:
    list(read_records("graphml", [path]))


def test_xml_bombs_and_packed_files(tmp_path: Path) -> None:
    import gzip

    entities = "<!ENTITY a0 'ha'>" + "".join(f"<!ENTITY a{n} '{f'&a{n - 1};' * 10}'>" for n in range(1, 12))
    text = f"<?xml version='1.0'?><!DOCTYPE g [{entities}]><graphml><key id='&a11;'/></graphml>"
    secret = tmp_path / "secret"
    secret.write_text("secret")
    external = f"<!DOCTYPE g [<!ENTITY x SYSTEM 'file://{secret}'>]><graphml><graph><node id='&x;'/></graph></graphml>"
    deep = "<graphml>" + "<graph><node id='a'>" * 20_000
    for name, content in {
        "bomb.graphml": text.encode(),
        "external.graphml": external.encode(),
        "deep.graphml": deep.encode(),
        "packed.graphml.gz": gzip.compress(bytes(10_000_000)),
    }.items():
        path = tmp_path / name
        path.write_bytes(content)
        said = refused_or_read("XML", partial(_read_graphml, path))
        assert str(path) in said
        assert "secret'" not in said


@pytest.mark.parametrize("values", [4, 40])
def test_grids_that_multiply(tmp_path: Path, values: int) -> None:
    lists = {name: list(range(1, values + 1)) for name in ("steps", "walks", "seed")}
    lines = "\n".join(f"{name} = {numbers}" for name, numbers in lists.items())
    shares = [round(0.01 * n, 2) for n in range(1, values + 1)]
    text = f"[[transform]]\nmethod = 'walk'\nalpha = {shares}\n{lines}\n[[strategy]]\nstrategy = 'plain'\n"
    (tmp_path / "grid.toml").write_text(text)
    said = refused_or_read("grid", lambda: read_grid(tmp_path / "grid.toml"))
    assert ("grid.toml:1: transform 1 stands for more than 100,000 combinations" in said) == (values == 40)


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


@settings(deadline=None, max_examples=8, suppress_health_check=list(HealthCheck))
@given(text=MARKUP)
def test_no_element_and_no_attribute_comes_from_data(tmp_path: Path, gme: Run, text: str) -> None:
    TRIED["page"] += 1
    assert _page(tmp_path, text, gme) == _page(tmp_path, "harmless", gme)


# ---- keys ------------------------------------------------------------------------------------------------------------

KEY = "sk-do-not-show-this-0123456789"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # sockets of clients that gave up
@pytest.mark.parametrize("status", [400, 401, 403, 404, 418, 429, 500])
def test_keys_are_nowhere(
    small_workspace: Path, tmp_path: Path, gme: Run, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    TRIED["key"] += 1
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    arguments = ("embed", "--model", "openai:fake", "-w", small_workspace, "--cache", tmp_path / "cache")
    echo = Fault(status=status, message=f"Authorization: Bearer {KEY} is wrong", headers={"X-Key": KEY})
    with running() as server:
        options = ("--base-url", server.url, "--retries", "0", "--concurrency", "1")
        server.faults.extend([echo] * 20)
        code, out, err = gme(*arguments, *options)
        assert code == 1
        assert KEY not in out + err
        server.faults.extend([echo] * 20)
        monkeypatch.setenv("GME_DEBUG", "1")
        with pytest.raises(GmeError) as caught:
            gme(*arguments, *options)
        assert KEY not in "".join(traceback.format_exception(caught.value))
        monkeypatch.delenv("GME_DEBUG")
        server.faults.clear()
        server.faults.extend([Fault(change=lambda answer: answer.update(model=f"{KEY} of you"))] * 20)
        code, out, err = gme(*arguments, *options)
        assert code == 0, err
        assert KEY not in out + err
    for path in (*small_workspace.rglob("*"), *(tmp_path / "cache").rglob("*")):
        assert not path.is_file() or KEY.encode() not in path.read_bytes(), path


def test_a_key_in_the_place_of_its_variable_is_not_shown(small_workspace: Path, gme: Run) -> None:
    code, out, err = gme("embed", "--model", "openai:x", "--api-key-env", KEY, "-w", small_workspace)
    assert code == 1
    assert KEY not in out + err


@pytest.mark.parametrize(
    "parameters",
    [
        {"base_url": "https://elsewhere.example/v1"},
        {"base_url": "https://elsewhere.example/v1", "api_key_env": "OTHER_SECRET"},
        {"base_url": "http://127.0.0.1.elsewhere.example/v1"},
        {"base_url": "http://[::1", "api_key_env": "OTHER_SECRET"},
        {"base_url": 5},
        {"api_key_env": "OTHER_SECRET"},
    ],
)
def test_a_workspace_sends_no_key_to_a_server_of_its_choice(
    small_workspace: Path, gme: Run, monkeypatch: pytest.MonkeyPatch, parameters: dict[str, Any]
) -> None:
    TRIED["server in a manifest"] += 1
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OTHER_SECRET", KEY)
    manifest = {"model": "openai:x", "parameters": {"model": "openai:x", **parameters}}
    (small_workspace / "embeddings/original.json").write_text(json.dumps(manifest))
    code, out, err = gme("retrieve", "plain", "--question", "who?", "-w", small_workspace)
    assert code == 1
    assert "original.json wants a question, and the key in $" in err.replace("'", "")
    assert KEY not in out + err
