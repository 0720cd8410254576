"""How good the best match of a search is."""

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from small_indexes import Note, write_notes

from foundry.runtime.index.layout import IndexFiles
from foundry.runtime.index.reader import Index
from foundry.runtime.retrieval.candidates import Candidates, LaneHits
from foundry.runtime.retrieval.dense_lane import DenseLane
from foundry.runtime.retrieval.encoder import open_encoder
from foundry.runtime.retrieval.keyword_lane import KeywordLane
from foundry.runtime.retrieval.results import compare_with_terms, judge, term_weights

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


def candidates(cosine: float | None, coverage: float | None) -> Candidates:
    one = np.ones(1)
    semantic = None if cosine is None else np.array([cosine])
    numbers = np.zeros(1, dtype=np.int64)
    return Candidates(numbers, semantic, None, numbers, numbers, one, coverage=coverage)


def test_weights_are_those_of_bm25_and_leave_headings_out(index: Index) -> None:
    assert term_weights(index, ["seal", "seal", "zebra", "=seal"]) == {
        "seal": pytest.approx(math.log(1 + 2.5 / 1.5)),
        "zebra": pytest.approx(math.log(1 + 3.5 / 0.5)),
    }


def test_coverage_is_the_best_score_over_the_weight_of_all_terms(index: Index) -> None:
    terms = ["seal", "zebra"]
    hits = index.keyword_lane.search(terms, 10)
    covered = compare_with_terms(hits, index, terms, ())
    weight = math.log(1 + 2.5 / 1.5) + math.log(1 + 3.5 / 0.5)
    assert covered.coverage == pytest.approx(hits.scores[0] / weight)
    assert Candidates.by_keyword(covered).coverage == covered.coverage
    nothing = compare_with_terms(LaneHits.none(), index, ["zebra"], ())
    assert nothing.coverage is None


@pytest.mark.parametrize(
    ("cosine", "coverage", "expected"),
    [
        # (cosine - 0.5) / 0.5 + 1.8 coverage, for a background of 0.5.
        (0.6, 0.2501, "strong"),
        (0.6, 0.2499, "weak"),
        (0.5, 0.1667, "weak"),
        (0.5, 0.1666, "none"),
        (0.1, 0.3612, "strong"),
        (0.1, 0.361, "weak"),
        (None, 0.18, "strong"),
        (None, 0.179, "weak"),
        (None, 0.119, "none"),
        (None, None, "none"),
        (0.55, None, "strong"),
        (0.549, None, "weak"),
        (0.52, None, "none"),
    ],
)
def test_the_evidence_decides(
    index: Index, cosine: float | None, coverage: float | None, expected: str
) -> None:
    assert index.manifest.dense is not None
    object.__setattr__(index.manifest.dense, "background", 0.5)
    assert judge(index, candidates(cosine, coverage)) == expected


def test_nothing_found_is_no_match(index: Index) -> None:
    assert judge(index, Candidates.by_keyword(LaneHits.none())) == "none"


def test_what_a_stage_brought_in_does_not_count(index: Index) -> None:
    assert judge(index, candidates(math.nan, 0.0)) == "none"


def test_a_build_measures_the_background(tmp_path: Path) -> None:
    files = IndexFiles.open(write_notes(tmp_path / "index", NOTES))
    assert files.manifest.dense is not None
    assert 0.3 < files.manifest.dense.background < 0.7
