"""Sweeps: grids of transforms and strategies, selection on one workspace, and confirmation on another.

`document` reads grid files. `grid` and `exclusion` expand them and check them against the registries. `criteria` holds
criteria and constraints. `runner` and `ledger` score each configuration once. `run` ranks and selects. `confirm`
compares the best with the baseline.
"""

from .criteria import parse_constraint, parse_measure
from .grid import Grid, read_grid
from .run import SweepSetting, run_sweep

__all__ = ["Grid", "SweepSetting", "parse_constraint", "parse_measure", "read_grid", "run_sweep"]
