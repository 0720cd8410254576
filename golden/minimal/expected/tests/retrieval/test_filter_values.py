"""What a filter may be given."""

import pytest

from workshop.index.errors import InvalidRequestError
from workshop.retrieval.filters import parse_filters, parse_time, read_pairs


def test_time_before_1970_is_one() -> None:
    assert parse_time("1969-12-31") == -86_400
    assert parse_time("1970-01-01T00:00:01+01:00") == -3599


@pytest.mark.parametrize("text", ["yesterday", "", "2024-13-01"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"isoformat|month"):
        parse_time(text)


@pytest.mark.parametrize("value", [3, {"a": 1}, ["a", 3], [None]])
def test_what_is_no_text_is_refused(value: object) -> None:
    with pytest.raises(InvalidRequestError, match="'tags' must be a string or a list of strings"):
        parse_filters({"tags": value})


def test_pairs_are_cut_at_their_first_equals_sign() -> None:
    assert read_pairs([" team = a=b ", "team=c", "path="]) == {"team": ["a=b", "c"], "path": [""]}
    with pytest.raises(InvalidRequestError, match="'team' must be written field=value"):
        read_pairs(["team"])
