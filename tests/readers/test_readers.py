"""`gme graph read` as a whole: the registry, files that exist, what is written when, and the way to later commands."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from reading import SAMPLES, lines, workspace_lines

from conftest import Run
from gme.errors import GmeError
from gme.pipeline.read import read_workspace
from gme.readers.checking import read_records
from gme.readers.registry import READERS
from gme.workspace import Workspace
from recorder import Recorder


@pytest.mark.parametrize("name", READERS)
def test_every_reader_has_help(name: str, gme: Run) -> None:
    code, out, _ = gme("graph", "read", name, "--help")
    assert code == 0
    assert READERS[name].summary in out
    assert "PATH" in out
    assert "--force" in out


def test_unknown_formats_and_options(tmp_path: Path, gme: Run) -> None:
    code, _, err = gme("graph", "read", "hotpot", SAMPLES / "hotpotqa.json", "-w", tmp_path)
    assert code == 2
    assert "hotpotqa" in err
    with pytest.raises(GmeError, match="unknown format 'hotpot'"):
        list(read_records("hotpot", ["x"]))
    with pytest.raises(GmeError, match="unknown option 'split_name'"):
        list(read_records("beir", [SAMPLES / "beir"], split_name="x"))
    with pytest.raises(GmeError, match="takes one path, found 2"):
        list(read_records("beir", [SAMPLES / "beir"] * 2))


def test_missing_paths(tmp_path: Path, gme: Run) -> None:
    code, out, err = gme("graph", "read", "hotpotqa", tmp_path / "nothing.json", "-w", tmp_path / "w")
    assert (code, out) == (1, "")
    assert "nothing.json does not exist" in err
    code, _, err = gme("graph", "read", "hotpotqa", tmp_path, "-w", tmp_path / "w")
    assert code == 1
    assert "not a file" in err


def test_files_are_replaced_on_request_only(tmp_path: Path, gme: Run) -> None:
    assert gme("graph", "read", "2wiki", SAMPLES / "2wiki.json", "-w", tmp_path)[0] == 0
    before = workspace_lines(tmp_path)
    code, out, err = gme("graph", "read", "hotpotqa", SAMPLES / "hotpotqa.json", "-w", tmp_path)
    assert (code, out) == (1, "")
    assert "nodes.jsonl exists already" in err
    assert "--force" in err
    assert workspace_lines(tmp_path) == before
    assert gme("graph", "read", "hotpotqa", SAMPLES / "hotpotqa.json", "-w", tmp_path, "--force")[0] == 0
    assert len(lines(tmp_path / "nodes.jsonl")) == 6


def test_questions_that_exist_are_not_replaced_either(tmp_path: Path, gme: Run) -> None:
    (tmp_path / "questions.jsonl").write_text("mine\n")
    assert gme("graph", "read", "2wiki", SAMPLES / "2wiki.json", "-w", tmp_path)[0] == 1
    assert (tmp_path / "questions.jsonl").read_text() == "mine\n"


def test_a_failure_leaves_the_old_files(tmp_path: Path, gme: Run) -> None:
    assert gme("graph", "read", "2wiki", SAMPLES / "2wiki.json", "-w", tmp_path)[0] == 0
    before = sorted((path.name, path.read_bytes()) for path in tmp_path.iterdir())
    broken = (SAMPLES / "hotpotqa.json").read_text()[:-50]
    (tmp_path.parent / "broken.json").write_text(broken)
    assert gme("graph", "read", "hotpotqa", tmp_path.parent / "broken.json", "-w", tmp_path, "--force")[0] == 1
    assert sorted((path.name, path.read_bytes()) for path in tmp_path.iterdir()) == before


def test_edges_from_before_stay_and_are_mentioned(tmp_path: Path, gme: Run) -> None:
    (tmp_path / "edges.jsonl").write_text("")
    code, _, err = gme("graph", "read", "2wiki", SAMPLES / "2wiki.json", "-w", tmp_path)
    assert code == 0
    assert "edges.jsonl was there before and stays as it was" in err


def test_quiet_prints_counts_only(tmp_path: Path, gme: Run) -> None:
    assert gme("graph", "read", "2wiki", SAMPLES / "2wiki.json", "-w", tmp_path, "--quiet") == (
        0,
        "nodes\t5\tchunk 5\nquestions\t2\tbridge_comparison 1, compositional 1\n",
        "",
    )


def test_from_a_question_set_to_a_collection(tmp_path: Path, gme: Run) -> None:
    assert gme("graph", "read", "hotpotqa", SAMPLES / "hotpotqa.json", "-w", tmp_path)[0] == 0
    code, out, err = gme("graph", "mentions", "-w", tmp_path)
    assert code == 0, err
    assert int(out.split()[0]) > 0
    assert gme("transform", "signature", "--dim", "16", "-w", tmp_path)[0] == 0
    vectors = np.load(tmp_path / "embeddings" / "signature-dim16.npy")
    assert vectors.shape == (6, 16)


def test_progress_reaches_the_end(tmp_path: Path) -> None:
    recorder = Recorder()
    big = tmp_path / "corpus.jsonl"
    big.write_text("".join(f'{{"_id": "{n}", "text": "{"x" * 500}"}}\n' for n in range(4000)))
    read_workspace(Workspace(tmp_path / "w"), "beir", [tmp_path], reporter=recorder)
    unit, seen = recorder.steps["read beir"]
    assert unit == "bytes"
    size = big.stat().st_size
    assert {total for _, total in seen} == {size}
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert size * 0.8 < seen[-1][0] <= size


def test_the_library_yields_the_same_records(tmp_path: Path, gme: Run) -> None:
    assert gme("graph", "read", "beir", SAMPLES / "beir", "-w", tmp_path)[0] == 0
    records = list(read_records("beir", [SAMPLES / "beir"]))
    assert [record.value for record in records if record.kind == "nodes"] == lines(tmp_path / "nodes.jsonl")
    assert str(records[0].where).endswith("corpus.jsonl:1")
