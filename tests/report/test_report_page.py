"""The page of a report: nothing it shows can act, it asks for nothing from elsewhere, and everyone can use it."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_page import make, write_workspace

from conftest import REPOSITORY, Run, write_lines
from gme.report.figures import FIGURES
from gme.report.text import clean, escape, script_json
from gme.report.theme import DARK, LIGHT

HOSTILE = "</script><script>alert(1)</script><!-- \"'&<img src=x onerror=alert(2)> \u2028\u2029 ]]> $policy \x07"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    write_workspace(tmp_path)
    return tmp_path


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """Ids, titles, texts, types, questions, families, groups, stages and a run's name that try to be markup."""
    ids = [HOSTILE + str(i) for i in range(3)]
    write_lines(
        tmp_path / "nodes.jsonl", [{"id": i, "type": HOSTILE, "text": HOSTILE + "text", "title": HOSTILE} for i in ids]
    )
    write_lines(
        tmp_path / "questions.jsonl",
        [
            {"id": HOSTILE + str(i), "question": HOSTILE, "gold": [ids[i]], "family": HOSTILE + f[0], "group": HOSTILE}
            for i, f in enumerate(("ab", "cd"))
        ],
    )
    (tmp_path / "runs").mkdir()
    for name, order in (("plain", ids), ("<img src=x onerror=alert(3)> \"'&\u2028${x}\x01", ids[::-1])):
        results = [{"id": i, "score": 1, "stage": HOSTILE + str(n)} for n, i in enumerate(order)]
        write_lines(
            tmp_path / f"runs/{name}.jsonl",
            [{"question_id": HOSTILE + str(i), "results": results[: 1 + i]} for i in range(2)],
        )
        (tmp_path / f"runs/{name}.json").write_text(json.dumps({"strategy": HOSTILE, "collection": HOSTILE}))
    return tmp_path


def test_what_is_shown_never_becomes_markup(hostile: Path, gme: Run) -> None:
    page = make(gme, hostile)
    tags = [tag for tag, _ in page.elements]
    assert tags.count("script") == 2
    assert "img" not in tags
    handlers = [name for _, attributes in page.elements for name in attributes if name.startswith("on")]
    assert handlers == []
    assert page.data["questions"][0]["question"] == clean(HOSTILE)
    assert page.data["nodes"][0][2] == clean(HOSTILE)
    assert {row[0] for row in page.rows[1:]} == {"plain", "<img src=x onerror=alert(3)> \"'&\u2028${x}\ufffd"}
    for path in (hostile / "reports/figures").glob("*.svg"):
        assert {node.tag.split("}")[1] for node in ElementTree.parse(path).iter()} <= {
            *("svg", "title", "desc", "style", "rect", "line", "polyline", "circle", "text", "g")
        }


def test_the_policy_allows_this_style_and_this_script_and_nothing_else(workspace: Path, gme: Run) -> None:
    page = make(gme, workspace)
    policy = next(a["content"] for _, a in page.elements if a.get("http-equiv") == "Content-Security-Policy")

    def source(text: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    style, script = page.text("style"), [text for tag, text in page.texts if tag == "script"][-1]
    assert policy == (
        f"default-src 'none'; style-src {source(style)}; script-src {source(script)}; "
        "base-uri 'none'; form-action 'none'"
    )
    assert page.attribute("style") == []  # the policy would drop it
    assert all(href.startswith("#") for href in page.attribute("href"))
    assert page.attribute("src") == []
    assert not re.search(r"url\(|@import|https?:|//[a-z]", style)
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|fetch\(|https?:", script)


def test_accessible_names(workspace: Path, gme: Run) -> None:
    page = make(gme, workspace)
    ids = page.attribute("id")
    assert len(set(ids)) == len(ids)
    for attribute in ("aria-labelledby", "href"):
        for value in page.attribute(attribute):
            assert set(value.removeprefix("#").split()) <= set(ids)
    drawings = [attributes for tag, attributes in page.elements if tag == "svg"]
    assert len(drawings) == len(FIGURES)
    assert all(drawing["role"] == "img" and drawing["aria-labelledby"] for drawing in drawings)
    assert ("html", {"lang": "en"}) in page.elements
    script = (REPOSITORY / "python/gme/report/page.js").read_text(encoding="utf-8")
    assert set(re.findall(r'byId\("([a-z]+)"\)', script)) <= set(ids)


@given(st.text())
def test_json_in_a_script_element(text: str) -> None:
    written = script_json({"a": clean(text)})
    assert json.loads(written) == {"a": clean(text)}
    assert not set("<>&\u2028\u2029") & set(written)


@given(st.text(st.characters(codec="utf-8")))
def test_escaped_text_reads_back(text: str) -> None:
    root = ElementTree.fromstring(f'<a b="{escape(text)}">{escape(text)}</a>')
    assert (root.text or "") == clean(text).replace("\r\n", "\n").replace("\r", "\n")


def _luminance(color: str) -> float:
    channels = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


@pytest.mark.parametrize("colors", [LIGHT, DARK], ids=["light", "dark"])
def test_contrast(colors: dict[str, str]) -> None:
    """WCAG 2: 4.5 for text, which stages and changes are too, on both grounds."""
    assert set(colors) == set(LIGHT)
    for ground in ("paper", "panel"):
        for name in set(colors) - {"paper", "panel", "grid"}:
            lighter, darker = sorted((_luminance(colors[name]), _luminance(colors[ground])), reverse=True)
            assert (lighter + 0.05) / (darker + 0.05) >= 4.5, (name, ground)


def test_templates_escape_what_is_not_markup_and_miss_nothing() -> None:
    from jinja2 import UndefinedError
    from markupsafe import Markup

    from gme.report.page import _environment

    environment = _environment()
    hostile = "<script>\"'&\x00\ud800"
    assert environment.from_string("{{ it }}").render(it=hostile) == "&lt;script&gt;&quot;&#x27;&amp;\ufffd\ufffd"
    assert environment.from_string("{{ it }}").render(it=Markup("<b>")) == "<b>"
    with pytest.raises(UndefinedError):
        environment.from_string("{{ it.gone }}").render(it={})
    assert sorted(environment.list_templates()) == ["page.html.j2", "parts.html.j2"]
    for name in environment.list_templates():
        environment.get_template(name)


def test_commands_that_make_no_page_load_no_templates() -> None:
    code = "import sys, gme.cli, gme.report; print([name for name in sys.modules if name.startswith('jinja2')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
