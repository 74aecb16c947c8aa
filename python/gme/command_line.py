"""Builds the command lines that manifests and hints show. Running such a line does the same work again."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping


def flag(name: str) -> str:
    """An option's name on the command line, without the dashes in front."""
    return name.replace("_", "-")


def command_line(command: str, positional: Iterable[str] = (), *options: Mapping[str, object]) -> str:
    """A command with its arguments, quoted for the shell.

    Args:
        command: the words that name the command, such as ``gme transform``.
        positional: arguments without a flag, in their order.
        options: option name -> value, in one or more mappings. True gives the flag alone, and False the flag that turns
            it off. A list gives its values with commas between them. None is left out.

    Returns:
        One line.

    Example:
        >>> command_line("gme transform", ["hop1"], {"min_neighbors": 3}, {"edge_types": ["link", "part of"]})
        "gme transform hop1 --min-neighbors 3 --edge-types 'link,part of'"
    """
    words = [command, *map(shlex.quote, positional)]
    for given in options:
        words += [_argument(name, value) for name, value in given.items() if value is not None]
    return " ".join(words)


def _argument(name: str, value: object) -> str:
    if isinstance(value, bool):
        return f"--{flag(name)}" if value else f"--no-{flag(name)}"
    text = ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return f"--{flag(name)} {shlex.quote(text)}"
