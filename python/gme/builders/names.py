"""Shared names: passages are connected where the same names stand in them, the closer the rarer the names are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from .._core import Graph
from ..formatting import counted
from ..options import Options, option
from ..types import Progress
from ..workspace.graphs import SHARED_NAME
from ..workspace.records import NOT_EVIDENCE, Nodes
from .name_phrases import Rows, phrase_texts, read_words
from .protocol import Found, Record

_DECIMALS = 9  # of a weight in the file

_ENTITIES = "gme graph names --beside-entities connects passages all the same: compare both on questions"

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class NameOptions(Options):
    """Options that decide which names connect passages."""

    max_passages: int = option(20, "leave out names in more passages than this: they tell little", low=2, high=100)
    beside_entities: bool = option(
        False, "also where the corpus has nodes of type entity: with such a layer, shared names have made results worse"
    )


@dataclass(frozen=True)
class SharedNames:
    """Which passages share names.

    Attributes:
        sources, targets: rows of nodes, int64 (edges,). The smaller id is the source; sorted by the two ids.
        weights: float64 (edges,), above 0 and at most 1.
        names: how many names connect passages. frequent: how many phrases stand in too many passages.
        passages: how many nodes were searched. headlines: of these, those in which nearly all words have capitals; if
            most are such, there are no names. without_capitals: those without any capital letter.
    """

    sources: Rows
    targets: Rows
    weights: Floats
    names: int = 0
    frequent: int = 0
    passages: int = 0
    headlines: int = 0
    without_capitals: int = 0


@dataclass(frozen=True)
class NameCoverage:
    """What shared names would add to a graph; all are shares from 0 to 1.

    Attributes:
        isolated: of the passages, those without an edge.
        connected: of the isolated passages, those that share a name with another passage.
        gold_pairs: of the pairs of gold passages without an edge between them, those that share a name; 0 if there
            are none.
    """

    isolated: float
    connected: float
    gold_pairs: float


def shared_names(nodes: Nodes, options: NameOptions | None = None, progress: Progress | None = None) -> SharedNames:
    """Find the passages that share names. A name is a phrase of two to four capitalized words in 2 to 20 passages.

    A name in n passages gives each pair of them 1/(n - 1)², so that it gives each passage 1/(n - 1). The sum over the
    names of a pair is divided by the geometric mean of how many names the two passages have. So all names of a passage
    together weigh about as much as one other edge, however long the passage is.

    Args:
        nodes: nodes of the types document and entity are not searched.
        options: see `NameOptions`; nodes of type entity are ignored here.
        progress: called with (passages done, passages).

    Example:
        >>> import gme, networkx
        >>> graph = networkx.Graph()
        >>> for node, text in enumerate(["Isaac Newton lived here.", "Sir Isaac Newton wrote.", "He went home."]):
        ...     graph.add_node(str(node), text=text)
        >>> found = gme.shared_names(gme.from_networkx(graph)[0])
        >>> found.sources.tolist(), found.targets.tolist(), found.weights.tolist()
        ([0], [1], [1.0])
    """
    options = options or NameOptions()
    passages = [row for row, kind in enumerate(nodes.types) if kind not in NOT_EVIDENCE]
    # Passages are numbered in the order of their ids, so that the order of the file changes nothing.
    passages.sort(key=nodes.ids.__getitem__)
    words = read_words([nodes.texts[row] for row in passages], progress)
    most = min(options.max_passages, max(2, len(passages) // 2))
    sets, frequent = phrase_texts(words, most)
    first, second, weights = _pairs(sets, len(passages))
    rows = np.array(passages, dtype=np.int64)
    names = sum(len(each) for each in sets)
    return SharedNames(
        rows[first], rows[second], weights, names, frequent, len(passages), words.headlines, words.without_capitals
    )


def name_coverage(
    nodes: Nodes, graph: Graph, gold: Iterable[Sequence[int]] = (), options: NameOptions | None = None
) -> NameCoverage:
    """What shared names would add to a graph that lacks them.

    Args:
        nodes: see `shared_names`.
        graph: the graph of all other edges; row i belongs to node i.
        gold: rows of the gold nodes of each question.
        options: see `NameOptions`.

    Example:
        >>> import gme, networkx
        >>> graph = networkx.Graph()
        >>> for node, text in enumerate(["Isaac Newton lived here.", "Sir Isaac Newton wrote.", "He went home."]):
        ...     graph.add_node(str(node), text=text)
        >>> nodes, edges = gme.from_networkx(graph)
        >>> gme.name_coverage(nodes, gme.workspace_graph(nodes, edges), gold=[[0, 1]])
        NameCoverage(isolated=1.0, connected=0.6666666666666666, gold_pairs=1.0)
    """
    found = shared_names(nodes, options)
    degrees = np.diff(graph.csr()[0].astype(np.int64))
    passage = np.array([kind not in NOT_EVIDENCE for kind in nodes.types], dtype=bool)
    isolated = passage & (degrees == 0)
    named = np.zeros(len(nodes), dtype=bool)
    named[found.sources] = named[found.targets] = True
    pairs = {(a, b) for rows in gold for a, b in combinations(sorted(set(map(int, rows))), 2)}
    apart = {(a, b) for a, b in pairs if b not in graph.neighbors(a) and passage[a] and passage[b]}
    both = np.sort(np.stack([found.sources, found.targets]), axis=0).T
    sharing = apart.intersection(map(tuple, both.tolist()))
    return NameCoverage(
        float(isolated.sum() / max(passage.sum(), 1)),
        float((isolated & named).sum() / max(isolated.sum(), 1)),
        len(sharing) / max(len(apart), 1),
    )


def _pairs(sets: list[Rows], passages: int) -> tuple[Rows, Rows, Floats]:
    """The pairs of passages in the same sets, sorted, and their weights. `sets` holds a (names, size) array a size."""
    counts = np.zeros(passages, dtype=np.int64)
    keys, parts = [np.zeros(0, dtype=np.int64)], [np.zeros(0)]
    for each in sets:
        size = each.shape[1]
        counts += np.bincount(each.ravel(), minlength=passages)
        first, second = np.triu_indices(size, 1)
        keys.append((each[:, first] * passages + each[:, second]).ravel())
        parts.append(np.full(len(keys[-1]), (size - 1.0) ** -2))
    pairs, place = np.unique(np.concatenate(keys), return_inverse=True)
    # Each sum runs over ever larger sets: its terms stand in one order, whatever the order of the names is.
    sums = np.bincount(place, weights=np.concatenate(parts), minlength=len(pairs))
    first, second = pairs // max(passages, 1), pairs % max(passages, 1)
    return first, second, np.round(sums / np.sqrt(counts[first] * counts[second]), _DECIMALS)


def find_shared_names(nodes: Nodes, options: NameOptions, threads: int, progress: Progress | None) -> Found:
    """Find shared names as edge records. In a corpus with nodes of type entity there are none, unless told to."""
    entities = nodes.types.count("entity")
    if entities and not options.beside_entities:
        why = (
            f"left alone: the corpus has {counted(entities, 'node')} of type entity, which connect passages by names"
            " already; shared names beside them have made results worse"
        )
        return Found([], facts=[why], hint=_ENTITIES)
    found = shared_names(nodes, options, progress)
    return Found(_records(nodes, found), facts=list(_facts(found)), hint=_hint(found))


def _records(nodes: Nodes, found: SharedNames) -> Iterator[Record]:
    columns = (array.tolist() for array in (found.sources, found.targets, found.weights))
    for source, target, weight in zip(*columns, strict=True):
        yield {"source": nodes.ids[source], "target": nodes.ids[target], "type": SHARED_NAME, "weight": weight}


def _facts(found: SharedNames) -> Iterator[str]:
    yield f"{counted(found.names, 'name')} in {counted(found.passages, 'passage')}"
    if found.frequent:
        yield f"left out: {counted(found.frequent, 'phrase')} in too many passages for a name (--max-passages)"
    if 2 * found.headlines > found.passages:
        yield f"left alone: in {counted(found.headlines, 'passage')} nearly all words have capitals"
    if found.without_capitals:
        yield f"{counted(found.without_capitals, 'passage')} without any capital letter: no names are found there"
    if found.names:
        yield "shared names need the search by words: gme transform signature, then gme retrieve envelope"


def _hint(found: SharedNames) -> str:
    """What to try if there are no edges."""
    if found.passages < 2:
        return f"names connect nodes that are neither document nor entity, and there is {found.passages or 'none'}"
    if 2 * found.without_capitals > found.passages:
        return "these texts have no capitals to tell names by: give names in a list, gme graph entities --entities FILE"
    if 2 * found.headlines > found.passages:
        return "capitals tell no names where all words have them: give a list, gme graph entities --entities FILE"
    return ""
