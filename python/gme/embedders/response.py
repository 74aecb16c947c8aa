"""Reads the body of an embeddings response, and trusts nothing in it."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from ..errors import shorten


class MalformedError(Exception):
    """The body does not follow the API, for example after a broken connection. Asking again may help."""


@dataclass(frozen=True)
class Answer:
    """The vectors of one response.

    Attributes:
        vectors: float32 or float64 (texts, dim), in the order of the request.
        tokens: the billed tokens; 0 if the server does not say.
        model: the server's name for the model.
    """

    vectors: npt.NDArray[Any]
    tokens: int
    model: str | None


def read_answer(body: bytes, count: int) -> Answer:
    """Read the vectors of `count` texts, given as base64 or as lists of numbers, in any order of `index`.

    Raises:
        MalformedError: truncated or invalid JSON, a missing or repeated vector, an invalid vector, or mixed dimensions.
    """
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise MalformedError(f"no valid JSON ({error}; {len(body):,} bytes)") from error
    if not isinstance(value, dict) or not isinstance(value.get("data"), list):
        raise MalformedError(f"no list 'data' in {shorten(value)}")
    entries = value["data"]
    if len(entries) != count:
        raise MalformedError(f"{len(entries)} vectors for {count} texts")
    ordered: list[npt.NDArray[Any] | None] = [None] * count
    for place, entry in enumerate(entries):
        index = entry.get("index", place) if isinstance(entry, dict) else None
        if (
            not isinstance(index, int)
            or isinstance(index, bool)
            or not 0 <= index < count
            or ordered[index] is not None
        ):
            raise MalformedError(f"'index' {shorten(index)} is wrong or there twice among {count} vectors")
        ordered[index] = _vector(entry.get("embedding"))
    vectors = [vector for vector in ordered if vector is not None]
    sizes = sorted({len(vector) for vector in vectors})
    if len(sizes) != 1 or sizes[0] == 0:
        raise MalformedError(f"vectors of {' and '.join(map(str, sizes))} dimensions in one answer")
    usage = value.get("usage")
    tokens = usage.get("prompt_tokens") if isinstance(usage, dict) else None
    model = value.get("model")
    return Answer(
        np.stack(vectors), tokens if isinstance(tokens, int) else 0, model if isinstance(model, str) else None
    )


def _vector(value: object) -> npt.NDArray[Any]:
    if isinstance(value, str):
        try:
            data = base64.b64decode(value, validate=True)
            return np.frombuffer(data, dtype="<f4").astype(np.float32, copy=False)
        except (binascii.Error, ValueError) as error:
            raise MalformedError(f"a vector that is not base64 of float32: {shorten(value)}") from error
    if isinstance(value, list) and all(type(number) in (int, float) for number in value):
        return np.array(value, dtype=np.float64)
    raise MalformedError(f"a vector expected, found {shorten(value)}")
