"""The command line: one module a command; this one puts them together and turns errors into two lines and an exit code."""

from __future__ import annotations

import os
import sys

import typer

from ..errors import GmeError
from . import _output

app = typer.Typer(
    name="gme",
    help="Put a knowledge graph into embeddings, once and offline, so that plain vector search finds multi-hop evidence.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _register() -> None:
    from . import demo, embed, evaluate, generate, graph, retrieve, transform

    for module in (generate, graph, embed, transform, retrieve, evaluate, demo):
        module.register(app)


def main() -> None:
    """Entry point of the ``gme`` command."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command line and return its exit code: 0 done, 1 the user's error, 2 wrong usage, 130 interrupted."""
    # An unset shell variable (`--collection $NAME`) leaves the option bare: the same as not giving it.
    if arguments and arguments[-1] == "--collection":
        arguments = arguments[:-1]
    _register()
    try:
        return int(app(args=arguments, prog_name="gme", standalone_mode=False) or 0)
    except typer.TyperException as error:
        _output.error(error.format_message(), f"gme {' '.join(_command_path(arguments))} --help".replace("  ", " "))
        return error.exit_code
    except (typer.Abort, KeyboardInterrupt):
        _output.error("interrupted", "files are as before or complete; run the command again to go on")
        return 130
    except BrokenPipeError:
        # The reader of our standard output has gone (`| head`): stop quietly, and keep Python from complaining at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (GmeError, OSError, MemoryError) as error:
        if os.environ.get("GME_DEBUG") == "1":
            raise
        _output.error(*_describe(error))
        return 1


def _command_path(arguments: list[str]) -> list[str]:
    """The leading words of a command line that name commands, for the hint to their help."""
    words = []
    for argument in arguments[:2]:
        if argument.startswith("-") or not argument.isidentifier():
            break
        words.append(argument)
    groups = {group.name for group in app.registered_groups}
    return words if words and words[0] in groups else words[:1]


def _describe(error: Exception) -> tuple[str, str | None]:
    """An exception as (what is wrong, what to do)."""
    if isinstance(error, GmeError):
        return error.message, error.hint
    if isinstance(error, MemoryError):
        return "out of memory", "use fewer dimensions, a smaller batch, or a machine with more memory"
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror or error}", "check that the path exists, may be written to and has free space"
    return str(error), None
