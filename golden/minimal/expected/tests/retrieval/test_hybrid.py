"""Hybrid search: lane weights, sums, and the grade of the match, with numbers computed by hand."""

import json
import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from samples import sample_candidates

from workshop.errors import ConfigurationError, InvalidRequestError
from workshop.index.protocols import LaneHits
from workshop.retrieval.candidates import Candidates, distance_from
from workshop.retrieval.hybrid import (
    choose_weights,
    fuse_linear,
    judge,
    prefer_named,
    weights,
)


@pytest.fixture
def weighted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Settings with weights of 7 and 3, and an environment without weights."""
    for variable in ("SEMANTIC_WEIGHT", "KEYWORD_WEIGHT"):
        monkeypatch.delenv(variable, raising=False)
    file = tmp_path / "settings.json"
    file.write_text(json.dumps({"semantic_weight": 7, "keyword_weight": 3}))
    return file


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, (7, 3)),
        ({"SEMANTIC_WEIGHT": "", "KEYWORD_WEIGHT": " "}, (7, 3)),
        ({"SEMANTIC_WEIGHT": "0.9"}, (0.9, 0.1)),
        ({"SEMANTIC_WEIGHT": "", "KEYWORD_WEIGHT": "0.25"}, (0.75, 0.25)),
        ({"SEMANTIC_WEIGHT": "0.123456"}, (0.123456, 0.876544)),
        ({"KEYWORD_WEIGHT": "0.123456"}, (0.876544, 0.123456)),
        ({"SEMANTIC_WEIGHT": "1"}, (1, 0)),
        ({"SEMANTIC_WEIGHT": "0"}, (0, 1)),
        ({"SEMANTIC_WEIGHT": "2", "KEYWORD_WEIGHT": "6"}, (2, 6)),
        ({"SEMANTIC_WEIGHT": "1", "KEYWORD_WEIGHT": "1"}, (1, 1)),
    ],
)
def test_environment_overrides_weights(
    weighted: Path,
    monkeypatch: pytest.MonkeyPatch,
    variables: dict[str, str],
    expected: tuple[float, float],
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert weights(weighted) == expected


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"SEMANTIC_WEIGHT": "1.5"}, "are 1.5 and -0.5, but"),
        ({"SEMANTIC_WEIGHT": "inf"}, "must be a number from 0 to 1000000000, got 'inf'"),
        ({"KEYWORD_WEIGHT": "2"}, "are -1 and 2, but"),
        ({"SEMANTIC_WEIGHT": "0", "KEYWORD_WEIGHT": "0"}, "are 0 and 0, but"),
        ({"SEMANTIC_WEIGHT": "nan"}, "SEMANTIC_WEIGHT must be a number from .*, got 'nan'"),
        ({"KEYWORD_WEIGHT": "-1"}, "KEYWORD_WEIGHT must be a number from .*, got '-1'"),
    ],
)
def test_impossible_weights_are_refused(
    weighted: Path, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], message: str
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ConfigurationError, match=message):
        weights(weighted)


def candidates() -> Candidates:
    return sample_candidates(
        [0, 0, 0],
        semantic=[0.8, 0.5, 0.0],
        keyword=[0.0, 0.5, 1.0],
        semantic_ranks=[3, 1, 0],
        keyword_ranks=[0, 9, 1],
    )


@pytest.mark.parametrize("written", [(-1, 2), (0, 0), (float("nan"), 1), (float("inf"), 1)])
def test_impossible_weights_in_the_settings_are_refused(
    weighted: Path, written: tuple[float, float]
) -> None:
    names = "semantic_weight", "keyword_weight"
    weighted.write_text(json.dumps(dict(zip(names, written, strict=True))))
    with pytest.raises(ConfigurationError) as refusal:
        weights(weighted)
    assert str(weighted) in (refusal.value.hint or "")


def test_callers_may_choose_weights() -> None:
    assert choose_weights((0.9, 0.1)) == (0.9, 0.1)
    assert choose_weights((0, 2)) == (0, 2)


@pytest.mark.parametrize("own", [(-0.1, 1), (0, 0), (math.nan, 1), (1, math.nan), (math.inf, 1)])
def test_impossible_weights_of_a_caller_are_refused(own: tuple[float, float]) -> None:
    with pytest.raises(InvalidRequestError, match="must not be negative"):
        choose_weights(own)


def test_linear_fusion_is_the_weighted_mean() -> None:
    fused = fuse_linear(candidates(), 0.7, 0.3)
    assert fused.scores == pytest.approx([0.56, 0.7 * 0.5 + 0.3 * 0.5, 0.3])


def test_linear_weights_need_not_sum_to_one() -> None:
    assert fuse_linear(candidates(), 7, 3).scores == pytest.approx(
        fuse_linear(candidates(), 0.7, 0.3).scores
    )


INDEX: Any = SimpleNamespace(manifest=SimpleNamespace(dense={"background": 0.5}))


def one(cosine: float | None, coverage: float | None) -> Candidates:
    semantic = None if cosine is None else np.array([cosine])
    numbers = np.zeros(1, dtype=np.int64)
    return Candidates(numbers, semantic, None, numbers, numbers, np.ones(1), coverage=coverage)


@pytest.mark.parametrize(
    ("cosine", "coverage", "expected"),
    [
        # (cosine - 0.5) / 0.5 + 1.8 coverage, for a background of 0.5.
        (0.6, 0.2167, "strong"),
        (0.6, 0.2166, "weak"),
        (0.5, 0.0556, "weak"),
        (0.5, 0.0555, "none"),
        (0.1, 0.3278, "strong"),
        (0.1, 0.3277, "weak"),
        (None, 0.18, "strong"),
        (None, 0.06, "weak"),
        (None, 0.059, "none"),
        (0.55, None, "strong"),
        (0.549, None, "weak"),
        (0.471, None, "weak"),
        (0.469, None, "none"),
    ],
)
def test_the_match_is_graded_by_nearness_and_coverage(
    cosine: float | None, coverage: float | None, expected: str
) -> None:
    assert judge(INDEX, one(cosine, coverage)) == expected


def test_distant_queries_need_more_evidence() -> None:
    near = one(0.6, 0.1876)  # 0.2 + 3.2 x 0.1876 is 0.80, minus 0.12 per unit of distance.
    for distance, expected in ((1.49, "strong"), (1.51, "weak"), (7.91, "weak"), (7.93, "none")):
        assert judge(INDEX, replace(near, distance=distance)) == expected


@pytest.mark.parametrize("distance", [None, 1.3])
def test_a_doubted_query_has_no_strong_match(distance: float | None) -> None:
    found = replace(one(1.0, 1.0), distance=distance)
    assert judge(INDEX, found) == "strong"
    assert judge(INDEX, replace(found, doubted=True)) == "weak"
    assert judge(INDEX, replace(one(0.1, 0.0), distance=distance, doubted=True)) == "none"


def test_nothing_found_is_no_match() -> None:
    assert judge(INDEX, Candidates.by_keyword(LaneHits.none())) == "none"


def test_candidates_added_by_stages_do_not_count() -> None:
    assert judge(INDEX, one(math.nan, 0.0)) == "none"


def test_distance_is_measured_in_standard_deviations() -> None:
    mean, nearer, further = np.array([[0.5, 0.0], [1.0, 0.0], [0.0, 1.0]], dtype=np.float32)
    assert distance_from(mean, 0.125, further) == 2.0
    assert distance_from(mean, 0.125, nearer) == 0.0
    assert distance_from(mean, None, further) is None


def test_chunks_named_by_the_query_gain_score() -> None:
    given = {"=slam": np.array([2.0, 1.0, 0.0, 0.0]), "==SLAM": np.array([2.0, 1.0, 0.0, 0.0])}
    asked: list[str] = []

    def scores(terms: list[str], chunks: Any) -> Any:
        asked.extend(terms)
        return sum((given[term] for term in terms), np.zeros(len(chunks)))

    index: Any = SimpleNamespace(keyword_lane=SimpleNamespace(scores=scores))
    numbers = np.arange(4)
    plain = Candidates(numbers, None, None, numbers, numbers, np.array([0.5, 0.8, 0.2, 0.0]))
    named = prefer_named(plain, index, ["slam", "=slam", "==SLAM"])
    assert asked == ["=slam", "==SLAM"]
    # The best match by name is 0.5 below 1 and gains 0.8 of that; the other one is 0.2 below 1 and
    # gains 0.4 of that.
    assert named.scores.tolist() == pytest.approx([0.9, 0.88, 0.2, 0.0])
    assert named.boosts["named"] == pytest.approx([1.8, 1.1, 1.0, 1.0])
    assert prefer_named(plain, index, ["slam"]).scores.tolist() == plain.scores.tolist()
    none = numbers[:0]
    empty = Candidates(none, None, None, none, none, np.zeros(0))
    assert prefer_named(empty, index, ["slam"]).scores.tolist() == []
