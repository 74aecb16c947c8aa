"""The entity layer: nodes for names, and edges from the chunks that mention them. Surface forms stay distinct (RT)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from .._core import title_mentions
from ..errors import GmeError, shorten
from ..formatting import counted
from ..options import Options, option
from ..readers.entities import MENTIONS, entity_id
from ..storage.files import parse_line, read_lines
from ..types import Progress
from ..unicode_normalization import nfc
from ..workspace.records import MAX_ID_LENGTH, NOT_EVIDENCE, Nodes
from .name_extraction import candidates
from .protocol import BY, Found, Record, by

_ALWAYS = 10
"""An entity in at most this many chunks is never too frequent, however small the corpus is."""
_EVERY = 1024

Pairs: TypeAlias = tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]
"""(form, text) pairs: which form occurs in which text."""


@dataclass(frozen=True)
class EntityOptions(Options):
    """Options that decide which names become entities."""

    entities: Path | None = option(  # noqa: RUF009 - a field, and Path is immutable
        None, 'a file of entities beside the extractor\'s: a name a line, or JSON lines {"name": …, "aliases": […]}'
    )
    extractor: str = option(
        "capitalized",
        "where names come from: capitalized spans and the titles of nodes, or --entities only",
        choices=("capitalized", "none"),
        former_choices={"capitalised": "capitalized"},
    )
    min_chunks: int = option(2, "drop entities in fewer chunks than this: in one chunk they connect nothing", low=1)
    max_share: float = option(
        0.05, f"drop entities in more than this share of the chunks, and in more than {_ALWAYS}", above=0, high=1
    )
    min_length: int = option(2, "shortest name, in characters", low=1)
    ignore_case: bool = option(False, "match names whatever their case")


@dataclass(frozen=True)
class Names:
    """The names to look for. Each form belongs to one or more entities, given as indices into `names`."""

    names: list[str]
    aliases: list[list[str]]
    forms: dict[str, list[int]]


def find_entities(nodes: Nodes, options: EntityOptions, threads: int, progress: Progress | None) -> Found:
    """Find entity nodes and mentions edges. Every node that is neither document nor entity is searched."""
    if options.extractor == "none" and options.entities is None:
        raise GmeError("no entities: --extractor is none and --entities is not given", "give one of the two")
    chunks = [row for row, kind in enumerate(nodes.types) if kind not in NOT_EVIDENCE]
    texts = [nfc(nodes.texts[row]) for row in chunks]
    steps = 3 * len(texts)

    def part(number: int) -> Progress | None:
        return (lambda done, total: progress(number * len(texts) + done, steps)) if progress else None

    names = _names(nodes, texts, options, part(0))
    entity, chunk = _mentions(names, texts, options, threads, part)
    counts = np.bincount(entity, minlength=len(names.names))
    most = max(_ALWAYS, options.max_share * len(texts))
    kept = (counts >= options.min_chunks) & (counts <= most)
    long = np.array([len(entity_id(name)) > MAX_ID_LENGTH for name in names.names], dtype=bool)
    kept &= ~long
    records = [
        _node(name, names.aliases[number])
        for number, name in enumerate(names.names)
        if kept[number] and entity_id(name) not in nodes.rows
    ]
    edges = (
        {"source": nodes.ids[chunks[c]], "target": entity_id(names.names[e]), "type": MENTIONS, BY: by("entities")}
        for e, c in zip(entity[kept[entity]].tolist(), chunk[kept[entity]].tolist(), strict=True)
    )
    facts = [
        f"{counted(int(kept.sum()), 'entity', 'entities')} in {counted(len(texts), 'chunk')}; "
        f"of {counted(len(names.names), 'name')}, "
        f"{int((counts < options.min_chunks).sum()):,} in fewer than {counted(options.min_chunks, 'chunk')}, "
        f"{int((counts > most).sum()):,} in more than {most:g}"
    ]
    if long.any():
        facts.append(f"left out, because too long for an id: {counted(int(long.sum()), 'name')}")
    hint = ""
    if len(texts) < 2:
        hint = f"entities connect nodes that are neither document nor entity, and there is {len(texts) or 'none'}"
    elif (long & (counts >= 2)).any():
        hint = f"give shorter names: an id has {MAX_ID_LENGTH:,} characters at most, and begins with entity:"
    return Found(edges, sorted(records, key=lambda record: str(record["id"])), facts, hint)


def _mentions(
    names: Names, texts: list[str], options: EntityOptions, threads: int, part: Callable[[int], Progress | None]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """(entity, chunk) pairs, distinct and sorted by chunk, then by name.

    The longest form wins, but a name that is too rare must not hide a shorter name inside it. So rare names are
    dropped, outermost first, and their chunks are searched again: the name inside a rare one may prove to be frequent.
    Names that are too frequent are kept in the search and still hide what is inside them.
    """
    forms = sorted(names.forms)

    def search(those: list[str], where: list[str], progress: Progress | None = None) -> Pairs:
        return title_mentions(
            those,
            where,
            ignore_case=options.ignore_case,
            min_length=options.min_length,
            threads=threads,
            progress=progress,
        )

    found, chunk = search(forms, texts, part(1))
    report = part(2)
    while True:
        entity, chunk_of = _entities_of(forms, names, found, chunk)
        rare = np.bincount(entity, minlength=len(names.names)) < options.min_chunks
        kept = _without_outer(forms, names, rare, search)
        if kept.all():
            break
        again = np.unique(chunk[~kept[found]])
        stays = ~np.isin(chunk, again)
        numbers = np.cumsum(kept) - 1
        forms = [form for form, stays_in in zip(forms, kept.tolist(), strict=True) if stays_in]
        more, more_chunk = search(forms, [texts[row] for row in again.tolist()], report)
        found = np.concatenate([numbers[found[stays]].astype(np.uint32), more])
        chunk = np.concatenate([chunk[stays], again[more_chunk]])
        report = None  # later rounds search little
    if progress := part(2):
        progress(len(texts), len(texts))
    return entity, chunk_of


def _without_outer(
    forms: list[str], names: Names, rare: npt.NDArray[np.bool_], search: Callable[[list[str], list[str]], Pairs]
) -> npt.NDArray[np.bool_]:
    """Which forms to keep, bool (forms,). Rare forms are dropped, except those inside a rare form of another name."""
    numbers = [number for number, form in enumerate(forms) if all(rare[owner] for owner in names.forms[form])]
    rares = [forms[number] for number in numbers]
    kept = np.ones(len(forms), dtype=bool)
    kept[numbers] = False
    inner, outer = search(rares, [part for form in rares for part in (form[:-1], form[1:])])
    waiting: set[int] = set()
    for i, o in zip(inner.tolist(), outer.tolist(), strict=True):
        waiting.update(set(names.forms[rares[i]]).difference(names.forms[rares[o // 2]]))
    later = [number for number, form in zip(numbers, rares, strict=True) if not waiting.isdisjoint(names.forms[form])]
    if len(later) < len(numbers):  # otherwise aliases of two names lie in each other crosswise, and none can go first
        kept[later] = True
    return kept


def _entities_of(
    forms: list[str], names: Names, found: npt.NDArray[np.uint32], chunk: npt.NDArray[np.uint32]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Convert (form, chunk) pairs to (entity, chunk) pairs."""
    owners = [names.forms[form] for form in forms]
    sizes = np.array([len(owner) for owner in owners], dtype=np.int64)
    flat = np.array([number for owner in owners for number in owner], dtype=np.int64)
    starts = np.cumsum(sizes) - sizes
    if not len(found):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    repeats = sizes[found]
    offsets = np.arange(int(repeats.sum())) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    entity = flat[np.repeat(starts[found], repeats) + offsets]
    pairs = np.unique(np.stack([np.repeat(chunk.astype(np.int64), repeats), entity]), axis=1)
    return pairs[1], pairs[0]


def _names(nodes: Nodes, texts: list[str], options: EntityOptions, progress: Progress | None) -> Names:
    """All names, sorted: the given ones, and the extracted ones that are no form of a given name."""
    given = dict(read_entities(options.entities)) if options.entities is not None else {}
    taken = {nfc(form) for name, aliases in given.items() for form in (name, *aliases)}
    extracted: set[str] = set()
    if options.extractor == "capitalized":
        extracted = candidates(_reported(texts, progress))
        extracted.update(nfc(title) for title in nodes.titles if title and title.strip())
    names = sorted({*given, *(extracted - taken)})
    forms: dict[str, list[int]] = {}
    for number, name in enumerate(names):
        for form in dict.fromkeys(map(nfc, (name, *given.get(name, ())))):
            forms.setdefault(form, []).append(number)
    return Names(names, [given.get(name, []) for name in names], forms)


def _reported(texts: list[str], progress: Progress | None) -> Iterator[str]:
    for number, text in enumerate(texts):
        if progress is not None and number % _EVERY == 0:
            progress(number, len(texts))
        yield text


def read_entities(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Read (name, aliases) of each entity: from JSON lines if the first line is an object, else from a name a line.

    Raises:
        GmeError: the file is not UTF-8, or an object has no name; the message names the line.
    """
    seen: dict[str, int] = {}
    as_json = None
    for number, line in read_lines(path):
        if as_json is None:
            as_json = line.startswith(b"{")
        name, aliases = _entity(path, number, line) if as_json else (_decoded(path, number, line), [])
        if name in seen and as_json:
            raise GmeError(
                f"{path}:{number}: entity {shorten(name)} was on line {seen[name]} already",
                "put all aliases in one line",
            )
        if name not in seen:
            seen[name] = number
            yield name, aliases
    if not seen:
        raise GmeError(f"{path} holds no entities", "write one name a line")


def _entity(path: Path, number: int, line: bytes) -> tuple[str, list[str]]:
    record = parse_line(path, number, line)
    name, aliases = record.get("name"), record.get("aliases") or []
    if not isinstance(name, str) or not name.strip():
        raise GmeError(f"{path}:{number}: 'name' must be a string with text in it, found {shorten(name)}")
    if not isinstance(aliases, list) or not all(isinstance(alias, str) for alias in aliases):
        raise GmeError(
            f"{path}:{number}: 'aliases' must be a list of strings, found {shorten(aliases)}",
            'for example: "aliases": ["UN", "United Nations Organization"]',
        )
    return name, [alias for alias in dict.fromkeys(aliases) if alias.strip()]


def _decoded(path: Path, number: int, line: bytes) -> str:
    try:
        return line.decode().strip()
    except UnicodeDecodeError as error:
        raise GmeError(
            f"{path}:{number}: not UTF-8 text: {error}", "save the list as UTF-8, one name a line"
        ) from error


def _node(name: str, aliases: list[str]) -> Record:
    record: Record = {"id": entity_id(name), "type": "entity", "text": name, BY: by("entities")}
    if aliases:
        record["aliases"] = aliases
    return record
