"""HotpotQA, 2WikiMultihopQA and MuSiQue in their distractor form, with passages pooled over all questions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import GmeError, shorten
from ..options import Options, option
from .json_stream import objects
from .passage_pool import Pool
from .protocol import ReadContext, Record, Where, identifier, text_of, titled


@dataclass(frozen=True)
class MultihopOptions(Options):
    """Options of the question-answering readers."""

    strict: bool = option(False, "stop at supporting facts that name no passage of the question")
    bare_text: bool = option(False, "do not start each text with its title")


@dataclass(frozen=True)
class MusiqueOptions(MultihopOptions):
    """Options of `musique`."""

    unanswerable: bool = option(False, "keep the unanswerable questions too, their ids ending in #unanswerable")


@dataclass(frozen=True)
class _Example:
    """One question with its passages; `supporting` holds indices into `passages`."""

    question: dict[str, Any]
    passages: list[tuple[str, str]]
    supporting: list[int]


_Parse = Callable[[dict[str, Any], Where, ReadContext], _Example]

_DANGLING = "supporting facts that name no passage"
_DANGLING_HINT = "the questions are kept, their gold lacks these; --strict makes it an error"


def read_sentences(paths: list[Path], options: MultihopOptions, context: ReadContext) -> Iterator[Record]:
    """HotpotQA and 2WikiMultihopQA. `context` lists [title, sentences] and `supporting_facts` lists [title, index]."""
    return _read(paths, options, context, _with_sentences)


def read_musique(paths: list[Path], options: MusiqueOptions, context: ReadContext) -> Iterator[Record]:
    """MuSiQue. `paragraphs` have `is_supporting`. The beginning of the id, 2hop to 4hop3, is the family.

    The full set has every question twice under one id, the second time without a supporting paragraph. These
    unanswerable questions are left out unless an option asks for them. Their paragraphs are pooled in any case.
    """
    skipped = 0
    for record in _read(paths, options, context, _with_paragraphs):
        if record.kind == "questions" and record.value.get("answerable") is False:
            if not options.unanswerable:
                skipped += 1
                continue
            record.value["id"] += "#unanswerable"
        yield record
    if skipped:
        context.notes.append(f"{skipped} unanswerable questions left out; --unanswerable keeps them")


def _read(paths: list[Path], options: MultihopOptions, context: ReadContext, parse: _Parse) -> Iterator[Record]:
    """Read in two passes, because an id depends on how many texts its title has."""
    context.expect(paths, passes=2)
    pool = Pool()
    silent = ReadContext(strict=options.strict)
    for path in paths:
        for where, record in objects(path, context):
            pool.add(parse(record, where, silent).passages)
    written: set[str] = set()
    for path in paths:
        for where, record in objects(path, context):
            example = parse(record, where, context)
            ids = [pool.id_of(title, text) for title, text in example.passages]
            for node_id, (title, text) in zip(ids, example.passages, strict=True):
                if node_id not in written:
                    written.add(node_id)
                    node = {"id": node_id, "type": "chunk", "text": titled(title, text, options.bare_text)}
                    yield Record("nodes", node | ({"title": title} if title else {}), where)
            gold = list(dict.fromkeys(ids[index] for index in example.supporting))
            yield Record("questions", {**example.question, "gold": gold, "context": ids}, where)
    if pool.shared_titles:
        context.notes.append(f"{pool.shared_titles} titles have several texts: their ids end in #2, #3, …")


def _with_sentences(record: dict[str, Any], where: Where, context: ReadContext) -> _Example:
    question_id = identifier(record.get("_id", record.get("id")), "_id", where)
    where = where._replace(detail=f"question {shorten(question_id)}")
    passages = [(title, _join(sentences)) for title, sentences in _pairs(record, where)]
    lengths = [len(sentences) for _, sentences in _pairs(record, where)]
    supporting, titles = [], []
    for title, sentence in _facts(record, where):
        titles.append(title)
        places = [place for place, (other, _) in enumerate(passages) if other == title]
        if not places:
            context.add_warning(_DANGLING, f"{where}: no passage is titled {shorten(title)}", _DANGLING_HINT)
            continue
        # If a title occurs twice in one question, the fact means the passage that has the sentence.
        supporting.append(next((place for place in places if sentence < lengths[place]), places[0]))
    question = {
        "id": question_id,
        "question": text_of(record, "question", where),
        "answer": record.get("answer"),
        "family": record.get("type"),
        "hops": len(set(titles)) or None,
    }
    known = {"_id", "id", "question", "answer", "type", "context"}
    return _Example(_question(question, record, known), passages, supporting)


def _pairs(record: dict[str, Any], where: Where) -> list[tuple[str, list[str]]]:
    """`context` as pairs. The columns that the `datasets` library makes of it are also read."""
    value = record.get("context")
    if isinstance(value, dict) and isinstance(value.get("title"), list):
        value = list(zip(value["title"], value.get("sentences") or value.get("content") or [], strict=False))
    if not isinstance(value, list):
        raise GmeError(f"{where}: 'context' must be a list of [title, sentences], found {shorten(value)}")
    for place, pair in enumerate(value, start=1):
        if not (
            isinstance(pair, list | tuple)
            and len(pair) == 2
            and isinstance(pair[0], str)
            and isinstance(pair[1], list)
            and all(isinstance(sentence, str) for sentence in pair[1])
        ):
            raise GmeError(f"{where}: entry {place} of 'context' must be [title, [sentences]], found {shorten(pair)}")
    return [(title, sentences) for title, sentences in value]


def _facts(record: dict[str, Any], where: Where) -> list[tuple[str, int]]:
    """`supporting_facts` as pairs. Test sets have none."""
    value = record.get("supporting_facts") or []
    if isinstance(value, dict) and isinstance(value.get("title"), list):
        value = list(zip(value["title"], value.get("sent_id", []), strict=False))
    if not isinstance(value, list):
        raise GmeError(f"{where}: 'supporting_facts' must be a list of [title, index], found {shorten(value)}")
    for place, pair in enumerate(value, start=1):
        if not (
            isinstance(pair, list | tuple) and len(pair) == 2 and isinstance(pair[0], str) and isinstance(pair[1], int)
        ):
            raise GmeError(
                f"{where}: entry {place} of 'supporting_facts' must be [title, index], found {shorten(pair)}"
            )
    return [(title, sentence) for title, sentence in value]


def _join(sentences: list[str]) -> str:
    """Join sentences. HotpotQA's sentences include the space between them; 2WikiMultihopQA's do not."""
    text = ""
    for sentence in sentences:
        gap = " " if text and not text[-1].isspace() and sentence and not sentence[0].isspace() else ""
        text += gap + sentence
    return text


def _with_paragraphs(record: dict[str, Any], where: Where, context: ReadContext) -> _Example:
    question_id = identifier(record.get("id"), "id", where)
    where = where._replace(detail=f"question {shorten(question_id)}")
    paragraphs = record.get("paragraphs")
    if not isinstance(paragraphs, list):
        raise GmeError(f"{where}: 'paragraphs' must be a list, found {shorten(paragraphs)}")
    passages, supporting = [], []
    for place, paragraph in enumerate(paragraphs):
        if not isinstance(paragraph, dict):
            raise GmeError(f"{where}: entry {place + 1} of 'paragraphs' must be an object, found {shorten(paragraph)}")
        inside = where._replace(detail=f"{where.detail}, paragraph {place}")
        passages.append((text_of(paragraph, "title", inside, default=""), text_of(paragraph, "paragraph_text", inside)))
        if paragraph.get("is_supporting"):
            supporting.append(place)
    family = question_id.partition("__")[0]
    digits = family[:1]
    question = {
        "id": question_id,
        "question": text_of(record, "question", where),
        "answer": record.get("answer"),
        "family": family if family != question_id else None,
        "hops": int(digits) if family[1:4] == "hop" and digits.isdecimal() else len(supporting) or None,
    }
    for step in record.get("question_decomposition") or []:
        support = step.get("paragraph_support_idx") if isinstance(step, dict) else None
        if isinstance(support, int) and not 0 <= support < len(passages):
            context.add_warning(_DANGLING, f"{where}: no paragraph has the index {support}", _DANGLING_HINT)
    return _Example(_question(question, record, {"id", "question", "answer", "paragraphs"}), passages, supporting)


def _question(question: dict[str, Any], record: dict[str, Any], known: set[str]) -> dict[str, Any]:
    """The question with the source's other fields. Empty fields are left out."""
    extra = {key: value for key, value in record.items() if key not in known and key not in question}
    return {key: value for key, value in {**question, **extra}.items() if value is not None}
