"""A cache of vectors by their texts. Each text is embedded only once, even if a run is stopped."""

from __future__ import annotations

import contextlib
import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from ..errors import GmeError
from ..types import Vectors

FILE = "embeddings.sqlite"
_VERSION = 1
_BUSY_SECONDS = 60.0
_KEYS_PER_QUERY = 500

_SCHEMA = """
CREATE TABLE IF NOT EXISTS embedders (number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS vectors (
    embedder INTEGER NOT NULL, text BLOB NOT NULL, vector BLOB NOT NULL, checksum INTEGER NOT NULL,
    UNIQUE (embedder, text)
);
"""


class VectorCache:
    """Vectors by (embedder key, SHA-256 of the text), in one SQLite file.

    When `put` returns, all its vectors are on the disk. If the process is killed before that, none of them is. Several
    processes may share a file. The first vector stored for a text stays. SQLite's rollback journal is used, because its
    write-ahead log is not safe on network file systems.

    Args:
        folder: the folder of `embeddings.sqlite`; made if it is missing.
        key: the embedder's `key`.

    Raises:
        GmeError: from every method: the file is damaged, locked for a minute or not writable, or the disk is full.
    """

    def __init__(self, folder: Path, key: str) -> None:
        self.path = folder / FILE
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise GmeError(f"{folder}: no folder for the cache: {error.strerror}", _ELSEWHERE) from error
        with self._explained():
            self._connection = sqlite3.connect(self.path, timeout=_BUSY_SECONDS, isolation_level=None)
            self._number = self._prepare(key)

    def _prepare(self, key: str) -> int:
        run = self._connection.execute
        run("PRAGMA journal_mode = TRUNCATE")
        run("PRAGMA synchronous = NORMAL")
        version = run("PRAGMA user_version").fetchone()[0]
        if version not in (0, _VERSION):
            raise GmeError(f"{self.path} was written by another version of gme", f"delete it, or {_ELSEWHERE}")
        with self._transaction():
            for statement in _SCHEMA.split(";"):
                run(statement)
            run(f"PRAGMA user_version = {_VERSION}")
            run("INSERT OR IGNORE INTO embedders (key) VALUES (?)", (key,))
            return int(run("SELECT number FROM embedders WHERE key = ?", (key,)).fetchone()[0])

    def get(self, texts: Sequence[bytes]) -> Iterator[tuple[bytes, Vectors]]:
        """Yield (digest, vector float32 (dim,)) for those of the given SHA-256 digests that are stored."""
        for start in range(0, len(texts), _KEYS_PER_QUERY):
            block = texts[start : start + _KEYS_PER_QUERY]
            marks = ",".join("?" * len(block))
            query = f"SELECT text, vector, checksum FROM vectors WHERE embedder = ? AND text IN ({marks})"
            with self._explained():
                rows = self._connection.execute(query, (self._number, *block)).fetchall()
            for text, vector, checksum in rows:
                if not isinstance(vector, bytes) or zlib.crc32(vector) != checksum or len(vector) % 4:
                    raise GmeError(f"{self.path} is damaged: a vector is not what was stored", _DELETE)
                yield text, np.frombuffer(vector, dtype="<f4").astype(np.float32, copy=False)

    def put(self, texts: Sequence[bytes], vectors: Vectors) -> None:
        """Store vectors float32 (len(texts), dim) under the SHA-256 digests of their texts."""
        blobs = [row.astype("<f4", copy=False).tobytes() for row in vectors]
        rows = [(self._number, text, blob, zlib.crc32(blob)) for text, blob in zip(texts, blobs, strict=True)]
        with self._explained(), self._transaction():
            self._connection.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?, ?, ?)", rows)

    def close(self) -> None:
        """Close the file. The cache can't be used afterwards."""
        self._connection.close()

    def __enter__(self) -> VectorCache:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        # IMMEDIATE takes the write lock at the beginning. SQLite can't wait for a lock in the middle of a transaction.
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            reason = str(error)
            if "locked" in reason:
                raise GmeError(
                    f"{self.path} is in use by another process", "wait for it to end and try again"
                ) from error
            if isinstance(error, sqlite3.OperationalError) and ("full" in reason or "I/O" in reason):
                raise GmeError(f"{self.path}: {reason}", f"free some space, or {_ELSEWHERE}") from error
            if isinstance(error, sqlite3.OperationalError) and ("open" in reason or "readonly" in reason):
                raise GmeError(f"{self.path}: can't be written: {reason}", _ELSEWHERE) from error
            raise GmeError(f"{self.path} is damaged: {reason}", _DELETE) from error


_ELSEWHERE = "choose another folder with --cache FOLDER, or use --no-cache"
_DELETE = "delete the file and run the command again; the texts in it are then embedded anew"
