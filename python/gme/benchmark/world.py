"""The synthetic professional network: people, where they studied and worked, and everything indexed for questions.

Facts are kept as columns of small numbers (about 150 bytes a person) and turned into ids and `source` objects when asked for,
so that a network of 100,000 people fits in little memory.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .draws import Deck, Draws
from .sectors import SECTORS
from .vocabulary import DEGREES, Vocabulary

# What gives the published validation graph: 133 people, 15 employers in each sector, 77 universities to choose from.
# Larger networks keep these densities, so an organisation's size and a question's difficulty do not grow with the network.
PEOPLE = 133
_EMPLOYERS_PER_SECTOR = 15
_UNIVERSITIES = 77
_FEWEST = 6

# Counts as decks: the share of each value (see `Deck`).
_EDUCATIONS = (1,) * 8 + (2,) * 7
_JOBS = (1,) * 4 + (2,) * 7 + (3,) * 6 + (4,) * 3
_PROJECTS = (0, 1, 2)
_CERTIFICATIONS = (0,) * 23 + (1,) * 17 + (2,) * 8 + (3,) * 2
_ENDORSEMENTS = (0, 1, 2)
_DEGREES = (0,) * 10 + (1,) * 7 + (2,) * 3
# How many cards of its sector's deck an employer has, by number modulo 15: its usual number of employees.
_STAFF = (2, 1, 3, 1, 2, 1, 5, 1, 2, 3, 1, 2, 1, 3, 2)
_OTHER_SECTOR = (1,) + (0,) * 4

_DEGREE_YEARS = ((3, 4), (1, 2), (3, 6))
_MONTHS_IN_JOB = (7, 92)
_CAREER_ENDS = (2019 * 12, 2025 * 12 + 5)
RELATIONS = ("manager", "colleague", "client", "mentor", "direct report", "business partner")


@dataclass(frozen=True)
class Fact:
    """One chunk of evidence: its node id, its structured content, and the numbers that join it to other facts."""

    id: str
    kind: str
    person: int
    organisation: int
    source: dict[str, Any]


class World:
    """All facts of one split.

    Args:
        split: whose vocabulary to use.
        seed: of every draw.
        people: how many.
        progress: called now and then with (people done, all people).
    """

    def __init__(self, split: str, seed: int, people: int, progress: Callable[[int, int], None] | None = None) -> None:
        self.words = Vocabulary(split, seed)
        self.people = people
        self.employers_per_sector = max(_FEWEST, -(-people * _EMPLOYERS_PER_SECTOR // PEOPLE))
        self.universities = max(_FEWEST, -(-people * _UNIVERSITIES // PEOPLE))
        self._make_columns()
        decks = _Decks(split, seed, self.employers_per_sector)
        for person in range(people):
            self._add_person(Draws(seed, split, "person", person), decks)
            if progress is not None and person % 1000 == 999:
                progress(person + 1, people)
        self._index: dict[tuple[str, str], dict[int, array[int]]] = {}
        self._keys: dict[tuple[str, str], list[int]] = {}

    # ---- making ---------------------------------------------------------------------------------------------------

    def _make_columns(self) -> None:
        # The first row of each person's facts, by kind, and one entry past the end.
        self._first = {kind: array("I", [0]) for kind in KINDS}
        self._university, self._degree, self._field = array("I"), array("B"), array("B")
        self._entered, self._graduated = array("H"), array("H")
        self._employer, self._title, self._skills = array("I"), array("B"), array("B")
        self._start, self._end = array("H"), array("H")
        self._project_job, self._project, self._project_skills = array("I"), array("B"), array("B")
        self._project_year, self._team = array("H"), array("B")
        self._certification, self._certified = array("B"), array("H")
        self._endorsed, self._relation, self._endorsed_year = array("B"), array("B"), array("H")

    def _add_person(self, draws: Draws, decks: _Decks) -> None:
        sector = decks.sector.deal()
        began, ended = self._add_jobs(draws, decks, sector)
        self._add_educations(draws, decks, sector, began // 12)
        per_sector = len(self.words.certifications) // len(SECTORS)
        for number in draws.distinct(per_sector, decks.certifications.deal()):
            self._certification.append(sector * per_sector + number)
            self._certified.append(draws.between(began, ended))
        jobs = range(self._first["job"][-1], len(self._employer))
        for _ in range(decks.endorsements.deal()):
            job = draws.choice(jobs)
            self._endorsed.append(draws.choice(self._skill_numbers(self._title[job], self._skills[job])))
            self._relation.append(draws.below(len(RELATIONS)))
            self._endorsed_year.append(draws.between(self._start[job] // 12, self._end[job] // 12))
        for kind, column in zip(KINDS, self._columns(), strict=True):
            self._first[kind].append(len(column))

    def _columns(self) -> tuple[array[int], ...]:
        """One column of each kind, in the order of `KINDS`."""
        return self._university, self._employer, self._project, self._certification, self._endorsed

    def _add_jobs(self, draws: Draws, decks: _Decks, sector: int) -> tuple[int, int]:
        """Add a career, oldest job first; returns its first and last month, counted from the year 0."""
        count = decks.jobs.deal()
        end = last = draws.between(*_CAREER_ENDS)
        spans: list[tuple[int, int]] = []
        for _ in range(count):
            start = end - draws.between(*_MONTHS_IN_JOB)
            spans.append((start, end))
            end = start - draws.below(9)
        employers = decks.employers[sector].deal_distinct(count)
        for employer, (start, end) in zip(employers, reversed(spans), strict=True):
            role = sector
            if decks.other_sector.deal():
                role = _SECTOR_NUMBERS[draws.choice(SECTORS[sector].related)]
            self._employer.append(sector * self.employers_per_sector + employer)
            per_sector = len(self.words.titles) // len(SECTORS)
            self._title.append(role * per_sector + draws.below(per_sector))
            self._skills.append(_bits(draws.distinct(len(self.words.skills) // len(SECTORS), draws.between(3, 5))))
            self._start.append(start)
            self._end.append(end)
            self._add_projects(draws, decks, len(self._employer) - 1)
        return spans[-1][0], last

    def _add_projects(self, draws: Draws, decks: _Decks, job: int) -> None:
        role = self._title[job] * len(SECTORS) // len(self.words.titles)
        per_sector = len(self.words.projects) // len(SECTORS)
        skills = [bit for bit in range(8) if self._skills[job] >> bit & 1]
        for number in draws.distinct(per_sector, decks.projects.deal()):
            self._project_job.append(job)
            self._project.append(role * per_sector + number)
            self._project_skills.append(_bits(draws.shuffled(skills)[: draws.between(1, 3)]))
            self._project_year.append(draws.between(self._start[job] // 12, self._end[job] // 12))
            self._team.append(draws.between(3, 40))

    def _add_educations(self, draws: Draws, decks: _Decks, sector: int, before: int) -> None:
        """Add the degrees, lowest and oldest first, the last one earned before the first job."""
        degrees = sorted(decks.degree.deal() for _ in range(decks.educations.deal()))
        spans: list[tuple[int, int]] = []
        end = before - draws.below(2)
        for degree in reversed(degrees):
            start = end - draws.between(*_DEGREE_YEARS[degree])
            spans.append((start, end))
            end = start - draws.below(3)
        per_sector = len(self.words.fields) // len(SECTORS)
        fields = draws.shuffled(range(per_sector))
        places = draws.distinct(self.universities, len(degrees))
        for number, (degree, (start, end)) in enumerate(zip(degrees, reversed(spans), strict=True)):
            self._university.append(places[number])
            self._degree.append(degree)
            self._field.append(sector * per_sector + fields[number % per_sector])
            self._entered.append(start)
            self._graduated.append(end)

    # ---- names ----------------------------------------------------------------------------------------------------

    def person_name(self, person: int) -> str:
        """A person's name."""
        return self.words.person(person)

    def employer_name(self, employer: int) -> str:
        """An employer's name."""
        return self.words.employer(*divmod(employer, self.employers_per_sector))

    def employer_sector(self, employer: int) -> str:
        """The name of the sector an employer belongs to."""
        return SECTORS[employer // self.employers_per_sector].name

    def university_name(self, university: int) -> str:
        """A university's name."""
        return self.words.university(university)

    def _skill_numbers(self, title: int, mask: int) -> list[int]:
        """The skills of a bit mask, which counts within the sector of a job title."""
        per_sector = len(self.words.skills) // len(SECTORS)
        first = title * len(SECTORS) // len(self.words.titles) * per_sector
        return [first + bit for bit in range(per_sector) if mask >> bit & 1]

    def _skill_names(self, title: int, mask: int) -> list[str]:
        return [self.words.skills[number] for number in self._skill_numbers(title, mask)]

    # ---- facts ----------------------------------------------------------------------------------------------------

    def facts(self, kind: str, person: int) -> list[Fact]:
        """A person's facts of one kind (see `KINDS`), oldest first where they have an order."""
        first = self._first[kind]
        return [self._fact(kind, row, person) for row in range(first[person], first[person + 1])]

    def count(self, kind: str) -> int:
        """How many facts of a kind there are."""
        return self._first[kind][-1]

    def where(self, kind: str, column: str, key: int) -> list[Fact]:
        """The facts of a kind whose column has this number, in the order of people; `INDEXES` lists the columns."""
        return [self._fact(kind, row, self._owner(kind, row)) for row in self.index(kind, column).get(key, ())]

    def index(self, kind: str, column: str) -> dict[int, array[int]]:
        """Rows by the number in a column, made when it is first asked for."""
        if (kind, column) not in self._index:
            found: dict[int, array[int]] = {}
            for key, row in INDEXES[kind, column](self):
                found.setdefault(key, array("I")).append(row)
            self._index[kind, column] = found
        return self._index[kind, column]

    def keys(self, kind: str, column: str) -> list[int]:
        """The numbers that occur in a column, ascending."""
        if (kind, column) not in self._keys:
            self._keys[kind, column] = sorted(self.index(kind, column))
        return self._keys[kind, column]

    def staff(self, employer: int) -> list[int]:
        """The people who have worked for an employer, each once, ascending."""
        return sorted({self._owner("job", row) for row in self.index("job", "employer").get(employer, ())})

    def job_parties(self, row: int) -> tuple[int, int]:
        """The person and the employer of a job."""
        return self._owner("job", row), self._employer[row]

    @cached_property
    def rostered(self) -> list[int]:
        """The employers with a roster: those with two or more employees, ascending."""
        # People never return to an employer, so rows are people here.
        index = self.index("job", "employer")
        return [employer for employer in self.keys("job", "employer") if len(index[employer]) >= 2]

    def roster(self, employer: int) -> Fact:
        """The roster of an employer."""
        name = self.employer_name(employer)
        source = {
            "employer": name,
            "sector": self.employer_sector(employer),
            "employees": sorted(map(self.person_name, self.staff(employer))),
        }
        return Fact(f"chunk:roster:{name}", "roster", -1, employer, source)

    def _owner(self, kind: str, row: int) -> int:
        return bisect_right(self._first[kind], row) - 1

    def _fact(self, kind: str, row: int, person: int) -> Fact:
        organisation, source = KINDS[kind](self, row)
        name = self.person_name(person)
        number = row - self._first[kind][person]
        return Fact(f"chunk:{kind}:{name}:{number}", kind, person, organisation, {"person": name, **source})

    def _education(self, row: int) -> tuple[int, dict[str, Any]]:
        return self._university[row], {
            "university": self.university_name(self._university[row]),
            "degree": DEGREES[self._degree[row]],
            "field": self.words.fields[self._field[row]],
            "start": self._entered[row],
            "end": self._graduated[row],
        }

    def _job(self, row: int) -> tuple[int, dict[str, Any]]:
        employer = self._employer[row]
        return employer, {
            "employer": self.employer_name(employer),
            "sector": self.employer_sector(employer),
            "title": self.words.titles[self._title[row]],
            "skills": self._skill_names(self._title[row], self._skills[row]),
            "start": month_text(self._start[row]),
            "end": month_text(self._end[row]),
            "months": self._end[row] - self._start[row],
        }

    def _project_fact(self, row: int) -> tuple[int, dict[str, Any]]:
        job = self._project_job[row]
        return self._employer[job], {
            "employer": self.employer_name(self._employer[job]),
            "project": self.words.projects[self._project[row]],
            "title": self.words.titles[self._title[job]],
            "skills": self._skill_names(self._title[job], self._project_skills[row]),
            "year": self._project_year[row],
            "team": self._team[row],
        }

    def _certification_fact(self, row: int) -> tuple[int, dict[str, Any]]:
        return -1, {
            "certification": self.words.certifications[self._certification[row]],
            "date": month_text(self._certified[row]),
        }

    def _endorsement(self, row: int) -> tuple[int, dict[str, Any]]:
        return -1, {
            "skill": self.words.skills[self._endorsed[row]],
            "relation": RELATIONS[self._relation[row]],
            "year": self._endorsed_year[row],
        }

    # ---- what indexes hold ----------------------------------------------------------------------------------------

    def _job_skills(self, job: int) -> list[int]:
        return self._skill_numbers(self._title[job], self._skills[job])

    def _project_skill_numbers(self, row: int) -> list[int]:
        return self._skill_numbers(self._title[self._project_job[row]], self._project_skills[row])


class _Decks:
    """The decks of one world; each is dealt in the order of people."""

    def __init__(self, split: str, seed: int, employers: int) -> None:
        def deck(cards: tuple[int, ...], name: str) -> Deck:
            return Deck(cards, seed, split, "deck", name)

        self.sector = deck(tuple(range(len(SECTORS))), "sector")
        staff = tuple(number for number in range(employers) for _ in range(_STAFF[number % len(_STAFF)]))
        self.employers = [deck(staff, f"employers of {sector.name}") for sector in SECTORS]
        self.educations = deck(_EDUCATIONS, "educations")
        self.degree = deck(_DEGREES, "degree")
        self.jobs = deck(_JOBS, "jobs")
        self.other_sector = deck(_OTHER_SECTOR, "other sector")
        self.projects = deck(_PROJECTS, "projects")
        self.certifications = deck(_CERTIFICATIONS, "certifications")
        self.endorsements = deck(_ENDORSEMENTS, "endorsements")


def month_text(month: int) -> str:
    """A month, counted from the year 0, as ISO 8601: ``2014-03``."""
    return f"{month // 12:04d}-{month % 12 + 1:02d}"


def _bits(numbers: list[int]) -> int:
    return sum(1 << number for number in numbers)


def _pairs(column: Callable[[World], array[int]]) -> Callable[[World], Iterator[tuple[int, int]]]:
    return lambda world: ((key, row) for row, key in enumerate(column(world)))


def _skilled(step: int, part: Callable[[World, int], int]) -> Callable[[World], Iterator[tuple[int, int]]]:
    return lambda world: (
        (skill * step + part(world, row), row)
        for row in range(len(world._employer))
        for skill in world._job_skills(row)
    )


def _titled(step: int, part: Callable[[World, int], int]) -> Callable[[World], Iterator[tuple[int, int]]]:
    return lambda world: ((title * step + part(world, row), row) for row, title in enumerate(world._title))


_SECTOR_NUMBERS = {sector.name: number for number, sector in enumerate(SECTORS)}

# A key of two numbers is first * STEP + second; years and months counted from the year 0 are below it.
STEP = 1 << 16

KINDS: dict[str, Callable[[World, int], tuple[int, dict[str, Any]]]] = {
    "education": World._education,
    "job": World._job,
    "project": World._project_fact,
    "certification": World._certification_fact,
    "endorsement": World._endorsement,
}

INDEXES: dict[tuple[str, str], Callable[[World], Iterator[tuple[int, int]]]] = {
    ("education", "university"): _pairs(lambda world: world._university),
    ("job", "employer"): _pairs(lambda world: world._employer),
    ("job", "sector"): lambda world: (
        (employer // world.employers_per_sector, row) for row, employer in enumerate(world._employer)
    ),
    ("job", "title"): _pairs(lambda world: world._title),
    ("job", "title and year"): _titled(STEP, lambda world, row: world._start[row] // 12),
    ("job", "title and month"): _titled(STEP, lambda world, row: world._start[row]),
    ("job", "skill"): _skilled(1, lambda world, row: 0),
    ("job", "skill and year"): _skilled(STEP, lambda world, row: world._start[row] // 12),
    ("job", "skill and month"): _skilled(STEP, lambda world, row: world._start[row]),
    ("project", "employer"): lambda world: ((world._employer[job], row) for row, job in enumerate(world._project_job)),
    ("project", "skill"): lambda world: (
        (skill, row) for row in range(len(world._project)) for skill in world._project_skill_numbers(row)
    ),
    ("certification", "certification"): _pairs(lambda world: world._certification),
}
