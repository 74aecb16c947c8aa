"""Markdown: links, code, what a reader sees of it."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading import SAMPLES, workspace_lines

from conftest import Run
from gme.readers.links import Link, Targets, find_links, links_of, slug
from gme.readers.markdown import Page
from gme.readers.plain import PlainText
from watchdog import watchdog


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


LONG_LINE = 50_000
"""Characters: few seconds where the time grows with them, many hours where it grows with their square."""


def test_long_lines_of_marks_take_no_long_time() -> None:
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
        with watchdog():
            _plain(mark * (LONG_LINE // len(mark)))
    with watchdog():
        _plain("# a" + " " * LONG_LINE + "b")


def test_an_indented_heading_is_where_links_lead(tmp_path: Path, gme: Run) -> None:
    (tmp_path / "t.md").write_text("# T\none\n\n   ## Indented *Part*\ntwo\n")
    (tmp_path / "a.md").write_text("[x](t.md#indented-part)\n")
    for number, flags in enumerate(((), ("--no-headings", "--chunk-size", "2"))):
        assert gme("graph", "read", "text", tmp_path, *flags, "-w", tmp_path / f".{number}")[0] == 0
        edges = workspace_lines(tmp_path / f".{number}")[1]
        assert [(e["source"], e["target"]) for e in edges if e["type"] == "link"] == [("a.md#1", f"t.md#{2 + number}")]


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
