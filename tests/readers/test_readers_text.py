"""Folders of text and Markdown: chunks, front matter, encodings."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading import SAMPLES, workspace_lines

from conftest import Run
from gme.readers.chunking import chunks
from gme.readers.markdown import Page
from gme.workspace.records import read_edges, read_nodes


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
    texts = {node["id"]: node["text"] for node in nodes if node["type"] == "chunk"}
    assert texts == {
        "Moon.md#1": "The Moon. The moon orbits the Earth and was visited by Neil.\r\nAn image  and a page.",
        "Moon.md#2": (
            "The Moon > Tides. Tides are explained in Tides > Spring tides and nowhere.\r\n\r\n"
            "```\r\n[[earth]] in code is no link\r\n```"
        ),
        "Moon.md#3": "The Moon > Tides > Neap. Inline `[[Tides]]` neither, but ref and Tides are.",
        "Tides.md#1": "Tides. Tides are the rise and fall of the sea.",
        "Tides.md#2": "Tides > Spring tides. At full moon. See the moon and itself.",
        "Tides.md#3": "Tides > Neap tides. At half moon. See Neil A, The Moon and an archive.",
        "earth.txt#1": "earth. # not a heading in plain text\nThe earth has one Moon.",
        "people/neil a.md#1": "Neil > Early life. Born in Ohio.",
        "people/neil a.md#2": "Neil > Landing. He landed on the moon in 1969. back",
    }
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
    assert "1 document without text: a node without chunks" in err


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
    assert workspace_lines(tmp_path / "d")[0][1]["text"].startswith("The Moon\r\n\r\nThe moon orbits the Earth and")
    assert gme("graph", "read", "text", vault, "--keep-markup", "-w", tmp_path / "e")[0] == 0
    kept = workspace_lines(tmp_path / "e")[0][1]["text"]
    assert kept.startswith(
        "The Moon. # The Moon\r\n\r\nThe moon orbits the [[earth|Earth]] and was visited by [Neil](p"
    )


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


WORDS = re.compile(r"[漢字]|[^\s漢字]+")


@given(PIECES, st.integers(1, 12), st.booleans())
def test_chunks_without_overlap_lose_only_space(text: str, size: int, markdown: bool) -> None:
    headings = Page(text, markdown).headings
    cut = chunks(text, headings, size=size, overlap=0)
    assert re.sub(r"\s", "", "".join(text[c.start : c.end] for c in cut)) == re.sub(r"\s", "", text)
    assert all(first.end <= second.start for first, second in pairwise(cut))
    for chunk in cut:
        piece = text[chunk.start : chunk.end]
        assert piece == piece.strip()
        assert len(WORDS.findall(piece)) <= max(size, *(len(WORDS.findall(text[h.start : h.end])) for h in headings), 1)
    for heading in headings:  # none is torn
        assert any(chunk.start <= heading.start and heading.end <= chunk.end + 1 for chunk in cut)


@given(PIECES, st.integers(2, 12), st.data())
def test_overlap_repeats_words(text: str, size: int, data: st.DataObject) -> None:
    overlap = data.draw(st.integers(1, size - 1))
    cut = chunks(text, (), size=size, overlap=overlap)
    assert all(first.start < second.start and first.end < second.end for first, second in pairwise(cut))
    covered = "".join(
        text[max(c.start, before) : c.end] for c, before in zip(cut, [0, *(c.end for c in cut)], strict=False)
    )
    assert re.sub(r"\s", "", covered) == re.sub(r"\s", "", text)


def test_chunks_end_at_paragraphs_then_sentences() -> None:
    text = "One two three. Four five six seven.\n\nEight nine ten eleven twelve. Thirteen fourteen."
    cut = [text[c.start : c.end] for c in chunks(text, (), size=9, overlap=0)]
    assert cut == ["One two three. Four five six seven.", "Eight nine ten eleven twelve. Thirteen fourteen."]
    cut = [text[c.start : c.end] for c in chunks(text, (), size=5, overlap=0)]
    assert cut == ["One two three.", "Four five six seven.", "Eight nine ten eleven twelve.", "Thirteen fourteen."]


def test_the_title_and_the_headings_are_told_once(tmp_path: Path, gme: Run) -> None:
    (tmp_path / "a.md").write_text(
        "# The *Moon*\n## [[Tides]]\n\none two three\n\n## Other\n## Rocks\n\n![[a.png]]\n\n# Moon\nThe Moon\n"
    )
    assert gme("graph", "read", "text", tmp_path, "--no-links", "-w", tmp_path / "w")[0] == 0
    assert [(node["title"], node["text"]) for node in workspace_lines(tmp_path / "w")[0]] == [
        ("The Moon", "The Moon"),
        ("The Moon > Tides", "The Moon > Tides. one two three"),
        ("The Moon > Rocks", "The Moon > Rocks. Other\nRocks"),
        ("The Moon > Moon", "The Moon > Moon. The Moon"),
    ]
    assert gme("graph", "read", "text", tmp_path, "--no-headings", "--chunk-size", "8", "-w", tmp_path / "v")[0] == 0
    assert workspace_lines(tmp_path / "v")[0][1]["text"] == "The Moon. Tides\n\none two three"


def test_small_chunks_tear_no_heading(tmp_path: Path, gme: Run) -> None:
    (tmp_path / "a.md").write_text("one two. # three\n\n## Four *five*. Six ##\nseven eight nine\n")
    for overlap in "01":
        folder = tmp_path / f".{overlap}"
        options = ("--chunk-size", "2", "--overlap", overlap, "--keep-markup", "--bare-text", "--no-headings")
        assert gme("graph", "read", "text", tmp_path, *options, "-w", folder)[0] == 0
        texts = [node["text"] for node in workspace_lines(folder)[0][1:]]
        assert [text.endswith("## Four *five*. Six ##") for text in texts if re.search("Four|five|Six|##", text)] == [
            True
        ]
        assert texts[-1] == ("eight nine" if overlap == "1" else "nine")


def test_a_chunk_of_pictures_is_embedded_by_its_title(tmp_path: Path, gme: Run) -> None:
    (tmp_path / "a.md").write_text("# Rocks\n\n![[a.png]]\n")
    for flags in ((), ("--bare-text",)):
        assert gme("graph", "read", "text", tmp_path, *flags, "--force", "-w", tmp_path / "w")[0] == 0
        assert workspace_lines(tmp_path / "w")[0][1]["text"] == "Rocks"
