"""Inputs made to do harm: files that are nearly right, and a count of all that were tried."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from gme.errors import GmeError

TRIED: Counter[str] = Counter()
"""How many bad or random inputs each target was given; `pytest` prints it at the end of a run."""

_PIECES = [
    *(
        b"{",
        b"}",
        b"[",
        b"]",
        b'"',
        b":",
        b",",
        b"\\",
        b"\n",
        b"\r\n",
        b"\x00",
        b"\xff",
        b"\xed\xa0\x80",
        b"\xef\xbb\xbf",
    ),
    *(b"NaN", b"-Infinity", b"1e400", b"-1", b"0", b"1e999999999", b"9" * 30, b"9" * 5000, b"true", b"null", b'"x"'),
    *(b'"\\ud800"', b"\\u0000", b"[" * 2000, b'{"a":' * 2000, b"(" * 300, b"../../x", b"/etc/passwd", b"\x1b[2J"),
    *(b"<!ENTITY a 'a'>", b"&a;", b"]]>", b"<", b">", b"/>", b"---\n", b"&a [*a]", b"!!python/object:os.system", b"\t"),
]


@st.composite
def mutated(draw: st.DrawFn, content: bytes) -> bytes:
    """The content with up to four harms done to it, or now and then any bytes at all."""
    if draw(st.integers(0, 19)) == 0:
        return draw(st.binary(max_size=200))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(content)))
        end = min(len(content), start + draw(st.sampled_from([0, 0, 1, 2, 8, 40])))
        piece = draw(
            st.sampled_from(_PIECES)
            | st.binary(max_size=4)
            | st.just(content[start:end] * 2)
            | st.just(content[: draw(st.integers(0, 300))])
        )
        content = content[:start] + piece + content[end:]
        if draw(st.integers(0, 9)) == 0:
            content = content[: draw(st.integers(0, len(content)))]
    return content


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.sampled_from(["", "x", "../x", "/etc/passwd", "\x1b[2J", "\x00", "a" * 300, "nodes.jsonl", "gme embed"])
    | st.text(st.characters(codec="utf-8"), max_size=5)
)
ANYTHING = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
)


@st.composite
def misshapen(draw: st.DrawFn, value: Any) -> Any:
    """A JSON value with one of its parts, at any depth, replaced by anything, removed, or joined by another."""
    if isinstance(value, dict) and value and draw(st.integers(0, 5)):
        key = draw(st.sampled_from(sorted(value)))
        change = draw(st.integers(0, 5))
        if change == 0:
            return {name: part for name, part in value.items() if name != key}
        if change == 1:
            return {**value, draw(SCALARS.map(str)): value[key]}
        return {**value, key: draw(misshapen(value[key]))}
    if isinstance(value, list) and value and draw(st.integers(0, 3)):
        place = draw(st.integers(0, len(value) - 1))
        return [*value[:place], draw(misshapen(value[place])), *value[place + 1 :]]
    return draw(ANYTHING)


def written(value: Any) -> bytes:
    """JSON as a careless writer makes it: NaN and Infinity in it too."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


def refused_or_read(target: str, work: Callable[[], Any]) -> str:
    """Do the work; what it says where it refuses its input, "" where it does not. Nothing else may come out of it."""
    TRIED[target] += 1
    said = ""
    try:
        work()
    except GmeError as error:
        said = error.message
    assert len(said) < 3000, "a message does not repeat the whole input"
    return said
