"""Hostile input from end to end: bombs and endless lines."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from hostile_inputs import TRIED, refused_or_read

from gme.errors import GmeError
from gme.readers import json_stream
from gme.readers.checking import read_records
from gme.sweep.grid import read_grid
from gme.workspace.records import read_questions

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
    "nodes.jsonl": ("from gme.workspace.records import read_nodes", "read_nodes(Path(sys.argv[1]))"),
    "questions.jsonl": ("from gme.workspace.records import read_questions", "read_questions(Path(sys.argv[1]))"),
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
