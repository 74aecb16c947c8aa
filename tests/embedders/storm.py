"""An embeddings server in bad weather: a seeded share of all answers is faulty, in every way that servers are.

    python tests/embedders/storm.py --texts 10000 --share 0.3 --kills 3

runs `gme embed` against it in processes that are killed on the way, sleeps included, and counts.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import numpy as np
from fake_openai_server import DIM, FakeServer, Fault, running, unit_of

KEY = "sk-storm-0123456789"
NAN = base64.b64encode(np.full(DIM, np.nan, dtype="<f4").tobytes()).decode()  # JSON itself has no NaN


def _in(seconds: float) -> str:
    return format_datetime(datetime.now(timezone.utc) + timedelta(seconds=seconds), usegmt=True)


def _narrower(answer: dict[str, Any]) -> None:
    for entry in answer["data"]:
        entry["embedding"] = [1.0] * (DIM - 1)


def kinds(late: float) -> dict[str, Callable[[random.Random], Fault]]:
    """Every kind of fault by name; answers that are `late` come after the client's time-out."""
    words = f"try again, {KEY}"  # some servers repeat the key in their errors
    return {
        "429": lambda draw: Fault(status=429, message=words),
        "429, Retry-After in seconds": lambda draw: Fault(429, {"Retry-After": "0.5"}, words),
        "429, Retry-After as a date": lambda draw: Fault(429, {"Retry-After": _in(1)}, words),
        "429, Retry-After in the past": lambda draw: Fault(429, {"Retry-After": _in(-60)}, words),
        "500": lambda draw: Fault(status=500, message=words),
        "502": lambda draw: Fault(status=502, message=words),
        "503, Retry-After": lambda draw: Fault(503, {"Retry-After": "0.2"}, words),
        "answer too late": lambda draw: Fault(delay=late),
        "body drips too long": lambda draw: Fault(drip=late / 100),
        "connection closed": lambda draw: Fault(drop=True),
        "connection reset": lambda draw: Fault(reset=True),
        "body truncated": lambda draw: Fault(truncate=True),
        "half of the JSON": lambda draw: Fault(cut=True),
        "a vector missing": lambda draw: Fault(change=lambda answer: answer["data"].pop()),
        "a vector too many": lambda draw: Fault(change=lambda answer: answer["data"].append(answer["data"][0])),
        "an index twice": lambda draw: Fault(change=lambda answer: answer["data"].__setitem__(0, answer["data"][-1])),
        "a vector of another size": lambda draw: Fault(
            change=lambda answer: answer["data"][draw.randrange(99) % len(answer["data"])].update(embedding=[1.0])
        ),
        "all vectors of another size": lambda draw: Fault(change=_narrower),
        "a vector of NaN": lambda draw: Fault(spoil=(draw.randrange(99), NAN)),
        "a vector of zeros": lambda draw: Fault(spoil=(draw.randrange(99), [0.0] * DIM)),
    }


class Storm:
    """Draws a fault for a request from the seed, its texts and how often they were asked for, in any order of threads.

    Attributes:
        seen: how many faults of each kind there were.
        shuffled: how many good answers had their vectors in another order.
    """

    def __init__(self, seed: int, share: float, late: float) -> None:
        self.seen: Counter[str] = Counter()
        self.shuffled = 0
        self._seed, self._share = seed, share
        self._kinds = kinds(late)
        self._asked: Counter[str] = Counter()
        self._lock = threading.Lock()

    def __call__(self, body: dict[str, Any]) -> Fault:
        with self._lock:
            name = hashlib.sha256("\n".join(body["input"]).encode()).hexdigest()
            self._asked[name] += 1
            draw = random.Random(f"{self._seed} {name} {self._asked[name]}")
            # A duplicated index needs two vectors: without them the answer would be right.
            possible = [kind for kind in self._kinds if len(body["input"]) > 1 or kind != "an index twice"]
            if draw.random() >= self._share:
                return Fault()
            kind = draw.choice(possible)
            self.seen[kind] += 1
        return self._kinds[kind](draw)


def texts_of(count: int) -> list[str]:
    return [f"text number {number}" for number in range(count)]


def _processes(folder: Path, server: FakeServer, goals: list[int], timeout: float) -> Iterator[tuple[int, str]]:
    """Run `gme embed` again and again until it ends well; yields (exit code, what it wrote) of each process.

    A process is killed when so many texts are paid as the next of `goals` says.
    """
    command = [sys.executable, "-c", "from gme.cli import main; main()", "embed", "--workspace", str(folder)]
    command += ["--model", "openai:fake", "--base-url", server.url, "--dimensions", str(DIM), "--batch-size", "8"]
    command += ["--timeout", str(timeout), "--cache", str(folder / "cache"), "--api-key-env", "STORM_KEY"]
    while True:
        before = len(server.paid)
        process = subprocess.Popen(
            command,
            env={**os.environ, "STORM_KEY": KEY},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        while goals and process.poll() is None:
            if len(server.paid) >= goals[0]:
                process.send_signal(signal.SIGKILL)
                goals.pop(0)
                break
            time.sleep(0.05)
        output, _ = process.communicate()
        yield process.returncode, output
        if process.returncode == 0:
            return
        if len(server.paid) == before:
            raise SystemExit(f"a process ended without getting anything done:\n{output}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--texts", type=int, default=10_000)
    parser.add_argument("--share", type=float, default=0.3)
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=2.0)
    given = parser.parse_args()
    texts = texts_of(given.texts)
    storm = Storm(given.seed, given.share, late=2 * given.timeout)
    goals = [given.texts * (number + 1) // (given.kills + 1) for number in range(given.kills)]
    started = time.monotonic()
    with running() as server, tempfile.TemporaryDirectory() as name:
        server.weather, server.keys, server.shuffle = storm, {KEY}, True
        folder = Path(name)
        nodes = (json.dumps({"id": f"n{row}", "type": "chunk", "text": text}) for row, text in enumerate(texts))
        (folder / "nodes.jsonl").write_text("\n".join(nodes) + "\n")
        ends = list(_processes(folder, server, goals, given.timeout))
        vectors = np.load(folder / "embeddings" / "original.npy")
        expected = np.stack([unit_of(text) for text in texts])
        wrong = int((np.abs(vectors - expected).max(axis=1) > 1e-6).sum())
        files = [file for file in folder.rglob("*") if file.is_file()]
        leaks = sum(KEY.encode() in file.read_bytes() for file in files) + sum(KEY in output for _, output in ends)
    again = sum(server.paid.values()) - len(server.paid)
    for kind, count in sorted(storm.seen.items()):
        print(f"{count:6,}  {kind}")
    print(
        f"{sum(storm.seen.values()):,} faults in {len(server.requests):,} requests, {time.monotonic() - started:.0f} s"
    )
    print(f"processes ended with {[code for code, _ in ends]}")
    print(f"vectors: {len(vectors):,}, wrong: {wrong}; texts never paid: {len(set(texts) - set(server.paid))}")
    print(f"texts paid again, because an answer was on its way to a killed process: {again}")
    print(f"files and outputs that hold the key: {leaks}")
    sys.exit(bool(wrong or leaks or again > given.kills * 8 * 8))


if __name__ == "__main__":
    main()
