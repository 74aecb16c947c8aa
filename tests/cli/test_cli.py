"""Manners of the command line as a whole: help, exit codes, streams, interruption."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from conftest import Run, write_lines

COMMANDS = ["generate", "graph", "embed", "transform", "retrieve", "evaluate", "report", "sweep", "demo"]


def _gme(*arguments: str, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gme", *arguments]
    return subprocess.run(
        command, cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )


def test_help_lists_every_command(gme: Run) -> None:
    code, out, _ = gme("--help")
    assert code == 0
    assert all(f" {command} " in out for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command: str, gme: Run) -> None:
    code, out, _ = gme(command, "--help")
    assert code == 0
    assert "Usage: gme" in out


@pytest.mark.parametrize("words", [[], ["graph"], ["graph", "read"], ["transform"]])
def test_the_lines_of_a_list_of_commands_are_not_cut(
    words: list[str], gme: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    _, out, _ = gme(*words, "--help")
    listed = out[out.index("Commands:") :].splitlines()[1:]
    assert listed
    assert not [line for line in listed if line.endswith("...")]


def test_the_help_tells_a_default_that_only_some_strategies_have(gme: Run) -> None:
    _, out, _ = gme("retrieve", "--help")
    assert "default: where there are texts. [False for spread, pagerank]" in " ".join(out.split())


def test_help_does_not_import_what_is_slow() -> None:
    script = (
        "import sys\nfrom gme.cli import run\nrun(['--help'])\n"
        "slow = {'networkx', 'scipy', 'onnxruntime', 'tokenizers', 'openai', 'usearch', 'sknetwork'}\n"
        "sys.exit(f'imported: {slow & set(sys.modules)}' if slow & set(sys.modules) else 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("words", [[], ["graph"], ["transform"]])
def test_commands_that_need_another_word_print_their_help(words: list[str], gme: Run) -> None:
    code, out, err = gme(*words)
    assert (code, err) == (0, "")
    assert "\nCommands:\n" in out
    assert gme(*words, "-h") == (0, out, "")


def test_generate_does_not_overwrite_a_users_corpus(small_workspace: Path, gme: Run) -> None:
    before = (small_workspace / "nodes.jsonl").read_bytes()
    code, out, err = gme("generate", "--people", 20, "--questions", 1, "-w", small_workspace)
    assert (code, out) == (1, "")
    assert "is no benchmark file, and gme generate would overwrite it" in err
    assert (small_workspace / "nodes.jsonl").read_bytes() == before
    for more in (["--force"], ["--seed", 7]):  # once forced, the files are the benchmark's own
        assert gme("generate", "--people", 20, "--questions", 1, "-w", small_workspace, *more)[0] == 0


def test_an_unknown_command_suggests_the_closest(gme: Run) -> None:
    code, out, err = gme("retreive", "plain")
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert "'retrieve'" in err
    assert "\nhint: did you mean 'retrieve'? known: demo, embed, " in err


@pytest.mark.parametrize(
    "command",
    ["", "graph", "graph mentions", "graph check", "graph read", "graph read text", "transform walk", "embed", "sweep"],
)
def test_an_unknown_option_points_to_the_help_of_its_own_command(command: str, gme: Run) -> None:
    code, out, err = gme(*command.split(), "--jsn")
    assert (code, out) == (2, "")
    assert err.splitlines()[1] == f"hint: {' '.join(['gme', *command.split()])} --help"


def test_errors_are_one_line_and_a_hint(tmp_path: Path, gme: Run) -> None:
    code, out, err = gme("transform", "walk", "-w", tmp_path)
    assert (code, out) == (1, "")
    lines = err.splitlines()
    assert lines[0] == f"error: {tmp_path / 'nodes.jsonl'} is missing"
    assert lines[1].startswith("hint: write it with: gme graph read (your corpus), gme generate (the benchmark)")
    assert len(lines) == 2


def test_the_traceback_comes_on_request(tmp_path: Path) -> None:
    assert "Traceback" not in _gme("transform", "walk", "-w", str(tmp_path)).stderr
    assert "Traceback" in _gme("transform", "walk", "-w", str(tmp_path), GME_DEBUG="1").stderr


def test_the_workspace_comes_from_the_environment(small_workspace: Path, tmp_path: Path) -> None:
    done = _gme("transform", "walk", cwd=tmp_path, GME_WORKSPACE=str(small_workspace))
    assert (done.returncode, done.stdout) == (0, "walk\n")
    assert (small_workspace / "embeddings" / "walk.npy").exists()


def test_quiet_prints_data_only(small_workspace: Path, gme: Run) -> None:
    assert gme("transform", "walk", "-w", small_workspace, "--quiet") == (0, "walk\n", "")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_an_unwritable_folder(small_workspace: Path, gme: Run) -> None:
    folder = small_workspace / "embeddings"
    folder.chmod(0o500)
    code, _, err = gme("transform", "walk", "-w", small_workspace)
    folder.chmod(0o700)
    assert code == 1
    assert "Permission denied" in err


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="needs a folder that nobody may write to")
def test_a_place_where_nothing_can_be_written(gme: Run) -> None:
    code, out, err = gme("generate", "--people", 20, "--questions", 1, "-w", "/proc/self/gme")
    assert (code, out) == (1, "")
    assert "error: /proc/self/gme: No such file or directory" in err
    assert "hint: check the path" in err


def test_a_file_where_a_folder_should_be(small_workspace: Path, gme: Run) -> None:
    (small_workspace / "runs").write_text("in the way")
    assert gme("transform", "walk", "-w", small_workspace)[0] == 0
    code, _, err = gme("retrieve", "plain", "-w", small_workspace)
    assert code == 1
    assert "runs is a file, but a folder is needed there" in err


@pytest.mark.parametrize("file", ["nodes.jsonl", "embeddings/original.npy", "nodes.jsonl/new"])
@pytest.mark.parametrize("command", ["embed", "graph check", "evaluate"])
def test_a_file_of_a_workspace_is_not_the_workspace(file: str, command: str, small_workspace: Path, gme: Run) -> None:
    code, out, err = gme(*command.split(), "-w", small_workspace / file)
    assert (code, out) == (1, "")
    path = small_workspace / file.removesuffix("/new")
    assert err == f"error: {path} is a file, but a workspace is a folder\nhint: give its folder: -w {small_workspace}\n"


def test_a_file_elsewhere_is_no_workspace(tmp_path: Path, gme: Run) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    code, _, err = gme("embed", "-w", tmp_path / "notes.txt")
    assert code == 1
    assert "hint: name a folder with --workspace\n" in err


def test_a_full_disk_loses_nothing(small_workspace: Path) -> None:
    """A file-size limit stands in for a full disk: the write fails half-way."""
    write_lines(
        small_workspace / "nodes.jsonl",
        [{"id": f"n{i}", "type": "chunk", "text": "", "title": ""} for i in range(2000)],
    )
    write_lines(small_workspace / "edges.jsonl", [{"source": "n0", "target": "n1", "type": "x"}])
    np.save(small_workspace / "embeddings" / "original.npy", np.ones((2000, 64), dtype=np.float32))
    before = sorted(path.name for path in (small_workspace / "embeddings").iterdir())
    script = (
        "import resource, signal, sys\nfrom gme.cli import run\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        f"sys.exit(run(['transform', 'walk', '-w', {str(small_workspace)!r}]))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert "File too large" in done.stderr
    assert sorted(path.name for path in (small_workspace / "embeddings").iterdir()) == before


def test_interruption_exits_130_and_leaves_no_half_file(tmp_path: Path) -> None:
    """Ctrl-C in the middle of a kernel that would run for many minutes."""
    script = (
        "import sys, numpy as np\nfrom pathlib import Path\nimport gme.cli\nfrom conftest import write_lines\n"
        f"folder = Path({str(tmp_path)!r}); (folder / 'embeddings').mkdir()\n"
        "write_lines(folder / 'nodes.jsonl', [{'id': str(i), 'type': 'chunk', 'text': ''} for i in range(3000)])\n"
        "edges = [{'source': str(i), 'target': str(i * 7 % 3000), 'type': 'x'} for i in range(3000)]\n"
        "write_lines(folder / 'edges.jsonl', edges)\n"
        "np.save(folder / 'embeddings' / 'original.npy', np.ones((3000, 64), dtype=np.float32))\n"
        "print('ready', flush=True)\n"
        "sys.exit(gme.cli.run(['transform', 'walk', '--steps', '1000', '--walks', '1000000', '-w', str(folder)]))\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "ready\n"
        time.sleep(1.5)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()  # a kernel that nobody stops would go on for ever
    assert process.returncode == 130
    assert "error: interrupted" in err
    assert [path.name for path in (tmp_path / "embeddings").iterdir()] == ["original.npy"]
