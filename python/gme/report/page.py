"""The page: one HTML file that loads nothing else. Its policy allows only its own style and script."""

from __future__ import annotations

import base64
import functools
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import joined
from ..evaluation.comparability import of_other_types, types_in_words
from ..formatting import DASH, counted, interval, percent, points
from ..version import gme_version
from .data import EARLY, EXCERPT, SHORT_EXCERPT, ReportData
from .figures import FIGURES
from .svg import Drawing
from .text import escape, script_json
from .theme import DARK, LIGHT, figure_style, variables

if TYPE_CHECKING:
    from jinja2 import Environment

_HERE = Path(__file__).parent


@dataclass(frozen=True)
class _Cell:
    """A cell of the table: its text, and the value to sort by ("" comes last). `tone` and `interval` may be empty."""

    shown: str
    value: float | str = ""
    tone: str = ""
    interval: str = ""


@dataclass(frozen=True)
class _Line:
    """A run in the table."""

    name: str
    baseline: bool
    cells: Sequence[_Cell]


@dataclass(frozen=True)
class _Table:
    caption: str
    headings: Sequence[str]
    lines: Sequence[_Line]


@dataclass(frozen=True)
class _Lead:
    """The outcome in two sentences; without `best`, only the first. `ahead` is false if it is behind the baseline."""

    count: str
    best: str = ""
    ahead: bool = True
    kind: str = ""
    recovery: str = ""
    rest: str = ""


@dataclass(frozen=True)
class _Figure:
    key: str
    heading: str
    title: str
    caption: str
    drawing: str


def render(
    name: str, command: str, data: ReportData, drawings: Mapping[str, Drawing], drill_down: Mapping[str, Any]
) -> str:
    """The page as text.

    Args:
        command: the command line that makes the page again.
        drawings: the drawings by their names in `FIGURES`.
        drill_down: as `gme.report.data.drill_down` gives it.
    """
    from markupsafe import Markup

    style, script = _style(), _asset("page.js")
    policy = (
        f"default-src 'none'; style-src '{_source(style)}'; script-src '{_source(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    # Only what this package has made itself is marked as markup. Everything else is escaped.
    return (
        _environment()
        .get_template("page.html.j2")
        .render(
            policy=Markup(policy),
            title="gme report" if name == "report" else f"gme report: {name}",
            style=Markup(style),
            lead=_lead(data),
            table=_table(data),
            table_note=_table_note(data),
            figure_note="" if len(data.featured) == len(data.runs) else _featured(data),
            figures=[_figure(key, drawing) for key, drawing in drawings.items()],
            question_note=_question_note(data, len(drill_down["questions"])),
            version=gme_version(),
            command=command,
            data=Markup(script_json(drill_down)),
            script=Markup(script),
        )
    )


@functools.cache
def _environment() -> Environment:
    """Templates whose values are escaped like the text of figures. A missing value is an error."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    def escaped(value: object) -> Markup:
        return value if isinstance(value, Markup) else Markup(escape(str(value)))

    return Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=escaped,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _asset(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


def _source(content: str) -> str:
    """The hash source for a Content-Security-Policy."""
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"


def _style() -> str:
    """The style sheet of the page: light, dark if the system or the reader wants it, and light on paper."""
    light, dark = variables(LIGHT), variables(DARK)
    return (
        f":root{{{light}}}"
        f"@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}"
        f":root[data-theme=dark]{{{dark}color-scheme:dark}}:root[data-theme=light]{{color-scheme:light}}"
        f"@media print{{:root:root:root{{{light}color-scheme:light}}}}"
        f"{figure_style()}\n{_asset('page.css')}"
    )


# ---- above the figures


def _lead(data: ReportData) -> _Lead:
    evaluation, baseline = data.evaluation, data.baseline
    count = f"{counted(evaluation['questions'], 'question')}, {counted(len(data.runs), 'run')}."
    others = [name for name in data.featured if name != baseline]
    if not others:
        return _Lead(count)
    scores = {name: data.run(name)["populations"][data.main] for name in data.featured}
    best = others[0]
    tied = data.runs_tied_with(best)
    rest = f", tied with {joined(tied, 3, last=' and ')}" if tied else ""
    if baseline is not None:
        reached = scores[best]["nodes_to_match"]
        rest += (
            f", {baseline} {percent(scores[baseline]['recovery'])} %, a difference of "
            f"{points(scores[best]['difference'])} points {interval(scores[best]['interval'])}"
        )
        if reached is not None:
            rest += f"; it reaches the baseline's level with {reached} of {len(scores[best]['curve'])} nodes"
    return _Lead(
        count,
        best,
        ahead=baseline is None or scores[best]["recovery"] >= scores[baseline]["recovery"],
        kind="" if data.main == "all" else f"{data.main} ",
        recovery=f"{percent(scores[best]['recovery'])} %",
        rest=rest,
    )


def _table(data: ReportData) -> _Table:
    columns = list(_columns(data))
    return _Table(
        caption=f"Evidence recovery in percent, {counted(data.evaluation['questions'], 'question')}",
        headings=["run", *(heading for heading, _ in columns)],
        lines=[
            _Line(run["name"], run["name"] == data.baseline, [cells[number] for _, cells in columns])
            for number, run in enumerate(data.runs)
        ],
    )


def _columns(data: ReportData) -> Iterable[tuple[str, list[_Cell]]]:
    """The headings of the columns, with a cell for each run."""
    runs, wide = data.runs, data.populations("all", "hard", "group")
    for entry in wide:
        shares = [run["populations"][entry["name"]]["recovery"] for run in runs]
        yield f"{entry['name']} ({entry['questions']})", [_Cell(percent(share), share) for share in shares]
    if data.baseline is not None:
        scores = [run["populations"][data.main] for run in runs]
        yield f"{data.main}: points over {data.baseline}", [_difference(entry) for entry in scores]
        yield f"{data.main}: nodes to match it", [_plain(entry.get("nodes_to_match"), "never") for entry in scores]
    every = [run["populations"]["all"] for run in runs]
    found, complete = [each["recall"] for each in every], [each["all_supporting"] for each in every]
    for heading, measured in (("recall", found), ("all-supporting", complete)):
        for k in map(str, data.evaluation["k"]):
            at = [by_k[k] for by_k in measured]
            yield f"{heading}@{k}", [_Cell(percent(share), "" if share is None else share) for share in at]
    yield "nodes", [_plain(run["budget"]) for run in runs]
    yield "searches", [_plain(run["search_calls"]) for run in runs]
    latencies = [data.latency(run["name"]) for run in runs]
    if any(value is not None for value in latencies):
        yield "ms a question", [_Cell(DASH) if value is None else _Cell(f"{value:.2f}", value) for value in latencies]


def _difference(scores: Mapping[str, Any]) -> _Cell:
    if "difference" not in scores:
        return _Cell("baseline", 0.0)
    value = scores["difference"]
    low, high = scores["interval"]
    tone = "gain" if low > 0 else "loss" if high < 0 else ""
    return _Cell(points(value), value, tone, interval((low, high)))


def _plain(value: int | None, missing: str = DASH) -> _Cell:
    return _Cell(missing) if value is None else _Cell(str(value), value)


# ---- figures and notes


def _figure(key: str, drawing: Drawing) -> _Figure:
    from markupsafe import Markup

    figure = FIGURES[key]
    return _Figure(key, figure.heading, drawing.title, figure.caption, Markup(drawing.render(key)))


def _table_note(data: ReportData) -> str:
    evaluation = data.evaluation
    parts = ["Recovery: the share of a question's gold evidence among all nodes returned, averaged over questions."]
    if data.main == "hard":
        parts.append("Hard: extremisation and relational questions.")
    if data.baseline is None:
        parts.append("No differences are shown, because there is no baseline run.")
    else:
        options = evaluation["options"]
        parts.append(
            f"Brackets: {options['confidence']:.0%} paired-bootstrap interval, {options['resamples']:,} resamples. "
            "The best of many runs looks better on the questions it was chosen by than on new ones."
        )
    others = of_other_types(evaluation)
    if others:
        usual = ", ".join(data.run(str(data.baseline))["types"] or [])
        parts.append(
            f"Returned from other types of nodes than the baseline's ({usual}): {types_in_words(others)}; a part of "
            "their difference may come from that."
        )
    if evaluation["without_gold"]:
        parts.append(f"Left out because they have no gold evidence: {counted(evaluation['without_gold'], 'question')}.")
    if evaluation["stale"]:
        parts.append(f"Left out as outdated: {', '.join(evaluation['stale'])}.")
    if data.plugins:
        packages = "; ".join(f"{package} ({', '.join(shares)})" for package, shares in data.plugins.items())
        parts.append(f"Other packages took part: {packages}.")
    return " ".join(parts)


def _featured(data: ReportData) -> str:
    first = "" if data.baseline is None else "the baseline and "
    return (
        f"Curves, intervals and results show {len(data.featured)} of {len(data.runs)} runs: {first}those that "
        f"recover most of the evidence of {data.main} questions. Name runs on the command line to choose others."
    )


def _question_note(data: ReportData, shown: int) -> str:
    count = data.evaluation["questions"]
    if shown == 0:
        return "No question is shown: --questions 0."
    against = "the change against the baseline" if data.baseline is not None else "the difference between runs"
    which = (
        f"All of {counted(count, 'question')}"
        if shown == count
        else f"{shown:,} of {counted(count, 'question')}, those where {against} is largest (--questions)"
    )
    cut = f"; texts are cut at {EXCERPT} characters, at {SHORT_EXCERPT} where no run has them among its first {EARLY}."
    return which + cut if len(data.featured) == len(data.runs) else f"{which}{cut} {_featured(data)}"
