"""``gme transform --collections``: lists or builds the paper's collections."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..formatting import counted
from . import _output
from ._output import QuietOption, ThreadsOption, WorkspaceOption

if TYPE_CHECKING:
    from ..paper.grids import PaperCollection

CollectionsOption = Annotated[
    str,
    typer.Option(
        "--collections",
        metavar="main|all|A,B",
        help="Without METHOD: make the five main configurations, the paper's whole set, or collections of it by name.",
    ),
]
ListOption = Annotated[bool, typer.Option("--list", help="Print these collections and their number, make none.")]


def collections(
    context: typer.Context,
    collections: CollectionsOption = "",
    list_only: ListOption = False,
    workspace: WorkspaceOption = Path(),
    threads: ThreadsOption = 0,
    quiet: QuietOption = False,
) -> None:
    """Put the graph into the embeddings, by one METHOD or by all of the paper's configurations."""
    if context.invoked_subcommand is not None:
        _refuse_options(context)
        return
    if not collections and not list_only:
        raise typer.BadParameter("name a METHOD, or give --collections or --list")
    from ..paper.grids import select_collections

    chosen = select_collections(collections or "all")
    opened = _output.open_workspace(workspace, quiet)
    if list_only:
        _list(chosen)
        return
    from ..paper.grids import build_collections
    from ..workspace.layout import BUILDERS

    if opened.graph().edges == 0:  # uses the graph, which is needed anyway, and not the lists of edges
        edges = opened.path("edges.jsonl")
        outcome = "every modified vector equals its original"
        if any(collection.method == "residual" for collection in chosen):
            outcome += ", every residual is zero"
        _output.warn(f"the graph of {edges} has no edges: {outcome}", f"find edges with: {BUILDERS}")

    made = 0
    for name, manifest in build_collections(opened, chosen, threads=threads, reporter=_output.reporter):
        if manifest is not None:
            made += 1
            _output.data(name)
            if manifest["facts"].get("converged") is False:
                _output.warn(f"{name} stopped before it converged", "raise the cap on sweeps or iterations")
    _output.note(f"{counted(made, 'collection')} made, {len(chosen) - made} of {len(chosen)} were up to date")


def _refuse_options(context: typer.Context) -> None:
    """Refuse options before METHOD. They would count as options of the group and have no effect."""
    for name, flag in (
        ("collections", "--collections"),
        ("list_only", "--list"),
        ("workspace", "--workspace"),
        ("threads", "--threads"),
        ("quiet", "--quiet"),
    ):
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            raise typer.BadParameter(f"{flag} stands before {context.invoked_subcommand}: put options after the method")


def _list(chosen: list[PaperCollection]) -> None:
    """Print each collection and the command that makes it, with a tab between them."""
    from ..paper.grids import count_collections, counts_in_words
    from ..pipeline.transform import transform_command

    for collection in chosen:
        _output.data(f"{collection.name}\t{transform_command(collection.method, collection.options)}")
    counts = count_collections(chosen)
    _output.note(", ".join(f"{method}: {count}" for method, count in counts.items()))
    residuals = counts.get("residual", 0)
    split = f" ({len(chosen) - residuals} without residuals)" if residuals else ""
    _output.note(f"total: {len(chosen)}{split}")
    for line in counts_in_words():
        _output.note(line)
