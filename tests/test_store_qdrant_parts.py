"""Unit tests of the Qdrant layout: ids, points, the collection and its rows."""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np
import pytest
from qdrant_client import models
from small_indexes import Note, write_notes
from stores import Place, own_name
from test_store_steps import OPTIONS, make_notes

from foundry.errors import BusyError, IndexUnusableError, PublishError
from foundry.indexing.files import write_stretches
from foundry.runtime.index.heading_terms import HEADING_MARK, NAMED
from foundry.runtime.index.layout import Vocabulary
from foundry.runtime.retrieval.filters import UNKNOWN_TIME
from foundry.runtime.retrieval.values import encode_value
from foundry.runtime.store.qdrant.client import open_client
from foundry.runtime.store.qdrant.filters import path_prefixes
from foundry.runtime.store.qdrant.rows import (
    HeldVersion,
    marker_id,
    parse_row_id,
    row_id,
    rows_of,
)
from foundry.runtime.store.settings import StoreSettings
from foundry.stores.content import Content
from foundry.stores.qdrant import collection as qdrant_collection
from foundry.stores.qdrant import points as qdrant_points
from foundry.stores.qdrant.collection import Collection, Marker, after, in_buckets
from foundry.stores.qdrant.points import Points
from foundry.stores.rows import Rows

if TYPE_CHECKING:
    from native_qdrant import NativeQdrant


def test_certificates_are_read_for_https_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = StoreSettings("notes", exact=True, timeout=1)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "missing.pem"))
    monkeypatch.setenv("QDRANT_URL", "http://127.0.0.1:6333")
    open_client(settings).close()
    monkeypatch.setenv("QDRANT_URL", "https://127.0.0.1:6333")
    with pytest.raises(FileNotFoundError):
        open_client(settings)


def test_ids_contain_key_and_number() -> None:
    assert row_id(-1, 7) == "ffffffff-ffff-ffff-0000-000000000007"
    assert row_id(2**63 - 1, 1) == "7fffffff-ffff-ffff-0000-000000000001"
    for key, number in ((0, 1), (-1, 7), (2**63 - 1, 2), (-(2**63), 2**64 - 1)):
        assert parse_row_id(row_id(key, number)) == (key, number)
    assert marker_id("00000000000000ff") == 255


def test_numbers_of_terms_are_the_last_bits_of_their_keys() -> None:
    held = HeldVersion(1, {5 + 2**32: 17})
    assert [held.slot(key) for key in (5, 5 + 2**32, -1, 2**62 + 3)] == [5, 17, 2**32 - 1, 3]


def test_filter_for_the_rows_of_a_version() -> None:
    more = models.FieldCondition(key="marks", match=models.MatchValue(value="x"))
    assert rows_of(3, more).model_dump(exclude_none=True) == {
        "must": [
            {"key": "since", "range": {"lte": 3}},
            {"key": "marks", "match": {"value": "x"}},
        ],
        "must_not": [{"key": "until", "range": {"lte": 3}}],
    }


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> Content:
    notes = [*make_notes(count=11), Note("???", ("???",), tags=("shop",))]
    return Content.open(
        write_notes(tmp_path_factory.mktemp("notes") / "index", notes, options=OPTIONS)
    )


def test_chunks_and_terms_with_equal_hashes_are_named(content: Content, tmp_path: Path) -> None:
    first, second = content.index.chunk(0), content.index.chunk(1)
    keys = SimpleNamespace(by_number=np.array([7, 7], dtype=np.int64))
    equal: Any = replace(content, edition=SimpleNamespace(keys=keys))
    said = f"chunk {first.id} of {first.path} and chunk {second.id} of {second.path} have the same"
    with pytest.raises(IndexUnusableError, match=re.escape(said)):
        _ = Rows.open(equal).keys
    # Bytes that are not UTF-8 are hashed alike.
    write_stretches(tmp_path / "terms", tmp_path / "offsets.npy", [b"oil\xfe", b"oil\xff"])
    vocabulary = Vocabulary.open(tmp_path / "terms", tmp_path / "offsets.npy")
    with pytest.raises(IndexUnusableError, match="the term 'oil\ufffd' and the term 'oil\ufffd'"):
        _ = Rows.open(replace(content, vocabulary=vocabulary)).term_keys


def test_points_contain_all_searched_data(content: Content) -> None:
    rows = Rows.open(content)
    points = Points.of(rows, {})
    chosen = np.arange(1, len(rows))
    made = [point for batch in points.make(chosen, 6) for point in batch]
    sparse: list[dict[int, float]] = [{} for _ in range(len(rows))]
    k1, b = content.files.manifest.k1, content.files.manifest.b
    is_heading = set()
    for term, key in enumerate(rows.term_keys.tolist()):
        for place in range(*content.offsets[term : term + 2].tolist()):
            chunk, count = int(content.chunks[place]), int(content.counts[place])
            relative = int(content.lengths[chunk]) / content.mean_length
            value = count / (k1 * (1 - b + b * relative) + count)
            if content.vocabulary[term].decode().startswith(HEADING_MARK):
                is_heading.add(term)
                value = count / NAMED
            sparse[chunk][key % 4294967296] = round(value, 9)
    # The terms of headings are adjacent in the vocabulary, which has terms of text too.
    assert is_heading == set(range(min(is_heading), max(is_heading) + 1))
    assert len(is_heading) < len(rows.term_keys)
    assert len(made) == len(chosen)
    for chunk, point in zip(chosen.tolist(), made, strict=True):
        key = int(rows.keys[chunk])
        assert point.id == row_id(key, 6)
        assert isinstance(point.vector, dict)
        vector: Any = point.vector.get("bm25")
        found = {} if vector is None else dict(zip(vector.indices, vector.values, strict=True))
        assert found == sparse[chunk]
        dense = content.vectors[chunk].tolist() if content.scales[chunk] else None
        assert point.vector.get("dense") == dense
        marks = rows.marks.of_chunk(chunk)
        (path,) = (mark for mark in marks if mark.startswith(encode_value("path", "")))
        modified = int(rows.modified[chunk])
        assert point.payload == {
            "key": key,
            "since": 6,
            "code": int(points.codes[chunk]),
            "marks": [mark.decode() for mark in marks if mark != path],
            "paths": sorted(set(path_prefixes(path))),
            **({} if modified == UNKNOWN_TIME else {"modified": modified}),
        }
    assert isinstance(made[-1].vector, dict) and made[-1].vector.keys() == {"bm25"}
    assert {"modified" in (point.payload or {}) for point in made} == {True, False}


def test_points_without_terms_have_no_sparse_vector(content: Content) -> None:
    nothing = np.zeros(0, dtype=np.int64)
    points = Points.of(Rows.open(content), {})
    with patch.object(Rows, "postings_of", return_value=(nothing, nothing, nothing)):
        ((point,),) = points.make(np.array([2]), 1)
    assert isinstance(point.vector, dict) and point.vector.keys() == {"dense"}


def test_points_come_in_batches(content: Content) -> None:
    points = Points.of(Rows.open(content), {})
    chosen = np.array([0, 2, 3, 5, 8, 9, 13, 14, 20])
    (whole,) = points.make(chosen, 1)
    with (
        patch.object(qdrant_points, "BLOCK_CHUNKS", 5),
        patch.object(qdrant_points, "BATCH_POINTS", 2),
    ):
        parts = list(points.make(chosen, 1))
    assert [len(part) for part in parts] == [2, 2, 1, 2, 2]
    assert [point for part in parts for point in part] == whole


def test_moved_terms_have_their_new_numbers_in_points(content: Content) -> None:
    rows = Rows.open(content)
    term = content.vocabulary.find("pump")
    assert term is not None
    points = Points(rows, {int(rows.term_keys[term]): 17})
    slots = rows.term_keys % 4294967296
    slots[term] = 17
    assert points.slots.tolist() == slots.tolist()
    having = set(content.chunks[slice(*content.offsets[term : term + 2].tolist())].tolist())
    assert 0 < len(having) < len(rows)
    for chunk, point in enumerate(next(points.make(np.arange(len(rows)), 1))):
        vector: Any = (point.vector if isinstance(point.vector, dict) else {}).get("bm25")
        assert (vector is not None and 17 in vector.indices) == (chunk in having)


@pytest.fixture
def native(qdrant: "NativeQdrant") -> "NativeQdrant":
    """An engine that records its exchanges."""
    qdrant.exchanges = []
    return qdrant


@pytest.fixture
def collection(native: "NativeQdrant") -> Iterator[Collection]:
    """An existing collection without points."""
    with Place("qdrant", own_name(), native.address).client() as client:
        made = Collection(client, own_name(), 2.5)
        made.prepare(4)
        yield made


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    waited: list[float] = []
    monkeypatch.setattr(qdrant_collection, "time", SimpleNamespace(sleep=waited.append))
    return waited


def asked(native: "NativeQdrant") -> list[tuple[str, str, Any]]:
    """Return the requests since the last call, without the name of the collection."""
    said = native.exchanges or []
    native.exchanges = []
    return [(one.method, "/".join(one.target.split("/")[3:]), one.asked) for one in said]


def test_a_collection_is_created_before_its_points(
    native: "NativeQdrant", collection: Collection
) -> None:
    found = asked(native)
    integer = {"type": "integer"}
    indexes = {
        body["field_name"]: body["field_schema"]
        for method, path, body in found
        if (method, path) == ("PUT", "index?wait=true")
    }
    assert indexes == {
        "key": {**integer, "lookup": True, "range": True},
        "since": {**integer, "lookup": False, "range": True},
        "until": {**integer, "lookup": False, "range": True},
        "number": {**integer, "lookup": True, "range": True},
        "marks": {"type": "keyword"},
        "paths": {**integer, "lookup": True, "range": False},
        "modified": {**integer, "lookup": False, "range": True},
    }
    ((made),) = [body for method, path, body in found if (method, path) == ("PUT", "")]
    token = made["metadata"]["publisher"]
    assert made == {
        "vectors": {"dense": {"size": 4, "distance": "Cosine"}},
        "sparse_vectors": {"bm25": {}},
        "hnsw_config": {"m": 0},
        "metadata": {"format": 3, "publisher": token},
    }
    collection.check_claim()
    # Later publications create nothing, and claim the existing collection.
    asked(native)
    other = Collection(collection.client, collection.name, 2.5)
    other.prepare(4)
    *looks, claim = asked(native)
    assert {method for method, _, _ in looks} == {"GET"}
    assert claim[0] == "PATCH" and claim[2]["metadata"]["publisher"] != token
    with pytest.raises(BusyError):
        collection.check_claim()


def test_foreign_metadata_are_not_a_claim(collection: Collection) -> None:
    collection.client.update_collection(collection.name, metadata={"publisher": "another"})
    with pytest.raises(BusyError, match="another process has started to publish into it") as error:
        collection.check_claim()
    assert error.value.hint == "wait until it has finished"


def test_a_collection_without_metadata_is_foreign(
    native: "NativeQdrant", collection: Collection
) -> None:
    (held,) = native.collections.values()
    held.metadata = None
    with pytest.raises(BusyError):
        collection.check_claim()
    with pytest.raises(PublishError, match="is a collection that this version of Foundry did not"):
        collection.prepare(4)


def version_of(number: int) -> str:
    return f"{number:016x}"


def marker(number: int) -> Marker:
    held = HeldVersion(number, {-3: 9})
    return Marker(version_of(number), held, 5, 0.5, 12.25, 61, ((-2, 3, -4), (1, 2, 2**62)))


def test_markers_survive_a_round_trip(native: "NativeQdrant", collection: Collection) -> None:
    for number in (2, 1, 3):
        collection.mark(marker(number))
    writes = [path for method, path, _ in asked(native) if method == "PUT" and "index" not in path]
    assert writes == ["", *3 * ["points?wait=true"]]
    found = collection.markers()
    assert [each.held.number for each in found] == [1, 2, 3]
    assert found[0].buckets == []
    whole = collection.with_buckets(found[0])
    assert (whole.version, whole.held, whole.chunks) == (version_of(1), marker(1).held, 5)
    assert (whole.recall, whole.switched, whole.shift) == (0.5, 12.25, 61)
    assert [tuple(bucket) for bucket in whole.buckets] == list(marker(1).buckets)


def put(collection: Collection, key: int, since: int, until: int | None = None) -> str:
    """Write a row without vectors."""
    payload = {"key": key, "since": since, "code": 1000 + key}
    if until is not None:
        payload["until"] = until
    row = row_id(key, since)
    point = models.PointStruct(id=row, vector={}, payload=payload)
    collection.client.upsert(collection.name, [point], wait=True)
    return row


def present(collection: Collection) -> set[str]:
    return {row for row, _ in collection.rows(after(0))}


@pytest.mark.parametrize("numbers", [(), (1,), (2,), (1, 3), (2, 3)])
def test_rows_of_no_version_are_removed(
    native: "NativeQdrant", collection: Collection, pauses: list[float], numbers: tuple[int, ...]
) -> None:
    rows = {}
    for key, (since, until) in enumerate(product(range(1, 5), (*range(1, 6), None))):
        if until is None or until > since:
            rows[put(collection, key, since, until)] = (since, until)
    for number in numbers:
        collection.mark(marker(number))
    collection.remove_unused()

    def is_needed(since: int, until: int | None) -> bool:
        if until is None or not numbers or since > max(numbers) or until > max(numbers):
            return True
        return any(since <= number < until for number in numbers)

    assert present(collection) == {row for row, span in rows.items() if is_needed(*span)}
    assert [each.held.number for each in collection.markers()] == list(numbers)
    went = len(rows) - len(present(collection))
    assert pauses == ([2.5] if went else [])
    # Nothing is left to do, so nothing is waited for.
    asked(native)
    collection.remove_unused()
    assert [path for _, path, _ in asked(native)] == 2 * ["points/scroll"] + ["points/count"]
    assert pauses == ([2.5] if went else [])


def test_markers_of_dropped_versions_are_removed(
    native: "NativeQdrant", collection: Collection, pauses: list[float]
) -> None:
    for number in (1, 2):
        collection.mark(marker(number))
    put(collection, 1, 1)
    collection.drop(collection.markers()[:1])
    (kept,) = collection.markers()
    assert kept.version == version_of(2)
    asked(native)
    collection.remove_unused()
    *_, last = asked(native)
    assert last == ("POST", "points/delete?wait=true", {"points": [1]})
    assert pauses == [2.5]
    assert collection.client.count(collection.name, exact=True).count == 2


def test_removals_are_complete_before_the_next_step(
    native: "NativeQdrant", collection: Collection, pauses: list[float]
) -> None:
    put(collection, 1, 1, 2)
    collection.mark(marker(2))
    asked(native)
    collection.remove_unused()
    collection.unretire(2)
    assert collection.count(2) == 0
    found = asked(native)
    assert [path for _, path, _ in found[2:]] == [
        "points/count",
        "points/delete?wait=true",
        "points/payload/delete?wait=true",
        "points/count",
    ]
    assert all(body["exact"] is True for _, path, body in found if path == "points/count")


def test_needlessly_retired_rows_are_restored(collection: Collection) -> None:
    for key, until in ((1, 2), (2, 3), (3, 4), (4, None)):
        put(collection, key, 1, until)
    assert [collection.count(number) for number in (1, 2, 3, 4)] == [4, 3, 2, 1]
    collection.unretire(2)
    assert [collection.count(number) for number in (1, 2, 3, 4)] == [4, 3, 3, 3]


def test_rows_are_found_by_bucket(collection: Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(qdrant_collection, "PAGE", 3)
    shift = 60
    keys = [edge + offset for edge in range(-(2**62), 2**62, 2**60) for offset in (-1024, 0, 1024)]
    rows = {put(collection, key, 1): key for key in keys}
    for buckets in ([0], [-2, 1], [-4], [7], list(range(-8, 8))):
        found = dict(collection.rows(in_buckets(buckets, shift)))
        wanted = {row for row, key in rows.items() if key >> shift in buckets}
        assert found.keys() == wanted
        assert all(code == 1000 + rows[row] for row, code in found.items())
    assert len(dict(collection.rows(after(0)))) == len(keys)
    assert dict(collection.rows(after(1))) == {}
