"""Faults injected into every command that writes, at each of its steps on the file system.

``python -m tests.faults`` runs them all and prints the counts; tests/faults/test_faults.py runs a sample.

`injection` makes one run of a command fail at a given step. `scenarios` lists the commands. `states` says whether what
a fault left is as before or complete. `harness` puts them together, one forked process a run.
"""
