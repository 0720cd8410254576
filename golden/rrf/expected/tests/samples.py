"""Passages, candidates and hits for tests, in which only the given fields matter."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from plant_cards.index.records import ChunkRecord
from plant_cards.retrieval.candidates import Candidates
from plant_cards.retrieval.results import Hit, LaneRanks, LaneScores


def sample_chunk(**known: Any) -> ChunkRecord:
    """Return a passage with these fields."""
    return ChunkRecord(**_fields(known))


def sample_hit(**known: Any) -> Hit:
    """Return a hit with these fields, which no lane has scored."""
    scored = {"score": 0.5, "scores": LaneScores(None, None), "ranks": LaneRanks(None, None)}
    return Hit(**_fields({**scored, "boosts": {}, **known}))


def sample_candidates(scores: Sequence[float], **known: Any) -> Candidates:
    """Return candidates with these scores: the chunks 0, 1 ..., which no lane has found."""
    fields = {
        "chunks": range(len(scores)),
        "semantic": None,
        "keyword": None,
        "semantic_ranks": [0] * len(scores),
        "keyword_ranks": [0] * len(scores),
        "scores": [float(score) for score in scores],
        **known,
    }
    lists = {name: np.array(each) for name, each in fields.items() if hasattr(each, "__len__")}
    return Candidates(**{**fields, **lists})


def _fields(known: dict[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {
        **{"id": "c1", "document_id": "d1", "title": "Guide", "text": "", "section": []},
        **{"position": {}, "source": "docs", "path": "guide.md", "url": None, "tags": []},
    }
    return {**fields, "modified": None, "also_at": [], **known}
