"""A workspace refuses what does not fit together, and says what changed and what to re-run."""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
import pytest

from conftest import Run
from gme.errors import GmeError, StaleError
from gme.storage.arrays import check_finite
from gme.workspace import Workspace, check_name


def _save(folder: Path, name: str, array: np.ndarray) -> None:
    np.save(folder / "embeddings" / f"{name}.npy", array)


def test_a_missing_file_names_the_command_that_writes_it(tmp_path: Path) -> None:
    with pytest.raises(GmeError) as caught:
        _ = Workspace(tmp_path).nodes
    assert str(tmp_path / "nodes.jsonl") in caught.value.message
    assert "gme generate" in (caught.value.hint or "")


def test_an_unknown_collection_suggests_the_closest(small_workspace: Path) -> None:
    _save(small_workspace, "walk", np.ones((6, 8), dtype=np.float32))
    with pytest.raises(GmeError) as caught:
        Workspace(small_workspace).collection("wolk")
    assert "unknown collection 'wolk'" in caught.value.message
    assert "did you mean 'walk'?" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.ones((6, 8)), "expected float32 in C order, found float64"),
        (np.asfortranarray(np.ones((6, 8), dtype=np.float32)), "expected float32 in C order"),
        (np.ones(6, dtype=np.float32), "expected the shape (rows, dim), found (6,)"),
        (np.ones((5, 8), dtype=np.float32), "has 5 rows, but nodes.jsonl has 6"),
    ],
)
def test_arrays_that_do_not_fit(small_workspace: Path, array: np.ndarray, message: str) -> None:
    _save(small_workspace, "odd", array)
    with pytest.raises(GmeError) as caught:
        Workspace(small_workspace).collection("odd")
    assert message in caught.value.message


def test_question_vectors_are_no_collection(small_workspace: Path) -> None:
    _save(small_workspace, "questions", np.ones((6, 8), dtype=np.float32))  # as many questions as nodes
    with pytest.raises(GmeError, match="unknown collection 'questions'"):
        Workspace(small_workspace).collection("questions")


def test_pickles_and_damaged_arrays_are_never_loaded(small_workspace: Path) -> None:
    np.save(small_workspace / "embeddings" / "pickle.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    (small_workspace / "embeddings" / "short.npy").write_bytes(
        (small_workspace / "embeddings" / "original.npy").read_bytes()[:200]
    )
    (small_workspace / "embeddings" / "empty.npy").touch()
    (small_workspace / "embeddings" / "text.npy").write_text("hello")
    for name in ("pickle", "short", "empty", "text"):
        with pytest.raises(GmeError, match="not a readable") as caught:
            Workspace(small_workspace).collection(name)
        assert "allow_pickle" not in caught.value.message


def _written(folder: Path) -> Workspace:
    workspace = Workspace(folder)
    original = np.load(folder / "embeddings" / "original.npy")
    workspace.write_array(
        "embeddings/original.npy",
        original,
        inputs=["nodes.jsonl"],
        started=time.perf_counter(),
        model="m",
        command="gme embed",
    )
    workspace.write_array(
        "embeddings/walk.npy",
        2 * original,
        inputs=["nodes.jsonl", "edges.jsonl", "embeddings/original.npy"],
        started=time.perf_counter(),
        command="gme transform walk",
        source={"model": "m", "rows": 6, "dim": 8},
    )
    return workspace


def test_manifests_say_what_an_array_was_made_from(small_workspace: Path) -> None:
    workspace = _written(small_workspace)
    manifest = json.loads((small_workspace / "embeddings" / "walk.json").read_text())
    assert (manifest["rows"], manifest["dim"], manifest["dtype"]) == (6, 8, "float32")
    assert set(manifest["inputs"]) == {"nodes.jsonl", "edges.jsonl", "embeddings/original.npy"}
    collection = workspace.collection("walk")
    assert collection.manifest == manifest
    assert isinstance(collection.vectors, np.memmap)


def test_added_nodes_make_collections_stale(small_workspace: Path) -> None:
    _written(small_workspace)
    with (small_workspace / "nodes.jsonl").open("a") as handle:
        handle.write('{"id": "g", "type": "chunk", "text": "new"}\n')
    with pytest.raises(StaleError) as caught:
        Workspace(small_workspace).collection("original")
    assert "nodes.jsonl has changed since it was made (6 nodes then, 7 now)" in caught.value.message
    assert caught.value.hint == "re-run: gme embed"


def test_another_model_makes_modified_collections_stale(small_workspace: Path) -> None:
    workspace = _written(small_workspace)
    other = np.ones((6, 4), dtype=np.float32)
    workspace.write_array(
        "embeddings/original.npy",
        other,
        inputs=["nodes.jsonl"],
        started=time.perf_counter(),
        model="n",
        command="gme embed",
    )
    with pytest.raises(StaleError) as caught:
        Workspace(small_workspace).collection("walk")
    assert "model m then, n now; dim 8 then, 4 now" in caught.value.message
    assert caught.value.hint == "re-run: gme transform walk"


def test_a_swapped_array_is_noticed_however_deep(small_workspace: Path) -> None:
    _written(small_workspace)
    _save(small_workspace, "original", np.ones((6, 8), dtype=np.float32))
    for name in ("original", "walk"):
        with pytest.raises(StaleError, match=r"original.npy is not the file its manifest describes"):
            Workspace(small_workspace).collection(name)


@pytest.mark.parametrize(
    ("value", "kind"), [(np.nan, "holds NaN"), (np.inf, "holds NaN or infinity"), (0.0, "is zero")]
)
def test_vectors_without_a_direction_are_refused(value: float, kind: str) -> None:
    vectors = np.ones((70_000, 2), dtype=np.float32)
    vectors[65_537] = value
    with pytest.raises(GmeError, match=f"x: row 65537 \\(id '65537'\\) {kind}"):
        check_finite(vectors, "x", [str(row) for row in range(70_000)])


@pytest.mark.parametrize("name", ["../x", "a/b", "", ".hidden", "a b", "original", "questions", "x" * 300])
def test_names_that_are_no_file_names(name: str) -> None:
    with pytest.raises(GmeError):
        check_name(name, "collection")


def _add_node(folder: Path) -> None:
    with (folder / "nodes.jsonl").open("a") as handle:
        handle.write('{"id": "g", "type": "chunk", "title": "Title g", "text": "new"}\n')


def test_all_that_is_stale_is_told_at_once_and_in_order(small_workspace: Path, gme: Run) -> None:
    """Whoever runs the commands of the first refusal meets no second one."""
    on = ("-w", small_workspace, "-q")
    for words in (
        ["graph", "mentions"],
        ["embed"],
        ["transform", "walk"],
        ["transform", "residual", "--source", "walk"],
        ["retrieve", "plain"],
        ["retrieve", "modified", "--collection", "residual-walk"],
    ):
        assert gme(*words, *on)[0] == 0, words
    _add_node(small_workspace)
    again = "gme graph mentions && gme embed && gme transform walk && gme transform residual --source walk"
    code, _, err = gme("retrieve", "modified", "--collection", "residual-walk", *on)
    assert code == 1
    error, hint = err.splitlines()
    assert "original.npy is stale: nodes.jsonl has changed since it was made (6 nodes then, 7 now); stale as" in error
    assert sorted(hint.removeprefix("hint: re-run: ").split(" && ")) == sorted(again.split(" && "))
    assert hint.index("gme embed") < hint.index("transform walk") < hint.index("transform residual")
    assert hint.index("graph mentions") < hint.index("gme embed")  # other builders add nodes
    error, hint = gme("transform", "residual", "--source", "walk", *on)[2].splitlines()
    assert "edges.jsonl is stale: nodes.jsonl has changed since it was made; stale as well: " in error
    assert hint == f"hint: re-run: {again.removesuffix(' && gme transform residual --source walk')}"
    error, hint = gme("evaluate", *on)[2].splitlines()
    assert hint.startswith("hint: re-make them, or delete them: gme graph mentions && gme embed && gme retrieve plain")
    hint = gme("evaluate", "plain", "modified-residual-walk", *on)[2].splitlines()[1]
    commands = hint.removeprefix("hint: re-run: ").split(" && ")
    assert len(commands) == len(set(commands)) == 6
    for command in commands:
        assert gme(*command.split()[1:], *on)[0] == 0, command
    assert gme("evaluate", "plain", "modified-residual-walk", *on)[0] == 0


def test_many_stale_things_are_cut(small_workspace: Path, gme: Run) -> None:
    for number in range(30):
        assert gme("retrieve", "plain", "--name", f"run{number}", "-w", small_workspace, "-q")[0] == 0
    _add_node(small_workspace)
    np.save(small_workspace / "embeddings/original.npy", np.ones((7, 8), np.float32))
    error, hint = gme("evaluate", "-w", small_workspace)[2].splitlines()
    assert len(hint) < 1000
    assert hint.endswith(" … and 18 more")
    assert len(error) < 1000


def test_gold_matters_for_scores_only(small_workspace: Path, gme: Run) -> None:
    on = ("-w", small_workspace, "-q")
    for words in (["embed"], ["retrieve", "plain"]):
        assert gme(*words, *on)[0] == 0
    questions = small_workspace / "questions.jsonl"
    before = gme("evaluate", "--json", *on)[1]
    questions.write_text(questions.read_text().replace('["d"]', '["e","f"]'))
    code, after, err = gme("evaluate", "--json", *on)
    assert (code, err) == (0, "")
    assert after != before
    assert gme("retrieve", "plain", *on)[0] == 0
    questions.write_text(questions.read_text().replace("second?", "third?"))
    assert "questions.npy is stale: questions.jsonl has changed" in gme("retrieve", "plain", *on)[2]
    assert gme("evaluate", *on)[0] == 1
