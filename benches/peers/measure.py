"""Run a cell in a process of its own and measure it there."""

from __future__ import annotations

import contextlib
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .cells import Cell, Outcome, Work
from .inputs import Inputs

LONG = 5.0
"""Seconds from which the first run is one of those that count: caches no longer matter."""


@dataclass(frozen=True)
class Repeats:
    """How often to run a cell."""

    runs: int = 5
    least: int = 3
    patience: float = 15.0
    """No more than `least` runs once they took this many seconds, and no more at all after three times as many."""
    limit: float = 600.0
    """Seconds after which a cell is given up."""


@dataclass(frozen=True)
class Measured:
    """What one cell's process found out."""

    seconds: list[float]
    processor_seconds: list[float]
    before_mb: float
    peak_mb: float
    passes: int = 1
    note: str = ""

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def processors(self) -> float:
        """How many processors were busy at a time, on average."""
        return sum(self.processor_seconds) / sum(self.seconds)

    @property
    def extra_mb(self) -> float:
        """The most memory held beyond what had been loaded: scratch and result."""
        return max(0.0, self.peak_mb - self.before_mb)


@dataclass(frozen=True)
class Failed:
    """Why there are no figures."""

    reason: str


def run_apart(work: Work, cell: Cell, inputs: Inputs, repeats: Repeats) -> tuple[Measured, Outcome | None] | Failed:
    """Start this program anew for one cell; returns the figures and the outcome to compare."""
    with tempfile.TemporaryDirectory() as temporary:
        answer = Path(temporary)
        command = [sys.executable, "-m", "peers", "--cell", work.key, cell.who, str(inputs.folder), str(answer)]
        command += ["--threads-of-cell", str(inputs.threads), "--repeats", str(repeats.runs)]
        command += ["--least", str(repeats.least), "--patience", str(repeats.patience)]
        with (answer / "log").open("w") as log:
            try:
                done = subprocess.run(command, stdout=log, stderr=log, timeout=repeats.limit, check=False)
            except subprocess.TimeoutExpired:
                return Failed(f"not done after {repeats.limit:.0f} s")
        if done.returncode != 0:
            lines = (answer / "log").read_text(errors="replace").strip().splitlines()
            return Failed(lines[-1] if lines else f"exit status {done.returncode}")
        outcome = np.load(answer / "outcome.npy") if (answer / "outcome.npy").exists() else None
        return Measured(**json.loads((answer / "measured.json").read_text())), outcome


def run_here(cell: Cell, inputs: Inputs, answer: Path, repeats: Repeats) -> None:
    """The other side of `run_apart`: prepare, time, and write what was found into the folder `answer`."""
    task = cell.prepare(inputs)
    before = _start_peak()
    result, first = _timed(task.run)
    peak = _memory("VmHWM")
    passes, note = task.passes(result), task.note(result)
    if task.outcome is not None:
        np.save(answer / "outcome.npy", task.outcome(result))
    del result  # two results at a time would be more memory than the work needs
    runs = [first] if first[0] >= LONG else []  # else it has warmed the caches
    while not _enough([seconds for seconds, _ in runs], repeats):
        runs.append(_timed(task.run)[1])
    seconds, processor_seconds = (list(column) for column in zip(*runs, strict=True))
    measured = Measured(seconds, processor_seconds, before, peak, passes, note)
    (answer / "measured.json").write_text(json.dumps(asdict(measured)))


def _enough(seconds: list[float], repeats: Repeats) -> bool:
    if len(seconds) < min(repeats.least, repeats.runs):
        return sum(seconds) >= 3 * repeats.patience
    return len(seconds) >= repeats.runs or sum(seconds) >= repeats.patience


def _timed(run: Callable[[], Any]) -> tuple[Any, tuple[float, float]]:
    """What `run` returns, and how many seconds it took: on the clock, and of all threads' processor time together."""
    started, worked = time.perf_counter(), time.process_time()
    result = run()
    return result, (time.perf_counter() - started, time.process_time() - worked)


def _start_peak() -> float:
    """Forget the highest memory use so far, and return the present one, in MB."""
    with contextlib.suppress(OSError):  # where that is forbidden, preparing counts as well
        Path("/proc/self/clear_refs").write_text("5")
    return _memory("VmRSS")


def _memory(key: str) -> float:
    """A line of this process's status in MB. Not `getrusage`, whose peak a child inherits from its parent."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition(f"{key}:")[2].split()[0]) / 1024


def copy_bandwidth(size_bytes: int, threads: int = 2, tries: int = 9) -> float:
    """Bytes a second, read and written, of the fastest of several copies of an array of this size.

    Every thread copies a part of its own; numpy gives the lock back meanwhile. Lines that the processor fetches only to
    overwrite them are not counted.
    """
    source = np.ones(size_bytes // 4, dtype=np.float32)
    target = np.zeros_like(source)
    parts = list(zip(np.array_split(target, threads), np.array_split(source, threads), strict=True))
    with ThreadPoolExecutor(threads) as pool:
        best = min(_timed(lambda: list(pool.map(lambda part: np.copyto(*part), parts)))[1][0] for _ in range(tries))
    return 2 * source.nbytes / best
