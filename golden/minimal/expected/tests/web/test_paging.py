"""How many documents and passages may be requested at once."""

from typing import Any

import pytest
from pydantic import ValidationError

from workshop.web.documents import PageParameters


@pytest.mark.parametrize(
    ("sent", "offset", "limit"),
    [
        ({}, 0, 100),
        ({"limit": "1"}, 0, 1),
        ({"limit": "100"}, 0, 100),
        ({"offset": "1000000000"}, 1_000_000_000, 100),
    ],
)
def test_a_page_may_be_asked_for(sent: dict[str, str], offset: int, limit: int) -> None:
    asked = PageParameters.model_validate(sent)
    assert (asked.offset, asked.limit) == (offset, limit)


@pytest.mark.parametrize(
    "sent",
    [
        {"limit": "0"},
        {"limit": "101"},
        {"limit": "some"},
        {"offset": "-1"},
        {"offset": "1000000001"},
        {"page": "2"},
    ],
)
def test_another_page_is_refused(sent: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        PageParameters.model_validate(sent)
