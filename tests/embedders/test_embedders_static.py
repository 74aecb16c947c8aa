"""The embedder of stored token vectors: against a slow twin on a toy table, and against the package of the real one."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import toy_onnx

from gme.embedders import static as static_module
from gme.embedders.protocol import TextError
from gme.embedders.registry import make_embedder
from gme.embedders.static import StaticEmbedder, read_table
from gme.errors import GmeError
from gme.types import Vectors

WORDS = ["red green", "blue", "dark dark light", "what red", "light " * 700]
IDS = [[1, 2], [3], [4, 4, 5], [0, 1], [5] * 700]


def safetensors(table: npt.NDArray[Any], **changed: Any) -> bytes:
    """A safetensors file of one tensor."""
    entry = {"dtype": "F16", "shape": list(table.shape), "data_offsets": [0, table.nbytes], **changed}
    header = json.dumps({"embedding.weight": entry}).encode()
    return len(header).to_bytes(8, "little") + header + table.tobytes()


TABLE = toy_onnx.TABLE.astype("<f2")


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with a toy table, in the place of wordllama."""
    folder = tmp_path / "toy_vectors"
    for name in ("weights", "tokenizers"):
        (folder / name).mkdir(parents=True)
    (folder / "__init__.py").write_text("raise RuntimeError('the code of the package is not run')")
    (folder / static_module._TABLE).write_bytes(safetensors(TABLE))
    toy_onnx.write_tokenizer(folder / static_module._TOKENIZER)
    known = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in static_module._SHA256}
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(static_module, "_PACKAGE", "toy_vectors")
    monkeypatch.setattr(static_module, "_SHA256", known)
    return folder


def slow_means() -> Vectors:
    """One token after the other, in float64."""
    rows = []
    for ids in IDS:
        total = np.zeros(TABLE.shape[1])
        for token in ids:
            total = total + TABLE[token].astype(np.float64)
        rows.append(total / np.linalg.norm(total))
    return np.array(rows, dtype=np.float32)


def test_a_vector_is_the_mean_of_the_tokens(package: Path) -> None:
    embedder = make_embedder("static")
    made = embedder.embed(WORDS)
    assert made.dtype == np.float32
    assert made.flags.c_contiguous
    np.testing.assert_allclose(made, slow_means(), atol=1e-6)
    assert embedder.facts()["tokens"] == sum(map(len, IDS))


def test_rounding_errors_do_not_grow_with_a_text(package: Path) -> None:
    """A mean of one token is its vector, and of two tokens in turn that of both, however long the text is."""
    embedder = make_embedder("static")
    for text in ("light ", "light red "):
        np.testing.assert_allclose(embedder.embed([text * 100_000]), embedder.embed([text]), atol=1e-5)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_the_bits_depend_on_the_text_alone(package: Path, monkeypatch: pytest.MonkeyPatch, threads: int) -> None:
    whole = make_embedder("static", threads=1).embed(WORDS)
    monkeypatch.setattr(static_module, "_TEXTS_PER_BLOCK", 2)
    made = make_embedder("static", threads=threads).embed(WORDS[::-1])
    assert made[::-1].tobytes() == whole.tobytes()


def test_the_key_names_both_files(package: Path) -> None:
    table, tokenizer = (package / name for name in (static_module._TABLE, static_module._TOKENIZER))
    before = StaticEmbedder(table, tokenizer).key
    table.write_bytes(safetensors(TABLE[::-1].copy()))
    after = StaticEmbedder(table, tokenizer).key
    tokenizer.write_bytes(tokenizer.read_bytes() + b" ")
    assert len({before, after, StaticEmbedder(table, tokenizer).key}) == 3


@pytest.mark.parametrize(("bad", "problem"), [("", "has no tokens"), ("red unred", "gives a vector that is zero")])
def test_a_text_without_a_vector_is_named(
    package: Path, monkeypatch: pytest.MonkeyPatch, bad: str, problem: str
) -> None:
    opposite = TABLE.copy()
    opposite[0] = -opposite[1]
    (package / static_module._TABLE).write_bytes(safetensors(opposite))
    monkeypatch.setattr(static_module, "_TEXTS_PER_BLOCK", 2)
    embedder = StaticEmbedder(package / static_module._TABLE, package / static_module._TOKENIZER)
    with pytest.raises(TextError, match=problem) as caught:
        embedder.embed(["red", "green", "blue", bad])
    assert caught.value.position == 3


def test_files_of_another_version_are_refused(package: Path) -> None:
    (package / static_module._TABLE).write_bytes(safetensors(TABLE + 1))
    with pytest.raises(GmeError, match="not the file that gme was made for") as caught:
        make_embedder("static")
    assert caught.value.hint == "pip install --force-reinstall wordllama==0.4.0.post1"
    (package / static_module._TABLE).unlink()
    with pytest.raises(GmeError, match="not the file that gme was made for"):
        make_embedder("static")


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(static_module, "_PACKAGE", "no_such_package")
    with pytest.raises(GmeError, match="no_such_package, which holds the static model, is not installed") as caught:
        make_embedder("static")
    assert caught.value.hint == "pip install wordllama==0.4.0.post1, which the extra 'static' does"


def test_static_takes_neither_a_name_nor_options() -> None:
    with pytest.raises(GmeError, match="takes no name"):
        make_embedder("static:small")
    with pytest.raises(GmeError, match="--batch-size goes with"):
        make_embedder("static", batch_size=4)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"junk" * 9,
        safetensors(TABLE, dtype="F32"),
        safetensors(TABLE, shape=[7, 4]),
        safetensors(TABLE, shape=[24]),
        safetensors(TABLE, data_offsets=[0, 4000, 1]),
        safetensors(TABLE)[:-2],
        safetensors(TABLE).replace(b"embedding.weight", b"embedding.height"),
    ],
)
def test_a_damaged_table_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "table.safetensors"
    path.write_bytes(content)
    with pytest.raises(GmeError, match="not a table of token vectors"):
        read_table(path)


TEXTS = [
    "A cat sleeps on the sofa.",
    "The stock market fell sharply today, and bonds rose.",
    "Zürich liegt an der Limmat. 東京は日本の首都です。 🙂",
    "word " * 400,
    "A kitten naps on a couch.",
    " ",
]

# In a process of its own, because the package sets up logging. It looks for its tokenizer in the folder of a cache.
WORDLLAMA = """
import json, sys
from pathlib import Path
import wordllama
model = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
print(json.dumps(model.embed(json.load(sys.stdin), norm=True).tolist()))
"""


@pytest.mark.skipif(find_spec("wordllama") is None, reason="needs the extra static")
def test_the_vectors_are_those_of_wordllama() -> None:
    run = subprocess.run(
        [sys.executable, "-c", WORDLLAMA], input=json.dumps(TEXTS), capture_output=True, text=True, check=True
    )
    vectors = make_embedder("static").embed(TEXTS)
    assert vectors.shape == (len(TEXTS), 256)
    np.testing.assert_allclose(vectors, json.loads(run.stdout), atol=1e-5)
    cat, market, kitten = vectors[0], vectors[1], vectors[4]
    assert cat @ kitten > cat @ market + 0.2
