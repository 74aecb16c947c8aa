"""Code of another package that fails, or returns what nobody can use: the error names it, and nothing is written."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gme
from gme.builders import EDGE_BUILDERS, Found
from gme.embedders.models import MODELS
from gme.pipeline.transform import is_fresh
from gme.readers import READERS, Record
from gme.readers.protocol import Where
from gme.retrieval.batch import QUESTION_BLOCK
from gme.retrieval.options import PlainOptions
from gme.storage.files import write_json
from gme.stores.store import NO_ROW
from gme.workspace.manifests import read_manifest

VECTORS = np.eye(6, dtype=np.float32)
GRAPH = gme.build_graph(list("abcdef"), [("a", "b"), ("b", "c")])


BLAMED = f"transform 'outer' of module {__name__}"


def _transformed(facts: Any) -> gme.Transformed:
    def run(graph: Any, vectors: Any, options: Any, context: Any) -> gme.Transformed:
        return gme.Transformed(vectors, facts() if callable(facts) else facts)

    gme.register_transform("outer", gme.Transform("a test", gme.Options, run), replace=True)
    return gme.transform("outer", GRAPH, VECTORS)


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    yield
    for registry in (gme.TRANSFORMS, gme.STRATEGIES, gme.STORES, EDGE_BUILDERS, MODELS, READERS):
        if "outer" in registry:
            registry.unregister("outer")


def test_an_exception_names_the_entry_and_where_it_comes_from() -> None:
    with pytest.raises(
        gme.GmeError, match=rf"transform 'outer' of module {__name__} failed: ZeroDivisionError: "
    ) as caught:
        _transformed(lambda: 1 / 0)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_facts_are_pythons_own() -> None:
    assert _transformed({"a": np.int64(3), "b": [np.float32(0.5)]}).facts == {"a": 3, "b": [0.5]}
    for bad, name in (({"x": {1, 2}}, "x"), ({"y": [1, float("nan")]}, r"y\[1\]")):
        with pytest.raises(gme.GmeError, match=f"{BLAMED}: fact {name} can't be written as JSON"):
            _transformed(bad)
    with pytest.raises(gme.GmeError, match=f"{BLAMED} returned facts of type list"):
        _transformed([1])


@pytest.mark.parametrize(
    ("result", "fault"),
    [
        (None, "no Transformed, but NoneType"),
        (gme.Transformed(VECTORS[:2], {}), r"vectors of shape \(2, 6\)"),
        (gme.Transformed(VECTORS.astype(np.float64), {}), "vectors of type float64"),
    ],
)
def test_a_wrong_result_of_a_transform_names_where_it_comes_from(result: Any, fault: str) -> None:
    gme.register_transform("outer", gme.Transform("a test", gme.Options, lambda *given: result))
    with pytest.raises(gme.GmeError, match=f"{BLAMED} returned {fault}"):
        gme.transform("outer", GRAPH, VECTORS)


@pytest.mark.parametrize(
    ("rows", "fault"),
    [
        ([[0, 1], [2, 2]], "returned a node twice for question 2"),
        ([[0, 1], [2, 6]], "returned a row that none of the 6 nodes has for question 2"),
        (None, "returned nothing for question 1"),
    ],
)
def test_results_that_no_run_can_hold_are_refused(rows: Any, fault: str) -> None:
    def run(search: Any, options: Any, schedule: Any) -> None:
        if rows is not None:
            search.take("x", np.array(rows, dtype=np.uint32), np.ones((2, 2), dtype=np.float32))

    gme.register_strategy("outer", gme.Strategy(run, PlainOptions, "a test", needs_modified=False))
    with pytest.raises(gme.GmeError, match=f"strategy 'outer' of module {__name__} {fault}"):
        gme.retrieve("outer", VECTORS, None, VECTORS[:2], budget=2)


def test_each_block_of_questions_may_have_as_many_results_as_were_found() -> None:
    """The second block finds two nodes for its only question, the first block one, and the third none at all."""
    counts = iter([1, 2, 0])

    def run(search: Any, options: Any, schedule: Any) -> None:
        search.take("x", *search.top(search.original, search.queries, next(counts)))

    gme.register_strategy("outer", gme.Strategy(run, PlainOptions, "a test", needs_modified=False))
    queries = np.tile(VECTORS[:1], (2 * QUESTION_BLOCK + 1, 1))
    found = gme.retrieve("outer", VECTORS, None, queries, budget=3)
    assert (found.rows != NO_ROW).sum(axis=1)[[0, QUESTION_BLOCK, -1]].tolist() == [1, 2, 0]
    assert found.rows.shape == found.scores.shape == (len(queries), 3)
    assert found.stages == ("x", "x")


class Short(gme.ExactStore):
    """A store that finds at most so many nodes."""

    most = 0

    def search(self, queries: Any, k: int, excluded: Any = None, allowed: Any = None) -> Any:
        rows, scores = super().search(queries, k, excluded, allowed)
        rows[:, self.most :], scores[:, self.most :] = NO_ROW, -np.inf
        return rows, scores


@pytest.mark.parametrize("most", [0, 1, 3, 30])
@pytest.mark.parametrize("strategy", ["hybrid", "envelope", "spread", "pagerank"])
@pytest.mark.filterwarnings("error")
def test_a_store_that_finds_fewer_nodes_than_asked_for_makes_no_score_wrong(strategy: str, most: int) -> None:
    generator = np.random.default_rng(5)
    x, z = generator.standard_normal((2, 80, 8)).astype(np.float32)
    ids = [f"{number:02d}" for number in range(80)]
    graph = gme.build_graph(ids, list(pairwise(ids)))
    stores = Short(x, graph.ranks), Short(z, graph.ranks)
    for store in stores:
        store.most = most
    named = np.array([[3, NO_ROW], [NO_ROW] * 2], dtype=np.uint32)
    options: dict[str, Any] = {"graph": graph, "named": named, "budget": 5}
    if strategy in ("spread", "pagerank"):
        options |= {"lexical": True, "titles": "seeds"}
    texts: dict[str, Any] = {"texts": ["fox"] * 10 + ["sea fox"] * 10 + [""] * 60, "questions": ["a fox", "the sea"]}
    without: dict[str, Any] = {}
    for given in (without, texts) if strategy == "envelope" else (texts,):
        found = gme.retrieve(strategy, stores[0], stores[1], x[:2], **options, **given)
        assert np.isfinite(found.scores[found.rows != NO_ROW]).all()
        if most:
            assert found.rows[1, 0] != NO_ROW


@pytest.mark.parametrize("method", ["take", "take_best"])
@pytest.mark.parametrize(
    ("rows", "scores", "found"),
    [
        ([[1]], [[1.0]], "rows a list and scores a list"),
        (np.zeros(1, dtype=np.uint32), np.ones(1, dtype=np.float32), r"rows a uint32 array of shape \(1,\) and"),
        (np.zeros((2, 1), dtype=np.uint32), np.ones((1, 1), dtype=np.float32), r"\(2, 1\) and .* \(1, 1\)"),
        (np.zeros((1, 1), dtype=np.uint32), np.ones((1, 2), dtype=np.float32), r"\(1, 1\) and .* \(1, 2\)"),
    ],
)
def test_what_a_strategy_takes_must_be_arrays_of_one_shape(method: str, rows: Any, scores: Any, found: str) -> None:
    def run(search: Any, options: Any, schedule: Any) -> None:
        search.take("x", rows, scores) if method == "take" else search.take_best("x", rows, scores, 1)

    gme.register_strategy("outer", gme.Strategy(run, PlainOptions, "a test", needs_modified=False))
    with pytest.raises(gme.GmeError, match=rf"search\.{method} got .*{found}") as caught:
        gme.retrieve("outer", VECTORS, None, VECTORS[:1], budget=1)
    assert "(1 question, any), rows uint32 and scores float32" in str(caught.value.hint)


class Candidates(gme.CandidateStore):
    kind = "outer"

    def __init__(self, exact: gme.ExactStore, row: int) -> None:
        self.exact, self.row = exact, row

    def candidates(self, directions: Any, wanted: int) -> Any:
        return np.full((len(directions), wanted), self.row, dtype=np.uint32)


@pytest.mark.parametrize(("row", "fault"), [(1, "a node twice"), (99, "a row that none of the 6 nodes has")])
def test_candidates_are_checked(row: int, fault: str) -> None:
    with pytest.raises(gme.GmeError, match=f"store 'outer' of module {__name__} proposed {fault} for question 1"):
        Candidates(gme.ExactStore(VECTORS), row).search(VECTORS[:1], 1)


def test_an_opener_that_returns_nothing(small_workspace: Path) -> None:
    gme.register_store("outer", gme.StoreKind("a test", lambda exact, request: None))  # type: ignore[arg-type, return-value]
    with pytest.raises(gme.GmeError, match="returned no store, but NoneType"):
        gme.open_store(gme.Workspace(small_workspace), "original", "outer")


def test_what_another_version_made_is_not_fresh(small_workspace: Path) -> None:
    _transformed({})
    workspace = gme.Workspace(small_workspace)
    gme.transform_workspace(workspace, "outer")
    assert is_fresh(workspace, "outer", "outer", gme.Options())
    path = small_workspace / "embeddings/outer.json"
    manifest = read_manifest(path)
    manifest["plugins"]["method"]["code_sha256"] = "0"
    write_json(path, dict(manifest))
    assert not is_fresh(gme.Workspace(small_workspace), "outer", "outer", gme.Options())


@pytest.mark.parametrize("ranks", [[0, 1, 2, 3, 4, 4], [0, 1, 2, 3, 4, 6]])
def test_ranks_are_a_permutation(ranks: list[int]) -> None:
    with pytest.raises(gme.GmeError, match=r"ranks\[5\] is"):
        gme.ExactStore(VECTORS, np.array(ranks, dtype=np.uint32))


def test_a_reader_that_fails_is_named(tmp_path: Path) -> None:
    source = tmp_path / "notes.txt"
    source.write_text("a line")

    def at_once(paths: Any, options: Any, context: Any) -> Any:
        raise KeyError("at once")

    def later(paths: Any, options: Any, context: Any) -> Any:
        yield Record("nodes", {"id": "a", "type": "chunk", "text": "a line"}, Where(source, 1))
        raise KeyError("later")

    for function in (at_once, later):
        gme.register_reader("outer", gme.Reader("a test", gme.Options, function, ("nodes",)), replace=True)
        with pytest.raises(gme.GmeError, match=f"'outer' of module {__name__} failed: KeyError: "):
            gme.read_workspace(gme.Workspace(tmp_path / "workspace"), "outer", [source])
        assert not (tmp_path / "workspace/nodes.jsonl").exists()


def test_a_builder_that_fails_is_named(small_workspace: Path) -> None:
    def at_once(nodes: Any, options: Any, threads: int, progress: Any) -> Any:
        raise KeyError("at once")

    def edges() -> Iterator[dict[str, Any]]:
        yield {"source": "a", "target": "b", "type": "next"}
        raise KeyError("later")

    before = (small_workspace / "edges.jsonl").read_bytes()
    for find in (at_once, lambda *_: Found(edges())):
        EDGE_BUILDERS.register("outer", gme.EdgeBuilder("a test", gme.Options, find), replace=True)
        with pytest.raises(gme.GmeError, match=f"'outer' of module {__name__} failed: KeyError: "):
            gme.add_edges(gme.Workspace(small_workspace), "outer")
        assert (small_workspace / "edges.jsonl").read_bytes() == before


def test_an_embedder_that_fails_is_named() -> None:
    def fails(options: Any, threads: int) -> Any:
        raise ZeroDivisionError

    class Broken(gme.Embedder):
        name, key, dim = "outer", "outer", 2

        def stream(self, texts: Any) -> Any:
            yield [0], np.ones((1, 2), dtype=np.float32)
            raise KeyError("later")

    gme.register_embedder("outer", gme.EmbedderKind("outer", lambda options, threads: Broken(), summary="a test"))
    with pytest.raises(gme.GmeError, match=f"'outer' of module {__name__} failed: KeyError: "):
        gme.make_embedder("outer").embed(["a", "b"])
    gme.register_embedder("outer", gme.EmbedderKind("outer", fails, summary="a test"), replace=True)
    with pytest.raises(gme.GmeError, match=f"'outer' of module {__name__} failed: ZeroDivisionError"):
        gme.make_embedder("outer")
