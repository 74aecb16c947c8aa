"""The ledger of a sweep: the scores of every finished configuration, keyed by all that they depend on."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import orjson


class Ledger:
    """An append-only JSONL file. A line is written by one call and synced, so a killed sweep loses at most one.

    A line that is cut off or damaged counts as not there: its configuration is run again.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.damaged = 0
        self._records: dict[str, dict[str, Any]] = {}
        self._torn = False
        content = path.read_bytes() if path.is_file() else b""
        for line in content.splitlines():
            try:
                record = orjson.loads(line)
                self._records[record["key"]] = record
            except (orjson.JSONDecodeError, KeyError, TypeError):
                self.damaged += 1
        self._torn = bool(content) and not content.endswith(b"\n")

    def get(self, key: str) -> dict[str, Any] | None:
        """The record of a key, or None."""
        return self._records.get(key)

    def add(self, key: str, record: dict[str, Any]) -> None:
        """Append a record; it is on the disk when this returns."""
        full = {"key": key, **record}
        line = (b"\n" if self._torn else b"") + orjson.dumps(full, option=orjson.OPT_APPEND_NEWLINE)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab", buffering=0) as handle:
            written = handle.write(line)
            self._torn = written != len(line)
            os.fsync(handle.fileno())
        if self._torn:
            raise OSError(28, os.strerror(28), str(self.path))
        self._records[key] = full


def content_key(parts: dict[str, Any]) -> str:
    """SHA-256 of a JSON value, whatever the order of its keys."""
    return hashlib.sha256(orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)).hexdigest()
