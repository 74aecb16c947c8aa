"""Safe YAML: no Python objects, and no value that grows without bound or contains itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import yaml

_MOST_NODES = 100_000
"""The most values in a document, counted with repetitions. A few lines with anchors can stand for billions."""


def load_yaml(text: str) -> tuple[Any, yaml.Node | None]:
    """The value of a YAML text, and the nodes that it was made of. The nodes know their lines.

    Raises:
        ImportError: PyYAML is not installed.
        yaml.YAMLError: the text is not valid, nested too deeply, or has too many values once anchors are followed.
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
    except (ValueError, OverflowError) as error:  # such as a date in month 13, or an integer of thousands of digits
        raise yaml.YAMLError(str(error)) from error
    finally:
        loader.dispose()


def _count(node: yaml.Node, counted: dict[int, int]) -> int:
    """How many values a node stands for. A node that contains itself counts as too many."""
    if id(node) not in counted:
        counted[id(node)] = _MOST_NODES + 1  # stays while its parts are counted: a part that asks for it contains it
        below = node.value if isinstance(node.value, list) else []
        parts = (part for entry in below for part in (entry if isinstance(entry, tuple) else (entry,)))
        counted[id(node)] = 1 + sum(_count(part, counted) for part in parts)
    return counted[id(node)]
