"""Schedules: which stages a search goes through and how many nodes each returns, as data."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import GmeError, shorten, unknown

STAGE_KINDS = ("original", "modified", "fused", "shifted")
_NEEDS_PREVIOUS = ("fused", "shifted")
NEEDS_MODIFIED = ("modified", "fused")
_DIGITS = 18  # of a size: as many as a 64-bit number holds in any case
_EXAMPLE = "a schedule looks like original:6,fused:6,shifted:14,shifted:14"


@dataclass(frozen=True)
class Stage:
    """One stage: its kind and how many nodes it returns."""

    kind: str
    size: int


@dataclass(frozen=True)
class Schedule:
    """Stages in order. The first must be a plain search: `fused` and `shifted` start from earlier results."""

    stages: tuple[Stage, ...]

    @property
    def total(self) -> int:
        """How many nodes all stages return together."""
        return sum(stage.size for stage in self.stages)

    @property
    def needs_modified(self) -> bool:
        """Whether any stage looks at the modified collection."""
        return any(stage.kind in NEEDS_MODIFIED for stage in self.stages)

    @property
    def compares_question(self) -> bool:
        """Whether any stage compares the question itself with the modified collection."""
        return any(stage.kind == "modified" for stage in self.stages)

    def __str__(self) -> str:
        return ",".join(f"{stage.kind}:{stage.size}" for stage in self.stages)

    def scaled(self, total: int) -> Schedule:
        """The same proportions for another budget.

        Sizes go by largest remainder, ties to the earlier stage; the first stage keeps at least one node, and stages
        left with none are dropped.
        """
        if total < 1:
            raise GmeError(f"--budget is {total}, but must be at least 1")
        whole = self.total
        sizes = [stage.size * total // whole for stage in self.stages]
        by_remainder = sorted(range(len(sizes)), key=lambda i: (-(self.stages[i].size * total % whole), i))
        for i in by_remainder[: total - sum(sizes)]:
            sizes[i] += 1
        if sizes[0] == 0:
            sizes[sizes.index(max(sizes))] -= 1
            sizes[0] = 1
        pairs = zip(self.stages, sizes, strict=True)
        return Schedule(tuple(Stage(stage.kind, size) for stage, size in pairs if size))


def parse_schedule(text: str) -> Schedule:
    """Read a schedule such as ``original:6,fused:6,shifted:14,shifted:14``.

    Raises:
        GmeError: no stage, an unknown kind, a size that is not a whole number of at least 1, or a first stage that
            needs earlier results.
    """
    stages = []
    for entry in text.split(","):
        kind, colon, size = (part.strip() for part in entry.partition(":"))
        if not colon:
            raise GmeError(f"--schedule: {shorten(entry.strip())} is not of the form kind:size", _EXAMPLE)
        if kind not in STAGE_KINDS:
            raise unknown("stage kind", kind, STAGE_KINDS, where=f" in --schedule {shorten(text)}")
        if not (size.isascii() and size.isdigit() and size.strip("0")):
            raise GmeError(
                f"--schedule: the size of {kind!r} is {shorten(size)}, not a whole number of at least 1", _EXAMPLE
            )
        if len(size) > _DIGITS:
            raise GmeError(f"--schedule: the size of {kind!r} is {shorten(size)}, more than {_DIGITS} digits", _EXAMPLE)
        stages.append(Stage(kind, int(size)))
    if stages[0].kind in _NEEDS_PREVIOUS:
        raise GmeError(
            f"--schedule starts with {stages[0].kind!r}, which needs the results of an earlier stage",
            "start with original:N or modified:N",
        )
    return Schedule(tuple(stages))
