"""Communities, title mentions and exact search."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from .cells import Cell, Outcome, Task, Work, not_shared, relative_difference
from .inputs import Inputs, Size

TOP = 40

# ---- communities ----------------------------------------------------------------------------------------------------


def _partition(inputs: Inputs, run: Callable[[], Any], labels: Callable[[Any], Any]) -> Task:
    """The outcome is Newman's modularity: libraries agree on how good their communities are, not on the communities."""

    def modularity(result: Any) -> float:
        found = np.asarray(labels(result), dtype=np.int64)
        heads, tails = inputs.edges
        inside = float(np.mean(found[heads] == found[tails]))
        shares = np.bincount(found, weights=inputs.degrees) / (2 * inputs.size.edges)
        return inside - float(np.sum(shares**2))

    return Task(
        run,
        outcome=lambda result: np.array([modularity(result)]),
        note=lambda result: f"Q = {modularity(result):.4f}",
    )


def gme_communities(inputs: Inputs) -> Task:
    from gme.graph.communities import louvain_labels

    graph = inputs.graph
    return _partition(
        inputs,
        lambda: louvain_labels(graph, resolution=1.0, seed=42, backend="scikit-network"),
        lambda result: result[0],
    )


def sknetwork_communities(inputs: Inputs) -> Task:
    from sknetwork.clustering import Louvain

    adjacency = inputs.adjacency.astype(np.float64)
    return _partition(inputs, lambda: Louvain(random_state=42).fit_predict(adjacency), lambda labels: labels)


def networkit_communities(inputs: Inputs) -> Task:
    import networkit

    heads, tails = (part.astype(np.uint64) for part in inputs.edges)
    graph = networkit.graph.GraphFromCoo((heads, tails), n=inputs.size.nodes)

    def run() -> Any:
        method = networkit.community.PLM(graph)
        method.run()
        return method.getPartition()

    return _partition(inputs, run, lambda partition: partition.getVector())


def _networkx(inputs: Inputs) -> Any:
    import networkx

    graph = networkx.Graph()
    graph.add_nodes_from(range(inputs.size.nodes))
    graph.add_edges_from(np.stack(inputs.edges, axis=1).tolist())
    return graph


def networkx_communities(inputs: Inputs) -> Task:
    import networkx

    graph = _networkx(inputs)

    def labels(communities: list[set[int]]) -> npt.NDArray[np.int64]:
        found = np.empty(inputs.size.nodes, dtype=np.int64)
        for label, members in enumerate(communities):
            found[list(members)] = label
        return found

    return _partition(inputs, lambda: networkx.community.louvain_communities(graph, seed=42), labels)


def python_louvain_communities(inputs: Inputs) -> Task:
    import community

    graph = _networkx(inputs)
    return _partition(
        inputs,
        lambda: community.best_partition(graph, random_state=42),
        lambda partition: [partition[node] for node in range(inputs.size.nodes)],
    )


# ---- title mentions -------------------------------------------------------------------------------------------------


def gme_mentions(inputs: Inputs) -> Task:
    from gme import _core

    titles, texts = inputs.corpus
    return Task(
        lambda: _core.title_mentions(titles, texts, ignore_case=False, min_length=3, threads=inputs.threads),
        outcome=lambda result: result[0].astype(np.float64) * len(texts) + result[1],
        note=lambda result: f"{len(result[0]):,} mentions",
    )


def ahocorasick_mentions(inputs: Inputs) -> Task:
    """pyahocorasick (C) finds all matches; Python takes the longest whole words from left to right."""
    import ahocorasick

    titles, texts = inputs.corpus
    numbers: dict[str, list[int]] = {}
    for number, title in enumerate(titles):
        if len(title) >= 3 and title.strip():
            numbers.setdefault(title, []).append(number)

    @cache
    def is_word(character: str) -> bool:
        return character == "_" or unicodedata.category(character)[0] in "LNM"

    def whole(text: str, start: int, end: int) -> bool:
        before = start > 0 and is_word(text[start - 1]) and is_word(text[start])
        after = end < len(text) and is_word(text[end]) and is_word(text[end - 1])
        return not before and not after

    def find() -> set[tuple[int, int]]:
        automaton = ahocorasick.Automaton()  # built anew each time, as ours is
        for title in numbers:
            automaton.add_word(title, title)
        automaton.make_automaton()
        found: set[tuple[int, int]] = set()
        for row, text in enumerate(texts):
            matches = [(last + 1 - len(title), -len(title), title) for last, title in automaton.iter(text)]
            free = 0
            for start, negative, title in sorted(matches):
                if start >= free and whole(text, start, start - negative):
                    free = start - negative
                    found.update((number, row) for number in numbers[title])
        return found

    return Task(
        find,
        outcome=lambda found: np.array([number * len(texts) + row for number, row in found], dtype=np.float64),
        note=lambda found: f"{len(found):,} mentions",
    )


# ---- exact search ---------------------------------------------------------------------------------------------------


def _best(rows: npt.NDArray[Any]) -> Outcome:
    """The rows found for each query, as one set of numbers."""
    return (np.asarray(rows, dtype=np.float64) + 1e8 * np.arange(len(rows))[:, None]).ravel()


def gme_search(inputs: Inputs) -> Task:
    from gme import _core

    vectors, queries = _core.VectorSet(inputs.x, inputs.graph.ranks), inputs.queries
    return Task(
        lambda: _core.search(vectors, queries, TOP, threads=inputs.threads),
        outcome=lambda result: _best(result[0]),
    )


def numpy_search(inputs: Inputs) -> Task:
    """One product with all queries, a partial and then a full sort of the best."""
    x, queries = inputs.x, inputs.queries

    def search() -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        scores = queries @ x.T
        rows = np.argpartition(scores, -TOP, axis=1)[:, -TOP:]
        best = np.take_along_axis(scores, rows, axis=1)
        order = np.argsort(-best, axis=1)
        return np.take_along_axis(rows, order, axis=1), np.take_along_axis(best, order, axis=1)

    return Task(search, outcome=lambda result: _best(result[0]))


def usearch_search(inputs: Inputs) -> Task:
    from usearch.index import search

    x, queries = inputs.x, inputs.queries
    return Task(
        lambda: search(x, queries, TOP, "cos", exact=True, threads=inputs.threads),
        outcome=lambda matches: _best(matches.keys),
    )


def _queries(_: Size) -> float:
    return 1000.0


OTHERS = (
    Work(
        "communities",
        "communities (Louvain)",
        (
            Cell("gme, by scikit-network", gme_communities),
            Cell("scikit-network", sknetwork_communities),
            Cell("NetworKit PLM", networkit_communities),
            Cell("networkx", networkx_communities, slow=True),
            Cell("python-louvain", python_louvain_communities, slow=True),
        ),
        lambda size: size.edges / 1e6,
        "M edges/s",
        relative_difference,
        tolerance=0.03,
    ),
    Work(
        "mentions",
        "title mentions",
        (Cell("gme", gme_mentions), Cell("pyahocorasick, Python", ahocorasick_mentions)),
        lambda size: size.passages / 1e3,
        "k passages/s",
        not_shared,
        tolerance=0.0,
    ),
    Work(
        "search",
        "exact search, 1,000 queries",
        (
            Cell("gme", gme_search),
            Cell("numpy product, argpartition", numpy_search),
            Cell("usearch exact=True", usearch_search),
        ),
        _queries,
        "queries/s",
        not_shared,
        tolerance=0.001,
    ),
)
