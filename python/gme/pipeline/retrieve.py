"""The step ``gme retrieve``: answers all questions of a workspace in one pass, or a single question."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..command_line import command_line
from ..evaluation.runs import check_run_name
from ..options import file_name
from ..registry import made_by
from ..retrieval.strategies import STRATEGIES
from ..storage.arrays import check_finite
from ..stores.store import Rows
from ..types import Vectors
from ..version import gme_version
from ..workspace import Workspace, shared_lock
from ..workspace.layout import EDGES, NODES, ORIGINAL, QUESTION_VECTORS, QUESTIONS
from ..workspace.manifests import Latency, Manifest, Source, read_manifest
from .index import EXACT_BELOW, STORES, index_option
from .prepare import Prepared, RetrievalSetting, prepare_retrieval
from .runs import write_run

_LATENCY_QUESTIONS = 200


@shared_lock
def retrieve_workspace(
    workspace: Workspace,
    strategy: str,
    setting: RetrievalSetting | None = None,
    *,
    name: str = "",
    trec: bool = False,
    latency: bool = False,
    **options: Any,
) -> tuple[str, Manifest]:
    """Answer all questions of a workspace in one batched pass and write the run.

    Args:
        name: the run's name; default: strategy, collection and changed options.
        trec: also write `runs/NAME.trec`.
        latency: also time questions one at a time, and put the 50th and 95th percentile into the manifest.
        options: the strategy's options.

    Returns:
        The run's name and its manifest.

    Example:
        >>> import gme
        >>> name, manifest = gme.retrieve_workspace(gme.Workspace("corpus"), "plain")
        >>> name
        'plain'
    """
    setting = setting or RetrievalSetting()
    if name:
        check_run_name(name)
    started = time.perf_counter()
    ready = prepare_retrieval(workspace, strategy, setting, options, all_questions=True)
    queries = workspace.question_vectors()
    check_finite(queries, str(workspace.path(QUESTION_VECTORS)), workspace.questions.ids)
    named = ready.match_titles(queries, workspace.questions.texts)
    with setting.reporter.progress(f"retrieve {strategy}", "questions") as progress:
        retrieved = ready.answer(queries, named, progress, workspace.questions.texts)
    run = name or run_name(ready)
    facts: Manifest = {
        **describe(ready),
        "search_calls": retrieved.search_calls,
        "schedule": str(retrieved.schedule) if retrieved.schedule else None,
        "questions": len(queries),
        "milliseconds_per_question": round(1000 * retrieved.seconds / len(queries), 4),
        "command": _command(ready, name, trec),
        "rows": len(workspace.nodes),
        "source": _source(workspace),
        "gme": gme_version(),
        **made_by(strategy=STRATEGIES.source(strategy), index=STORES.source(ready.original.kind)),
    }
    if latency:
        facts["latency_milliseconds"] = single_latency(ready, queries, named, workspace.questions.texts)
    facts["seconds"] = round(time.perf_counter() - started, 3)
    inputs = [NODES, QUESTIONS, ORIGINAL, QUESTION_VECTORS]
    if ready.graph is not None:
        inputs.append(EDGES)
    if ready.collection not in (None, "original"):
        inputs.append(f"embeddings/{ready.collection}.npy")
    write_run(workspace, run, retrieved, facts, inputs, trec=trec)
    ready.note_large_budget()
    return run, facts


def describe(ready: Prepared) -> Manifest:
    """The strategy and what it ran on, for manifests and printed answers."""
    stores = {"original": ready.original, "modified": ready.modified}
    options = ready.options.as_dict()
    if "lexical" in options:
        options["lexical"] = ready.texts is not None  # whichever it is where none was asked for
    return {
        "strategy": ready.strategy,
        "collection": ready.collection,
        "options": options,
        "graph_at_query_time": ready.graph is not None,
        "types": list(ready.types),
        "edge_types": list(ready.setting.edge_types),
        "index": {role: store.kind for role, store in stores.items() if store is not None},
        **({"precision": ready.setting.precision} if STORES[ready.original.kind].builds else {}),
    }


def single_latency(
    ready: Prepared, queries: Vectors, named: Rows | None = None, questions: Sequence[str] | None = None
) -> Latency:
    """Milliseconds of questions asked one at a time: 50th and 95th percentile over up to 200 evenly spread questions.

    Title matching is not included, because a server keeps its titles ready.
    """
    chosen = np.unique(np.linspace(0, len(queries) - 1, min(len(queries), _LATENCY_QUESTIONS)).astype(int))

    def seconds_of(number: int) -> float:
        one = slice(number, number + 1)
        names = None if named is None else named[one]
        return ready.answer(queries[one], names, questions=None if questions is None else questions[one]).seconds

    seconds_of(chosen[0])  # warm up
    seconds = [seconds_of(number) for number in chosen]
    p50, p95 = np.percentile(seconds, [50, 95]) * 1000
    return {"p50": round(float(p50), 4), "p95": round(float(p95), 4), "questions": len(chosen)}


def run_name(ready: Prepared) -> str:
    """The default name of a run: strategy, collection, changed options, types, and the index if it is not automatic."""
    automatic = "exact" if len(ready.original.vectors) < EXACT_BELOW else "hnsw"
    parts = [
        f"-{ready.collection}" if ready.collection else "",
        ready.options.suffix(),
        restrictions(ready.setting.types, ready.setting.edge_types if ready.graph else ()),
        f"-{ready.original.kind}" if ready.original.kind != automatic else "",
        f"-{ready.setting.precision}"
        if ready.setting.precision != "f32" and STORES[ready.original.kind].builds
        else "",
    ]
    return check_run_name(ready.strategy + "".join(parts))


def restrictions(types: Sequence[str], edge_types: Sequence[str]) -> str:
    """The part of a run's name for the types of nodes and edges that it is restricted to."""
    nodes = f"-types-{file_name(types)}" if types else ""
    return nodes + (f"-edges-{file_name(edge_types)}" if edge_types else "")


def _command(ready: Prepared, name: str, trec: bool) -> str:
    setting = ready.setting
    given = {
        "types": list(setting.types) or None,
        "edge_types": list(setting.edge_types) or None,
        **index_option(setting.index),
        "precision": setting.precision if setting.precision != "f32" else None,
        "name": name or None,
        "format": "trec" if trec else None,
    }
    collection = {"collection": ready.collection or None}
    return command_line("gme retrieve", [ready.strategy], collection, ready.options.changed(), given)


def _source(workspace: Workspace) -> Source:
    """Model and size of the original embeddings. A message about a stale run can then say what has changed."""
    path = workspace.path("embeddings/original.json")
    manifest = read_manifest(path)
    return {"model": manifest.get("model"), "rows": manifest.get("rows"), "dim": manifest.get("dim")}
