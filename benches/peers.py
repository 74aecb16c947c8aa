"""Run gme's kernels and their peers side by side and print one table.

Every cell runs in a process of its own, so that its peak memory is its own and no library's threads or caches disturb
another's; the cells of one piece of work follow each other directly, since the machine's mood changes with time.

    just bench                       every piece of work
    just bench --only walks,hop1     some
    just bench --nodes 20000         on a smaller graph
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

Timed = Callable[[], Any]

NEUROGRAPHDB_SECONDS_A_PASSAGE = 0.0002
"""What its research record states; its C++ is not at hand to run beside ours."""


@dataclass(frozen=True)
class Cell:
    """One contestant at one piece of work: `prepare` loads and returns the function that is timed."""

    work: str
    who: str
    prepare: Callable[[Path], Timed]
    units: Callable[[dict[str, int]], float]
    unit: str


def planted_partition(nodes: int, seed: int = 7) -> tuple[np.ndarray, np.ndarray]:
    """About 9.65 undirected edges a node: 80 % inside communities of 100, the rest anywhere."""
    generator = np.random.default_rng(seed)
    count = int(nodes * 9.75)
    sources = generator.integers(0, nodes, count)
    inside = generator.random(count) < 0.8
    near = sources - sources % 100 + generator.integers(0, 100, count)
    targets = np.where(inside, np.minimum(near, nodes - 1), generator.integers(0, nodes, count))
    kept = sources != targets
    pairs = np.unique(np.sort(np.stack([sources[kept], targets[kept]], axis=1), axis=1), axis=0)
    return pairs[:, 0].astype(np.uint32), pairs[:, 1].astype(np.uint32)


def write_inputs(folder: Path, nodes: int, dim: int, passages: int) -> dict[str, int]:
    """Make the graph, the vectors and the passages that all cells read."""
    sources, targets = planted_partition(nodes)
    np.savez(folder / "edges.npz", sources=sources, targets=targets, nodes=nodes)
    vectors = np.random.default_rng(8).normal(size=(nodes, dim)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    np.save(folder / "x.npy", vectors)
    titles, texts = corpus(passages)
    (folder / "corpus.json").write_text(json.dumps({"titles": titles, "texts": texts}))
    return {"nodes": nodes, "edges": len(sources), "dim": dim, "passages": len(texts)}


def corpus(passages: int) -> tuple[list[str], list[str]]:
    """The 2Wiki passages where the shared data lies, else made-up ones that mention each other."""
    real = Path("..") / "shared" / "data" / "2wiki" / "nodes.jsonl"
    if real.is_file():
        records = [json.loads(line) for line in real.open(encoding="utf-8")]
        return [record["title"] for record in records], [record["text"] for record in records]
    generator = np.random.default_rng(9)
    words = ["".join(generator.choice(list("abcdefghijklmnopqrstuvwxyz"), 6)).title() for _ in range(3000)]
    titles = [f"{words[a]} {words[b]}" for a, b in generator.integers(0, 3000, (passages, 2))]
    texts = [
        " ".join(
            [words[w] for w in generator.integers(0, 3000, 70)]
            + [titles[t] for t in generator.integers(0, passages, 2)]
        )
        for _ in range(passages)
    ]
    return titles, texts


# ---- gme ------------------------------------------------------------------------------------------------------------


def _gme(folder: Path) -> tuple[Any, Any, np.ndarray]:
    from gme import _core

    stored = np.load(folder / "edges.npz")
    ids = [f"n{row:07d}" for row in range(int(stored["nodes"]))]
    graph = _core.Graph(ids, stored["sources"], stored["targets"])
    return _core, graph, np.load(folder / "x.npy", mmap_mode="r")


def gme_walks(folder: Path) -> Timed:
    core, graph, _ = _gme(folder)
    return lambda: core.walk_endpoints(graph, steps=10, walks=10, seed=42, returns=True)


def gme_walk_transform(folder: Path) -> Timed:
    core, graph, x = _gme(folder)
    return lambda: core.walk(graph, x, steps=2, alpha=0.0, walks=100, seed=42, returns=True, exact=False)


def gme_walk_exact(folder: Path) -> Timed:
    core, graph, x = _gme(folder)
    return lambda: core.walk(graph, x, steps=2, alpha=0.0, walks=100, seed=42, returns=True, exact=True)


def gme_hop1(folder: Path) -> Timed:
    core, graph, x = _gme(folder)
    return lambda: core.hop(graph, x, hops=1, share=(1, 1), alpha=0.0, least=True, min_neighbors=2)


def gme_convex(folder: Path) -> Timed:
    core, graph, x = _gme(folder)
    return lambda: core.convex(graph, x, anchor_weight=1.0, edge_weight=1.0, tolerance=0.0, max_sweeps=5)


def gme_mentions(folder: Path) -> Timed:
    from gme import _core

    stored = json.loads((folder / "corpus.json").read_text())
    return lambda: _core.title_mentions(stored["titles"], stored["texts"], ignore_case=False, min_length=3)


# ---- peers ----------------------------------------------------------------------------------------------------------


def _scipy(folder: Path) -> tuple[Any, np.ndarray, np.ndarray]:
    from scipy import sparse

    stored = np.load(folder / "edges.npz")
    nodes = int(stored["nodes"])
    ones = np.ones(2 * len(stored["sources"]), dtype=np.float32)
    heads = np.concatenate([stored["sources"], stored["targets"]])
    tails = np.concatenate([stored["targets"], stored["sources"]])
    adjacency = sparse.csr_matrix((ones, (heads, tails)), shape=(nodes, nodes))
    degrees = np.asarray(adjacency.sum(axis=1), dtype=np.float32)
    return adjacency, degrees, np.load(folder / "x.npy")


def _transition(folder: Path) -> tuple[Any, np.ndarray]:
    from scipy import sparse

    adjacency, degrees, x = _scipy(folder)
    return sparse.diags(1 / np.maximum(degrees.ravel(), 1), dtype=np.float32) @ adjacency, x


def scipy_hop1(folder: Path) -> Timed:
    transition, x = _transition(folder)
    return lambda: transition @ x


def scipy_two_steps(folder: Path) -> Timed:
    transition, x = _transition(folder)
    return lambda: transition @ (transition @ x)


def scipy_jacobi(folder: Path) -> Timed:
    adjacency, degrees, x = _scipy(folder)

    def sweeps() -> np.ndarray:
        z = x
        for _ in range(5):
            z = (x + adjacency @ z) / (1 + degrees)
        return z

    return sweeps


def csrgraph_walks(folder: Path) -> Timed:
    import csrgraph

    adjacency, _, _ = _scipy(folder)
    graph = csrgraph.csrgraph(adjacency)
    return lambda: graph.random_walks(walklen=11, epochs=10)


def pecanpy_walks(folder: Path) -> Timed:
    from pecanpy.pecanpy import FirstOrderUnweighted

    adjacency, _, _ = _scipy(folder)
    graph = FirstOrderUnweighted(p=1, q=1, workers=os.cpu_count() or 1, random_state=42)
    graph.set_node_ids([str(row) for row in range(adjacency.shape[0])])
    graph.indptr = adjacency.indptr.astype(np.uint32)
    graph.indices = adjacency.indices.astype(np.uint32)
    graph.data = adjacency.data
    return lambda: graph.simulate_walks(num_walks=10, walk_length=10)


def _walk_steps(size: dict[str, int]) -> float:
    return size["nodes"] * 100 / 1e6


def _edge_floats(size: dict[str, int]) -> float:
    return 2 * size["edges"] * size["dim"] / 1e9


def _passages(size: dict[str, int]) -> float:
    return float(size["passages"])


def ahocorasick_mentions(folder: Path) -> Timed:
    """pyahocorasick (C) finds all matches, Python keeps the longest ones that are whole words."""
    import ahocorasick

    stored = json.loads((folder / "corpus.json").read_text())
    automaton = ahocorasick.Automaton()
    for number, title in enumerate(stored["titles"]):
        if len(title) >= 3:
            automaton.add_word(title, (number, len(title)))
    automaton.make_automaton()

    def word(text: str, position: int) -> bool:
        return 0 <= position < len(text) and text[position].isalnum()

    def find() -> list[tuple[int, int]]:
        found = []
        for row, text in enumerate(stored["texts"]):
            for last, (number, length) in automaton.iter_long(text):
                if not word(text, last - length) and not word(text, last + 1):
                    found.append((number, row))
        return found

    return find


CELLS = [
    Cell("walks: 10 of 10 steps a node", "gme", gme_walks, _walk_steps, "M steps/s"),
    Cell("walks: 10 of 10 steps a node", "csrgraph", csrgraph_walks, _walk_steps, "M steps/s"),
    Cell("walks: 10 of 10 steps a node", "pecanpy", pecanpy_walks, _walk_steps, "M steps/s"),
    Cell("hop1: mean of all neighbours", "gme", gme_hop1, _edge_floats, "G floats/s"),
    Cell("hop1: mean of all neighbours", "scipy P·x", scipy_hop1, _edge_floats, "G floats/s"),
    Cell("walk transform, 100 x 2 steps", "gme sampled", gme_walk_transform, _edge_floats, "G floats/s"),
    Cell("walk transform, 100 x 2 steps", "gme --exact", gme_walk_exact, _edge_floats, "G floats/s"),
    Cell("walk transform, 100 x 2 steps", "scipy P·(P·x)", scipy_two_steps, _edge_floats, "G floats/s"),
    Cell("convex: 5 sweeps", "gme Gauss-Seidel", gme_convex, _edge_floats, "G floats/s"),
    Cell("convex: 5 sweeps", "scipy Jacobi", scipy_jacobi, _edge_floats, "G floats/s"),
    Cell("title mentions", "gme", gme_mentions, _passages, "passages/s"),
    Cell("title mentions", "pyahocorasick", ahocorasick_mentions, _passages, "passages/s"),
]


def run_cell(number: int, folder: Path, repeats: int) -> None:
    """Time one cell in this process and print what was measured as JSON."""
    work = CELLS[number].prepare(folder)
    work()  # compiles (numba), touches the memory-mapped pages, fills the caches
    before = _peak()
    seconds = []
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - started)
    print(json.dumps({"seconds": seconds, "peak_mb": _peak(), "before_mb": before}))


def _peak() -> float:
    """The most memory this process has held, in MB. Not `getrusage`, whose figure a child inherits from its parent."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def main() -> None:
    """Run the chosen cells and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--dim", type=int, default=384)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", default="", help="comma-separated beginnings of the work to run")
    parser.add_argument("--cell", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.cell is not None:
        run_cell(given.cell, given.folder, given.repeats)
        return
    wanted = tuple(given.only.split(","))
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        size = write_inputs(folder, given.nodes, given.dim, passages=6000)
        array_mb = size["nodes"] * size["dim"] * 4 / 2**20
        print(
            f"{size['nodes']:,} nodes, {size['edges']:,} edges, d = {size['dim']} ({array_mb:.0f} MB an array), ",
            end="",
        )
        print(f"{size['passages']:,} passages, {os.cpu_count()} cores, median of {given.repeats}\n")
        print(f"{'work':32}{'who':20}{'seconds':>9}{'rate':>20}{'gme is':>10}{'peak MB':>9}")
        baseline: dict[str, float] = {}
        for number, cell in enumerate(CELLS):
            if not cell.work.startswith(wanted):
                continue
            command = [
                sys.executable,
                __file__,
                "--cell",
                str(number),
                "--folder",
                temporary,
                "--repeats",
                str(given.repeats),
            ]
            output = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
            measured = json.loads(output.splitlines()[-1])
            seconds = statistics.median(measured["seconds"])
            ours = baseline.setdefault(cell.work, seconds)
            ratio = "" if cell.who.startswith("gme") else f"{seconds / ours:.1f} x"
            rate = f"{cell.units(size) / seconds:,.2f} {cell.unit}"
            print(
                f"{cell.work:32}{cell.who:20}{seconds:9.3f}{rate:>20}{ratio:>10}{measured['peak_mb']:9,.0f}", flush=True
            )
        if (ours := baseline.get("title mentions")) is not None:
            published = NEUROGRAPHDB_SECONDS_A_PASSAGE * size["passages"] / ours
            print(
                f"\ntitle mentions: NeuroGraphDB's published 0.2 ms a passage (not run here) is {published:.1f} x gme's"
            )


if __name__ == "__main__":
    main()
