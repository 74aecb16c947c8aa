"""Wiki links and Markdown links: found in a text, and resolved among documents or any other nodes.

What is a link, and where it leads, is decided here for `gme graph read text` and `gme graph links` alike.
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
    r"\(\s*(<[^<>\n]*>|(?!<)[^\s()]*(?:\([^\s()]*\)[^\s()]*)*)"  # (address "title"), or a picture's =size
    r"(?:\s+(?:\"[^\"]{0,1000}\"|'[^']{0,1000}'|\([^()]{0,1000}\)|=\d*x\d*))?\s*\)"
)
_REFERENCE = re.compile(rf"(!?){_LABEL}(?:\[([^\[\]]*)\]|(?![\[(]))")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
EXTENSIONS = (".md", ".markdown", ".txt")


@dataclass(frozen=True)
class Link:
    """A link at character `offset` to `target` (empty: the document itself), with the heading after the #, if any."""

    offset: int
    target: str
    anchor: str
    wiki: bool


@dataclass(frozen=True)
class Cut:
    """Markup at characters `start` to `end`, in whose place a reader sees `shown`."""

    start: int
    end: int
    shown: str = ""


def find_links(text: str) -> Iterator[Link]:
    """The links of a Markdown text to other documents, in no particular order; not those to the web and to images."""
    return links_of(Page(text))


def links_of(page: Page) -> Iterator[Link]:
    """The same of one that is taken apart already."""
    return (link for link, _ in _found(page) if link is not None)


def link_markup(page: Page) -> Iterator[Cut]:
    """What of links is markup, in no particular order: without it only their labels are left.

    Of a wiki link without a label that is the note's name and the heading. In plain text web addresses and images stay.
    """
    for link, cuts in _found(page):
        if page.markdown or link is not None:
            yield from cuts


def slug(heading: str) -> str:
    """A heading as it reads in an address (GitHub's rule): lower case, spaces as dashes, punctuation dropped."""
    return re.sub(r"[^\w\- ]", "", nfc(heading).strip().lower()).replace(" ", "-")


def is_document(target: str) -> bool:
    """Whether a link's target looks like a document, not like an image or an archive."""
    extension = posixpath.splitext(target)[1].lower()
    return extension in EXTENSIONS or not re.fullmatch(r"\.[a-z0-9]{1,5}", extension)


def _found(page: Page) -> Iterator[tuple[Link | None, list[Cut]]]:
    """Every link, image and definition with its markup; None for what leads to no document."""
    definitions: dict[str, str] = {}
    for definition in page.definitions:
        definitions.setdefault(_label(definition.label), definition.address)
        yield None, [Cut(definition.start, definition.end)]
    for start, end in page.paragraphs:
        if page.masked.find("[", start, end) < 0:
            continue
        for match in _WIKI.finditer(page.masked, start, end):
            # In tables the bar before the label is escaped: [[Note\\|label]].
            target, _, anchor = page.text[slice(*match.span(1))].rstrip("\\").partition("#")
            # [[Note#Chapter#Section]] means the last; [[Note#^block]] marks a paragraph: the document will do.
            anchor = anchor.rpartition("#")[2].strip().partition("^")[0]
            target = target.strip()
            yield Link(match.start(), target, anchor, True), _wiki_markup(match, target, anchor)
        yield from _inline(page, start, end)
        if definitions:
            yield from _references(page, start, end, definitions)


def _inline(page: Page, start: int, end: int) -> Iterator[tuple[Link | None, list[Cut]]]:
    for match in _INLINE.finditer(page.masked, start, end):
        address = page.text[slice(*match.span(3))]
        yield None if match[1] else _markdown(match.start(), address), _around(match)
        yield from _inline(page, *match.span(2))  # an image as label


def _references(
    page: Page, start: int, end: int, definitions: dict[str, str]
) -> Iterator[tuple[Link | None, list[Cut]]]:
    for match in _REFERENCE.finditer(page.masked, start, end):
        address = definitions.get(_label(page.text[slice(*match.span(3 if match[3] else 2))]))
        if address is not None:
            yield None if match[1] else _markdown(match.start(), address), _around(match)
        yield from _references(page, *match.span(2), definitions)


def _label(label: str) -> str:
    return " ".join(nfc(label).split()).casefold()


def _around(match: re.Match[str]) -> list[Cut]:
    return [Cut(match.start(), match.start(2)), Cut(match.end(2), match.end())]


def _wiki_markup(match: re.Match[str], target: str, anchor: str) -> list[Cut]:
    if match[0].startswith("!") and not is_document(target):
        return [Cut(*match.span())]  # a picture; its label is its width
    if match[2]:
        return _around(match)
    shown = " > ".join(part for part in (_stem(posixpath.basename(target)), anchor) if part)
    return [Cut(*match.span(), shown)]


def _markdown(offset: int, address: str) -> Link | None:
    address = unescaped(address.strip("<>"))
    if not address or _SCHEME.match(address):
        return None
    target, _, anchor = address.partition("#")
    return Link(offset, unquote(target.partition("?")[0]), unquote(anchor), False)


class Targets:
    """Finds the nodes that a link means, by their ids, which may be paths with / between folders, and their titles.

    First by path: Markdown links are relative to the linking node's folder, or to the top when they begin with / or
    nothing is there; wiki links begin at the top, unless with ./ or ../. The ending may be left out, and a folder
    means its index.md or README.md. Then by name alone, wherever the node lies: of several, a wiki link means the one
    with the shortest path (as in Obsidian), and a Markdown link none. Then by title, which may be that of several. Each
    is tried as it is written, then whatever the case.

    Args:
        ids: of the nodes; their positions are what is found.
        titles: of the nodes, None where there is none.
        exact_case: do not look for other cases.
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
                if "/" in ids[row]:  # any other is found by its path
                    self._names[case].setdefault(fold(_stem(posixpath.basename(ids[row]))), []).append(row)
        for row, title in enumerate(titles):
            if title:
                title = nfc(title)
                for case, fold in enumerate(self._cases):
                    self._titles[case].setdefault(fold(title), []).append(row)

    def resolve(self, link: Link, source: str) -> list[int]:
        """The positions of the nodes a link means; none where nothing fits, or for a link within its own document.

        Args:
            link: tried as it is written, then URL-decoded and with underscores as spaces (MediaWiki).
            source: the id of the node that links.
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
    """What a path may stand for: itself, without its ending, or the first page of a folder."""
    if path:
        yield path
    yield from (path + extension for extension in EXTENSIONS if path)
    yield from (posixpath.join(path, name) for name in ("index.md", "README.md"))


def _stem(target: str) -> str:
    stem, extension = posixpath.splitext(target)
    return stem if extension.lower() in EXTENSIONS else target
