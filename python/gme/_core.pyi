"""The compiled kernels: everything that passes over the whole graph or over all vectors.

Every function gives the same bytes for any number of threads, any order of nodes and edges, and any machine. The one
exception is `hub_damping`: it takes powers with the mathematics library of the system, which may vary in the last bit.

- ``threads=0`` uses all cores.
- Matrices are float32 and C-contiguous, with one row per node. They may be read-only memory maps. Another dtype, layout
  or shape, NaN or infinity, and parameters out of range raise `gme.errors.GmeError`.
- `progress` is called with (done, total) from the calling thread, about ten times a second.
- Ctrl-C stops a kernel within a second.
- If `out` is given, the result is written to it and `out` is returned. It must be float32 and C-contiguous, have the
  shape of the result, and not overlap with `x`. It may be a memory map.
- Do not write into an array from another thread while a kernel reads it.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Graph",
    "LexicalBuilder",
    "NodeTable",
    "VectorSet",
    "convex",
    "cosines",
    "diffuse",
    "gradient",
    "group_means",
    "hop",
    "lexical_facts",
    "lexical_rest",
    "lexical_scores",
    "lexical_search",
    "lexical_words",
    "pagerank",
    "pair_cosines",
    "read_edges",
    "read_ids",
    "read_nodes",
    "root_signature",
    "row_norms",
    "search",
    "shared",
    "signature",
    "spread",
    "title_mentions",
    "walk",
    "walk_endpoints",
    "walk_masses",
]

@final
class Graph:
    """An undirected graph over node rows. Self-loops are dropped; of parallel edges the largest weight stays.

    Args:
        ids: one distinct id per row.
        sources: uint32, one row per edge.
        targets: uint32, the other end of each edge.
        weights: float64, positive, or None for weight 1 everywhere.
        progress: called with a number of edges. Each edge counts twice.

    Raises:
        GmeError: duplicate ids, rows that do not exist, weights that are not positive.
    """

    def __new__(
        cls,
        ids: Sequence[str] | NodeTable,
        sources: NDArray[np.uint32],
        targets: NDArray[np.uint32],
        weights: NDArray[np.float64] | None = None,
        *,
        progress: Callable[[int, int], None] | None = None,
    ) -> Graph: ...
    @property
    def nodes(self) -> int:
        """Number of nodes."""
    @property
    def edges(self) -> int:
        """Number of distinct undirected edges."""
    @property
    def weighted(self) -> bool:
        """Whether any weight differs from 1."""
    @property
    def ranks(self) -> NDArray[np.uint32]:
        """The rank of each row: the place of its id among the sorted ids."""
    @property
    def order(self) -> NDArray[np.uint32]:
        """The rows in the order of their ids."""
    @property
    def degrees(self) -> NDArray[np.uint32]:
        """The number of neighbors of each row."""
    def neighbors(self, row: int) -> NDArray[np.uint32]:
        """The rows of the neighbors of `row`, in the order of their ids."""
    def csr(self) -> tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.float32]]:
        """The adjacency as (indptr, indices, weights). The indices of a row are in the order of their ids."""

@final
class NodeTable:
    """The distinct ids of nodes by row, and rows by id. It takes a fraction of the memory of a list and a dict.

    Raises:
        GmeError: two ids are equal.
    """

    def __new__(cls, ids: Sequence[str]) -> NodeTable: ...
    @property
    def ids(self) -> list[str]:
        """All ids, in the order of their rows."""
    def row(self, id: str) -> int | None:
        """The row of an id, or None if no node has it."""
    def __getitem__(self, row: int, /) -> str:
        """The id of a row."""
    def __contains__(self, id: object, /) -> bool: ...
    def __len__(self) -> int: ...

def read_ids(
    path: Path, *, block: int, longest: int, threads: int = 0, progress: Callable[[int, int], None] | None = None
) -> NodeTable:
    """The ids of a `nodes.jsonl`. All lines are checked by the rules of `gme.workspace.records.check_node`.

    Args:
        block: how many bytes are read at a time.
        longest: the most bytes of a line; longer lines are refused.
        progress: called with a number of bytes.

    Raises:
        gme.errors.RefusedLine: the first line that breaks a rule or repeats an id.
    """

def read_nodes(
    path: Path, *, block: int, longest: int, threads: int = 0, progress: Callable[[int, int], None] | None = None
) -> tuple[NodeTable, list[str], list[str], list[str | None]]:
    """The ids of a `nodes.jsonl` as `read_ids` gives them, with types, texts and titles."""

_EdgeColumns: TypeAlias = tuple[
    NDArray[np.uint32],
    NDArray[np.uint32],
    NDArray[np.float64] | None,
    NDArray[np.uint8] | NDArray[np.uint32],
    list[str],
]

def read_edges(
    path: Path,
    nodes: NodeTable,
    *,
    block: int,
    longest: int,
    threads: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> _EdgeColumns:
    """The edges of an `edges.jsonl`, by the rules of `gme.workspace.records.check_edge`.

    Arguments and errors are those of `read_ids`.

    Returns:
        sources and targets as rows; weights, or None if all are 1; types, as indices of the last item and as uint8 if
        that is enough; the names of the types.
    """

def hop(
    graph: Graph,
    x: NDArray[np.float32],
    *,
    hops: int,
    share: tuple[int, int],
    alpha: float,
    least: bool,
    min_neighbors: int,
    max_hub_degree: int = 0,
    threads: int = 0,
    progress: Callable[[int, int], None] | None = None,
    out: NDArray[np.float32] | None = None,
) -> NDArray[np.float32]:
    """``alpha * x_i + (1 - alpha) * mean x_j`` over selected nodes at distance `hops`, 1 or 2 (GME: hop1, hop2).

    Of n nodes, the min(n, max(min_neighbors, ceil(share * n))) least or most similar to x_i by cosine are selected.
    Ties are decided by id. `share` is an exact fraction (part, whole). A node with nothing to select keeps its vector.

    At distance 2, at most 2^36 paths of two edges are followed. A node with n neighbors is the middle of n^2 paths. If
    there are more, a `GmeError` names the largest hub. `max_hub_degree` leaves out paths through nodes with more
    neighbors; 0 leaves out none.
    """

def walk(
    graph: Graph,
    x: NDArray[np.float32],
    *,
    steps: int,
    alpha: float,
    walks: int,
    seed: int,
    returns: bool,
    exact: bool,
    threads: int = 0,
    progress: Callable[[int, int], None] | None = None,
    out: NDArray[np.float32] | None = None,
) -> NDArray[np.float32]:
    """``alpha * x_i + (1 - alpha) * mean x`` over the endpoints of `walks` random walks of `steps` steps (GME: walk).

    Steps are proportional to weight. Without `returns`, a walk that ends where it began is moved to another endpoint,
    drawn by the frequencies of the node's other walks. `exact` takes the expectation P^steps x instead of samples;
    without `returns`, the mean over walks that do not end at i. A node whose walks have no endpoint keeps its vector,
    and so does an isolated node.
    """

def walk_endpoints(
    graph: Graph, *, steps: int, walks: int, seed: int, returns: bool, threads: int = 0
) -> tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.uint32]]:
    """The endpoints that `walk` averages over, as (indptr, rows, counts). Rows are in the order of their ids.

    Isolated nodes have no endpoints. Without `returns`, nodes whose walks all return have none either.
    """

def convex(
    graph: Graph,
    x: NDArray[np.float32],
    *,
    anchor_weight: float,
    edge_weight: float,
    tolerance: float,
    max_sweeps: int,
    solver: str = "gauss-seidel",
    threads: int = 0,
    progress: Callable[[int, int], None] | None = None,
    out: NDArray[np.float32] | None = None,
) -> tuple[NDArray[np.float32], int, float, bool]:
    """The minimizer of ``a sum |z_i - x_i|^2 + b sum_edges |z_i - z_j|^2`` (GME: convex).

    The formula does not use edge weights. `solver` is ``gauss-seidel`` or ``cg``. Gauss-Seidel sweeps go through the
    sorted ids and stop when no node moves by `tolerance` in a sweep. Conjugate gradients stop when no node would move
    by it in a Jacobi sweep.

    Returns:
        z, the number of sweeps or passes, the largest move of any node in the last one (for ``cg``, in a Jacobi sweep),
        and whether that is below the tolerance.
    """

def shared(
    graph: Graph,
    x: NDArray[np.float32],
    *,
    anchor_weight: float,
    edge_weight: float,
    shared_weight: float,
    tolerance: float,
    max_sweeps: int,
    max_hub_degree: int = 0,
    solver: str = "gauss-seidel",
    threads: int = 0,
    progress: Callable[[int, int], None] | None = None,
    out: NDArray[np.float32] | None = None,
) -> tuple[NDArray[np.float32], int, float, bool, int]:
    """The minimizer of `convex` plus ``c sum |z_i - z_j|^2`` over pairs at distance two (GME: shared neighbors).

    Each pair counts once, however many neighbors its nodes share. Nodes with more than `max_hub_degree` neighbors (0:
    no limit) do not count as shared neighbors. More than 2^30 pairs raise a `GmeError` that names the largest hub; for
    this limit a pair counts once for each shared neighbor and direction.

    Returns:
        what `convex` returns, and the number of pairs.
    """

def diffuse(
    graph: Graph,
    x: NDArray[np.float32],
    *,
    restart: float,
    tolerance: float,
    max_iterations: int,
    weighted: bool,
    threads: int = 0,
    progress: Callable[[int, int], None] | None = None,
    out: NDArray[np.float32] | None = None,
) -> tuple[NDArray[np.float32], int, float]:
    """``z = c sum_k (1-c)^k P^k x``, P = D^-1 A: random walk with restart (RT), by Chebyshev semi-iteration.

    Columns are solved in blocks of 32. A block is finished when a plain step ``z <- c x + (1-c) P z`` would change none
    of its entries by `tolerance`. An isolated node keeps its vector.

    Returns:
        z, the number of passes of the slowest block, and the largest change that a plain step would make.
    """

def signature(
    graph: Graph,
    *,
    dim: int,
    restart: float,
    seed: int,
    tolerance: float,
    max_iterations: int,
    weighted: bool,
    damping: float = 0.0,
    threads: int = 0,
    progress: Callable[[int, int], None] | None = None,
    out: NDArray[np.float32] | None = None,
) -> tuple[NDArray[np.float32], int, float]:
    """`diffuse` of one random unit vector per node, scaled back to length 1 (ours: signature).

    The entries of the random vectors are normal numbers keyed by (seed, id, column). Each vector is multiplied by its
    node's degree^-damping before it is diffused. A damping of 0.5 is the symmetric normalization D^-1/2 A D^-1/2. With
    damping, `tolerance` and the returned change are relative to the norm of a row.
    """

def root_signature(
    graph: Graph,
    *,
    dim: int,
    restart: float,
    drop: float,
    seed: int,
    weighted: bool,
    rows: NDArray[np.uint32] | None = None,
    threads: int = 0,
    progress: Callable[[int, int], None] | None = None,
    out: NDArray[np.float32] | None = None,
) -> tuple[NDArray[np.float32], tuple[int, int, float, int]]:
    """Square roots of `walk_masses`, sketched (ours: signature): ``s_i = sum_j sqrt(p_ij) r_j``, scaled to length 1.

    r_j are random signs keyed by (seed, id, column): the cosine of two signatures estimates the Bhattacharyya
    coefficient of their rows.

    Args:
        rows: the rows to compute, any number of them in any order; None for all. A row is the same bytes either way.

    Returns:
        float32 (rows, dim); and over these rows: entries, entries of the longest, mass dropped, edges followed.
    """

def walk_masses(
    graph: Graph,
    *,
    restart: float,
    drop: float,
    weighted: bool,
    rows: NDArray[np.uint32] | None = None,
    threads: int = 0,
) -> tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.float32]]:
    """Where random walks with restart from some rows are, without what is below `drop`.

    Row i has entries ``offsets[i]`` to ``offsets[i + 1]``: nodes, by rank, and masses. No mass is larger than that of
    the walk itself: walks are not followed where less than a fifth of `drop` would go over each edge of a node.

    Returns:
        offsets, nodes, masses.
    """

def gradient(
    graph: Graph,
    x: NDArray[np.float32],
    *,
    targets: tuple[float, float, float, float],
    step: float,
    max_shift: float,
    steps: int,
    fan_out: int,
    pairs: int,
    seed: int,
    threads: int = 0,
    progress: Callable[[int, int], None] | None = None,
    out: NDArray[np.float32] | None = None,
) -> tuple[NDArray[np.float32], tuple[float, float], float, tuple[int, int]]:
    """Steps down the gradient of ``sum (cos(z_i, z_j) - target(hops))^2`` over pairs in patches (GME: gradient).

    A patch is a node with all nodes within two hops of it. `targets` are for pairs 1, 2, 3 and 4 hops apart. See
    `gme.transforms.gradient.gradient` for the step, the bound and the draws at hubs.

    Returns:
        z; the mean loss of a pair before and after; the furthest move of any node, in lengths of its vector; the number
        of patches, and how many of them were above the limits and were sampled.
    """

def group_means(
    graph: Graph,
    x: NDArray[np.float32],
    labels: NDArray[np.uint32],
    *,
    alpha: float,
    threads: int = 0,
    progress: Callable[[int, int], None] | None = None,
    out: NDArray[np.float32] | None = None,
) -> NDArray[np.float32]:
    """``alpha * x_i + (1 - alpha) * mean x`` over the nodes with the label of i, including i (GME: louvain)."""

def title_mentions(
    titles: Sequence[str],
    texts: Sequence[str],
    *,
    ignore_case: bool,
    min_length: int,
    threads: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Which titles occur in which texts as whole words (NG: title mentions).

    The search goes from left to right, takes the longest title that is a whole word at a position, and goes on after
    it. Word characters are letters, digits, marks and the underscore of any script. An end of a title that is not a
    word character needs no boundary. Titles shorter than `min_length` characters are left out, and so are blank ones.
    Equal titles are all mentioned.

    Returns:
        the title index and the text index of each pair, sorted by title and then by text, without repetition.
    """

def row_norms(x: NDArray[np.float32], threads: int = 0, *, name: str = "x") -> NDArray[np.float32]:
    """The L2 norm of every row, summed in a fixed order. Errors call the matrix by `name`."""

@final
class VectorSet:
    """The vectors of a collection, with their norms and the ranks of their ids, in the form that searches take.

    The norms are computed once, when it is made. Every call reads the arrays in place, and this object keeps them
    alive. A memory map is not read into memory.

    Args:
        x: float32 (rows, dim).
        ranks: uint32 (rows,), the place of each row's id among the sorted ids. By default, the order of the rows.
        name: what the errors raised here call the vectors.

    Raises:
        GmeError: another dtype, layout or length, NaN or infinity, a vector whose norm is too large for float32.

    Example:
        >>> import numpy as np
        >>> vectors = VectorSet(np.array([[3, 4], [0, 1]], dtype=np.float32))
        >>> len(vectors), vectors.norms.tolist(), vectors.ranks.tolist()
        (2, [5.0, 1.0], [0, 1])
        >>> search(vectors, np.array([[0, 2]], dtype=np.float32), 1)[0].tolist()
        [[1]]
    """

    def __new__(
        cls, x: NDArray[np.float32], ranks: NDArray[np.uint32] | None = None, *, threads: int = 0, name: str = "x"
    ) -> VectorSet: ...
    @property
    def vectors(self) -> NDArray[np.float32]:
        """The array passed as `x`."""
    @property
    def norms(self) -> NDArray[np.float32]:
        """The L2 norm of every row, read-only."""
    @property
    def ranks(self) -> NDArray[np.uint32]:
        """The place of each row's id among the sorted ids."""
    def __len__(self) -> int: ...

def search(
    vectors: VectorSet,
    queries: NDArray[np.float32],
    k: int,
    *,
    excluded: tuple[NDArray[np.uint64], NDArray[np.uint32]] | None = None,
    allowed: NDArray[np.bool_] | None = None,
    threads: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[NDArray[np.uint32], NDArray[np.float32]]:
    """The `k` rows with the largest cosine for every query, exactly. The best come first; ties go by smaller rank.

    A score depends on its two vectors only: its bits are the same for any batch and order of rows. The cosine of a zero
    vector is 0.

    Args:
        queries: (queries, dim).
        k: how many rows each query gets.
        excluded: (indptr, rows): the rows that each query must not get.
        allowed: for each row, whether any query may get it.

    Returns:
        rows and scores, both (queries, k). If fewer than `k` rows are eligible, 0xFFFFFFFF and -inf pad them.
    """

def cosines(
    vectors: VectorSet, queries: NDArray[np.float32], rows: NDArray[np.uint32], threads: int = 0
) -> NDArray[np.float32]:
    """The scores that `search` gives to `rows`, (queries, p). The row 0xFFFFFFFF scores -inf.

    `rows` has one line per query, or one line for every t consecutive queries: query i is compared with line i // t.
    """

def pair_cosines(vectors: VectorSet, rows: NDArray[np.uint32], threads: int = 0) -> NDArray[np.float32]:
    """The scores of all pairs within each line, (lines, p·(p − 1)/2) in the order of ``numpy.triu_indices(p, 1)``.

    The first row of a pair is the query. A pair with the row 0xFFFFFFFF scores -inf.
    """

def spread(
    graph: Graph,
    vectors: VectorSet,
    queries: NDArray[np.float32],
    starts: NDArray[np.uint32],
    strengths: NDArray[np.float32],
    k: int,
    *,
    decay: float,
    hops: int,
    gated: bool,
    allowed: NDArray[np.bool_] | None = None,
    threads: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[NDArray[np.uint32], NDArray[np.float32]]:
    """The `k` nodes with the highest activation (NG: spread), by activation, then cosine to the query, then id.

    The activation of a start is its strength. A neighbor v of u gets ``act(u) * decay * w(u, v) * gate``. Weights are
    not normalized. The gate is max(0, cos(q, v)) if `gated` is set, and 1 otherwise. Of all paths of at most `hops`
    edges to a node, the best one counts.

    Args:
        vectors: one row per node.
        queries: (queries, dim).
        starts: (queries, any): the nodes at which each query's activation starts; 0xFFFFFFFF for no node.
        strengths: the activation of each start, in the same shape. A start whose strength is not positive is ignored.
        allowed: for each row, whether it may be among the results. Activation passes through all rows.

    Returns:
        rows and activations, both (queries, k). If fewer than `k` nodes are reached, 0xFFFFFFFF and -inf pad them.
    """

def pagerank(
    graph: Graph,
    vectors: VectorSet,
    queries: NDArray[np.float32],
    starts: NDArray[np.uint32],
    strengths: NDArray[np.float32],
    k: int,
    *,
    restart: float,
    tolerance: float,
    weighted: bool,
    allowed: NDArray[np.bool_] | None = None,
    threads: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[NDArray[np.uint32], NDArray[np.float32]]:
    """The `k` nodes with the largest ``mass * max(0, cos(q, v))`` (RT: pagerank). Ties go by cosine, then by id.

    The masses m are the fixed point of ``m = restart * s + (1 - restart) * P^T m``, with P = D^-1 A and with the
    strengths s scaled to sum 1. A walk at a node without edges goes back to the starts, as in ``networkx.pagerank``.
    Chebyshev iteration stops when at most the share `tolerance` of the distance between s and m remains, in the norm
    ``sum m_v^2 / degree(v)``.

    Arguments and results are those of `spread`, with products instead of activations. Only products above 0 are
    results.
    """

@final
class LexicalBuilder:
    """A lexical index in the making: `add` texts in any order and any parts, then `finish`.

    Args:
        texts: how many there will be.
        k1, b: the parameters of BM25.
        spill: an empty file, which exists, for postings that the memory should not hold.
        held: so many postings, of 16 bytes, stay in memory at most, if there is a `spill`.
    """

    def __new__(
        cls, texts: int, *, k1: float, b: float, spill: str | None = None, held: int = ...
    ) -> LexicalBuilder: ...
    def add(
        self,
        texts: Sequence[str],
        ranks: NDArray[np.uint32],
        *,
        threads: int = 0,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        """Add texts and the rank of each one's id among all. After an error the builder is of no use."""

    def finish(
        self, path: str | None = None, *, threads: int = 0, progress: Callable[[int, int], None] | None = None
    ) -> NDArray[np.uint64] | None:
        """Write the index over an existing file, or give it as an array. It ends the builder."""

def lexical_words(text: str) -> list[str]:
    """The words of a text as the lexical index compares them, in order."""

def lexical_facts(index: NDArray[np.uint64]) -> tuple[int, int, int, int, float]:
    """Texts, distinct terms, postings, length of all texts in terms, and what one step of a score is worth."""

def lexical_search(
    index: NDArray[np.uint64],
    order: NDArray[np.uint32],
    questions: Sequence[str],
    k: int,
    *,
    allowed: NDArray[np.bool_] | None = None,
    threads: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[NDArray[np.uint32], NDArray[np.float32]]:
    """The `k` rows with the highest BM25 for every question, best first, ties by smaller rank.

    Args:
        index: what `LexicalBuilder` made.
        order: the row of each rank.
        questions: texts. k: rows wanted for each.
        allowed: for each row, whether any question may get it.

    Returns:
        rows and scores, (questions, k); where fewer than `k` rows hold a term of the question, 0xFFFFFFFF and -inf.
    """

def lexical_scores(
    index: NDArray[np.uint64], questions: Sequence[str], ranks: NDArray[np.uint32], *, threads: int = 0
) -> NDArray[np.float32]:
    """The scores `lexical_search` would give to texts by rank, (questions, any); 0xFFFFFFFF scores -inf."""

def lexical_rest(
    index: NDArray[np.uint64],
    questions: Sequence[str],
    seeds: NDArray[np.uint32],
    ranks: NDArray[np.uint32],
    *,
    threads: int = 0,
) -> NDArray[np.float32]:
    """What the words of a question that a seed does not hold are worth in other texts, as a share of all its words.

    Args:
        seeds, ranks: texts by rank, (questions, any); 0xFFFFFFFF for none.

    Returns:
        (questions · seeds, ranks); 0 where either is 0xFFFFFFFF.
    """
