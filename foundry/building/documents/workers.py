"""Prepares documents in parallel in worker processes, with only a few in memory at a time.

A few small texts are prepared in this process, since starting workers takes longer.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Protocol, Self

from foundry.building.documents.encoding import StoredDocument, decode, encode, encode_result
from foundry.building.documents.preparer import Preparer
from foundry.building.documents.recipe import Recipe
from foundry.documents import RawDocument, Skipped
from foundry.progress import Progress
from foundry.readers import reads_apart
from foundry.readers.contract import UnreadableError
from foundry.readers.sandbox.processes import Limits, Sandbox

FEW_DOCUMENTS = 64
"""Maximum number of small documents that are prepared in this process, without workers."""

SMALL_BYTES = 50_000
"""Larger documents go to a worker, whatever their format."""

LITTLE_WORK = (32, 300_000)
"""Documents and bytes that a worker can prepare while another worker is being started."""

BATCH_DOCUMENTS, BATCH_BYTES = 8, 100_000
"""A batch of documents for a worker is full at this number or size."""

BATCHES_AHEAD = 2
"""Batches in progress per worker."""

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
    def of(cls, content: bytes) -> Self:
        """Return the result that these bytes encode."""
        return cls(decode(content), content)


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


def ask_workers(
    sandbox: Sandbox,
    raws: Sequence[RawDocument],
    begin: Callable[[RawDocument], None] = lambda _: None,
) -> list[bytes]:
    """Return the results of documents as bytes; `begin` is called before each is prepared."""
    return [
        (
            encode(Skipped(raw.source, raw.path, answer.reason, answer.detail))
            if isinstance(answer, UnreadableError)
            else answer
        )
        for raw, answer in zip(raws, sandbox.ask_all(raws, begin), strict=True)
    ]


def batches(tasks: Iterable[Task], documents: int, size: int) -> Iterator[list[Task]]:
    """Yield batches of up to `documents` tasks; a batch also ends once it reaches `size` bytes."""
    batch: list[Task] = []
    for task in tasks:
        batch.append(task)
        if len(batch) >= documents or size_of(batch) >= size:
            yield batch
            batch = []
    if batch:
        yield batch


def size_of(batch: Iterable[Task]) -> int:
    """Return the total size of the documents in bytes."""
    return sum(len(raw.content) for _, raw in batch)


class Pool:
    """Prepares documents by one recipe in up to `jobs` worker processes.

    If the wait for a document is long, `progress` shows its name.
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
        self._running: dict[Future[list[bytes]], list[Task]] = {}
        self._done: SimpleQueue[Future[list[bytes]]] = SimpleQueue()
        # The documents that workers are preparing, with their start times.
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
                is_full = len(self._waiting) >= BATCH_DOCUMENTS or reads_apart(raw)
                if is_full or size_of(self._waiting) >= BATCH_BYTES:
                    yield from self._hand_over(self._jobs)
        yield from self._hand_over(1)
        while self._running:
            yield from self._next_finished()

    def _is_little(self) -> bool:
        documents, size = LITTLE_WORK
        return len(self._waiting) <= documents and size_of(self._waiting) <= size

    def _hand_over(self, jobs: int) -> Iterator[tuple[Task, Made]]:
        """Pass waiting documents to workers, and yield results whenever there is no room.

        If no workers are running, up to `jobs` are started.
        """
        if self._threads is None:
            self._threads = ThreadPoolExecutor(jobs, thread_name_prefix="preparing")
        for batch in batches(self._waiting, BATCH_DOCUMENTS, BATCH_BYTES):
            while self._running and not self._has_room(batch):
                yield from self._next_finished()
            future = self._threads.submit(self._ask, batch)
            self._running[future] = batch
            future.add_done_callback(self._done.put)
        self._waiting.clear()

    def _has_room(self, batch: list[Task]) -> bool:
        size = sum(map(size_of, self._running.values())) + size_of(batch)
        return len(self._running) < BATCHES_AHEAD * self._jobs and size <= BYTES_AHEAD

    def _next_finished(self) -> Iterator[tuple[Task, Made]]:
        """Wait for the next finished batch, and yield its results."""
        future = None
        while future is None:
            try:
                future = self._done.get(timeout=LOOK_SECONDS)
            except Empty:
                self._name_slowest()
        for task, content in zip(self._running.pop(future), future.result(), strict=True):
            yield task, Made.of(content)

    def _ask(self, batch: list[Task]) -> list[bytes]:
        (place, _), *_ = batch

        def begin(raw: RawDocument) -> None:
            self._begun[place] = (raw.path, time.monotonic())

        try:
            return ask_workers(self._sandbox, [raw for _, raw in batch], begin)
        finally:
            self._begun.pop(place, None)

    def _name_slowest(self) -> None:
        if at_work := list(self._begun.values()):
            name, begun = min(at_work, key=lambda each: each[1])
            self._progress.wait_for(name, time.monotonic() - begun)

    def _prepare_here(self, raw: RawDocument) -> Made:
        if self._here is None:
            self._here = Preparer(self._recipe)
        return Made.of(encode_result(raw, self._here.prepare(raw)))
