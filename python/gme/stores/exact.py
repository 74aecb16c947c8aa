"""The exact store: it compares the query with every vector."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from .. import _core
from ..types import Vectors
from .checks import check_count, check_rows, checked_queries
from .store import NO_ROW, Rows, Store


@dataclass(frozen=True)
class ExactStore:
    """Compares a query with every vector.

    Args:
        vectors: float32 (nodes, dim), C order; may be memory-mapped.
        ranks: uint32 (nodes,): the rank of each node's id in sorted order; default: the order of rows.
        threads: 0 means all cores. The result does not depend on it.
        name: what errors call the vectors.

    Raises:
        GmeError: a wrong dtype, layout or length; NaN or infinity.

    Example:
        >>> import gme, numpy as np
        >>> store = gme.ExactStore(np.eye(3, dtype=np.float32))
        >>> rows, scores = store.search(np.array([[0, 1, 0.5]], dtype=np.float32), 2)
        >>> rows.tolist()
        [[1, 2]]
    """

    vectors: Vectors
    ranks: Rows = field(default=None)  # type: ignore[arg-type]  # never None after construction
    threads: int = 0
    vector_set: _core.VectorSet = field(init=False, repr=False)
    kind: str = field(default="exact", init=False)
    name: str = field(default="x", kw_only=True, repr=False, compare=False)

    def __post_init__(self) -> None:
        made = _core.VectorSet(self.vectors, self.ranks, threads=self.threads, name=self.name)
        object.__setattr__(self, "vector_set", made)
        object.__setattr__(self, "ranks", made.ranks)

    def __reduce__(self) -> tuple[type[ExactStore], tuple[Vectors, Rows, int]]:
        """A copy, or a store sent to another process, is made anew from the arrays."""
        return type(self), (self.vectors, self.ranks, self.threads)

    @property
    def norms(self) -> Vectors:
        """The L2 norm of each vector."""
        return self.vector_set.norms

    def search(
        self, queries: Vectors, k: int, excluded: Rows | None = None, allowed: npt.NDArray[np.bool_] | None = None
    ) -> tuple[Rows, Vectors]:
        """See `Store.search`."""
        check_count(k)
        if excluded is not None:
            check_rows(excluded, "excluded")
        pairs = None if excluded is None else _sparse(excluded)
        return _core.search(
            self.vector_set,
            checked_queries(queries),
            k,
            excluded=pairs,
            allowed=allowed,
            threads=self.threads,
        )

    def cosines(self, queries: Vectors, rows: Rows) -> Vectors:
        """See `Store.cosines`."""
        check_rows(rows)
        return _core.cosines(
            self.vector_set,
            checked_queries(queries),
            np.ascontiguousarray(rows),
            threads=self.threads,
        )

    def pair_cosines(self, rows: Rows) -> Vectors:
        """See `Store.pair_cosines`."""
        check_rows(rows)
        return _core.pair_cosines(self.vector_set, np.ascontiguousarray(rows), threads=self.threads)


def vector_set(store: Store, threads: int = 0) -> _core.VectorSet:
    """A store's vectors in the form that kernels take. It is made here if the store brings none."""
    own = getattr(store, "vector_set", None)
    return own if isinstance(own, _core.VectorSet) else _core.VectorSet(store.vectors, store.ranks, threads=threads)


def _sparse(excluded: Rows) -> tuple[npt.NDArray[np.uint64], Rows]:
    """Convert a padded (questions, any) array to (indptr, rows), the form that the kernel takes."""
    present = excluded != NO_ROW
    indptr = np.zeros(len(excluded) + 1, dtype=np.uint64)
    np.cumsum(present.sum(axis=1), out=indptr[1:])
    return indptr, np.ascontiguousarray(excluded[present])
