"""Passages pooled over questions: one node for each distinct (title, text). Ids don't depend on the order of files."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

UNTITLED = "untitled"


class Pool:
    """Ids of passages: the title, and ``title#2``, ``title#3`` … if a title has several texts.

    A hash of the texts decides which text gets which number. So the order of questions, paragraphs and files does not
    matter, but another text with the same title may change the numbers. A number is skipped if the result is the title
    of another passage. All passages must be added before the first id is asked for.
    """

    def __init__(self) -> None:
        self._digests: dict[str, set[bytes]] = {}
        self._numbers: dict[str, list[bytes]] = {}

    def add(self, passages: Iterable[tuple[str, str]]) -> None:
        """Add (title, text) pairs."""
        for title, text in passages:
            self._digests.setdefault(title or UNTITLED, set()).add(_digest(title, text))

    def id_of(self, title: str, text: str) -> str:
        """The id of a passage that was added before."""
        name = title or UNTITLED
        digests = self._digests[name]
        if len(digests) == 1:
            return name
        if name not in self._numbers:
            self._numbers[name] = sorted(digests)
        place = self._numbers[name].index(_digest(title, text))
        if place == 0:
            return name
        number = 1
        for _ in range(place):
            number += 1
            while f"{name}#{number}" in self._digests:
                number += 1
        return f"{name}#{number}"

    @property
    def shared_titles(self) -> int:
        """How many titles have several texts."""
        return sum(len(digests) > 1 for digests in self._digests.values())


def _digest(title: str, text: str) -> bytes:
    return blake2b(f"{len(title)}:{title}{text}".encode("utf-8", "surrogatepass"), digest_size=16).digest()
