"""Prepares documents on the nodes of a cluster, in batches, since single tasks are too small."""

from collections.abc import Iterator

from foundry.building.documents.programs import program_hash
from foundry.building.documents.recipe import Recipe
from foundry.building.documents.workers import Made, Task, batches, size_of
from foundry.building.ray.cluster import Cluster, Reference
from foundry.building.ray.tasks import check_installation, prepare_batch

BATCH_DOCUMENTS = 32
BATCH_BYTES = 500_000
"""A batch is full at this size."""

BATCHES_AHEAD = 2
"""Batches in progress per processor."""

BYTES_AHEAD = 128_000_000
"""Maximum total size of the documents in progress; a single one may be larger."""


class RayPool:
    """Prepares documents by one recipe on a cluster; see `documents.workers.Preparing`.

    Each node uses its own sandboxed workers, with the same limits as a single machine.
    """

    def __init__(self, cluster: Cluster, recipe: Recipe) -> None:
        self._cluster = cluster
        self._options = recipe.to_json()
        self._running: dict[Reference, list[Task]] = {}

    def prepare(self, tasks: Iterator[Task]) -> Iterator[tuple[Task, Made]]:
        """Prepare documents; see `Preparing`. Raises BuildError if the cluster fails."""
        for batch in batches(tasks, BATCH_DOCUMENTS, BATCH_BYTES):
            while self._running and not self._has_room(batch):
                yield from self._finished()
            self._submit(batch)
            yield from self._finished(at_once=True)
        while self._running:
            yield from self._finished()

    def _has_room(self, batch: list[Task]) -> bool:
        most = BATCHES_AHEAD * self._cluster.slots()
        size = sum(map(size_of, self._running.values())) + size_of(batch)
        return len(self._running) < most and size <= BYTES_AHEAD

    def _submit(self, batch: list[Task]) -> None:
        documents = [(raw.describe(), raw.content) for _, raw in batch]
        reference = self._cluster.submit(prepare_batch, program_hash(), self._options, documents)
        self._running[reference] = batch

    def _finished(self, *, at_once: bool = False) -> Iterator[tuple[Task, Made]]:
        for reference in self._cluster.wait(list(self._running), at_once=at_once):
            answers = check_installation(self._cluster.get(reference))
            batch = self._running.pop(reference)
            if len(answers) < len(batch):
                self._submit(batch[len(answers) :])
            for task, answer in zip(batch, answers, strict=False):
                yield task, Made.of(answer)
