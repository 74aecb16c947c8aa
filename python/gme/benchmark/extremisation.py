"""Extremization families: questions about the one with the most or the least. Every competitor is evidence."""

from __future__ import annotations

from collections.abc import Callable

from .domains import (
    EMPLOYER,
    PERSON,
    PROJECT_SKILL,
    SECTOR,
    SKILL,
    SKILL_MONTH,
    SKILL_YEAR,
    TITLE,
    TITLE_MONTH,
    TITLE_YEAR,
    UNIVERSITY,
    Function,
)
from .evidence import Compute, Evidence, field, highest, months, people, pool
from .world import Fact, World

Pick = Callable[[World, int], "tuple[list[Fact], int] | None"]
"""Finds all competing facts and the person who wins. None without a single winner."""


def best_fact(kind: str, column: str, score: Callable[[Fact], int | str], *, least: bool = False) -> Pick:
    """The person whose fact scores highest (or least) in a pool, such as the longest position or the largest team."""

    def pick(world: World, key: int) -> tuple[list[Fact], int] | None:
        facts = pool(world, kind, column, key)
        place = highest({number: score(fact) for number, fact in enumerate(facts)}, least=least)
        return None if place is None else (facts, facts[place].person)

    return pick


def most_months(column: str) -> Pick:
    """The person with the most months in total over the jobs of a pool: its most experienced practitioner."""

    def pick(world: World, key: int) -> tuple[list[Fact], int] | None:
        jobs = pool(world, "job", column, key)
        totals: dict[int, int] = {}
        for job in jobs:
            totals[job.person] = totals.get(job.person, 0) + months(job)
        winner = highest(totals)
        return None if winner is None else (jobs, winner)

    return pick


def who(pick: Pick) -> Compute:
    """The winner's name."""

    def compute(world: World, key: int, *shown: int) -> Evidence | None:
        found = pick(world, key)
        return None if found is None else Evidence(found[0], world.person_name(found[1]))

    return compute


def facts_of_winner(pick: Pick, kind: str, name: str) -> Compute:
    """The winner's facts of a kind. The facts that decided who wins are evidence, too."""

    def compute(world: World, key: int, *shown: int) -> Evidence | None:
        found = pick(world, key)
        if found is None:
            return None
        facts, winner = found
        further = world.facts(kind, winner)
        return Evidence(facts + further, field(further, name)) if further else None

    return compute


def longest_job_of(world: World, person: int) -> Evidence | None:
    """The employer with whom a person stayed longest."""
    jobs = world.facts("job", person)
    place = highest({number: months(job) for number, job in enumerate(jobs)})
    return None if place is None else Evidence(jobs, jobs[place].source["employer"])


def best_graduate(kind: str, score: Callable[[list[Fact]], int]) -> Compute:
    """The graduate of a university who scores highest on the facts of a kind. All graduates' facts are evidence."""

    def compute(world: World, university: int) -> Evidence | None:
        degrees = pool(world, "education", "university", university)
        found = {person: world.facts(kind, person) for person in people(degrees)}
        winner = highest({person: score(facts) for person, facts in found.items()})
        if winner is None:
            return None
        return Evidence(degrees + [fact for facts in found.values() for fact in facts], world.person_name(winner))

    return compute


def _graduated(degree: Fact) -> int:
    return int(degree.source["end"])


def _team(project: Fact) -> int:
    return int(project.source["team"])


def _start_date(job: Fact) -> str:
    return str(job.source["start"])


_longest_as = best_fact("job", "title", months)
_longest_with = best_fact("job", "skill", months)
_experienced = most_months("skill")

FUNCTIONS = (
    Function(
        "longest_as",
        "extremize",
        1,
        TITLE,
        who(_longest_as),
        (
            "Which {title} held a single position for the most years?",
            "Among everyone employed as {title}, who stayed in one such position the longest?",
        ),
    ),
    Function(
        "longest_with",
        "extremize",
        1,
        SKILL,
        who(_longest_with),
        (
            "Which candidate held a single position involving {skill} for the most years?",
            "Of all jobs that drew on {skill}, whose lasted the longest?",
        ),
    ),
    Function(
        "longest_in",
        "extremize",
        1,
        SECTOR,
        who(best_fact("job", "sector", months)),
        (
            "Which candidate held a single position in the {sector} sector for the most years?",
            "Of all jobs at {sector} organisations, whose lasted the longest?",
        ),
    ),
    Function(
        "largest_team",
        "extremize",
        1,
        PROJECT_SKILL,
        who(best_fact("project", "skill", _team)),
        (
            "Who worked with the largest team on a project that used {skill}?",
            "Whose {skill} project had the most team members?",
        ),
    ),
    Function(
        "longest_as_from",
        "extremize",
        1,
        TITLE_YEAR,
        who(best_fact("job", "title and year", months)),
        ("Which {title} who started in {year} held that position for the most years?",),
        reserve=True,
    ),
    Function(
        "longest_as_from",
        "extremize",
        1,
        TITLE_MONTH,
        who(best_fact("job", "title and month", months)),
        ("Which {title} who started in {month} held that position for the most years?",),
        reserve=True,
    ),
    Function(
        "certifications_of_experienced",
        "extremize_collect",
        2,
        SKILL,
        facts_of_winner(_experienced, "certification", "certification"),
        (
            "Which credentials has the most experienced {skill} practitioner earned?",
            "What certifications does the person with the most years of {skill} hold?",
        ),
    ),
    Function(
        "universities_of_experienced",
        "extremize_collect",
        2,
        SKILL,
        facts_of_winner(_experienced, "education", "university"),
        (
            "Where did the most experienced {skill} practitioner study?",
            "Which universities did the person with the most years of {skill} attend?",
        ),
    ),
    Function(
        "certifications_of_longest",
        "extremize_collect",
        2,
        TITLE,
        facts_of_winner(_longest_as, "certification", "certification"),
        (
            "Which credentials has the longest-serving {title} earned?",
            "What certifications does the person who held one {title} position the longest have?",
        ),
    ),
    Function(
        "employers_of_longest",
        "extremize_collect",
        2,
        TITLE,
        facts_of_winner(_longest_as, "job", "employer"),
        (
            "Which organisations has the longest-serving {title} worked for?",
            "Who have been the employers of the person who held one {title} position the longest?",
        ),
    ),
    Function(
        "certifications_of_experienced_from",
        "extremize_collect",
        2,
        SKILL_YEAR,
        facts_of_winner(most_months("skill and year"), "certification", "certification"),
        ("Which credentials has the most experienced of those who took up {skill} in a job begun in {year} earned?",),
        reserve=True,
    ),
    Function(
        "certifications_of_experienced_from",
        "extremize_collect",
        2,
        SKILL_MONTH,
        facts_of_winner(most_months("skill and month"), "certification", "certification"),
        ("Which credentials has the most experienced of those who took up {skill} in a job begun in {month} earned?",),
        reserve=True,
    ),
    Function(
        "longest_at",
        "collect_extremize",
        1,
        EMPLOYER,
        who(best_fact("job", "employer", months)),
        ("Who worked at {employer} for the most years?", "Which employee of {employer} stayed the longest?"),
    ),
    Function(
        "first_at",
        "collect_extremize",
        1,
        EMPLOYER,
        who(best_fact("job", "employer", _start_date, least=True)),
        ("Who was the first to join {employer}?", "Of the people who worked at {employer}, who started earliest?"),
    ),
    Function(
        "latest_from",
        "collect_extremize",
        1,
        UNIVERSITY,
        who(best_fact("education", "university", _graduated)),
        ("Who graduated from {university} most recently?", "Which graduate of {university} finished last?"),
    ),
    Function(
        "longest_job_of",
        "collect_extremize",
        1,
        PERSON,
        longest_job_of,
        (
            "At which organisation did {person} stay the longest?",
            "Which of {person}'s employers kept them for the most years?",
        ),
    ),
    Function(
        "most_certified_from",
        "collect_extremize",
        2,
        UNIVERSITY,
        best_graduate("certification", len),
        (
            "Which graduate of {university} holds the most certifications?",
            "Who among those who studied at {university} earned the most credentials?",
        ),
    ),
    Function(
        "longest_job_from",
        "collect_extremize",
        2,
        UNIVERSITY,
        best_graduate("job", lambda facts: max(map(months, facts))),
        (
            "Which graduate of {university} held a single job for the most years?",
            "Who among those who studied at {university} stayed in one job the longest?",
        ),
    ),
)
