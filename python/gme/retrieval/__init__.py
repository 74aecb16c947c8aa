"""Retrieval: strategies over an original and a modified collection. Only vector searches run, no graph is touched.

`batch` answers questions given as arrays, `experiment` those of a workspace; `strategies` is the registry, `stages` and
`envelope` say what happens in each, `search` holds the shared arithmetic.
"""

from .batch import Retrieved, find_strategy, retrieve, strategy_options
from .schedule import Schedule, parse_schedule
from .strategies import STRATEGIES, Strategy

__all__ = [
    "STRATEGIES",
    "Retrieved",
    "Schedule",
    "Strategy",
    "find_strategy",
    "parse_schedule",
    "retrieve",
    "strategy_options",
]
