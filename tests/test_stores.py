"""The same tests for every engine: its results match the embedded index, failures are reported."""

import importlib
import os
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np
import psycopg
import pytest
from ports import free_port
from small_indexes import Note, rendered_server, write_notes
from starlette.testclient import TestClient
from stores import KINDS, Place, own_name, qdrant_address, spoilt
from waiting import wait_until

from foundry.config.project import load_config
from foundry.config.search import IndexOptions
from foundry.errors import BusyError, ConfigError, PublishError
from foundry.runtime.retrieval.dense_lane import DenseLane
from foundry.runtime.retrieval.quantising import QuantisedVector, quantise, quantise_one
from foundry.runtime.store.restriction import Restriction
from foundry.runtime.store.store import (
    Edition,
    Store,
    StoreError,
    StoreSlowError,
    StoreUnreachableError,
    VersionMissingError,
)
from foundry.stores.checking import QUESTIONS
from foundry.stores.content import Content

if TYPE_CHECKING:
    from native_qdrant import NativeQdrant

WORDS = "valve pump seal rotor filter hose gauge motor spring bearing".split()


def make_notes(edition: str, count: int = 40) -> list[Note]:
    """Return notes about machines; some are equal, and one contains no word."""
    notes = []
    for number in range(count):
        first, second, third = (WORDS[(number * step + step) % 10] for step in (1, 3, 7))
        passages = (
            f"The {edition} {first} and its {second} are checked every {number % 4} weeks.",
            f"Replace the {third} when the {first} leaks.",
            "???" if number == 5 else f"The {second} takes part D{number % 6}0.",
        )
        tags = (("shop",), ("field", "shop"), ())[number % 3]
        notes.append(
            Note(
                f"Note on the {first}",
                passages,
                modified=f"2026-01-{number % 28 + 1:02d}" if number % 5 else None,
                tags=tags,
            )
        )
    return notes


def write_index(folder: Path, notes: list[Note]) -> Path:
    """Write an index of notes with everything that any engine needs."""
    return write_notes(folder / "index", notes, options=IndexOptions(keeps_counts=True))


QUERIES = [
    "how is the valve checked",
    "pump leaks",
    "D30",
    "replace the rotor seal seal",
    "zzzunheard",
    "the zzzunheard spring",
    "motor",
    "D99-30",
    "how is D99-30 checked",
    "pump -valve",
    "+leaks the rotor",
    '"leaks" filter source:s1',
]
FILTERS: list[dict[str, object]] = [
    {},
    {"source": "s1"},
    {"tags": ["shop", "field"]},
    {"modified_after": "2026-01-20"},
    {"source": "s0", "path": "notes/1"},
    {"path": "nowhere"},
]

WAYS: list[tuple[str, dict[str, object], int]] = [
    *(("hybrid", filters, 5) for filters in FILTERS),
    *((mode, filters, 60) for mode in ("semantic", "keyword") for filters in FILTERS[:2]),
]
"""Mode, filters and number of hits; each query is asked with two of them."""


# Qdrant's client can use a folder, without a server.
@pytest.fixture(
    params=[
        kind if kind == "qdrant" else pytest.param(kind, marks=pytest.mark.slow) for kind in KINDS
    ]
)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "qdrant":
        return Place("qdrant", own_name(), qdrant_address(tmp_path / "qdrant"))
    return request.getfixturevalue({"pgvector": "database", "edge": "native"}[request.param])


@pytest.fixture(params=["database", "native"])
def served(request: pytest.FixtureRequest) -> Place:
    """A place in each engine that exports support; local mode is only for trials."""
    return request.getfixturevalue(request.param)


@pytest.fixture
def database(postgres: str) -> Place:
    return Place("pgvector", own_name(), postgres)


@pytest.fixture
def native(qdrant: "NativeQdrant") -> Place:
    return Place("qdrant", own_name(), qdrant.address)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_index(tmp_path_factory.mktemp("first"), make_notes("first"))


@pytest.fixture(scope="module")
def other_index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_index(tmp_path_factory.mktemp("second"), make_notes("second"))


NUMBERS = count()
"""Numbers for names of packages, because each imported package needs another name."""


def options(place: Place, more: str = "") -> str:
    return f'[store]\nengine = "{place.kind}"\nname = "{place.name}"\n{more}'


@contextmanager
def server(root: Path, place: Place | None, more: str = "") -> Iterator[ModuleType]:
    """Return a rendered and imported server; embedded if there is no place."""
    package = f"served_{next(NUMBERS)}"
    if place and "timeout_ms" not in more:
        # The timeout must be long enough for a busy machine.
        more = f"timeout_ms = 60000\n{more}"
    written = options(place, more) if place else more
    with ExitStack() as stack:
        if place:
            stack.enter_context(patch.dict(os.environ, place.variables))
        module = stack.enter_context(rendered_server(root / package, package, written))
        try:
            yield module
        finally:
            if place:
                close(module.load.__self__.current().dense_lane.store)


def close(store: Any) -> None:
    """Close a server's engine."""
    # Otherwise a probe during the test would leave a connection open.
    looked = threading.Event()
    store.probe = looked.set
    if store.is_watched:
        assert looked.wait(60)
    store.engine.close()


def ask(module: ModuleType, query: str, mode: str, filters: dict[str, object], top_k: int) -> Any:
    answer = module.search_hybrid(query, top_k, mode=mode, filters=filters).to_json()
    return {**answer, "took_ms": 0}


def same(one: Any, other: Any) -> bool:
    """Return whether responses are equal, with scores within 1e-5."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float):
        return abs(one - other) <= 1e-5
    return bool(one == other)


STAGES = "".join(f"[search.{name}]\n" for name in "anchors links recency operators".split())


@pytest.mark.slow
@pytest.mark.parametrize("more", [STAGES, '[search]\nfusion = "rrf"\n'], ids=["linear", "rrf"])
def test_responses_equal_those_of_the_embedded_index(
    served: Place, index: Path, tmp_path: Path, more: str
) -> None:
    served.publish(index)
    with (
        server(tmp_path, None, more) as embedded,
        server(tmp_path, served, more) as stored,
        patch.dict(os.environ, REFERENCE_DATE="2026-02-01"),
    ):
        embedded.load(index)
        stored.load(index)
        for number, query in enumerate(QUERIES):
            for mode, filters, top_k in WAYS[number % 5 :: 5]:
                ours = ask(stored, query, mode, filters, top_k)
                theirs = ask(embedded, query, mode, filters, top_k)
                assert same(ours, theirs), (query, mode, filters, top_k)


@pytest.mark.slow
def test_a_search_makes_as_few_requests_as_possible(
    served: Place, index: Path, tmp_path: Path
) -> None:
    asked: list[object] = []
    is_native = served.kind == "qdrant"
    served.publish(index)
    with server(tmp_path, served) as stored:
        stored.load(index)
        engine = stored.load.__self__.current().dense_lane.store.engine
        method, place = ("_read", engine) if is_native else ("use", engine._connections)
        counted = getattr(place, method)
        with patch.object(place, method, lambda *call: asked.append(call) or counted(*call)):
            # Qdrant's second request adds each lane's missing candidates.
            for query, mode, times in (
                ("how is the valve checked", "keyword", 1),
                ("how is the valve checked", "semantic", 1),
                ("how is the valve checked", "hybrid", 1 + is_native),
                ("zzzunheard", "hybrid", 1),
            ):
                asked.clear()
                assert ask(stored, query, mode, {}, 5)["results"] or mode == "keyword"
                assert len(asked) == times, (query, mode)


def test_ties_at_the_last_hit_are_broken_by_number(place: Place, tmp_path: Path) -> None:
    index = write_index(tmp_path, [Note("Same", ("the same valve",)) for _ in range(30)])
    place.publish(index)
    content = Content.open(index)
    with place.engine() as engine:
        query = quantise_one(content.vectors[0].astype(np.float32))
        found = engine.search_vector(content.edition, query, 7, None)
        assert found.chunks.tolist() == list(range(7))
        number = content.vocabulary.find("valv")
        assert number is not None
        only = Restriction(np.arange(30) % 2 == 1)
        found = engine.search_terms(content.edition, [(number, 2)], 5, only)
        assert found.chunks.tolist() == [1, 3, 5, 7, 9]
        assert found.scores[0] == pytest.approx(
            2 * float(content.impacts[content.offsets[number]]), rel=1e-6
        )


def test_versions_coexist_until_the_old_one_is_dropped(
    served: Place, index: Path, other_index: Path
) -> None:
    first, second = Content.open(index).version, Content.open(other_index).version
    done = served.publish(index, questions=QUESTIONS // 4)
    assert (served.current(), done.loaded, done.dropped) == (first, True, ())
    assert done.agreement.recall == 1 and done.agreement.difference < 1e-5
    assert not served.publish(index).loaded
    assert served.publish(index, again=True).loaded
    served.publish(other_index)
    assert (served.versions(), served.current()) == ({first, second}, second)
    # Switch back to a version that still exists.
    assert not served.publish(index).loaded
    assert served.current() == first
    assert served.publish(other_index, grace=0).dropped == (first,)
    assert (served.versions(), served.current()) == ({second}, second)


def test_an_error_after_the_switch_says_that_the_new_version_is_published(
    served: Place, index: Path, other_index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = Content.open(other_index).version
    served.publish(index)

    def fail(*_: object) -> None:
        if served.kind == "pgvector":
            raise psycopg.OperationalError("the connection is lost")
        raise StoreUnreachableError("the connection is lost")

    monkeypatch.setattr(f"foundry.stores.{served.kind}.publishing._drop_stale", fail)
    said = "the new version is published, but older ones were not dropped"
    with pytest.raises(PublishError, match=f"the connection is lost; {said}"):
        served.publish(other_index)
    assert served.current() == second


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A fake clock for publishing to Qdrant; tests set `now`."""
    from foundry.stores.qdrant import publishing as qdrant

    own = SimpleNamespace(now=1_000.0, monotonic=time.monotonic, sleep=time.sleep)
    own.time = lambda: own.now
    monkeypatch.setattr(qdrant, "time", own)
    return own


def publish_at(
    moment: float, index: Path, served: Place, clock: SimpleNamespace
) -> tuple[str, ...]:
    clock.now = moment
    return served.publish(index, grace=100).dropped


def test_qdrant_keeps_a_version_for_its_grace_period(
    tmp_path: Path, index: Path, other_index: Path, clock: SimpleNamespace
) -> None:
    place = Place("qdrant", own_name(), qdrant_address(tmp_path))
    first, second = Content.open(index).version, Content.open(other_index).version
    assert publish_at(1_000, index, place, clock) == ()
    assert publish_at(2_000, other_index, place, clock) == ()
    assert publish_at(2_099, other_index, place, clock) == ()
    assert place.versions() == {first, second}
    assert publish_at(2_100, other_index, place, clock) == (first,)
    assert place.versions() == {second}


def test_a_version_that_was_current_again_has_a_new_grace_period_in_qdrant(
    tmp_path: Path, index: Path, other_index: Path, clock: SimpleNamespace
) -> None:
    place = Place("qdrant", own_name(), qdrant_address(tmp_path))
    first, second = Content.open(index).version, Content.open(other_index).version
    publish_at(1_000, index, place, clock)
    publish_at(2_000, other_index, place, clock)
    assert publish_at(2_050, index, place, clock) == ()
    assert publish_at(2_100, other_index, place, clock) == ()
    # The first was replaced again, so its grace period starts over.
    assert publish_at(2_199, other_index, place, clock) == ()
    assert place.versions() == {first, second}
    assert publish_at(2_200, other_index, place, clock) == (first,)


class Interrupted(BaseException):
    """Represents a kill signal: nothing catches it."""


def test_an_interrupted_publication_changes_nothing_and_is_repeated(
    served: Place, index: Path, other_index: Path
) -> None:
    served.publish(index)
    broken = patch(
        f"foundry.stores.{served.kind}.publishing.compare_lanes", side_effect=Interrupted
    )
    with broken, pytest.raises(Interrupted):
        served.publish(other_index)
    assert served.current() == Content.open(index).version
    served.publish(other_index)
    assert served.current() == Content.open(other_index).version


def test_an_engine_with_other_results_is_not_switched_to(
    served: Place, index: Path, other_index: Path
) -> None:
    served.publish(index)
    garbled = spoilt(Content.open(other_index))
    with (
        patch.object(Content, "open", return_value=garbled),
        pytest.raises(
            PublishError, match=r"scores differ by up to .*; the published version is unchanged"
        ),
    ):
        served.publish(other_index)
    assert served.current() == Content.open(index).version
    # The rows of the rejected publication are replaced.
    assert served.publish(other_index, again=True).agreement.difference < 1e-5


def test_a_missing_version_is_an_error(place: Place, index: Path, tmp_path: Path) -> None:
    place.publish(index)
    other = replace(Content.open(index).edition, version="0" * 16)
    vector = QuantisedVector(np.ones(4, np.int8), 0.5)
    with place.engine() as engine:
        for call in (
            lambda: engine.check(other),
            lambda: engine.search_terms(other, [(1, 1)], 10, None),
            lambda: engine.search_vector(other, vector, 10, None),
        ):
            with pytest.raises(VersionMissingError, match="does not have index 0000"):
                call()
    with place.engine(exact=False) as engine, pytest.raises(VersionMissingError):
        engine.search_vector(other, vector, 10, None)


@pytest.mark.slow
def test_a_server_does_not_start_on_an_index_that_was_not_published(
    served: Place, index: Path, other_index: Path, tmp_path: Path
) -> None:
    served.publish(index)
    with server(tmp_path, served) as stored:
        stored.load(index)
        with pytest.raises(Exception, match="does not have index") as error:
            stored.load(other_index)
        assert "foundry publish" in error.value.hint
        # The previous version is still served.
        assert ask(stored, "valve", "hybrid", {}, 3)["results"]


@pytest.mark.slow
def test_an_unreachable_engine_is_an_error(served: Place, index: Path, tmp_path: Path) -> None:
    scheme = "http" if served.kind == "qdrant" else "postgresql"
    away = Place(served.kind, served.name, f"{scheme}://127.0.0.1:{free_port()}")
    with pytest.raises(PublishError, match=r"cannot be reached|refused"):
        away.publish(index)
    with server(tmp_path, away) as stored:
        stored.load(index)
        check_unanswered(stored, "The search engine cannot be reached.")


@pytest.mark.slow
def test_an_engine_that_never_responds_is_an_error(
    served: Place, index: Path, tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        scheme = "http" if served.kind == "qdrant" else "postgresql"
        address = f"{scheme}://127.0.0.1:{silent.getsockname()[1]}"
        with server(
            tmp_path, Place(served.kind, served.name, address), "timeout_ms = 300"
        ) as stored:
            stored.load(index)
            reasons = "(cannot be reached|did not respond in time)"
            check_unanswered(stored, f"The search engine {reasons}.")


def client_of(stored: ModuleType) -> TestClient:
    """Return a test client of a server that probes its engine every 50 ms."""
    importlib.import_module(f"{stored.__name__}.store.store").PROBE_SECONDS = 0.05
    app = importlib.import_module(f"{stored.__name__}.app").create_app()
    return TestClient(app, base_url="http://127.0.0.1:8000")


def check_unanswered(stored: ModuleType, reason: str) -> None:
    """Check that searches and readiness answer 503 with the reason, and local data is served."""
    with client_of(stored) as client:
        for path in ("/search?q=valve", "/readyz"):
            reply = client.get(path)
            assert reply.status_code == 503, path
            assert reply.headers["Retry-After"] == "5"
            assert re.fullmatch(reason, reply.json()["detail"])
            assert "127.0.0.1" not in reply.text
        assert client.get("/healthz").status_code == 200
        assert client.get("/documents").json()["total"] == 40


def wait_until_ready(client: TestClient) -> None:
    wait_until_answered(client, "/readyz")


def wait_until_answered(client: TestClient, path: str) -> None:
    """Wait for a response while the engine is busy for longer than the server's timeout."""
    wait_until(lambda: client.get(path).status_code == 200)


EVERYTHING = "/search?q=valve"
FILTERED = "/search?q=valve&filter=source%3Ds1"


@pytest.mark.slow
def test_an_emptied_engine_is_an_error_until_it_is_filled_again(
    served: Place, index: Path, tmp_path: Path
) -> None:
    served.publish(index)
    version = Content.open(index).version
    with server(tmp_path, served) as stored:
        stored.load(index)
        with client_of(stored) as client:
            for take, path in (
                (served.empty, FILTERED),
                (partial(served.drop, version), EVERYTHING),
            ):
                assert client.get(path).status_code == 200
                take()
                reply = client.get(path)
                assert reply.status_code == 503, (take, path)
                assert reply.json()["detail"] == "The search engine does not have this index."
                served.publish(index, again=True)
                wait_until_ready(client)


@pytest.mark.slow
def test_a_half_loaded_version_is_not_served(
    served: Place, index: Path, other_index: Path, tmp_path: Path
) -> None:
    """An interrupted publication leaves rows, possibly all of them."""
    served.publish(index)
    broken = patch(
        f"foundry.stores.{served.kind}.publishing.compare_lanes", side_effect=Interrupted
    )
    with broken, pytest.raises(Interrupted):
        served.publish(other_index)
    with server(tmp_path, served) as stored:
        stored.load(index)
        with pytest.raises(Exception, match="or has only part of it"):
            stored.load(other_index)
        assert ask(stored, "valve", "hybrid", {}, 3)["results"]


def test_chunks_without_a_vector_are_distinguished_from_missing_ones(
    served: Place, index: Path
) -> None:
    content = spread(Content.open(index), 16)
    with patch.object(Content, "open", return_value=content):
        served.publish(index)
    query = QuantisedVector(content.vectors[3], float(content.scales[3]))
    with served.engine() as engine:
        wanted = np.array([3, WITHOUT])
        scores = engine.score_vector(content.edition, query, wanted)
        assert scores.tolist() == [pytest.approx(1), 0]
        assert WITHOUT not in engine.search_vector(content.edition, query, 120, None).chunks
        served.empty()
        with pytest.raises(VersionMissingError):
            engine.score_vector(content.edition, query, wanted)


@pytest.mark.slow
def test_a_frozen_or_stopped_engine_is_an_error_until_it_recovers(
    served: Place, index: Path, tmp_path: Path
) -> None:
    served.publish(index)
    with (
        served.relayed() as (place, relay),
        server(tmp_path, place, "timeout_ms = 3000") as stored,
    ):
        stored.load(index)
        with client_of(stored) as client:
            wait_until_answered(client, EVERYTHING)
            # Lost connections are replaced.
            relay.drop()
            assert client.get(EVERYTHING).status_code == 200
            for lose, reason in (
                (relay.held, "The search engine did not respond in time."),
                (relay.cut, "The search engine cannot be reached."),
            ):
                wait_until_answered(client, EVERYTHING)
                with lose():
                    reply = client.get(EVERYTHING)
                    assert (reply.status_code, reply.json()["detail"]) == (503, reason)
                    assert client.get("/readyz").status_code == 503
                wait_until_ready(client)
            wait_until_answered(client, EVERYTHING)


def test_error_statuses_of_qdrant_are_reported(
    native: Place, qdrant: "NativeQdrant", index: Path
) -> None:
    native.publish(index)
    content = Content.open(index)
    for status, reason in (
        (401, "The search engine failed."),
        (429, "The search engine failed."),
        (500, "The search engine failed."),
        (502, "The search engine cannot be reached."),
        (503, "The search engine cannot be reached."),
        (504, "The search engine did not respond in time."),
    ):
        qdrant.failure = status
        with native.engine() as engine, pytest.raises(StoreError) as error:
            engine.search_terms(content.edition, [(1, 1)], 10, None)
        assert error.value.reason == reason
        with pytest.raises(PublishError, match="the published version is unchanged"):
            native.publish(index, again=True)


def test_a_request_is_repeated_once_if_its_connection_closes(
    native: Place, qdrant: "NativeQdrant", index: Path
) -> None:
    native.publish(index)
    content, answer, losses = Content.open(index), qdrant.answer, 0

    def lose(method: str, path: str, asked: dict[str, Any]) -> Any:
        nonlocal losses
        if losses:
            losses -= 1
            raise ConnectionAbortedError
        return answer(method, path, asked)

    with native.engine() as engine, patch.object(qdrant, "answer", lose):
        found = engine.search_terms(content.edition, [(1, 1)], 10, None)
        losses = 1
        again = engine.search_terms(content.edition, [(1, 1)], 10, None)
        assert not losses and len(again) and np.array_equal(again.chunks, found.chunks)
        losses = 2
        with pytest.raises(StoreUnreachableError):
            engine.search_terms(content.edition, [(1, 1)], 10, None)


def test_a_slow_engine_is_an_error_until_it_is_quick_again(
    database: Place, index: Path, tmp_path: Path
) -> None:
    database.publish(index)
    with server(tmp_path, database, "timeout_ms = 1500") as stored:
        stored.load(index)
        with client_of(stored) as client:
            with psycopg.connect(database.address) as connection:
                connection.execute(f"LOCK TABLE {database.name}.chunks")
                reply = client.get("/search?q=valve")
                assert reply.status_code == 503
                assert reply.json()["detail"] == "The search engine did not respond in time."
            wait_until_ready(client)
            wait_until_answered(client, EVERYTHING)


@pytest.mark.slow
def test_each_query_during_a_publication_uses_one_version(
    served: Place, index: Path, other_index: Path, tmp_path: Path
) -> None:
    served.publish(index)
    mixed: list[object] = []
    seen: set[str] = set()
    done = threading.Event()

    def search(module: ModuleType) -> None:
        while not done.is_set():
            try:
                answer = ask(module, "valve checked weeks", "hybrid", {}, 20)
                text = " ".join(result["text"] for result in answer["results"])
                editions = {edition for edition in ("first", "second") if f" {edition} " in text}
                if len(editions) != 1:
                    mixed.append(editions)
                seen.update(editions)
            except BaseException as error:
                mixed.append(error)
                return
            # The publication must be able to continue in the meantime.
            done.wait(0.1)

    with server(tmp_path, served) as stored:
        stored.load(index)
        threads = [threading.Thread(target=search, args=(stored,)) for _ in range(2)]
        for thread in threads:
            thread.start()
        try:
            served.publish(other_index)
            assert served.current() == Content.open(other_index).version
            stored.load(other_index)
            while not {"first", "second"} <= seen and not mixed:
                done.wait(0.01)
            served.publish(other_index, grace=0)
        finally:
            done.set()
            for thread in threads:
                thread.join()
    assert not mixed


WITHOUT = 7


def spread(content: Content, dimensions: int) -> Content:
    """Return the same version with other vectors, in all directions; chunk 7 has none."""
    random, count = np.random.default_rng(3), len(content.scales)
    drawn = random.normal(size=(count, dimensions)).astype(np.float32)
    drawn[WITHOUT] = 0
    vectors, scales = quantise(drawn)
    centre = np.zeros(dimensions, dtype=np.float32)
    sketch = np.zeros((1, count), dtype=np.uint64)
    # There are as many candidates as vectors, so that every vector is compared.
    dense = DenseLane(vectors, scales, centre, sketch, count)
    return replace(content, vectors=vectors, scales=scales, dense_lane=dense)


@pytest.mark.slow
def test_candidates_of_a_graph_are_scored_exactly(served: Place, tmp_path: Path) -> None:
    served = served.preferring_graphs()
    index = write_index(tmp_path, make_notes("first", 200))
    content = spread(Content.open(index), 64)
    with patch.object(Content, "open", return_value=content):
        done = served.publish(index, exact=False, questions=QUESTIONS // 4)
    assert 0.85 < done.agreement.recall <= 1 and done.agreement.difference < 1e-5
    random = np.random.default_rng(4)
    found = wanted = 0
    with served.engine(exact=False) as engine:
        for share in (None, 0.9, 0.3, 0.05, 0.005):
            for _ in range(5):
                allowed = None if share is None else random.random(600) < share
                query = random.normal(size=64).astype(np.float32)
                query /= np.linalg.norm(query)
                best = content.dense_lane.search(query, 20, allowed)
                only = None if allowed is None else Restriction(allowed)
                hits = engine.search_vector(content.edition, quantise_one(query), 20, only)
                assert allowed is None or allowed[hits.chunks].all()
                # All hits are found, even if few of the nearest vectors pass the filter.
                assert len(hits) == len(best)
                exactly = content.dense_lane.scores(query, hits.chunks)
                np.testing.assert_allclose(hits.scores, exactly, atol=1e-5)
                found += len(np.intersect1d(hits.chunks, best.chunks))
                wanted += len(best)
    assert found / wanted > 0.85
    assert served.has_used_graph()


@contextmanager
def being_published(database: Place) -> Iterator[psycopg.Connection]:
    """Hold the lock of a publication while the context lasts."""
    with psycopg.connect(database.address) as connection:
        connection.execute(
            "SELECT pg_advisory_lock(hashtextextended(%s, 0))", [f"foundry {database.name}"]
        )
        connection.commit()
        yield connection


def test_a_second_publication_does_not_wait_for_the_first(
    database: Place, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("foundry.stores.pgvector.publishing.UNLOCKING_SECONDS", 0.2)
    with being_published(database), pytest.raises(BusyError, match="another process is publishing"):
        database.publish(index)


def test_a_publication_can_begin_right_after_another(database: Place, index: Path) -> None:
    with being_published(database) as connection:
        threading.Timer(0.5, connection.close).start()
        assert database.publish(index).loaded


def test_calls_fail_at_once_while_the_engine_is_down(index: Path) -> None:
    asked: list[Edition] = []
    edition = Content.open(index).edition

    class Away:
        def check(self, _edition: Edition) -> None:
            raise StoreUnreachableError("away")

    store = Store(Away(), edition)  # type: ignore[arg-type]

    def call(_engine: object, edition: Edition) -> None:
        asked.append(edition)
        raise StoreSlowError("late", hint="wait")

    with pytest.raises(StoreSlowError):
        store.ask(call)
    for _ in range(3):
        with pytest.raises((StoreSlowError, StoreUnreachableError)):
            store.ask(call)
    assert asked == [edition]


@pytest.mark.parametrize("address", ["secret:hunter2", "postgres//hunter2", "host=a hunter2"])
def test_no_message_shows_the_address(address: str, index: Path, tmp_path: Path) -> None:
    with pytest.raises(Exception, match="DATABASE_URL") as error:
        Place("pgvector", "notes", address).publish(index)
    assert "hunter2" not in f"{error.value} {error.value.hint}"


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ('engine = "milvus"', "'embedded', 'qdrant' or 'pgvector'"),
        ('engine = "pgvector"\nname = "postgresql://a:hunter2@db/x"', "must be a name; addresses"),
        ('engine = "pgvector"\nurl = "postgresql://a:hunter2@db/x"', "never from this file"),
        ('exact = false\nname = "notes"', "does nothing with engine = 'embedded'"),
        ('engine = "qdrant"\n[embedding]\nprovider = "none"', "needs vectors, but"),
        ('records = "engine"', "store.records: does nothing with engine = 'embedded'"),
        (
            'engine = "qdrant"\nrecords = "engine"',
            "store.records: 'engine' needs engine = 'pgvector', since 'qdrant' cannot",
        ),
    ],
)
def test_invalid_options_are_refused(tmp_path: Path, written: str, said: str) -> None:
    (tmp_path / "foundry.toml").write_text(
        '[project]\nname = "notes"\n[[sources]]\ntype = "folder"\npath = "."\n[store]\n' + written
    )
    with pytest.raises(ConfigError, match=said) as error:
        load_config(tmp_path)
    assert "hunter2" not in str(error.value)


def test_names_are_derived_from_the_project(tmp_path: Path) -> None:
    (tmp_path / "foundry.toml").write_text(
        '[project]\nname = "my-notes"\n[[sources]]\ntype = "folder"\npath = "."\n'
        '[store]\nengine = "qdrant"\n'
    )
    store = load_config(tmp_path).store
    assert (store.name, store.exact, store.timeout_ms) == ("my_notes", True, 2000)
