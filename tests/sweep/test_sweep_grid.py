"""Grid files: what they expand to, and what is wrong with bad ones."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from conftest import REPOSITORY, Run
from gme.errors import GmeError
from gme.options import Options, option
from gme.retrieval.batch import strategy_options
from gme.retrieval.options import PlainOptions
from gme.retrieval.strategies import STRATEGIES, Strategy
from gme.sweep.configurations import required
from gme.sweep.criteria import parse_constraint, parse_measure
from gme.sweep.grid import Grid, read_grid
from gme.transforms.registry import TRANSFORMS, Transform

PLAIN = "[[strategy]]\nstrategy = 'plain'\n"
WALK = "[[transform]]\nmethod = 'walk'\n"


def grid_of(folder: Path, text: str, name: str = "grid.toml") -> Grid:
    (folder / name).write_text(text, encoding="utf-8")
    return read_grid(folder / name)


def names(grid: Grid) -> list[str]:
    return [configuration.name for configuration in grid.configurations]


def test_all_combinations_of_all_values(tmp_path: Path) -> None:
    grid = grid_of(
        tmp_path,
        """
        [[transform]]
        method = "walk"
        steps = [2, 3]
        alpha = [0, 0.5]
        [[transform]]
        method = ["ppr", "signature"]
        [[strategy]]
        strategy = ["plain", "fused"]
        [[strategy]]
        strategy = "envelope"
        collections = "signature"
        mix = ["auto", 0.3]
        """,
    )
    assert list(grid.collections) == [
        "walk",
        "walk-alpha0.5",
        "walk-steps3",
        "walk-steps3-alpha0.5",
        "ppr",
        "signature",
    ]
    ours = ["envelope-signature", "envelope-signature-mix0.3"]
    assert names(grid) == ["plain", *(f"fused-{name}" for name in grid.collections), *ours]
    assert isinstance(grid.collections["walk"].options.as_dict()["alpha"], float)


def test_given_options_make_the_same_options_again(tmp_path: Path) -> None:
    grid = grid_of(
        tmp_path,
        f"{WALK}[[strategy]]\nstrategy = ['fused', 'chained']\nmix = [0.3, 0.5]\nbudget = [10, 40]\n"
        "schedule = ['default', 'original:10,fused:30']\n",
    )
    for configuration in grid.configurations:
        assert strategy_options(configuration.strategy, configuration.given) == configuration.options
    assert len(grid.configurations) == 16


def test_a_schedule_sets_the_budget_or_is_scaled_to_it(tmp_path: Path) -> None:
    stages = "[[strategy]]\nstrategy = 'fused'\nschedule = 'original:16,fused:8'\n"
    assert [c.budget for c in grid_of(tmp_path, WALK + stages).configurations] == [24]
    scaled = grid_of(tmp_path, WALK + stages + "budget = [12, 24]\n").configurations
    assert [(c.budget, c.options.as_dict()["schedule"]) for c in scaled] == [
        (12, "original:8,fused:4"),
        (24, "original:16,fused:8"),
    ]
    assert scaled[1].at_budget(6).options.as_dict()["schedule"] == "original:4,fused:2"


def test_repetitions_count_once_and_shown_names_are_unique(tmp_path: Path) -> None:
    twice = grid_of(tmp_path, f"{WALK}steps = [2, 3]\n{WALK}{PLAIN}{PLAIN}")
    assert (list(twice.collections), names(twice)) == (["walk", "walk-steps3"], ["plain"])
    close = grid_of(tmp_path, f"{WALK}alpha = [0.33333301, 0.33333302]\n{PLAIN}")
    assert list(close.collections) == ["walk-alpha0.33333301", "walk-alpha0.33333302"]


def test_exclusions(tmp_path: Path) -> None:
    grid = grid_of(
        tmp_path,
        """
        [[transform]]
        method = ["hop1", "walk"]
        alpha = [0.2, 0.5]
        [[transform]]
        method = "convex"
        sweeps = [0, 3]
        solver = ["auto", "cg"]
        [[strategy]]
        strategy = ["plain", "fused"]
        budget = [10, 40]
        [[exclude]]
        method = "hop1"
        alpha = 0.5
        [[exclude]]                     # cg makes no sweeps: never built, so never refused
        method = "convex"
        sweeps = 3
        solver = "cg"
        [[exclude]]
        strategy = "fused"
        collection = "walk*"
        budget = 10
        [[exclude]]
        strategy = "chained"
        """,
    )
    assert "hop1-alpha0.5" not in grid.collections
    assert [n for n in grid.collections if n.startswith("convex")] == ["convex", "convex-solvercg", "convex-sweeps3"]
    assert "fused-walk-alpha0.2" in names(grid)
    assert not {"fused-walk-alpha0.2-budget10", "fused-hop1-alpha0.5"} & set(names(grid))
    assert {"plain-budget10", "plain", "fused-hop1-budget10"} <= set(names(grid))
    assert len(grid.notes) == 1
    assert grid.notes[0].endswith("exclude 4 excludes nothing")


def test_questions_are_not_compared_with_signatures(tmp_path: Path) -> None:
    grid = grid_of(
        tmp_path,
        f"{WALK}[[transform]]\nmethod = 'signature'\n[[strategy]]\nstrategy = ['split', 'fused']\n"
        "[[strategy]]\nstrategy = 'fused'\nschedule = 'modified:10,fused:30'\n",
    )
    assert names(grid) == [
        "split-walk",
        "fused-walk",
        "fused-walk-schedulemodified10-fused30",
        "fused-signature",
    ]
    assert [note.split(",")[0] for note in grid.notes] == [
        "left out: split on signature",
        "left out: fused on signature",
    ]


def test_collections_by_name_pattern_method_and_the_control(tmp_path: Path) -> None:
    base = f"{WALK}steps = [2, 3]\n[[transform]]\nmethod = 'ppr'\n[[strategy]]\nstrategy = 'fused'\ncollections = "
    for given, expected in {
        "'walk'": ["fused-walk", "fused-walk-steps3"],
        "'walk-s*'": ["fused-walk-steps3"],
        "['original', 'ppr']": ["fused-original", "fused-ppr"],
        "'*'": ["fused-original", "fused-walk", "fused-walk-steps3", "fused-ppr"],
    }.items():
        assert names(grid_of(tmp_path, base + given)) == expected


def test_edge_types_are_part_of_a_collection(tmp_path: Path) -> None:
    grid = grid_of(tmp_path, f"{WALK}edge_types = ['', 'link', 'mentions,link', 'part-of']\n{PLAIN}")
    first, link, both, dashed = grid.collections.values()
    assert [c.edge_types for c in (first, link, both)] == [(), ("link",), ("link", "mentions")]
    assert [c.name for c in (first, link, both)] == ["walk", "walk-edge-types-link", "walk-edge-types-link-mentions"]
    assert re.fullmatch(r"walk-edge-types-part-of-[0-9a-f]{8}", dashed.name)


def test_weights_of_types_that_are_left_out_make_no_collection(tmp_path: Path) -> None:
    weighed = "[[transform]]\nmethod = 'signature'\nedge_types = ['', 'link', 'link,cites']\n"
    grid = grid_of(tmp_path, f"{weighed}edge_type_weights = ['', 'cites=2']\n[[strategy]]\nstrategy = 'envelope'\n")
    made = [(c.edge_types, str(c.options.as_dict()["edge_type_weights"])) for c in grid.collections.values()]
    assert made == [((), ""), (("link",), ""), (("cites", "link"), ""), ((), "cites=2"), (("cites", "link"), "cites=2")]
    assert grid.notes == ("left out: signature on edges of type link, with a weight for cites",)


def test_yaml_says_the_same(tmp_path: Path) -> None:
    pytest.importorskip("yaml")
    toml = grid_of(
        tmp_path, f"criterion = 'recall@5'\ncurve = [5, 10]\n{WALK}steps = [2, 3]\n[[strategy]]\nstrategy = 'fused'\n"
    )
    yaml = grid_of(
        tmp_path,
        "criterion: recall@5\ncurve: [5, 10]\ntransform:\n- method: walk\n  steps: [2, 3]\n"
        "strategy:\n- strategy: fused\n",
        "grid.yaml",
    )
    assert toml == yaml


@pytest.mark.parametrize("example", sorted((REPOSITORY / "examples").glob("*.toml")), ids=lambda path: path.stem)
def test_the_examples_are_good_grids(example: Path) -> None:
    grid = read_grid(example)
    assert len(grid.configurations) > 3
    assert not [note for note in grid.notes if "excludes nothing" in note]


def test_whatever_is_in_the_registries_can_be_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    @dataclass(frozen=True)
    class NewOptions(Options):
        """Options of a transform that did not exist when the sweep was written."""

        strength: float = option(0.5, "a number", low=0, high=1)

    @dataclass(frozen=True)
    class OtherOptions(PlainOptions):
        """Options of such a strategy."""

        bold: bool = option(False, "a flag")

    monkeypatch.setitem(TRANSFORMS.own, "new", Transform("a test", NewOptions, TRANSFORMS["ppr"].run))
    monkeypatch.setitem(STRATEGIES.own, "other", Strategy(STRATEGIES["plain"].run, OtherOptions, "a test"))
    grid = grid_of(
        tmp_path,
        "[[transform]]\nmethod = 'new'\nstrength = [0, 1]\n[[strategy]]\nstrategy = 'other'\nbold = [true, false]\n",
    )
    assert names(grid) == [
        "other-new-strength0-bold",
        "other-new-strength0",
        "other-new-strength1-bold",
        "other-new-strength1",
    ]
    with pytest.raises(
        GmeError, match=r"grid.toml:3: transform 1: strength: --strength is 2.0, but must be at least 0"
    ):
        grid_of(tmp_path, "[[transform]]\nmethod = 'new'\nstrength = 2\n" + PLAIN)


def test_what_a_collection_is_made_from_comes_first(tmp_path: Path) -> None:
    @dataclass(frozen=True)
    class SourceOptions(Options):
        """Options of a transform that works on another collection."""

        source: str = option("", "the collection")

    grid = grid_of(tmp_path, f"{WALK}[[transform]]\nmethod = 'ppr'\n{PLAIN}")
    made = type(grid.collections["walk"])("ppr", SourceOptions(source="walk"))
    assert [c.name for c in required([made.name], {**grid.collections, made.name: made})] == ["walk", made.name]


BAD = [
    ("nodes.txt", PLAIN, "a grid file ends in .toml, .yaml or .yml", None),
    ("grid.toml", "strategy = [", "not valid TOML: ", None),
    ("grid.toml", "criteria = 'x'\n", "grid.toml:1: criteria: unknown key 'criteria'", "did you mean 'criterion'?"),
    ("grid.toml", "", "the grid has no configuration", None),
    ("grid.toml", "strategy = 3", "grid.toml:1: strategy must be a list of tables, found 3", "[[strategy]]"),
    (
        "grid.toml",
        PLAIN + "[[strategy]]\nstrategy = 'fusd'\n",
        "grid.toml:4: strategy 2: strategy: unknown strategy 'fusd'",
        "did you mean 'fused'?",
    ),
    (
        "grid.toml",
        "[[transform]]\nmethod = ['walk', 'hop3']\n",
        "grid.toml:2: transform 1: method: unknown transform 'hop3'",
        "did you mean 'hop",
    ),
    ("grid.toml", "[[transform]]\nsteps = 3\n", "grid.toml:1: transform 1: 'method' is missing", "one or more of hop1"),
    (
        "grid.toml",
        WALK + "step = 3\n",
        "grid.toml:3: transform 1: step: unknown option 'step' for walk",
        "did you mean 'steps'?",
    ),
    (
        "grid.toml",
        WALK + "steps = [2, 'three']\n",
        "grid.toml:3: transform 1: steps is 'three', but must be a whole number",
        None,
    ),
    ("grid.toml", WALK + "steps = 2.5\n", "steps is 2.5, but must be a whole number", None),
    ("grid.toml", WALK + "steps = true\n", "steps is True, but must be a whole number", None),
    ("grid.toml", WALK + "exact = 1\n", "exact is 1, but must be true or false", None),
    ("grid.toml", WALK + "steps = []\n", "grid.toml:3: transform 1: steps has no values", "leave the key out"),
    (
        "grid.toml",
        WALK + "alpha = [0, 1.5]\n",
        "grid.toml:3: transform 1: alpha: --alpha is 1.5, but must be at least 0 and at most 1",
        "default: 0.0",
    ),
    (
        "grid.toml",
        "[[strategy]]\nstrategy = 'fused'\n",
        "grid.toml:1: strategy 1: fused needs a collection, and the grid makes none",
        "[[transform]]",
    ),
    (
        "grid.toml",
        WALK + "[[strategy]]\nstrategy = 'fused'\ncollections = ['wlk']\n",
        "grid.toml:5: strategy 1: collections: unknown collection 'wlk'",
        "did you mean 'walk'?",
    ),
    (
        "grid.toml",
        WALK + "[[strategy]]\nstrategy = 'fused'\nmix = 'auto'\n",
        "strategy 1: mix is 'auto', but must be a number",
        None,
    ),
    (
        "grid.toml",
        WALK + "[[strategy]]\nstrategy = 'envelope'\nmix = 'best'\n",
        "grid.toml:5: strategy 1: mix: --mix is 'best'",
        None,
    ),
    (
        "grid.toml",
        WALK + "[[strategy]]\nstrategy = 'fused'\nschedule = 'fused:3'\n",
        "starts with 'fused'",
        "start with original:N",
    ),
    (
        "grid.toml",
        PLAIN + "[[exclude]]\nstrategy = 'plan'\n",
        "grid.toml:4: exclude 1: strategy: unknown strategy 'plan'",
        "did you mean 'plain'?",
    ),
    (
        "grid.toml",
        PLAIN + "[[exclude]]\nmixx = 3\n",
        "grid.toml:4: exclude 1: mixx: unknown key 'mixx'",
        "did you mean 'mix'?",
    ),
    (
        "grid.toml",
        "criterion = 'recovry'\n" + PLAIN,
        "grid.toml:1: criterion: unknown measure 'recovry'",
        "did you mean 'recovery'?",
    ),
    ("grid.toml", "criterion = ['recovery', 'gain']\n" + PLAIN, "grid.toml:1: criterion must be one measure", None),
    (
        "grid.toml",
        "constraints = ['gain:families']\n" + PLAIN,
        "grid.toml:1: constraints: constraint 'gain:families' is not of the form",
        None,
    ),
    (
        "grid.toml",
        "curve = [0, 5]\n" + PLAIN,
        "grid.toml:1: curve is [0, 5], but must be a list of whole numbers",
        None,
    ),
    (
        "grid.toml",
        PLAIN + "[retrieve]\nindex = 'hsnw'\n",
        "grid.toml:4: retrieve: index: unknown index kind 'hsnw'",
        "did you mean 'hnsw'?",
    ),
    ("grid.toml", PLAIN + "[retrieve]\nthreads = 2\n", "grid.toml:4: retrieve: threads: unknown key 'threads'", None),
    ("grid.toml", PLAIN + "[baseline]\nstrategy = 'fused'\n", "baseline: collection: unknown collection ''", None),
    ("grid.toml", PLAIN + "[baseline]\nstrategy = 'plain'\nbudget = [1, 2]\n", "there is one baseline", None),
    (
        "grid.yaml",
        "strategy:\n- strategy: plain\n  budgt: 3\n",
        "grid.yaml:3: strategy 1: budgt: unknown option 'budgt' for plain",
        "did you mean 'budget'?",
    ),
    ("grid.yaml", "strategy: [", "grid.yaml:1: not valid YAML: ", None),
    ("grid.yaml", "- plain\n", "expected keys and values, found ['plain']", None),
]


@pytest.mark.parametrize(("name", "text", "message", "hint"), BAD, ids=range(len(BAD)))
def test_bad_grids(name: str, text: str, message: str, hint: str | None, tmp_path: Path, gme: Run) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    code, out, err = gme("sweep", tmp_path / name, "--dry-run")
    assert (code, out) == (1, "")
    assert err.startswith(f"error: {tmp_path / name}")
    assert message in err
    assert hint is None or hint in err.split("hint: ")[1]


def test_a_missing_grid_and_a_folder(tmp_path: Path, gme: Run) -> None:
    for path in (tmp_path / "none.toml", tmp_path):
        assert gme("sweep", path)[0] == 1


@pytest.mark.parametrize(
    ("text", "kind", "depth", "population"),
    [
        ("recovery", "recovery", 0, "all"),
        ("recovery:hard", "recovery", 0, "hard"),
        ("gain:families", "gain", 0, "families"),
        ("all-supporting@10", "all-supporting", 10, "all"),
        ("recall@5: relational", "recall", 5, "relational"),
        ("nodes-to-match:hard", "nodes-to-match", 0, "hard"),
    ],
)
def test_measures(text: str, kind: str, depth: int, population: str) -> None:
    measure = parse_measure(text)
    assert (measure.kind, measure.depth, measure.population) == (kind, depth, population)
    assert parse_measure(str(measure)) == measure


def test_measures_of_ir_measures_and_bad_ones() -> None:
    pytest.importorskip("ir_measures")
    assert parse_measure("nDCG@10").kind == "ir"
    for text, message in {
        "nDCG@10:hard": "over all questions",
        "recall": "unknown measure 'recall'",
        "recall@0": "at least 1",
        "recovery:": "no population",
        "qwerty": "measure 'qwerty'",
        "": "unknown measure ''",
    }.items():
        with pytest.raises(GmeError, match=re.escape(message)):
            parse_measure(text)


def test_constraints_hold_up_to_rounding_and_never_without_a_value() -> None:
    for text, value, holds in [
        ("gain:families >= -1", -1 - 1e-12, True),
        ("gain:families >= -1", -1.01, False),
        ("search-calls <= 5", 5.0, True),
        ("search-calls<5", 5.0, False),
        ("recovery > 50", 50.1, True),
        ("nodes-to-match <= 10", None, False),
    ]:
        assert parse_constraint(text).holds(value) is holds, text


def test_weights_of_edge_types_are_options_like_any_other(tmp_path: Path) -> None:
    grid = grid_of(
        tmp_path,
        "[[transform]]\nmethod = 'signature'\nedge_type_weights = ['', 'mentions=0.5', 'mentions=2,about=0']\n"
        "drop = [0.0001, 0.001]\n[[strategy]]\nstrategy = 'envelope'\n",
    )
    assert list(grid.collections) == [
        "signature",
        "signature-drop0.001",
        "signature-edge-type-weights-mentions_0.5",
        "signature-drop0.001-edge-type-weights-mentions_0.5",
        "signature-edge-type-weights-about_0-mentions_2",
        "signature-drop0.001-edge-type-weights-about_0-mentions_2",
    ]
    with pytest.raises(GmeError, match="expected TYPE=WEIGHT, found 'mentions'"):
        grid_of(tmp_path, "[[transform]]\nmethod = 'ppr'\nedge_type_weights = 'mentions'\n" + PLAIN)


def test_what_two_tables_leave_out_is_told_once(tmp_path: Path) -> None:
    twice = "[[strategy]]\nstrategy = 'fused'\nschedule = 'modified:10,fused:30'\n" * 2
    twice = twice.replace("30", "20", 1).replace("'modified:10,fused:20'", "'modified:20,fused:20'")
    grid = grid_of(tmp_path, f"[[transform]]\nmethod = ['walk', 'signature']\n{twice}")
    assert len(grid.configurations) == 2
    assert [note for note in grid.notes if note.startswith("left out")] == [
        "left out: fused on signature, which questions cannot be compared with"
    ]
