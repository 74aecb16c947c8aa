"""Lexical search: BM25 over words and pairs of adjacent words, beside the searches over vectors.

Why an index of our own, and not a library: it is compared with three in ``benches/lexical_study.py``, docs/lexical.md.
"""

from .index import LexicalIndex

__all__ = ["LexicalIndex"]
