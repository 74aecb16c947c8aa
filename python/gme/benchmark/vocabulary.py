"""The words of one split: names, organizations and terms that no other split uses."""

from __future__ import annotations

from collections.abc import Sequence

from .draws import Draws, Permutation, hash64
from .names import (
    BRANCH_PLACES,
    COMPANY_ENDS,
    COMPANY_STARTS,
    FIRST_NAMES,
    LAST_NAMES,
    PLACE_ENDS,
    PLACE_STARTS,
    PLACES,
    UNIVERSITY_FORMS,
)
from .sectors import SECTORS

SPLITS = ("development", "validation", "test")
SPLIT_SEED = 7

DEGREES = ("Bachelor's", "Master's", "PhD")


class Vocabulary:
    """The words of one split. Every pool is shuffled with the split seed (7) and cut into three parts, one per split.

    Terms are numbered over all sectors: title `t` belongs to sector ``t // titles_per_sector``, and so on. Names of
    people and organizations never run out: after the plain names, people get middle initials and organizations become
    branches. So names are unique for any number of people.

    Args:
        split: one of `SPLITS`.
        seed: decides in which order people and organizations get their names.
    """

    def __init__(self, split: str, seed: int) -> None:
        part = SPLITS.index(split)

        def cut(name: str, items: Sequence[str]) -> list[str]:
            return Draws(SPLIT_SEED, "split", name).shuffled(items)[part :: len(SPLITS)]

        self.titles = [term for sector in SECTORS for term in cut("titles " + sector.name, sector.titles)]
        self.skills = [term for sector in SECTORS for term in cut("skills " + sector.name, sector.skills)]
        self.fields = [term for sector in SECTORS for term in cut("fields " + sector.name, sector.fields)]
        self.projects = [term for sector in SECTORS for term in cut("projects " + sector.name, sector.projects)]
        self.certifications = [
            term for sector in SECTORS for term in cut("certifications " + sector.name, sector.certifications)
        ]
        order = Draws(seed, split, "names")
        self._first = order.shuffled(cut("first names", FIRST_NAMES))
        self._last = order.shuffled(cut("last names", LAST_NAMES))
        self._companies = order.shuffled(cut("companies", _compounds(COMPANY_STARTS, COMPANY_ENDS)))
        self._places = order.shuffled(cut("places", PLACES))
        self._places += order.shuffled(cut("more places", _compounds(PLACE_STARTS, PLACE_ENDS)))
        self._pairs = Permutation(len(self._first) * len(self._last), seed, split, "people")

    def each_sector(self, pool: str) -> int:
        """The number of terms of a pool ("titles", "skills", …) in every sector."""
        return len(getattr(self, pool)) // len(SECTORS)

    def sector_of(self, pool: str, number: int) -> int:
        """The sector of a term of a pool."""
        return number // self.each_sector(pool)

    def person(self, number: int) -> str:
        """The name of a person: first and last name, with middle initials once all pairs are taken."""
        round_, place = divmod(number, self._pairs.size)
        first, last = divmod(self._pairs[place], len(self._last))
        return f"{self._first[first]} {_initials(round_)}{self._last[last]}"

    def employer(self, sector: int, number: int) -> str:
        """The name of a sector's employer. Its last word tells the sector: "Ashcrest Diagnostics"."""
        stems = self._companies[sector :: len(SECTORS)]
        suffixes = SECTORS[sector].suffixes
        round_, place = divmod(number, len(stems))
        branch, turn = divmod(round_, len(suffixes))
        stem = stems[place]
        return f"{stem} {suffixes[(hash64(stem) + turn) % len(suffixes)]}{_branch(branch, ' {}')}"

    def university(self, number: int) -> str:
        """The name of a university: "University of Dunmere"."""
        round_, place = divmod(number, len(self._places))
        campus, turn = divmod(round_, len(UNIVERSITY_FORMS))
        stem = self._places[place]
        form = UNIVERSITY_FORMS[(hash64(stem) + turn) % len(UNIVERSITY_FORMS)]
        return form.format(place=stem) + _branch(campus, ", {} Campus")


def _compounds(starts: Sequence[str], ends: Sequence[str]) -> list[str]:
    """Every start with every end, except those that would double a letter or a word where they meet."""
    return [start + end for start in starts for end in ends if start[-1] != end[0] and start.lower() != end]


def _initials(number: int) -> str:
    """Middle initials for round `number` of the name pairs: none, "A. ", …, "Z. ", "A. A. ", …"""
    letters: list[str] = []
    while number > 0:
        number, letter = divmod(number - 1, 26)
        letters.append(f"{chr(ord('A') + letter)}. ")
    return "".join(reversed(letters))


def _branch(number: int, form: str) -> str:
    """The part of a name that distinguishes branches: nothing, then a place, then a place and a number from 2 on."""
    if number == 0:
        return ""
    round_, place = divmod(number - 1, len(BRANCH_PLACES))
    return form.format(BRANCH_PLACES[place] + (f" {round_ + 1}" if round_ else ""))
