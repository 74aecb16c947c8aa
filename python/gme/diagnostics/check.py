"""`gme graph check`: what a graph can do for retrieval, told before anything is transformed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._core import Graph
from ..errors import GmeError
from ..gold import NOT_EVIDENCE
from ..graph import check_edge_types, workspace_graph
from ..options import Options, option
from ..types import Progress, Vectors
from ..workspace import ORIGINAL, QUESTION_VECTORS, QUESTIONS, Workspace
from .linkage import TypedNodes, gold_pairs, random_pairs, reachability
from .oracle import oracle
from .structure import adjacency, structure
from .verdict import round_lift, verdict

_HUBS = 5


@dataclass(frozen=True)
class CheckOptions(Options):
    """How closely to look."""

    sources: int = option(
        20_000, "most random nodes around which others are counted, and most questions looked at for linkage", low=1
    )
    seed: int = option(42, "seed of the draws", low=0, high=2**64 - 1)
    max_hops: int = option(3, "longest path looked for", low=2, high=20)
    top: int = option(10, "dense retrieval is right when all gold is among so many hits", low=1)
    depth: int = option(100, "re-ranking can fix what is among so many hits", low=1)
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
) -> dict[str, Any]:
    """Diagnose a graph (NG).

    Linkage and reachability are those of the plain graph: two chunks that share an entity are two hops apart. Nodes of
    the types `document` and `entity` are no evidence, also where a question names them as gold. ``linkage`` is read at
    one hop where any two nodes of gold's types are adjacent at all, else at two, as in graphs of chunks and entities.

    Args:
        graph: the graph.
        types: the type of each row.
        gold: the gold rows of each question; questions without any are left out.
        vectors: float32 (nodes, dim), C order. questions: float32 (questions, dim). Both for the oracle, or neither.
        options: how closely to look.
        threads: 0 means all cores; any number gives the same report.
        progress: called with (done, total).

    Returns:
        ``nodes``, ``edges``, ``components``, ``degree``, ``skew``, ``isolated``: see `structure`; ``questions``:
        counts; ``linkage``: None, or the share of questions with a gold pair near each other, and the lift over random
        pairs; ``random``: None, or around how many nodes (``sources``), ``of`` all that gold's types have, random pairs
        were counted; ``reach``: see `reachability`; ``oracle``: None, or see `oracle`; ``verdict``: see `verdict`.

    Raises:
        GmeError: arrays that do not fit each other.
    """
    options = options or CheckOptions()
    _fits(graph, types, gold, vectors, questions)
    arrays = adjacency(graph)
    report = structure(arrays, types)
    ranks = graph.ranks
    evidence = [
        np.array(sorted({row for row in rows if types[row] not in NOT_EVIDENCE}, key=ranks.__getitem__), dtype=np.int64)
        for rows in gold
    ]
    asked = [number for number, rows in enumerate(evidence) if len(rows)]
    generator = np.random.default_rng(options.seed)
    pairs = gold_pairs([evidence[number] for number in asked], options.sources, generator)
    nodes = TypedNodes(_numbers(types), graph.order)
    report["questions"] = {"count": len(gold), "with_gold": len(asked), "with_pairs": pairs.questions}
    report["linkage"], report["random"], report["reach"], report["oracle"] = None, None, [], None
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
    report["options"] = options.as_dict()
    report["verdict"] = verdict(report)
    return report


def check_workspace(
    workspace: Workspace,
    options: CheckOptions | None = None,
    *,
    edge_types: Sequence[str] | None = None,
    threads: int = 0,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Diagnose a workspace's graph, with its questions and embeddings where it has them.

    Args:
        workspace: needs nodes.jsonl and edges.jsonl.
        options: how closely to look.
        edge_types: look at edges of these types only; None looks at all.
        threads: 0 means all cores.
        progress: called with (done, total).

    Returns:
        The report of `check_graph`, with ``edges.types`` (lines of each type), ``hubs`` (the nodes with most
        neighbours) and ``notes`` (what could not be looked at, and why).
    """
    nodes, edges = workspace.nodes, workspace.edges
    chosen = None if edge_types is None else check_edge_types(edges, edge_types)
    graph = workspace_graph(nodes, edges, chosen)
    notes: list[str] = []
    gold: list[list[int]] = []
    vectors = questions = None
    if workspace.path(QUESTIONS).is_file():
        # Sorted by id, so that the draws do not depend on the order of the file.
        asked = workspace.questions
        order = sorted(range(len(asked)), key=asked.ids.__getitem__)
        gold = [[nodes.rows[node_id] for node_id in asked.gold[number]] for number in order]
        vectors, questions = _vectors(workspace, notes)
        questions = None if questions is None else questions[order]
    else:
        notes.append(f"no {QUESTIONS}: nothing is known about gold evidence")
    report = check_graph(
        graph,
        nodes.types,
        gold,
        vectors=vectors,
        questions=questions,
        options=options,
        threads=threads,
        progress=progress,
    )
    lines = np.bincount(edges.types, minlength=len(edges.type_names))
    report["edges"]["types"] = {
        name: int(count)
        for name, count in sorted(zip(edges.type_names, lines, strict=True))
        if chosen is None or name in chosen
    }
    degrees = graph.degrees.astype(np.int64)
    most = np.lexsort((graph.ranks, -degrees))[:_HUBS]
    report["hubs"] = [{"id": nodes.ids[row], "degree": int(degrees[row])} for row in most if degrees[row]]
    report["notes"] = notes + _sampling(report)
    return report


def _vectors(workspace: Workspace, notes: list[str]) -> tuple[Vectors | None, Vectors | None]:
    """The embeddings, or a note why they are not used: the graph can be checked without."""
    missing = [name for name in (ORIGINAL, QUESTION_VECTORS) if not workspace.path(name).is_file()]
    if missing:
        notes.append(f"no {' and no '.join(missing)}: headroom is not known before gme embed")
        return None, None
    try:
        return workspace.collection("original").vectors, workspace.question_vectors()
    except GmeError as error:
        notes.append(f"embeddings not used: {error.message}; {error.hint}")
        return None, None


def _sampling(report: dict[str, Any]) -> list[str]:
    """What to know of the random pairs, where not all were counted."""
    random = report["random"]
    if random is None or random["sources"] == random["of"]:
        return []
    notes = [f"random pairs beyond one hop are estimated from {random['sources']:,} of {random['of']:,} nodes"]
    for line in report["reach"]:
        if line["lift_above"] is not None:
            notes.append(
                f"only {line['random_hits']} random pairs seen within {line['hops']} hops: "
                f"the lift is > {round_lift(line['lift_above'])}; more --sources tell more"
            )
    return notes


def _linkage(reach: list[dict[str, Any]], questions: int) -> dict[str, Any]:
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
