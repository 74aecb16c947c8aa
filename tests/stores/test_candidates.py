"""A store that only proposes candidates gives what exact search gives, as far as its candidates go."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gme.errors import GmeError
from gme.stores import NO_ROW, CandidateStore, ExactStore, Rows
from gme.stores.store import contained
from gme.types import Vectors


class Proposer(CandidateStore):
    """Proposes rows from a list, the same for every question, `NO_ROW` where the list ends."""

    kind = "proposer"

    def __init__(self, exact: ExactStore, proposed: list[int]) -> None:
        self.exact = exact
        self.proposed = proposed
        self.asked: list[tuple[Vectors, int]] = []

    def candidates(self, directions: Vectors, wanted: int) -> Rows:
        """See `CandidateStore.candidates`."""
        self.asked.append((directions, wanted))
        rows = np.full((len(directions), wanted), NO_ROW, dtype=np.uint32)
        kept = self.proposed[:wanted]
        rows[:, : len(kept)] = kept
        return rows


NODES = 30


def _exact(seed: int) -> tuple[ExactStore, Vectors]:
    generator = np.random.default_rng(seed)
    vectors = generator.normal(size=(NODES, 4)).astype(np.float32)
    ranks = generator.permutation(NODES).astype(np.uint32)
    return ExactStore(vectors, ranks), generator.normal(size=(3, 4)).astype(np.float32)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 99),
    k=st.integers(1, 9),
    left_out=st.lists(st.integers(0, NODES - 1), max_size=4, unique=True),
    barred=st.sets(st.integers(0, NODES - 1), max_size=12),
    proposed=st.permutations(range(NODES)),
)
def test_the_best_of_the_candidates_are_returned(
    seed: int, k: int, left_out: list[int], barred: set[int], proposed: list[int]
) -> None:
    exact, queries = _exact(seed)
    excluded = np.tile(np.array([*left_out, NO_ROW], dtype=np.uint32), (3, 1))
    allowed = np.array([row not in barred for row in range(NODES)])
    store = Proposer(exact, proposed)
    rows, scores = store.search(queries, k, excluded, allowed)
    assert not contained(rows, excluded[:, :-1], NODES).any()
    assert allowed[rows].all()
    np.testing.assert_array_equal(scores, exact.cosines(queries, rows))
    if store.asked:  # else everything was searched
        offered = np.zeros(NODES, dtype=bool)
        offered[proposed[: store.asked[0][1]]] = True
        offered &= allowed
        offered[left_out] = False
        if offered.sum() >= k:
            expected = exact.search(queries, k, None, offered)
            np.testing.assert_array_equal(rows, expected[0])
            np.testing.assert_array_equal(scores, expected[1])
            return
    np.testing.assert_array_equal(rows, exact.search(queries, k, excluded, allowed)[0])


def test_directions_have_length_one_and_zero_questions_are_searched_exactly() -> None:
    exact, queries = _exact(0)
    queries[1] = 0
    store = Proposer(exact, [7, 8, 9, 10])
    rows, _ = store.search(queries, 2)
    [(directions, wanted)] = store.asked
    assert wanted == 4
    np.testing.assert_allclose(np.linalg.norm(directions, axis=1), [1, 0, 1], rtol=1e-6)
    assert set(rows[[0, 2]].ravel().tolist()) <= {7, 8, 9, 10}
    np.testing.assert_array_equal(rows[1], exact.search(queries, 2)[0][1])


def test_a_candidate_store_must_say_how_it_finds_candidates() -> None:
    with pytest.raises(TypeError, match="abstract"):
        CandidateStore()  # type: ignore[abstract]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"queries": np.ones((3, 5), np.float32)}, "each query has 5 entries, needs 4"),
        ({"allowed": np.ones(NODES + 3, bool)}, "allowed has 33 entries, needs 30"),
        ({"allowed": np.ones(NODES - 3, bool)}, "allowed has 27 entries, needs 30"),
        ({"allowed": np.ones(NODES, int)}, "allowed has dtype int64"),
        ({"excluded": np.zeros((1, 1), np.uint32)}, "excluded offsets has 2 entries, needs 4"),
        ({"excluded": np.zeros((3, 1), int)}, "excluded must be a uint32 array"),
        ({"excluded": np.full((3, 1), NODES, np.uint32)}, "excluded rows.* is 30, must be below 30"),
    ],
)
def test_what_exact_search_refuses_is_refused(changed: dict[str, Any], message: str) -> None:
    exact, queries = _exact(0)
    with pytest.raises(GmeError, match=message):
        Proposer(exact, [7, 8, 9, 10]).search(**{"queries": queries, "k": 2, **changed})
