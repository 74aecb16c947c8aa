"""Sentence models as ONNX files on this machine: tokenize, run, pool, normalize. Nothing is downloaded."""

from __future__ import annotations

import json
import os
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import GmeError
from ..storage.files import read_whole, sha256
from ..types import Vectors
from .options import EmbedOptions
from .parallel import in_parallel
from .protocol import Embedder, TextError, normalized

if TYPE_CHECKING:
    from tokenizers import Tokenizer

DEFAULT_MAX_TOKENS = 512
DEFAULT_BATCH_SIZE = 32
# Tokens in one batch. Larger batches are not faster on a CPU, and need more memory for activations.
TOKENS_PER_BATCH = 1024
# Texts tokenized at a time. This bounds the memory for tokens, and is enough to find many texts of one length.
TEXTS_PER_BLOCK = 8192
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")

Batch = tuple[list[int], npt.NDArray[np.int64]]


class OnnxEmbedder(Embedder):
    """A sentence model in ONNX form.

    A text's vector is the same, bit for bit, whatever the other texts, the batch size and the number of threads. For
    this, a batch holds only texts of one token length, so nothing is padded. Each run of the model uses one thread, and
    each thread takes whole batches.

    Args:
        name: the name that the user gave.
        model: the ``.onnx`` file. Its inputs are among ``input_ids``, ``attention_mask``, ``token_type_ids``. Its
            output is either token vectors (batch, tokens, dim), which are pooled here, or ``sentence_embedding``
            (batch, dim).
        tokenizer: the ``tokenizer.json``.
        max_tokens: longer texts are cut; None takes the limit in the tokenizer file, or 512.
        pooling: ``mean`` over the tokens, or ``cls`` for the first token.
        batch_size: the most texts in a batch.
        threads: how many batches run at the same time; 0 means one per core.
    """

    def __init__(
        self,
        name: str,
        model: Path,
        tokenizer: Path,
        *,
        max_tokens: int | None = None,
        pooling: str = "mean",
        batch_size: int | None = None,
        threads: int = 0,
    ) -> None:
        self.name = name
        self.paid = False
        self._threads = threads or available_cores()
        self._tokenizer, self.max_tokens = _load_tokenizer(tokenizer, max_tokens)
        self._session = _load_session(model)
        self._inputs = {entry.name: _integer_type(entry, model) for entry in self._session.get_inputs()}
        self._output, pooled = _choose_output(self._session, model)
        self.pooling = "model" if pooled else pooling
        self._weights = sha256(model)
        self.key = (
            f"onnx weights={self._weights} tokenizer={sha256(tokenizer)} tokens={self.max_tokens} "
            f"pooling={self.pooling} output={self._output}"
        )
        # Some models quantize activations at run time with one scale for the whole batch. A text's vector would then
        # depend on the other texts in its batch. So such models run one text at a time.
        self._batch_size = 1 if _quantizes_activations(model) else batch_size or DEFAULT_BATCH_SIZE
        self.dim: int | None = None
        self._tokens = 0
        self._cut = 0

    def facts(self) -> dict[str, Any]:
        """The weights' SHA-256, the token limit, the number of tokens read and the number of texts cut."""
        return {
            "weights_sha256": self._weights,
            "max_tokens": self.max_tokens,
            "pooling": self.pooling,
            "tokens": self._tokens,
            "texts_cut": self._cut,
        }

    def stream(self, texts: Sequence[str]) -> Iterator[tuple[Sequence[int], Vectors]]:
        """Yield (positions, vectors) batch by batch; see `Embedder.stream`."""
        yield from in_parallel(self._run, self._batches(texts), self._threads)

    def _batches(self, texts: Sequence[str]) -> Iterator[Batch]:
        """Group texts by token length. The order within a block is random, so that the time left can be estimated."""
        for start in range(0, len(texts), TEXTS_PER_BLOCK):
            encoded = self._tokenizer.encode_batch_fast(list(texts[start : start + TEXTS_PER_BLOCK]))
            groups: dict[int, list[int]] = defaultdict(list)
            for position, encoding in enumerate(encoded):
                self._tokens += len(encoding.ids)
                self._cut += bool(encoding.overflowing)
                groups[len(encoding.ids)].append(position)
            batches = []
            for length, members in groups.items():
                if length == 0:
                    raise TextError(start + members[0], "has no tokens", "give the node a text")
                size = max(1, min(self._batch_size, TOKENS_PER_BATCH // length))
                batches += list(_chunks(members, size))
            random.Random(0).shuffle(batches)
            for members in batches:
                ids = np.array([encoded[position].ids for position in members], dtype=np.int64)
                yield [start + position for position in members], ids

    def _run(self, batch: Batch) -> tuple[Sequence[int], Vectors]:
        positions, ids = batch
        values = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        feed = {name: values[name].astype(kind, copy=False) for name, kind in self._inputs.items()}
        hidden = self._session.run([self._output], feed)[0]
        if self.pooling == "model":
            pooled = hidden
        elif self.pooling == "cls":
            pooled = hidden[:, 0]
        else:
            # Each text by itself, so that the order of additions never depends on the batch.
            pooled = np.stack([tokens.astype(np.float32).sum(axis=0) for tokens in hidden]) / np.float32(ids.shape[1])
        vectors, bad = normalized(pooled.astype(np.float32))
        if bad is not None:
            raise TextError(positions[bad], f"{self.name} gives a vector that is zero, NaN or infinite")
        self.dim = vectors.shape[1]
        return positions, vectors


def onnx_folder(options: EmbedOptions, threads: int) -> OnnxEmbedder:
    """``onnx:FOLDER``: ``model.onnx`` (there or in ``onnx/``) and ``tokenizer.json``, as sentence-transformers exports.

    ``sentence_bert_config.json`` gives the token limit, and ``1_Pooling/config.json`` the pooling (mean or first
    token).
    """
    folder = Path(options.rest).expanduser()
    if not options.rest or not folder.is_dir():
        raise GmeError(f"--model {options.model}: no such folder", "write onnx:FOLDER, with model.onnx in the folder")
    model = next((path for path in (folder / "model.onnx", folder / "onnx" / "model.onnx") if path.is_file()), None)
    tokenizer = folder / "tokenizer.json"
    if model is None or not tokenizer.is_file():
        missing = "tokenizer.json" if model else "model.onnx"
        raise GmeError(f"{folder} holds no {missing}", "export the model to ONNX together with its tokenizer")
    limit = _config(folder / "sentence_bert_config.json").get("max_seq_length")
    return OnnxEmbedder(
        options.model,
        model,
        tokenizer,
        max_tokens=limit if isinstance(limit, int) else None,
        pooling=_pooling(folder / "1_Pooling" / "config.json"),
        batch_size=options.batch_size,
        threads=threads,
    )


def available_cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _load_tokenizer(path: Path, max_tokens: int | None) -> tuple[Tokenizer, int]:
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # tokenizers raises bare Exception
        raise GmeError(
            f"{path}: not a tokenizer: {error}", "it must be a tokenizer.json of the tokenizers library"
        ) from error
    own = tokenizer.truncation
    limit = max_tokens or (own["max_length"] if own else DEFAULT_MAX_TOKENS)
    tokenizer.no_padding()
    tokenizer.enable_truncation(limit)
    return tokenizer, limit


def _load_session(path: Path) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's errors have no common base class
        raise GmeError(f"{path}: not a model that onnxruntime can load: {str(error).splitlines()[0]}") from error


def _integer_type(entry: Any, model: Path) -> type[np.signedinteger[Any]]:
    if entry.name not in _INPUTS:
        raise GmeError(
            f"{model}: the model wants an input {entry.name!r}",
            f"gme can give it {', '.join(_INPUTS)} and nothing else",
        )
    return np.int32 if entry.type == "tensor(int32)" else np.int64


def _choose_output(session: Any, model: Path) -> tuple[str, bool]:
    """The output to read, and whether the model has already pooled it."""
    ranks = {entry.name: len(entry.shape) for entry in session.get_outputs()}
    if ranks.get("sentence_embedding") == 2:
        return "sentence_embedding", True
    for name, rank in ranks.items():
        if rank == 3:
            return name, False
    raise GmeError(
        f"{model}: no output with token vectors or 'sentence_embedding' among {', '.join(ranks)}",
        "export the model for feature extraction",
    )


def _quantizes_activations(model: Path) -> bool:
    return b"DynamicQuantizeLinear" in model.read_bytes()


def _config(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(read_whole(path))
    except FileNotFoundError:
        return {}
    except (ValueError, RecursionError) as error:
        raise GmeError(f"{path}: not valid JSON: {error}") from error
    return value if isinstance(value, dict) else {}


def _pooling(path: Path) -> str:
    modes = [name for name, value in _config(path).items() if name.startswith("pooling_mode_") and value is True]
    if modes in ([], ["pooling_mode_mean_tokens"]):
        return "mean"
    if modes == ["pooling_mode_cls_token"]:
        return "cls"
    raise GmeError(f"{path}: gme pools by mean or by first token, not by {', '.join(modes)}")


def _chunks(members: list[int], size: int) -> Iterator[list[int]]:
    source = iter(members)
    while chunk := list(islice(source, size)):
        yield chunk
