"""The examples in the docstrings of what `gme` offers run, and say what they show."""

from __future__ import annotations

import doctest
import inspect
import shutil
from pathlib import Path

import pytest

import gme

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
FUNCTIONS = [name for name in gme.__all__ if inspect.isfunction(getattr(gme, name))]


def examples(name: str) -> list[doctest.DocTest]:
    """The examples of a public name and, of a class, of its methods."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    return [found for found in finder.find(getattr(gme, name), name, globs={}) if found.examples]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_shows_an_example(name: str) -> None:
    assert examples(name)


@pytest.mark.parametrize("name", [name for name in gme.__all__ if examples(name)])
def test_an_example_says_what_it_shows(
    name: str, small_workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Examples of what works on a workspace open the folder `corpus`, which has vectors already."""
    shutil.copytree(small_workspace, tmp_path / "examples" / "corpus")
    monkeypatch.chdir(tmp_path / "examples")
    runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
    said: list[str] = []
    for example in examples(name):
        runner.run(example, out=said.append)
    assert runner.failures == 0, "".join(said)
    assert runner.tries > 0
