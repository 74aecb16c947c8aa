"""Options as frozen dataclasses: declared once, checked once, and shown in manifests, names and help texts."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import operator
import re
from collections.abc import Mapping, Sequence
from functools import cache
from numbers import Integral, Real
from pathlib import Path
from types import NoneType
from typing import Any, TypeVar, get_args, get_type_hints

from .command_line import flag
from .deprecation import deprecated
from .errors import GmeError, OptionError, shorten, unknown

OptionsType = TypeVar("OptionsType", bound="Options")

MOST = 2**63 - 1
"""The largest whole number that an option without a bound of its own takes. The kernels count in 64 bits."""

_KINDS: dict[type, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    Path: "a path",
    NoneType: "None",
}
"""The types that an option can be declared with, in words for messages."""


def option(
    default: Any,
    help: str,
    *,
    low: float | None = None,
    high: float | None = None,
    above: float | None = None,
    below: float | None = None,
    choices: tuple[str, ...] | None = None,
    formerly: str = "",
    former_choices: Mapping[str, str] | None = None,
) -> Any:
    """A dataclass field with its help line and its legal values.

    Args:
        default: the value of the paper's main configuration, where there is one.
        help: one line for ``--help``.
        low: the least legal value.
        high: the largest legal value.
        above: a legal value is above this.
        below: a legal value is below this.
        choices: the legal strings.
        formerly: the option's name in the release before. It still works, is not in the help, and warns.
        former_choices: a choice's name in the release before -> its name now.

    Example:
        >>> import gme
        >>> from dataclasses import dataclass
        >>> @dataclass(frozen=True)
        ... class Blend(gme.Options):
        ...     share: float = gme.option(0.5, "share of the neighbors", low=0, high=1)
        ...
        >>> Blend(share=0.2)
        Blend(share=0.2)
        >>> Blend(share=2)
        Traceback (most recent call last):
            ...
        gme.errors.OptionError: --share is 2.0, but must be at least 0 and at most 1
        hint: default: 0.5
    """
    bounds = {"low": low, "high": high, "above": above, "below": below}
    former = {"formerly": formerly, "former_choices": former_choices or {}}
    return dataclasses.field(default=default, metadata={"help": help, "choices": choices, **bounds, **former})


@dataclasses.dataclass(frozen=True)
class Options:
    """The base of all option classes. Subclass it with `option` fields.

    Every value is checked and converted to its declared type. So a scalar of numpy, or a whole number given for a
    float, looks the same in names and manifests as Python's own number.
    """

    def __post_init__(self) -> None:
        kinds = _declared(type(self))  # type: ignore[arg-type]  # mypy wants a hashable argument
        for field in dataclasses.fields(self):
            value = _as_declared(field, kinds[field.name], getattr(self, field.name))
            value = present_choice(type(self), field.name, value)
            _check(field, value)
            object.__setattr__(self, field.name, value)

    @classmethod
    def completed(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        """Given values together with values that follow from them, not yet checked. Subclasses override it."""
        return dict(given)

    def as_dict(self) -> dict[str, Any]:
        """All options by name, for manifests and reports."""
        return dataclasses.asdict(self)

    def changed(self) -> dict[str, Any]:
        """The options that differ from their defaults, in declaration order."""
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if getattr(self, f.name) != f.default}

    def suffix(self) -> str:
        """The changed options as the end of a file name, such as ``-steps3-alpha0.5``; empty if nothing is changed."""
        return "".join(
            f"-no-{flag(name)}" if value is False else f"-{flag(name)}{compact(value)}"
            for name, value in self.changed().items()
        )


def make(options: type[OptionsType], given: Mapping[str, Any], owner: str) -> OptionsType:
    """Build an option class from keyword arguments.

    Raises:
        GmeError: an option is unknown (the closest name is suggested), or a value is not legal.
    """
    known = [field.name for field in dataclasses.fields(options)]
    given = renamed(options, given)
    for name in given:
        if name not in known:
            raise unknown("option", name, known, where=f" for {owner}")
    return options(**options.completed(given))


def renamed(options: type[Options], given: Mapping[str, Any]) -> dict[str, Any]:
    """Given values under the options' present names. A former name warns and counts as the present one.

    Raises:
        GmeError: an option is given under both names.
    """
    return rename(given, former_names(options))


def rename(given: Mapping[str, Any], present: Mapping[str, str]) -> dict[str, Any]:
    """Like `renamed`, with a table of former name -> present name."""
    result: dict[str, Any] = {}
    for name, value in given.items():
        now = present.get(name, name)
        if now in result or (now != name and now in given):
            raise GmeError(f"--{flag(name)} and --{flag(now)} are one option", f"give --{flag(now)} only")
        if now != name:
            deprecated(f"--{flag(name)}", f"--{flag(now)}")
        result[now] = value
    return result


def former_names(options: type[Options]) -> dict[str, str]:
    """Former name -> present name, for the options that have a former name."""
    return {former: field.name for field in dataclasses.fields(options) if (former := field.metadata["formerly"])}


def present_choice(options: type[Options], name: str, value: Any) -> Any:
    """The value itself. A former choice warns and becomes the present choice."""
    former = options.__dataclass_fields__[name].metadata["former_choices"]
    if not isinstance(value, str) or value not in former:
        return value
    deprecated(f"--{flag(name)} {value}", f"--{flag(name)} {former[value]}")
    return former[value]


def compact(value: Any) -> str:
    """An option's value as a part of a name. Numbers are short, but two different numbers never look the same."""
    if value is True:
        return ""
    if isinstance(value, float):
        # A file name has no room for a plus sign.
        short = f"{value:g}"
        return (short if float(short) == value else repr(value)).replace("+", "")
    return str(value).replace(":", "").replace(",", "-")


def file_name(parts: Sequence[str]) -> str:
    """Several words as a part of a file name. A text that is changed for this gets a hash, so that names differ."""
    joined = "-".join(parts)
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", joined)[:80]
    unambiguous = plain == joined and not any("-" in part for part in parts)
    return plain if unambiguous else f"{plain}-{digest(json.dumps(list(parts)))}"


def digest(text: str) -> str:
    """Eight hex digits of a text's hash, to tell names apart."""
    return hashlib.sha256(text.encode()).hexdigest()[:8]


@cache
def _declared(options: type[Options]) -> dict[str, tuple[Any, ...]]:
    """The types of each field; ``int | None`` gives (int, NoneType)."""
    hints = get_type_hints(options)
    return {field.name: get_args(hints[field.name]) or (hints[field.name],) for field in dataclasses.fields(options)}


def _as_declared(field: dataclasses.Field[Any], kinds: tuple[Any, ...], value: Any) -> Any:
    """The value converted to one of the field's declared types."""
    if getattr(value, "shape", None) == ():  # a scalar of numpy; checking it this way needs no import of numpy
        value = value.item()
    if isinstance(value, bool) or value is None:
        if type(value) in kinds:
            return value
    elif int in kinds and isinstance(value, Integral):
        return int(value)
    elif float in kinds and isinstance(value, Real):
        try:
            return float(value)
        except OverflowError:
            raise _illegal(field, value, "a finite number") from None
    elif str in kinds and isinstance(value, str):
        return value
    elif Path in kinds and isinstance(value, str | Path):
        return Path(value)
    raise _illegal(field, value, " or ".join(_KINDS[kind] for kind in kinds))


def _check(field: dataclasses.Field[Any], value: Any) -> None:
    """Refuse a value that is out of range or not among the choices. Its type is already right."""
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
    if isinstance(value, float) and not math.isfinite(value):
        raise _illegal(field, value, "a finite number")
    if not all(holds for _, _, holds in limits):
        raise _illegal(field, value, " and ".join(f"{words} {bound}" for words, bound, _ in limits))
    if isinstance(value, int) and meta["high"] is None and value > MOST:
        raise _illegal(field, value, f"at most {MOST}")


def _illegal(field: dataclasses.Field[Any], value: object, expected: str) -> OptionError:
    hint = None if field.default is None else f"default: {field.default}"
    return OptionError(f"--{flag(field.name)} is {shorten(value)}, but must be {expected}", hint, field.name)
