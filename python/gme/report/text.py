"""Text as markup. Everything that a page or a figure shows goes through this module."""

from __future__ import annotations

import html
import re
from typing import Any

import orjson

# XML cannot contain these characters, and a page shows none of them. Surrogates come from file names that are not
# UTF-8.
_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_IN_SCRIPTS = {ord(mark): f"\\u{ord(mark):04x}" for mark in "<>&\u2028\u2029"}


def clean(text: str) -> str:
    """The text, with a replacement character for each character that XML cannot contain."""
    return _UNWRITABLE.sub("\ufffd", text)


def escape(text: str) -> str:
    """Text for the content and the quoted attributes of HTML and SVG."""
    return html.escape(clean(text), quote=True)


def script_json(value: Any) -> str:
    """JSON that is safe inside a script element: nothing in it can end the element or a line of JavaScript."""
    return orjson.dumps(value).decode().translate(_IN_SCRIPTS)


def shortened(text: str, limit: int) -> str:
    """The text with single spaces, cut to `limit` characters with an ellipsis at the end."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
