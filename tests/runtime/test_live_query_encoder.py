"""Queries embedded by a service on loopback: its vectors, its failures, and its recovery."""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest
from embedding_services import FakeService, Fault, Refusal, embed_text, fake_service
from waiting import wait_until

from foundry.runtime.errors import IndexUnusableError
from foundry.runtime.index.layout import IndexLayout
from foundry.runtime.retrieval import circuit_breaker
from foundry.runtime.retrieval.deadlines import call_within
from foundry.runtime.retrieval.embedding import live as live_query_encoder
from foundry.runtime.retrieval.embedding.live import LiveQueryEncoder
from foundry.runtime.retrieval.embedding.openai import OpenAIEmbeddings
from foundry.runtime.retrieval.embedding.probe import DenseManifest
from foundry.runtime.retrieval.embedding.recent import RecentVectors
from foundry.runtime.retrieval.embedding.replies import EmbeddingFailure

PROBE = "How do I find what I am looking for?"
PREFIX = "query: "
LAYOUT = IndexLayout(Path("/indexes/v1"))


def unit(text: str) -> np.typing.NDArray[np.float32]:
    vector = np.array(embed_text(PREFIX + text, 64))
    return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)


def make_manifest() -> DenseManifest:
    return DenseManifest(
        provider="openai",
        model="fake",
        revision="",
        dimensions=64,
        document_prefix="",
        query_prefix=PREFIX,
        query={"encoder": "same"},
        encoder_sha256="",
        candidates=20,
        recall_at_20={"heading": 1.0},
        probe_text=PROBE,
        probe_vector=[round(float(value), 6) for value in unit(PROBE)],
    )


MakeEncoder = Callable[..., LiveQueryEncoder]


@pytest.fixture
def make_encoder() -> Iterator[MakeEncoder]:
    with ExitStack() as opened:

        def make(service: FakeService, key: str | None = None) -> LiveQueryEncoder:
            client = OpenAIEmbeddings(service.base_url, "fake", api_key=key, dimensions=None)
            opened.callback(client.close)
            return LiveQueryEncoder(client, LAYOUT, make_manifest())

        yield make


@pytest.fixture(autouse=True)
def other_times(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(circuit_breaker, "FIRST_PAUSE", 0.05)
    # The limits are long enough for a busy machine.
    monkeypatch.setattr(live_query_encoder, "QUICK_SECONDS", 60.0)
    monkeypatch.setattr(live_query_encoder, "DEADLINE_SECONDS", 60.0)


@pytest.fixture
def service() -> Iterator[FakeService]:
    with fake_service() as running:
        yield running


def wait_until_well(encoder: LiveQueryEncoder) -> None:
    wait_until(lambda: encoder.encode("are you well?") is not None)


def fail_always(service: FakeService, fault: Fault) -> None:
    service.decide = lambda *_: fault


def test_query_is_embedded_by_the_service_with_the_prefix(
    make_encoder: MakeEncoder, service: FakeService
) -> None:
    encoder = make_encoder(service)
    vector = encoder.encode("replace the seal")
    assert vector is not None
    assert np.array_equal(vector, unit("replace the seal"))
    assert service.calls == [[PREFIX + PROBE], [PREFIX + "replace the seal"]]
    assert encoder.state.status == "ok"


def test_repeated_query_makes_no_call(make_encoder: MakeEncoder, service: FakeService) -> None:
    encoder = make_encoder(service)
    first = encoder.encode("seal")
    fail_always(service, Refusal(503))
    assert encoder.encode("other") is None
    again = encoder.encode("seal")
    assert again is first
    assert again is not None
    assert not again.flags.writeable


def test_another_model_at_start_up_is_refused(
    make_encoder: MakeEncoder, service: FakeService
) -> None:
    service.salt = "another"
    with pytest.raises(IndexUnusableError) as raised:
        make_encoder(service)
    assert str(LAYOUT.root) in raised.value.message
    assert "openai model 'fake'" in raised.value.message
    assert "below 0.99" in raised.value.message
    assert raised.value.hint == (
        "configure the service to serve the index's model, or rebuild the index"
    )


def test_another_width_at_start_up_is_refused(
    make_encoder: MakeEncoder, service: FakeService
) -> None:
    service.dimensions = 32
    with pytest.raises(IndexUnusableError, match="32 numbers instead of 64"):
        make_encoder(service)


def test_unreachable_service_is_not_an_error_and_is_used_once_it_responds(
    make_encoder: MakeEncoder,
    caplog: pytest.LogCaptureFixture,
) -> None:
    with fake_service() as stopped:
        port = int(stopped.base_url.split(":")[2].split("/")[0])
    encoder = make_encoder(stopped)
    assert encoder.state.status == "unavailable"
    assert encoder.encode("seal") is None
    assert "cannot be reached" in caplog.text
    assert "127.0.0.1" not in (encoder.state.detail or "")
    with fake_service(port=port) as service:
        wait_until_well(encoder)
        assert encoder.state.status == "ok"
        # The probe is the first request.
        assert service.calls[0] == [PREFIX + PROBE]
    assert "responds again" in caplog.text


def test_service_that_comes_back_with_another_model_is_not_used(
    make_encoder: MakeEncoder,
    caplog: pytest.LogCaptureFixture,
) -> None:
    with fake_service() as service:
        encoder = make_encoder(service)
        fail_always(service, Refusal(503))
        assert encoder.encode("a") is None
        service.salt = "another"
        service.decide = lambda *_: None

        def is_refused() -> bool:
            assert encoder.encode("b") is None
            return encoder.state.status == "mismatch"

        wait_until(is_refused)
        assert "but the embedding service has a different model" in caplog.text
        service.salt = ""
        wait_until_well(encoder)


def test_service_that_changes_its_width_while_running_is_not_used(
    make_encoder: MakeEncoder, service: FakeService
) -> None:
    encoder = make_encoder(service)
    service.dimensions = 32
    assert encoder.encode("a") is None
    assert encoder.state.status == "mismatch"


@pytest.mark.parametrize(
    "fault",
    [
        "not json",
        "not an object",
        "empty",
        "html",
        "nan",
        "zero",
        "half",
        "short",
        "null",
        "strings",
        "reset",
        Refusal(401),
        Refusal(404),
        Refusal(429, retry_after="0"),
        Refusal(500),
        Refusal(503, body="<html>"),
    ],
    ids=str,
)
def test_malformed_replies_give_no_vector_and_no_error(
    make_encoder: MakeEncoder, fault: Fault, service: FakeService
) -> None:
    encoder = make_encoder(service)
    fail_always(service, fault)
    assert encoder.encode("a") is None
    assert encoder.state.status == "unavailable"
    service.decide = lambda *_: None
    wait_until_well(encoder)


def test_a_text_rejected_by_the_service_does_not_affect_others(
    make_encoder: MakeEncoder, service: FakeService
) -> None:
    encoder = make_encoder(service)
    service.most_words = 20
    assert encoder.encode("word " * 30) is None
    assert encoder.state.status == "ok"
    assert encoder.encode("seal") is not None


def test_failing_service_is_not_called_for_a_while(
    make_encoder: MakeEncoder, service: FakeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(circuit_breaker, "FIRST_PAUSE", 60.0)
    encoder = make_encoder(service)
    fail_always(service, Refusal(503))
    service.reset_counters()
    assert [encoder.encode(text) for text in "abcdef"] == [None] * 6
    assert len(service.calls) == 1


def test_pause_requested_by_the_service_is_kept(
    make_encoder: MakeEncoder, service: FakeService
) -> None:
    encoder = make_encoder(service)
    fail_always(service, Refusal(429, retry_after="3600"))
    assert encoder.encode("a") is None
    service.decide = lambda *_: None
    time.sleep(0.2)
    service.reset_counters()
    assert encoder.encode("b") is None
    assert service.calls == []


def test_broken_connection_is_retried_once(make_encoder: MakeEncoder, service: FakeService) -> None:
    encoder = make_encoder(service)
    service.decide = lambda number, _: "reset" if number == 1 else None
    assert encoder.encode("seal") is not None
    assert encoder.state.status == "ok"


@pytest.mark.parametrize("is_silent", [True, False])
def test_slow_service_is_not_waited_for(
    is_silent: bool,
    make_encoder: MakeEncoder,
    service: FakeService,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    encoder = make_encoder(service)
    monkeypatch.setattr(live_query_encoder, "DEADLINE_SECONDS", 0.5)
    if is_silent:
        service.delay = 60.0
    else:
        fail_always(service, "trickle")
    assert encoder.encode("seal") is None
    assert encoder.state.status == "unavailable"


def test_many_threads_share_one_encoder(make_encoder: MakeEncoder, service: FakeService) -> None:
    encoder = make_encoder(service)
    service.decide = lambda number, _: Refusal(503) if number % 7 == 3 else None
    texts = [f"text {number % 40}" for number in range(400)]
    with ThreadPoolExecutor(16) as pool:
        vectors = list(pool.map(encoder.encode, texts))
    for text, vector in zip(texts, vectors, strict=True):
        assert vector is None or np.array_equal(vector, unit(text))
    service.decide = lambda *_: None
    wait_until_well(encoder)
    assert encoder.encode("the end") is not None


def test_key_is_sent_and_never_logged(
    make_encoder: MakeEncoder, service: FakeService, caplog: pytest.LogCaptureFixture
) -> None:
    key = "sk-canary-4f1d"
    service.key = key
    caplog.set_level(logging.DEBUG)
    assert make_encoder(service, key).state.status == "ok"
    encoder = make_encoder(service, "sk-other-77aa")
    assert encoder.state.status == "unavailable"
    assert "the API key was rejected" in caplog.text
    assert key not in caplog.text
    assert "sk-other-77aa" not in caplog.text


def test_least_recently_used_vectors_are_dropped() -> None:
    recent = RecentVectors(capacity=2)
    for text in "ab":
        recent.put(text, np.ones(2, dtype=np.float32))
    assert recent.get("a") is not None
    recent.put("c", np.ones(2, dtype=np.float32))
    assert recent.get("b") is None
    assert recent.get("a") is not None


def test_call_within_returns_raises_or_times_out() -> None:
    def fail() -> int:
        raise EmbeddingFailure("no")

    assert call_within(60, lambda: 7) == 7
    with pytest.raises(EmbeddingFailure):
        call_within(60, fail)
    let_go = threading.Event()
    with pytest.raises(TimeoutError):
        call_within(0.01, let_go.wait)
    let_go.set()
