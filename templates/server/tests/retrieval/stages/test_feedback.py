"""Feedback, with numbers computed by hand."""

from dataclasses import dataclass

import numpy as np
import pytest

from foundry.runtime.retrieval.candidates import Candidates
from foundry.runtime.retrieval.dense_lane import DenseLane, pack_signs
from foundry.runtime.retrieval.stages.feedback import boost_feedback


@dataclass
class Passage:
    id: str


class SmallIndex:
    """Six chunks: two equal, one perpendicular, one between, one without a vector, one opposite."""

    def __init__(self) -> None:
        vectors = np.array([[1, 0], [1, 0], [0, 1], [1, 1], [0, 0], [-1, 0]], dtype=np.float32)
        rows = (127 * vectors).astype(np.int8)
        scales = np.array([1 / 127, 1 / 127, 1 / 127, 0.5**0.5 / 127, 0, 1 / 127], dtype=np.float32)
        centre = np.zeros(2, dtype=np.float32)
        self.dense_lane = DenseLane(rows, scales, centre, pack_signs(vectors, centre), 10)

    def chunk(self, number: int) -> Passage:
        return Passage(f"{9 - number}")


def candidates(scores: list[float]) -> Candidates:
    count = len(scores)
    return Candidates(
        chunks=np.arange(count),
        semantic=np.array(scores),
        keyword=np.zeros(count),
        semantic_ranks=np.zeros(count, dtype=np.int64),
        keyword_ranks=np.zeros(count, dtype=np.int64),
        scores=np.array(scores),
    )


def test_what_is_near_to_the_best_gains() -> None:
    found = boost_feedback(candidates([0.9, 0.5, 0.6, 0.5, 0.3, 0.3]), SmallIndex(), gain=0.5)  # type: ignore[arg-type]
    # The cosines to the first chunk are 1, 1, 0 and 1 / sqrt 2. A missing vector and the
    # opposite vector count as 0.
    factors = [1.5, 1.5, 1.0, 1 + 0.5 / 2**0.5, 1.0, 1.0]
    assert found.boosts["feedback"] == pytest.approx(factors)
    expected = [0.9, 0.5, 0.6 / 1.5, 0.5 * factors[3] / 1.5, 0.3 / 1.5, 0.3 / 1.5]
    assert found.scores == pytest.approx(expected, abs=1e-6)


def test_of_equal_scores_the_first_in_the_index_is_the_best() -> None:
    # Chunk 1 is the best, chunk 0 is close to it, and chunk 2 is perpendicular.
    found = boost_feedback(candidates([0.1, 0.8, 0.8]), SmallIndex(), gain=1.0)  # type: ignore[arg-type]
    assert found.boosts["feedback"] == pytest.approx([2.0, 2.0, 1.0], abs=1e-6)


def test_nothing_found_stays_nothing() -> None:
    assert len(boost_feedback(candidates([]), SmallIndex(), gain=1.0).chunks) == 0  # type: ignore[arg-type]
