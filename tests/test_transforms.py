"""The registry: every method from arrays and from a workspace, its manifest, its errors, and independence of order."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from conftest import Run, write_lines
from gme import transforms
from gme.communities import BACKENDS, louvain_labels
from gme.errors import GmeError
from gme.graph import build_graph
from gme.transforms import TRANSFORMS
from gme.transforms.gradient import CURVES
from gme.workspace import Workspace

NODES = [f"n{i:03d}" for i in range(120)]


def _community_edges(seed: int = 3) -> list[tuple[str, str]]:
    generator = np.random.default_rng(seed)
    edges = []
    for a in range(len(NODES)):
        for b in range(a):
            if generator.random() < (0.6 if a // 20 == b // 20 else 0.01):
                edges.append((NODES[a], NODES[b]))
    return edges


def _source(method: str, vectors: np.ndarray) -> dict[str, Any]:
    """What a method needs besides the original vectors: here always the same change of them."""
    return {"source": np.ascontiguousarray(vectors[:, ::-1])} if TRANSFORMS[method].needs_source else {}


@pytest.fixture
def sourced(small_workspace: Path, gme: Run) -> Path:
    """`small_workspace` with a modified collection, the source of a residual."""
    assert gme("transform", "hop1", "-w", small_workspace)[0] == 0
    return small_workspace


def _sourced_options(method: str) -> tuple[list[str], str, str]:
    """(options, the ending they give the name, the end of the recorded command)."""
    return (["--source", "hop1"], "-hop1", " --source hop1") if TRANSFORMS[method].needs_source else ([], "", "")


@pytest.fixture(scope="module")
def vectors() -> np.ndarray:
    return np.random.default_rng(1).normal(size=(len(NODES), 16)).astype(np.float32)


@pytest.mark.parametrize("method", TRANSFORMS)
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_same_bytes_for_any_thread_count_and_file_order(method: str, threads: int, vectors: np.ndarray) -> None:
    edges = _community_edges()
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
    result = transforms.transform(method, build_graph(NODES, _community_edges()), vectors, alpha=1.0)
    np.testing.assert_allclose(result.vectors, vectors, atol=1e-6)


@pytest.mark.parametrize(
    "method", [n for n, entry in TRANSFORMS.items() if entry.needs_vectors and not entry.needs_source]
)
def test_without_edges_nothing_moves(method: str, vectors: np.ndarray) -> None:
    result = transforms.transform(method, build_graph(NODES, []), vectors)
    np.testing.assert_allclose(result.vectors, vectors, atol=1e-6)


def test_the_share_is_taken_as_the_decimal_it_is(vectors: np.ndarray) -> None:
    """0.2 of 35 neighbours are 7, although the float product rounds up to 8."""
    star = build_graph(NODES, [(NODES[0], NODES[i]) for i in range(1, 36)])
    result = transforms.transform("hop1", star, vectors, share=0.2, alpha=0.0).vectors[0]
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    least = 1 + np.argsort(unit[1:36] @ unit[0], kind="stable")[:7]
    np.testing.assert_allclose(result, vectors[least].mean(axis=0), atol=1e-6)


@pytest.mark.parametrize("backend", ["networkx", "scikit-network"])
def test_community_counts_rise_with_resolution(backend: str) -> None:
    graph = build_graph(NODES, _community_edges())
    counts = [
        len(set(louvain_labels(graph, resolution=r, seed=42, backend=backend)[0].tolist()))
        for r in (0.1, 1.0, 4.0, 12.0)
    ]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1]


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_backend_finds_the_planted_communities(backend: str) -> None:
    labels, used = louvain_labels(build_graph(NODES, _community_edges()), resolution=1.0, seed=42, backend=backend)
    assert used == backend
    assert [len(set(labels[start : start + 20].tolist())) for start in range(0, 120, 20)] == [1] * 6
    assert len(set(labels.tolist())) == 6


def test_louvain_blends_with_the_mean_of_the_community(vectors: np.ndarray) -> None:
    graph = build_graph(NODES, _community_edges())
    labels, _ = louvain_labels(graph, resolution=0.5, seed=42)
    result = transforms.transform("louvain", graph, vectors)
    for row in (0, 50, 119):
        mean = vectors[labels == labels[row]].mean(axis=0)
        np.testing.assert_allclose(result.vectors[row], 0.5 * vectors[row] + 0.5 * mean, atol=1e-6)
    assert result.facts == {"communities": int(labels.max()) + 1, "backend": "networkx"}


def test_convex_reports_sweeps_and_displacement(vectors: np.ndarray) -> None:
    graph = build_graph(NODES, _community_edges())
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
    graph = build_graph(NODES, _community_edges())
    assert transforms.transform("convex", graph, vectors).facts["solver"] == "gauss-seidel"
    assert transforms.transform("shared", graph, vectors, solver="cg").facts["solver"] == "cg"
    monkeypatch.setattr("gme.transforms.smoothing.CG_FROM", 100)
    assert transforms.transform("convex", graph, vectors).facts["solver"] == "cg"
    assert transforms.transform("convex", graph, vectors, sweeps=2).facts["solver"] == "gauss-seidel"
    with pytest.raises(GmeError, match="--sweeps counts Gauss-Seidel sweeps"):
        transforms.transform("convex", graph, vectors, sweeps=2, solver="cg")


def test_gradient_reports_its_descent(vectors: np.ndarray) -> None:
    graph = build_graph(NODES, _community_edges())
    facts = transforms.transform("gradient", graph, vectors).facts
    assert facts["loss_after"] < 0.7 * facts["loss_before"]
    assert 0.1 < facts["displacement"] <= 1 + 1e-6
    assert (facts["steps"], facts["patches"], facts["sampled_patches"]) == (30, 120, 120)
    near = transforms.transform("gradient", graph, vectors, max_shift=0.001).vectors
    np.testing.assert_allclose(near, vectors, atol=0.001 * np.linalg.norm(vectors, axis=1).max())
    slow = transforms.transform("gradient", graph, vectors, step=1e-6).vectors
    np.testing.assert_allclose(slow, vectors, atol=1e-4)


def test_gradient_scales_with_its_input(vectors: np.ndarray) -> None:
    graph = build_graph(NODES, _community_edges())
    one, eight = (transforms.transform("gradient", graph, scale * vectors).vectors for scale in (1, 8))
    np.testing.assert_allclose(eight, 8 * one, rtol=1e-4, atol=1e-4)


def test_the_curves_are_what_their_names_say() -> None:
    hops = np.arange(1, 5)
    np.testing.assert_array_equal(CURVES["none"], hops == 1)
    np.testing.assert_array_equal(CURVES["linear_steep"], np.maximum(0, 1 - hops / 2))
    np.testing.assert_allclose(CURVES["hyperbolic_sech"], 2 / (np.exp(hops) + np.exp(-hops)), atol=1e-12)


def test_residual_is_the_difference_of_directions(vectors: np.ndarray) -> None:
    graph = build_graph(NODES, _community_edges())
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
        ("dtype float64", {"source": vectors.astype(np.float64)}),
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
    assert f"the largest hub is 'the hub' with {leaves} neighbours\nhint: " in err
    assert "--max-hub-degree" in err
    assert [path.name for path in (tmp_path / "embeddings").iterdir()] == ["original.npy"]
    assert gme("transform", "shared", "--max-hub-degree", 1000, "-w", tmp_path)[1] == "shared-max-hub-degree1000\n"


def test_names_tell_close_values_apart_and_fit_a_file(vectors: np.ndarray) -> None:
    hop, convex = transforms.HopOptions, transforms.ConvexOptions
    assert hop(alpha=0.1234567).suffix() != hop(alpha=0.123456789).suffix()
    assert convex(edge_weight=1e6).suffix() == "-edge-weight1e06"
    graph = build_graph(NODES, _community_edges())
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


def test_a_graph_without_edges_warns_and_moves_nothing(small_workspace: Path, gme: Run) -> None:
    write_lines(small_workspace / "edges.jsonl", [])
    code, _, err = gme("transform", "hop1", "-w", small_workspace)
    assert code == 0
    assert "warning:" in err
    assert "has no edges" in err
    original, modified = (np.load(small_workspace / "embeddings" / f"{n}.npy") for n in ("original", "hop1"))
    np.testing.assert_allclose(modified, original, atol=1e-6)
    assert "has no edges: no two signatures overlap" in gme("transform", "signature", "-w", small_workspace)[2]


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
    assert not (small_workspace / "embeddings" / "walk.npy").exists()


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
    assert len({transforms.collection_name("walk", walk, types) for types in listed}) == len(listed)
    workspace = Workspace(small_workspace)
    wrongs: list[Any] = [[], "link"]
    for wrong in wrongs:
        with pytest.raises(GmeError, match="edge types must be a list"):
            transforms.transform_workspace(workspace, "walk", edge_types=wrong)
    name, manifest = transforms.transform_workspace(workspace, "walk", edge_types=["link"], name="mine")
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
    graph = build_graph(NODES, _community_edges())
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
