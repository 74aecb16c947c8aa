"""What a graph is expected to bring, as a range, and how sure that is.

The range comes from graphs whose worth is known: real and synthetic sets, with their own edges and with edges thinned,
shuffled or drawn by letters, decades, texts and chance. docs/research/graph-check.md has the table, and the fit of the
constants here; benches/graph_check_study.py makes both.
"""

from __future__ import annotations

from ..formatting import counted
from .results import Agreement, Figures, Gain, Oracle, Pointed

HOPS = 2
"""Routes of up to so many hops are looked at: what `envelope` lifts lies there."""

LOW, FLOOR, HIGH = (1.55, -0.139), -0.058, (1.00, 0.005)
"""The range is slope·promised + offset at both ends, but not below the floor: nine of ten graphs that it was fitted on
lie above the lower end, nine of ten below the upper one. Little that is promised may be nothing, for words find it too.
Half a point is added at each end to what the fit gives, as ranges are told in whole points."""

MOST_OF_PROMISE = 0.8
"""The lower end is at most this part of what is promised. The fit says so little beyond the 24 points of 2Wiki."""

LARGE_GAIN, NO_GAIN = 0.08, 0.01
"""A range that begins at the first is a large gain; one that ends below the second is none."""

ENOUGH_QUESTIONS = 50
"""With fewer questions nothing is likely: one of them moves the figures by two points."""

NOT_ALIKE, ONLY_ALIKE = 0.60, 0.99
"""Ends of edges that are more alike than random pairs this seldom have little to do with the texts. From the second
share on the edges repeat what similarity finds by itself."""


def expected_gain(report: Figures, route: str) -> Gain | None:
    """The range of what recall at the check's ``top`` gains by the graph; None without embeddings.

    Args:
        report: the figures of `check_graph`. route: as `gme.diagnostics.verdict.verdict` judges it; along ``none``
            nothing is gained.

    Returns:
        ``low``, ``high``: shares of gold, negative for a loss. ``sure``: ``likely`` if there are enough questions and
        the range tells a gain from none, else ``unsure``.
    """
    oracle = report["oracle"]
    if oracle is None:
        return None
    share, error = (0.0, 0.0) if route == "none" else promised(report, oracle)
    most = oracle["room"]["open"]
    least = max(share - error, 0.0)
    low = min(max(LOW[0] * least + LOW[1], FLOOR), MOST_OF_PROMISE * least, most)
    high = min(HIGH[0] * (share + error) + HIGH[1], most)
    clear = low > 0 or high < NO_GAIN
    enough = oracle["questions"] >= ENOUGH_QUESTIONS
    return {"low": low, "high": high, "sure": "likely" if clear and enough else "unsure"}


def promised(report: Figures, oracle: Oracle) -> tuple[float, float]:
    """What the graph points to within 1 or 2 hops, whichever is more, and its standard error; at least 0.

    Where more nodes are so near the best hits than the first `top` can hold, gold is one of many: the share falls by
    that factor.
    """
    best = (0.0, 0.0)
    nodes = report["nodes"]["count"]
    for line, within in zip(oracle["room"]["pointed"][:HOPS], oracle["missing_top"]["within"][:HOPS], strict=True):
        crowd = (within["random"] or 0.0) * nodes
        part = min(1.0, oracle["top"] / crowd) if crowd else 1.0
        best = max(best, (line["share"] * part, (line["error"] or 0.0) * part))
    return best


def best_pointed(oracle: Oracle) -> Pointed:
    """The number of hops, up to `HOPS`, within which the graph points to most of what is open."""
    return max(oracle["room"]["pointed"][:HOPS], key=lambda line: line["share"])


def gain_in_words(gain: Gain, oracle: Oracle) -> str:
    """The range in a sentence."""
    low, high = gain["low"], gain["high"]
    if low >= LARGE_GAIN:
        size = "a large gain"
    elif low > 0:
        size = "a gain"
    elif high < NO_GAIN:
        size = "no gain from these edges"
    else:
        size = "a small gain at most"
    advice = "; try others (gme graph --help)" if high < NO_GAIN else ""
    why = "" if gain["sure"] == "likely" else f" ({_doubt(oracle)})"
    return (
        f"Expect {size}: recall in the first {oracle['top']} changes by {_rounded(low)} to {_rounded(high)} points, "
        f"{gain['sure']}{why}{advice}."
    )


def _rounded(share: float) -> str:
    return f"{round(100 * share):+d}" if round(100 * share) else "0"


def _doubt(oracle: Oracle) -> str:
    if oracle["questions"] < ENOUGH_QUESTIONS:
        return f"only {counted(oracle['questions'], 'question')}"
    return "graphs with such figures bring a gain or none"


def agreement_in_words(found: Agreement | None) -> str:
    """What the likeness of linked texts says without any gold. Nothing without vectors or edges."""
    if found is None:
        return ""
    share = found["more_alike"]
    fact = f"Nodes that an edge joins are more alike in text than random pairs in {share:.0%} of cases"
    if share < NOT_ALIKE:
        return f"{fact}: the edges have little to do with the texts. Expect no gain, unsure."
    if share >= ONLY_ALIKE:
        return f"{fact}: the edges join what similarity finds by itself. Expect little, unsure."
    return f"{fact}: the edges follow the texts, so they may lead to more. Expect a gain or none, unsure."
