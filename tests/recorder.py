"""A reporter that remembers what it is told."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from gme.reporting import Reporter
from gme.types import Progress


class Recorder(Reporter):
    """`notes`, `warnings` as (text, hint), and `steps`: by label its unit and every (done, total)."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.warnings: list[tuple[str, str | None]] = []
        self.steps: dict[str, tuple[str, list[tuple[int, int]]]] = {}

    def note(self, text: str) -> None:
        self.notes.append(text)

    def warn(self, text: str, hint: str | None = None) -> None:
        self.warnings.append((text, hint))

    @contextlib.contextmanager
    def progress(self, label: str, unit: str = "") -> Iterator[Progress]:
        reports: list[tuple[int, int]] = []
        self.steps[label] = (unit, reports)
        yield lambda done, total: reports.append((done, total))
