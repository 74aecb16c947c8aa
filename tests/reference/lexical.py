"""The slow, obvious twin of the lexical index: words character by character, BM25 with dictionaries of strings.

It knows only the characters of `KINDS`, by hand; the compiled code knows all of Unicode.
"""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

KINDS = {
    "letter": "abcdefghijklmnopqrstuvwxyzéßσöдяकखאش",
    "digit": "0123456789٣",
    "connector": "_",
    "mark": "\u0359ิ",
    "both": "'’.",
    "between letters": ":·",
    "between digits": ",;",
    "character": "東京都のタ",
    "cluster": "กขมวเ",
    "sign": " \n\t-!?()—…🙂。「\u200b",
}
KIND = {character: kind for kind, characters in KINDS.items() for character in characters}
WORDY = ("letter", "digit", "connector")

STOP_WORDS = frozenset(
    """a an and are as at be been being but by can could did do does for from had has have he her his how i if in into
    is it its me my no not of on or our she so than that the their them then there these they this those to up was we
    were what when where which while who whom whose why will with would you your""".split()  # noqa: SIM905
)
BRIDGES = {"letter": ("both", "between letters"), "digit": ("both", "between digits"), "connector": ()}


def words(text: str) -> list[str]:
    """The words of a text."""
    text = unicodedata.normalize("NFKC", text).replace("\u00ad", "")
    text = "".join(character.lower() for character in text).replace("ς", "σ")
    found: list[str] = []
    clusters: list[str] = []
    for segment in segments(text):
        kind = "cluster" if segment[0] == "ิ" else KIND[segment[0]]
        if kind == "cluster":
            clusters.append(segment)
            continue
        found += joined_by_two(clusters)
        clusters = []
        if kind == "character":
            found += [segment[0]]
        elif kind in WORDY and any(KIND[character] in ("letter", "digit") for character in segment):
            found += parts(segment)
    return found + joined_by_two(clusters)


def segments(text: str) -> list[str]:
    """A text as UAX 29 cuts it: every character is in one of the pieces."""
    cut = []
    while text:
        length = 1 + marks(text[1:]) if text[0] != "\n" else 1
        last = KIND[text[0]]
        while last in WORDY and length < len(text):
            following = text[length:]
            middle, after = following[0], following[1 + marks(following[1:]) :][:1]
            if KIND[middle] in WORDY:
                last = KIND[middle]
                length += 1 + marks(following[1:])
            elif after and KIND[after] == last and KIND[middle] in BRIDGES[last]:
                length += 1 + marks(following[1:])
                length += 1 + marks(text[length + 1 :])
            else:
                break
        cut.append(text[:length])
        text = text[length:]
    return cut


def marks(text: str) -> int:
    """How many marks a text begins with."""
    return len(text) - len(text.lstrip(KINDS["mark"]))


def joined_by_two(clusters: list[str]) -> list[str]:
    """Every two neighbors of a run of characters; a single one by itself."""
    if len(clusters) == 1:
        return clusters
    return [first + second for first, second in pairwise(clusters)]


def parts(segment: str) -> list[str]:
    """A segment split at joints that do not stand between digits, each part as it is compared."""
    split, joint = [["", ""]], ""
    for place, character in enumerate(segment):
        around = segment[place - 1 : place] + segment[place + 1 : place + 2]
        between_digits = len(around) == 2 and all(KIND[other] == "digit" for other in around)
        if KIND[character] in ("both", "between letters") and not between_digits:
            joint = character
            split.append([joint, ""])
        else:
            split[-1][1] += character
    return [
        singular(part)
        for joint, part in split
        if part and part not in STOP_WORDS and (joint, part) not in (("'", "s"), ("’", "s"))
    ]


def singular(word: str) -> str:
    if not word.isascii() or len(word) <= 3 or not word.endswith("s") or word.endswith("ss"):
        return word
    return word[:-3] + "y" if word.endswith("ies") and len(word) > 4 else word[:-1]


def terms(text: str) -> list[tuple[str, ...]]:
    """Words, and every two that follow each other."""
    single = words(text)
    return [(word,) for word in single] + list(pairwise(single))


def bm25(texts: Sequence[str], questions: Sequence[str], k1: float, b: float) -> list[list[float]]:
    """The score of every text for every question."""
    corpus = Corpus(texts, k1, b)
    return [
        [
            sum(corpus.worth(term, text) for term in set(terms(question)) & count.keys())
            for text, count in enumerate(corpus.counts)
        ]
        for question in questions
    ]


def rest(texts: Sequence[str], question: str, seed: int, text: int, k1: float, b: float) -> float:
    """What a text says of a question that a seed does not say, as a share of the rarities of all its words."""
    corpus = Corpus(texts, k1, b)
    asked = {(word,) for word in words(question)}
    left = [term for term in asked if term in corpus.counts[text] and term not in corpus.counts[seed]]
    whole = sum(corpus.rarity(corpus.holding[term]) for term in asked)
    return sum(corpus.worth(term, text) for term in left) / whole if left else 0.0


class Corpus:
    """What terms are worth in some texts."""

    def __init__(self, texts: Sequence[str], k1: float, b: float) -> None:
        self.k1, self.b = k1, b
        self.counts = [Counter(terms(text)) for text in texts]
        self.lengths = [sum(count.values()) for count in self.counts]
        self.holding = Counter(term for count in self.counts for term in count)
        self.average = sum(self.lengths) / max(len(texts), 1)
        self.step = self.rarity(1) * (k1 + 1) / 65535

    def rarity(self, n: int) -> float:
        return math.log(1 + (len(self.counts) - n + 0.5) / (n + 0.5))

    def worth(self, term: tuple[str, ...], text: int) -> float:
        """The worth of a term in a text that holds it, in whole steps."""
        count = self.counts[text][term]
        damping = self.k1 * (1 - self.b + self.b * self.lengths[text] / self.average)
        worth = self.rarity(self.holding[term]) * count * (self.k1 + 1) / (count + damping)
        return self.step * max(1, round_half_up(worth / self.step))


def round_half_up(value: float) -> int:
    return math.floor(value + 0.5)
