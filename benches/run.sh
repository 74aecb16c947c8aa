#!/usr/bin/env bash
# Kernels beside their peers. The peers pin an old numpy, so that they get an environment of their own, `.venv-bench`.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ ! -x .venv-bench/bin/python ]; then
    python3 -m venv .venv-bench
    .venv-bench/bin/pip install --quiet --upgrade pip
fi
.venv-bench/bin/pip install --quiet . csrgraph pecanpy pyahocorasick scipy
exec .venv-bench/bin/python benches/peers.py "$@"
