"""How messages and tables write numbers, shares and intervals."""

from __future__ import annotations

from collections.abc import Sequence

DASH = "–"
"""Stands in place of a missing value."""


def counted(number: int, one: str, several: str = "") -> str:
    """``1 node`` or ``2 nodes``. Give `several` when the plural is not made with an s."""
    return f"{number:,} {one if number == 1 else several or f'{one}s'}"


def percent(share: float | None) -> str:
    """A share in percent with one decimal; a dash for None."""
    return DASH if share is None else f"{100 * share:.1f}"


def points(difference: float) -> str:
    """A difference of shares in signed points."""
    return f"{100 * difference + 0.0:+.1f}"


def interval(ends: Sequence[float]) -> str:
    """The two ends of an interval in points."""
    return f"[{points(ends[0])}, {points(ends[1])}]"


def ignore_message(text: str, hint: str | None = None) -> None:
    """Do nothing. Pass it as a `note` or `warn` function to hear nothing."""
