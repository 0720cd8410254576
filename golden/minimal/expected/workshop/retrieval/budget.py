"""The budget of a query: how much all of its stages may read together.

Work is counted and not timed, so that a query leaves out the same in every process and through
every interface; the processor's clock decides only where counting has failed to. What each query
costs, whatever it says, is not counted.
"""

import time
from dataclasses import dataclass, field

from ..index.reader import Index

# A unit is the time of a posting in a search, some 20 ns; all else counts as so many postings.
# An ordinary query takes 10,000 units, and another 0.2 for each chunk.
MIN_UNITS, UNITS_OF_CHUNK = 80_000, 1.5
TERM_UNITS = 500  # To look a term up, besides its postings.
TEXT_UNITS = 1_000  # To read the text of a chunk.
MAX_SECONDS = 5.0  # Of the processor.


@dataclass(slots=True)
class Budget:
    """Units that are `left` to spend, and those `kept` for the terms of the query."""

    left: int = MIN_UNITS
    kept: int = 0
    begun: float = field(default_factory=time.thread_time)

    @classmethod
    def of(cls, index: Index) -> "Budget":
        """Return the budget of a query, which grows with the index as ordinary queries do."""
        units = MIN_UNITS + int(UNITS_OF_CHUNK * index.chunk_count)
        return cls(units // 2, units - units // 2)

    def take(self, units: int) -> bool:
        """Take units of what is left, unless there are not as many; return whether there are."""
        if units > self.left or time.thread_time() - self.begun > MAX_SECONDS:
            return False
        self.left -= units
        return True

    def release(self) -> None:
        """Give what was kept to whatever comes next."""
        self.left, self.kept = self.left + self.kept, 0
