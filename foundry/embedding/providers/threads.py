"""Work off a list in a few threads, and hand over each result as soon as it is there."""

import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from foundry.embedding.providers.retrying import StoppedError

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class _Finished:
    """The last thing that a thread hands over."""

    error: BaseException | None


def run_threads(
    work: Callable[[Item], Iterable[Result]],
    items: Sequence[Item],
    count: int,
    stop: threading.Event,
) -> Iterator[Result]:
    """Yield the results of all items, as they come; an error ends the run once running calls are
    done.

    Ctrl-C ends it at once: the threads do not keep the process alive, and results that they have
    handed over by then are still given.

    Args:
        work: Called in the threads; yields any number of results of one item.
        items: In the order in which they are begun.
        count: Of threads; with one, all is done in the caller's own.
        stop: Set when the run is over; `work` may watch it.

    Raises:
        The first error of any item.
    """
    if count == 1:
        for item in items:
            yield from work(item)
        return
    waiting: queue.SimpleQueue[Item] = queue.SimpleQueue()
    for item in items:
        waiting.put(item)
    results: queue.SimpleQueue[Result | _Finished] = queue.SimpleQueue()

    def run() -> None:
        error: BaseException | None = None
        try:
            while not stop.is_set():
                for result in work(waiting.get_nowait()):
                    results.put(result)
        except queue.Empty:
            pass
        except BaseException as raised:
            error = raised
            stop.set()
        results.put(_Finished(error))

    threads = min(count, len(items))
    for number in range(threads):
        # Not of a ThreadPoolExecutor, which Python waits for before it exits.
        threading.Thread(target=run, name=f"embedding-{number}", daemon=True).start()
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
