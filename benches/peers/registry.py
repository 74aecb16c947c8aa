"""All pieces of work, in the order of the table."""

from __future__ import annotations

from .cells import Cell, Task, Work
from .diffusing import DIFFUSING
from .inputs import Inputs
from .others import OTHERS
from .smoothing import SMOOTHING
from .walking import WALKING


def _transform(name: str) -> Work:
    """A transform that has no peer, with the options it has by default."""

    def prepare(inputs: Inputs) -> Task:
        import gme

        graph, x = inputs.graph, inputs.x
        return Task(lambda: gme.transform(name, graph, x, threads=inputs.threads), outcome=None)

    return Work(name, name, (Cell("gme", prepare),), lambda size: size.nodes / 1e6, "M nodes/s", grows=True)


def _transforms(*names: str) -> tuple[Work, ...]:
    """Those of the named transforms that the installed gme has."""
    from gme.transforms.registry import TRANSFORMS

    return tuple(_transform(name) for name in names if name in TRANSFORMS)


WORKS: tuple[Work, ...] = (*WALKING, *SMOOTHING, *_transforms("shared", "gradient"), *DIFFUSING, *OTHERS)
