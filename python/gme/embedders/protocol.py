"""The interface of an embedder, and the error for a text that it can't embed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ..errors import GmeError, shorten
from ..reporting import SILENT, Reporter
from ..types import Progress, Vectors


class Embedder(Protocol):
    """Turns texts into vectors. A subclass defines `name`, `key`, `dim` and `stream`, and inherits `embed`.

    Attributes:
        name: what the user wrote after ``--model``.
        key: identifies the vectors. Two embedders with the same key give the same vector for a text. Everything that
            changes vectors (weights, tokenizer, server, dimensions) also changes the key. The cache files vectors under
            it. It never contains a secret.
        dim: how many numbers a vector has; None while that is unknown.
        paid: whether texts cost money. If so, every finished batch is stored at once, so that a killed run loses none.
        reporter: hears, from any thread, why the work waits, for example.
    """

    name: str
    key: str
    dim: int | None
    paid: bool = False
    reporter: Reporter = SILENT

    def stream(self, texts: Sequence[str]) -> Iterator[tuple[Sequence[int], Vectors]]:
        """Yield (positions, vectors) as batches finish, in any order, until every position in `texts` was yielded.

        `vectors` is float32 (len(positions), dim), each row L2-normalized. A text without a vector raises `TextError`,
        after everything else that could be finished has been yielded.
        """
        ...

    def facts(self) -> dict[str, Any]:
        """Facts for the manifest about the model and the work so far."""
        return {}

    def embed(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        """Embed texts: float32 (len(texts), dim), C order, each row L2-normalized. Row i belongs to ``texts[i]``.

        Raises:
            GmeError: `texts` is no list of strings, a text can't be embedded, or the model or server is not usable.
        """
        check_texts(texts)
        out: Vectors = np.empty((len(texts), self.dim or 0), dtype=np.float32)
        done = 0
        for positions, vectors in self.stream(texts):
            if done == 0:
                out = np.empty((len(texts), vectors.shape[1]), dtype=np.float32)
            out[np.asarray(positions, dtype=np.intp)] = vectors
            done += len(positions)
            if progress is not None:
                progress(done, len(texts))
        return out


class TextError(GmeError):
    """One text has no vector. `position` is its index in the list given to `stream`; callers add the id."""

    def __init__(self, position: int, problem: str, hint: str | None = None) -> None:
        super().__init__(f"text {position}: {problem}", hint)
        self.position = position
        self.problem = problem


def check_texts(texts: object) -> None:
    """Refuse anything but a list of strings. In a single string, every letter would count as a text."""
    if isinstance(texts, str | bytes) or not isinstance(texts, Collection):
        raise GmeError(f"expected a list of texts, found {type(texts).__name__}", "pass a list, of one text: [text]")
    for position, text in enumerate(texts):
        if not isinstance(text, str):
            raise GmeError(f"text {position} must be a string, found {shorten(text)}", "pass a list of strings")


def normalized(values: npt.NDArray[Any]) -> tuple[Vectors, int | None]:
    """L2-normalize rows. Returns the rows as float32 (rows, dim), and the first row that is zero, NaN or infinite, or
    None.

    Norms are computed in float64. A float32 row whose norm is already 1, up to float32 rounding, keeps its bits. So
    normalizing twice gives the same result as normalizing once.
    """
    wide = np.asarray(values, dtype=np.float64)
    norms = np.sqrt(np.einsum("ij,ij->i", wide, wide))
    bad = np.flatnonzero(~np.isfinite(norms) | (norms == 0))
    if len(bad):
        return np.empty((0, wide.shape[1]), dtype=np.float32), int(bad[0])
    if values.dtype == np.float32:
        norms[np.abs(norms - 1) < 1.2e-7] = 1
    return np.ascontiguousarray(wide / norms[:, None], dtype=np.float32), None
