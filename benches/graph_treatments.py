"""Graphs that are worth more or less, made from a set's own: thinned, shuffled, by letters, by text, by chance."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gme._core import Graph
from gme.workspace import Workspace

Pairs = npt.NDArray[np.int64]
Groups = npt.NDArray[np.int64]

LINKS_A_NODE = 3
"""Edges that a node begins, where edges are drawn."""


@dataclass(frozen=True)
class Material:
    """What treatments are made from.

    Attributes:
        edges: int64 (edges, 2). kinds: int64 (edges,): their types.
        vectors: float32 (nodes, dim), normalized. texts: of the nodes.
    """

    edges: Pairs
    kinds: npt.NDArray[np.int64]
    vectors: npt.NDArray[np.float32]
    texts: list[str]

    @classmethod
    def of(cls, workspace: Workspace) -> Material:
        """The material of a workspace."""
        edges = workspace.edges
        pairs = np.stack([edges.sources, edges.targets], axis=1).astype(np.int64)
        vectors = np.asarray(workspace.collection("original").vectors)
        return cls(pairs, edges.types.astype(np.int64), vectors, workspace.nodes.texts)

    def near(self, rank: int) -> npt.NDArray[np.int64]:
        """The nodes nearest in text to each node, best first, without itself: (nodes, rank)."""
        found = []
        for begin in range(0, len(self.vectors), 1024):
            cosines = self.vectors[begin : begin + 1024] @ self.vectors.T
            cosines[np.arange(len(cosines)), begin + np.arange(len(cosines))] = -2
            best = np.argpartition(-cosines, rank, axis=1)[:, :rank]
            order = np.argsort(-np.take_along_axis(cosines, best, axis=1), axis=1, kind="stable")
            found.append(np.take_along_axis(best, order, axis=1))
        return np.concatenate(found)


Treatment = Callable[[Material, np.random.Generator], Pairs]


def thinned(share: float) -> Treatment:
    """Only a share of the edges."""
    return lambda given, draw: given.edges[draw.random(len(given.edges)) < share]


def shuffled(share: float) -> Treatment:
    """A share of the edges change ends with each other, within their type: every node keeps its degree."""

    def change(given: Material, draw: np.random.Generator) -> Pairs:
        edges = given.edges.copy()
        chosen = draw.random(len(edges)) < share
        for kind in np.unique(given.kinds):
            places = np.flatnonzero(chosen & (given.kinds == kind))
            edges[places, 1] = edges[draw.permutation(places), 1]
        return edges

    return change


def no_edges(given: Material, draw: np.random.Generator) -> Pairs:
    """A graph without edges: what words, vectors and titles do alone."""
    return given.edges[:0]


def same_letters(given: Material, draw: np.random.Generator) -> Pairs:
    """Nodes whose texts begin with the same two letters, a few partners for each."""
    return _partners(_numbered([text[:2].lower() for text in given.texts]), draw)


def same_decade(given: Material, draw: np.random.Generator) -> Pairs:
    """Nodes whose texts name the same decade first, a few partners for each."""
    years = [re.search(r"\b(1[5-9]|20)\d\d\b", text) for text in given.texts]
    groups = _numbered([year.group()[:3] if year else "" for year in years])
    unknown = np.array([year is None for year in years])
    edges = _partners(groups, draw)
    return edges[~unknown[edges].any(axis=1)]


def text_neighbors(rank: int) -> Treatment:
    """Each node with some of its nearest by text, drawn from the first `rank`: edges that tell nothing new."""

    def make(given: Material, draw: np.random.Generator) -> Pairs:
        near = given.near(rank)
        picked = np.stack([draw.permutation(rank)[:LINKS_A_NODE] for _ in near])
        return _pairs(np.repeat(np.arange(len(near)), LINKS_A_NODE), np.take_along_axis(near, picked, axis=1).ravel())

    return make


def authors(noise: float) -> Treatment:
    """Groups of two to six nodes, all joined, as papers of an author: a first one, and others of its 100 nearest.

    A share of the members, `noise`, come from anywhere. A node may belong to several groups.
    """

    def make(given: Material, draw: np.random.Generator) -> Pairs:
        near = given.near(100)
        nodes = len(near)
        edges = []
        for _ in range(nodes // 4):
            first, size = int(draw.integers(nodes)), int(draw.integers(1, 6))
            others = near[first, draw.permutation(near.shape[1])[:size]]
            others = np.where(draw.random(size) < noise, draw.integers(0, nodes, size), others)
            members = np.unique(np.append(others, first))
            a, b = np.triu_indices(len(members), 1)
            edges.append(np.stack([members[a], members[b]], axis=1))
        return np.concatenate(edges)

    return make


def mixed(share: float) -> Treatment:
    """A share of the own edges, among as many drawn between any nodes."""

    def make(given: Material, draw: np.random.Generator) -> Pairs:
        kept = given.edges[draw.random(len(given.edges)) < share]
        nodes = len(given.vectors)
        drawn = draw.integers(0, nodes, (len(given.edges), 2))
        return np.concatenate([kept, drawn[drawn[:, 0] != drawn[:, 1]]])

    return make


def _numbered(names: list[str]) -> Groups:
    numbers = {name: number for number, name in enumerate(sorted(set(names)))}
    return np.array([numbers[name] for name in names])


def _partners(groups: Groups, draw: np.random.Generator) -> Pairs:
    """Each node with `LINKS_A_NODE` others of its group."""
    firsts, seconds = [], []
    for number in range(int(groups.max()) + 1):
        members = np.flatnonzero(groups == number)
        for _ in range(LINKS_A_NODE):
            firsts.append(members)
            seconds.append(draw.permutation(members))
    return _pairs(np.concatenate(firsts), np.concatenate(seconds))


def _pairs(first: npt.NDArray[np.int64], second: npt.NDArray[np.int64]) -> Pairs:
    edges: Pairs = np.stack([first, second], axis=1)
    return edges[first != second]


TREATMENTS: dict[str, Treatment] = {
    "own edges": thinned(1.0),
    "half of them": thinned(0.5),
    "a quarter of them": thinned(0.25),
    "a tenth of them": thinned(0.1),
    "25 % shuffled": shuffled(0.25),
    "50 % shuffled": shuffled(0.5),
    "75 % shuffled": shuffled(0.75),
    "all shuffled": shuffled(1.0),
    "half, and as many random": mixed(0.5),
    "same letters": same_letters,
    "same decade": same_decade,
    "3 of 3 nearest texts": text_neighbors(3),
    "3 of 20 nearest texts": text_neighbors(20),
    "3 of 100 nearest texts": text_neighbors(100),
    "authors, 20 % noise": authors(0.2),
    "authors, 50 % noise": authors(0.5),
    "authors, 80 % noise": authors(0.8),
}


def treated(workspace: Workspace, seed: int = 1) -> Iterator[tuple[str, Graph]]:
    """The graph after each treatment."""
    material = Material.of(workspace)
    for name, treatment in TREATMENTS.items():
        edges = treatment(material, np.random.default_rng(seed))
        ends = [np.ascontiguousarray(edges[:, side], dtype=np.uint32) for side in (0, 1)]
        yield name, Graph(workspace.nodes.ids, *ends)
