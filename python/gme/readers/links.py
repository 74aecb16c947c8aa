"""Wiki links and Markdown links: finds them in a text, and resolves them among documents or any other nodes.

`gme graph read text` and `gme graph links` share these rules for what is a link and where it leads.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from ..unicode_normalization import nfc
from .markdown import Page, unescaped

_WIKI = re.compile(r"!?\[\[([^\[\]|]*)(?:\|([^\[\]]*))?\]\]")
_LABEL = r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]"  # pairs of brackets inside are allowed
_INLINE = re.compile(
    rf"(!?){_LABEL}"
    r"\(\s*(<[^<>\n]*>|(?!<)[^\s()]*(?:\([^\s()]*\)[^\s()]*)*)"  # the address, then a title, or an image's =size
    r"(?:\s+(?:\"[^\"]{0,1000}\"|'[^']{0,1000}'|\([^()]{0,1000}\)|=\d*x\d*))?\s*\)"
)
_REFERENCE = re.compile(rf"(!?){_LABEL}(?:\[([^\[\]]*)\]|(?![\[(]))")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
EXTENSIONS = (".md", ".markdown", ".txt")


@dataclass(frozen=True)
class Link:
    """A link at character `offset` to `target` (empty: the same document), with the heading after the #, if any."""

    offset: int
    target: str
    anchor: str
    wiki: bool


@dataclass(frozen=True)
class Replacement:
    """Markup at characters `start` to `end`. A reader sees `shown` in its place."""

    start: int
    end: int
    shown: str = ""


def find_links(text: str) -> Iterator[Link]:
    """The links of a Markdown text to other documents, in no particular order, without those to the web and images."""
    return links_of(Page(text))


def links_of(page: Page) -> Iterator[Link]:
    """Like `find_links`, for a text that is already parsed."""
    return (link for link, _ in _found(page) if link is not None)


def link_markup(page: Page) -> Iterator[Replacement]:
    """The markup of links, in no particular order. Without it only the labels are left.

    Of a wiki link without a label, the note's name and the heading are left. In plain text, web addresses and images
    stay.
    """
    for link, replacements in _found(page):
        if page.markdown or link is not None:
            yield from replacements


def slug(heading: str) -> str:
    """A heading as it is written in an address (GitHub's rule): lower case, dashes for spaces, no punctuation."""
    return re.sub(r"[^\w\- ]", "", nfc(heading).strip().lower()).replace(" ", "-")


def is_document(target: str) -> bool:
    """Whether a link's target looks like a document and not like an image or an archive."""
    extension = posixpath.splitext(target)[1].lower()
    return extension in EXTENSIONS or not re.fullmatch(r"\.[a-z0-9]{1,5}", extension)


def _found(page: Page) -> Iterator[tuple[Link | None, list[Replacement]]]:
    """Every link, image and definition with its markup. The link is None for what leads to no document."""
    definitions: dict[str, str] = {}
    for definition in page.definitions:
        definitions.setdefault(_label(definition.label), definition.address)
        yield None, [Replacement(definition.start, definition.end)]
    for start, end in page.paragraphs:
        if page.masked.find("[", start, end) < 0:
            continue
        for match in _WIKI.finditer(page.masked, start, end):
            # In a table the bar before the label is escaped: [[Note\\|label]].
            target, _, anchor = page.text[slice(*match.span(1))].rstrip("\\").partition("#")
            # [[Note#Chapter#Section]] means the last heading. [[Note#^block]] means a paragraph; its document will do.
            anchor = anchor.rpartition("#")[2].strip().partition("^")[0]
            target = target.strip()
            yield Link(match.start(), target, anchor, True), _wiki_markup(match, target, anchor)
        yield from _inline(page, start, end)
        if definitions:
            yield from _references(page, start, end, definitions)


def _inline(page: Page, start: int, end: int) -> Iterator[tuple[Link | None, list[Replacement]]]:
    for match in _INLINE.finditer(page.masked, start, end):
        address = page.text[slice(*match.span(3))]
        yield None if match[1] else _markdown(match.start(), address), _delimiters(match)
        yield from _inline(page, *match.span(2))  # the label may be an image


def _references(
    page: Page, start: int, end: int, definitions: dict[str, str]
) -> Iterator[tuple[Link | None, list[Replacement]]]:
    for match in _REFERENCE.finditer(page.masked, start, end):
        address = definitions.get(_label(page.text[slice(*match.span(3 if match[3] else 2))]))
        if address is not None:
            yield None if match[1] else _markdown(match.start(), address), _delimiters(match)
        yield from _references(page, *match.span(2), definitions)


def _label(label: str) -> str:
    return " ".join(nfc(label).split()).casefold()


def _delimiters(match: re.Match[str]) -> list[Replacement]:
    return [Replacement(match.start(), match.start(2)), Replacement(match.end(2), match.end())]


def _wiki_markup(match: re.Match[str], target: str, anchor: str) -> list[Replacement]:
    if match[0].startswith("!") and not is_document(target):
        return [Replacement(*match.span())]  # an image; its label is its width
    if match[2]:
        return _delimiters(match)
    shown = " > ".join(part for part in (_stem(posixpath.basename(target)), anchor) if part)
    return [Replacement(*match.span(), shown)]


def _markdown(offset: int, address: str) -> Link | None:
    address = unescaped(address.strip("<>"))
    if not address or _SCHEME.match(address):
        return None
    target, _, anchor = address.partition("#")
    return Link(offset, unquote(target.partition("?")[0]), unquote(anchor), False)


class Targets:
    """Finds the nodes that a link means, by their ids and titles. An id may be a path with / between folders.

    Three ways are tried in this order:

    - By path. A Markdown link is relative to the folder of the linking node. If it begins with / or leads nowhere, it
      is relative to the top. A wiki link is relative to the top, unless it begins with ./ or ../. The ending may be
      left out, and a folder means its index.md or README.md.
    - By name, in any folder. Of several nodes a wiki link means the one with the shortest path (as in Obsidian), and a
      Markdown link means none.
    - By title. Several nodes may share one.

    Each way is tried with the exact case first, then without regard to case.

    Args:
        ids: the nodes' ids. The results are positions in this list.
        titles: the nodes' titles; None for a node without one.
        exact_case: match only the exact case.
    """

    def __init__(self, ids: Sequence[str], titles: Sequence[str | None], exact_case: bool = False) -> None:
        self._ids = ids = [nfc(node_id) for node_id in ids]
        self._known: dict[tuple[str, bool, str], list[int]] = {}
        self._cases = (_same,) if exact_case else (_same, str.casefold)
        self._paths: list[dict[str, int]] = [{} for _ in self._cases]
        self._names: list[dict[str, list[int]]] = [{} for _ in self._cases]
        self._titles: list[dict[str, list[int]]] = [{} for _ in self._cases]
        for row in sorted(range(len(ids)), key=lambda row: (ids[row].count("/"), len(ids[row]), ids[row])):
            for case, fold in enumerate(self._cases):
                self._paths[case].setdefault(fold(ids[row]), row)
                if "/" in ids[row]:  # all other ids are found by path
                    self._names[case].setdefault(fold(_stem(posixpath.basename(ids[row]))), []).append(row)
        for row, title in enumerate(titles):
            if title:
                title = nfc(title)
                for case, fold in enumerate(self._cases):
                    self._titles[case].setdefault(fold(title), []).append(row)

    def resolve(self, link: Link, source: str) -> list[int]:
        """The positions of the nodes that a link means. Empty if nothing fits or if the link stays in its own document.

        Args:
            link: tried as it is written, then URL-decoded, then with underscores as spaces (MediaWiki).
            source: the id of the linking node.
        """
        folder = posixpath.dirname(source)
        key = (link.target, link.wiki, folder)
        if key not in self._known:
            self._known[key] = self._resolve(link, folder)
        return self._known[key]

    def _resolve(self, link: Link, folder: str) -> list[int]:
        folder = nfc(folder)
        written = (nfc(link.target), nfc(unquote(link.target)))
        forms = dict.fromkeys(form for target in written for form in (target, target.replace("_", " ")) if form)
        for find in (self._by_path, self._by_name, self._by_title):
            for case in range(len(self._cases)):
                for form in forms:
                    rows = find(form, link.wiki, folder, case)
                    if rows:
                        return rows
        return []

    def _by_path(self, form: str, wiki: bool, folder: str, case: int) -> list[int]:
        begin = "" if form.startswith("/") else folder
        relative = posixpath.normpath(posixpath.join(begin, form.lstrip("/")))
        top = [form, form.strip("/")]
        places = top if wiki and not form.startswith(("./", "../")) else [relative, *top]
        for place in places:
            for path in _variants("" if place == "." else place):
                row = self._paths[case].get(self._cases[case](path))
                if row is not None:
                    return [row]
        return []

    def _by_name(self, form: str, wiki: bool, folder: str, case: int) -> list[int]:
        fold = self._cases[case]
        wanted = fold(_stem(form).strip("/"))
        named = self._names[case].get(posixpath.basename(wanted), ())
        rows = [row for row in named if fold(f"/{_stem(self._ids[row])}").endswith(f"/{wanted}")]
        return rows[:1] if wiki or len(rows) == 1 else []

    def _by_title(self, form: str, wiki: bool, folder: str, case: int) -> list[int]:
        titles = [form] if wiki else [form, posixpath.splitext(posixpath.basename(form))[0]]
        return next((rows for title in titles if (rows := self._titles[case].get(self._cases[case](title)))), [])


def _same(text: str) -> str:
    return text


def _variants(path: str) -> Iterator[str]:
    """The files that a path may mean: itself, itself with an ending, or the first page of a folder."""
    if path:
        yield path
    yield from (path + extension for extension in EXTENSIONS if path)
    yield from (posixpath.join(path, name) for name in ("index.md", "README.md"))


def _stem(target: str) -> str:
    stem, extension = posixpath.splitext(target)
    return stem if extension.lower() in EXTENSIONS else target
