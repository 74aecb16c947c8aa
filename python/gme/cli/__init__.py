"""The command line. Each command is a module. This one combines them, and turns errors into a message and a code."""

from __future__ import annotations

import errno
import os
import signal
import sys
import warnings
from collections.abc import Callable
from importlib import import_module
from types import FrameType
from typing import Annotated, Any

import typer

from ..deprecation import FormerNameWarning
from ..errors import GmeError, PluginWarning, shorten
from ..storage.platform import write_utf8
from . import _output
from ._commands import Group, UnknownCommandError, UsageError

COMMANDS = {
    "generate": "Write the synthetic benchmark: nodes, edges and questions.",
    "graph": "Read a corpus or a graph; find edges between its nodes.",
    "embed": "Embed nodes and questions.",
    "transform": "Put the graph into the embeddings.",
    "retrieve": "Answer the questions with a strategy, or one given here.",
    "evaluate": "Score runs: recovery, differences with intervals.",
    "report": "Show runs: one page with figures and every question.",
    "sweep": "Try a grid of configurations, rank them, confirm the best.",
    "demo": "All of the above: the paper's table beside ours.",
}
"""Command -> summary, in the order of use. The module of that name in this package has ``register(app)``."""

_INTERRUPTED = 130
_UNPRINTED = "the files are complete, but the printed output is not: print to another place"
_GO_ON = "every file is unchanged or complete; run the command again to go on"


class _Stopped(BaseException):
    """A request to end: SIGTERM, or SIGHUP when the terminal closes."""

    def __init__(self, number: int) -> None:
        self.number = number


def build(command: str) -> typer.Typer:
    """Build the application for one command line.

    Only the requested command is built completely. For ``gme --help`` and for mistyped commands, names and summaries of
    the others are enough, and numpy is not imported.
    """
    app = typer.Typer(
        name="gme",
        cls=Group,
        help="Put a knowledge graph into embeddings, once and offline, so that plain vector search finds multi-hop "
        "evidence.",
        add_completion=False,
        context_settings={"help_option_names": ["--help", "-h"]},
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(_all)
    for name, summary in COMMANDS.items():
        if name == command:
            import_module(f".{name}", __name__).register(app)
        else:
            app.command(name, help=summary)(_elsewhere)
    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        from ..version import gme_version

        _output.data(f"gme {gme_version()}")
        raise typer.Exit


def _all(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


def _elsewhere() -> None:
    """Stands in for a command that is not requested."""


def main() -> None:
    """The entry point of the ``gme`` command."""
    write_utf8()
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:  # keeps what nohup has set
            signal.signal(number, _stop)
    sys.exit(run(sys.argv[1:]))


def _stop(number: int, frame: FrameType | None) -> None:
    raise _Stopped(number)


def run(arguments: list[str]) -> int:
    """Run one command line and return its exit code.

    0: done, 1: an error of the user's, 2: wrong usage, 130: interrupted, 143 or 129: asked to end (128 and the signal).
    """
    with _output.Streams() as streams:
        code = _run(arguments)
        sys.stdout.flush()
        if code == 0 and streams.failure is not None:
            reason = streams.failure.strerror or str(streams.failure)
            _output.error(f"standard output: {reason[:1].lower()}{reason[1:]}", _UNPRINTED)
            return 1
    return code


def _run(arguments: list[str]) -> int:
    # An unset shell variable (`--collection $NAME`) leaves the option without a value. It counts as not given.
    if arguments[:1] == ["retrieve"] and arguments[-1] == "--collection":
        arguments = arguments[:-1]
    if arguments in ([], ["graph"], ["graph", "read"], ["transform"]):
        arguments = [*arguments, "--help"]
    command = arguments[0]
    with warnings.catch_warnings():
        for category in (PluginWarning, FormerNameWarning):
            warnings.simplefilter("always", category)
        warnings.showwarning = _warner(warnings.showwarning, quiet=not {"-q", "--quiet"}.isdisjoint(arguments))
        return _run_command(command, arguments)


def _warner(usual: Callable[..., None], quiet: bool) -> Callable[..., None]:
    """A function that shows broken plugins and former names like all warnings of the command line."""

    def show(message: Warning | str, *place: Any, **more: Any) -> None:
        if not isinstance(message, PluginWarning | FormerNameWarning):
            usual(message, *place, **more)
        elif quiet:
            return
        elif isinstance(message, FormerNameWarning):
            _output.warn(f"{message.former} is deprecated", f"use {message.now}")
        else:
            _output.warn(message.error.message, message.error.hint)

    return show


def _run_command(command: str, arguments: list[str]) -> int:
    try:
        code = int(build(command)(args=arguments, prog_name="gme", standalone_mode=False) or 0)
        if code == _INTERRUPTED:  # Typer has caught Ctrl-C silently
            raise KeyboardInterrupt
        return code
    except typer.TyperException as error:
        _output.error(error.format_message() + _value(error, arguments), _usage_hint(error, arguments))
        return error.exit_code
    except (typer.Abort, KeyboardInterrupt):
        _output.error("interrupted", _GO_ON)
        return _INTERRUPTED
    except _Stopped as stopped:
        _output.error(f"ended by {signal.Signals(stopped.number).name}", _GO_ON)
        return 128 + stopped.number
    except (GmeError, OSError, MemoryError) as error:
        if os.environ.get("GME_DEBUG") == "1":
            raise
        _output.error(*_describe(error))
        return 2 if isinstance(error, UnknownCommandError) else 1


def _usage_hint(error: typer.TyperException, arguments: list[str]) -> str:
    """The hint for a command line that can't be parsed."""
    if isinstance(error, UsageError) and error.hint:
        return error.hint
    return f"{' '.join(['gme', *_command_path(arguments)])} --help"


def _command_path(arguments: list[str]) -> list[str]:
    """The first words of a command line, as far as they name commands. The hint points to their help."""
    command: Any = typer.main.get_command(build(arguments[0]))
    path = []
    for word in arguments:
        find = getattr(command, "get_command", None)
        command = find(None, word) if find else None
        if command is None:
            break
        path.append(word)
    return path


def _value(error: typer.TyperException, arguments: list[str]) -> str:
    """The value given for the option in a usage error. Typer's message does not contain it."""
    flags = getattr(getattr(error, "param", None), "opts", ())
    given = [name for name in flags if name.startswith("--") and name in arguments[:-1]]
    return f", found {shorten(arguments[arguments.index(given[0]) + 1])}" if given else ""


def _describe(error: Exception) -> tuple[str, str | None]:
    """An exception as (message, hint)."""
    if isinstance(error, GmeError):
        return error.message, error.hint
    if isinstance(error, MemoryError):
        return "out of memory", "use fewer dimensions, a smaller batch, or a machine with more memory"
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        hints = {
            errno.EISDIR: "give a file, not a folder",
            errno.ENOENT: "check the path",
            errno.ENOSPC: "free some space and run the command again; nothing is half-written",
        }
        hint = hints.get(error.errno or 0, "check that the path may be written to and has free space")
        return f"{where}{error.strerror or error}", hint
    return str(error), None
