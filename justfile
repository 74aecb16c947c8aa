set shell := ["bash", "-euo", "pipefail", "-c"]

# What there is to run
default:
    @just --list

# Install gme (editable, quickly compiled) and everything that the other recipes need, into the active environment
setup:
    MATURIN_PEP517_ARGS="--profile dev-release" pip install -e '.[dev]'

# Rebuild the Rust extension in place after a change; `just build release` as it is shipped
build profile="dev-release":
    maturin develop --profile {{ profile }}

# Format Rust and Python
fmt:
    cargo fmt
    cargo fmt --manifest-path benches/kernels/Cargo.toml
    ruff format python tests benches tools
    ruff check --fix python tests benches tools

# Check formatting, lints, types and that the stubs fit the extension
lint:
    cargo fmt --check
    cargo fmt --check --manifest-path fuzz/Cargo.toml
    cargo fmt --check --manifest-path benches/kernels/Cargo.toml
    CARGO_TARGET_DIR=target cargo clippy --manifest-path fuzz/Cargo.toml --all-targets -- -D warnings
    CARGO_TARGET_DIR=target cargo clippy --manifest-path benches/kernels/Cargo.toml --all-targets -- -D warnings
    cargo clippy --all-targets -- -D warnings
    cargo clippy --features python -- -D warnings
    ruff format --check python tests benches tools
    ruff check python tests benches tools
    mypy
    python -m mypy.stubtest gme._core
    lint-imports

# Run every test: Rust, then Python in a process a core; extra arguments go to pytest: just test -m 'not slow'
[positional-arguments]
test *arguments:
    cargo test --quiet
    pytest --numprocesses auto --maxprocesses 4 --dist worksteal "$@"

# Try every property with many more examples, other ones each time; what fails stays in .hypothesis/examples
[positional-arguments]
nightly *arguments:
    pytest --numprocesses auto --maxprocesses 4 --dist worksteal --hypothesis-profile nightly -m hypothesis "$@"

# Kill, interrupt and starve every command at each of its steps on the disk, and count what survives
faults *arguments:
    python -m tests.faults {{ arguments }}

# Every fuzz target for so many seconds, with a stable compiler and bytes drawn from a seed (docs/research/reliability.md)
fuzz seconds="3" seed="1":
    GME_FUZZ_SECONDS={{ seconds }} GME_FUZZ_SEED={{ seed }} CARGO_TARGET_DIR=target cargo test --manifest-path fuzz/Cargo.toml --quiet -- --nocapture --test-threads=1

# Tests of what uses other packages, with the oldest versions that pyproject.toml admits (CPython 3.10 to 3.12)
lowest wheel:
    uv venv --quiet --clear .venv-lowest
    uv pip install --quiet --python .venv-lowest --resolution lowest-direct '{{ wheel }}[dev,fast-louvain,measures,readers,report]'
    .venv-lowest/bin/python -m pytest -W default tests/stores/test_stores.py tests/embedders/test_embedders.py tests/embedders/test_embedders_cache.py tests/readers/test_readers_graphs.py tests/storage/test_files.py tests/paper/test_grids.py tests/cli/test_cli.py tests/report/test_report.py

# A wheel in each interpreter named, with the newest dependencies: just pythons WHEEL python3.10 python3.13
pythons wheel *interpreters:
    for python in {{ interpreters }}; do \
        uv venv --quiet --clear --python "$python" .venv-python && uv pip install --quiet --python .venv-python '{{ wheel }}[dev]' \
        && .venv-python/bin/python -m pytest -W default tests/stores/test_stores.py tests/embedders/test_embedders.py tests/readers/test_readers_graphs.py tests/cli/test_cli.py tests/kernels/test_kernels.py; \
    done

# Lock anew what continuous integration installs, each file by its hash
lock:
    uv pip compile --quiet --upgrade --universal --python-version 3.10 --generate-hashes --no-annotate --custom-compile-command "just lock" --extra dev --extra docs pyproject.toml -o requirements/ci.txt

# Build the documentation into site/; a link that leads nowhere is an error (needs `pip install '.[docs]'`)
docs *arguments:
    NO_MKDOCS_2_WARNING=1 mkdocs build --strict {{ arguments }}

# Show the documentation at http://127.0.0.1:8000, built again after each change
docs-serve:
    NO_MKDOCS_2_WARNING=1 mkdocs serve

# Make docs/reference/licenses.md anew
licenses:
    python tools/licenses.py

# Licenses, sources and doubles of the crates (needs `cargo install cargo-deny`), known holes (needs a network, `pip install pip-audit`)
audit:
    cargo deny --offline check licenses bans sources
    cargo deny check advisories
    pip-audit --require-hashes -r requirements/ci.txt

# 10,000 texts through an embeddings server that fails three times in ten
storm *arguments:
    python tests/embedders/storm.py {{ arguments }}

# Questions against a large collection: the tables of docs/research/load.md
load *arguments:
    python benches/load.py {{ arguments }}

# Kernels beside their peers, in one table (peers are installed into an environment of their own)
bench *arguments:
    bash benches/run.sh {{ arguments }}

# Every kernel by itself, with criterion; arguments go to it: GME_BENCH_NODES=100000 just bench-kernels search
bench-kernels *arguments:
    CARGO_TARGET_DIR=target cargo bench --manifest-path benches/kernels/Cargo.toml -- {{ arguments }}

# Make docs/research/results.md anew: every figure on that page
results *arguments:
    python benches/results.py {{ arguments }}

# Make docs/research/early-stopping.md anew: what each sweep of convex brings
early-stopping *arguments:
    python benches/early_stopping.py {{ arguments }}

# Make docs/research/signature.md anew: what dimension, options and storage of signatures make of them
signature-study *arguments:
    python benches/signature_study.py {{ arguments }}

# The paper's experiment on the synthetic benchmark
demo *arguments:
    gme demo {{ arguments }}

# What continuous integration runs
ci: lint test fuzz
