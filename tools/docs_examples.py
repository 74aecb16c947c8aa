"""An extension of griffe, which reads docstrings for the site: a section ``Example:`` is code, as ``Examples:`` is."""

from __future__ import annotations

import re
from typing import Any

import griffe


class OneExample(griffe.Extension):  # type: ignore[misc,unused-ignore]
    """Griffe knows the plural only, and would show the prompts of a single example as text."""

    def on_object(self, *, obj: Any, **arguments: Any) -> None:
        """See `griffe.Extension.on_object`."""
        if obj.docstring is not None:
            obj.docstring.value = re.sub(r"^Example:$", "Examples:", obj.docstring.value, flags=re.MULTILINE)
