"""Documents prepared several at a time, in worker processes, with as many in memory as are needed.

A few small texts are prepared in this process: workers take longer to start than that.
"""

import os
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from foundry.prepared import PreparedDocument
from foundry.preparing.preparer import Preparer
from foundry.preparing.recipe import Recipe
from foundry.preparing.wire import decode, encode, encode_result, parse_answer, raw_fields
from foundry.readers import reads_apart
from foundry.readers.contract import UnreadableError
from foundry.readers.sandbox import Limits, Sandbox
from foundry.records import RawDocument, Skipped

FEW = 64
"""Documents that are prepared in this process before workers are started."""

SMALL = 50_000
"""Bytes: a larger document goes to a worker, whatever it is."""

AHEAD = 4
"""Documents in flight for each worker."""

BYTES_AHEAD = 64_000_000
"""Of documents in flight; one alone may be larger."""

LIMITS = Limits(seconds_per_megabyte=5)

Result = PreparedDocument | Skipped
Task = tuple[int, RawDocument]


@dataclass(frozen=True, slots=True)
class Made:
    """A result, and the bytes of it that the cache keeps."""

    result: Result
    content: bytes


def available_cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Pool:
    """Prepares documents by one recipe in at most `jobs` worker processes."""

    def __init__(self, recipe: Recipe, jobs: int) -> None:
        self._recipe = recipe
        self._jobs = jobs
        self._here: Preparer | None = None
        self._left_here = FEW
        self._sandbox = Sandbox(LIMITS, "foundry.preparing.task", recipe.to_json())
        self._threads = ThreadPoolExecutor(jobs, thread_name_prefix="preparing")
        self._running: dict[Future[Made], Task] = {}
        self._bytes = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._sandbox.close()
        self._threads.shutdown()

    def prepare(self, tasks: Iterator[Task]) -> Iterator[tuple[Task, Made]]:
        """Each task with its result, as they are ready and not in order.

        A task is a number and a document. A worker that dies costs the document alone that it had.
        """
        for task in tasks:
            _, raw = task
            if self._left_here and len(raw.content) <= SMALL and not reads_apart(raw):
                self._left_here -= 1
                yield task, self._prepare_here(raw)
                continue
            while self._running and not self._has_room(len(raw.content)):
                yield from self._finished(timeout=None)
            self._bytes += len(raw.content)
            self._running[self._threads.submit(self._ask, raw)] = task
            yield from self._finished(timeout=0)
        while self._running:
            yield from self._finished(timeout=None)

    def _has_room(self, size: int) -> bool:
        return len(self._running) < AHEAD * self._jobs and self._bytes + size <= BYTES_AHEAD

    def _finished(self, timeout: float | None) -> Iterator[tuple[Task, Made]]:
        done, _ = wait(self._running, timeout, FIRST_COMPLETED)
        for future in done:
            task = self._running.pop(future)
            self._bytes -= len(task[1].content)
            yield task, future.result()

    def _prepare_here(self, raw: RawDocument) -> Made:
        if self._here is None:
            self._here = Preparer(self._recipe)
        content = encode_result(raw, self._here.prepare(raw))
        return Made(decode(content), content)

    def _ask(self, raw: RawDocument) -> Made:
        try:
            result, content = self._sandbox.ask(
                {"document": raw_fields(raw)},
                raw.content,
                lambda answer: (parse_answer(answer, raw, self._recipe), answer),
                wears=reads_apart(raw),
            )
        except UnreadableError as error:
            result = Skipped(raw.source, raw.path, error.reason, error.detail)
        return Made(result, encode(result) if isinstance(result, Skipped) else content)
