"""The things that questions ask about: people, pairs of people, organizations, terms. And their names in a question."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .evidence import Compute
from .lines import month_words
from .sectors import SECTORS
from .world import STEP, World, month_text

Case = tuple[int, ...]
"""The numbers of a question's arguments."""


@dataclass(frozen=True)
class Domain:
    """The set of things that a function can be asked about.

    Attributes:
        names: the names of the arguments, as in `LABELS`. An empty name is an argument that the question does not show.
        size: the number of cases.
        case: the arguments of the case with a number, or None if there is no such case.
    """

    names: tuple[str, ...]
    size: Callable[[World], int]
    case: Callable[[World, int], Case | None]


@dataclass(frozen=True)
class Function:
    """A function of a family, the number of its hops, and the forms of its questions.

    A `reserve` function is used only if the others cannot fill the family.
    """

    name: str
    family: str
    hops: int
    domain: Domain
    compute: Compute
    forms: tuple[str, ...]
    reserve: bool = False


def _column(name: str, kind: str, column: str) -> Domain:
    """Every value of a column."""
    return Domain(
        (name,), lambda world: len(world.keys(kind, column)), lambda world, number: (world.keys(kind, column)[number],)
    )


def _joint_column(first: str, second: str) -> Domain:
    """Every value of a column of jobs with two numbers. The function gets their joint key; the question shows both."""
    column = f"{first} and {second}"

    def case(world: World, number: int) -> Case:
        key = world.keys("job", column)[number]
        return (key, *divmod(key, STEP))

    return Domain(("", first, second), lambda world: len(world.keys("job", column)), case)


def _two_at(kind: str, column: str) -> Domain:
    """Two people with facts under the same key, such as two colleagues."""

    def case(world: World, number: int) -> Case | None:
        facts = world.where(kind, column, world.keys(kind, column)[number])
        persons = sorted({fact.person for fact in facts})
        return (persons[0], persons[-1]) if len(persons) > 1 else None

    return Domain(("person", "other"), lambda world: len(world.keys(kind, column)), case)


def _any_two(world: World, number: int) -> Case | None:
    first, second = divmod(number, world.people)
    return (first, second) if first < second else None


def phrase(name: str, label: str) -> str:
    """An argument in the form in which a question shows it."""
    return month_words(label) if name == "month" else label


PERSON = Domain(("person",), lambda world: world.people, lambda world, number: (number,))
PAIR = Domain(("person", "other"), lambda world: world.people**2, _any_two)
COLLEAGUES = _two_at("job", "employer")
CLASSMATES = _two_at("education", "university")
POST = Domain(("person", "employer"), lambda world: world.count("job"), lambda world, number: world.post(number))
EMPLOYER = _column("employer", "job", "employer")
ROSTERED = Domain(("employer",), lambda world: len(world.rostered), lambda world, number: (world.rostered[number],))
PROJECT_EMPLOYER = _column("employer", "project", "employer")
UNIVERSITY = _column("university", "education", "university")
SECTOR = _column("sector", "job", "sector")
TITLE = _column("title", "job", "title")
TITLE_YEAR = _joint_column("title", "year")
TITLE_MONTH = _joint_column("title", "month")
SKILL = _column("skill", "job", "skill")
SKILL_YEAR = _joint_column("skill", "year")
SKILL_MONTH = _joint_column("skill", "month")
PROJECT_SKILL = _column("skill", "project", "skill")
CERTIFICATION = _column("certification", "certification", "certification")

# Argument name -> a function that turns its number into text, which is the value in the question's `source`.
LABELS: dict[str, Callable[[World, int], str]] = {
    "person": lambda world, number: world.person_name(number),
    "other": lambda world, number: world.person_name(number),
    "employer": lambda world, number: world.employer_name(number),
    "university": lambda world, number: world.university_name(number),
    "sector": lambda world, number: SECTORS[number].name,
    "title": lambda world, number: world.words.titles[number],
    "skill": lambda world, number: world.words.skills[number],
    "certification": lambda world, number: world.words.certifications[number],
    "year": lambda world, number: str(number),
    "month": lambda world, number: month_text(number),
}
