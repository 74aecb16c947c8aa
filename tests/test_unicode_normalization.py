"""Letters with accents are found whether they are one code point or two."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gme
from conftest import write_lines
from gme.builders.entities import EntityOptions
from gme.builders.mentions import MentionOptions
from gme.builders.registry import EDGE_BUILDERS
from gme.options import Options
from gme.pipeline.edges import add_edges
from gme.readers.links import Link, Targets, slug
from gme.unicode_normalization import nfc
from gme.workspace import Workspace

FORMS = ("NFC", "NFD")


def test_what_is_composed_already_stays_the_object_it_is() -> None:
    for text in ("plain", "Café", ""):
        assert nfc(text) is text
    assert nfc("Cafe\u0301") == "Café"


@pytest.mark.parametrize("there", FORMS)
@pytest.mark.parametrize("here", FORMS)
@pytest.mark.parametrize("builder", sorted(EDGE_BUILDERS))
def test_every_builder_finds_either_spelling(builder: str, here: Any, there: Any, tmp_path: Path) -> None:
    title, text = unicodedata.normalize(here, "Müller Café"), "we went to [[Müller Café]], old as it is"
    records: list[dict[str, str]] = [
        {"id": "a", "title": title, "text": "nothing"},
        {"id": "b", "text": unicodedata.normalize(there, text)},
        {"id": "c", "text": unicodedata.normalize(here, text)},
    ]
    write_lines(tmp_path / "nodes.jsonl", [{"type": "chunk", **record} for record in records])
    workspace = Workspace(tmp_path)
    edges = 1 if builder == "names" else 2  # which connects the two texts with each other
    assert add_edges(workspace, builder).edges == edges
    assert add_edges(workspace, builder).edges == edges
    assert set(workspace.nodes.ids) <= {"a", "b", "c", "entity:Müller Café"}


@pytest.mark.parametrize("form", FORMS)
def test_lists_of_titles_and_names_in_either_spelling(form: Any, tmp_path: Path) -> None:
    records = [
        {"id": str(n), "text": f"{n} in the Café", "title": title} for n, title in enumerate(["Café", None, None])
    ]
    write_lines(tmp_path / "nodes.jsonl", [{"type": "chunk", **record} for record in records])
    listed = tmp_path / "list"
    listed.write_text(unicodedata.normalize(form, "Café\n"), encoding="utf-8")
    cases: list[tuple[str, Options, int]] = [
        ("mentions", MentionOptions(), 2),
        ("mentions", MentionOptions(stop_titles=listed), 0),
        ("entities", EntityOptions(entities=listed), 3),
        ("entities", EntityOptions(entities=listed, extractor="none"), 3),
    ]
    for builder, options, edges in cases:
        assert add_edges(Workspace(tmp_path), builder, options).edges == edges


@pytest.mark.parametrize("there", FORMS)
@pytest.mark.parametrize("here", FORMS)
def test_questions_and_links_name_nodes_in_either_spelling(here: Any, there: Any) -> None:
    titles = [unicodedata.normalize(here, title) for title in ("Café", "Müller Café")]
    questions = [unicodedata.normalize(there, f"Where is the {name}?") for name in ("Café", "müller café")]
    vectors = np.eye(2, dtype=np.float32)
    assert gme.match_titles(titles, questions, vectors, vectors).tolist() == [[0], [1]]
    ids = [unicodedata.normalize(here, name) for name in ("Café.md", "ordner/Über.md", "Z.md")]
    for exact_case in (False, True):
        targets = Targets(ids, [None, None, unicodedata.normalize(here, "Ärger")], exact_case)
        for row, target in enumerate(("Café", "Über", "Ärger")):
            assert targets.resolve(Link(0, unicodedata.normalize(there, target), "", True), "x.md") == [row]
    assert slug(unicodedata.normalize(here, "Über uns")) == slug(unicodedata.normalize(there, "über Uns")) == "über-uns"
