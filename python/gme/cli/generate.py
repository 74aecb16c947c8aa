"""`gme generate`: makes the synthetic benchmark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import _output

if TYPE_CHECKING:
    from ..benchmark import Benchmark


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("generate")(generate)


def generate(
    split: Annotated[
        str, typer.Option(help="development, validation or test; no name occurs in two splits.")
    ] = "validation",
    seed: Annotated[int, typer.Option(help="The same seed gives the same bytes everywhere.")] = 42,
    people: Annotated[int | None, typer.Option(help="How many people. [default: 133, the published size]")] = None,
    questions: Annotated[int, typer.Option(help="How many questions of each of the eleven families.")] = 90,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that gme generate did not write.")] = False,
    workspace: _output.WorkspaceOption = Path(),
    quiet: _output.QuietOption = False,
    json: _output.JsonOption = False,
) -> None:
    """Write the synthetic benchmark: nodes.jsonl, edges.jsonl and questions.jsonl."""
    from .. import benchmark

    opened = _output.open_workspace(workspace, quiet)
    benchmark.check(split, seed, people, questions)
    if not force:
        benchmark.refuse_foreign(opened)
    there = opened.path("nodes.jsonl").is_file()
    with _output.progress("people", "people") as report:
        made = benchmark.generate(split, seed, people, questions, report)
    counts = made.write(opened, _output.reporter)
    for shortage in made.shortages:
        _output.warn(
            f"{shortage.family} has {shortage.found} of {shortage.wanted} questions: {shortage.reason}",
            "ask for more --people or fewer --questions",
        )
    if there:
        _output.note(f"replaced the benchmark files in {workspace}; embeddings made from older ones count as stale")
    if json:
        _output.data_json(_summary(made, counts))
    else:
        _print(counts)


def _summary(made: Benchmark, counts: dict[str, Any]) -> dict[str, Any]:
    shortages = {shortage.family: shortage.wanted - shortage.found for shortage in made.shortages}
    return {"split": made.split, "seed": made.seed, "people": made.world.people, **counts, "shortages": shortages}


def _print(counts: dict[str, dict[str, int]]) -> None:
    """Print a line for each file, such as `nodes 1759`, with the counts of its parts."""
    for name, parts in counts.items():
        detail = ", ".join(f"{kind} {count:,}" for kind, count in parts.items())
        _output.data(f"{name}\t{sum(parts.values())}\t{detail}")
