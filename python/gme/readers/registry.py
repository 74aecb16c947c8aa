"""Which formats can be read."""

from __future__ import annotations

from ..errors import unknown
from .beir import BeirOptions
from .multihop import MultihopOptions, MusiqueOptions
from .protocol import Reader


def lookup(name: str) -> Reader:
    """The registry's entry; an unknown name is a `GmeError` with the closest match."""
    if name not in READERS:
        raise unknown("format", name, READERS)
    return READERS[name]


READERS: dict[str, Reader] = {
    "hotpotqa": Reader(
        "HotpotQA's distractor JSON, passages pooled over questions.",
        MultihopOptions,
        "multihop:read_sentences",
        ("nodes", "questions"),
    ),
    "2wiki": Reader(
        "2WikiMultihopQA's JSON, passages pooled over questions.",
        MultihopOptions,
        "multihop:read_sentences",
        ("nodes", "questions"),
    ),
    "musique": Reader(
        "MuSiQue's JSON lines, paragraphs pooled over questions.",
        MusiqueOptions,
        "multihop:read_musique",
        ("nodes", "questions"),
    ),
    "beir": Reader(
        "A BEIR folder: corpus.jsonl, queries.jsonl, qrels/SPLIT.tsv.",
        BeirOptions,
        "beir:read_beir",
        ("nodes", "questions"),
        several=False,
    ),
}
