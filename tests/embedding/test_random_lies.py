"""The vectors are right even if services fail at random, in every way."""

import hashlib
import os
import random
import threading
from collections import Counter
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from embedding_services import (
    Fault,
    Lie,
    Refusal,
    Shape,
    date_in,
    embed_text,
    fake_service,
    texts_about,
)

from foundry.config.file import EmbeddingSection
from foundry.embedding.providers.asking import PROBE_TEXT
from foundry.embedding.providers.batching import BatchedModel
from foundry.embedding.providers.models import open_model
from foundry.embedding.vector_cache import VectorCache
from foundry.errors import BuildError

SHAPES: tuple[Shape, ...] = get_args(Shape)
LIES: list[Lie] = sorted({*get_args(Lie)} - {"trickle", "wrong width", "mixed widths"})
OF_ONE_SHAPE: set[Lie] = {"base64", "base64 that is none", "no index", "duplicate index"}
"""Lies that only OpenAI's API can tell: Cohere's vectors have no index and are not base64."""

REFUSALS = [
    Refusal(429, retry_after="0"),
    Refusal(429, retry_after="0.05"),
    Refusal(429, retry_after="soon"),
    Refusal(429, retry_after=date_in(-5)),
    Refusal(500, "<h1>oops</h1>"),
    Refusal(502),
    Refusal(503, "", retry_after="0"),
    Refusal(504),
]
FOR_SEVERAL = [Refusal(400), Refusal(413), Refusal(422)]
"""Refusals of calls with several texts only; for a single text, they would be final."""

MOST_LIES = 2
"""Maximum number of faults for the same texts; a third bad reply would be final."""

ROUNDS = int(os.environ.get("ROUNDS", "1"))
"""Number of rounds, each with other faults."""


class Whims:
    """Chooses failures by the texts of a call, whatever the order of calls."""

    def __init__(self, seed: int, lies: list[Lie], share: float) -> None:
        self._seed, self._lies, self._share = seed, lies, share
        self.bad: set[str] = set()
        self.bad_fault: Fault = None
        self._times: Counter[str] = Counter()
        self._lock = threading.Lock()

    def __call__(self, _: int, texts: list[str]) -> Fault:
        if self.bad & {*texts}:
            return self.bad_fault
        key = hashlib.sha256("\0".join(texts).encode()).hexdigest()
        with self._lock:
            self._times[key] += 1
            times = self._times[key]
        whim = random.Random(f"{self._seed} {key} {times}")
        if times > MOST_LIES or whim.random() >= self._share:
            return None
        return whim.choice([*self._lies, *REFUSALS, *(FOR_SEVERAL if len(texts) > 1 else [])])


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("foundry.embedding.providers.asking.FIRST_WAIT_SECONDS", 0.002)
    monkeypatch.setattr("foundry.embedding.providers.asking.LONGEST_WAIT_SECONDS", 0.005)
    monkeypatch.setattr("foundry.embedding.providers.asking.PAUSE_SECONDS", 0.001)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("share", [0.1, 0.4, 0.8])
def test_vectors_are_right_and_no_text_is_embedded_twice(
    shape: Shape, share: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEY", "sk-1")
    with fake_service(shape) as service:
        options = EmbeddingSection(
            provider="cohere" if shape == "cohere" else "openai",
            model="fake",
            base_url=service.base_url,
            api_key_env="KEY",
        )
        for round_number in range(ROUNDS):
            draw = random.Random(f"{shape} {share} {round_number}")
            texts = draw.sample(texts_about(200), draw.randint(1, 60))
            lies = sorted({*LIES} - OF_ONE_SHAPE) if shape == "cohere" else LIES
            whims = Whims(round_number, lies, share)
            whims.bad = bad = {*draw.sample(texts, min(len(texts), draw.choice([0, 0, 1, 2])))}
            whims.bad_fault = draw.choice(["nan", "zero", "short", Refusal(400), "mixed widths"])
            service.decide = whims
            service.reset_counters()
            model = BatchedModel(
                open_model(options), VectorCache(tmp_path / f"{round_number}"), retry_seconds=30
            )
            try:
                vectors = model.embed(texts, "document")
            finally:
                model.close()
            assert {refused["text"] for refused in model.refused} == bad
            expected = np.array([embed_text(text) for text in texts])
            expected /= np.linalg.norm(expected, axis=1, keepdims=True)
            expected[[text in bad for text in texts]] = 0
            np.testing.assert_allclose(vectors, expected, atol=1e-6)
            paid = {text: n for text, n in service.answered.items() if text != PROBE_TEXT}
            assert paid == {text: 1 for text in texts if text not in bad}


@pytest.mark.parametrize("seed", range(2))
def test_a_stopped_run_is_continued(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever runs are stopped, each text has been paid for exactly once in the end."""
    monkeypatch.setenv("KEY", "sk-1")
    draw = random.Random(seed)
    texts = texts_about(120)
    ends: list[Fault] = [Refusal(401), Refusal(403), Refusal(404), Refusal(503), "html", "nan"]
    with fake_service("openai") as service:
        options = EmbeddingSection(
            provider="openai", model="fake", base_url=service.base_url, api_key_env="KEY"
        )
        for runs_left in range(5, 0, -1):
            begins = len(service.calls) + draw.randint(0, 3)
            end = draw.choice(ends) if runs_left > 1 else None
            service.decide = lambda n, _, b=begins, e=end: e if n >= b else None
            model = BatchedModel(
                open_model(options), VectorCache(tmp_path / "cache"), retry_seconds=0.05
            )
            try:
                vectors = model.embed(texts, "document")
                break
            except BuildError:
                assert runs_left > 1
            finally:
                model.close()
        assert model.refused == []
        expected = np.array([embed_text(text) for text in texts])
        expected /= np.linalg.norm(expected, axis=1, keepdims=True)
        np.testing.assert_allclose(vectors, expected, atol=1e-6)
        paid = {text: n for text, n in service.answered.items() if text != PROBE_TEXT}
        assert paid == dict.fromkeys(texts, 1)
