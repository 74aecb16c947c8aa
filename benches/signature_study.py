"""Make `docs/research/signature.md`: what signatures tell, and what dimension, options and storage make of them.

    just signature-study                                    all parts; workspaces in a temporary folder
    python benches/signature_study.py --folder FOLDER       workspaces are kept there, and used if they are there
    python benches/signature_study.py --part dimension      prints one part and writes nothing
    python benches/signature_study.py --data FOLDER         the real sets from another folder

Development data, those of envelope_study.py: the synthetic development split with three seeds, and half of the
questions of each real set. Only the part `held-out` looks at anything else.
"""

from __future__ import annotations

import argparse
import tempfile
import textwrap
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from data_sets import add_data_option
from signature_fidelity import CHANGES, FIDELITY_HEADER, RINGS, Exact, changes, fidelity
from signature_heldout import held_out
from signature_page import INTRODUCTION, TEXTS
from signature_sets import BUDGET, Found, Recovery, Set, load

import gme
from gme import _core
from gme._core import Graph
from gme.stores.exact import ExactStore
from gme.stores.hnsw import PRECISIONS, build_hnsw
from gme.stores.store import Store
from gme.transforms.diffusion import SignatureOptions

PAGE = Path(__file__).resolve().parent.parent / "docs" / "research" / "signature.md"
WIDTH = 118
DEFAULT = SignatureOptions()
DIMENSIONS = (32, 64, 128, 256, 512, 1024, 2048)
RESTARTS = (0.1, 0.15, 0.2, 0.3, 0.4)
DROPS = (1e-2, 1e-3, 3e-4, 3e-5)
DAMPINGS = (0.25, 0.5, 1.0)
FACTORS = (0.0, 0.5, 2.0)


def table(header: Sequence[str], lines: Iterator[Sequence[str]]) -> Iterator[str]:
    """A Markdown table, line by line as it is made."""
    yield f"| {' | '.join(header)} |"
    yield "|" + "---|" * len(header)
    for line in lines:
        yield f"| {' | '.join(line)} |"


def paragraphs(text: str) -> Iterator[str]:
    """The lines of a text, each paragraph filled anew and followed by an empty line."""
    for paragraph in text.split("\n\n") if text else ():
        yield from textwrap.wrap(paragraph, WIDTH, break_long_words=False, break_on_hyphens=False)
        yield ""


def signed(**options: Any) -> Callable[[Set], Found]:
    """What `envelope` finds with signatures of these options."""
    return lambda each: each.envelope(each.store(each.signatures(**options)))


# ---- parts -----------------------------------------------------------------------------------------------------------


def about(sets: list[Set]) -> Iterator[str]:
    """The sets."""

    def lines() -> Iterator[list[str]]:
        for each in sets:
            connected = np.flatnonzero(each.graph.degrees)
            counts = [each.graph.nodes, len(connected), each.graph.edges, int(each.graph.degrees.max())]
            yield [each.name, *(f"{count:,}" for count in counts), str(len(each.queries))]

    yield from table(["set", "nodes", "with edges", "edges", "largest degree", "questions"], lines())


def dimension(sets: list[Set]) -> Iterator[str]:
    """Fidelity, recovery, time and size by dimension."""
    graphs = [Exact.of(each.graph) for each in sets if each.real or each.name == "development-42"]
    recovery = Recovery(sets)
    largest = max((each.graph for each in sets), key=lambda graph: graph.edges)

    def close() -> Iterator[list[str]]:
        for dim in DIMENSIONS:
            seconds = min(timed(largest, dim) for _ in range(3))
            cost = [f"{seconds:.3f}", f"{4 * dim:,}"]
            yield [str(dim), *fidelity(graphs, dim=dim), *cost]

    def found() -> Iterator[list[str]]:
        for dim in (DEFAULT.dim, *(dim for dim in DIMENSIONS if dim != DEFAULT.dim)):
            yield [f"{dim}, the default" if dim == DEFAULT.dim else str(dim), *recovery.cells(signed(dim=dim))]

    yield f"{sum(len(each.pairs[0]) for each in graphs):,} pairs."
    yield ""
    yield from table(["dim", *FIDELITY_HEADER, "seconds", "bytes a node"], close())
    yield ""
    yield from table(["dim", *recovery.header], found())


def timed(graph: Graph, dim: int) -> float:
    """Seconds of one computation."""
    started = time.perf_counter()
    gme.transform("signature", graph, dim=dim)
    return time.perf_counter() - started


def restart(sets: list[Set]) -> Iterator[str]:
    """Recovery by the probability of returning to the start."""
    recovery = Recovery(sets)
    default = DEFAULT.restarts
    lines = ([label(c, default), *recovery.cells(signed(restart=c))] for c in (default, *RESTARTS))
    yield from table(["restart", *recovery.header], lines)


def label(value: float, default: float) -> str:
    """A value, and whether it is the default."""
    return f"{value:g}, the default" if value == default else f"{value:g}"


def drop(sets: list[Set]) -> Iterator[str]:
    """Recovery, entries and edges followed by what is dropped."""
    recovery = Recovery(sets)

    def lines() -> Iterator[list[str]]:
        for value in (DEFAULT.drop, *DROPS):
            facts = [gme.transform("signature", each.graph, drop=value).facts for each in sets]
            means = [np.mean([fact[key] for fact in facts]) for key in ("entries_mean", "edges_followed_mean")]
            lost = 100 * np.mean([fact["mass_dropped_mean"] for fact in facts])
            cells = [f"{means[0]:,.0f}", f"{means[1]:,.0f}", f"{lost:.1f}"]
            yield [label(value, DEFAULT.drop), *cells, *recovery.cells(signed(drop=value))]

    yield from table(["drop", "entries a row", "edges a row", "mass dropped, %", *recovery.header], lines())


def roots(sets: list[Set]) -> Iterator[str]:
    """Recovery with other functions of a row's entries, exact and without a sketch, and with the diffused form."""
    recovery = Recovery(sets)

    def lines() -> Iterator[list[str]]:
        yield ["`--form roots`, the default", *recovery.cells(signed())]
        for title, power in (("p, exact rows", 1.0), ("√p, exact rows", 0.5), ("p^¼, exact rows", 0.25)):
            yield [title, *recovery.cells(lambda each: exactly(each, power))]  # noqa: B023
        yield ["`--form diffused`", *recovery.cells(signed(form="diffused"))]

    yield from table(["signatures", *recovery.header], lines())


def exactly(each: Set, power: float) -> Found:
    """What `envelope` finds with whole rows of entries^power in place of sketches of them."""
    walk = {"restart": DEFAULT.restarts, "drop": DEFAULT.drop, "weighted": False}
    offsets, nodes, masses = _core.walk_masses(each.graph, **walk)
    rows = np.zeros((each.graph.nodes, each.graph.nodes), np.float32)
    rows[np.repeat(np.arange(each.graph.nodes), np.diff(offsets.astype(np.int64))), nodes] = masses**power
    return each.envelope(each.store(rows))


def normalization(sets: list[Set]) -> Iterator[str]:
    """Recovery with walks that avoid hubs, and with hubs damped in what is counted: the diffused form only."""
    recovery = Recovery(sets)

    def lines() -> Iterator[list[str]]:
        yield ["random walk, the default", *recovery.cells(signed())]
        for exponent in DAMPINGS:
            yield [f"walks avoid hubs, {exponent:g}", *recovery.cells(lambda each: avoiding(each, exponent))]  # noqa: B023
        for damping in (0.0, 0.5):
            title = f"`--form diffused --hub-damping {damping:g}`"
            yield [title, *recovery.cells(signed(form="diffused", hub_damping=damping))]

    yield from table(["normalization", *recovery.header], lines())


def avoiding(each: Set, exponent: float) -> Found:
    """What `envelope` finds where walks follow edges in proportion to (deg(i)·deg(j))^−exponent."""
    edges, degrees = each.workspace.edges, np.maximum(each.graph.degrees, 1).astype(np.float64)
    weights = (degrees[edges.sources] * degrees[edges.targets]) ** -exponent
    graph = Graph(each.workspace.nodes.ids, edges.sources, edges.targets, weights)
    return each.envelope(each.store(gme.transform("signature", graph, weighted=True).vectors))


def edge_types(sets: list[Set]) -> Iterator[str]:
    """Recovery with the weight of one type changed; real sets have one type only."""
    recovery = Recovery(sets, real=False)
    kinds = sorted(recovery.synthetic[0].workspace.edges.type_names)

    def lines() -> Iterator[list[str]]:
        yield ["none, the default", *recovery.cells(signed())]
        for kind in kinds:
            for factor in FACTORS:
                yield [f"`{kind}={factor:g}`", *recovery.cells(signed(weights={kind: factor}))]

    yield from table(["`--edge-type-weights`", *recovery.header], lines())


def storage(sets: list[Set]) -> Iterator[str]:
    """Size, recall and recovery with vectors rounded, and in HNSW indexes."""
    recovery = Recovery(sets)
    roles = (f"{role}: {what}" for role in ("text", "signature") for what in ("bytes a node", f"recall@{BUDGET}"))

    def lines() -> Iterator[list[str]]:
        for title, change in (("exact", rounded), ("HNSW", indexed)):
            for kind in PRECISIONS:
                kept = {each.name: Stored(each, lambda store: change(store, kind)) for each in sets}  # noqa: B023
                facts: list[str] = []
                for role in (0, 1):
                    facts.append(f"{np.mean([each.sizes[role] for each in kept.values()]):,.0f}")
                    facts.append(f"{np.concatenate([each.recalls[role] for each in kept.values()]).mean():.4f}")
                cells = recovery.cells(lambda each: kept[each.name].found)  # noqa: B023
                yield [f"{title}, {kind}", *facts, *cells]

    yield from table(["storage", *roles, *recovery.header], lines())


class Stored:
    """A set with its original vectors and signatures stored in another way.

    Attributes:
        sizes: bytes a node of each of the two.
        recalls: by question, the share of the nearest nodes that are still among the nearest: nearest to the question,
            and to the signature of its first hit.
        found: what `envelope` finds.
    """

    def __init__(self, each: Set, change: Callable[[ExactStore], tuple[Store, float]]) -> None:
        before = (each.original, each.store(each.signatures()))
        after, self.sizes = zip(*map(change, before), strict=True)
        first = each.original.search(each.queries, 1)[0][:, 0]
        self.recalls = [
            recall(before[0].search(each.queries, BUDGET)[0], after[0].search(each.queries, BUDGET)[0]),
            recall(*(store.search(store.vectors[first], BUDGET)[0] for store in (before[1], after[1]))),
        ]
        self.found = each.envelope(after[1], after[0])


def recall(wanted: npt.NDArray[np.uint32], found: npt.NDArray[np.uint32]) -> list[float]:
    """By question, the share of the rows wanted that were found."""
    return [float(np.isin(a, b).mean()) for a, b in zip(wanted, found, strict=True)]


def rounded(store: ExactStore, kind: str) -> tuple[Store, float]:
    """A store of vectors as they come back from f16, or from i8 with one scale a vector; and bytes a vector."""
    vectors = store.vectors
    dim = vectors.shape[1]
    if kind == "f16":
        vectors = vectors.astype(np.float16).astype(np.float32)
    elif kind == "i8":
        scale = np.abs(vectors).max(axis=1, keepdims=True) / np.float32(127)
        vectors = (np.rint(vectors / np.where(scale > 0, scale, 1)) * scale).astype(np.float32)
    return ExactStore(vectors, store.ranks), {"f32": 4 * dim, "f16": 2 * dim, "i8": dim + 4}[kind]


def indexed(store: ExactStore, kind: str) -> tuple[Store, float]:
    """An HNSW store of this precision; and bytes of the index file a vector."""
    index = build_hnsw(store, precision=kind)
    return index, len(index.index.save()) / len(store.vectors)


def incremental(sets: list[Set]) -> Iterator[str]:
    """Cosines of old and new signatures by distance from a change."""
    chosen = [each for each in sets if each.name in ("development-42", "musique")]
    cases = [(each, degree) for each in chosen for degree in (0, 3)]
    titles = [f"{each.name}, {'a node with 3 edges' if degree else 'an edge'}" for each, degree in cases]
    results = [changes(each.graph, each.workspace.nodes.ids, degree) for each, degree in cases]

    def lines() -> Iterator[list[str]]:
        for ring in RINGS:
            members = [cosines.get(ring) for cosines, _ in results]
            yield [ring, *("" if m is None else f"{m.mean():.4f} / {m.min():.4f}" for m in members)]
        yield ["old against new", *(f"{mixed.mean():.4f} / {mixed.max():.4f}" for _, mixed in results)]

    yield f"{CHANGES} changes of each kind."
    yield ""
    yield from table(["hops from the change", *titles], lines())


PARTS: dict[str, Callable[[list[Set]], Iterator[str]]] = {
    "sets": about,
    "dimension": dimension,
    "roots": roots,
    "restart": restart,
    "drop": drop,
    "normalization": normalization,
    "edge-types": edge_types,
    "storage": storage,
    "incremental": incremental,
}

HELD_OUT = "held-out"


def main() -> None:
    """Print the parts asked for; write the page when that is all of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_data_option(parser, required=True)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--part", choices=(*PARTS, HELD_OUT), action="append")
    parser.add_argument("--output", type=Path, default=PAGE)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        folder.mkdir(exist_ok=True)
        sets = load(folder, given.data)
        page = list(paragraphs(INTRODUCTION))
        for part in given.part or (*PARTS, HELD_OUT):
            title, before, after = TEXTS[part]
            lines = [f"## {title}", "", *paragraphs(before)]
            print("\n".join(lines), flush=True)
            for line in held_out(folder, given.data) if part == HELD_OUT else PARTS[part](sets):
                print(line, flush=True)
                lines.append(line)
            closing = ["", *paragraphs(after)]
            print("\n".join(closing), flush=True)
            page += [*lines, *closing]
    if not given.part:
        given.output.write_text("\n".join(page).rstrip("\n") + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
