"""``gme graph check``: tells whether the graph can help."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..diagnostics.check import CheckOptions
from ..diagnostics.gates import GATES
from ..errors import GmeError
from . import _output
from ._commands import listed, with_options
from ._output import JsonOption, QuietOption, ThreadsOption, WorkspaceOption

if TYPE_CHECKING:
    from rich.table import Table

    from ..diagnostics.results import Oracle, Reach, WorkspaceReport

SUMMARY = "Will this graph help? Its shape, its links between gold nodes, and what is left to win."
_GATES = "; ".join(f"{name}: {gate.summary}" for name, gate in GATES.items())

GateOption = Annotated[
    str, typer.Option("--gate", metavar="NAME=NUMBER,…", help=f"Exit with 1 where a figure is worse. {_GATES}.")
]
EdgeTypesOption = Annotated[
    str, typer.Option("--edge-types", metavar="A,B", help="Look only at edges of these types; default: all.")
]


def register(graph: typer.Typer) -> None:
    """Add the command to the group ``gme graph``."""
    graph.command("check", help=SUMMARY, short_help="Will this graph help?")(with_options(CheckOptions, check, SUMMARY))


def check(
    options: CheckOptions,
    gate: GateOption = "",
    edge_types: EdgeTypesOption = "",
    workspace: WorkspaceOption = Path(),
    threads: ThreadsOption = 0,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Print the diagnostics of a workspace's graph."""
    import time

    from ..diagnostics.gates import check_gates, parse_gates
    from ..pipeline.check import check_workspace

    opened = _output.open_workspace(workspace, quiet)
    gates = parse_gates(gate)
    started = time.perf_counter()
    chosen = listed(edge_types)
    report = check_workspace(opened, options, edge_types=chosen, threads=threads, reporter=_output.reporter)
    for text in report["notes"]:
        _output.note(text)
    _output.note(f"checked in {time.perf_counter() - started:.2f} s")
    if json:
        _output.data_json(report)
    else:
        _print(report)
    failed = check_gates(report, gates)
    if failed:
        hint = (
            "try other edges, or lower the gate"
            if all(failure.known for failure in failed)
            else "unknown figures need questions with gold, or gme embed"
        )
        raise GmeError(f"gate not passed: {'; '.join(map(str, failed))}", hint)


def _print(report: "WorkspaceReport") -> None:
    _output.table(_shape(report))
    if report["reach"]:
        _output.table(_reach(report["reach"]))
    if report["oracle"]:
        _output.table(_dense(report["oracle"]))
    verdict = report["verdict"]
    _output.data(verdict["text"])
    if report["shared_names"] is not None:
        _output.data(report["shared_names"]["text"])
    _output.data(verdict["limits"])


def _table(*columns: str) -> "Table":
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, justify="left" if column == columns[0] else "right", no_wrap=True)
    return table


def _shape(report: "WorkspaceReport") -> "Table":
    table = _table("graph", "")
    degree, skew = report["degree"], report["skew"]
    rows = [("nodes", f"{report['nodes']['count']:,}")]
    for name, facts in report["nodes"]["types"].items():
        rows.append((f"  {name}", f"{facts['count']:,} ({facts['isolated']:,} isolated)"))
    rows.append(("edges", f"{report['edges']['count']:,}"))
    rows += [(f"  {name} (lines)", f"{count:,}") for name, count in report["edges"]["types"].items()]
    components = report["components"]
    rows += [
        ("isolated nodes", f"{report['isolated']['count']:,} ({report['isolated']['share']:.1%})"),
        ("components", f"{components['count']:,}"),
        ("largest component", f"{components['largest']:,} ({components['largest_share']:.1%})"),
        (
            "degree min / median / mean / max",
            f"{degree['min']} / {degree['median']:g} / {degree['mean']:.2f} / {degree['max']}",
        ),
        ("edge ends at the top 1 % of nodes", f"{skew['top_percent_share']:.1%}"),
        ("Gini of degrees", f"{skew['gini']:.3f}"),
    ]
    rows += [
        ("most neighbors" if not n else "", f"{h['id'][:60]} ({h['degree']:,})") for n, h in enumerate(report["hubs"])
    ]
    for row in rows:
        table.add_row(*row)
    return table


def _reach(lines: list["Reach"]) -> "Table":
    from ..diagnostics.verdict import round_lift

    table = _table(
        "\ngold within", "any pair\nof questions", "all gold\nof questions", "\ngold pairs", "random\npairs", "\nlift"
    )
    for line in lines:
        lift = "–" if line["lift"] is None else round_lift(line["lift"])
        if line["lift"] is None and line["lift_above"] is not None:
            lift = f"> {round_lift(line['lift_above'])}"
        table.add_row(
            f"{line['hops']} hop{'s' if line['hops'] > 1 else ''}",
            f"{line['any']:.1%}",
            f"{line['connected']:.1%}",
            f"{line['gold_pairs']:.1%}",
            f"{line['random_pairs']:.3%}",
            lift,
        )
    return table


def _dense(oracle: "Oracle") -> "Table":
    top, depth = oracle["top"], oracle["depth"]
    table = _table("dense retrieval", "")
    table.add_row(f"all gold in the first {top}", f"{oracle['right']:.1%}")
    table.add_row(f"all gold in the first {depth}: fixable", f"{oracle['fixable']:.1%}")
    table.add_row("not retrieved", f"{oracle['not_retrieved']:.1%}")
    for missing, place in ((oracle["missing_top"], top), (oracle["missing_depth"], depth)):
        table.add_row(f"gold beyond the first {place}", f"{missing['count']:,} nodes")
        for line in missing["within"] if missing["count"] else ():
            random = "–" if line["random"] is None else f"{line['random']:.1%}"
            hops = f"{line['hops']} hop{'s' if line['hops'] > 1 else ''}"
            table.add_row(
                f"  within {hops} of the first {oracle['seeds']}", f"{line['gold']:.1%} (random nodes {random})"
            )
    return table
