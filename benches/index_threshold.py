"""Exact search against HNSW: from how many vectors does an index pay? Prints one line a size.

Usage: python benches/index_threshold.py [SIZE ...]

Vectors are clustered (one center for about 100 of them, 384 dimensions, as in a topical corpus);
the index is built by one thread, as gme does by default.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from gme.stores.exact import ExactStore
from gme.stores.hnsw import build_hnsw
from gme.stores.store import Store
from gme.types import Vectors

DIM, QUESTIONS, DEPTH = 384, 256, 160


def clustered(rows: int, generator: np.random.Generator) -> Vectors:
    centers = generator.standard_normal((max(1, rows // 100), DIM), dtype=np.float32)
    vectors = centers[generator.integers(0, len(centers), rows)]
    vectors += 0.8 * generator.standard_normal((rows, DIM), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def milliseconds(store: Store, queries: Vectors) -> tuple[float, float]:
    """Per question: the median one at a time, and in one batch."""
    single = []
    for query in queries[:64]:
        started = time.perf_counter()
        store.search(query[None], DEPTH)
        single.append(time.perf_counter() - started)
    started = time.perf_counter()
    store.search(queries, DEPTH)
    return 1000 * float(np.median(single)), 1000 * (time.perf_counter() - started) / len(queries)


def main() -> None:
    print(f"{DIM} dimensions, {QUESTIONS} questions, {DEPTH} results each; milliseconds a question")
    print("rows     exact one  exact batch  hnsw one  hnsw batch  build s  recall@40  recall@160", flush=True)
    for rows in [int(size) for size in sys.argv[1:]] or [3_000, 10_000, 30_000, 100_000]:
        generator = np.random.default_rng(7)
        vectors = clustered(rows + QUESTIONS, generator)
        vectors, queries = np.ascontiguousarray(vectors[:rows]), np.ascontiguousarray(vectors[rows:])
        exact = ExactStore(vectors, np.arange(rows, dtype=np.uint32))
        started = time.perf_counter()
        hnsw = build_hnsw(exact)
        seconds = time.perf_counter() - started
        one, batch = milliseconds(exact, queries)
        hnsw_one, hnsw_batch = milliseconds(hnsw, queries)
        truth, found = exact.search(queries, DEPTH)[0], hnsw.search(queries, DEPTH)[0]
        recall = [np.mean([np.isin(t[:k], f[:k]).mean() for t, f in zip(truth, found, strict=True)]) for k in (40, 160)]
        print(
            f"{rows:<8} {one:9.2f}  {batch:11.3f}  {hnsw_one:8.2f}  {hnsw_batch:10.3f}  {seconds:7.1f}"
            f"  {recall[0]:9.4f}  {recall[1]:10.4f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
