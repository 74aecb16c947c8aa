"""What manifests say is declared once: the types, and what is checked when one is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import orjson
import pytest

from gme.errors import GmeError
from gme.workspace.manifests import RULES, Manifest, read_manifest

DECLARED: dict[str, Any] = get_type_hints(Manifest)
SAMPLES: dict[Any, Any] = {str: "a", int: 3, list: ["a"], dict: {}, type(None): None}


def _kinds(declared: Any) -> set[type]:
    """The kinds of JSON values that a declared type allows."""
    if isinstance(declared, type) and get_origin(declared) is None:
        return {dict} if hasattr(declared, "__required_keys__") else {declared}
    origin = get_origin(declared)
    if isinstance(origin, type) and origin in (list, dict):
        return {origin}
    return {kind for part in get_args(declared) for kind in _kinds(part)}


def test_what_the_commands_rely_on_is_checked() -> None:
    assert {"command", "inputs", "sha256", "rows", "dim", "key", "parameters", "builders", "graph"} <= RULES.keys()
    assert RULES.keys() <= DECLARED.keys()


@pytest.mark.parametrize("name", RULES)
def test_a_rule_takes_what_its_type_allows_and_nothing_else(name: str) -> None:
    allowed = _kinds(DECLARED[name])
    for kind, sample in SAMPLES.items():
        assert RULES[name].holds(sample) == (kind in allowed), (name, sample)


@pytest.mark.parametrize("name", RULES)
def test_a_field_of_another_kind_is_refused_by_its_name(name: str, tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_bytes(orjson.dumps({name: 1.5}))
    with pytest.raises(GmeError, match=f"{name} must be {RULES[name].kind}, found 1.5"):
        read_manifest(path)


def test_fields_nobody_knows_are_kept(tmp_path: Path) -> None:
    """Newer releases and other packages may write more."""
    path = tmp_path / "m.json"
    path.write_bytes(orjson.dumps({"rows": 1, "other": [1]}))
    assert read_manifest(path) == {"rows": 1, "other": [1]}
