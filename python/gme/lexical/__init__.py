"""Lexical search: BM25 over words and pairs of adjacent words, beside the searches over vectors.

The index is our own, ``rust/lexical.rs``. ``benches/lexical_study.py --part peers`` compares it with bm25s, whose
scores it shares; docs/research/lexical.md has the figures. What decided is not speed:

- Its bytes depend neither on threads nor on the order of texts, and ties go to the smaller id. bm25s leaves ties to
  `numpy.argpartition`. tantivy names its segments at random and numbers documents by the thread that took them.
- It is built in bounded memory and searched where it lies on the disk. bm25s takes all tokens as lists of Python.
- It takes two small crates (MIT or Apache-2.0) with a few tables of Unicode; tantivy takes more than a hundred.
"""

from .index import LexicalIndex

__all__ = ["LexicalIndex"]
