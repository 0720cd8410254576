"""Metrics against hand-computed values and against trec_eval."""

import math
import random

import numpy as np
import pytest
from evaluations import ask_trec_eval
from hypothesis import given
from hypothesis import strategies as st

from foundry.runtime.evaluation.metrics import METRICS, measure


def rank_with_ties(scores: dict[str, float]) -> list[str]:
    """Rank like a server: higher scores first, ties by id."""
    return sorted(scores, key=lambda document: (-scores[document], document))


@given(st.randoms())
def test_agrees_with_trec_eval(chance: random.Random) -> None:
    corpus = [f"d{number}" for number in range(150)]
    relevant = chance.sample(corpus, chance.randint(1, 30))
    absent = [f"missing{number}" for number in range(chance.randint(0, 5))]
    grades = {document: float(chance.randint(0, 3)) for document in (*relevant, *absent)}
    grades[relevant[0]] = 2.0
    found = chance.sample(corpus, chance.randint(1, 150))
    # There are few different scores, so most documents tie.
    ranked = rank_with_ties({document: chance.randint(0, 4) / 4 for document in found})
    expected = ask_trec_eval(ranked, grades)
    assert expected.keys() == set(METRICS)
    assert measure(ranked, grades) == pytest.approx(expected, abs=1e-4)


def test_values_by_hand() -> None:
    grades = {"a": 3.0, "b": 1.0, "gone": 2.0}
    values = measure(["x", "b", "a", "y"], grades)
    gained = 1 / math.log2(3) + 3 / math.log2(4)
    ideal = 3 / math.log2(2) + 2 / math.log2(3) + 1 / math.log2(4)
    assert values["nDCG@10"] == pytest.approx(gained / ideal)
    assert values["recall@5"] == values["recall@100"] == pytest.approx(2 / 3)
    assert values["MRR@10"] == 0.5
    assert (values["hit@1"], values["hit@3"], values["hit@5"]) == (0, 1, 1)
    assert values["R-precision"] == pytest.approx(2 / 3)


def test_documents_beyond_the_depth_do_not_count() -> None:
    ranked = [f"x{number}" for number in range(10)] + ["a"]
    values = measure(ranked, {"a": 1.0})
    assert values["MRR@10"] == values["nDCG@10"] == values["recall@10"] == 0
    assert values["recall@100"] == 1
    assert measure(ranked[1:], {"a": 1.0})["MRR@10"] == 0.1


def test_documents_with_grade_zero_are_not_relevant() -> None:
    values = measure(["a", "b"], {"a": 0.0, "b": -1.0, "c": 1.0})
    assert set(values.values()) == {0.0}
    assert set(measure(["a"], {}).values()) == {0.0}


@given(
    ranked=st.lists(st.sampled_from([f"d{n}" for n in range(40)]), unique=True),
    grades=st.dictionaries(
        st.sampled_from([f"d{n}" for n in range(50)]), st.sampled_from([-1.0, 0.0, 1.0, 2.0, 5.0])
    ),
)
def test_every_value_is_from_0_to_1_and_better_rankings_are_not_worse(
    ranked: list[str], grades: dict[str, float]
) -> None:
    values = measure(ranked, grades)
    assert all(0 <= value <= 1 + 1e-12 for value in values.values())
    ideal = sorted(ranked, key=lambda document: -grades.get(document, 0.0))
    best = measure(ideal, grades)
    assert all(best[name] >= values[name] - 1e-12 for name in METRICS)
    assert np.isfinite(list(values.values())).all()
