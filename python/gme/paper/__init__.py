"""The paper's own experiment: its grids, its published numbers, and `gme demo`, which runs it from end to end."""
