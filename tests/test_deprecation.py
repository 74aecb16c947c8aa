"""Former names work for one release, warn with the present one, and give the same."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from retrieval_cases import make

import gme as library
from conftest import Run
from gme.builders.entities import EntityOptions
from gme.deprecation import FormerNameWarning
from gme.errors import GmeError
from gme.options import former_names
from gme.readers import ReadContext
from gme.retrieval.batch import strategy_options
from gme.retrieval.options import EnvelopeOptions
from gme.sweep.grid import read_grid
from gme.types import TransformContext


@pytest.mark.parametrize(
    ("module", "former", "now", "present"),
    [
        ("gme", "Titles", "gme.TitleMatcher", library.TitleMatcher),
        ("gme", "named_nodes", "gme.match_titles", library.match_titles),
        ("gme.types", "Context", "gme.types.TransformContext", TransformContext),
        ("gme.transforms", "Context", "gme.transforms.TransformContext", TransformContext),
        ("gme.readers", "Context", "gme.readers.ReadContext", ReadContext),
        ("gme.readers.protocol", "Context", "gme.readers.ReadContext", ReadContext),
        ("gme.graph", "workspace_graph", "gme.workspace_graph", library.workspace_graph),
    ],
)
def test_a_former_name_of_a_module_is_the_present_one(module: str, former: str, now: str, present: object) -> None:
    with pytest.warns(FormerNameWarning) as caught:
        assert getattr(importlib.import_module(module), former) is present
    assert str(caught[0].message) == f"{module}.{former} is deprecated: use {now}"
    assert caught[0].filename == __file__


@pytest.mark.parametrize("module", ["gme", "gme.types", "gme.transforms", "gme.readers", "gme.graph"])
def test_other_names_are_missing_as_ever(module: str) -> None:
    with pytest.raises(AttributeError, match=f"module '{module}' has no attribute 'nothing'"):
        _ = importlib.import_module(module).nothing


def test_titles_named_is_match() -> None:
    x, _, queries, _ = make(3, 9)
    titles, texts = library.TitleMatcher([f"Title {row}" for row in range(9)]), ["Title 1 or Title 2?"] * 3
    with pytest.warns(FormerNameWarning, match=r"TitleMatcher.named is deprecated: use TitleMatcher.match"):
        named = titles.named(texts, queries, x)
    assert named.tolist() == titles.match(texts, queries, x).tolist()


FORMER_OPTIONS: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"crowding": 0.1}, {"redundancy_penalty": 0.1}, "--crowding is deprecated: use --redundancy-penalty"),
    (
        {"neighbourhoods": "per_seed", "mix": 0.5},
        {"neighborhoods": "per_seed", "mix": 0.5},
        "--neighbourhoods is deprecated: use --neighborhoods",
    ),
    (
        {"neighborhoods": "apart", "mix": 0.5},
        {"neighborhoods": "per_seed", "mix": 0.5},
        "--neighborhoods apart is deprecated: use --neighborhoods per_seed",
    ),
]


@pytest.mark.parametrize(("former", "present", "warning"), FORMER_OPTIONS)
def test_former_options_in_python(former: dict[str, Any], present: dict[str, Any], warning: str) -> None:
    x, z, queries, _ = make(3, 60)
    with pytest.warns(FormerNameWarning) as caught:
        found = library.retrieve("envelope", x, z, queries, **former)
    assert [str(each.message) for each in caught] == [warning]
    assert caught[0].filename == __file__
    assert found.rows.tolist() == library.retrieve("envelope", x, z, queries, **present).rows.tolist()


def test_options_read_back_from_a_manifest_of_the_release_before() -> None:
    """All of them at once, as the manifest of a run has them."""
    given = {**EnvelopeOptions().as_dict(), "crowding": 0.1, "neighbourhoods": "mean"}
    del given["redundancy_penalty"], given["neighborhoods"]
    with pytest.warns(FormerNameWarning) as caught:
        assert strategy_options("envelope", given) == EnvelopeOptions(redundancy_penalty=0.1, pinned=0)
    assert len(caught) == 2


def test_an_option_under_both_names_is_refused() -> None:
    with pytest.raises(GmeError, match="--crowding and --redundancy-penalty are one option"):
        strategy_options("envelope", {"crowding": 0.1, "redundancy_penalty": 0.1})


def test_a_former_option_of_another_strategy_is_refused_as_its_present_one_is() -> None:
    with pytest.raises(GmeError, match="plain has no option --crowding") as caught:
        strategy_options("plain", {"crowding": 0.1})
    assert caught.value.hint == "it belongs to envelope"


def test_a_former_choice_of_entities() -> None:
    with pytest.warns(FormerNameWarning, match="--extractor capitalised is deprecated: use --extractor capitalized"):
        assert EntityOptions(extractor="capitalised") == EntityOptions()


@pytest.fixture
def workspace(small_workspace: Path) -> Path:
    vectors = np.random.default_rng(9).normal(size=(6, 8)).astype(np.float32)
    np.save(small_workspace / "embeddings/signature.npy", vectors)
    return small_workspace


@pytest.mark.parametrize(("former", "present", "warning"), FORMER_OPTIONS)
def test_former_options_on_the_command_line(
    former: dict[str, Any], present: dict[str, Any], warning: str, workspace: Path, gme: Run
) -> None:
    options = [word for name, value in former.items() for word in (f"--{name}", str(value))]
    code, out, err = gme("retrieve", "envelope", "-w", workspace, *options)
    assert code == 0, err
    said, _, use = warning.partition(": ")
    assert f"warning: {said}\nhint: {use}\n" in err
    manifest = json.loads((workspace / f"runs/{out.strip()}.json").read_text())
    assert present.items() <= manifest["options"].items()
    assert "crowding" not in manifest["command"]
    assert "crowding" not in manifest["options"]
    quiet = gme("retrieve", "envelope", "-w", workspace, *options, "--quiet")
    assert (quiet[0], quiet[2]) == (0, "")


def test_help_is_silent_about_former_options(gme: Run) -> None:
    text = gme("retrieve", "--help")[1]
    assert former_names(EnvelopeOptions) == {"crowding": "redundancy_penalty", "neighbourhoods": "neighborhoods"}
    assert "--redundancy-penalty" in text
    assert "crowding" not in text
    assert "neighbourhoods" not in text


def test_former_options_in_a_grid(tmp_path: Path) -> None:
    def grid(penalty: str, neighborhoods: str, choice: str) -> Any:
        path = tmp_path / "grid.toml"
        path.write_text(
            f'[[transform]]\nmethod = "signature"\n\n[[strategy]]\nstrategy = "envelope"\n{penalty} = [0.0, 0.1]\n\n'
            f'[[strategy]]\nstrategy = "envelope"\nmix = [0.4, 0.6]\n{neighborhoods} = "{choice}"\n\n'
            f'[[exclude]]\nmix = 0.6\n{neighborhoods} = "{choice}"\n'
        )
        return read_grid(path)

    with pytest.warns(FormerNameWarning):
        former = grid("crowding", "neighbourhoods", "apart")
    present = grid("redundancy_penalty", "neighborhoods", "per_seed")
    assert former == present
    assert len(former.configurations) == 3
    assert former.notes == ()
    (tmp_path / "grid.toml").write_text('[[strategy]]\nstrategy = "envelope"\ncrowding = 0\nredundancy_penalty = 0\n')
    with pytest.raises(GmeError, match=r"grid.toml:1: strategy 1: --crowding and --redundancy-penalty are one option"):
        read_grid(tmp_path / "grid.toml")


def test_former_names_of_methods(small_workspace: Path) -> None:
    workspace = library.Workspace(small_workspace)
    with pytest.warns(FormerNameWarning, match=r"gme.Workspace.asked is deprecated: use gme.Workspace.question_digest"):
        assert workspace.asked == workspace.question_digest
    former, present = ReadContext(), ReadContext()
    with pytest.warns(FormerNameWarning, match=r"ReadContext.odd is deprecated: use add_warning"):
        former.odd("no title", "a.txt", "add one")
    present.add_warning("no title", "a.txt", "add one")
    assert list(former.warnings()) == list(present.warnings()) != []
    context = TransformContext(type_weighted=True)
    with pytest.warns(FormerNameWarning, match=r"TransformContext.weighed is deprecated: use type_weighted"):
        assert context.weighed
