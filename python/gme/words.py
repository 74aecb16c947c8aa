"""Numbers with the words they count, for sentences to people."""

from __future__ import annotations


def counted(number: int, one: str, several: str = "") -> str:
    """``1 node``, ``2 nodes``; give `several` where it takes more than an s."""
    return f"{number:,} {one if number == 1 else several or f'{one}s'}"
