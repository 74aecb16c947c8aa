"""Facts of a transform, which go into a JSON manifest."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ..errors import GmeError, shorten


def json_ready(facts: object, entry: str) -> dict[str, Any]:
    """Facts as Python's own values. Scalars and arrays of numpy become numbers and lists.

    Args:
        entry: the transform in words, with where it comes from (`Registry.described`).

    Raises:
        GmeError: the facts are no mapping, or one of them can't be written as JSON. The message names it.

    Example:
        >>> import numpy as np
        >>> json_ready({"moved": np.int64(3), "steps": np.array([0.5, 0.25])}, "transform 'average'")
        {'moved': 3, 'steps': [0.5, 0.25]}
    """
    if not isinstance(facts, Mapping):
        raise GmeError(f"{entry} returned facts of type {type(facts).__name__}", "return a dict, such as {}")
    return {_key(name, str(name), entry): _value(value, str(name), entry) for name, value in facts.items()}


def _value(value: Any, name: str, entry: str) -> Any:
    """A value as Python's own. `name` is the fact's name for messages, such as ``steps[2]``."""
    if type(value).__module__ == "numpy" and hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {
            _key(key, f"{name}[{key!r}]", entry): _value(each, f"{name}[{key!r}]", entry) for key, each in value.items()
        }
    if isinstance(value, list | tuple):
        return [_value(each, f"{name}[{position}]", entry) for position, each in enumerate(value)]
    if isinstance(value, float) and not math.isfinite(value):
        raise _refused(name, entry, value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise _refused(name, entry, value)


def _key(key: object, name: str, entry: str) -> str:
    if not isinstance(key, str):
        raise _refused(name, entry, key)
    return key


def _refused(name: str, entry: str, value: object) -> GmeError:
    return GmeError(
        f"{entry}: fact {name} can't be written as JSON: {shorten(value)}",
        "facts are finite numbers, texts, true or false, None, and lists and mappings of these, with texts as keys",
    )
