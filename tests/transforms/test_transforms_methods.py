"""What is particular to a method of transformation: its facts, its scale, its limits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import transform_cases
from transform_cases import NODES, community_edges

from conftest import Run, write_lines
from gme import transforms
from gme.errors import GmeError
from gme.graph.communities import BACKENDS, louvain_labels
from gme.graph.construction import build_graph
from gme.transforms.gradient import CURVES

sourced = transform_cases.sourced
vectors = transform_cases.vectors


@pytest.mark.parametrize("backend", ["networkx", "scikit-network"])
def test_community_counts_rise_with_resolution(backend: str) -> None:
    graph = build_graph(NODES, community_edges())
    counts = [
        len(set(louvain_labels(graph, resolution=r, seed=42, backend=backend)[0].tolist()))
        for r in (0.1, 1.0, 4.0, 12.0)
    ]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1]


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_backend_finds_the_planted_communities(backend: str) -> None:
    labels, used = louvain_labels(build_graph(NODES, community_edges()), resolution=1.0, seed=42, backend=backend)
    assert used == backend
    assert [len(set(labels[start : start + 20].tolist())) for start in range(0, 120, 20)] == [1] * 6
    assert len(set(labels.tolist())) == 6


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("edges", [[], [(NODES[0], NODES[0])]], ids=["none", "loop"])
def test_without_edges_every_node_is_a_community(backend: str, edges: list[tuple[str, str]]) -> None:
    graph = build_graph(NODES[::-1], edges)
    labels, used = louvain_labels(graph, resolution=0.5, seed=42, backend=backend)
    assert (labels.tolist(), used) == (graph.ranks.tolist(), backend)
    assert labels.dtype == np.uint32


def test_louvain_blends_with_the_mean_of_the_community(vectors: np.ndarray) -> None:
    graph = build_graph(NODES, community_edges())
    labels, _ = louvain_labels(graph, resolution=0.5, seed=42)
    result = transforms.transform("louvain", graph, vectors)
    for row in (0, 50, 119):
        mean = vectors[labels == labels[row]].mean(axis=0)
        np.testing.assert_allclose(result.vectors[row], 0.5 * vectors[row] + 0.5 * mean, atol=1e-6)
    assert result.facts == {"communities": int(labels.max()) + 1, "backend": "networkx"}


def test_convex_reports_sweeps_and_displacement(vectors: np.ndarray) -> None:
    graph = build_graph(NODES, community_edges())
    converged = transforms.transform("convex", graph, vectors).facts
    assert converged["converged"]
    assert 1 < converged["sweeps"] < 200
    assert converged["final_displacement"] < 1e-6
    fixed = transforms.transform("convex", graph, vectors, sweeps=3).facts
    assert fixed["sweeps"] == 3
    assert fixed["final_displacement"] > 1e-6
    assert "converged" not in fixed
    capped = transforms.transform("convex", graph, vectors, max_sweeps=2).facts
    assert (capped["sweeps"], capped["converged"]) == (2, False)


def test_the_solver_goes_with_the_size_unless_named(vectors: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = build_graph(NODES, community_edges())
    assert transforms.transform("convex", graph, vectors).facts["solver"] == "gauss-seidel"
    assert transforms.transform("shared", graph, vectors, solver="cg").facts["solver"] == "cg"
    monkeypatch.setattr("gme.transforms.smoothing.CG_FROM", 100)
    assert transforms.transform("convex", graph, vectors).facts["solver"] == "cg"
    assert transforms.transform("convex", graph, vectors, sweeps=2).facts["solver"] == "gauss-seidel"
    with pytest.raises(GmeError, match="--sweeps counts Gauss-Seidel sweeps"):
        transforms.transform("convex", graph, vectors, sweeps=2, solver="cg")


def test_gradient_reports_its_descent(vectors: np.ndarray) -> None:
    graph = build_graph(NODES, community_edges())
    facts = transforms.transform("gradient", graph, vectors).facts
    assert facts["loss_after"] < 0.7 * facts["loss_before"]
    assert 0.1 < facts["displacement"] <= 1 + 1e-6
    assert (facts["steps"], facts["patches"], facts["sampled_patches"]) == (30, 120, 120)
    near = transforms.transform("gradient", graph, vectors, max_shift=0.001).vectors
    np.testing.assert_allclose(near, vectors, atol=0.001 * np.linalg.norm(vectors, axis=1).max())
    slow = transforms.transform("gradient", graph, vectors, step=1e-6).vectors
    np.testing.assert_allclose(slow, vectors, atol=1e-4)


def test_gradient_scales_with_its_input(vectors: np.ndarray) -> None:
    graph = build_graph(NODES, community_edges())
    one, eight = (transforms.transform("gradient", graph, scale * vectors).vectors for scale in (1, 8))
    np.testing.assert_allclose(eight, 8 * one, rtol=1e-4, atol=1e-4)


def test_the_curves_are_what_their_names_say() -> None:
    hops = np.arange(1, 5)
    np.testing.assert_array_equal(CURVES["none"], hops == 1)
    np.testing.assert_array_equal(CURVES["linear_steep"], np.maximum(0, 1 - hops / 2))
    np.testing.assert_allclose(CURVES["hyperbolic_sech"], 2 / (np.exp(hops) + np.exp(-hops)), atol=1e-12)


def test_residual_is_the_difference_of_directions(vectors: np.ndarray) -> None:
    graph = build_graph(NODES, community_edges())
    source = 3 * transforms.transform("walk", graph, vectors).vectors
    source[4] = 0
    source[5] = 7 * vectors[5]
    result = transforms.transform("residual", graph, vectors, source=source)
    unit = [each / np.maximum(np.linalg.norm(each, axis=1, keepdims=True), 1e-30) for each in (source, vectors)]
    np.testing.assert_allclose(result.vectors, unit[0] - unit[1], atol=1e-6)
    np.testing.assert_allclose(result.vectors[4], -unit[1][4], atol=1e-6)
    exact = np.array(vectors)
    same = transforms.transform("residual", graph, vectors, source=exact)
    assert not same.vectors.any()
    assert same.facts == {"unchanged": len(NODES)}


def test_residual_needs_a_source_that_fits(vectors: np.ndarray) -> None:
    graph = build_graph(NODES, [])
    wrongs: list[tuple[str, dict[str, Any]]] = [
        ("needs the vectors of its source", {}),
        (r"shape of the original, \(120, 16\), found \(120, 8\)", {"source": np.ascontiguousarray(vectors[:, :8])}),
        ("^source has dtype float64.*pass source.astype", {"source": vectors.astype(np.float64)}),
        ("^source holds inf at row 0", {"source": np.full_like(vectors, np.inf)}),
    ]
    for message, given in wrongs:
        with pytest.raises(GmeError, match=message):
            transforms.transform("residual", graph, vectors, **given)
    with pytest.raises(GmeError, match="'walk' takes no source"):
        transforms.transform("walk", graph, vectors, source=vectors)


def test_residual_on_the_command_line(sourced: Path, gme: Run) -> None:
    code, out, err = gme("transform", "residual", "-w", sourced)
    assert (code, out) == (1, "")
    assert err == "error: --source is missing: the modified collection to work on\nhint: one of: hop1\n"
    for wrong in ("hop", "original"):
        code, out, err = gme("transform", "residual", "--source", wrong, "-w", sourced)
        assert (code, out) == (1, "")
        assert f"error: unknown collection '{wrong}'" in err
    assert gme("transform", "signature", "--dim", 16, "-w", sourced)[0] == 0
    err = gme("transform", "residual", "--source", "signature-dim16", "-w", sourced)[2]
    assert "must have the shape of the original, (6, 8), found (6, 16)" in err


def test_the_file_of_a_source_that_holds_infinity_is_named(sourced: Path, gme: Run) -> None:
    path = sourced / "embeddings" / "mine.npy"
    np.save(path, np.full_like(np.load(sourced / "embeddings" / "hop1.npy"), np.inf))
    code, out, err = gme("transform", "residual", "--source", "mine", "-w", sourced)
    assert (code, out) == (1, "")
    assert f"error: {path}: row 0 (id " in err


def test_a_residual_of_no_edges_does_not_say_that_it_equals_the_original(sourced: Path, gme: Run) -> None:
    write_lines(sourced / "edges.jsonl", [])
    assert gme("transform", "hop1", "-w", sourced)[0] == 0
    code, _, err = gme("transform", "residual", "--source", "hop1", "-w", sourced)
    assert (code, "no edges" in err) == (0, False)
    err = gme("transform", "--collections", "residual-hop1", "-w", sourced)[2]
    assert "no edges: every modified vector equals its original, every residual is zero" in err
    assert "residual is zero" not in gme("transform", "--collections", "hop1", "-w", sourced)[2]


def test_a_residual_does_not_replace_what_it_is_made_from(sourced: Path, gme: Run) -> None:
    assert gme("transform", "residual", "--source", "hop1", "-w", sourced)[1] == "residual-hop1\n"
    for source in ("hop1", "residual-hop1"):
        code, out, err = gme("transform", "residual", "--source", source, "--name", "hop1", "-w", sourced)
        assert (code, out) == (1, "")
        assert err == "error: collection 'hop1' cannot replace what it is made from\nhint: choose another --name\n"
    assert gme("transform", "residual", "--source", "residual-hop1", "-w", sourced)[1] == "residual-residual-hop1\n"


def test_a_residual_of_a_source_that_has_changed_is_stale(sourced: Path, gme: Run) -> None:
    assert gme("transform", "residual", "--source", "hop1", "-w", sourced)[1] == "residual-hop1\n"
    assert gme("retrieve", "modified", "--collection", "residual-hop1", "-w", sourced)[0] == 0
    assert gme("transform", "hop1", "--alpha", 0.5, "--name", "hop1", "-w", sourced)[0] == 0
    code, _, err = gme("retrieve", "modified", "--collection", "residual-hop1", "-w", sourced)
    assert code == 1
    assert "residual-hop1.npy is stale: embeddings/hop1.npy has changed since it was made" in err
    assert "hint: re-run: gme transform residual --source hop1" in err


def test_a_hub_that_makes_too_many_pairs_is_named(tmp_path: Path, gme: Run) -> None:
    leaves = 2**15 + 1
    ids = [f"leaf{number}" for number in range(leaves)] + ["the hub"]
    (tmp_path / "embeddings").mkdir()
    write_lines(tmp_path / "nodes.jsonl", [{"id": name, "type": "chunk", "text": name} for name in ids])
    write_lines(tmp_path / "edges.jsonl", [{"source": name, "target": ids[-1], "type": "link"} for name in ids[:-1]])
    np.save(tmp_path / "embeddings" / "original.npy", np.ones((len(ids), 2), np.float32))
    code, out, err = gme("transform", "shared", "-w", tmp_path)
    assert (code, out) == (1, "")
    assert f"the largest hub is 'the hub' with {leaves} neighbors\nhint: " in err
    assert "--max-hub-degree" in err
    assert [path.name for path in (tmp_path / "embeddings").iterdir()] == ["original.npy"]
    assert gme("transform", "shared", "--max-hub-degree", 1000, "-w", tmp_path)[1] == "shared-max-hub-degree1000\n"
