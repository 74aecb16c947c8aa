"""JSON in blocks: the same values as from the whole text, wherever a block ends, and errors that say where."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gme.errors import GmeError
from gme.readers import json_stream
from gme.readers.protocol import ReadContext

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_stream, "_BLOCK", 1)


def written(folder: Path, content: bytes) -> Path:
    path = folder / "x.json"
    path.write_bytes(content)
    return path


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(values=st.lists(VALUES), indent=st.sampled_from([None, 0, 2]), ascii_only=st.booleans())
def test_elements_are_those_of_the_whole_text(
    tmp_path: Path, small_blocks: None, values: list[Any], indent: int | None, ascii_only: bool
) -> None:
    try:
        text = json.dumps(values, indent=indent, ensure_ascii=ascii_only).encode()
    except UnicodeEncodeError:  # a surrogate alone
        text = json.dumps(values, indent=indent).encode()
    path = written(tmp_path, text)
    found = list(json_stream.elements(path, ReadContext()))
    assert [value for _, value in found] == values
    assert [where.detail for where, _ in found] == [f"element {number + 1}" for number in range(len(values))]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(value=st.dictionaries(st.text(), VALUES))
def test_members_are_those_of_the_whole_text(tmp_path: Path, small_blocks: None, value: dict[str, Any]) -> None:
    path = written(tmp_path, json.dumps(value).encode())
    assert {name: member for _, name, member in json_stream.members(path, ReadContext())} == value


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'[\n{"a": 1},\n{"a":,}]', "x.json:3 (element 2): not valid JSON: Expecting value"),
        (b'[\n{"a": 1},\n{"a": "x', "x.json:3 (element 2): not valid JSON: Unterminated string"),
        (b"[1,\n]", "x.json:2 (element 2): not valid JSON: Expecting value"),
        (b"[1\n2]", "x.json:2: not valid JSON: expected ',', found '2'"),
        (b"[NaN]", "x.json:1: not valid JSON: NaN is not JSON"),
        (b'["\xff"]', "x.json:1: not UTF-8 text: byte 0xff"),
        (b"[" * 100_000, "x.json:1: not valid JSON: nested too deeply"),
        (b"[" + b"9" * 100_000 + b"]", "x.json:1: not valid JSON: Exceeds the limit"),
        (b"[1]\n x", "x.json:2: not valid JSON: unexpected 'x' after the end"),
        (b"[1]]", "x.json:1: not valid JSON: unexpected ']' after the end"),
        (b"", "x.json:1: not valid JSON: the file ends too early"),
        (b"[1,\n2", "x.json:2: not valid JSON: the file ends too early"),
        (b'{"a": 1}', "x.json:1: not valid JSON: expected '[', found '{'"),
    ],
)
def test_errors_say_where(tmp_path: Path, content: bytes, message: str) -> None:
    path = written(tmp_path, content)
    with pytest.raises(GmeError) as caught:
        list(json_stream.elements(path, ReadContext()))
    assert str(caught.value).replace(f"{tmp_path}{os.sep}", "").startswith(message)


def test_what_is_lenient_stays_so(tmp_path: Path) -> None:
    path = written(tmp_path, b'\xef\xbb\xbf [{"a": 1, "a": 2}, "\\ud800", 1e999]\n')
    assert [value for _, value in json_stream.elements(path, ReadContext())] == [{"a": 2}, "\ud800", float("inf")]
