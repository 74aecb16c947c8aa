"""Rows of CSV, TSV, Parquet and JSONL files, as dictionaries with their origin."""

from __future__ import annotations

import codecs
import contextlib
import csv
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from ..errors import GmeError, shorten, unknown
from ..storage.files import LONGEST_LINE, read_jsonl, too_long
from ..version import install_hint
from .protocol import ReadContext, Where

Row = tuple[Where, dict[str, Any]]

_KINDS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet", ".pq": "parquet"}
_DELIMITERS = {".tsv": "\t", ".tab": "\t", ".csv": ","}


def table_kind(path: Path) -> str:
    """The kind of a table by its file's ending, in any case: ``jsonl``, ``parquet``, otherwise delimited ``text``."""
    return _KINDS.get(path.suffix.lower(), "text")


def rows(path: Path, context: ReadContext, *, delimiter: str = "", header: list[str] | None = None) -> Iterator[Row]:
    """Yield the rows of a table. The file's ending decides how it is read.

    Args:
        path: the file.
        context: gets the progress.
        delimiter: the delimiter of text; default: a tab for .tsv and .tab, a comma for .csv, otherwise the one of tab,
            semicolon and comma that the first line has most often.
        header: column names of delimited text without a header line.
    """
    if table_kind(path) == "jsonl":
        for number, record in read_jsonl(path, context.advance):
            yield Where(path, number), record
    elif table_kind(path) == "parquet":
        yield from parquet_rows(path, context)
    else:
        yield from _delimited(path, context, delimiter, header)


def columns(path: Path, *, delimiter: str = "") -> list[str]:
    """The column names of a table. For JSONL they are the fields of the first object."""
    if table_kind(path) == "jsonl":
        return next((list(record) for _, record in read_jsonl(path)), [])
    if table_kind(path) == "parquet":
        names: list[str] = parquet_file(path).schema_arrow.names
        return names
    return next((row for _, row in text_rows(path, dialect(path, delimiter))), [])


def choose(path: Path, names: list[str], wanted: str, what: str) -> str:
    """Check the column that an option names. If there is none, a `GmeError` suggests the closest name."""
    if wanted not in names:
        raise unknown(f"{what} column", wanted, names, where=f" in {path}")
    return wanted


def dialect(path: Path, delimiter: str) -> type[csv.Dialect]:
    """The CSV dialect of a file: standard quotes, and a delimiter that is given, implied by the ending or found."""
    if not delimiter:
        delimiter = _DELIMITERS.get(path.suffix.lower(), "") or _guess(path)

    class Dialect(csv.excel):
        pass

    Dialect.delimiter = delimiter
    return Dialect


def text_rows(path: Path, kind: type[csv.Dialect]) -> Iterator[tuple[int, list[str]]]:
    """Yield (line, fields) for each row that is not blank. Line breaks inside quotes are kept."""
    csv.field_size_limit(LONGEST_LINE)
    with path.open(encoding="utf-8-sig", newline="") as handle:
        reader = csv.reader(_lines(path, handle), kind, strict=True)
        while True:
            line = reader.line_num + 1
            try:
                row = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                raise GmeError(f"{path}:{line}: {error}", "check the quotes around fields") from error
            except UnicodeDecodeError as error:
                raise not_utf8(path) from error
            if row:
                yield line, row


def _lines(path: Path, handle: IO[str]) -> Iterator[str]:
    """The lines of a text. A line that is too long raises an error."""
    number = 0
    while line := handle.readline(LONGEST_LINE + 1):
        number += 1
        if len(line) > LONGEST_LINE:
            raise too_long(path, number)
        yield line


def not_utf8(path: Path) -> GmeError:
    """The error for a file that is not UTF-8. It names the line and the byte."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    line, offset, wide = 1, 0, ""
    with path.open("rb") as handle:
        while True:
            block = handle.read(1 << 20)
            if offset == 0 and block[:2] in (b"\xff\xfe", b"\xfe\xff"):
                wide = " (it looks like UTF-16)"
            kept = len(decoder.getstate()[0])  # the bytes of a character that the previous block has only in part
            try:
                decoder.decode(block, final=not block)
            except UnicodeDecodeError as error:
                line += block.count(b"\n", 0, max(error.start - kept, 0))
                byte = f"byte 0x{error.object[error.start]:02x} at offset {offset - kept + error.start}"
                return GmeError(f"{path}:{line}: not UTF-8 text{wide}: {byte}", "save the file as UTF-8")
            if not block:
                return GmeError(f"{path}: not UTF-8 text", "save the file as UTF-8")
            line += block.count(b"\n")
            offset += len(block)


def _guess(path: Path) -> str:
    try:
        with path.open(encoding="utf-8-sig", newline="") as handle:
            first = next(_lines(path, handle), "")
    except UnicodeDecodeError as error:
        raise not_utf8(path) from error
    return max("\t;,", key=first.count)


def _delimited(path: Path, context: ReadContext, delimiter: str, header: list[str] | None) -> Iterator[Row]:
    size, reported = path.stat().st_size, 0
    for line, row in text_rows(path, dialect(path, delimiter)):
        if header is None:
            header = row
            if len(set(header)) != len(header):
                raise GmeError(f"{path}:{line}: a column name occurs twice: {shorten(header)}")
            continue
        if len(row) > len(header):
            raise GmeError(
                f"{path}:{line}: {len(row)} fields, but there are {len(header)} columns: {shorten(row)}",
                "put quotes around fields that hold the delimiter",
            )
        yield Where(path, line), dict(zip(header, row, strict=False))
        # The text layer hides the position in bytes. Estimating it from lines is good enough for a progress bar.
        if line % 1000 == 0 and reported < size:
            step = min(size - reported, sum(map(len, row)) * 1000)
            reported += step
            context.advance(step)
    context.advance(size - reported)


def parquet_file(path: Path) -> Any:
    """Open a Parquet file. If pyarrow is missing, the error says what to install."""
    try:
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise GmeError(f"{path}: reading Parquet needs pyarrow", install_hint("readers")) from error
    with _explained(path):
        return ParquetFile(path)


@contextlib.contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn pyarrow's many exceptions for a damaged file into a `GmeError`."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        reason = " ".join(str(error).split())
        raise GmeError(f"{path}: not a Parquet file that can be read: {reason}", "is the file cut off?") from error


def parquet_rows(path: Path, context: ReadContext, names: list[str] | None = None) -> Iterator[Row]:
    """The rows of a Parquet file, numbered from 1. Only one batch of them is in memory."""
    number, total = 0, 0
    file = parquet_file(path)
    size, count = path.stat().st_size, max(file.metadata.num_rows, 1)
    batches = file.iter_batches(batch_size=4096, columns=names)
    while True:
        with _explained(path):
            batch = next(batches, None)
            records = [] if batch is None else batch.to_pylist()
        if batch is None:
            return
        for record in records:
            number += 1
            yield Where(path, detail=f"row {number}"), record
        step = size * number // count - total
        total += step
        context.advance(step)
