"""The report of a graph check, as ``gme graph check --json`` prints it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired


class TypeCounts(TypedDict):
    """The nodes of one type."""

    count: int
    isolated: int
    mean_degree: float


class Nodes(TypedDict):
    """All nodes, and those of each type."""

    count: int
    types: dict[str, TypeCounts]


class Edges(TypedDict):
    """All edges. The report of a workspace also counts the lines of each type."""

    count: int
    types: NotRequired[dict[str, int]]


class Components(TypedDict):
    """Connected components."""

    count: int
    largest: int
    largest_share: float


class Degree(TypedDict):
    """How many neighbors nodes have."""

    min: int
    median: float
    mean: float
    max: int


class Skew(TypedDict):
    """How unevenly edges are spread: the share of edge ends at the top 1 % of nodes, and the Gini coefficient."""

    top_percent_share: float
    gini: float


class Isolated(TypedDict):
    """Nodes without edges."""

    count: int
    share: float


class Structure(TypedDict):
    """The figures that need no questions; see `gme.diagnostics.structure.structure`."""

    nodes: Nodes
    edges: Edges
    components: Components
    degree: Degree
    skew: Skew
    isolated: Isolated


class Questions(TypedDict):
    """How many questions there are, how many have gold, and how many have at least two gold nodes."""

    count: int
    with_gold: int
    with_pairs: int


class Linkage(TypedDict):
    """How often gold nodes are near each other, and how much more often than random pairs."""

    hops: int
    questions: int
    share: float
    connected: float
    lift: float | None
    lift_above: float | None


class RandomNodes(TypedDict):
    """From how many nodes random pairs were counted, and of how many."""

    sources: int
    of: int


class Reach(TypedDict):
    """The shares within a number of hops; see `gme.diagnostics.linkage.reachability`."""

    hops: int
    any: float
    connected: float
    gold_pairs: float
    random_pairs: float
    random_hits: int
    lift: float | None
    lift_above: float | None


class Within(TypedDict):
    """The share of missing gold, and of random nodes, within some hops of the best hits; None without nodes."""

    hops: int
    gold: float | None
    random: float | None


class Routes(TypedDict):
    """Gold beyond a depth: how many nodes, and how near they are to the best hits."""

    count: int
    within: list[Within]


class Pointed(TypedDict):
    """The part of what is open that the graph points to within some hops, and its standard error over questions."""

    hops: int
    share: float
    error: float | None


class Room(TypedDict):
    """What is left to win at the budget; see `gme.diagnostics.room.room`."""

    open: float
    winnable: float
    too_many: float
    pointed: list[Pointed]


class Agreement(TypedDict):
    """How alike in text the ends of edges are; see `gme.diagnostics.agreement.agreement`."""

    edges: int
    linked: float
    random: float
    more_alike: float


class Oracle(TypedDict):
    """How much dense retrieval leaves to win; see `gme.diagnostics.oracle.oracle`."""

    top: int
    depth: int
    seeds: int
    questions: int
    right: float
    fixable: float
    not_retrieved: float
    missing_top: Routes
    missing_depth: Routes
    room: Room


class Gain(TypedDict):
    """What recall is expected to gain, as a range of shares, and how sure that is; see `gme.diagnostics.gain`."""

    low: float
    high: float
    sure: str


class Verdict(TypedDict):
    """The figures in plain words; see `gme.diagnostics.verdict.verdict`."""

    headroom: str
    route: str
    gain: Gain | None
    text: str
    limits: str


class Hub(TypedDict):
    """A node with many neighbors."""

    id: str
    degree: int


class Figures(Structure):
    """All figures that a verdict is made from."""

    questions: Questions
    linkage: Linkage | None
    random: RandomNodes | None
    reach: list[Reach]
    oracle: Oracle | None
    agreement: Agreement | None


class CheckReport(Figures):
    """What `gme.check_graph` returns."""

    options: dict[str, Any]
    verdict: Verdict


class NamesToAdd(TypedDict):
    """What edges of shared names would add to a graph; see `gme.name_coverage`. The last is the same in a sentence."""

    isolated: float
    connected: float
    gold_pairs: float
    text: str


class WorkspaceReport(CheckReport):
    """The report of `gme.check_workspace`. It adds the nodes with most neighbors, and what could not be checked.

    ``shared_names`` is None where the corpus has such edges already or nodes of type entity, or is too large to search.
    """

    hubs: list[Hub]
    shared_names: NamesToAdd | None
    notes: list[str]
