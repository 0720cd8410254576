"""The search: properties of every query, and queries that this index must answer."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from observatory import load, search_hybrid
from observatory.errors import InvalidRequestError
from observatory.evaluation.command import QUESTIONS as FILE
from observatory.evaluation.command import read_questions
from observatory.evaluation.judging import rank_documents, resolve
from observatory.evaluation.questions import Question
from observatory.index.documents import DocumentRecord, Documents
from observatory.index.layout import KnownItem
from observatory.retrieval.journal import MAX_QUERY_LENGTH, MAX_TOP_K, MODES
from observatory.retrieval.results import SearchResponse
from observatory.retrieval.snippets import add_snippets

INDEX = load()
CONTENTS = INDEX.part(Documents.open)
DOCUMENTS = [*CONTENTS.page(limit=20)]
LANES: list[dict[str, Any]] = [{"mode": mode} for mode in MODES]
"""The search options that determine which lanes are searched."""
UNKNOWN = "QZXJV-98765-XQZKW"
QUESTIONS, _ = resolve(INDEX, read_questions(FILE).questions)
EXPECTED = [json.loads(line) for line in FILE.read_text("utf-8").split("\n") if line]
"""The questions as written; some have further keys, such as the expected mode."""


def documents_of(response: SearchResponse) -> set[str]:
    return {hit.document_id for hit in response.hits}


@pytest.mark.parametrize("lanes", LANES)
def test_results_are_ordered_and_unique(lanes: dict[str, Any]) -> None:
    for document in DOCUMENTS:
        response = search_hybrid(document.title, 5, **lanes)
        ids = [hit.id for hit in response.hits]
        scores = [hit.score for hit in response.hits]
        copies = [name for hit in response.hits for name in hit.near_duplicates]
        assert len([*ids, *copies]) == len({*ids, *copies})
        assert len(ids) <= 5
        ranks = [rank for hit in response.hits for rank in hit.ranks.to_json().values()]
        assert all(rank is None or rank >= 1 for rank in ranks)
        assert scores == sorted(scores, reverse=True)
        assert all(0 <= score <= 1 for score in scores)
        # The time is in milliseconds: no search ends within ten microseconds.
        assert response.took_ms > 0.01
        assert response.mode == lanes["mode"] or response.reason != "requested"
        assert response.degraded == (response.reason in ("no_vectors", "embedder_unavailable"))


@pytest.mark.parametrize("lanes", LANES)
def test_fewer_results_are_the_best_of_more(lanes: dict[str, Any]) -> None:
    for document in DOCUMENTS[:5]:
        many, few = (search_hybrid(document.title, count, **lanes).hits for count in (10, 3))
        # This server's stages may choose differently among few hits than among many.
        assert len(few) == min(3, len(many))


@pytest.mark.parametrize("lanes", LANES)
def test_pages_are_parts_of_one_list(lanes: dict[str, Any]) -> None:
    for document in DOCUMENTS[:3]:
        for group in (None, "document"):
            asked: dict[str, Any] = {**lanes, "group": group}
            whole = search_hybrid(document.title, 9, **asked).hits
            parts = [search_hybrid(document.title, 3, offset=n, **asked).hits for n in (0, 3, 6)]
            # This server's stages may choose differently for another page.
            assert all(len(part) <= 3 for part in parts)
            if group:
                assert len({hit.document_id for hit in whole}) == len(whole)
                more = [(hit, one) for hit in whole for one in hit.more]
                assert all(hit.document_id == one.document_id for hit, one in more)
                assert all(hit.id != one.id for hit, one in more)


def records(ids: set[str]) -> list[DocumentRecord]:
    return [record for record in map(CONTENTS.find, ids) if record]


def has(document: DocumentRecord, name: str, value: str) -> bool:
    """Whether a document, or a copy of it, has the value of a filter."""
    places: list[Any] = [document.to_json(), *document.also_at]
    if name == "path":
        return any(place["path"].startswith(value) for place in places)
    if name == "source":
        return any(place["source"] == value for place in places)
    return value in document.tags if name == "tags" else bool(getattr(document, name) == value)


@pytest.mark.parametrize("name", ["source", "path", "tags", "media_type"])
@pytest.mark.parametrize("lanes", LANES)
def test_filter_returns_only_documents_with_its_value(name: str, lanes: dict[str, Any]) -> None:
    values = {
        value
        for document in DOCUMENTS
        for value in (document.tags if name == "tags" else [getattr(document, name)])
    }
    for value in sorted(values)[:5]:
        for document in DOCUMENTS[:5]:
            filters = {name: value}
            found = documents_of(search_hybrid(document.title, MAX_TOP_K, **lanes, filters=filters))
            assert all(has(record, name, value) for record in records(found))


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize(
    "filters",
    [
        {"path": "no/such/path"},
        {"tags": ["no-such-tag"]},
        {"media_type": "no/such-type"},
        {"modified_before": "1800-01-01"},
        {"modified_after": "9000-01-01"},
        {"path": ["", "no/such/path"], "tags": "no-such-tag"},
    ],
)
def test_filter_without_matches_returns_no_hits(
    filters: dict[str, Any], lanes: dict[str, Any]
) -> None:
    assert search_hybrid(DOCUMENTS[0].title, **lanes, filters=filters).hits == ()


@pytest.mark.parametrize(
    "filters", [{"colour": "red"}, {"source": "no-such-source"}, {"modified_after": "soon"}]
)
def test_impossible_filter_is_refused(filters: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequestError):
        search_hybrid("a", filters=filters)


@pytest.mark.parametrize(
    ("query", "top_k"),
    [(" ", 10), ("a" * (MAX_QUERY_LENGTH + 1), 10), ("a", 0), ("a", MAX_TOP_K + 1)],
)
def test_impossible_request_is_refused(query: str, top_k: int) -> None:
    with pytest.raises(InvalidRequestError):
        search_hybrid(query, top_k)


def test_unknown_mode_is_refused() -> None:
    mode: Any = "psychic"
    with pytest.raises(InvalidRequestError, match="mode"):
        search_hybrid("a", mode=mode)


def test_a_passage_has_the_same_scores_in_every_mode() -> None:
    for document in DOCUMENTS[:5]:
        hybrid, semantic, keyword = (
            {hit.id: hit for hit in search_hybrid(document.title, 20, mode=mode).hits}
            for mode in MODES
        )
        for hit in hybrid.values():
            # A stage may have added the hit to the results of a lane.
            near = hit.scores.semantic, semantic.get(hit.id, hit).scores.semantic
            worded = hit.scores.keyword, keyword.get(hit.id, hit).scores.keyword
            assert near[0] == near[1] or None in near
            assert worded[0] == worded[1] or None in worded


def test_a_passage_is_found_by_its_own_text() -> None:
    chunks = [next(CONTENTS.chunks_of(document)) for document in DOCUMENTS]
    responses = [
        search_hybrid(chunk.text[:MAX_QUERY_LENGTH], 3, mode="semantic") for chunk in chunks
    ]
    if any(response.degraded for response in responses):
        pytest.skip("queries cannot be embedded here")
    found = [response.covers(chunk) for response, chunk in zip(responses, chunks, strict=True)]
    assert sum(found) >= len(found) / 2


@pytest.mark.parametrize("lanes", LANES)
def test_query_without_a_word_finds_nothing(lanes: dict[str, Any]) -> None:
    assert search_hybrid("?!", **lanes).hits == ()


def test_identifier_that_is_nowhere_is_named() -> None:
    response = search_hybrid(f"{DOCUMENTS[0].title} {UNKNOWN}")
    assert response.unknown_identifiers == (UNKNOWN,)
    # The second query sorts after all words of the index.
    for query in (UNKNOWN, "\U0001e943"):
        assert search_hybrid(query, **LANES[-1]).hits == ()


def test_quantity_in_a_sentence_is_not_an_identifier() -> None:
    assert search_hybrid("it cost 98765.43 yesterday").unknown_identifiers == ()
    assert search_hybrid("98765.43").unknown_identifiers == ("98765.43",)


def test_identifiers_of_the_documents_are_found() -> None:
    listed = (CONTENTS.chunks_of(document, limit=20) for document in DOCUMENTS)
    chunks = [chunk for chunks in listed for chunk in chunks]
    names = {
        token.text: chunk
        for chunk in chunks
        for token in INDEX.tokenizer.tokenize(chunk.text)
        if token.is_identifier
    }
    for name in sorted(names)[:5]:
        response = search_hybrid(name, MAX_TOP_K)
        assert (response.mode, response.reason) == ("keyword", "identifier")
        assert response.unknown_identifiers == ()
        # Your minimum score may exceed the score of every chunk.
        assert response.covers(names[name]) or "minimum_score" in response.stages


def ask_command_line(*options: str, **variables: str) -> Any:
    """The output of the command line for the first document."""
    command = [sys.executable, "-m", "observatory", "search", DOCUMENTS[0].title, "--json"]
    done = subprocess.run(
        [*command, *options],
        cwd=Path(__file__).parent.parent,
        env={**os.environ, **variables},
        capture_output=True,
        check=True,
    )
    return json.loads(done.stdout)


def test_command_line_answers_as_python_does() -> None:
    path = DOCUMENTS[-1].path
    answer = ask_command_line("--top-k", "3", "--filter", f"path={path}")
    found = search_hybrid(DOCUMENTS[0].title, 3, filters={"path": path})
    add_snippets(found, INDEX.tokenizer)
    assert {**answer, "took_ms": 0} == {**found.to_json(), "took_ms": 0}


@pytest.mark.parametrize("item", INDEX.manifest.known_items, ids=lambda item: item.query)
def test_known_item_is_found(item: KnownItem) -> None:
    chunk = INDEX.find_chunk(item.chunk_id)
    assert chunk
    assert search_hybrid(item.query, MAX_TOP_K, **LANES[-1]).covers(chunk)


@pytest.mark.parametrize(
    ("question", "expected"),
    [*zip(QUESTIONS, EXPECTED, strict=True)],
    ids=[question.query for question in QUESTIONS],
)
def test_question_is_answered(question: Question, expected: dict[str, Any]) -> None:
    response = search_hybrid(question.query)
    relevant = {document for document, grade in question.relevant.items() if grade > 0}
    right = [not relevant.isdisjoint(rank_documents(INDEX, [hit])) for hit in response.hits]
    assert any(right[: 1 if expected.get("first") else 5])
    # Some questions also say how many of the best must all be right, and which mode is used.
    assert all(right[: expected.get("top", 0)])
    assert response.mode == expected.get("mode", response.mode)
