"""The mean length of chunks for BM25: exact, or in steps."""

from pathlib import Path

import numpy as np
import pytest
from small_indexes import Note, write_notes

from foundry.config.search import IndexOptions
from foundry.indexing.keyword.postings import K1, B
from foundry.runtime.index.statistics import MEAN_LENGTH, STATISTICS
from foundry.stores.content import Content


def mean_of(folder: Path, lengths: list[int], *, in_steps: bool) -> Content:
    """Write an index whose chunks have a name and these numbers of other words; return it."""
    notes = [Note("Valve", ("seal " * length,)) for length in lengths]
    options = IndexOptions(fields={}, keeps_counts=True, mean_in_steps=in_steps)
    return Content.open(write_notes(folder, notes, options=options))


@pytest.mark.parametrize(
    ("lengths", "exact", "stepped"),
    [
        ([100, 101], 100.5, 100),
        ([102, 103, 104], 103, 104),
        ([104, 105], 104.5, 104),
        ([7, 8], 7.5, 7.5),
        ([70, 71, 71], 212 / 3, 70),
        ([1, 1, 2], 4 / 3, 43 / 32),
        ([0, 0, 1], 1, 1),
    ],
)
def test_steps_are_numbers_of_few_bits(
    tmp_path: Path, lengths: list[int], exact: float, stepped: float
) -> None:
    for in_steps, mean in ((False, exact), (True, stepped)):
        content = mean_of(tmp_path / str(in_steps), lengths, in_steps=in_steps)
        assert content.lengths.tolist() == lengths
        assert content.mean_length == mean
        # BM25 uses the rounded mean.
        number = content.vocabulary.find("seal")
        assert number is not None
        start, end = content.offsets[number : number + 2].tolist()
        counts = np.array([length for length in lengths if length], dtype=np.float64)
        weight = content.edition.weights[number].weight
        impacts = counts / (K1 * (1 - B + B * counts / mean) + counts) * weight
        np.testing.assert_allclose(content.impacts[start:end], impacts, rtol=1e-6)


def test_the_mean_is_stored_with_the_counts(tmp_path: Path) -> None:
    notes = [Note("Valve", ("a seal",))]
    own = write_notes(tmp_path / "own", notes, options=IndexOptions(own_statistics=True))
    assert (own / STATISTICS / MEAN_LENGTH).exists()
    assert not (write_notes(tmp_path / "none", notes) / STATISTICS).exists()
