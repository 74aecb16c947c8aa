from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

from gme.embedders.cache import VectorCache
from gme.embedders.parallel import in_parallel
from gme.embedders.protocol import Embedder, TextError, normalized
from gme.embedders.texts import embed_texts
from gme.errors import GmeError
from gme.types import Vectors

OpenCache = Callable[..., VectorCache]


@pytest.fixture
def open_cache(tmp_path: Path) -> Iterator[OpenCache]:
    """Open the cache in `tmp_path`; all are closed when the test ends."""
    with ExitStack() as stack:
        yield lambda key="k": stack.enter_context(VectorCache(tmp_path, key))


# ---- the cache ---------------------------------------------------------------------------------------------------


class Counting(Embedder):
    """A made-up model that counts what it embeds, one text a batch, and can fail at a position."""

    name = "counting"
    key = "counting"

    def __init__(self, fail_at: int | None = None, error: type[BaseException] = KeyboardInterrupt) -> None:
        self.dim = None
        self.seen: list[str] = []
        self._fail_at, self._error = fail_at, error

    def stream(self, texts: Sequence[str]) -> Iterator[tuple[Sequence[int], Vectors]]:
        for position in reversed(range(len(texts))):
            if len(self.seen) == self._fail_at:
                raise self._error("stopped")
            self.seen.append(texts[position])
            numbers = np.random.default_rng(len(texts[position])).normal(size=(1, 3))
            yield [position], normalized(numbers)[0]


WORK = ["a", "bb", "ccc", "bb", "dddd", "a"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, GmeError, MemoryError])
def test_work_that_ends_early_goes_on_where_it_was(open_cache: OpenCache, error: type[BaseException]) -> None:
    whole, counts = embed_texts(Counting(), WORK)
    assert counts.distinct == counts.embedded == 4
    broken = Counting(fail_at=2, error=error)
    with pytest.raises(error):
        embed_texts(broken, WORK, cache=open_cache())
    rest = Counting()
    made, counts = embed_texts(rest, WORK, cache=open_cache())
    assert sorted(broken.seen + rest.seen) == ["a", "bb", "ccc", "dddd"]
    assert (counts.reused, counts.embedded) == (2, 2)
    assert made.tobytes() == whole.tobytes()


def test_an_embedder_that_forgets_a_text_is_found_out() -> None:
    class Forgetful(Counting):
        def stream(self, texts: Sequence[str]) -> Iterator[tuple[Sequence[int], Vectors]]:
            yield from super().stream(texts[:-1])

    with pytest.raises(TextError, match="gave no vector") as caught:
        embed_texts(Forgetful(), WORK)
    assert caught.value.position == 4


def test_models_don_t_share_vectors(open_cache: OpenCache) -> None:
    embed_texts(Counting(), WORK, cache=open_cache("one"))
    other = Counting()
    embed_texts(other, WORK, cache=open_cache("two"))
    assert len(other.seen) == 4


def test_many_texts_and_the_first_vector_stays(open_cache: OpenCache) -> None:
    keys = [number.to_bytes(32, "big") for number in range(1203)]
    rows = np.arange(1203 * 2, dtype=np.float32).reshape(-1, 2)
    cache = open_cache()
    cache.put(keys, rows)
    cache.put(keys[:3], -rows[:3])
    found = dict(cache.get([*keys, b"x" * 32]))
    assert sorted(found) == keys
    assert all((found[key] == row).all() for key, row in zip(keys, rows, strict=True))


def test_processes_may_share_a_cache(open_cache: OpenCache, tmp_path: Path) -> None:
    def write(first: int) -> None:
        mine = VectorCache(tmp_path, "k")
        for number in range(first, first + 40):
            mine.put([number.to_bytes(32, "big")], np.full((1, 2), number, dtype=np.float32))
        mine.close()

    threads = [threading.Thread(target=write, args=(start,)) for start in (0, 20, 40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = dict(open_cache().get([n.to_bytes(32, "big") for n in range(80)]))
    assert {int.from_bytes(key, "big"): float(row[0]) for key, row in found.items()} == {n: float(n) for n in range(80)}


def test_a_damaged_cache_says_so(tmp_path: Path) -> None:
    (tmp_path / "embeddings.sqlite").write_bytes(b"this is no database" * 100)
    with pytest.raises(GmeError, match="is damaged") as caught:
        VectorCache(tmp_path, "k")
    assert "delete the file" in str(caught.value.hint)


def test_a_changed_vector_is_noticed(open_cache: OpenCache, tmp_path: Path) -> None:
    cache = open_cache()
    cache.put([b"t" * 32], np.ones((1, 3), dtype=np.float32))
    cache.close()
    with sqlite3.connect(tmp_path / "embeddings.sqlite") as connection:
        connection.execute("UPDATE vectors SET vector = ?", (np.zeros(3, dtype=np.float32).tobytes(),))
    connection.close()
    with pytest.raises(GmeError, match="is damaged"):
        list(open_cache().get([b"t" * 32]))


def test_a_cache_from_another_version(tmp_path: Path) -> None:
    VectorCache(tmp_path, "k").close()
    with sqlite3.connect(tmp_path / "embeddings.sqlite") as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(GmeError, match="another version"):
        VectorCache(tmp_path, "k")


def test_a_locked_cache(open_cache: OpenCache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gme.embedders.cache._BUSY_SECONDS", 0.1)
    cache = open_cache()
    other = sqlite3.connect(tmp_path / "embeddings.sqlite", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(GmeError, match="in use by another process"):
        cache.put([b"t" * 32], np.ones((1, 3), dtype=np.float32))
    other.close()


def test_a_cache_where_a_file_is(tmp_path: Path) -> None:
    (tmp_path / "taken").touch()
    with pytest.raises(GmeError, match="no folder for the cache"):
        VectorCache(tmp_path / "taken", "k")


# ---- threads -----------------------------------------------------------------------------------------------------


def test_all_items_are_done_whatever_the_number_of_threads() -> None:
    for workers in (1, 2, 7):
        assert sorted(in_parallel(lambda item: item * 2, range(1, 30), workers)) == list(range(2, 60, 2))


def test_after_an_error_running_work_is_kept_and_none_is_started() -> None:
    started: list[int] = []
    slow = threading.Event()

    def work(item: int) -> int:
        started.append(item)
        if item == 2:
            slow.wait(5)  # still running when the error comes
        if item == 3:
            raise GmeError("three")
        return item

    got: list[int] = []

    def consume() -> None:
        for item in in_parallel(work, range(1, 30), 2, on_stop=slow.set):
            got.append(item)

    with pytest.raises(GmeError, match="three"):
        consume()
    assert sorted(got) == [1, 2]
    assert max(started) == 3
