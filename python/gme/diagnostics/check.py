"""`gme graph check`: shows what a graph can do for retrieval before anything is transformed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .._core import Graph
from ..errors import GmeError
from ..options import Options, option
from ..types import Progress, Vectors
from ..workspace.records import NOT_EVIDENCE
from .agreement import agreement
from .linkage import TypedNodes, gold_pairs, random_pairs, reachability
from .oracle import oracle
from .results import CheckReport, Figures, Linkage, Reach
from .structure import adjacency, structure
from .verdict import verdict


@dataclass(frozen=True)
class CheckOptions(Options):
    """Options that decide how closely a graph is checked."""

    sources: int = option(
        20_000, "most random nodes around which others are counted, and most questions looked at for linkage", low=1
    )
    seed: int = option(42, "seed of the draws", low=0, high=2**64 - 1)
    max_hops: int = option(3, "longest path looked for", low=2, high=20)
    top: int = option(10, "dense retrieval is right if all gold is among this many hits", low=1)
    depth: int = option(100, "re-ranking can fix what is among this many hits", low=1)
    seeds: int = option(5, "hits from which routes to missing gold begin", low=1)


def check_graph(
    graph: Graph,
    types: Sequence[str],
    gold: Sequence[Sequence[int]] = (),
    *,
    vectors: Vectors | None = None,
    questions: Vectors | None = None,
    options: CheckOptions | None = None,
    threads: int = 0,
    progress: Progress | None = None,
) -> CheckReport:
    """Diagnose a graph (NG).

    Linkage and reachability use the plain graph: two chunks that share an entity are two hops apart. Nodes of the types
    `document` and `entity` are no evidence, even if a question names them as gold. ``linkage`` is measured at one hop
    if any two nodes of gold's types are adjacent, and else at two, as in graphs of chunks and entities.

    Args:
        graph: the graph.
        types: the type of each row.
        gold: the gold rows of each question. Questions without gold are left out.
        vectors: float32 (nodes, dim), C order. questions: float32 (questions, dim). Both for the oracle, or neither.
        options: how closely to look.
        threads: 0 means all cores; any number gives the same report.
        progress: called with (done, total).

    Returns:
        ``nodes``, ``edges``, ``components``, ``degree``, ``skew``, ``isolated``: see `structure`. ``questions``:
        counts. ``linkage``: None, or the share of questions with a gold pair near each other, and the lift over random
        pairs. ``random``: None, or from how many nodes (``sources``) random pairs were counted, ``of`` how many nodes
        of gold's types. ``reach``: see `reachability`. ``oracle``: None, or see `oracle`. ``verdict``: see `verdict`.

    Raises:
        GmeError: the arrays do not fit each other.

    Example:
        >>> import gme
        >>> graph = gme.build_graph(["a", "b", "c"], [("a", "b")])
        >>> found = gme.check_graph(graph, ["chunk", "chunk", "chunk"])
        >>> found["nodes"]["count"], found["isolated"]["count"]
        (3, 1)
    """
    options = options or CheckOptions()
    _fits(graph, types, gold, vectors, questions)
    arrays = adjacency(graph)
    ranks = graph.ranks
    evidence = [
        np.array(sorted({row for row in rows if types[row] not in NOT_EVIDENCE}, key=ranks.__getitem__), dtype=np.int64)
        for rows in gold
    ]
    asked = [number for number, rows in enumerate(evidence) if len(rows)]
    generator = np.random.default_rng(options.seed)
    pairs = gold_pairs([evidence[number] for number in asked], options.sources, generator)
    nodes = TypedNodes(_numbers(types), graph.order)
    report: Figures = {
        **structure(arrays, types),
        "questions": {"count": len(gold), "with_gold": len(asked), "with_pairs": pairs.questions},
        "linkage": None,
        "random": None,
        "reach": [],
        "oracle": None,
        "agreement": None,
    }
    if pairs.questions:
        hops = options.max_hops
        random = random_pairs(
            arrays, pairs, nodes, max_hops=hops, sources=options.sources, generator=generator, progress=progress
        )
        report["random"] = {"sources": random.sources, "of": random.population}
        report["reach"] = reachability(arrays, pairs, random, max_hops=hops, progress=progress)
        report["linkage"] = _linkage(report["reach"], pairs.questions)
    if vectors is not None and questions is not None and asked:
        report["oracle"] = oracle(
            graph,
            arrays,
            [evidence[number] for number in asked],
            vectors,
            questions[asked],
            nodes,
            top=options.top,
            depth=options.depth,
            seeds=options.seeds,
            max_hops=options.max_hops,
            generator=generator,
            threads=threads,
            progress=progress,
        )
    if vectors is not None:
        report["agreement"] = agreement(graph, arrays, vectors, generator)
    return {**report, "options": options.as_dict(), "verdict": verdict(report)}


def _linkage(reach: list[Reach], questions: int) -> Linkage:
    direct = reach[0]["random_pairs"] > 0
    line = reach[0 if direct else 1]
    return {
        "hops": line["hops"],
        "questions": questions,
        "share": line["any"],
        "connected": line["connected"],
        "lift": line["lift"],
        "lift_above": line["lift_above"],
    }


def _numbers(types: Sequence[str]) -> npt.NDArray[np.int64]:
    numbers = {name: number for number, name in enumerate(sorted(set(types)))}
    return np.array([numbers[name] for name in types], dtype=np.int64)


def _fits(
    graph: Graph,
    types: Sequence[str],
    gold: Sequence[Sequence[int]],
    vectors: Vectors | None,
    questions: Vectors | None,
) -> None:
    if graph.nodes == 0:
        raise GmeError("the graph has no nodes")
    if len(types) != graph.nodes:
        raise GmeError(f"{len(types)} types for {graph.nodes} nodes", "one type a row of the graph")
    for number, rows in enumerate(gold):
        for row in rows:
            if not 0 <= row < graph.nodes:
                raise GmeError(f"gold row {row} of question {number} is no row of {graph.nodes} nodes")
    if (vectors is None) != (questions is None):
        raise GmeError("the oracle needs vectors of nodes and of questions", "give both or neither")
    if vectors is not None and len(vectors) != graph.nodes:
        raise GmeError(f"{len(vectors)} vectors for {graph.nodes} nodes", "one vector a row of the graph")
    if questions is not None and len(questions) != len(gold):
        raise GmeError(f"{len(questions)} question vectors for {len(gold)} questions", "one vector a question")
