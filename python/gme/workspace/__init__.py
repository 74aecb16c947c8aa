"""A workspace: the folder that commands read from and write to, its records, manifests and what is stale in it."""
