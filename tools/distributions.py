"""Check wheels and source distributions of gme: tags, metadata, and that they hold what they should and nothing else.

python tools/distributions.py FOLDER
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterable
from email.parser import Parser
from pathlib import Path, PurePosixPath

from packaging.utils import parse_sdist_filename, parse_wheel_filename

REPOSITORY = Path(__file__).resolve().parent.parent
MODULES = {"manylinux": "gme/_core.abi3.so", "macosx": "gme/_core.abi3.so", "win": "gme/_core.pyd"}
"""Platform, as a wheel's tag begins -> the compiled module in it."""
METADATA = ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE", "licenses/NOTICE", "sboms/")
# Of the sources a distribution holds what builds the package; tests and documents are in the repository only.
SOURCES = ("Cargo.lock", "Cargo.toml", "LICENSE", "NOTICE", "PKG-INFO", "README.md", "pyproject.toml")


def tracked() -> set[str]:
    """The files of python/ and rust/ that belong to the project."""
    listed = subprocess.run(
        ["git", "ls-files", "python", "rust"], cwd=REPOSITORY, stdout=subprocess.PIPE, check=True, text=True
    )
    return set(listed.stdout.splitlines())


def check_wheel(path: Path) -> list[str]:
    name, _, _, tags = parse_wheel_filename(path.name)
    platforms = {tag.platform for tag in tags}
    problems = [
        f"{tag}: not for the stable ABI of CPython 3.10"
        for tag in tags
        if (tag.interpreter, tag.abi) != ("cp310", "abi3")
    ]
    modules = {module for system, module in MODULES.items() if any(tag.startswith(f"{system}_") for tag in platforms)}
    if len(modules) != 1:
        problems.append(f"{sorted(platforms)}: bound to this machine's Linux, or to a platform that nobody looked at")
    with zipfile.ZipFile(path) as wheel:
        files = set(wheel.namelist())
        top = next(file.partition("/")[0] for file in files if file.endswith(".dist-info/METADATA"))
        metadata = Parser().parsestr(wheel.read(f"{top}/METADATA").decode())
    expected = {file.removeprefix("python/") for file in tracked() if file.startswith("python/")} | modules
    problems += _differences({file for file in files if not file.startswith(f"{top}/")}, expected, lambda file: False)
    problems += [
        f"{file}: stray"
        for file in files
        if file.startswith(f"{top}/") and not file.removeprefix(f"{top}/").startswith(METADATA)
    ]
    for field, value in (("License-Expression", "Apache-2.0"), ("Requires-Python", ">=3.10"), ("Name", name)):
        if metadata[field] != value:
            problems.append(f"{field} is {metadata[field]!r}, not {value!r}")
    if "gme/py.typed" not in files:
        problems.append("gme/py.typed is missing: types would not be seen")
    return problems


def check_sdist(path: Path) -> list[str]:
    parse_sdist_filename(path.name)
    with tarfile.open(path) as archive:
        files = {str(PurePosixPath(*PurePosixPath(file).parts[1:])) for file in archive.getnames()}
    return _differences(files, tracked() | set(SOURCES), lambda file: file == ".")


def _differences(found: Iterable[str], expected: set[str], ignored: Callable[[str], bool]) -> list[str]:
    found = {file for file in found if not file.endswith("/") and not ignored(file)}
    return [f"{file}: stray" for file in sorted(found - expected)] + [
        f"{file}: missing" for file in sorted(expected - found)
    ]


def main() -> None:
    folder = Path(sys.argv[1])
    checks = [(path, check_wheel) for path in sorted(folder.glob("*.whl"))]
    checks += [(path, check_sdist) for path in sorted(folder.glob("*.tar.gz"))]
    if not checks:
        raise SystemExit(f"{folder}: no wheel and no source distribution")
    for path, check in checks:
        problems = check(path)
        for problem in problems:
            print(f"{path.name}: {problem}", file=sys.stderr)
        if problems:
            raise SystemExit(1)
        print(f"{path.name}: {path.stat().st_size:,} bytes, as it should be")


if __name__ == "__main__":
    main()
