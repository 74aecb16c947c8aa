"""The tutorial runs word for word, and prints what it says."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from documents import blocks, run_shell, text_of

from conftest import REPOSITORY

PAGE = "docs/tutorial/index.md"


def test_the_tutorial(tmp_path: Path) -> None:
    shutil.copytree(REPOSITORY / "examples", tmp_path / "examples")
    printed = "\n".join(run_shell(script, tmp_path).stdout for script in blocks(PAGE, "sh"))
    lines = {" ".join(line.split()) for line in printed.splitlines()}
    shown = [" ".join(line.split()) for text in blocks(PAGE, "text") for line in text.splitlines()]
    assert len(shown) == 11
    for line in shown:
        assert any(found.startswith(line) for found in lines), line
    recovered = re.findall(r"`(plain|envelope)` (?:recovers )?(\d+\.\d) %", " ".join(text_of(PAGE).split()))
    assert dict(recovered) == {"plain": "70.8", "envelope": "100.0"}
    for run, share in recovered:
        assert any(re.fullmatch(rf"{run} 4 \d {share}( .*)?", line) for line in lines), (run, share)
    assert (tmp_path / "notes/reports/report.html").is_file()
