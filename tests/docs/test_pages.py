"""Every page: its links lead somewhere, its command lines can be parsed, its examples run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import docs_pages
import pytest
import typer
from documents import DOCS, PAGES, block, blocks, command_lines, name_of, prose, run_shell, text_of

import gme as library
from conftest import REPOSITORY, Run
from gme.builders.links import LINK
from gme.builders.mentions import TITLE_MENTION
from gme.cli import COMMANDS, build
from gme.readers.entities import MENTIONS, PART_OF, RELATION
from gme.workspace.graphs import SHARED_NAME

GENERATED = tuple(f"docs/{page}" for page in ("reference/commands.md", "reference/python/"))
"""Pages that are made while the site is built (tools/docs_pages.py)."""


def _anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower()) for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_its_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page.read_text(encoding="utf-8"))):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        found = (page.parent / path).resolve() if path else page
        if not name_of(found).startswith(GENERATED):
            assert found.is_file(), f"{name_of(page)}: {target}"
            assert not anchor or anchor in _anchors(found), f"{name_of(page)}: {target}"


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(name_of(page), "sh")], ids=name_of)
def test_its_command_lines_can_be_parsed(page: Path) -> None:
    for script in blocks(name_of(page), "sh"):
        for words in command_lines(script):
            _parse([word for word in words if word != "$NAME"])


def _parse(words: list[str]) -> None:
    """Read a command line as the program does, and run nothing.

    Raises:
        Exception: an unknown command or option, or a missing argument.
    """
    command: Any = typer.main.get_command(build(words[0]))
    context = command.make_context("gme", list(words))
    while hasattr(command, "commands") and (rest := [*getattr(context, "_protected_args", []), *context.args]):
        name, command, rest = command.resolve_command(context, rest)
        if words[:1] == ["retrieve"] and rest[-1:] == ["--collection"]:
            rest = rest[:-1]
        context = command.make_context(name, rest, parent=context)


def test_a_wrong_command_line_would_be_found() -> None:
    for wrong in ("gme embed --modle local", "gme graph reed text notes", "x=$(gme transform wolk) && true"):
        (words,) = command_lines(wrong)
        with pytest.raises(Exception, match=r"modle|reed|wolk"):
            _parse(words)


def test_every_command_is_described_and_no_other_is_named() -> None:
    text = " ".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert set(re.findall(r"`gme ([a-z]+)", text)) == set(COMMANDS)


def test_every_option_that_a_guide_names_exists(gme: Run) -> None:
    known = set(re.findall(r"--[a-z][\w-]*", docs_pages.commands_page()))
    assert "--workspace" in known
    for page in [*DOCS.glob("guides/*.md"), *DOCS.glob("concepts/*.md"), *DOCS.glob("tutorial/*.md")]:
        named = set(re.findall(r"(?<![\w-])--[a-z][\w-]*", page.read_text(encoding="utf-8")))
        assert named - {"--no-titles"} <= known | {"--max-hub-degree"}, name_of(page)


def test_the_reference_holds_every_command_and_every_public_name() -> None:
    pages = docs_pages.pages()
    commands = set(re.findall(r"^#+ gme ([a-z]+)", pages["reference/commands.md"], re.MULTILINE))
    assert commands == set(COMMANDS)
    named = " ".join(pages.values())
    assert [name for name in library.__all__ if f"gme.{name}\n" not in named] == []
    assert list(docs_pages.grouped_names()) == list(docs_pages.GROUPS)


def test_every_python_name_that_a_page_uses_is_public() -> None:
    used = {
        (name, name_of(page))
        for page in PAGES
        if page.name != "CHANGELOG.md"
        for text in re.findall(r"```python\n.*?```|`[^`\n]+`", page.read_text(encoding="utf-8"), re.DOTALL)
        for name in re.findall(r"(?<![\w./'\"])gme\.([A-Za-z_]\w*)", text)
    }
    assert len(used) > 20
    packages = {path.stem for path in (REPOSITORY / "python/gme").iterdir()}
    groups = {"builders", "embedders", "readers", "stores", "strategies", "transforms"}  # of entry points
    assert [(name, page) for name, page in sorted(used) if name not in {*library.__all__, *packages, *groups}] == []


def test_pages_that_the_sources_name_exist() -> None:
    places = ("python/gme", "benches", "tools", "tests", "rust", "fuzz/src")
    files = [path for place in places for path in (REPOSITORY / place).rglob("*") if path.suffix in (".py", ".rs")]
    files += [REPOSITORY / name for name in ("justfile", "fuzz/Cargo.toml", "mkdocs.yml", ".ci/run")]
    named = {
        (page, name_of(path))
        for path in files
        for page in re.findall(r"\bdocs/[\w/-]+\.md\b", path.read_text(encoding="utf-8"))
    }
    assert len(named) > 10
    assert [(page, path) for page, path in sorted(named) if not (REPOSITORY / page).is_file()] == []


def test_the_benchmark_runs_word_for_word_from_an_empty_folder(tmp_path: Path) -> None:
    done = run_shell(block("docs/guides/evaluate.md", "sh", "gme generate"), tmp_path)
    assert "chained-walk" in done.stdout
    written = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert {
        "embeddings/walk.json",
        "embeddings/walk.npy",
        "runs/chained-walk.jsonl",
        "runs/envelope-signature.jsonl",
        "runs/plain.jsonl",
        "reports/evaluation.json",
    } <= written


def test_an_unset_name_after_collection_means_the_only_one_there_is(small_workspace: Path) -> None:
    """`gme retrieve chained --collection $NAME` with NAME unset, as the one-line pipeline has it."""
    script = (
        "set +u; unset NAME\n"
        "gme transform walk --steps 2 && gme retrieve chained --budget 4 --collection $NAME && gme evaluate"
    )
    done = run_shell(script, small_workspace)
    assert "chained-walk" in done.stdout
    assert "no differences are shown" in done.stderr


def test_examples_name_edge_types_that_are_written(gme: Run) -> None:
    pages = " ".join(page.read_text(encoding="utf-8") for page in PAGES)
    helps = [gme(*command, "--help")[1] for command in (("transform", "walk"), ("retrieve",), ("graph", "check"))]
    examples = [
        *re.findall(r"--edge-type-weights ([a-z_]+=[a-z_=.,\d]+)", pages),
        *re.findall(r"by type: ([\w=.,]+)", " ".join(" ".join(text.split()) for text in helps)),
        *re.findall(r"--edge-types ([a-z_]+(?:,[a-z_]+)+)", pages),
        *re.findall(r"edges of these types, e\.g\. ([a-z_,]+)", " ".join(" ".join(text.split()) for text in helps)),
    ]
    assert len(examples) >= 5
    named = {part.partition("=")[0] for example in examples for part in example.split(",")}
    assert {TITLE_MENTION, LINK} <= named <= {TITLE_MENTION, LINK, MENTIONS, PART_OF, RELATION, SHARED_NAME}


def test_every_word_of_the_glossary_has_one_meaning() -> None:
    words = re.findall(r"^\| ([^|]+?) \|", text_of("docs/concepts/glossary.md"), re.MULTILINE)
    single = [word.strip() for row in words if row != "word" and "---" not in row for word in row.split(",")]
    assert len(single) > 50
    assert len(set(single)) == len(single)
