"""``gme embed``: makes the vectors of nodes and questions."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from ..embedders.options import EmbedOptions
from ..errors import GmeError
from . import _output
from ._commands import with_options
from ._output import QuietOption, ThreadsOption, WorkspaceOption

if TYPE_CHECKING:
    from ..pipeline.embed import Embedded

CacheOption = Annotated[
    Path | None,
    typer.Option("--cache", envvar="GME_CACHE", help="Folder of the vector cache; default: cache/ in the workspace."),
]
NoCacheOption = Annotated[bool, typer.Option("--no-cache", help="Embed every text anew and keep nothing.")]

_DOC = """Embed nodes.jsonl and questions.jsonl into embeddings/.

Vectors are kept in a cache by the content of their text: a run that was stopped goes on where it was, and no text is
paid for twice.
"""


class _Command(TyperCommand):
    """Looks at embedders of other packages only if somebody asks for the help."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        from ..embedders.models import MODELS

        outside = [f"  {entry.form:24}{entry.summary}".rstrip() for entry in MODELS.outside().values()]
        if outside:
            listing = "\n".join(outside)
            self.help = f"{self.help}\n\n\b\nModels of other packages:\n{listing}"
        super().format_help(ctx, formatter)


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command("embed", cls=_Command)(with_options(EmbedOptions, embed, _DOC))


def embed(
    options: EmbedOptions,
    cache: CacheOption = None,
    no_cache: NoCacheOption = False,
    threads: ThreadsOption = 0,
    workspace: WorkspaceOption = Path(),
    quiet: QuietOption = False,
) -> None:
    """Run the command. The names of the written arrays go to stdout."""
    opened = _output.open_workspace(workspace, quiet)
    if no_cache and cache is not None and str(cache) != os.environ.get("GME_CACHE"):
        raise GmeError("--cache has no effect with --no-cache", "leave one out")
    from ..pipeline.embed import embed_workspace

    folder = None if no_cache else cache or opened.path("cache")
    result = embed_workspace(opened, options, cache=folder, threads=threads, reporter=_output.reporter)
    for name in result.written:
        _output.data(name)
    _output.note(_summary(options.model, result))


def _summary(model: str, result: "Embedded") -> str:
    parts = [f"{result.texts:,} vectors of {result.dim} dimensions by {model}"]
    if result.distinct < result.texts:
        parts.append(f"{result.distinct:,} different texts")
    if result.reused:
        parts.append(f"{result.reused:,} from the cache")
    if result.facts.get("texts_cut"):
        parts.append(f"{result.facts['texts_cut']:,} texts cut at {result.facts['max_tokens']} tokens")
    if result.facts.get("retries"):
        parts.append(f"{result.facts['retries']:,} requests tried again")
    return ", ".join(parts)
