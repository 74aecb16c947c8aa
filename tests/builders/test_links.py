"""Explicit links in texts, and the nodes they lead to."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import Run, write_lines
from gme.builders.links import LinkOptions, find_link_edges
from gme.workspace.records import Nodes

TARGETS = [
    ("New York", None),
    ("m1", "Mercury"),
    ("m2", "Mercury"),
    ("Mercury", None),
    ("notes/a.md", "Alpha"),
    ("notes/b.md", "Beta"),
    ("ünï", "Füße"),
]


def _links(text: str, source: str = "x", exact_case: bool = False) -> set[str]:
    ids = [node_id for node_id, _ in TARGETS] + [source]
    titles = [title for _, title in TARGETS] + [None]
    texts = [""] * len(TARGETS) + [text]
    nodes = Nodes(ids, ["chunk"] * len(ids), texts, titles, {node_id: row for row, node_id in enumerate(ids)})
    found = find_link_edges(nodes, LinkOptions(exact_case=exact_case), 0, None)
    edges = list(found.edges)
    assert all(edge["source"] == source and edge["type"] == "link" for edge in edges)
    targets = [edge["target"] for edge in edges]
    assert len(targets) == len(set(targets))
    return set(targets)


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("[[New York]] and [[New York]]", {"New York"}),
        ("[[New_York|the city]]", {"New York"}),
        ("[[new york#History]]", {"New York"}),
        ("[city](New%20York#top)", {"New York"}),
        ("[city](<New York>)", {"New York"}),
        ("[[Mercury]]", {"Mercury"}),  # an id comes before titles
        ("[[mercury]]", {"Mercury"}),
        ("[[Alpha]] [[BETA]]", {"notes/a.md", "notes/b.md"}),
        ("[a](notes/a.md), [b](/notes/b.md)", {"notes/a.md", "notes/b.md"}),
        ("[b](somewhere/Beta.md)", {"notes/b.md"}),
        ("[[FÜSSE]]", {"ünï"}),
        ("[s]\n\n[s]: Alpha", {"notes/a.md"}),
        ("![[image.png]] ![x](Alpha) `[[Alpha]]` [web](https://example.org/Alpha) [[#here]]", set()),
        ("[[x]] [[X]]", set()),  # itself
        ("no [links] (here)", set()),
    ],
)
def test_targets(text: str, targets: set[str]) -> None:
    assert _links(text) == targets


def test_a_path_is_relative_to_the_linking_node() -> None:
    assert _links("[b](b.md) [up](../New%20York)", source="notes/c.md#2") == {"notes/b.md", "New York"}


def test_a_shared_title_leads_to_each_and_case_can_matter() -> None:
    nodes = Nodes(["m1", "m2", "x"], ["chunk"] * 3, ["", "", "[[Mercury]]"], ["Mercury", "Mercury", None], {})
    assert {edge["target"] for edge in find_link_edges(nodes, LinkOptions(), 0, None).edges} == {"m1", "m2"}
    assert _links("[[new york]] [[alpha]] [[Beta]]", exact_case=True) == {"notes/b.md"}


def test_links_that_lead_nowhere_are_counted_with_examples(tmp_path: Path, gme: Run) -> None:
    text = "[[Gone 1]] [[Gone 2]] [g](gone-3.md) [[Gone 4]] [[File:picture.png]] [[b]]"
    write_lines(
        tmp_path / "nodes.jsonl", [{"id": "a", "type": "chunk", "text": text}, {"id": "b", "type": "chunk", "text": ""}]
    )
    code, out, err = gme("graph", "links", "-w", tmp_path)
    assert (code, out) == (0, "1 edge\n")
    assert "4 links lead to no id or title: 'a': 'Gone 1'; 'a': 'Gone 2'; 'a': 'gone-3.md', …" in err
    assert (tmp_path / "edges.jsonl").read_text() == (
        '{"source":"a","target":"b","type":"link","by":"gme graph links"}\n'
    )
