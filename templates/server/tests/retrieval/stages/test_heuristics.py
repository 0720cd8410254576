"""Heuristics: the query's names and categories in a chunk, with numbers computed by hand."""

from collections.abc import Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from samples import sample_chunk

from foundry.runtime.index.protocols import LaneHits
from foundry.runtime.index.records import ChunkRecord
from foundry.runtime.index.tokens import Tokenizer
from foundry.runtime.retrieval.candidates import Candidates
from foundry.runtime.retrieval.stages.heuristics import find_entities, rerank_heuristically

TOKENIZER = Tokenizer("english")


def record(name: str, text: str, *, tags: Sequence[str] = ()) -> ChunkRecord:
    return sample_chunk(id=name, title="d", text=text, tags=list(tags))


def candidates(scores: Sequence[float]) -> Candidates:
    values = np.array(scores, dtype=np.float64)
    return Candidates.by_keyword(LaneHits(np.arange(len(scores)), values)).with_scores(values)


def index_of(records: Sequence[ChunkRecord], *, chunks: int = 16, holding: int = 1) -> Any:
    """An index of `chunks` chunks, of which `holding` contain each term."""
    return SimpleNamespace(
        chunks=partial(map, records.__getitem__),
        tokenizer=TOKENIZER,
        chunk_count=chunks,
        keyword_lane=SimpleNamespace(frequency=lambda _: holding),
    )


@pytest.mark.parametrize(
    ("query", "entities"),
    [
        ("Who is Orsel Vane?", [{"orsel"}, {"vane"}]),
        ("Ventilation of the mine", []),
        ("Orsel Vane", [{"orsel"}, {"vane"}]),
        ("Orsel Vane lives here", [{"orsel"}, {"vane"}]),
        ("Orsel keeps Vane", [{"vane"}]),
        ("what is D40", [{"d40"}]),
        ("how does max_connections work", [{"maxconnections", "max", "connect"}]),
        ("", []),
    ],
)
def test_entities(query: str, entities: list[set[str]]) -> None:
    assert [set(entity) for entity in find_entities(TOKENIZER.tokenize(query))] == entities


def test_heuristic_factors_by_hand() -> None:
    records = [
        record("a", "Nobody is named here."),
        record("b", "Orsel met nobody.", tags=["fire safety"]),
        record("c", "Orsel Vane lives here."),
        record("d", "Orsel Vane lives here too."),
    ]
    tokens = TOKENIZER.tokenize("What did Orsel Vane say on safety and fire?")
    ranked = rerank_heuristically(
        candidates([0.8, 0.6, 0.5, 0.1]),
        index_of(records),
        tokens,
        hits=3,
        entities_gain=0.3,
        category_gain=0.1,
    )
    largest = 1.3 * 1.1
    assert ranked.boosts["entities"].tolist() == pytest.approx([1, 1.15, 1.3, 1])
    assert ranked.boosts["category"].tolist() == pytest.approx([1, 1.1, 1, 1])
    assert ranked.scores == pytest.approx(
        [0.8 / largest, 0.6 * 1.15 * 1.1 / largest, 0.5 * 1.3 / largest, 0.1 / largest], abs=2e-6
    )


@pytest.mark.parametrize(
    ("chunks", "holding", "factor"),
    [(16, 0, 1.3), (16, 1, 1.3), (16, 4, 1.15), (16, 16, 1.0), (2, 2, 1.0), (1, 1, 1.3)],
)
def test_what_many_chunks_hold_says_less(chunks: int, holding: int, factor: float) -> None:
    # 1 - ln(4) / ln(16) is one half.
    ranked = rerank_heuristically(
        candidates([0.8]),
        index_of([record("a", "Orsel lives here.")], chunks=chunks, holding=holding),
        TOKENIZER.tokenize("where does Orsel live"),
        hits=1,
        entities_gain=0.3,
        category_gain=0.0,
    )
    assert ranked.boosts["entities"].tolist() == pytest.approx([factor])


def test_heuristics_without_candidates() -> None:
    ranked = rerank_heuristically(
        candidates([]), index_of([]), [], hits=5, entities_gain=0.3, category_gain=0.1
    )
    assert len(ranked.scores) == 0
