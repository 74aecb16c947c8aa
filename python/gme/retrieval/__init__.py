"""Retrieval: strategies over an original and a modified collection. Only vector searches run, no graph is touched;
`spread` and `pagerank`, what a user would run instead, do need the graph.

`batch` answers questions given as arrays, `experiment` those of a workspace; `strategies` is the registry, `stages` and
`envelope` say what happens in each, `graph_strategies` in those two, `search` holds the shared arithmetic.
"""

from .batch import Retrieved, find_strategy, retrieve, strategy_options
from .experiment import RetrievalSetting, choose_collection, prepare_retrieval, retrieve_workspace
from .naming import Titles, named_nodes
from .schedule import Schedule, parse_schedule
from .strategies import STRATEGIES, Strategy

__all__ = [
    "STRATEGIES",
    "RetrievalSetting",
    "Retrieved",
    "Schedule",
    "Strategy",
    "Titles",
    "choose_collection",
    "find_strategy",
    "named_nodes",
    "parse_schedule",
    "prepare_retrieval",
    "retrieve",
    "retrieve_workspace",
    "strategy_options",
]
