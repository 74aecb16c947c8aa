"""Spreads work over a few threads. Finished work is never lost, neither to an error elsewhere nor to Ctrl-C."""

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

    If a call raises, or Ctrl-C arrives, no more items are started and `on_stop` is called to wake sleeping calls.
    Running calls get a few seconds to finish, and their results are still yielded. Then the error is raised.

    The threads are daemons, unlike those of `concurrent.futures`, so that a hanging request does not keep the program
    from ending.
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
                stopping.set()  # set after the error is in the queue, so that this error comes out first

    threads = [threading.Thread(target=work, name=f"gme-embed-{n}", daemon=True) for n in range(workers)]
    for thread in threads:
        thread.start()
    waiting = iter(items)
    running = 0
    deadline: float | None = None
    try:
        # Start one item more than there are workers, so that no worker waits for this thread to give it the next.
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
        # If nobody closes the generator, any thread may collect it, even one of these. A thread can't join itself.
        for thread in (thread for thread in threads if thread is not threading.current_thread()):
            thread.join(timeout=None if deadline is None else max(0.0, deadline - time.monotonic()))


def drain_after(results: Iterator[Result], error: BaseException) -> Iterator[Result]:
    """Throw an error into a generator of results. Yields the results it still has, and raises no error."""
    if not isinstance(results, Generator):
        return
    try:
        yield results.throw(error)
        yield from results
    except GeneratorExit:
        raise
    except BaseException:
        # It is the same error again, or a second Ctrl-C, which ends the waiting.
        return


def _withdraw(tasks: queue.SimpleQueue[Item | None]) -> int:
    """Remove the items that no thread has started. Returns how many there were."""
    count = 0
    with contextlib.suppress(queue.Empty):
        while True:
            tasks.get_nowait()
            count += 1
    return count
