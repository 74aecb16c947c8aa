"""The registry: every method from arrays and from a workspace, its manifest, its errors, and independence of order."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import transform_cases
from transform_cases import NODES, community_edges

from conftest import Run, write_lines
from gme import transforms
from gme.errors import GmeError
from gme.graph.construction import build_graph
from gme.transforms.registry import TRANSFORMS

sourced = transform_cases.sourced
vectors = transform_cases.vectors


def _source(method: str, vectors: np.ndarray) -> dict[str, Any]:
    """What a method needs besides the original vectors: here always the same change of them."""
    return {"source": np.ascontiguousarray(vectors[:, ::-1])} if TRANSFORMS[method].needs_source else {}


def _sourced_options(method: str) -> tuple[list[str], str, str]:
    """(options, the ending they give the name, the end of the recorded command)."""
    return (["--source", "hop1"], "-hop1", " --source hop1") if TRANSFORMS[method].needs_source else ([], "", "")


@pytest.mark.parametrize("method", TRANSFORMS)
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_same_bytes_for_any_thread_count_and_file_order(method: str, threads: int, vectors: np.ndarray) -> None:
    edges = community_edges()
    source = _source(method, vectors)
    straight = transforms.transform(method, build_graph(NODES, edges), vectors, threads=1, **source).vectors
    order = np.random.default_rng(threads).permutation(len(NODES))
    flipped = [(b, a) for a, b in reversed(edges)]
    shuffled_graph = build_graph([NODES[row] for row in order], flipped)
    source = _source(method, vectors[order])
    shuffled = transforms.transform(method, shuffled_graph, vectors[order], threads=threads, **source).vectors
    assert shuffled.tobytes() == straight[order].tobytes()


@pytest.mark.parametrize("method", ["hop1", "hop2", "walk", "louvain"])
def test_alpha_one_is_the_identity(method: str, vectors: np.ndarray) -> None:
    result = transforms.transform(method, build_graph(NODES, community_edges()), vectors, alpha=1.0)
    np.testing.assert_allclose(result.vectors, vectors, atol=1e-6)


@pytest.mark.parametrize(
    "method", [n for n, entry in TRANSFORMS.items() if entry.needs_vectors and not entry.needs_source]
)
def test_without_edges_nothing_moves(method: str, vectors: np.ndarray) -> None:
    result = transforms.transform(method, build_graph(NODES, []), vectors)
    np.testing.assert_allclose(result.vectors, vectors, atol=1e-6)


def test_the_share_is_taken_as_the_decimal_it_is(vectors: np.ndarray) -> None:
    """0.2 of 35 neighbors are 7, although the float product rounds up to 8."""
    star = build_graph(NODES, [(NODES[0], NODES[i]) for i in range(1, 36)])
    result = transforms.transform("hop1", star, vectors, share=0.2, alpha=0.0).vectors[0]
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    least = 1 + np.argsort(unit[1:36] @ unit[0], kind="stable")[:7]
    np.testing.assert_allclose(result, vectors[least].mean(axis=0), atol=1e-6)


def test_names_tell_close_values_apart_and_fit_a_file(vectors: np.ndarray) -> None:
    hop, convex = transforms.HopOptions, transforms.ConvexOptions
    assert hop(alpha=0.1234567).suffix() != hop(alpha=0.123456789).suffix()
    assert convex(edge_weight=1e6).suffix() == "-edge-weight1e06"
    graph = build_graph(NODES, community_edges())
    tiny = transforms.transform("hop1", graph, vectors, share=1e-12, min_neighbors=1)
    assert (tiny.vectors == transforms.transform("hop1", graph, vectors, share=1e-3, min_neighbors=1).vectors).all()
    transforms.transform("hop2", graph, vectors, share=1 / 7000)


def test_errors_of_the_library(vectors: np.ndarray) -> None:
    graph = build_graph(NODES, [])
    with pytest.raises(GmeError, match="unknown transform 'wlak'"):
        transforms.transform("wlak", graph, vectors)
    with pytest.raises(GmeError, match="needs the original vectors"):
        transforms.transform("walk", graph)
    with pytest.raises(GmeError, match="unknown option 'step'"):
        transforms.transform("walk", graph, vectors, step=3)
    with pytest.raises(GmeError, match="unknown node 'zzz'"):
        build_graph(["a"], [("a", "zzz")])


@pytest.mark.parametrize("method", TRANSFORMS)
def test_the_command_writes_a_collection_and_its_manifest(method: str, sourced: Path, gme: Run) -> None:
    options, ending, command = _sourced_options(method)
    code, out, err = gme("transform", method, *options, "-w", sourced)
    assert (code, out) == (0, f"{method}{ending}\n"), err
    array = np.load(sourced / "embeddings" / f"{method}{ending}.npy")
    manifest = json.loads((sourced / "embeddings" / f"{method}{ending}.json").read_text())
    assert array.dtype == np.float32
    assert list(array.shape) == [manifest["rows"], manifest["dim"]]
    assert manifest["method"] == method
    assert manifest["parameters"] == TRANSFORMS[method].options().as_dict() | ({"source": "hop1"} if options else {})
    assert manifest["graph"] == {"nodes": 6, "edges": 5}
    assert manifest["command"] == f"gme transform {method}{command}"
    with_vectors = {"embeddings/original.npy"} if TRANSFORMS[method].needs_vectors else set()
    with_source = {"embeddings/hop1.npy"} if options else set()
    assert set(manifest["inputs"]) == {"nodes.jsonl", "edges.jsonl"} | with_vectors | with_source


def test_names(small_workspace: Path, gme: Run) -> None:
    assert gme("transform", "walk", "--steps", 3, "--exact", "-w", small_workspace)[:2] == (0, "walk-steps3-exact\n")
    assert gme("transform", "walk", "--steps", 2, "-w", small_workspace)[:2] == (0, "walk\n")
    assert gme("transform", "walk", "--name", "mine", "-w", small_workspace)[:2] == (0, "mine\n")
    assert (
        json.loads((small_workspace / "embeddings" / "mine.json").read_text())["command"]
        == "gme transform walk --name mine"
    )
    code, _, err = gme("transform", "walk", "--name", "../mine", "-w", small_workspace)
    assert code == 1
    assert err.startswith("error: collection name '../mine' is not usable")


def test_a_collection_of_another_method_is_not_overwritten(small_workspace: Path, gme: Run) -> None:
    assert gme("transform", "hop2", "-w", small_workspace)[0] == 0
    assert gme("transform", "walk", "--name", "convex", "-w", small_workspace)[0] == 0
    folder = small_workspace / "embeddings"
    before = {path: path.read_bytes() for path in folder.iterdir()}
    for arguments, made_by in (
        (["walk", "--name", "hop2"], "hop2"),
        (["convex"], "walk"),
        (["--collections", "convex"], "walk"),
    ):
        code, out, err = gme("transform", *arguments, "-w", small_workspace)
        assert (code, out) == (1, "")
        path = folder / ("hop2.npy" if made_by == "hop2" else "convex.npy")
        assert f"error: {path} was made by the method '{made_by}', and " in err
        assert "hint: choose another --name, or remove that file\n" in err
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
    assert gme("transform", "hop2", "--alpha", 0.5, "--name", "hop2", "-w", small_workspace)[0] == 0  # its own, anew
    (folder / "convex.npy").unlink()
    assert gme("transform", "convex", "-w", small_workspace)[0] == 0


def test_a_graph_without_edges_warns_and_moves_nothing(small_workspace: Path, gme: Run) -> None:
    write_lines(small_workspace / "edges.jsonl", [])
    code, _, err = gme("transform", "hop1", "-w", small_workspace)
    assert code == 0
    assert "warning:" in err
    assert "has no edges" in err
    original, modified = (np.load(small_workspace / "embeddings" / f"{n}.npy") for n in ("original", "hop1"))
    np.testing.assert_allclose(modified, original, atol=1e-6)
    assert "has no edges: no two signatures overlap" in gme("transform", "signature", "-w", small_workspace)[2]


def test_edges_that_do_not_count_are_not_said_to_be_missing_from_their_file(small_workspace: Path, gme: Run) -> None:
    write_lines(small_workspace / "edges.jsonl", [{"source": "a", "target": "a", "type": "link"}])
    for given in (("walk",), ("--collections", "walk")):
        code, _, err = gme("transform", *given, "-w", small_workspace)
        assert code == 0
        assert f"warning: the graph of {small_workspace / 'edges.jsonl'} has no edges" in err


@pytest.mark.parametrize("method", TRANSFORMS)
def test_no_nodes_are_transformed_into_none(method: str) -> None:
    entry, none = TRANSFORMS[method], np.zeros((0, 8), dtype=np.float32)
    given: dict[str, Any] = {"source": none} if entry.needs_source else {}
    result = transforms.transform(method, build_graph([], []), none if entry.needs_vectors else None, **given)
    assert len(result.vectors) == 0


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["wlak"], 2, "'walk'"),
        (["walk", "--steps", "0"], 1, "--steps is 0, but must be at least 1"),
        (["walk", "--steps", "many"], 2, "unable to parse string as an integer, found 'many'"),
        (["walk", "--stepz", "2"], 2, "--stepz"),
        (["walk", "--threads", "99999"], 2, "found '99999'"),
        (["convex", "--sweeps", "2", "--tolerance", "0.1"], 1, "--tolerance has no effect with --sweeps 2"),
        (["shared", "--sweeps", "2", "--max-sweeps", "9"], 1, "--max-sweeps has no effect with --sweeps 2"),
        (["louvain", "--backend", "metis"], 1, "unknown value for --backend: 'metis'"),
    ],
)
def test_errors_of_the_command(arguments: list[str], code: int, message: str, small_workspace: Path, gme: Run) -> None:
    exit_code, out, err = gme("transform", *arguments, "-w", small_workspace)
    assert (exit_code, out) == (code, "")
    assert err.startswith("error: ")
    assert "\nhint: " in err
    assert message in err
    assert "Traceback" not in err


@pytest.mark.parametrize(("value", "kind"), [(np.nan, "holds NaN"), (0.0, "is zero")])
def test_vectors_without_a_direction_are_refused(value: float, kind: str, small_workspace: Path, gme: Run) -> None:
    path = small_workspace / "embeddings" / "original.npy"
    vectors = np.load(path)
    vectors[3] = value
    np.save(path, vectors)
    code, _, err = gme("transform", "walk", "-w", small_workspace)
    assert code == 1
    assert f"row 3 (id 'd') {kind}" in err
    assert "(rows count from 0)\n" in err
    assert not (small_workspace / "embeddings" / "walk.npy").exists()


def _centered(change: Callable[[np.ndarray], Any]) -> Callable[..., Any]:
    """A transformation as somebody might add it, whose result is changed."""
    return lambda graph, vectors, options, context: change(vectors - vectors.mean(axis=0))


def _with_nan(result: np.ndarray) -> transforms.Transformed:
    result[3, 1] = np.nan
    return transforms.Transformed(result, {})


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda result: result, "no Transformed, but ndarray"),
        (lambda result: None, "no Transformed, but NoneType"),
        (lambda result: transforms.Transformed(result.tolist(), {}), "no array of vectors, but list"),
        (lambda result: transforms.Transformed(result.astype(np.float64), {}), "vectors of type float64"),
        (lambda result: transforms.Transformed(result[:-1], {}), r"vectors of shape \(5, 8\)"),
        (lambda result: transforms.Transformed(result.T, {}), r"vectors of shape \(8, 6\)"),
        (lambda result: transforms.Transformed(result[0], {}), r"vectors of shape \(8,\)"),
        (lambda result: transforms.Transformed(np.asfortranarray(result), {}), "vectors that are not in C order"),
        (_with_nan, "NaN or infinity in row 3"),
        (lambda result: transforms.Transformed(result / np.float32(0), {}), "NaN or infinity in row 0"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
def test_a_result_that_is_no_collection_is_refused(
    change: Callable[[np.ndarray], Any],
    fault: str,
    small_workspace: Path,
    gme: Run,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    entry = transforms.Transform("a test", TRANSFORMS["hop1"].options, _centered(change))
    monkeypatch.setitem(TRANSFORMS.own, "hop1", entry)
    code, out, err = gme("transform", "hop1", "-w", small_workspace)
    assert (code, out) == (1, "")
    assert re.search(f"error: transform 'hop1' returned {fault}\nhint: it must return Transformed", err)
    assert not (small_workspace / "embeddings/hop1.npy").exists()
    original = np.load(small_workspace / "embeddings/original.npy")
    graph = build_graph([str(row) for row in range(len(original))], [])
    with pytest.raises(GmeError, match=fault):
        transforms.transform("hop1", graph, original)


def test_of_a_large_result_rows_spread_over_it_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gme.transforms.registry._LOOKED_AT", 1 << 10)
    entry = transforms.Transform("a test", TRANSFORMS["hop1"].options, _centered(_late_nan))
    monkeypatch.setitem(TRANSFORMS.own, "hop1", entry)
    with pytest.raises(GmeError, match="NaN or infinity in row 64"):
        transforms.transform("hop1", build_graph(NODES, []), np.ones((len(NODES), 16), dtype=np.float32))


def _late_nan(result: np.ndarray) -> transforms.Transformed:
    result[60:] = np.nan
    return transforms.Transformed(result, {})
