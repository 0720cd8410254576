"""Which queries seem to contain operators."""

import pytest

from workshop.retrieval.journal import Journal
from workshop.retrieval.plain_text import note_plain_operators


@pytest.mark.parametrize(
    ("query", "operator"),
    [
        ('what is "max size"?', '"max size"'),
        ("pump \u201cthe seal ring\u201d.", "\u201cthe seal ring\u201d"),
        ('-"the ring" pump', '-"the ring"'),
        ("pump -rubber", "-rubber"),
        ("pump +seal hose", "+seal"),
        ("path:guide/ pump", "path:guide/"),
        ("pump tag:old", "tag:old"),
    ],
)
def test_an_operator_is_told_to_be_plain_words(query: str, operator: str) -> None:
    journal = Journal(query)
    note_plain_operators(journal)
    notice = f"Operators are disabled: {operator} was searched for as plain words."
    assert journal.stages == {"operators": {"notice": notice}}


@pytest.mark.parametrize(
    "query",
    [
        'C++ -5 a - b 10:30 std::vector https://x.org/a:b "one" word',
        *("state-of-the-art", "-rubber", "source: the book", 'pipes of 5" and 6" size', "std -O2"),
    ],
)
def test_other_signs_are_left_alone(query: str) -> None:
    journal = Journal(query)
    note_plain_operators(journal)
    assert journal.stages == {}
