"""Colors for the light and the dark theme: CSS variables in the page, plain colors in figure files."""

from __future__ import annotations

SERIES = 8
"""The number of colors for runs, collections or stages. After the last color the first comes again."""

LIGHT = {
    "paper": "#ffffff",
    "panel": "#f6f7f9",
    "ink": "#1a1d23",
    "muted": "#5b6370",
    "grid": "#dde1e7",
    "gain": "#14804a",
    "loss": "#c2410c",
    "amount": "#2563a8",
    "accent": "#1d5fa8",
    "s0": "#1f6fb4",
    "s1": "#b7540b",
    "s2": "#167f56",
    "s3": "#b24799",
    "s4": "#7357c9",
    "s5": "#886c0a",
    "s6": "#c4383f",
    "s7": "#207a90",
}
DARK = {
    "paper": "#14171c",
    "panel": "#1d2229",
    "ink": "#e8ebf0",
    "muted": "#a0a9b8",
    "grid": "#343b46",
    "gain": "#3fbf7f",
    "loss": "#ff8a4c",
    "amount": "#62a8ee",
    "accent": "#7ab8f5",
    "s0": "#6db3f2",
    "s1": "#ff9a52",
    "s2": "#4fcf98",
    "s3": "#ea86cf",
    "s4": "#b09bff",
    "s5": "#e0c04a",
    "s6": "#ff7d80",
    "s7": "#5fd0e4",
}


def variables(colors: dict[str, str]) -> str:
    """The colors as declarations of CSS variables."""
    return "".join(f"--{name}:{color};" for name, color in colors.items())


def figure_style(colors: dict[str, str] | None = None) -> str:
    """The style sheet of figures, with these colors or with the variables of the page."""
    of = colors or {name: f"var(--{name})" for name in LIGHT}
    fonts = "Roboto,'DejaVu Sans',Arial,sans-serif" if colors else "system-ui,sans-serif"
    rules = [
        f".figure text{{fill:{of['ink']};font-family:{fonts};font-size:12px}}",
        f".figure .muted{{fill:{of['muted']}}}",
        ".figure .strong{font-weight:bold}",
        ".figure .small{font-size:11px}",
        f".figure .paper{{fill:{of['paper']}}}",
        f".figure .grid{{stroke:{of['grid']};stroke-width:1}}",
        f".figure .zero{{stroke:{of['muted']};stroke-width:1}}",
        f".figure .target{{stroke:{of['muted']};stroke-width:1.5;stroke-dasharray:5 4}}",
        f".figure .ring{{fill:{of['paper']};stroke:{of['ink']};stroke-width:1.5}}",
        ".figure .line{fill:none;stroke-width:2}",
        ".figure .whisker{stroke-width:2}",
        f".figure .fill-base{{fill:{of['muted']}}} .figure .stroke-base{{stroke:{of['muted']}}}",
        *(
            f".figure .fill-{name}{{fill:{of[name]}}}"
            for name in ("gain", "loss", "amount", *(f"s{number}" for number in range(SERIES)))
        ),
        *(f".figure .stroke-s{number}{{stroke:{of[f's{number}']}}}" for number in range(SERIES)),
    ]
    return "".join(rules)
