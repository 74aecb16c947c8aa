"""The figures in plain words: headroom, route, what to expect, and what the figures do not tell."""

from __future__ import annotations

from ..formatting import counted
from .gain import agreement_in_words, best_pointed, expected_gain, gain_in_words
from .results import Figures, Linkage, Oracle, Questions, Verdict

LITTLE, LARGE = 0.20, 0.40
"""Headroom below the first is little. From the second on it is large (NG: HotpotQA .14, 2Wiki .51, MuSiQue .73)."""
WEAK, GOOD = 0.20, 0.50
"""Linkage below the first is no route. From the second on it is good (NG: MuSiQue .324, HotpotQA .610, 2Wiki .688)."""
POINTED_WEAK, POINTED_GOOD = 0.10, 0.40
"""The same for the part of what is open that the graph points to, which counts instead where it is known."""
CHANCE, LITTLE_LIFT = 2.0, 5.0
"""A lift below the first is no better than chance. Below the second the route is weak at best: gold of one topic is
linked that often by edges of any kind."""

_REFERENCES = {
    ("large", "good"): "as on 2WikiMultihopQA (linkage 68.8 %, +38.6 points over dense)",
    ("large", "weak"): "as on MuSiQue (linkage 32.4 %, +6.4 points over dense)",
    ("little", "good"): "as on HotpotQA (linkage 61.0 %, +6.6 points over dense)",
}
_LIMITS = (
    "NG is the NeuroGraphDB record; its gains are points of all-supporting@10 on three Wikipedia corpora with title "
    "graphs: a comparison, not a law. "
    "Only a run on your own questions settles it."
)
_RANGE_LIMITS = (
    "The range is that of envelope over the same search without edges, on graphs whose worth is known: nine of ten lie "
    "above its lower end, nine of ten below its upper one. Only a run on your own questions settles it."
)


def verdict(report: Figures) -> Verdict:
    """Judge a report of `check_graph`.

    Returns:
        ``headroom``: large, some, little or unknown; ``route``: good, weak, none or unknown; ``gain``: None, or the
        range of what recall gains (`gme.diagnostics.gain.expected_gain`); ``text``: the sentences; ``limits``: what the
        sentences do not say.
    """
    linkage, oracle = report["linkage"], report["oracle"]
    structural = _structural(report)
    if linkage is None and oracle is None:
        return {
            "headroom": "unknown",
            "route": "unknown",
            "gain": None,
            "text": " ".join(filter(None, (structural, agreement_in_words(report["agreement"])))),
            "limits": f"{_lacking(report['questions'])}, only the shape of the graph can be judged, not its use: "
            "that is less sure.",
        }
    headroom, headroom_text = _headroom(oracle)
    if report["edges"]["count"] == 0:
        return {
            "headroom": headroom,
            "route": "none",
            "gain": None,
            "text": f"{structural} {headroom_text}",
            "limits": _LIMITS,
        }
    route, route_text = _route(linkage, oracle)
    gain = expected_gain(report, route)
    expected = _by_route(route) if oracle is None or gain is None else gain_in_words(gain, oracle)
    return {
        "headroom": headroom,
        "route": route,
        "gain": gain,
        "text": " ".join(part for part in (headroom_text, route_text, expected) if part),
        "limits": _LIMITS if gain is None else _RANGE_LIMITS,
    }


def _lacking(questions: Questions) -> str:
    """What the questions lack, so that only the shape can be judged."""
    count, with_gold = questions["count"], questions["with_gold"]
    if count == 0:
        return "Without questions and their gold"
    none = "the only question does not have" if count == 1 else f"none of {count:,} questions has"
    if with_gold == 0:
        return f"As {none} gold evidence (nodes of type document and entity do not count)"
    if count == 1:
        return "As the only question has one gold node, there is no linkage; and without embeddings (gme embed)"
    one = f"{with_gold:,} {'has' if with_gold == 1 else 'have'} one"
    return f"As {none} two gold nodes or more ({one}), there is no linkage; and without embeddings (gme embed)"


def _structural(report: Figures) -> str:
    if report["edges"]["count"] == 0:
        return "The graph has no edges: no vector moves, nothing can be gained."
    isolated, largest = report["isolated"]["share"], report["components"]["largest_share"]
    if isolated > 0.5:
        judged = "most nodes have no edge, and for them the graph changes nothing"
    elif largest < 0.5:
        judged = "the graph is in pieces, and evidence in different ones stays apart"
    else:
        judged = "most nodes are connected, so the graph can lead from one to another"
    hubs = report["skew"]["top_percent_share"]
    skewed = (
        f"; {hubs:.0%} of all edge ends sit at 1 % of the nodes, which blurs what they connect" if hubs > 0.3 else ""
    )
    return f"{isolated:.1%} of the nodes are isolated and {largest:.1%} lie in one component: {judged}{skewed}."


def _headroom(oracle: Oracle | None) -> tuple[str, str]:
    """Only gold that fits the first hits can be won: questions with more of it are counted, but are no headroom."""
    if oracle is None:
        return "unknown", "Headroom is not known before embedding (gme embed)."
    room, top = oracle["room"], oracle["top"]
    share = round(room["winnable"], 12)  # 1 - .8 is .2 here, not less
    kind = "little" if share < LITTLE else "some" if share < LARGE else "large"
    words = {"little": "Little headroom", "some": "Some headroom", "large": "Large headroom"}[kind]
    questions = counted(oracle["questions"], "question")
    too_many = (
        f" {room['too_many']:.1%} of the questions have more gold than {top} hits can hold, which is no headroom."
        if room["too_many"]
        else ""
    )
    return kind, (
        f"{words}: dense retrieval lacks gold in its first {top} for {share:.1%} of {questions} "
        f"({oracle['fixable']:.1%} have all of it in the first {oracle['depth']}).{too_many}"
    )


def _route(linkage: Linkage | None, oracle: Oracle | None) -> tuple[str, str]:
    """Judge the route by what the graph points to; without embeddings by how often gold is linked to gold."""
    kinds, facts = [], []
    if linkage is not None:
        kinds.append(_by_linkage(linkage, alone=oracle is None))
        facts.append(_linkage_in_words(linkage))
    if oracle is not None and oracle["missing_top"]["count"]:
        kinds.append(_by_pointed(oracle))
        facts.append(_near_hits(oracle))
    if not kinds:
        return "unknown", "Whether there is a route can't be told: no question has two gold nodes."
    kind = min(kinds, key=_ORDER.index)
    return kind, f"{_ROUTES[kind]}: {'; '.join(facts)}."


def _by_linkage(linkage: Linkage, *, alone: bool) -> str:
    """What linkage allows: the share of questions decides only where nothing else is known, the lift always."""
    share, lift = linkage["share"], linkage["lift"]
    if lift is not None and lift < CHANCE:
        return "none"
    by_share = "none" if share < WEAK else "weak" if share < GOOD else "good"
    by_lift = "weak" if lift is not None and lift < LITTLE_LIFT else "good"
    return min((by_share, by_lift) if alone else (by_lift,), key=_ORDER.index)


def _by_pointed(oracle: Oracle) -> str:
    line, most = best_pointed(oracle), oracle["room"]["open"]
    share = line["share"]
    if share <= 2 * (line["error"] or 0.0) or share < POINTED_WEAK * most:
        return "none"
    return "weak" if share < POINTED_GOOD * most else "good"


def _linkage_in_words(linkage: Linkage) -> str:
    hops = linkage["hops"]
    apart = "adjacent gold" if hops == 1 else f"gold within {hops} hops"
    if linkage["lift"] is not None:
        by_lift = f"{round_lift(linkage['lift'])} times what random pairs have"
    elif linkage["lift_above"] is not None:
        by_lift = f"more than {round_lift(linkage['lift_above'])} times what random pairs have"
    else:
        by_lift = "never so for random pairs"
    have = "has" if linkage["questions"] == 1 else "have"
    return f"{linkage['share']:.1%} of {counted(linkage['questions'], 'question')} {have} {apart}, {by_lift}"


def _near_hits(oracle: Oracle) -> str:
    """How near the gold that dense retrieval misses is to the best hits. There must be some missing gold."""
    within = oracle["missing_top"]["within"]
    line = within[min(1, len(within) - 1)]
    near, random = line["gold"] or 0.0, line["random"] or 0.0
    still_open, pointed = 100 * oracle["room"]["open"], 100 * best_pointed(oracle)["share"]
    hops = counted(line["hops"], "hop")
    return (
        f"{near:.1%} of the missing gold lies within {hops} of the first {oracle['seeds']} hits "
        f"({random:.1%} of random nodes); of the {still_open:.1f} points of recall that are open, "
        f"the graph points to {pointed:.1f} better than similarity does"
    )


def round_lift(lift: float) -> str:
    """A lift with only the digits that mean something."""
    return f"{lift:,.0f}" if lift >= 100 else f"{lift:.1f}"


_ORDER = ["none", "weak", "good"]
_ROUTES = {"good": "There is a route", "weak": "There is a weak route", "none": "There is no route"}


def _by_route(route: str) -> str:
    """What others found with a route like it, where dense retrieval is not known."""
    if route == "none":
        return "Expect no gain from these edges; try others (gme graph --help)."
    known = "; ".join(words.removeprefix("as ") for (_, r), words in _REFERENCES.items() if r == route)
    return f"What NG found with a route like it: {known}."
