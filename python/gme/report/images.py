"""Figures as PNG files, made by resvg with a font of its own. Latin text gives the same bytes on every machine."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

ENLARGED = 2.0
"""The pixels of a PNG for each pixel of the drawing."""


def can_draw_png() -> bool:
    """Whether the packages of the ``report`` extra are installed."""
    return find_spec("resvg_py") is not None and find_spec("font_roboto") is not None


def png(svg: str) -> bytes:
    """An SVG with its own style sheet, as a PNG. Characters that the font lacks come from the fonts of the system."""
    import resvg_py

    return bytes(
        resvg_py.svg_to_bytes(svg_string=svg, zoom=ENLARGED, font_dirs=[str(_fonts())], sans_serif_family="Roboto")
    )


def _fonts() -> Path:
    # Importing the package needs pkg_resources, which newer systems lack. Only its files are needed here.
    spec = find_spec("font_roboto")
    if spec is None or spec.origin is None:
        raise ImportError("font_roboto")
    return Path(spec.origin).parent / "files"
