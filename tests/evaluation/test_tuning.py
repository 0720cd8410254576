"""Tuning: real gains are found, lucky ones are reported as noise."""

import tomllib

import numpy as np
import pytest

from foundry.evaluation.tuning import Candidate, toml_lines, tune


def candidate(weight: float, values: object) -> Candidate:
    return Candidate({"fusion": "linear", "semantic_weight": weight}, np.asarray(values, float))


def test_a_gain_on_every_question_is_beyond_noise() -> None:
    low = np.tile([0.2, 0.4], 20)
    tuning = tune(candidate(0.7, low), [candidate(0.3, low + 0.2), candidate(0.1, low + 0.1)])
    assert tuning is not None
    assert tuning.best["semantic_weight"] == 0.3
    assert tuning.gain.mean == pytest.approx(0.2)
    assert not tuning.to_json()["within_noise"]
    assert "[search]" in tuning.describe() and "within noise" not in tuning.describe()
    where = "put these lines into\n/docs/foundry.toml, under [search], in place of"
    assert where in tuning.describe("/docs/foundry.toml")


def test_the_best_of_many_random_candidates_is_noise() -> None:
    generator = np.random.default_rng(5)
    configured = candidate(0.7, generator.random(30))
    lucky = [candidate(n / 40, generator.random(30)) for n in range(40)]
    tuning = tune(configured, lucky)
    assert tuning is not None
    assert tuning.apparent > tuning.configured
    assert tuning.to_json()["within_noise"]
    assert "no reason to change foundry.toml" in tuning.describe()


def test_current_values_are_kept_if_no_candidate_is_better() -> None:
    values = np.linspace(0, 1, 20)
    tuning = tune(candidate(0.7, values), [candidate(0.6, values), candidate(0.1, values - 0.1)])
    assert tuning is not None
    assert tuning.best["semantic_weight"] == 0.7
    assert tuning.gain.mean == 0
    assert "none is better" in tuning.describe()


def test_held_out_questions_do_not_affect_the_choice() -> None:
    # Each question prefers a different candidate, so nothing learnt from others helps it.
    count = 20
    others = [candidate(n / count, np.eye(count)[n]) for n in range(count)]
    tuning = tune(candidate(0.7, np.full(count, 0.01)), others)
    assert tuning is not None
    assert tuning.apparent == pytest.approx(0.05)
    assert tuning.gain.mean == pytest.approx(-0.01)


def test_few_questions_are_too_few() -> None:
    assert tune(candidate(0.7, np.ones(9)), [candidate(0.5, np.ones(9))]) is None


def test_printed_lines_are_toml() -> None:
    options = {"fusion": "rrf", "semantic_weight": 0.35, "keyword_weight": 0.65}
    assert tomllib.loads("\n".join(toml_lines(options))) == {"search": options}
    staged = tomllib.loads("\n".join(toml_lines({"anchors.factor": 2.25})))
    assert staged == {"search": {"anchors": {"factor": 2.25}}}
