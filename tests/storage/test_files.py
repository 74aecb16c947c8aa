"""Atomic writes, JSONL with named lines, content hashes."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from gme.errors import GmeError
from gme.storage.atomic import atomic_write, recover
from gme.storage.files import read_json, read_jsonl, sha256, write_json, write_jsonl


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    path.write_text("old")

    def write_half() -> None:
        with atomic_write(path) as handle:
            handle.write(b"half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write_half()
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file.txt"]


def test_a_killed_writer_leaves_the_old_file_and_its_temporary_file_is_swept(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    path.write_text("old")
    script = (
        "import os, signal, sys\nfrom pathlib import Path\nfrom gme.storage.atomic import atomic_write\n"
        "with atomic_write(Path(sys.argv[1])) as handle:\n"
        "    handle.write(b'half'); handle.flush(); os._exit(9)\n"
    )
    killed = subprocess.run([sys.executable, "-c", script, str(path)], check=False)
    assert killed.returncode == 9
    assert path.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 2, "the killed writer leaves its temporary file"
    with atomic_write(path) as handle:
        handle.write(b"new")
        recover(tmp_path, ("",))
    assert path.read_text() == "new", "what is being written stays"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file.txt"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"id": ', "lines.jsonl:3: not valid JSON: unexpected end of data (column 7)"),
        (b"[1, 2]", "lines.jsonl:3: expected a JSON object, found [1, 2]"),
        (b'{"x": NaN}', "lines.jsonl:3: not valid JSON"),
        (b'{"x": "\xff"}', "lines.jsonl:3: not valid JSON"),
        (b'{"x": "\\ud800"}', "lines.jsonl:3: not valid JSON"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: bytes, message: str) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_bytes(b'{"id": "fine"}\n\n' + line + b"\n")
    with pytest.raises(GmeError) as caught:
        list(read_jsonl(path))
    assert message in caught.value.message


def test_jsonl_keeps_every_character(tmp_path: Path) -> None:
    records = [
        {"id": "a b'\"/:\\ 🦀 עברית", "text": "NUL \x00 CRLF \r\n line\u2028separator", "n": 1.5, "more": [None, True]}
    ]
    write_jsonl(tmp_path / "x.jsonl", records)
    assert [record for _, record in read_jsonl(tmp_path / "x.jsonl")] == records


def test_a_byte_order_mark_and_windows_line_ends_are_read(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"id": "a"}\r\n{"id": "b"}\r\n')
    assert list(read_jsonl(path)) == [(1, {"id": "a"}), (2, {"id": "b"})]


def test_json_round_trip_and_damage(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    write_json(path, {"b": 1, "a": "ä"})
    assert path.read_text(encoding="utf-8") == '{\n  "a": "ä",\n  "b": 1\n}\n'
    assert read_json(path) == {"a": "ä", "b": 1}
    path.write_text("[]")
    with pytest.raises(GmeError, match="expected a JSON object"):
        read_json(path)
    path.write_text("{")
    with pytest.raises(GmeError, match="not valid JSON"):
        read_json(path)


def test_the_hash_follows_the_content(tmp_path: Path) -> None:
    path = tmp_path / "x"
    for content in (b"one", b"two", b"one"):
        with atomic_write(path) as handle:
            handle.write(content)
        assert sha256(path) == hashlib.sha256(content).hexdigest()
