"""The engine, as `/readyz` shows it."""

from typing import Any

from ..index.reader import Index
from ..store.lanes import StoredDenseLane


def describe_engine(index: Index) -> dict[str, Any]:
    """Return that the engine holds this index, and go on looking at it.

    Raises StoreError while searches cannot be answered.
    """
    assert isinstance(index.dense_lane, StoredDenseLane)
    store = index.dense_lane.store
    store.watch()
    if (problem := store.problem) is not None:
        raise type(problem)(problem.message, hint=problem.hint)
    return {"status": "ok"}
