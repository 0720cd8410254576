"""A cache of query vectors, so that a repeated query makes no call."""

import threading
from collections import OrderedDict

import numpy as np
from numpy.typing import NDArray

CAPACITY = 1024
"""Number of queries; at 1,024 dimensions they take 4 MB."""


class RecentVectors:
    """An LRU cache from query texts to vectors."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._vectors: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, text: str) -> NDArray[np.float32] | None:
        """Return the vector (d,) of a query, if it is cached."""
        with self._lock:
            vector = self._vectors.get(text)
            if vector is not None:
                self._vectors.move_to_end(text)
            return vector

    def put(self, text: str, vector: NDArray[np.float32]) -> None:
        """Cache a query's vector (d,), which must not be modified afterwards."""
        vector.flags.writeable = False
        with self._lock:
            self._vectors[text] = vector
            self._vectors.move_to_end(text)
            if len(self._vectors) > self._capacity:
                self._vectors.popitem(last=False)
