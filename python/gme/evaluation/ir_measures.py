"""The measures of the ir-measures package. The package is optional and is imported only when it is needed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any

from ..errors import GmeError, shorten, unknown
from .gold import Gold
from .runs import Run

_EXAMPLE = "for example: nDCG@10, R@10, Success@1, AP, RR; all are listed at https://ir-measur.es"

NAMES = (
    *("AP", "AP_IA", "Accuracy", "BPM", "Bpref", "Compat", "ERR", "ERR_IA", "INSQ", "INST", "IPrec", "Judged", "MAP"),
    *("MAP_IA", "MRR", "NDCG", "NERR10", "NERR11", "NERR8", "NERR9", "NRBP", "NumQ", "NumRel", "NumRelRet", "NumRet"),
    *("P", "P_IA", "Precision", "R", "RBP", "RPrec", "RR", "Recall", "Rprec", "SDCG", "SetAP", "SetF", "SetP", "SetR"),
    *("SetRelP", "StRecall", "Success", "alpha_DCG", "alpha_nDCG", "infAP", "nDCG", "nERR_IA", "nNRBP"),
)
"""The names of the package's measures. They show, without the package, whether a name is mistyped."""


def read_measures(names: Sequence[str], own: Iterable[str] = (), listing: str = _EXAMPLE) -> list[Any]:
    """Measures from names such as ``nDCG@10``.

    Args:
        own: other names that a mistyped one may stand for.
        listing: the hint that says which measures there are.

    Raises:
        GmeError: no such measure (the hint suggests the closest), or wrong parameters.
        GmeError: the package is not installed.
    """
    if not names:
        return []
    package = _package()
    known = NAMES if package is None else tuple(package.measures.registry)
    for name in names:
        stem = re.split(r"[@(]", name, maxsplit=1)[0].strip()
        if stem not in known:
            raise unknown("measure", stem, [*own, *known], listing=listing)
    if package is None:
        raise GmeError("the measures need the ir-measures package", "install it: pip install ir-measures")
    measures = []
    for name in names:
        try:
            measures.append(package.parse_measure(name))
            str(measures[-1])  # looks its parameters up
        except KeyError as error:
            raise GmeError(f"measure {shorten(name)} has no parameter {error}", _EXAMPLE) from None
        except (ValueError, NameError, TypeError, AssertionError) as error:
            raise GmeError(f"measure {shorten(name)}: {_first_line(error)}", _EXAMPLE) from None
    return measures


def _package() -> Any:
    """The ir-measures package, or None if it is not installed."""
    try:
        return import_module("ir_measures")
    except ImportError:
        return None


def measure(run: Run, gold: Gold, measures: Sequence[Any]) -> dict[str, float]:
    """The mean of each measure over the questions with gold, by name. A question without results counts as 0.

    Graded measures use the grades of the gold. Binary measures count each gold node, whatever its grade.

    Raises:
        GmeError: a measure that needs another package or program.
    """
    if not measures:
        return {}
    import ir_measures

    # Some measures run programs that accept only numbers as question ids.
    qrels = [
        ir_measures.Qrel(str(line), str(row), grade)
        for line, grades in enumerate(gold.grades, start=1)
        for row, grade in grades.items()
    ]
    returned = [
        ir_measures.ScoredDoc(str(line), str(row), float(len(run.results[question]) - place))
        for line, question in enumerate(gold.ids, start=1)
        for place, row in enumerate(run.results[question])
    ]
    values = {}
    for wanted in measures:
        try:
            values[str(wanted)] = float(ir_measures.calc_aggregate([wanted], qrels, returned)[wanted])
        except Exception as error:  # measures call other packages and programs, each with errors of its own
            raise GmeError(f"measure {wanted} cannot be computed: {_first_line(error)}", _EXAMPLE) from error
    return values


def _first_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
