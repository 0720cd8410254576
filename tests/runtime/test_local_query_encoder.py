"""Queries embedded by a model in the server itself."""

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from embedding_services import embed_text
from numpy.typing import NDArray

from foundry.runtime.errors import IndexUnusableError
from foundry.runtime.index.layout import IndexLayout
from foundry.runtime.retrieval.embedding.local import LocalQueryEncoder
from foundry.runtime.retrieval.embedding.probe import DenseManifest
from foundry.runtime.retrieval.embedding.replies import bad_reply, check_vectors

PROBE = "How do I find what I am looking for?"
LAYOUT = IndexLayout(Path("/indexes/v1"))


class WordModel:
    """A model of hashed words that only one thread may use at a time."""

    def __init__(self, salt: str = "") -> None:
        self._salt = salt
        self._busy = threading.Lock()
        self.asked: list[str] = []

    def embed(
        self, texts: Sequence[str], side: Literal["document", "query"]
    ) -> NDArray[np.float32]:
        assert side == "query"
        assert self._busy.acquire(blocking=False), "two threads at a time"
        try:
            self.asked += texts
            if any("unspeakable" in text for text in texts):
                raise bad_reply("a vector has a number that is not finite")
            return check_vectors([embed_text(text, salt=self._salt) for text in texts], 1, None)
        finally:
            self._busy.release()


MANIFEST = DenseManifest(
    provider="fastembed",
    model="words",
    revision="",
    dimensions=64,
    document_prefix="",
    query_prefix="query: ",
    query={"encoder": "same"},
    encoder_sha256="",
    candidates=20,
    recall_at_20={"heading": 1.0},
    probe_text=PROBE,
    probe_vector=WordModel().embed([f"query: {PROBE}"], "query")[0].tolist(),
)


def test_query_is_embedded_once_with_its_prefix() -> None:
    model = WordModel()
    encoder = LocalQueryEncoder(model, LAYOUT, MANIFEST)
    vectors = [encoder.encode("seal") for _ in range(2)]
    assert model.asked == [f"query: {PROBE}", "query: seal"]
    wanted = WordModel().embed(["query: seal"], "query")[0]
    assert vectors[0] is not None
    assert np.array_equal(vectors[0], wanted)
    assert vectors[1] is vectors[0]


def test_another_model_is_refused() -> None:
    with pytest.raises(IndexUnusableError, match="fastembed model 'words', but a different model"):
        LocalQueryEncoder(WordModel("another"), LAYOUT, MANIFEST)
    narrow = replace(MANIFEST, probe_vector=MANIFEST.probe_vector[:10])
    with pytest.raises(IndexUnusableError, match="has 64 numbers instead of 10"):
        LocalQueryEncoder(WordModel(), LAYOUT, narrow)


def test_query_without_a_vector_is_not_an_error() -> None:
    encoder = LocalQueryEncoder(WordModel(), LAYOUT, MANIFEST)
    assert encoder.encode("unspeakable") is None
    assert encoder.encode("seal") is not None


def test_queries_are_embedded_concurrently_if_the_model_allows_it() -> None:
    meeting = threading.Barrier(2, timeout=60)

    class Meeting(WordModel):
        """A model that waits until two threads call it together."""

        def embed(
            self, texts: Sequence[str], side: Literal["document", "query"]
        ) -> NDArray[np.float32]:
            if PROBE not in texts[0]:
                meeting.wait()
            return WordModel().embed(texts, side)

    encoder = LocalQueryEncoder(Meeting(), LAYOUT, MANIFEST, at_a_time=2)
    with ThreadPoolExecutor(8) as pool:
        vectors = list(pool.map(encoder.encode, map(str, range(10))))
    assert not any(vector is None for vector in vectors)


def test_many_threads_share_one_model() -> None:
    encoder = LocalQueryEncoder(WordModel(), LAYOUT, MANIFEST)
    texts = [f"text {number}" for number in range(50)]
    with ThreadPoolExecutor(8) as pool:
        vectors = list(pool.map(encoder.encode, texts))
    for text, vector in zip(texts, vectors, strict=True):
        assert vector is not None
        assert np.array_equal(vector, WordModel().embed([f"query: {text}"], "query")[0])
