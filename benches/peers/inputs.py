"""What all cells read: the bench graph, its vectors, and passages with titles."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from data_sets import data_folder

if TYPE_CHECKING:
    from gme._core import Graph

Floats = npt.NDArray[np.float32]

COMMUNITY = 100
EDGES_A_NODE = 9.64946
"""964,946 edges at 100,000 nodes, as many as the graph that the targets were set on."""
INSIDE = 0.8
"""Share of the draws whose ends lie in one community."""


@dataclass(frozen=True)
class Size:
    """How large the inputs are."""

    nodes: int
    edges: int
    dim: int
    passages: int

    @property
    def matrix_bytes(self) -> int:
        """Of one float32 vector for every node."""
        return self.nodes * self.dim * 4


@dataclass(frozen=True)
class Inputs:
    """The inputs as a cell sees them; nothing is read before it is asked for."""

    folder: Path
    threads: int = 0

    @cached_property
    def size(self) -> Size:
        return Size(**json.loads((self.folder / "size.json").read_text()))

    @cached_property
    def edges(self) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
        """Both ends of every edge."""
        stored = np.load(self.folder / "edges.npy")
        return stored[0], stored[1]

    @cached_property
    def x(self) -> Floats:
        """Unit vectors, (nodes, dim), read into memory for everyone."""
        loaded: Floats = np.load(self.folder / "x.npy")
        return loaded

    def columns(self, count: int) -> Floats:
        """The first columns of `x`."""
        return np.ascontiguousarray(np.load(self.folder / "x.npy", mmap_mode="r")[:, :count])

    @cached_property
    def graph(self) -> Graph:
        from gme._core import Graph

        return Graph([f"n{row:07d}" for row in range(self.size.nodes)], *self.edges)

    @cached_property
    def adjacency(self) -> Any:
        """The graph as a scipy CSR matrix of float32 ones."""
        from scipy import sparse

        heads, tails = np.concatenate(self.edges), np.concatenate(self.edges[::-1])
        ones = np.ones(len(heads), dtype=np.float32)
        return sparse.csr_matrix((ones, (heads, tails)), shape=(self.size.nodes, self.size.nodes))

    @cached_property
    def degrees(self) -> Floats:
        counted = np.bincount(np.concatenate(self.edges), minlength=self.size.nodes)
        return counted.astype(np.float32)

    @cached_property
    def transition(self) -> Any:
        """P = D^-1 A as a scipy CSR matrix."""
        from scipy import sparse

        return (sparse.diags(1 / np.maximum(self.degrees, 1), dtype=np.float32) @ self.adjacency).tocsr()

    @cached_property
    def labels(self) -> npt.NDArray[np.uint32]:
        """The planted communities, numbered from 0."""
        stored: npt.NDArray[np.uint32] = np.load(self.folder / "labels.npy")
        return stored

    @cached_property
    def queries(self) -> Floats:
        """1,000 random unit vectors, (1000, dim)."""
        return unit_vectors(1000, self.size.dim, seed=11)

    @cached_property
    def corpus(self) -> tuple[list[str], list[str]]:
        """Titles and texts."""
        stored = json.loads((self.folder / "corpus.json").read_text())
        return stored["titles"], stored["texts"]


def write_inputs(folder: Path, nodes: int, dim: int, *, shuffled: bool = False) -> Inputs:
    """Make everything in `folder`.

    Args:
        folder: an empty folder.
        nodes: nodes of the graph; edges follow from them.
        dim: columns of the vectors.
        shuffled: number the nodes at random, so that neighbors do not lie near each other in memory.
    """
    ends, labels = planted_partition(nodes)
    if shuffled:
        places = np.random.default_rng(12).permutation(nodes).astype(np.uint32)
        ends, labels = places[ends], labels[np.argsort(places)]
    np.save(folder / "edges.npy", ends)
    np.save(folder / "labels.npy", labels)
    np.save(folder / "x.npy", unit_vectors(nodes, dim, seed=8))
    titles, texts = passages()
    (folder / "corpus.json").write_text(json.dumps({"titles": titles, "texts": texts}))
    (folder / "size.json").write_text(json.dumps(asdict(Size(nodes, ends.shape[1], dim, len(texts)))))
    return Inputs(folder)


def planted_partition(nodes: int, seed: int = 7) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
    """Communities of 100 consecutive nodes, 80 % of the edges inside them, the rest anywhere.

    More pairs are drawn than needed, and as many of the distinct ones are kept as make the number of edges exact.

    Returns:
        the ends of the edges, (2, edges), without loops or repetition; the community of each node.
    """
    generator = np.random.default_rng(seed)
    edges = round(nodes * EDGES_A_NODE)
    draws = int(edges * 1.12)
    sources = generator.integers(0, nodes, draws)
    near = np.minimum(sources - sources % COMMUNITY + generator.integers(0, COMMUNITY, draws), nodes - 1)
    targets = np.where(generator.random(draws) < INSIDE, near, generator.integers(0, nodes, draws))
    kept = sources != targets
    smaller, larger = np.minimum(sources, targets)[kept], np.maximum(sources, targets)[kept]
    distinct = np.unique(smaller * nodes + larger)
    if len(distinct) < edges:
        raise ValueError(f"{nodes} nodes are too few for {edges} edges")
    chosen = np.sort(generator.permutation(distinct)[:edges])
    ends = np.stack([chosen // nodes, chosen % nodes]).astype(np.uint32)
    return ends, (np.arange(nodes) // COMMUNITY).astype(np.uint32)


def unit_vectors(count: int, dim: int, seed: int) -> Floats:
    """Random directions, (count, dim)."""
    vectors = np.random.default_rng(seed).standard_normal((count, dim), dtype=np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def passages(made_up: int = 6000) -> tuple[list[str], list[str]]:
    """Titles and texts: 2Wiki's where ``$GME_DATA`` names the folder of the real sets, else made-up ones."""
    folder = data_folder()
    if folder is not None:
        with (folder / "2wiki" / "nodes.jsonl").open(encoding="utf-8") as lines:
            records = [json.loads(line) for line in lines]
        return [record["title"] for record in records], [record["text"] for record in records]
    generator = np.random.default_rng(9)
    words = ["".join(generator.choice(list("abcdefghijklmnopqrstuvwxyz"), 6)).title() for _ in range(3000)]
    titles = [f"{words[a]} {words[b]}" for a, b in generator.integers(0, 3000, (made_up, 2))]
    texts = []
    for _ in range(made_up):
        drawn = [words[word] for word in generator.integers(0, 3000, 70)]
        texts.append(" ".join(drawn + [titles[title] for title in generator.integers(0, made_up, 2)]))
    return titles, texts
