"""Shared names: what is a name, what the edges weigh, and when the builder leaves a corpus alone."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gme as package
from conftest import Run, write_lines
from gme.builders.name_phrases import phrase_texts, read_words
from gme.builders.names import NameOptions, name_coverage, shared_names
from gme.pipeline.edges import add_edges
from gme.pipeline.transform import transform_workspace
from gme.transforms.diffusion import SignatureOptions
from gme.workspace import Workspace
from gme.workspace.records import Nodes
from reference import names as slow


def _nodes(texts: list[str], types: list[str] | None = None) -> Nodes:
    ids = [f"n{number:03d}" for number in range(len(texts))]
    rows = {node_id: row for row, node_id in enumerate(ids)}
    return Nodes(ids, types or ["chunk"] * len(texts), texts, [None] * len(texts), rows)


def _shared(*texts: str, options: NameOptions | None = None) -> dict[tuple[int, int], float]:
    found = shared_names(_nodes(list(texts)), options)
    pairs = zip(found.sources.tolist(), found.targets.tolist(), strict=True)
    return dict(zip(pairs, found.weights.tolist(), strict=True))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Sir Isaac Newton wrote it.", "the young Isaac Newton"),
        ("The Bank of England", "a bank, Bank of England"),
        ("by J. R. R. Tolkien himself", "R. Tolkien"),
        ("Apollo 11 landed", "he saw Apollo 11"),
        ("NASA Ames", "Nasa Ames"),
        ("Isaac Newton’s law", "Isaac Newton's apple"),
        ("Åse Årdal", "with Åse Årdal"),
        ("Лев Толстой писал", "роман: Лев Толстой"),
        ("A\u030ase Dal and", "Åse Dal"),
        ("Jean-Luc Picard (captain)", "captain Jean-Luc Picard"),
        ("St. Louis is", "in St. Louis."),
    ],
)
def test_one_name_in_two_texts_connects_them(one: str, other: str) -> None:
    assert list(_shared(one, other, "nothing")) == [(0, 1)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Newton wrote", "says Newton"),  # single words mean too many things
        ("Isaac. Newton", "Isaac Newton"),
        ("Isaac, Newton", "Isaac Newton"),
        ("Isaac\nNewton", "Isaac Newton"),
        ("In Oxford", "In Oxford"),
        ("They met in The North", "seen in The North"),
        ("11 Apollo", "11 Apollo"),
        ("Lord of and by the Rings", "Lord of and by the Rings"),
        ("牛顿是物理学家", "牛顿是物理学家"),
        ("SHARES FALL AFTER BAD REPORT", "SHARES FALL AFTER BAD NEWS"),
        ("Shares Fall After Bad Report", "Shares Fall After Bad News"),
        ("Der Rat der Stadt ist alt", "Rat der Stadt"),  # German writes all nouns with capitals
    ],
)
def test_what_is_no_name_connects_nothing(one: str, other: str) -> None:
    assert _shared(one, other, "nothing") == {}


def test_weights_by_hand() -> None:
    both, ada, isaac, other = "Ada Byron met Isaac Newton", "on Ada Byron", "on Isaac Newton", "Sir Isaac Newton"
    got = _shared(both, ada, isaac, other, "", "")
    # Isaac Newton is in three texts: 1/(3 - 1)² for each pair. The first text has two names, the others one each.
    assert got == pytest.approx({(0, 1): 1 / 2**0.5, (0, 2): 0.25 / 2**0.5, (0, 3): 0.25 / 2**0.5, (2, 3): 0.25})


def test_names_in_too_many_passages_and_their_parts() -> None:
    texts = [f"Acme Corporation Limited, says {letter}" for letter in "abcdefgh"]
    assert _shared(*texts) == {}  # in all of eight passages
    assert len(_shared(*texts, *[""] * 8)) == 28
    assert _shared(*texts, *[""] * 8, options=NameOptions(max_passages=7)) == {}


PIECES = [
    "Ada",
    "Byron",
    "isaac",
    "Newton",
    "of",
    "the",
    "The",
    "J.",
    "St.",
    "11",
    "2nd",
    "É",
    "o'Hara",
    "O'Hara's",
    "x",
]


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.lists(
            st.tuples(st.sampled_from(PIECES), st.sampled_from([" ", " ", " ", "\u00a0", ", ", ". ", "\n", "-"]))
        ).map(lambda parts: "".join(piece + gap for piece, gap in parts)),
        max_size=12,
    ),
    st.integers(2, 5),
)
def test_equals_the_slow_twin(texts: list[str], most: int) -> None:
    got = _shared(*texts, options=NameOptions(max_passages=most))
    assert got == pytest.approx(slow.shared(texts, most), abs=1e-9)


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet="AbÉé. '-’\u00a01٣_\u0301\nǅof", max_size=30))
def test_runs_equal_those_of_the_slow_twin(text: str) -> None:
    words = read_words([text + " and much else that has no capital at all, word for word"])
    assert int((words.words == 0).sum()) == sum(1 for _ in slow.runs(text + " and"))


def test_a_headline_counts_even_if_no_words_in_it_are_adjacent() -> None:
    texts = [
        "RAIN, WIND, STORM, SNOW, FROST",
        "SUN, RAIN, STORM, HAIL, FROST",
        "SHARES OF ISAAC NEWTON FALL",
        "ISAAC NEWTON",
    ]
    assert read_words(texts).headlines == 3
    assert _shared(*texts) == slow.shared(texts) == {}


def test_the_slow_twin_on_real_prose_with_many_names() -> None:
    draw = random.Random(3)
    first, last = ["Ada", "Isaac", "Marie", "Jean-Luc"], ["Byron", "Newton", "Curie", "Picard", "of Oxford"]
    texts = [
        " ".join(f"then {draw.choice(first)} {draw.choice(first)} {draw.choice(last)} came," for _ in range(4))
        for _ in range(60)
    ]
    got = _shared(*texts)
    assert len(got) > 100
    assert got == pytest.approx(slow.shared(texts), abs=1e-9)


def test_sets_of_texts_are_listed_once() -> None:
    sets, frequent = phrase_texts(read_words(["Sir Isaac Newton", "so Sir Isaac Newton", "yes"]), 2)
    assert [each.tolist() for each in sets] == [[[0, 1]]]
    assert frequent == 0


def test_any_order_of_the_file_gives_the_same_lines(tmp_path: Path) -> None:
    draw = random.Random(1)
    names = [f"{a} {b}" for a in ("Ada", "Isaac", "Marie") for b in ("Byron", "Newton", "Curie")]
    records = [
        {"id": f"p{number}", "type": "chunk", "text": "; ".join(f"there was {draw.choice(names)}" for _ in range(3))}
        for number in range(40)
    ]
    written = []
    for turn in range(2):
        folder = tmp_path / str(turn)
        folder.mkdir()
        write_lines(folder / "nodes.jsonl", records)
        assert add_edges(Workspace(folder), "names").edges > 50
        written.append((folder / "edges.jsonl").read_bytes())
        draw.shuffle(records)
    assert written[0] == written[1]


def _corpus(folder: Path, *texts: str, entity: bool = False) -> Path:
    records: list[dict[str, Any]] = [
        {"id": f"p{number}", "type": "chunk", "text": text} for number, text in enumerate(texts)
    ]
    write_lines(folder / "nodes.jsonl", [*records, *([{"id": "e", "type": "entity", "text": "Ada"}] if entity else [])])
    return folder


def test_a_corpus_with_entities_is_left_alone_unless_told(tmp_path: Path, gme: Run) -> None:
    folder = _corpus(tmp_path, "on Ada Byron", "by Ada Byron", entity=True)
    code, out, err = gme("graph", "names", "-w", folder)
    assert (code, out) == (0, "0 edges\n")
    assert "left alone: the corpus has 1 node of type entity" in err
    assert "hint: gme graph names --beside-entities" in err
    assert gme("graph", "names", "--beside-entities", "-w", folder)[1] == "1 edge\n"


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (("牛顿是物理学家", "他出生于英国"), "no capitals to tell names by"),
        (("नमस्ते दुनिया", "ในกรุงเทพ"), "no capitals to tell names by"),
        (("SHARES FALL AFTER BAD REPORT", "RAIN IS EXPECTED ALL WEEK"), "capitals tell no names"),
        (("only one Isaac Newton",), "there is 1"),
        (("no name here", "Nor here"), "gme graph entities also takes names from a list"),
        (("we saw Isaac Newton", "here Isaac Newton", "of Isaac Newton", *[""] * 3), "--max-passages 100 finds"),
    ],
)
def test_says_why_nothing_was_found(texts: tuple[str, ...], said: str, tmp_path: Path, gme: Run) -> None:
    if said.startswith("--max"):
        texts *= 9  # the name is in 27 passages
    code, out, err = gme("graph", "names", "-w", _corpus(tmp_path, *texts))
    assert (code, out) == (0, "0 edges\n")
    assert said in err.rpartition("hint: ")[2]


def _signature(workspace: Workspace, **options: Any) -> bytes:
    made = SignatureOptions(dim=16, **options)
    name, _ = transform_workspace(workspace, "signature", made)
    return workspace.path(f"embeddings/{name}.npy").read_bytes()


def test_names_count_by_weight_by_default_and_other_edges_do_not(tmp_path: Path) -> None:
    folder = _corpus(
        tmp_path, "Ada Byron met Isaac Newton", "on Ada Byron", "on Isaac Newton", "Sir Isaac Newton", "", ""
    )
    link = {"source": "p4", "target": "p0", "type": "link", "weight": 7.0}
    write_lines(folder / "edges.jsonl", [link])
    add_edges(Workspace(folder), "names")
    default = _signature(Workspace(folder))
    heavy = _signature(Workspace(folder), weighted=True)
    assert heavy != default
    lines = [orjson.loads(line) for line in (folder / "edges.jsonl").read_bytes().splitlines()]
    assert [line["type"] for line in lines] == ["link", *["shared_name"] * 4]
    write_lines(folder / "edges.jsonl", [{**lines[0], "weight": 1.0}, *lines[1:]])
    assert _signature(Workspace(folder), weighted=True) == default
    half = _signature(Workspace(folder), edge_type_weights="shared_name=0.5")
    write_lines(folder / "edges.jsonl", [{**lines[0], "weight": 2.0}, *lines[1:]])
    assert _signature(Workspace(folder), weighted=True) == half, "only ratios of weights count"


def test_without_names_the_weights_of_others_do_not_count(tmp_path: Path) -> None:
    folder = _corpus(tmp_path, "a", "b", "c")
    written = []
    for weight in (1.0, 5.0):
        edges = [
            {"source": "p0", "target": "p1", "type": "x", "weight": weight},
            {"source": "p1", "target": "p2", "type": "y"},
        ]
        write_lines(folder / "edges.jsonl", edges)
        workspace = Workspace(folder)
        written.append(_signature(workspace))
        assert workspace.graph(own_weights=False) is workspace.graph()
    assert written[0] == written[1]


def test_edge_types_choose_names_or_leave_them_out(tmp_path: Path) -> None:
    folder = _corpus(tmp_path, "on Ada Byron", "by Ada Byron", "")
    write_lines(folder / "edges.jsonl", [{"source": "p1", "target": "p2", "type": "x", "weight": 3.0}])
    add_edges(Workspace(folder), "names")
    for kind, edges in (("x", 1), ("shared_name", 1)):
        _, manifest = transform_workspace(Workspace(folder), "signature", edge_types=[kind])
        assert manifest["graph"]["edges"] == edges


def test_coverage_by_hand() -> None:
    nodes = _nodes(
        ["on Ada Byron", "by Ada Byron", "nothing", "linked", "linked too", "Ada Byron"], ["chunk"] * 5 + ["document"]
    )
    graph = package.build_graph(nodes.ids, [("n003", "n004"), ("n001", "n005")])
    got = name_coverage(nodes, graph, [[0, 1], [0, 2], [3, 4], [1, 0], [0, 5]])
    # Of five passages two are isolated, and one of these has a name. Of two pairs apart, one shares a name.
    assert (got.isolated, got.connected, got.gold_pairs) == (0.4, 0.5, 0.5)
    empty = name_coverage(_nodes([]), package.build_graph([], []))
    assert (empty.isolated, empty.connected, empty.gold_pairs) == (0, 0, 0)
