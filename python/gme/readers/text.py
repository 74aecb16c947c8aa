"""Folders of text and Markdown files: reads documents, their chunks, and the links between them."""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from ..errors import GmeError
from ..formatting import counted
from ..options import Options, option
from ..storage.files import read_whole
from ..storage.yaml import load_yaml
from ..version import install_hint
from .chunking import Chunk, chunks
from .entities import PART_OF
from .links import EXTENSIONS, Link, Targets, is_document, links_of, slug
from .markdown import Page
from .plain import PlainText
from .protocol import ReadContext, Record, Where, titled
from .tables import not_utf8

_FRONT = re.compile(r"---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class TextOptions(Options):
    """Options of `text`."""

    chunk_size: int = option(200, "most words a chunk", low=1)
    overlap: int = option(0, "words a chunk repeats of the one before it in its section", low=0)
    no_headings: bool = option(False, "cut by length only, not at Markdown headings")
    no_links: bool = option(False, "no edges from wiki links and Markdown links")
    strict: bool = option(False, "stop at front matter that is not valid YAML and at links that lead nowhere")
    bare_text: bool = option(False, "do not start each chunk with its document's title")
    keep_markup: bool = option(False, "leave chunks as they stand in the file, with the marks of headings and links")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.overlap >= self.chunk_size:
            raise GmeError(
                f"--overlap is {self.overlap}, but must be below --chunk-size, which is {self.chunk_size}",
                "a tenth of the chunk size is usual",
            )


@dataclass
class _Document:
    """What is needed of a document for links: the chunk of each heading slug, and the chunk and line of each link."""

    title: str
    anchors: dict[str, int] = field(default_factory=dict)
    links: list[tuple[int, int, Link]] = field(default_factory=list)


def read_text(paths: list[Path], options: TextOptions, context: ReadContext) -> Iterator[Record]:
    """Yield nodes and edges. A document's id is its `path`, and its chunks are `path#1`, `path#2` …. Paths are relative
    to the given folder.

    The edges are `part_of` from chunk to document, and `link` from the linking chunk to the linked document. If the
    link names a heading, the edge leads to the chunk under that heading.
    """
    files = _files(paths)
    if not files:
        raise GmeError(f"no text files under {', '.join(map(str, paths))}", f"looked for {', '.join(EXTENSIONS)}")
    context.expect(list(files.values()))
    documents: dict[str, _Document] = {}
    empty = 0
    for name, path in files.items():
        text = _decoded(path)
        context.advance(path.stat().st_size)
        document, nodes = _nodes(name, path, text, options, context)
        documents[name] = document
        empty += len(nodes) == 1
        for node, line in nodes:
            yield Record("nodes", node, Where(path, line))
        for node, line in nodes[1:]:
            yield Record("edges", {"source": node["id"], "target": name, "type": PART_OF}, Where(path, line))
    if empty:
        context.notes.append(
            f"{counted(empty, 'document')} without text: {'a node' if empty == 1 else 'nodes'} without chunks"
        )
    if not options.no_links:
        yield from _link_edges(documents, files, context)


def _files(paths: list[Path]) -> dict[str, Path]:
    """Document id -> file, sorted by id. Hidden files and folders are left out. Symbolic links are not followed."""
    found: dict[str, Path] = {}
    for top in paths:
        listed = [top] if top.is_file() else list(_walk(top))
        for path in listed:
            name = path.name if path == top else path.relative_to(top).as_posix()
            if len(paths) > 1 and path != top:
                name = f"{top.resolve().name}/{name}"
            if name in found:
                raise GmeError(f"{found[name]} and {path} would both be {name!r}", "read them from their common folder")
            found[name] = path
    return dict(sorted(found.items()))


def _walk(top: Path) -> Iterator[Path]:
    for folder, below, names in os.walk(top):
        below[:] = sorted(name for name in below if not name.startswith("."))
        found = (Path(folder, name) for name in names if name.lower().endswith(EXTENSIONS) and not name.startswith("."))
        # A link may lead to any file on the machine, and reading from a pipe may never end.
        yield from (path for path in found if path.is_file() and not path.is_symlink())


def _decoded(path: Path) -> str:
    """The text as it is, with its line breaks. Only a byte order mark at the beginning is dropped."""
    try:
        return read_whole(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise not_utf8(path) from error


def _nodes(
    name: str, path: Path, text: str, options: TextOptions, context: ReadContext
) -> tuple[_Document, list[tuple[dict[str, Any], int]]]:
    """The document's node and the nodes of its chunks, each with its line."""
    markdown = path.suffix.lower() != ".txt"
    metadata, begin = _front_matter(path, text, options, context) if markdown else ({}, 0)
    body = text[begin:]
    page = Page(body, markdown)
    plain = PlainText(page)
    title = _title(path, page, plain, metadata)
    document = _Document(title)
    node: dict[str, Any] = {"id": name, "type": "document", "title": title, "text": title, "source": name}
    if metadata:
        node["metadata"] = metadata
    nodes = [(node, 1)]
    cut = chunks(
        body, page.headings, size=options.chunk_size, overlap=options.overlap, sections=not options.no_headings
    )
    text_of = _texts(page, plain, title, options)
    line, counted = text.count("\n", 0, begin) + 1, 0
    for number, chunk in enumerate(cut, start=1):
        line, counted = line + body.count("\n", counted, chunk.start), chunk.start
        above = [shown for heading in chunk.headings if (shown := plain.title(heading))]
        nodes.append((_chunk(f"{name}#{number}", name, title, above, line, partial(text_of, chunk)), line))
    starts = [chunk.start for chunk in cut]
    for heading in page.headings:
        document.anchors.setdefault(slug(plain.title(heading)), max(bisect_right(starts, heading.start), 1))
    breaks = [match.start() for match in re.finditer("\n", text)]
    for link in links_of(page) if cut else ():
        at = bisect_right(breaks, begin + link.offset) + 1
        document.links.append((max(bisect_right(starts, link.offset), 1), at, link))
    return document, nodes


def _chunk(
    chunk_id: str, name: str, title: str, above: list[str], line: int, text_of: Callable[[str, list[str]], str]
) -> dict[str, Any]:
    """A chunk's node. Its title includes its headings, because mentions of the bare title mean the document."""
    full = " > ".join([title, *(above[1:] if above[:1] == [title] else above)])
    text = text_of(full, above)
    node = {"id": chunk_id, "type": "chunk", "title": full, "text": text, "source": name, "line": line}
    return {**node, "headings": above} if above else node


def _texts(page: Page, plain: PlainText, title: str, options: TextOptions) -> Callable[[Chunk, str, list[str]], str]:
    """A function that makes a chunk's text from the chunk, its full title and its headings.

    Title and headings occur once: in front or, with --bare-text, at their place in the document.
    """
    if options.keep_markup:
        return lambda chunk, full, above: titled(full, page.text[chunk.start : chunk.end], options.bare_text)
    ends = [heading.end for heading in page.headings]

    def below(chunk: Chunk, told: set[str]) -> int:
        """Where the text begins after the headings that its title already contains."""
        start = chunk.start
        for number in range(bisect_right(ends, start), len(ends)):
            heading = page.headings[number]
            between = page.text[start : heading.start].strip()
            if between or heading.start < start or plain.title(heading) not in told:
                break
            start = min(heading.end, chunk.end)
        return start

    def text_of(chunk: Chunk, full: str, above: list[str]) -> str:
        start = chunk.start if options.bare_text else below(chunk, {title, *above, ""})
        # If a chunk is all markup, such as an image, only the title is left.
        text = plain.slice(start, chunk.end)
        return titled(full, text, options.bare_text) if text else full

    return text_of


def _title(path: Path, page: Page, plain: PlainText, metadata: dict[str, Any]) -> str:
    """The title: from the front matter, else the heading at the document's beginning, else the file's name."""
    given = metadata.get("title")
    if isinstance(given, str) and given.strip():
        return given.strip()
    begins = bool(page.headings) and not page.text[: page.headings[0].start].strip()
    heading = plain.title(page.headings[0]) if begins else ""
    return heading or path.stem


def _front_matter(path: Path, text: str, options: TextOptions, context: ReadContext) -> tuple[dict[str, Any], int]:
    """The YAML between --- lines at the top, and where the text after it begins. Only a mapping counts as such."""
    match = _FRONT.match(text)
    if match is None:
        return {}, 0
    try:
        import yaml
    except ImportError as error:
        raise GmeError(f"{path}:1: reading front matter needs PyYAML", install_hint("readers")) from error
    try:
        value, _ = load_yaml(match[1])
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 2 if mark is not None else 1
        problem = getattr(error, "problem", None) or str(error).partition("\n")[0]
        context.add_warning(
            "documents whose front matter is not valid YAML",
            f"{path}:{line}: {problem}",
            "it is kept as text in metadata.front_matter; --strict makes it an error",
        )
        return {"front_matter": match[1]}, match.end()
    if value is None:
        return {}, match.end()
    return (value, match.end()) if isinstance(value, dict) else ({}, 0)


def _link_edges(documents: dict[str, _Document], files: dict[str, Path], context: ReadContext) -> Iterator[Record]:
    """Yield one edge for each pair of chunk and target, however often the chunk links there."""
    names = list(documents)
    targets = Targets(names, [document.title for document in documents.values()])
    hint = "they make no edge; --strict makes it an error"
    whole = "they lead to the document as a whole; --strict makes it an error"
    for name, document in documents.items():
        seen: set[tuple[str, str]] = set()
        for chunk, line, link in sorted(document.links, key=lambda entry: entry[2].offset):
            where = Where(files[name], line)
            source = f"{name}#{chunk}"
            found = [name] if not link.target else [names[row] for row in targets.resolve(link, name)]
            if not found and is_document(link.target):
                context.add_warning("links that lead to no document", f"{where}: {link.target}", hint)
            for target in found:
                end = documents[target].anchors.get(slug(link.anchor)) if link.anchor else None
                if link.anchor and end is None:
                    context.add_warning(
                        "links to headings that are not there", f"{where}: {link.target}#{link.anchor}", whole
                    )
                # A link to its own document adds nothing unless it names a heading there.
                if end is None and target == name:
                    continue
                reached = target if end is None else f"{target}#{end}"
                if reached != source and (source, reached) not in seen:
                    seen.add((source, reached))
                    yield Record("edges", {"source": source, "target": reached, "type": "link"}, where)
