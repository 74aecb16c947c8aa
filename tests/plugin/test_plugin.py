"""A package of somebody else's adds one thing of each kind: the command line knows them as it knows its own."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from installing import SAMPLE, install, run_gme

CODE = sha256((SAMPLE / "gme_sample.py").read_bytes()).hexdigest()
OURS = {"distribution": "gme-sample", "version": "1.2", "code_sha256": CODE}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    install(folder, (SAMPLE / "pyproject.toml").read_text(encoding="utf-8"), [SAMPLE / "gme_sample.py"])
    return folder


def _done(site: Path, *arguments: object, workspace: Path | None = None) -> str:
    done = run_gme(site, *arguments, workspace=workspace)
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr
    return done.stdout


def _json(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return document


@pytest.mark.parametrize(
    ("command", "after", "expected"),
    [
        (["transform", "--help"], "  signature ", "  average    blend with the mean of the neighbors"),
        (["transform", "average", "--help"], "Usage: gme transform average", "weight of the original vector"),
        (["retrieve", "--help"], "  pagerank ", "  twice     the nearest by original vectors, then by modified ones"),
        (["retrieve", "--help"], "--index", "auto, exact, hnsw, mirror"),
        (["retrieve", "--help"], "--first", "[twice only; default: 1]"),
        (["graph", "--help"], "  mentions ", "  chain     Connect each node to a later one."),
        (["graph", "read", "--help"], "  hipporag ", "  lines      Text files, a node a line."),
        (["embed", "--help"], "Models of other packages:", "  letters:DIM             counts letters"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_the_help_lists_it_after_gmes_own(command: list[str], after: str, expected: str, site: Path) -> None:
    shown = _done(site, *command)
    before, found, rest = shown.partition(after)
    assert found
    assert " ".join(expected.split()) in " ".join(rest.split())
    assert expected not in before


def test_a_workspace_is_made_and_searched_with_nothing_but_the_plugin(site: Path, tmp_path: Path) -> None:
    source, workspace = tmp_path / "notes.txt", tmp_path / "workspace"
    source.write_text("alpha beta\ngamma delta\nepsilon zeta\neta theta\n", encoding="utf-8")
    assert _done(site, "graph", "read", "lines", source, workspace=workspace) == "nodes\t4\tchunk 4\n"

    assert _done(site, "graph", "chain", "--distance", "2", workspace=workspace) == "2 edges\n"
    edges = [json.loads(line) for line in (workspace / "edges.jsonl").read_text().splitlines()]
    assert edges == [
        {"source": f"notes-{a}", "target": f"notes-{b}", "type": "next", "by": "gme graph chain"}
        for a, b in ((1, 3), (2, 4))
    ]
    assert _done(site, "graph", "chain", workspace=workspace) == "3 edges\n"  # its own lines are replaced
    assert len((workspace / "edges.jsonl").read_text().splitlines()) == 3
    origin = _json(workspace / "manifests/edges.json")
    assert origin["command"] == "gme graph chain"
    assert origin["builders"]["chain"]["plugins"] == {"builder": OURS}

    questions = [{"id": "q", "question": "theta", "gold": ["notes-4"]}]
    (workspace / "questions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in questions))
    _done(site, "embed", "--model", "letters:6", workspace=workspace)
    embedded = _json(workspace / "embeddings/original.json")
    assert (embedded["model"], embedded["dim"]) == ("letters:6", 6)
    assert embedded["plugins"] == {"model": OURS}

    assert _done(site, "transform", "average", "--alpha", "0.25", workspace=workspace) == "average-alpha0.25\n"
    made = _json(workspace / "embeddings/average-alpha0.25.json")
    assert (made["method"], made["parameters"], made["facts"]) == ("average", {"alpha": 0.25}, {"averaged": 4})
    assert made["command"] == "gme transform average --alpha 0.25"
    assert made["plugins"] == {"method": OURS}
    original, modified = (np.load(workspace / f"embeddings/{name}.npy") for name in ("original", "average-alpha0.25"))
    np.testing.assert_allclose(modified[0], 0.25 * original[0] + 0.75 * original[1], rtol=1e-6)

    words = ("retrieve", "twice", "--budget", "3", "--first", "2", "--index", "mirror")
    run = _done(site, *words, workspace=workspace).strip()
    assert run == "twice-average-alpha0.25-budget3-first2-mirror"
    manifest = _json(workspace / f"runs/{run}.json")
    assert manifest["plugins"] == {"strategy": OURS, "index": OURS}
    assert manifest["index"] == {"original": "mirror", "modified": "mirror"}
    assert manifest["command"].endswith(" --budget 3 --first 2 --index mirror")
    line = json.loads((workspace / f"runs/{run}.jsonl").read_text())
    assert [result["stage"] for result in line["results"]] == ["head", "head", "tail"]
    again = manifest["command"].removeprefix("gme ").split()
    assert _done(site, *again, workspace=workspace).strip() == run

    answer = json.loads(_done(site, *words, "--question", "zeta", "--json", workspace=workspace))
    assert answer["results"][0]["stage"] == "head"
    assert "twice-average-alpha0.25" in _done(site, "evaluate", workspace=workspace)


def test_gmes_own_manifests_name_no_plugin(site: Path, small_workspace: Path) -> None:
    _done(site, "transform", "hop1", workspace=small_workspace)
    run = _done(site, "retrieve", "plain", "--quiet", workspace=small_workspace).strip()
    assert "plugins" not in _json(small_workspace / "embeddings/hop1.json")
    assert "plugins" not in _json(small_workspace / f"runs/{run}.json")


GRID = """
[retrieve]
index = "mirror"

[[transform]]
method = ["hop1", "average"]

[[transform]]
method = "average"
alpha = [0.25, 0.75]

[[strategy]]
strategy = "twice"
budget = 3
first = [1, 2]

[[exclude]]
strategy = "twice"
collection = "average"
first = 2
"""


def test_a_sweep_tries_it(site: Path, small_workspace: Path, tmp_path: Path) -> None:
    grid = tmp_path / "sample.toml"
    grid.write_text(GRID, encoding="utf-8")
    _done(site, "sweep", grid, "-w", small_workspace, "--quiet")
    collections = {path.stem for path in (small_workspace / "embeddings").glob("*.npy")} - {"original", "questions"}
    assert collections == {"hop1", "average", "average-alpha0.25", "average-alpha0.75"}
    assert _json(small_workspace / "embeddings/average.json")["plugins"] == {"method": OURS}


def test_a_sweep_suggests_it(site: Path, small_workspace: Path, tmp_path: Path) -> None:
    grid = tmp_path / "sample.toml"
    for key, wrong, right in (("method", '"average"', '"averag"'), ("strategy", '"twice"', '"twic"')):
        grid.write_text(GRID.replace(f"{key} = {wrong}", f"{key} = {right}"), encoding="utf-8")
        done = run_gme(site, "sweep", grid, "-w", small_workspace)
        assert done.returncode == 1
        assert f"did you mean {wrong[1:-1]!r}?" in done.stderr


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (["transform", "averag"], "error: unknown transform 'averag'\nhint: did you mean 'average'?"),
        (["transform", "mean"], "did you mean 'average'"),  # by what its summary says
        (["retrieve", "twic"], "error: unknown strategy 'twic'\nhint: did you mean 'twice'?"),
        (["retrieve", "plain", "--index", "mirro"], "error: unknown index kind 'mirro'\nhint: did you mean 'mirror'?"),
        (["retrieve", "plain", "--exact", "--index", "mirror"], "error: --exact and --index mirror contradict"),
        (["graph", "chai"], "error: unknown graph command 'chai'\nhint: did you mean 'chain'?"),
        (["graph", "read", "line", "x"], "error: unknown format 'line'\nhint: did you mean 'lines'?"),
        (["embed", "--model", "leters"], "error: unknown model 'leters'\nhint: did you mean 'letters:DIM'?"),
        (
            ["embed", "--model", "letters:8", "--dimensions", "4"],
            "error: --dimensions goes with --model openai:NAME, not with letters:8",
        ),
        (["transform", "average", "--alpha", "2"], "--alpha is 2.0, but must be at least 0 and at most 1"),
        (["transform", "average", "--alpa", "2"], "hint: gme transform average --help"),
        (["retrieve", "plain", "--first", "2"], "warning: plain has no option --first: it has no effect"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_mistakes_are_told_as_gmes_own(command: list[str], expected: str, site: Path, small_workspace: Path) -> None:
    assert expected in run_gme(site, *command, workspace=small_workspace).stderr
