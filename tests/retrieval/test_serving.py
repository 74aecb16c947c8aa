"""`gme.envelope`: the call of a server returns what the command writes."""

from __future__ import annotations

import doctest
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from retrieval_cases import make

import gme as library
from conftest import Run, write_lines
from gme import _core
from gme.errors import GmeError
from gme.retrieval import batch, serving, strategies
from gme.stores import NO_ROW, exact

SIZE, QUESTIONS = 300, 24
KINDS = ("chunk", "document", "chunk", "entity")


@pytest.fixture
def workspace(tmp_path: Path, gme: Run) -> Path:
    """Nodes in groups, linked within them, some named by questions."""
    generator = np.random.default_rng(5)
    group = np.arange(SIZE) % 30
    centers = generator.standard_normal((30, 16))
    vectors = centers[group] + 0.7 * generator.standard_normal((SIZE, 16))
    queries = vectors[:QUESTIONS] + 0.4 * generator.standard_normal((QUESTIONS, 16))
    ids = [f"n{number:03}" for number in generator.permutation(SIZE)]
    ends = generator.integers(0, 30, (3 * SIZE, 1)) + 30 * generator.integers(0, SIZE // 30, (3 * SIZE, 2))
    edges = [{"source": ids[a], "target": ids[b], "type": "link"} for a, b in ends.tolist()]
    nodes = [
        {"id": node, "type": KINDS[row % len(KINDS)], "text": node, "title": f"Node {node}"}
        for row, node in enumerate(ids)
    ]
    texts = [f"Question {n}" + (f" of Node {ids[n * 7]}?" if n % 2 else "?") for n in range(QUESTIONS)]
    write_lines(tmp_path / "nodes.jsonl", nodes)
    write_lines(tmp_path / "edges.jsonl", edges)
    write_lines(tmp_path / "questions.jsonl", [{"id": f"{n:02}", "question": text} for n, text in enumerate(texts)])
    for name, array in (("x", vectors), ("q", queries)):
        np.save(tmp_path / f"{name}.npy", (array / np.linalg.norm(array, axis=1, keepdims=True)).astype(np.float32))
    for arguments in (
        ("embed", "--model", f"file:{tmp_path / 'x.npy'}", "--questions-file", tmp_path / "q.npy"),
        ("transform", "signature"),
    ):
        code, _, err = gme(*arguments, "-w", tmp_path)
        assert code == 0, err
    return tmp_path


@pytest.mark.parametrize(
    ("more", "options"),
    [
        ((), {}),
        (("--no-lexical",), {"lexical": False}),
        (("--rest-weight", "0"), {"rest_weight": 0.0}),
        (("--budget", "7"), {"budget": 7}),
        (("--budget", "500"), {"budget": 500}),
        (("--types", "document,entity"), {"returns": ["document", "entity"]}),
        (("--lift", "1.5", "--seeds", "3"), {"lift": 1.5, "seeds": 3}),
        (("--ignore-titles",), {"ignore_titles": True}),
        (("--mix", "0.4"), {"mix": 0.4}),
        (("--lexical",), {"lexical": True}),
        (("--ignore-titles", "--lexical-weight", "2"), {"lexical_weight": 2.0}),
    ],
)
def test_it_returns_what_the_command_writes(
    more: tuple[str, ...], options: dict[str, Any], workspace: Path, gme: Run
) -> None:
    code, _, err = gme("retrieve", "envelope", "--exact", "--name", "run", *more, "-w", workspace)
    assert code == 0, err
    lines = [json.loads(line) for line in (workspace / "runs/run.jsonl").read_text().splitlines()]
    written = [[(result["id"], result["score"]) for result in line["results"]] for line in lines]
    opened = library.Workspace(workspace)
    original, signature = (
        np.load(workspace / f"embeddings/{name}.npy", mmap_mode="r") for name in ("original", "signature")
    )
    nodes, questions, queries = opened.nodes, opened.questions.texts, opened.question_vectors()
    given: dict[str, Any] = {"ids": nodes.ids, "types": nodes.types, "titles": nodes.titles, **options}
    if options.get("lexical") is not False:
        given["texts"] = nodes.texts
    if "lexical_weight" in options:  # words without titles
        del given["titles"]
    rows, scores = library.envelope(queries, original, signature, questions=questions, **given)

    def named(rows: Any, scores: Any) -> list[tuple[str, float]]:
        pairs = zip(rows.tolist(), scores.tolist(), strict=True)
        return [(nodes.ids[row], round(score, 6)) for row, score in pairs if row != NO_ROW]

    rounded = [[(node, round(score, 6)) for node, score in line] for line in written]
    assert [named(*line) for line in zip(rows, scores, strict=True)] == rounded
    for number in range(0, QUESTIONS, 5):  # one by one, with what a server keeps ready
        one = library.envelope(queries[number], original, signature, questions=questions[number], **given)
        assert one[0].ndim == one[1].ndim == 1
        assert named(*one) == rounded[number]


def test_stores_a_matcher_and_a_mask_stand_for_arrays_titles_and_types() -> None:
    x, z, queries, ids = make(3, 90, questions=4)
    titles, types = [f"Title {row}" for row in range(90)], ["chunk" if row % 3 else "entity" for row in range(90)]
    questions = [f"What is Title {row}?" for row in (4, 5, 6, 7)]
    plain = library.envelope(queries, x, z, ids=ids, types=types, titles=titles, questions=questions)
    ranks = np.argsort(np.argsort(np.array(ids))).astype(np.uint32)
    ready = library.envelope(
        queries,
        library.ExactStore(x, ranks),
        library.ExactStore(z, ranks),
        allowed=np.array([kind == "chunk" for kind in types]),
        titles=library.TitleMatcher(titles),
        questions=questions,
    )
    assert [part.tobytes() for part in plain] == [part.tobytes() for part in ready]
    assert {types[row] for row in plain[0].ravel() if row != NO_ROW} == {"chunk"}


def test_of_one_question_only_what_was_found_is_returned() -> None:
    x, z, queries, _ = make(3, 9)
    rows, scores = library.envelope(queries[0], x, z, budget=40, allowed=np.arange(9) < 4)
    assert sorted(rows.tolist()) == [0, 1, 2, 3]
    assert np.isfinite(scores).all()


def test_without_chunks_all_types_are_returned() -> None:
    x, z, queries, _ = make(3, 9)
    rows, _ = library.envelope(queries[0], x, z, types=["page", "entity", "page"] * 3)
    assert sorted(rows.tolist()) == list(range(9))


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"types": ["chunk"] * 8}, "there are 8 types for 9 nodes"),
        ({"returns": "chunk"}, "returns names node types, but types is missing"),
        ({"types": ["chunk"] * 9, "returns": "chunks"}, "unknown node type 'chunks'"),
        ({"types": ["chunk"] * 9, "allowed": np.ones(9, bool)}, "allowed says which nodes may be returned"),
        ({"titles": ["A"] * 9}, "titles without questions"),
        ({"questions": ["A", "B", "C"]}, "questions without titles"),
        ({"titles": ["A"] * 8, "questions": ["A", "B", "C"]}, "there are 8 titles for 9 nodes"),
        ({"titles": library.TitleMatcher(["A"] * 8), "questions": ["A"] * 3}, "there are 8 titles for 9 nodes"),
        ({"titles": library.TitleMatcher(["Ada"] * 10), "questions": ["Ada"] * 3}, "there are 10 titles for 9 nodes"),
        ({"titles": ["A"] * 9, "questions": ["A"]}, "3 vectors for 1 questions"),
        ({"titles": ["A"] * 9, "questions": "A"}, "questions is one text, but queries is a batch"),
        ({"texts": ["A"] * 9}, "texts without questions: there is nothing to look for"),
        ({"texts": ["A"] * 9, "questions": ["A"] * 3, "lexical": False}, "texts are given, but lexical=False searches"),
        ({"lexical": True, "questions": ["A", "B", "C"]}, "envelope searches words and needs the nodes' texts"),
        ({"lexical": True, "texts": ["A"] * 9}, "texts without questions"),
        ({"lexical": True, "texts": ["A"] * 8, "questions": ["A"] * 3}, "there are 8 texts for 9 vectors"),
        ({"ids": ["a"] * 8}, "there are 8 ids for 9 original vectors"),
        ({"budget": 0}, "--budget is 0"),
        ({"shift": 0.1}, "envelope has no option --shift"),
    ],
)
def test_what_does_not_fit_is_refused(more: dict[str, Any], message: str) -> None:
    x, z, queries, _ = make(3, 9)
    with pytest.raises(GmeError, match=message):
        library.envelope(queries, x, z, **more)


def test_arguments_in_the_order_of_retrieve_are_told() -> None:
    original, signature = np.eye(3, 4, dtype=np.float32), np.eye(3, 6, dtype=np.float32)
    with pytest.raises(GmeError, match="have 4 dimensions, the original vectors 6") as caught:
        library.envelope(original, signature, original[:1])
    assert "envelope(queries, original, modified)" in str(caught.value.hint)


@pytest.mark.parametrize(
    "module",
    [serving, batch, strategies, exact],
    ids=lambda module: module.__name__,
)
def test_examples_run(module: ModuleType) -> None:
    before = set(library.STRATEGIES.names())
    try:
        result = doctest.testmod(module)
    finally:
        for name in set(library.STRATEGIES.names()) - before:
            library.STRATEGIES.unregister(name)
    assert result.attempted
    assert not result.failed


def test_the_example_of_a_vector_set_runs() -> None:
    stub = (Path(exact.__file__).parent.parent / "_core.pyi").read_text(encoding="utf-8")
    text = stub[stub.index("class VectorSet") :].split("def __new__")[0].replace('"""\n', "")
    core: dict[str, Any] = {"VectorSet": _core.VectorSet, "search": _core.search}
    example = doctest.DocTestParser().get_doctest(text, core, "VectorSet", None, None)
    assert len(example.examples) == 4
    assert doctest.DocTestRunner().run(example).failed == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"queries": "who?"}, "queries must be numbers"),
        ({"queries": None}, "queries must be numbers"),
        ({"queries": [["a", "b"]]}, "queries must be numbers"),
        ({"original": "abc"}, "original vectors must be a float32 array"),
        ({"budget": 1.5}, "--budget is 1.5"),
        ({"budget": None}, "--budget is None"),
        ({"budget": "2"}, "--budget is '2'"),
        ({"budget": -1}, "--budget is -1"),
        ({"ids": "abc"}, "ids must be a list of texts"),
        ({"ids": [1, 2, 3]}, "ids must be texts"),
        ({"types": "abc"}, "types must be a list of texts"),
        ({"titles": "abc", "questions": ["a", "b"]}, "titles must be a list of texts"),
        ({"titles": ["A", "B", "C"], "questions": "ab"}, "questions is one text, but queries is a batch"),
        ({"titles": ["A", "B", "C"], "questions": 2}, "questions must be a list of texts, found 2"),
        ({"texts": 3, "questions": ["a", "b"]}, "texts must be a list of texts, found 3"),
        ({"allowed": "abc"}, "allowed must be a bool array"),
    ],
    ids=lambda value: str(value),
)
def test_odd_arguments_say_what_is_wrong(change: dict[str, Any], message: str) -> None:
    eye = np.eye(3, dtype=np.float32)
    given: dict[str, Any] = {"queries": eye[:2], "original": eye, "modified": eye, **change}
    with pytest.raises(GmeError, match=message):
        library.envelope(given.pop("queries"), given.pop("original"), given.pop("modified"), **given)
