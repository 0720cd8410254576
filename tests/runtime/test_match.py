"""How good the best match of a search is."""

import math
from collections.abc import Iterator

import numpy as np
import pytest
from small_indexes import Note, write_notes

from foundry.runtime.index.layout import IndexFiles
from foundry.runtime.index.reader import Index
from foundry.runtime.retrieval.candidates import Candidates, LaneHits
from foundry.runtime.retrieval.dense_lane import DenseLane
from foundry.runtime.retrieval.encoder import open_encoder
from foundry.runtime.retrieval.hybrid import complete_lanes, distance_from
from foundry.runtime.retrieval.keyword_lane import KeywordLane
from foundry.runtime.retrieval.results import compare_with_terms

NOTES = [
    Note("Seals", ("Replace the seal of the pump every year, and oil it.",)),
    Note("Lamps", ("A lamp smokes if its wick is too long.",)),
    Note("Brakes", ("Brake pads are worn after three winters.",)),
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    folder = write_notes(tmp_path_factory.mktemp("match") / "index", NOTES)
    files = IndexFiles.open(folder)
    yield Index(files, KeywordLane.open(files), DenseLane.open(files), open_encoder(files))


def test_coverage_is_the_best_score_over_the_weight_of_all_terms(index: Index) -> None:
    terms = ["seal", "zebra"]
    hits = index.keyword_lane.search(terms, 10)
    covered = compare_with_terms(hits, index, terms, ())
    weight = math.log(1 + 2.5 / 1.5) + math.log(1 + 3.5 / 0.5)
    assert covered.coverage == pytest.approx(hits.scores[0] / weight)
    assert Candidates.by_keyword(covered).coverage == covered.coverage
    nothing = compare_with_terms(LaneHits.none(), index, ["zebra"], ())
    assert nothing.coverage is None


def test_a_build_measures_the_background_and_the_spread(index: Index) -> None:
    assert index.manifest.dense is not None
    assert 0.3 < index.manifest.dense["background"] < 0.7
    lane = index.dense_lane
    assert isinstance(lane, DenseLane)
    vectors = lane.vectors * lane.scales[:, np.newaxis]
    spread = float((vectors @ vectors.mean(axis=0)).std())
    assert lane.spread == max(0.03, round(spread, 3))


def test_distance_counts_spreads_from_what_chunks_have_in_common(index: Index) -> None:
    mean = np.array([0.6, 0.0], dtype=np.float32)
    along, across = np.array([[1.0, 0.0], [0.0, 1.0]], dtype=np.float32)
    assert distance_from(mean, 0.1, along) == 0.0
    assert distance_from(mean, 0.1, across) == pytest.approx(3.6)
    about, other = map(index.encoder.encode, ("oil the pump", "interest rates"))
    assert about is not None
    assert other is not None
    assert index.dense_lane.distance(about) < index.dense_lane.distance(other)
    nothing = LaneHits.none()
    joined = complete_lanes(index, [], other, nothing, nothing)
    assert joined.distance == index.dense_lane.distance(other)
