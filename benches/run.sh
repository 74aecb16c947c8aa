#!/usr/bin/env bash
# Kernels beside their peers. Some peers pin an old numpy, so that they get an environment of their own, `.venv-bench`.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ ! -x .venv-bench/bin/python ]; then
    python3 -m venv .venv-bench
    .venv-bench/bin/pip install --quiet --upgrade pip
fi
.venv-bench/bin/pip install --quiet . csrgraph pecanpy pyahocorasick scipy networkx scikit-network networkit usearch python-louvain
PYTHONPATH="benches${PYTHONPATH:+:$PYTHONPATH}" exec .venv-bench/bin/python -m peers "$@"
