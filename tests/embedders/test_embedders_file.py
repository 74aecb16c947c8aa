from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gme.embedders.precomputed import read_vectors
from gme.errors import GmeError

# ---- file: -------------------------------------------------------------------------------------------------------

IDS = [f"node {n}" for n in range(6)]


def save(folder: Path, array: Any, **how: Any) -> Path:
    path = folder / "given.npy"
    np.save(path, array, **how)
    return path


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", ">f4", ">f8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_any_float_type_and_order(tmp_path: Path, dtype: str, order: Any) -> None:
    values = np.random.default_rng(1).normal(size=(6, 5)).astype(dtype)
    made = read_vectors(save(tmp_path, np.array(values, order=order)), IDS, "nodes.jsonl")
    wide = values.astype(np.float64)
    np.testing.assert_allclose(made, wide / np.linalg.norm(wide, axis=1, keepdims=True), atol=1e-7)
    assert made.dtype == np.float32
    assert made.flags.c_contiguous


def test_blocks_join_without_a_seam(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(1).normal(size=(6, 5))
    whole = read_vectors(save(tmp_path, values), IDS, "nodes.jsonl")
    monkeypatch.setattr("gme.embedders.precomputed._BLOCK", 4)
    assert read_vectors(save(tmp_path, values), IDS, "nodes.jsonl").tobytes() == whole.tobytes()


@pytest.mark.parametrize(
    ("row", "value", "problem"),
    [
        (4, np.nan, r"row 4 \(id 'node 4' of nodes.jsonl\) holds NaN"),
        (5, np.inf, r"row 5 \(id 'node 5' of nodes.jsonl\) holds NaN, infinity"),
        (2, 0.0, r"row 2 \(id 'node 2' of nodes.jsonl\) is zero"),
    ],
)
def test_vectors_without_direction_are_named(tmp_path: Path, row: int, value: float, problem: str) -> None:
    values = np.ones((6, 5), dtype=np.float16)
    values[row] = value
    with pytest.raises(GmeError, match=problem):
        read_vectors(save(tmp_path, values), IDS, "nodes.jsonl")


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        (np.ones((6, 5), dtype=np.int64), "found int64"),
        (np.ones((6, 5), dtype=bool), "found bool"),
        (np.ones((6, 5), dtype=complex), "found complex128"),
        (np.ones(6, dtype=np.float32), "expected the shape"),
        (np.ones((6, 0), dtype=np.float32), "expected the shape"),
        (np.ones((6, 5, 1), dtype=np.float32), "expected the shape"),
        (np.ones((7, 5), dtype=np.float32), "has 7 rows, but nodes.jsonl has 6"),
        (np.array([[{}]] * 6, dtype=object), "not a readable .npy array"),
    ],
)
def test_other_arrays_are_refused(tmp_path: Path, values: Any, problem: str) -> None:
    with pytest.raises(GmeError, match=problem):
        read_vectors(save(tmp_path, values), IDS, "nodes.jsonl")


def test_missing_and_truncated_files(tmp_path: Path) -> None:
    with pytest.raises(GmeError, match="is missing"):
        read_vectors(tmp_path / "none.npy", IDS, "nodes.jsonl")
    path = save(tmp_path, np.ones((6, 5)))
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(GmeError, match="not a readable"):
        read_vectors(path, IDS, "nodes.jsonl")
