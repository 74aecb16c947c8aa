"""The page: one HTML file that asks for nothing else, with a policy that lets only its own style and script run."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

from ..errors import joined
from ..evaluation.comparability import of_other_types, types_in_words
from ..formatting import DASH, counted, interval, percent, points
from ..version import gme_version
from .figures import FIGURES
from .material import EARLY, EXCERPT, SHORT_EXCERPT, Material
from .svg import Drawing
from .text import escape, script_json
from .theme import DARK, LIGHT, figure_style, variables

_HERE = Path(__file__).parent


@dataclass(frozen=True)
class _Cell:
    """What a cell of the table shows (markup), and what it is sorted by; "" comes last."""

    shown: str
    value: float | str = ""


def render(
    name: str, command: str, material: Material, drawings: Mapping[str, Drawing], drill_down: Mapping[str, Any]
) -> str:
    """The page as text.

    Args:
        command: the command line that makes it again.
        drawings: by name in `FIGURES`.
        drill_down: as `gme.report.material.drill_down` gives it.
    """
    style, script = _style(), _asset("page.js")
    policy = (
        f"default-src 'none'; style-src '{_source(style)}'; script-src '{_source(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return Template(_asset("page.html")).substitute(
        policy=policy,
        title=escape("gme report" if name == "report" else f"gme report: {name}"),
        style=style,
        lead=_lead(material),
        table=_table(material),
        table_note=escape(_table_note(material)),
        figure_note=_figure_note(material),
        figures="\n".join(_figure(key, drawing) for key, drawing in drawings.items()),
        question_note=escape(_question_note(material, len(drill_down["questions"]))),
        version=escape(gme_version()),
        command=f"<code>{escape(command)}</code>",
        data=script_json(drill_down),
        script=script,
    )


def _asset(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


def _source(content: str) -> str:
    """A hash source of a Content-Security-Policy."""
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"


def _style() -> str:
    """The page's style sheet: light, dark where the system or the reader wants it, and light on paper."""
    light, dark = variables(LIGHT), variables(DARK)
    return (
        f":root{{{light}}}"
        f"@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}"
        f":root[data-theme=dark]{{{dark}color-scheme:dark}}:root[data-theme=light]{{color-scheme:light}}"
        f"@media print{{:root:root:root{{{light}color-scheme:light}}}}"
        f"{figure_style()}\n{_asset('page.css')}"
    )


# ---- what stands above the figures


def _lead(material: Material) -> str:
    """The outcome in two sentences."""
    evaluation, baseline = material.evaluation, material.baseline
    count = f"{counted(evaluation['questions'], 'question')}, {counted(len(material.runs), 'run')}."
    others = [name for name in material.featured if name != baseline]
    if not others:
        return escape(count)
    scores = {name: material.run(name)["populations"][material.main] for name in material.featured}
    best = others[0]
    kind = "" if material.main == "all" else f"{material.main} "
    said = f"Of all runs here, <strong>{escape(best)}</strong> finds most of the evidence of the {kind}questions: "
    if baseline is not None and scores[best]["recovery"] < scores[baseline]["recovery"]:
        said = f"<strong>{escape(best)}</strong> comes closest to the baseline on the {kind}questions: "
    said += f"<strong>{percent(scores[best]['recovery'])} %</strong>"
    tied = material.tied(best)
    if tied:
        said += f", tied with {escape(joined(tied, 3, last=' and '))}"
    if baseline is not None:
        reached = scores[best]["nodes_to_match"]
        said += (
            f", {escape(baseline)} {percent(scores[baseline]['recovery'])} %, a difference of "
            f"{points(scores[best]['difference'])} points {interval(scores[best]['interval'])}"
        )
        if reached is not None:
            said += f"; it reaches the baseline's level with {reached} of {len(scores[best]['curve'])} nodes"
    return f"{escape(count)} {said}."


def _table(material: Material) -> str:
    columns = list(_columns(material))
    heads = "".join(
        f'<th scope="col" aria-sort="none"><button type="button">{escape(heading)}</button></th>'
        for heading in ["run", *(heading for heading, _ in columns)]
    )
    lines = []
    for number, run in enumerate(material.runs):
        name = escape(run["name"])
        kind = ' class="baseline"' if run["name"] == material.baseline else ""
        cells = "".join(
            f'<td data-value="{escape(str(cells[number].value))}">{cells[number].shown}</td>' for _, cells in columns
        )
        lines.append(f'<tr{kind}><th scope="row" data-value="{name}" title="{name}">{name}</th>{cells}</tr>')
    return (
        f'<table class="sortable"><caption class="note">Evidence recovery in percent, '
        f"{counted(material.evaluation['questions'], 'question')}</caption>"
        f"<thead><tr>{heads}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
    )


def _columns(material: Material) -> Iterable[tuple[str, list[_Cell]]]:
    """Headings and cells, a cell a run."""
    runs, wide = material.runs, material.populations("all", "hard", "group")
    for entry in wide:
        shares = [run["populations"][entry["name"]]["recovery"] for run in runs]
        yield f"{entry['name']} ({entry['questions']})", [_Cell(percent(share), share) for share in shares]
    if material.baseline is not None:
        scores = [run["populations"][material.main] for run in runs]
        yield f"{material.main}: points over {material.baseline}", [_difference(entry) for entry in scores]
        yield f"{material.main}: nodes to match it", [_plain(entry.get("nodes_to_match"), "never") for entry in scores]
    for heading, measure in (("recall", "recall"), ("all-supporting", "all_supporting")):
        for k in map(str, material.evaluation["k"]):
            shares = [run["populations"]["all"][measure][k] for run in runs]
            yield f"{heading}@{k}", [_Cell(percent(share), "" if share is None else share) for share in shares]
    yield "nodes", [_plain(run["budget"]) for run in runs]
    yield "searches", [_plain(run["search_calls"]) for run in runs]
    latencies = [material.latency(run["name"]) for run in runs]
    if any(value is not None for value in latencies):
        yield "ms a question", [_Cell(DASH) if value is None else _Cell(f"{value:.2f}", value) for value in latencies]


def _difference(scores: Mapping[str, Any]) -> _Cell:
    if "difference" not in scores:
        return _Cell("baseline", 0.0)
    value = scores["difference"]
    low, high = scores["interval"]
    tone = ' class="gain"' if low > 0 else ' class="loss"' if high < 0 else ""
    shown = f'<span{tone}>{points(value)}</span> <span class="interval">{interval((low, high))}</span>'
    return _Cell(shown, value)


def _plain(value: int | None, missing: str = DASH) -> _Cell:
    return _Cell(missing) if value is None else _Cell(str(value), value)


# ---- figures and notes


def _figure(key: str, drawing: Drawing) -> str:
    heading, caption = escape(FIGURES[key].heading), escape(FIGURES[key].caption)
    return (
        f'<figure id="figure-{key}"><h3>{heading}</h3>'
        f'<div class="scroll" role="region" aria-label="{heading}" tabindex="0">{drawing.render(key)}</div>'
        f"<figcaption>{escape(drawing.title)}. {caption}</figcaption></figure>"
    )


def _table_note(material: Material) -> str:
    evaluation = material.evaluation
    parts = ["Recovery: the share of a question's gold evidence among all nodes returned, averaged over questions."]
    if material.main == "hard":
        parts.append("Hard: extremisation and relational questions.")
    if material.baseline is None:
        parts.append("No differences are shown, for want of a baseline run.")
    else:
        options = evaluation["options"]
        parts.append(
            f"Brackets: {options['confidence']:.0%} paired-bootstrap interval, {options['resamples']:,} resamples. "
            "The best of many runs looks better on the questions it was chosen by than on new ones."
        )
    others = of_other_types(evaluation)
    if others:
        usual = ", ".join(material.run(str(material.baseline))["types"])
        parts.append(
            f"Returned from other types of nodes than the baseline's ({usual}): {types_in_words(others)}; a part of "
            "their difference may come from that."
        )
    if evaluation["without_gold"]:
        parts.append(f"Left out for want of gold evidence: {counted(evaluation['without_gold'], 'question')}.")
    if evaluation["stale"]:
        parts.append(f"Left out as outdated: {', '.join(evaluation['stale'])}.")
    return " ".join(parts)


def _figure_note(material: Material) -> str:
    if len(material.featured) == len(material.runs):
        return ""
    return f'<p class="note">{escape(_featured(material))}</p>'


def _featured(material: Material) -> str:
    first = "" if material.baseline is None else "the baseline and "
    return (
        f"Curves, intervals and results show {len(material.featured)} of {len(material.runs)} runs: {first}those that "
        f"recover most of the evidence of {material.main} questions. Name runs on the command line to choose others."
    )


def _question_note(material: Material, shown: int) -> str:
    count = material.evaluation["questions"]
    if shown == 0:
        return "No question is shown: --questions 0."
    against = "the change against the baseline" if material.baseline is not None else "the difference between runs"
    which = (
        f"All of {counted(count, 'question')}"
        if shown == count
        else f"{shown:,} of {counted(count, 'question')}, those where {against} is largest (--questions)"
    )
    cut = f"; texts are cut at {EXCERPT} characters, at {SHORT_EXCERPT} where no run has them among its first {EARLY}."
    return which + cut if len(material.featured) == len(material.runs) else f"{which}{cut} {_featured(material)}"
