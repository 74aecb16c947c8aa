"""gme puts a knowledge graph into embeddings, once and offline, so that a plain vector search finds multi-hop evidence.

Functions take arrays and return arrays; the command line only parses, calls and prints. The names below are imported
when they are first used, so that ``import gme`` stays fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

# name -> the module of this package that defines it
_PUBLIC = {
    "Benchmark": "benchmark",
    "CheckOptions": "diagnostics",
    "EDGE_BUILDERS": "builders",
    "EmbedOptions": "embedders",
    "Embedder": "embedders",
    "EntityOptions": "builders",
    "EvaluationOptions": "significance",
    "ExactStore": "stores",
    "GmeError": "errors",
    "Graph": "_core",
    "HnswStore": "stores",
    "LinkOptions": "builders",
    "MentionOptions": "builders",
    "READERS": "readers",
    "RetrievalSetting": "retrieval",
    "Retrieved": "retrieval",
    "STRATEGIES": "retrieval",
    "StaleError": "errors",
    "Store": "stores",
    "SweepSetting": "sweep",
    "TRANSFORMS": "transforms",
    "TextError": "embedders",
    "Titles": "retrieval",
    "Transformed": "transforms",
    "Workspace": "workspace",
    "add_edges": "builders",
    "bootstrap": "significance",
    "build_collections": "collections",
    "build_graph": "graph",
    "build_hnsw": "index",
    "check_graph": "diagnostics",
    "check_workspace": "diagnostics",
    "embed_question": "embedders",
    "embed_texts": "embedders",
    "embed_workspace": "embedders",
    "embedder_for": "embedders",
    "evaluate": "evaluation",
    "evaluate_workspace": "evaluation",
    "from_networkx": "readers",
    "generate": "benchmark",
    "louvain_labels": "communities",
    "make_embedder": "embedders",
    "mention_edges": "builders",
    "named_nodes": "retrieval",
    "open_store": "index",
    "paper_collections": "collections",
    "read_grid": "sweep",
    "read_records": "readers",
    "read_run": "runs",
    "read_workspace": "readers",
    "retrieve": "retrieval",
    "retrieve_workspace": "retrieval",
    "run_demo": "demo",
    "run_sweep": "sweep",
    "select_collections": "collections",
    "transform": "transforms",
    "transform_workspace": "transforms",
    "workspace_graph": "graph",
    "write_benchmark": "benchmark",
    "write_mentions": "builders",
    "write_qrels": "qrels",
}

__all__ = sorted(_PUBLIC)


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(import_module(f".{_PUBLIC[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
