"""Graphs of networkx: in memory, and in its GraphML, GEXF and node-link files. Pickles are never read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import ParseError

from ..errors import GmeError, cut, shorten
from ..options import make
from .attributes import AttributeOptions, edge_record, node_id, node_record
from .json_stream import elements, member_names
from .protocol import ReadContext, Record, Where

if TYPE_CHECKING:
    import networkx

    from ..workspace.records import Edges, Nodes


def from_networkx(
    graph: networkx.Graph,
    *,
    text: str = "text",
    title: str = "title",
    type: str = "type",
    weight: str = "weight",
) -> tuple[Nodes, Edges]:
    """Convert a networkx graph to nodes and edges, ready for `gme.workspace_graph`.

    Args:
        graph: any kind: directed, multigraph or both. Ids are the graph's nodes as strings.
        text: the node attribute with the text. Without it the title is used, and without that the id.
        title: the node attribute with the title. Without it ``label`` is used.
        type: the attribute with the type, of nodes (default "chunk") and of edges (default "link").
        weight: the edge attribute with the weight, a positive number; default 1.

    Returns:
        Nodes in the graph's order, and edges as uint32 rows, both in the form of `read_nodes` and `read_edges`.

    Raises:
        GmeError: two nodes give the same string, an id is empty or too long, or a weight is not a positive number.

    Example:
        >>> import gme, networkx
        >>> graph = networkx.Graph()
        >>> graph.add_node("a", text="Ada wrote the note.", title="Ada")
        >>> graph.add_edge("a", "b", type="cites")
        >>> nodes, edges = gme.from_networkx(graph)
        >>> nodes.ids, nodes.titles, len(edges)
        (['a', 'b'], ['Ada', None], 1)
    """
    import numpy as np

    from ..workspace.records import Edges, Nodes
    from .checking import checked

    options = make(
        AttributeOptions,
        {
            "text_attribute": text,
            "title_attribute": title,
            "type_attribute": type,
            "edge_type_attribute": type,
            "weight_attribute": weight,
        },
        "from_networkx",
    )
    nodes = Nodes([], [], [], [], {})
    ends: list[tuple[int, int, float, int]] = []
    kinds: dict[str, int] = {}
    for kind, value, _ in checked(_records(graph, options, Where(Path("graph")))):
        if kind == "nodes":
            nodes.rows[value["id"]] = len(nodes.ids)
            nodes.ids.append(value["id"])
            nodes.types.append(value["type"])
            nodes.texts.append(value["text"])
            nodes.titles.append(value.get("title"))
        else:
            rows = nodes.rows[value["source"]], nodes.rows[value["target"]]
            ends.append((*rows, float(value.get("weight", 1.0)), kinds.setdefault(value["type"], len(kinds))))
    edges = Edges(
        np.array([end[0] for end in ends], dtype=np.uint32),
        np.array([end[1] for end in ends], dtype=np.uint32),
        np.array([end[2] for end in ends], dtype=np.float64),
        np.array([end[3] for end in ends], dtype=np.uint32),
        list(kinds),
    )
    return nodes, edges


def read_graphml(paths: list[Path], options: AttributeOptions, context: ReadContext) -> Iterator[Record]:
    """GraphML. networkx holds the whole graph in memory. XML turns line breaks into \\n and can't hold NUL."""
    import networkx

    yield from _read_xml(paths, options, context, networkx.read_graphml)


def read_gexf(paths: list[Path], options: AttributeOptions, context: ReadContext) -> Iterator[Record]:
    """GEXF, read like GraphML."""
    import networkx

    yield from _read_xml(paths, options, context, networkx.read_gexf)


def read_node_link(paths: list[Path], options: AttributeOptions, context: ReadContext) -> Iterator[Record]:
    """Node-link JSON: `nodes` with `id`, and `links` or `edges` with `source` and `target`. Read in three passes."""
    path = paths[0]
    context.expect([path], passes=3)
    names = member_names(path, context)
    links = next((name for name in ("links", "edges") if name in names), None)
    if "nodes" not in names or links is None:
        raise GmeError(
            f"{path}: expected 'nodes' and 'links' (or 'edges'), found {', '.join(names) or 'nothing'}",
            "node-link JSON is what networkx.node_link_data and D3 write",
        )
    for where, value in elements(path, context, "nodes"):
        where = where._replace(detail=where.detail.replace("element", "node"))
        attributes = _object(value, where)
        identity = node_id(attributes.pop("id", None), where)
        yield Record("nodes", node_record(identity, attributes, options, where), where)
    for where, value in elements(path, context, links):
        where = where._replace(detail=where.detail.replace("element", "edge"))
        attributes = _object(value, where)
        source, target = (node_id(attributes.pop(end, None), where) for end in ("source", "target"))
        yield Record("edges", edge_record(source, target, attributes, options, where), where)


def _object(value: object, where: Where) -> dict[Any, Any]:
    if not isinstance(value, dict):
        raise GmeError(f"{where}: expected a JSON object, found {shorten(value)}")
    return value


def load_xml(path: Path, read: Any) -> networkx.Graph:
    """Load a graph with networkx's function `read`. A bad file raises a `GmeError`."""
    try:
        with path.open("rb") as handle:  # with the path, networkx would unpack .gz files of any size
            return read(handle)
    except ParseError as error:
        raise GmeError(
            f"{path}:{error.position[0]}: not valid XML: {cut(str(error))}", "is the file cut off?"
        ) from error
    except (OSError, MemoryError):
        raise
    except Exception as error:  # networkx checks little, so a bad file may raise any kind of error
        raise GmeError(f"{path}: networkx can't read it: {cut(str(error))}", "is it a file of this format?") from error


def _read_xml(paths: list[Path], options: AttributeOptions, context: ReadContext, read: Any) -> Iterator[Record]:
    path = paths[0]
    context.expect([path])
    graph = load_xml(path, read)
    context.advance(path.stat().st_size)
    yield from _records(graph, options, Where(path))


def _records(graph: networkx.Graph, options: AttributeOptions, where: Where) -> Iterator[Record]:
    """The nodes and edges of a graph, in the graph's order."""
    for node, attributes in graph.nodes(data=True):
        here = where._replace(detail=f"node {shorten(node)}")
        yield Record("nodes", node_record(node_id(node, here), attributes, options, here), here)
    for source, target, attributes in graph.edges(data=True):
        here = where._replace(detail=f"edge {shorten(source)} – {shorten(target)}")
        ends = node_id(source, here), node_id(target, here)
        yield Record("edges", edge_record(*ends, attributes, options, here), here)
