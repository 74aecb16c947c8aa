"""Options are checked once, named once, and say what is legal."""

from __future__ import annotations

import pytest

from gme.errors import GmeError
from gme.options import make
from gme.transforms import TRANSFORMS, HopOptions, WalkOptions


@pytest.mark.parametrize("method", TRANSFORMS)
def test_defaults_are_legal_and_nameless(method: str) -> None:
    options = TRANSFORMS[method].options()
    assert options.changed() == {}
    assert options.suffix() == options.command() == ""


def test_changed_options_make_the_name_and_the_command() -> None:
    options = WalkOptions(steps=3, alpha=0.5, exact=True)
    assert options.suffix() == "-steps3-alpha0.5-exact"
    assert options.command() == " --steps 3 --alpha 0.5 --exact"


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
