"""Every command that writes, killed, interrupted, ended and without room on the disk; and other trouble with files.

A sample of the steps by default, all of them with ``GME_FAULTS=all``; ``python -m tests.faults`` prints a table.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import FAULTS, REPOSITORY, Run
from faults.read_only import in_a_read_only_folder
from faults.scenarios import SCENARIOS
from gme.workspace import Workspace

resource = pytest.importorskip("resource", reason="faults are injected into forked processes, with POSIX signals")

SAMPLE = 3  # steps a command and kind of fault: the first, the middle one, the last

needs_a_read_only_folder = pytest.mark.skipif(
    sys.platform != "linux" and os.geteuid() == 0, reason="root may write anywhere"
)

Try = Callable[[str], dict[str, Any]]
Script = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def harness() -> Iterator[Try]:
    """Try a scenario in a process that only forks: one which runs tests has worked before, and may have threads."""
    sample = [] if os.environ.get("GME_FAULTS") == "all" else ["--sample", str(SAMPLE)]
    command = [sys.executable, "-m", "tests.faults", "--serve", *sample]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, cwd=REPOSITORY
    ) as process:

        def ask(name: str) -> dict[str, Any]:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(f"{name}\n")
            outcome: dict[str, Any] = json.loads(process.stdout.readline())
            return outcome

        yield ask
        process.communicate()


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENARIOS)
def test_files_are_as_before_or_complete_and_a_rerun_finishes(harness: Try, name: str) -> None:
    outcome = harness(name)
    injected = sum(outcome["injected"].values())
    FAULTS.update(commands=1, injected=injected, failed=len(outcome["failures"]))
    assert outcome["failures"] == []
    assert set(outcome["injected"]) == {"killed", "interrupted", "terminated", "disk full"}
    assert outcome["finished"] < injected, "most faults do hit"


# ---- files that change, end or vanish under a running command -------------------------------------------------------


@pytest.fixture
def script(small_workspace: Path) -> Script:
    """Run a command in a process of its own where `action` happens once the inputs have been opened."""

    def run(action: str, *words: object) -> subprocess.CompletedProcess[str]:
        code = (
            "import os, sys\nfrom pathlib import Path\nfrom gme.storage import platform\n"
            "folder = Path(sys.argv[-1])\nreserve = platform.reserve\n"
            f"def acting(*arguments):\n    reserve(*arguments)\n    {action}\n"
            "platform.reserve = acting\nfrom gme.cli import main\nmain()\n"
        )
        command = [sys.executable, "-c", code, *map(str, words), "-w", str(small_workspace)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    return run


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("action", "message"),
    [
        ("(folder / 'nodes.jsonl').unlink()", "nodes.jsonl was removed while it was in use"),
        ("(folder / 'embeddings/original.npy').unlink()", "original.npy was removed while it was in use"),
        ("(folder / 'edges.jsonl').write_text('')", "edges.jsonl changed while it was in use"),
        ("os.utime(folder / 'nodes.jsonl')", "nodes.jsonl changed while it was in use"),
    ],
)
def test_an_input_that_changes_under_a_command_is_noticed(
    small_workspace: Path, script: Script, action: str, message: str
) -> None:
    done = script(action, "transform", "walk")
    assert (done.returncode, done.stdout) == (1, "")
    assert message in done.stderr
    assert "run the command again" in done.stderr
    assert not any("walk" in name or name.startswith(".gme") for name in files(small_workspace))


def test_an_input_that_is_cut_off_under_a_command_ends_it_and_nothing_else(
    small_workspace: Path, script: Script, gme: Run
) -> None:
    original = small_workspace / "embeddings" / "original.npy"
    before = files(small_workspace)
    done = script("os.truncate(folder / 'embeddings/original.npy', 0)", "transform", "hop1")
    assert done.returncode == -signal.SIGBUS, "memory that is mapped to a file ends with the file"
    assert {name for name in files(small_workspace) if not name.startswith((".gme", "embeddings/.hop1"))} == set(before)
    original.write_bytes(before["embeddings/original.npy"])
    assert gme("transform", "hop1", "-w", small_workspace)[0] == 0
    assert set(files(small_workspace)) == {*before, "embeddings/hop1.npy", "embeddings/hop1.json"}


# ---- room that ends, folders that can't be written to ---------------------------------------------------------------

COMMANDS = (
    ("generate", "--force"),
    ("graph", "mentions"),
    ("transform", "walk"),
    ("transform", "--collections", "main"),
    ("retrieve", "plain"),
    ("report",),
)


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words))
def test_a_limit_on_the_size_of_files(small_workspace: Path, gme: Run, words: tuple[str, ...]) -> None:
    """A real refusal of the system's, with a few bytes less than the smallest file needs."""
    assert gme("retrieve", "plain", "-w", small_workspace)[0] == 0
    before = files(small_workspace)
    done = subprocess.run(
        [sys.executable, "-c", "from gme.cli import main; main()", *words, "-w", str(small_workspace)],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200)),
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert "error: " in done.stderr
    assert "File too large" in done.stderr
    assert files(small_workspace) == before


@pytest.fixture
def small_disk(tmp_path: Path, small_workspace: Path) -> Iterator[Path]:
    """The workspace on a disk of its own that has little room left."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("no disk can be mounted here")
    try:
        shutil.copytree(small_workspace, disk / "workspace")
        yield disk
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk(small_disk: Path, gme: Run) -> None:
    workspace = small_disk / "workspace"
    before = files(workspace)
    filler = small_disk / "filler"
    filler.write_bytes(bytes(shutil.disk_usage(small_disk).free))
    code, out, err = gme("transform", "walk", "-w", workspace)
    assert (code, out) == (1, "")
    assert "No space left on device" in err
    assert files(workspace) == before
    filler.unlink()
    assert gme("transform", "walk", "-w", workspace)[0] == 0


@needs_a_read_only_folder
@pytest.mark.parametrize("words", [*COMMANDS, ("embed",)], ids=lambda words: " ".join(words))
def test_a_read_only_folder_is_refused_before_any_work(small_workspace: Path, gme: Run, words: tuple[str, ...]) -> None:
    assert gme("retrieve", "plain", "-w", small_workspace)[0] == 0
    before = files(small_workspace)
    done = in_a_read_only_folder(small_workspace, *words)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"error: {small_workspace} can't be written to: Permission denied" in done.stderr
    assert "hint: change its permissions, or name another folder with --workspace" in done.stderr
    assert files(small_workspace) == before


@needs_a_read_only_folder
def test_a_read_only_folder_can_be_read(small_workspace: Path, gme: Run) -> None:
    assert gme("retrieve", "plain", "-w", small_workspace)[0] == 0
    for kind in ([], ["--json"]):
        done = in_a_read_only_folder(small_workspace, "evaluate", *kind)
        assert "recovery" in done.stdout, "what was asked for is shown"
        assert done.returncode == 1, "what can't be kept is told"
        assert "can't be written to" in done.stderr
    assert in_a_read_only_folder(small_workspace, "graph", "check").returncode == 0


@needs_a_read_only_folder
def test_an_index_that_cannot_be_saved_answers_all_the_same(small_workspace: Path, gme: Run) -> None:
    vectors = np.random.default_rng(1).standard_normal((6, 384), dtype=np.float32)
    np.save(small_workspace / "embeddings/original.npy", vectors)
    question = ("retrieve", "plain", "--hnsw", "--budget", "2", "--model", "local", "--question", "Where?", "--json")
    code, answer, _ = gme(*question, "-w", small_workspace)
    assert code == 0
    shutil.rmtree(small_workspace / "indexes")
    done = in_a_read_only_folder(small_workspace, *question)
    assert (done.returncode, done.stdout) == (0, answer), done.stderr
    assert "indexes/original.usearch can't be saved" in done.stderr


# ---- manifests that are gone ----------------------------------------------------------------------------------------


def test_a_collection_without_its_manifest_is_told_of(small_workspace: Path, gme: Run) -> None:
    assert gme("transform", "walk", "-w", small_workspace)[0] == 0
    (small_workspace / "embeddings/walk.json").unlink()
    code, _, err = gme("retrieve", "fused", "--collection", "walk", "-w", small_workspace)
    assert code == 0
    assert f"warning: {small_workspace}/embeddings/walk.npy has no manifest" in err
    assert "make it again: gme transform" in err
    assert "no manifest" not in gme("retrieve", "plain", "-w", small_workspace)[2], "originals are brought along"


def test_an_original_without_its_manifest_is_told_of_where_the_questions_have_one(
    small_workspace: Path, gme: Run
) -> None:
    (small_workspace / "embeddings/questions.npy").rename(small_workspace / "q.npy")
    (small_workspace / "embeddings/original.npy").rename(small_workspace / "n.npy")
    vectors = ("--model", f"file:{small_workspace}/n.npy", "--questions-file", small_workspace / "q.npy")
    assert gme("embed", *vectors, "-w", small_workspace)[0] == 0
    assert "no manifest" not in gme("retrieve", "plain", "-w", small_workspace)[2]
    (small_workspace / "embeddings/original.json").unlink()
    assert "original.npy has no manifest" in gme("retrieve", "plain", "-w", small_workspace)[2]


def test_a_graph_that_was_read_is_not_taken_for_one_that_was_written_since(small_workspace: Path) -> None:
    """One object, a graph kept in it, and new edges: a manifest must not name edges that were not used."""
    from gme.pipeline.edges import add_edges
    from gme.pipeline.transform import transform_workspace

    workspace = Workspace(small_workspace)
    edges = workspace.graph().edges
    (small_workspace / "nodes.jsonl").write_text(
        (small_workspace / "nodes.jsonl").read_text().replace('"text a"', '"Title f and Title e"'), encoding="utf-8"
    )
    workspace.forget()
    assert add_edges(workspace, "mentions").edges > 0
    _, manifest = transform_workspace(workspace, "walk")
    assert manifest["graph"]["edges"] > edges
