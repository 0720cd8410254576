"""Prepares documents in parallel in worker processes, with only a few in memory at a time.

A few small texts are prepared in this process, since starting workers takes longer.
"""

import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Protocol, Self

from foundry.building.documents.answers import check_answer
from foundry.building.documents.encoding import StoredDocument, decode, encode, encode_result
from foundry.building.documents.preparer import Preparer
from foundry.building.documents.recipe import Recipe
from foundry.documents import RawDocument, Skipped
from foundry.progress import Progress
from foundry.readers import reads_apart
from foundry.readers.contract import UnreadableError
from foundry.readers.sandbox.processes import Limits, Sandbox

FEW_DOCUMENTS = 64
"""How many documents are prepared in this process before workers are started."""

SMALL_BYTES = 50_000
"""Larger documents go to a worker, whatever their format."""

LITTLE_WORK = (32, 300_000)
"""How many documents and bytes a worker prepares in the time that starting another takes."""

DOCUMENTS_AHEAD = 4
"""Documents in progress per worker."""

BYTES_AHEAD = 64_000_000
"""Maximum total size of the documents in progress; a single one may be larger."""

LOOK_SECONDS = 1.0
"""Interval at which a waiting build checks what its workers are doing."""

LIMITS = Limits(seconds_per_megabyte=5)

Result = StoredDocument | Skipped
Task = tuple[int, RawDocument]


@dataclass(frozen=True, slots=True)
class Made:
    """A result, and its bytes for the cache."""

    result: Result
    content: bytes

    @classmethod
    def of(cls, answer: bytes, raw: RawDocument, recipe: Recipe) -> Self:
        """Validate a worker's answer and return its result."""
        result = check_answer(answer, raw, recipe)
        return cls(result, encode(result) if isinstance(result, Skipped) else answer)


class Preparing(Protocol):
    """Prepares the documents of a build by one recipe."""

    def prepare(self, tasks: Iterator[Task]) -> Iterator[tuple[Task, Made]]:
        """Return each task with its result as soon as it is ready, in any order.

        A task is a number and a document. If a worker dies, only the document that it was working
        on is lost.
        """
        ...


def open_sandbox(recipe: Recipe) -> Sandbox:
    """Start worker processes that prepare documents with a recipe."""
    return Sandbox(LIMITS, Preparer.__module__, recipe.to_json())


def ask_worker(sandbox: Sandbox, raw: RawDocument) -> bytes:
    """Return a worker's answer for a document; the bytes are not validated."""
    try:
        return sandbox.ask(raw)
    except UnreadableError as error:
        return encode(Skipped(raw.source, raw.path, error.reason, error.detail))


class Pool:
    """Prepares documents by one recipe in up to `jobs` worker processes.

    `progress` names the document that it is waiting for.
    """

    def __init__(self, recipe: Recipe, jobs: int, progress: Progress | None = None) -> None:
        self._recipe = recipe
        self._jobs = jobs
        self._progress = progress or Progress()
        self._here: Preparer | None = None
        self._left_here = FEW_DOCUMENTS
        self._sandbox = open_sandbox(recipe)
        self._threads: ThreadPoolExecutor | None = None
        self._waiting: list[Task] = []
        self._running: dict[Future[bytes], Task] = {}
        self._done: SimpleQueue[Future[bytes]] = SimpleQueue()
        self._bytes = 0
        # By position: the name of each document in a worker, and when it was handed over.
        self._begun: dict[int, tuple[str, float]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._threads:
            self._threads.shutdown(wait=False, cancel_futures=True)
        self._sandbox.close()
        if self._threads:
            self._threads.shutdown()

    def prepare(self, tasks: Iterator[Task]) -> Iterator[tuple[Task, Made]]:
        """Prepare documents; see `Preparing`."""
        for task in tasks:
            _, raw = task
            if self._left_here and len(raw.content) <= SMALL_BYTES and not reads_apart(raw):
                self._left_here -= 1
                yield task, self._prepare_here(raw)
                continue
            self._waiting.append(task)
            if self._threads or not self._is_little():
                yield from self._hand_over(self._jobs)
        yield from self._hand_over(1)
        while self._running:
            yield self._next_finished()

    def _is_little(self) -> bool:
        documents, size = LITTLE_WORK
        waiting = sum(len(raw.content) for _, raw in self._waiting)
        return len(self._waiting) <= documents and waiting <= size

    def _hand_over(self, jobs: int) -> Iterator[tuple[Task, Made]]:
        """Pass waiting documents to workers, starting `jobs` of them if none are running."""
        if self._threads is None:
            self._threads = ThreadPoolExecutor(jobs, thread_name_prefix="preparing")
        for task in self._waiting:
            place, raw = task
            while self._running and not self._has_room(len(raw.content)):
                yield self._next_finished()
            self._bytes += len(raw.content)
            future = self._threads.submit(self._ask, place, raw)
            self._running[future] = task
            future.add_done_callback(self._done.put)
        self._waiting.clear()

    def _has_room(self, size: int) -> bool:
        most = DOCUMENTS_AHEAD * self._jobs
        return len(self._running) < most and self._bytes + size <= BYTES_AHEAD

    def _next_finished(self) -> tuple[Task, Made]:
        """Wait for the next finished document."""
        future = None
        while future is None:
            try:
                future = self._done.get(timeout=LOOK_SECONDS)
            except Empty:
                self._name_slowest()
        task = self._running.pop(future)
        _, raw = task
        self._bytes -= len(raw.content)
        # Validated here, so that the worker can already start on its next document.
        return task, Made.of(future.result(), raw, self._recipe)

    def _ask(self, place: int, raw: RawDocument) -> bytes:
        self._begun[place] = (raw.path, time.monotonic())
        try:
            return ask_worker(self._sandbox, raw)
        finally:
            del self._begun[place]

    def _name_slowest(self) -> None:
        if at_work := list(self._begun.values()):
            name, begun = min(at_work, key=lambda each: each[1])
            self._progress.wait_for(name, time.monotonic() - begun)

    def _prepare_here(self, raw: RawDocument) -> Made:
        if self._here is None:
            self._here = Preparer(self._recipe)
        content = encode_result(raw, self._here.prepare(raw))
        return Made(decode(content), content)
