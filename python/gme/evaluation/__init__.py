"""Measures over runs held against gold evidence, and whether a difference is more than chance."""
