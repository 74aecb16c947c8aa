"""Puts packages where Python finds them, as pip does but without pip: their modules, and their metadata beside them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import gme

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SAMPLE = Path(__file__).parent / "sample"


def install(site: Path, project: str, modules: Iterable[Path]) -> Path:
    """Install into `site` what a ``pyproject.toml`` describes.

    Args:
        project: the text of the file.
        modules: the files of its modules.
    """
    described = tomllib.loads(project)["project"]
    for module in modules:
        shutil.copy(module, site / module.name)
    return write_metadata(site, described["name"], described["version"], described["entry-points"])


def write_metadata(site: Path, name: str, version: str, groups: Mapping[str, Mapping[str, str]]) -> Path:
    """The ``dist-info`` of a distribution with these entry points, by group and name."""
    folder = site / f"{name.replace('-', '_')}-{version}.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8")
    sections = (
        f"[{group}]\n" + "".join(f"{point} = {target}\n" for point, target in points.items())
        for group, points in groups.items()
    )
    (folder / "entry_points.txt").write_text("\n".join(sections), encoding="utf-8")
    return folder


def run_gme(site: Path, *arguments: object, workspace: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command line in a process of its own, in which the packages of `site` are installed."""
    package = Path(gme.__file__).parent.parent
    environment: dict[str, Any] = {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), str(package)])}
    if workspace is not None:
        environment["GME_WORKSPACE"] = str(workspace)
    words = [sys.executable, "-m", "gme", *map(str, arguments)]
    return subprocess.run(words, env=environment, capture_output=True, text=True, check=False, encoding="utf-8")
