"""Checks a graph before it is used: its shape, its linkage of gold evidence, and the headroom."""

from __future__ import annotations

from .check import CheckOptions, check_graph
from .gates import GATES, check_gates, parse_gates

__all__ = ["GATES", "CheckOptions", "check_gates", "check_graph", "parse_gates"]
