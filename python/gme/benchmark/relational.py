"""Relational families: facts of people who are found through other facts, over two or three hops."""

from __future__ import annotations

from .domains import CERTIFICATION, EMPLOYER, PERSON, UNIVERSITY, Function
from .evidence import Compute, Evidence, facts_of, field, highest, listed, organisations, people, pool, without
from .world import Fact, World

_FEWEST_PEOPLE = 2


def joined(kind: str, column: str, then: str, name: str) -> Compute:
    """The facts under one key, then all facts of kind `then` of the people in them. There are at least two people."""

    def compute(world: World, key: int) -> Evidence | None:
        facts = pool(world, kind, column, key)
        persons = people(facts)
        further = without(facts_of(world, then, persons), facts)
        if len(persons) < _FEWEST_PEOPLE or not further:
            return None
        return Evidence(facts + further, field(further, name))

    return compute


def largest_employer_of_graduates(world: World, university: int) -> Evidence | None:
    """From a university to its graduates, their employers and all employees: the employer that had the most."""
    degrees = pool(world, "education", "university", university)
    employers = organisations(facts_of(world, "job", people(degrees)))
    winner = highest({employer: len(world.staff(employer)) for employer in employers})
    return None if winner is None else Evidence(degrees + _jobs_at(world, employers), world.employer_name(winner))


def colleagues(kind: str, name: str) -> Compute:
    """From a person to the employers, everybody else who worked there, and where those studied or worked."""

    def compute(world: World, person: int) -> Evidence | None:
        jobs = _jobs_at(world, organisations(world.facts("job", person)))
        others = [other for other in people(jobs) if other != person]
        further = without(facts_of(world, kind, others), jobs)
        return Evidence(jobs + further, field(further, name)) if further else None

    return compute


def fellow_graduates(world: World, employer: int) -> Evidence | None:
    """From an employer to its employees, their universities, and the other graduates of these."""
    jobs = pool(world, "job", "employer", employer)
    universities = organisations(facts_of(world, "education", people(jobs)))
    degrees = [fact for university in universities for fact in world.where("education", "university", university)]
    others = set(people(degrees)) - set(people(jobs))
    return Evidence(jobs + degrees, listed(map(world.person_name, others))) if others else None


def _jobs_at(world: World, employers: list[int]) -> list[Fact]:
    return [fact for employer in employers for fact in world.where("job", "employer", employer)]


FUNCTIONS = (
    Function(
        "certifications_at",
        "collect_global_collect",
        2,
        EMPLOYER,
        joined("job", "employer", "certification", "certification"),
        (
            "What certifications do employees of {employer} hold?",
            "Which credentials have people who worked at {employer} earned?",
        ),
    ),
    Function(
        "endorsements_at",
        "collect_global_collect",
        2,
        EMPLOYER,
        joined("job", "employer", "endorsement", "skill"),
        (
            "What have the people employed by {employer} been endorsed for?",
            "For which skills were employees of {employer} recommended?",
        ),
    ),
    Function(
        "certifications_from",
        "collect_global_collect",
        2,
        UNIVERSITY,
        joined("education", "university", "certification", "certification"),
        (
            "What certifications do graduates of {university} hold?",
            "Which credentials have people who studied at {university} earned?",
        ),
    ),
    Function(
        "universities_at",
        "hop2",
        2,
        EMPLOYER,
        joined("job", "employer", "education", "university"),
        ("Where did people who worked at {employer} study?", "Which universities did employees of {employer} attend?"),
    ),
    Function(
        "employers_from",
        "hop2",
        2,
        UNIVERSITY,
        joined("education", "university", "job", "employer"),
        (
            "Which organisations have graduates of {university} worked for?",
            "Where did people who studied at {university} find employment?",
        ),
    ),
    Function(
        "other_employers_at",
        "hop2",
        2,
        EMPLOYER,
        joined("job", "employer", "job", "employer"),
        (
            "Where else have people who worked at {employer} been employed?",
            "Which other organisations have employees of {employer} worked for?",
        ),
    ),
    Function(
        "employers_of_holders",
        "hop2",
        2,
        CERTIFICATION,
        joined("certification", "certification", "job", "employer"),
        (
            "Which organisations have holders of the credential {certification} worked for?",
            "Where have people certified with {certification} been employed?",
        ),
    ),
    Function(
        "largest_employer_from",
        "hop3",
        3,
        UNIVERSITY,
        largest_employer_of_graduates,
        (
            "Which employer of {university} graduates has the most total employees?",
            "Of all organisations that employed graduates of {university}, which had the largest staff?",
        ),
    ),
    Function(
        "fellow_graduates_at",
        "hop3",
        3,
        EMPLOYER,
        fellow_graduates,
        (
            "Who else attended the universities where people who worked at {employer} studied?",
            "Which people went to the same universities as the employees of {employer}?",
        ),
    ),
    Function(
        "universities_of_colleagues",
        "hop3",
        3,
        PERSON,
        colleagues("education", "university"),
        (
            "Which universities did people who worked at the same organisations as {person} attend?",
            "Where did those who shared an employer with {person} study?",
        ),
    ),
    Function(
        "employers_of_colleagues",
        "hop3",
        3,
        PERSON,
        colleagues("job", "employer"),
        (
            "Where else have people who worked at the same organisations as {person} been employed?",
            "Which other employers have those who shared an employer with {person} had?",
        ),
    ),
)
