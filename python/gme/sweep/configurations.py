"""The collections to make and the configurations to try, to which a grid expands."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import GmeError
from ..options import Options, digest
from ..pipeline.transform import collection_name
from ..retrieval.schedule import parse_schedule
from ..transforms.registry import TRANSFORMS
from ..workspace import check_name

CONTROL = "original"
"""The collection that stands for no transformation: the original vectors guide."""

_LONGEST_RUN = 200


@dataclass(frozen=True)
class CollectionPlan:
    """A modified collection to make: a method of `TRANSFORMS` with options, on all edges or those of some types."""

    method: str
    options: Options
    edge_types: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name that ``gme transform`` gives it."""
        return check_name(collection_name(self.method, self.options, self.edge_types), "collection")

    @property
    def matches_questions(self) -> bool:
        """Whether questions can be compared with it. Vectors that are not made from texts have a space of their own."""
        return TRANSFORMS[self.method].needs_vectors


@dataclass(frozen=True)
class Configuration:
    """A strategy with options on a collection. `collection` is None if the strategy uses none."""

    strategy: str
    collection: str | None
    options: Options

    @property
    def name(self) -> str:
        """Strategy, collection and changed options, as ``gme retrieve`` names a run."""
        return self.strategy + (f"-{self.collection}" if self.collection else "") + self.options.suffix()

    def run(self, ending: str = "") -> str:
        """The name of its run file. A name that is too long for a file is cut and ends in a hash."""
        name = f"sweep-{self.name}{ending}"
        return name if len(name) <= _LONGEST_RUN else f"{name[: _LONGEST_RUN - 9]}-{digest(name)}"

    @property
    def budget(self) -> int:
        """The number of nodes it returns."""
        return int(self.options.as_dict()["budget"])

    @property
    def given(self) -> dict[str, Any]:
        """Its options in the form that `gme.retrieve` takes."""
        return self.options.changed()

    def at_budget(self, budget: int) -> Configuration:
        """The same configuration with another budget. If it has a schedule, that is scaled."""
        return self if budget == self.budget else dataclasses.replace(self, options=resized(self.options, budget))


def defaults(kind: type[Options]) -> dict[str, Any]:
    """The defaults of an option class, by name."""
    return {field.name: field.default for field in dataclasses.fields(kind)}


def resized(options: Options, budget: int) -> Options:
    """The options of a strategy for another budget. If they have a schedule, that is scaled."""
    schedule = getattr(options, "schedule", None)
    scaled = {} if schedule is None else {"schedule": str(parse_schedule(schedule).scaled(budget))}
    return dataclasses.replace(options, **{"budget": budget, **scaled})


def required(names: Iterable[str], collections: Mapping[str, CollectionPlan]) -> list[CollectionPlan]:
    """The collections with these names and the collections they are made from. Sources come first."""
    found: dict[str, CollectionPlan] = {}

    def add(name: str) -> None:
        if name in collections and name not in found:
            for value in collections[name].options.as_dict().values():
                # An option such as `source` names another collection. No choice of a method is also the name of a
                # collection.
                if isinstance(value, str) and value != name:
                    add(value)
            found[name] = collections[name]

    for name in names:
        add(name)
    return list(found.values())


MOST = 100_000
"""The most combinations in a grid. A few lists multiply to more than anyone could try."""


def distinct(entries: Iterable[Any], kind: str) -> tuple[Any, ...]:
    """Entries without repetitions, in order. Different entries must not have the same name."""
    by_name: dict[str, Any] = {}
    for entry in entries:
        if len(by_name) > MOST:
            raise GmeError(f"the grid stands for more than {MOST:,} {kind}", "list fewer values")
        other = by_name.setdefault(entry.name, entry)
        if other != entry:
            raise GmeError(f"two {kind} differ but share the name {entry.name!r}")
    return tuple(by_name.values())
