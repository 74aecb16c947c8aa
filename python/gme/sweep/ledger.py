"""The ledger of a sweep: the scores of every finished configuration, with a key made of everything they depend on."""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

import orjson

from .results import Record


class Ledger:
    """An append-only JSONL file. Each line is written by one call and synced, so a killed sweep loses at most one.

    If a sweep is killed while it writes, the last line is cut off. The next line takes its place. `damaged` counts the
    other lines that cannot be read. Their configurations are run again.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.damaged = 0
        self._records: dict[str, Record] = {}
        content = path.read_bytes() if path.is_file() else b""
        self._end = content.rfind(b"\n") + 1
        for line in content[: self._end].splitlines():
            try:
                record = orjson.loads(line)
                self._records[record["key"]] = record
            except (orjson.JSONDecodeError, KeyError, TypeError):
                self.damaged += 1

    def get(self, key: str) -> Record | None:
        """The record of a key, or None if there is none."""
        return self._records.get(key)

    def add(self, key: str, record: Record) -> None:
        """Append a record. It is on the disk when this method returns."""
        line = orjson.dumps({"key": key, **record}, option=orjson.OPT_APPEND_NEWLINE)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab", buffering=0) as handle:
            handle.truncate(self._end)
            try:
                if handle.write(line) != len(line):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
                os.fsync(handle.fileno())
            except BaseException:
                handle.truncate(self._end)
                raise
        self._end += len(line)
        self._records[key] = record


def content_key(parts: Mapping[str, object]) -> str:
    """The SHA-256 of a JSON value. It does not depend on the order of keys."""
    return hashlib.sha256(orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)).hexdigest()
