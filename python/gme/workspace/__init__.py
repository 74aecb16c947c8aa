"""A workspace is the folder that commands read and write: its records, its manifests, and the check for staleness."""

from .layout import BUILDERS, EDGES, NODES, ORIGINAL, PARTS, QUESTION_VECTORS, QUESTIONS, WRITERS
from .workspace import Collection, Workspace, check_name, exclusive_lock, shared_lock

__all__ = [
    "BUILDERS",
    "EDGES",
    "NODES",
    "ORIGINAL",
    "PARTS",
    "QUESTIONS",
    "QUESTION_VECTORS",
    "WRITERS",
    "Collection",
    "Workspace",
    "check_name",
    "exclusive_lock",
    "shared_lock",
]
