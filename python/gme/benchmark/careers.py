"""People and their careers as columns of small numbers, drawn person by person.

A person takes less than 100 bytes, so that a network of 100,000 people fits in little memory. Months and years count
from the year 0.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable

from .draws import Deck, Draws
from .sectors import SECTORS
from .vocabulary import Vocabulary

# The numbers of the published validation graph: 133 people, 15 employers in each sector, 77 universities. Larger
# networks keep these densities, so that neither the size of an organization nor the difficulty of a question grows.
PEOPLE = 133
_EMPLOYERS_PER_SECTOR = 15
_UNIVERSITIES = 77
_FEWEST = 6

# Decks of counts: the cards give the share of each value (see `Deck`).
_EDUCATIONS = (1,) * 8 + (2,) * 7
_JOBS = (1,) * 4 + (2,) * 7 + (3,) * 6 + (4,) * 3
_PROJECTS = (0, 1, 2)
_CERTIFICATIONS = (0,) * 23 + (1,) * 17 + (2,) * 8 + (3,) * 2
_ENDORSEMENTS = (0, 1, 2)
_DEGREES = (0,) * 10 + (1,) * 7 + (2,) * 3
_OTHER_SECTOR = (1,) + (0,) * 4
# How many cards an employer has in the deck of its sector, by its number modulo 15: its usual number of employees.
_STAFF = (2, 1, 3, 1, 2, 1, 5, 1, 2, 3, 1, 2, 1, 3, 2)

_DEGREE_YEARS = ((3, 4), (1, 2), (3, 6))
_MONTHS_IN_JOB = (7, 92)
_CAREER_ENDS = (2019 * 12, 2025 * 12 + 5)
_TEAM = (3, 40)
RELATIONS = ("manager", "colleague", "client", "mentor", "direct report", "business partner")

KINDS = ("education", "job", "project", "certification", "endorsement")
"""The kinds of a person's facts, in the order of a résumé."""


class Careers:
    """All columns. Row r of a kind belongs to the person p with ``first[kind][p] <= r < first[kind][p + 1]``.

    Args:
        words: the vocabulary. It says how many terms each sector has.
        split, seed: the keys of the draws.
        people: the number of people.
        progress: called from time to time with (people done, all people).
    """

    def __init__(
        self,
        words: Vocabulary,
        split: str,
        seed: int,
        people: int,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        self.words = words
        self.employers_per_sector = max(_FEWEST, -(-people * _EMPLOYERS_PER_SECTOR // PEOPLE))
        self.universities = max(_FEWEST, -(-people * _UNIVERSITIES // PEOPLE))
        self.first = {kind: array("I", [0]) for kind in KINDS}
        # education
        self.university, self.degree, self.field = array("I"), array("B"), array("B")
        self.entered, self.graduated = array("H"), array("H")
        # job: skills are a bit mask over the skills of the title's sector
        self.employer, self.title, self.skills = array("I"), array("B"), array("B")
        self.start, self.end = array("H"), array("H")
        # project: job is a row of the jobs, used is a bit mask of some skills of that job
        self.project, self.job, self.used = array("B"), array("I"), array("B")
        self.year, self.team = array("H"), array("B")
        # certification
        self.certification, self.certified = array("B"), array("H")
        # endorsement
        self.endorsed, self.relation, self.endorsed_year = array("B"), array("B"), array("H")

        decks = _Decks(split, seed, self.employers_per_sector)
        for person in range(people):
            self._add_person(Draws(seed, split, "person", person), decks)
            if progress is not None and person % 1000 == 999:
                progress(person + 1, people)

    def owner(self, kind: str, row: int) -> int:
        """The person to whom a row belongs."""
        return bisect_right(self.first[kind], row) - 1

    def rows(self, kind: str, person: int) -> range:
        """The rows of a person."""
        return range(self.first[kind][person], self.first[kind][person + 1])

    def skill_numbers(self, title: int, mask: int) -> list[int]:
        """The skills of a bit mask over the skills of a job title's sector."""
        each = self.words.each_sector("skills")
        first = self.words.sector_of("titles", title) * each
        return [first + bit for bit in range(each) if mask >> bit & 1]

    def _add_person(self, draws: Draws, decks: _Decks) -> None:
        sector = decks.sector.deal()
        began, ended = self._add_jobs(draws, decks, sector)
        self._add_educations(draws, decks, sector, began // 12)
        each = self.words.each_sector("certifications")
        for number in draws.distinct(each, decks.certifications.deal()):
            self.certification.append(sector * each + number)
            self.certified.append(draws.between(began, ended))
        jobs = range(self.first["job"][-1], len(self.employer))
        for _ in range(decks.endorsements.deal()):
            job = draws.choice(jobs)
            self.endorsed.append(draws.choice(self.skill_numbers(self.title[job], self.skills[job])))
            self.relation.append(draws.below(len(RELATIONS)))
            self.endorsed_year.append(draws.between(self.start[job] // 12, self.end[job] // 12))
        for kind, column in (
            ("education", self.university),
            ("job", self.employer),
            ("project", self.project),
            ("certification", self.certification),
            ("endorsement", self.endorsed),
        ):
            self.first[kind].append(len(column))

    def _add_jobs(self, draws: Draws, decks: _Decks, sector: int) -> tuple[int, int]:
        """Add a career, oldest job first. It is drawn backward from its end. Returns its first and last month."""
        count = decks.jobs.deal()
        end = last = draws.between(*_CAREER_ENDS)
        spans: list[tuple[int, int]] = []
        for _ in range(count):
            start = end - draws.between(*_MONTHS_IN_JOB)
            spans.append((start, end))
            end = start - draws.below(9)
        titles, skills = self.words.each_sector("titles"), self.words.each_sector("skills")
        employers = decks.employers[sector].deal_distinct(count)
        for employer, (start, end) in zip(employers, reversed(spans), strict=True):
            role = sector
            if decks.other_sector.deal():
                role = _SECTOR_NUMBERS[draws.choice(SECTORS[sector].related)]
            self.employer.append(sector * self.employers_per_sector + employer)
            self.title.append(role * titles + draws.below(titles))
            self.skills.append(_bits(draws.distinct(skills, draws.between(3, 5))))
            self.start.append(start)
            self.end.append(end)
            self._add_projects(draws, decks, len(self.employer) - 1, role)
        return spans[-1][0], last

    def _add_projects(self, draws: Draws, decks: _Decks, job: int, role: int) -> None:
        each = self.words.each_sector("projects")
        skills = [bit for bit in range(self.words.each_sector("skills")) if self.skills[job] >> bit & 1]
        for number in draws.distinct(each, decks.projects.deal()):
            self.project.append(role * each + number)
            self.job.append(job)
            self.used.append(_bits(draws.shuffled(skills)[: draws.between(1, 3)]))
            self.year.append(draws.between(self.start[job] // 12, self.end[job] // 12))
            self.team.append(draws.between(*_TEAM))

    def _add_educations(self, draws: Draws, decks: _Decks, sector: int, before: int) -> None:
        """Add the degrees, lowest and oldest first. The last one is earned no later than the year of the first job."""
        degrees = sorted(decks.degree.deal() for _ in range(decks.educations.deal()))
        spans: list[tuple[int, int]] = []
        end = before - draws.below(2)
        for degree in reversed(degrees):
            start = end - draws.between(*_DEGREE_YEARS[degree])
            spans.append((start, end))
            end = start - draws.below(3)
        each = self.words.each_sector("fields")
        fields = draws.shuffled(range(each))
        places = draws.distinct(self.universities, len(degrees))
        for number, (degree, (start, end)) in enumerate(zip(degrees, reversed(spans), strict=True)):
            self.university.append(places[number])
            self.degree.append(degree)
            self.field.append(sector * each + fields[number % each])
            self.entered.append(start)
            self.graduated.append(end)


class _Decks:
    """The decks of one network. Each is dealt in the order of people."""

    def __init__(self, split: str, seed: int, employers: int) -> None:
        def deck(cards: tuple[int, ...], name: str) -> Deck:
            return Deck(cards, seed, split, "deck", name)

        staff = tuple(number for number in range(employers) for _ in range(_STAFF[number % len(_STAFF)]))
        self.sector = deck(tuple(range(len(SECTORS))), "sector")
        self.employers = [deck(staff, f"employers of {sector.name}") for sector in SECTORS]
        self.educations = deck(_EDUCATIONS, "educations")
        self.degree = deck(_DEGREES, "degree")
        self.jobs = deck(_JOBS, "jobs")
        self.other_sector = deck(_OTHER_SECTOR, "other sector")
        self.projects = deck(_PROJECTS, "projects")
        self.certifications = deck(_CERTIFICATIONS, "certifications")
        self.endorsements = deck(_ENDORSEMENTS, "endorsements")


def _bits(numbers: list[int]) -> int:
    return sum(1 << number for number in numbers)


_SECTOR_NUMBERS = {sector.name: number for number, sector in enumerate(SECTORS)}
