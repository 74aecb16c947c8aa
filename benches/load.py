"""Load: questions against a large collection, exact and HNSW, in batches, one by one, from many readers, and for long.

    python benches/load.py --folder FOLDER --nodes 1000000 --questions 10000 --dim 384

Makes a workspace unless the folder holds one of that size, and runs the package's own `open_store` and `retrieve`.
Prints the tables of docs/research/load.md. `--only serve` (or peers, readers, soak) runs a part.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gme.pipeline.index import OpenSettings, open_store
from gme.reporting import Reporter
from gme.retrieval.batch import retrieve
from gme.stores.store import Store
from gme.types import Vectors
from gme.workspace import Workspace

COMMUNITY = 100
NOISE = 0.8
NEIGHBORS = 16
STRATEGIES = ("plain", "envelope", "chained")
BUDGET = 40
PAGE = 2**20


def generate(folder: Path, nodes: int, questions: int, dim: int) -> None:
    """Nodes and questions around the centers of communities (as text embeddings of topics lie), members anywhere.

    A modified vector is the mean of 16 members of the node's community, which is what `hop1` makes of such a graph.
    """
    (folder / "embeddings").mkdir(parents=True, exist_ok=True)
    with (folder / "nodes.jsonl").open("w") as handle:
        handle.writelines(f'{{"id": "n{row:08}", "type": "chunk", "text": "text {row}"}}\n' for row in range(nodes))
    generator = np.random.default_rng(7)
    communities = max(1, nodes // COMMUNITY)
    centers = generator.standard_normal((communities, dim), dtype=np.float32)
    of_node = generator.permutation(nodes) % communities
    original = _new(folder / "embeddings" / "original.npy", (nodes, dim))
    for rows in _blocks(nodes):
        original[rows] = _around(centers, of_node[rows], generator)
    members = np.argsort(of_node, kind="stable")
    starts = np.searchsorted(of_node[members], np.arange(communities + 1))
    modified = _new(folder / "embeddings" / "modified.npy", (nodes, dim))
    for rows in _blocks(nodes):
        first, last = starts[of_node[rows]], starts[of_node[rows] + 1]
        total = np.zeros((len(first), dim), dtype=np.float32)
        for _ in range(NEIGHBORS):
            total += original[members[generator.integers(first, last)]]
        modified[rows] = total / NEIGHBORS
    asked = _around(centers, generator.integers(0, communities, questions), generator)
    np.save(folder / "embeddings" / "questions.npy", asked)


def _new(path: Path, shape: tuple[int, int]) -> Any:
    return np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=shape)


def _blocks(count: int) -> Iterable[slice]:
    return (slice(start, min(start + 32_768, count)) for start in range(0, count, 32_768))


def _around(centers: Vectors, which: npt.NDArray[Any], generator: np.random.Generator) -> Vectors:
    vectors = centers[which] + np.float32(NOISE) * generator.standard_normal((len(which), centers.shape[1]), np.float32)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


def prepare(given: argparse.Namespace) -> None:
    wanted = {key: getattr(given, key) for key in ("nodes", "questions", "dim")}
    note = given.folder / "load.json"
    if not (note.is_file() and json.loads(note.read_text()) == wanted):
        note.unlink(missing_ok=True)
        generate(given.folder, **wanted)
        note.write_text(json.dumps(wanted))


class Printing(Reporter):
    """Notes on standard error."""

    def note(self, text: str) -> None:
        print(text, file=sys.stderr)


def opened(folder: Path, kind: str, threads: int = 0) -> tuple[Store, Store]:
    """The original and the modified collection, as `gme retrieve` opens them."""
    workspace = Workspace(folder)
    settings = OpenSettings(threads=threads, build_threads=2, reporter=Printing())
    return open_store(workspace, "original", kind, settings), open_store(workspace, "modified", kind, settings)


def ask(stores: tuple[Store, Store], strategy: str, queries: Vectors) -> Any:
    return retrieve(strategy, *stores, queries, budget=BUDGET)


def recalls(exact: Any, found: Any) -> str:
    """The share of what exact search returns that HNSW returns: of each stage, and of all."""
    parts, start = [], 0
    sizes = [stage.size for stage in exact.schedule.stages] if exact.schedule else [len(exact.stages)]
    for end in np.cumsum(sizes):
        recall = _recall(exact.rows[:, start:end], found.rows[:, start:end])
        parts.append(f"{exact.stages[start]} {recall:.4f}")
        start = end
    return ", ".join(parts) + f" | {_recall(exact.rows, found.rows):.4f}"


def _recall(expected: Any, found: Any) -> float:
    return float(np.mean([np.isin(e, f).mean() for e, f in zip(expected, found, strict=True)]))


def serve(given: argparse.Namespace, queries: Vectors) -> None:
    """Throughput of all questions in one call, and the latency of questions that come alone."""
    print("| index | strategy | searches | questions a second | p50 ms | p95 ms | p99 ms | recall by stage | recall |")
    print("|---|---|---:|---:|---:|---:|---:|---|---:|")
    truth: dict[str, Any] = {}
    for kind in given.kinds:
        stores = opened(given.folder, kind)
        for strategy in STRATEGIES:
            batch = queries if strategy == "plain" else queries[: given.staged_questions]
            answer = ask(stores, strategy, batch)
            seconds = []
            for query in queries[: given.singles]:
                started = time.perf_counter()
                ask(stores, strategy, query[None])
                seconds.append(time.perf_counter() - started)
            milliseconds = " | ".join(f"{1000 * value:.1f}" for value in np.percentile(seconds, (50, 95, 99)))
            recall = recalls(truth[strategy], answer) if strategy in truth else "|"
            truth.setdefault(strategy, answer)
            rate = len(batch) / answer.seconds
            print(
                f"| {kind} | {strategy} | {answer.search_calls} | {rate:,.1f} | {milliseconds} | {recall} |", flush=True
            )


def peers(given: argparse.Namespace, queries: Vectors) -> None:
    """Exact search of a batch beside numpy and USearch, ours before and after them."""
    from usearch.index import MetricKind, search

    stores = opened(given.folder, "exact")
    vectors, few = stores[0].vectors, queries[: given.peer_questions]

    def by_numpy() -> Any:
        found = []
        for query in np.split(few, range(64, len(few), 64)):  # all scores of 64 questions at a time fit the memory
            scores = query @ vectors.T
            near = np.argpartition(-scores, BUDGET, axis=1)[:, :BUDGET]
            found.append(np.take_along_axis(near, np.argsort(-np.take_along_axis(scores, near, 1), 1), 1))
        return np.concatenate(found)

    works: dict[str, Callable[[], Any]] = {
        "gme": lambda: stores[0].search(few, BUDGET)[0],
        "numpy product, argpartition": by_numpy,
        "usearch exact": lambda: search(vectors, few, BUDGET, MetricKind.IP, exact=True).keys,
    }
    works["gme, again"] = works["gme"]
    print(f"| exact search, {len(few):,} questions | questions a second | times gme's seconds | same nodes |")
    print("|---|---:|---:|---:|")
    ours, expected = 0.0, None
    for who, work in works.items():
        started = time.perf_counter()
        found = work()
        seconds = time.perf_counter() - started
        ours, expected = ours or seconds, found if expected is None else expected
        print(
            f"| {who} | {len(few) / seconds:,.1f} | {seconds / ours:.2f} | {_recall(expected, found):.4f} |", flush=True
        )


def memory(pid: int | str = "self") -> dict[str, float]:
    """Resident MiB by kind: `Pss` counts a page that n processes share as one n-th."""
    values = {}
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]:
        name, _, rest = line.partition(":")
        values[name] = int(rest.split()[0]) / 1024
    return values


def _reader(folder: Path, kind: str, strategy: str, start: Any, results: Any, part: Vectors) -> None:
    stores = opened(folder, kind, threads=1)
    ask(stores, strategy, part[:1])
    start.wait()
    started = time.perf_counter()
    rows = [ask(stores, strategy, query[None]).rows for query in part]
    seconds = time.perf_counter() - started
    start.wait()
    results.put((seconds, memory(), np.concatenate(rows).tobytes()))
    start.wait()


def readers(given: argparse.Namespace, queries: Vectors) -> None:
    """Several processes, then several threads of one process, ask one by one on the same files."""
    print(
        "| index | readers | questions a second | resident MiB each | of these private | Pss MiB, all | same answers |"
    )
    print("|---|---|---:|---:|---:|---:|---|")
    context = multiprocessing.get_context("spawn")
    part = queries[: given.reader_questions]
    for kind in given.kinds:
        expected: bytes | None = None
        for count in given.readers:
            start, results = context.Barrier(count), context.Queue()
            work = [
                context.Process(target=_reader, args=(given.folder, kind, "plain", start, results, part))
                for _ in range(count)
            ]
            for process in work:
                process.start()
            ends = [results.get() for _ in work]
            for process in work:
                process.join()
            expected = expected or ends[0][2]
            rate = count * len(part) / max(seconds for seconds, _, _ in ends)
            resident = np.mean([kinds["Rss"] for _, kinds, _ in ends])
            private = np.mean([kinds["Private_Clean"] + kinds["Private_Dirty"] for _, kinds, _ in ends])
            shared = sum(kinds["Pss"] for _, kinds, _ in ends)
            same = all(rows == expected for _, _, rows in ends)
            held = f"{resident:,.0f} | {private:,.0f} | {shared:,.0f}"
            print(f"| {kind} | {count} processes | {rate:,.1f} | {held} | {same} |", flush=True)
        stores = opened(given.folder, kind, threads=1)
        for count in given.readers:
            rate, same = _by_threads(stores, count, part, expected)
            print(f"| {kind} | {count} threads | {rate:,.1f} | {memory()['Rss']:,.0f} | | | {same} |", flush=True)


def _by_threads(stores: tuple[Store, Store], count: int, part: Vectors, expected: bytes | None) -> tuple[float, bool]:
    rows: list[bytes] = []

    def work() -> None:
        rows.append(np.concatenate([ask(stores, "plain", query[None]).rows for query in part]).tobytes())

    threads = [threading.Thread(target=work) for _ in range(count)]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return count * len(part) / (time.perf_counter() - started), all(found == expected for found in rows)


def soak(given: argparse.Namespace, queries: Vectors) -> None:
    """One process answers for long: private memory at a thousand moments, and the line through its second half."""
    for kind in given.kinds:
        stores = opened(given.folder, kind)
        asked: list[int] = []
        held: list[float] = []
        done, started, turn = 0, time.perf_counter(), 0
        while done < given.soak:
            for strategy, size in (("plain", 1), ("chained", 1), ("envelope", 1), ("plain", 64), ("chained", 7)):
                picks = np.arange(turn, turn + size) % len(queries)
                ask(stores, strategy, queries[picks])
                done, turn = done + size, turn + size
            if not asked or done - asked[-1] >= given.soak / 1000:
                asked.append(done)
                kinds = memory()
                held.append(kinds["Private_Dirty"])
        half = len(asked) // 2
        slope = np.polyfit(asked[half:], held[half:], 1)[0] * PAGE / 1024 * 1000
        marks = [f"{asked[i]:,}: {held[i]:,.1f}" for i in np.linspace(0, len(asked) - 1, 9).astype(int)]
        print(f"{kind}: {done:,} questions in {time.perf_counter() - started:,.0f} s; private MiB after questions: ")
        print("; ".join(marks) + f". Second half: {slope:+.2f} KiB a 1,000 questions.", flush=True)


PARTS = {"serve": serve, "peers": peers, "readers": readers, "soak": soak}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True, help="made, or used again")
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--questions", type=int, default=10_000)
    parser.add_argument("--dim", type=int, default=384)
    parser.add_argument("--kinds", nargs="+", default=["exact", "hnsw"], help="exact first: it is what recall is of")
    parser.add_argument("--only", nargs="+", default=list(PARTS), choices=PARTS)
    parser.add_argument("--staged-questions", type=int, default=10_000, help="of them, for envelope and chained")
    parser.add_argument("--singles", type=int, default=500, help="questions asked alone")
    parser.add_argument("--peer-questions", type=int, default=256)
    parser.add_argument("--readers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--reader-questions", type=int, default=100, help="asked by each reader")
    parser.add_argument("--soak", type=int, default=50_000, help="questions")
    given = parser.parse_args()
    prepare(given)
    queries = np.load(given.folder / "embeddings" / "questions.npy")
    for name in given.only:
        print(f"\n{name}: {given.nodes:,} nodes, {given.dim} dimensions\n")
        PARTS[name](given, queries)


if __name__ == "__main__":
    main()
