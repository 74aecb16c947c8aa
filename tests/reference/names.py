"""Shared names, slowly: characters one by one, phrases in dictionaries, exact fractions."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

from gme.builders.name_phrases import _GERMAN, _LINKING, _OPENING

SPACES = " \u00a0"
JOINTS = "'’.-‑"


def _at(text: str, place: int) -> str:
    return text[place] if 0 <= place < len(text) else "\n"


def _inside(letter: str) -> bool:
    return letter.isalnum() or letter == "_" or "\u0300" <= letter <= "\u036f"


def _rest(text: str, place: int) -> int:
    while _inside(_at(text, place)):
        place += 1
    return place


def _capital(text: str, place: int) -> int | None:
    """The end of the capitalized word that begins here."""
    if not (_at(text, place).isupper() or _at(text, place).istitle()):
        return None
    for end in (place + 2, place + 1):
        short = end == place + 1 or _at(text, place + 1).isalnum() or _at(text, place + 1) == "_"
        if short and _at(text, end) == "." and _at(text, end + 1) == " ":
            return end + 1
    end = _rest(text, place + 1)
    while _at(text, end) in JOINTS and _at(text, end + 1).isalnum():
        end = _rest(text, end + 1)
    return end


def _number(text: str, place: int) -> int | None:
    if not _at(text, place).isdecimal():
        return None
    return _rest(text, place + 1) if _at(text, place + 1).isalnum() else place + 1


def _next(text: str, place: int, linked: bool) -> int | None:
    """The end of the next word of a run that has come to here."""
    for _ in range(3):
        if _at(text, place) not in SPACES:
            return None
        place += 1
        end = _capital(text, place) or _number(text, place)
        if end is not None:
            return end
        end = place
        while _at(text, end).isalnum():
            end += 1
        if not linked or text[place:end] not in _LINKING:
            return None
        place = end
    return None


def runs(text: str) -> Iterator[list[str]]:
    """The runs of two or more words, as written."""
    linked = not any(word in text for word in _GERMAN)
    place = 0
    while place < len(text):
        end = None if _inside(_at(text, place - 1)) else _capital(text, place)
        whole = None
        while end is not None:
            end = _next(text, end, linked)
            whole = end or whole
        if whole is not None:
            yield text[place:whole].split()
        place = whole or place + 1


def _word(written: str) -> str:
    word = written.rstrip(".").lower()
    return word[:-2] if word.endswith(("'s", "’s")) else word


def phrases(text: str) -> set[tuple[str, ...]]:
    """The phrases of a text that are names if other texts have them, too."""
    found = [[_word(written) for written in run] for run in runs(text)]
    never = {*_OPENING, *_LINKING}
    return {
        phrase
        for run in found
        if len(run) <= 10
        for length in (2, 3, 4)
        for begin in range(len(run) - length + 1)
        if not never.intersection((phrase := tuple(run[begin : begin + length]))[:: length - 1])
        and not phrase[0][:1].isdigit()
    }


def headline(text: str) -> bool:
    """Whether all long words, and most words, have a capital."""
    words = text.split()
    long = [word for word in words if len(word) >= 5]
    capitals = [word for word in words if word[0].isupper()]
    return len(words) >= 5 and not any(word[0].islower() for word in long) and 5 * len(capitals) >= 3 * len(words)


def shared(texts: list[str], most: int = 20) -> dict[tuple[int, int], float]:
    """(a, b) with a below b -> the weight of the edge between two texts."""
    if 2 * sum(map(headline, texts)) > len(texts):
        return {}
    where: dict[tuple[str, ...], set[int]] = defaultdict(set)
    for number, text in enumerate(texts):
        for phrase in phrases(text):
            where[phrase].add(number)
    most = min(most, max(2, len(texts) // 2))
    names = {frozenset(those) for those in where.values() if 2 <= len(those) <= most}
    weights: dict[tuple[int, int], Fraction] = defaultdict(Fraction)
    for those in names:
        for pair in combinations(sorted(those), 2):
            weights[pair] += Fraction(1, (len(those) - 1) ** 2)
    count = [sum(number in those for those in names) for number in range(len(texts))]
    return {(a, b): float(weight) / math.sqrt(count[a] * count[b]) for (a, b), weight in weights.items()}
