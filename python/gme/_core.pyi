# What each function computes, and what it refuses, is documented where it is implemented: rust/*.rs.
# Arrays are C-contiguous and of exactly these dtypes, or a GmeError says how to make them so. x is float32 (nodes,
# dim); it may be a read-only memory map and is never written to. threads=0 means one per core. progress is called from
# the calling thread, about ten times a second, with (done, total).

from collections.abc import Callable
from typing import TypeAlias, final

import numpy as np
import numpy.typing as npt

_Floats: TypeAlias = npt.NDArray[np.float32]
_Rows: TypeAlias = npt.NDArray[np.uint32]
_Offsets: TypeAlias = npt.NDArray[np.uint64]
_Progress: TypeAlias = Callable[[int, int], object]

__all__ = [
    "Graph",
    "convex",
    "cosines",
    "diffuse",
    "group_means",
    "hop",
    "row_norms",
    "search",
    "signature",
    "title_mentions",
    "walk",
    "walk_endpoints",
]

@final
class Graph:
    def __new__(
        cls, ids: list[str], sources: _Rows, targets: _Rows, weights: npt.NDArray[np.float64] | None = None
    ) -> Graph: ...
    @property
    def nodes(self) -> int: ...
    @property
    def edges(self) -> int: ...
    @property
    def weighted(self) -> bool: ...
    @property
    def ranks(self) -> _Rows: ...
    @property
    def order(self) -> _Rows: ...
    @property
    def degrees(self) -> _Rows: ...
    def neighbors(self, row: int) -> _Rows: ...
    def csr(self) -> tuple[_Offsets, _Rows, _Floats]: ...

def hop(
    graph: Graph,
    x: _Floats,
    *,
    hops: int,
    share: tuple[int, int],
    alpha: float,
    least: bool,
    min_neighbors: int,
    threads: int = 0,
    progress: _Progress | None = None,
) -> _Floats: ...
def walk(
    graph: Graph,
    x: _Floats,
    *,
    steps: int,
    alpha: float,
    walks: int,
    seed: int,
    returns: bool,
    exact: bool,
    threads: int = 0,
    progress: _Progress | None = None,
) -> _Floats: ...
def walk_endpoints(
    graph: Graph, *, steps: int, walks: int, seed: int, returns: bool, threads: int = 0
) -> tuple[_Offsets, _Rows, _Rows]: ...
def convex(
    graph: Graph,
    x: _Floats,
    *,
    anchor_weight: float,
    edge_weight: float,
    tolerance: float,
    max_sweeps: int,
    threads: int = 0,
    progress: _Progress | None = None,
) -> tuple[_Floats, int, float, bool]: ...
def diffuse(
    graph: Graph,
    x: _Floats,
    *,
    restart: float,
    tolerance: float,
    max_iterations: int,
    weighted: bool,
    threads: int = 0,
    progress: _Progress | None = None,
) -> tuple[_Floats, int, float]: ...
def signature(
    graph: Graph,
    *,
    dim: int,
    restart: float,
    seed: int,
    tolerance: float,
    max_iterations: int,
    weighted: bool,
    threads: int = 0,
    progress: _Progress | None = None,
) -> tuple[_Floats, int, float]: ...
def group_means(graph: Graph, x: _Floats, labels: _Rows, *, alpha: float, threads: int = 0) -> _Floats: ...
def title_mentions(
    titles: list[str],
    texts: list[str],
    *,
    ignore_case: bool,
    min_length: int,
    threads: int = 0,
    progress: _Progress | None = None,
) -> tuple[_Rows, _Rows]: ...
def row_norms(x: _Floats, threads: int = 0) -> _Floats: ...
def search(
    x: _Floats,
    norms: _Floats,
    ranks: _Rows,
    queries: _Floats,
    k: int,
    *,
    excluded: tuple[_Offsets, _Rows] | None = None,
    allowed: npt.NDArray[np.bool_] | None = None,
    threads: int = 0,
    progress: _Progress | None = None,
) -> tuple[_Rows, _Floats]: ...
def cosines(x: _Floats, norms: _Floats, queries: _Floats, rows: _Rows, threads: int = 0) -> _Floats: ...
