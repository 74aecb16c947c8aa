"""One spelling for what looks the same: é may be one code point or two (Unicode's NFC and NFD)."""

from __future__ import annotations

import unicodedata


def nfc(text: str) -> str:
    """The text in NFC, in which most texts are: letters and their accents are one code point where there is one."""
    return text if text.isascii() or unicodedata.is_normalized("NFC", text) else unicodedata.normalize("NFC", text)
