"""Which licenses gme's dependencies have (docs/reference/licenses.md), and a check that all were looked at.

    python tools/licenses.py           # write the page
    python tools/licenses.py --check   # what is installed here is on it, and every license is allowed

Reads `cargo metadata` and the metadata of installed distributions; needs no network.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

REPOSITORY = Path(__file__).resolve().parent.parent
PAGE = REPOSITORY / "docs" / "reference" / "licenses.md"
DISTRIBUTION = "graph-modified-embeddings"
EXTRAS = ("fast-louvain", "measures", "readers", "report", "static")

# What distributions say in other words than SPDX's.
SAID = {
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache 2.0": "Apache-2.0",
    "Apache License, Version 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD-3-Clause",
    "BSD": "BSD-3-Clause",
    "BSD license": "BSD-3-Clause",
    "ISC License": "ISC",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "MIT license": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
# Distributions whose metadata names none; the license is the one in the file they ship.
SHIPPED = {"resvg-py": "MIT", "wordllama": "MIT"}


def allowed() -> set[str]:
    """The licenses that deny.toml allows: one list for both languages."""
    return set(tomllib.loads((REPOSITORY / "deny.toml").read_text())["licenses"]["allow"])


def crates() -> list[tuple[str, str, str]]:
    """(name, version, license) of every crate that ends in the wheel on any platform, or builds it."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--features", "python"]
    run = subprocess.run(command, cwd=REPOSITORY, stdout=subprocess.PIPE, check=True)
    metadata = json.loads(run.stdout)
    packages = {package["id"]: package for package in metadata["packages"]}
    uses = {node["id"]: _used(node) for node in metadata["resolve"]["nodes"]}
    found: set[str] = set()
    waiting = [metadata["resolve"]["root"]]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += uses[name]
    found.discard(metadata["resolve"]["root"])
    named = (packages[package] for package in found)
    return sorted((package["name"], package["version"], package["license"].replace("/", " OR ")) for package in named)


def _used(node: dict[str, Any]) -> list[str]:
    return [dep["pkg"] for dep in node["deps"] if any(kind["kind"] != "dev" for kind in dep["dep_kinds"])]


def distributions() -> list[tuple[str, str]]:
    """(name, license) of what `gme` with its extras needs, as far as it is installed here."""
    found: dict[str, str] = {}
    waiting = [Requirement(f"{DISTRIBUTION}[{','.join(EXTRAS)}]")]
    while waiting:
        requirement = waiting.pop()
        name = _plain(requirement.name)
        if name in found:
            continue
        try:
            wanted = distribution(name)
        except PackageNotFoundError:
            print(f"{name} is not installed here", file=sys.stderr)
            continue
        found[name] = license(wanted)
        for line in wanted.requires or []:
            needed = Requirement(line)
            extras = requirement.extras or {""}
            if needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in extras):
                waiting.append(needed)
    del found[DISTRIBUTION]
    return sorted(found.items())


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def license(wanted: Distribution) -> str:
    """An SPDX expression from a distribution's metadata: the expression, the field, or the classifiers."""
    metadata: Any = wanted.metadata
    if metadata["License-Expression"]:
        return str(metadata["License-Expression"])
    field = str(metadata["License"] or "").strip()
    if field and "\n" not in field and len(field) < 60:
        return SAID.get(field, field)
    names = [entry.rpartition(" :: ")[2] for entry in metadata.get_all("Classifier") or [] if "License ::" in entry]
    known = [SAID.get(name, name) for name in names if name != "OSI Approved"]
    return " AND ".join(sorted(set(known))) or SHIPPED.get(_plain(metadata["Name"]), "unknown")


def refused(expression: str, good: set[str]) -> bool:
    """Whether an expression asks for a license that is not allowed; one allowed side of an OR is enough."""
    text = re.sub(r"\b(\S+) WITH (\S+)", r"\1", expression).replace("(", " ( ").replace(")", " ) ")
    words = [word if word in "()" else {"OR": "or", "AND": "and"}.get(word, str(word in good)) for word in text.split()]
    if not all(word in ("(", ")", "or", "and", "True", "False") for word in words):
        return True
    # Nothing but brackets, `and`, `or` and truth values is left.
    try:
        return not eval(" ".join(words))
    except SyntaxError:
        return True


def page(rust: list[tuple[str, str, str]], python: list[tuple[str, str]]) -> str:
    """The text of docs/reference/licenses.md."""
    lines = [
        "# Licenses of what gme is made with",
        "",
        "Made by `just licenses`. gme itself is under Apache-2.0; the file NOTICE names what is copied into it.",
        "",
        "## Crates",
        "",
        "Compiled into the wheel, or needed to compile it. Versions are those of Cargo.lock.",
        "",
        "| crate | version | license |",
        "|---|---|---|",
        *(f"| {name} | {version} | {text} |" for name, version, text in rust),
        "",
        "## Python packages",
        "",
        f"Installed beside it, with all extras ({', '.join(EXTRAS)}); nothing of them is in the wheel.",
        "",
        "| package | license, as it says itself |",
        "|---|---|",
        *(f"| {name} | {text} |" for name, text in python),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    rust, python, good = crates(), distributions(), allowed()
    bad = [f"{entry[0]}: {entry[-1]}" for entry in [*rust, *python] if refused(entry[-1], good)]
    if not given.check:
        PAGE.write_text(page(rust, python))
    else:
        listed = set(PAGE.read_text().splitlines())
        lines = page(rust, python).splitlines()
        bad += [
            f"not in docs/reference/licenses.md: {line}"
            for line in lines
            if line.startswith("| ") and line not in listed
        ]
    for line in bad:
        print(line, file=sys.stderr)
    if bad:
        raise SystemExit("allow a license in deny.toml after reading it; make the page anew with `just licenses`")
    print(f"licenses: {len(rust)} crates, {len(python)} Python packages")


if __name__ == "__main__":
    main()
