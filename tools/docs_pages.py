"""A hook of MkDocs: the reference pages that are made from the program itself while the site is built.

`reference/commands.md` is made from the commands and their options, `reference/python/` from the public names of the
package, whose docstrings mkdocstrings renders. Neither is a file of the repository, so neither can be out of date.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click
import typer

import gme
from gme.cli import COMMANDS, build
from gme.options import Options

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files


@dataclass(frozen=True)
class Group:
    """A page of the Python reference.

    Args:
        title: its heading.
        summary: one sentence on it.
        packages: the packages under `gme` whose public names it holds.
    """

    title: str
    summary: str
    packages: tuple[str, ...]


GROUPS = {
    "retrieval": Group("Retrieval", "Answer questions with a strategy, over arrays or stores.", ("retrieval",)),
    "transforms": Group("Transformations", "Put a graph into vectors.", ("transforms", "types")),
    "graphs": Group(
        "Graphs and edges",
        "Build a graph, find edges, check whether they will help.",
        (
            "_core",
            "graph",
            "builders",
            "diagnostics",
        ),
    ),
    "readers": Group("Readers", "Turn a corpus or a graph into nodes, edges and questions.", ("readers",)),
    "embedders": Group("Embedders", "Turn texts into vectors.", ("embedders",)),
    "stores": Group("Stores", "Search a collection, exactly or by an index, or search words.", ("stores", "lexical")),
    "evaluation": Group("Evaluation", "Score runs, with intervals.", ("evaluation",)),
    "workspace": Group("Workspace", "Do what the commands do, on the files of a workspace.", ("workspace", "pipeline")),
    "sweep": Group("Sweeps", "Try a grid of configurations.", ("sweep",)),
    "paper": Group(
        "Paper and benchmark",
        "The paper's collections, and the synthetic benchmark.",
        (
            "paper",
            "benchmark",
        ),
    ),
    "options": Group(
        "Options", "Declare the options of a transform, a strategy or a reader of your own.", ("options",)
    ),
    "errors": Group("Errors", "What is raised where input is wrong.", ("errors",)),
}
MORE = "more"
"""The page of public names whose package no group lists."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages to the files of the site."""
    from mkdocs.structure.files import File

    for path, text in pages().items():
        files.append(File.generated(config, path, content=text))
    return files


def pages() -> dict[str, str]:
    """Path -> Markdown of every page that is made from the program."""
    made = {"reference/commands.md": commands_page()}
    groups = grouped_names()
    for key, names in groups.items():
        made[f"reference/python/{key}.md"] = _python_page(key, names)
    made["reference/python/index.md"] = _python_index(groups)
    return made


def grouped_names() -> dict[str, list[str]]:
    """Page of the Python reference -> the public names on it."""
    page_of = {package: key for key, group in GROUPS.items() for package in group.packages}
    found: dict[str, list[str]] = {key: [] for key in GROUPS}
    for name in gme.__all__:
        found.setdefault(page_of.get(_module(name).split(".")[1], MORE), []).append(name)
    return {key: names for key, names in found.items() if names}


def _module(name: str) -> str:
    """The full name of the module that defines a public name."""
    return f"gme.{gme._PUBLIC[name]}"


def _python_page(key: str, names: list[str]) -> str:
    group = GROUPS.get(key, Group("More", "Other public names.", ()))
    blocks = [f"# {group.title}\n\n{group.summary}"]
    for name in names:
        value = getattr(gme, name)
        if isinstance(value, type) and issubclass(value, Options) and value is not Options:
            blocks.append(_options_section(name, value))
        else:
            blocks.append(
                f"::: {_module(name)}.{name}\n    options:\n      heading: gme.{name}\n      toc_label: {name}"
            )
    return "\n\n".join(blocks) + "\n"


def _options_section(name: str, options: type[Options]) -> str:
    """An option class as a table: mkdocstrings would show how its fields are declared."""
    lines = [f"## gme.{name}", "", _escaped(inspect.cleandoc(options.__doc__ or "")), ""]
    lines += ["| option | default | meaning |", "|---|---|---|"]
    for field in dataclasses.fields(options):
        text = field.metadata["help"] + (
            f" ({', '.join(map(str, choices))})" if (choices := field.metadata["choices"]) else ""
        )
        lines.append(f"| `{field.name}` | `{_cell(repr(field.default))}` | {_cell(_escaped(text))} |")
    return "\n".join(lines)


def _python_index(groups: dict[str, list[str]]) -> str:
    lines = [
        "# Python reference",
        "",
        "Functions take arrays and return arrays; functions that end in `_workspace` work on the files of a workspace.",
        "All names below are attributes of `gme`, and are imported when they are first used.",
        "",
        "| page | names |",
        "|---|---|",
    ]
    for key, names in groups.items():
        title = GROUPS[key].title if key in GROUPS else "More"
        lines.append(f"| [{title}]({key}.md) | {', '.join(f'`{name}`' for name in names)} |")
    return "\n".join(lines) + "\n"


def commands_page() -> str:
    """The reference of the command line."""
    lines = [
        "# Commands",
        "",
        "Data goes to stdout, everything for people to stderr. `gme COMMAND --help` prints what stands here.",
        "",
        "| exit code | meaning |",
        "|---|---|",
        "| 0 | done; also where the reader of stdout has gone (`gme … \\| head`): all files are written |",
        "| 1 | wrong input (files, names, values), or a stdout that can't be written to |",
        "| 2 | a command line that can't be parsed: an unknown command or option, a missing argument |",
        "| 130 | interrupted |",
        "",
        "An option that contradicts another (`--walks` and `--exact`), or needs one that is missing (`--model` without",
        "`--question`), is refused. One that belongs to another strategy or index of `gme retrieve` is warned of.",
        "",
    ]
    for name in COMMANDS:
        root = typer.main.get_command(build(name))
        command: Any = root.commands[name]  # type: ignore[attr-defined]
        for words, found in _walk(("gme", name), command):
            lines += _command_section(words, found)
    return "\n".join(lines) + "\n"


def _walk(words: tuple[str, ...], command: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    """A command and all of its sub-commands, each with the words that call it."""
    yield words, command
    for name, sub in getattr(command, "commands", {}).items():
        yield from _walk((*words, name), sub)


def _command_section(words: tuple[str, ...], command: Any) -> list[str]:
    context = click.Context(command, info_name=" ".join(words), help_option_names=["-h", "--help"])
    usage = " ".join(command.collect_usage_pieces(context))
    lines = [f"{'#' * min(len(words), 4)} {' '.join(words)}", "", *_prose(command.help or command.short_help or "")]
    lines += ["```text", f"{' '.join(words)} {usage}", "```", ""]
    records = [record for parameter in command.get_params(context) if (record := parameter.get_help_record(context))]
    if records:
        lines += ["| option | meaning |", "|---|---|"]
        lines += [f"| `{_cell(names)}` | {_cell(_escaped(text))} |" for names, text in records]
        lines.append("")
    return lines


def _prose(text: str) -> list[str]:
    """Help text as Markdown; what it indents or marks with \\b (a table) stays as it is."""
    lines: list[str] = []
    for block in text.replace("\b\n", "\b").split("\n\n"):
        if block.startswith(("\b", "  ")):
            lines += ["```text", block.lstrip("\b").rstrip(), "```", ""]
        else:
            lines += [_escaped(" ".join(block.split())), ""]
    return lines


def _escaped(text: str) -> str:
    return text.replace("<", "&lt;").replace("*", "\\*").replace("[", "\\[")


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
