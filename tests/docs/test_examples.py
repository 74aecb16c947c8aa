"""The examples in the docstrings of what `gme` offers run, and say what they show."""

from __future__ import annotations

import doctest
import inspect
import shutil
from pathlib import Path

import pytest

import gme

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
GRID = """
[[transform]]
method = "walk"
steps = [2, 3]

[[strategy]]
strategy = ["fused"]
"""

FUNCTIONS = [name for name in gme.__all__ if inspect.isfunction(getattr(gme, name))]


def examples(name: str) -> list[doctest.DocTest]:
    """The examples of a public name and, of a class, of its methods."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    return [found for found in finder.find(getattr(gme, name), name, globs={}) if found.examples]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_shows_an_example(name: str) -> None:
    assert examples(name)


SHOWN = [
    pytest.param(name, marks=[pytest.mark.slow] if name == "run_demo" else []) for name in gme.__all__ if examples(name)
]


@pytest.mark.parametrize("name", SHOWN)
def test_an_example_says_what_it_shows(
    name: str, small_workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where they run lie a workspace with vectors, a folder of notes and a grid: `corpus`, `notes`, `grid.toml`."""
    folder = tmp_path / "examples"
    shutil.copytree(small_workspace, folder / "corpus")
    (folder / "notes").mkdir()
    (folder / "notes" / "oslo.md").write_text("# Oslo\nA city by the sea.\n", encoding="utf-8")
    (folder / "grid.toml").write_text(GRID, encoding="utf-8")
    monkeypatch.chdir(folder)
    runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
    said: list[str] = []
    for example in examples(name):
        runner.run(example, out=said.append)
    assert runner.failures == 0, "".join(said)
    assert runner.tries > 0
