"""The only place that prints: data to stdout, and everything for people to stderr."""

from __future__ import annotations

import contextlib
import copy
import errno
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO, cast

import typer

from ..reporting import Reporter

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.table import Table

    from ..types import Progress
    from ..workspace import Workspace


WorkspaceOption = Annotated[
    Path, typer.Option("--workspace", "-w", envvar="GME_WORKSPACE", help="The folder that commands read and write.")
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only; no progress, no warnings.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
ThreadsOption = Annotated[
    int,
    # Bounded, because the system needs long to fail at many thousands of threads.
    typer.Option("--threads", help="Threads; 0 means all cores. Any number gives the same bytes.", min=0, max=1024),
]

_quiet = False
_hinted: set[str | None] = set()
_shown: Bar | None = None
_WIDEST = 10_000  # columns

# Characters that a terminal obeys (C0, DEL, C1), characters that reverse the direction of the text after them, and
# surrogates, which no stream can encode. Tabs and line breaks are handled where they matter.
_ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def open_workspace(folder: Path, quiet: bool) -> Workspace:
    """Open the workspace of a command, and remember for the rest of the command whether it is quiet."""
    from ..workspace import Workspace

    global _quiet  # a process runs one command, so a flag in every call would only add noise
    _quiet = quiet
    _hinted.clear()
    return Workspace(folder, reporter)


def plain(text: str) -> str:
    r"""Escape what a terminal would obey, as in ``\\x1b``. Ids, titles and texts may hold anything."""
    return _ACTING.sub(lambda match: repr(match[0])[1:-1] if ord(match[0]) < 256 else f"\\u{ord(match[0]):04x}", text)


def data(text: str) -> None:
    """Print a line of data to stdout."""
    print(plain(text), flush=True)


def data_json(value: Any) -> None:
    """Print JSON to stdout. What a terminal would obey is escaped as in JSON."""
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    print(_ACTING.sub(lambda match: f"\\u{ord(match[0]):04x}", text), flush=True)


def table(value: Table) -> None:
    """Print a table to stdout, in color on a terminal. In a pipe it is plain and as wide as it needs.

    Columns that must not wrap stay whole even on a narrow terminal. The table is then wider than the terminal.
    """
    from rich.console import Console

    shown = copy.copy(value)
    shown.columns, shown.rows = [column.copy() for column in value.columns], []
    for row, *cells in zip(value.rows, *(column.cells for column in value.columns), strict=True):
        inert = [plain(cell) if isinstance(cell, str) else cell for cell in cells]
        shown.add_row(*inert, style=row.style, end_section=row.end_section)
    console = Console(markup=False, highlight=False)
    needs = console.measure(shown, options=console.options.update(width=_WIDEST))
    console.width = max(console.width, needs.minimum) if sys.stdout.isatty() else needs.maximum
    console.print(shown)


def note(text: str) -> None:
    """Tell people what happened, on stderr."""
    if not _quiet:
        print(plain(text), file=sys.stderr, flush=True)


def warn(text: str, hint: str | None = None) -> None:
    """Warn on stderr. If several warnings share a hint, it is printed once."""
    if not _quiet:
        _report("warning", text, None if hint in _hinted else hint)
        _hinted.add(hint)


def error(text: str, hint: str | None = None) -> None:
    """Report an error on stderr, even if the command is quiet."""
    _report("error", text, hint)


def _report(kind: str, text: str, hint: str | None) -> None:
    print(f"{kind}: {plain(text.replace(chr(10), ' '))}", file=sys.stderr)
    if hint:
        print(f"hint: {plain(hint)}", file=sys.stderr, flush=True)


class Streams:
    """Standard output and error, made safe for commands. A command does the same work whether anybody reads its output.

    If nobody reads the output any more (`| head`), the rest is dropped silently. Another error in writing is kept in
    `failure` until the work is done. If standard error can't be written, messages for people are dropped.
    """

    failure: OSError | None = None

    def __enter__(self) -> Streams:
        self._before = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = (cast(TextIO, _Stream(stream, self)) for stream in self._before)
        self._output = cast(_Stream, sys.stdout)
        return self

    def __exit__(self, *raised: object) -> None:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(ValueError):  # already closed
                stream.flush()
        sys.stdout, sys.stderr = self._before

    def write_failed(self, stream: _Stream, error: OSError) -> None:
        """Called by a stream that can't be written."""
        if stream is self._output and error.errno not in (errno.EPIPE, errno.EBADF):
            self.failure = error


class _Stream:
    """A text stream that accepts everything, and writes nothing after its first error."""

    def __init__(self, stream: TextIO | None, streams: Streams) -> None:
        self._stream = stream  # None: closed before the command began (`>&-`)
        self._streams = streams

    def write(self, text: str) -> int:
        """Write the text if that is possible."""
        self._try(lambda stream: stream.write(text))
        return len(text)

    def flush(self) -> None:
        """Flush the stream if that is possible."""
        self._try(lambda stream: stream.flush())

    def isatty(self) -> bool:
        """Whether the stream is a terminal."""
        return self._stream is not None and self._stream.isatty()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def _try(self, act: Callable[[TextIO], object]) -> None:
        if self._stream is None:
            return
        try:
            act(self._stream)
        except OSError as error:
            self._streams.write_failed(self, error)
            # The rest of its buffer must not fail again when Python ends.
            with contextlib.suppress(OSError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())
            self._stream = None


@contextlib.contextmanager
def progress(description: str, unit: str = "") -> Iterator[Progress]:
    """A function to call with (done, total). After a second it draws a bar with rate and time left.

    Nothing is drawn if stderr is not a terminal or the command is quiet.
    """
    if _quiet or not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich import progress as bars
    from rich.console import Console

    bar = bars.Progress(
        bars.TextColumn("{task.description}"),
        bars.BarColumn(),
        bars.TaskProgressColumn(),
        bars.DownloadColumn() if unit == "bytes" else bars.MofNCompleteColumn(),
        bars.TransferSpeedColumn() if unit == "bytes" else bars.TextColumn(f"{{task.fields[rate]}} {unit}/s"),
        bars.TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task(description, total=None, rate="")
    opened = time.monotonic()
    began: float | None = None

    def report(done: int, total: int) -> None:
        nonlocal began
        now = time.monotonic()
        if began is None:  # other steps with bars of their own may have run before
            began = now
        if now - opened > 1:
            _show(bar)
            bar.update(task, completed=done, total=total, rate=f"{done / max(now - began, 1e-9):,.0f}")

    try:
        yield report
    finally:
        if _shown is bar:
            _show(None)


class Terminal(Reporter):
    """Shows a step to people: notes and warnings on stderr, and a bar while it works."""

    def note(self, text: str) -> None:
        """See `note`."""
        note(text)

    def warn(self, text: str, hint: str | None = None) -> None:
        """See `warn`."""
        warn(text, hint)

    def progress(self, label: str, unit: str = "") -> contextlib.AbstractContextManager[Progress]:
        """See `progress`."""
        return progress(label, unit)


reporter = Terminal()
"""The reporter for all steps of a command."""


def _show(bar: Bar | None) -> None:
    """Draw only this bar. An inner step takes the line from the step around it."""
    global _shown
    if _shown is not bar:
        if _shown is not None:
            _shown.stop()
        if bar is not None:
            bar.start()
        _shown = bar
