"""Options as frozen dataclasses: declared once, checked once, echoed in manifests, names and command-line help."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import operator
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from .errors import GmeError, shorten, unknown

OptionsType = TypeVar("OptionsType", bound="Options")


def option(
    default: Any,
    help: str,
    *,
    low: float | None = None,
    high: float | None = None,
    above: float | None = None,
    below: float | None = None,
    choices: tuple[str, ...] | None = None,
) -> Any:
    """A dataclass field with its help line and its legal values.

    Args:
        default: the value of the paper's main configuration, where there is one.
        help: one line for ``--help``.
        low, high: inclusive bounds. above, below: exclusive bounds.
        choices: the legal strings.
    """
    bounds = {"low": low, "high": high, "above": above, "below": below}
    return dataclasses.field(default=default, metadata={"help": help, "choices": choices, **bounds})


@dataclasses.dataclass(frozen=True)
class Options:
    """Base of all option classes: subclass it with `option` fields."""

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            _check(field, getattr(self, field.name))

    def as_dict(self) -> dict[str, Any]:
        """All options by name, for manifests and reports."""
        return dataclasses.asdict(self)

    def changed(self) -> dict[str, Any]:
        """The options that differ from their defaults, in declaration order."""
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if getattr(self, f.name) != f.default}

    def suffix(self) -> str:
        """The changed options as a file-name ending, ``-steps3-alpha0.5``; empty when all are defaults."""
        return "".join(f"-{flag(name)}{compact(value)}" for name, value in self.changed().items())

    def command(self) -> str:
        """The changed options as command-line arguments, with a space before each."""
        return "".join(
            f" --{flag(name)}" if value is True else f" --{flag(name)} {shlex.quote(str(value))}"
            for name, value in self.changed().items()
        )


def flag(name: str) -> str:
    """An option's name on the command line, without the dashes in front."""
    return name.replace("_", "-")


def make(options: type[OptionsType], given: Mapping[str, Any], owner: str) -> OptionsType:
    """Build an option class from keyword arguments; an unknown name is a `GmeError` with the closest match."""
    known = [field.name for field in dataclasses.fields(options)]
    for name in given:
        if name not in known:
            raise unknown("option", name, known, where=f" for {owner}")
    return options(**given)


def compact(value: Any) -> str:
    """An option's value as a part of a name: numbers as short as they can be without two of them looking the same."""
    if value is True:
        return ""
    if isinstance(value, float):
        # As short as it can be without two values sharing a name; a file name has no room for a plus sign.
        short = f"{value:g}"
        return (short if float(short) == value else repr(value)).replace("+", "")
    return str(value).replace(":", "").replace(",", "-")


def file_name(parts: Sequence[str]) -> str:
    """Several words as part of a file name; what a file name can't hold, or is too long, is told apart by a hash."""
    joined = "-".join(parts)
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", joined)[:80]
    unambiguous = plain == joined and not any("-" in part for part in parts)
    return plain if unambiguous else f"{plain}-{digest(json.dumps(list(parts)))}"


def digest(text: str) -> str:
    """Eight digits that tell a text from others, for names."""
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _check(field: dataclasses.Field[Any], value: Any) -> None:
    meta, name = field.metadata, flag(field.name)
    if value is None or isinstance(value, bool | Path):
        return
    if meta["choices"] is not None and value not in meta["choices"]:
        raise unknown(f"value for --{name}:", str(value), meta["choices"])
    if isinstance(value, str):
        return
    limits: list[tuple[str, float, bool]] = [
        (words, meta[key], holds(value, meta[key]))
        for key, words, holds in (
            ("low", "at least", operator.ge),
            ("high", "at most", operator.le),
            ("above", "above", operator.gt),
            ("below", "below", operator.lt),
        )
        if meta[key] is not None
    ]
    hint = None if field.default is None else f"default: {field.default}"
    if not math.isfinite(value):
        raise GmeError(f"--{name} is {value}, but must be a finite number", hint)
    if not all(holds for _, _, holds in limits):
        range_text = " and ".join(f"{words} {bound}" for words, bound, _ in limits)
        raise GmeError(f"--{name} is {shorten(value)}, but must be {range_text}", hint)
