"""Imports go down only, as the contracts in `pyproject.toml` have it."""

from __future__ import annotations

import pytest
from importlinter.cli import lint_imports

from conftest import REPOSITORY


def test_imports_keep_the_contracts(capsys: pytest.CaptureFixture[str]) -> None:
    code = lint_imports(config_filename=str(REPOSITORY / "pyproject.toml"), no_cache=True)
    assert code == 0, capsys.readouterr().out
