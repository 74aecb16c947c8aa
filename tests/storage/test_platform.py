"""What differs between systems lies in one module, and commands work on what Windows has and refuses."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import gme
from conftest import REPOSITORY, Run
from faults.states import leftovers, read_state
from gme.storage import platform
from gme.storage.locks import hold

PACKAGE = Path(gme.__file__).parent
PLATFORM = PACKAGE / "storage" / "platform.py"
LIKE_WINDOWS = Path(__file__).with_name("like_windows.py")
MODULES = {"fcntl", "grp", "msvcrt", "posix", "pwd", "resource", "termios", "winreg", "_winapi", "ctypes"}
NAMES = {"posix_fallocate", "madvise", "sysconf", "geteuid", "getuid", "fork", "fchmod", "flock", "winerror"}

only_linux = pytest.mark.skipif(sys.platform != "linux", reason="Windows is imitated on Linux only")


def test_only_one_module_knows_the_system() -> None:
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            modules += [str(node.module)] if isinstance(node, ast.ImportFrom) and not node.level else []
            system = isinstance(node, ast.Attribute) and ast.unparse(node) in ("sys.platform", "os.name", "os.kill")
            named = isinstance(node, ast.Attribute) and node.attr in NAMES
            if MODULES & set(modules) or system or named:
                found.append(path)
    assert set(found) == {PLATFORM}


def like_windows(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, LIKE_WINDOWS, *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(PACKAGE.parent), str(REPOSITORY / "tests")])},
    )


def script(code: str, *arguments: object) -> str:
    """What a program prints that is run as on Windows."""
    program = (
        f"import sys\nsys.path.insert(0, {str(LIKE_WINDOWS.parent)!r})\nimport like_windows\nlike_windows.become()\n"
    )
    command = [sys.executable, "-c", f"{program}from pathlib import Path\n{code}", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@only_linux
def test_everything_can_be_imported_as_on_windows() -> None:
    said = script(
        "import gme, importlib, pkgutil\n"
        "names = [module.name for module in pkgutil.walk_packages(gme.__path__, 'gme.')]\n"
        "names.remove('gme.__main__')\n"
        "for name in names: importlib.import_module(name)\n"
        "print(len(names), set(sys.modules) & set(like_windows.MISSING))\n"
    )
    count, missing = said.strip().split(" ", 1)
    assert int(count) > 100
    assert missing == "set()"


COMMANDS = (
    "generate --people 4 --questions 1",
    "generate --people 4 --questions 1 --seed 3 --force",
    "graph mentions",
    "embed --model file:{nodes} --questions-file {questions}",
    "embed --model file:{nodes} --questions-file {questions}",
    "transform walk --name walk",
    "transform walk --name walk --steps 3",
    "transform signature --dim 16",
    "retrieve fused --collection walk --hnsw --name r",
    "retrieve fused --collection walk --hnsw --name r --mix 0.7",
    "evaluate --resamples 20",
    "report",
    "report",
)
"""Each kind of file, new and in the place of an old one."""


@only_linux
def test_commands_make_the_same_files_as_on_windows(tmp_path: Path, gme: Run) -> None:
    """All in one process, so that arrays of earlier commands may still be mapped."""
    import numpy as np

    here, there = tmp_path / "here" / "workspace", tmp_path / "there" / "workspace"
    generator = np.random.default_rng(5)
    assert gme(*COMMANDS[0].split(), "-w", here)[0] == 0
    assert gme(*COMMANDS[1].split(), "-w", here)[0] == 0
    paths = {}
    for name in ("nodes", "questions"):
        rows = len((here / f"{name}.jsonl").read_bytes().splitlines())
        paths[name] = tmp_path / f"{name}.npy"
        np.save(paths[name], generator.normal(size=(rows, 32)).astype(np.float32))
    commands = [command.format(**paths).split() for command in COMMANDS]
    for words in commands[2:]:
        assert gme(*words, "-w", here)[0] == 0
    script(
        "from gme.cli import run\n"
        f"for words in {commands!r}:\n"
        "    code = run([*words, '-w', sys.argv[1]])\n"
        "    if code: sys.exit(f'{words}: {code}')\n",
        there,
    )
    assert leftovers(there) == []
    made = read_state(there)
    assert made.keys() == read_state(here).keys()
    differing = [name for name, hashes in read_state(here).items() if made[name] != hashes and name != "report.html"]
    assert differing == []


@only_linux
def test_locks_of_windows_keep_others_out(small_workspace: Path) -> None:
    with hold(small_workspace, "embeddings/walk.npy"):
        done = like_windows("transform", "walk", "-w", small_workspace)
        assert done.returncode == 1
        assert "embeddings/walk.npy is in use by " in done.stderr
        assert f"(process {os.getpid()}, since 20" in done.stderr
        assert like_windows("transform", "hop1", "-w", small_workspace).returncode == 0
    with hold(small_workspace, "", shared=True):
        assert like_windows("graph", "mentions", "-w", small_workspace).returncode == 1
        assert like_windows("transform", "walk", "-w", small_workspace).returncode == 0
    assert leftovers(small_workspace) == []


@only_linux
def test_a_file_that_another_program_has_open_is_not_replaced(tmp_path: Path) -> None:
    """And the imitation has teeth: it refuses what a plain `open` would not allow on Windows."""
    said = script(
        "from gme.errors import GmeError\n"
        "from gme.storage import platform\n"
        "from gme.storage.atomic import atomic_write\n"
        "platform._PAUSE = 0\n"
        "folder = Path(sys.argv[1])\n"
        "(folder / 'old').write_bytes(b'old')\n"
        "(folder / 'plain').write_bytes(b'')\n"
        "with open(folder / 'plain'):\n"
        "    try: (folder / 'plain').rename(folder / 'other')\n"
        "    except PermissionError: print('refused')\n"
        "with open(folder / 'old', 'rb'):\n"
        "    try:\n"
        "        with atomic_write(folder / 'old') as handle: handle.write(b'new')\n"
        "    except GmeError as error: print(error.message, error.hint, sep='\\n')\n"
        "with atomic_write(folder / 'old') as handle: handle.write(b'new')\n",
        tmp_path,
    )
    refused, message, hint = said.splitlines()
    assert refused == "refused"
    assert message.startswith(f"{tmp_path / 'old'} can't be replaced: ")
    assert "close the programs that use it" in hint
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"old": "new", "plain": ""}


def test_processes_are_told_from_those_that_have_ended() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert platform.is_alive(os.getpid())
    assert not platform.is_alive(ended.pid)


def test_a_file_can_be_read_renamed_and_removed_while_it_is_locked(tmp_path: Path) -> None:
    """On each system, as it is: what all else builds on."""
    (tmp_path / "old").write_bytes(b"old")
    with platform.create_file(tmp_path / "new") as handle:
        assert platform.lock(handle.fileno()) in (True, None)
        handle.write(b"new")
        handle.flush()
        assert (tmp_path / "new").read_bytes() == b"new"
        other = platform.open_descriptor(tmp_path / "new", os.O_RDWR)
        assert platform.lock(other, shared=True) in (False, None)
        os.close(other)
        platform.replace(tmp_path / "new", tmp_path / "old")
        assert (tmp_path / "old").read_bytes() == b"new"
        platform.unlock(handle.fileno())
        platform.remove(tmp_path / "old")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(FileNotFoundError):
        platform.open_descriptor(tmp_path / "gone", os.O_RDONLY)
    (tmp_path / "there").touch()
    with pytest.raises(FileExistsError):
        platform.create_file(tmp_path / "there")
