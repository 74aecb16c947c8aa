"""``gme graph read FORMAT``: each entry in the registry of readers is a sub-command."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..options import Options
from . import _output
from ._commands import entries, with_options
from ._output import QuietOption, WorkspaceOption

if TYPE_CHECKING:
    from ..readers.protocol import Reader

Paths = Annotated[list[Path], typer.Argument(metavar="PATH", help="Files or folders to read.")]
OnePath = Annotated[Path, typer.Argument(metavar="PATH", help="The file or folder to read.")]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace nodes, edges and questions that are there.")]


def register(graph: typer.Typer) -> None:
    """Add the sub-commands to the group ``gme graph``."""
    from ..readers.registry import READERS

    summary = "Read nodes, edges and questions from other formats."
    group = typer.Typer(cls=entries("format", READERS, _add), no_args_is_help=True, rich_markup_mode=None)
    for name, entry in READERS.own.items():
        _add(group, name, entry)
    graph.add_typer(group, name="read", help=summary)


def _add(group: typer.Typer, name: str, entry: "Reader") -> None:
    run = _reader_of_several(name) if entry.several else _reader_of_one(name)
    group.command(name, help=entry.summary)(with_options(entry.options, run, entry.summary))


def _reader_of_several(name: str) -> Any:
    def run(
        options: Options,
        paths: Paths,
        workspace: WorkspaceOption = Path(),
        force: ForceOption = False,
        quiet: QuietOption = False,
    ) -> None:
        _read(name, paths, options, workspace, force, quiet)

    return run


def _reader_of_one(name: str) -> Any:
    def run(
        options: Options,
        path: OnePath,
        workspace: WorkspaceOption = Path(),
        force: ForceOption = False,
        quiet: QuietOption = False,
    ) -> None:
        _read(name, [path], options, workspace, force, quiet)

    return run


def _read(name: str, paths: list[Path], options: Options, workspace: Path, force: bool, quiet: bool) -> None:
    """Read, then print a line for each file: name, number of lines, and counts by type or family, with tabs between."""
    import time

    from ..pipeline.read import read_workspace

    opened = _output.open_workspace(workspace, quiet)
    started = time.perf_counter()
    result = read_workspace(opened, name, paths, options, force=force, reporter=_output.reporter)
    for text in result.notes:
        _output.note(text)
    for text, hint in result.warnings:
        _output.warn(text, hint)
    _output.note(f"read in {time.perf_counter() - started:.2f} s")
    for kind in result.written:
        parts = result.counts[kind]
        detail = ", ".join(f"{part} {count}" for part, count in sorted(parts.items()) if part)
        _output.data(f"{kind}\t{sum(parts.values())}\t{detail}".rstrip("\t"))
