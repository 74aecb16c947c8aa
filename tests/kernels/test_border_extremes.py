"""The border at its extremes: one column, nothing to do, absurd sizes, interrupts; and that input stays what it was."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from kernel_cases import CALLS, Case, town, vectors

import gme
from gme import _core
from gme.errors import GmeError
from watchdog import GENEROUS

TOWN = town(60, 6, weighted=True)
RANKS = TOWN.graph.ranks
VECTORS = _core.VectorSet(TOWN.x, RANKS)


@pytest.mark.parametrize("name", CALLS)
def test_one_column_and_one_node(name: str) -> None:
    one = Case(["a"], [(0, 0, 1.0)], np.array([[-2.5]], np.float32))
    changes = {"dim": 1} if name.startswith("signature") else {}
    z = CALLS[name](one, **changes)
    assert z.shape == (1, 1)
    assert abs(z[0, 0]) == (1 if name.startswith("signature") else 2.5)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("dim", [1, 3])
def test_few_columns(name: str, dim: int) -> None:
    case = Case(TOWN.ids, TOWN.edges, vectors(60, dim, 1))
    z = CALLS[name](case, **({"dim": dim} if name.startswith("signature") else {}))
    assert z.shape == (60, dim)
    assert np.isfinite(z).all()


@pytest.mark.parametrize("name", CALLS)
def test_more_threads_than_nodes(name: str) -> None:
    assert CALLS[name](TOWN, threads=100).tobytes() == CALLS[name](TOWN, threads=1).tobytes()


@pytest.mark.parametrize("name", CALLS)
def test_kernels_leave_their_input_alone(name: str) -> None:
    arguments = [argument for argument in CALLS[name].arguments(TOWN) if isinstance(argument, np.ndarray)]
    before = [argument.copy() for argument in arguments]
    z = CALLS[name](TOWN)
    assert all((argument == copy).all() for argument, copy in zip(arguments, before, strict=True))
    z += 1
    assert all((argument == copy).all() for argument, copy in zip(arguments, before, strict=True))


def test_graphs_and_searches_leave_their_input_alone() -> None:
    ends = np.array([[2, 0, 0, 1], [0, 2, 1, 1]], dtype=np.uint32)
    weights = np.array([1.0, 3.0, 2.0, 5.0])
    excluded = (np.array([0, 2, 2], np.uint64), np.array([9, 3], np.uint32))
    allowed = np.arange(60) % 2 == 0
    given: list[Any] = [ends, weights, TOWN.x, VECTORS.norms, RANKS, *excluded, allowed]
    before = [array.copy() for array in given]
    graph = _core.Graph(["c", "b", "a"], ends[0], ends[1], weights)
    _core.search(VECTORS, TOWN.x[:2].copy(), 5, excluded=excluded, allowed=allowed)
    _core.row_norms(TOWN.x)
    # What the graph hands out are copies, too: it cannot be changed through them.
    graph.order[:] = 0
    graph.ranks[:] = 0
    graph.neighbors(0)[:] = 7
    graph.csr()[1][:] = 7
    assert graph.order.tolist() == [2, 1, 0]
    assert graph.neighbors(0).tolist() == [2, 1]
    assert all((array == copy).all() for array, copy in zip(given, before, strict=True))


@pytest.mark.parametrize("name", CALLS)
def test_huge_entries_stay_finite(name: str) -> None:
    """Sums of vectors near the end of float32's range do not overflow on the way to their mean."""
    case = Case(TOWN.ids, TOWN.edges, TOWN.x * np.float32(5e37))
    assert np.isfinite(CALLS[name](case)).all()


def test_more_results_than_memory_holds_are_refused() -> None:
    with pytest.raises((GmeError, MemoryError, OverflowError)):
        _core.search(VECTORS, TOWN.x, 2**62)


def test_more_columns_than_memory_holds_are_refused() -> None:
    with pytest.raises((GmeError, MemoryError, OverflowError)):
        CALLS["signature"](TOWN, dim=2**56)


def test_more_threads_than_a_machine_can_have() -> None:
    """They are cut down to a sensible number. In a process of its own: one that starts them all could not go on."""
    call = "print(_core.row_norms(np.array([[3, 4]], np.float32), threads=100_000).tolist())"
    command = [sys.executable, "-c", f"import numpy as np; from gme import _core; {call}"]
    done = subprocess.run(command, timeout=GENEROUS, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[5.0]\n", "")


@pytest.mark.parametrize("threads", [-1, "2", 1.5, None, 10**30])
def test_a_number_of_threads_that_is_none_is_refused(threads: Any) -> None:
    graph, x = TOWN.graph, TOWN.x
    calls: list[Callable[[], object]] = [
        lambda: CALLS["walk"](TOWN, threads=threads),
        lambda: gme.transform("hop1", graph, x, threads=threads),
        lambda: gme.ExactStore(x, threads=threads),
        lambda: gme.LexicalIndex.build(["a red fox"], threads=threads),
        lambda: _core.row_norms(x, threads),
    ]
    for call in calls:
        with pytest.raises(GmeError) as refused:
            call()
        rule = "a whole number of at least 0, where 0 means all cores"
        assert refused.value.message == f"threads is {threads!r}, must be {rule}"


def test_numbers_that_do_not_fit_are_refused() -> None:
    for arguments in ({"seed": -1}, {"seed": 2**64}, {"walks": -1}):
        with pytest.raises(OverflowError):
            CALLS["walk"](TOWN, **arguments)
    for walks in (2**32, 2**40):
        with pytest.raises(GmeError, match=f"walks is {walks}, must be at least 1 and below"):
            CALLS["walk"](TOWN, walks=walks)


def test_shares_and_counts_at_the_ends_of_their_types() -> None:
    every = CALLS["hop1"](TOWN, share=(1, 1))
    assert CALLS["hop1"](TOWN, share=(2**64 - 1, 2**64 - 1)).tobytes() == every.tobytes()
    assert CALLS["hop1"](TOWN, share=(1, 2**64 - 1), min_neighbors=2**64 - 1).tobytes() == every.tobytes()


def test_titles_must_be_a_list_of_strings() -> None:
    titles: Any
    for titles in ("abc", [b"abc"], [None], 3):
        with pytest.raises(TypeError):
            _core.title_mentions(titles, ["abc"], ignore_case=False, min_length=1)


def test_titles_that_are_blank_or_too_short_are_never_found() -> None:
    found = _core.title_mentions(["", " ", "\n", "ab"], ["", " ab \n"], ignore_case=True, min_length=0)
    assert [part.tolist() for part in found] == [[3], [1]]
    found = _core.title_mentions(["ab"], ["ab"], ignore_case=True, min_length=2**64 - 1)
    assert [part.tolist() for part in found] == [[], []]


# --- interrupts -----------------------------------------------------------------------------------------------------

LONG: dict[str, str] = {
    "hop": "_core.hop(star, wide, hops=2, share=(1, 1), alpha=0.0, least=True, min_neighbors=1)",
    "walk": "_core.walk(graph, x, steps=10**6, alpha=0.0, walks=10_000, seed=1, returns=True, exact=False)",
    "walk, one node": "_core.walk(_core.Graph(['a', 'b'], sources[:1] * 0, targets[:1] * 0 + 1), x[:2], steps=10**12,"
    " alpha=0.0, walks=1, seed=1, returns=True, exact=False)",
    "walk, exact": "_core.walk(graph, x, steps=10**6, alpha=0.0, walks=1, seed=1, returns=False, exact=True)",
    "convex": "_core.convex(graph, x, anchor_weight=1e-9, edge_weight=1.0, tolerance=0.0, max_sweeps=10**9)",
    "diffuse": "_core.diffuse(graph, x, restart=1e-9, tolerance=1e-30, max_iterations=10**9, weighted=False)",
    "signature": "_core.signature(graph, dim=64, restart=1e-9, seed=1, tolerance=1e-30, max_iterations=10**9,"
    " weighted=False)",
    "search": "_core.search(_core.VectorSet(wide, star.ranks), np.tile(wide, (5, 1)), 1)",
    "title_mentions": "_core.title_mentions(['ab', 'b a'], ['ab a ' * 10_000] * 1_000_000, ignore_case=True,"
    " min_length=1)",
}
"""Calls that would take far longer than the watchdog waits: one that hears no signal fails by its time-out."""

PREPARE = """
import numpy as np
from gme import _core
generator = np.random.default_rng(1)
sources, targets = generator.integers(0, 20_000, (2, 400_000)).astype(np.uint32)
graph = _core.Graph([str(row) for row in range(20_000)], sources, targets)
x = generator.normal(size=(20_000, 64)).astype(np.float32)
leaves = np.arange(1, 200_000, dtype=np.uint32)
star = _core.Graph([str(row) for row in range(200_000)], leaves * 0, leaves)
wide = np.tile(x, (10, 1))
print("ready", flush=True)
"""


def _interrupt(call: str) -> str:
    """Starts a call in another process, interrupts it, and says how that process ended."""
    process = subprocess.Popen(
        [sys.executable, "-c", PREPARE + call], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.5)
        process.send_signal(signal.SIGINT)
        return process.communicate(timeout=GENEROUS)[1].rstrip().splitlines()[-1]
    finally:
        process.kill()
        process.communicate()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT for one child process")
@pytest.mark.parametrize("name", LONG)
def test_control_c_stops_every_kernel(name: str) -> None:
    assert _interrupt(LONG[name]) == "KeyboardInterrupt"


LONG_PROGRESS: dict[str, Callable[..., object]] = {
    "walk": lambda progress: CALLS["walk"](town(5000), walks=2000, steps=50, progress=progress),
    "diffuse": lambda progress: CALLS["diffuse"](TOWN, tolerance=1e-30, max_iterations=10**9, progress=progress),
    "search": lambda progress: _core.search(VECTORS, np.tile(TOWN.x, (20_000, 1)), 60, threads=1, progress=progress),
}


@pytest.mark.parametrize("name", LONG_PROGRESS)
def test_an_exception_in_the_progress_callback_comes_out(name: str) -> None:
    counts: list[tuple[int, int]] = []

    def progress(done: int, total: int) -> None:
        counts.append((done, total))
        if len(counts) == 3:
            raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        LONG_PROGRESS[name](progress)
    assert len(counts) == 3
    assert counts == sorted(counts)
    assert all(0 <= done <= total for done, total in counts)
