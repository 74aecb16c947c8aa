"""One form for texts that look the same. In Unicode, é is one code point (NFC) or two (NFD)."""

from __future__ import annotations

import unicodedata


def nfc(text: str) -> str:
    """The text in NFC, the usual form. There a letter with an accent is one code point if Unicode has one for it."""
    return text if text.isascii() or unicodedata.is_normalized("NFC", text) else unicodedata.normalize("NFC", text)


def is_encodable(text: str) -> bool:
    """Whether a text is free of lone surrogates, halves of a character, as a terminal with another encoding makes."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
