"""``gme demo``: the paper's experiment on the synthetic benchmark, with the paper's table beside ours."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..formatting import interval, percent, points
from . import _output
from ._output import JsonOption, QuietOption, ThreadsOption

if TYPE_CHECKING:
    from rich.table import Table

    from ..evaluation.results import Scores
    from ..paper.demo import DemoResult

FolderOption = Annotated[
    Path | None,
    typer.Option(
        "--workspace", "-w", help="Keep the workspaces in this folder; default: a temporary one.", show_default=False
    ),
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("demo")(demo)


def demo(
    workspace: FolderOption = None,
    people: Annotated[
        int | None, typer.Option(help="Persons per split; default: the paper's 133.", show_default=False)
    ] = None,
    questions: Annotated[int, typer.Option(help="Questions per family.")] = 90,
    model: Annotated[str, typer.Option(help="The embedder, as for gme embed.")] = "local",
    seed: Annotated[int, typer.Option(help="Seed of the benchmark.")] = 42,
    collections: Annotated[
        str, typer.Option(help="Collections to make besides the main ones, as for gme transform.", metavar="all|A,B")
    ] = "main",
    threads: ThreadsOption = 0,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Generate, embed, transform, retrieve, evaluate: the paper's table beside ours. A few minutes on two cores."""
    from ..paper.demo import run_demo

    with contextlib.ExitStack() as stack:
        folder = workspace or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="gme-demo-")))
        _output.open_workspace(folder, quiet)
        result = run_demo(
            folder,
            people=people,
            questions=questions,
            model=model,
            seed=seed,
            collections=collections,
            threads=threads,
            reporter=_output.reporter,
        )
    if json:
        _output.data_json({"selected": result.selected, "seconds": result.seconds, "evaluations": result.evaluations})
        return
    _output.table(table(result))
    for line in conclusions(result, model):
        _output.data(line)
    _output.note("; ".join(f"{step} {seconds:.1f} s" for step, seconds in result.seconds.items()))
    if workspace is not None:
        _output.note(f"look around: gme evaluate --workspace {workspace / 'validation'}")
    _output.note("next, your own corpus: gme graph read --help, or the README")


def table(result: DemoResult) -> Table:
    """One row for each configuration: the paper's recovery, ours, the difference with its interval, and groups."""
    from rich import box
    from rich.table import Table

    from ..paper.published import ALL_QUESTIONS, HARD_QUESTIONS

    populations = {entry["name"]: entry["questions"] for entry in result.evaluations["validation"]["populations"]}
    wide = Table(
        title="Evidence recovery at 40 nodes, percent; validation split, difference from plain with its 95 % interval",
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        header_style="bold",
    )
    wide.add_column("run", overflow="fold")
    groups = [name for name in ("single-fact", "extremisation", "relational") if name in populations]
    headings = ["paper\nall", f"all\n({populations['all']})", "paper\nhard", f"hard\n({populations.get('hard', 0)})"]
    for heading in [*headings, "hard: points over plain", *(f"{name}\n({populations[name]})" for name in groups)]:
        wide.add_column(heading, justify="right")
    for configuration in result.configurations:
        scores = result.scores("validation", configuration.run)
        hard = scores.get("hard", scores["all"])
        key = (configuration.strategy, configuration.collection)
        published = {} if configuration.name else {"all": ALL_QUESTIONS.get(key), "hard": HARD_QUESTIONS.get(key)}
        wide.add_row(
            configuration.run,
            _number(published.get("all")),
            percent(scores["all"]["recovery"]),
            _number(published.get("hard")),
            percent(hard["recovery"]),
            _difference(hard),
            *(percent(scores[name]["recovery"]) for name in groups),
        )
    return wide


def conclusions(result: DemoResult, model: str) -> list[str]:
    """The table in sentences, with the configuration selected on development."""
    ours = next(c for c in result.configurations if c.strategy == "envelope")
    lines = [
        "Recovery: share of a question's gold passages among the 40 nodes. Hard: extremisation and relational.",
        "Two controls, fused-mix0 and fused-original: no guidance, and guidance by original vectors.",
        f"The paper's columns: GME with text-embedding-3-small on its own questions. Ours: {model}, generated here.",
        f"Best of the paper's configurations on development: {result.selected}. On validation:",
    ]
    for run in ("plain", result.selected, ours.run):
        scores = result.scores("validation", run)
        hard = scores.get("hard", scores["all"])
        reach = hard["nodes_to_match"]
        budget = len(hard["curve"])
        matched = "not reached" if reach is None else f"reached with {reach} nodes"
        difference = "" if "difference" not in hard else f", {_difference(hard)} points over plain"
        lines.append(f"  {run}: hard {percent(hard['recovery'])}{difference}; plain's recovery at {budget} {matched}")
    return lines


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


def _difference(scores: Scores) -> str:
    if "difference" not in scores:
        return ""
    return f"{points(scores['difference'])} {interval(scores['interval'])}"
