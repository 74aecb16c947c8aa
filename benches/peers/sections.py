"""The parts of the output: the table of peers, the roofline, growth and threads."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from .cells import Outcome, Work
from .inputs import Inputs, Size, write_inputs
from .measure import Failed, Measured, Repeats, copy_bandwidth, run_apart
from .tables import Column, Table, seconds_text

GROWTH_DIM = 64
GROWTH_BOUND = 1.1


class Peers:
    """Runs the cells of each work one after the other, and keeps our figures for the roofline."""

    def __init__(self, inputs: Inputs, repeats: Repeats) -> None:
        self.inputs, self.repeats = inputs, repeats
        self.ours: dict[str, Measured] = {}
        self.complaints: list[str] = []

    def run(self, works: Sequence[Work], *, slow: bool) -> Table:
        """The table of all works; what went wrong is in `complaints` afterwards."""
        table = Table(
            "Beside the peers",
            [
                Column("work", 34, number=False),
                Column("who", 27, number=False),
                Column("seconds", 8),
                Column("runs", 4),
                Column("cores", 5),
                Column("rate", 19),
                Column("times gme", 9),
                Column("MB more", 8),
                Column("peak MB", 8),
                Column("differs by", 10),
                Column("", 24, number=False),
            ],
            size_text(self.inputs.size),
        )
        for work in works:
            self._run_work(work, table, slow=slow)
        return table

    def _run_work(self, work: Work, table: Table, *, slow: bool) -> None:
        baseline: tuple[Measured, Outcome | None] | None = None
        for cell in work.cells:
            if cell.slow and not slow:
                continue
            found = run_apart(work, cell, self.inputs, self.repeats)
            if isinstance(found, Failed):
                table.add(work.title, cell.who, *[""] * 8, found.reason)
                self.complaints.append(f"{work.title}, {cell.who}: {found.reason}")
                continue
            measured, outcome = found
            ratio = difference = ""
            if baseline is None:
                baseline, self.ours[work.key] = found, measured
            else:
                ratio = f"{measured.median / baseline[0].median:.2f}"
                if outcome is not None and baseline[1] is not None:
                    apart = work.difference(outcome, baseline[1])
                    difference = f"{apart:.1e}"
                    if cell.alike and not apart <= work.tolerance:
                        difference += " !"
                        self.complaints.append(f"{work.title}, {cell.who}: differs by {apart:.1e}")
            rate = work.amount(self.inputs.size) * measured.passes / measured.median
            table.add(
                work.title,
                cell.who,
                seconds_text(measured.median),
                str(len(measured.seconds)),
                f"{measured.processors:.1f}",
                f"{rate:,.2f} {work.unit}",
                ratio,
                f"{measured.extra_mb:,.0f}",
                f"{measured.peak_mb:,.0f}",
                difference,
                measured.note,
            )


def roofline(works: Sequence[Work], peers: Peers) -> Table:
    """How near the memory-bound works come to the speed of a copy."""
    inputs = peers.inputs
    bandwidth = copy_bandwidth(inputs.size.matrix_bytes)
    table = Table(
        "Roofline",
        [
            Column("work", 34, number=False),
            Column("GB to move", 10),
            Column("seconds", 8),
            Column("GB/s", 7),
            Column("of the copy", 11),
            Column("what must move", 70, number=False),
        ],
        f"A copy of an array like x ({inputs.size.matrix_bytes / 1e6:.0f} MB) by two threads moves "
        f"{bandwidth / 1e9:.1f} GB/s, bytes read plus bytes written, best of nine.",
    )
    for work in works:
        if work.traffic is None or work.key not in peers.ours:
            continue
        ours = peers.ours[work.key]
        moved = work.traffic.bytes(inputs) * ours.passes
        pace = moved / ours.median
        table.add(
            work.title,
            f"{moved / 1e9:.2f}",
            seconds_text(ours.median),
            f"{pace / 1e9:.1f}",
            f"{pace / bandwidth:.0%}",
            work.traffic.model,
        )
    return table


def growth(works: Sequence[Work], repeats: Repeats, nodes: Sequence[int]) -> tuple[Table, list[str]]:
    """Our seconds at several sizes and the exponent b of seconds ~ edges^b; and the works above the bound."""
    with tempfile.TemporaryDirectory() as temporary:
        sizes = []
        for count in nodes:
            folder = Path(temporary) / str(count)
            folder.mkdir()
            sizes.append(write_inputs(folder, count, GROWTH_DIM))
        edges = [inputs.size.edges for inputs in sizes]
        table = Table(
            "Growth",
            [
                Column("work", 34, number=False),
                *(Column(f"{count:,} nodes", 15) for count in nodes),
                Column("passes", 10),
                Column("exponent", 8),
                Column("last step", 9),
                Column("", 12, number=False),
            ],
            f"Seconds of gme with {GROWTH_DIM} columns ({', '.join(f'{count:,}' for count in edges)} edges), and b of "
            "seconds ~ edges^b: over all sizes by least squares, and between the last two. What takes constant time "
            "flattens the small sizes, the large ones leave the caches.",
        )
        above = []
        for work in works:
            if work.grows and _grow(work, sizes, edges, repeats, table) > GROWTH_BOUND:
                above.append(work.title)
    return table, above


def _grow(work: Work, sizes: Sequence[Inputs], edges: Sequence[int], repeats: Repeats, table: Table) -> float:
    """Add the row of one work; returns its exponent, infinite if a size failed."""
    found = [run_apart(work, work.cells[0], inputs, repeats) for inputs in sizes]
    done = [cell[0] for cell in found if not isinstance(cell, Failed)]
    fields = [cell.reason if isinstance(cell, Failed) else seconds_text(cell[0].median) for cell in found]
    if len(done) < len(found):
        table.add(work.title, *fields, "", "", "", "failed")
        return float("inf")
    seconds = [measured.median for measured in done]
    exponent, last = exponent_of(edges, seconds), exponent_of(edges[-2:], seconds[-2:])
    passes = ", ".join(str(measured.passes) for measured in done) if done[0].passes > 1 else ""
    flag = f"above {GROWTH_BOUND}" if max(exponent, last) > GROWTH_BOUND else ""
    table.add(work.title, *fields, passes, f"{exponent:.2f}", f"{last:.2f}", flag)
    return exponent


def exponent_of(edges: Sequence[int], seconds: Sequence[float]) -> float:
    """The slope of log seconds against log edges."""
    return float(np.polyfit(np.log(edges), np.log(seconds), 1)[0])


def threads(works: Sequence[Work], inputs: Inputs, repeats: Repeats) -> Table:
    """Our seconds with one thread and with two."""
    table = Table(
        "Threads",
        [
            Column("work", 34, number=False),
            Column("1 thread", 9),
            Column("2 threads", 9),
            Column("speed-up", 8),
        ],
        f"Seconds of gme; {size_text(inputs.size)}",
    )
    for work in works:
        if work.key == "communities":  # a library's, on one thread
            continue
        pair = [run_apart(work, work.cells[0], Inputs(inputs.folder, count), repeats) for count in (1, 2)]
        medians = [float("nan") if isinstance(found, Failed) else found[0].median for found in pair]
        table.add(work.title, *(seconds_text(value) for value in medians), f"{medians[0] / medians[1]:.2f}")
    return table


def size_text(size: Size) -> str:
    """The inputs in one line."""
    return (
        f"{size.nodes:,} nodes, {size.edges:,} edges, d = {size.dim} ({size.matrix_bytes / 1e6:.0f} MB a matrix), "
        f"{size.passages:,} passages."
    )
