set shell := ["bash", "-euo", "pipefail", "-c"]

# What there is to run
default:
    @just --list

# Install gme (editable, optimised) and everything that the other recipes need, into the active environment
setup:
    pip install -e '.[dev]'

# Rebuild the Rust extension in place after a change
build:
    maturin develop --release

# Format Rust and Python
fmt:
    cargo fmt
    ruff format python tests benches
    ruff check --fix python tests benches

# Check formatting, lints, types and that the stubs fit the extension
lint:
    cargo fmt --check
    cargo fmt --check --manifest-path fuzz/Cargo.toml
    cargo clippy --manifest-path fuzz/Cargo.toml --all-targets -- -D warnings
    cargo clippy --all-targets -- -D warnings
    cargo clippy --features python -- -D warnings
    ruff format --check python tests benches
    ruff check python tests benches
    mypy
    python -m mypy.stubtest gme._core

# Run every test: Rust, then Python; extra arguments go to pytest
test *arguments:
    cargo test --quiet
    pytest {{ arguments }}

# Kill, interrupt and starve every command at each of its steps on the disk, and count what survives
faults *arguments:
    python -m tests.faults {{ arguments }}

# Every fuzz target for so many seconds, with a stable compiler and bytes drawn from a seed (docs/reliability.md)
fuzz seconds="3" seed="1":
    GME_FUZZ_SECONDS={{ seconds }} GME_FUZZ_SEED={{ seed }} cargo test --manifest-path fuzz/Cargo.toml --quiet -- --nocapture --test-threads=1

# Kernels beside their peers, in one table (peers are installed into an environment of their own)
bench *arguments:
    bash benches/run.sh {{ arguments }}

# Make docs/results.md anew: every figure on that page
results *arguments:
    python benches/results.py {{ arguments }}

# Make docs/early-stopping.md anew: what each sweep of convex brings
early-stopping *arguments:
    python benches/early_stopping.py {{ arguments }}

# Make docs/signature.md anew: what dimension, options and storage of signatures make of them
signature-study *arguments:
    python benches/signature_study.py {{ arguments }}

# The paper's experiment on the synthetic benchmark
demo *arguments:
    gme demo {{ arguments }}

# What continuous integration runs
ci: lint test fuzz
