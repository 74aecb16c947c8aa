"""What can be searched: `store` has the interface, `exact` compares every vector, `hnsw` asks a USearch index.

`candidates` has what approximate stores share: a store of another package is a subclass of its `CandidateStore`.
"""

from .candidates import CandidateStore
from .exact import ExactStore
from .hnsw import HnswStore, build_hnsw
from .store import NO_ROW, Rows, Store

__all__ = ["NO_ROW", "CandidateStore", "ExactStore", "HnswStore", "Rows", "Store", "build_hnsw"]
