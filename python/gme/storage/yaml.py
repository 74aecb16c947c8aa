"""YAML read safely: no Python objects, and nothing that grows or goes round when it is written out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import yaml

_MOST_NODES = 100_000
"""Values in a document, each as often as anchors repeat it: a few lines of YAML can stand for billions."""


def load_yaml(text: str) -> tuple[Any, yaml.Node | None]:
    """The value that a YAML text holds, and the nodes it was made of, which know their lines.

    Raises:
        ImportError: PyYAML is not installed.
        yaml.YAMLError: not valid, nested too deeply, or with too many values once its anchors are followed.
    """
    import yaml

    loader = yaml.SafeLoader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None, None
        if _count(node, {}) > _MOST_NODES:
            raise yaml.YAMLError(f"more than {_MOST_NODES:,} values, or values that hold themselves")
        return loader.construct_document(node), node
    except RecursionError:
        raise yaml.YAMLError("nested too deeply") from None
    except (ValueError, OverflowError) as error:  # a date in month 13, an integer of thousands of digits
        raise yaml.YAMLError(str(error)) from error
    finally:
        loader.dispose()


def _count(node: yaml.Node, counted: dict[int, int]) -> int:
    """How many values a node stands for; too many for one that holds itself."""
    if id(node) not in counted:
        counted[id(node)] = _MOST_NODES + 1  # until it is known: whoever asks now is inside of it
        below = node.value if isinstance(node.value, list) else []
        parts = (part for entry in below for part in (entry if isinstance(entry, tuple) else (entry,)))
        counted[id(node)] = 1 + sum(_count(part, counted) for part in parts)
    return counted[id(node)]
