"""What an entry of another package must be, so that the command line can show and run it."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from .command_line import flag
from .errors import GmeError, shorten
from .options import Options

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_TYPES = {bool, int, float, str, Path, NoneType}
"""The types that an option can have."""

_LEGAL_TYPES = (
    "a command line gives bool, int, float, str or Path, each also with None; declare a Literal as str, with choices="
)


@dataclass(frozen=True)
class Rules:
    """What an entry of another package must observe, beside its type.

    Attributes:
        names: forbidden names. The command line gives them another meaning.
        options: forbidden option names. The command or the function already has parameters of these names.
        function: the field with the function that an entry runs; "": the entries have none.
        deferred: whether that field may also be the text ``module:name``, which is imported when it is needed.
        check: called with (entry, the entries of this package). Returns what else is wrong, or an empty text.
    """

    names: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    function: str = ""
    deferred: bool = False
    check: Callable[[Any, Mapping[str, Any]], str] = lambda entry, own: ""


def entry_fault(name: str, entry: object, type: type, own: Mapping[str, Any], rules: Rules) -> str:
    """Why an entry of another package can't be used; empty if it can.

    Args:
        type: the class of the registry's entries. own: the entries of this package.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        return "a name is of lower-case letters and digits, parts joined by '-'"
    if name in own or name in rules.names:
        return f"{name!r} has a meaning of its own in gme"
    if not isinstance(entry, type):
        return f"it must be a gme.{type.__name__}, found {shorten(entry)}"
    options = getattr(entry, "options", None)
    fault = "" if options is None else options_fault(options, rules.options)
    return fault or _function_fault(entry, rules) or rules.check(entry, own)


def _function_fault(entry: object, rules: Rules) -> str:
    """Why the function of an entry can't be called; empty if it can, or if the entries have none."""
    if not rules.function:
        return ""
    function = getattr(entry, rules.function)
    if callable(function) or (rules.deferred and isinstance(function, str) and ":" in function):
        return ""
    form = "a function, or module:name" if rules.deferred else "a function"
    return f"its {rules.function} must be {form}, found {shorten(function)}"


def options_fault(options: object, taken: tuple[str, ...]) -> str:
    """Why an option class can't be shown and set on the command line; empty if it can."""
    if not (isinstance(options, type) and issubclass(options, Options) and dataclasses.is_dataclass(options)):
        return f"its options must be a dataclass derived from gme.Options, found {shorten(options)}"
    types = get_type_hints(options)
    for field in dataclasses.fields(options):
        if not {"help", "choices"} <= field.metadata.keys():
            return f"its option --{flag(field.name)} is not declared with gme.option"
        if field.name in taken:
            return f"the command has an option --{flag(field.name)} of its own"
        if not _can_be_given(types[field.name]):
            return f"its option --{flag(field.name)} is of type {_named(types[field.name])}: {_LEGAL_TYPES}"
    try:
        options()
    except GmeError as error:
        return f"its defaults are not legal: {error.message}"
    return ""


def _can_be_given(kind: Any) -> bool:
    """Whether a command line can give a value of this type."""
    return set(get_args(kind) if get_origin(kind) in (Union, UnionType) else [kind]) <= _TYPES


def _named(kind: Any) -> str:
    """A type as its author wrote it."""
    return str(kind.__name__ if isinstance(kind, type) and not get_args(kind) else kind).replace("typing.", "")
