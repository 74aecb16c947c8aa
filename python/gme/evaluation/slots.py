"""Slot coverage (RT): how deep a run must be read for the first, the second, … piece of a question's evidence."""

from __future__ import annotations

from collections.abc import Sequence

from .gold import Gold, JudgedRun
from .results import Slot, SlotCoverage

SLOTS = 10
"""The most slots that are reported for a question."""

_MISSING = float("inf")


def slot_coverage(run: JudgedRun, gold: Gold, ks: Sequence[int]) -> list[SlotCoverage]:
    """For each hop count and slot i, the share of questions with their i-th gold node within k, and its median rank.

    The slots g_1, g_2, … of a question are its gold nodes, sorted by their place in the run. Gold that the run did not
    return comes last and is within no k. A slot counts only the questions that have it: the third slot, those with at
    least three gold nodes.

    Returns:
        JSON-ready, by rising hop count: ``hops``, ``questions`` and ``slots``. Each slot has ``slot``, ``questions``,
        ``median_rank`` (None if more than half are missing) and ``within`` by k (None at a k that the run does not
        reach).
    """
    coverage: list[SlotCoverage] = []
    for hops in sorted(set(gold.hops)):
        lines = [line for line, count in enumerate(gold.hops) if count == hops]
        most = max(len(gold.rows[line]) for line in lines)
        slots = [_slot(run, gold, lines, number, ks) for number in range(1, min(most, SLOTS) + 1)]
        coverage.append({"hops": hops, "questions": len(lines), "slots": slots})
    return coverage


def _slot(run: JudgedRun, gold: Gold, lines: Sequence[int], number: int, ks: Sequence[int]) -> Slot:
    having = [run.places[line] for line in lines if len(gold.rows[line]) >= number]
    ranks = [float(places[number - 1]) if len(places) >= number else _MISSING for places in having]
    return {
        "slot": number,
        "questions": len(ranks),
        "median_rank": median_rank(ranks),
        "within": {str(k): sum(rank <= k for rank in ranks) / len(ranks) if run.reaches(k) else None for k in ks},
    }


def median_rank(ranks: Sequence[float]) -> float | None:
    """The median of ranks, with infinity for missing ones. None if more than half are missing.

    If exactly half are missing it is the largest rank found: by then, half of the questions have theirs.
    """
    ordered = sorted(ranks)
    low, high = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
    if low == _MISSING:
        return None
    return low if high == _MISSING else (low + high) / 2
