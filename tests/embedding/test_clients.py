"""The clients that builder and server share, tested with a service on loopback."""

from datetime import UTC, datetime, timedelta
from typing import Any, get_args

import numpy as np
import pytest
from embedding_services import (
    HONEST,
    NO_DIMENSIONS,
    QUOTA,
    RATE_LIMIT,
    UNKNOWN_MODEL,
    FakeService,
    Fault,
    Lie,
    Refusal,
    Shape,
    embed_text,
    fake_service,
)

from foundry.runtime.retrieval.embedding.cohere import CohereEmbeddings
from foundry.runtime.retrieval.embedding.http import MAX_REPLY_BYTES, parse_retry_after
from foundry.runtime.retrieval.embedding.openai import OpenAIEmbeddings
from foundry.runtime.retrieval.embedding.replies import EmbeddingFailure, check_vectors

TEXTS = ["roof bolts", "fresh air", "roof and air", "🙂 日本語"]
SHAPES: tuple[Shape, ...] = ("openai", "vllm", "ollama", "cohere")
KEY = "sk-canary-5f1e"


def client(service: FakeService, **settings: Any) -> OpenAIEmbeddings | CohereEmbeddings:
    settings = {"api_key": None, "dimensions": None, **settings}
    model = settings.pop("model", "fake")
    kind = CohereEmbeddings if service.shape == "cohere" else OpenAIEmbeddings
    return kind(service.base_url, model, **settings)


def unit(texts: list[str], dimensions: int = 64, side: str = "document") -> np.ndarray[Any, Any]:
    rows = np.array([embed_text(text, dimensions, side) for text in texts])
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def ask(service: FakeService, **settings: Any) -> np.ndarray[Any, Any]:
    asked = client(service, **settings)
    try:
        return asked.embed(TEXTS, "document", timeout=60)
    finally:
        asked.close()


def failure_of(service: FakeService, fault: Fault = None, **settings: Any) -> EmbeddingFailure:
    service.decide = lambda *_: fault
    with pytest.raises(EmbeddingFailure) as caught:
        ask(service, **settings)
    return caught.value


@pytest.mark.parametrize("shape", SHAPES)
def test_vectors_come_in_the_order_of_the_texts(shape: Shape) -> None:
    with fake_service(shape) as service:
        vectors = ask(service)
    assert vectors.dtype == np.float32
    assert vectors.shape == (4, 64)
    np.testing.assert_allclose(vectors, unit(TEXTS), atol=1e-7)


@pytest.mark.parametrize("shape", SHAPES)
def test_dimensions_are_requested(shape: Shape) -> None:
    with fake_service(shape) as service:
        np.testing.assert_allclose(ask(service, dimensions=16), unit(TEXTS, 16), atol=1e-7)
        name = "output_dimension" if shape == "cohere" else "dimensions"
        assert service.requests[0][name] == 16


def test_openai_is_asked_for_plain_numbers() -> None:
    with fake_service("openai") as service:
        ask(service)
        assert service.requests == [{"model": "fake", "input": TEXTS, "encoding_format": "float"}]


def test_cohere_is_told_the_input_type_and_not_to_truncate() -> None:
    with fake_service("cohere") as service:
        asked = client(service)
        vectors = asked.embed(TEXTS, "query", timeout=60)
        asked.close()
        np.testing.assert_allclose(vectors, unit(TEXTS, side="query"), atol=1e-7)
        assert service.requests == [
            {
                "model": "fake",
                "texts": TEXTS,
                "input_type": "search_query",
                "embedding_types": ["float"],
                "truncate": "NONE",
            }
        ]


def test_cohere_models_with_a_fixed_width_are_not_asked_for_one() -> None:
    with fake_service("cohere", dimensions=16) as service:
        ask(service, model="embed-english-v3.0", dimensions=16)
        assert "output_dimension" not in service.requests[0]


@pytest.mark.parametrize("lie", sorted(HONEST))
def test_unusual_replies_are_understood(lie: Lie) -> None:
    with fake_service("openai") as service:
        service.decide = lambda *_: lie
        np.testing.assert_allclose(ask(service), unit(TEXTS), atol=1e-6)


DETECTED = sorted(set(get_args(Lie)) - HONEST - {"trickle"})


@pytest.mark.parametrize("lie", DETECTED)
def test_wrong_replies_are_detected(lie: Lie) -> None:
    with fake_service("openai") as service:
        failure = failure_of(service, lie, dimensions=64)
    if lie in {"reset", "half"}:
        assert failure.is_temporary
        assert not failure.is_bad_reply
    else:
        assert failure.is_bad_reply, failure.message
        assert not failure.is_temporary


COHERE_LIES = sorted({*DETECTED} - {"duplicate index", "base64 that is none"})


@pytest.mark.parametrize("lie", COHERE_LIES)
def test_wrong_replies_in_coheres_format_are_detected(lie: Lie) -> None:
    with fake_service("cohere") as service:
        failure = failure_of(service, lie, dimensions=64)
    assert failure.is_temporary == (lie in {"reset", "half"})
    assert failure.is_bad_reply == (lie not in {"reset", "half"})


def test_html_page_instead_of_an_api_is_quoted_in_part() -> None:
    with fake_service("openai") as service:
        failure = failure_of(service, "html")
    assert "not JSON" in failure.message
    assert "Sign in" in failure.message
    assert "base_url" in str(failure.hint)


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504, 529])
def test_temporary_statuses(status: int) -> None:
    with fake_service("openai") as service:
        failure = failure_of(service, Refusal(status, RATE_LIMIT, retry_after="7"))
    assert failure.is_temporary
    assert failure.retry_after == 7
    assert f"status {status}: Rate limit reached" in failure.message


@pytest.mark.parametrize("status", [400, 413, 422])
def test_refused_texts_count_as_a_bad_reply(status: int) -> None:
    with fake_service("openai") as service:
        failure = failure_of(service, Refusal(status))
    assert failure.is_bad_reply
    assert failure.status == status


@pytest.mark.parametrize("status", [301, 302, 307, 402, 403, 404, 405, 410, 501])
def test_final_statuses(status: int) -> None:
    with fake_service("openai") as service:
        failure = failure_of(service, Refusal(status, "<h1>no</h1>"))
    assert not failure.is_temporary
    assert not failure.is_bad_reply
    assert failure.hint


def test_exhausted_quota_is_final() -> None:
    with fake_service("openai") as service:
        failure = failure_of(service, Refusal(429, QUOTA, retry_after="1"))
    assert not failure.is_temporary
    assert "quota" in failure.message


@pytest.mark.parametrize("shape", SHAPES)
def test_unknown_model_is_named(shape: Shape) -> None:
    with fake_service(shape) as service:
        failure = failure_of(service, model="nope")
    assert not failure.is_temporary
    said = str(UNKNOWN_MODEL[shape])
    assert "nope" in failure.message
    assert "not" in said
    assert "embedding.model" in str(failure.hint)


@pytest.mark.parametrize("key", [KEY, None])
def test_key_is_sent_and_never_shown(key: str | None) -> None:
    with fake_service("openai", key="sk-right") as service:
        failure = failure_of(service, api_key=key)
        assert failure.status == 401
        assert "api_key_env" in str(failure.hint)
        assert ("needed" in failure.message) == (key is None)
        echo = Refusal(403, {"error": {"message": f"the key {KEY} may not do this"}})
        service.key = None
        told = failure_of(service, echo, api_key=KEY)
    for text in (failure.message, str(failure.hint), told.message, str(told.hint), repr(told)):
        assert KEY not in text
    assert "the key *** may not" in told.message


@pytest.mark.parametrize("key", ["two words", "line\nend", "schlüssel"])
def test_impossible_key_is_refused_without_showing_it(key: str) -> None:
    with pytest.raises(EmbeddingFailure, match="character") as caught:
        OpenAIEmbeddings("http://127.0.0.1:1/v1", "m", api_key=key, dimensions=None)
    assert key not in str(caught.value)


def test_refused_width_names_the_option() -> None:
    with fake_service("vllm", honours_dimensions=False) as service:
        failure = failure_of(service, dimensions=32)
    assert not failure.is_bad_reply
    assert "matryoshka" in failure.message
    assert "embedding.dimensions" in str(failure.hint)
    assert "matryoshka" in str(NO_DIMENSIONS)


def test_ignored_width_names_the_option() -> None:
    with fake_service("ollama", honours_dimensions=None) as service:
        failure = failure_of(service, dimensions=32)
    assert failure.is_bad_reply
    assert "64 numbers, requested 32" in failure.message
    assert "embedding.dimensions" in str(failure.hint)


def test_slow_reply_times_out() -> None:
    with fake_service("openai") as service:
        service.decide = lambda *_: "trickle"
        asked = client(service)
        with pytest.raises(EmbeddingFailure, match=r"within 0\.3 s") as caught:
            asked.embed(TEXTS, "document", timeout=0.3)
        asked.close()
    assert caught.value.is_temporary


def test_too_large_reply_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    assert MAX_REPLY_BYTES > 2048 * 4096 * 20
    monkeypatch.setattr("foundry.runtime.retrieval.embedding.http.MAX_REPLY_BYTES", 1000)
    with fake_service("openai") as service:
        failure = failure_of(service)
    assert failure.is_bad_reply
    assert "larger than 1,000 bytes" in failure.message


def test_missing_service_is_unreachable() -> None:
    with fake_service("openai") as service:
        pass
    failure = failure_of(service)
    assert failure.is_temporary
    assert failure.is_unreachable
    assert service.base_url in failure.message


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/v1", "http://127.0.0.1:port/v1"])
def test_malformed_address_is_refused(url: str) -> None:
    asked = OpenAIEmbeddings(url, "m", api_key=None, dimensions=None)
    with pytest.raises(EmbeddingFailure) as caught:
        asked.embed(["a"], "document", timeout=1)
    asked.close()
    assert not caught.value.is_temporary


def test_closed_client_can_be_used_again() -> None:
    with fake_service("openai") as service:
        asked = client(service)
        for _ in range(2):
            assert len(asked.embed(TEXTS, "document", timeout=60)) == 4
            asked.close()


NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
CLOCK = {"date": NOW.strftime("%a, %d %b %Y %H:%M:%S GMT")}


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0),
        ("3600", 3600),
        ("1.5", 1.5),
        (" 20 ", 20),
        ((NOW + timedelta(seconds=90)).strftime("%a, %d %b %Y %H:%M:%S GMT"), 90),
        ((NOW - timedelta(days=1)).strftime("%a, %d %b %Y %H:%M:%S GMT"), 0),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("nan", None),
        ("1e400", None),
        ("1.2.3", None),
        ("٣", None),
        ("Mon, 99 Foo 2026 99:99:99 GMT", None),
    ],
)
def test_retry_after(value: str, seconds: float | None) -> None:
    assert parse_retry_after({"retry-after": value, **CLOCK}) == seconds


def test_retry_after_may_be_missing_or_invalid() -> None:
    assert parse_retry_after({}) is None


@pytest.mark.parametrize(
    "rows",
    [
        [[1, 2]],
        [[1, 2], [1]],
        [[1, 2], None],
        [[1, 2], [1, None]],
        [[1, 2], ["1", "2"]],
        [[1, 2], [float("nan"), 1]],
        [[1, 2], [float("-inf"), 1]],
        [[1, 2], [0, 0]],
        [[1, 2], [1e-30, 0]],
        [[1, 2], [10**400, 0]],
        [[[1], [2]], [[1], [2]]],
        [[], []],
        [[True, False], [True, True]],
        [{}, {}],
    ],
)
def test_invalid_vectors_are_rejected(rows: list[Any]) -> None:
    with pytest.raises(EmbeddingFailure) as caught:
        check_vectors(rows, 2, None)
    assert caught.value.is_bad_reply


def test_vectors_become_unit_vectors() -> None:
    rows = check_vectors([[3, 4], [1e200, 0], [0, -1e-10]], 3, 2)
    np.testing.assert_allclose(rows, [[0.6, 0.8], [1, 0], [0, -1]], atol=1e-7)
    assert check_vectors([], 0, 5).shape == (0, 5)
