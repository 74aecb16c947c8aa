"""The figures in plain words: headroom, route, what to expect, and what the figures do not tell."""

from __future__ import annotations

from ..formatting import counted
from .results import Figures, Linkage, Oracle, Questions, Verdict

LITTLE, LARGE = 0.20, 0.40
"""Headroom below the first is little. From the second on it is large (NG: HotpotQA .14, 2Wiki .51, MuSiQue .73)."""
WEAK, GOOD = 0.20, 0.50
"""Linkage below the first is no route. From the second on it is good (NG: MuSiQue .324, HotpotQA .610, 2Wiki .688)."""
_FROM_HITS = 0.10  # a route is good only if the best hits lead to this much more missing gold than random nodes
CHANCE = 2.0
"""A lift below this is no better than chance."""

_REFERENCES = {
    ("large", "good"): "as on 2WikiMultihopQA (linkage 68.8 %, +38.6 points over dense)",
    ("large", "weak"): "as on MuSiQue (linkage 32.4 %, +6.4 points over dense)",
    ("little", "good"): "as on HotpotQA (linkage 61.0 %, +6.6 points over dense)",
}
_LIMITS = (
    "NG's gains are points of all-supporting@10 on three Wikipedia corpora with title graphs: a comparison, not a law. "
    "Only a run on your own questions settles it."
)


def verdict(report: Figures) -> Verdict:
    """Judge a report of `check_graph`.

    Returns:
        ``headroom``: large, some, little or unknown; ``route``: good, weak, none or unknown; ``text``: the sentences;
        ``limits``: what the sentences do not say.
    """
    linkage, oracle = report["linkage"], report["oracle"]
    structural = _structural(report)
    if linkage is None and oracle is None:
        return {
            "headroom": "unknown",
            "route": "unknown",
            "text": structural,
            "limits": f"{_lacking(report['questions'])}, only the shape of the graph can be judged, not its use.",
        }
    headroom, headroom_text = _headroom(oracle)
    route, route_text = _route(linkage, oracle)
    text = " ".join(part for part in (headroom_text, route_text, _expectation(headroom, route)) if part)
    if report["edges"]["count"] == 0:
        text = f"{structural} {headroom_text}"
    return {"headroom": headroom, "route": route, "text": text, "limits": _LIMITS}


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
    if oracle is None:
        return "unknown", "Headroom is not known before embedding (gme embed)."
    share = round(1 - oracle["right"], 12)  # 1 - .8 is .2 here, not less
    kind = "little" if share < LITTLE else "some" if share < LARGE else "large"
    words = {"little": "Little headroom", "some": "Some headroom", "large": "Large headroom"}[kind]
    questions = counted(oracle["questions"], "question")
    return kind, (
        f"{words}: dense retrieval lacks gold in its first {oracle['top']} for {share:.1%} of {questions} "
        f"({oracle['fixable']:.1%} have all of it in the first {oracle['depth']})."
    )


def _route(linkage: Linkage | None, oracle: Oracle | None) -> tuple[str, str]:
    """Judge the route by linkage between gold nodes if questions have several, else by routes from the best hits."""
    if linkage is not None:
        share, lift, hops = linkage["share"], linkage["lift"], linkage["hops"]
        chance = lift is not None and lift < CHANCE
        kind = "none" if chance or share < WEAK else "weak" if share < GOOD else "good"
        apart = "adjacent gold" if hops == 1 else f"gold within {hops} hops"
        if lift is not None:
            by_lift = f"{round_lift(lift)} times what random pairs have"
        elif linkage["lift_above"] is not None:
            by_lift = f"more than {round_lift(linkage['lift_above'])} times what random pairs have"
        else:
            by_lift = "never so for random pairs"
        have = "has" if linkage["questions"] == 1 else "have"
        text = f"{share:.1%} of {counted(linkage['questions'], 'question')} {have} {apart}, {by_lift}"
    else:
        if oracle is None or oracle["missing_top"]["count"] == 0:
            return "unknown", "Whether there is a route can't be told: no question has two gold nodes."
        hops, share, random = _near_hits(oracle)
        kind = "none" if share < max(WEAK, CHANCE * random) else "weak" if share < GOOD else "good"
        text = f"{share:.1%} of the missing gold lies within {counted(hops, 'hop')} of the best hits"
        return kind, f"{_ROUTES[kind]}: {text}, and {random:.1%} of random nodes do."
    if oracle is not None and oracle["missing_top"]["count"]:
        hops, near, random = _near_hits(oracle)
        if kind == "good" and near - random < _FROM_HITS:
            kind = "weak"  # gold is linked to gold, but not to the first hits
        text += (
            f"; {near:.1%} of the missing gold lies within {counted(hops, 'hop')} of the first "
            f"{oracle['seeds']} hits ({random:.1%} of random nodes)"
        )
    return kind, f"{_ROUTES[kind]}: {text}."


def _near_hits(oracle: Oracle) -> tuple[int, float, float]:
    """How near the gold that dense retrieval misses is to the best hits. There must be some missing gold.

    Returns:
        Two hops, or the most that were searched; the share of that gold within them; the share of random nodes.
    """
    within = oracle["missing_top"]["within"]
    line = within[min(1, len(within) - 1)]
    return line["hops"], line["gold"] or 0.0, line["random"] or 0.0


def round_lift(lift: float) -> str:
    """A lift with only the digits that mean something."""
    return f"{lift:,.0f}" if lift >= 100 else f"{lift:.1f}"


_ROUTES = {"good": "There is a route", "weak": "There is a weak route", "none": "There is no route"}


def _expectation(headroom: str, route: str) -> str:
    if route == "none":
        return "Expect no gain from these edges; try others (gme graph --help)."
    if route == "unknown":
        return ""
    if headroom == "unknown":
        known = "; ".join(words.removeprefix("as ") for (_, r), words in _REFERENCES.items() if r == route)
        return f"What NG found with a route like it: {known}."
    if headroom == "little":
        return f"Expect a small gain at most, {_REFERENCES['little', 'good']}."
    near = _REFERENCES["large", route]
    if headroom == "some":
        return f"Expect less than where headroom is large, {near.removeprefix('as ')}."
    return f"Expect a {'large' if route == 'good' else 'small'} gain, {near}."
