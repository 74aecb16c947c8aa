"""The options of ``gme retrieve``: the command's own, and those of all strategies."""

from __future__ import annotations

import dataclasses
import inspect
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

import typer

from ..command_line import flag
from ._commands import hidden_parameter
from ._output import JsonOption, QuietOption, ThreadsOption, WorkspaceOption

QUESTION_BUDGET = 10
"""The default budget with ``--question``, where a person reads the answer."""
OWN = {
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


def parameters() -> list[inspect.Parameter]:
    """The parameters of the command. An option's help says which strategies have it."""
    from ..retrieval.strategies import STRATEGIES

    fields: dict[str, list[tuple[str, dataclasses.Field[Any]]]] = {}
    types: dict[str, set[Any]] = {}
    for name, entry in STRATEGIES.items():
        hints = get_type_hints(entry.options)
        for field in dataclasses.fields(entry.options):
            fields.setdefault(field.name, []).append((name, field))
            types.setdefault(field.name, set()).update({*get_args(hints[field.name])} or {hints[field.name]})
    own = {**OWN, **_described()}
    result = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=_DEFAULTS[name], annotation=annotation)
        for name, annotation in own.items()
    ]
    for name, owners in fields.items():
        kind = _kind(types[name])
        result.append(_parameter(name, owners, kind))
        for former in dict.fromkeys(filter(None, (field.metadata["formerly"] for _, field in owners))):
            result.append(hidden_parameter(former, kind))
    return result


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
    if len(defaults) > 1 or (defaults and len(*defaults.values()) < len(owners)):  # the help tells what None means
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
