"""``gme graph …``: nodes and edges for a corpus. Each entry in the registry of edge builders is a sub-command."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..formatting import counted
from ..options import Options
from . import COMMANDS, _output, graph_check, graph_read
from ._commands import entries, with_options
from ._output import QuietOption, ThreadsOption, WorkspaceOption

if TYPE_CHECKING:
    from ..builders.protocol import EdgeBuilder


def register(app: typer.Typer) -> None:
    """Add the command group."""
    from ..builders.registry import EDGE_BUILDERS

    group = typer.Typer(cls=entries("graph command", EDGE_BUILDERS, _add), rich_markup_mode=None)
    graph_read.register(group)
    for name, entry in EDGE_BUILDERS.own.items():
        _add(group, name, entry)
    graph_check.register(group)
    app.add_typer(group, name="graph", help=COMMANDS["graph"])


def _add(group: typer.Typer, name: str, entry: "EdgeBuilder") -> None:
    group.command(name, help=entry.summary)(with_options(entry.options, _builder(name), entry.summary))


def _builder(name: str) -> Any:
    def run(
        options: Options,
        workspace: WorkspaceOption = Path(),
        threads: ThreadsOption = 0,
        quiet: QuietOption = False,
    ) -> None:
        import time

        from ..pipeline.edges import add_edges

        opened = _output.open_workspace(workspace, quiet)
        started = time.perf_counter()
        built = add_edges(opened, name, options, threads=threads, reporter=_output.reporter)
        seconds = time.perf_counter() - started
        kept = f", {counted(built.kept, 'other edge')} kept" if built.kept else ""
        for fact in built.facts[:1]:
            _output.note(f"{fact}, {seconds:.2f} s{kept}")
        for fact in built.facts[1:]:
            _output.note(fact)
        if built.edges == 0:
            _output.warn(f"gme graph {name} found no edges", built.hint)
        if built.nodes:
            _output.data(counted(built.nodes, "node"))
        _output.data(counted(built.edges, "edge"))

    return run
