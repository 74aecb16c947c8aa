"""Random graphs through the whole API: every transformation, every strategy, on whatever a workspace may hold."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hostile_inputs import TRIED
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kernel_cases import Case, cases

from conftest import write_lines
from gme.options import make
from gme.pipeline.prepare import RetrievalSetting, prepare_retrieval
from gme.pipeline.transform import transform_workspace
from gme.retrieval.strategies import STRATEGIES
from gme.transforms.registry import TRANSFORMS
from gme.workspace import Workspace
from properties import examples

SCALES = (1.0, 1.0, 1e-20, 1e15, 1e-38, 3e37)


def _workspace(folder: Path, case: Case, scale: float) -> Workspace:
    """Nodes of several types, edges with loops and parallels, one question; vectors of any size, none of them zero."""
    kinds = ("chunk", "entity", "document")
    write_lines(
        folder / "nodes.jsonl",
        [{"id": node, "type": kinds[row % 3 if row > 2 else 0], "text": node} for row, node in enumerate(case.ids)],
    )
    write_lines(
        folder / "edges.jsonl",
        [
            {"source": case.ids[a], "target": case.ids[b], "type": kinds[(a + b) % 2], "weight": weight}
            for a, b, weight in case.edges
        ],
    )
    write_lines(folder / "questions.jsonl", [{"id": "q", "question": "?", "gold": case.ids[:1]}])
    (folder / "embeddings").mkdir()
    x = case.x.copy()
    x[~x.any(axis=1), 0] = 1
    # Vectors too long for a float32, or that may be moved to where they would be, are refused: test_border.py.
    longest = float(np.linalg.norm(x.astype(np.float64), axis=1).max(initial=0))
    np.save(folder / "embeddings/original.npy", x * np.float32(min(scale, 1e38 / longest)))
    np.save(folder / "embeddings/questions.npy", x[:1])
    return Workspace(folder)


def _checked(workspace: Workspace, name: str, nodes: int) -> None:
    vectors = np.load(workspace.path(f"embeddings/{name}.npy"))
    assert vectors.shape[0] == nodes
    assert np.isfinite(vectors).all(), name


@pytest.mark.parametrize("method", TRANSFORMS)
@settings(examples(12), suppress_health_check=list(HealthCheck))
@given(case=cases(least_nodes=1), scale=st.sampled_from(SCALES), data=st.data())
def test_transforms(method: str, case: Case, scale: float, data: st.DataObject) -> None:
    """A collection of finite vectors, or an error that says why not; once with odd options, once with none."""
    with tempfile.TemporaryDirectory() as top:
        workspace = _workspace(Path(top), case, scale)
        given: dict[str, Any] = {}
        if TRANSFORMS[method].needs_source:
            transform_workspace(workspace, "walk")
            given["source"] = "walk"
        if "dim" in TRANSFORMS[method].options.__dataclass_fields__:
            given["dim"] = data.draw(st.sampled_from([8, 9, 64]))
        TRIED[f"graph, {method}"] += 1
        options = make(TRANSFORMS[method].options, given, method)
        name, _ = transform_workspace(workspace, method, options)
        _checked(workspace, name, len(case.ids))


@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(examples(12), suppress_health_check=list(HealthCheck))
@given(case=cases(least_nodes=1), scale=st.sampled_from(SCALES), budget=st.sampled_from([1, 3, 40]))
def test_strategies(strategy: str, case: Case, scale: float, budget: int) -> None:
    """Distinct nodes, at most as many as asked for, with finite scores."""
    with tempfile.TemporaryDirectory() as top:
        workspace = _workspace(Path(top), case, scale)
        transform_workspace(workspace, "walk")
        TRIED[f"graph, {strategy}"] += 1
        setting = RetrievalSetting(collection="walk" if STRATEGIES[strategy].needs_modified else "")
        ready = prepare_retrieval(workspace, strategy, setting, {"budget": budget})
        found = ready.answer(workspace.question_vectors(), questions=workspace.questions.texts)
        rows, scores = found.rows[0], found.scores[0]
        real = rows[rows != 0xFFFFFFFF]
        assert len(real) <= budget
        assert len(set(real.tolist())) == len(real)
        assert np.isfinite(scores[rows != 0xFFFFFFFF]).all()
