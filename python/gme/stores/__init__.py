"""What can be searched: `store` has the interface, `exact` compares every vector, `hnsw` asks a USearch index."""
