"""Results written in place: kernels that are given `out`, and `.npy` files written through a memory map."""

from __future__ import annotations

import contextlib
import hashlib
import io
import mmap
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from kernel_cases import CALLS, Call, town

from gme import _core, transforms
from gme.errors import GmeError
from gme.pipeline import transform as run
from gme.pipeline.transform import transform_workspace
from gme.storage import arrays, platform
from gme.storage.arrays import NewArray, check_finite, load_array, release
from gme.transforms.registry import TRANSFORMS
from gme.types import TransformContext, Transformed, Vectors
from gme.workspace import Workspace
from recorder import Recorder

TOWN = town(weighted=True)


def _saved(vectors: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, vectors)
    return file.getvalue()


# ---- out= of the kernels ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_kernels_write_every_entry_of_out(call: Call) -> None:
    expected = call(TOWN)
    out = np.full_like(expected, np.nan)
    assert call(TOWN, out=out) is out
    assert out.tobytes() == expected.tobytes()


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_an_out_that_does_not_fit_is_refused(call: Call) -> None:
    rows, dim = call(TOWN).shape
    read_only = np.zeros((rows, dim), np.float32)
    read_only.flags.writeable = False
    for out, message in (
        (np.zeros((rows, dim)), r"out has dtype float64, must be float32"),
        (np.zeros((rows, dim + 1), np.float32), rf"out has shape \[{rows}, {dim + 1}\], must have \[{rows}, {dim}\]"),
        (np.zeros((dim, rows), np.float32).T, "out is not C-contiguous"),
        (np.zeros(rows * dim, np.float32), "out has shape .*, must have 2 dimension"),
        (read_only, "out cannot be written"),
        ([[0.0]], "out is a list, must be a numpy array"),
    ):
        with pytest.raises(GmeError, match=message):
            call(TOWN, out=out)


WITHOUT_X = (_core.signature, _core.root_signature)


@pytest.mark.parametrize("name", [name for name, call in CALLS.items() if call.kernel not in WITHOUT_X])
def test_an_out_that_overlaps_x_is_refused(name: str) -> None:
    rows, dim = TOWN.x.shape
    with pytest.raises(GmeError, match="out overlaps x"):
        CALLS[name](TOWN, out=TOWN.x)
    # Two arrays over the same bytes that numpy does not know to be related.
    memory = mmap.mmap(-1, (rows + 1) * dim * 4)
    x: Vectors = np.frombuffer(memory, np.float32, rows * dim).reshape(rows, dim)
    x[:] = TOWN.x
    shifted: Vectors = np.frombuffer(memory, np.float32, rows * dim, offset=dim * 4).reshape(rows, dim)
    case = type(TOWN)(TOWN.ids, TOWN.edges, x)
    with pytest.raises(GmeError, match="out overlaps x"):
        CALLS[name](case, out=shifted)
    beside: Vectors = np.empty((2 * rows, dim), np.float32)
    beside[:rows] = TOWN.x
    case = type(TOWN)(TOWN.ids, TOWN.edges, beside[:rows])
    with contextlib.suppress(GmeError):  # neighbors in one array: numpy's own borrow check may be stricter
        assert CALLS[name](case, out=beside[rows:]).tobytes() == CALLS[name](TOWN).tobytes()


# ---- files -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "_STEP", mmap.PAGESIZE)


@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (5, 7), (5000, 3)])
@pytest.mark.usefixtures("small_steps")
def test_what_is_written_is_what_numpy_saves(tmp_path: Path, shape: tuple[int, int]) -> None:
    vectors = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    path = tmp_path / "x.npy"
    reported = []
    with path.open("w+b") as handle:
        array = NewArray(handle, path, *shape)
        array.vectors[: shape[0] // 2] = vectors[: shape[0] // 2]
        array.release()  # written rows stay, and more can be written
        array.vectors[shape[0] // 2 :] = vectors[shape[0] // 2 :]
        digest = array.digest(lambda done, total: reported.append((done, total)))
    assert path.read_bytes() == _saved(vectors)
    assert digest == hashlib.sha256(path.read_bytes()).hexdigest()
    assert reported[-1] == (path.stat().st_size, path.stat().st_size)


@pytest.mark.usefixtures("small_steps")
@pytest.mark.parametrize("shape", [(6, 5), (3, 2), (900, 10)])
def test_a_result_from_elsewhere_is_copied_whatever_its_shape(tmp_path: Path, shape: tuple[int, int]) -> None:
    vectors = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    path = tmp_path / "x.npy"
    with path.open("w+b") as handle:
        array = NewArray(handle, path, 6, 5)
        array.vectors[:] = 9
        array.fill(vectors)
        array.digest()
    assert path.read_bytes() == _saved(vectors)


def test_without_a_way_to_reserve_room_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "posix_fallocate")
    path = tmp_path / "x.npy"
    with path.open("w+b") as handle:
        NewArray(handle, path, 50, 4).digest()
    assert path.read_bytes() == _saved(np.zeros((50, 4), np.float32))


def test_a_full_disk_is_an_error_with_the_files_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int, start: int, size: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    workspace = Workspace(tmp_path)
    with (
        pytest.raises(OSError, match="No space left on device") as caught,
        workspace.new_array("embeddings/x.npy", 50, 4),
    ):
        pass
    assert caught.value.filename == str(tmp_path / "embeddings" / "x.npy")
    assert list((tmp_path / "embeddings").iterdir()) == []


def test_a_command_killed_while_it_writes_leaves_the_old_array(small_workspace: Path) -> None:
    name, _ = transform_workspace(Workspace(small_workspace), "walk")
    before = {path.name: path.read_bytes() for path in (small_workspace / "embeddings").iterdir()}
    script = (
        "import os, signal, sys\nfrom gme.workspace import Workspace\n"
        f"with Workspace(sys.argv[1]).new_array('embeddings/{name}.npy', 6, 8) as array:\n"
        "    array.vectors[:3] = 7; array.release(); os._exit(9)\n"
    )
    killed = subprocess.run([sys.executable, "-c", script, str(small_workspace)], check=False)
    assert killed.returncode == 9
    left = {path.name: path.read_bytes() for path in (small_workspace / "embeddings").iterdir()}
    assert len(left) == len(before) + 1, "the killed writer leaves its temporary file"
    transform_workspace(Workspace(small_workspace), "walk")
    assert {path.name for path in (small_workspace / "embeddings").iterdir()} == set(before)
    assert (small_workspace / "embeddings" / f"{name}.npy").read_bytes() == before[f"{name}.npy"]


# ---- transforms of workspaces ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", TRANSFORMS)
def test_a_workspace_gets_what_arrays_give(small_workspace: Path, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for interval in ("_LET_GO_EVERY", "_CROWDED_EVERY"):
        monkeypatch.setattr(run, interval, 0.0)
    monkeypatch.setattr(run, "memory_is_scarce", lambda: True)
    workspace = Workspace(small_workspace)
    vectors = np.load(small_workspace / "embeddings" / "original.npy")
    entry, options, given = TRANSFORMS[method], {}, {}
    if entry.needs_source:
        options["source"] = transform_workspace(workspace, "hop1")[0]
        given["source"] = np.load(small_workspace / "embeddings" / "hop1.npy")
    expected = transforms.transform(method, workspace.graph(), vectors, **given).vectors
    name, manifest = transform_workspace(workspace, method, entry.options(**options))
    written = (small_workspace / "embeddings" / f"{name}.npy").read_bytes()
    assert written == _saved(expected)
    assert manifest["sha256"] == hashlib.sha256(written).hexdigest()


def test_methods_may_return_arrays_of_their_own(small_workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def wider(graph: Any, vectors: Vectors, options: Any, context: TransformContext) -> Transformed:
        return Transformed(np.repeat(vectors, 2, axis=1), {})

    entry = transforms.Transform("wider", TRANSFORMS["louvain"].options, wider)
    monkeypatch.setitem(TRANSFORMS.own, "wider", entry)
    _, manifest = transform_workspace(Workspace(small_workspace), "wider")
    vectors = np.load(small_workspace / "embeddings" / "original.npy")
    assert (manifest["rows"], manifest["dim"]) == (6, 16)
    assert (np.load(small_workspace / "embeddings" / "wider.npy") == np.repeat(vectors, 2, axis=1)).all()


def test_every_long_step_is_watched(small_workspace: Path) -> None:
    recorder = Recorder()
    workspace = Workspace(small_workspace, recorder)
    transform_workspace(workspace, "walk", reporter=recorder)
    ends = {what: (unit, reports[-1]) for what, (unit, reports) in recorder.steps.items()}
    assert ends["transform walk"] == ("rows", (6, 6))
    for name in ("nodes.jsonl", "edges.jsonl", "embeddings/walk.npy"):
        size = workspace.path(name).stat().st_size
        assert ends[("write " if name.endswith("npy") else "read ") + name] == ("bytes", (size, size))
    assert ends["check vectors"] == ("rows", (6, 6))
    assert ends["build graph"] == ("edges", (10, 10))
    assert {"check nodes.jsonl", "check edges.jsonl", "check embeddings/original.npy"} <= set(ends)


def test_a_transform_keeps_no_texts_and_no_edge_lists(small_workspace: Path) -> None:
    workspace = Workspace(small_workspace)
    transform_workspace(workspace, "walk", edge_types=["link"])
    assert not {"nodes", "edges"} & set(vars(workspace))
    assert workspace.graph(["link", "link"]) is workspace.graph(("link",))
    assert workspace.graph() is not workspace.graph(["link"])


def test_the_original_vectors_are_kept_in_memory_while_there_is_enough(
    small_workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    released: list[str] = []
    monkeypatch.setattr(NewArray, "release", lambda self: released.append("out"))
    monkeypatch.setattr(run, "release", lambda vectors: released.append("x"))
    with Workspace(small_workspace).new_array("embeddings/x.npy", 6, 8) as array:
        for interval in ("_LET_GO_EVERY", "_CROWDED_EVERY"):
            monkeypatch.setattr(run, interval, 0.0)
        for full, expected in ((False, ["out"]), (True, ["out", "x"])):
            monkeypatch.setattr(run, "memory_is_scarce", lambda full=full: full)
            run._releasing(array, array.vectors, lambda done, total: None)(1, 2)
            assert released == expected
            released.clear()
    assert platform.memory_is_scarce() in (False, True)


# ---- reading ---------------------------------------------------------------------------------------------------------


def test_released_arrays_come_back_from_the_file(tmp_path: Path) -> None:
    vectors = np.random.default_rng(0).normal(size=(900, 8)).astype(np.float32)
    np.save(tmp_path / "x.npy", vectors)
    mapped = load_array(tmp_path / "x.npy")
    assert (mapped == vectors).all()
    release(mapped)
    assert (mapped == vectors).all()
    release(vectors)  # in memory: nothing to let go of
    private = np.load(tmp_path / "x.npy", mmap_mode="c")
    private[0] = 5
    release(private)
    assert (private[0] == 5).all(), "what was written into a private map stays"


@pytest.mark.parametrize("rows", [1, 7, 100])
@pytest.mark.parametrize(
    ("value", "zero", "kind"),
    [(np.nan, True, "holds NaN"), (-np.inf, False, "holds NaN"), (0.0, False, "is zero"), (0.0, True, None)],
)
def test_a_bad_row_is_found_in_any_part(
    monkeypatch: pytest.MonkeyPatch, rows: int, value: float, zero: bool, kind: str | None
) -> None:
    monkeypatch.setattr(arrays, "_CHECKED_BYTES", rows * 12)
    vectors = np.ones((60, 3), np.float32)
    vectors[[40, 50]] = value
    reported: list[tuple[int, int]] = []
    ids = [f"n{row}" for row in range(60)]
    if kind is None:
        check_finite(vectors, "x", ids, zero=zero, progress=lambda done, total: reported.append((done, total)))
        assert reported[-1] == (60, 60)
    else:
        with pytest.raises(GmeError, match=f"x: row 40 \\(id 'n40'\\) {kind}"):
            check_finite(vectors, "x", ids, zero=zero)


def test_huge_and_tiny_vectors_have_a_direction() -> None:
    vectors = np.full((3, 4), 3e38, np.float32)  # its length is no float32
    vectors[1] = 1e-45
    check_finite(vectors, "x", ["a", "b", "c"])
