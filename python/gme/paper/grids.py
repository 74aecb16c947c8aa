"""The paper's whole set of modified collections: a table of grids, expanded into named collections.

GME gives the parameter values of each method. It gives neither the number of its collections nor which of them have
residuals. `PAPER_GRID` is our reading of its table. `counts_in_words` says where another reading gives another number.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from ..errors import GmeError, unknown
from ..options import Options
from ..pipeline.transform import is_fresh, transform_workspace
from ..reporting import SILENT, Reporter
from ..transforms.neighbors import HopOptions
from ..transforms.registry import TRANSFORMS
from ..workspace import Workspace
from ..workspace.manifests import Manifest

MAIN = ("hop1", "hop2", "convex", "walk", "louvain")
"""The methods of the five main configurations, which use their defaults."""

Grid: TypeAlias = dict[str, tuple[Any, ...]]

_HOP: Grid = {"share": (0.2, 0.5, 1.0), "alpha": (0.0, 0.2, 0.5), "pick": ("least", "most")}

PAPER_GRID: dict[str, tuple[Grid, ...]] = {
    "hop1": (_HOP,),
    "hop2": (_HOP,),
    "convex": ({"edge_weight": (0.5, 1.0), "sweeps": (0, 1, 2, 3)},),
    "walk": ({"steps": (2, 3), "alpha": (0.0, 0.5, 0.8)},),
    "louvain": ({"resolution": (0.5, 1.0, 2.0), "alpha": (0.0, 0.5, 0.8)},),
    "shared": ({"shared_weight": (1.0, 3.0, 9.0)}, {"shared_weight": (3.0,), "sweeps": (0, 1, 2, 3)}),
    "gradient": (
        {
            "curve": ("none", "linear_steep", "hyperbolic_sech"),
            "step": (0.25, 0.5, 1.0),
            "max_shift": (0.5, 1.0, 2.0),
        },
    ),
}
"""Method -> grids of parameter values. A grid stands for all combinations. 0 sweeps means until converged."""


@dataclass(frozen=True)
class PaperCollection:
    """One collection of the set: its method and options."""

    method: str
    options: Options

    @property
    def name(self) -> str:
        """The name that ``gme transform`` gives it by default."""
        return self.method + self.options.suffix()

    @property
    def source(self) -> str | None:
        """The collection that it is made from, besides the original one."""
        return getattr(self.options, "source", None)


def _combinations() -> Iterator[PaperCollection]:
    for method, grids in PAPER_GRID.items():
        for grid in grids:
            for values in itertools.product(*grid.values()):
                yield PaperCollection(method, TRANSFORMS[method].options(**dict(zip(grid, values, strict=True))))


def _distinct(collection: PaperCollection) -> PaperCollection:
    """The first of all collections with the same vectors. With share 1 every pick averages all neighbors."""
    if isinstance(collection.options, HopOptions) and collection.options.share == 1:
        return PaperCollection(collection.method, replace(collection.options, pick="least"))
    return collection


def grid_collections() -> list[PaperCollection]:
    """All distinct configurations of `PAPER_GRID`, in its order."""
    return list(dict.fromkeys(map(_distinct, _combinations())))


def paper_collections() -> list[PaperCollection]:
    """The whole set: `grid_collections`, followed by the residual of each.

    Example:
        >>> import gme
        >>> len(gme.paper_collections())
        172
        >>> gme.paper_collections()[0].name
        'hop1-alpha0'
    """
    grid = grid_collections()
    residual = TRANSFORMS["residual"].options
    sources: list[dict[str, Any]] = [{"source": collection.name} for collection in grid]
    return [*grid, *(PaperCollection("residual", residual(**source)) for source in sources)]


def select_collections(wanted: str) -> list[PaperCollection]:
    """The collections that ``--collections`` asks for: ``main``, ``all``, or names separated by commas.

    The source of a residual is added before it.

    Raises:
        GmeError: an unknown name (the hint suggests the closest), or no name at all.

    Example:
        >>> import gme
        >>> [collection.name for collection in gme.select_collections("main")][:3]
        ['hop1', 'hop2', 'convex']
    """
    whole = {collection.name: collection for collection in paper_collections()}
    names = [name.strip() for name in wanted.split(",") if name.strip()]
    if not names:
        raise GmeError("--collections names none", "main, all, or names separated by commas; see --list")
    chosen: dict[str, PaperCollection] = {}
    for name in itertools.chain.from_iterable(_group(name, whole) for name in names):
        if name not in whole:
            raise unknown(
                "collection",
                name,
                ["main", "all", *whole],
                where=" in the paper's set",
                listing="all names: main, all, and those of gme transform --list",
            )
        source = whole[name].source
        if source is not None:
            chosen.setdefault(source, whole[source])
        chosen.setdefault(name, whole[name])
    return list(chosen.values())


def _group(name: str, whole: dict[str, PaperCollection]) -> Sequence[str]:
    return {"main": MAIN, "all": tuple(whole)}.get(name, (name,))


def counts_in_words() -> list[str]:
    """The number of collections of the whole set, and why the paper may have had another number."""
    # `shared` with its main weight is in both of its grids, but is one combination.
    combinations, distinct = len({str(collection) for collection in _combinations()}), len(grid_collections())
    return [
        "The paper does not state the number of its collections. Where its table leaves room:",
        f"the grid has {combinations} combinations, {distinct} of them distinct: share 1 makes pick meaningless;",
        "convex: edge weights and sweeps are combined; sweeps at the main edge weight only would make 3 fewer;",
        f"residuals: of all {distinct}, which makes {2 * distinct} collections; of the {len(MAIN)} main configurations "
        f"only, there would be {distinct + len(MAIN)}.",
    ]


def count_collections(collections: Sequence[PaperCollection]) -> dict[str, int]:
    """The number of collections of each method, in the order of the methods."""
    counts: dict[str, int] = {}
    for collection in collections:
        counts[collection.method] = counts.get(collection.method, 0) + 1
    return counts


def build_collections(
    workspace: Workspace,
    collections: Sequence[PaperCollection],
    *,
    threads: int = 0,
    reporter: Reporter = SILENT,
) -> Iterator[tuple[str, Manifest | None]]:
    """Make the missing and stale collections, one after the other. Fresh ones stay, so that a stopped run can go on.

    Args:
        workspace: needs nodes.jsonl, edges.jsonl and embeddings/original.npy.
        collections: sources before their residuals, as `select_collections` gives them.
        threads: 0 means all cores.
        reporter: is told of progress, with the number (from 1) and the name of each collection.

    Yields:
        the name and the manifest of each collection; None instead of a manifest if it was fresh.

    Example:
        >>> import gme
        >>> workspace = gme.Workspace("corpus")
        >>> chosen = gme.select_collections("main")[:1]
        >>> [name for name, manifest in gme.build_collections(workspace, chosen)]
        ['hop1']
    """
    with workspace.shared_lock():
        for number, collection in enumerate(collections, start=1):
            if is_fresh(workspace, collection.name, collection.method, collection.options):
                yield collection.name, None
                continue
            step = reporter.labeled(f"{number}/{len(collections)} {collection.name}")
            yield transform_workspace(workspace, collection.method, collection.options, threads=threads, reporter=step)
