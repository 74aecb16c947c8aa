"""The paper's experiment: its grids, its published numbers, and `gme demo`, which runs it from end to end."""
