"""The conditions that fail an evaluation, and their messages."""

import json
import math
import tempfile
from pathlib import Path
from typing import Any

import pytest
from evaluations import make_evaluation

from foundry.errors import FoundryError
from foundry.evaluation.limits import Baseline, compare, read_baseline
from foundry.evaluation.results import Evaluation
from foundry.runtime.errors import ConfigurationError
from foundry.runtime.evaluation.metrics import METRICS, find_shortfalls, parse_minimum


def print_of(evaluation: Evaluation) -> Any:
    return json.loads(json.dumps(evaluation.to_json()))


def read(printed: object) -> Baseline:
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch, "baseline.json")
        file.write_text(json.dumps(printed))
        return read_baseline(file)


def baseline_of(evaluation: Evaluation) -> Baseline:
    """Return an evaluation after it was written and read back."""
    return read(print_of(evaluation))


def test_minimum_of_a_metric() -> None:
    assert parse_minimum("nDCG@10=0.40") == ("nDCG@10", 0.4)
    assert parse_minimum(" hit@5 = 1") == ("hit@5", 1.0)
    means = {"nDCG@10": 0.4, "hit@5": 0.85}
    assert find_shortfalls([("nDCG@10", 0.4), ("hit@5", 0.85)], means) == []
    assert find_shortfalls([("nDCG@10", 0.41)], means) == [
        "nDCG@10 is 0.4000, below the minimum of 0.41"
    ]


@pytest.mark.parametrize("written", ["ndcg=0.4", "nDCG@20=0.4", "=0.4", ""])
def test_unknown_metric_lists_the_known_ones(written: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        parse_minimum(written)
    assert all(name in str(caught.value.hint) for name in METRICS)


@pytest.mark.parametrize("written", ["nDCG@10", "nDCG@10=", "hit@1=high", "hit@1=1.1", "hit@1=nan"])
def test_impossible_minimum(written: str) -> None:
    with pytest.raises(ConfigurationError, match="from 0 to 1"):
        parse_minimum(written)


def test_equal_evaluations_have_no_changes() -> None:
    evaluation = make_evaluation({"hybrid": [0.1 + 0.2, 1 / 3, 1.0]})
    comparison = compare(baseline_of(evaluation), evaluation, 0.0)
    assert not comparison.failures
    assert comparison.lines[0] == "nDCG@10 0.5444 -> 0.5444 (+0.0000)"


def test_a_drop_on_every_question_is_beyond_noise() -> None:
    before = make_evaluation({"hybrid": [0.5, 0.6, 0.7, 0.8]})
    after = make_evaluation({"hybrid": [0.4, 0.5, 0.6, 0.7]})
    comparison = compare(baseline_of(before), after, 0.01)
    assert len(comparison.failures) == len(METRICS)
    assert "0.6500 -> 0.5500 (-0.1000), beyond noise" in comparison.failures[0]
    assert not compare(baseline_of(before), after, 0.1).failures
    assert not compare(baseline_of(after), before, 0.0).failures


def test_a_drop_may_be_as_large_as_the_tolerance() -> None:
    before, after = (make_evaluation({"hybrid": values}) for values in ([0.5, 0.7], [0.4, 0.6]))
    baseline = baseline_of(before)
    assert compare(baseline, after, 0.1).failures == ()
    assert compare(baseline, after, 0.099999).failures[0].endswith("tolerance of 0.099999")
    slightly = make_evaluation({"hybrid": [0.499998, 0.7]})
    assert compare(baseline, slightly, 0.000001).failures == ()
    assert len(compare(baseline, slightly, 0.0000009).failures) == len(METRICS)


def test_a_drop_below_the_sixth_decimal_place_is_ignored() -> None:
    before = make_evaluation({"hybrid": [0.5, 0.5, 0.5]})
    third = make_evaluation({"hybrid": [0.499999, 0.5, 0.5]})
    assert compare(baseline_of(before), third, 0.0).failures == ()
    two_thirds = make_evaluation({"hybrid": [0.499998, 0.5, 0.5]})
    assert len(compare(baseline_of(before), two_thirds, 0.0).failures) == len(METRICS)


def test_a_drop_on_one_question_of_many_is_within_noise() -> None:
    before = make_evaluation({"hybrid": [1.0] * 20})
    after = make_evaluation({"hybrid": [0.0] + [1.0] * 19})
    comparison = compare(baseline_of(before), after, 0.01)
    assert "within noise" in comparison.failures[0]


def test_only_shared_questions_are_compared() -> None:
    before = make_evaluation({"hybrid": [1.0, 1.0]})
    after = make_evaluation({"hybrid": [1.0, 1.0, 0.0]})
    comparison = compare(baseline_of(before), after, 0.0)
    assert not comparison.failures
    assert "2 questions that the baseline has too" in comparison.lines[0]


def test_repeated_queries_are_compared_in_order() -> None:
    evaluation = make_evaluation({"hybrid": [1.0, 0.0]})
    for question in evaluation.questions:
        question["query"] = "same"  # type: ignore[index]
    comparison = compare(baseline_of(evaluation), evaluation, 0.0)
    assert not comparison.failures
    # Nothing has changed, so neither noise nor omissions are reported.
    assert comparison.lines[0] == "nDCG@10 0.5000 -> 0.5000 (+0.0000)"
    assert len(comparison.lines) == len(METRICS)
    once = make_evaluation({"hybrid": [1.0]})
    once.questions[0]["query"] = "same"  # type: ignore[index]
    assert compare(baseline_of(evaluation), once, 0.0).lines[:2] == (
        "compared on 1 question that the baseline has too",
        "nDCG@10 1.0000 -> 1.0000 (+0.0000)",
    )


def test_questions_and_known_items_are_not_compared() -> None:
    real, made = (
        make_evaluation({"hybrid": [1.0]}, kind=kind) for kind in ("questions", "known-item")
    )
    with pytest.raises(FoundryError, match="different kind"):
        compare(baseline_of(made), real, 0.0)


def test_baseline_without_common_questions_is_refused() -> None:
    printed = print_of(make_evaluation({"hybrid": [1.0]}))
    printed["per_question"][0]["query"] = "other"
    with pytest.raises(FoundryError, match="none of these questions"):
        compare(read(printed), make_evaluation({"hybrid": [1.0]}), 0.0)


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"metrics": {"hybrid": {}}}', "\xff", '{"metrics": 3}', "[" * 9999]
)
def test_unusable_baseline(content: str, tmp_path: Path) -> None:
    file = tmp_path / "baseline.json"
    file.write_bytes(content.encode("latin-1"))
    with pytest.raises(FoundryError, match="not an evaluation") as caught:
        read_baseline(file)
    assert "foundry eval --json" in str(caught.value.hint)


@pytest.mark.parametrize("value", [0, 1, 0.5])
def test_values_at_their_limits_are_valid(value: float) -> None:
    ((_, found),) = baseline_of(make_evaluation({"hybrid": [value]})).values.items()
    assert found["nDCG@10"] == value


@pytest.mark.parametrize("value", [-0.001, 1.001, math.nan, "high", None])
def test_invalid_value_of_a_metric(value: object) -> None:
    printed = print_of(make_evaluation({"hybrid": [1.0, 0.0]}))
    printed["per_question"][1]["values"]["hybrid"]["hit@1"] = value
    with pytest.raises(FoundryError, match="not an evaluation"):
        read(printed)


@pytest.mark.parametrize("lacking", ["kind", "per_question"])
def test_baseline_with_missing_keys_is_refused(lacking: str) -> None:
    printed = print_of(make_evaluation({"hybrid": [1.0]}))
    del printed[lacking]
    with pytest.raises(FoundryError, match="not an evaluation"):
        read(printed)
