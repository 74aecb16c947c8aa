"""Measures that compare runs with gold evidence, and tests whether a difference is more than chance."""
