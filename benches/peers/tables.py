"""Aligned text for the terminal, Markdown for the page, from the same rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Column:
    """A heading, and how wide the column is on a terminal; numbers are set to the right."""

    heading: str
    width: int
    number: bool = True


class Table:
    """Prints each row as soon as it is known, and remembers it for the page."""

    def __init__(self, title: str, columns: Sequence[Column], text: str = "") -> None:
        self.title, self.columns, self.text = title, columns, text
        self.rows: list[list[str]] = []
        print(f"\n{title}\n{'-' * len(title)}" + (f"\n{text}" if text else ""))
        self._print([column.heading for column in columns])

    def add(self, *fields: str) -> None:
        """One more row, a field for each column."""
        self.rows.append(list(fields))
        self._print(fields)

    def _print(self, fields: Sequence[str]) -> None:
        cells = [
            f"{field:>{column.width}}" if column.number else f"{field:<{column.width}}"
            for column, field in zip(self.columns, fields, strict=True)
        ]
        print("  ".join(cells).rstrip(), flush=True)

    def markdown(self) -> str:
        """The title, the text and the table."""
        lines = [f"## {self.title}", ""]
        if self.text:
            lines += [self.text, ""]
        lines.append("| " + " | ".join(column.heading for column in self.columns) + " |")
        lines.append("|" + "|".join("---:" if column.number else "---" for column in self.columns) + "|")
        lines += ["| " + " | ".join(field.replace("|", "\\|") for field in row) + " |" for row in self.rows]
        return "\n".join(lines) + "\n"


def seconds_text(seconds: float) -> str:
    """Three significant figures."""
    return f"{seconds:.4f}" if seconds < 0.1 else f"{seconds:.3f}" if seconds < 10 else f"{seconds:.1f}"
