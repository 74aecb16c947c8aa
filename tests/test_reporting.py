"""One object for notes, warnings and progress; and the callbacks of 0.1 in its place, for one release."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

import gme
from gme.reporting import SILENT, takes_callbacks
from gme.types import Progress
from recorder import Recorder


def test_silence_takes_everything() -> None:
    SILENT.note("a")
    SILENT.warn("b", "c")
    with SILENT.progress("d", "rows") as progress:
        progress(1, 2)


def test_a_labeled_reporter_renames_progress_alone() -> None:
    recorder = Recorder()
    step = recorder.labeled("3/7 walk")
    step.note("a")
    step.warn("b", "c")
    with step.progress("transform walk", "rows") as progress:
        progress(1, 2)
    assert recorder.notes == ["a"]
    assert recorder.warnings == [("b", "c")]
    assert recorder.steps == {"3/7 walk": ("rows", [(1, 2)])}


def test_a_workspace_and_a_step_tell_what_they_do(small_workspace: Path) -> None:
    of_files, of_step = Recorder(), Recorder()
    gme.transform_workspace(gme.Workspace(small_workspace, of_files), "hop1", reporter=of_step)
    assert set(of_step.steps) == {"transform hop1"}
    assert of_step.steps["transform hop1"][0] == "rows"
    assert {"read nodes.jsonl", "read edges.jsonl", "build graph"} <= set(of_files.steps)


def test_callbacks_of_functions_still_work_with_a_warning(small_workspace: Path) -> None:
    seen: list[tuple[int, int]] = []
    with pytest.warns(DeprecationWarning, match="progress= of transform_workspace is deprecated: use reporter="):
        gme.transform_workspace(  # type: ignore[call-arg]
            gme.Workspace(small_workspace), "hop1", progress=lambda done, total: seen.append((done, total))
        )
    assert seen[-1] == (6, 6)


def test_callbacks_of_settings_still_work_with_a_warning() -> None:
    told: list[str] = []
    with pytest.warns(DeprecationWarning, match="note=, warn= of RetrievalSetting is deprecated"):
        setting = gme.RetrievalSetting(  # type: ignore[call-arg]
            note=told.append, warn=lambda text, hint: told.append(f"{text}: {hint}")
        )
    setting.reporter.note("a")
    setting.reporter.warn("b", "c")
    assert told == ["a", "b: c"]
    assert setting == gme.RetrievalSetting(reporter=setting.reporter)


def test_a_watched_workspace_still_works_with_a_warning(small_workspace: Path) -> None:
    begun: list[tuple[str, str]] = []

    @contextlib.contextmanager
    def watch(what: str, unit: str) -> Iterator[Progress]:
        begun.append((what, unit))
        yield lambda done, total: None

    with pytest.warns(DeprecationWarning, match="watch= of Folder is deprecated"):
        workspace = gme.Workspace(small_workspace, watch=watch)  # type: ignore[call-arg]
    assert len(workspace.nodes) == 6
    assert begun == [("read nodes.jsonl", "bytes")]


def test_a_callback_that_is_none_is_silent() -> None:
    @takes_callbacks
    def step(*, reporter: gme.RetrievalSetting | object = SILENT) -> object:
        return reporter

    with pytest.warns(DeprecationWarning, match="progress= of .*step is deprecated"):
        reporter = step(progress=None)  # type: ignore[call-arg]
    with reporter.progress("a") as progress:  # type: ignore[attr-defined]
        progress(1, 2)
