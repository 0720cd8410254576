"""Similarly worded texts that contradict each other, and others that do not."""

import pytest

from workshop.retrieval.opposites import is_opposed

RULE = "The lamp at the gate {} between midnight and five unless a guard is on duty."


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("must be switched off", "must not be switched off"),
        ("is turned on", "is turned off"),
        ("is enabled", "is disabled"),
        ("should be lit", "shouldn\u2019t be lit"),
        ("is allowed", "is forbidden"),
        ("turns left", "turns right"),
        ("turns left, then right", "turns right, then left"),
        ("is lit before the bell", "is lit after the bell"),
        ("is supported", "is unsupported"),
        ("is possible", "is impossible"),
        ("wird gelöscht", "wird nicht gelöscht"),
        ("必须关闭", "不必须关闭"),
    ],
)
def test_contradictions_are_detected(one: str, other: str) -> None:
    one, other = RULE.format(one), RULE.format(other)
    assert is_opposed(one, other)
    assert is_opposed(other, one)
    assert not is_opposed(one, one.upper())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("is lit", "is burning"),
        ("is lit", "is lit on Sundays"),
        ("is not lit", "isn't lit"),
        ("is cleaned and lit", "is lit and cleaned"),
    ],
)
def test_other_differences_are_not_contradictions(one: str, other: str) -> None:
    assert not is_opposed(RULE.format(one), RULE.format(other))
