"""The synthetic professional network: facts with ids and `source` objects, which are found by person or by topic."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from .careers import RELATIONS, Careers
from .sectors import SECTORS
from .vocabulary import DEGREES, Vocabulary

# A key of two numbers is first * STEP + second. Years and months, counted from the year 0, are below STEP.
STEP = 1 << 16

_NAMES_KEPT = 1 << 17


@dataclass(frozen=True)
class Fact:
    """One chunk of evidence: its node id, its structured content, and the numbers that relate it to other facts.

    `person` and `organisation` are -1 if a fact has none.
    """

    id: str
    kind: str
    person: int
    organisation: int
    source: dict[str, Any]


class World:
    """All facts of one split. A fact is made from `Careers` when it is needed, and is not kept.

    Args:
        split: the split whose vocabulary is used.
        seed: the random seed of all draws.
        people: the number of people.
        progress: called from time to time with (people done, all people).
    """

    def __init__(self, split: str, seed: int, people: int, progress: Callable[[int, int], None] | None = None) -> None:
        self.people = people
        self.words = Vocabulary(split, seed)
        # Names cost more time than anything else about a fact, and are needed again and again.
        self._person_name = lru_cache(_NAMES_KEPT)(self.words.person)
        self._employer_name = lru_cache(_NAMES_KEPT)(self.words.employer)
        self._university_name = lru_cache(_NAMES_KEPT)(self.words.university)
        self.careers = Careers(self.words, split, seed, people, progress)
        self._indexes: dict[tuple[str, str], dict[int, array[int]]] = {}
        self._keys: dict[tuple[str, str], list[int]] = {}

    # ---- names ------------------------------------------------------------------------------------------------------

    def person_name(self, person: int) -> str:
        """A person's name."""
        return self._person_name(person)

    def employer_name(self, employer: int) -> str:
        """An employer's name."""
        return self._employer_name(*divmod(employer, self.careers.employers_per_sector))

    def employer_sector(self, employer: int) -> str:
        """The name of the sector an employer belongs to."""
        return SECTORS[employer // self.careers.employers_per_sector].name

    def university_name(self, university: int) -> str:
        """A university's name."""
        return self._university_name(university)

    # ---- facts ------------------------------------------------------------------------------------------------------

    def count(self, kind: str) -> int:
        """The number of facts of a kind."""
        return self.careers.first[kind][-1]

    def facts(self, kind: str, person: int) -> list[Fact]:
        """A person's facts of a kind. The oldest degrees and jobs come first."""
        return [self._fact(kind, row, person) for row in self.careers.rows(kind, person)]

    def where(self, kind: str, column: str, key: int) -> list[Fact]:
        """The facts of a kind whose column holds this number, in the order of people. `_COLUMNS` lists the columns."""
        return [self._fact(kind, row, self.careers.owner(kind, row)) for row in self.index(kind, column).get(key, ())]

    def roster(self, employer: int) -> Fact:
        """The roster of an employer."""
        name = self.employer_name(employer)
        source = {
            "employer": name,
            "sector": self.employer_sector(employer),
            "employees": sorted(map(self.person_name, self.staff(employer))),
        }
        return Fact(f"chunk:roster:{name}", "roster", -1, employer, source)

    def _fact(self, kind: str, row: int, person: int) -> Fact:
        organisation, source = _SOURCES[kind](self, row)
        name = self.person_name(person)
        number = row - self.careers.first[kind][person]
        return Fact(f"chunk:{kind}:{name}:{number}", kind, person, organisation, {"person": name, **source})

    # ---- indexes ----------------------------------------------------------------------------------------------------

    def index(self, kind: str, column: str) -> dict[int, array[int]]:
        """The rows by the number in a column. The index is made when it is first needed."""
        if (kind, column) not in self._indexes:
            found: dict[int, array[int]] = {}
            for key, row in _COLUMNS[kind, column](self.careers):
                found.setdefault(key, array("I")).append(row)
            self._indexes[kind, column] = found
        return self._indexes[kind, column]

    def keys(self, kind: str, column: str) -> list[int]:
        """The numbers that occur in a column, ascending."""
        if (kind, column) not in self._keys:
            self._keys[kind, column] = sorted(self.index(kind, column))
        return self._keys[kind, column]

    def staff(self, employer: int) -> list[int]:
        """The people who have worked for an employer, ascending. Nobody returns to an employer, so each occurs once."""
        return [self.careers.owner("job", row) for row in self.index("job", "employer").get(employer, ())]

    @cached_property
    def rostered(self) -> list[int]:
        """The employers with a roster: those with two or more employees, ascending."""
        index = self.index("job", "employer")
        return [employer for employer in self.keys("job", "employer") if len(index[employer]) >= 2]

    def post(self, job: int) -> tuple[int, int]:
        """The person and the employer of a job, by its row."""
        return self.careers.owner("job", job), self.careers.employer[job]


def month_text(month: int) -> str:
    """A month, counted from the year 0, as ISO 8601: ``2014-03``."""
    return f"{month // 12:04d}-{month % 12 + 1:02d}"


# ---- the `source` of each kind, and the organisation in it -----------------------------------------------------------


def _skill_names(world: World, title: int, mask: int) -> list[str]:
    return [world.words.skills[number] for number in world.careers.skill_numbers(title, mask)]


def _education(world: World, row: int) -> tuple[int, dict[str, Any]]:
    careers = world.careers
    return careers.university[row], {
        "university": world.university_name(careers.university[row]),
        "degree": DEGREES[careers.degree[row]],
        "field": world.words.fields[careers.field[row]],
        "start": careers.entered[row],
        "end": careers.graduated[row],
    }


def _job(world: World, row: int) -> tuple[int, dict[str, Any]]:
    careers = world.careers
    return careers.employer[row], {
        "employer": world.employer_name(careers.employer[row]),
        "sector": world.employer_sector(careers.employer[row]),
        "title": world.words.titles[careers.title[row]],
        "skills": _skill_names(world, careers.title[row], careers.skills[row]),
        "start": month_text(careers.start[row]),
        "end": month_text(careers.end[row]),
        "months": careers.end[row] - careers.start[row],
    }


def _project(world: World, row: int) -> tuple[int, dict[str, Any]]:
    careers = world.careers
    job = careers.job[row]
    return careers.employer[job], {
        "employer": world.employer_name(careers.employer[job]),
        "project": world.words.projects[careers.project[row]],
        "title": world.words.titles[careers.title[job]],
        "skills": _skill_names(world, careers.title[job], careers.used[row]),
        "year": careers.year[row],
        "team": careers.team[row],
    }


def _certification(world: World, row: int) -> tuple[int, dict[str, Any]]:
    careers = world.careers
    return -1, {
        "certification": world.words.certifications[careers.certification[row]],
        "date": month_text(careers.certified[row]),
    }


def _endorsement(world: World, row: int) -> tuple[int, dict[str, Any]]:
    careers = world.careers
    return -1, {
        "skill": world.words.skills[careers.endorsed[row]],
        "relation": RELATIONS[careers.relation[row]],
        "year": careers.endorsed_year[row],
    }


_SOURCES: dict[str, Callable[[World, int], tuple[int, dict[str, Any]]]] = {
    "education": _education,
    "job": _job,
    "project": _project,
    "certification": _certification,
    "endorsement": _endorsement,
}

# ---- the columns by which facts can be found: (key, row) pairs -------------------------------------------------------

Pairs = Callable[[Careers], Iterator[tuple[int, int]]]


def _by(column: Callable[[Careers], array[int]]) -> Pairs:
    return lambda careers: ((key, row) for row, key in enumerate(column(careers)))


def _by_title(part: Callable[[int], int]) -> Pairs:
    """By title and a part of the month in which a job began."""
    return lambda careers: (
        (title * STEP + part(start), row)
        for row, (title, start) in enumerate(zip(careers.title, careers.start, strict=True))
    )


def _job_skills(careers: Careers) -> Iterator[tuple[int, int]]:
    for row, (title, mask) in enumerate(zip(careers.title, careers.skills, strict=True)):
        for skill in careers.skill_numbers(title, mask):
            yield skill, row


def _by_skill(part: Callable[[int], int]) -> Pairs:
    """By skill and a part of the month in which a job began."""
    return lambda careers: ((skill * STEP + part(careers.start[row]), row) for skill, row in _job_skills(careers))


def _project_skills(careers: Careers) -> Iterator[tuple[int, int]]:
    for row, (job, mask) in enumerate(zip(careers.job, careers.used, strict=True)):
        for skill in careers.skill_numbers(careers.title[job], mask):
            yield skill, row


_COLUMNS: dict[tuple[str, str], Pairs] = {
    ("education", "university"): _by(lambda careers: careers.university),
    ("job", "employer"): _by(lambda careers: careers.employer),
    ("job", "sector"): lambda careers: (
        (employer // careers.employers_per_sector, row) for row, employer in enumerate(careers.employer)
    ),
    ("job", "title"): _by(lambda careers: careers.title),
    ("job", "title and year"): _by_title(lambda month: month // 12),
    ("job", "title and month"): _by_title(lambda month: month),
    ("job", "skill"): _job_skills,
    ("job", "skill and year"): _by_skill(lambda month: month // 12),
    ("job", "skill and month"): _by_skill(lambda month: month),
    ("project", "employer"): lambda careers: ((careers.employer[job], row) for row, job in enumerate(careers.job)),
    ("project", "skill"): _project_skills,
    ("certification", "certification"): _by(lambda careers: careers.certification),
}
