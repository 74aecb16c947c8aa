"""What the documents show: their code blocks, links and command lines."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from conftest import REPOSITORY

DOCS = REPOSITORY / "docs"
PAGES = [
    *(REPOSITORY / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")),
    *sorted(DOCS.rglob("*.md")),
]
"""Every document for people."""


def name_of(page: Path) -> str:
    """The path of a page within the repository."""
    return page.relative_to(REPOSITORY).as_posix()


def text_of(name: str) -> str:
    """The text of a page, by its path within the repository."""
    return (REPOSITORY / name).read_text(encoding="utf-8")


def blocks(name: str, language: str) -> list[str]:
    """The code blocks of a page in one language."""
    return re.findall(rf"```{language}\n(.*?)```", text_of(name), re.DOTALL)


def block(name: str, language: str, start: str) -> str:
    """The code block of a page that begins with these words."""
    return next(found for found in blocks(name, language) if found.startswith(start))


def prose(text: str) -> str:
    """A page without its code, in which brackets are no links."""
    return re.sub(r"`[^`\n]*`", "", re.sub(r"```.*?```", "", text, flags=re.DOTALL))


def command_lines(script: str) -> Iterator[list[str]]:
    """The words of every ``gme`` command in a shell script, without ``gme`` itself."""
    for line in script.replace("\\\n", " ").splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        words: list[str] = []
        for word in [*lexer, ";"]:
            if set(word) <= set("();<>|&"):
                if words[:1] == ["gme"]:
                    yield words[1:]
                words = []
            elif word != "do":
                words.append(word)


def run_shell(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a script that must succeed, with this environment's commands first on the path."""
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", f"set -euo pipefail\n{script}"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done
