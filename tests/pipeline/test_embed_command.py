from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_openai_server import FakeServer, Fault, running, unit_of

from conftest import Run, write_lines
from gme.errors import GmeError, StaleError
from gme.pipeline.question import embed_question, embedder_for
from gme.workspace import Workspace

NODES: list[dict[str, object]] = [
    {"id": f"n{number}", "type": "chunk", "text": f"node text {number}"} for number in range(30)
]
QUESTIONS: list[dict[str, object]] = [
    {"id": f"q{number}", "question": f"question {number}?", "gold": ["n1"]} for number in range(4)
]


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with running() as state:
        yield state


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "w"
    place.mkdir()
    write_lines(place / "nodes.jsonl", NODES)
    write_lines(place / "questions.jsonl", QUESTIONS)
    return place


def manifest(folder: Path, name: str = "original") -> dict[str, Any]:
    value: dict[str, Any] = json.loads((folder / "embeddings" / f"{name}.json").read_text())
    return value


def vectors(folder: Path, name: str = "original") -> Any:
    return np.load(folder / "embeddings" / f"{name}.npy")


def remote(server: FakeServer, folder: Path) -> list[object]:
    return ["embed", "--model", "openai:fake", "--base-url", server.url, "-w", folder]


# ---- local -------------------------------------------------------------------------------------------------------


def test_local_is_the_default(gme: Run, folder: Path) -> None:
    code, out, err = gme("embed", "-w", folder)
    assert (code, out) == (0, "embeddings/original.npy\nembeddings/questions.npy\n")
    assert "34 vectors of 384 dimensions by local" in err
    workspace = Workspace(folder)
    assert workspace.collection("original").vectors.shape == (30, 384)
    assert workspace.question_vectors().shape == (4, 384)
    facts = manifest(folder)
    assert facts["method"] == "embed"
    assert facts["model"] == "local"
    assert facts["command"] == "gme embed"
    assert facts["weights_sha256"].startswith("8199be6f")
    assert facts["texts_from_cache"] == 0
    assert list(facts["inputs"]) == ["nodes.jsonl"]
    assert list(manifest(folder, "questions")["inputs"]) == ["questions.jsonl"]
    assert manifest(folder, "questions")["key"] == facts["key"]


def test_bytes_do_not_depend_on_threads_batches_or_the_cache(gme: Run, folder: Path) -> None:
    found = set()
    for arguments in (["--threads", 1], ["--threads", 2, "--batch-size", 3], ["--no-cache"], []):
        assert gme("embed", "-w", folder, *arguments)[0] == 0
        found.add((vectors(folder).tobytes(), vectors(folder, "questions").tobytes()))
    assert len(found) == 1
    assert manifest(folder)["texts_from_cache"] == 34


def test_without_questions_only_nodes_are_embedded(gme: Run, folder: Path) -> None:
    (folder / "questions.jsonl").unlink()
    assert gme("embed", "-w", folder)[1] == "embeddings/original.npy\n"
    assert not (folder / "embeddings" / "questions.npy").exists()


def test_quiet_prints_only_the_names(gme: Run, folder: Path) -> None:
    assert gme("embed", "-w", folder, "--quiet")[1:] == ("embeddings/original.npy\nembeddings/questions.npy\n", "")


def test_a_new_node_costs_one_text(gme: Run, folder: Path) -> None:
    gme("embed", "-w", folder)
    before = vectors(folder)
    write_lines(folder / "nodes.jsonl", [{"id": "new", "type": "chunk", "text": "fresh"}, *NODES])
    with pytest.raises(StaleError, match=r"nodes\.jsonl has changed"):
        Workspace(folder).collection("original")
    assert "34 from the cache" in gme("embed", "-w", folder)[2]
    assert manifest(folder)["texts_from_cache"] == 34
    assert vectors(folder)[1:].tobytes() == before.tobytes()


def test_the_cache_can_lie_elsewhere(gme: Run, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gme("embed", "-w", folder, "--cache", tmp_path / "one")
    monkeypatch.setenv("GME_CACHE", str(tmp_path / "two"))
    gme("embed", "-w", folder)
    gme("embed", "-w", folder, "--no-cache")
    assert [(tmp_path / name / "embeddings.sqlite").is_file() for name in ("one", "two")] == [True, True]
    assert not (folder / "cache").exists()


def test_blank_texts_are_pointed_out(gme: Run, folder: Path) -> None:
    write_lines(folder / "nodes.jsonl", [*NODES, {"id": "hollow", "type": "chunk", "text": " "}])
    code, _, err = gme("embed", "-w", folder)
    assert code == 0
    assert "1 blank text: such a vector means nothing" in err
    assert "row 30 (id 'hollow')" in err


# ---- errors ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "problem", "hint"),
    [
        (["--model", "locl"], "unknown model 'locl'", "did you mean 'local'"),
        (["--model", "local", "--dimensions", "5"], "--dimensions goes with --model openai:NAME", "leave"),
        (["--model", "openai:x"], "OPENAI_API_KEY is not set", "--api-key-env"),
        (["--model", "file:none.npy"], "none.npy is missing", None),
        (["--model", "file:"], "names no file", "file:NODES.npy"),
        (["--questions-file", "q.npy"], "--questions-file goes with", "one model"),
        (["--concurrency", "2"], "--concurrency goes with --model openai:NAME, not with local", "leave"),
        (["--timeout", "2"], "--timeout goes with --model openai:NAME", "leave"),
        (["--retries", "2"], "--retries goes with --model openai:NAME", "leave"),
        (["--api-key-env", "KEY"], "--api-key-env goes with --model openai:NAME", "leave"),
        (["--model", "file:x.npy", "--batch-size", "2"], "--batch-size goes with --model local or onnx:", "leave"),
        (["--cache", "here", "--no-cache"], "--cache has no effect with --no-cache", "leave one out"),
    ],
)
def test_user_errors(gme: Run, folder: Path, arguments: list[str], problem: str, hint: str | None) -> None:
    code, out, err = gme("embed", "-w", folder, *arguments)
    assert (code, out) == (1, "")
    assert err.startswith("error: ")
    assert problem in err
    assert hint is None or hint in err.split("hint: ")[1]
    assert not (folder / "embeddings").exists()


def test_an_empty_workspace_says_what_is_missing(gme: Run, tmp_path: Path) -> None:
    code, _, err = gme("embed", "-w", tmp_path)
    assert code == 1
    assert f"{tmp_path / 'nodes.jsonl'} is missing" in err
    assert "hint: write it with: gme graph read" in err


def test_an_empty_corpus(gme: Run, tmp_path: Path) -> None:
    (tmp_path / "nodes.jsonl").touch()
    code, _, err = gme("embed", "-w", tmp_path)
    assert (code, "holds no nodes" in err) == (1, True)


def test_a_bad_line_is_named(gme: Run, folder: Path) -> None:
    with (folder / "nodes.jsonl").open("a") as handle:
        handle.write('{"id": "x", "type": "chunk"}\n')
    code, _, err = gme("embed", "-w", folder)
    assert code == 1
    assert "nodes.jsonl:31: 'text' is missing" in err


# ---- openai: -----------------------------------------------------------------------------------------------------


def test_through_a_server(gme: Run, server: FakeServer, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-very-secret")
    server.keys = {"sk-very-secret"}
    server.faults.append(Fault(status=429, headers={"Retry-After": "0.2"}))
    code, out, err = gme(*remote(server, folder), "--api-key-env", "MY_KEY", "--dimensions", 5, "--batch-size", 4)
    assert (code, out) == (0, "embeddings/original.npy\nembeddings/questions.npy\n")
    assert "1 requests tried again" in err
    np.testing.assert_allclose(vectors(folder), [unit_of(str(node["text"]), 5) for node in NODES], atol=1e-6)
    np.testing.assert_allclose(
        vectors(folder, "questions"), [unit_of(str(entry["question"]), 5) for entry in QUESTIONS], atol=1e-6
    )
    facts = manifest(folder)
    assert facts["dimensions"] == 5
    assert facts["retries"] == 1
    assert facts["command"].startswith(f"gme embed --model openai:fake --base-url {server.url} --dimensions 5")
    written = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert b"sk-very-secret" not in written


def test_a_refused_key(gme: Run, server: FakeServer, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    server.keys = {"sk-other"}
    code, _, err = gme(*remote(server, folder))
    assert code == 1
    assert "refused the key in $OPENAI_API_KEY (401): Incorrect API key provided: ***" in err
    assert "very-secret" not in err


@pytest.mark.parametrize(
    ("text", "where"),
    [("node text 7", "nodes.jsonl: row 7 (id 'n7')"), ("question 2?", "questions.jsonl: row 2 (id 'q2')")],
)
def test_a_refused_text_is_named(gme: Run, server: FakeServer, folder: Path, text: str, where: str) -> None:
    server.refused = {text}
    code, _, err = gme(*remote(server, folder), "--concurrency", 1)
    assert code == 1
    assert where in err
    assert "refused by policy" in err
    assert "33 of 34 texts are embedded and kept" in err
    server.refused = set()
    assert gme(*remote(server, folder))[0] == 0
    assert max(server.paid.values()) == 1, "what was embedded before the refusal is not paid again"


def test_an_empty_text_is_named_before_anything_is_paid(gme: Run, server: FakeServer, folder: Path) -> None:
    write_lines(folder / "nodes.jsonl", [*NODES, {"id": "hollow", "type": "chunk", "text": ""}])
    code, _, err = gme(*remote(server, folder))
    assert code == 1
    assert "row 30 (id 'hollow'): the text is empty" in err
    assert server.requests == []


# ---- stopped half-way --------------------------------------------------------------------------------------------


def start(server: FakeServer, folder: Path) -> subprocess.Popen[str]:
    arguments = [*map(str, remote(server, folder)), "--batch-size", "2", "--concurrency", "2"]
    code = (
        "import sys; from gme.cli import run; from gme.embedders import parallel\n"
        f"parallel.PATIENCE = 0.5; sys.exit(run({arguments!r}))"
    )
    return subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


def stored(folder: Path) -> int:
    """How many vectors the cache holds, read as another process would."""
    import sqlite3

    path = folder / "cache" / "embeddings.sqlite"
    if not path.is_file():
        return 0
    connection = sqlite3.connect(path)
    try:
        return int(connection.execute("SELECT count(*) FROM vectors").fetchone()[0])
    except sqlite3.OperationalError:
        return 0
    finally:
        connection.close()


@pytest.mark.parametrize("with_signal", ["SIGKILL", "SIGINT"])
def test_stopped_half_way_and_run_again_nothing_is_paid_twice(
    gme: Run, server: FakeServer, folder: Path, tmp_path: Path, with_signal: str
) -> None:
    server.stall_after = 8
    process = start(server, folder)
    try:
        wait_for(lambda: len(server.requests) > 9 and stored(folder) == 16)
        process.send_signal(getattr(signal, with_signal))
        _, err = process.communicate(timeout=30)
    finally:
        process.kill()
    assert sum(server.paid.values()) == 16
    assert not (folder / "embeddings").exists()
    if with_signal == "SIGINT":
        assert process.returncode == 130
        assert "16 of 34 texts are embedded and kept" in err
        assert "error: interrupted" in err
    server.stall_after = None
    assert gme(*remote(server, folder))[0] == 0
    assert server.paid == {str(entry.get("text", entry.get("question"))): 1 for entry in [*NODES, *QUESTIONS]}
    assert manifest(folder)["texts_from_cache"] == 16
    resumed = vectors(folder).tobytes()
    assert gme(*remote(server, folder), "--no-cache")[0] == 0
    assert vectors(folder).tobytes() == resumed


def test_a_full_disk_claims_nothing_and_loses_nothing(gme: Run, folder: Path) -> None:
    code = (
        "import resource, sys; from gme.cli import run\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))\n"
        f"sys.exit(run(['embed', '-w', {str(folder)!r}]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert "embeddings.sqlite: disk I/O error" in done.stderr
    assert "kept" not in done.stderr
    assert not (folder / "embeddings").exists()
    assert gme("embed", "-w", folder)[0] == 0


def test_an_interrupt_leaves_the_old_arrays(gme: Run, server: FakeServer, folder: Path) -> None:
    assert gme("embed", "-w", folder)[0] == 0
    before = vectors(folder).tobytes()
    server.stall_after = 2
    process = start(server, folder)
    try:
        wait_for(lambda: len(server.requests) > 3)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    finally:
        process.kill()
    assert vectors(folder).tobytes() == before
    assert manifest(folder)["model"] == "local"
    Workspace(folder).collection("original")


# ---- file: -------------------------------------------------------------------------------------------------------


@pytest.fixture
def given(tmp_path: Path) -> tuple[Path, Path]:
    generator = np.random.default_rng(5)
    np.save(tmp_path / "nodes.npy", generator.normal(size=(30, 6)).astype(np.float16))
    np.save(tmp_path / "questions.npy", generator.normal(size=(4, 6)))
    return tmp_path / "nodes.npy", tmp_path / "questions.npy"


def test_vectors_from_files(gme: Run, folder: Path, given: tuple[Path, Path]) -> None:
    code, out, err = gme("embed", "-w", folder, "--model", f"file:{given[0]}", "--questions-file", given[1])
    assert (code, out) == (0, "embeddings/original.npy\nembeddings/questions.npy\n")
    assert "34 vectors of 6 dimensions" in err
    np.testing.assert_allclose(np.linalg.norm(vectors(folder), axis=1), 1, atol=1e-6)
    assert manifest(folder)["source_sha256"] != manifest(folder, "questions")["source_sha256"]
    assert manifest(folder)["key"] == manifest(folder, "questions")["key"]
    assert Workspace(folder).question_vectors().shape == (4, 6)


def test_vectors_from_one_file_only(gme: Run, folder: Path, given: tuple[Path, Path]) -> None:
    code, out, err = gme("embed", "-w", folder, "--model", f"file:{given[0]}")
    assert (code, out) == (0, "embeddings/original.npy\n")
    assert "--questions-file" in err


def test_questions_by_another_model_are_not_compared(gme: Run, folder: Path, given: tuple[Path, Path]) -> None:
    gme("embed", "-w", folder)
    gme("embed", "-w", folder, "--model", f"file:{given[0]}")
    with pytest.raises(StaleError, match=r"questions\.npy was made by local, but .*original\.npy by file:") as caught:
        Workspace(folder).question_vectors()
    assert str(caught.value.hint).endswith("--questions-file QUESTIONS.npy")
    gme("embed", "-w", folder, "--model", f"file:{given[0]}", "--questions-file", given[1])
    assert Workspace(folder).question_vectors().shape == (4, 6)


def test_question_vectors_without_questions(gme: Run, folder: Path, given: tuple[Path, Path]) -> None:
    (folder / "questions.jsonl").unlink()
    code, _, err = gme("embed", "-w", folder, "--model", f"file:{given[0]}", "--questions-file", given[1])
    assert code == 1
    assert "questions.jsonl is missing" in err


def test_files_of_different_dimensions(gme: Run, folder: Path, given: tuple[Path, Path]) -> None:
    np.save(given[1], np.ones((4, 7)))
    code, _, err = gme("embed", "-w", folder, "--model", f"file:{given[0]}", "--questions-file", given[1])
    assert code == 1
    assert "7 dimensions, but" in err
    assert not (folder / "embeddings").exists()


def test_files_of_other_lengths(gme: Run, folder: Path, given: tuple[Path, Path]) -> None:
    code, _, err = gme("embed", "-w", folder, "--model", f"file:{given[1]}")
    assert code == 1
    assert "has 4 rows, but nodes.jsonl has 30" in err


# ---- one question ------------------------------------------------------------------------------------------------


def test_one_question_by_the_model_of_the_workspace(gme: Run, server: FakeServer, folder: Path) -> None:
    gme(*remote(server, folder), "--dimensions", 5)
    made = embed_question(Workspace(folder), "what else?")
    np.testing.assert_allclose(made, [unit_of("what else?", 5)], atol=1e-6)
    with pytest.raises(GmeError, match=r"384 dimensions, but .* has 5"):
        embed_question(Workspace(folder), "what else?", "local")
    with pytest.raises(GmeError, match="question is empty"):
        embed_question(Workspace(folder), " ")
    with pytest.raises(GmeError, match="not valid Unicode"):
        embed_question(Workspace(folder), "what\udcff?")
    server.refused = {"what else?"}
    with pytest.raises(GmeError, match=r"the question 'what else\?': .* refused the text"):
        embed_question(Workspace(folder), "what else?")


def test_one_question_equals_its_row(gme: Run, folder: Path) -> None:
    gme("embed", "-w", folder)
    made = embed_question(Workspace(folder), "question 2?")
    assert made.tobytes() == vectors(folder, "questions")[2:3].tobytes()


def test_vectors_from_a_file_need_a_model_for_one_question(gme: Run, folder: Path, given: tuple[Path, Path]) -> None:
    gme("embed", "-w", folder, "--model", f"file:{given[0]}")
    with pytest.raises(GmeError, match="can't be embedded") as caught:
        embedder_for(Workspace(folder))
    assert "--model" in str(caught.value.hint)
    assert embedder_for(Workspace(folder), "local").dim == 384


def test_a_model_that_has_changed_is_noticed(gme: Run, folder: Path) -> None:
    gme("embed", "-w", folder)
    path = folder / "embeddings" / "original.json"
    path.write_text(json.dumps({**manifest(folder), "key": "onnx of other days"}))
    with pytest.raises(StaleError, match="not the model that made"):
        embedder_for(Workspace(folder))


def test_nothing_reaches_for_a_model_hub(gme: Run, folder: Path) -> None:
    """A fresh process without a way to the network embeds all the same."""
    code = (
        "import socket, sys\n"
        "def refuse(*a, **k): raise AssertionError('network')\n"
        "socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse\n"
        "from gme.cli import run\n"
        f"sys.exit(run(['embed', '-w', {str(folder)!r}]))"
    )
    environment = {**os.environ, "HF_HUB_OFFLINE": "0"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
