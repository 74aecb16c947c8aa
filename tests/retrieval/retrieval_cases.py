"""Random collections for the tests of retrieval, and answers as plain lists."""

from __future__ import annotations

from typing import Any

import numpy as np

from gme.retrieval.batch import strategy_options
from gme.retrieval.result import Retrieved
from gme.retrieval.strategies import STRATEGIES
from gme.stores.store import NO_ROW
from gme.types import Vectors
from reference.retrieval import Result, Twin


def make(seed: int, nodes: int, dim: int = 6, questions: int = 3) -> tuple[Vectors, Vectors, Vectors, list[str]]:
    """Original, modified and question vectors with a zero modified row and exact duplicates, and shuffled ids."""
    generator = np.random.default_rng(seed)
    x = generator.standard_normal((nodes, dim), dtype=np.float32)
    z = (x + 0.7 * generator.standard_normal((nodes, dim), dtype=np.float32)).astype(np.float32)
    copies = generator.integers(0, nodes, (2, nodes // 4))
    x[copies[0]], z[copies[0]] = x[copies[1]], z[copies[1]]
    z[generator.integers(nodes)] = 0
    ids = [f"n{number}" for number in generator.permutation(nodes)]
    return x, z, generator.standard_normal((questions, dim), dtype=np.float32), ids


def words(nodes: int, questions: int = 3, seed: int = 0) -> dict[str, Any]:
    """Texts of nodes and questions, for strategies that search words: few words, so that many scores are equal."""
    generator = np.random.default_rng(seed)
    known = ["red", "blue", "fox", "house", "river", "stone", "of the", ""]

    def text() -> str:
        return " ".join(generator.choice(known, generator.integers(0, 9)))

    return {"texts": [text() for _ in range(nodes)], "questions": [text() for _ in range(questions)]}


def twin_answer(twin: Twin, strategy: str, options: dict[str, Any], question: Vectors) -> list[Result]:
    checked = strategy_options(strategy, options)
    values = checked.as_dict()
    schedule = STRATEGIES[strategy].schedule
    if schedule is not None:
        stages = checked.stages(schedule).stages  # type: ignore[attr-defined]
        keep = {name: values[name] for name in ("mix", "shift", "pool_depth")}
        return twin.staged(question, [(stage.kind, stage.size) for stage in stages], **keep)
    answer: list[Result] = getattr(twin, strategy)(question, **values)
    return answer


def lists(retrieved: Retrieved) -> list[list[int]]:
    return [[row for row in line if row != NO_ROW] for line in retrieved.rows.tolist()]
