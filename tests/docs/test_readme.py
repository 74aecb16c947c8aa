"""What the README shows works as it stands there."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from documents import blocks, run_shell, text_of

from conftest import REPOSITORY

README = "README.md"


def test_it_is_short() -> None:
    assert len(text_of(README).splitlines()) <= 120


def test_the_python_example_finds_what_plain_retrieval_misses(capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = blocks(README, "python")
    assert len([line for line in example.splitlines() if line]) <= 12
    plain = example.replace('"envelope", vectors, signature', '"plain", vectors, None')
    for code in (example, plain):
        exec(compile(code, README, "exec"), {})
    assert capsys.readouterr().out.splitlines() == ["['acme', 'ada']", "['acme', 'rye']"]
    assert "# acme, ada; plain search returns acme, rye" in example


def test_the_shell_example_runs_word_for_word(tmp_path: Path) -> None:
    shutil.copytree(REPOSITORY / "examples", tmp_path / "examples")
    script = next(block for block in blocks(README, "sh") if block.startswith("gme"))
    assert len(script.splitlines()) <= 5
    assert "people/Inga Moe.md" in run_shell(script, tmp_path).stdout


def test_its_figures_stand_on_the_page_of_walks() -> None:
    page = text_of("docs/research/walks.md")
    part = page.partition("## With shared names, on the rest\n")[2].partition("\n## ")[0]
    synthetic, two, other = re.split(r"\n(?:2wiki|musique), ", part)
    table = text_of(README).partition("| | graph needed")[2].partition("\n\n")[0].splitlines()[2:]
    runs = (
        "plain",
        "hybrid",
        "pagerank, chosen settings",
        "pagerank, titles, lexical, chosen settings",
        "pagerank, titles only, lexical, chosen settings",
        "envelope, lexical",
    )
    assert len(table) == len(runs)
    for line, run in zip(table, runs, strict=True):
        hard, wiki, musique = (re.findall(r"\d\d\.\d", cell) for cell in line.split("|")[3:6])
        assert f"| {run} | {hard[0]} |" in synthetic
        assert f"| {run} | {wiki[0]} | {wiki[1]} |" in two
        assert re.search(rf"\| {run} \| \d\d\.\d \| {musique[0]} \| {musique[1]} \|", other)


def test_it_names_the_rust_version_that_cargo_asks_for() -> None:
    wanted = re.search(r'rust-version = "(.*)"', text_of("Cargo.toml"))
    assert wanted is not None
    for page in (README, "docs/index.md"):
        assert f"Rust {wanted[1]} or later" in text_of(page).replace("\n", " ")
