"""Transforms at scale: seconds, phases and peak memory of each method, and how soon Ctrl-C ends it.

    python benches/scale.py --folder FOLDER --nodes 1000000 --edges 12800000 --dim 64

Makes a workspace unless the folder holds one of that size, then runs `gme transform METHOD` in a process of its own.
Peak memory is what the system counts as resident at the highest point: mapped pages of files are in it.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

METHODS = ("hop1", "walk", "ppr", "convex", "signature:--dim 256")
COMMUNITY = 200
INSIDE = 0.8  # of all edges join nodes of one community
CHUNK = 1 << 19
WORDS = b"A passage as long as passages are in a small index, of which only the number at its end is its own: "

# The command line, with a stop watch in place of every bar.
CHILD = """
import contextlib, json, sys, time
from gme.cli import _output, run

phases = {}

@contextlib.contextmanager
def timed(what, unit=""):
    started = time.perf_counter()
    yield lambda done, total: None
    phases[what] = phases.get(what, 0.0) + time.perf_counter() - started

_output.progress = timed
code = run(sys.argv[1:])
print("phases " + json.dumps(phases), file=sys.stderr)
sys.exit(code)
"""

Bytes = npt.NDArray[np.uint8]


def lines(template: str, *columns: npt.NDArray[np.integer[Any]]) -> bytes:
    """One line for each entry of the columns, whose eight digits replace the template's `########` in turn."""
    pattern = np.frombuffer(template.encode() + b"\n", np.uint8)
    made = np.tile(pattern, (len(columns[0]), 1))
    starts = np.flatnonzero(pattern == ord("#"))[::8]
    for start, column in zip(starts, columns, strict=True):
        rest = column.astype(np.uint32)
        for place in range(7, -1, -1):
            rest, digit = np.divmod(rest, 10)
            made[:, start + place] = digit + ord("0")
    return made.tobytes()


def edges(nodes: int, count: int, seed: int) -> Iterator[tuple[npt.NDArray[Any], npt.NDArray[Any]]]:
    """A planted partition, sources in file order, the members of a community anywhere in the file."""
    generator = np.random.default_rng(seed)
    members = generator.permutation(nodes).astype(np.uint32)
    place = np.empty(nodes, np.uint32)
    place[members] = np.arange(nodes, dtype=np.uint32)
    for start in range(0, count, CHUNK):
        sources = np.arange(start, min(start + CHUNK, count)) * nodes // count
        community = place[sources] // COMMUNITY * COMMUNITY
        near = community + generator.integers(0, np.minimum(COMMUNITY, nodes - community))
        far = generator.integers(0, nodes, len(sources))
        yield sources, members[np.where(generator.random(len(sources)) < INSIDE, near, far)]


def generate(folder: Path, nodes: int, edge_count: int, dim: int, seed: int) -> None:
    (folder / "embeddings").mkdir(parents=True, exist_ok=True)
    with (folder / "nodes.jsonl").open("wb") as handle:
        for start in range(0, nodes, CHUNK):
            rows = np.arange(start, min(start + CHUNK, nodes))
            text = WORDS.decode() + "########"
            handle.write(lines(f'{{"id": "n########", "type": "chunk", "text": "{text}"}}', rows, rows))
    with (folder / "edges.jsonl").open("wb") as handle:
        for sources, targets in edges(nodes, edge_count, seed):
            handle.write(lines('{"source": "n########", "target": "n########", "type": "link"}', sources, targets))
    generator = np.random.default_rng(seed)
    with (folder / "embeddings" / "original.npy").open("wb") as handle:
        header = {"descr": "<f4", "fortran_order": False, "shape": (nodes, dim)}
        np.lib.format.write_array_header_1_0(handle, header)
        step = max(1, (64 << 20) // (4 * dim))
        for start in range(0, nodes, step):
            vectors = generator.standard_normal((min(step, nodes - start), dim), dtype=np.float32)
            handle.write((vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).tobytes())


def prepare(folder: Path, arguments: argparse.Namespace) -> None:
    """Make the workspace, unless the one that is there is of this size and was finished."""
    wanted = {key: getattr(arguments, key) for key in ("nodes", "edges", "dim", "seed")}
    note = folder / "scale.json"
    if note.is_file() and json.loads(note.read_text()) == wanted:
        return
    started = time.perf_counter()
    note.unlink(missing_ok=True)
    generate(folder, arguments.nodes, arguments.edges, arguments.dim, arguments.seed)
    note.write_text(json.dumps(wanted))
    print(f"generated in {time.perf_counter() - started:.0f} s", file=sys.stderr)


def command(folder: Path, method: str, threads: int) -> list[str]:
    name, _, options = method.partition(":")
    given = ["transform", name, *options.split(), "-w", str(folder), "--threads", str(threads)]
    return [sys.executable, "-c", CHILD, *given]


def measure(folder: Path, method: str, threads: int) -> dict[str, Any]:
    """One run to its end."""
    started = time.perf_counter()
    process = subprocess.Popen(
        command(folder, method, threads), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stderr is not None
    printed, said = process.stdout.read().strip(), process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{method} failed with code {process.returncode}:\n{said}")
    phases = json.loads(said.rpartition("phases ")[2])
    whole = phases.pop(f"transform {method.partition(':')[0]}")
    return {
        "method": method,
        "seconds": time.perf_counter() - started,
        "cpu": usage.ru_utime + usage.ru_stime,
        "kernel": whole - sum(phases.values()),
        "phases": phases,
        "peak_gib": usage.ru_maxrss / 2**20,  # Linux counts in KiB
        "bytes": (folder / "embeddings" / f"{printed}.npy").stat().st_size,
        "name": printed,
        "said": said.partition("\n")[0],
    }


def interrupt(folder: Path, method: str, threads: int, after: float) -> dict[str, Any]:
    """Seconds from Ctrl-C to the end of the process, and what it left behind."""
    process = subprocess.Popen(
        command(folder, method, threads),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        # A shell ignores Ctrl-C for what it runs in the background, and children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    time.sleep(after)
    process.send_signal(signal.SIGINT)
    sent = time.perf_counter()
    code = process.wait()
    left = [path.name for path in (folder / "embeddings").iterdir() if path.name.endswith(".tmp")]
    return {"after": after, "seconds": time.perf_counter() - sent, "code": code, "left": left}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True, help="made, or used again")
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--edges", type=int, default=12_800_000, help="lines; a few repeat each other")
    parser.add_argument("--dim", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--methods", nargs="*", default=METHODS, metavar="METHOD[:OPTIONS]")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument(
        "--interrupt-at", type=float, nargs="*", default=(0.2, 0.5, 0.8), help="shares of a whole run; none: no test"
    )
    parser.add_argument("--keep", action="store_true", help="keep the results, each as large as original.npy")
    arguments = parser.parse_args()
    if arguments.nodes > 10**8:
        parser.error("ids have eight digits")
    prepare(arguments.folder, arguments)
    for path in ("nodes.jsonl", "edges.jsonl", "embeddings/original.npy"):
        print(f"{path}: {(arguments.folder / path).stat().st_size / 1e9:.2f} GB")
    for method in arguments.methods:
        run = measure(arguments.folder, method, arguments.threads)
        print(
            f"{run['method']:24} {run['seconds']:8.1f} s (processors {run['cpu']:.1f} s)   "
            f"kernel {run['kernel']:8.1f} s   peak {run['peak_gib']:6.2f} GiB   "
            f"writes {run['bytes'] / 1e9:.2f} GB   {run['said']}",
            flush=True,
        )
        print("    " + ", ".join(f"{what} {seconds:.1f} s" for what, seconds in run["phases"].items()), flush=True)
        if not arguments.keep:
            for ending in ("npy", "json"):
                (arguments.folder / "embeddings" / f"{run['name']}.{ending}").unlink()
        for share in arguments.interrupt_at:
            stop = interrupt(arguments.folder, method, arguments.threads, share * run["seconds"])
            print(
                f"    Ctrl-C after {stop['after']:.1f} s: ended in {stop['seconds']:.2f} s with code {stop['code']}, "
                f"left behind: {', '.join(stop['left']) or 'nothing'}",
                flush=True,
            )


if __name__ == "__main__":
    main()
