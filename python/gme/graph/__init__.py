"""Graphs from ids and edges, and their communities."""
