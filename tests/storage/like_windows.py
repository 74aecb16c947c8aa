"""``python like_windows.py WORDS``: run ``gme WORDS`` with what Windows has, and without what it refuses.

Modules that Windows lacks can't be imported. `gme.storage.platform` takes its branch for Windows, on top of a few
functions of the kernel's that are imitated here. An audit hook refuses to rename, replace or remove a file that is
open or mapped, unless each handle to it allows that. This finds what the code asks of Windows by mistake. Whether
Windows itself answers as it is imitated here, the tests on Windows show.
"""

from __future__ import annotations

import ctypes
import fcntl
import mmap
import os
import signal
import sys
import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any

MISSING = ("fcntl", "grp", "posix", "pwd", "resource", "termios")
_shares: set[int] = set()
"""Descriptors whose files may be renamed and removed."""
_error = 0


class _Absent:
    """Finds no module that Windows lacks."""

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: object = None) -> None:
        if name in MISSING:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


class _Function:
    """A function of a library's, which takes a declaration of its arguments."""

    def __init__(self, call: Any) -> None:
        self.call = call

    def __call__(self, *arguments: Any) -> Any:
        return self.call(*arguments)


def _fail(number: int) -> int:
    global _error
    _error = number
    return 0


def _create_file(path: str, access: int, share: int, security: None, creation: int, attributes: int, of: None) -> int:
    flags = {1: os.O_CREAT | os.O_EXCL, 3: 0, 4: os.O_CREAT}[creation]
    try:
        descriptor = os.open(path, flags | (os.O_RDWR if access & 0x40000000 else os.O_RDONLY), 0o666)
    except OSError as error:
        _fail({FileNotFoundError: 2, FileExistsError: 80}.get(type(error), 5))
        return 2**64 - 1
    if share & 0x4:
        _shares.add(descriptor)
    return descriptor


def _lock_file(handle: int, flags: int, reserved: int, low: int, high: int, where: Any) -> int:
    kind = fcntl.LOCK_EX if flags & 0x2 else fcntl.LOCK_SH
    try:
        fcntl.flock(handle, kind | (fcntl.LOCK_NB if flags & 0x1 else 0))
    except BlockingIOError:
        return _fail(33)
    return 1


def _unlock_file(handle: int, reserved: int, low: int, high: int, where: Any) -> int:
    fcntl.flock(handle, fcntl.LOCK_UN)
    return 1


def _open_process(access: int, inherit: bool, number: int) -> int:
    return number if Path(f"/proc/{number}").exists() else _fail(87)


def _open_osfhandle(handle: int, flags: int) -> int:
    if flags & os.O_APPEND:
        fcntl.fcntl(handle, fcntl.F_SETFL, fcntl.fcntl(handle, fcntl.F_GETFL) | os.O_APPEND)
    return handle


def _windows_error(number: int) -> OSError:
    kinds = {2: FileNotFoundError, 80: FileExistsError, 5: PermissionError, 32: PermissionError, 33: PermissionError}
    return kinds.get(number, OSError)(13 if number in (5, 32, 33) else number, f"Windows says {number}")


def _refuse_open_files(event: str, arguments: tuple[Any, ...]) -> None:
    """Windows' rules for names of open files."""
    if event == "os.rename":
        source, target = (Path(path).absolute() for path in arguments[:2])
        refused = source.is_file() and (_keeps(source) or _keeps(target, replaced=True))
    elif event == "os.remove":
        source = Path(arguments[0]).absolute()
        refused = _keeps(source) or _is_mapped(source)
    else:
        return
    if refused:
        raise PermissionError(13, "The process cannot access the file because it is being used", str(source))


def _keeps(path: Path, *, replaced: bool = False) -> bool:
    """Whether an open descriptor, or a map of a file that is to be replaced, keeps a file's name."""
    if not path.exists():
        return False
    status = path.stat()
    for entry in Path("/proc/self/fd").iterdir():
        try:
            same = os.path.samestat(entry.stat(), status)
        except OSError:  # the descriptor of the listing itself
            continue
        if same and (replaced or int(entry.name) not in _shares):
            return True
    return replaced and _is_mapped(path)


def _is_mapped(path: Path) -> bool:
    maps = Path("/proc/self/maps").read_text(encoding="utf-8")
    return any(line.endswith(f" {path}") for line in maps.splitlines())


def become() -> None:
    """Let this process be like one on Windows, from now on."""
    import rich.console
    import rich.progress
    import rich.table
    import typer

    import gme.cli  # with all that it needs of the standard library and of other packages

    for name in [name for name in sys.modules if name.split(".")[0] == "gme"]:
        del sys.modules[name]
    kernel = {
        "CreateFileW": _create_file,
        "LockFileEx": _lock_file,
        "UnlockFileEx": _unlock_file,
        "OpenProcess": _open_process,
        "WaitForSingleObject": lambda handle, milliseconds: 258,
        "CloseHandle": lambda handle: 1,
    }
    functions = types.SimpleNamespace(**{name: _Function(call) for name, call in kernel.items()})
    ctypes.WinDLL = lambda name, use_last_error: functions  # type: ignore[attr-defined]
    ctypes.get_last_error = lambda: _error  # type: ignore[attr-defined]
    ctypes.WinError = _windows_error  # type: ignore[attr-defined]
    runtime: Any = types.ModuleType("msvcrt")
    runtime.get_osfhandle, runtime.open_osfhandle = int, _open_osfhandle
    sys.modules["msvcrt"] = runtime
    os.O_NOINHERIT = 0  # type: ignore[attr-defined]
    for owner, name in (
        (os, "posix_fallocate"),
        (os, "sched_getaffinity"),
        (os, "sysconf"),
        (os, "geteuid"),
        (os, "getuid"),
        (os, "fork"),
        (mmap, "MADV_DONTNEED"),
        (signal, "SIGHUP"),
    ):
        delattr(owner, name)
    for name in MISSING:
        sys.modules.pop(name, None)
    sys.meta_path.insert(0, _Absent())
    # Other packages ask for the platform too, when they are imported; only gme's own module is to get this answer.
    real, sys.platform = sys.platform, "win32"
    import gme.storage.platform

    sys.platform = real
    del gme, rich, typer
    sys.addaudithook(_refuse_open_files)


if __name__ == "__main__":
    become()
    from gme.cli import main

    main()
