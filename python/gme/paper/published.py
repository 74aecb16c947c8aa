"""Numbers that others have published, to print beside ours. gme has measured none of them.

The source is "Graph-free Retrieval with Graph-Modified Embeddings" (GME, arXiv 2610.18410): text-embedding-3-small, 977
validation questions, 40 nodes per question, evidence recovery in percent.
"""

from __future__ import annotations

HARD_QUESTIONS: dict[tuple[str, str], float] = {
    ("plain", "original"): 51.0,
    ("split", "hop2"): 55.1,
    ("split", "walk"): 52.3,
    ("split", "louvain"): 50.7,
    ("split", "convex"): 48.6,
    ("split", "hop1"): 41.4,
    ("fused", "walk"): 56.0,
    ("fused", "hop2"): 55.6,
    ("fused", "louvain"): 55.4,
    ("fused", "hop1"): 54.5,
    ("fused", "convex"): 54.0,
    ("requery", "walk"): 58.6,
    ("requery", "hop2"): 58.1,
    ("requery", "hop1"): 57.5,
    ("requery", "convex"): 56.7,
    ("requery", "louvain"): 56.3,
    ("chained", "walk"): 60.8,
    ("chained", "hop2"): 59.2,
    ("chained", "hop1"): 59.1,
    ("chained", "convex"): 58.2,
    ("chained", "louvain"): 55.9,
}
"""(strategy, collection) -> recovery on the extremisation and the relational families together."""

ALL_QUESTIONS: dict[tuple[str, str], float] = {
    ("plain", "original"): 73.1,
    ("modified", "louvain"): 72.9,
    ("modified", "walk"): 71.9,
    ("modified", "convex"): 71.6,
    ("modified", "hop1"): 58.5,
    ("modified", "hop2"): 52.4,
}
"""(strategy, collection) -> recovery on all questions."""
