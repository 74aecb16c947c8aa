"""The option ``--edge-type-weights`` of the transformations that follow edges in proportion to their weight."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, ClassVar, TypeVar

from ..errors import GmeError, shorten
from ..options import Options, compact, file_name, option

_EXAMPLE = "for example: --edge-type-weights title_mention=0.5,link=2"

Self = TypeVar("Self", bound="TypeWeighted")


def type_weights_option() -> Any:
    """The field ``edge_type_weights`` for an options class that derives from `TypeWeighted`."""
    return option("", "multiply the weight of edges by type: title_mention=0.5,link=2; 0 leaves a type out")


@dataclasses.dataclass(frozen=True)
class TypeWeighted(Options):
    """Base of options with a field ``edge_type_weights``. Its text is sorted by type and leaves out weights of 1.

    Attributes:
        named_types: all types that the user named, even those with the weight 1.
    """

    named_types: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "named_types", tuple(self.type_weights))
        canonical = ",".join(f"{name}={compact(weight)}" for name, weight in self.type_weights.items() if weight != 1)
        object.__setattr__(self, "edge_type_weights", canonical)

    @property
    def type_weights(self) -> dict[str, float]:
        """The factor of each type that has another weight than 1."""
        return parse_type_weights(str(vars(self)["edge_type_weights"]))

    def suffix(self) -> str:
        """The suffix of all options, with the weights as a file name can hold them: ``-edge-type-weights-link_2``."""
        if not self.type_weights:
            return super().suffix()
        parts = [f"{name}_{compact(weight)}" for name, weight in self.type_weights.items()]
        unweighted: TypeWeighted = dataclasses.replace(self, **{"edge_type_weights": ""})
        return f"{unweighted.suffix()}-edge-type-weights-{file_name(parts)}"

    def check_type_weights(self, type_weighted: bool) -> None:
        """Refuse weights of types if the graph was built without them. A graph does not keep the types of its edges."""
        if self.type_weights and not type_weighted:
            raise GmeError(
                "edge_type_weights needs the edges of a workspace: this graph knows no types",
                "call transform_workspace, or build the graph with the weights: gme.workspace_graph",
            )


def parse_type_weights(text: str) -> dict[str, float]:
    """Turn ``title_mention=0.5,link=2`` into a dict, sorted by type. The name of a type may hold ``=``, but no comma.

    Raises:
        GmeError: an entry without a name or a number, a number that is negative or not finite, a type named twice.
    """
    weights: dict[str, float] = {}
    for entry in (part.strip() for part in text.split(",")):
        if not entry:
            continue
        name, equals, number = (part.strip() for part in entry.rpartition("="))
        if not equals or not name:
            raise GmeError(f"--edge-type-weights: expected TYPE=WEIGHT, found {shorten(entry)}", _EXAMPLE)
        if name in weights:
            raise GmeError(f"--edge-type-weights names the type {shorten(name)} twice", _EXAMPLE)
        weights[name] = _weight(name, number)
    return dict(sorted(weights.items()))


def _weight(name: str, number: str) -> float:
    try:
        weight = float(number)
    except ValueError:
        weight = math.nan
    if not 0 <= weight < math.inf:
        raise GmeError(
            f"--edge-type-weights: the weight of {shorten(name)} must be a number from 0 on, found {shorten(number)}",
            "0 leaves the type out",
        )
    return weight
