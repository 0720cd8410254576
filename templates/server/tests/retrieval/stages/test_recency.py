"""Recency by tiers and by decay, with numbers computed by hand."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from foundry.runtime.errors import ConfigurationError
from foundry.runtime.index.protocols import LaneHits
from foundry.runtime.retrieval.candidates import Candidates
from foundry.runtime.retrieval.filters import UNKNOWN_TIME, parse_time
from foundry.runtime.retrieval.stages.recency import boost_by_decay, boost_by_tiers, today

DAY = 86_400


def candidates(*scores: float) -> Candidates:
    found = LaneHits(np.arange(len(scores)), np.array(scores))
    return Candidates.by_keyword(found).with_scores(np.array(scores))


def dated(modified: NDArray[np.int64]) -> Any:
    """An index of chunks modified at these times."""
    return SimpleNamespace(part=lambda _: SimpleNamespace(modified=modified))


def test_recency_by_tiers() -> None:
    now = parse_time("2026-03-31")
    ages = [0, 7, 8, 30, 31, -3]
    modified = np.array([*(now - age * DAY for age in ages), UNKNOWN_TIME])
    boosted = boost_by_tiers(
        candidates(*[0.6] * 7), dated(modified), now // DAY, tiers=((7, 1.2), (30, 1.1))
    )
    assert list(boosted.boosts["recency"]) == [1.2, 1.2, 1.1, 1.1, 1, 1.2, 1]
    assert boosted.scores == pytest.approx([0.6, 0.6, 0.55, 0.55, 0.5, 0.6, 0.5])


def test_recency_by_decay() -> None:
    now = parse_time("2026-03-31")
    modified = np.array([*(now - age * DAY for age in (0, 7, 14, 21, 28, -1)), UNKNOWN_TIME])
    boosted = boost_by_decay(
        candidates(*[0.8] * 7), dated(modified), now // DAY, half_life_days=7, floor=0.1
    )
    # 28 days would be a sixteenth, but the floor is a tenth. Chunks without a date count as old.
    factors = [1, 0.5, 0.25, 0.125, 0.1, 1, 0.1]
    assert list(boosted.boosts["recency"]) == factors
    assert boosted.scores == pytest.approx([0.8 * factor for factor in factors])


def test_decay_is_rounded_to_nine_places() -> None:
    modified = np.array([9 * DAY, 8 * DAY])
    boosted = boost_by_decay(candidates(1, 1), dated(modified), 10, half_life_days=3, floor=0.1)
    assert list(boosted.boosts["recency"]) == [0.793700526, 0.629960525]


def test_days_begin_at_midnight() -> None:
    day = 20_543
    modified = np.array([day * DAY + 1, day * DAY, day * DAY - 1, (day - 1) * DAY - 1])
    tiers = ((0, 1.3), (1, 1.2), (2, 1.1))
    boosted = boost_by_tiers(candidates(0.5, 0.5, 0.5, 0.5), dated(modified), day, tiers=tiers)
    assert boosted.boosts["recency"].tolist() == [1.3, 1.3, 1.2, 1.1]


def test_a_document_has_one_age_all_day_long() -> None:
    late = parse_time("2026-03-24T23:59:59")
    boosted = boost_by_tiers(
        candidates(0.5), dated(np.array([late])), parse_time("2026-03-31") // DAY, tiers=((7, 1.2),)
    )
    assert boosted.boosts["recency"][0] == 1.2


def test_reference_date(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFERENCE_DATE", "1970-01-11")
    assert today() == 10
    monkeypatch.setenv("REFERENCE_DATE", "soon")
    with pytest.raises(ConfigurationError, match="REFERENCE_DATE must be a date"):
        today()
    monkeypatch.delenv("REFERENCE_DATE")
    monkeypatch.setattr("time.time", lambda: 12.5 * DAY)
    assert today() == 12
