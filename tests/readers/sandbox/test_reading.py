"""Reading in a worker, whose answers are not trusted."""

import json
from typing import Any

import pytest
from document_files import Text, pdf

from foundry.documents import RawDocument
from foundry.readers import read
from foundry.readers.contract import UnreadableError
from foundry.readers.sandbox.processes import Sandbox
from foundry.readers.sandbox.reading import parse_answer

PDF = pdf([[Text(10, 600, "some words")]])


def test_parsers_run_only_in_workers() -> None:
    with pytest.raises(ValueError, match="worker"):
        read(RawDocument("s", "a.pdf", "a.pdf", PDF))


@pytest.mark.parametrize(
    ("fields", "reading"),
    [
        ({"id": "another"}, {}),
        ({"sha256": "0"}, {}),
        ({"reading": None}, {}),
        ({}, {"headings": [{"level": 1, "text": "x", "start": 0, "end": 99}]}),
        ({}, {"pages": [2, 1]}),
        ({}, {"text": "\ud800"}),
        ({}, {"title": 7}),
    ],
)
def test_inconsistent_answers_are_refused(
    fields: dict[str, Any], reading: dict[str, Any], sandbox: Sandbox
) -> None:
    raw = RawDocument("s", "a.pdf", "a.pdf", PDF)
    answer = json.loads(sandbox.ask(raw))
    assert parse_answer(json.dumps(answer).encode(), raw)
    answer["reading"] |= reading
    with pytest.raises(UnreadableError, match="reader failed"):
        parse_answer(json.dumps({**answer, **fields}).encode(), raw)


@pytest.mark.parametrize("answer", [b"", b"[]", b"{}", b'{"text": "a"}'])
def test_malformed_answers_are_refused(answer: bytes) -> None:
    with pytest.raises(UnreadableError, match="reader failed"):
        parse_answer(answer, RawDocument("s", "a", "a", b""))
