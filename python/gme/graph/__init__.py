"""Graphs from ids and edges, and their communities."""

from importlib import import_module

from ..deprecation import former_names_of

__getattr__ = former_names_of(
    __name__,
    {
        "workspace_graph": (
            "gme.workspace_graph",
            lambda: import_module("gme.workspace.graphs").workspace_graph,
        )
    },
)
