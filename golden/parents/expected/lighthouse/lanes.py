"""What a lane delivers: its best chunks, and how they are chosen."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class LaneHits:
    """The best chunks of one lane: numbers (m,) and scores (m,), best first."""

    chunks: NDArray[np.int64]
    scores: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.chunks)

    @property
    def best_score(self) -> float:
        """The lane's highest score; 0 without hits."""
        return float(self.scores[0]) if len(self.scores) else 0.0

    @classmethod
    def none(cls) -> "LaneHits":
        """A lane that found nothing."""
        return cls(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float64))


def best(
    chunks: NDArray[np.integer],
    scores: NDArray[np.float64],
    count: int,
    *,
    repeated: int = 1,
) -> LaneHits:
    """The `count` highest-scoring chunks, equal scores in the order of chunk numbers.

    A chunk may stand in `chunks` up to `repeated` times, always with the same score.
    """
    wanted = count * repeated
    if len(chunks) > wanted:
        threshold = np.partition(scores, len(scores) - wanted)[len(scores) - wanted]
        chosen = scores >= threshold
        chunks, scores = chunks[chosen], scores[chosen]
    order = np.lexsort((chunks, -scores))
    chunks, scores = chunks[order], scores[order]
    if repeated > 1 and len(chunks):
        # A chunk's places are side by side, since its score is the same in all of them.
        is_first = np.concatenate([[True], chunks[1:] != chunks[:-1]])
        chunks, scores = chunks[is_first], scores[is_first]
    return LaneHits(chunks[:count].astype(np.int64), scores[:count])
