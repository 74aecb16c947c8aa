"""Folders of text and Markdown: chunks, links, front matter, encodings."""

from __future__ import annotations

import re
import time
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import Run
from gme.readers.chunking import chunks
from gme.readers.links import Link, Targets, find_links, links_of, slug
from gme.readers.markdown import Page
from gme.readers.plain import PlainText
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


def test_headings_in_code_are_none() -> None:
    text = "# A\n````py\n# no\n```\n# no\n`````\n~~~\n# no\n~~~\n#no\n   ## B ##\n    # no, code\n####### no\n#\n"
    assert [(heading.level, text[heading.title]) for heading in Page(text).headings] == [(1, "A"), (2, "B"), (1, "")]


def test_code_is_masked_in_place() -> None:
    text = "a `[[x]]` b ``[[y]] ` `` c\n```\n[[z]]\n```\n[[w]]"
    assert len(Page(text).masked) == len(text)
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


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("[r] [R]\n\n[r]: first.md\n[R]: second.md", ["first.md", "first.md"]),
        ("<!-- [[no]]\n\n[no](no.md)\n-->[[a]]\nb <!-- [[no]] --> [[c]] <!-- [[d]]", ["a", "c", "d"]),
        ("a\n\n    [[no]]\n\n\t[[no]]\n\nb\n    [[c]]\n# d\n    [[no]]", ["c"]),
        ("- a\n\n    [[b]]\n\n      [[c]]\n10. d\n\n    [[e]]\n\nout\n\n    [[no]]", ["b", "c", "e"]),
        ("a `b\n[[no]]` [[c]] ``d\n\n[[e]]``", ["c", "e"]),
        ("- a ` [[b]]\n- ` [[c]]\n\n| ` | [[d]] |\n|---|---|\n| ` | [[e]] |", ["b", "c", "d", "e"]),
        ("- ```\n  [[no]]\n\n  [[no]]\n  ```\n  [[a]]\n> ~~~\n> [[no]]\n>\n> [[no]]\n\n[[b]]", ["a", "b"]),
        ("1. a\n\n    ```\n    [[no]]\n\n    [[no]]\n    ```\n- ```\n  [[no]]\n\n[[b]]", ["b"]),
        ("``` a ``` b\n[[c]]", ["c"]),
        ("\\[t\\](no.md) \\[[[a]]\\] [b\\]](b\\).md) \\![c](c.md) [d\n\ne](no.md)", ["a", "b).md", "c.md"]),
        ("[a][no] [`b`] [![i](i.png)][`b`]\n\n[`b`]: b.md", ["b.md", "b.md"]),
        ("\u00a0\n\x0c\n>\n> [[a]]\r\n\r\n    [[no]]\r\n", ["a"]),
    ],
)
def test_what_is_a_link(text: str, targets: list[str]) -> None:
    assert sorted(link.target for link in find_links(text)) == targets


def test_plain_text_knows_no_indented_code_and_no_comments() -> None:
    page = Page("a\n\n    [[b]] <!-- [[c]] --> \\[[d]] `[[no]]`", markdown=False)
    assert [link.target for link in links_of(page)] == ["b", "c", "d"]


def test_links_are_resolved() -> None:
    titles = {"a.md": "T", "x/a.md": "U", "x/y/b.md": "V", "x/index.md": "W", "z/b c.txt": "Y", "z/a.md": "Y"}
    targets = Targets(list(titles), list(titles.values()))

    def wiki(target: str, source: str = "x/a.md") -> list[str]:
        return [list(titles)[row] for row in targets.resolve(Link(0, target, "", True), source)]

    def relative(target: str, source: str = "x/a.md") -> list[str]:
        return [list(titles)[row] for row in targets.resolve(Link(0, target, "", False), source)]

    assert wiki("A") == ["a.md"]  # the shortest path
    assert wiki("X/a") == ["x/a.md"]
    assert wiki("y/B.md") == ["x/y/b.md"]
    assert wiki("B C") == wiki("B_C") == wiki("b%20c") == ["z/b c.txt"]
    assert wiki("v") == ["x/y/b.md"]  # its title
    assert wiki("y") == ["z/b c.txt", "z/a.md"]  # the title of two
    assert wiki("../a") == ["a.md"]
    assert wiki("c") == wiki("") == []
    assert relative("a.md") == ["x/a.md"]
    assert relative("../A.md") == ["a.md"]
    assert relative("y/b") == ["x/y/b.md"]
    assert relative("/x/") == ["x/index.md"]
    assert relative("z/a.md") == ["z/a.md"]  # nothing is there from the folder x, but from the top
    assert relative("b.md") == ["x/y/b.md"]  # the only one of that name
    assert relative("a.md", "q/r.md") == ["a.md"]
    assert relative("q/gone.md") == relative("../../a.md") == []
    assert slug("Hello, World: A_b-c!") == "hello-world-a_b-c"
    ambiguous = Targets(["x/a.md", "y/a.md"], [None, None])
    assert ambiguous.resolve(Link(0, "a.md", "", False), "z/b.md") == []
    assert ambiguous.resolve(Link(0, "a", "", True), "z/b.md") == [0]


def _plain(markdown: str) -> str:
    return PlainText(Page(markdown)).slice(0, len(markdown))


# ---- plain text ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("# A ##\ntext\n\n  ## The [[Moon]] *now*\n#\n", "A\ntext\n\nThe Moon now"),
        (
            "[[Note]] [[a/b/Note.md]] [[Note#A#B]] [[#Here]] [[Note#^x]] [[Note|label]]",
            "Note Note Note > B Here Note label",
        ),
        ("|[[Note\\|in a table]]|", "|in a table|"),
        ("![[Note]] ![[a.png]]![[a.png|100]] ![alt](a.png 'x') [File: [x]](<a b.zip>)", "Note  alt File: [x]"),
        ("[![badge](b.svg)](https://x.org) [web](https://x.org/a_b_(c)) <https://x.org>", "badge web <https://x.org>"),
        (
            "see [one], [two][1] and [none] [^1]\n\n[ONE]: a.md\n[1]: <b c.md> 'b'\n[^1]: note",
            "see one, two and [none] [^1]\n\n[^1]: note",
        ),
        ("**a *b* c** ***d*** _e_ __f__ ~~g~~ **[[h]]**", "a b c d e f g h"),
        (
            "2 * 3 * 4, snake_case_name, \\*a\\*, https://x.org/_a_/ x_1 * y_2",
            "2 * 3 * 4, snake_case_name, *a*, https://x.org/_a_/ x_1 * y_2",
        ),
        ("`[[a]] **b**` **`c`**\n\n```\n# d *e*\n[f](g.md)\n```", "`[[a]] **b**` `c`\n\n```\n# d *e*\n[f](g.md)\n```"),
        ("a <!-- b\n[[c]] --> d <!-- e", "a  d <!-- e"),
        ("- one\n* two\n> three\n| a | b |", "- one\n* two\n> three\n| a | b |"),
        ("[Alice]: Hello all", "[Alice]: Hello all"),
        # A link definition does not interrupt a paragraph.
        (
            "# Chat\nWe met.\n[Ben]: Agreed\n[Anna]: Thursday\nOut.",
            "Chat\nWe met.\n[Ben]: Agreed\n[Anna]: Thursday\nOut.",
        ),
        ('One,\n[Warn]: never "forget this"\ntwo', 'One,\n[Warn]: never "forget this"\ntwo'),
        ("> a\n[b]: c\n\n- d\n[e]: f", "> a\n[b]: c\n\n- d\n[e]: f"),
        ("# A\n[a]: b.md\n***\n[c]: d.md\n  'e\\'f'\n[a\\]]: g.md\r\n[a], [ C ], [a\\]]", "A\n***\na,  C , a]"),
        ("[`a b`]: c.md\n[`d`]: e.md\n\n[`a\nb`] [`d`][]", "`a\nb` `d`"),
        ("[![i][j]][k] [k][k][k]\n\n[j]: j.png\n[k]: k.md", "i kk"),
        ('[a](x.md "T (1)") [b](<y z.md> (t)) ![c](d.png =10x20) [e](f "\\"g\\" (h)").', "a b c e."),
        ("[see](not a link) [a](b", "[see](not a link) [a](b"),
        ("\\[t\\](t.md) \\\\[u](u.md) \\`*v*\\` \\<!-- w -->", "[t](t.md) \\u `v` <!-- w -->"),
        ("`a\n*b*` *c*\n\n`d\n\n*e*`", "`a\n*b*` c\n\n`d\n\ne`"),
        ("a\n\n    *b*\n\n- c\n\n    *d*\n\ne\n    *f*", "a\n\n    *b*\n\n- c\n\n    d\n\ne\n    f"),
        ("<!--\n```\n# a\n-->\n# B\nc <!-- d\n\ne -->", "B\nc <!-- d\n\ne -->"),
        ("# [a]: b", "[a]: b"),
        ("# C#\n## F# ##\n### ###\nd", "C#\nF#\n\nd"),
    ],
)
def test_markdown_as_it_reads(markdown: str, text: str) -> None:
    assert _plain(markdown) == text


def test_plain_text_files_lose_the_links_only() -> None:
    text = "# a *b* [[C|c]] [d](e.md) [web](https://x.org) ![f](g.png)\n[h]: i"
    assert PlainText(Page(text, markdown=False)).slice(0, len(text)) == (
        "# a *b* c d [web](https://x.org) ![f](g.png)\n[h]: i"
    )


MARKS = st.lists(
    st.sampled_from(
        [
            *(
                "# ",
                "[[",
                "]]",
                "[",
                "]",
                "(",
                ")",
                "|",
                "!",
                "*",
                "**",
                "_",
                "`",
                "a",
                "b c",
                "\n",
                "\\",
                "]: ",
                "\n\n",
            ),
            *("    ", "\n- ", "\n> ", "```", "<!--", "-->", "\r", "\xa0", "\t", '"', "---"),
        ]
    ),
    max_size=40,
).map("".join)


@given(MARKS, st.data())
def test_slices_of_plain_text_make_the_whole(text: str, data: st.DataObject) -> None:
    plain = PlainText(Page(text))
    places = sorted({0, len(text), *data.draw(st.lists(st.integers(0, len(text)), max_size=4))})
    parts = "".join(plain.slice(start, end) for start, end in pairwise(places))
    assert re.sub(r"\s", "", parts) == re.sub(r"\s", "", plain.slice(0, len(text)))


def test_long_lines_of_marks_take_no_long_time() -> None:
    started = time.perf_counter()
    for mark in (
        "*",
        "**a ",
        "*a ",
        "_a ",
        "~~a ",
        "[",
        "[[",
        "![",
        "[a](",
        "<!--",
        "\\*",
        "`",
        "# ",
        "<!--\n",
        "` `` ",
    ):
        _plain(mark * (20_000 // len(mark)))
    _plain("# a" + " " * 20_000 + "b")
    assert time.perf_counter() - started < 20


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


def test_an_indented_heading_is_where_links_lead(tmp_path: Path, gme: Run) -> None:
    (tmp_path / "t.md").write_text("# T\none\n\n   ## Indented *Part*\ntwo\n")
    (tmp_path / "a.md").write_text("[x](t.md#indented-part)\n")
    for number, flags in enumerate(((), ("--no-headings", "--chunk-size", "2"))):
        assert gme("graph", "read", "text", tmp_path, *flags, "-w", tmp_path / f".{number}")[0] == 0
        edges = workspace_lines(tmp_path / f".{number}")[1]
        assert [(e["source"], e["target"]) for e in edges if e["type"] == "link"] == [("a.md#1", f"t.md#{2 + number}")]


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


def test_the_reader_and_the_builder_agree_on_links(tmp_path: Path, gme: Run) -> None:
    """Chunks with their markup, without the reader's links: the builder links the same documents."""
    vault = SAMPLES / "vault"
    assert gme("graph", "read", "text", vault, "-w", tmp_path / "a")[0] == 0
    assert gme("graph", "read", "text", vault, "--keep-markup", "--no-links", "-w", tmp_path / "b")[0] == 0
    code, _, err = gme("graph", "links", "-w", tmp_path / "b")
    assert code == 0
    assert "1 link leads to no id or title: 'Moon.md#2': 'nowhere'" in err

    def linked(folder: Path) -> set[tuple[str, str]]:
        ends = [(edge["source"], edge["target"]) for edge in workspace_lines(folder)[1] if edge["type"] == "link"]
        documents = {(source.partition("#")[0], target.partition("#")[0]) for source, target in ends}
        return {(source, target) for source, target in documents if source != target}

    assert linked(tmp_path / "a") == linked(tmp_path / "b")
    assert len(linked(tmp_path / "a")) == 8


def test_links_that_were_read_are_not_there_for_the_builder(tmp_path: Path, gme: Run) -> None:
    assert gme("graph", "read", "text", SAMPLES / "vault", "-w", tmp_path)[0] == 0
    code, out, err = gme("graph", "links", "-w", tmp_path)
    assert (code, out) == (0, "0 edges\n")
    assert "0 links in 14 texts" in err
    assert "gme graph read text makes edges of a folder's itself" in err
