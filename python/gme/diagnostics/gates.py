"""Conditions that a report must meet, for scripts: ``linkage=0.3,lift=5``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from ..errors import GmeError, shorten, unknown
from .results import CheckReport


@dataclass(frozen=True)
class Gate:
    """An entry of `GATES`: how to read a report's figure (None: unknown), and which side of the bound is good."""

    summary: str
    figure: Callable[[CheckReport], float | None]
    at_least: bool = True


@dataclass(frozen=True)
class Failure:
    """A gate that a report does not meet.

    Attributes:
        text: why, in words. known: whether the figure is known at all.
    """

    text: str
    known: bool

    def __str__(self) -> str:
        return self.text


def parse_gates(text: str) -> dict[str, float]:
    """Parse ``linkage=0.3,lift=5`` to a dictionary. An unknown name or a value without a number is a `GmeError`."""
    gates: dict[str, float] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = part.partition("=")
        if name not in GATES:
            raise unknown("gate", name, GATES)
        try:
            gates[name] = float(value)
        except ValueError:
            raise GmeError(f"gate {shorten(part)} has no number", f"for example: {name}=0.5") from None
        if gates[name] != gates[name]:
            raise GmeError(f"gate {shorten(part)} has no number", f"for example: {name}=0.5")
    return gates


def check_gates(report: CheckReport, gates: dict[str, float]) -> list[Failure]:
    """The gates that a report of `check_graph` does not meet. An unknown figure meets none."""
    failed = []
    for name, bound in gates.items():
        gate = GATES[name]
        figure = gate.figure(report)
        side = "at least" if gate.at_least else "at most"
        if figure is None:
            failed.append(Failure(f"{name} is not known, but must be {side} {bound:g}", known=False))
        elif figure < bound if gate.at_least else figure > bound:
            failed.append(Failure(f"{name} is {figure:.4g}, but must be {side} {bound:g}", known=True))
    return failed


def _linkage(key: Literal["share", "connected", "lift"]) -> Callable[[CheckReport], float | None]:
    def figure(report: CheckReport) -> float | None:
        if report["linkage"] is None:
            return None
        value: float | None = report["linkage"][key]
        if key == "lift" and value is None and report["linkage"]["lift_above"] is not None:
            value = report["linkage"]["lift_above"]
        elif key == "lift" and value is None:  # random pairs are never linked, so any linkage is infinitely better
            return float("inf") if report["linkage"]["share"] else 0.0
        return value

    return figure


def _headroom(report: CheckReport) -> float | None:
    return report["oracle"]["room"]["winnable"] if report["oracle"] else None


def _gain(report: CheckReport) -> float | None:
    gain = report["verdict"]["gain"]
    return gain["low"] if gain else None


def _route(report: CheckReport) -> float | None:
    within = report["oracle"]["missing_top"]["within"] if report["oracle"] else []
    value: float | None = within[min(1, len(within) - 1)]["gold"] if within else None
    return value


GATES: dict[str, Gate] = {
    "linkage": Gate("share of questions with linked gold", _linkage("share")),
    "connected": Gate("share of questions with all gold linked", _linkage("connected")),
    "lift": Gate("linkage of gold pairs over that of random pairs", _linkage("lift")),
    "headroom": Gate("share of questions that dense retrieval leaves to win", _headroom),
    "gain": Gate("lower end of the expected gain, as a share of gold", _gain),
    "route": Gate("share of missing gold within two hops of the best hits", _route),
    "largest": Gate("share of nodes in the largest component", lambda report: report["components"]["largest_share"]),
    "isolated": Gate("share of nodes without edges", lambda report: report["isolated"]["share"], at_least=False),
}
