"""What signatures promise: they estimate overlap, belong to ids, and outlive changes of the graph elsewhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import numpy.typing as npt
import pytest

import gme
from conftest import Run
from gme import _core
from gme.errors import GmeError
from gme.transforms.diffusion import SignatureOptions

Vectors = npt.NDArray[np.float32]


@pytest.fixture(scope="module")
def town() -> nx.Graph:
    """Ten communities of 40 on a ring, a few edges from each to the next."""
    graph = nx.planted_partition_graph(10, 40, 0.12, 0.0, seed=4)
    generator = np.random.default_rng(9)
    for community in range(10):
        for _ in range(3):
            near, next_ = generator.integers(0, 40, 2)
            graph.add_edge(40 * community + int(near), 40 * ((community + 1) % 10) + int(next_))
    return nx.relabel_nodes(graph, {node: f"n{node}" for node in graph})


def signatures(network: nx.Graph, **options: Any) -> dict[str, Vectors]:
    ids = list(network)
    vectors = gme.transform("signature", gme.build_graph(ids, network.edges), **options).vectors
    return dict(zip(ids, vectors, strict=True))


def cosines(before: dict[str, Vectors], after: dict[str, Vectors]) -> dict[str, float]:
    return {node: float(before[node] @ after[node]) for node in before}


def rings(network: nx.Graph, starts: list[str], found: dict[str, float]) -> list[float]:
    """The mean by distance, 0 to 3, and of all further nodes."""
    hops = nx.multi_source_dijkstra_path_length(network, set(starts), weight=None)
    members = [[found[node] for node in found if min(hops.get(node, 4), 4) == ring] for ring in range(5)]
    return [float(np.mean(values)) for values in members]


DIFFUSED: dict[str, Any] = {"form": "diffused"}


@pytest.mark.parametrize(
    "options", [{}, DIFFUSED, DIFFUSED | {"hub_damping": 0.5}], ids=["roots", "diffused", "damped"]
)
def test_an_edge_moves_signatures_nearby(town: nx.Graph, options: dict[str, Any]) -> None:
    changed = town.copy()
    changed.add_edge("n0", "n205")
    before, after = (signatures(network, **options) for network in (town, changed))
    means = rings(changed, ["n0", "n205"], cosines(before, after))
    assert means == sorted(means)
    assert means[0] < 0.99, "the ends have moved"
    assert means[-1] > 0.9999, "what is far away has not"


def test_a_node_moves_signatures_nearby(town: nx.Graph) -> None:
    changed = town.copy()
    changed.add_edges_from(("new", f"n{node}") for node in (3, 17, 30))
    before, after = signatures(town), signatures(changed)
    means = rings(changed, ["n3", "n17", "n30"], cosines(before, after))
    assert means == sorted(means)
    assert means[0] < 0.999
    assert means[-1] > 0.9999


def test_a_component_knows_nothing_of_another(town: nx.Graph) -> None:
    """Up to the tolerance: its columns may be iterated once more."""
    changed = town.copy()
    changed.add_edges_from((f"other{node}", f"other{(7 * node) % 50}") for node in range(50))
    assert min(cosines(signatures(town), signatures(changed)).values()) > 1 - 1e-6


def test_old_and_new_signatures_can_be_compared(town: nx.Graph) -> None:
    """The random vectors belong to ids: an old signature of a node against a new one of another means what two new do.

    With other random vectors, which is what another seed gives, it means nothing.
    """
    changed = town.copy()
    changed.add_edge("n0", "n205")
    nodes = [f"n{node}" for node in range(40, 80)]
    old, new, other = (
        np.array([each[node] for node in nodes])
        for each in (signatures(town), signatures(changed), signatures(changed, seed=7))
    )
    np.testing.assert_allclose(old @ new.T, new @ new.T, atol=0.01)
    assert np.abs(old @ other.T).max() < 5 / np.sqrt(SignatureOptions().dim)
    assert (new @ new.T).mean() > 0.2


def test_half_of_the_columns_are_those_of_half_the_dimension(town: nx.Graph) -> None:
    """Draws are by column: a signature can be cut, and what is left, scaled to length 1, is a smaller signature.

    Only nearly, because the random vectors have length 1 before they are diffused.
    """
    wide, narrow = (np.array(list(signatures(town, dim=dim).values())) for dim in (512, 256))
    cut = wide[:, :256] / np.linalg.norm(wide[:, :256], axis=1, keepdims=True)
    assert (cut * narrow).sum(axis=1).min() > 0.995


def test_the_error_falls_with_the_root_of_the_dimension(town: nx.Graph) -> None:
    """Against cosines of the rows of (I − (1−c)P)⁻¹, by numpy; the standard error is (1 − ρ²)/√dim."""
    nodes = list(town)
    adjacency = nx.to_numpy_array(town, nodelist=nodes)
    degrees = np.maximum(adjacency.sum(axis=1, keepdims=True), 1)
    rows = np.linalg.inv(np.eye(len(nodes)) - 0.9 * adjacency / degrees)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    exact = rows @ rows.T
    pairs = np.triu_indices(len(nodes), 1)
    for dim in (64, 256, 1024):
        found = np.array(list(signatures(town, dim=dim, **DIFFUSED).values()))
        error = (found @ found.T - exact)[pairs] * np.sqrt(dim) / (1 - exact[pairs] ** 2)
        assert 0.9 < np.sqrt((error**2).mean()) < 1.1


DAMPED = ("transform", "signature", "--form", "diffused", "--hub-damping")


def test_hub_damping_on_the_command_line(small_workspace: Path, gme: Run) -> None:
    assert gme(*DAMPED, "0.50", "-w", small_workspace)[1] == "signature-formdiffused-hub-damping0.5\n"
    assert gme(*DAMPED, "0", "-w", small_workspace)[1] == "signature-formdiffused\n"
    damped, plain = (
        np.load(small_workspace / f"embeddings/{n}.npy")
        for n in ("signature-formdiffused-hub-damping0.5", "signature-formdiffused")
    )
    assert np.abs(damped - plain).max() > 0.01
    code, out, err = gme(*DAMPED, "1.5", "-w", small_workspace)
    assert (code, out) == (1, "")
    assert err.startswith("error: --hub-damping is 1.5, but must be at least 0 and at most 1\nhint: ")


def test_damping_is_what_the_formula_says(town: nx.Graph) -> None:
    """Random vectors times degree^−β, diffused by `ppr`, are the damped signatures."""
    ids = list(town)
    graph = gme.build_graph(ids, town.edges)
    random = gme.transform("signature", graph, **DIFFUSED, restart=1.0).vectors
    for damping in (0.25, 0.5, 1.0):
        scaled = random * np.maximum(graph.degrees, 1)[:, np.newaxis].astype(np.float64) ** -damping
        diffused = gme.transform("ppr", graph, scaled.astype(np.float32), restart=0.1).vectors
        expected = diffused / np.linalg.norm(diffused, axis=1, keepdims=True)
        found = gme.transform("signature", graph, **DIFFUSED, hub_damping=damping).vectors
        np.testing.assert_allclose(found, expected, atol=1e-4)
    with pytest.raises(GmeError, match="--hub-damping is -1"):
        gme.transform("signature", graph, **DIFFUSED, hub_damping=-1.0)


def test_the_diffused_form_is_what_signatures_were(town: nx.Graph) -> None:
    """The same bytes, with the restart that was the default."""
    graph = gme.build_graph(list(town), town.edges)
    walk: dict[str, Any] = {"restart": 0.1, "tolerance": 1e-6, "max_iterations": 500, "weighted": False}
    before = _core.signature(graph, dim=512, seed=42, **walk)[0]
    assert gme.transform("signature", graph, **DIFFUSED).vectors.tobytes() == before.tobytes()


def test_the_manifest_tells_of_rows(small_workspace: Path, gme: Run) -> None:
    assert gme("transform", "signature", "--drop", "0.01", "-w", small_workspace)[1] == "signature-drop0.01\n"
    manifest = json.loads((small_workspace / "embeddings/signature-drop0.01.json").read_text())
    assert {key: manifest["parameters"][key] for key in ("form", "restart", "drop")} == {
        "form": "roots", "restart": 0.25, "drop": 0.01
    }  # fmt: skip
    facts = manifest["facts"]
    assert 1 <= facts["entries_mean"] <= facts["entries_largest"]
    assert 0 <= facts["mass_dropped_mean"] < 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("--form", "diffused", "--drop", "1e-3"), "--drop is 0.001, but has no effect with --form diffused"),
        (("--hub-damping", "0.5"), "--hub-damping is 0.5, but has no effect with --form roots"),
        (("--drop", "0.4"), "--drop is 0.4, but must be at most the restart of 0.25"),
        (("--form", "root"), "'root'"),
    ],
)
def test_options_that_do_nothing_are_refused(
    small_workspace: Path, gme: Run, given: tuple[str, ...], message: str
) -> None:
    code, out, err = gme("transform", "signature", *given, "-w", small_workspace)
    assert (code, out) == (1, "")
    assert message in err
    assert not (small_workspace / "embeddings/signature.npy").exists()
