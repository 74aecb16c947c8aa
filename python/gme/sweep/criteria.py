"""Criteria and constraints by which configurations are ranked, written ``MEASURE[:POPULATION]``."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ..errors import GmeError, shorten, unknown
from ..evaluation.ir_measures import read_measures
from .results import ConfigurationScores, Values

WORST = {"families": "family", "groups": "group"}
"""Populations that stand for the worst of their kind, for example the family with the lowest recovery."""

OWN = ("recovery", "gain", "recall@K", "all-supporting@K", "nodes-to-match", "search-calls", "budget")
_EXAMPLES = f"measures: {', '.join(OWN)}, or any of ir-measures such as nDCG@10; populations: all, hard, a group, …"
_LOWER = ("nodes-to-match", "search-calls", "budget")
_OPERATORS = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}
_CONSTRAINT = re.compile(r"^(.*?)\s*(>=|<=|>|<)\s*([-+]?\d+(?:\.\d+)?)\s*$")
_DEPTH = re.compile(r"^(recall|all-supporting)@(\d+)$")


@dataclass(frozen=True)
class Measure:
    """A value that is read off a configuration's scores.

    Attributes:
        text: the measure as written, without its population.
        kind: a word of `OWN` without ``@K``, or ``ir`` for ir-measures.
        depth: K, or 0 if the measure has none.
        population: the population of questions. ``families`` and ``groups`` stand for the worst one.
    """

    text: str
    kind: str
    depth: int = 0
    population: str = "all"

    def __str__(self) -> str:
        return self.text if self.population == "all" else f"{self.text}:{self.population}"

    @property
    def lower_is_better(self) -> bool:
        """Whether smaller values are better."""
        return self.kind in _LOWER

    def value(self, scores: ConfigurationScores, baseline: ConfigurationScores) -> float | None:
        """The value, or None. Shares are in percent and differences in points; counts and ir-measures are as they are.

        Args:
            scores, baseline: as `gme.sweep.runner.Bench.scores` gives them, with the baseline at the same budget.
        """
        if self.kind == "ir":
            return float(scores["measures"][self.text])
        if self.kind in ("search-calls", "budget"):
            return float(scores["search_calls"] if self.kind == "search-calls" else scores["budget"])
        if self.population in WORST:
            values = [self._of(scores, baseline, name) for name in self.names(scores)]
            known = [value for value in values if value is not None]
            if len(known) < len(values):
                return None
            return max(known) if self.lower_is_better else min(known)
        return self._of(scores, baseline, self.population)

    def names(self, scores: ConfigurationScores) -> list[str]:
        """The populations that it uses."""
        if self.population not in WORST:
            return [self.population]
        return [name for name, kind in scores["kinds"].items() if kind == WORST[self.population]]

    def worst(self, scores: ConfigurationScores, baseline: ConfigurationScores) -> str:
        """The population that its value comes from. Of several equal ones, the first."""
        sign = -1 if self.lower_is_better else 1
        return min(
            self.names(scores),
            key=lambda name: float("inf") if (v := self._of(scores, baseline, name)) is None else sign * v,
        )

    def _of(self, scores: ConfigurationScores, baseline: ConfigurationScores, population: str) -> float | None:
        own, reference = scores["populations"][population], baseline["populations"][population]
        curve = own["curve"]
        if self.kind == "recovery":
            return 100 * float(curve[-1])
        if self.kind == "gain":
            return 100 * (float(curve[-1]) - float(reference["curve"][-1]))
        if self.kind == "nodes-to-match":
            target = reference["curve"][-1] - 1e-12  # as `gme evaluate` compares
            return next((float(place) for place, share in enumerate(curve, start=1) if share >= target), None)
        if scores["depth"] is not None and self.depth > scores["depth"]:
            return None
        shares = curve if self.kind == "recall" else own["all_supporting"]
        return 100 * float(shares[min(self.depth, len(shares)) - 1])


@dataclass(frozen=True)
class Constraint:
    """A measure and a bound that its value must keep.

    Attributes:
        names_all: whether the user wrote the population ``all``. If so, the text of the constraint has it, too.
    """

    measure: Measure
    sign: str
    bound: float
    names_all: bool = field(default=False, compare=False)

    def __str__(self) -> str:
        return f"{self.measure}{':all' if self.names_all else ''} {self.sign} {self.bound:g}"

    def holds(self, value: float | None) -> bool:
        """Whether a value keeps the bound. A missing value does not. Rounding errors do not break it."""
        if value is None:
            return False
        slack = 1e-9 if self.sign == ">=" else -1e-9 if self.sign == "<=" else 0.0
        return bool(_OPERATORS[self.sign](value + slack, self.bound))


def parse_measure(text: str) -> Measure:
    """Read a measure such as ``recovery:hard``, ``all-supporting@10``, ``gain:families`` or ``nDCG@10``.

    Raises:
        GmeError: not a measure, a depth below 1, or a population for an ir-measure (these use all questions).
    """
    name, colon, population = (part.strip() for part in text.partition(":"))
    if colon and not population:
        raise GmeError(f"measure {shorten(text)} has no population after its colon", _EXAMPLES)
    population = population or "all"
    if name in OWN and "@" not in name:
        return Measure(name, name, 0, population)
    if match := _DEPTH.match(name):
        if int(match[2]) < 1:
            raise GmeError(f"measure {shorten(text)}: the depth must be at least 1", _EXAMPLES)
        return Measure(name, match[1], int(match[2]), population)
    canonical = str(read_measures([name], OWN, _EXAMPLES)[0])
    if population != "all":
        raise GmeError(f"measure {shorten(text)}: ir-measures are over all questions", f"write {name!r}")
    return Measure(canonical, "ir")


def parse_constraint(text: str) -> Constraint:
    """Read a constraint such as ``gain:families >= -1``: a measure, ``>=``, ``<=``, ``>`` or ``<``, and a number."""
    match = _CONSTRAINT.match(text)
    if match is None:
        raise GmeError(
            f"constraint {shorten(text)} is not of the form MEASURE >= NUMBER",
            "for example: 'gain:families >= -1': no family more than one point below the baseline",
        )
    measure = parse_measure(match[1])
    return Constraint(measure, match[2], float(match[3]), measure.population == "all" and ":" in match[1])


def read_off(
    scores: ConfigurationScores,
    baseline: ConfigurationScores,
    criterion: Measure,
    constraints: Iterable[Constraint],
    shown: Iterable[Measure],
) -> Values:
    """A configuration's ``value`` of the criterion, ``shown`` values, and ``constraints`` with whether they hold."""
    kept = {constraint: constraint.measure.value(scores, baseline) for constraint in constraints}
    return {
        "value": criterion.value(scores, baseline),
        "shown": {str(measure): measure.value(scores, baseline) for measure in shown},
        "constraints": {str(c): {"value": value, "holds": c.holds(value)} for c, value in kept.items()},
    }


def has_questions(measure: Measure, kinds: Mapping[str, str]) -> bool:
    """Whether there are questions for a measure, given the kind of every population."""
    if measure.population in WORST:
        return WORST[measure.population] in kinds.values()
    return measure.population in kinds


def check_populations(measures: Iterable[Measure], kinds: Mapping[str, str], where: str) -> None:
    """Refuse a measure of a population that the questions do not have."""
    for measure in measures:
        if has_questions(measure, kinds):
            continue
        if measure.population in WORST:
            raise GmeError(
                f"{measure} looks at {measure.population}, but the questions in {where} name none",
                f"give questions a {WORST[measure.population]!r}, or use another population",
            )
        known = [*kinds, *(worst for worst, kind in WORST.items() if kind in kinds.values())]
        raise unknown("population of questions", measure.population, known, where=f" in {measure}: {where}")
