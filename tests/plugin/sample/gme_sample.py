"""A package that adds one thing of each kind to gme."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import gme
from gme import Graph, Options, option
from gme.builders import Found
from gme.embedders import EmbedOptions
from gme.readers import ReadContext, Record
from gme.readers.protocol import Where
from gme.retrieval.options import PlainOptions
from gme.retrieval.schedule import Schedule
from gme.retrieval.search import Search
from gme.stores import ExactStore
from gme.types import Progress, TransformContext, Transformed, Vectors
from gme.workspace.records import Nodes


@dataclass(frozen=True)
class AverageOptions(Options):
    """Options of `average`."""

    alpha: float = option(0.5, "weight of the original vector", low=0, high=1)


def average(graph: Graph, vectors: Vectors, options: AverageOptions, context: TransformContext) -> Transformed:
    result = vectors.copy()
    for row in range(graph.nodes):
        neighbors = graph.neighbors(row)
        if len(neighbors):
            mean = vectors[neighbors].mean(axis=0, dtype=np.float64)
            result[row] = options.alpha * vectors[row] + (1 - options.alpha) * mean
    return Transformed(result, {"averaged": int((graph.degrees > 0).sum())})


@dataclass(frozen=True)
class TwiceOptions(PlainOptions):
    """Options of `twice`."""

    first: int = option(1, "how many nodes come from the original vectors", low=1)


def twice(search: Search, options: TwiceOptions, schedule: Schedule | None) -> None:
    first = min(options.first, options.budget)
    search.take("head", *search.top(search.original, search.queries, first))
    search.take("tail", *search.top(search.modified, search.queries, options.budget - first))


class Letters(gme.Embedder):
    """Counts letters."""

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self.name = f"letters:{dim}"
        self.key = f"letters {dim}"

    def stream(self, texts: Sequence[str]) -> Iterator[tuple[Sequence[int], Vectors]]:
        for position, text in enumerate(texts):
            vector = np.ones((1, self.dim), dtype=np.float32)
            for letter in text:
                vector[0, ord(letter) % self.dim] += 1
            yield [position], vector / np.float32(np.linalg.norm(vector))


def letters(options: EmbedOptions, threads: int) -> Letters:
    return Letters(int(options.rest or 8))


def lines(paths: list[Path], options: Options, context: ReadContext) -> Iterator[Record]:
    for path in paths:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            node = {"id": f"{path.stem}-{number}", "type": "chunk", "text": line}
            yield Record("nodes", node, Where(path, number))


@dataclass(frozen=True)
class ChainOptions(Options):
    """Options of `chain`."""

    distance: int = option(1, "how far apart the nodes of an edge stand", low=1)


def chain(nodes: Nodes, options: ChainOptions, threads: int, progress: Progress | None) -> Found:
    pairs = zip(nodes.ids, nodes.ids[options.distance :], strict=False)
    return Found({"source": a, "target": b, "type": "next"} for a, b in pairs)


class Mirror(ExactStore):
    """Compares every vector, under another name."""

    kind = "mirror"


def mirror(exact: ExactStore, request: gme.OpenRequest) -> Mirror:
    return Mirror(exact.vectors, exact.ranks, exact.threads)


AVERAGE = gme.Transform("blend with the mean of the neighbors", AverageOptions, average)
TWICE = gme.Strategy(
    twice, TwiceOptions, "the nearest by original vectors, then by modified ones", scores={"head": "similarity"}
)
LETTERS = gme.EmbedderKind("letters:DIM", letters, summary="counts letters")
LINES = gme.Reader("Text files, a node a line.", Options, lines, ("nodes",))
CHAIN = gme.EdgeBuilder("Connect each node to a later one.", ChainOptions, chain)
MIRROR = gme.StoreKind("compare with every vector, under another name", mirror)
