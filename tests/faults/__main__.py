"""``python -m tests.faults [SCENARIO …] [--sample N] [--json]``: inject faults and print the counts."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import tempfile
import time
from pathlib import Path

from .harness import Outcome, preload, scratch, try_scenario
from .injection import FAULTS
from .scenarios import SCENARIOS


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description="Inject faults into gme's commands.")
    parser.add_argument("scenario", nargs="*", help=f"default: all of {', '.join(SCENARIOS)}")
    parser.add_argument("--sample", type=int, help="try so many steps of each command and kind of fault; default: all")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--serve", action="store_true", help="read scenarios from standard input, a line of JSON each")
    given = parser.parse_args()
    preload()
    if given.serve:
        for line in sys.stdin:
            print(json.dumps(dataclasses.asdict(_try(line.strip(), given.sample))), flush=True)
        return 0
    started = time.perf_counter()
    outcomes = []
    for name in given.scenario or SCENARIOS:
        outcomes.append(_try(name, given.sample))
        if not given.json:
            _line(outcomes[-1])
    if given.json:
        print(json.dumps([dataclasses.asdict(outcome) for outcome in outcomes]))
    else:
        _total(outcomes, time.perf_counter() - started)
    return int(any(outcome.failures for outcome in outcomes))


def _try(name: str, sample: int | None) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="gme-faults-", dir=scratch()) as folder:
        return try_scenario(name, Path(folder).resolve(), sample)


def _line(outcome: Outcome) -> None:
    counts = "  ".join(f"{kind} {outcome.injected.get(kind, 0):>4}" for kind in FAULTS)
    print(f"{outcome.name:<20} {sum(outcome.steps.values()):>5} steps  {counts}", flush=True)
    for failure in outcome.failures:
        print(f"  FAILED {failure}", flush=True)


def _total(outcomes: list[Outcome], seconds: float) -> None:
    injected = sum(sum(outcome.injected.values()) for outcome in outcomes)
    failed = {failure.split(":")[0] + outcome.name for outcome in outcomes for failure in outcome.failures}
    print(f"{len(outcomes)} commands, {injected} faults injected, {injected - len(failed)} survived, {seconds:.0f} s")


if __name__ == "__main__":
    sys.exit(main())
