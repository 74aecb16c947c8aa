"""The synthetic benchmark of GME: a professional network with questions whose complete evidence is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any

import orjson

from ..command_line import command_line
from ..errors import GmeError, shorten, unknown
from ..reporting import SILENT, Reporter, takes_callbacks
from ..storage.atomic import atomic_group, atomic_write
from . import lines
from .careers import KINDS, PEOPLE
from .families import GROUPS
from .questions import Shortage, make
from .vocabulary import SPLITS
from .world import World

if TYPE_CHECKING:
    from ..types import Progress
    from ..workspace import Workspace

__all__ = ["QUESTIONS", "SPLITS", "Benchmark", "Shortage", "generate", "write_benchmark"]

QUESTIONS = 90
MOST_PEOPLE = 10_000_000
"""The most of one network, which is held in memory."""
MOST_QUESTIONS = 1_000_000
"""The most of one family."""
FILES = ("nodes.jsonl", "edges.jsonl", "questions.jsonl")


def refuse_foreign(workspace: Workspace) -> None:
    """Refuse to write the benchmark over files that hold something else, such as a user's corpus.

    Raises:
        GmeError: one of the three files exists, and ``gme generate`` has not made it.
    """
    for name in FILES:
        origin = workspace.origin(name) or {"command": ""}
        if workspace.path(name).is_file() and not origin["command"].startswith("gme generate"):
            raise GmeError(
                f"{workspace.path(name)} is no benchmark file, and gme generate would overwrite it",
                "use another folder with --workspace, or --force to overwrite",
            )


@dataclass(frozen=True)
class Benchmark:
    """A generated network and its questions. Nodes and edges are made on demand, so any size fits in memory."""

    world: World = field(repr=False)
    split: str
    seed: int
    questions: list[dict[str, Any]] = field(repr=False)
    shortages: list[Shortage]

    def nodes(self) -> Iterator[dict[str, Any]]:
        """The lines of `nodes.jsonl`, the same each time."""
        return lines.nodes(self.world)

    def edges(self) -> Iterator[dict[str, Any]]:
        """The lines of `edges.jsonl`, the same each time."""
        return lines.edges(self.world)

    @takes_callbacks
    def write(self, workspace: Workspace, reporter: Reporter = SILENT) -> dict[str, Any]:
        """Write the three files of a workspace and return the numbers of lines.

        All three appear together, so that a failure (a full disk, Ctrl-C) leaves the old files as they were. Arrays
        made from older files stay. Commands refuse them as stale.

        Returns:
            ``{"nodes": {"chunk:job": count, …}, "edges": {type: count}, "questions": {family: count}}``.
        """
        total = self.total()
        counts: dict[str, Counter[str]] = {"nodes": Counter(), "edges": Counter(), "questions": Counter()}
        done = 0

        def write(handle: IO[bytes], lines: Iterable[dict[str, Any]], name: str, key: Callable[[Any], str]) -> None:
            nonlocal done
            for line in lines:
                handle.write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))
                counts[name][key(line)] += 1
                done += 1
                if done % 1000 == 0:
                    progress(done, total)

        with workspace.exclusive_lock(), atomic_group(workspace.folder):
            with ExitStack() as stack:
                progress = stack.enter_context(reporter.progress("writing", "lines"))
                questions, edges, nodes = (
                    stack.enter_context(atomic_write(workspace.path(f"{name}.jsonl")))
                    for name in ("questions", "edges", "nodes")
                )
                write(nodes, self.nodes(), "nodes", lambda line: f"{line['type']}:{line['source']['kind']}")
                write(edges, self.edges(), "edges", lambda line: str(line["type"]))
                write(questions, self.questions, "questions", lambda line: str(line["family"]))
            given = {"split": self.split, "seed": self.seed, "people": self.world.people}
            command = command_line("gme generate", (), given)
            for name in FILES:
                workspace.record_origin(name, command)
        workspace.forget()
        return {name: dict(counter) for name, counter in counts.items()}

    def total(self) -> int:
        """The number of lines of the three files together."""
        world = self.world
        kinds = {kind: world.count(kind) for kind in KINDS}
        chunks = sum(kinds.values())
        employers, rosters = len(world.keys("job", "employer")), len(world.rostered)
        listed = kinds["job"] - (employers - rosters)
        organisations = employers + len(world.keys("education", "university"))
        nodes = 2 * world.people + chunks + organisations + 2 * rosters
        at_organisations = kinds["education"] + kinds["job"] + kinds["project"]
        edges = world.people + 2 * chunks + at_organisations + 3 * rosters + listed
        return nodes + edges + len(self.questions)


def check(split: str, seed: int, people: int | None, questions: int) -> None:
    """Refuse arguments that `generate` cannot use.

    Raises:
        GmeError: an unknown split, fewer than 2 people or more than `MOST_PEOPLE`, fewer than 1 question or more than
            `MOST_QUESTIONS`, a negative seed.
    """
    if split not in SPLITS:
        raise unknown("split", split, SPLITS)
    people = PEOPLE if people is None else people
    for name, value, low in (("people", people, 2), ("questions", questions, 1), ("seed", seed, 0)):
        if isinstance(value, bool) or not isinstance(value, int) or value < low:
            raise GmeError(
                f"{name} is {shorten(value)}, but must be a whole number of at least {low}", "gme generate --help"
            )
    for name, value, most in (("people", people, MOST_PEOPLE), ("questions", questions, MOST_QUESTIONS)):
        if value > most:
            raise GmeError(
                f"{name} is {shorten(value)}, but must be at most {most:,}",
                "the network and its questions are held in memory: generate several smaller benchmarks",
            )


def generate(
    split: str = "validation",
    seed: int = 42,
    people: int | None = None,
    questions: int = QUESTIONS,
    progress: Progress | None = None,
) -> Benchmark:
    """Generate the benchmark (GME: appendix A) without a language model. The same arguments give the same bytes.

    Args:
        split: development, validation or test. Their vocabularies, and so their node ids, are disjoint.
        seed: the random seed of all draws.
        people: the number of people. None means 133, which gives the published size. Organizations grow in proportion.
        questions: the number of questions of each of the eleven families. A family has fewer if the network is too
            small or answers are too large. `Benchmark.shortages` says why.
        progress: called from time to time with (done, total). It counts people and then questions.

    Raises:
        GmeError: the errors of `check`.

    Example:
        >>> import gme
        >>> made = gme.generate(people=20, questions=1)
        >>> len(list(made.nodes())), len(made.questions)
        (275, 11)
        >>> made.questions[0]["question"]
        'What accreditations does Liam Abdi have?'
    """
    check(split, seed, people, questions)
    people = PEOPLE if people is None else people
    total = people + len(GROUPS) * questions

    def report(done: int) -> None:
        if progress is not None:
            progress(done, total)

    world = World(split, seed, people, lambda done, _: report(done))
    made, shortages = make(world, seed, questions, lambda done, _: report(people + done))
    return Benchmark(world, split, seed, made, shortages)


@takes_callbacks
def write_benchmark(
    workspace: Workspace,
    *,
    split: str = "validation",
    seed: int = 42,
    people: int | None = None,
    questions: int = QUESTIONS,
    reporter: Reporter = SILENT,
) -> dict[str, Any]:
    """Generate the benchmark and write it into a workspace. Returns the counts of `Benchmark.write`.

    Example:
        >>> import gme
        >>> counts = gme.write_benchmark(gme.Workspace("benchmark"), people=20, questions=1)
        >>> counts["nodes"]["entity:person"]
        20
    """
    return generate(split, seed, people, questions).write(workspace, reporter)
