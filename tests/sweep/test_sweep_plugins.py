"""Sweeps over what another package adds: the report names it, and what another version of it made is made again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sweep_cases
from sweep_cases import Make

from conftest import Run
from gme.options import Options
from gme.storage.files import write_json
from gme.transforms import TRANSFORMS, Transform, register_transform
from gme.types import Transformed
from gme.workspace.manifests import read_manifest

make = sweep_cases.make


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    yield
    if "outer" in TRANSFORMS:
        TRANSFORMS.unregister("outer")


def test_a_sweep_names_plugins_and_makes_their_collections_again(make: Make, tmp_path: Path, gme: Run) -> None:
    def run(graph: Any, vectors: Any, options: Any, context: Any) -> Transformed:
        return Transformed(vectors, {})

    register_transform("outer", Transform("a test", Options, run))
    folder, grid = make("first", 1), tmp_path / "grid.toml"
    grid.write_text('[[transform]]\nmethod = ["outer", "hop1"]\n\n[[strategy]]\nstrategy = "fused"\nbudget = 6\n')
    code, _, err = gme("sweep", grid, "-w", folder)
    assert code == 0, err
    assert err.count(f"transform outer is of module {__name__}") == 1
    assert err.count("making collection") == 2
    report = json.loads((folder / "reports/sweep-grid.json").read_text())
    assert report["plugins"] == {"transform outer": TRANSFORMS.source("outer")}
    assert "making collection" not in gme("sweep", grid, "-w", folder)[2]
    path = folder / "embeddings/outer.json"
    manifest = read_manifest(path)
    manifest["plugins"]["method"]["code_sha256"] = "0"
    write_json(path, dict(manifest))
    err = gme("sweep", grid, "-w", folder)[2]
    assert "making collection 1 of 1, outer" in err
    assert read_manifest(path)["plugins"]["method"] == TRANSFORMS.source("outer")


def test_a_sweep_without_plugins_names_none(make: Make, tmp_path: Path, gme: Run) -> None:
    grid = tmp_path / "grid.toml"
    grid.write_text('[[transform]]\nmethod = "hop1"\n\n[[strategy]]\nstrategy = "fused"\nbudget = 6\n')
    code, out, err = gme("sweep", grid, "-w", make("first", 1), "--json")
    assert code == 0, err
    assert "plugins" not in json.loads(out)
