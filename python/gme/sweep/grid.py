"""Expands a grid file to configurations, and checks every name and value against the registries."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, get_args, get_type_hints

from ..errors import GmeError, shorten, unknown
from ..options import Options, present_choice, renamed
from ..pipeline.index import AUTO, STORES, check_index
from ..pipeline.retrieve import restrictions
from ..retrieval.batch import compares_question, needs_modified
from ..retrieval.schedule import parse_schedule
from ..retrieval.strategies import STRATEGIES
from ..transforms.registry import TRANSFORMS
from ..transforms.type_weights import TypeWeighted
from ..workspace import check_name
from .configurations import CONTROL, MOST, CollectionPlan, Configuration, defaults, distinct
from .criteria import Constraint, Measure, parse_constraint, parse_measure
from .document import Document, read_document
from .exclusion import Exclusion

DEFAULT = "default"
"""In a grid file, this stands for an option's default value. Not every default can be written in TOML or YAML."""

SHOWN = tuple(map(parse_measure, ("recovery", "recovery:groups", "gain:families", "all-supporting@10")))
"""The measures that are shown beside the criterion if the grid names none."""

_TOP = ("criterion", "constraints", "show", "curve", "retrieve", "baseline", "transform", "strategy", "exclude")
_RETRIEVE = ("index", "types", "edge_types")


@dataclass(frozen=True)
class Grid:
    """A grid file, expanded and checked.

    Attributes:
        name: the file's name without its ending.
        collections: the collections by name, in the order in which they are made.
        configurations: the configurations to try, each once and sorted by collection.
        baseline: the configuration that all are compared with. `Configuration.at_budget` gives it for each budget.
        criterion: the measure to select by. None means recovery on hard questions, or on all questions if none is hard.
        constraints: the constraints that selected configurations must meet.
        show: the measures shown beside the criterion. None means those of `SHOWN` for which all workspaces have
            questions.
        curve: the budgets of the budget curves. Empty means no curves.
        index, types, edge_types: those of `gme.RetrievalSetting`, for all configurations.
        notes: messages to the user: what was left out, and exclusions that exclude nothing.
    """

    name: str
    collections: Mapping[str, CollectionPlan]
    configurations: tuple[Configuration, ...]
    baseline: Configuration
    criterion: Measure | None = None
    constraints: tuple[Constraint, ...] = ()
    show: tuple[Measure, ...] | None = None
    curve: tuple[int, ...] = ()
    index: str = "auto"
    types: tuple[str, ...] = ()
    edge_types: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def run(self, configuration: Configuration) -> str:
        """The name of a configuration's run. It includes the settings that hold for all configurations."""
        index = f"-{self.index}" if self.index != "auto" else ""
        return configuration.run(restrictions(self.types, self.edge_types) + index)

    def baselines(self) -> list[Configuration]:
        """The baseline at every budget of a configuration, in rising order."""
        return [self.baseline.at_budget(budget) for budget in sorted({c.budget for c in self.configurations})]

    def plugins(self) -> dict[str, dict[str, str]]:
        """What other packages contribute, such as ``strategy twice``, and where it comes from: `Registry.source`."""
        methods = sorted({plan.method for plan in self.collections.values()})
        strategies = sorted({c.strategy for c in (self.baseline, *self.configurations)})
        sources = {f"transform {name}": TRANSFORMS.source(name) for name in methods}
        sources |= {f"strategy {name}": STRATEGIES.source(name) for name in strategies}
        if self.index != AUTO:
            sources[f"store {self.index}"] = STORES.source(self.index)
        return {name: source for name, source in sources.items() if source}


def read_grid(path: Path | str) -> Grid:
    """Read, expand and check a grid file. docs/guides/sweep.md describes the format.

    Raises:
        GmeError: a file that cannot be parsed; an unknown key, method, strategy, option, collection or measure (the
            hint suggests the closest); a value of the wrong kind or out of range; nothing to try. Messages name the
            file, the line if it is known, and the key.

    Example:
        >>> import gme
        >>> grid = gme.read_grid("grid.toml")
        >>> list(grid.collections), len(grid.configurations)
        (['walk', 'walk-steps3'], 2)
    """
    return _Reader(read_document(Path(path))).grid()


class _Reader:
    def __init__(self, document: Document) -> None:
        self.document = document
        self.notes: list[str] = []
        self.exclusions = [
            Exclusion(document, number, table) for number, table in enumerate(document.tables("exclude"))
        ]

    def grid(self) -> Grid:
        document, data = self.document, self.document.data
        document.check_keys(data, _TOP)
        retrieve = document.table("retrieve")
        document.check_keys(retrieve, _RETRIEVE, "retrieve")
        collections = {entry.name: entry for entry in distinct(self._collections(), "collections")}
        configurations = distinct(self._configurations(collections), "configurations")
        self.notes += filter(None, (exclusion.idle() for exclusion in self.exclusions))
        if not configurations:
            raise GmeError(f"{document.path}: the grid has no configuration", "add a [[strategy]], or exclude less")
        places = {name: place for place, name in enumerate(collections)}
        return Grid(
            check_name(document.path.stem, "sweep"),
            collections,
            tuple(sorted(configurations, key=lambda c: places.get(c.collection, -1))),
            self._baseline(collections),
            self._measures("criterion", parse_measure, 1)[0] if "criterion" in data else None,
            self._measures("constraints", parse_constraint),
            self._measures("show", parse_measure) if "show" in data else None,
            self._curve(),
            self._index(retrieve.get("index", "auto")),
            tuple(self._words(retrieve, "types", "retrieve", 0)),
            tuple(self._words(retrieve, "edge_types", "retrieve", 0)),
            tuple(dict.fromkeys(self.notes)),  # two tables may leave out the same
        )

    # ---- transforms ---------------------------------------------------------------------------------------------

    def _collections(self) -> Iterator[CollectionPlan]:
        for number, table in enumerate(self.document.tables("transform")):
            rest = dict(table)
            edge_types = [
                tuple(sorted({name.strip() for name in listed.split(",") if name.strip()}))
                for listed in self._words(rest, "edge_types", "transform", number) or [""]
            ]
            rest.pop("edge_types", None)
            for method in self._names(rest, "method", TRANSFORMS, "transform", number):
                entry = TRANSFORMS[method]
                given = {name: value for name, value in rest.items() if name != "method"}
                for values in self._combinations(given, entry.options, method, "transform", number):
                    full = {"method": method, **defaults(entry.options), **values}
                    if not self._excluded("method", full):
                        options = self._make(entry.options, values, "transform", number)
                        yield from self._on_edge_types(method, options, edge_types)

    def _on_edge_types(
        self, method: str, options: Options, edge_types: Sequence[tuple[str, ...]]
    ) -> Iterator[CollectionPlan]:
        """A method on the edges of each choice of types. One without a type that the options weight is left out."""
        weighed = options.named_types if isinstance(options, TypeWeighted) else ()
        for types in edge_types:
            if types and TRANSFORMS[method].needs_source:
                self.notes.append(f"left out: {method} on edges of type {', '.join(types)}, for it follows no edges")
                continue
            missing = sorted(set(weighed) - set(types)) if types else []
            if missing:
                listed = ", ".join(types)
                self.notes.append(f"left out: {method} on edges of type {listed}, with a weight for {missing[0]}")
            else:
                yield CollectionPlan(method, options, types)

    # ---- strategies ---------------------------------------------------------------------------------------------

    def _configurations(self, collections: Mapping[str, CollectionPlan]) -> Iterator[Configuration]:
        for number, table in enumerate(self.document.tables("strategy")):
            rest = dict(table)
            patterns = self._words(rest, "collections", "strategy", number)
            rest.pop("collections", None)
            chosen = self._matching(patterns, collections, number)
            for strategy in self._names(rest, "strategy", STRATEGIES, "strategy", number):
                given = {name: value for name, value in rest.items() if name != "strategy"}
                entry = STRATEGIES[strategy]
                for values in self._combinations(given, entry.options, strategy, "strategy", number):
                    yield from self._on_collections(strategy, values, chosen, collections, "strategy", number)

    def _on_collections(
        self,
        strategy: str,
        values: dict[str, Any],
        chosen: Sequence[str],
        collections: Mapping[str, CollectionPlan],
        table: str,
        number: int,
    ) -> Iterator[Configuration]:
        kind = STRATEGIES[strategy].options
        values = _with_budget(values)
        full = {"strategy": strategy, **defaults(kind), **values}
        kept = [name for name in (*chosen, None) if not self._excluded("strategy", {**full, "collection": name})]
        if not kept:
            return
        options = self._make(kind, values, table, number)
        if not needs_modified(strategy, options):
            if None in kept:
                yield Configuration(strategy, None, options)
            return
        if not chosen:
            raise GmeError(
                f"{self.document.where(table, number)}: {strategy} needs a collection, and the grid makes none",
                "add a [[transform]]; the control without one is: collections = 'original'",
            )
        for name in kept:
            if name is None:
                continue
            if name != CONTROL and not collections[name].matches_questions and compares_question(strategy, options):
                self.notes.append(f"left out: {strategy} on {name}, which questions cannot be compared with")
                continue
            yield Configuration(strategy, name, options)

    def _matching(self, patterns: list[str], collections: Mapping[str, CollectionPlan], number: int) -> list[str]:
        """The collections whose name or method matches any of the patterns. Without patterns, all collections."""
        if not patterns:
            return list(collections)
        known = {CONTROL: CONTROL} | {name: entry.method for name, entry in collections.items()}
        for pattern in patterns:
            if not any(fnmatchcase(name, pattern) or method == pattern for name, method in known.items()):
                error = unknown("collection", pattern, {*known, *known.values()})
                where = self.document.where("strategy", number, "collections")
                raise GmeError(f"{where}: {error.message}: no [[transform]] makes it", error.hint)
        return [name for name, method in known.items() if any(fnmatchcase(name, p) or method == p for p in patterns)]

    def _baseline(self, collections: Mapping[str, CollectionPlan]) -> Configuration:
        table = self.document.table("baseline")
        if not table:
            return Configuration("plain", None, STRATEGIES["plain"].options())
        rest = {name: value for name, value in table.items() if name != "collection"}
        if any(isinstance(value, list) for value in table.values()):
            raise GmeError(f"{self.document.where('baseline')}: there is one baseline: values must not be lists")
        strategy = self._names(rest, "strategy", STRATEGIES, "baseline", 0)[0]
        rest.pop("strategy")
        kind = STRATEGIES[strategy].options
        values = _with_budget(next(iter(self._combinations(rest, kind, strategy, "baseline", 0))))
        options = self._make(kind, values, "baseline", 0)
        if not needs_modified(strategy, options):
            return Configuration(strategy, None, options)
        name = str(table.get("collection", ""))
        if name not in {CONTROL, *collections}:
            error = unknown("collection", name, {CONTROL, *collections})
            raise GmeError(f"{self.document.where('baseline', 0, 'collection')}: {error.message}", error.hint)
        return Configuration(strategy, name, options)

    def _excluded(self, kind: str, values: Mapping[str, Any]) -> bool:
        # All exclusions are asked, even after the first that excludes, because each records whether it was of use.
        return sum(exclusion.excludes(kind, values) for exclusion in self.exclusions) > 0

    # ---- values -------------------------------------------------------------------------------------------------

    def _names(self, table: dict[str, Any], key: str, registry: Mapping[str, Any], kind: str, number: int) -> list[str]:
        names = self._words(table, key, kind, number)
        if not names:
            raise GmeError(
                f"{self.document.where(kind, number)}: {key!r} is missing", f"one or more of {', '.join(registry)}"
            )
        for name in names:
            if name not in registry:
                error = unknown(kind if kind != "baseline" else "strategy", name, registry)
                raise GmeError(f"{self.document.where(kind, number, key)}: {error.message}", error.hint)
        return names

    def _words(self, table: Mapping[str, Any], key: str, kind: str, number: int) -> list[str]:
        """The value of a key that is a string or a list of strings, as a list."""
        given = table.get(key, [])
        words = [given] if isinstance(given, str) else given
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            where = self.document.where(kind, number, key)
            raise GmeError(f"{where} is {shorten(given)}, but must be a string or a list of strings")
        return words

    def _combinations(
        self, given: Mapping[str, Any], kind: type[Options], owner: str, table: str, number: int
    ) -> Iterator[dict[str, Any]]:
        """All combinations of the options' values, in the types of the option class. The last option varies fastest."""
        try:
            given = renamed(kind, given)
        except GmeError as twice:
            raise GmeError(f"{self.document.where(table, number)}: {twice.message}", twice.hint) from None
        hints = get_type_hints(kind)
        plain = defaults(kind)
        for name in given:
            if name not in hints:
                error = unknown("option", name, hints, where=f" for {owner}")
                raise GmeError(f"{self.document.where(table, number, name)}: {error.message}", error.hint)
        lists = []
        for name, value in given.items():
            where = self.document.where(table, number, name)
            several = value if isinstance(value, list) else [value]
            if not several:
                raise GmeError(f"{where} has no values", "list at least one, or leave the key out")
            values = [plain[name] if v == DEFAULT else _as_kind(v, hints[name], where) for v in several]
            lists.append([present_choice(kind, name, value) for value in values])
        first = {name: values[0] for name, values in zip(given, lists, strict=True)}
        for name, values in zip(given, lists, strict=True):
            for value in values:
                self._check(kind, name, value, first, (table, number))
        if math.prod(map(len, lists)) > MOST:
            raise GmeError(
                f"{self.document.where(table, number)} stands for more than {MOST:,} combinations", "list fewer values"
            )
        for combination in itertools.product(*lists):
            yield dict(zip(given, combination, strict=True))

    def _check(
        self, kind: type[Options], name: str, value: object, first: dict[str, Any], place: tuple[str, int]
    ) -> None:
        """Check a value alone or, as some options are valid only together, with the first values of the others."""
        try:
            kind(**_with_budget({name: value}))
        except GmeError:
            self._make(kind, {**first, name: value}, *place, name)

    def _make(self, kind: type[Options], values: dict[str, Any], table: str, number: int, key: str = "") -> Options:
        try:
            return kind(**_with_budget(values))
        except GmeError as error:
            raise GmeError(f"{self.document.where(table, number, key)}: {error.message}", error.hint) from error

    def _measures(self, key: str, parse: Any, most: int = 0) -> tuple[Any, ...]:
        texts = self._words(self.document.data, key, "", 0)
        if most and len(texts) != most:
            raise GmeError(f"{self.document.where(key=key)} must be one measure", "for example: 'recovery:hard'")
        try:
            return tuple(parse(text) for text in texts)
        except GmeError as error:
            raise GmeError(f"{self.document.where(key=key)}: {error.message}", error.hint) from error

    def _curve(self) -> tuple[int, ...]:
        curve = self.document.data.get("curve", [])
        whole = isinstance(curve, list) and all(type(k) is int and k >= 1 for k in curve)
        if not whole:
            where = self.document.where(key="curve")
            raise GmeError(f"{where} is {shorten(curve)}, but must be a list of whole numbers of at least 1")
        return tuple(sorted(set(curve)))

    def _index(self, kind: Any) -> str:
        try:
            check_index(str(kind))
        except GmeError as error:
            raise GmeError(f"{self.document.where('retrieve', 0, 'index')}: {error.message}", error.hint) from None
        return str(kind)


def _with_budget(values: dict[str, Any]) -> dict[str, Any]:
    """Make schedule and budget agree: a schedule sets the budget, or is scaled to the given budget."""
    if values.get("schedule") is None:
        return values
    schedule = parse_schedule(values["schedule"])
    budget = values.get("budget", schedule.total)
    return {**values, "budget": budget, "schedule": str(schedule.scaled(budget) if budget >= 1 else schedule)}


def _as_kind(value: Any, kind: Any, where: str) -> Any:
    """A value of the file in the declared type of an option. Whole numbers become floats; nothing else is converted."""
    kinds = get_args(kind) or (kind,)
    if bool in kinds and isinstance(value, bool):
        return value
    if not isinstance(value, bool):
        if int in kinds and isinstance(value, int):
            return value
        if float in kinds and isinstance(value, int | float):
            return float(value)
        if str in kinds and isinstance(value, str):
            return value
    words = {bool: "true or false", int: "a whole number", float: "a number", str: "a string"}
    expected = " or ".join(words[k] for k in kinds if k in words)
    raise GmeError(
        f"{where} is {shorten(value)}, but must be {expected}", "or 'default'; a list tries each of its values"
    )
