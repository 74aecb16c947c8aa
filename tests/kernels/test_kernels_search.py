"""Cosine search and norms: the twin in `reference`, ties, exclusions, padding, scores that depend on a pair only."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_cases import PROPERTY, Case, cases, graph_of, vectors

from gme import _core
from reference import kernels as reference

PADDING = 0xFFFFFFFF
Floats = npt.NDArray[np.float32]


def _all_cosines(x: Floats, queries: Floats) -> Floats:
    rows = np.tile(np.arange(len(x), dtype=np.uint32), (len(queries), 1))
    return _core.cosines(_core.VectorSet(x), queries, rows)


def _lists(excluded: list[list[int]]) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint32]]:
    ends = np.cumsum([0, *map(len, excluded)]).astype(np.uint64)
    return ends, np.array([row for rows in excluded for row in rows], dtype=np.uint32)


def _check(x: Floats, ids: list[str], queries: Floats, k: int, **limits: Any) -> None:
    """The kernel's ranking of its own scores is that of a full sort, and the scores are right to six digits."""
    scores = _all_cosines(x, queries)
    assert scores.shape == (len(queries), len(x))
    for query, of_query in zip(queries, scores, strict=True):
        np.testing.assert_allclose(of_query, [reference.cosine(query, row) for row in x], atol=1e-6)
    expected = reference.search(scores, ids, k, **limits)
    packed: dict[str, Any] = {}
    if limits.get("excluded") is not None:
        packed["excluded"] = _lists(limits["excluded"])
    if limits.get("allowed") is not None:
        packed["allowed"] = np.array(limits["allowed"], dtype=bool)
    found, values = _core.search(_core.VectorSet(x, graph_of(ids, []).ranks), queries, k, **packed)
    assert found.shape == values.shape == (len(queries), k)
    for query, rows in enumerate(expected):
        padding = k - len(rows)
        assert found[query].tolist() == rows + [PADDING] * padding
        assert values[query].tolist() == scores[query, rows].tolist() + [-np.inf] * padding


@given(cases(least_nodes=1), st.integers(0, 4), st.integers(0, 18), st.data())
@PROPERTY
def test_search(case: Case, queries: int, k: int, data: st.DataObject) -> None:
    rows = st.integers(0, len(case.ids) - 1)
    excluded = data.draw(st.none() | st.lists(st.lists(rows, max_size=8), min_size=queries, max_size=queries))
    allowed = data.draw(st.none() | st.lists(st.booleans(), min_size=len(case.ids), max_size=len(case.ids)))
    wanted = vectors(queries, case.x.shape[1], data.draw(st.integers(0, 99)))
    _check(case.x, case.ids, wanted, k, excluded=excluded, allowed=allowed)


@pytest.fixture(scope="module")
def many() -> tuple[Floats, list[str], Floats]:
    """Enough rows and queries for several blocks of both; many rows are equal and some are zero."""
    ids = [f"n{number}" for number in np.random.default_rng(2).permutation(2500)]
    return vectors(2500, 37, 1), ids, vectors(90, 37, 4)


def test_search_in_many_rows(many: tuple[Floats, list[str], Floats]) -> None:
    x, ids, queries = many
    scores = _all_cosines(x, queries)
    ranks = graph_of(ids, []).ranks
    generator = np.random.default_rng(3)
    allowed = generator.random(len(x)) < 0.7
    excluded = [generator.integers(0, len(x), 300).tolist() for _ in queries]
    found, values = _core.search(_core.VectorSet(x, ranks), queries, 60, excluded=_lists(excluded), allowed=allowed)
    assert found.tolist() == reference.search(scores, ids, 60, excluded, allowed.tolist())
    assert (values == np.take_along_axis(scores, found.astype(np.int64), axis=1)).all()


def test_ties_go_to_the_smaller_id(many: tuple[Floats, list[str], Floats]) -> None:
    """All rows are one vector at different lengths that are powers of two, or opposite to it: only ids decide."""
    _, ids, _ = many
    base = np.random.default_rng(6).normal(size=37).astype(np.float32)
    x = np.ascontiguousarray(base * np.resize(np.array([1, 2, -1, 0.5], np.float32), len(ids))[:, np.newaxis])
    found, scores = _core.search(_core.VectorSet(x, graph_of(ids, []).ranks), base[np.newaxis], 1900)
    same = [row for row in sorted(range(len(ids)), key=lambda row: ids[row]) if row % 4 != 2]
    opposite = [row for row in sorted(range(len(ids)), key=lambda row: ids[row]) if row % 4 == 2]
    assert found[0].tolist() == (same + opposite)[:1900]
    np.testing.assert_allclose(scores[0, : len(same)], 1, atol=1e-6)
    assert len(set(scores[0, : len(same)].tolist())) == 1


def test_scores_depend_on_the_pair_only(many: tuple[Floats, list[str], Floats]) -> None:
    """Whatever the batch, the order of rows and queries, the number of threads, k, and the width of the call."""
    x, ids, queries = many
    vectors = _core.VectorSet(x, graph_of(ids, []).ranks)
    found, scores = _core.search(vectors, queries, 40, threads=1)
    for threads in (2, 5):
        again = _core.search(vectors, queries, 40, threads=threads)
        assert (again[0].tobytes(), again[1].tobytes()) == (found.tobytes(), scores.tobytes())
        assert _core.cosines(vectors, queries, found, threads=threads).tobytes() == scores.tobytes()
    for query in range(0, len(queries), 7):
        single = _core.search(vectors, queries[query : query + 1].copy(), 13)
        assert single[0][0].tolist() == found[query, :13].tolist()
        assert single[1][0].tobytes() == scores[query, :13].tobytes()
    order = np.random.default_rng(9).permutation(len(x))
    permuted = _core.VectorSet(x[order], vectors.ranks[order])
    turned = _core.search(permuted, queries[::-1].copy(), 40)
    assert order[turned[0]].tolist() == found[::-1].tolist()
    assert turned[1].tobytes() == scores[::-1].tobytes()
    assert permuted.norms.tobytes() == vectors.norms[order].tobytes()
    assert _core.VectorSet(x, threads=5).norms.tobytes() == vectors.norms.tobytes()


@pytest.mark.parametrize("each", [1, 2, 3, 4, 5, 9])
def test_several_queries_for_a_line_of_rows_score_as_one_by_one(
    each: int, many: tuple[Floats, list[str], Floats]
) -> None:
    x, _, queries = many
    vectors = _core.VectorSet(x)
    rows = np.random.default_rng(1).integers(0, len(x), (3, 11)).astype(np.uint32)
    rows[1, 4] = rows[2, 10] = PADDING
    queries = queries[: 3 * each].copy()
    expected = _core.cosines(vectors, queries, rows.repeat(each, axis=0))
    for threads in (1, 2):
        assert _core.cosines(vectors, queries, rows, threads=threads).tobytes() == expected.tobytes()


@pytest.mark.parametrize("size", [2, 3, 4, 5, 8, 13])
def test_pairs_score_as_cosines_do(size: int, many: tuple[Floats, list[str], Floats]) -> None:
    """To the bit those of the kernel above; and those of numpy's product of unit rows to six digits."""
    x = many[0].copy()
    x[3] = 0
    vectors = _core.VectorSet(x)
    rows = np.random.default_rng(size).integers(0, len(x), (20, size)).astype(np.uint32)
    rows[0, 0], rows[1, size - 1], rows[2] = 3, 3, PADDING
    first, second = np.triu_indices(size, 1)
    found = _core.pair_cosines(vectors, rows)
    assert found.shape == (20, len(first))
    assert (found[2] == -np.inf).all()
    rows, found = np.delete(rows, 2, axis=0), np.delete(found, 2, axis=0)
    for line, scores in zip(rows, found, strict=True):
        assert scores.tobytes() == _core.cosines(vectors, x[line[first]], line[second][:, None])[:, 0].tobytes()
        units = x[line] / np.maximum(vectors.norms[line], 1e-30)[:, None]
        np.testing.assert_allclose(scores, (units @ units.T)[first, second], atol=1e-6)
    assert _core.pair_cosines(vectors, rows, threads=2).tobytes() == found.tobytes()


def test_the_length_of_a_vector_does_not_matter(many: tuple[Floats, list[str], Floats]) -> None:
    x, _, queries = many
    scores = _all_cosines(x, queries)
    for scale in (1e-15, 1e-3, 1e15):
        scaled = (x * np.float32(scale)).astype(np.float32)
        np.testing.assert_allclose(_all_cosines(scaled, queries), scores, atol=1e-6)
        np.testing.assert_allclose(_all_cosines(x, (queries * np.float32(scale)).astype(np.float32)), scores, atol=1e-6)
    assert (np.abs(scores) <= 1 + 1e-6).all()


def test_the_cosine_of_a_zero_vector_is_zero() -> None:
    x = np.array([[0, 0, 0], [1, 2, 3], [-1, -2, -3]], dtype=np.float32)
    zero = np.zeros((1, 3), np.float32)
    assert _all_cosines(x, zero).tolist() == [[0, 0, 0]]
    assert _all_cosines(x, x[1:])[:, 0].tolist() == [0, 0]
    found, scores = _core.search(_core.VectorSet(x, np.array([2, 1, 0], np.uint32)), x[1:2], 3)
    assert found[0].tolist() == [1, 0, 2]
    assert scores[0, 1] == 0
    assert _core.search(_core.VectorSet(x, np.array([2, 1, 0], np.uint32)), zero, 3)[0][0].tolist() == [2, 1, 0]


def test_a_padding_row_scores_minus_infinity() -> None:
    x = vectors(5, 8, 0)
    rows = np.array([[0, PADDING, 4]], dtype=np.uint32)
    scores = _core.cosines(_core.VectorSet(x), x[:1].copy(), rows)
    assert np.isneginf(scores[0]).tolist() == [False, True, False]


@pytest.mark.parametrize("dim", [1, 3, 15, 16, 17, 384])
def test_norms(dim: int) -> None:
    x = np.random.default_rng(dim).normal(size=(50, dim)).astype(np.float32)
    x[0] = 0
    x[1] *= np.float32(1e-25)
    x[2] *= np.float32(1e25)
    np.testing.assert_allclose(_core.row_norms(x), reference.row_norms(x), rtol=2e-7)
