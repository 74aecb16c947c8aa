"""The kernels against libraries nobody here wrote: networkx, scipy, numpy and re."""

from __future__ import annotations

import re
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp
import scipy.sparse.linalg
import scipy.stats

from gme import _core

NODES = 60


@pytest.fixture(scope="module", params=[False, True], ids=["unweighted", "weighted"])
def network(request: pytest.FixtureRequest) -> nx.Graph:
    """A few communities, a hub and three isolated nodes."""
    graph = nx.planted_partition_graph(3, 18, 0.3, 0.03, seed=5)
    graph.add_nodes_from(range(54, NODES))
    graph.add_edges_from((54, other) for other in range(0, 50, 2))
    graph.add_edges_from([(55, 56), (56, 0)])
    generator = np.random.default_rng(2)
    for _, _, data in graph.edges(data=True):
        data["weight"] = float(np.float32(generator.uniform(0.2, 5))) if request.param else 1.0
    return graph


@pytest.fixture(scope="module")
def graph(network: nx.Graph) -> _core.Graph:
    sources, targets, weights = zip(*network.edges(data="weight"), strict=True)
    ids = [f"n{row:02d}" for row in range(NODES)]
    return _core.Graph(ids, np.array(sources, np.uint32), np.array(targets, np.uint32), np.array(weights))


@pytest.fixture(scope="module")
def x() -> np.ndarray:
    return np.random.default_rng(3).normal(size=(NODES, 20)).astype(np.float32)


def adjacency(network: nx.Graph, weight: str | None = "weight") -> Any:
    return nx.to_scipy_sparse_array(network, nodelist=range(NODES), weight=weight, dtype=np.float64, format="csr")


def transitions(network: nx.Graph, weight: str | None = "weight") -> Any:
    """D⁻¹A, where a walk on an isolated node stays."""
    matrix = adjacency(network, weight)
    degrees = matrix.sum(axis=1)
    stay = sp.diags_array((degrees == 0).astype(float))
    return (sp.diags_array(1 / np.maximum(degrees, 1e-300)) @ matrix + stay).tocsr()


def test_the_adjacency(network: nx.Graph, graph: _core.Graph) -> None:
    indptr, indices, weights = graph.csr()
    ours = sp.csr_array((weights, indices.astype(np.int64), indptr.astype(np.int64)), shape=(NODES, NODES))
    assert abs(ours - adjacency(network)).max() == 0
    assert graph.edges == network.number_of_edges()
    assert graph.degrees.tolist() == [network.degree(row) for row in range(NODES)]


@pytest.mark.parametrize("hops", [1, 2])
def test_hop_sets(network: nx.Graph, graph: _core.Graph, hops: int) -> None:
    """The mean of unit vectors of all eligible nodes shows who they are."""
    means = _core.hop(
        graph, np.eye(NODES, dtype=np.float32), hops=hops, share=(1, 1), alpha=0.0, least=True, min_neighbors=1
    )
    for row in range(NODES):
        distances = nx.single_source_shortest_path_length(network, row)
        expected = {other for other, distance in distances.items() if distance == hops}
        assert set(np.flatnonzero(means[row])) == (expected or {row})


@pytest.mark.parametrize("solver", ["gauss-seidel", "cg"])
@pytest.mark.parametrize(("anchor", "edge"), [(1.0, 1.0), (1.0, 0.5), (0.3, 2.0)])
def test_convex_is_the_solution_of_its_normal_equations(
    network: nx.Graph, graph: _core.Graph, x: np.ndarray, anchor: float, edge: float, solver: str
) -> None:
    laplacian = sp.csgraph.laplacian(adjacency(network, weight=None))
    expected = scipy.sparse.linalg.spsolve((anchor * sp.eye_array(NODES) + edge * laplacian).tocsc(), anchor * x)
    z, sweeps, displacement, converged = _core.convex(
        graph, x, anchor_weight=anchor, edge_weight=edge, tolerance=2e-7, max_sweeps=1000, solver=solver
    )
    np.testing.assert_allclose(z, expected, atol=1e-5)
    assert converged
    assert displacement < 2e-7
    assert 1 < sweeps < 1000


@pytest.mark.parametrize("solver", ["gauss-seidel", "cg"])
@pytest.mark.parametrize("weight", [1.0, 3.0, 9.0])
def test_shared_is_the_solution_of_its_normal_equations(
    network: nx.Graph, graph: _core.Graph, x: np.ndarray, weight: float, solver: str
) -> None:
    edges = adjacency(network, weight=None)
    distances = dict(nx.all_pairs_shortest_path_length(network, cutoff=2))
    pairs = [(a, b) for a, near in distances.items() for b, distance in near.items() if distance == 2]
    two = sp.csr_array((np.ones(len(pairs)), tuple(zip(*pairs, strict=True))), shape=edges.shape)
    laplacian = sp.csgraph.laplacian(edges + weight * two)
    expected = scipy.sparse.linalg.spsolve((sp.eye_array(NODES) + laplacian).tocsc(), x)
    z, _, _, converged, count = _core.shared(
        graph,
        x,
        anchor_weight=1.0,
        edge_weight=1.0,
        shared_weight=weight,
        tolerance=2e-7,
        max_sweeps=2000,
        solver=solver,
    )
    np.testing.assert_allclose(z, expected, atol=2e-5)  # small last steps are many at a large c
    assert converged
    assert count == len(pairs) / 2


@pytest.mark.parametrize("steps", [1, 2, 3, 5])
def test_exact_walks_are_powers_of_the_transition_matrix(
    network: nx.Graph, graph: _core.Graph, x: np.ndarray, steps: int
) -> None:
    expected = x.astype(np.float64)
    for _ in range(steps):
        expected = transitions(network) @ expected
    z = _core.walk(graph, x, steps=steps, alpha=0.0, walks=1, seed=0, returns=True, exact=True)
    np.testing.assert_allclose(z, expected, atol=1e-5)


def endpoint_counts(graph: _core.Graph, **options: Any) -> np.ndarray:
    indptr, rows, counts = _core.walk_endpoints(graph, **options)
    matrix = sp.csr_array((counts, rows.astype(np.int64), indptr.astype(np.int64)), shape=(NODES, NODES))
    counted: np.ndarray = matrix.toarray()
    return counted


@pytest.mark.parametrize("returns", [True, False])
@pytest.mark.parametrize("steps", [1, 2, 3])
def test_walks_end_as_often_as_they_should(network: nx.Graph, graph: _core.Graph, steps: int, returns: bool) -> None:
    """Chi-square over all endpoints of all nodes against P^steps; the seed is fixed, so the test is too."""
    walks = 4000
    expected = np.linalg.matrix_power(transitions(network).toarray(), steps)
    counts = endpoint_counts(graph, steps=steps, walks=walks, seed=11, returns=returns)
    connected = np.array([network.degree(row) > 0 for row in range(NODES)])
    if not returns:
        np.fill_diagonal(expected, 0.0)
        connected &= expected.sum(axis=1) > 1e-12
        expected /= np.maximum(expected.sum(axis=1, keepdims=True), 1e-300)
    assert (counts[~connected] == 0).all()
    expected, counts = expected[connected] * walks, counts[connected]
    assert (counts.sum(axis=1) == walks).all()
    assert (counts[expected == 0] == 0).all()
    often = expected >= 5
    statistic = ((counts[often] - expected[often]) ** 2 / expected[often]).sum()
    # Moved walks are drawn from frequencies that are themselves random: that adds at most a doubling of the variance.
    freedom = often.sum() - connected.sum()
    limit = scipy.stats.chi2.ppf(0.999, freedom)
    assert statistic < limit * (1 if returns else 2)
    if returns:
        assert statistic > scipy.stats.chi2.ppf(0.001, freedom)


def test_sampled_vectors_scatter_around_the_exact_ones(graph: _core.Graph, x: np.ndarray) -> None:
    options: dict[str, Any] = {"steps": 2, "alpha": 0.0, "returns": True, "walks": 100}
    exact = _core.walk(graph, x, seed=0, exact=True, **options)
    samples = np.stack([_core.walk(graph, x, seed=seed, exact=False, **options) for seed in range(200)])
    deviation = samples.std(axis=0)
    varies = deviation > 1e-4  # not so where all walks end at the same node
    assert varies.mean() > 0.8
    z = (samples.mean(axis=0) - exact)[varies] / (deviation[varies] / np.sqrt(200))
    # Entries of a row share their walks, so the squares are not independent, but each has mean 1.
    assert 0.8 < (z**2).mean() < 1.25
    assert np.abs(z).max() < 5


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("restart", [0.1, 0.3, 1.0])
def test_diffusion_is_personalized_pagerank(
    network: nx.Graph, graph: _core.Graph, restart: float, weighted: bool
) -> None:
    """Diffusing the identity gives every node's PageRank with restarts at that node, row by row."""
    z, _, residual = _core.diffuse(
        graph,
        np.eye(NODES, dtype=np.float32),
        restart=restart,
        tolerance=1e-7,
        max_iterations=1000,
        weighted=weighted,
    )
    assert residual < 1e-7
    loops = network.copy()
    loops.add_edges_from((row, row, {"weight": 1.0}) for row in range(NODES) if network.degree(row) == 0)
    for row in range(NODES):
        rank = nx.pagerank(
            loops,
            alpha=1 - restart,
            personalization={row: 1.0},
            weight="weight" if weighted else None,
            tol=1e-12,
            max_iter=1000,
        )
        np.testing.assert_allclose(z[row], [rank[other] for other in range(NODES)], atol=1e-5)


def test_a_gradient_step_is_the_slope_that_scipy_measures(graph: _core.Graph, network: nx.Graph) -> None:
    """One step, scaled back by length and number of pairs, against finite differences of a loss made with networkx."""
    x = np.random.default_rng(4).normal(size=(NODES, 5)).astype(np.float32)
    targets = (0.648, 0.266, 0.099, 0.037)
    counts, wanted = np.zeros((2, NODES, NODES))
    for center in network:
        ball = list(nx.ego_graph(network, center, radius=2))
        counts[np.ix_(ball, ball)] += 1
    for row, distances in nx.all_pairs_shortest_path_length(network, cutoff=4):
        for other, hops in distances.items():
            wanted[row, other] = targets[hops - 1] if hops else 0.0
    np.fill_diagonal(counts, 0)

    def loss(flat: np.ndarray) -> float:
        z = flat.reshape(x.shape)
        unit = z / np.linalg.norm(z, axis=1, keepdims=True)
        return float((counts * (unit @ unit.T - wanted) ** 2).sum() / 2)

    slope = scipy.optimize.approx_fprime(x.ravel().astype(np.float64), loss, 1e-6).reshape(x.shape)
    z, (before, _), _, _ = _core.gradient(
        graph, x, targets=targets, step=1.0, max_shift=1e6, steps=1, fan_out=1 << 16, pairs=1 << 20, seed=0
    )
    pairs, squares = counts.sum(axis=1, keepdims=True), (x.astype(np.float64) ** 2).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(x - z, squares * slope / np.maximum(pairs, 1), atol=2e-5)
    np.testing.assert_allclose(before, loss(x.astype(np.float64)) / (pairs.sum() / 2), rtol=1e-5)
    assert np.abs(x - z).max() > 0.1


def test_cosines_of_signatures_estimate_those_of_pagerank_rows(graph: _core.Graph, network: nx.Graph) -> None:
    """Random projections keep angles, within a few standard errors of 1/√dim."""
    options: dict[str, Any] = {"restart": 0.15, "tolerance": 1e-7, "max_iterations": 1000, "weighted": False}
    ranks = _core.diffuse(graph, np.eye(NODES, dtype=np.float32), **options)[0]
    ranks /= np.linalg.norm(ranks, axis=1, keepdims=True)
    dim = 4096
    signatures = _core.signature(graph, dim=dim, seed=1, **options)[0]
    error = signatures @ signatures.T - ranks @ ranks.T
    assert np.abs(error).max() < 5 / np.sqrt(dim)
    assert error.std() < 1.5 / np.sqrt(dim)


@pytest.mark.parametrize("weighted", [False, True])
def test_half_damped_signatures_are_those_of_the_symmetric_normalization(
    network: nx.Graph, graph: _core.Graph, weighted: bool
) -> None:
    """Random vectors, diffused by c (I − (1−c) D^−½ A D^−½)^−1, which scipy solves, and scaled to length 1."""
    options: dict[str, Any] = {"dim": 24, "seed": 3, "tolerance": 1e-7, "max_iterations": 1000, "weighted": weighted}
    random = _core.signature(graph, restart=1.0, **options)[0].astype(np.float64)
    matrix = adjacency(network, "weight" if weighted else None)
    degrees = matrix.sum(axis=1)
    matrix = matrix + sp.diags_array((degrees == 0).astype(float))  # a walk on an isolated node stays
    half = sp.diags_array(1 / np.sqrt(np.where(degrees == 0, 1.0, degrees)))
    symmetric = half @ matrix @ half
    assert abs(symmetric - symmetric.T).max() < 1e-15
    restart = 0.15
    system = (sp.eye_array(NODES) - (1 - restart) * symmetric).tocsc()
    diffused = restart * scipy.sparse.linalg.spsolve(system, random)
    expected = diffused / np.linalg.norm(diffused, axis=1, keepdims=True)
    found = _core.signature(graph, restart=restart, damping=0.5, **options)[0]
    np.testing.assert_allclose(found, expected, atol=2e-6)
    undamped = _core.signature(graph, restart=restart, **options)[0]
    assert np.abs(undamped - expected).max() > 0.01


@pytest.mark.parametrize("ignore_case", [False, True])
def test_mentions_are_what_an_alternation_of_titles_finds(ignore_case: bool) -> None:
    """A regular expression with the longest titles first does the same on words, slowly."""
    generator = np.random.default_rng(4)
    words = ["New", "york", "York", "city", "City", "is", "Élan", "élan", "über", "x1", "_y", "a-b"]
    titles = sorted({" ".join(generator.choice(words, generator.integers(1, 4))) for _ in range(60)})
    texts = [" ".join(generator.choice([*words, "yorks", "(City)", "Newer"], 30)) for _ in range(200)]
    longest_first = sorted(titles, key=lambda title: (-len(title), title))
    flags = re.IGNORECASE if ignore_case else re.NOFLAG if hasattr(re, "NOFLAG") else 0
    pattern = re.compile("|".join(rf"(?<!\w){re.escape(title)}(?!\w)" for title in longest_first), flags)
    expected = set()
    for text_index, text in enumerate(texts):
        for match in pattern.findall(text):
            same = [i for i, title in enumerate(titles) if title == match]
            if ignore_case:
                same = [i for i, title in enumerate(titles) if title.lower() == match.lower()]
            expected |= {(title_index, text_index) for title_index in same}
    found = _core.title_mentions(titles, texts, ignore_case=ignore_case, min_length=1)
    assert list(zip(*(part.tolist() for part in found), strict=True)) == sorted(expected)
    assert len(expected) > 500


@pytest.mark.parametrize(("rows", "dim", "queries", "k"), [(500, 33, 70, 10), (3000, 64, 5, 40), (100, 384, 1, 100)])
def test_search_finds_what_numpy_finds(rows: int, dim: int, queries: int, k: int) -> None:
    generator = np.random.default_rng(dim)
    x = generator.normal(size=(rows, dim)).astype(np.float32)
    q = generator.normal(size=(queries, dim)).astype(np.float32)
    vectors = _core.VectorSet(x)
    np.testing.assert_allclose(vectors.norms, np.linalg.norm(x.astype(np.float64), axis=1), rtol=1e-6)
    found, scores = _core.search(vectors, q, k)
    cosines = q.astype(np.float64) @ x.T.astype(np.float64)
    cosines /= np.linalg.norm(q, axis=1)[:, None] * np.linalg.norm(x, axis=1)[None, :]
    best = np.sort(cosines, axis=1)[:, ::-1][:, :k]
    np.testing.assert_allclose(scores, best, atol=1e-6)
    np.testing.assert_allclose(np.take_along_axis(cosines, found.astype(np.int64), axis=1), best, atol=1e-6)
    assert all(len(set(row)) == k for row in found.tolist())
