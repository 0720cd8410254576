"""The search: what holds for every query, and what this index must know."""

import json
from typing import Any

import pytest

from observatory import load, search_hybrid
from observatory.evaluation_questions import CARRIED_QUESTIONS, skip_reason
from observatory.layout import KnownItem
from observatory.results import MAX_TOP_K, Mode

INDEX = load()
QUESTIONS = [
    question
    for line in CARRIED_QUESTIONS.read_text("utf-8").split("\n")
    if line.strip() and not skip_reason((question := json.loads(line))["query"])
]


def test_index_is_intact() -> None:
    assert INDEX.verify() == []


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "keyword"])
def test_results_are_ordered_and_unique(mode: Mode) -> None:
    for document in INDEX.documents(limit=20):
        response = search_hybrid(document.title, 5, mode=mode)
        ids = [hit.chunk.id for hit in response.hits]
        scores = [hit.score for hit in response.hits]
        assert len(ids) == len(set(ids)) <= 5
        assert scores == sorted(scores, reverse=True)
        assert all(0 <= score <= 1 for score in scores)


@pytest.mark.parametrize("item", INDEX.manifest.known_items, ids=lambda item: item.query)
def test_known_item_is_found(item: KnownItem) -> None:
    chunk = INDEX.find_chunk(item.chunk_id)
    assert chunk
    assert search_hybrid(item.query, MAX_TOP_K, mode="keyword").covers(chunk)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question["query"])
def test_question_is_answered(question: dict[str, Any]) -> None:
    response = search_hybrid(question["query"])
    relevant = set(question["relevant"])
    right = [
        not relevant.isdisjoint({hit.chunk.id, hit.chunk.document_id, hit.chunk.path})
        for hit in response.hits
    ]
    assert any(right[: 1 if question.get("first") else 5])
    # Some questions also say how many of the best must all be right, and which mode is used.
    assert all(right[: question.get("top", 0)])
    assert response.mode == question.get("mode", response.mode)
