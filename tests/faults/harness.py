"""Run a scenario with a fault at every step, and look at what is left: at once, and after a re-run."""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import pkgutil
import shutil
import traceback
from dataclasses import dataclass, field
from pathlib import Path

from .injection import FAULTS, Fault, Injector
from .scenarios import SCENARIOS, Scenario, arguments, write_inputs
from .states import State, leftovers, problems, read_state


@dataclass
class Outcome:
    """Counts of one scenario: steps by kind in an undisturbed run, faults injected by kind, and what went wrong."""

    name: str
    steps: dict[str, int]
    injected: dict[str, int] = field(default_factory=dict)
    finished: int = 0
    """So many of the faults came so late, or did so little, that the command still finished."""
    failures: list[str] = field(default_factory=list)


def preload() -> None:
    """Import everything once, so that a forked process need not; nothing here starts threads."""
    import gme
    from gme.cli import build

    for module in pkgutil.walk_packages(gme.__path__, "gme."):
        importlib.import_module(module.name)
    for other in ("rich.console", "rich.progress", "rich.table", "resvg_py"):
        with contextlib.suppress(ImportError):
            importlib.import_module(other)
    with contextlib.redirect_stdout(io.StringIO()):  # what the command line loads when it first parses one
        build("transform")(["transform", "--list", "--quiet"], standalone_mode=False)


def run(words: list[str], injector: Injector | None, log: Path, counts: Path | None = None) -> int:
    """Run ``gme WORDS`` in a forked process; returns its exit code, or minus the signal that ended it."""
    child = os.fork()
    if child == 0:
        code = 99
        try:
            sink = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(sink, 1)
            os.dup2(sink, 2)
            if injector is not None:
                injector.install()
            code = _command_line(words)
            if counts is not None and injector is not None:
                counts.write_text(json.dumps(injector.counts))
        except BaseException:
            os.write(2, traceback.format_exc().encode())
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _command_line(words: list[str]) -> int:
    """As the ``gme`` script does."""
    import sys

    from gme.cli import main

    sys.argv = ["gme", *words]
    try:
        main()
    except SystemExit as end:
        return int(end.code or 0)
    return 0


class Trial:
    """One scenario, set up: its workspace as it is before the command, and what a complete run makes of it."""

    def __init__(self, name: str, folder: Path) -> None:
        self.scenario: Scenario = SCENARIOS[name]
        self.folder = folder
        self.inputs, self.base, self.workspace = folder / "inputs", folder / "base", folder / "workspace"
        self.log = folder / "log"
        self.inputs.mkdir()
        self.base.mkdir()
        write_inputs(self.inputs)
        for command in self.scenario.before:
            self._must(command, self.base)
        self.before: State = read_state(self.base)
        self._begin()
        counts = folder / "counts.json"
        self._must(self.scenario.command, self.workspace, Injector(self.workspace), counts)
        self.outcome = Outcome(name, json.loads(counts.read_text()))
        self.complete: State = read_state(self.workspace)
        assert self.complete != self.before, "the command writes something"
        assert leftovers(self.workspace) == []

    def _must(
        self, command: str, workspace: Path, injector: Injector | None = None, counts: Path | None = None
    ) -> None:
        code = run(arguments(command, self.inputs, workspace), injector, self.log, counts)
        if code != 0:
            raise AssertionError(f"gme {command}: exit code {code}\n{self.log.read_text()}")

    def _begin(self) -> None:
        shutil.rmtree(self.workspace, ignore_errors=True)
        shutil.copytree(self.base, self.workspace)

    def points(self, fault: Fault, sample: int | None) -> list[int]:
        """The steps to try: all, or so many spread evenly, from the first to the last; a single one lies in between."""
        kinds = self.outcome.steps.items()
        total = sum(count for kind, count in kinds if fault.steps is None or kind in fault.steps)
        if sample is not None and self.scenario.slow:
            sample = 1
        wanted = min(total, self.scenario.points, total if sample is None else sample)
        if wanted == 1:
            return [total // 2]
        return sorted({round(number * (total - 1) / (wanted - 1)) for number in range(wanted)})

    def inject(self, kind: str, at: int) -> None:
        """One fault, the checks, a re-run, the checks again."""
        fault = FAULTS[kind]
        self._begin()
        words = arguments(self.scenario.command, self.inputs, self.workspace)
        code = run(words, Injector(self.workspace, fault, at), self.log)
        self.outcome.injected[kind] = self.outcome.injected.get(kind, 0) + 1
        self.outcome.finished += code == 0
        found = [] if code in fault.codes else [f"exit code {code}: {self.log.read_text()[-2000:]}"]
        if "Traceback" in self.log.read_text():
            found.append(f"a traceback: {self.log.read_text()[-2000:]}")
        if fault.clean and leftovers(self.workspace):
            found.append(f"leftovers: {leftovers(self.workspace)}")
        found += self._problems()
        code = run(words, None, self.log)
        if code != 0:
            found.append(f"the re-run ends with {code}: {self.log.read_text()[-2000:]}")
        elif read_state(self.workspace) != self.complete:
            now = read_state(self.workspace)
            changed = [name for name in {*now, *self.complete} if now.get(name) != self.complete.get(name)]
            found.append(f"the re-run made something else: {changed}")
        if leftovers(self.workspace):
            found.append(f"leftovers after the re-run: {leftovers(self.workspace)}")
        self.outcome.failures += [f"{kind} at step {at}: {text}" for text in found]

    def _problems(self) -> list[str]:
        """What is wrong once the workspace has been opened: that finishes a commit which was cut short."""
        from gme.workspace import Workspace

        for folder in (self.workspace, *self.workspace.iterdir()) if self.workspace.is_dir() else ():
            if folder.is_dir():
                Workspace(folder)
        try:
            return problems(self.workspace, self.before, self.complete)
        except (AssertionError, ValueError, OSError) as error:
            return [f"half-written: {error}"]


def scratch() -> Path | None:
    """A folder in memory, where there is one: what is killed here are processes and not machines."""
    memory = Path("/dev/shm")
    return memory if memory.is_dir() and os.access(memory, os.W_OK) else None


def try_scenario(name: str, folder: Path, sample: int | None = None) -> Outcome:
    """All faults of one scenario, at every step or at a sample of `sample` steps a kind of fault."""
    trial = Trial(name, folder)
    for kind, fault in FAULTS.items():
        for at in trial.points(fault, sample):
            trial.inject(kind, at)
    return trial.outcome
