"""The border between Python and Rust: what it refuses and how it says so, what it accepts, signals and progress."""

from __future__ import annotations

import gc
import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gme
from gme import _core
from gme.errors import GmeError
from watchdog import watchdog

NODES = 6
X = np.random.default_rng(0).normal(size=(NODES, 5)).astype(np.float32)
RANKS = np.arange(NODES, dtype=np.uint32)
VECTORS = _core.VectorSet(X, RANKS)
GRAPH = _core.Graph(list("abcdef"), np.array([0, 1, 2], np.uint32), np.array([1, 2, 3], np.uint32))
PADDING = 0xFFFFFFFF

HOP: dict[str, Any] = {"hops": 1, "share": (1, 5), "alpha": 0.2, "least": True, "min_neighbors": 2}
WALK: dict[str, Any] = {"steps": 2, "alpha": 0.0, "walks": 10, "seed": 1, "returns": True, "exact": False}
CONVEX: dict[str, Any] = {"anchor_weight": 1.0, "edge_weight": 1.0, "tolerance": 1e-6, "max_sweeps": 200}
DIFFUSE: dict[str, Any] = {"restart": 0.1, "tolerance": 1e-6, "max_iterations": 500, "weighted": False}
LABELS = np.zeros(NODES, np.uint32)

OF_X: dict[str, Callable[..., Any]] = {
    "hop": lambda x, **o: _core.hop(GRAPH, x, **{**HOP, **o}),
    "walk": lambda x, **o: _core.walk(GRAPH, x, **{**WALK, **o}),
    "convex": lambda x, **o: _core.convex(GRAPH, x, **{**CONVEX, **o})[0],
    "diffuse": lambda x, **o: _core.diffuse(GRAPH, x, **{**DIFFUSE, **o})[0],
    "group_means": lambda x, **o: _core.group_means(GRAPH, x, LABELS, **{"alpha": 0.5, **o}),
}


def with_entry(value: float) -> np.ndarray:
    x = X.copy()
    x[3, 2] = value
    return x


@pytest.mark.parametrize("kernel", OF_X)
@pytest.mark.parametrize(
    ("x", "message"),
    [
        (X.astype(np.float64), r"x has dtype float64, must be float32: pass x\.astype\(numpy\.float32\)"),
        (X.astype(">f4"), r"x has dtype >f4, must be float32"),
        (np.asfortranarray(X), r"x is not C-contiguous and aligned: pass numpy\.ascontiguousarray\(x\)"),
        (X[:, ::2], r"x is not C-contiguous"),
        (X[0], r"x has shape \[5\], must have 2 dimension"),
        (X.tolist(), r"x is a list, must be a numpy array"),
        (X[:4], r"x has 4 entries, needs 6 \(one row per node of the graph\)"),
        (np.zeros((NODES, 0), np.float32), r"x is 0 columns wide, must be at least 1 column wide"),
        (with_entry(np.nan), r"x holds NaN at row 3, column 2"),
        (with_entry(-np.inf), r"x holds -inf at row 3, column 2"),
    ],
)
def test_a_bad_matrix_is_refused_with_its_fix(kernel: str, x: Any, message: str) -> None:
    with pytest.raises(GmeError, match=message):
        OF_X[kernel](x)


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (X.tolist(), "the x of row 3 is a list, must be a numpy array: pass numpy.asarray(the x of row 3)"),
        (np.zeros((NODES, 0), np.float32), "the x of row 3 is 0 columns wide, must be at least 1 column wide"),
        (with_entry(np.nan), "the x of row 3 holds NaN at row 3, column 2"),
        (np.full_like(X, 3e38), "row 0 of the x of row 3 has no finite length (it holds NaN, infinity or huge values)"),
    ],
)
def test_a_matrix_is_called_as_the_caller_calls_it(x: Any, message: str) -> None:
    for call in (_core.row_norms, _core.VectorSet, gme.ExactStore):
        with pytest.raises(GmeError) as refused:
            call(x, name="the x of row 3")
        assert refused.value.message == message


def test_an_array_that_is_not_aligned_is_refused() -> None:
    buffer = bytearray(X.nbytes + 1)
    x = np.frombuffer(buffer, dtype=np.float32, count=X.size, offset=1).reshape(X.shape)
    with pytest.raises(GmeError, match="aligned"):
        _core.row_norms(x)


def test_hints_travel() -> None:
    with pytest.raises(GmeError) as refused:
        _core.walk(GRAPH, with_entry(np.nan), **WALK)
    assert refused.value.hint == "embed that row again, or take the node out"


@pytest.mark.parametrize(
    ("kernel", "options", "message"),
    [
        ("hop", {"hops": 3}, "hops is 3, must be 1 or 2"),
        ("hop", {"share": (3, 2)}, "share is 3/2, must be a fraction between 0 and 1"),
        ("hop", {"share": (1, 0)}, "share is 1/0, must be a fraction"),
        ("hop", {"alpha": 1.5}, "alpha is 1.5, must be between 0 and 1"),
        ("walk", {"alpha": float("nan")}, "alpha is NaN, must be between 0 and 1"),
        ("walk", {"steps": 0}, "steps is 0, must be at least 1"),
        ("walk", {"steps": 0, "exact": True}, "steps is 0, must be at least 1"),
        ("walk", {"walks": 0}, "walks is 0, must be at least 1"),
        ("convex", {"anchor_weight": 0.0}, "anchor_weight is 0, must be a positive number"),
        ("convex", {"edge_weight": -1.0}, "edge_weight is -1, must be a number of at least 0"),
        ("convex", {"tolerance": float("inf")}, "tolerance is inf"),
        ("convex", {"max_sweeps": 0}, "max_sweeps is 0, must be at least 1"),
        ("convex", {"solver": "jacobi"}, "solver is jacobi, must be gauss-seidel or cg"),
        ("diffuse", {"restart": 0.0}, "restart is 0, must be above 0 and at most 1"),
        ("diffuse", {"tolerance": 0.0}, "tolerance is 0, must be a positive number"),
        ("diffuse", {"max_iterations": 0}, "max_iterations is 0, must be at least 1"),
        ("group_means", {"alpha": -0.1}, "alpha is -0.1, must be between 0 and 1"),
    ],
)
def test_parameters_out_of_range(kernel: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(GmeError, match=message):
        OF_X[kernel](X, **options)


def rows(*values: int) -> np.ndarray:
    return np.array(values, np.uint32)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["a", "a"], rows(), rows()), 'rows 0 and 1 carry the same node id "a"'),
        ((["a", "b"], rows(0), rows(2)), r"targets\[0\] is 2, must be below 2"),
        ((["a", "b"], rows(0, 7), rows(1, 1)), r"sources\[1\] is 7, must be below 2"),
        ((["a", "b"], rows(0), rows()), "targets has 0 entries, needs 1"),
        ((["a", "b"], rows(0), rows(1), np.array([1.0, 2.0])), "weights has 2 entries, needs 1"),
        ((["a", "b"], rows(0), rows(1), np.array([0.0])), "edge 0 has weight 0, must be a positive number"),
        ((["a", "b"], rows(0), rows(1), np.array([np.nan])), "edge 0 has weight NaN"),
        ((["a", "b"], rows(0), rows(1), np.array([1e300])), "edge 0 has weight"),
        ((["a", "b"], rows(0).astype(np.int64), rows(1)), "sources has dtype int64, must be uint32"),
        ((["a", "b"], rows(0), rows(1), rows(1)), "weights has dtype uint32, must be float64"),
    ],
)
def test_bad_graphs(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(GmeError, match=message):
        _core.Graph(*arguments)


def test_a_row_that_does_not_exist_has_no_neighbors() -> None:
    with pytest.raises(GmeError, match="row is 6, must be a row of the graph"):
        GRAPH.neighbors(6)


def test_bad_labels() -> None:
    with pytest.raises(GmeError, match="labels has 2 entries, needs 6"):
        _core.group_means(GRAPH, X, rows(0, 1), alpha=0.5)
    with pytest.raises(GmeError, match="labels has dtype int64, must be uint32"):
        _core.group_means(GRAPH, X, np.zeros(NODES, np.int64), alpha=0.5)


OFFSETS = np.array([0, 1], np.uint64)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"queries": X[:1, :3].copy()}, "each query has 3 entries, needs 5"),
        ({"queries": with_entry(np.nan)[3:4]}, "queries holds NaN at row 0, column 2"),
        ({"allowed": np.ones(3, bool)}, "allowed has 3 entries, needs 6"),
        ({"allowed": np.ones(NODES, np.uint8)}, "allowed has dtype uint8, must be bool"),
        ({"excluded": (OFFSETS, rows(NODES))}, r"excluded rows\[0\] is 6, must be below 6"),
        ({"excluded": (OFFSETS, rows(1, 2))}, r"excluded offsets\[1\] breaks the rule"),
        ({"excluded": (np.array([1, 1], np.uint64), rows(1))}, r"excluded offsets\[0\] breaks the rule"),
        ({"excluded": (np.array([0], np.uint64), rows())}, "excluded offsets has 1 entries, needs 2"),
    ],
)
def test_bad_searches(changes: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {"vectors": VECTORS, "queries": X[:1], "k": 2, **changes}
    with pytest.raises(GmeError, match=message):
        _core.search(**arguments)


@pytest.mark.parametrize(
    ("x", "ranks", "message"),
    [
        (X, RANKS[:2], "ranks has 2 entries, needs 6"),
        (X, RANKS.astype(np.int64), "ranks has dtype int64, must be uint32"),
        (X.astype(np.float64), RANKS, "x has dtype float64, must be float32"),
        (X[0], None, r"x has shape \[5\], must have 2 dimension"),
        (X.T, None, "x is not C-contiguous"),
        (X[:, :0].copy(), None, "x is 0 columns wide"),
        (X.tolist(), None, "x is a list, must be a numpy array"),
        (with_entry(np.nan), None, "x holds NaN at row 3, column 2"),
        (np.full((2, 2), np.finfo(np.float32).max), None, "row 0 of x has no finite length"),
    ],
)
def test_bad_vectors(x: Any, ranks: Any, message: str) -> None:
    with pytest.raises(GmeError, match=message):
        _core.VectorSet(x, ranks)


def test_a_vector_set_is_its_arrays_and_copies_none() -> None:
    vectors = _core.VectorSet(X, RANKS)
    assert vectors.vectors is X
    assert vectors.ranks is RANKS
    assert vectors.norms is vectors.norms
    assert vectors.norms.tobytes() == _core.row_norms(X).tobytes()
    assert not vectors.norms.flags.writeable
    assert (len(vectors), repr(vectors)) == (NODES, "VectorSet(rows=6, dim=5)")
    assert _core.VectorSet(X).ranks.tolist() == list(range(NODES))


def test_a_vector_set_keeps_its_arrays_alive() -> None:
    vectors = _core.VectorSet(X.copy(), RANKS.copy())
    gc.collect()
    garbage = [np.full_like(X, np.nan) for _ in range(64)]
    assert _core.search(vectors, X, 3)[0].tolist() == _core.search(VECTORS, X, 3)[0].tolist()
    assert len(garbage) == 64


def test_an_array_that_changed_its_shape_or_type_is_refused() -> None:
    """Python may do so at any time; a kernel must not read beyond the array."""
    x, ranks = X.copy(), RANKS.copy()
    vectors = _core.VectorSet(x, ranks)
    x.shape = (NODES * 5, 1)
    with pytest.raises(GmeError, match="norms has 6 entries, needs 30"):
        _core.search(vectors, X, 3)
    x.shape = (NODES, 5)
    ranks.dtype = np.dtype(np.int32)  # type: ignore[misc, assignment]
    with pytest.raises(GmeError, match="ranks has dtype int32, must be uint32"):
        _core.pair_cosines(vectors, np.zeros((1, 2), np.uint32))


def test_bad_pairs() -> None:
    with pytest.raises(GmeError, match=r"rows\[1\] is 6, must be below 6"):
        _core.cosines(VECTORS, X[:1], np.array([[0, 6]], np.uint32))
    with pytest.raises(GmeError, match="rows has 2 entries, needs 1"):
        _core.cosines(VECTORS, X[:1], np.array([[0], [1]], np.uint32))
    with pytest.raises(GmeError, match="rows has 2 entries, needs 3"):
        _core.cosines(VECTORS, X[:3], np.array([[0], [1]], np.uint32))
    with pytest.raises(GmeError, match=r"rows\[1\] is 6, must be below 6"):
        _core.pair_cosines(VECTORS, np.array([[0, 6]], np.uint32))


def test_rows_without_a_finite_length_are_named() -> None:
    with pytest.raises(GmeError, match="x holds inf at row 3, column 2"):
        _core.row_norms(with_entry(np.inf))
    huge = np.full((2, 2), np.finfo(np.float32).max)
    with pytest.raises(GmeError, match="row 0 of x has no finite length"):
        _core.row_norms(huge)


def test_signature_needs_a_dimension() -> None:
    with pytest.raises(GmeError, match="dim is 0"):
        _core.signature(GRAPH, dim=0, seed=1, **DIFFUSE)


@pytest.mark.parametrize("damping", [-0.1, 1.5, np.nan, np.inf])
def test_damping_is_a_share(damping: float) -> None:
    with pytest.raises(GmeError, match=r"damping is .*, must be at least 0 and at most 1"):
        _core.signature(GRAPH, dim=8, seed=1, damping=damping, **DIFFUSE)


def test_text_that_is_no_unicode_is_an_error_and_no_panic() -> None:
    with pytest.raises((GmeError, UnicodeError)):
        _core.title_mentions(["a\ud800"], ["a"], ignore_case=False, min_length=1)
    with pytest.raises((GmeError, UnicodeError)):
        _core.Graph(["a\ud800"], rows(), rows())


def test_a_read_only_memory_map_gives_the_same_as_an_array(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    assert not mapped.flags.writeable
    for kernel in OF_X.values():
        assert kernel(mapped).tobytes() == kernel(X).tobytes()
    found, scores = _core.search(_core.VectorSet(mapped, RANKS), X, 3)
    expected, expected_scores = _core.search(VECTORS, X, 3)
    assert (found == expected).all()
    assert scores.tobytes() == expected_scores.tobytes()


def test_results_belong_to_the_caller() -> None:
    for kernel in OF_X.values():
        z = kernel(X)
        assert z.dtype == np.float32
        assert z.flags.c_contiguous
        assert z.flags.writeable


def test_empty_input() -> None:
    graph = _core.Graph([], rows(), rows())
    x = np.zeros((0, 5), np.float32)
    assert (graph.nodes, graph.edges) == (0, 0)
    assert _core.hop(graph, x, **HOP).shape == (0, 5)
    assert _core.walk(graph, x, **WALK).shape == (0, 5)
    assert _core.convex(graph, x, **CONVEX)[0].shape == (0, 5)
    assert _core.diffuse(graph, x, **DIFFUSE)[0].shape == (0, 5)
    assert _core.signature(graph, dim=5, seed=1, **DIFFUSE)[0].shape == (0, 5)
    assert _core.group_means(graph, x, rows(), alpha=0.5).shape == (0, 5)
    assert _core.walk_endpoints(graph, steps=2, walks=5, seed=1, returns=True)[0].tolist() == [0]
    found, scores = _core.search(_core.VectorSet(x, rows()), X, 2)
    assert (found == PADDING).all()
    assert (scores == -np.inf).all()
    assert _core.search(VECTORS, X[:0], 2)[0].shape == (0, 2)
    assert _core.cosines(VECTORS, X[:0], np.zeros((0, 4), np.uint32)).shape == (0, 4)
    assert _core.cosines(VECTORS, X[:3], np.zeros((3, 0), np.uint32)).shape == (3, 0)
    for lines, size, pairs in ((0, 4, 6), (3, 0, 0), (3, 1, 0)):
        assert _core.pair_cosines(VECTORS, np.zeros((lines, size), np.uint32)).shape == (lines, pairs)
    assert [len(part) for part in _core.title_mentions([], ["a"], ignore_case=False, min_length=1)] == [0, 0]


@pytest.fixture(scope="module")
def endless() -> Callable[..., object]:
    """A kernel that would run for hours."""
    nodes = 20_000
    generator = np.random.default_rng(1)
    sources, targets = generator.integers(0, nodes, (2, 200_000)).astype(np.uint32)
    graph = _core.Graph([str(i) for i in range(nodes)], sources, targets)
    x = generator.normal(size=(nodes, 128)).astype(np.float32)
    return lambda **options: _core.convex(
        graph, x, anchor_weight=1e-9, edge_weight=1.0, tolerance=0.0, max_sweeps=10**9, threads=1, **options
    )


def test_control_c_stops_a_kernel(endless: Callable[..., object]) -> None:
    timer = threading.Timer(0.4, os.kill, (os.getpid(), signal.SIGINT))
    with watchdog():
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            endless()
    timer.join()


def test_progress_is_called_from_the_calling_thread_and_may_raise(endless: Callable[..., object]) -> None:
    calls: list[tuple[int, int]] = []

    def progress(done: int, total: int) -> None:
        assert threading.current_thread() is threading.main_thread()
        calls.append((done, total))
        if len(calls) == 4:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        endless(progress=progress)
    assert all(0 <= done <= total for done, total in calls)
    assert calls == sorted(calls)


def test_progress_ends_complete() -> None:
    calls: list[tuple[int, int]] = []
    _core.walk(GRAPH, X, **WALK, progress=lambda done, total: calls.append((done, total)))
    assert calls[-1] == (NODES, NODES)


def test_other_threads_run_while_a_kernel_does(endless: Callable[..., object]) -> None:
    """The GIL is released: a thread counts on while the kernel runs."""
    ticks = 0
    stop = threading.Event()

    def count() -> None:
        nonlocal ticks
        while not stop.wait(0.001):
            ticks += 1

    thread = threading.Thread(target=count)
    thread.start()

    def progress(done: int, total: int) -> None:
        if ticks > 20:
            raise RuntimeError("seen enough")

    try:
        with pytest.raises(RuntimeError, match="seen enough"):
            endless(progress=progress)
    finally:
        stop.set()
        thread.join()
