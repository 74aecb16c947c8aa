"""Figures as PNG files, by resvg with a font of its own: the same bytes wherever text is in Latin letters."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

ENLARGED = 2.0
"""Pixels of a PNG for one of the drawing."""


def can_draw_png() -> bool:
    """Whether the packages of the ``report`` extra are there."""
    return find_spec("resvg_py") is not None and find_spec("font_roboto") is not None


def png(svg: str) -> bytes:
    """An SVG with its own style sheet as a PNG; characters that the font lacks come from the system's fonts."""
    import resvg_py

    return bytes(
        resvg_py.svg_to_bytes(svg_string=svg, zoom=ENLARGED, font_dirs=[str(_fonts())], sans_serif_family="Roboto")
    )


def _fonts() -> Path:
    # The package's own import goes through pkg_resources, which newer systems lack; its files are all we need.
    spec = find_spec("font_roboto")
    if spec is None or spec.origin is None:
        raise ImportError("font_roboto")
    return Path(spec.origin).parent / "files"
