"""The layer through which all models embed, tested with a service on loopback."""

import logging
import signal
import sqlite3
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sharing
import warm_python
from embedding_services import (
    TOO_LONG,
    FakeService,
    Fault,
    Refusal,
    Shape,
    embed_text,
    fake_service,
    texts_about,
)
from numpy.typing import NDArray
from waiting import wait_until

from foundry.config.file import EmbeddingSection
from foundry.embedding.providers import asking
from foundry.embedding.providers.asking import PROBE_TEXT
from foundry.embedding.providers.batching import BatchedModel
from foundry.embedding.providers.models import open_model
from foundry.embedding.vector_cache import VectorCache
from foundry.errors import BuildError

TEXTS = texts_about(100)


@contextmanager
def batched(
    service: FakeService, folder: Path, *, retry_seconds: float = 30, **settings: Any
) -> Iterator[BatchedModel]:
    """The service's model behind the cache in a folder."""
    options = EmbeddingSection(
        provider="cohere" if service.shape == "cohere" else "openai",
        base_url=service.base_url,
        api_key_env="FAKE_KEY",
        **{"model": "fake", **settings},
    )
    model = BatchedModel(
        open_model(options),
        VectorCache(folder / "cache.sqlite"),
        retry_seconds=retry_seconds,
    )
    try:
        yield model
    finally:
        model.close()


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_KEY", "sk-canary-77")


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("foundry.embedding.providers.asking.FIRST_WAIT_SECONDS", 0.01)
    monkeypatch.setattr("foundry.embedding.providers.asking.LONGEST_WAIT_SECONDS", 0.05)


def honest(texts: Sequence[str], side: str = "document") -> NDArray[Any]:
    rows = np.array([embed_text(text, 64, side) for text in texts])
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def assert_honest(vectors: NDArray[np.float32], texts: Sequence[str]) -> None:
    np.testing.assert_allclose(vectors, honest(texts), atol=1e-6)


def paid(service: FakeService) -> dict[str, int]:
    """Return how often each text was embedded successfully, excluding the probe."""
    with service.lock:
        return {text: n for text, n in service.answered.items() if not text.endswith(PROBE_TEXT)}


@pytest.mark.parametrize("shape", ["openai", "vllm", "ollama", "cohere"])
def test_every_text_is_requested_once(shape: Shape, tmp_path: Path) -> None:
    texts = [*TEXTS, *TEXTS[:10], "", "  \n"]
    done: list[int] = []
    with fake_service(shape) as service:
        with batched(service, tmp_path) as model:
            first = model.embed(texts, "document", done.append)
            assert sum(done) == len(texts)
            assert model.answered == len(TEXTS)
            again = model.embed(texts, "document")
        assert paid(service) == dict.fromkeys(TEXTS, 1)
        assert all(len(call) <= 96 for call in service.calls)
        service.reset_counters()
        with batched(service, tmp_path) as model:
            later = model.embed(texts, "document", done.append)
        assert service.calls == []
    assert sum(done) == 2 * len(texts)
    assert_honest(first[:110], texts[:110])
    assert not first[110:].any()
    assert first.tobytes() == again.tobytes() == later.tobytes()


def test_vectors_are_cached_separately_by_options(tmp_path: Path) -> None:
    with fake_service("openai") as service, fake_service("openai") as other:
        asked = {}
        for name, settings in {
            "plain": {},
            "model": {"model": "other"},
            "width": {"dimensions": 8},
            "prefix": {"document_prefix": "passage: "},
        }.items():
            service.reset_counters()
            with batched(service, tmp_path, **settings) as model:
                asked[name] = model.embed(["roof"], "document")
            assert sum(paid(service).values()) == 1, name
        with batched(other, tmp_path) as model:
            model.embed(["roof"], "document")
        assert sum(paid(other).values()) == 1
    assert asked["width"].shape == (1, 8)
    assert_honest(asked["prefix"], ["passage: roof"])


def test_queries_and_documents_share_vectors_if_embedded_alike(tmp_path: Path) -> None:
    with fake_service("openai") as service, batched(service, tmp_path) as model:
        model.embed(["roof"], "document")
        model.embed(["roof"], "query")
        assert paid(service) == {"roof": 1}
    with fake_service("cohere") as service, batched(service, tmp_path) as model:
        document = model.embed(["roof"], "document")
        query = model.embed(["roof"], "query")
        assert paid(service) == {"roof": 2}
    assert_honest(document, ["roof"])
    np.testing.assert_allclose(query, honest(["roof"], side="query"), atol=1e-6)


def test_known_models_get_their_prefixes(tmp_path: Path) -> None:
    with fake_service("ollama") as service:
        with batched(service, tmp_path, model="intfloat/e5-small-v2") as model:
            assert_honest(model.embed(["roof"], "document"), ["passage: roof"])
            assert_honest(model.embed(["roof"], "query"), ["query: roof"])
        with batched(service, tmp_path, model="e5-small", query_prefix="ask: ") as model:
            assert_honest(model.embed(["roof"], "query"), ["ask: roof"])


def test_long_texts_are_split_and_averaged(tmp_path: Path) -> None:
    long = " ".join(f"word{n} valve" for n in range(300))
    glyphs = "".join(f"🙂{chr(0x4E00 + n)}" for n in range(300))
    with fake_service("openai", most_words=120) as service:
        with batched(service, tmp_path, max_tokens=200, concurrency=1) as model:
            vectors = model.embed([long, "valve", glyphs], "document")
            assert model.refused == []
            limit = model.model.limits.tokens
            for call in service.calls:
                assert all(model.model.count_tokens(text) <= limit for text in call)
        asked = [text for call in service.calls for text in call if text != PROBE_TEXT]
    assert " ".join(text for text in asked if "word" in text).split() == long.split()
    assert "".join(text for text in asked if "🙂" in text) == glyphs
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert float(vectors[0] @ honest([long])[0]) > 0.9


def test_texts_that_a_service_rejects_as_too_long_are_halved(tmp_path: Path) -> None:
    long = " ".join(f"word{n} valve" for n in range(100))
    with fake_service("ollama", most_words=60) as service, batched(service, tmp_path) as model:
        vectors = model.embed([*TEXTS[:40], long], "document")
        assert model.refused == []
        assert float(vectors[40] @ honest([long])[0]) > 0.9
    assert_honest(vectors[:40], TEXTS[:40])


@pytest.mark.slow
def test_rejected_texts_do_not_stop_the_others(tmp_path: Path) -> None:
    bad = {TEXTS[17], TEXTS[63]}
    faults: list[Fault] = ["nan", Refusal(400), Refusal(500), "short"]
    for number, fault in enumerate(faults):
        with fake_service("openai") as service:
            service.decide = lambda _, texts, fault=fault: fault if bad & {*texts} else None
            folder = tmp_path / str(number)
            with batched(service, folder) as model:
                vectors = model.embed(TEXTS, "document")
                assert {refused["text"] for refused in model.refused} == bad
                assert len(model.refused) == 2
                assert all(len(refused["sha256"]) == 64 for refused in model.refused)
            good = [n for n, text in enumerate(TEXTS) if text not in bad]
            assert_honest(vectors[good], [TEXTS[n] for n in good])
            assert not vectors[17].any() and not vectors[63].any()
            assert set(paid(service).values()) == {1}
            service.decide = lambda *_: None
            service.reset_counters()
            with batched(service, folder) as model:
                assert_honest(model.embed(TEXTS, "document"), TEXTS)
            assert paid(service) == dict.fromkeys(bad, 1)


@pytest.mark.parametrize(("lie", "begins"), [("nan", 0), ("nan", 2), ("html", 2), ("short", 2)])
def test_service_with_only_wrong_replies_stops_the_build(
    lie: Fault, begins: int, tmp_path: Path
) -> None:
    with fake_service("openai") as service:
        service.decide = lambda number, _: lie if number >= begins else None
        # Calls are sequential, so that it is known which ones succeed.
        with (
            batched(service, tmp_path, concurrency=1) as model,
            pytest.raises(BuildError) as caught,
        ):
            model.embed(TEXTS, "document")
        assert "even a plain sentence" in caught.value.message
        kept = paid(service)
        service.decide = lambda *_: None
        with batched(service, tmp_path) as model:
            assert_honest(model.embed(TEXTS, "document"), TEXTS)
        assert len(kept) == 32 * (begins - 1) if begins else not kept
        assert set(paid(service).values()) == {1}


def test_vectors_of_wrong_width_are_not_cached(tmp_path: Path) -> None:
    with fake_service("openai") as service:
        # The first reply is wrong, and so is the width that it suggests.
        service.decide = lambda number, _: "wrong width" if number == 0 else None
        with batched(service, tmp_path) as model, pytest.raises(BuildError, match="64 numbers"):
            model.embed(TEXTS, "document")
        with batched(service, tmp_path) as model:
            assert_honest(model.embed(TEXTS, "document"), TEXTS)
        service.dimensions = 32
        with batched(service, tmp_path) as model, pytest.raises(BuildError) as caught:
            model.embed(["something else"], "document")
    assert "has changed since" in caught.value.message
    assert "cache.sqlite" in str(caught.value.hint)


def test_another_model_under_the_same_name_is_noticed(tmp_path: Path) -> None:
    with fake_service("openai") as service:
        with batched(service, tmp_path) as model:
            model.embed(["roof"], "document")
        service.salt = "another model"
        with batched(service, tmp_path) as model, pytest.raises(BuildError) as caught:
            model.embed(["air"], "document")
    assert "has changed since" in caught.value.message
    assert "cache.sqlite" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (Refusal(403), "403"),
        (Refusal(404), "404"),
        (Refusal(402), "quota"),
        (Refusal(307), "307"),
    ],
)
def test_final_refusals_stop_at_once(fault: Refusal, said: str, tmp_path: Path) -> None:
    with fake_service("openai") as service:
        service.decide = lambda *_: fault
        with batched(service, tmp_path) as model, pytest.raises(BuildError, match=said):
            model.embed(TEXTS, "document")
        assert len(service.calls) == 1


def test_vectors_before_a_refusal_are_kept(tmp_path: Path) -> None:
    with fake_service("openai") as service:
        service.decide = lambda number, _: Refusal(403) if number >= 3 else None
        with batched(service, tmp_path) as model, pytest.raises(BuildError, match="403"):
            model.embed(TEXTS, "document")
        assert len(service.calls) < 8
        service.decide = lambda *_: None
        with batched(service, tmp_path) as model:
            assert_honest(model.embed(TEXTS, "document"), TEXTS)
        assert paid(service) == dict.fromkeys(TEXTS, 1)


def test_wrong_key_names_the_variable_and_not_the_key(tmp_path: Path) -> None:
    with fake_service("openai", key="sk-right") as service:
        with batched(service, tmp_path) as model, pytest.raises(BuildError) as caught:
            model.embed(TEXTS, "document")
        assert len(service.calls) == 1
    assert "FAKE_KEY" in str(caught.value.hint)
    assert "sk-canary" not in f"{caught.value.message} {caught.value.hint}"


@pytest.mark.parametrize(
    ("status", "retry_after"),
    [
        *((status, None) for status in (408, 429, 500, 502, 503, 504, "reset", "half")),
        *((429, retry_after) for retry_after in ("0", "junk", "-1")),
    ],
)
def test_temporary_failures_are_survived(
    status: int | str, retry_after: str | None, tmp_path: Path
) -> None:
    fault: Any = Refusal(status, retry_after=retry_after) if isinstance(status, int) else status
    with fake_service("openai") as service:
        service.decide = lambda number, _: fault if number % 2 == 0 else None
        with batched(service, tmp_path) as model:
            assert_honest(model.embed(TEXTS, "document"), TEXTS)
            assert model.refused == []
        assert paid(service) == dict.fromkeys(TEXTS, 1)


def test_service_that_fails_for_long_ends_the_build(tmp_path: Path) -> None:
    with fake_service("openai") as service:
        service.decide = lambda number, _: Refusal(503) if number >= 2 else None
        with (
            batched(service, tmp_path, retry_seconds=0.5) as model,
            pytest.raises(BuildError, match="given up") as caught,
        ):
            model.embed(TEXTS, "document")
        assert "build again" in str(caught.value.hint)
        assert len(service.calls) > 2
        service.decide = lambda *_: None
        with batched(service, tmp_path) as model:
            assert_honest(model.embed(TEXTS, "document"), TEXTS)
        assert paid(service) == dict.fromkeys(TEXTS, 1)


@pytest.mark.parametrize("retry_after", ["3600", "Fri, 01 Jan 2100 00:00:00 GMT"])
def test_long_waits_are_capped_by_the_budget(retry_after: str, tmp_path: Path) -> None:
    with fake_service("openai") as service:
        service.decide = lambda *_: Refusal(429, retry_after=retry_after)
        started = time.monotonic()
        with (
            batched(service, tmp_path, retry_seconds=0.4) as model,
            pytest.raises(BuildError, match="429"),
        ):
            model.embed(TEXTS, "document")
        assert time.monotonic() - started >= 0.4
        assert len(service.calls) == 2


def test_all_calls_wait_as_long_as_the_service_asks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    times: dict[int, float] = {}
    refusal_is_known = threading.Event()
    pause = asking._Patience.pause

    def note_and_pause(patience: Any, seconds: float) -> None:
        if seconds > 0.5:
            refusal_is_known.set()
        pause(patience, seconds)

    monkeypatch.setattr(asking._Patience, "pause", note_and_pause)

    def decide(number: int, _: list[str]) -> Fault:
        times[number] = time.monotonic()
        if number == 2:
            # Wait until the rejection of the first call is known.
            refusal_is_known.wait(60)
        return Refusal(429, retry_after="1") if number == 1 else None

    with fake_service("openai") as service:
        service.decide = decide
        with batched(service, tmp_path, concurrency=2) as model:
            assert_honest(model.embed(TEXTS, "document"), TEXTS)
    waited = [moment - times[1] for number, moment in times.items() if number > 2]
    assert min(waited) >= 0.95
    assert len(waited) >= 2


@pytest.mark.parametrize(
    ("retry_after", "waits"),
    [("7", [7, 7]), ("30", [30, 30]), ("60", [30, 30]), ("0", [0.02]), (None, [0.02])],
)
def test_a_call_waits_as_asked_within_the_time_for_retries(
    retry_after: str | None,
    waits: list[float],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    paused: list[float] = []
    monkeypatch.setattr(asking._Patience, "pause", lambda _, seconds: paused.append(seconds))
    monkeypatch.setattr(asking, "time", SimpleNamespace(monotonic=lambda: 1_000.0))
    monkeypatch.setattr(asking, "random", SimpleNamespace(uniform=lambda _, most: most))
    with fake_service("openai") as service:
        service.decide = lambda number, _: (
            Refusal(429, retry_after=retry_after) if number == 1 else None
        )
        with batched(service, tmp_path, retry_seconds=30, concurrency=1) as model:
            assert_honest(model.embed(TEXTS[:3], "document"), TEXTS[:3])
        assert len(service.calls) == 3
    # These are the pauses before the retry, and before the next call.
    assert [seconds for seconds in paused if seconds > 0] == waits


def test_no_retry_if_retries_are_off(tmp_path: Path) -> None:
    with fake_service("openai") as service:
        service.decide = lambda *_: Refusal(503)
        with batched(service, tmp_path, retry_seconds=0) as model, pytest.raises(BuildError):
            model.embed(TEXTS, "document")
        assert len(service.calls) == 1


def test_unreachable_address_is_given_up_sooner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("foundry.embedding.providers.asking.UNPROVEN_SECONDS", 0.2)
    with fake_service("openai") as service:
        pass
    # The build gives up after UNPROVEN_SECONDS, long before `retry_seconds`.
    with (
        batched(service, tmp_path, retry_seconds=100_000) as model,
        pytest.raises(BuildError, match="cannot be reached"),
    ):
        model.embed(TEXTS, "document")


def test_model_that_rejects_most_texts_stops_the_build(tmp_path: Path) -> None:
    with fake_service("openai") as service:
        service.decide = lambda _, texts: (
            Refusal(400, TOO_LONG) if PROBE_TEXT not in texts else None
        )
        with batched(service, tmp_path) as model, pytest.raises(BuildError) as caught:
            model.embed(TEXTS, "document")
    assert "one text in ten" in caught.value.message
    assert "context length" in caught.value.message
    assert "max_tokens" in str(caught.value.hint)


def test_calls_respect_the_maximum_number_of_texts(tmp_path: Path) -> None:
    with fake_service("vllm", most_texts=8) as service, batched(service, tmp_path) as model:
        assert_honest(model.embed(TEXTS, "document"), TEXTS)
        assert paid(service) == dict.fromkeys(TEXTS, 1)


def test_calls_run_concurrently(tmp_path: Path) -> None:
    running, most, lock = 0, 0, threading.Lock()
    three_run = threading.Event()

    def decide(number: int, texts: list[str]) -> Fault:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        if most >= 3:
            three_run.set()
        if number:
            three_run.wait(60)
            # A fourth call would arrive in the meantime.
            time.sleep(0.05)
        with lock:
            running -= 1
        return None

    with fake_service("openai") as service:
        service.decide = decide
        with batched(service, tmp_path, concurrency=3) as model:
            model.embed(texts_about(300), "document")
    assert most == 3


def test_no_texts(tmp_path: Path) -> None:
    with fake_service("openai") as service, batched(service, tmp_path) as model:
        assert model.embed([], "document").shape == (0, 64)
        assert model.embed([""], "document").tolist() == [[0.0] * 64]


def test_prefix_that_leaves_no_room_for_text(tmp_path: Path) -> None:
    with fake_service("openai") as service:
        settings = {"max_tokens": 16, "document_prefix": "so many words " * 4}
        with (
            batched(service, tmp_path, **settings) as model,
            pytest.raises(BuildError, match="leaves no room"),
        ):
            model.embed(TEXTS, "document")


def test_damaged_cache_is_set_aside(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with fake_service("openai") as service:
        with batched(service, tmp_path) as model:
            model.embed(TEXTS, "document")
        (tmp_path / "cache.sqlite").write_bytes(b"not a database" * 100)
        with caplog.at_level(logging.WARNING), batched(service, tmp_path) as model:
            assert_honest(model.embed(TEXTS, "document"), TEXTS)
        assert set(paid(service).values()) == {2}
    assert "cache.sqlite.damaged" in caplog.text
    assert (tmp_path / "cache.sqlite.damaged").read_bytes().startswith(b"not a database")


CHILD = """
import sys
from pathlib import Path
from foundry.config.file import EmbeddingSection
from foundry.embedding.providers.batching import BatchedModel
from foundry.embedding.providers.models import open_model
from foundry.embedding.vector_cache import VectorCache

url, folder, count = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
options = EmbeddingSection(provider="openai", model="fake", base_url=url, concurrency=2)
model = BatchedModel(open_model(options), VectorCache(folder / "cache.sqlite"))
try:
    model.embed([f"text number {n}" for n in range(count)], "document")
except KeyboardInterrupt:
    sys.exit(130)
"""


def run_child(service: FakeService, folder: Path, count: int) -> "subprocess.Popen[bytes]":
    begin = warm_python.command(*sharing.COMMANDS)
    return subprocess.Popen([*begin, CHILD, service.base_url, str(folder), str(count)])


def test_replies_are_committed_before_many_more_are_paid_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = VectorCache.commit

    def commit_slowly(cache: VectorCache) -> None:
        time.sleep(0.02)
        commit(cache)

    monkeypatch.setattr(VectorCache, "commit", commit_slowly)
    texts = [f"text number {n}" for n in range(400)]
    unkept = []

    def count_unkept(number: int, _: list[str]) -> None:
        if number:
            with closing(sqlite3.connect(tmp_path / "cache.sqlite")) as kept:
                (entries,) = kept.execute("SELECT count(*) FROM entries").fetchone()
            unkept.append(sum(map(len, service.calls[1 : number + 1])) - entries)

    with fake_service("openai") as service:
        service.decide = count_unkept
        with batched(service, tmp_path, concurrency=2) as model:
            assert_honest(model.embed(texts, "document"), texts)
    assert len(unkept) > 4
    assert max(unkept) <= 2 * 32


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_killed_run_loses_at_most_the_calls_in_progress(
    number: signal.Signals, tmp_path: Path
) -> None:
    texts = [f"text number {n}" for n in range(400)]
    ended = threading.Event()

    def hold_the_later(number: int, _: list[str]) -> None:
        if number >= 6:
            ended.wait(600)

    with fake_service("openai") as service:
        service.decide = hold_the_later
        with run_child(service, tmp_path, len(texts)) as child:
            wait_until(lambda: len(paid(service)) >= 150)
            child.send_signal(number)
            child.wait(120)
        ended.set()
        assert child.returncode == (-number if number == signal.SIGKILL else 130)
        with batched(service, tmp_path) as model:
            assert_honest(model.embed(texts, "document"), texts)
        twice = sum(times > 1 for times in paid(service).values())
        assert twice <= 2 * 32
        assert all(times <= 2 for times in paid(service).values())


def test_ctrl_c_does_not_wait_for_a_service_that_hangs(tmp_path: Path) -> None:
    with fake_service("openai") as service:
        service.decide = lambda number, _: time.sleep(3600) if number else None  # type: ignore[func-returns-value]
        with run_child(service, tmp_path, 300) as child:
            wait_until(lambda: len(service.calls) >= 2)
            child.send_signal(signal.SIGINT)
            child.wait(120)
        assert child.returncode == 130
