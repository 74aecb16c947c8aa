"""The ledger of a sweep: the scores of every finished configuration, keyed by all that they depend on."""

from __future__ import annotations

import errno
import hashlib
import os
from pathlib import Path
from typing import Any

import orjson


class Ledger:
    """An append-only JSONL file. A line is written by one call and synced, so a killed sweep loses at most one.

    A line that is cut off at the end was being written by a killed sweep: the next one takes its place. Any other line
    that can't be read is counted in `damaged`, and its configuration is run again.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.damaged = 0
        self._records: dict[str, dict[str, Any]] = {}
        content = path.read_bytes() if path.is_file() else b""
        self._end = content.rfind(b"\n") + 1
        for line in content[: self._end].splitlines():
            try:
                record = orjson.loads(line)
                self._records[record["key"]] = record
            except (orjson.JSONDecodeError, KeyError, TypeError):
                self.damaged += 1

    def get(self, key: str) -> dict[str, Any] | None:
        """The record of a key, or None."""
        return self._records.get(key)

    def add(self, key: str, record: dict[str, Any]) -> None:
        """Append a record; it is on the disk when this returns."""
        full = {"key": key, **record}
        line = orjson.dumps(full, option=orjson.OPT_APPEND_NEWLINE)
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
        self._records[key] = full


def content_key(parts: dict[str, Any]) -> str:
    """SHA-256 of a JSON value, whatever the order of its keys."""
    return hashlib.sha256(orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)).hexdigest()
