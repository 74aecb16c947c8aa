"""Any measure of the ir-measures package over a run; the package is optional and imported when it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .errors import GmeError, shorten
from .gold import Gold
from .runs import Run

_EXAMPLE = "for example: nDCG@10, R@10, Success@1, AP, RR; all are listed at https://ir-measur.es"


def read_measures(names: Sequence[str]) -> list[Any]:
    """Measures from names such as ``nDCG@10``.

    Raises:
        GmeError: the package is not installed, or knows no such measure.
    """
    if not names:
        return []
    try:
        import ir_measures
    except ImportError:
        raise GmeError("the measures need the ir-measures package", "install it: pip install ir-measures") from None
    measures = []
    for name in names:
        try:
            measures.append(ir_measures.parse_measure(name))
        except (ValueError, NameError, TypeError, AssertionError) as error:
            raise GmeError(f"measure {shorten(name)}: {_first_line(error)}", _EXAMPLE) from None
    return measures


def measure(run: Run, gold: Gold, measures: Sequence[Any]) -> dict[str, float]:
    """The mean of each measure over the questions with gold, by its name; a question without results counts as 0.

    Graded measures see the grades of the gold; binary ones count each gold node, whatever its grade.

    Raises:
        GmeError: a measure that needs another package or program.
    """
    if not measures:
        return {}
    import ir_measures

    # Some measures run programs that take nothing but numbers for questions.
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
