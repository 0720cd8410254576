"""Versions share unchanged rows, killed publications are continued, and filters are right."""

import os
import random
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from small_indexes import Note, make_document, write_documents, write_notes
from stores import Place, own_name

from foundry.config.search import IndexOptions
from foundry.errors import IndexUnusableError, PublishError
from foundry.runtime.index.protocols import LaneHits
from foundry.runtime.retrieval.filters import FilterColumns
from foundry.runtime.retrieval.quantising import quantise_one
from foundry.runtime.store.pgvector.engine import PgvectorEngine
from foundry.runtime.store.restriction import Restriction, restrict
from foundry.runtime.store.store import VersionMissingError
from foundry.stores.content import Content
from foundry.stores.differing import Held, bucket_shift, find_difference, sum_buckets
from foundry.stores.pgvector import publishing as pgvector
from foundry.stores.qdrant import points as qdrant_points
from foundry.stores.qdrant.points import Points
from foundry.stores.records import Records
from foundry.stores.rows import Rows

OPTIONS = IndexOptions(filterable=("team",), keeps_counts=True, mean_in_steps=True)
WORDS = "valve pump seal rotor filter hose gauge motor spring bearing".split()
COUNT = 60


def make_notes(changed: dict[int, str] | None = None, count: int = COUNT) -> list[Note]:
    """Return notes with values for every kind of filter.

    `changed` maps a note's number to the word that replaces "first" in its first passage.
    """
    notes = []
    for number in range(count):
        first, second = (WORDS[(number * step + step) % 10] for step in (1, 3))
        said = (changed or {}).get(number, "first")
        notes.append(
            Note(
                f"Note on the {first}",
                (f"The {said} {first} and its {second}.", f"Replace the {second} of {first}."),
                modified=f"2026-01-{number % 28 + 1:02d}" if number % 5 else None,
                tags=(("shop",), ("field", "shop"), ())[number % 3],
                metadata={"team": ("core", "Ödland", "50%")[number % 3]} if number % 4 else {},
                media_type=("text/markdown", "text/plain")[number % 2],
            )
        )
    return notes


def write(folder: Path, changed: dict[int, str] | None = None) -> Path:
    return write_notes(folder, make_notes(changed), options=OPTIONS)


@pytest.fixture
def database(postgres: str) -> Place:
    return Place("pgvector", own_name(), postgres)


@pytest.fixture
def native(request: pytest.FixtureRequest) -> Place:
    """Qdrant's native shard, or a live server if QDRANT_URL names one."""
    address = os.environ.get("QDRANT_URL") or request.getfixturevalue("qdrant").address
    return Place("qdrant", own_name(), address)


@pytest.fixture(
    params=["database", pytest.param("native", marks=pytest.mark.slow)], ids=["pgvector", "qdrant"]
)
def place(request: pytest.FixtureRequest) -> Place:
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("first") / "index")


@pytest.fixture(scope="module")
def second(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the first index with note 7 changed, note 0 removed, and one added."""
    notes = enumerate(make_notes({7: "second"}, COUNT + 1))
    documents = [make_document(number, note) for number, note in notes if number]
    return write_documents(tmp_path_factory.mktemp("second") / "index", documents, options=OPTIONS)


@pytest.fixture(scope="module")
def third(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the first index with every note changed."""
    changed = dict.fromkeys(range(COUNT), "third")
    return write(tmp_path_factory.mktemp("third") / "index", changed)


def numbers_of(place: Place) -> tuple[int, int]:
    """Return the number of rows of chunks, and how many of them are retired."""
    rows = place.rows()
    if place.kind == "pgvector":
        assert place.query("SELECT count(*) FROM {}.vectors_256") == [(len(rows),)]
    return len(rows), sum(rows.values())


def check_hits(place: Place, hits: LaneHits, best: LaneHits) -> None:
    """Check that an engine has found the same as the index."""
    assert hits.chunks.tolist() == best.chunks.tolist()
    if place.kind == "pgvector":
        assert hits.scores.tolist() == best.scores.tolist()
    assert np.abs(hits.scores - best.scores).max(initial=0.0) < 1e-5


def check_answers(place: Place, index: Path) -> None:
    """Check that a version answers like its index, although other versions are stored."""
    content = Content.open(index)
    count = len(content.scales)
    with place.engine() as engine:
        engine.check(content.edition)
        for chunk, most in ((0, count), (count - 1, 10)):
            vector = content.vectors[chunk] * content.scales[chunk]
            hits = engine.search_vector(content.edition, quantise_one(vector), most, None)
            check_hits(place, hits, content.dense_lane.search(vector, most))
        # With ten hits, some chunks that tie with the last one are not found.
        for words, most in (
            (["pump", "seal"], 10),
            (["first", "second", "third", "replac", "=valv"], count),
        ):
            found = [(content.vocabulary.find(word), 1) for word in words]
            terms = [(number, times) for number, times in found if number is not None]
            hits = engine.search_terms(content.edition, terms, most, None)
            check_hits(place, hits, content.keyword_lane.search(words, most))


def test_a_version_shares_unchanged_rows(place: Place, first: Path, second: Path) -> None:
    place.publish(first)
    assert numbers_of(place) == (2 * COUNT, 0)
    place.publish(second)
    # Three rows are added: the changed passage and two of the new note. Three are retired: the old
    # passage and two of the removed note. All others are kept, although every chunk number differs.
    assert numbers_of(place) == (2 * COUNT + 3, 3)
    for index in (first, second):
        check_answers(place, index)


def test_a_changed_note_changes_only_its_rows(place: Place, first: Path, tmp_path: Path) -> None:
    place.publish(first)
    changed = write(tmp_path / "index", {7: "second"})
    place.publish(changed)
    assert numbers_of(place) == (2 * COUNT + 1, 1)
    check_answers(place, first)
    check_answers(place, changed)
    # The first version is published again without loading anything, and then the changed one.
    assert not place.publish(first).loaded
    assert place.current() == Content.open(first).version
    place.publish(changed, grace=0)
    assert numbers_of(place) == (2 * COUNT, 0)
    check_answers(place, changed)


def test_dropping_the_old_version_leaves_none_of_its_rows(
    place: Place, first: Path, third: Path
) -> None:
    place.publish(first)
    place.publish(third)
    for index in (first, third):
        check_answers(place, index)
    place.publish(third, grace=0)
    assert numbers_of(place) == (2 * COUNT, 0)
    check_answers(place, third)


def test_the_last_version_can_be_dropped_before_the_first(
    place: Place, first: Path, third: Path, tmp_path: Path
) -> None:
    place.publish(first)
    changed = write(tmp_path / "index", {3: "second"})
    place.publish(changed)
    assert place.publish(first, grace=0).dropped == (Content.open(changed).version,)
    check_answers(place, first)
    # The rows of the dropped version still exist, and are reused.
    before = set(place.rows())
    place.publish(changed)
    assert set(place.rows()) == before
    check_answers(place, changed)
    place.publish(third)
    for index in (first, changed, third):
        check_answers(place, index)


class Killed(BaseException):
    """Represents a kill signal: nothing catches it."""


@contextmanager
def killed_after(batches: int) -> Iterator[None]:
    """Let publications load this many batches of ten chunks, then kill them."""
    loaded = count()
    load, make = pgvector.load_rows, Points.make

    def load_some(*asked: Any) -> None:
        if next(loaded) == batches:
            raise Killed
        load(*asked)

    def make_some(*asked: Any) -> Iterator[Any]:
        for points in make(*asked):
            if next(loaded) == batches:
                raise Killed
            yield points

    with (
        patch.object(pgvector, "BATCH_CHUNKS", 10),
        patch.object(qdrant_points, "BATCH_POINTS", 10),
        patch.object(pgvector, "load_rows", load_some),
        patch.object(Points, "make", make_some),
        pytest.raises(Killed),
    ):
        yield


def test_loaded_rows_are_not_loaded_again(place: Place, first: Path, third: Path) -> None:
    place.publish(first)
    with killed_after(3):
        place.publish(third)
    assert place.current() == Content.open(first).version
    check_answers(place, first)
    loaded = set(place.rows())
    assert len(loaded) == 2 * COUNT + 30
    # Only the rows that are still missing are loaded.
    with killed_after((COUNT - 30) // 10):
        place.publish(third)
        raise Killed
    assert set(place.rows()) > loaded
    assert numbers_of(place) == (3 * COUNT, COUNT)
    for index in (first, third):
        check_answers(place, index)


def test_leftovers_of_another_version_are_removed(
    place: Place, first: Path, second: Path, third: Path
) -> None:
    place.publish(first)
    with (
        patch(f"foundry.stores.{place.kind}.publishing.compare_lanes", side_effect=Killed),
        pytest.raises(Killed),
    ):
        place.publish(third)
    assert numbers_of(place)[0] == 3 * COUNT
    place.publish(second)
    assert numbers_of(place)[0] == 2 * COUNT + 3
    check_answers(place, first)
    check_answers(place, second)


def test_other_dimensions_use_other_tables(database: Place, first: Path) -> None:
    database.publish(first)
    content = Content.open(first)
    narrow = replace(
        content,
        edition=replace(content.edition, version="f" * 16),
        vectors=np.ascontiguousarray(content.vectors[:, :64]),
        dense_lane=replace(
            content.dense_lane,
            vectors=np.ascontiguousarray(content.vectors[:, :64]),
            centre=np.zeros(64, dtype=np.float32),
            sketch=np.zeros((1, len(content.scales)), dtype=np.uint64),
        ),
    )
    with patch.object(Content, "open", return_value=narrow):
        database.publish(first)
    check_answers(database, first)
    assert database.query("SELECT count(*) FROM {}.vectors_64") == [(2 * COUNT,)]
    database.publish(first)
    database.publish(first, grace=0)
    database.publish(first, grace=0, again=True)
    assert database.query("SELECT count(*) FROM {}.vectors_64") == [(0,)]
    check_answers(database, first)


def test_an_index_without_counts_is_refused(place: Place, tmp_path: Path) -> None:
    index = write_notes(tmp_path / "index", make_notes(count=3))
    with pytest.raises(IndexUnusableError, match="has no term counts") as error:
        place.publish(index)
    assert error.value.hint == "set store.engine in foundry.toml and build again"


def test_the_schema_of_an_earlier_foundry_is_refused(database: Place, first: Path) -> None:
    database.query("CREATE SCHEMA {}")
    database.query("CREATE TABLE {}.versions (version text PRIMARY KEY, graph boolean)")
    with pytest.raises(PublishError, match="the published version is unchanged") as error:
        database.publish(first)
    assert "drop it (DROP SCHEMA" in str(error.value.hint)


def test_removed_rows_are_noticed(database: Place, first: Path) -> None:
    database.publish(first)
    database.query("DELETE FROM {}.chunks WHERE row = 5")
    with pytest.raises(PublishError, match=f"{2 * COUNT - 1} rows of index .*, expected"):
        database.publish(first)
    database.publish(first, again=True)
    check_answers(database, first)


def random_restriction(content: Content, choice: random.Random) -> tuple[dict[str, Any], Any]:
    """Return filters of one to three kinds, with values that exist and some that do not."""
    filters: dict[str, Any] = {}
    days = [f"2026-01-{day:02d}" for day in range(1, 30)] + ["2025-06-01", "2026-01-09T12:00"]
    kinds: dict[str, Any] = {
        "source": lambda: choice.sample(["s0", "s1"], choice.randint(1, 2)),
        "tags": lambda: choice.sample(["shop", "field", "none"], choice.randint(1, 2)),
        "path": lambda: [
            f"notes/{choice.randint(0, 70)}"[: choice.randint(1, 9)] for _ in range(2)
        ],
        "media_type": lambda: choice.sample(["text/plain", "text/markdown", "x/y"], 2),
        "team": lambda: choice.sample(["core", "Ödland", "50%", "", "nobody"], 2),
        "modified_after": lambda: choice.choice(days),
        "modified_before": lambda: choice.choice(days),
    }
    for name in choice.sample(sorted(kinds), choice.randint(1, 3)):
        filters[name] = kinds[name]()
    return filters, content.index.part(FilterColumns.open).select(filters)


FILTERS = int(os.environ.get("FILTERS", "60"))
"""How many filters are drawn; FILTERS=1000 takes some minutes."""


def test_filters_match_the_same_chunks_as_the_index(database: Place, first: Path) -> None:
    database.publish(first)
    content = Content.open(first)
    choice = random.Random(11)
    sent: list[int] = []
    found = 0
    with database.engine() as engine:
        for number in range(FILTERS):
            filters, allowed = random_restriction(content, choice)
            only = restrict(allowed, filters)
            assert only is not None and not only.is_picked
            if number % 5 == 4:
                # Restrict the chunks, as the operators of a query do.
                picked = allowed & (np.arange(len(allowed)) % 3 > 0)
                only = restrict(picked, filters, is_picked=True)
                assert only is not None and only.is_picked
            allowed = only.allowed
            chunk = choice.randrange(len(allowed))
            vector = content.vectors[chunk] * content.scales[chunk]
            words = choice.sample(["valv", "pump", "seal", "replac", "first"], 2)
            terms = [(content.vocabulary.find(word), 1) for word in words]
            query = quantise_one(vector)
            both = engine.search_both(content.edition, query, terms, 15, only)
            for hits, best in (
                (both.semantic, content.dense_lane.search(vector, 15, allowed)),
                (both.keyword, content.keyword_lane.search(words, 15, allowed)),
                (
                    engine.search_vector(content.edition, query, 15, only),
                    content.dense_lane.search(vector, 15, allowed),
                ),
            ):
                assert hits.chunks.tolist() == best.chunks.tolist(), filters
                assert hits.scores.tolist() == best.scores.tolist(), filters
            cosines, sums = both.complete()
            missing = np.setdiff1d(both.keyword.chunks, both.semantic.chunks)
            assert cosines.tolist() == content.dense_lane.scores(vector, missing).tolist()
            missing = np.setdiff1d(both.semantic.chunks, both.keyword.chunks)
            assert sums.tolist() == content.keyword_lane.scores(words, missing).tolist()
            found += len(both.semantic)
            sent.append(len(both.keyword))
    assert found > FILTERS and max(sent) == 15


def test_a_reloaded_version_is_found_by_a_running_engine(database: Place, first: Path) -> None:
    database.publish(first)
    content = Content.open(first)
    word = content.vocabulary.find("replac")
    assert word is not None
    with database.engine() as engine:
        for _ in range(2):
            hits = engine.search_terms(content.edition, [(word, 1)], 200, None)
            check_hits(database, hits, content.keyword_lane.search(["replac"], 200))
            database.publish(first, again=True, grace=0)
        database.drop(content.version)
        with pytest.raises(VersionMissingError):
            engine.search_terms(content.edition, [(word, 1)], 200, None)


def test_ties_at_the_last_hit_are_broken_by_number(database: Place, tmp_path: Path) -> None:
    notes = [Note("Same", ("the same valve",)) for _ in range(300)]
    index = write_notes(tmp_path / "index", notes, options=OPTIONS)
    database.publish(index)
    content = Content.open(index)
    number = content.vocabulary.find("valv")
    assert number is not None
    odd = Restriction(np.arange(300) % 2 == 1)
    with database.engine() as engine:
        query = quantise_one(content.vectors[0].astype(np.float32)), [(number, 1)]
        for only, expected in ((None, range(10)), (odd, range(1, 20, 2))):
            found = engine.search_both(content.edition, *query, 10, only)
            assert found.semantic.chunks.tolist() == list(expected)
            assert found.keyword.chunks.tolist() == list(expected)
            assert [len(part) for part in found.complete()] == [0, 0]


def test_only_differing_buckets_are_fetched() -> None:
    keys = np.random.default_rng(5).integers(-(2**63), 2**63 - 1, 4096, dtype=np.int64)
    codes = np.arange(4096, dtype=np.int64)
    shift = np.int64(bucket_shift(4096))
    assert len(np.unique(keys >> shift)) > 100
    theirs = codes.copy()
    theirs[17] = -1
    held = Held(np.arange(4096, dtype=np.int64), keys, theirs)
    summed: list[tuple[int, int, int]] = []
    for bucket in np.unique(keys >> shift).tolist():
        own = theirs[keys >> shift == bucket]
        summed.append((bucket, len(own), int(np.bitwise_xor.reduce(own))))
    asked: list[list[int]] = []

    def fetch(buckets: list[int]) -> Held:
        asked.append(buckets)
        chosen = np.isin(keys >> shift, buckets)
        return Held(held.rows[chosen], keys[chosen], theirs[chosen])

    found = find_difference(keys, codes, summed, int(shift), fetch)
    assert asked == [[int(keys[17] >> shift)]]
    assert (found.missing.tolist(), found.surplus.tolist()) == ([17], [17])
    assert found.shares_any


def test_replaced_buckets_are_noticed() -> None:
    keys = np.arange(-128, 128, dtype=np.int64) << 55
    codes = np.random.default_rng(6).integers(0, 2**62, 256, dtype=np.int64)
    shift = bucket_shift(256)
    chosen = np.flatnonzero(keys >> shift == keys[100] >> shift)
    assert len(chosen) > 1
    # One bucket has as many keys as before, but different ones. Of two others, one is only in the
    # engine, and one only in the index.
    strange = np.flatnonzero(keys >> shift == keys[-1] >> shift)
    own = np.setdiff1d(np.arange(256), strange)
    theirs, others = keys.copy(), codes.copy()
    theirs[chosen] += 1
    others[chosen] += 1
    gone = np.flatnonzero(keys >> shift == keys[0] >> shift)
    left = np.setdiff1d(np.arange(256), gone)
    asked: list[int] = []

    def fetch(buckets: list[int]) -> Held:
        asked.extend(buckets)
        rows = left[np.isin(theirs[left] >> shift, buckets)]
        return Held(rows + 1000, theirs[rows], others[rows])

    summed = sum_buckets(theirs[left], others[left], shift)
    found = find_difference(keys[own], codes[own], summed, shift, fetch)
    assert asked == sorted({int(keys[place] >> shift) for place in (0, 100, -1)})
    assert found.missing.tolist() == sorted([*gone.tolist(), *chosen.tolist()])
    assert found.surplus.tolist() == [*(chosen + 1000), *(strange + 1000)]
    assert found.shares_any


def test_codes_cover_every_part_of_a_row(first: Path) -> None:
    content = Content.open(first)
    codes = Rows.open(content).codes
    assert len(np.unique(codes)) == len(codes)
    vectors, scales = content.vectors.copy(), content.scales.copy()
    counts, lengths = content.counts.copy(), content.lengths.copy()
    vectors[3, 255] += 1
    scales[4] *= 2
    counts[0] += 1
    lengths[6] += 1
    owner = int(content.chunks[0])
    for changed, chunk in (
        (replace(content, vectors=vectors), 3),
        (replace(content, scales=scales), 4),
        (replace(content, counts=counts), owner),
        (replace(content, lengths=lengths), 6),
    ):
        others = Rows.open(changed).codes
        assert np.flatnonzero(others != codes).tolist() == [chunk]
    rows = Rows.open(content)
    modified = rows.modified.copy()
    modified[8] += 1
    assert np.flatnonzero(replace(rows, modified=modified).codes != codes).tolist() == [8]
    marks = [
        *rows.marks.values[:-1],
        rows.marks.values[-1] + b"?",
    ]
    others = replace(rows, marks=replace(rows.marks, values=marks)).codes
    having = [n for n in range(len(codes)) if rows.marks.values[-1] in rows.marks.of_chunk(n)]
    assert np.flatnonzero(others != codes).tolist() == having


KILLS = int(os.environ.get("KILLS", "3"))
"""How many publications are killed; KILLS=50 takes some minutes."""


@pytest.mark.slow
def test_killed_publications_lose_and_mix_nothing(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Searches continue in parallel, each in the version that it asks for."""
    monkeypatch.setattr(pgvector, "BATCH_CHUNKS", 10)
    monkeypatch.setattr(qdrant_points, "BATCH_POINTS", 10)
    indexes = [
        write(tmp_path / str(number), dict.fromkeys(range(number * 7), f"edition{number}"))
        for number in range(3)
    ]
    # Contents are opened once, because reading array headers in two threads at the same time can
    # fail (CPython gh-106905).
    contents = {index: Content.open(index) for index in indexes}
    records = {index: Records.open(content.files) for index, content in contents.items()}
    choice = random.Random(3)
    has_records = place.kind == "pgvector"
    place.publish(indexes[0], records=has_records)
    problems: list[object] = []
    asked = 0
    serving = indexes[0]
    done = threading.Event()

    def search() -> None:
        nonlocal asked
        with place.engine(timeout=30.0) as engine:
            while not done.is_set():
                content, lines = contents[serving], records[serving]
                word = content.vocabulary.find("replac")
                assert word is not None
                try:
                    hits = engine.search_terms(content.edition, [(word, 1)], 400, None)
                    best = content.keyword_lane.search(["replac"], 400)
                    if hits.chunks.tolist() != best.chunks.tolist():
                        problems.append((serving, len(hits), len(best)))
                    if isinstance(engine, PgvectorEngine):
                        shown = hits.chunks[::40]
                        texts = engine.read_records(content.edition, shown, of_documents=False)
                        if texts != [*map(lines.chunk, shown.tolist())]:
                            problems.append((serving, texts))
                    asked += 1
                except BaseException as error:
                    problems.append(error)
                # Publications must be able to continue in the meantime.
                done.wait(0.1)

    thread = threading.Thread(target=search)
    thread.start()
    killed = 0
    span = 1.0
    try:
        while killed < KILLS and not problems:
            wanted = choice.choice([index for index in indexes if index != serving])
            child = os.fork()
            if child == 0:
                code = 99
                try:
                    place.publish(wanted, records=has_records)
                    code = 0
                finally:
                    os._exit(code)
            time.sleep(choice.uniform(0, span))
            os.kill(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
            was_killed = os.waitstatus_to_exitcode(status) == -signal.SIGKILL
            killed += was_killed
            span *= 1.1 if was_killed else 0.9
            current = place.current()
            assert current in {contents[serving].version, contents[wanted].version}
            if current == contents[wanted].version:
                serving = wanted
            else:
                assert was_killed
        for index in indexes:
            place.publish(index, records=has_records)
            check_answers(place, index)
    finally:
        done.set()
        thread.join(120)
    assert not problems
    assert asked
    # Rows that only removed versions had are kept for the next publication.
    place.publish(indexes[-1], grace=0, again=True, records=has_records)
    assert numbers_of(place) == (2 * COUNT, 0)
    if has_records:
        assert place.query("SELECT count(*) FROM {}.records") == [(2 * COUNT,)]
    check_answers(place, indexes[-1])
