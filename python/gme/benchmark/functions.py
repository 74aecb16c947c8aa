"""What questions compute: functions over the `source` of facts that return an answer and every fact they touched.

An argmax touches all competitors, a join touches the facts on both sides, so the facts are the complete evidence. Each
function takes the world and the numbers of what it is asked about, and returns None where there is nothing to ask: no
facts, no competitor, or a tie.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from .world import Fact, World


@dataclass(frozen=True)
class Evidence:
    """What a function found: the facts it touched, and the answer (several values joined by "; ")."""

    facts: Sequence[Fact]
    answer: str


Compute = Callable[..., "Evidence | None"]
"""Called with the world and the numbers of the arguments."""

Winner = tuple[list[Fact], int]
"""All competing facts, and the person who wins."""

Pick = Callable[[World, int], "Winner | None"]

_MOST_COMPETITORS = 400
"""Larger pools are not looked at: no budget holds them, and a large network has very large ones."""


# ---- facts of people ------------------------------------------------------------------------------------------------


def own(*parts: tuple[str, str]) -> Compute:
    """One person's facts of some kinds, each (kind, field to answer with); asked only if there is one of each kind."""

    def compute(world: World, person: int) -> Evidence | None:
        found = [world.facts(kind, person) for kind, _ in parts]
        if not all(found):
            return None
        values = [fact.source[field] for facts, (_, field) in zip(found, parts, strict=True) for fact in facts]
        return Evidence([fact for facts in found for fact in facts], _answer(values))

    return compute


def tenure_and_skills(world: World, person: int, employer: int) -> Evidence | None:
    """How long a person was at an employer, and the skills used there."""
    (job,) = _jobs_at(world, person, employer)
    return Evidence([job], f"{job.source['months']} months; {_answer(job.source['skills'])}")


def role_and_projects(world: World, person: int, employer: int) -> Evidence | None:
    """A person's title at an employer and the projects delivered there."""
    (job,) = _jobs_at(world, person, employer)
    projects = [fact for fact in world.facts("project", person) if fact.organisation == employer]
    if not projects:
        return None
    return Evidence([job, *projects], f"{job.source['title']}; {_answer(f.source['project'] for f in projects)}")


def overlap(kind: str, field: str) -> Compute:
    """Whether two people share a value of a field: the same employer, say."""

    def compute(world: World, person: int, other: int) -> Evidence | None:
        first, second = world.facts(kind, person), world.facts(kind, other)
        shared = {fact.source[field] for fact in first} & {fact.source[field] for fact in second}
        return Evidence(first + second, f"yes: {_answer(shared)}" if shared else "no")

    return compute


def more_certifications(world: World, person: int, other: int) -> Evidence | None:
    """Which of two people holds more certifications; both hold some."""
    found = {one: world.facts("certification", one) for one in (person, other)}
    winner = _highest({one: len(facts) for one, facts in found.items()})
    if winner is None or not all(found.values()):
        return None
    return Evidence(found[person] + found[other], world.person_name(winner))


def longer_job(world: World, person: int, other: int) -> Evidence | None:
    """Which of two people held a single position longer."""
    facts = each(world, "job", (person, other))
    winner = _highest({one: max(months(f) for f in facts if f.person == one) for one in (person, other)})
    return None if winner is None else Evidence(facts, world.person_name(winner))


def longest_job_of(world: World, person: int) -> Evidence | None:
    """The employer where a person stayed longest."""
    jobs = world.facts("job", person)
    position = _highest({index: months(job) for index, job in enumerate(jobs)})
    return None if position is None else Evidence(jobs, jobs[position].source["employer"])


# ---- facts at a place ------------------------------------------------------------------------------------------------


def at(kind: str, column: str, field: str) -> Compute:
    """All facts of a kind at an organisation, or about a certification; answers with the values of a field."""

    def compute(world: World, key: int) -> Evidence | None:
        facts = _pool(world, kind, column, key)
        return Evidence(facts, _answer(fact.source[field] for fact in facts)) if facts else None

    return compute


def roster(world: World, employer: int) -> Evidence | None:
    """Whom an employer's roster lists."""
    fact = world.roster(employer)
    return Evidence([fact], _answer(fact.source["employees"]))


def joined(kind: str, column: str, then: str, field: str, fewest: int = 2) -> Compute:
    """The facts at a place, then all facts of kind `then` of the people in them; at least `fewest` people."""

    def compute(world: World, key: int) -> Evidence | None:
        facts = _pool(world, kind, column, key)
        found = each(world, then, _people(facts))
        if len(_people(facts)) < fewest or not found:
            return None
        here = {fact.id for fact in facts}
        further = [fact for fact in found if fact.id not in here]
        return Evidence(facts + further, _answer(fact.source[field] for fact in further)) if further else None

    return compute


# ---- the one with the most -------------------------------------------------------------------------------------------


def best_fact(kind: str, column: str, score: Callable[[Fact], int | str], *, least: bool = False) -> Pick:
    """Whose fact of a pool scores highest (or least): the longest position, the latest degree, the largest team."""

    def pick(world: World, key: int) -> Winner | None:
        facts = _pool(world, kind, column, key)
        position = _highest({index: score(fact) for index, fact in enumerate(facts)}, least)
        return None if position is None else (facts, facts[position].person)

    return pick


def most_months(column: str) -> Pick:
    """Who has the most months in total over the jobs of a pool: its most experienced practitioner."""

    def pick(world: World, key: int) -> Winner | None:
        jobs = _pool(world, "job", column, key)
        totals: dict[int, int] = {}
        for job in jobs:
            totals[job.person] = totals.get(job.person, 0) + months(job)
        winner = _highest(totals)
        return None if winner is None else (jobs, winner)

    return pick


def who(pick: Pick) -> Compute:
    """The winner's name; every competitor is evidence."""

    def compute(world: World, *key: int) -> Evidence | None:
        found = pick(world, key[0])
        return found and Evidence(found[0], world.person_name(found[1]))

    return compute


def then(pick: Pick, kind: str, field: str) -> Compute:
    """The winner's facts of a kind, after the argmax that found the winner."""

    def compute(world: World, *key: int) -> Evidence | None:
        found = pick(world, key[0])
        if found is None:
            return None
        facts, winner = found
        further = world.facts(kind, winner)
        return Evidence(facts + further, _answer(fact.source[field] for fact in further)) if further else None

    return compute


def best_graduate(kind: str, score: Callable[[list[Fact]], int]) -> Compute:
    """Which graduate of a university scores highest on the facts of a kind, all graduates' facts being evidence."""

    def compute(world: World, university: int) -> Evidence | None:
        degrees = _pool(world, "education", "university", university)
        found = {person: world.facts(kind, person) for person in _people(degrees)}
        winner = _highest({person: score(facts) for person, facts in found.items()})
        if winner is None:
            return None
        return Evidence(degrees + [fact for facts in found.values() for fact in facts], world.person_name(winner))

    return compute


# ---- three transitions -----------------------------------------------------------------------------------------------


def largest_employer_of_graduates(world: World, university: int) -> Evidence | None:
    """University, its graduates, their employers, all employees: the employer that had the most."""
    degrees = _pool(world, "education", "university", university)
    employers = _organisations(each(world, "job", _people(degrees)))
    winner = _highest({employer: len(world.staff(employer)) for employer in employers})
    if winner is None:
        return None
    return Evidence(degrees + _everyone_at(world, employers), world.employer_name(winner))


def colleagues(kind: str, field: str) -> Compute:
    """Person, employers, everybody else who worked there, and what they studied or where else they worked."""

    def compute(world: World, person: int) -> Evidence | None:
        employers = _organisations(world.facts("job", person))
        jobs = _everyone_at(world, employers)
        others = [other for other in _people(jobs) if other != person]
        here = {fact.id for fact in jobs}
        further = [fact for fact in each(world, kind, others) if fact.id not in here]
        return Evidence(jobs + further, _answer(fact.source[field] for fact in further)) if further else None

    return compute


def fellow_graduates(world: World, employer: int) -> Evidence | None:
    """Employer, its employees, their universities, and who else graduated there."""
    jobs = _pool(world, "job", "employer", employer)
    universities = _organisations(each(world, "education", _people(jobs)))
    degrees = [fact for university in universities for fact in world.where("education", "university", university)]
    others = set(_people(degrees)) - set(_people(jobs))
    return Evidence(jobs + degrees, _answer(map(world.person_name, others))) if others else None


# ---- helpers ---------------------------------------------------------------------------------------------------------


def each(world: World, kind: str, persons: Iterable[int]) -> list[Fact]:
    """The facts of a kind of several people."""
    return [fact for person in persons for fact in world.facts(kind, person)]


def months(job: Fact) -> int:
    """How long a job lasted."""
    return int(job.source["months"])


def _pool(world: World, kind: str, column: str, key: int) -> list[Fact]:
    size = len(world.index(kind, column).get(key, ()))
    return world.where(kind, column, key) if size <= _MOST_COMPETITORS else []


def _people(facts: Iterable[Fact]) -> list[int]:
    """The people of some facts, each once, in order."""
    return list(dict.fromkeys(fact.person for fact in facts))


def _organisations(facts: Iterable[Fact]) -> list[int]:
    return list(dict.fromkeys(fact.organisation for fact in facts))


def _everyone_at(world: World, employers: Iterable[int]) -> list[Fact]:
    return [fact for employer in employers for fact in world.where("job", "employer", employer)]


def _jobs_at(world: World, person: int, employer: int) -> list[Fact]:
    return [fact for fact in world.facts("job", person) if fact.organisation == employer]


def _answer(values: Iterable[str]) -> str:
    return "; ".join(sorted(set(values)))


def _highest(scores: Mapping[int, int | str], least: bool = False) -> int | None:
    """The key with the highest score; None without a competitor, or when two share that score."""
    ranked = sorted(scores, key=lambda key: scores[key], reverse=not least)
    if len(ranked) < 2 or scores[ranked[0]] == scores[ranked[1]]:
        return None
    return ranked[0]
