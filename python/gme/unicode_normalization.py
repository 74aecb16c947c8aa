"""One form for texts that look the same. In Unicode, é is one code point (NFC) or two (NFD)."""

from __future__ import annotations

import unicodedata


def nfc(text: str) -> str:
    """The text in NFC, the usual form. There a letter with an accent is one code point if Unicode has one for it."""
    return text if text.isascii() or unicodedata.is_normalized("NFC", text) else unicodedata.normalize("NFC", text)
