"""Reranking: the model's order, or the original order if the model is too late."""

import logging
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from cross_encoders import logit, write_cross_encoder
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from samples import sample_candidates, sample_chunk

from foundry.runtime.index.records import ChunkRecord
from foundry.runtime.retrieval.candidates import Candidates
from foundry.runtime.retrieval.journal import Journal
from foundry.runtime.retrieval.stages import cross_encoder
from foundry.runtime.retrieval.stages.cross_encoder import CrossEncoder, warm_if_wanted
from foundry.runtime.retrieval.stages.rerank import (
    FAILED,
    LATE,
    Model,
    Reranker,
    rerank,
)

TEXTS = [
    "Lamps are checked before each shift.",
    "Fans.",
    "Fans move air.",
    "Air is measured.",
]
SCORES = [0.9, 0.8, 0.4, 0.2]
FAR = 60_000


class Scripted:
    """A model that gives each passage a preset score, or fails as told."""

    def __init__(self, scores: Sequence[float], act: Callable[[], object] | None = None) -> None:
        self.scores = scores
        self.act = act
        self.queries: list[str] = []

    def score(self, query: str, passages: Sequence[str]) -> NDArray[np.float64]:
        self.queries.append(query)
        if self.act and query:
            self.act()
        return np.array(self.scores[: len(passages)], dtype=np.float64)


def index_of(texts: Sequence[str]) -> Any:
    def chunk(number: int) -> ChunkRecord:
        return sample_chunk(
            id=f"c{number:03}", document_id="d", title="d", text=texts[number], source="s", path="p"
        )

    return SimpleNamespace(chunks=partial(map, chunk))


def run(
    model: Reranker, scores: Sequence[float] = SCORES, hits: int = 3, deadline_ms: float = FAR
) -> tuple[Candidates, dict[str, Any]]:
    journal = Journal()
    ranked = rerank(
        sample_candidates(scores),
        index_of([*TEXTS, *TEXTS] * 20),
        "How do fans move air?",
        journal,
        model,
        hits=hits,
        deadline_ms=deadline_ms,
    )
    return ranked, journal.stages


def test_a_real_model_reorders_results(tmp_path: Path) -> None:
    words = "fans move air lamps are checked before each shift".split()
    folder = write_cross_encoder(tmp_path / "m", words)
    ranked, stages = run(Reranker(lambda: CrossEncoder(str(folder))))
    judged = [1 / (1 + np.exp(-logit(shared))) for shared in (0, 1, 3)]
    # The fourth candidate stays below the other three.
    assert ranked.scores == pytest.approx([*judged, judged[0] - 1e-6], abs=1.1e-6)
    assert ranked.scores[3] < ranked.scores[0]
    assert ranked.rerank is not None
    assert ranked.rerank == pytest.approx([*judged, np.nan], abs=1e-6, nan_ok=True)
    assert stages == {"rerank": {"hits": 3}}


def test_scores_below_the_reranked_ones_are_scaled() -> None:
    ranked, _ = run(Reranker(lambda: Scripted([0.5, 0.1])), [0.9, 0.8, 0.4, 0.2], hits=2)
    # 0.4 becomes a millionth less than the lowest new score, and 0.2 half of that.
    assert ranked.scores.tolist() == pytest.approx([0.5, 0.1, 0.099999, 0.05], abs=1e-6)


def test_no_score_is_below_zero() -> None:
    ranked, _ = run(Reranker(lambda: Scripted([0.5, 0.0])), [0.9, 0.8, 0.4, 0.2], hits=2)
    assert ranked.scores.tolist() == [0.5, 0.0, 0.0, 0.0]


def test_scores_below_the_reranked_ones_never_increase() -> None:
    ranked, _ = run(Reranker(lambda: Scripted([0.9, 0.8])), [0.9, 0.8, 0.4, 0.2], hits=2)
    assert ranked.scores.tolist() == [0.9, 0.8, 0.4, 0.2]


@given(
    scores=st.lists(st.floats(0, 1).map(lambda s: round(s, 6)), max_size=30),
    given_scores=st.lists(st.floats(0, 1), min_size=30, max_size=30),
    hits=st.integers(1, 30),
)
def test_order_is_consistent(scores: list[float], given_scores: list[float], hits: int) -> None:
    before = sample_candidates(scores).best_places()
    ranked, _ = run(Reranker(lambda: Scripted(given_scores)), scores, hits)
    assert ((ranked.scores >= 0) & (ranked.scores <= 1)).all()
    read, below = before[:hits], before[hits:]
    if len(below):
        assert ranked.scores[read].min() >= ranked.scores[below].max()
        assert (np.diff(ranked.scores[below]) <= 0).all()


def test_model_is_loaded_with_the_first_query_and_once() -> None:
    models: list[Scripted] = []

    def load() -> Model:
        models.append(Scripted([0.3, 0.2, 0.1]))
        return models[-1]

    model = Reranker(load)
    assert not models
    run(model)
    run(model)
    assert len(models) == 1
    warmed = Reranker(load)
    warmed.warm()
    assert len(models) == 2
    assert models[1].queries == [""]


def test_late_model_leaves_the_original_order(caplog: pytest.LogCaptureFixture) -> None:
    let_go = threading.Event()
    model = Reranker(lambda: Scripted([0.1, 0.2, 0.3], let_go.wait))
    with caplog.at_level(logging.WARNING):
        ranked, stages = run(model, deadline_ms=5)
    assert ranked.scores.tolist() == SCORES
    assert ranked.rerank is None
    assert stages == {"rerank": {"failed": LATE}}
    assert "0.005 s" in caplog.text
    # The model is not called for a while, so the next query is not delayed as well.
    assert run(model, deadline_ms=FAR)[1] == {"rerank": {"failed": LATE}}
    let_go.set()


def test_failing_model_leaves_the_original_order(caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> None:
        raise RuntimeError("no memory at /home/somebody")

    with caplog.at_level(logging.WARNING):
        ranked, stages = run(Reranker(lambda: Scripted([], fail)))
    assert ranked.scores.tolist() == SCORES
    assert stages == {"rerank": {"failed": FAILED}}
    assert "no memory" in caplog.text


def test_missing_model_leaves_the_original_order(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        ranked, stages = run(Reranker(lambda: CrossEncoder("/absent/model")))
    assert ranked.scores.tolist() == SCORES
    assert stages == {"rerank": {"failed": FAILED}}
    assert "/absent/model" in caplog.text


def test_recovered_model_is_used_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    clock = [0.0]
    monkeypatch.setattr("foundry.runtime.retrieval.circuit_breaker.FIRST_PAUSE", 0.0)
    scripted = Scripted([0.1, 0.2, 0.3], lambda: 1 / clock[0])
    model = Reranker(lambda: scripted)
    assert "failed" in run(model)[1]["rerank"]
    clock[0] = 1.0
    caplog.clear()
    assert run(model)[1] == {"rerank": {"hits": 3}}
    assert run(model)[1] == {"rerank": {"hits": 3}}
    assert caplog.messages == ["the reranking model responds again"]


def test_searches_that_waited_too_long_do_not_run_the_model() -> None:
    scripted = Scripted([0.1])
    model = Reranker(lambda: scripted)
    with model._slots, pytest.raises(TimeoutError):
        model._run(scripted, "q", ["p"], 0.01)
    assert scripted.queries == []
    assert model._run(scripted, "q", ["p"], 0.01).tolist() == [0.1]


@pytest.mark.parametrize(
    ("value", "times"), [(None, 0), ("", 0), ("0", 0), ("true", 0), ("1", 1), (" 1 ", 1)]
)
def test_model_is_loaded_at_start_up_if_configured(
    value: str | None, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    models: list[Scripted] = []

    def load() -> Model:
        models.append(Scripted([0.1]))
        return models[-1]

    one = Reranker(load)
    monkeypatch.setattr("foundry.runtime.retrieval.stages.cross_encoder.reranker", lambda: one)
    monkeypatch.delenv("RERANK_WARM", raising=False)
    if value is not None:
        monkeypatch.setenv("RERANK_WARM", value)
    warm_if_wanted()
    assert len(models) == times


def test_without_results_no_model_is_run() -> None:
    ranked, stages = run(Reranker(lambda: pytest.fail("loaded")), [])
    assert len(ranked.scores) == 0
    assert stages == {}


def test_concurrent_threads_share_one_model(monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow(Reranker):
        def __init__(self, load: Callable[[], Model]) -> None:
            time.sleep(0.2)
            super().__init__(load)

    monkeypatch.setattr(cross_encoder, "Reranker", Slow)
    monkeypatch.setattr(cross_encoder, "_rerankers", {})
    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(lambda _: cross_encoder.reranker(), range(2))
    assert one is other


FORKING = """
import os, signal, sys, time
from foundry.runtime.retrieval.stages import cross_encoder
cross_encoder.read_model = lambda: sys.argv[1]

def score():
    return list(cross_encoder.reranker().score("fans", ["fans", "air"] * 50, seconds=300))

for _ in range(10):
    wanted = score()
    os.environ["RERANK_WARM"] = "1"
    child = os.fork()
    if child == 0:
        limit = time.monotonic() + 300
        while cross_encoder.reranker()._model is None:
            time.sleep(0.01)
            if time.monotonic() > limit:
                os._exit(2)
        os._exit(0 if score() == wanted else 1)
    limit = time.monotonic() + 600
    while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0):
        time.sleep(0.01)
        if time.monotonic() > limit:
            os.kill(child, signal.SIGKILL)
    if ended[1]:
        sys.exit(f"the worker ended with status {ended[1]}")
"""


def test_forked_worker_has_a_model_of_its_own(tmp_path: Path) -> None:
    model = write_cross_encoder(tmp_path / "model", ["fans", "air"])
    script = subprocess.run(
        [sys.executable, "-c", FORKING, str(model)], text=True, capture_output=True
    )
    assert script.returncode == 0, script.stderr
