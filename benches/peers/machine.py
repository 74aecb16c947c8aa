"""What the figures were measured on and with."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path

from gme.version import gme_version

PACKAGES = (
    "numpy",
    "scipy",
    "csrgraph",
    "pecanpy",
    "networkx",
    "scikit-network",
    "networkit",
    "python-louvain",
    "pyahocorasick",
    "usearch",
)


def machine_text() -> str:
    """Processor, cores, memory."""
    processor = "unknown processor"
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            processor = " ".join(line.partition(":")[2].split())
            break
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{processor}, {os.cpu_count()} cores, {memory:.0f} GB, {platform.system()}"


def versions_text() -> str:
    """Versions of Python, gme and all peers."""
    first = (f"Python {platform.python_version()}", f"gme {gme_version()}")
    return ", ".join([*first, *(f"{name} {version(name)}" for name in PACKAGES)])
