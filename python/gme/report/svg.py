"""Drawings as SVG: the few shapes that the figures need. Classes give them colors, so that a drawing fits any theme."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .text import escape, shortened

CHARACTER = 6.6
"""The approximate width of a character of 12 pixels. Fonts differ, so it is a generous estimate."""

_TITLE = 28  # pixels


class Drawing:
    """Shapes on a surface of `width` by `height` pixels. Later shapes cover earlier ones.

    Args:
        title: what the figure shows, for readers who do not see it.
        description: its message, in a sentence.
    """

    def __init__(self, width: float, height: float, title: str, description: str) -> None:
        self.width, self.height = width, height
        self.title, self.description = title, description
        self._shapes: list[str] = []

    def rectangle(
        self, x: float, y: float, width: float, height: float, style: str, *, hint: str = "", opacity: float = 1
    ) -> None:
        """A filled rectangle. Pointing at it shows `hint`."""
        faint = "" if opacity >= 1 else f' fill-opacity="{_number(opacity)}"'
        place = f'x="{_number(x)}" y="{_number(y)}" width="{_number(width)}" height="{_number(height)}"'
        self._add(f'rect class="{style}" {place}{faint}', "rect", hint)

    def line(self, x1: float, y1: float, x2: float, y2: float, style: str, *, hint: str = "") -> None:
        """A straight line."""
        self._add(
            f'line class="{style}" x1="{_number(x1)}" y1="{_number(y1)}" x2="{_number(x2)}" y2="{_number(y2)}"',
            "line",
            hint,
        )

    def path(self, points: Sequence[tuple[float, float]], style: str, *, hint: str = "") -> None:
        """Straight lines from point to point."""
        listed = " ".join(f"{_number(x)},{_number(y)}" for x, y in points)
        self._add(f'polyline class="{style}" points="{listed}"', "polyline", hint)

    def circle(self, x: float, y: float, radius: float, style: str, *, hint: str = "") -> None:
        """A filled circle."""
        self._add(f'circle class="{style}" cx="{_number(x)}" cy="{_number(y)}" r="{_number(radius)}"', "circle", hint)

    def text(
        self, x: float, y: float, text: str, style: str = "", *, anchor: str = "start", turned: bool = False
    ) -> None:
        """A line of text with its baseline at `y`. `turned` slants it upward."""
        turn = f' transform="rotate(-40 {_number(x)} {_number(y)})"' if turned else ""
        kind = f' class="{style}"' if style else ""
        place = f'x="{_number(x)}" y="{_number(y)}" text-anchor="{anchor}"'
        self._shapes.append(f"<text{kind} {place}{turn}>{escape(text)}</text>")

    def _add(self, opening: str, tag: str, hint: str) -> None:
        self._shapes.append(f"<{opening}><title>{escape(hint)}</title></{tag}>" if hint else f"<{opening}/>")

    def render(self, identifier: str, style: str = "") -> str:
        """The SVG element. With a style sheet it is a complete file, with a background and its title on top.

        Args:
            identifier: the beginning of all ids in it, so that several drawings can share a page.
        """
        above = _TITLE if style else 0
        width, height = _number(self.width), _number(self.height + above)
        shapes = "".join(self._shapes)
        if style:
            most = int(self.width / CHARACTER) - 4
            shapes = (
                f'<style>{style}</style><rect class="paper" width="{width}" height="{height}"/>'
                f'<text class="strong" x="4" y="18">{escape(shortened(self.title, most))}</text>'
                f'<g transform="translate(0 {above})">{shapes}</g>'
            )
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="figure" viewBox="0 0 {width} {height}" width="{width}" '
            f'height="{height}" role="img" aria-labelledby="{identifier}-title {identifier}-description">'
            f'<title id="{identifier}-title">{escape(self.title)}</title>'
            f'<desc id="{identifier}-description">{escape(self.description)}</desc>{shapes}</svg>'
        )


class Scale:
    """Maps values from `low` to `high` to pixels from `start` to `end`."""

    def __init__(self, low: float, high: float, start: float, end: float) -> None:
        self.low, self.high = low, high if high > low else low + 1
        self.start, self.end = start, end

    def __call__(self, value: float) -> float:
        """The pixel of a value."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self, most: int = 6) -> list[float]:
        """About `most` round values within the scale, in steps of 1, 2 or 5 times a power of ten."""
        rough = (self.high - self.low) / most
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(step for step in (power, 2 * power, 5 * power, 10 * power) if step >= rough * (1 - 1e-9))
        first = math.ceil(self.low / step - 1e-9)
        return [number * step for number in range(first, math.floor(self.high / step + 1e-9) + 1)]


def _number(value: float) -> str:
    """A number with at most two decimals, and without a minus sign before 0."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
