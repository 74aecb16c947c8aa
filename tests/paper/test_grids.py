"""The paper's set: what the grid expands to, names, sources, and a command that goes on where it was stopped."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from conftest import Run
from gme.errors import GmeError
from gme.paper.grids import (
    MAIN,
    build_collections,
    count_collections,
    grid_collections,
    paper_collections,
    select_collections,
)
from gme.pipeline.transform import is_fresh
from gme.transforms.registry import TRANSFORMS
from gme.workspace import Workspace

COUNTS = {"hop1": 15, "hop2": 15, "convex": 8, "walk": 6, "louvain": 9, "shared": 6, "gradient": 27}
"""Distinct configurations by hand: 3 x 3 x 2 less the 3 that take all neighbors; 2 x 4; 2 x 3; 3 x 3; 3 + 3; 3^3."""


def test_every_combination_is_there_once() -> None:
    assert count_collections(grid_collections()) == COUNTS
    whole = paper_collections()
    assert count_collections(whole) == COUNTS | {"residual": sum(COUNTS.values())}
    assert len({collection.name for collection in whole}) == len(whole)
    settings = {(collection.method, str(collection.options.as_dict())) for collection in whole}
    assert len(settings) == len(whole)


def test_the_main_configurations_are_defaults_and_in_the_grid() -> None:
    names = [collection.name for collection in grid_collections()]
    assert set(MAIN) <= set(names)
    for collection in select_collections("main"):
        assert collection.options == TRANSFORMS[collection.method].options()
    # Of a pair that averages everything only the default pick is left.
    assert "hop1-share1" in names
    assert "hop1-share1-pickmost" not in names
    assert "hop1-share0.5-alpha0-pickmost" in names


def test_names_bring_their_sources_along() -> None:
    chosen = [collection.name for collection in select_collections(" residual-walk-steps3, walk,residual-walk,walk")]
    assert chosen == ["walk-steps3", "residual-walk-steps3", "walk", "residual-walk"]
    assert [collection.name for collection in select_collections("main,hop1")] == list(MAIN)
    assert select_collections("all") == paper_collections()
    with pytest.raises(GmeError, match="unknown collection 'walkk' in the paper's set") as failure:
        select_collections("walkk")
    assert failure.value.hint == "did you mean 'walk'? all names: main, all, and those of gme transform --list"
    with pytest.raises(GmeError, match="names none"):
        select_collections(" , ")


def test_sources_come_before_their_residuals() -> None:
    made = set()
    for collection in paper_collections():
        assert collection.source is None or collection.source in made
        made.add(collection.name)


def test_the_list_needs_no_workspace(gme: Run, tmp_path: Path) -> None:
    code, out, err = gme("transform", "--list", "-w", tmp_path / "nowhere")
    assert code == 0
    listed = [line.split("\t") for line in out.splitlines()]
    assert [name for name, _ in listed] == [collection.name for collection in paper_collections()]
    assert ["hop1-share0.5", "gme transform hop1 --share 0.5"] in listed
    whole = len(paper_collections())
    assert f"total: {whole} ({whole // 2} without residuals)" in err
    assert "hop1: 15, hop2: 15" in err
    assert "does not state the number of its collections" in err
    code, out, err = gme("transform", "--collections", "main", "--list")
    assert code == 0
    assert out.splitlines() == [f"{name}\tgme transform {name}" for name in MAIN]
    assert "total: 5" in err


@pytest.mark.parametrize("name", ["hop1-share0.5", "residual-hop1"])
def test_a_listed_command_makes_the_collection_it_is_listed_for(name: str, gme: Run, small_workspace: Path) -> None:
    commands = dict(line.split("\t") for line in gme("transform", "--list")[1].splitlines())
    for wanted in (name.removeprefix("residual-"), name):
        code, out, err = gme(*commands[wanted].split()[1:], "-w", small_workspace)
        assert (code, out.strip()) == (0, wanted), err


def test_main_is_made_once_and_again_where_it_is_stale(small_workspace: Path, gme: Run) -> None:
    arguments = ("transform", "--collections", "main", "-w", small_workspace)
    code, out, err = gme(*arguments)
    assert (code, out.split()) == (0, list(MAIN)), err
    assert "5 collections made, 0 of 5 were up to date" in err
    made = {name: (small_workspace / "embeddings" / f"{name}.npy").read_bytes() for name in MAIN}
    code, out, err = gme(*arguments)
    assert (code, out) == (0, "")
    assert "0 collections made, 5 of 5 were up to date" in err
    # One is gone, one is damaged, one was made otherwise under the same name: these are made again.
    (small_workspace / "embeddings" / "walk.npy").unlink()
    (small_workspace / "embeddings" / "hop1.npy").write_bytes(b"junk")
    assert gme("transform", "convex", "--edge-weight", 0.5, "--name", "convex", "-w", small_workspace)[0] == 0
    assert gme("transform", "hop2", "--edge-types", "link", "--name", "hop2", "-w", small_workspace)[0] == 0
    assert gme(*arguments)[1].split() == ["hop1", "hop2", "convex", "walk"]
    assert {name: (small_workspace / "embeddings" / f"{name}.npy").read_bytes() for name in MAIN} == made
    vectors = np.load(small_workspace / "embeddings" / "original.npy")
    np.save(small_workspace / "embeddings" / "original.npy", vectors[:, ::-1])
    assert gme(*arguments)[1].split() == list(MAIN)


def test_the_whole_set_on_a_small_graph(small_workspace: Path, gme: Run) -> None:
    code, out, err = gme("transform", "--collections", "all", "-w", small_workspace, "--threads", 1)
    assert code == 0, err
    whole = paper_collections()
    assert out.split() == [collection.name for collection in whole]
    for collection in whole:
        manifest = json.loads((small_workspace / "embeddings" / f"{collection.name}.json").read_text())
        assert manifest["parameters"] == collection.options.as_dict()
    workspace = Workspace(small_workspace)
    assert all(is_fresh(workspace, made.name, made.method, made.options) for made in whole)
    # A source that changes takes its residual with it, and nothing else.
    gone = small_workspace / "embeddings" / "hop1.npy"
    np.save(gone, 2 * np.load(gone))
    stale = [made.name for made in whole if not is_fresh(workspace, made.name, made.method, made.options)]
    assert stale == ["hop1", "residual-hop1"]
    remade = {name for name, manifest in build_collections(workspace, whole) if manifest}
    assert remade == {"hop1"}, "made again, the source is what it was, and so is its residual"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-w", "x"], "name a METHOD, or give --collections or --list"),
        (["--collections", "main", "walk"], "--collections stands before walk: put options after the method"),
        (["-w", "x", "walk"], "--workspace stands before walk: put options after the method"),
        (["--threads", "2", "walk"], "--threads stands before walk"),
        (["--list", "walk"], "--list stands before walk"),
    ],
)
def test_wrong_usage(arguments: list[str], message: str, gme: Run) -> None:
    code, out, err = gme("transform", *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert "\nhint: gme transform --help" in err
