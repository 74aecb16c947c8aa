"""Gold evidence in the columns that TREC's tools read."""

from __future__ import annotations

from pathlib import Path

from ..evaluation.gold import collect_gold
from ..evaluation.runs import QRELS, encode
from ..reporting import SILENT
from ..storage.atomic import atomic_write
from ..workspace import Workspace


def write_qrels(workspace: Workspace) -> Path:
    """Write `runs/qrels.trec`, ``question 0 node grade`` a line: the evidence of each question that has any, sorted.

    The grade is 1 unless the question's `relevance` says more. Ids are encoded as in TREC runs. Documents and entities
    are no evidence.

    Example:
        >>> import gme
        >>> gme.write_qrels(gme.Workspace("corpus")).name
        'qrels.trec'
    """
    gold = collect_gold(workspace.questions, workspace.nodes)
    relative = f"runs/{QRELS}.trec"
    path = workspace.path(relative)
    with workspace.writing(relative, waiting=SILENT), atomic_write(path) as handle:
        for question, grades in zip(gold.ids, gold.grades, strict=True):
            for node, grade in sorted((workspace.nodes.ids[row], grade) for row, grade in grades.items()):
                handle.write(f"{encode(question)} 0 {encode(node)} {grade}\n".encode())
    return path
