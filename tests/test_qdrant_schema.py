"""Every request to Qdrant, and every response of its stand-in, match Qdrant's own schema."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import httpx2
import numpy as np
import pytest
from qdrant_schema import VERSIONS, Calls, Exchange
from stores import Place, own_name
from test_store_steps import Killed, killed_after, write

from foundry.errors import PublishError
from foundry.runtime.retrieval.filters import FilterColumns
from foundry.runtime.retrieval.quantising import quantise_one
from foundry.runtime.store.restriction import Restriction, restrict
from foundry.runtime.store.store import Engine, StoreError, VersionMissingError
from foundry.stores.content import Content
from foundry.stores.qdrant import collection as qdrant_collection
from foundry.stores.qdrant import publishing as qdrant

if TYPE_CHECKING:
    from native_qdrant import NativeQdrant

ONE = "/collections/{collection_name}"
SENT: dict[str, set[str]] = {
    "GET /aliases": set(),
    f"GET {ONE}": set(),
    f"GET {ONE}/exists": set(),
    f"PUT {ONE}": {
        "vectors.*.size",
        "vectors.*.distance",
        "sparse_vectors.*",
        "hnsw_config.m",
        "metadata",
    },
    f"PATCH {ONE}": {"metadata", "hnsw_config.m", "hnsw_config.ef_construct"},
    f"PUT {ONE}/index": {
        "?wait",
        "field_name",
        "field_schema.type",
        "field_schema.lookup",
        "field_schema.range",
    },
    f"PUT {ONE}/points": {
        "?wait",
        "points.id",
        "points.vector",
        "points.vector.*",
        "points.vector.*.indices",
        "points.vector.*.values",
        "points.payload",
    },
    f"POST {ONE}/points": {"ids", "with_payload", "with_vector"},
    f"POST {ONE}/points/count": {
        "filter.must.key",
        "filter.must.range.lte",
        "filter.must.range.lt",
        "filter.must_not.key",
        "filter.must_not.range.lte",
        "filter.should.must.key",
        "filter.should.must.range.gt",
        "filter.should.must.range.lte",
        "exact",
    },
    f"POST {ONE}/points/delete": {
        "?wait",
        "points",
        "filter.should.must.key",
        "filter.should.must.range.gt",
        "filter.should.must.range.lte",
    },
    f"POST {ONE}/points/payload": {
        "?wait",
        "payload",
        "points",
        "filter.must.key",
        "filter.must.range.lte",
        "filter.must_not.key",
        "filter.must_not.range.lte",
    },
    f"POST {ONE}/points/payload/delete": {
        "?wait",
        "keys",
        "filter.must.key",
        "filter.must.range.gt",
    },
    f"POST {ONE}/points/query/batch": {
        "?timeout",
        "searches.query.nearest",
        "searches.query.nearest.indices",
        "searches.query.nearest.values",
        "searches.using",
        "searches.filter.must.key",
        "searches.filter.must.range.lte",
        "searches.filter.must.range.lt",
        "searches.filter.must.range.gte",
        "searches.filter.must.match.any",
        "searches.filter.must.match.value",
        "searches.filter.must.must_not.key",
        "searches.filter.must.must_not.match.any",
        "searches.filter.must.has_id",
        "searches.filter.must_not.key",
        "searches.filter.must_not.range.lte",
        "searches.params.exact",
        "searches.params.hnsw_ef",
        "searches.params.acorn.enable",
        "searches.limit",
        "searches.with_payload",
    },
    f"POST {ONE}/points/scroll": {
        "offset",
        "limit",
        "with_payload",
        "with_vector",
        "filter.must.key",
        "filter.must.range.gt",
        "filter.must.range.gte",
        "filter.must.range.lte",
        "filter.must.should.key",
        "filter.must.should.range.gte",
        "filter.must.should.range.lt",
        "filter.must_not.key",
        "filter.must_not.range.lte",
    },
}
"""All requests of publications and servers: the fields of the query, after `?`, and of the body."""

FREE = {"payload", "metadata"}
"""Fields with arbitrary content."""

NAMED = {"vectors", "sparse_vectors", "vector", "payload_schema"}
"""Fields that contain fields named by Foundry."""


def search(engine: Engine, content: Content, only: Restriction | None) -> None:
    """Run every kind of search."""
    vector = quantise_one(content.vectors[0] * content.scales[0])
    terms = [(content.vocabulary.find(word) or 0, 1) for word in ("valv", "pump")]
    chunks = np.array([1, 4])
    engine.check(content.edition)
    engine.search_vector(content.edition, vector, 5, only)
    engine.search_terms(content.edition, terms, 5, only)
    engine.search_both(content.edition, vector, terms, 5, only).complete()
    engine.score_vector(content.edition, vector, chunks)
    engine.score_terms(content.edition, terms, chunks)


FILTERS: tuple[dict[str, Any], ...] = (
    {"source": ["s0"]},
    {"tags": ["shop", "field"]},
    {"path": ["notes/1", "nowhere"]},
    {"media_type": ["text/plain"]},
    {"team": ["core", "Ödland"]},
    {"modified_after": "2026-01-05", "modified_before": "2026-01-20T12:00"},
)


def search_under_filters(engine: Engine, content: Content) -> None:
    """Run every kind of search: without a filter, with each one, and with query operators."""
    search(engine, content, None)
    for filters in FILTERS:
        allowed = content.index.part(FilterColumns.open).select(filters)
        search(engine, content, restrict(allowed, filters))
    for most in (True, False):
        allowed = (np.arange(len(content.scales)) % 3 > 0) == most
        search(engine, content, restrict(allowed, {}, is_picked=True))


def act_out(place: Place, native: "NativeQdrant", folder: Path) -> None:
    """Publish, search, roll back, and provoke every failure that causes other requests."""
    first = write(folder / "first")
    second = write(folder / "second", {7: "second"})
    third = write(folder / "third", dict.fromkeys(range(60), "third"))
    content = Content.open(second)
    with place.engine() as engine, pytest.raises(VersionMissingError):
        engine.check(content.edition)
    place.publish(first)
    with place.engine() as engine, pytest.raises(VersionMissingError):
        engine.check(content.edition)
    place.publish(second)
    assert not place.publish(first).loaded
    place.publish(second, again=True)
    with killed_after(3):
        place.publish(third)
    # Leftovers exist when another version is published, and when the same one is continued.
    place.publish(first, again=True)
    with patch.object(qdrant, "compare_lanes", side_effect=Killed), pytest.raises(Killed):
        place.publish(third)
    place.publish(third)
    place.publish(second, exact=False)
    with place.engine() as engine:
        search_under_filters(engine, content)
    with place.engine(exact=False) as engine:
        search(engine, content, None)
        for status in (401, 429, 500, 503, 504):
            native.failure = status
            with pytest.raises(StoreError):
                engine.check(content.edition)
            native.failure = None
    place.publish(second, grace=0)
    place.publish(second, grace=0)
    # Another client has removed all markers.
    for version in place.versions():
        place.drop(version)
    place.publish(first)
    native.failure = 500
    with pytest.raises(PublishError):
        place.publish(first)
    native.failure = None


@pytest.fixture(scope="module")
def exchanges(tmp_path_factory: pytest.TempPathFactory) -> list[Exchange]:
    """All exchanges of a run that uses every feature."""
    from native_qdrant import running_qdrant

    folder = tmp_path_factory.mktemp("schema")
    with ExitStack() as stack:
        native = stack.enter_context(running_qdrant(folder / "shards"))
        native.exchanges = []
        # There are no other searches, and more than one page of rows.
        still = SimpleNamespace(sleep=lambda _seconds: None)
        stack.enter_context(patch.object(qdrant_collection, "time", still))
        stack.enter_context(patch.object(qdrant_collection, "PAGE", 50))
        stack.enter_context(patch.object(qdrant, "POLL_SECONDS", 0.0))
        act_out(Place("qdrant", own_name(), native.address), native, folder)
        return native.exchanges


def fields(value: Any, name: str = "") -> Iterator[str]:
    """Return the field names of a body, including nested ones, joined by dots."""
    last = name.rpartition(".")[2]
    if isinstance(value, list):
        for each in value:
            yield from fields(each, name)
    elif isinstance(value, dict) and value and last not in FREE:
        for key, each in value.items():
            own = "*" if last in NAMED else key
            yield from fields(each, f"{name}.{own}" if name else own)
    elif name:
        yield name


def test_every_sent_field_is_in_the_schema(exchanges: list[Exchange]) -> None:
    calls, sent = Calls.of(), {call: set[str]() for call in SENT}
    for exchange in exchanges:
        call = calls.name(exchange)
        assert call is not None
        query = exchange.target.partition("?")[2]
        sent[call] |= {f"?{pair.partition('=')[0]}" for pair in query.split("&") if pair}
        sent[call] |= set(fields(exchange.asked))
    assert sent == SENT


@pytest.mark.parametrize("version", VERSIONS)
def test_requests_and_responses_match_the_schema(exchanges: list[Exchange], version: str) -> None:
    calls = Calls.of(version)
    assert {exchange.status for exchange in exchanges} == {200, 401, 404, 429, 500, 503, 504}
    assert [fault for exchange in exchanges for fault in calls.faults(exchange)] == []


def bodies(exchanges: list[Exchange], part: str) -> Iterator[tuple[Exchange, Any]]:
    """Return requests or responses that together have all fields, with at most two list items."""
    seen: set[object] = set()
    for exchange in exchanges:
        body = shortened(getattr(exchange, part))
        call = Calls.of().name(exchange), exchange.status == 200
        own = {(call, name) for name in fields(body)}
        if own - seen:
            seen |= own
            yield exchange, body


def shortened(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: shortened(each) for key, each in value.items()}
    return [shortened(each) for each in value[:2]] if isinstance(value, list) else value


def spoilt(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield copies of a body with one fault each, and a description of it."""
    last = name.rpartition(".")[2]
    if last in FREE:
        return
    wrong = 0.5 if isinstance(value, dict) else {"wrong": "type"}
    yield f"{name} is {wrong}", wrong
    if isinstance(value, list):
        for place, each in enumerate(value):
            for fault, bad in spoilt(each, name):
                yield fault, [*value[:place], bad, *value[place + 1 :]]
    elif isinstance(value, dict):
        for key, each in value.items():
            others = {own: other for own, other in value.items() if own != key}
            if last not in NAMED:
                yield f"{name}.{key} is misspelt", {**others, f"{key}s": each}
            for fault, bad in spoilt(each, f"{name}.{key}"):
                yield fault, {**others, key: bad}


@pytest.mark.slow
@pytest.mark.parametrize("part", ["asked", "answered"])
def test_each_fault_in_a_body_is_noticed(exchanges: list[Exchange], part: str) -> None:
    calls, planted = Calls.of(), set[object]()
    for exchange, body in bodies(exchanges, part):
        assert calls.faults(replace(exchange, **{part: body})) == []
        for fault, bad in spoilt(body):
            case = calls.name(exchange), exchange.status, fault
            if case in planted:
                continue
            planted.add(case)
            assert calls.faults(replace(exchange, **{part: bad})), (exchange, fault)
    assert len(planted) > 80


def test_each_fault_in_a_path_or_query_is_noticed(exchanges: list[Exchange]) -> None:
    calls = Calls.of()
    seen: set[str] = set()
    for exchange in exchanges:
        call = calls.name(exchange)
        assert call is not None
        if call in seen:
            continue
        seen.add(call)
        path, _, query = exchange.target.partition("?")
        mark = f"?{query}" if query else ""
        others = [
            replace(exchange, method="PURGE"),
            replace(exchange, target=f"{path}/more{mark}"),
            replace(exchange, target=f"{path}?unheard=1"),
            *(
                replace(exchange, target=exchange.target.replace(f"/{piece}", f"/{piece}s", 1))
                for piece in path.split("/")[1:]
                if f"/{piece}" in call
            ),
        ]
        if query:
            name, _, _value = query.partition("=")
            others += [
                replace(exchange, target=f"{path}?{name}s=1"),
                replace(exchange, target=f"{path}?{name}=wrong"),
            ]
        for other in others:
            assert calls.faults(other), other
    assert seen == SENT.keys()


def test_schema_violation_fails_the_test(tmp_path: Path) -> None:
    from native_qdrant import running_qdrant

    with (
        pytest.raises(AssertionError, match=r"body: Additional .*'cuont' was unexpected"),
        running_qdrant(tmp_path / "shards") as native,
        httpx2.Client(base_url=native.address) as client,
    ):
        client.post("/collections/notes/points/count", json={"exact": True, "cuont": 1})
