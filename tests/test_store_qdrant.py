"""Publishing into Qdrant: the collection, its markers, and interruptions."""

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np
import pytest
from qdrant_client import models
from small_indexes import write_notes
from stores import Place, own_name
from test_store_steps import COUNT, OPTIONS, check_answers, make_notes, numbers_of, write

from foundry.errors import BusyError, PublishError
from foundry.runtime.index.lines import hash_key
from foundry.runtime.store.qdrant.rows import HeldVersion, parse_row_id, row_id
from foundry.runtime.store.store import VersionMissingError
from foundry.stores.content import Content
from foundry.stores.qdrant import collection as qdrant_collection
from foundry.stores.qdrant import points as qdrant_points
from foundry.stores.qdrant.points import Points, assign_slots
from foundry.stores.rows import Rows

if TYPE_CHECKING:
    from native_qdrant import NativeQdrant


@pytest.fixture
def place(qdrant: "NativeQdrant") -> Place:
    return Place("qdrant", own_name(), qdrant.address)


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("first") / "index")


@pytest.fixture(scope="module")
def second(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("second") / "index", {7: "second", 9: "second"})


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Record how long publications would have waited for searches; the waits are skipped."""
    waited: list[float] = []
    monkeypatch.setattr(qdrant_collection, "time", SimpleNamespace(sleep=waited.append))
    return waited


def test_ids_of_rows_contain_key_and_number() -> None:
    for key, number in ((0, 1), (-1, 7), (2**63 - 1, 2), (-(2**63), 10**9)):
        assert parse_row_id(row_id(key, number)) == (key, number)


@pytest.mark.parametrize(
    ("made", "said", "hint"),
    [
        ("alias", "is an alias, which earlier versions of Foundry created", "or set another"),
        (
            "collection",
            "is a collection that this version of Foundry did not",
            "or delete the collection",
        ),
    ],
)
def test_foreign_collections_are_refused(
    place: Place, qdrant: "NativeQdrant", first: Path, made: str, said: str, hint: str
) -> None:
    name = place.name if made == "collection" else f"{place.name}_{'0' * 16}"
    vectors = {"dense": models.VectorParams(size=256, distance=models.Distance.COSINE)}
    with place.client() as client:
        client.create_collection(
            name,
            vectors_config=vectors,
            sparse_vectors_config={"bm25": models.SparseVectorParams()},
            hnsw_config=models.HnswConfigDiff(m=0),
            metadata={"complete": True, "format": 2},
        )
        if made == "alias":
            alias = models.CreateAlias(collection_name=name, alias_name=place.name)
            client.update_collection_aliases([models.CreateAliasOperation(create_alias=alias)])
    with pytest.raises(PublishError, match=said) as error:
        place.publish(first)
    assert error.value.message.endswith("; the published version is unchanged")
    assert hint in str(error.value.hint)
    assert list(qdrant.collections) == [name]


def test_other_dimensions_are_refused(place: Place, first: Path) -> None:
    place.publish(first)
    content = Content.open(first)
    narrow = replace(content, vectors=np.ascontiguousarray(content.vectors[:, :64]))
    with (
        patch.object(Content, "open", return_value=narrow),
        pytest.raises(PublishError, match=r"of 256 dimensions, .* has 64") as error,
    ):
        place.publish(first)
    assert "set another store.name" in str(error.value.hint)
    check_answers(place, first)


def test_only_changed_rows_are_sent(
    place: Place, qdrant: "NativeQdrant", first: Path, second: Path
) -> None:
    place.publish(first)
    sent: list[tuple[str, Any]] = []
    answer = qdrant.answer

    def note(method: str, path: str, asked: dict[str, Any]) -> Any:
        if method == "PUT" and path.endswith("/points"):
            sent.extend((point["id"], point["payload"]) for point in asked["points"])
        return answer(method, path, asked)

    with patch.object(qdrant, "answer", note):
        place.publish(second)
    content = Content.open(second)
    keys = {parse_row_id(row)[0] for row, _ in sent if isinstance(row, str)}
    (marker,) = [payload for row, payload in sent if isinstance(row, int)]
    assert keys == {int(content.edition.keys.by_number[chunk]) for chunk in (14, 18)}
    assert len(sent) == 3
    assert (marker["version"], marker["number"], marker["chunks"]) == (
        content.version,
        2,
        2 * COUNT,
    )


def test_removed_rows_are_noticed(place: Place, first: Path, second: Path) -> None:
    place.publish(first)
    row = next(iter(place.rows()))
    with place.client() as client:
        client.delete(place.name, [row])
    for index in (first, second):
        with pytest.raises(PublishError, match=f"{2 * COUNT - 1} rows of index .*, expected 120"):
            place.publish(index)
    place.publish(first, again=True)
    check_answers(place, first)


def test_a_publication_stops_if_another_begins(place: Place, first: Path, second: Path) -> None:
    place.publish(first)
    make = Points.make

    def overtaken(points: Points, *asked: Any) -> Iterator[Any]:
        for batch in make(points, *asked):
            with patch.object(Points, "make", make):
                assert place.publish(first, again=True).loaded
            yield batch

    with (
        patch.object(Points, "make", overtaken),
        pytest.raises(BusyError, match="another process has started to publish"),
    ):
        place.publish(second)
    assert place.current() == Content.open(first).version
    check_answers(place, first)
    place.publish(second)
    for index in (first, second):
        check_answers(place, index)


def test_a_reloaded_version_is_found_by_running_servers(
    place: Place, first: Path, second: Path, pauses: list[float]
) -> None:
    place.publish(first)
    content = Content.open(first)
    word = content.vocabulary.find("replac")
    assert word is not None
    best = content.keyword_lane.search(["replac"], 200)
    with place.engine() as engine:
        for _ in range(2):
            hits = engine.search_terms(content.edition, [(word, 1)], 200, None)
            assert hits.chunks.tolist() == best.chunks.tolist()
            place.publish(first, again=True)
            assert numbers_of(place) == (2 * COUNT, 0)
        place.publish(second)
        place.publish(second, grace=0)
        with pytest.raises(VersionMissingError):
            engine.search_terms(content.edition, [(word, 1)], 200, None)
    # There is one pause for each removal of rows, and no other.
    assert pauses == [2, 2, 2]


def test_terms_with_equal_hash_ends_are_distinguished(place: Place, tmp_path: Path) -> None:
    seen: dict[int, str] = {}
    pair: tuple[str, str] | None = None
    for number in range(400_000):
        word = f"word{number}"
        slot = hash_key(word) % 2**32
        if slot in seen:
            pair = seen[slot], word
            break
        seen[slot] = word
    assert pair is not None
    notes = make_notes(dict(enumerate(pair)))
    index = write_notes(tmp_path / "index", notes, options=OPTIONS)
    place.publish(index)
    content = Content.open(index)
    ((key, slot),) = place.markers()[0]["moved"].items()
    assert int(key) % 2**32 != slot
    with place.engine() as engine:
        for chunk, word in enumerate(pair):
            number = content.vocabulary.find(word)
            assert number is not None
            hits = engine.search_terms(content.edition, [(number, 1)], 10, None)
            assert hits.chunks.tolist() == [2 * chunk]
    # The next version keeps the numbers, although a term changed its position.
    changed = write_notes(
        tmp_path / "changed", make_notes(dict(enumerate((*pair, "third")))), options=OPTIONS
    )
    place.publish(changed)
    assert [marker["moved"] for marker in place.markers()] == 2 * [{key: slot}]
    assert numbers_of(place) == (2 * COUNT + 1, 1)
    check_answers(place, changed)


def test_codes_of_rows_cover_mean_length_and_term_numbers(first: Path) -> None:
    rows = Rows.open(Content.open(first))
    points = Points.of(rows, {})
    assert not points.reassigned
    others = replace(rows, content=replace(rows.content, mean_length=rows.content.mean_length + 1))
    assert (Points.of(others, {}).codes != points.codes).all()
    # Chunks that have a moved term are changed.
    number = rows.content.vocabulary.find("valv")
    assert number is not None
    start, end = rows.content.offsets[number : number + 2].tolist()
    moved = Points(rows, {int(rows.term_keys[number]): 17})
    assert np.flatnonzero(moved.codes != points.codes).tolist() == sorted(
        rows.content.chunks[start:end].tolist()
    )
    assert np.flatnonzero(moved.slots != points.slots).tolist() == [number]
    assert moved.slots[number] == 17


def test_moved_terms_keep_their_numbers() -> None:
    one, other, third = 5, 5 + 2**32, 5 + 2**33
    moved = assign_slots(np.array([one, other, third]), {})
    assert moved.keys() == {other, third}
    slots = {HeldVersion(1, moved).slot(key) for key in (one, other, third)}
    assert len(slots) == 3 and 5 in slots
    # A removed term gets no number, and a moved term keeps its new one.
    assert assign_slots(np.array([other]), moved) == {other: moved[other]}
    assert assign_slots(np.array([one]), moved) == {}
    # A new term may get that number.
    claimed = np.array([other, moved[other]])
    assert len({HeldVersion(1, assign_slots(claimed, moved)).slot(int(k)) for k in claimed}) == 2


CHANGING = ("/points/delete", "/points/payload", "/points/payload/delete")
"""Paths that change something if they are posted to."""


@pytest.mark.slow
def test_a_failure_after_any_write_leaves_published_versions_intact(
    place: Place,
    qdrant: "NativeQdrant",
    first: Path,
    second: Path,
    pauses: list[float],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """If an engine fails after any write, publishing ends with an error.

    The published versions still answer correctly.
    """
    choice = random.Random(5)
    indexes = {Content.open(index).version: index for index in (first, second)}
    monkeypatch.setattr(qdrant_points, "BATCH_POINTS", 50)
    place.publish(first)
    answer = qdrant.answer
    left = 0

    def stop(method: str, path: str, asked: dict[str, Any]) -> Any:
        nonlocal left
        if left == 0:
            return 500, "stopped"
        left -= method in ("PUT", "PATCH") or path.endswith(CHANGING)
        return answer(method, path, asked)

    stops = 0
    for allowed in range(1, 12, 2):
        current = place.current()
        wanted = next(version for version in indexes if version != current)
        grace = choice.choice((0, 3600))
        left = allowed
        with patch.object(qdrant, "answer", stop):
            try:
                place.publish(indexes[wanted], grace=grace, again=choice.random() < 0.5)
            except PublishError:
                stops += 1
                assert not left
        assert place.current() in indexes
        for version in place.versions():
            check_answers(place, indexes[version])
        if place.current() == current and choice.random() < 0.5:
            # A complete publication comes before the interrupted one.
            place.publish(indexes[current], grace=grace)
            check_answers(place, indexes[current])
    assert stops >= 2
    # Leftovers of an interrupted publication stay until something is loaded again.
    place.publish(second, grace=0, again=True)
    place.publish(second, grace=0)
    assert numbers_of(place) == (2 * COUNT, 0)
    check_answers(place, second)
