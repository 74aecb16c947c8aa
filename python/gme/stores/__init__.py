"""What can be searched: `store` has the interface, `exact` compares every vector, `hnsw` asks a USearch index."""

from .exact import ExactStore
from .hnsw import HnswStore, build_hnsw
from .store import NO_ROW, Rows, Store

__all__ = ["NO_ROW", "ExactStore", "HnswStore", "Rows", "Store", "build_hnsw"]
