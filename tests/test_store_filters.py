"""Filters in Qdrant: payload conditions match the same chunks as the embedded index."""

import random
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from qdrant_client import models
from small_indexes import make_document, write_documents
from stores import Place, own_name, qdrant_address
from test_store_steps import FILTERS, OPTIONS, make_notes, random_restriction

from foundry.runtime.index.protocols import LaneHits
from foundry.runtime.retrieval.quantising import quantise_one
from foundry.runtime.retrieval.values import encode_value
from foundry.runtime.store.qdrant.filters import conditions_of, path_prefixes
from foundry.runtime.store.qdrant.rows import HeldVersion
from foundry.runtime.store.restriction import restrict
from foundry.runtime.store.store import is_short
from foundry.stores.content import Content

if TYPE_CHECKING:
    from native_qdrant import NativeQdrant


@pytest.fixture
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """The client's local mode or a live server, and the native shard."""
    if request.param == "qdrant":
        return Place("qdrant", own_name(), qdrant_address(tmp_path / "qdrant"))
    return Place("qdrant", own_name(), request.getfixturevalue("qdrant").address)


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> Content:
    documents = [make_document(number, note) for number, note in enumerate(make_notes())]
    return Content.open(
        write_documents(tmp_path_factory.mktemp("notes") / "index", documents, options=OPTIONS)
    )


def check_same(hits: LaneHits, best: LaneHits, about: object) -> None:
    """Check that both have the same chunks and scores; ties may be in another order."""
    assert sorted(hits.chunks.tolist()) == sorted(best.chunks.tolist()), about
    ours, theirs = (dict(zip(each.chunks, each.scores, strict=True)) for each in (hits, best))
    assert max((abs(ours[chunk] - theirs[chunk]) for chunk in ours), default=0.0) < 1e-5


@pytest.mark.parametrize(
    ("place", "exact"),
    [
        ("qdrant", True),
        pytest.param("edge", True, marks=pytest.mark.slow),
        pytest.param("edge", False, marks=pytest.mark.slow),
    ],
    indirect=["place"],
)
def test_filters_match_the_same_chunks_as_the_index(
    place: Place, content: Content, exact: bool
) -> None:
    place.publish(content.files.layout.root, exact=exact)
    choice = random.Random(12)
    found = 0
    count = len(content.scales)
    with place.engine(exact=exact) as engine:
        for number in range(FILTERS):
            filters, allowed = random_restriction(content, choice)
            only = restrict(allowed, filters)
            picks = number % 5 == 4
            if picks:
                # Restrict the chunks, as the operators of a query do.
                share = np.arange(count) % 3 > 0 if number % 2 else np.arange(count) % 3 == 0
                only = restrict(allowed & share, filters, is_picked=True)
            assert only is not None
            conditions = conditions_of(only, content.edition, HeldVersion(1, {}))
            assert ('"key":"key"' in conditions.model_dump_json(exclude_none=True)) is picks
            chunk = choice.randrange(count)
            vector = content.vectors[chunk] * content.scales[chunk]
            words = choice.sample(["valv", "pump", "seal", "replac", "first"], 2)
            terms = [(content.vocabulary.find(word) or 0, 1) for word in words]
            # All chunks that pass are requested, so that no tie is cut off at the end.
            query = quantise_one(vector)
            both = engine.search_both(content.edition, query, terms, count, only)
            keyword = content.keyword_lane.search(words, count, only.allowed)
            semantic = content.dense_lane.search(vector, count, only.allowed)
            check_same(both.keyword, keyword, filters)
            check_same(both.semantic, semantic, filters)
            alone = engine.search_terms(content.edition, terms, count, only)
            check_same(alone, keyword, filters)
            alone = engine.search_vector(content.edition, query, count, only)
            check_same(alone, semantic, filters)
            found += len(semantic)
    assert found > FILTERS


def test_path_prefixes_are_matched_by_the_next_character(content: Content) -> None:
    """The request does not list full paths: `notes/1` matches `notes/1.md`, `notes/10.md` and so
    on.
    """
    allowed = np.ones(len(content.scales), dtype=np.bool_)

    def asked(path: str) -> list[int]:
        only = restrict(allowed, {"path": path})
        *_, condition = conditions_of(only, content.edition, HeldVersion(1, {})).must or []
        assert isinstance(condition, models.FieldCondition) and condition.key == "paths"
        assert isinstance(condition.match, models.MatchAny)
        return condition.match.any

    assert len(asked("")) == len(asked("no")) == len(asked("note")) == 1
    # The paths are notes/1. and notes/10 to notes/19.
    assert len(asked("notes/1")) == 11
    (whole,) = asked("notes/12.md")
    assert whole == path_prefixes(encode_value("path", "notes/12.md"))[-1]
    assert asked("nowhere") == []


def test_path_prefixes_may_end_within_a_character() -> None:
    one, other = (path_prefixes(encode_value("path", path)) for path in ("abcé", "abcè"))
    assert len(one) == 2 and one[0] == other[0] and one[1] != other[1]


def test_payload_is_indexed(qdrant: "NativeQdrant", content: Content) -> None:
    place = Place("qdrant", own_name(), qdrant.address)
    place.publish(content.files.layout.root)
    (collection,) = qdrant.collections.values()
    assert {key: schema["type"] for key, schema in collection.indexed.items()} == {
        "key": "integer",
        "since": "integer",
        "until": "integer",
        "number": "integer",
        "marks": "keyword",
        "paths": "integer",
        "modified": "integer",
    }
    # Every payload key is indexed, except those that only publications read.
    payloads = [record.payload for record in scroll(place)]
    known = {key for payload in payloads for key in payload} - set(collection.indexed)
    assert known == {"code", *"version moved chunks recall switched shift buckets".split()}


def scroll(place: Place) -> list[models.Record]:
    with place.client() as client:
        found: list[models.Record] = client.scroll(place.name, limit=1000)[0]
        return found


@pytest.mark.parametrize(
    ("hits", "count", "allowed", "is_repeated"),
    [
        (2, 10, None, False),
        (2, 10, 2, False),
        (2, 10, 3, True),
        (9, 10, 20, True),
        (10, 10, 20, False),
        (0, 10, 0, False),
    ],
)
def test_a_search_is_exact_if_the_graph_finds_too_few(
    hits: int, count: int, allowed: int | None, is_repeated: bool
) -> None:
    found = LaneHits(np.arange(hits), np.zeros(hits, np.float32))
    only = None if allowed is None else restrict(np.arange(30) < allowed)
    assert is_short(found, count, only) is is_repeated
