"""Reading and writing JSON and JSONL, with errors that name the line, and the hashes of files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import orjson

from ..errors import GmeError, shorten
from ..types import Progress
from .atomic import atomic_write, staged

LONGEST_LINE = 256 << 20
"""The longest line that is read, in bytes. It bounds the memory, whatever a file holds."""

MOST_BYTES = 64 << 20
"""The largest file that is read as a whole, in bytes: a manifest, a grid or a text."""

_MOST_VALUES = 16 << 20  # in one line; Python needs about 50 bytes for the smallest value
_HASH_BLOCK = 1 << 20
_hash_memo: dict[tuple[str, int, int, int], str] = {}


def write_json(path: Path, value: Any) -> None:
    """Write `value` as indented JSON with sorted keys, atomically."""
    with atomic_write(path) as handle:
        handle.write(json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False).encode() + b"\n")


def read_json(path: Path) -> dict[str, Any]:
    """Read one JSON object. A file that holds anything else raises a `GmeError`."""
    try:
        value = orjson.loads(read_whole(path))
    except orjson.JSONDecodeError as error:
        raise GmeError(
            f"{path}: not valid JSON: {error}", "the file is damaged: re-run the command that wrote it"
        ) from error
    if not isinstance(value, dict):
        raise GmeError(f"{path}: expected a JSON object, found {shorten(value)}")
    return value


def read_whole(path: Path, most: int = MOST_BYTES) -> bytes:
    """A file's content. A file of more than `most` bytes raises a `GmeError`."""
    with path.open("rb") as handle:
        content = handle.read(most + 1)
    if len(content) > most:
        raise GmeError(f"{path} has more than {most:,} bytes", "is it a file of this kind?")
    return content


def write_jsonl(
    path: Path, records: Iterable[dict[str, Any] | orjson.Fragment], progress: Callable[[int], None] | None = None
) -> int:
    """Write one JSON object a line, atomically and as a stream. A `Fragment` is written as it is.

    Returns how many lines were written.
    """
    count = 0
    with atomic_write(path) as handle:
        for record in records:
            handle.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))
            count += 1
            if progress is not None:
                progress(count)
    return count


def read_jsonl(path: Path, advance: Callable[[int], None] | None = None) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line number from 1, object) for each line that is not blank. It streams, so a file of any size fits.

    Args:
        path: the file.
        advance: called with the bytes of every line that has been read.

    Raises:
        GmeError: the line is not UTF-8, not JSON (NaN and Infinity are not JSON), or not an object.
    """
    for number, line in read_lines(path, advance):
        yield number, parse_line(path, number, line)


def read_lines(path: Path, advance: Callable[[int], None] | None = None) -> Iterator[tuple[int, bytes]]:
    """Yield (line number from 1, bytes) for each line that is not blank, without line ending and byte order mark."""
    with path.open("rb") as handle:
        number = 0
        while line := handle.readline(LONGEST_LINE + 2):
            number += 1
            if len(line.removesuffix(b"\n")) > LONGEST_LINE:
                raise too_long(path, number)
            if advance is not None:
                advance(len(line))
            line = strip_line(line, number)
            if line:
                yield number, line


def too_long(path: Path, number: int) -> GmeError:
    """The error for a line beyond `LONGEST_LINE`."""
    return GmeError(f"{path}:{number}: the line has more than {LONGEST_LINE:,} bytes", "split it into several")


def strip_line(line: bytes, number: int) -> bytes:
    """Line `number` without its line ending and, on the first line, without the byte order mark."""
    return (line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line).rstrip()


def parse_line(path: Path, number: int, line: bytes) -> dict[str, Any]:
    """The JSON object in a line of a JSONL file. A `GmeError` for another content names `path` and `number`."""
    if len(line) > _MOST_VALUES and sum(map(line.count, (b",", b"[", b"{"))) > _MOST_VALUES:
        raise GmeError(f"{path}:{number}: the line holds more than {_MOST_VALUES:,} values", "split it into several")
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise GmeError(
            f"{path}:{number}: not valid JSON: {error.msg} (column {error.colno}): "
            f"{shorten(line[:1000].decode('utf-8', 'replace'))}",
            "each line must be one JSON object in UTF-8",
        ) from error
    if not isinstance(record, dict):
        raise GmeError(
            f"{path}:{number}: expected a JSON object, found {shorten(record)}",
            "each line must be one JSON object in UTF-8",
        )
    return record


def sha256(path: Path, progress: Progress | None = None) -> str:
    """The SHA-256 of a file's bytes, in hex. It is kept while the file's size and modification time stay the same.

    `progress` is called with the bytes read so far and the file's size. A file that an enclosing `atomic_group` block
    has written counts as written.
    """
    path = staged(path)
    status = path.stat()
    key = (str(path.resolve()), status.st_size, status.st_mtime_ns, status.st_ino)
    if key not in _hash_memo:
        digest = hashlib.sha256()
        with path.open("rb") as handle:
            while block := handle.read(_HASH_BLOCK):
                digest.update(block)
                if progress is not None:
                    progress(handle.tell(), status.st_size)
        _hash_memo[key] = digest.hexdigest()
    return _hash_memo[key]
