"""Options are checked once, named once, and say what is legal."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_type_hints

import numpy as np
import pytest

import gme
from gme.builders.entities import EntityOptions
from gme.builders.registry import EDGE_BUILDERS
from gme.command_line import command_line
from gme.diagnostics.check import CheckOptions
from gme.embedders.options import EmbedOptions
from gme.errors import GmeError, OptionError
from gme.evaluation.significance import EvaluationOptions
from gme.options import make
from gme.readers.registry import READERS
from gme.retrieval.batch import strategy_options
from gme.retrieval.strategies import STRATEGIES
from gme.transforms.gradient import GradientOptions
from gme.transforms.neighbors import HopOptions
from gme.transforms.registry import TRANSFORMS
from gme.transforms.walks import WalkOptions


@pytest.mark.parametrize("method", TRANSFORMS)
def test_defaults_are_legal_and_nameless(method: str) -> None:
    options = TRANSFORMS[method].options()
    assert options.changed() == {}
    assert options.suffix() == ""


def test_changed_options_make_the_name_and_the_command() -> None:
    options = WalkOptions(steps=3, alpha=0.5, exact=True)
    assert options.suffix() == "-steps3-alpha0.5-exact"
    assert command_line("gme", (), options.changed()) == "gme --steps 3 --alpha 0.5 --exact"


@pytest.mark.parametrize(
    ("bad", "message", "hint"),
    [
        ({"share": 0.0}, "--share is 0.0, but must be at least 1e-12 and at most 1", "default: 0.2"),
        ({"share": 1.5}, "--share is 1.5, but must be at least 1e-12 and at most 1", "default: 0.2"),
        ({"alpha": float("nan")}, "--alpha is nan, but must be a finite number", "default: 0.2"),
        ({"min_neighbors": 0}, "--min-neighbors is 0, but must be at least 1", "default: 2"),
        ({"pick": "lest"}, "unknown value for --pick: 'lest'", "did you mean 'least'? known: least, most"),
        (
            {"shre": 0.5},
            "unknown option 'shre' for hop1",
            "did you mean 'share'? known: alpha, min_neighbors, pick, share",
        ),
    ],
)
def test_illegal_values(bad: dict[str, object], message: str, hint: str) -> None:
    with pytest.raises(GmeError) as caught:
        make(HopOptions, bad, "hop1")
    assert (caught.value.message, caught.value.hint) == (message, hint)


CLASSES: set[type[Any]] = {
    *(entry.options for registry in (TRANSFORMS, STRATEGIES, READERS, EDGE_BUILDERS) for entry in registry.values()),
    *(CheckOptions, EmbedOptions, EvaluationOptions),
}


def _fields(kind: type) -> Iterator[tuple[type[Any], str]]:
    """All options of this type, of all classes."""
    for options in sorted(CLASSES, key=lambda each: each.__name__):
        for name, hint in get_type_hints(options).items():
            if name in options.__dataclass_fields__ and kind in (hint, *get_args(hint)):
                yield options, name


@pytest.mark.parametrize(
    ("kind", "bad"),
    [
        (bool, [1, 0.0, "yes", np.int64(1)]),
        (int, [2.5, 2.0, "2", True, [2], np.float64(2), 2**64, 10**23, -(10**23), 10**5000]),
        (float, [True, [0.5], object(), 10**400, np.bool_(True), np.float32("nan"), np.array([0.5])]),
        (str, [["a"], b"a", object(), True]),
        (Path, [2.5, ["a"], b"a", True]),
    ],
)
def test_a_value_of_another_type_or_beyond_64_bits_is_refused_by_name(kind: type, bad: list[Any]) -> None:
    fields = list(_fields(kind))
    assert fields
    for options, name in fields:
        for value in bad:
            with pytest.raises(GmeError, match=f"--{name.replace('_', '-')} is .*, but must be "):
                options(**{name: value})


def test_what_a_type_error_says() -> None:
    cases: list[tuple[str, Any, str]] = [
        ("steps", 2.5, "--steps is 2.5, but must be a whole number"),
        ("steps", 10**23, f"--steps is {10**23}, but must be at most {2**63 - 1}"),
        ("step", "0.5", "--step is '0.5', but must be a number"),
        ("curve", 1, "--curve is 1, but must be text"),
    ]
    for name, value, message in cases:
        with pytest.raises(GmeError) as caught:
            make(GradientOptions, {name: value}, "gradient")
        assert caught.value.message == message
        assert caught.value.hint == f"default: {getattr(GradientOptions(), name)}"


@pytest.mark.parametrize("strategy", ["fused", "envelope"])
@pytest.mark.parametrize(
    "bad", [{"mix": True}, {"mix": [0.5]}, {"schedule": 5}, {"schedule": "original:" + "9" * 5000}]
)
def test_strategies_refuse_other_types_too(strategy: str, bad: dict[str, Any]) -> None:
    with pytest.raises(GmeError):
        strategy_options(strategy, bad)


def test_scalars_of_numpy_and_whole_numbers_are_numbers() -> None:
    """They name a collection and stand in its manifest as Python's own do."""
    third = HopOptions(alpha=np.float64(1 / 3), min_neighbors=np.int64(3))  # type: ignore[arg-type]
    assert (
        third.suffix() == HopOptions(alpha=1 / 3, min_neighbors=3).suffix() == "-alpha0.3333333333333333-min-neighbors3"
    )
    assert command_line("gme", (), third.changed()) == "gme --alpha 0.3333333333333333 --min-neighbors 3"
    assert json.loads(json.dumps(third.as_dict())) == third.as_dict()
    assert WalkOptions(alpha=np.float32(0.5), exact=np.bool_(True)).suffix() == "-alpha0.5-exact"  # type: ignore[arg-type]
    assert type(HopOptions(alpha=1).alpha) is type(HopOptions(alpha=np.int8(1)).alpha) is float  # type: ignore[arg-type]
    assert EntityOptions(entities="names.txt").entities == Path("names.txt")  # type: ignore[arg-type]


def test_the_largest_numbers_do_no_harm() -> None:
    """What no kernel counts up to may be as large as the options take."""
    graph, x = gme.build_graph(["a", "b", "c"], [("a", "b"), ("b", "c")]), np.eye(3, dtype=np.float32)
    for method, name in [
        ("hop1", "min_neighbors"),
        ("hop2", "max_hub_degree"),
        ("convex", "max_sweeps"),
        ("shared", "max_hub_degree"),
        ("ppr", "max_iterations"),
    ]:
        most: dict[str, Any] = {name: 2**63 - 1}
        gme.transform(method, graph, x, **most)
    for strategy, name in [("spread", "hops"), ("spread", "seeds"), ("pagerank", "starts"), ("envelope", "seeds")]:
        most = {name: 2**63 - 1}
        gme.retrieve(strategy, x, x, x, graph=graph, **most)


@pytest.mark.parametrize("given", [{"walks": 500}, {"seed": 7}])
def test_options_of_samples_are_refused_where_there_are_none(given: dict[str, Any]) -> None:
    with pytest.raises(GmeError, match=f"--{next(iter(given))} has no effect with --exact"):
        WalkOptions(exact=True, **given)
    WalkOptions(**given)
    WalkOptions(exact=True, walks=100, seed=42, no_return=True)


def test_an_error_knows_its_option() -> None:
    """So that nobody has to look for a name in its text."""
    with pytest.raises(OptionError) as caught:
        HopOptions(min_neighbors=0)
    assert caught.value.option == "min_neighbors"
