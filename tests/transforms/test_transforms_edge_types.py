"""Transformations on edges of some types, and with weights for types."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import transform_cases
from transform_cases import NODES, community_edges

from conftest import Run, write_lines
from gme import transforms
from gme.errors import GmeError
from gme.graph.construction import build_graph
from gme.pipeline import transform as pipeline
from gme.transforms.registry import TRANSFORMS
from gme.workspace import Workspace

vectors = transform_cases.vectors


def _typed(workspace: Path) -> None:
    pairs = [("a", "b", "link"), ("b", "c", "link"), ("a", "b", "cites"), ("c", "d", "cites"), ("d", "e", "by-hand")]
    write_lines(workspace / "edges.jsonl", [{"source": a, "target": b, "type": kind} for a, b, kind in pairs])


@pytest.mark.parametrize("method", [name for name, entry in TRANSFORMS.items() if not entry.needs_source])
def test_edge_types_leave_the_other_edges_out(method: str, small_workspace: Path, gme: Run) -> None:
    _typed(small_workspace)
    arguments = ("transform", method, "--edge-types", "link, cites,link", "-w", small_workspace)
    name = f"{method}-edge-types-cites-link"
    assert gme(*arguments)[:2] == (0, f"{name}\n")
    manifest = json.loads((small_workspace / "embeddings" / f"{name}.json").read_text())
    assert manifest["graph"] == {"nodes": 6, "edges": 3, "edge_types": ["cites", "link"]}
    assert manifest["command"] == f"gme transform {method} --edge-types cites,link"
    vectors = np.load(small_workspace / "embeddings" / "original.npy")
    graph = build_graph(list("abcdef"), [("a", "b"), ("b", "c"), ("c", "d")])
    expected = transforms.transform(method, graph, vectors).vectors
    assert np.load(small_workspace / "embeddings" / f"{name}.npy").tobytes() == expected.tobytes()


def test_a_residual_follows_no_edges(small_workspace: Path, gme: Run) -> None:
    assert gme("transform", "walk", "-w", small_workspace)[0] == 0
    code, _, err = gme("transform", "residual", "--source", "walk", "--edge-types", "link", "-w", small_workspace)
    assert code == 1
    assert "error: residual follows no edges: --edge-types has no effect" in err


def test_edge_types_in_names_and_errors(small_workspace: Path, gme: Run) -> None:
    _typed(small_workspace)
    made = gme("transform", "walk", "--edge-types", "by-hand", "-w", small_workspace)[1].strip()
    assert made.startswith("walk-edge-types-by-hand-")  # not the name that the types "by" and "hand" would get
    manifest = json.loads((small_workspace / "embeddings" / f"{made}.json").read_text())
    assert manifest["command"] == "gme transform walk --edge-types by-hand"
    code, out, err = gme("transform", "walk", "--edge-types", "linc", "-w", small_workspace)
    assert (code, out) == (1, "")
    assert err == "error: unknown edge type 'linc'\nhint: did you mean 'link'? known: by-hand, cites, link\n"
    assert gme("transform", "walk", "--edge-types", " , ", "-w", small_workspace)[0] == 1
    listed = [sorted(types) for types in (("p-q", "r"), ("p", "q-r"), ("p-q-r",), ("p,q", "r"), ("p", "q,r"))]
    walk = transforms.TRANSFORMS["walk"].options()
    assert len({pipeline.collection_name("walk", walk, types) for types in listed}) == len(listed)
    workspace = Workspace(small_workspace)
    wrongs: list[Any] = [[], "link"]
    for wrong in wrongs:
        with pytest.raises(GmeError, match="edge types must be a list"):
            pipeline.transform_workspace(workspace, "walk", edge_types=wrong)
    name, manifest = pipeline.transform_workspace(workspace, "walk", edge_types=["link"], name="mine")
    assert (name, manifest["command"]) == ("mine", "gme transform walk --edge-types link --name mine")


# --- weights of edge types --------------------------------------------------------------------------------------------


def _typed_and_weighted(workspace: Path) -> list[tuple[str, str, str, float]]:
    edges = [
        ("a", "b", "link", 2.0),
        ("a", "b", "cites", 3.0),
        ("b", "c", "link", 4.0),
        ("c", "d", "cites", 1.0),
        ("d", "e", "by-hand", 8.0),
        ("e", "f", "link", 1.0),
    ]
    records = [{"source": a, "target": b, "type": kind, "weight": weight} for a, b, kind, weight in edges]
    write_lines(workspace / "edges.jsonl", records)
    return edges


WEIGHED = ("walk", "ppr", "signature")


@pytest.mark.parametrize(("method", "weighted"), [("walk", None), *itertools.product(WEIGHED[1:], (False, True))])
def test_weights_of_edge_types_multiply_those_of_edges(
    method: str, weighted: bool | None, small_workspace: Path, gme: Run
) -> None:
    edges = _typed_and_weighted(small_workspace)
    flags = ["--weighted"] if weighted else []
    given = " link=.50 ,by-hand=0,cites=1"
    code, out, err = gme("transform", method, *flags, "--edge-type-weights", given, "-w", small_workspace)
    assert code == 0, err
    name = out.strip()
    manifest = json.loads((small_workspace / "embeddings" / f"{name}.json").read_text())
    assert manifest["parameters"]["edge_type_weights"] == "by-hand=0,link=0.5"
    ending = "--edge-type-weights by-hand=0,link=0.5"
    assert manifest["command"] == " ".join(["gme transform", method, *flags, ending])
    assert manifest["graph"] == {"nodes": 6, "edges": 4}  # a-b twice: the heavier one counts, 3 and not 2 * 0.5
    factors = {"link": 0.5, "cites": 1.0, "by-hand": 0.0}
    own = weighted is not False  # walks follow the weights of edges in any case
    products = [(a, b, (weight if own else 1.0) * factors[kind]) for a, b, kind, weight in edges]
    vectors = np.load(small_workspace / "embeddings" / "original.npy")
    follow: dict[str, Any] = {} if weighted is None else {"weighted": True}
    expected, unweighed = (
        transforms.transform(method, build_graph(list("abcdef"), list_), vectors, **follow).vectors
        for list_ in ([edge for edge in products if edge[2]], [edge[:2] for edge in products if edge[2]])
    )
    assert np.load(small_workspace / "embeddings" / f"{name}.npy").tobytes() == expected.tobytes()
    assert expected.tobytes() != unweighed.tobytes()


@pytest.mark.parametrize("method", WEIGHED)
def test_type_weights_of_one_and_zero(method: str, small_workspace: Path, gme: Run) -> None:
    """One changes nothing, not even the name; zero leaves a type out."""
    _typed_and_weighted(small_workspace)
    flags = [] if method == "walk" else ["--weighted"]

    def made(*arguments: str) -> tuple[str, bytes]:
        code, out, err = gme("transform", method, *flags, *arguments, "-w", small_workspace)
        assert code == 0, err
        return out.strip(), (small_workspace / "embeddings" / f"{out.strip()}.npy").read_bytes()

    assert made() == made("--edge-type-weights", "link=1,cites=1.0")
    chosen = made("--edge-types", "link,cites")
    left = made("--edge-type-weights", "by-hand=0")
    assert left[1] == chosen[1]
    assert left[0] != chosen[0]
    both = ("--edge-types", "link,cites", "--edge-type-weights", "by-hand=0", "-w", small_workspace)
    assert "'by-hand' has a weight, but is not among the edge types chosen" in gme("transform", method, *both)[2]


def test_type_weights_in_names(small_workspace: Path, gme: Run) -> None:
    options = transforms.SignatureOptions
    plain = options(edge_type_weights="link=2, cites=0.5")
    assert plain.suffix() == "-edge-type-weights-cites_0.5-link_2"
    assert options(edge_type_weights="cites=.5,link=2.0") == plain
    assert options(dim=64, edge_type_weights="a=b=3").suffix().startswith("-dim64-edge-type-weights-a_b_3-")
    names = {options(edge_type_weights=given).suffix() for given in ("a-b=1e-5", "a=2", "a_2=3", "é=2", "ä=2", "")}
    assert len(names) == 6
    assert options(edge_type_weights="link=1").suffix() == ""
    _typed_and_weighted(small_workspace)
    made = gme("transform", "signature", "--edge-type-weights", "by-hand=1e6", "-w", small_workspace)[1].strip()
    assert made.startswith("signature-edge-type-weights-by-hand_1e06-")
    command = json.loads((small_workspace / "embeddings" / f"{made}.json").read_text())["command"]
    before = (small_workspace / "embeddings" / f"{made}.npy").read_bytes()
    assert gme(*command.split()[1:], "-w", small_workspace)[1].strip() == made
    assert (small_workspace / "embeddings" / f"{made}.npy").read_bytes() == before


@pytest.mark.parametrize(
    ("given", "message", "hint"),
    [
        ("linc=2", "unknown edge type 'linc'", "did you mean 'link'? known: by-hand, cites, link"),
        ("link", "expected TYPE=WEIGHT, found 'link'", "title_mention=0.5,link=2"),
        ("=2", "expected TYPE=WEIGHT, found '=2'", "title_mention=0.5,link=2"),
        ("link=two", "the weight of 'link' must be a number from 0 on, found 'two'", "0 leaves the type out"),
        ("link=-1", "the weight of 'link' must be a number from 0 on, found '-1'", "0 leaves the type out"),
        ("link=nan", "the weight of 'link' must be a number from 0 on, found 'nan'", "0 leaves the type out"),
        ("link=inf", "the weight of 'link' must be a number from 0 on, found 'inf'", "0 leaves the type out"),
        ("link=1,cites=2,link=3", "names the type 'link' twice", "title_mention=0.5,link=2"),
        ("link=0,cites=0,by-hand=0", "all edge types have the weight 0", "by-hand, cites, link"),
        ("link=1e300", "an edge of type 'link' would weigh 1e+300, beyond the range of float32", "scale them all"),
        ("link=1e-300", "an edge of type 'link' would weigh 1e-300, beyond the range of float32", "scale them all"),
    ],
)
def test_errors_of_type_weights(given: str, message: str, hint: str, small_workspace: Path, gme: Run) -> None:
    _typed_and_weighted(small_workspace)
    code, out, err = gme("transform", "ppr", "--edge-type-weights", given, "-w", small_workspace)
    assert (code, out) == (1, "")
    error, told = err.strip().split("\nhint: ")
    assert error.startswith("error: ")
    assert message in error
    assert hint in told
    assert not (small_workspace / "embeddings" / "ppr.npy").exists()


def test_only_methods_that_follow_weights_take_them(
    small_workspace: Path, gme: Run, vectors: npt.NDArray[np.float32]
) -> None:
    for method in TRANSFORMS:
        helped = "--edge-type-weights" in gme("transform", method, "--help")[1]
        assert helped == (method in WEIGHED), method
    graph = build_graph(NODES, community_edges())
    for method in WEIGHED:
        with pytest.raises(GmeError, match="this graph knows no types"):
            transforms.transform(method, graph, vectors, edge_type_weights="link=2")


def test_a_weighed_graph_is_not_taken_for_another(small_workspace: Path) -> None:
    """A workspace keeps the last graph."""
    _typed_and_weighted(small_workspace)
    workspace = Workspace(small_workspace)
    weights = [workspace.graph().csr()[2].tolist()]
    weights.append(workspace.graph(None, {"cites": 9.0}).csr()[2].tolist())
    weights.append(workspace.graph(None, {"cites": 9.0}, own_weights=False).csr()[2].tolist())
    weights.append(workspace.graph(["link", "cites"], {"cites": 9.0}).csr()[2].tolist())
    assert weights[0] == [3, 3, 4, 4, 1, 1, 8, 8, 1, 1]
    assert weights[1] == [27, 27, 4, 4, 9, 9, 8, 8, 1, 1]
    assert weights[2] == [9, 9, 1, 1, 9, 9, 1, 1, 1, 1]
    assert weights[3] == [27, 27, 4, 4, 9, 9, 1, 1]
    assert workspace.graph().csr()[2].tolist() == weights[0]
    assert workspace.graph(None, {}) is workspace.graph(), "no weights, the same graph"
