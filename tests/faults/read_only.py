"""A command in a folder that can't be written to."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

WITHOUT_CAPABILITIES = """
import ctypes, os, sys
if os.geteuid() == 0:  # root may write anywhere, unless it gives up what allows it to
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    assert libc.capset(header, (ctypes.c_uint32 * 6)()) == 0
from gme.cli import main
main()
"""


def in_a_read_only_folder(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    folders = [folder, *(path for path in folder.rglob("*") if path.is_dir())]
    for path in folders:
        path.chmod(0o555)
    try:
        command = [sys.executable, "-c", WITHOUT_CAPABILITIES, *words, "-w", str(folder)]
        return subprocess.run(command, capture_output=True, text=True, check=False)
    finally:
        for path in folders:
            path.chmod(0o755)
