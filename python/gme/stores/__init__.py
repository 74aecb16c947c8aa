"""Stores search collections: `exact` compares every vector, `hnsw` asks a USearch index. `store` has the interface.

`candidates` has what approximate stores share. A store of another package subclasses its `CandidateStore`.
"""

from .candidates import CandidateStore
from .exact import ExactStore
from .hnsw import HnswStore, build_hnsw
from .store import NO_ROW, Rows, Store

__all__ = ["NO_ROW", "CandidateStore", "ExactStore", "HnswStore", "Rows", "Store", "build_hnsw"]
