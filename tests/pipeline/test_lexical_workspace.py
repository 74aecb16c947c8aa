"""The lexical index of a workspace: built once, mapped after, and built again when it is outdated or damaged."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from conftest import Run, write_lines
from gme.errors import ReadOnlyError
from gme.lexical import LexicalIndex
from gme.pipeline.lexical import LEXICAL_INDEX, open_lexical
from gme.reporting import Reporter
from gme.storage.files import read_json, sha256, write_json
from gme.workspace import Workspace


class Notes(Reporter):
    def __init__(self) -> None:
        self.said: list[str] = []

    def note(self, text: str) -> None:
        self.said.append(text)


def _open(folder: Path) -> tuple[LexicalIndex, list[str]]:
    notes = Notes()
    return open_lexical(Workspace(folder), reporter=notes), notes.said


def test_it_is_built_once_and_mapped_after(small_workspace: Path) -> None:
    index, notes = _open(small_workspace)
    assert len(notes) == 1
    assert "index is missing" in notes[0]
    path = small_workspace / LEXICAL_INDEX
    manifest = read_json(path.with_suffix(".json"))
    assert {key: manifest[key] for key in ("method", "rows", "k1", "b", "terms")} == {
        "method": "bm25",
        "rows": 6,
        "k1": 0.9,
        "b": 0.4,
        "terms": 1,
    }
    assert manifest["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    again, notes = _open(small_workspace)
    assert notes == []
    assert isinstance(again.data, np.memmap)
    assert again.data.tobytes() == index.data.tobytes()
    assert again.search(["text b"], 1)[0].tolist() == [[1]]
    assert sorted(file.name for file in path.parent.iterdir()) == [path.name, path.with_suffix(".json").name]


def test_a_node_without_a_text_is_found_by_its_title(small_workspace: Path) -> None:
    nodes = [{"id": "a", "type": "chunk", "text": " ", "title": "Blue Moon"}, {"id": "b", "type": "chunk", "text": "x"}]
    write_lines(small_workspace / "nodes.jsonl", nodes)
    assert _open(small_workspace)[0].search(["blue moon"], 2)[0][0, 0] == 0


def test_the_order_of_nodes_changes_no_byte(small_workspace: Path) -> None:
    before = _open(small_workspace)[0].data.tobytes()
    path = small_workspace / "nodes.jsonl"
    path.write_text("".join(sorted(path.read_text().splitlines(keepends=True), reverse=True)))
    index, notes = _open(small_workspace)
    assert "was built from other texts" in notes[0]
    assert index.data.tobytes() == before
    assert index.search(["text b"], 1)[0].tolist() == [[4]]


def _other_texts(folder: Path) -> None:
    path = folder / "nodes.jsonl"
    path.write_text(path.read_text().replace("text b", "text bee"))


def _truncate(folder: Path) -> None:
    path = folder / LEXICAL_INDEX
    path.write_bytes(path.read_bytes()[:100])


def _with_matching_hash(damage: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    def harm(folder: Path) -> None:
        path = folder / LEXICAL_INDEX
        path.write_bytes(damage(path.read_bytes()))
        manifest = path.with_suffix(".json")
        write_json(manifest, {**read_json(manifest), "sha256": sha256(path)})

    return harm


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (_other_texts, "was built from other texts or with other settings"),
        (_truncate, "is not the file its manifest describes"),
        (lambda folder: (folder / LEXICAL_INDEX).with_suffix(".json").write_text("{"), "has a damaged manifest"),
        (lambda folder: (folder / LEXICAL_INDEX).with_suffix(".json").unlink(), "is missing"),
        (_with_matching_hash(lambda data: b""), "cannot be loaded"),
        (_with_matching_hash(lambda data: data[:-8]), "cannot be loaded"),
        (_with_matching_hash(lambda data: data + b"123"), "cannot be loaded"),
        (_with_matching_hash(lambda data: bytes(len(data))), "cannot be loaded"),
        (_with_matching_hash(lambda data: data[:8] + b"\xff" * 8 + data[16:]), "cannot be loaded"),
    ],
    ids=["texts", "cut", "manifest", "no manifest", "empty", "shorter", "longer", "zeros", "wild size"],
)
def test_an_unusable_index_is_built_again_with_a_note(
    damage: Callable[[Path], None], reason: str, small_workspace: Path
) -> None:
    _open(small_workspace)
    damage(small_workspace)
    index, notes = _open(small_workspace)
    assert len(notes) == 1
    assert reason in notes[0]
    assert index.search(["text c"], 1)[0].tolist() == [[2]]
    assert _open(small_workspace)[1] == []


def test_where_nothing_can_be_written_it_is_built_in_memory(
    small_workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise ReadOnlyError("read-only", "copy it")

    monkeypatch.setattr(Workspace, "writing", refuse)
    index, notes = _open(small_workspace)
    assert "can't be saved" in notes[0]
    assert index.search(["text c"], 1)[0].tolist() == [[2]]
    assert not (small_workspace / "indexes").exists()


@pytest.fixture
def walked(small_workspace: Path, gme: Run) -> Path:
    assert gme("transform", "signature", "-w", small_workspace)[0] == 0
    return small_workspace


def test_retrieve_with_words(walked: Path, gme: Run) -> None:
    for arguments, name in (
        (["bm25"], "bm25-budget3"),
        (["hybrid"], "hybrid-budget3"),
        (["hybrid", "--lexical-weight", "1"], "hybrid-budget3-lexical-weight1"),
        (["envelope", "--lexical"], "envelope-signature-budget3-lexical"),
        (["envelope"], "envelope-signature-budget3"),
        (["envelope", "--no-lexical"], "envelope-signature-budget3-no-lexical"),
    ):
        code, out, err = gme("retrieve", *arguments, "--budget", 3, "--latency", "-w", walked)
        assert (code, out.strip()) == (0, name), err
        manifest = json.loads((walked / f"runs/{name}.json").read_text())
        assert manifest["options"]["budget"] == 3
        if "envelope" in arguments:
            assert manifest["options"]["lexical"] is ("--no-lexical" not in arguments)
        again = gme(*manifest["command"].split()[1:], "-w", walked)
        assert (again[0], again[1].strip()) == (0, name), again[2]
    code, out, err = gme("retrieve", "bm25", "--question", "text d?", "-w", walked, "--json", "--budget", 2)
    assert code == 1  # the vectors have no model: a question can't be embedded
    assert "does not say which model" in err
    code, _, err = gme("retrieve", "plain", "--lexical", "-w", walked)
    assert (code, "plain has no option --lexical: it has no effect" in err) == (0, True)
    code, _, err = gme("retrieve", "envelope", "--no-lexical", "--lexical-weight", 1, "-w", walked)
    assert (code, "--lexical-weight is 1.0, but has no effect with --no-lexical" in err) == (1, True)


def test_an_outdated_index_is_built_again_for_a_run(walked: Path, gme: Run) -> None:
    assert "building" in gme("retrieve", "bm25", "-w", walked)[2]
    assert "building" not in gme("retrieve", "hybrid", "-w", walked)[2]
    (walked / LEXICAL_INDEX).write_bytes(b"damaged")
    code, _, err = gme("retrieve", "hybrid", "-w", walked)
    assert (code, "is not the file its manifest describes" in err) == (0, True)


def test_a_sweep_tries_words(walked: Path, gme: Run) -> None:
    grid = walked / "grid.toml"
    grid.write_text(
        'criterion = "recovery"\n[[strategy]]\nstrategy = ["bm25", "hybrid"]\nbudget = 3\n'
        '[[strategy]]\nstrategy = "envelope"\nlexical = [true, false]\nbudget = 3\n'
        '[[transform]]\nmethod = "signature"\n'
    )
    code, out, err = gme("sweep", grid, "-w", walked, "--json")
    assert code == 0, err
    assert "lexical" in out
