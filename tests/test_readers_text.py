"""Folders of text and Markdown: chunks, links, front matter, encodings."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import Run
from gme.readers.chunking import chunks, headings, mask_code
from gme.readers.links import Link, Resolver, find_links, slug
from gme.records import read_edges, read_nodes
from reading import SAMPLES, workspace_lines


def test_a_vault(tmp_path: Path, gme: Run) -> None:
    code, out, err = gme("graph", "read", "text", SAMPLES / "vault", "-w", tmp_path)
    assert (code, out) == (0, "nodes\t14\tchunk 9, document 5\nedges\t20\tlink 11, part_of 9\n"), err
    nodes, edges, _ = workspace_lines(tmp_path)
    read_edges(tmp_path / "edges.jsonl", read_nodes(tmp_path / "nodes.jsonl"))
    titles = {node["id"]: node["title"] for node in nodes if node["type"] == "document"}
    assert titles == {
        "Moon.md": "The Moon",  # front matter
        "Tides.md": "Tides",  # text comes before the first heading
        "earth.txt": "earth",
        "empty.md": "empty",
        "people/neil a.md": "Neil",
    }
    moon = next(node for node in nodes if node["id"] == "Moon.md")
    assert moon["metadata"] == {
        "title": "The Moon",
        "tags": ["sky", "night"],
        "aliases": ["Luna"],
        "created": "2024-05-01",
    }
    neap = next(node for node in nodes if node["id"] == "Moon.md#3")
    assert (neap["title"], neap["line"], neap["headings"]) == (
        "The Moon > Tides > Neap",
        21,
        ["The Moon", "Tides", "Neap"],
    )
    assert neap["text"].startswith("The Moon > Tides > Neap. ### Neap\r\n")
    links = {(edge["source"], edge["target"]) for edge in edges if edge["type"] == "link"}
    assert links == {
        ("Moon.md#1", "earth.txt"),  # whatever the case, and plain text too
        ("Moon.md#1", "people/neil a.md#2"),  # %20, and the chunk under the heading
        ("Moon.md#2", "Tides.md#2"),
        ("Moon.md#3", "Tides.md"),  # a reference link to a heading that is not there
        ("Moon.md#3", "Moon.md#2"),  # [[#Tides]]
        ("Tides.md#2", "Moon.md"),
        ("Tides.md#3", "people/neil a.md"),
        ("Tides.md#3", "Moon.md"),  # by its title
        ("earth.txt#1", "Moon.md"),
        ("people/neil a.md#2", "Moon.md#2"),
        ("people/neil a.md#2", "Tides.md"),  # from the top folder
    }
    assert "Moon.md:15: nowhere" in err
    assert "Moon.md:23: ./Tides.md#missing" in err
    assert "1 documents have no text" in err


def test_options(tmp_path: Path, gme: Run) -> None:
    vault = SAMPLES / "vault"
    assert "link" not in gme("graph", "read", "text", vault, "--no-links", "-w", tmp_path / "a")[1]
    assert gme("graph", "read", "text", vault, "--no-headings", "-w", tmp_path / "b")[1].startswith("nodes\t9\tchunk 4")
    code, _, err = gme("graph", "read", "text", vault, "--strict", "-w", tmp_path / "c")
    assert code == 1
    assert "Moon.md:15: nowhere" in err
    code, _, err = gme("graph", "read", "text", vault, "--overlap", "200", "-w", tmp_path / "c")
    assert code == 1
    assert "--overlap is 200" in err
    assert gme("graph", "read", "text", vault, "--bare-text", "-w", tmp_path / "d")[0] == 0
    assert workspace_lines(tmp_path / "d")[0][1]["text"].startswith("# The Moon\r\n")


def test_files_and_several_folders(tmp_path: Path, gme: Run) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.md").write_text(f"text {name}")
    assert gme("graph", "read", "text", tmp_path / "one", tmp_path / "two", "-w", tmp_path / "w")[0] == 0
    assert [node["id"] for node in workspace_lines(tmp_path / "w")[0]] == [
        "one/a.md",
        "one/a.md#1",
        "two/a.md",
        "two/a.md#1",
    ]
    assert gme("graph", "read", "text", tmp_path / "one" / "a.md", "-w", tmp_path / "v")[0] == 0
    files = (tmp_path / "one" / "a.md", tmp_path / "two" / "a.md")
    code, _, err = gme("graph", "read", "text", *files, "-w", tmp_path / "x")
    assert code == 1
    assert "would both be 'a.md'" in err
    (tmp_path / "none").mkdir()
    code, _, err = gme("graph", "read", "text", tmp_path / "none", "-w", tmp_path / "x")
    assert code == 1
    assert "no text files under" in err


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"fine\nbad \xff here\n", "a.md:2: not UTF-8 text: byte 0xff at offset 9"),
        ("wide".encode("utf-16"), "it looks like UTF-16"),
    ],
)
def test_other_encodings_are_named(data: bytes, expected: str, tmp_path: Path, gme: Run) -> None:
    (tmp_path / "a.md").write_bytes(data)
    code, _, err = gme("graph", "read", "text", tmp_path, "-w", tmp_path / "w")
    assert code == 1
    assert expected in err


def test_front_matter_that_is_no_yaml(tmp_path: Path, gme: Run) -> None:
    (tmp_path / "a.md").write_text("---\nok: 1\nbad: {{title}}\n---\nText.\n")
    code, _, err = gme("graph", "read", "text", tmp_path, "-w", tmp_path / "w")
    assert code == 0
    assert "a.md:3: " in err
    document, chunk = workspace_lines(tmp_path / "w")[0]
    assert document["metadata"] == {"front_matter": "ok: 1\nbad: {{title}}\n"}
    assert (chunk["text"], chunk["line"]) == ("a. Text.", 5)
    code, _, err = gme("graph", "read", "text", tmp_path, "--strict", "-w", tmp_path / "v")
    assert code == 1
    assert "a.md:3: " in err


def test_a_rule_at_the_top_is_text(tmp_path: Path, gme: Run) -> None:
    (tmp_path / "a.md").write_text("---\nJust a sentence.\n---\nMore.\n")
    assert gme("graph", "read", "text", tmp_path, "--bare-text", "-w", tmp_path / "w")[0] == 0
    nodes = workspace_lines(tmp_path / "w")[0]
    assert nodes[1]["text"] == "---\nJust a sentence.\n---\nMore."
    assert "metadata" not in nodes[0]


def test_odd_characters_stay(tmp_path: Path, gme: Run) -> None:
    text = "nul \x00, bom \ufeff, cr\r\nlf, \u202eשלום\u202c 🐄\tend"
    (tmp_path / 'שלום: "q" 🐄.txt').write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert gme("graph", "read", "text", tmp_path, "--bare-text", "-w", tmp_path / "w")[0] == 0
    document, chunk = workspace_lines(tmp_path / "w")[0]
    assert document["id"] == 'שלום: "q" 🐄.txt'
    assert chunk["text"] == text


# ---- chunking --------------------------------------------------------------------------------------------------------

PIECES = st.lists(
    st.sampled_from(
        ["word ", "Long sentence. ", "\n\n", "# Heading\n", "## Sub #\n", "```\ncode\n```\n", "漢字", "\r\n", " "]
    ),
    max_size=60,
).map("".join)


@given(PIECES, st.integers(1, 12), st.booleans())
def test_chunks_without_overlap_lose_only_space(text: str, size: int, markdown: bool) -> None:
    cut = chunks(text, size=size, overlap=0, markdown=markdown)
    assert re.sub(r"\s", "", "".join(text[c.start : c.end] for c in cut)) == re.sub(r"\s", "", text)
    assert all(first.end <= second.start for first, second in pairwise(cut))
    for chunk in cut:
        piece = text[chunk.start : chunk.end]
        assert piece == piece.strip()
        assert len(re.findall(r"[漢字]|[^\s漢字]+", piece)) <= size


@given(PIECES, st.integers(2, 12), st.data())
def test_overlap_repeats_words(text: str, size: int, data: st.DataObject) -> None:
    overlap = data.draw(st.integers(1, size - 1))
    cut = chunks(text, size=size, overlap=overlap, markdown=False)
    assert all(first.start < second.start and first.end < second.end for first, second in pairwise(cut))
    covered = "".join(
        text[max(c.start, before) : c.end] for c, before in zip(cut, [0, *(c.end for c in cut)], strict=False)
    )
    assert re.sub(r"\s", "", covered) == re.sub(r"\s", "", text)


def test_chunks_end_at_paragraphs_then_sentences() -> None:
    text = "One two three. Four five six seven.\n\nEight nine ten eleven twelve. Thirteen fourteen."
    cut = [text[c.start : c.end] for c in chunks(text, size=9, overlap=0, markdown=False)]
    assert cut == ["One two three. Four five six seven.", "Eight nine ten eleven twelve. Thirteen fourteen."]
    cut = [text[c.start : c.end] for c in chunks(text, size=5, overlap=0, markdown=False)]
    assert cut == ["One two three.", "Four five six seven.", "Eight nine ten eleven twelve.", "Thirteen fourteen."]


def test_headings_in_code_are_none() -> None:
    text = "# A\n````py\n# no\n```\n# no\n`````\n~~~\n# no\n~~~\n#no\n   ## B ##\n    # no, code\n####### no\n#\n"
    assert [(level, title) for _, level, title in headings(text)] == [(1, "A"), (2, "B"), (1, "")]


def test_code_is_masked_in_place() -> None:
    text = "a `[[x]]` b ``[[y]] ` `` c\n```\n[[z]]\n```\n[[w]]"
    assert len(mask_code(text)) == len(text)
    assert [link.target for link in find_links(text)] == ["w"]


def test_links_are_found() -> None:
    text = (
        "[[A|label]] ![[B]] [[C#D#E]] [[F#^block]] [[G\\|in a table]] [h](<h h.md> 't') [i [x]](i_(j).md#k) "
        "![img](no.md) [web](https://x.org/a.md) [mail](mailto:a@b) [r] [s][R] [no][q]\n\n[r]: r.md 'title'\n"
    )
    assert sorted((link.target, link.anchor) for link in find_links(text)) == [
        ("A", ""),
        ("B", ""),
        ("C", "E"),
        ("F", ""),
        ("G", ""),
        ("h h.md", ""),
        ("i_(j).md", "k"),
        ("r.md", ""),
        ("r.md", ""),
    ]


def test_links_are_resolved() -> None:
    resolver = Resolver({"a.md": "T", "x/a.md": "U", "x/y/b.md": "V", "x/index.md": "W", "z/b c.txt": "X"})

    def wiki(target: str, source: str = "x/a.md") -> str | None:
        return resolver.resolve(Link(0, target, "", True), source)

    def relative(target: str, source: str = "x/a.md") -> str | None:
        return resolver.resolve(Link(0, target, "", False), source)

    assert wiki("A") == "a.md"  # the shortest path
    assert wiki("X/a") == "x/a.md"
    assert wiki("y/B.md") == "x/y/b.md"
    assert wiki("B C") == "z/b c.txt"
    assert wiki("v") == "x/y/b.md"  # its title
    assert wiki("../a") == "a.md"
    assert wiki("c") is None
    assert wiki("") == "x/a.md"
    assert relative("a.md") == "x/a.md"
    assert relative("../A.md") == "a.md"
    assert relative("y/b") == "x/y/b.md"
    assert relative("/x/") == "x/index.md"
    assert relative("b.md") is None
    assert slug("Hello, World: A_b-c!") == "hello-world-a_b-c"
