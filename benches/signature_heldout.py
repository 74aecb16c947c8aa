"""What signatures bring on data that nothing was chosen on, once: other seeds, other splits, other questions.

    python benches/signature_heldout.py --folder FOLDER [--data FOLDER]

Workspaces in the folder are used as they are. `signature_study.py` runs this as its part `held-out`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
from data_sets import add_data_option
from envelope_study import REAL
from signature_sets import Found, Set, load_one, points

from gme.evaluation.gold import HARD

SPLITS = ("validation", "test")
SEEDS = (101, 102, 103)
DEPTHS = (5, 10, 40)
BEFORE = {"lift": 2.0, "closeness": 4.0}
"""The constants of the rule with the diffused form."""

Lines = dict[str, Found]


def found(each: Set) -> Lines:
    """By line of the tables, what it finds."""
    roots = each.signatures()
    mixed = roots[np.random.default_rng(7).permutation(len(roots))]
    return {
        "plain, chunks": each.plain_allowed,
        "diffused, the rule as it was": each.envelope(each.store(each.signatures(form="diffused")), **BEFORE),
        "roots": each.envelope(each.store(roots)),
        "roots of a shuffled graph": each.envelope(each.store(mixed)),
    }


def held_out(folder: Path, data: Path) -> Iterator[str]:
    """The tables."""
    for split in SPLITS:
        yield from synthetic(split, [load_one(f"{split}-{seed}", folder / f"{split}-{seed}", data) for seed in SEEDS])
    for name in REAL:
        yield from real(load_one(name, folder / name, data, unseen=True))


def synthetic(split: str, sets: list[Set]) -> Iterator[str]:
    """Recovery at 40 on all seeds of a split together; differences are from the line before, or from plain."""
    parts = [found(each) for each in sets]
    groups, families = (np.concatenate([getattr(each, name) for each in sets]) for name in ("groups", "families"))
    hard, deep = np.isin(groups, HARD), families == "hop3"
    plain, before = (np.concatenate([part[name][:, -1] for part in parts]) for name in list(parts[0])[:2])
    yield from (f"{split}, seeds {', '.join(map(str, SEEDS))}, {len(groups)} questions:", "")
    yield "| signatures | hard | over diffused | hop3 | over diffused | single-fact | worst family over plain |"
    yield "|" + "---|" * 7
    for name in parts[0]:
        share = np.concatenate([part[name][:, -1] for part in parts])
        gains = {family: (share - plain)[families == family] for family in np.unique(families)}
        worst = min(gains, key=lambda family: gains[family].mean())
        cells = [name]
        for chosen in (hard, deep):
            cells += [f"{100 * share[chosen].mean():.1f}", points((share - before)[chosen])]
        cells += [f"{100 * share[groups == 'single-fact'].mean():.1f}", f"{worst} {points(gains[worst])}"]
        yield f"| {' | '.join(cells)} |"
    yield ""


def real(each: Set) -> Iterator[str]:
    """All gold passages among the first 5, 10, 40; differences from the diffused form, with questions won and lost."""
    lines = found(each)
    yield from (f"{each.name}, the half that nothing was chosen on, {len(each.queries)} questions:", "")
    yield "| signatures | @5/@10/@40 |" + "".join(f" over diffused @{depth} |" for depth in DEPTHS)
    yield "|" + "---|" * (2 + len(DEPTHS))
    before = complete(lines["diffused, the rule as it was"])
    for name, shares in lines.items():
        now = complete(shares)
        cells = [name, "/".join(f"{100 * now[:, column].mean():.1f}" for column in range(len(DEPTHS)))]
        for column in range(len(DEPTHS)):
            difference = now[:, column] - before[:, column]
            cells.append(f"{points(difference)}, won {(difference > 0).sum()} lost {(difference < 0).sum()}")
        yield f"| {' | '.join(cells)} |"
    yield ""


def complete(shares: Found) -> npt.NDArray[np.float64]:
    """Whether all of a question's gold is among the first so many: (questions, depths)."""
    return (shares[:, [depth - 1 for depth in DEPTHS]] > 0.999).astype(np.float64)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_data_option(parser, required=True)
    parser.add_argument("--folder", type=Path, required=True)
    given = parser.parse_args()
    for line in held_out(given.folder, given.data):
        print(line, flush=True)
