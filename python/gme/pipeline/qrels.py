"""Writes the gold evidence in the format of TREC's tools."""

from __future__ import annotations

from pathlib import Path

from ..evaluation.gold import collect_gold
from ..evaluation.runs import QRELS, encode
from ..reporting import SILENT
from ..storage.atomic import atomic_write
from ..workspace import Workspace


def write_qrels(workspace: Workspace) -> Path:
    """Write the sorted evidence of each question that has any to `runs/qrels.trec`, one ``question 0 node grade`` a
    line.

    The grade is 1 unless the question's `relevance` gives another one. Ids are encoded as in TREC runs. Documents and
    entities are no evidence.

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
