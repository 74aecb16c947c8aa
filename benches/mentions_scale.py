"""Title mentions at size: seconds, passages a second and peak memory for 10k, 100k and 1M synthetic passages.

    python benches/mentions_scale.py [SIZE …]

Every size runs in a process of its own, so that its peak memory is its own. A passage has a title of two words and a
text of some 80 words in which about three of the other titles stand; the words come from a vocabulary whose frequencies
fall as 1/rank. Exponents are slopes of log seconds over log passages: 1 is linear. On a
busy machine trust processor seconds.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

SIZES = (10_000, 100_000, 1_000_000)
WORDS = 80
MENTIONS = 3
VOCABULARY = 50_000

COLUMNS: dict[str, Callable[[dict[str, float]], str]] = {
    "passages": lambda line: f"{line['passages']:,}",
    "seconds": lambda line: f"{line['seconds']:.2f}",
    "CPU seconds": lambda line: f"{line['processor_seconds']:.2f}",
    "passages/s": lambda line: f"{line['passages'] / line['seconds']:,.0f}",
    "mentions": lambda line: f"{line['mentions']:,}",
    "corpus MB": lambda line: f"{line['corpus_mb']:,.0f}",
    "peak MB": lambda line: f"{line['peak_mb']:,.0f}",
}


def memory(field: str) -> float:
    """A field of this process's memory status, in MB."""
    with Path("/proc/self/status").open() as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith(field + ":"))


def corpus(size: int) -> tuple[list[str], list[str]]:
    """Titles, which are distinct, and texts."""
    import numpy as np

    generator = np.random.default_rng(7)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    lengths = generator.integers(3, 10, VOCABULARY)
    words = ["".join(letters[generator.integers(0, 26, length)]) for length in lengths]
    shares = 1 / np.arange(1, VOCABULARY + 1)
    shares /= shares.sum()
    names = [word.capitalize() for word in words]
    titles = [
        f"{names[a]} {names[b]} {number}"
        for number, (a, b) in enumerate(generator.integers(0, VOCABULARY, (size, 2)).tolist())
    ]
    texts = []
    for start in range(0, size, 10_000):
        count = min(10_000, size - start)
        drawn = generator.choice(VOCABULARY, (count, WORDS), p=shares).tolist()
        mentioned = generator.integers(0, size, (count, MENTIONS)).tolist()
        for row, others in zip(drawn, mentioned, strict=True):
            parts = [words[number] for number in row]
            for place, other in enumerate(others, start=1):
                parts.insert(place * 20, titles[other])
            texts.append(" ".join(parts))
    return titles, texts


def measure(size: int) -> dict[str, float]:
    """Build the corpus, then time the search for its titles in its texts."""
    from gme._core import title_mentions

    titles, texts = corpus(size)
    before = memory("VmHWM")
    started, worked = time.perf_counter(), time.process_time()
    found, _ = title_mentions(titles, texts, ignore_case=False, min_length=3)
    seconds, processor = time.perf_counter() - started, time.process_time() - worked
    return {
        "passages": size,
        "seconds": seconds,
        "processor_seconds": processor,
        "mentions": len(found),
        "corpus_mb": before,
        "peak_mb": memory("VmHWM"),
    }


def slope(results: list[dict[str, float]], key: str) -> float:
    """The exponent of a power law through the results, by least squares."""
    x = [math.log(line["passages"]) for line in results]
    y = [math.log(line[key]) for line in results]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    return sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True)) / sum((a - mean_x) ** 2 for a in x)


def main() -> None:
    """Measure all sizes and print a table."""
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(measure(int(sys.argv[2]))))
        return
    sizes = [int(size) for size in sys.argv[1:]] or list(SIZES)
    results = []
    print("".join(f"{heading:>12}" for heading in COLUMNS))
    for size in sizes:
        output = subprocess.run(
            [sys.executable, __file__, "--one", str(size)], check=True, capture_output=True, text=True
        ).stdout
        line = json.loads(output)
        results.append(line)
        print("".join(f"{show(line):>12}" for show in COLUMNS.values()), flush=True)
    if len(results) > 1:
        print(f"from {results[-2]['passages']:,} to {results[-1]['passages']:,} passages:")
        for what, key in (("seconds", "seconds"), ("processor seconds", "processor_seconds")):
            print(f"  {what} to the power {slope(results[-2:], key):.2f} (all sizes: {slope(results, key):.2f})")


if __name__ == "__main__":
    main()
