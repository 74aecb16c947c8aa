"""The compiled reader of nodes and edges against its slow twin, on good files, bad files and damaged ones."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gme._core import NodeTable
from gme.errors import GmeError
from gme.workspace import records
from properties import examples
from reference import records as slow_records

IDS = ["a", "b", "é", "🦀", "x" * 1024, "a b\"'/\\", "\x00", "c"]


@pytest.fixture(scope="module", autouse=True)
def _small_blocks() -> Iterator[None]:
    """Blocks far smaller than a line up to whole files, so that cuts fall everywhere."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(records, "_BLOCK", 37)
        yield


def _said(work: Callable[[], Any]) -> Any:
    try:
        return work()
    except GmeError as error:
        return f"{type(error).__name__}: {error.message}"


def _agree_on_nodes(content: bytes) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "nodes.jsonl"
        path.write_bytes(content)

        def fast() -> Any:
            nodes = records.read_nodes(path)
            assert nodes.rows == {node_id: row for row, node_id in enumerate(nodes.ids)}
            return nodes.ids, nodes.types, nodes.texts, nodes.titles

        def lean() -> Any:
            return records.read_ids(path).ids

        slow = _said(lambda: slow_records.read_nodes(path))
        assert _said(fast) == slow
        assert _said(lean) == (slow if isinstance(slow, str) else slow[0])
        return slow


def _agree_on_edges(content: bytes) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "edges.jsonl"
        path.write_bytes(content)

        def fast() -> Any:
            edges = records.read_edges(path, NodeTable(IDS))
            assert list(dict.fromkeys(edges.type_names[kind] for kind in edges.types)) == edges.type_names
            weighted = any(weight != 1 for weight in edges.weights)
            assert (edges.stored_weights is not None) == weighted
            return [
                (int(source), int(target), float(weight), edges.type_names[kind])
                for source, target, weight, kind in zip(
                    edges.sources, edges.targets, edges.weights, edges.types, strict=True
                )
            ]

        slow = _said(lambda: slow_records.read_edges(path, IDS))
        assert _said(fast) == slow
        return slow


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
ENDS = st.sampled_from(["\n", "\r\n", "\n\n", " \n", "\t\r\n", "\x0b\n", "\x0c\n", "\n \n"])


@st.composite
def _line(draw: st.DrawFn, good: dict[str, st.SearchStrategy[Any]], optional: dict[str, Any]) -> str:
    """Mostly a good line; sometimes a field is missing, of another kind, or there twice."""
    fields = [(key, draw(values)) for key, values in good.items()]
    fields += [(key, draw(values)) for key, values in optional.items() if draw(st.booleans())]
    if draw(st.integers(0, 19)) == 0:
        fields.append((draw(st.sampled_from([*good, *optional, "extra"])), draw(ANYTHING)))
    if draw(st.integers(0, 29)) == 0:
        fields.pop(draw(st.integers(0, len(fields) - 1)))
    if draw(st.booleans()):
        fields = draw(st.permutations(fields))
    ascii_only = draw(st.booleans())
    entries = (f"{json.dumps(k)}:{json.dumps(v, ensure_ascii=ascii_only)}" for k, v in fields)
    return "{" + draw(st.sampled_from([",", " , "])).join(entries) + "}" + draw(ENDS)


@st.composite
def _file(draw: st.DrawFn, line: st.SearchStrategy[str]) -> bytes:
    """Some lines, perhaps after a byte order mark, perhaps without the last end, perhaps with a byte changed."""
    content = "".join(draw(st.lists(line, max_size=12))).encode("utf-8", "surrogatepass")
    if draw(st.booleans()):
        content = b"\xef\xbb\xbf" + content
    if draw(st.booleans()):
        content = content.rstrip()
    for _ in range(draw(st.integers(0, 2))):
        if content:
            place = draw(st.integers(0, len(content) - 1))
            byte = draw(st.sampled_from(list(b'{}[]",:\\\n 0e-.tn\x00\x0b\xff\xc3\xed\xa0')) | st.integers(0, 255))
            content = content[:place] + bytes([byte]) + content[place + draw(st.integers(0, 1)) :]
    return content


NODE_LINE = _line(
    {
        "id": st.sampled_from(IDS) | st.text(max_size=3),
        "type": st.sampled_from(["chunk", "x", ""]),
        "text": st.text(max_size=20),
    },
    {"title": st.none() | st.text(max_size=5), "more": ANYTHING},
)
WEIGHTS = (
    st.sampled_from([1, 1.0, 2, 0.1, 1e-45, 3.4028234e38, 3.4028236e38, 2**63, 2**64, 2.0**-150, 0, -1, 1e-46])
    | st.floats(1e-30, 1e30)
    | st.integers(1, 2**130)
)
EDGE_LINE = _line(
    {"source": st.sampled_from(IDS), "target": st.sampled_from(IDS), "type": st.sampled_from(["link", "x", ""])},
    {"weight": WEIGHTS, "more": ANYTHING},
)

NODE = b'{"id": "a", "type": "t", "text": ""%s}'
EDGE = b'{"source": "a", "target": "b", "type": "t"%s}'


@examples(300)
@given(_file(NODE_LINE))
def test_nodes_are_read_as_the_twin_reads_them(content: bytes) -> None:
    _agree_on_nodes(content)


@examples(300)
@given(_file(EDGE_LINE))
def test_edges_are_read_as_the_twin_reads_them(content: bytes) -> None:
    _agree_on_edges(content)


@examples(500)
@given(st.text('0123456789.eE+-"x', max_size=12) | st.floats().map(repr) | st.integers(-(10**320), 10**320).map(str))
@example("1e400")
@example("0e999999999999")
@example("1e-999999999999")
@example("-0")
@example("18446744073709551616")
@example("-9223372036854775809")
@example("2.2250738585072011e-308")
@example("340282356779733661637539395458142568448")
@example("340282356779733661637539395458142568447")
@example("0." + "0" * 400 + "1")
@example("7.006492321624085e-46")
@example("7.0064923216240854e-46")
def test_numbers_are_read_as_the_twin_reads_them(number: str) -> None:
    for key in (b"weight", b"more"):
        _agree_on_edges(EDGE % (b', "%s": %s' % (key, number.encode())))


@pytest.mark.parametrize(
    "more",
    [
        *(b'"more": ' + b"[" * deep + b"]" * deep for deep in (126, 127, 128, 1022, 1023, 1024, 1025)),
        *(b'"more": ' + b'{"a":' * deep + b"1" + b"}" * deep for deep in (1023, 1024)),
        b'"more": "\\ud83e\\udd80"',
        b'"more": "\\ud83e"',
        b'"more": "\\udd80"',
        b'"more": "\\ud83e\\u0041"',
        b'"\\ud83e": 1',
        b'"more": "\xed\xa0\x80"',
        b'"\xc3": 1',
        b'"more": "\x1f"',
        b'"more": "\x7f"',
        b'"more": NaN',
        b'"more": [1e400]',
        b'"more": {"a": -Infinity}',
        b'"title": null',
        b'"title": 5',
        b'"title": "x", "title": 7',
        b'"\\u0074itle": "x"',
        b'"\\u0069d": "b"',
        b'"id": ""',
        b'"id": "%s"' % ("🦀" * 1024).encode(),
        b'"id": "%s"' % ("🦀" * 1025).encode(),
        b'"more": 1,',
        b'"more": 01',
        b'"more": 1.',
        b'"more": +1',
    ],
)
def test_what_json_is(more: bytes) -> None:
    for after in (b"", b"\n", b"\r\n\x0b\n", b"\n" + NODE % b"", b"\x00", b" x"):
        _agree_on_nodes(NODE % (b", " + more) + after)


def test_the_first_wrong_line_counts_whatever_is_wrong_with_it() -> None:
    lines = [NODE % b"" for _ in range(2)]
    assert "n.jsonl:3: duplicate" not in _agree_on_nodes(b"\n".join([lines[0], b"{", lines[1]]))
    assert "nodes.jsonl:4: duplicate id 'a', first seen on line 1" in _agree_on_nodes(
        b"\n".join([lines[0], b"", b" ", lines[1], b"{"])
    )
    for more in (b', "title": 5', b', "type": null', b', "text": []'):
        said = _agree_on_nodes(b"\n".join([lines[0], NODE % more]))
        assert "nodes.jsonl:2: duplicate id 'a', first seen on line 1" in said
    unknown = EDGE.replace(b'"b"', b'"zz"')
    for second in (EDGE % b', "weight": 0', b"{", EDGE.replace(b'"t"', b"5") % b""):
        said = _agree_on_edges(b"\n".join([EDGE % b"", unknown % b"", second]))
        assert "edges.jsonl:2: edge target 'zz' is not in nodes.jsonl" in said
        assert "edges.jsonl:2" in _agree_on_edges(b"\n".join([EDGE % b"", second, unknown % b""]))


@pytest.mark.parametrize("kinds", [1, 255, 256, 257, 1000])
def test_types_take_a_byte_where_that_is_enough(tmp_path: Path, kinds: int) -> None:
    path = tmp_path / "edges.jsonl"
    path.write_bytes(b"".join(b'{"source":"a","target":"b","type":"t%d"}\n' % (n % kinds) for n in range(3000)))
    edges = records.read_edges(path, NodeTable(IDS))
    assert edges.type_names == [f"t{n}" for n in range(kinds)]
    assert edges.types.tolist() == [n % kinds for n in range(3000)]
    assert edges.types.dtype == (np.uint8 if kinds <= 256 else np.uint32)


def test_one_late_weight_gives_all_lines_theirs(tmp_path: Path) -> None:
    path = tmp_path / "edges.jsonl"
    plain = b'{"source":"a","target":"b","type":"t"}\n'
    path.write_bytes(plain * 50 + plain.replace(b"}", b', "weight": 2}') + plain * 50)
    weights = records.read_edges(path, NodeTable(IDS)).stored_weights
    assert weights is not None
    assert weights.tolist() == [1.0] * 50 + [2.0] + [1.0] * 50


@pytest.mark.parametrize("block", [1, 7, 100, 1 << 20])
@pytest.mark.parametrize("longest", [60, 61, 400])
def test_longer_lines_than_the_bound_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int, longest: int
) -> None:
    monkeypatch.setattr(records, "_BLOCK", block)
    monkeypatch.setattr(records, "LONGEST_LINE", longest)
    path = tmp_path / "nodes.jsonl"
    lines = [b'{"id": "%d", "type": "t", "text": "%s"}' % (n, b"x" * n) for n in range(100)]
    path.write_bytes(b"\n".join(lines))
    number = next((n for n, line in enumerate(lines, start=1) if len(line) > longest), None)
    if number is None:
        assert len(records.read_nodes(path)) == 100
    else:
        with pytest.raises(GmeError, match=f"nodes.jsonl:{number}: the line has more than {longest} bytes"):
            records.read_nodes(path)


def test_large_files_are_cut_into_many_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "_BLOCK", 3 << 20)
    path = tmp_path / "nodes.jsonl"
    lines = [b'{"id":"%d","type":"t","text":"%s"}\n' % (n, b"x" * (n % 300)) for n in range(60_000)]
    path.write_bytes(b"".join(lines))
    assert records.read_nodes(path).ids == [str(n) for n in range(60_000)]
    lines[45_000] = lines[30_000]
    path.write_bytes(b"".join(lines))
    with pytest.raises(GmeError, match=r"nodes.jsonl:45001: duplicate id '30000', first seen on line 30001"):
        records.read_nodes(path)


def test_the_table_knows_rows_and_ids() -> None:
    table = NodeTable(IDS)
    assert (len(table), table.ids, table[3], table.row("🦀"), table.row("no")) == (len(IDS), IDS, "🦀", 3, None)
    assert "c" in table
    assert "" not in table
    for row in (-1, len(IDS), 2**40):
        with pytest.raises(IndexError):
            table[row]
    with pytest.raises(GmeError, match="rows 0 and 2 carry the same node id"):
        NodeTable(["a", "b", "a"])
