"""Wiki links and Markdown links: found in a text, and resolved among the documents of a folder."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from .chunking import mask_code

_WIKI = re.compile(r"\[\[([^\[\]|]*)(?:\|[^\[\]]*)?\]\]")
_INLINE = re.compile(
    r"(?<!!)\[(?:[^\[\]]|\[[^\[\]]*\])*\]"  # [label], a pair of brackets inside is allowed
    r"\(\s*(<[^<>\n]*>|[^\s()]*(?:\([^\s()]*\)[^\s()]*)*)(?:\s+[^)\n]{0,500})?\)"  # (address "title")
)
_DEFINITION = re.compile(r"^[ ]{0,3}\[([^\]\n]+)\]:[ \t]*(<[^<>\n]*>|\S+)", re.MULTILINE)
_REFERENCE = re.compile(r"(?<![!\]])\[([^\[\]\n]+)\](?:\[([^\[\]\n]*)\])?(?![\[(:])")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
EXTENSIONS = (".md", ".markdown", ".txt")


@dataclass(frozen=True)
class Link:
    """A link at character `offset` to `target` (empty: the document itself), with the heading after the #, if any."""

    offset: int
    target: str
    anchor: str
    wiki: bool


def find_links(text: str) -> Iterator[Link]:
    """The links of a text to other documents, in no particular order; web addresses, images and code left out."""
    text = mask_code(text)
    for match in _WIKI.finditer(text):
        # In tables the bar before the label is escaped: [[Note\\|label]].
        target, _, anchor = match[1].rstrip("\\").partition("#")
        # [[Note#Chapter#Section]] means the last; [[Note#^block]] marks a paragraph: the document will do.
        yield Link(match.start(), target.strip(), anchor.rpartition("#")[2].strip().partition("^")[0], True)
    for match in _INLINE.finditer(text):
        yield from _markdown(match.start(), match[1])
    definitions = {match[1].casefold(): match[2] for match in _DEFINITION.finditer(text)}
    for match in _REFERENCE.finditer(text) if definitions else ():
        label = (match[2] or match[1]).casefold()
        if label in definitions:
            yield from _markdown(match.start(), definitions[label])


def slug(heading: str) -> str:
    """A heading as it reads in an address (GitHub's rule): lower case, spaces as dashes, punctuation dropped."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def _markdown(offset: int, address: str) -> Iterator[Link]:
    address = address.strip("<>")
    if not address or _SCHEME.match(address):
        return
    target, _, anchor = address.partition("#")
    yield Link(offset, unquote(target.partition("?")[0]), unquote(anchor), False)


class Resolver:
    """Finds the document that a link means, among the paths (with / between folders) of all documents.

    Markdown links are paths relative to the linking document, or to the top folder when they begin with /. Wiki links
    are resolved as Obsidian does: whatever the case, by name alone wherever the document lies, the exact path first,
    then the shortest path; failing that, by title.

    Args:
        titles: path -> title of every document.
    """

    def __init__(self, titles: dict[str, str]) -> None:
        self._paths = set(titles)
        self._folded: dict[str, str] = {}
        self._names: dict[str, list[str]] = {}
        self._titles: dict[str, str] = {}
        for path in sorted(titles, key=lambda path: (path.count("/"), len(path), path)):
            self._folded.setdefault(path.casefold(), path)
            stem = posixpath.splitext(path)[0].casefold()
            self._names.setdefault(posixpath.basename(stem), []).append(path)
            self._titles.setdefault(titles[path].casefold(), path)

    def resolve(self, link: Link, source: str) -> str | None:
        """The path of the document, `source` itself for a link within it, None where there is none."""
        if not link.target:
            return source
        return self._wiki(link.target, source) if link.wiki else self._relative(link.target, source)

    def _relative(self, target: str, source: str) -> str | None:
        base = "" if target.startswith("/") else posixpath.dirname(source)
        path = posixpath.normpath(posixpath.join(base, target.lstrip("/")))
        return self._first(_variants("" if path == "." else path))

    def _wiki(self, target: str, source: str) -> str | None:
        if target.startswith(("./", "../")):
            return self._relative(target, source)
        exact = self._first(_variants(target.strip("/")))
        if exact is not None:
            return exact
        wanted = _stem(target).casefold().strip("/")
        for path in self._names.get(posixpath.basename(wanted), ()):
            stem = "/" + posixpath.splitext(path)[0].casefold()
            if stem.endswith("/" + wanted):
                return path
        return self._titles.get(target.casefold())

    def _first(self, candidates: Iterable[str]) -> str | None:
        listed = list(candidates)
        for candidate in listed:
            if candidate in self._paths:
                return candidate
        return next((self._folded[name.casefold()] for name in listed if name.casefold() in self._folded), None)


def is_document(target: str) -> bool:
    """Whether a link's target looks like a document, not like an image or an archive."""
    extension = posixpath.splitext(target)[1].lower()
    return extension in EXTENSIONS or not re.fullmatch(r"\.[a-z0-9]{1,5}", extension)


def _variants(path: str) -> Iterator[str]:
    """What a path may stand for: itself, without its ending, or the first page of a folder."""
    if path:
        yield path
    yield from (path + extension for extension in EXTENSIONS if path)
    yield from (posixpath.join(path, name) for name in ("index.md", "README.md"))


def _stem(target: str) -> str:
    stem, extension = posixpath.splitext(target)
    return stem if extension.lower() in EXTENSIONS else target
