"""Hostile input from end to end: keys stay where they are."""

from __future__ import annotations

import json
import traceback
from pathlib import Path
from typing import Any

import pytest
from fake_openai_server import Fault, running
from hostile_inputs import TRIED

from conftest import Run
from gme.errors import GmeError

# ---- keys ------------------------------------------------------------------------------------------------------------

KEY = "sk-do-not-show-this-0123456789"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # sockets of clients that gave up
@pytest.mark.parametrize("status", [400, 401, 403, 404, 418, 429, 500])
def test_keys_are_nowhere(
    small_workspace: Path, tmp_path: Path, gme: Run, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    TRIED["key"] += 1
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    arguments = ("embed", "--model", "openai:fake", "-w", small_workspace, "--cache", tmp_path / "cache")
    echo = Fault(status=status, message=f"Authorization: Bearer {KEY} is wrong", headers={"X-Key": KEY})
    with running() as server:
        options = ("--base-url", server.url, "--retries", "0", "--concurrency", "1")
        server.faults.extend([echo] * 20)
        code, out, err = gme(*arguments, *options)
        assert code == 1
        assert KEY not in out + err
        server.faults.extend([echo] * 20)
        monkeypatch.setenv("GME_DEBUG", "1")
        with pytest.raises(GmeError) as caught:
            gme(*arguments, *options)
        assert KEY not in "".join(traceback.format_exception(caught.value))
        monkeypatch.delenv("GME_DEBUG")
        server.faults.clear()
        server.faults.extend([Fault(change=lambda answer: answer.update(model=f"{KEY} of you"))] * 20)
        code, out, err = gme(*arguments, *options)
        assert code == 0, err
        assert KEY not in out + err
    for path in (*small_workspace.rglob("*"), *(tmp_path / "cache").rglob("*")):
        assert not path.is_file() or KEY.encode() not in path.read_bytes(), path


def test_a_key_in_the_place_of_its_variable_is_not_shown(small_workspace: Path, gme: Run) -> None:
    code, out, err = gme("embed", "--model", "openai:x", "--api-key-env", KEY, "-w", small_workspace)
    assert code == 1
    assert KEY not in out + err


@pytest.mark.parametrize(
    "parameters",
    [
        {"base_url": "https://elsewhere.example/v1"},
        {"base_url": "https://elsewhere.example/v1", "api_key_env": "OTHER_SECRET"},
        {"base_url": "http://127.0.0.1.elsewhere.example/v1"},
        {"base_url": "http://[::1", "api_key_env": "OTHER_SECRET"},
        {"base_url": 5},
        {"api_key_env": "OTHER_SECRET"},
    ],
)
def test_a_workspace_sends_no_key_to_a_server_of_its_choice(
    small_workspace: Path, gme: Run, monkeypatch: pytest.MonkeyPatch, parameters: dict[str, Any]
) -> None:
    TRIED["server in a manifest"] += 1
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OTHER_SECRET", KEY)
    manifest = {"model": "openai:x", "parameters": {"model": "openai:x", **parameters}}
    (small_workspace / "embeddings/original.json").write_text(json.dumps(manifest))
    code, out, err = gme("retrieve", "plain", "--question", "who?", "-w", small_workspace)
    assert code == 1
    assert "original.json wants a question, and the key in $" in err.replace("'", "")
    assert KEY not in out + err
