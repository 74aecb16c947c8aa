"""Run gme's kernels beside their peers and print one table, the roofline, and what else is asked for.

just bench                                  the table and the roofline
just bench --only walks,hop                 the works whose keys begin so
just bench --growth                         our seconds at 10,000, 100,000 and 1,000,000 nodes instead
just bench --threads                        our seconds with one and two threads instead
just bench --all                            everything
just bench --markdown docs/research/benchmarks.md    everything, and the page made from it
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from .inputs import Inputs, write_inputs
from .machine import machine_text, versions_text
from .measure import Repeats, run_here
from .page import page
from .registry import WORKS
from .sections import Peers, growth, roofline, threads
from .tables import Table

NEUROGRAPHDB_SECONDS_A_PASSAGE = 0.0002
"""What its research record states; its C++ is not at hand to run beside ours."""


def main() -> None:
    """Read the command line; run the sections asked for."""
    given = _parser().parse_args()
    repeats = Repeats(given.repeats, min(given.least, given.repeats), given.patience, given.limit)
    few = replace(repeats, runs=min(3, given.repeats), least=1)
    if given.cell:
        key, who, folder, answer = given.cell
        work = next(work for work in WORKS if work.key == key)
        cell = next(cell for cell in work.cells if cell.who == who)
        run_here(cell, Inputs(Path(folder), given.threads_of_cell), Path(answer), repeats)
        return
    works = [work for work in WORKS if work.key.startswith(tuple(given.only.split(",")))]
    if not works:
        sys.exit(f"nothing begins with {given.only!r}; there are {', '.join(work.key for work in WORKS)}")
    everything = given.all or given.markdown is not None
    machine = [machine_text(), versions_text(), f"Median of up to {repeats.runs} runs, in a process of their own."]
    print("\n".join(machine))
    tables: list[Table] = []
    complaints: list[str] = []
    with tempfile.TemporaryDirectory() as temporary:
        inputs = write_inputs(Path(temporary), given.nodes, given.dim, shuffled=given.shuffled)
        if everything or not (given.growth or given.threads):
            peers = Peers(inputs, repeats)
            tables.append(peers.run(works, slow=given.slow))
            if "mentions" in peers.ours:
                machine.append(_published_pace(peers.ours["mentions"].median, inputs.size.passages))
                print(f"\n{machine[-1]}")
            tables.append(roofline(works, peers))
            complaints += peers.complaints
        if everything or given.threads:
            tables.append(threads(works, inputs, few))
    if everything or given.growth:
        table, above = growth(works, few, [int(count) for count in given.growth_nodes.split(",")])
        tables.append(table)
        complaints += [f"{title}: grows faster than it should" for title in above]
    if given.markdown is not None:
        given.markdown.write_text(page(tables, machine), encoding="utf-8")
    if complaints:
        sys.exit("\n" + "\n".join(complaints))


def _published_pace(seconds: float, passages: int) -> str:
    """The pace line for title mentions."""
    times = NEUROGRAPHDB_SECONDS_A_PASSAGE * passages / seconds
    return f"Title mentions: NeuroGraphDB's published 0.2 ms a passage (not run here) is {times:.1f} times gme's."


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="just bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="comma-separated beginnings of the works' keys")
    parser.add_argument("--growth", action="store_true", help="the growth series")
    parser.add_argument("--threads", action="store_true", help="the thread series")
    parser.add_argument("--all", action="store_true", help="table, roofline, threads and growth")
    parser.add_argument("--slow", action="store_true", help="also the peers that take minutes")
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--growth-nodes", default="10000,100000,1000000", help="sizes of the growth series")
    parser.add_argument("--dim", type=int, default=384)
    parser.add_argument("--shuffled", action="store_true", help="neighbors lie far from each other in memory")
    parser.add_argument("--repeats", type=int, default=5, help="runs of a cell")
    parser.add_argument("--least", type=int, default=3, help="runs of a cell that takes long")
    parser.add_argument("--patience", type=float, default=15, help="seconds from which a cell takes long")
    parser.add_argument("--limit", type=float, default=600, help="seconds after which a cell is given up")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="run everything and write the page")
    parser.add_argument("--cell", nargs=4, help=argparse.SUPPRESS)
    parser.add_argument("--threads-of-cell", type=int, default=0, help=argparse.SUPPRESS)
    return parser


if __name__ == "__main__":
    main()
