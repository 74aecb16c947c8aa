"""``gme retrieve STRATEGY``: answers the workspace's questions, or a single question from the command line."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand

from ..command_line import flag
from ..formatting import counted
from . import _output
from ._commands import UsageError, listed
from ._retrieve_options import OWN, QUESTION_BUDGET, parameters

if TYPE_CHECKING:
    from ..pipeline.prepare import Prepared, RetrievalSetting
    from ..pipeline.question import Answer, ShownResult
    from ..workspace import Workspace
    from ..workspace.manifests import Manifest

_TEXT_LENGTH = 100


class _Command(TyperCommand):
    """Shows STRATEGY as required. If it is missing, the command itself refuses to run and lists the strategies."""

    def collect_usage_pieces(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]
        """The words after the command's name in its usage line."""
        return [piece.replace("[STRATEGY]", "STRATEGY") for piece in super().collect_usage_pieces(ctx)]

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Parse the arguments. No words may be left after all options and the strategy.

        Raises:
            UsageError: words are left. They are most likely a question.
        """
        ctx.allow_extra_args = True
        left = super().parse_args(ctx, args)
        if left and not ctx.resilient_parsing:
            raise UsageError(
                f"Got unexpected extra argument(s) ({' '.join(left)})", 'one question is given with --question "…"'
            )
        return left


def register(app: typer.Typer) -> None:
    """Add the command with the options of all strategies. The help says which strategy has which options."""
    from ..retrieval.strategies import STRATEGIES

    accepted = parameters()

    def retrieve(**given: Any) -> None:
        own = {name: given.pop(name) for name in OWN}
        _retrieve(options={name: value for name, value in given.items() if value not in (None, "")}, **own)

    retrieve.__signature__ = inspect.Signature(accepted)  # type: ignore[attr-defined]
    retrieve.__annotations__ = {parameter.name: parameter.annotation for parameter in accepted}
    width = max(10, *(len(name) + 2 for name in STRATEGIES))
    lines = "\n".join(f"  {name:{width}}{entry.help}" for name, entry in STRATEGIES.items())
    app.command(
        "retrieve",
        cls=_Command,
        help=f"Answer all questions of the workspace with a strategy, or one question given here.\n\n\b\n{lines}",
        short_help="Answer the workspace's questions with a strategy, or one question given here.",
    )(retrieve)


def _retrieve(
    strategy: str,
    options: dict[str, Any],
    collection: str,
    question: str,
    model: str,
    name: str,
    types: str,
    edge_types: str,
    format: str,
    exact: bool | None,
    index: str,
    latency: bool,
    build_threads: int,
    precision: str,
    workspace: Path,
    threads: int,
    json: bool,
    quiet: bool,
) -> None:
    from ..errors import GmeError, unknown
    from ..pipeline.prepare import RetrievalSetting
    from ..retrieval.batch import others_options

    if not strategy:
        raise _missing_strategy()
    opened = _output.open_workspace(workspace, quiet)
    if question is not None and not question.strip():
        raise GmeError("--question is empty", "leave it out to answer all questions of the workspace")
    if format not in ("jsonl", "trec"):
        raise unknown("value for --format:", format, ["jsonl", "trec"])
    # Options of other strategies only warn, because scripts run one command line with every strategy.
    for other, owners in others_options(strategy, options).items():
        _output.warn(
            f"{strategy} has no option --{flag(other)}: it has no effect", f"it belongs to {', '.join(owners)}"
        )
        del options[other]
    for option, given in (("--name", name), ("--format", format != "jsonl"), ("--latency", latency)):
        if question is not None and given:
            raise GmeError(f"{option} has no effect with --question", "it belongs to a run over all questions")
    if question is None and model:
        raise GmeError("--model has no effect without --question", "it belongs to --question, and to gme embed")
    if question is not None and not {"budget", "schedule"} & set(options):
        options["budget"] = QUESTION_BUDGET
    setting = RetrievalSetting(
        collection=collection,
        index=_index(exact, index),
        types=listed(types) or (),
        edge_types=listed(edge_types) or (),
        threads=threads,
        build_threads=build_threads,
        precision=precision,
        reporter=_output.reporter,
    )
    if question is not None:
        _print_answer(_answer(opened, strategy, setting, options, question, model), json)
        return
    run, manifest = _all(opened, strategy, setting, options, name, format == "trec", latency)
    if json:
        _output.data_json({"name": run, **manifest})
    else:
        _report(manifest)
        _output.data(run)


def _index(exact: bool | None, index: str) -> str:
    """The kind of store that ``--exact``, ``--hnsw`` or ``--index NAME`` selects."""
    from ..errors import GmeError

    asked = {None: "", True: "exact", False: "hnsw"}[exact]
    if asked and index and asked != index:
        raise GmeError(f"--{asked} and --index {index} contradict each other", "leave one out")
    return asked or index or "auto"


def _missing_strategy() -> UsageError:
    from ..retrieval.strategies import STRATEGIES

    return UsageError(f"Missing argument 'STRATEGY': one of {', '.join(STRATEGIES)}")


def _all(
    workspace: Workspace,
    strategy: str,
    setting: RetrievalSetting,
    options: dict[str, Any],
    name: str,
    trec: bool,
    latency: bool,
) -> tuple[str, Manifest]:
    from ..evaluation.runs import check_own_name
    from ..pipeline.retrieve import retrieve_workspace
    from ..pipeline.runs import run_names
    from ..workspace.layout import NODES, QUESTIONS, WRITERS

    workspace.require(NODES)
    workspace.require(QUESTIONS, f'{WRITERS[QUESTIONS]}; or answer one question: --question "…"')
    if name and name not in run_names(workspace):  # allows to make a stale run of a sweep again under its name
        check_own_name(name)
    return retrieve_workspace(workspace, strategy, setting, name=name, trec=trec, latency=latency, **options)


def _report(manifest: Manifest) -> None:
    single = manifest.get("latency_milliseconds")
    _output.note(
        f"{counted(manifest['questions'], 'question')} in {manifest['seconds']:.2f} s, "
        f"{counted(manifest['search_calls'], 'search call')} each, "
        f"{manifest['milliseconds_per_question']:.2f} ms a question in the batch"
        + (
            f", one at a time {single['p50']:.2f} ms (median), {single['p95']:.2f} ms (95th percentile)"
            if single
            else ""
        )
    )


def _answer(
    workspace: Workspace, strategy: str, setting: RetrievalSetting, options: dict[str, Any], question: str, model: str
) -> Answer:
    """The results of one question, with texts."""
    from ..errors import GmeError, OptionError
    from ..pipeline.prepare import prepare_retrieval
    from ..pipeline.question import embed_question
    from ..pipeline.retrieve import describe
    from ..pipeline.runs import results_of

    try:
        ready: Prepared = prepare_retrieval(workspace, strategy, setting, options)
    except OptionError as error:
        if error.option == "budget":
            raise GmeError(error.message, f"default: {QUESTION_BUDGET} with --question") from None
        raise
    query = embed_question(workspace, question, model or None, threads=setting.threads)
    retrieved = ready.answer(query, ready.match_titles(query, [question]), questions=[question])
    ready.note_large_budget()
    nodes = workspace.nodes
    results: list[ShownResult] = [
        {
            "rank": rank,
            **result,
            "type": nodes.types[nodes.rows[result["id"]]],
            "text": nodes.texts[nodes.rows[result["id"]]],
        }
        for rank, result in enumerate(results_of(retrieved, 0, nodes), start=1)
    ]
    return {"question": question, **describe(ready), "search_calls": retrieved.search_calls, "results": results}


def _print_answer(answer: Answer, json: bool) -> None:
    if json:
        _output.data_json(answer)
        return
    from rich.table import Table

    from ..retrieval.batch import find_strategy

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("rank", "score", "stage", "type", "id", "text"):
        number = heading in ("rank", "score")
        table.add_column(
            heading, justify="right" if number else "left", no_wrap=number or heading == "stage", overflow="fold"
        )
    for result in answer["results"]:
        text = " ".join(result["text"].split())
        shown = text if len(text) <= _TEXT_LENGTH else f"{text[: _TEXT_LENGTH - 1]}…"
        table.add_row(
            str(result["rank"]), f"{result['score']:.3f}", result["stage"], result["type"], result["id"], shown
        )
    _output.table(table)
    scores = find_strategy(str(answer["strategy"])).scores
    stages = dict.fromkeys(result["stage"] for result in answer["results"])
    described = [f"{stage}: {scores[stage]}" for stage in stages if stage in scores]
    if described:
        _output.note(f"score: {'; '.join(described)}")
