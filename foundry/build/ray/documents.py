"""Documents prepared by the nodes of a cluster, in batches: one alone is too small a task."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from foundry.build.documents.programs import PREPARING, program_hash
from foundry.build.documents.recipe import Recipe
from foundry.build.documents.workers import Made, Task, check_answer
from foundry.build.ray.cluster import Cluster, Reference
from foundry.build.ray.tasks import check_installation, prepare_batch

BATCH_DOCUMENTS = 32
BATCH_BYTES = 500_000
"""Of a batch, from which on no further document is added."""

BATCHES_AHEAD = 2
"""Batches under way for each processor."""

BYTES_AHEAD = 128_000_000
"""Of documents under way; one alone may be larger."""


@dataclass(slots=True)
class _Batch:
    tasks: list[Task] = field(default_factory=list)
    size: int = 0

    @classmethod
    def of(cls, tasks: Sequence[Task]) -> "_Batch":
        return cls([*tasks], sum(len(raw.content) for _, raw in tasks))

    @property
    def is_full(self) -> bool:
        return len(self.tasks) >= BATCH_DOCUMENTS or self.size >= BATCH_BYTES

    def add(self, task: Task) -> None:
        self.tasks.append(task)
        self.size += len(task[1].content)


class RayPool:
    """Prepares documents by one recipe on a cluster; see `documents.workers.Preparing`.

    Each node reads with sandboxed workers of its own, under the same limits as on one machine.
    """

    def __init__(self, cluster: Cluster, recipe: Recipe) -> None:
        self._cluster = cluster
        self._recipe = recipe
        self._options = recipe.to_json()
        self._running: dict[Reference, _Batch] = {}
        self._bytes = 0

    def prepare(self, tasks: Iterator[Task]) -> Iterator[tuple[Task, Made]]:
        """See `Preparing`. Raises BuildError when the cluster cannot do it."""
        for batch in _batches(tasks):
            while self._running and not self._has_room(batch.size):
                yield from self._finished()
            self._submit(batch)
            yield from self._finished(at_once=True)
        while self._running:
            yield from self._finished()

    def _has_room(self, size: int) -> bool:
        most = BATCHES_AHEAD * self._cluster.slots()
        return len(self._running) < most and self._bytes + size <= BYTES_AHEAD

    def _submit(self, batch: _Batch) -> None:
        documents = [(raw.describe(), raw.content) for _, raw in batch.tasks]
        reference = self._cluster.submit(
            prepare_batch, program_hash(PREPARING), self._options, documents
        )
        self._running[reference] = batch
        self._bytes += batch.size

    def _finished(self, *, at_once: bool = False) -> Iterator[tuple[Task, Made]]:
        for reference in self._cluster.wait(list(self._running), at_once=at_once):
            answers = check_installation(self._cluster.get(reference), PREPARING)
            batch = self._running.pop(reference)
            self._bytes -= batch.size
            if len(answers) < len(batch.tasks):
                self._submit(_Batch.of(batch.tasks[len(answers) :]))
            for task, answer in zip(batch.tasks, answers, strict=False):
                yield task, check_answer(answer, task[1], self._recipe)


def _batches(tasks: Iterator[Task]) -> Iterator[_Batch]:
    batch = _Batch()
    for task in tasks:
        batch.add(task)
        if batch.is_full:
            yield batch
            batch = _Batch()
    if batch.tasks:
        yield batch
