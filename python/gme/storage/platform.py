"""All code that differs between operating systems: locks, renames of open files, disk space and memory.

On POSIX systems a lock covers a whole file (``flock``). Windows needs three things of its own:

- An open file can be renamed or removed only if each handle to it allows that. Python's ``open`` does not allow it, but
  `open_descriptor` does.
- A lock keeps others from reading the bytes it covers. `lock` covers one byte far behind the end of any file. So others
  can read in a locked file who holds the lock.
- No file can be replaced while another program has it open or mapped. `replace` says so in its error.

The package `filelock` does not fit. It locks only a file that it opens itself, keeps others from the first byte on
Windows, and has no shared locks of the system. `gme` locks files while it writes them, shares locks, and reads from a
lock's file who holds it.
"""

from __future__ import annotations

import contextlib
import errno
import mmap
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, TypeVar

from ..errors import GmeError

T = TypeVar("T")

_BLOCK = 64 << 20  # bytes written at once where disk space can't be reserved

if sys.platform == "win32":
    import ctypes
    import msvcrt
    from ctypes import wintypes

    class _Overlapped(ctypes.Structure):
        """The structure OVERLAPPED of Windows, which says where in the file a lock lies."""

        _fields_ = (
            ("internal", ctypes.c_void_p),
            ("internal_high", ctypes.c_void_p),
            ("offset", wintypes.DWORD),
            ("offset_high", wintypes.DWORD),
            ("event", wintypes.HANDLE),
        )

    _kernel = ctypes.WinDLL("kernel32", use_last_error=True)
    _kernel.CreateFileW.restype = wintypes.HANDLE
    _kernel.CreateFileW.argtypes = (
        wintypes.LPCWSTR,
        wintypes.DWORD,
        wintypes.DWORD,
        ctypes.c_void_p,
        wintypes.DWORD,
        wintypes.DWORD,
        wintypes.HANDLE,
    )
    _lock_arguments = (wintypes.HANDLE, wintypes.DWORD, wintypes.DWORD, wintypes.DWORD, wintypes.DWORD, ctypes.c_void_p)
    _kernel.LockFileEx.argtypes = _lock_arguments
    _kernel.UnlockFileEx.argtypes = (*_lock_arguments[:1], *_lock_arguments[2:])
    _kernel.OpenProcess.restype = wintypes.HANDLE
    _kernel.OpenProcess.argtypes = (wintypes.DWORD, wintypes.BOOL, wintypes.DWORD)
    _kernel.WaitForSingleObject.argtypes = (wintypes.HANDLE, wintypes.DWORD)
    _kernel.CloseHandle.argtypes = (wintypes.HANDLE,)

    _READ, _WRITE = 0x80000000, 0x40000000  # GENERIC_READ, GENERIC_WRITE
    _SHARE_ALL = 0x1 | 0x2 | 0x4  # FILE_SHARE_READ, FILE_SHARE_WRITE, FILE_SHARE_DELETE
    _CREATE_NEW, _OPEN_EXISTING, _OPEN_ALWAYS = 1, 3, 4
    _NORMAL = 0x80  # FILE_ATTRIBUTE_NORMAL
    _FAIL_AT_ONCE, _EXCLUSIVE = 0x1, 0x2  # LOCKFILE_FAIL_IMMEDIATELY, LOCKFILE_EXCLUSIVE_LOCK
    _IS_LOCKED = 33  # ERROR_LOCK_VIOLATION
    _WITHOUT_LOCKS = (1, 50, 120)  # ERROR_INVALID_FUNCTION, ERROR_NOT_SUPPORTED, ERROR_CALL_NOT_IMPLEMENTED
    _BEHIND_ALL = 0x7FFFFFFF  # the upper half of the offset of the locked byte
    _SYNCHRONIZE, _STILL_RUNS, _DENIED = 0x100000, 258, 5
    _INVALID = wintypes.HANDLE(-1).value  # INVALID_HANDLE_VALUE
    _TRIES, _PAUSE = 20, 0.05  # how many attempts, and the seconds between two of them

    def open_descriptor(path: Path, flags: int) -> int:
        """Open a file like `os.open`. The file can be renamed and removed while it is open."""
        return _retry_while_denied(lambda: _open(path, flags))

    def _open(path: Path, flags: int) -> int:
        access = _READ | (_WRITE if flags & (os.O_RDWR | os.O_WRONLY) else 0)
        creation = _OPEN_EXISTING
        if flags & os.O_CREAT:
            creation = _CREATE_NEW if flags & os.O_EXCL else _OPEN_ALWAYS
        handle = _kernel.CreateFileW(str(path), access, _SHARE_ALL, None, creation, _NORMAL, None)
        if handle == _INVALID:
            error = ctypes.WinError(ctypes.get_last_error())
            error.filename = str(path)
            raise error
        return msvcrt.open_osfhandle(handle, (flags & os.O_APPEND) | os.O_NOINHERIT)

    def create_file(path: Path) -> IO[bytes]:
        """Create a file that is open for writing and reading. It can be renamed and removed while it is open.

        Raises:
            FileExistsError: the file exists already.
        """
        return open(path, "x+b", opener=lambda name, flags: open_descriptor(Path(name), flags))

    def lock(descriptor: int, *, shared: bool = False) -> bool | None:
        """Lock an open file if nobody else holds a lock on it. A lock of this descriptor is released first.

        Returns:
            True: locked; False: another process holds it; None: there are no locks here.
        """
        unlock(descriptor)
        kind = _FAIL_AT_ONCE | (0 if shared else _EXCLUSIVE)
        if _kernel.LockFileEx(msvcrt.get_osfhandle(descriptor), kind, 0, 1, 0, ctypes.byref(_locked_byte())):
            return True
        number = ctypes.get_last_error()
        if number == _IS_LOCKED:
            return False
        if number in _WITHOUT_LOCKS:
            return None
        raise ctypes.WinError(number)

    def unlock(descriptor: int) -> None:
        """Release the lock, if there is one."""
        _kernel.UnlockFileEx(msvcrt.get_osfhandle(descriptor), 0, 1, 0, ctypes.byref(_locked_byte()))

    def _locked_byte() -> _Overlapped:
        return _Overlapped(offset_high=_BEHIND_ALL)

    def replace(temporary: Path, path: Path) -> None:
        """Rename a file over another one.

        Raises:
            GmeError: another program has the old one open.
        """
        try:
            _retry_while_denied(lambda: temporary.replace(path))
        except PermissionError as error:
            raise GmeError(
                f"{path} can't be replaced: {error.strerror}",
                "Windows replaces no file that is open: close the programs that use it, then run the command again",
            ) from error

    def remove(path: Path) -> None:
        """Remove a file if it exists."""
        _retry_while_denied(lambda: path.unlink(missing_ok=True))

    def _retry_while_denied(act: Callable[[], T]) -> T:
        """Try again for a second while access is denied. A virus scanner or an indexer may have the file open.

        A removed file also denies access until the last handle to it is closed.
        """
        for _ in range(_TRIES):
            with contextlib.suppress(PermissionError):
                return act()
            time.sleep(_PAUSE)
        return act()

    def sync_folder(folder: Path) -> None:
        """Make renames in a folder durable. Windows does this by itself."""

    def is_alive(process: int) -> bool:
        """Whether a process with this number runs. (On Windows ``os.kill`` with signal 0 would send Ctrl-C.)"""
        handle = _kernel.OpenProcess(_SYNCHRONIZE, False, process & 0xFFFFFFFF)
        if not handle:
            return bool(ctypes.get_last_error() == _DENIED)
        try:
            return bool(_kernel.WaitForSingleObject(handle, 0) == _STILL_RUNS)
        finally:
            _kernel.CloseHandle(handle)

    def release_map(mapped: mmap.mmap) -> None:
        """Free a map's memory. Windows offers no call for it, and takes the memory when it needs it."""

    def memory_is_scarce() -> bool:
        """Whether this process uses a third of the machine's memory. Windows can't tell."""
        return False

else:
    import fcntl

    _WITHOUT_LOCKS = (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL)

    def open_descriptor(path: Path, flags: int) -> int:
        """Open a file like `os.open`. The file can be renamed and removed while it is open."""
        return os.open(path, flags, 0o666)

    def create_file(path: Path) -> IO[bytes]:
        """Create a file that is open for writing and reading. It can be renamed and removed while it is open.

        Raises:
            FileExistsError: the file exists already.
        """
        return path.open("x+b")

    def lock(descriptor: int, *, shared: bool = False) -> bool | None:
        """Lock an open file if nobody else holds a lock on it. A lock of this descriptor is released first.

        Returns:
            True: locked; False: another process holds it; None: there are no locks here.
        """
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            if error.errno in _WITHOUT_LOCKS:
                return None
            raise
        return True

    def unlock(descriptor: int) -> None:
        """Release the lock, if there is one."""
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_UN)

    def replace(temporary: Path, path: Path) -> None:
        """Rename a file over another one."""
        temporary.replace(path)

    def remove(path: Path) -> None:
        """Remove a file if it exists."""
        path.unlink(missing_ok=True)

    def sync_folder(folder: Path) -> None:
        """Make renames in a folder durable, on file systems that can sync a folder."""
        with contextlib.suppress(OSError):
            descriptor = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def is_alive(process: int) -> bool:
        """Whether a process with this number runs."""
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return False
        except (PermissionError, OverflowError):
            return True
        return True

    def release_map(mapped: mmap.mmap) -> None:
        """Free a map's memory. Reading it again loads it from the file."""
        if hasattr(mmap, "MADV_DONTNEED"):
            mapped.madvise(mmap.MADV_DONTNEED)

    def memory_is_scarce() -> bool:
        """Whether this process uses a third of the machine's memory, with mapped files; False where it is unknown."""
        try:
            resident = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
            return 3 * resident > os.sysconf("SC_PHYS_PAGES")
        except (OSError, ValueError, IndexError):
            return False


def reserve(handle: IO[bytes], start: int, size: int) -> None:
    """Make a file `size` bytes long, of which `start` are already written, and reserve disk space for all of them.

    Raises:
        OSError: the disk has not enough room.
    """
    if size == start:
        return
    if hasattr(os, "posix_fallocate"):
        try:
            os.posix_fallocate(handle.fileno(), 0, size)
            return
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS):
                raise
    for position in range(start, size, _BLOCK):
        handle.write(bytes(min(_BLOCK, size - position)))
    handle.flush()


def write_utf8() -> None:
    """Write UTF-8 and plain line ends to standard output and error on Windows too, not the console's old code page."""
    if sys.platform == "win32":
        for stream in (sys.stdout, sys.stderr):
            if stream is not None and hasattr(stream, "reconfigure"):
                stream.reconfigure(encoding="utf-8", newline="\n", errors=stream.errors)
