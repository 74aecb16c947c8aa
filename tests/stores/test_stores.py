"""Exact and HNSW stores: agreement, exclusions, and indexes that are saved, loaded, verified and rebuilt."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gme.errors import GmeError
from gme.pipeline.index import EXACT_BELOW, OpenSettings, open_store
from gme.storage.files import read_json
from gme.stores.candidates import CandidateStore
from gme.stores.exact import ExactStore
from gme.stores.hnsw import HnswStore, build_hnsw
from gme.stores.store import NO_ROW, Rows, Store, best, sorted_ranks
from gme.types import Vectors
from gme.workspace import Workspace
from properties import examples
from recorder import Recorder

ROWS, DIM = 900, 16


@pytest.fixture(scope="module")
def clustered() -> Vectors:
    """Vectors around 20 centers, the last five of them zero."""
    generator = np.random.default_rng(0)
    centers = generator.standard_normal((20, DIM))
    vectors = centers[generator.integers(0, 20, ROWS)] + 0.5 * generator.standard_normal((ROWS, DIM))
    vectors[-5:] = 0
    return vectors.astype(np.float32)


@pytest.fixture(scope="module")
def stores(clustered: Vectors) -> tuple[ExactStore, HnswStore]:
    ranks = np.random.default_rng(1).permutation(ROWS).astype(np.uint32)
    exact = ExactStore(clustered, ranks)
    return exact, build_hnsw(exact)


def test_both_stores_find_and_score_the_same(stores: tuple[ExactStore, HnswStore], clustered: Vectors) -> None:
    queries = clustered[:50] + np.float32(0.1)
    (want, want_scores), (got, got_scores) = (store.search(queries, 20) for store in stores)
    assert np.mean([np.isin(a, b).mean() for a, b in zip(want, got, strict=True)]) > 0.97
    for row, score, rows, scores in zip(got, got_scores, want, want_scores, strict=True):
        known = dict(zip(rows.tolist(), scores.tolist(), strict=True))
        assert all(known[r] == s for r, s in zip(row.tolist(), score.tolist(), strict=True) if r in known)
        assert (np.diff(score) <= 0).all()


@pytest.mark.parametrize(("questions", "k"), [(0, 5), (3, 0), (0, 0)])
def test_nothing_asked_is_nothing_found(
    questions: int, k: int, stores: tuple[ExactStore, HnswStore], clustered: Vectors
) -> None:
    for store in stores:
        assert [part.shape for part in store.search(clustered[:questions], k)] == [(questions, k)] * 2


def test_queries_that_can_not_be_compared_are_named(stores: tuple[ExactStore, HnswStore], clustered: Vectors) -> None:
    queries = np.array(clustered[:2])
    queries[1, 2] = np.nan
    for store in stores:
        with pytest.raises(GmeError, match=r"^queries holds NaN at row 1, column 2"):
            store.search(queries, 5)


def test_exact_search_is_numpys(stores: tuple[ExactStore, HnswStore], clustered: Vectors) -> None:
    query = clustered[3] + 1
    norms = np.linalg.norm(clustered, axis=1)
    cosines = clustered @ query / np.where(norms > 0, norms, 1) / np.linalg.norm(query)
    rows, scores = stores[0].search(query[None], 30)
    np.testing.assert_allclose(scores[0], np.sort(cosines)[::-1][:30], atol=1e-6)
    np.testing.assert_allclose(stores[0].cosines(query[None], rows), scores, atol=0)


@pytest.mark.parametrize("number", [0, 1], ids=["exact", "hnsw"])
class TestEitherStore:
    def test_excluded_rows_stay_out_of_the_next_search(
        self, stores: tuple[ExactStore, HnswStore], clustered: Vectors, number: int
    ) -> None:
        store, queries = stores[number], clustered[:9]
        first, scores = store.search(queries, 30)
        both, _ = store.search(queries, 60)
        padded = np.pad(first, ((0, 0), (0, 2)), constant_values=NO_ROW)
        second, later = store.search(queries, 30, padded)
        assert not any(np.isin(a, b).any() for a, b in zip(first, second, strict=True))
        assert (later[:, 0] <= scores[:, -1]).all()
        overlap = [
            len({*a.tolist(), *b.tolist()} & set(c.tolist())) for a, b, c in zip(first, second, both, strict=True)
        ]
        assert min(overlap) > 55

    def test_only_allowed_rows_come_back(
        self, stores: tuple[ExactStore, HnswStore], clustered: Vectors, number: int
    ) -> None:
        allowed = np.arange(ROWS) % 7 == 0
        rows, _ = stores[number].search(clustered[:9], 25, None, allowed)
        assert (rows % 7 == 0).all()

    def test_what_is_missing_is_padded(
        self, stores: tuple[ExactStore, HnswStore], clustered: Vectors, number: int
    ) -> None:
        allowed = np.zeros(ROWS, dtype=bool)
        allowed[[4, 8]] = True
        rows, scores = stores[number].search(clustered[:2], 5, np.array([[4], [NO_ROW]], dtype=np.uint32), allowed)
        assert rows.tolist()[0] == [8, *[NO_ROW] * 4]
        assert sorted(rows.tolist()[1][:2]) == [4, 8]
        assert np.isneginf(scores[rows == NO_ROW]).all()
        assert np.isfinite(scores[rows != NO_ROW]).all()
        nothing, _ = stores[number].search(clustered[:2], 3, None, np.zeros(ROWS, dtype=bool))
        assert (nothing == NO_ROW).all()

    def test_a_zero_query_ranks_by_id_alone(
        self, stores: tuple[ExactStore, HnswStore], clustered: Vectors, number: int
    ) -> None:
        queries = np.vstack([clustered[:1], np.zeros((1, DIM), dtype=np.float32)])
        rows, scores = stores[number].search(queries, 10)
        assert stores[number].ranks[rows[1]].tolist() == list(range(10))
        assert (scores[1] == 0).all()

    def test_zero_vectors_have_similarity_zero(
        self, stores: tuple[ExactStore, HnswStore], clustered: Vectors, number: int
    ) -> None:
        rows, scores = stores[number].search(clustered[:20], 100)
        zero = rows >= ROWS - 5
        assert not zero[:, 0].any()
        assert (scores[zero] == 0).all()

    def test_threads_and_batches_change_nothing(
        self, stores: tuple[ExactStore, HnswStore], clustered: Vectors, number: int
    ) -> None:
        exact = ExactStore(clustered, stores[0].ranks, threads=1)
        single: Store = exact if number == 0 else HnswStore(exact, stores[1].index)
        rows, scores = stores[number].search(clustered[:30], 15)
        for question in range(30):
            again, points = single.search(clustered[question : question + 1], 15)
            assert again.tobytes() == rows[question].tobytes()
            assert points.tobytes() == scores[question].tobytes()


def test_a_build_by_one_thread_is_the_same_for_any_order_of_nodes(clustered: Vectors) -> None:
    ids = [f"n{number}" for number in np.random.default_rng(2).permutation(ROWS)]
    order = np.random.default_rng(3).permutation(ROWS)
    first = build_hnsw(ExactStore(clustered, sorted_ranks(ids)))
    second = build_hnsw(ExactStore(clustered[order], sorted_ranks([ids[row] for row in order])))
    assert first.index.save() == second.index.save()


@examples(60)
@given(seed=st.integers(0, 1000), candidates=st.integers(0, 30), k=st.integers(0, 35))
def test_best_sorts_by_score_then_rank(seed: int, candidates: int, k: int) -> None:
    generator = np.random.default_rng(seed)
    ranks = generator.permutation(40).astype(np.uint32)
    rows = np.stack([generator.permutation(40)[:candidates] for _ in range(3)]).astype(np.uint32)
    scores = generator.integers(-2, 3, rows.shape).astype(np.float32)
    rows[generator.random(rows.shape) < 0.2] = NO_ROW
    found, points = best(rows, scores, ranks, k)
    assert found.shape == points.shape == (3, k)
    for line in range(3):
        pairs = [(-s, ranks[r], r) for r, s in zip(rows[line], scores[line], strict=True) if r != NO_ROW]
        want = [int(row) for _, _, row in sorted(pairs)][:k]
        assert found[line].tolist() == want + [NO_ROW] * (k - len(want))


def test_sorted_ranks_compare_code_points() -> None:
    assert sorted_ranks(["n2", "n10", "ä", "Z", "z"]).tolist() == [2, 1, 4, 0, 3]


@pytest.mark.parametrize(("precision", "bytes_a_number"), [("f16", 2), ("i8", 1)])
def test_an_index_of_less_precision_is_smaller_and_scores_the_same(
    precision: str, bytes_a_number: int, stores: tuple[ExactStore, HnswStore], clustered: Vectors
) -> None:
    exact, full = stores
    small = build_hnsw(exact, precision=precision)
    saved = (4 - bytes_a_number) * ROWS * DIM
    assert len(full.index.save()) - len(small.index.save()) == pytest.approx(saved, rel=0.1)
    queries = clustered[:50] + np.float32(0.1)
    (want, want_scores), (got, scores) = (store.search(queries, 20) for store in (exact, small))
    assert np.mean([np.isin(a, b).mean() for a, b in zip(want, got, strict=True)]) > 0.95
    known = [dict(zip(a.tolist(), b.tolist(), strict=True)) for a, b in zip(want, want_scores, strict=True)]
    for line, of_row, to_row in zip(known, got.tolist(), scores.tolist(), strict=True):
        assert all(line[row] == score for row, score in zip(of_row, to_row, strict=True) if row in line)
    rows, scores = small.search(clustered[:20], 100)
    assert (scores[rows >= ROWS - 5] == 0).all(), "zero vectors"
    assert build_hnsw(exact, precision=precision).index.save() == small.index.save()


# ---- indexes of a workspace ---------------------------------------------------------------------------


def _open(folder: Path, kind: str = "hnsw") -> tuple[Store, list[str]]:
    recorder = Recorder()
    return open_store(Workspace(folder), "original", kind, OpenSettings(reporter=recorder)), recorder.notes


def test_an_index_is_built_once_and_loaded_after(small_workspace: Path) -> None:
    store, notes = _open(small_workspace)
    assert store.kind == "hnsw"
    assert len(notes) == 1
    assert "index is missing" in notes[0]
    manifest = read_json(small_workspace / "indexes/original.json")
    assert {manifest[key] for key in ("rows", "dim", "connectivity", "expansion", "dtype", "threads")} == {
        6,
        8,
        16,
        128,
        "f32",
        1,
    }
    before = (small_workspace / "indexes/original.usearch").stat().st_mtime_ns
    loaded, notes = _open(small_workspace)
    assert notes == []
    assert (small_workspace / "indexes/original.usearch").stat().st_mtime_ns == before
    queries = store.vectors[:3] + np.float32(0.1)
    assert [a.tobytes() for a in loaded.search(queries, 2)] == [b.tobytes() for b in store.search(queries, 2)]


def test_each_precision_has_an_index_of_its_own(small_workspace: Path) -> None:
    for precision, name in (("i8", "original@i8"), ("f32", "original"), ("i8", None), ("f16", "original@f16")):
        recorder = Recorder()
        settings = OpenSettings(precision=precision, reporter=recorder)
        store = open_store(Workspace(small_workspace), "original", "hnsw", settings)
        assert len(recorder.notes) == (name is not None)
        assert store.search(store.vectors[:1], 1)[0].tolist() == [[0]]
        if name:
            assert read_json(small_workspace / f"indexes/{name}.json")["dtype"] == precision
    files = sorted(path.name for path in (small_workspace / "indexes").glob("*.usearch"))
    assert files == ["original.usearch", "original@f16.usearch", "original@i8.usearch"]
    with pytest.raises(GmeError, match="unknown precision 'i4'"):
        open_store(Workspace(small_workspace), "original", "exact", OpenSettings(precision="i4"))
    with pytest.raises(GmeError, match="unknown precision 'f64'"):
        build_hnsw(ExactStore(np.eye(3, dtype=np.float32), np.arange(3, dtype=np.uint32)), precision="f64")


def _other_vectors(folder: Path) -> None:
    vectors = np.load(folder / "embeddings/original.npy")
    np.save(folder / "embeddings/original.npy", np.ascontiguousarray(-vectors[:, :5]))


def _truncate(folder: Path) -> None:
    path = folder / "indexes/original.usearch"
    path.write_bytes(path.read_bytes()[:100])


def _break_manifest(folder: Path) -> None:
    (folder / "indexes/original.json").write_text("{")


def _lose_manifest(folder: Path) -> None:
    (folder / "indexes/original.json").unlink()


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (_other_vectors, "was built from other vectors"),
        (_truncate, "is not the file its manifest describes"),
        (_break_manifest, "has a damaged manifest"),
        (_lose_manifest, "is missing"),
    ],
)
def test_an_unusable_index_is_built_again_with_a_note(
    damage: Callable[[Path], None], reason: str, small_workspace: Path
) -> None:
    _open(small_workspace)
    damage(small_workspace)
    store, notes = _open(small_workspace)
    assert len(notes) == 1
    assert reason in notes[0]
    exact, _ = _open(small_workspace, "exact")
    queries: Vectors = store.vectors[:2]
    assert store.search(queries, 3)[0].tolist() == exact.search(queries, 3)[0].tolist()
    assert _open(small_workspace)[1] == []


@pytest.mark.parametrize(
    "damaged",
    [
        lambda data: b"",
        lambda data: b"not an index at all",
        lambda data: b"no index, and longer" * 100,
        lambda data: bytes(len(data)),
        lambda data: b"\xff\xff\xff\xff" + data[4:],
        lambda data: data[: len(data) // 2],
        lambda data: data[:-40],
    ],
    ids=["empty", "short", "text", "zeros", "wild size", "half", "cut"],
)
def test_a_damaged_index_with_a_matching_hash_is_built_again(
    damaged: Callable[[bytes], bytes], small_workspace: Path
) -> None:
    from gme.storage.files import sha256, write_json

    _open(small_workspace)
    path = small_workspace / "indexes/original.usearch"
    path.write_bytes(damaged(path.read_bytes()))
    write_json(path.with_suffix(".json"), {**read_json(path.with_suffix(".json")), "sha256": sha256(path)})
    store, notes = _open(small_workspace)
    assert "cannot be loaded" in notes[0]
    assert store.search(store.vectors[:1], 1)[0].tolist() == [[0]]


def test_small_collections_are_searched_exactly_by_default(
    small_workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert EXACT_BELOW > 1000
    assert _open(small_workspace, "auto")[0].kind == "exact"
    monkeypatch.setattr("gme.pipeline.index.EXACT_BELOW", 6)
    assert _open(small_workspace, "auto")[0].kind == "hnsw"


def test_bad_collections_and_kinds_are_refused(small_workspace: Path) -> None:
    with pytest.raises(GmeError, match="unknown index kind 'hsnw'"):
        _open(small_workspace, "hsnw")
    vectors: npt.NDArray[np.float32] = np.load(small_workspace / "embeddings/original.npy")
    vectors[2, 1] = np.nan
    np.save(small_workspace / "embeddings/original.npy", vectors)
    with pytest.raises(GmeError, match=r"row 2 \(id 'c'\) holds NaN or infinity"):
        _open(small_workspace, "exact")


def test_usearch_does_not_keep_onnxruntime_from_loading() -> None:
    script = "from gme.stores.hnsw import build_hnsw\nfrom gme.stores.exact import ExactStore\nimport numpy as np\n"
    script += "build_hnsw(ExactStore(np.eye(3, dtype='f4'), np.arange(3, dtype='u4')))\nimport onnxruntime\n"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_rows_are_what_the_kernel_returns(stores: tuple[ExactStore, HnswStore], clustered: Vectors) -> None:
    rows: Rows = stores[1].search(clustered[:2], 4)[0]
    assert rows.dtype == np.uint32
    assert stores[1].cosines(clustered[:2], rows).dtype == np.float32


def test_a_store_can_be_copied_and_sent_to_another_process(clustered: Vectors) -> None:
    ranks = np.random.default_rng(1).permutation(ROWS).astype(np.uint32)
    store = ExactStore(clustered, ranks, threads=1)
    want = store.search(clustered[:5], 7)
    for same in (copy.copy(store), copy.deepcopy(store), pickle.loads(pickle.dumps(store))):
        assert same.threads == 1
        for part, expected in zip(same.search(clustered[:5], 7), want, strict=True):
            np.testing.assert_array_equal(part, expected)


@pytest.mark.parametrize("k", [-1, 1.5, None, "2", True])
def test_a_count_that_is_no_whole_number(k: Any) -> None:
    for store in _both():
        with pytest.raises(GmeError, match="k must be a whole number from 0, found"):
            store.search(np.eye(3, dtype=np.float32), k)


@pytest.mark.parametrize(
    "queries", ["ab", None, ["a"], [["1", "2", "3"]], [[1, 2], [3]], np.ones((1, 3)) * 1j, [1, 0, 0]]
)
def test_queries_that_are_no_numbers(queries: Any) -> None:
    rows = np.zeros((1, 1), dtype=np.uint32)
    for store in _both():
        for ask in (store.search, store.cosines):
            with pytest.raises(GmeError, match=r"queries must be numbers \(questions, dim\), found"):
                ask(queries, 1 if ask == store.search else rows)


@pytest.mark.parametrize("rows", ["ab", None, [[0]], np.zeros((1, 1)), np.zeros(1, dtype=np.uint32)])
def test_rows_of_another_type(rows: Any) -> None:
    query = np.eye(1, 3, dtype=np.float32)
    for store in _both():
        for arguments in ((query, rows), (rows,)):
            ask = store.cosines if len(arguments) == 2 else store.pair_cosines
            with pytest.raises(GmeError, match="rows must be a uint32 array"):
                ask(*arguments)
        if rows is not None:
            with pytest.raises(GmeError, match="excluded must be a uint32 array"):
                store.search(query, 1, rows)


def test_a_count_of_numpy_and_queries_of_whole_numbers_are_taken() -> None:
    for store in _both():
        assert store.search([[0, 1, 0]], np.int64(1))[0].tolist() == [[1]]


class _Few(CandidateStore):
    kind = "few"

    def __init__(self) -> None:
        self.exact = ExactStore(np.eye(3, dtype=np.float32))

    def candidates(self, directions: Any, wanted: int) -> Any:
        return np.argsort(-directions, axis=1)[:, :wanted].astype(np.uint32)


def _both() -> list[Any]:
    return [ExactStore(np.eye(3, dtype=np.float32)), _Few()]
