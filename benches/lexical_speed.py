"""How fast the lexical index is: its share of a question's time, and beside bm25s. See `lexical_study`.

All times are the processor's, of all threads: other work on the machine counts little.
"""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import gme
from gme import _core
from gme.lexical import LexicalIndex
from gme.lexical.index import K1, B
from gme.types import Vectors

ROUNDS = 5
QUESTIONS = 100
RESULTS = 40
TEXTS_AT_ONCE = 1 << 16
VOCABULARY = 200_000
TEXT_WORDS, QUESTION_WORDS = (40, 120), (6, 18)


def made_up_texts(count: int, words: tuple[int, int], seed: int) -> list[str]:
    """Texts whose words follow Zipf's law, so that a question meets long lists as in a real corpus."""
    generator = np.random.default_rng(seed)
    lengths = generator.integers(*words, count)
    share = 1 / (np.arange(VOCABULARY) + 2.7)
    drawn = np.searchsorted(np.cumsum(share / share.sum()), generator.random(int(lengths.sum())))
    names = np.array([f"{number:x}q" for number in range(VOCABULARY)])
    parts = np.split(names[np.minimum(drawn, VOCABULARY - 1)], np.cumsum(lengths)[:-1])
    return [" ".join(part) for part in parts]


def taking_turns(calls: Sequence[Callable[[int], object]]) -> list[float]:
    """The smallest of some rounds' medians of each kind of call; kinds take turns, so that all see the same load."""
    rounds = []
    for _ in range(ROUNDS):
        seconds = np.empty((QUESTIONS, len(calls)))
        for number in range(QUESTIONS):
            for kind, call in enumerate(calls):
                started = time.process_time()
                call(number)
                seconds[number, kind] = time.process_time() - started
        rounds.append(np.median(seconds, axis=0) * 1000)
    return [float(value) for value in np.min(rounds, axis=0)]


def median_milliseconds(call: Callable[[int], object], calls: int = QUESTIONS) -> float:
    """The smallest of some rounds' median times of calls by number."""
    medians = []
    for _ in range(ROUNDS):
        seconds = []
        for number in range(calls):
            started = time.process_time()
            call(number)
            seconds.append(time.process_time() - started)
        medians.append(float(np.median(seconds)) * 1000)
    return min(medians)


def latency(sizes: Sequence[int]) -> Iterator[str]:
    """One question at a time, one thread: `envelope` with and without words, and the search by words alone."""
    yield "| passages | no words | search by words | no rest | envelope | more than no words | bm25 | hybrid | plain |"
    yield "|---|---|---|---|---|---|---|---|---|"
    yield from map(_latency_row, sizes)
    yield ""


def _latency_row(size: int) -> str:
    x, signatures, queries = _vectors(size)
    index = LexicalIndex.build(made_up_texts(size, TEXT_WORDS, 1))
    index = LexicalIndex(index.data, index.ranks, 1)
    questions = made_up_texts(QUESTIONS, QUESTION_WORDS, 2)
    stores = [gme.ExactStore(vectors, index.ranks, 1) for vectors in (x, signatures)]

    def answer(strategy: str, number: int, **options: object) -> object:
        one = slice(number, number + 1)
        given: dict[str, Any] = {"texts": index, "questions": questions[one], "threads": 1, **options}
        return gme.retrieve(strategy, *stores, queries[one], **given)

    calls: list[Callable[[int], object]] = [
        lambda number: answer("envelope", number, lexical=False),
        lambda number: answer("envelope", number, rest_weight=0.0),
        lambda number: answer("envelope", number),
        lambda number: index.search(questions[number : number + 1], RESULTS),
        *(lambda number, name=name: answer(name, number) for name in ("bm25", "hybrid", "plain")),  # type: ignore[misc]
    ]
    without, no_rest, whole, alone, *others = taking_turns(calls)
    times = [
        f"{size:,}",
        *(f"{value:.2f}" for value in (without, alone, no_rest, whole)),
        f"{100 * (whole / without - 1):.0f} %",
        *(f"{other:.2f}" for other in others),
    ]
    return f"| {' | '.join(times)} |"


def _vectors(size: int) -> tuple[Vectors, Vectors, Vectors]:
    """Original vectors and signatures in clusters of fifty, and questions near some of them."""
    generator = np.random.default_rng(size)
    place = np.arange(size) % max(size // 50, 1)

    def clustered(dim: int, noise: float) -> Vectors:
        centers = generator.standard_normal((place.max() + 1, dim), dtype=np.float32)
        return centers[place] + np.float32(noise) * generator.standard_normal((size, dim), dtype=np.float32)

    x, signatures = clustered(384, 1.0), clustered(512, 0.3)
    return x, signatures, x[:QUESTIONS] + generator.standard_normal((QUESTIONS, 384), dtype=np.float32)


def peers(sizes: Sequence[int]) -> Iterator[str]:
    """Building and searching beside bm25s, with the same terms: all questions in one call, and one at a time."""
    yield "| passages | index | build s | size MB | all questions, ms each | one at a time, ms |"
    yield "|---|---|---|---|---|---|"
    for size in sizes:
        texts, questions = made_up_texts(size, TEXT_WORDS, 1), made_up_texts(QUESTIONS, QUESTION_WORDS, 2)
        yield _ours(texts, questions)
        yield _bm25s(texts, questions)
    yield f"\nOne thread, on {os.cpu_count()} cores; the smallest of {ROUNDS} rounds."


def _ours(texts: list[str], questions: list[str]) -> str:
    started = time.process_time()
    index = LexicalIndex.build(texts, threads=1)
    seconds = time.process_time() - started
    index = LexicalIndex(index.data, index.ranks, 1)
    single = median_milliseconds(lambda number: index.search(questions[number : number + 1], RESULTS))
    batch = median_milliseconds(lambda _: index.search(questions, RESULTS), 1) / QUESTIONS
    return f"| {len(texts):,} | ours | {seconds:.1f} | {index.data.nbytes / 1e6:.0f} | {batch:.3f} | {single:.3f} |"


def _bm25s(texts: list[str], questions: list[str]) -> str:
    import bm25s

    started = time.process_time()
    peer = bm25s.BM25(method="lucene", k1=0.9, b=0.4)
    peer.index([_terms(text) for text in texts], show_progress=False)
    seconds = time.process_time() - started
    asked = [sorted(set(_terms(question))) for question in questions]
    given = {"k": RESULTS, "n_threads": 1, "show_progress": False}
    single = median_milliseconds(lambda number: peer.retrieve(asked[number : number + 1], **given))
    batch = median_milliseconds(lambda _: peer.retrieve(asked, **given), 1) / QUESTIONS
    held = sum(peer.scores[name].nbytes for name in ("data", "indices", "indptr"))
    words = sum(len(term.encode()) + 8 for term in peer.vocab_dict)
    name = f"bm25s {bm25s.__version__}"
    return f"| {len(texts):,} | {name} | {seconds:.1f} | {(held + words) / 1e6:.0f} | {batch:.3f} | {single:.3f} |"


def scale(size: int, folder: Path) -> Iterator[str]:
    """Building an index of so many texts on the disk, texts made as they are needed, and searching it where it lies."""
    path, spill = folder / "scale.bm25", folder / "scale.spill"
    path.write_bytes(b"")
    spill.write_bytes(b"")
    builder = _core.LexicalBuilder(size, k1=K1, b=B, spill=str(spill))
    seconds = 0.0
    for start in range(0, size, TEXTS_AT_ONCE):
        texts = made_up_texts(min(TEXTS_AT_ONCE, size - start), TEXT_WORDS, start + 1)
        started = time.perf_counter()
        builder.add(texts, np.arange(start, start + len(texts), dtype=np.uint32))
        seconds += time.perf_counter() - started
    started = time.perf_counter()
    builder.finish(str(path))
    seconds += time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    index = LexicalIndex(np.memmap(path, dtype=np.uint64, mode="r"), np.arange(size, dtype=np.uint32), 1)
    yield (
        f"{size:,} texts: {seconds:.0f} s on {os.cpu_count()} cores, {peak:.1f} GB of memory at most, "
        f"{spill.stat().st_size / 1e9:.1f} GB on the disk meanwhile; the index holds {index.terms:,} terms and "
        f"{index.postings:,} postings in {path.stat().st_size / 1e9:.1f} GB."
    )
    questions = made_up_texts(QUESTIONS, QUESTION_WORDS, 2)
    single = median_milliseconds(lambda number: index.search(questions[number : number + 1], RESULTS))
    yield f"One question at a time, one thread: {single:.1f} ms of processor time."
    for file in (path, spill):
        file.unlink()


def _terms(text: str) -> list[str]:
    words = _core.lexical_words(text)
    return words + [f"{first} {second}" for first, second in pairwise(words)]
