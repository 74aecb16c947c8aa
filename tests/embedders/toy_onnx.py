"""Tiny sentence models as ONNX files, written byte by byte, so that the tests need no exporter."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

FLOAT, INT32, INT64 = 1, 6, 7
WORDS = ["[UNK]", "red", "green", "blue", "dark", "light"]
TABLE: npt.NDArray[np.float32] = np.random.default_rng(3).normal(size=(len(WORDS), 4)).astype(np.float32)


def write_model(path: Path, *, pooled: bool = False, kind: int = INT64, extra_input: str | None = None) -> None:
    """A model that looks tokens up in `TABLE`; with `pooled`, also their mean as ``sentence_embedding``."""
    nodes = [_node("Gather", ["table", "input_ids"], "token_embeddings")]
    outputs = [_value("token_embeddings", FLOAT, ["batch", "tokens", 4])]
    if pooled:
        axes = _text(1, "axes") + _number(8, 1) + _number(20, 7)
        keep = _text(1, "keepdims") + _number(3, 0) + _number(20, 2)
        nodes.append(_node("ReduceMean", ["token_embeddings"], "sentence_embedding", axes, keep))
        outputs.append(_value("sentence_embedding", FLOAT, ["batch", 4]))
    names = ["input_ids", "attention_mask", *([extra_input] if extra_input else [])]
    inputs = [_value(name, kind, ["batch", "tokens"]) for name in names]
    table = _number(1, TABLE.shape[0]) + _number(1, TABLE.shape[1]) + _number(2, FLOAT) + _text(8, "table")
    table += _bytes(9, TABLE.tobytes())
    graph = b"".join(_bytes(1, node) for node in nodes) + _text(2, "toy") + _bytes(5, table)
    graph += b"".join(_bytes(11, entry) for entry in inputs) + b"".join(_bytes(12, entry) for entry in outputs)
    path.write_bytes(_number(1, 8) + _bytes(7, graph) + _bytes(8, _text(1, "") + _number(2, 13)))


def write_tokenizer(path: Path) -> None:
    """Words of `WORDS`, split at spaces, no special tokens."""
    tokenizer = Tokenizer(WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(path))


def _node(operator: str, inputs: list[str], output: str, *attributes: bytes) -> bytes:
    body = b"".join(_text(1, name) for name in inputs) + _text(2, output) + _text(4, operator)
    return body + b"".join(_bytes(5, attribute) for attribute in attributes)


def _value(name: str, kind: int, shape: list[str | int]) -> bytes:
    sizes = [_text(2, size) if isinstance(size, str) else _number(1, size) for size in shape]
    tensor = _number(1, kind) + _bytes(2, b"".join(_bytes(1, size) for size in sizes))
    return _text(1, name) + _bytes(2, _bytes(1, tensor))


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _text(field: int, value: str) -> bytes:
    return _bytes(field, value.encode())
