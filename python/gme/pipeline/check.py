"""`gme graph check` on a workspace: its graph, and its questions and embeddings if it has them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._core import Graph
from ..builders.names import name_coverage
from ..diagnostics.check import CheckOptions, check_graph
from ..diagnostics.results import CheckReport, Hub, NamesToAdd, WorkspaceReport
from ..diagnostics.verdict import round_lift
from ..errors import GmeError
from ..reporting import SILENT, Reporter, takes_callbacks
from ..types import Vectors
from ..workspace import Workspace
from ..workspace.graphs import SHARED_NAME, check_edge_types, workspace_graph
from ..workspace.layout import ORIGINAL, QUESTION_VECTORS, QUESTIONS
from ..workspace.records import Nodes

_HUBS = 5

_MOST_TO_SEARCH = 200_000
"""In larger corpora names are not searched for: that would take longer than the rest of the check."""


@takes_callbacks
def check_workspace(
    workspace: Workspace,
    options: CheckOptions | None = None,
    *,
    edge_types: Sequence[str] | None = None,
    threads: int = 0,
    reporter: Reporter = SILENT,
) -> WorkspaceReport:
    """Diagnose a workspace's graph, with its questions and embeddings if it has them.

    Args:
        workspace: needs nodes.jsonl and edges.jsonl.
        options: how closely to look.
        edge_types: use only edges of these types; None uses all.
        threads: 0 means all cores.
        reporter: hears the progress.

    Returns:
        The report of `check_graph`, with ``edges.types`` (lines of each type), ``hubs`` (the nodes with most
        neighbors), ``shared_names`` (None, or what `gme.shared_names` would add) and ``notes`` (what could not be
        checked, and why).

    Example:
        >>> import gme
        >>> found = gme.check_workspace(gme.Workspace("corpus"))
        >>> found["nodes"]["count"], found["edges"]["count"]
        (6, 5)
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
        vectors, questions = _texts_alone(workspace, notes)
    with reporter.progress("graph check", "steps") as progress:
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
    hubs: list[Hub] = [{"id": nodes.ids[row], "degree": int(degrees[row])} for row in most if degrees[row]]
    names = None if SHARED_NAME in edges.type_names else _names_to_add(nodes, graph, gold, notes)
    return {**report, "hubs": hubs, "shared_names": names, "notes": notes + _sampling(report)}


def _names_to_add(nodes: Nodes, graph: Graph, gold: list[list[int]], notes: list[str]) -> NamesToAdd | None:
    """What shared names would add; None beside an entity layer, where they have made results worse."""
    if "entity" in nodes.types:
        return None
    if len(nodes) > _MOST_TO_SEARCH:
        notes.append(f"shared names not looked for among {len(nodes):,} nodes: gme graph names finds them")
        return None
    found = name_coverage(nodes, graph, gold)
    joined = []
    if found.connected:
        joined.append(f"{found.connected:.1%} of the passages without an edge ({found.isolated:.1%} of all)")
    if found.gold_pairs:
        joined.append(f"{found.gold_pairs:.1%} of the pairs of gold that no edge joins")
    text = (
        f"Shared names would connect {' and '.join(joined)}: gme graph names adds them."
        if joined
        else "Shared names would connect no passage without an edge, and no pair of gold."
    )
    return {"isolated": found.isolated, "connected": found.connected, "gold_pairs": found.gold_pairs, "text": text}


def _vectors(workspace: Workspace, notes: list[str]) -> tuple[Vectors | None, Vectors | None]:
    """The embeddings, or a note that says why they are not used. The graph can be checked without them."""
    missing = [name for name in (ORIGINAL, QUESTION_VECTORS) if not workspace.path(name).is_file()]
    if missing:
        notes.append(f"no {' and no '.join(missing)}: headroom is not known before gme embed")
        return None, None
    try:
        return workspace.collection("original").vectors, workspace.question_vectors()
    except GmeError as error:
        notes.append(f"embeddings not used: {error.message}; {error.hint}")
        return None, None


def _texts_alone(workspace: Workspace, notes: list[str]) -> tuple[Vectors | None, Vectors | None]:
    """The embeddings of nodes and no questions, or nothing: these still tell whether edges follow the texts."""
    if not workspace.path(ORIGINAL).is_file():
        return None, None
    try:
        vectors = workspace.collection("original").vectors
    except GmeError as error:
        notes.append(f"embeddings not used: {error.message}; {error.hint}")
        return None, None
    return vectors, np.zeros((0, vectors.shape[1]), dtype=np.float32)


def _sampling(report: CheckReport) -> list[str]:
    """Notes about the random pairs, if they are a sample."""
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
