"""A few threads that work off a list, and hand over each result as soon as it is there."""

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from foundry.embedding.providers.retrying import StoppedError

Item = TypeVar("Item")
Result = TypeVar("Result")
Work = Callable[[Item, Callable[[Result], None]], None]
"""Works off one item and hands over any number of results."""


class _Finished:
    """What a thread hands over last."""

    def __init__(self, error: BaseException | None) -> None:
        self.error = error


def run_threads(
    work: Work[Item, Result], items: Sequence[Item], count: int, stop: threading.Event
) -> Iterator[Result]:
    """Yield the results of all items, as they come; an error ends the run once running calls are
    done.

    Ctrl-C ends it at once: the threads do not keep the process alive, and what they have handed
    over by then is still given.

    Args:
        work: Called in the threads.
        items: What is to be worked off, in this order.
        count: Of threads; with one, all is done in the caller's own.
        stop: Set when the run is over; `work` may watch it.

    Raises:
        The first error of any item.
    """
    if count == 1:
        yield from _run_here(work, items)
        return
    tasks: queue.SimpleQueue[Item] = queue.SimpleQueue()
    for item in items:
        tasks.put(item)
    results: queue.SimpleQueue[Result | _Finished] = queue.SimpleQueue()

    def labour() -> None:
        error: BaseException | None = None
        try:
            while not stop.is_set():
                work(tasks.get_nowait(), results.put)
        except queue.Empty:
            pass
        except BaseException as raised:
            error = raised
            stop.set()
        results.put(_Finished(error))

    threads = min(count, len(items))
    for number in range(threads):
        threading.Thread(target=labour, name=f"embedding-{number}", daemon=True).start()
    errors: list[BaseException] = []
    try:
        while threads:
            result = results.get()
            if isinstance(result, _Finished):
                threads -= 1
                if result.error is not None and not isinstance(result.error, StoppedError):
                    errors.append(result.error)
            else:
                yield result
    except KeyboardInterrupt:
        stop.set()
        while not results.empty():
            result = results.get()
            if not isinstance(result, _Finished):
                yield result
        raise
    finally:
        stop.set()
    if errors:
        raise errors[0]


def _run_here(work: Work[Item, Result], items: Sequence[Item]) -> Iterator[Result]:
    for item in items:
        results: list[Result] = []
        try:
            work(item, results.append)
        except BaseException:
            yield from results
            raise
        yield from results
