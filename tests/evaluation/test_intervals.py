"""Confidence intervals are deterministic, equal scipy's, and have the right coverage."""

import numpy as np
import pytest

from foundry.evaluation.intervals import bootstrap


def test_same_values_give_the_same_interval() -> None:
    values = np.random.default_rng(1).random((40, 2))
    assert bootstrap(values) == bootstrap(values.copy())


def test_columns_are_resampled_together() -> None:
    values = np.random.default_rng(2).random(50)
    [first, second, difference] = bootstrap(np.column_stack([values, values, values - values]))
    assert first == second
    assert (difference.low, difference.high) == (0, 0)
    assert difference.is_noise
    [shifted] = bootstrap((values + 0.25 - values)[:, np.newaxis])
    assert (shifted.low, shifted.high) == (0.25, 0.25)
    assert not shifted.is_noise


@pytest.mark.parametrize("count", [8, 60, 400])
def test_agrees_with_scipy(count: int) -> None:
    from scipy import stats

    values = np.random.default_rng(count).beta(0.5, 0.5, count)
    [own] = bootstrap(values[:, np.newaxis])
    theirs = stats.bootstrap(
        (values,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(0)
    ).confidence_interval
    width = theirs.high - theirs.low
    assert own.mean == pytest.approx(values.mean(), abs=1e-6)
    assert own.low == pytest.approx(theirs.low, abs=0.05 * width)
    assert own.high == pytest.approx(theirs.high, abs=0.05 * width)


def test_interval_contains_the_true_mean_as_often_as_its_level_says() -> None:
    generator = np.random.default_rng(3)
    samples = generator.random((60, 300)) < 0.7
    found = bootstrap(samples.astype(np.float64))
    held = np.mean([interval.low <= 0.7 <= interval.high for interval in found])
    assert 0.88 <= held <= 0.99


def test_interval_of_one_question_has_no_width() -> None:
    [interval] = bootstrap(np.array([[0.5]]))
    assert (interval.mean, interval.low, interval.high) == (0.5, 0.5, 0.5)
