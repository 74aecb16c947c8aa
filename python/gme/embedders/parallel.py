"""Work spread over a few threads, with finished work never lost: not to an error elsewhere, not to Ctrl-C."""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

PATIENCE = 5.0


def in_parallel(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    workers: int,
    *,
    on_stop: Callable[[], None] = lambda: None,
) -> Generator[Result, None, None]:
    """Yield ``function(item)`` for every item, in the order in which calls finish.

    When a call raises, or Ctrl-C arrives, no further item is started; what is already running gets a few seconds to
    finish and is still yielded; then the error is raised. `on_stop` is called first, to wake calls that sleep.

    The threads are daemons, unlike those of `concurrent.futures`: a request that hangs must not keep the program from
    ending.
    """
    tasks: queue.SimpleQueue[Item | None] = queue.SimpleQueue()
    results: queue.SimpleQueue[tuple[Result | None, BaseException | None]] = queue.SimpleQueue()

    stopping = threading.Event()

    def work() -> None:
        while (item := tasks.get()) is not None:
            if stopping.is_set():
                results.put((None, RuntimeError("not started")))
                continue
            try:
                results.put((function(item), None))
            except BaseException as error:
                results.put((None, error))
                stopping.set()  # after the error is in the queue, so that it is the first to come out

    threads = [threading.Thread(target=work, name=f"gme-embed-{n}", daemon=True) for n in range(workers)]
    for thread in threads:
        thread.start()
    waiting = iter(items)
    running = 0
    deadline: float | None = None
    try:
        # One item more than there are workers, so that none waits for this thread to hand out the next.
        for item in islice(waiting, workers + 1):
            tasks.put(item)
            running += 1
        while running:
            result, error = results.get()
            running -= 1
            if error is not None:
                raise error
            for item in islice(waiting, 1):
                tasks.put(item)
                running += 1
            yield result  # type: ignore[misc]
    except GeneratorExit:
        deadline = time.monotonic() + PATIENCE
        stopping.set()
        on_stop()
        raise
    except BaseException:
        deadline = time.monotonic() + PATIENCE
        stopping.set()
        on_stop()
        running -= _withdraw(tasks)
        with contextlib.suppress(queue.Empty, KeyboardInterrupt):
            while running:
                result, late_error = results.get(timeout=max(0.0, deadline - time.monotonic()))
                running -= 1
                if late_error is None:
                    yield result  # type: ignore[misc]
        raise
    finally:
        _withdraw(tasks)
        for _ in threads:
            tasks.put(None)
        # A generator that nobody closed may be collected in any thread, one of these included, which can't join itself.
        for thread in (thread for thread in threads if thread is not threading.current_thread()):
            thread.join(timeout=None if deadline is None else max(0.0, deadline - time.monotonic()))


def late(results: Iterator[Result], error: BaseException) -> Iterator[Result]:
    """Tell a generator of an error where its results are used; yields what it still has, and no error."""
    if not isinstance(results, Generator):
        return
    try:
        yield results.throw(error)
        yield from results
    except GeneratorExit:
        raise
    except BaseException:
        # The same error come back, or a second Ctrl-C, which ends the waiting.
        return


def _withdraw(tasks: queue.SimpleQueue[Item | None]) -> int:
    """Take back what no thread has started; returns how many items that was."""
    count = 0
    with contextlib.suppress(queue.Empty):
        while True:
            tasks.get_nowait()
            count += 1
    return count
