"""A report's page taken apart, and the workspace that the tests of reports look at."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from conftest import Run, write_lines

_VOID = {"meta", "input"}
_GROUPS = ["single-fact", "extremisation", "relational"]


def write_runs(folder: Path, **runs: list[list[str]]) -> None:
    """Runs that return the listed nodes for q0, q1, …: the first two by stage ``near``, the others by ``far``."""
    (folder / "runs").mkdir(exist_ok=True)
    for name, results in runs.items():
        records = [
            {
                "question_id": f"q{number}",
                "results": [
                    {"id": node, "score": 0.9 - place / 10, "stage": "near" if place < 2 else "far"}
                    for place, node in enumerate(nodes)
                ],
            }
            for number, nodes in enumerate(results)
        ]
        write_lines(folder / f"runs/{name}.jsonl", records)


def write_workspace(folder: Path) -> None:
    """Eight passages, six questions of three groups, and two runs, with a hand-made latency for one."""
    write_lines(
        folder / "nodes.jsonl",
        [{"id": f"n{i}", "type": "chunk", "text": f"Text of {i}. " * 40, "title": f"Title {i}"} for i in range(8)],
    )
    write_lines(
        folder / "questions.jsonl",
        [
            {
                "id": f"q{i}",
                "question": f"Question {i}?",
                "gold": [f"n{i}", f"n{i + 1}"],
                "family": f"family{i // 2}",
                "group": _GROUPS[i // 2],
                "hops": 1 + i % 2,
            }
            for i in range(6)
        ],
    )
    plain = [["n0", "n1", "n7"], ["n1", "n5", "n7"], ["n6", "n2"], ["n0", "n1", "n2"], ["n4", "n7", "n5"], []]
    other = [["n7", "n1", "n0"], ["n5", "n1", "n2"], ["n2", "n3"], ["n0", "n4", "n3"], ["n4", "n7", "n1"], ["n6", "n5"]]
    write_runs(folder, plain=plain, other=other)
    for name, milliseconds in (("plain", 1.5), ("other", 2.5)):
        manifest = {"strategy": name, "collection": "walk", "search_calls": 1, "options": {"budget": 5}}
        manifest["latency_milliseconds"] = {"p50": milliseconds}
        (folder / f"runs/{name}.json").write_text(json.dumps(manifest))


class Page(HTMLParser):
    """The page as elements with their text; fails on elements that are not closed in order."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.rows: list[list[str]] = []
        self._open: list[str] = []
        self.feed(source)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag not in _VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append((self._open[-1] if self._open else "", data))
        if {"td", "th"} & set(self._open):
            self.rows[-1][-1] += data

    def attribute(self, name: str) -> list[str]:
        return [value for _, attributes in self.elements if (value := attributes.get(name)) is not None]

    def text(self, tag: str) -> str:
        return "".join(text for within, text in self.texts if within == tag)

    @property
    def data(self) -> dict[str, Any]:
        blocks = [text for tag, text in self.texts if tag == "script"]
        loaded: dict[str, Any] = json.loads(blocks[0])
        return loaded


def make(gme: Run, workspace: Path, *arguments: object) -> Page:
    code, out, err = gme("report", "-w", workspace, *arguments)
    assert code == 0, err
    return Page(Path(out.splitlines()[0]).read_text(encoding="utf-8"))
