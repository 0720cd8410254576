"""Passages and hits for tests, in which only the given fields matter."""

from typing import Any

from observatory.index.records import ChunkRecord
from observatory.retrieval.results import Hit, LaneRanks, LaneScores


def sample_chunk(**known: Any) -> ChunkRecord:
    """Return a passage with these fields."""
    return ChunkRecord(**_fields(known))


def sample_hit(**known: Any) -> Hit:
    """Return a hit with these fields, which no lane has scored."""
    scored = {"score": 0.5, "scores": LaneScores(None, None), "ranks": LaneRanks(None, None)}
    return Hit(**_fields({**scored, "boosts": {}, **known}))


def _fields(known: dict[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {
        **{"id": "c1", "document_id": "d1", "title": "Guide", "text": "", "section": []},
        **{"position": {}, "source": "docs", "path": "guide.md", "url": None, "tags": []},
    }
    return {**fields, "modified": None, "also_at": [], **known}
