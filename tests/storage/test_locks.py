"""Locks: who may write where at once, what is said to the others, and what killed holders leave."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import orjson
import pytest

from conftest import Run
from faults.read_only import in_a_read_only_folder
from gme.errors import GmeError
from gme.storage import platform
from gme.storage.atomic import atomic_group, atomic_write, recover
from gme.storage.locks import hold
from gme.workspace import Workspace
from gme.workspace.layout import PARTS
from watchdog import GENEROUS

posix = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals, users or forks")

HOLDER = """
import sys
from pathlib import Path
from gme.storage.locks import hold
with hold(Path(sys.argv[1]), sys.argv[2], shared=sys.argv[3] == "shared"):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def holder(folder: Path, name: str, kind: str = "alone") -> Iterator[subprocess.Popen[str]]:
    """Another process that has a lock."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(folder), name, kind],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        if process.poll() is None:
            process.communicate("")


def test_a_second_writer_of_the_same_collection_is_told_who_has_it(small_workspace: Path, gme: Run) -> None:
    before = sorted(small_workspace.rglob("*"))
    with holder(small_workspace, "embeddings/walk.npy") as other:
        code, out, err = gme("transform", "walk", "-w", small_workspace)
        assert (code, out) == (1, "")
        assert f"error: {small_workspace / 'embeddings' / 'walk.npy'} is in use by '-c " in err
        assert f"(process {other.pid}, since 20" in err
        assert "hint: wait until it has ended, then run the command again" in err
        assert gme("transform", "hop1", "-w", small_workspace)[0] == 0, "another collection can be made"
    assert gme("transform", "walk", "-w", small_workspace)[0] == 0
    made = {f"embeddings/{name}.{ending}" for name in ("hop1", "walk") for ending in ("npy", "json")}
    left = {path.relative_to(small_workspace).as_posix() for path in set(small_workspace.rglob("*")) - set(before)}
    assert left == made, "no lock stays"


def test_what_everything_is_made_from_is_written_alone(small_workspace: Path, gme: Run) -> None:
    with holder(small_workspace, "", "shared") as other:
        code, _, err = gme("graph", "mentions", "-w", small_workspace)
        assert code == 1
        assert f"error: {small_workspace} is in use by " in err
        assert f"(process {other.pid}, " in err
        assert gme("transform", "walk", "-w", small_workspace)[0] == 0
    with holder(small_workspace, ""):
        for words in (["transform", "hop1"], ["retrieve", "plain"], ["embed"], ["generate", "--force"]):
            assert gme(*words, "-w", small_workspace)[0] == 1
    assert gme("graph", "mentions", "-w", small_workspace)[0] == 0


def test_readers_are_never_kept_waiting(small_workspace: Path, gme: Run) -> None:
    assert gme("retrieve", "plain", "-w", small_workspace)[0] == 0
    with holder(small_workspace, ""):
        assert gme("evaluate", "-w", small_workspace)[0] == 0
        assert gme("graph", "check", "-w", small_workspace)[0] == 0
        assert len(Workspace(small_workspace).collection("original").vectors) == 6


def test_all_that_share_are_counted(tmp_path: Path) -> None:
    with holder(tmp_path, "", "shared"), holder(tmp_path, "", "shared") as second:
        with pytest.raises(GmeError, match=r" and 1 more(\n|$)"), hold(tmp_path, ""):
            pass
        second.kill()
        second.wait()
        with pytest.raises(GmeError, match=r"since [-0-9: ]+\)(\n|$)"), hold(tmp_path, ""):
            pass
    with hold(tmp_path, ""):
        pass
    assert list(tmp_path.iterdir()) == []


def test_the_lock_of_a_killed_process_is_free_and_its_file_is_cleared_up(tmp_path: Path) -> None:
    for kind in ("alone", "shared"):
        with holder(tmp_path, "embeddings/a.npy", kind) as other:
            other.kill()
            other.wait()
            assert list((tmp_path / ".gme").iterdir()), "a killed process leaves its lock's file"
            with hold(tmp_path, "embeddings/a.npy"):
                pass
            assert list(tmp_path.iterdir()) == []
    with holder(tmp_path, "embeddings/b.npy") as other:
        other.kill()
        other.wait()
        with Workspace(tmp_path).exclusive_lock():
            assert [path.name for path in (tmp_path / ".gme").iterdir()] == ["workspace.lock"], "others' are swept"


def test_who_waits_gets_the_lock_when_it_is_free(tmp_path: Path) -> None:
    said: list[str] = []

    def busy(who: str) -> None:
        said.append(who)
        process.kill()

    with holder(tmp_path, "indexes/a.usearch") as process, hold(tmp_path, "indexes/a.usearch", busy=busy):
        assert len(said) == 1
    assert "indexes/a.usearch is in use by" in said[0]


def test_an_index_is_built_once_by_whoever_comes_first(small_workspace: Path, gme: Run) -> None:
    with holder(small_workspace, "indexes/original.usearch") as other:
        retrieve = [sys.executable, "-c", "from gme.cli import main; main()", "retrieve", "plain", "--hnsw", "-w"]
        with subprocess.Popen([*retrieve, str(small_workspace)], stderr=subprocess.PIPE, text=True) as second:
            assert second.stderr is not None
            assert "waiting for it to end" in second.stderr.readline()
            other.communicate("")
            rest = second.stderr.read()
        assert second.returncode == 0, rest
        assert "building" in rest
    assert "building" not in gme("retrieve", "plain", "--hnsw", "-w", small_workspace)[2]


@posix
def test_a_forked_child_does_not_keep_a_lock(tmp_path: Path) -> None:
    script = (
        "import os, sys, time\nfrom pathlib import Path\n"
        "from gme.storage.locks import hold\nfolder = Path(sys.argv[1])\n"
        "with hold(folder, ''):\n"
        "    child = os.fork()\n"
        "    if child == 0:\n        time.sleep(30); os._exit(0)\n"
        "with hold(folder, ''):\n    os.kill(child, 9)\n"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=True, timeout=20)


def test_many_at_once_never_meet(tmp_path: Path) -> None:
    """Each adds one to a number without any care but the lock, which comes and goes with its folder."""
    script = (
        "import sys, time\nfrom pathlib import Path\nfrom gme.storage.locks import hold\nfolder = Path(sys.argv[1])\n"
        "number = folder.parent / 'number'\n"
        "for _ in range(40):\n"
        "    with hold(folder, '', busy=lambda who: None):\n"
        "        value = int(number.read_text()); time.sleep(0.0005); number.write_text(str(value + 1))\n"
    )
    (tmp_path / "number").write_text("0")
    (tmp_path / "folder").mkdir()
    running = [subprocess.Popen([sys.executable, "-c", script, str(tmp_path / "folder")]) for _ in range(4)]
    assert [process.wait() for process in running] == [0] * 4
    assert (tmp_path / "number").read_text() == "160"
    assert list((tmp_path / "folder").iterdir()) == []


@posix
def test_a_file_system_without_locks_is_told_of(
    small_workspace: Path, gme: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(descriptor: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("gme.storage.platform.fcntl.flock", refuse)
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    (small_workspace / "embeddings" / f".a.npy.{dead.pid}-1.tmp").touch()
    (small_workspace / "embeddings" / f".b.npy.{os.getppid()}-1.tmp").touch()
    code, _, err = gme("transform", "walk", "-w", small_workspace)
    assert code == 0
    assert f"warning: {small_workspace} lies on a file system without locks" in err
    assert "hint: do not run two commands" in err
    left = [path.name for path in small_workspace.rglob("*.tmp")]
    assert left == [f".b.npy.{os.getppid()}-1.tmp"], "there the process in the name says whether it is over"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can be somebody else")
def test_a_lock_that_another_user_has_left(tmp_path: Path) -> None:
    """Killed holders leave files; they must not shut out those who share the folder."""
    script = (
        "import os, sys\nfrom pathlib import Path\n"
        "from gme.storage.atomic import recover\nfrom gme.storage.locks import hold\n"
        "folder = Path(sys.argv[1])\nos.seteuid(65534)\n"
        "with hold(folder, ''):\n    recover(folder, ('',))\n"
    )
    folder = tmp_path / "shared"
    (folder / ".gme").mkdir(parents=True)
    (folder / ".gme" / "workspace.lock").touch(mode=0o600)
    (folder / ".gme" / "workspace.lock").chmod(0o644)
    (folder / ".a.1-1.tmp").touch(mode=0o600)
    for path in (folder, folder / ".gme"):
        path.chmod(0o777)
    for path in (tmp_path, *tmp_path.parents[:3]):  # one more where tests run in several processes
        path.chmod(0o755)
    subprocess.run([sys.executable, "-c", script, str(folder)], check=True)
    assert [path.name for path in folder.iterdir()] == [".a.1-1.tmp"]


@pytest.mark.parametrize(
    "line", [b"", b"half", b"[]", b'{"command": "\\u001b[2J", "host": "x", "process": 1, "since": 2}']
)
def test_a_signature_that_says_nothing(tmp_path: Path, line: bytes) -> None:
    with holder(tmp_path, ""):
        (tmp_path / ".gme" / "workspace.lock").write_bytes(line)
        with pytest.raises(GmeError, match=r"is in use by another process(\n|$)"), hold(tmp_path, ""):
            pass


def test_a_platform_without_locks(small_workspace: Path, gme: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "lock", lambda descriptor, *, shared=False: None)
    assert gme("transform", "walk", "-w", small_workspace)[0] == 0
    assert Workspace(small_workspace).collection("walk").manifest["method"] == "walk"
    assert not (small_workspace / ".gme").exists()


# ---- commits --------------------------------------------------------------------------------------------------------


def write_two(folder: Path) -> None:
    with atomic_group(folder):
        for name in ("one", "two"):
            with atomic_write(folder / name) as handle:
                handle.write(b"new")
        assert (folder / "one").read_text() == "old", "nothing appears before the end"


KILLED_AFTER_ONE_RENAME = """
import os, sys
from pathlib import Path
from gme.storage import atomic
rename = atomic._rename
def once(*arguments):
    rename(*arguments)
    os._exit(9)
atomic._rename = once
from test_locks import write_two
write_two(Path(sys.argv[1]))
"""


@pytest.fixture
def cut_short(tmp_path: Path) -> Path:
    """A folder in which a commit of two files was killed after it had renamed one."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    for name in ("one", "two"):
        (folder / name).write_text("old")
    folders = [path for path in sys.path if path]
    script = f"import sys; sys.path[:0] = {folders!r}\n{KILLED_AFTER_ONE_RENAME}"
    killed = subprocess.run([sys.executable, "-c", script, str(folder)], check=False)
    assert killed.returncode == 9
    assert [(folder / name).read_text() for name in ("one", "two")] == ["new", "old"]
    return folder


def test_a_commit_that_was_cut_short_is_finished_by_the_next_who_looks(cut_short: Path) -> None:
    Workspace(cut_short)
    assert {path.name: path.read_text() for path in cut_short.iterdir()} == {"one": "new", "two": "new"}


def test_a_sweep_does_not_outrun_a_commit(cut_short: Path) -> None:
    recover(cut_short, PARTS)
    assert {path.name: path.read_text() for path in cut_short.iterdir()} == {"one": "new", "two": "new"}


def test_a_journal_that_was_cut_off_stands_for_no_commit(cut_short: Path) -> None:
    (journal,) = (cut_short / ".gme").glob("*.commit")
    journal.write_bytes(journal.read_bytes()[:-3])
    (cut_short / "one").write_text("old")  # a journal is whole before the first rename
    recover(cut_short, PARTS)
    assert {path.name: path.read_text() for path in cut_short.iterdir()} == {"one": "old", "two": "old"}


@pytest.mark.skipif(sys.platform != "linux", reason="root may write anywhere; Windows folders have no such mode")
def test_a_commit_that_was_cut_short_where_nothing_can_be_written(cut_short: Path, tmp_path: Path, gme: Run) -> None:
    """Half of it is refused, with what can be done; files that are all old or all new can be read."""
    done = in_a_read_only_folder(cut_short, "graph", "check")
    assert (done.returncode, done.stdout) == (1, "")
    error, hint = done.stderr.splitlines()
    assert f"a crash left two in {cut_short} older than the files that belong to it, and this" in error
    assert "can't be written to: Permission denied" in error
    assert hint.startswith("hint: make the folder writable, or copy it with its hidden files")
    copy = shutil.copytree(cut_short, tmp_path / "copy")
    assert "nodes.jsonl is missing" in gme("graph", "check", "-w", copy)[2]
    assert {path.name: path.read_text() for path in copy.iterdir()} == {"one": "new", "two": "new"}
    (journal,) = (cut_short / ".gme").glob("*.commit")
    with journal.open("r+b") as handle:
        platform.lock(handle.fileno())  # as its process has it while it renames
        assert "nodes.jsonl is missing" in in_a_read_only_folder(cut_short, "graph", "check").stderr
    next(cut_short.glob(".two.*.tmp")).rename(cut_short / "two")
    assert "nodes.jsonl is missing" in in_a_read_only_folder(cut_short, "graph", "check").stderr


@pytest.mark.parametrize(
    ("temporary", "path"),
    [
        ("../.victim.1-1.tmp", "../victim"),
        ("/etc/.victim.1-1.tmp", "/etc/victim"),
        ("one", "two"),
        ("a/.victim.1-1.tmp", "b/victim"),
        (".victim.1-1.txt", "victim"),
    ],
)
def test_a_foreign_journal_moves_nothing(tmp_path: Path, temporary: str, path: str) -> None:
    folder = tmp_path / "workspace"
    (folder / ".gme").mkdir(parents=True)
    (tmp_path / ".victim.1-1.tmp").write_text("planted")
    (folder / "one").write_text("mine")
    journal = folder / ".gme" / "journal.1-1.commit"
    journal.write_bytes(orjson.dumps({"renames": [[temporary, path]]}))
    with pytest.raises(GmeError, match="was not written by gme"):
        Workspace(folder)
    assert (tmp_path / ".victim.1-1.tmp").exists()
    assert (folder / "one").read_text() == "mine"


def test_an_interrupt_waits_for_a_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one", "two"):
        (tmp_path / name).write_text("old")
    rename = Path.replace

    def interrupted(self: Path, target: Path) -> Path:
        signal.raise_signal(signal.SIGINT)
        return rename(self, target)

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_two(tmp_path)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"one": "new", "two": "new"}


def test_what_a_living_process_writes_is_left_alone(tmp_path: Path) -> None:
    script = (
        "import sys\nfrom pathlib import Path\nfrom gme.storage.atomic import atomic_write\n"
        "with atomic_write(Path(sys.argv[1])) as handle:\n"
        "    print('begun', flush=True); sys.stdin.read(); handle.write(b'done')\n"
    )
    path = tmp_path / "file"
    command = [sys.executable, "-c", script, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        recover(tmp_path, ("",))
        assert len(list(tmp_path.iterdir())) == 1
        process.communicate("")
    assert path.read_text() == "done"


@posix
def test_a_stopped_command_leaves_nothing(small_workspace: Path) -> None:
    """SIGTERM in the middle of a kernel's work, as a scheduler or a container sends it."""
    script = (
        "import time\nfrom gme.storage import arrays\nfill = arrays.NewArray.fill\n"
        "def slow(*arguments):\n    print('working', flush=True); time.sleep(600)\n"
        "arrays.NewArray.fill = slow\nfrom gme.cli import main\nmain()\n"
    )
    before = sorted(small_workspace.rglob("*"))
    command = [sys.executable, "-c", script, "transform", "walk", "-w", str(small_workspace)]
    for number, code in ((signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)):
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            process.stdout.readline()
            process.send_signal(number)
            try:
                _, err = process.communicate(timeout=GENEROUS)
            finally:
                process.kill()
        assert process.returncode == code
        assert "hint: every file is unchanged or complete; run the command again to go on" in err
        assert sorted(small_workspace.rglob("*")) == before
