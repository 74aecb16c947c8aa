"""``gme graph …``: edges for a corpus."""

from pathlib import Path
from typing import Annotated

import typer

from ..graph import MentionOptions
from . import COMMANDS, _output, graph_check, graph_read
from ._commands import with_options
from ._output import QuietOption, ThreadsOption, WorkspaceOption

StopTitles = Annotated[
    Path | None, typer.Option("--stop-titles", help="A file of titles that are never looked for, one a line.")
]


def register(app: typer.Typer) -> None:
    """Add the command group."""
    from ..graph import MentionOptions

    group = typer.Typer(rich_markup_mode=None)
    summary = "Connect passages to the passages whose titles they mention."
    group.command("mentions", help=summary)(with_options(MentionOptions, mentions, summary))
    graph_read.register(group)
    graph_check.register(group)
    app.add_typer(group, name="graph", help=COMMANDS["graph"])


def mentions(
    options: MentionOptions,
    stop_titles: StopTitles = None,
    workspace: WorkspaceOption = Path(),
    threads: ThreadsOption = 0,
    quiet: QuietOption = False,
) -> None:
    """Add title-mention edges to `edges.jsonl`."""
    import time

    from ..graph import write_mentions

    opened = _output.open_workspace(workspace, quiet)
    started = time.perf_counter()
    with _output.progress("title mentions", "passages") as progress:
        counts = write_mentions(opened, options, stop_file=stop_titles, threads=threads, progress=progress)
    seconds = time.perf_counter() - started
    kept = f", {counts['kept']} edges of other types kept" if counts["kept"] else ""
    _output.note(f"{counts['titles']} titles in {counts['passages']} passages, {seconds:.2f} s{kept}")
    if counts["edges"] == 0:
        _output.warn("no passage mentions another's title", "try --ignore-case, or bring edges of your own")
    _output.data(f"{counts['edges']} edges")
