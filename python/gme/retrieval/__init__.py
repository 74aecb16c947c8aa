"""Retrieval: strategies over an original and a modified collection. Only vector searches run, no graph is touched;
`spread` and `pagerank`, what a user would run instead, do need the graph.

`batch` answers questions given as arrays, `serving` does so by the envelope in one call; `strategies` is the registry,
`stages` and `envelope` say what happens in each, `graph_strategies` in those two, `search` holds the shared arithmetic.
"""

from .batch import find_strategy, retrieve, strategy_options
from .result import Retrieved
from .schedule import Schedule, parse_schedule
from .strategies import STRATEGIES, Strategy, register_strategy
from .title_matching import TitleMatcher, match_titles

__all__ = [
    "STRATEGIES",
    "Retrieved",
    "Schedule",
    "Strategy",
    "TitleMatcher",
    "find_strategy",
    "match_titles",
    "parse_schedule",
    "register_strategy",
    "retrieve",
    "strategy_options",
]
