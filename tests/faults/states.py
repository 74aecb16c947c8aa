"""What a workspace holds, apart from times: to tell as before and complete from anything else."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np

State = dict[str, tuple[str, ...]]
"""File -> hashes of its content: one, or for the ledger of a sweep, which grows, one a line."""

_OF_THE_RUN = (
    "seconds",
    "milliseconds_per_question",
    "latency_milliseconds",
    "texts_from_cache",
    "tokens",
    "texts_cut",
)
"""What a manifest says of the run: how long it took, and how much it did that the vector cache did not have."""

LEFTOVERS = (".gme", "*.tmp", "*.lock", "*.commit")


def read_state(folder: Path) -> State:
    """All files but the vector cache and what a running command needs."""
    files = {path.relative_to(folder): path for path in sorted(folder.rglob("*")) if path.is_file()}
    return {
        name.as_posix(): _hashes(path)
        for name, path in files.items()
        if not ({"cache", ".gme"} & set(name.parts) or name.suffix == ".tmp")
    }


def _hashes(path: Path) -> tuple[str, ...]:
    content = path.read_bytes()
    if path.suffix == ".json":
        return (_hash(_timeless(json.loads(content))),)
    if path.suffix == ".jsonl":
        assert content.endswith(b"\n") or not content, f"{path}: its last line is cut off"
        records = [json.loads(line) for line in content.splitlines()]
        if path.name.startswith("sweep-"):
            return tuple(_hash(_timeless(record)) for record in records)
    return (hashlib.sha256(content).hexdigest(),)


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _timeless(entry) for key, entry in value.items() if key not in _OF_THE_RUN}
    return [_timeless(entry) for entry in value] if isinstance(value, list) else value


def _hash(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def leftovers(folder: Path) -> list[str]:
    """What a finished command must not leave."""
    return sorted({path.relative_to(folder).as_posix() for kind in LEFTOVERS for path in folder.rglob(kind)})


def problems(folder: Path, before: State, complete: State) -> list[str]:
    """What is neither as before nor complete, or does not fit its manifest."""
    found = []
    now = read_state(folder)
    for name in sorted({*now, *before, *complete}):
        state, was, will = now.get(name), before.get(name), complete.get(name)
        growing = name.endswith(".jsonl") and Path(name).name.startswith("sweep-")
        if state in (was, will) or (growing and will is not None and state == will[: len(state or ())]):
            continue
        found.append(f"{name} is neither as before nor complete")
    return found + _misfits(folder)


def _index_suffix(manifest: Path) -> str:
    return ".bm25" if manifest.stem == "lexical@words" else ".usearch"


def _misfits(folder: Path) -> list[str]:
    found = []
    pairs = {
        **{path: path.with_suffix(".npy") for path in folder.rglob("embeddings/*.json")},
        **{path: path.with_suffix(".jsonl") for path in folder.rglob("runs/*.json")},
        **{path: path.with_suffix(_index_suffix(path)) for path in folder.rglob("indexes/*.json")},
        **{path: path.parent.parent / f"{path.stem}.jsonl" for path in folder.rglob("manifests/*.json")},
    }
    for manifest, path in pairs.items():
        described = json.loads(manifest.read_bytes())["sha256"]
        if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != described:
            found.append(f"{manifest.relative_to(folder)} describes another {path.name}")
    exclusive_lock = [path for path in folder.rglob("embeddings/*.npy") if path.with_suffix(".json") not in pairs]
    exclusive_lock += [path for path in folder.rglob("runs/*.jsonl") if path.with_suffix(".json") not in pairs]
    found += [f"{path.relative_to(folder)} has no manifest" for path in exclusive_lock]
    for path in folder.rglob("embeddings/*.npy"):
        np.load(path, allow_pickle=False)
    for path in folder.rglob("cache/*.sqlite"):
        answer = sqlite3.connect(path).execute("PRAGMA integrity_check").fetchone()[0]
        if answer != "ok":
            found.append(f"{path.relative_to(folder)}: {answer}")
    return found
