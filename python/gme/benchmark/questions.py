"""Chooses questions: the same number for every family, from each of its functions in turn, without repetitions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from .domains import LABELS, Function, phrase
from .draws import Draws, Permutation
from .families import FUNCTIONS, GROUPS
from .world import World

# The most gold chunks of a question: 40, so that the usual budget can find all of them, and twice as many for three
# hops.
MOST_GOLD = 40
MOST_GOLD_OF_FAMILY = {"hop3": 80}


@dataclass(frozen=True)
class Shortage:
    """A family that could not be filled."""

    family: str
    wanted: int
    found: int
    reason: str


def make(
    world: World, seed: int, wanted: int, progress: Callable[[int, int], None] | None = None
) -> tuple[list[dict[str, Any]], list[Shortage]]:
    """Make `wanted` questions of each family, in the order of families. Returns them and the families with too few.

    `progress` is called with (questions made, questions wanted).
    """
    questions: list[dict[str, Any]] = []
    shortages = []
    for number, family in enumerate(GROUPS):
        made = _Family(world, seed, family).fill(wanted)
        questions += made.questions
        if len(made.questions) < wanted:
            shortages.append(Shortage(family, wanted, len(made.questions), made.reason()))
        if progress is not None:
            progress((number + 1) * wanted, len(GROUPS) * wanted)
    return questions, shortages


class _Family:
    """The questions of one family while they are being chosen."""

    def __init__(self, world: World, seed: int, family: str) -> None:
        self.world, self.seed, self.family = world, seed, family
        self.limit = MOST_GOLD_OF_FAMILY.get(family, MOST_GOLD)
        self.questions: list[dict[str, Any]] = []
        self._texts: set[str] = set()
        self._asked: set[tuple[str, tuple[int, ...]]] = set()
        self._unanswerable = self._too_large = 0

    def fill(self, wanted: int) -> _Family:
        """Take a question of each function in turn until there are enough. Reserve functions come last."""
        for reserve in (False, True):
            streams = [self._stream(function) for function in FUNCTIONS if self._belongs(function, reserve)]
            while streams and len(self.questions) < wanted:
                for stream in list(streams):
                    question = next(stream, None)
                    if question is None:
                        streams.remove(stream)
                    elif len(self.questions) < wanted:
                        self.questions.append(question)
        for number, question in enumerate(self.questions):
            question["id"] = f"question:{self.family}:{number}"
        return self

    def reason(self) -> str:
        """The reason why there are no more questions."""
        tried = len(self._asked) + self._unanswerable + self._too_large
        return (
            f"all {tried:,} cases tried: {self._unanswerable:,} have no (or no single) answer, "
            f"{self._too_large:,} have more than {self.limit} gold chunks"
        )

    def _belongs(self, function: Function, reserve: bool) -> bool:
        return function.family == self.family and function.reserve == reserve

    def _stream(self, function: Function) -> Iterator[dict[str, Any]]:
        """The questions of one function, in an order drawn from the seed."""
        size = function.domain.size(self.world)
        order = Permutation(size, self.seed, "questions", function.name, *function.domain.names)
        for place in range(size):
            case = function.domain.case(self.world, order[place])
            if case is None or (function.name, case) in self._asked:
                continue
            evidence = function.compute(self.world, *case)
            if evidence is None:
                self._unanswerable += 1
                continue
            gold = sorted({fact.id for fact in evidence.facts})
            if len(gold) > self.limit:
                self._too_large += 1
                continue
            self._asked.add((function.name, case))
            yield self._question(function, case, gold, evidence.answer)

    def _question(self, function: Function, case: tuple[int, ...], gold: list[str], answer: str) -> dict[str, Any]:
        arguments = {
            name: LABELS[name](self.world, value)
            for name, value in zip(function.domain.names, case, strict=True)
            if name
        }
        form = Draws(self.seed, function.name, *arguments.values()).choice(function.forms)
        return {
            "id": "",
            "question": form.format(**{name: phrase(name, label) for name, label in arguments.items()}),
            "gold": gold,
            "answer": answer,
            "family": self.family,
            "group": GROUPS[self.family],
            "hops": function.hops,
            "source": {"function": function.name, "arguments": arguments},
        }
