"""Facts of a transform, which go into a JSON manifest."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ..errors import GmeError, shorten


def json_ready(facts: object, method: str) -> dict[str, Any]:
    """Facts as Python's own values. Scalars and arrays of numpy become numbers and lists.

    Raises:
        GmeError: the facts are no mapping, or one of them can't be written as JSON. The message names it.

    Example:
        >>> import numpy as np
        >>> json_ready({"moved": np.int64(3), "steps": np.array([0.5, 0.25])}, "average")
        {'moved': 3, 'steps': [0.5, 0.25]}
    """
    if not isinstance(facts, Mapping):
        raise GmeError(
            f"transform {method!r} returned facts of type {type(facts).__name__}", "return a dict, such as {}"
        )
    return {_key(name, str(name), method): _value(value, str(name), method) for name, value in facts.items()}


def _value(value: Any, name: str, method: str) -> Any:
    """A value as Python's own. `name` is the fact's name for messages, such as ``steps[2]``."""
    if type(value).__module__ == "numpy" and hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {
            _key(key, f"{name}[{key!r}]", method): _value(each, f"{name}[{key!r}]", method)
            for key, each in value.items()
        }
    if isinstance(value, list | tuple):
        return [_value(each, f"{name}[{position}]", method) for position, each in enumerate(value)]
    if isinstance(value, float) and not math.isfinite(value):
        raise _refused(name, method, value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise _refused(name, method, value)


def _key(key: object, name: str, method: str) -> str:
    if not isinstance(key, str):
        raise _refused(name, method, key)
    return key


def _refused(name: str, method: str, value: object) -> GmeError:
    return GmeError(
        f"transform {method!r}: fact {name} can't be written as JSON: {shorten(value)}",
        "facts are finite numbers, texts, true or false, None, and lists and mappings of these, with texts as keys",
    )
