"""gme puts a knowledge graph into embeddings, once and offline, so that a plain vector search finds multi-hop evidence.

Functions take arrays and return arrays. The command line only parses, calls and prints. Each name below is imported
when it is first used, so that ``import gme`` stays fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

# name -> the module of this package that defines it
_PUBLIC = {
    "Benchmark": "benchmark",
    "CandidateStore": "stores.candidates",
    "CheckOptions": "diagnostics.check",
    "EDGE_BUILDERS": "builders.registry",
    "EmbedOptions": "embedders.options",
    "EdgeBuilder": "builders.protocol",
    "Embedder": "embedders.protocol",
    "EmbedderKind": "embedders.models",
    "EntityOptions": "builders.entities",
    "EvaluationOptions": "evaluation.significance",
    "ExactStore": "stores.exact",
    "GmeError": "errors",
    "Graph": "_core",
    "HnswStore": "stores.hnsw",
    "LexicalIndex": "lexical.index",
    "LinkOptions": "builders.links",
    "MentionOptions": "builders.mentions",
    "MODELS": "embedders.models",
    "NameOptions": "builders.names",
    "OpenRequest": "pipeline.index",
    "Options": "options",
    "PluginWarning": "errors",
    "READERS": "readers.registry",
    "Reader": "readers.protocol",
    "RetrievalSetting": "pipeline.prepare",
    "Retrieved": "retrieval.result",
    "STORES": "pipeline.index",
    "STRATEGIES": "retrieval.strategies",
    "StaleError": "errors",
    "Store": "stores.store",
    "StoreKind": "pipeline.index",
    "Strategy": "retrieval.strategies",
    "SweepSetting": "sweep.run",
    "TRANSFORMS": "transforms.registry",
    "TextError": "embedders.protocol",
    "TitleMatcher": "retrieval.title_matching",
    "Transform": "transforms.registry",
    "Transformed": "types",
    "Workspace": "workspace",
    "add_edges": "pipeline.edges",
    "bootstrap": "evaluation.significance",
    "build_collections": "paper.grids",
    "build_graph": "graph.construction",
    "build_hnsw": "stores.hnsw",
    "check_graph": "diagnostics.check",
    "check_workspace": "pipeline.check",
    "embed_question": "pipeline.question",
    "embed_texts": "embedders.texts",
    "embed_workspace": "pipeline.embed",
    "embedder_for": "pipeline.question",
    "envelope": "retrieval.serving",
    "evaluate": "evaluation.measures",
    "evaluate_workspace": "pipeline.evaluate",
    "from_networkx": "readers.networkx_graphs",
    "generate": "benchmark",
    "louvain_labels": "graph.communities",
    "make_embedder": "embedders.registry",
    "mention_edges": "builders.mentions",
    "match_titles": "retrieval.title_matching",
    "open_lexical": "pipeline.lexical",
    "open_store": "pipeline.index",
    "option": "options",
    "paper_collections": "paper.grids",
    "read_grid": "sweep.grid",
    "read_records": "readers.checking",
    "read_run": "pipeline.runs",
    "read_workspace": "pipeline.read",
    "register_builder": "builders.registry",
    "register_embedder": "embedders.models",
    "register_reader": "readers.registry",
    "register_store": "pipeline.index",
    "register_strategy": "retrieval.strategies",
    "register_transform": "transforms.registry",
    "retrieve": "retrieval.batch",
    "retrieve_workspace": "pipeline.retrieve",
    "run_demo": "paper.demo",
    "run_sweep": "sweep.run",
    "select_collections": "paper.grids",
    "shared_names": "builders.names",
    "transform": "transforms.registry",
    "transform_workspace": "pipeline.transform",
    "workspace_graph": "workspace.graphs",
    "write_benchmark": "benchmark",
    "write_mentions": "pipeline.edges",
    "write_qrels": "pipeline.qrels",
}

# a name that 0.2 replaced -> the name to use now
_FORMER = {"Titles": "TitleMatcher", "named_nodes": "match_titles"}

__all__ = sorted(_PUBLIC)


def __getattr__(name: str) -> Any:
    if name in _FORMER:
        from .deprecation import deprecated

        deprecated(f"gme.{name}", f"gme.{_FORMER[name]}")
        name = _FORMER[name]
    if name in _PUBLIC:
        return getattr(import_module(f".{_PUBLIC[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
