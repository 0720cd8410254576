"""Responses: their JSON and schemas come from one definition."""

import json
from dataclasses import replace

import pytest
from pydantic import TypeAdapter, ValidationError

from workshop.index.records import ChunkRecord, Passage, Place
from workshop.retrieval.journal import Journal
from workshop.retrieval.results import Hit, SearchResponse, respond

PLACE = Place("d2", "docs", "copy.md", None, "Copy")
CHUNK = ChunkRecord(
    id="c1",
    document_id="d1",
    title="Pump",
    text="It needs a seal.",
    section=["Pump", "Parts"],
    position={"start": 0, "end": 16},
    source="docs",
    path="pump.md",
    url=None,
    tags=["a"],
    modified=None,
    also_at=[PLACE],
)
LANES = {"semantic": None, "keyword": 1}
SCORED = {"score": 0.5, "scores": LANES, "ranks": LANES, "boosts": {"recency": 1.2}}
HIT: Hit = TypeAdapter(Hit).validate_python({**CHUNK.to_json(), **SCORED})
JOURNAL = Journal("seal", unknown_identifiers=("D40",), stages={"links": {}})
RESPONSE = respond(JOURNAL, iter([HIT]), "strong")


def test_a_hit_is_its_chunk_with_scores() -> None:
    assert HIT.to_json() == {**CHUNK.to_json(), **SCORED}
    assert CHUNK.to_json()["also_at"] == [
        {"document_id": "d2", "source": "docs", "path": "copy.md", "url": None, "title": "Copy"}
    ]


def test_what_few_hits_have_is_left_out_where_there_is_none() -> None:
    fuller = replace(
        HIT,
        near_duplicates=("c2",),
        passage=Passage("Whole.", [], {"start": 0, "end": 6}),
        scores=replace(HIT.scores, rerank=0.9),
    )
    added = {"near_duplicates", "passage"}
    assert fuller.to_json().keys() - HIT.to_json().keys() == added
    assert fuller.to_json()["near_duplicates"] == ["c2"]
    assert fuller.to_json()["scores"] == {**LANES, "rerank": 0.9}
    schema = TypeAdapter(Hit).json_schema(mode="serialization")
    required = schema["$defs"]["Hit"]["required"]
    assert not added & set(required)
    assert set(required) == HIT.to_json().keys()


def test_a_response_is_what_its_schema_says() -> None:
    schema = TypeAdapter(SearchResponse)
    assert list(RESPONSE.to_json()) == schema.json_schema(mode="serialization")["required"]
    assert schema.validate_json(json.dumps(RESPONSE.to_json()), strict=True) == RESPONSE
    with pytest.raises(ValidationError):
        schema.validate_python({**RESPONSE.to_json(), "more": 1})


@pytest.mark.parametrize(
    ("title", "section", "headings", "titled"),
    [
        ("Pump", ["Parts"], ["Pump", "Parts"], ["Pump", "Parts"]),
        ("Pump", ["Pump", "Parts"], ["Pump", "Parts"], ["Pump", "Parts"]),
        ("Parts", ["Pump", "Parts"], ["Pump", "Parts"], ["Parts", "Pump", "Parts"]),
        ("d1", ["Parts"], ["Parts"], ["d1", "Parts"]),
        ("It needs a\u2026", [], [], ["It needs a\u2026"]),
    ],
)
def test_headings_repeat_neither_each_other_nor_the_text(
    title: str, section: list[str], headings: list[str], titled: list[str]
) -> None:
    chunk = replace(CHUNK, title=title, section=section)
    assert chunk.headings() == headings
    assert chunk.titled_section() == titled
