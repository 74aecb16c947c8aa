"""`docs/research/benchmarks.md`, made from a run."""

from __future__ import annotations

from collections.abc import Sequence

from .tables import Table

HOW_TO_READ = """\
## How to read this

- Every row of the first table was measured in a process of its own; the rows of one work follow each other directly.
  *seconds* is the median of *runs* runs after one to warm up; the first run of a cell that takes longer than five
  seconds counts as well. The series for threads and growth take the median of up to three, one where it takes long.
- *times gme* is the seconds divided by those of gme's first row for the same work: 3.00 is three times as slow.
- *MB more* is the most memory the first run held beyond what had been loaded before it (graph, vectors): scratch and
  result. *peak MB* is all of it. Everyone's vectors are read into memory before.
- *differs by* compares the results: the largest difference between entries of about a thousand rows (sampled walks:
  how far the slope of ours on theirs is from 1; walks alone and modularity: relative; mentions and searches: the share
  that only one has). `!` marks a difference above the tolerance. No entry: the peer does only part of the work.
- *cores* is how many processors a cell kept busy, on average. scipy's sparse products, scikit-network and networkx use
  one; the thread series tells what gme does with one.
- *rate* of an iterative method counts all of its passes.
- The graph is a planted partition: communities of 100 consecutive nodes, 80 % of the edges inside them, as many edges a
  node as in 964,946 edges at 100,000 nodes. `--shuffled` numbers the nodes at random.
- Growth above 1 is not more work an edge (the passes tell): the small graphs lie in the caches and the large one does
  not; 64 columns of 10,000 nodes take 2.6 MB, of 1,000,000 nodes 256 MB. That reading is ours; no counter was read.
- The roofline divides the bytes an algorithm must move, by the model in its row, by the seconds it took. Neighbors'
  rows count each time they are needed: what a cache holds can be had faster than a copy moves it, above 100 %. On
  machines with a large last-level cache the copy is made within it, as the work is.
"""


def page(tables: Sequence[Table], machine: Sequence[str]) -> str:
    """The whole page."""
    head = (
        "# Benchmarks\n\nMade by `just bench --markdown docs/research/benchmarks.md`.\n\n" + "  \n".join(machine) + "\n"
    )
    return "\n".join([head, *(table.markdown() for table in tables), HOW_TO_READ])
