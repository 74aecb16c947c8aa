"""Rows of CSV, TSV, Parquet and JSONL files, as dictionaries with the place they come from."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import GmeError, shorten, unknown
from ..files import read_jsonl
from .protocol import Context, Where

Row = tuple[Where, dict[str, Any]]

_DELIMITERS = {".tsv": "\t", ".tab": "\t", ".csv": ","}


def rows(path: Path, context: Context, *, delimiter: str = "", header: list[str] | None = None) -> Iterator[Row]:
    """The rows of a table, the kind told from the file's ending: .parquet, .jsonl, otherwise delimited text.

    Args:
        path: the file.
        context: is told how far it is.
        delimiter: of delimited text; by default a tab for .tsv and .tab, a comma for .csv, else whichever of tab,
            semicolon and comma the first line has.
        header: column names of delimited text without a header line.
    """
    if path.suffix in (".jsonl", ".ndjson"):
        for number, record in read_jsonl(path, context.advance):
            yield Where(path, number), record
    elif path.suffix in (".parquet", ".pq"):
        yield from parquet_rows(path, context)
    else:
        yield from _delimited(path, context, delimiter, header)


def columns(path: Path, *, delimiter: str = "") -> list[str]:
    """The column names of a table; of JSONL the first object's fields."""
    if path.suffix in (".jsonl", ".ndjson"):
        return next((list(record) for _, record in read_jsonl(path)), [])
    if path.suffix in (".parquet", ".pq"):
        names: list[str] = parquet_file(path).schema_arrow.names
        return names
    return next((row for _, row in text_rows(path, dialect(path, delimiter))), [])


def choose(path: Path, names: list[str], wanted: str, what: str) -> str:
    """The column that an option names; a `GmeError` with the closest match where there is none."""
    if wanted not in names:
        raise unknown(f"{what} column", wanted, names, where=f" in {path}")
    return wanted


def dialect(path: Path, delimiter: str) -> type[csv.Dialect]:
    """The CSV dialect of a file: standard quoting, and the delimiter given, implied by the ending or found."""
    if not delimiter:
        delimiter = _DELIMITERS.get(path.suffix.lower(), "") or _guess(path)

    class Dialect(csv.excel):
        pass

    Dialect.delimiter = delimiter
    return Dialect


def text_rows(path: Path, kind: type[csv.Dialect]) -> Iterator[tuple[int, list[str]]]:
    """(line, fields) for each row that is not blank; line breaks inside quotes stay as they are."""
    csv.field_size_limit(sys.maxsize)
    with path.open(encoding="utf-8-sig", newline="") as handle:
        reader = csv.reader(handle, kind, strict=True)
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


def not_utf8(path: Path) -> GmeError:
    """The error for a file that is not UTF-8: names the line and the byte."""
    data = path.read_bytes()
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        wide = " (it looks like UTF-16)" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else ""
        byte = f"byte 0x{data[error.start]:02x} at offset {error.start}"
        return GmeError(f"{path}:{line}: not UTF-8 text{wide}: {byte}", "save the file as UTF-8")
    return GmeError(f"{path}: not UTF-8 text", "save the file as UTF-8")


def _guess(path: Path) -> str:
    try:
        with path.open(encoding="utf-8-sig", newline="") as handle:
            first = handle.readline()
    except UnicodeDecodeError as error:
        raise not_utf8(path) from error
    return max("\t;,", key=first.count)


def _delimited(path: Path, context: Context, delimiter: str, header: list[str] | None) -> Iterator[Row]:
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
        # The text layer hides the position in bytes; lines are near enough for a bar.
        if line % 1000 == 0 and reported < size:
            step = min(size - reported, sum(map(len, row)) * 1000)
            reported += step
            context.advance(step)
    context.advance(size - reported)


def parquet_file(path: Path) -> Any:
    """Open a Parquet file; says what to install where pyarrow is missing."""
    try:
        from pyarrow import ArrowInvalid
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise GmeError(f"{path}: reading Parquet needs pyarrow", "pip install 'gme[readers]'") from error
    try:
        return ParquetFile(path)
    except ArrowInvalid as error:
        raise GmeError(f"{path}: not a Parquet file: {error}", "is the file cut off?") from error


def parquet_rows(path: Path, context: Context, names: list[str] | None = None) -> Iterator[Row]:
    """The rows of a Parquet file, a batch in memory at a time; rows are numbered from 1."""
    number, total = 0, 0
    file = parquet_file(path)
    size, count = path.stat().st_size, max(file.metadata.num_rows, 1)
    for batch in file.iter_batches(batch_size=4096, columns=names):
        for record in batch.to_pylist():
            number += 1
            yield Where(path, detail=f"row {number}"), record
        step = size * number // count - total
        total += step
        context.advance(step)
