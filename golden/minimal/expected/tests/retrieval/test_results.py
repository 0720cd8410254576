"""Hits and responses: the fields of candidates, and what a hit stands for."""

from collections.abc import Iterator
from dataclasses import asdict, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from samples import sample_hit

from workshop.index.lines import make_record
from workshop.index.records import ChunkRecord, Place
from workshop.retrieval.candidates import Candidates
from workshop.retrieval.journal import Journal, Mode, Reason
from workshop.retrieval.results import (
    Hit,
    SearchResponse,
    rank_hits,
    respond,
)

COPY = Place("d9", "wiki", "p", None, "Copy")


def stored(number: int) -> dict[str, Any]:
    """A chunk as stored in the index."""
    return {
        "id": f"c{number}",
        "document_id": f"d{number}",
        "title": "Pumps",
        "text": f"Text {number}",
        "section": ["Pumps", "Seals"],
        "position": {"start": 0, "end": 6},
        "source": "docs",
        "path": "pumps.md",
        "url": None,
        "tags": ["odd"],
        "modified": None,
        "also_at": [asdict(COPY)],
    }


INDEX: Any = SimpleNamespace(
    chunk_lines=SimpleNamespace(
        each=lambda make, rows: (make_record(make, stored(number), **more) for number, more in rows)
    ),
)


def test_candidates_become_hits_best_first() -> None:
    found = Candidates(
        chunks=np.array([2, 5, 7]),
        semantic=np.array([0.5, np.nan, 0.0]),
        semantic_ranks=np.array([1, 0, 0]),
        keyword=np.array([0.12345678, np.nan, 0.5]),
        keyword_ranks=np.array([2, 0, 1]),
        scores=np.array([0.25, 0.75, 0.25]),
        boosts={"age": np.array([0.5, 1.0, 1.00000049]), "links": np.array([1.0, 1.5, 1.0])},
    )
    hits = [hit.to_json() for hit in rank_hits(INDEX, found, 2)]
    first, second, third = hits
    assert first.items() >= {**stored(5), "score": 0.75}.items()
    # Equal scores are in index order.
    assert [second["id"], third["id"]] == ["c2", "c7"]
    values = [(hit["scores"]["keyword"], hit["ranks"]["keyword"]) for hit in hits]
    assert values == [(None, None), (0.123457, 2), (0.5, 1)]
    values = [(hit["scores"]["semantic"], hit["ranks"]["semantic"]) for hit in hits]
    assert values == [(None, None), (0.5, 1), (0.0, None)]
    boosts = [hit["boosts"] for hit in hits]
    assert boosts == [{"links": 1.5}, {"age": 0.5}, {"age": 1.0}]


def test_a_response_has_as_many_hits_as_were_asked_for() -> None:
    journal = Journal("pumps", 2)
    journal.note("query_length", searched="pump")
    journal.unknown_identifiers = ("D40",)
    response = respond(journal, hits_of("a", "b", "c"), "weak")
    assert response.match == "weak"
    assert [hit.text for hit in response.hits] == ["a", "b"]
    assert 0 < response.took_ms < 60_000
    assert (response.query, response.unknown_identifiers) == ("pumps", ("D40",))
    assert response.stages == {"query_length": {"searched": "pump"}}


@pytest.mark.parametrize(
    ("asked", "reason", "used", "degraded"),
    [
        ("hybrid", "default", "hybrid", False),
        ("hybrid", "identifier", "keyword", False),
        ("hybrid", "no_vectors", "keyword", True),
        ("hybrid", "embedder_unavailable", "keyword", True),
        ("semantic", "no_vectors", "keyword", True),
        ("semantic", "requested", "semantic", False),
        ("keyword", "requested", "keyword", False),
    ],
)
def test_a_response_says_which_mode_was_used_and_why(
    asked: Mode, reason: Reason, used: str, degraded: bool
) -> None:
    response = respond(Journal("pumps", 2, asked, reason), hits_of("a"), "weak")
    assert (response.mode, response.reason, response.degraded) == (used, reason, degraded)
    assert response.match == ("strong" if reason == "identifier" else "weak")


def hits_of(*texts: str) -> Iterator[Hit]:
    """Hits `c0`, `c1` and so on with these texts, best first."""
    for number, text in enumerate(texts):
        values = {**stored(number), "text": text, "also_at": []}
        yield sample_hit(**values, score=1 - number / 100)


def test_a_hit_lists_the_places_of_merged_hits() -> None:
    first, second, third = hits_of(*"aaa")
    second = replace(second, path="fans.md", url="https://fans.example", also_at=[COPY])
    third = replace(third, document_id=first.document_id)
    hit = first.standing_for([second, third])
    assert hit.near_duplicates == ("c1", "c2")
    # Its own document does not count as another place.
    assert hit.also_at == [Place("d1", "docs", "fans.md", "https://fans.example", "Pumps"), COPY]


def test_a_response_covers_hits_and_what_was_left_out_for_them() -> None:
    def response(**stages: dict[str, Any]) -> SearchResponse:
        first, second, third = hits_of(*"aab")
        hits = iter([first.standing_for([second]), third])
        return respond(Journal("q", stages=stages), hits, "weak")

    chunks = [make_record(ChunkRecord, stored(number)) for number in range(4)]
    assert [response().covers(chunk) for chunk in chunks] == [True, True, True, False]
    chunks[3].document_id = "d2"
    # A stage that limits hits per document may have dropped this one.
    for note, is_covered in (("left_out", True), ("merged", True), ("added", False)):
        assert response(stage={note: 1}).covers(chunks[3]) is is_covered
    chunks[3].document_id = "d9"
    assert not response(stage={"left_out": 1}).covers(chunks[3])
    # Another version of the page was shown instead.
    shown = sample_hit(also_at=[Place("d9", "docs", "v1/pumps.md", None, "Pumps")])
    assert replace(response(versions={"left_out": 1}), hits=(shown,)).covers(chunks[3])
    assert not replace(response(), hits=(shown,)).covers(chunks[3])
