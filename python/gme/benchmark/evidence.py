"""What question functions share: the type of their evidence, and ways to collect and compare facts.

A function reads the `source` of facts, never a text. It returns an answer with every fact it used. An argmax uses all
competitors, and a join uses the facts on both sides, so the facts are the complete evidence. A function returns None if
there is nothing to ask: no facts, no competitor, or a tie.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from .world import Fact, World


@dataclass(frozen=True)
class Evidence:
    """The result of a function: the facts it used, and the answer (several values joined by "; ")."""

    facts: Sequence[Fact]
    answer: str


Compute = Callable[..., "Evidence | None"]
"""A question function. It is called with the world and the numbers of its arguments."""

_LARGEST_POOL = 400
"""Larger pools are not used. No budget is large enough for them, and a large network has very large ones."""


def pool(world: World, kind: str, column: str, key: int) -> list[Fact]:
    """The facts of a kind about one thing. Empty if there are too many to ask about."""
    size = len(world.index(kind, column).get(key, ()))
    return world.where(kind, column, key) if size <= _LARGEST_POOL else []


def facts_of(world: World, kind: str, persons: Iterable[int]) -> list[Fact]:
    """The facts of a kind of several people."""
    return [fact for person in persons for fact in world.facts(kind, person)]


def people(facts: Iterable[Fact]) -> list[int]:
    """The people of some facts, each once, in order."""
    return list(dict.fromkeys(fact.person for fact in facts))


def organisations(facts: Iterable[Fact]) -> list[int]:
    """The organisations of some facts, each once, in order."""
    return list(dict.fromkeys(fact.organisation for fact in facts))


def without(facts: Iterable[Fact], others: Iterable[Fact]) -> list[Fact]:
    """The facts that are not among the others."""
    known = {fact.id for fact in others}
    return [fact for fact in facts if fact.id not in known]


def months(job: Fact) -> int:
    """The number of months that a job lasted."""
    return int(job.source["months"])


def listed(values: Iterable[str]) -> str:
    """Several values as one answer, each once, in code point order."""
    return "; ".join(sorted(set(values)))


def field(facts: Iterable[Fact], name: str) -> str:
    """The answer that lists a field of some facts."""
    return listed(fact.source[name] for fact in facts)


def highest(scores: Mapping[int, int | str], *, least: bool = False) -> int | None:
    """The key with the highest (or least) score. None without a competitor, or if two share that score."""
    ranked = sorted(scores, key=lambda key: scores[key], reverse=not least)
    if len(ranked) < 2 or scores[ranked[0]] == scores[ranked[1]]:
        return None
    return ranked[0]
