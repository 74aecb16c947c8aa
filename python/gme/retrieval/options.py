"""What can be set for each strategy, and how given values become checked options."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..command_line import flag
from ..errors import GmeError, shorten
from ..options import Options, option
from .schedule import Schedule, parse_schedule

BUDGET = 40
AUTO = "auto"
PINNED = 3
LEXICAL_WEIGHT = 2.0
REST_WEIGHT = 1.0

_LEXICAL_WEIGHT_HELP = (
    "what the node that shares most words with the question gains, as a multiple of what the most similar node stands "
    "out by"
)


@dataclass(frozen=True)
class PlainOptions(Options):
    """Options of a single ranking."""

    budget: int = option(BUDGET, "how many distinct nodes to return", low=1)


@dataclass(frozen=True)
class Bm25Options(PlainOptions):
    """Options of `bm25`; its parameters belong to the index: `gme.LexicalIndex`."""


@dataclass(frozen=True)
class HybridOptions(PlainOptions):
    """Options of `hybrid`; the weight was chosen on development data: docs/research/lexical.md."""

    lexical_weight: float = option(LEXICAL_WEIGHT, _LEXICAL_WEIGHT_HELP, low=0, high=100)


@dataclass(frozen=True)
class SplitOptions(PlainOptions):
    """Options of `split`."""

    modified_share: float = option(0.5, "share of the budget that comes from the modified space", low=0, high=1)


@dataclass(frozen=True)
class BlendOptions(PlainOptions):
    """Options of strategies that blend relevance with guidance."""

    mix: float = option(
        0.5, "weight of the guidance by modified vectors; the rest is similarity to the question", low=0, high=1
    )
    pool_depth: int = option(4, "candidates per search, as a multiple of the budget", low=1)

    @classmethod
    def completed(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        """See `Options.completed`; a mix may be text that is a number."""
        return _with_mix_read(super().completed(given))

    def __post_init__(self) -> None:
        if isinstance(self.mix, str):
            raise GmeError(f"--mix is {shorten(self.mix)}, but must be a number from 0 to 1", "only envelope has auto")
        super().__post_init__()


@dataclass(frozen=True)
class StagedOptions(BlendOptions):
    """Options of the strategies that run a schedule."""

    shift: float = option(0.3, "how far a shifted question moves towards the previous stage's results", low=0, high=1)
    schedule: str | None = option(
        None,
        "stages as kind:size,…, for example original:6,fused:6,shifted:14,shifted:14; "
        "kinds: original modified fused shifted; default: the strategy's own, scaled to the budget",
    )

    @classmethod
    def completed(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        """See `Options.completed`; a schedule sets the budget."""
        completed = super().completed(given)
        if isinstance(completed.get("schedule"), str):
            completed.setdefault("budget", parse_schedule(completed["schedule"]).total)
        return completed

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.schedule is not None and parse_schedule(self.schedule).total != self.budget:
            raise GmeError(
                f"--budget is {self.budget}, but the sizes in --schedule sum to {parse_schedule(self.schedule).total}",
                "leave --budget out: a schedule sets it",
            )

    def changed(self) -> dict[str, Any]:
        """See `Options.changed`; a schedule stands for its budget."""
        changed = super().changed()
        if self.schedule is not None:
            changed.pop("budget", None)
        return changed

    def stages(self, default: Schedule) -> Schedule:
        """The schedule to run: the one given, or the strategy's own, scaled to the budget."""
        if self.schedule is not None:
            return parse_schedule(self.schedule)
        return default if default.total == self.budget else default.scaled(self.budget)


@dataclass(frozen=True)
class EnvelopeOptions(PlainOptions):
    """Options of `envelope`. With ``mix`` auto the defaults were chosen on development data: docs/research/envelope.md.

    With a fixed mix three hits are pinned because a question's nearest passages are evidence more often than not. Of a
    budget below 12 they are a quarter at most, or nothing of it would be left to the envelope.
    """

    mix: float | str = option(
        AUTO,
        "weight of the guidance by modified vectors; the rest is similarity to the question; auto: what the graph adds "
        "is decided for each question",
        low=0,
        high=1,
    )
    pool_depth: int = option(4, "candidates per search, as a multiple of the budget", low=1)
    seeds: int = option(5, "how many top hits the envelope is drawn from", low=1)
    lift: float = option(
        2.5, "how far nodes that share the top hits' neighborhood rise; only with --mix auto", low=0, high=100
    )
    margin: float = option(
        0.2,
        "how far the closest neighbors of a top hit may rise above it, as a share of what the best hit stands out by; "
        "only with --mix auto",
        low=0,
        high=100,
    )
    closeness: float = option(
        8.0,
        "exponent of the cosine by which a node takes over a top hit's similarity; larger asks for closer neighbors; "
        "only with --mix auto",
        above=0,
        high=100,
    )
    sharpness: float = option(
        2.0, "exponent of the top hits' weights; larger trusts the first more; only with --mix auto", above=0, high=100
    )
    redundancy_penalty: float = option(
        0.05,
        "how far a node falls for each node before it at the same place in the graph, as a share of what the best hit "
        "stands out by; only with --mix auto",
        low=0,
        high=100,
        formerly="crowding",
    )
    ignore_titles: bool = option(False, "give nodes whose titles the question names no place among the top hits")
    lexical: bool | None = option(
        None,
        "add to similarity what words and pairs of words say, by one search of them; default: where there are texts",
    )
    lexical_weight: float = option(LEXICAL_WEIGHT, f"{_LEXICAL_WEIGHT_HELP}; not with --no-lexical", low=0, high=100)
    rest_weight: float = option(
        REST_WEIGHT,
        "how much more the neighborhood of a top hit counts for a node that says what of the question the hit does not "
        "say; 0 looks at no such words; only with --mix auto, not with --no-lexical",
        low=0,
        high=100,
    )
    temperature: float = option(
        0.05,
        "softmax temperature of the seeds' weights; smaller trusts the first more; only with a fixed --mix",
        above=0,
    )
    pinned: int | None = option(
        None,
        f"how many top hits are returned first, whatever their score; default: none, or with a fixed --mix {PINNED}, "
        "but at most a quarter of the budget",
        low=0,
    )
    neighborhoods: str = option(
        "mean",
        "one mean envelope of the seeds (mean), or each seed's by itself (per_seed); only with a fixed --mix",
        choices=("mean", "per_seed"),
        formerly="neighbourhoods",
        former_choices={"apart": "per_seed"},
    )

    @classmethod
    def completed(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        """See `Options.completed`; a mix may be text that is a number."""
        return _with_mix_read(super().completed(given))

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.mix, str) and self.mix != AUTO:
            raise GmeError(f"--mix is {shorten(self.mix)}, but must be a number from 0 to 1, or auto")
        idle, hint = _IDLE[self.mix == AUTO]
        for name, value in self.changed().items():
            if name in _OF_WORDS and self.lexical is False:
                raise GmeError(
                    f"--{flag(name)} is {shorten(value)}, but has no effect with --no-lexical", "leave --no-lexical out"
                )
            if name in idle:
                raise GmeError(f"--{flag(name)} is {shorten(value)}, but has no effect with --mix {self.mix}", hint)

    @property
    def pins(self) -> int:
        """How many hits are pinned: `pinned` or what stands for it, within the budget."""
        if self.pinned is None:
            return 0 if self.mix == AUTO else min(PINNED, self.budget // 4)
        return min(self.pinned, self.budget)

    def as_dict(self) -> dict[str, Any]:
        """See `Options.as_dict`; says how many hits are pinned."""
        return {**super().as_dict(), "pinned": self.pins}


_IDLE = {
    True: (
        ("temperature", "neighborhoods"),
        "it belongs to a fixed mix: give a number as well, for example --mix 0.5",
    ),
    False: (
        ("lift", "margin", "closeness", "sharpness", "redundancy_penalty", "rest_weight"),
        "it belongs to --mix auto: leave --mix out",
    ),
}
"""By whether ``mix`` is auto: the options of `envelope` that do nothing then, and what to do instead."""

_OF_WORDS = ("lexical_weight", "rest_weight")
"""The options of `envelope` that belong to the search by words."""


@dataclass(frozen=True)
class WalkOptions(PlainOptions):
    """What the strategies that walk the graph may know besides vectors: what `envelope` knows, off by default."""

    titles: str = option(
        "ignore",
        "what a walk does with nodes whose titles the question names: nothing (ignore), they are starts as near as the "
        "nearest (seeds), or the only starts of a question that names any (only)",
        choices=("ignore", "seeds", "only"),
    )
    lexical: bool = option(False, "add to similarity what words and pairs of words say, by one search of them")
    lexical_weight: float = option(LEXICAL_WEIGHT, f"{_LEXICAL_WEIGHT_HELP}; only with --lexical", low=0, high=100)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.lexical and self.lexical_weight != LEXICAL_WEIGHT:
            weight = shorten(self.lexical_weight)
            raise GmeError(f"--lexical-weight is {weight}, but has no effect without --lexical", "add --lexical")

    @property
    def ignore_titles(self) -> bool:
        """Whether titles that the question names are not even looked for."""
        return self.titles == "ignore"


@dataclass(frozen=True)
class SpreadOptions(WalkOptions):
    """Options of `spread`.

    NG gives the rule and the five seeds; decay and hops are ours, measured by ``benches/graph_baselines.py --rules`` on
    two real sets: from .5 to .85 the decay matters by less than a point at 10. The larger lets an ungated neighbor of
    the first hit pass the later hits, which doubles what is found at 5 on one set. At .95 remote neighbors pass as
    well, which costs up to four points at 10 on the other. Two hops, because a chain of three passages needs them.
    """

    seeds: int = option(5, "how many top hits activation starts from (spread) or the envelope is drawn from", low=1)
    decay: float = option(0.85, "what one edge leaves of an activation, times its weight", above=0, high=1)
    hops: int = option(2, "longest path activation takes, in edges", low=1)
    gate: str = option(
        "cosine",
        "how much of an activation a node takes in: as much as it resembles the question (cosine), or all (none)",
        choices=("cosine", "none"),
    )


@dataclass(frozen=True)
class PagerankOptions(WalkOptions):
    """Options of `pagerank`."""

    restart: float = option(0.15, "chance to go back to a start at every step", low=0.001, high=1)
    temperature: float = option(
        0.05, "softmax temperature of the starts' weights; smaller trusts the first more", above=0
    )
    starts: int = option(10, "how many nodes walks start from, of each kind", low=1)
    start: str = option(
        "auto",
        "what walks start from: the entities or the chunks nearest to the question, or both; auto: entities if there "
        "are any",
        choices=("auto", "chunks", "entities", "both"),
    )
    tolerance: float = option(1e-6, "share of the error that iterating may leave", above=0, below=1)


def _with_mix_read(given: dict[str, Any]) -> dict[str, Any]:
    """Options with ``mix`` as a number where it is text that is one, as from a command line."""
    mix = given.get("mix")
    if isinstance(mix, str):
        with contextlib.suppress(ValueError):
            given["mix"] = float(mix)
    return given
