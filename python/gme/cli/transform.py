"""``gme transform METHOD``: each entry in the registry of transforms is a sub-command. Alone: the paper's set."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..options import Options
from . import COMMANDS, _output
from ._collections import collections
from ._commands import entries, listed, with_options
from ._output import QuietOption, ThreadsOption, WorkspaceOption

if TYPE_CHECKING:
    from ..transforms.registry import Transform

NameOption = Annotated[
    str, typer.Option("--name", help="Name of the new collection; default: the method and its changed options.")
]

EdgeTypesOption = Annotated[
    str,
    typer.Option("--edge-types", metavar="A,B", help="Use only edges of these types; default: all."),
]


def register(app: typer.Typer) -> None:
    """Add the command group."""
    from ..transforms.registry import TRANSFORMS

    group = typer.Typer(
        cls=entries("transform", TRANSFORMS, _add),
        rich_markup_mode=None,
        invoke_without_command=True,
        subcommand_metavar="METHOD [OPTIONS]",
    )
    group.callback(help=COMMANDS["transform"])(collections)
    for method, entry in TRANSFORMS.own.items():
        _add(group, method, entry)
    app.add_typer(group, name="transform", help=COMMANDS["transform"])


def _add(group: typer.Typer, method: str, entry: "Transform") -> None:
    group.command(method, help=entry.summary)(with_options(entry.options, _runner(method, entry), entry.summary))


def _runner(method: str, entry: "Transform") -> Any:
    def run(
        options: Options,
        edge_types: EdgeTypesOption = "",
        name: NameOption = "",
        workspace: WorkspaceOption = Path(),
        threads: ThreadsOption = 0,
        quiet: QuietOption = False,
    ) -> None:
        from ..pipeline.transform import transform_workspace
        from ..workspace.layout import BUILDERS

        opened = _output.open_workspace(workspace, quiet)
        made, manifest = transform_workspace(
            opened,
            method,
            options,
            name=name or None,
            edge_types=listed(edge_types),
            threads=threads,
            reporter=_output.reporter,
        )
        if manifest["graph"]["edges"] == 0 and not entry.needs_source:  # else the source's edges count
            moved = "every modified vector equals its original"
            outcome = moved if entry.needs_vectors else "no two signatures overlap"
            edges = opened.path("edges.jsonl")  # the file may still hold self-loops
            _output.warn(f"the graph of {edges} has no edges: {outcome}", f"find edges with: {BUILDERS}")
        _output.note(
            f"{manifest['rows']} x {manifest['dim']} in {manifest['seconds']:.2f} s{_facts(manifest['facts'])}"
        )
        if manifest["facts"].get("converged") is False:
            _output.warn(f"{method} stopped before it converged", "raise the cap, or --tolerance where float32 ends")
        _output.data(made)

    return run


def _facts(facts: dict[str, Any]) -> str:
    """The facts of a method, in words."""
    words = [
        f"{key.replace('_', ' ')} {value:.1e}" if isinstance(value, float) else f"{key.replace('_', ' ')} {value}"
        for key, value in facts.items()
        if key != "converged"
    ]
    return "".join(f", {word}" for word in words)
