"""gme's kernels beside their peers: `just bench`."""
