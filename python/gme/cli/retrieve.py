"""``gme retrieve STRATEGY``: answers the workspace's questions, or a single question from the command line."""

from __future__ import annotations

import dataclasses
import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

import typer
from typer.core import TyperCommand

from ..command_line import flag
from ..formatting import counted
from . import _output
from ._commands import UsageError, hidden_parameter, listed
from ._output import JsonOption, QuietOption, ThreadsOption, WorkspaceOption

if TYPE_CHECKING:
    from ..pipeline.question import Answer, ShownResult
    from ..pipeline.retrieve import Prepared, RetrievalSetting
    from ..workspace import Workspace
    from ..workspace.manifests import Manifest

_TEXT_LENGTH = 100
QUESTION_BUDGET = 10
"""The default budget with ``--question``, where a person reads the answer."""
_OWN = {
    "strategy": Annotated[str, typer.Argument(metavar="STRATEGY", help="One of the strategies above.  [required]")],
    "collection": Annotated[str, typer.Option(metavar="NAME")],
    "question": Annotated[str | None, typer.Option(metavar="TEXT", help="Answer this question only; writes nothing.")],
    "model": Annotated[
        str, typer.Option(help="Embed --question with this model; default: the one that embedded the workspace.")
    ],
    "name": Annotated[str, typer.Option(help="Name of the run; default: strategy, collection, changed options.")],
    "types": Annotated[str, typer.Option()],
    "edge_types": Annotated[str, typer.Option("--edge-types")],
    "format": Annotated[str, typer.Option(help="Of the run: jsonl, or trec to write the six-column TREC run as well.")],
    "exact": Annotated[
        bool | None,
        typer.Option("--exact/--hnsw"),
    ],
    "index": Annotated[str, typer.Option(metavar="NAME")],
    "latency": Annotated[
        bool, typer.Option("--latency", help="Also time questions one at a time: 50th and 95th percentile.")
    ],
    "build_threads": Annotated[
        int,
        typer.Option(
            min=0, max=1024, help="Threads for building an HNSW index; only 1 builds the same index every time."
        ),
    ],
    "precision": Annotated[
        str, typer.Option(help="How an HNSW index holds vectors: f32, f16 or i8; scores are float32 in any case.")
    ],
    "workspace": WorkspaceOption,
    "threads": ThreadsOption,
    "json": JsonOption,
    "quiet": QuietOption,
}
_DEFAULTS: dict[str, Any] = {
    "strategy": "",
    "collection": "",
    "question": None,
    "model": "",
    "name": "",
    "types": "",
    "edge_types": "",
    "format": "jsonl",
    "exact": None,
    "index": "",
    "latency": False,
    "build_threads": 1,
    "precision": "f32",
    "workspace": Path(),
    "threads": 0,
    "json": False,
    "quiet": False,
}


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

    fields: dict[str, list[tuple[str, dataclasses.Field[Any]]]] = {}
    types: dict[str, set[Any]] = {}
    for name, entry in STRATEGIES.items():
        hints = get_type_hints(entry.options)
        for field in dataclasses.fields(entry.options):
            fields.setdefault(field.name, []).append((name, field))
            types.setdefault(field.name, set()).update({*get_args(hints[field.name])} or {hints[field.name]})
    own = {**_OWN, **_described()}
    parameters = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=_DEFAULTS[name], annotation=annotation)
        for name, annotation in own.items()
    ]
    for name, owners in fields.items():
        kind = _kind(types[name])
        parameters.append(_parameter(name, owners, kind))
        for former in dict.fromkeys(filter(None, (field.metadata["formerly"] for _, field in owners))):
            parameters.append(hidden_parameter(former, kind))

    def retrieve(**given: Any) -> None:
        own = {name: given.pop(name) for name in _OWN}
        _retrieve(options={name: value for name, value in given.items() if value not in (None, "")}, **own)

    retrieve.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    retrieve.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    width = max(10, *(len(name) + 2 for name in STRATEGIES))
    lines = "\n".join(f"  {name:{width}}{entry.help}" for name, entry in STRATEGIES.items())
    app.command(
        "retrieve",
        cls=_Command,
        help=f"Answer all questions of the workspace with a strategy, or one question given here.\n\n\b\n{lines}",
        short_help="Answer the workspace's questions with a strategy, or one question given here.",
    )(retrieve)


def _described() -> dict[str, Any]:
    """The options whose help depends on the existing strategies and stores."""
    from ..pipeline.index import AUTO, EXACT_BELOW, STORES
    from ..retrieval.strategies import STRATEGIES

    prefers = "".join(f"; {name}: {entry.prefers}" for name, entry in STRATEGIES.items() if entry.prefers)
    returns = "".join(f"; {name}: {entry.returns}, if there" for name, entry in STRATEGIES.items() if entry.returns)
    walking = ", ".join(name for name, entry in STRATEGIES.items() if entry.needs_graph)
    return {
        "collection": Annotated[
            str,
            typer.Option(
                metavar="NAME",
                help=f"Modified collection; 'original' is the control. Default: the only one there is{prefers}.",
            ),
        ],
        "types": Annotated[
            str,
            typer.Option(help=f"Return only nodes of these types, e.g. chunk,document; default: all{returns}."),
        ],
        "edge_types": Annotated[
            str,
            typer.Option(
                "--edge-types", help=f"Walk only edges of these types, e.g. link,title_mention. [{walking} only]"
            ),
        ],
        "exact": Annotated[
            bool | None,
            typer.Option(
                "--exact/--hnsw",
                help="Compare with every vector, or search an HNSW index; default: an index from "
                f"{EXACT_BELOW:,} nodes on.",
            ),
        ],
        "index": Annotated[
            str,
            typer.Option(metavar="NAME", help=f"Search this kind of store: {', '.join([AUTO, *STORES.names()])}."),
        ],
    }


def _kind(types: set[Any]) -> Any:
    """The type of an option on the command line. If strategies declare it with several types, it is text."""
    given = types - {type(None)}
    return given.pop() if len(given) == 1 else str


def _parameter(name: str, owners: list[tuple[str, dataclasses.Field[Any]]], kind: Any) -> inspect.Parameter:
    """The parameter for an option of strategies. It is None unless given; the help has each strategy's default."""
    defaults: dict[str, list[str]] = {}
    for strategy, field in owners:
        if field.default is not None:
            defaults.setdefault(str(field.default), []).append(strategy)
    sentence = max((field.metadata["help"] for _, field in owners), key=len)
    text = f"{sentence[0].upper()}{sentence[1:]}."
    if len(defaults) > 1:
        text += f" [{'; '.join(f'{value} for ' + ', '.join(names) for value, names in defaults.items())}]"
    else:
        facts = [f"{owners[0][0]} only"] if len(owners) == 1 else []
        facts += [f"default: {default}" for default in defaults]
        if name == "budget":
            facts[-1] += f", or {QUESTION_BUDGET} with --question"
        text += f" [{'; '.join(facts)}]" if facts else ""
    form = f"--{flag(name)}/--no-{flag(name)}" if kind is bool else f"--{flag(name)}"
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[kind | None, typer.Option(form, help=text)],
    )


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
    from ..pipeline.retrieve import RetrievalSetting
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
    from ..pipeline.question import embed_question
    from ..pipeline.retrieve import describe, prepare_retrieval
    from ..pipeline.runs import results_of

    try:
        ready: Prepared = prepare_retrieval(workspace, strategy, setting, options)
    except OptionError as error:
        if error.option == "budget":
            raise GmeError(error.message, f"default: {QUESTION_BUDGET} with --question") from None
        raise
    query = embed_question(workspace, question, model or None, threads=setting.threads)
    retrieved = ready.answer(query, ready.match_titles(query, [question]), questions=[question])
    ready.tell_budget()
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
