"""BEIR folders: corpus.jsonl, queries.jsonl and qrels/SPLIT.tsv. All ids are kept."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import GmeError, shorten, unknown
from ..options import Options, option
from ..storage.files import read_jsonl
from .protocol import ReadContext, Record, Where, identifier, text_of, titled, with_extra
from .tables import text_rows


@dataclass(frozen=True)
class BeirOptions(Options):
    """Options of `beir`."""

    split: str = option("test", "which file of qrels/ says what is relevant")
    min_score: int = option(1, "lowest relevance score that counts as gold", low=1)
    all_queries: bool = option(False, "keep queries that the split has no judgment for")
    strict: bool = option(False, "stop at judgments that name an unknown document or query")
    bare_text: bool = option(False, "do not start each text with its title")


def read_beir(paths: list[Path], options: BeirOptions, context: ReadContext) -> Iterator[Record]:
    """Read the corpus, the queries and the judgments of one split. Without queries.jsonl there are no questions."""
    folder = paths[0]
    corpus, queries = folder / "corpus.jsonl", folder / "queries.jsonl"
    if not corpus.is_file():
        raise GmeError(f"{corpus} is missing", "a BEIR folder has corpus.jsonl, queries.jsonl and qrels/SPLIT.tsv")
    context.expect([corpus, *([queries] if queries.is_file() else [])])
    documents: set[str] = set()
    for number, record in read_jsonl(corpus, context.advance):
        where = Where(corpus, number)
        node = _node(record, where, options)
        documents.add(node["id"])
        yield Record("nodes", node, where)
    if not queries.is_file():
        context.notes.append(f"{queries} is not there: a corpus without questions")
        return
    scores = _judgments(_qrels(folder, options.split), documents, context)
    for number, record in read_jsonl(queries, context.advance):
        where = Where(queries, number)
        query = identifier(record.get("_id"), "_id", where)
        judged = scores.pop(query, None)
        if judged is None and not options.all_queries:
            continue
        yield Record("questions", _question(record, query, judged or {}, options, where), where)
    for query in scores:
        context.add_warning("judged queries that queries.jsonl lacks", shorten(query), "add them, or ignore it")


def _node(record: dict[str, Any], where: Where, options: BeirOptions) -> dict[str, Any]:
    title = record.get("title") or ""
    if not isinstance(title, str):
        raise GmeError(f"{where}: 'title' must be a string, found {shorten(title)}")
    node = {
        "id": identifier(record.get("_id"), "_id", where),
        "type": "chunk",
        "text": titled(title, text_of(record, "text", where), options.bare_text),
    }
    if title:
        node["title"] = title
    return with_extra(node, {key: value for key, value in record.items() if key not in ("_id", "title", "text")})


def _question(
    record: dict[str, Any], query: str, judged: dict[str, int], options: BeirOptions, where: Where
) -> dict[str, Any]:
    """Gold is sorted by relevance, then by id. If any score is not 1, all scores are kept as `relevance`."""
    gold = sorted(
        (document for document, score in judged.items() if score >= options.min_score),
        key=lambda document: (-judged[document], document),
    )
    question: dict[str, Any] = {"id": query, "question": text_of(record, "text", where), "gold": gold}
    if any(score != 1 for score in judged.values()):
        question["relevance"] = dict(sorted(judged.items()))
    return with_extra(question, {key: value for key, value in record.items() if key not in ("_id", "text")})


def _qrels(folder: Path, split: str) -> Path:
    path = folder / "qrels" / f"{split}.tsv"
    if not path.is_file():
        found = [other.stem for other in (folder / "qrels").glob("*.tsv")]
        if found:
            raise unknown("split", split, found, where=f" in {folder / 'qrels'}")
        raise GmeError(f"{path} is missing", "judgments are lines of query-id, corpus-id, score, tabs between them")
    return path


def _judgments(path: Path, documents: set[str], context: ReadContext) -> dict[str, dict[str, int]]:
    """Query id -> document id -> score. TREC's four columns (query, iteration, document, score) are read too."""
    scores: dict[str, dict[str, int]] = {}
    for line, row in text_rows(path, csv.excel_tab):
        if line == 1 and not _is_number(row[-1]):
            continue  # the header
        where = Where(path, line)
        if len(row) not in (3, 4):
            raise GmeError(f"{where}: expected query-id, corpus-id and score with tabs between, found {shorten(row)}")
        query, document, score = row[0], row[-2], row[-1]
        if not _is_number(score):
            raise GmeError(f"{where}: the score must be a whole number, found {shorten(score)}")
        if document not in documents:
            context.add_warning(
                "judgments of documents that corpus.jsonl lacks",
                f"{where}: unknown document {shorten(document)}",
                "they can't be found, so they are left out of gold; --strict makes it an error",
            )
            continue
        scores.setdefault(query, {})[document] = int(score)
    return scores


def _is_number(text: str) -> bool:
    try:
        int(text)
    except ValueError:
        return False
    return True
