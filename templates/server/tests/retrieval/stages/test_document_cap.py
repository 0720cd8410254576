"""The cap per document."""

from foundry.runtime.index.lines import make_record
from foundry.runtime.index.records import ChunkRecord
from foundry.runtime.retrieval.journal import Journal
from foundry.runtime.retrieval.results import Hit, LaneRanks, LaneScores
from foundry.runtime.retrieval.stages.document_cap import HIT_UNITS, cap_documents

NOWHERE: dict[str, None] = {"semantic": None, "keyword": None}
BOOSTS: dict[str, dict[str, float]] = {"boosts": {}}


def hit(number: int, text: str = "", document: str = "d") -> Hit:
    """Return a hit whose score decreases by a hundredth with each number."""
    chunk = ChunkRecord(
        id=f"c{number}",
        document_id=document,
        title="",
        text=text,
        section=[],
        position={},
        source="docs",
        path="a.md",
        url=None,
        tags=[],
        modified=None,
        also_at=[],
    )
    lanes = {"scores": LaneScores(**NOWHERE), "ranks": LaneRanks(**NOWHERE)}
    return make_record(Hit, chunk.to_json(), score=0.9 - number / 100, **lanes, **BOOSTS)


def test_cap() -> None:
    journal = Journal()
    found = [hit(number, document=document) for number, document in enumerate("aababca")]
    shown = list(cap_documents(found, journal, most=2))
    assert [hit.id for hit in shown] == ["c0", "c1", "c2", "c4", "c5"]
    assert journal.stages == {"document_cap": {"left_out": 2}}


def test_hits_are_left_out_as_far_as_the_budget_goes() -> None:
    journal = Journal(units=2 * HIT_UNITS)
    found = iter([hit(number) for number in range(5)])
    assert [hit.id for hit in cap_documents(found, journal, most=1)] == ["c0"]
    assert journal.stages["document_cap"] == {"left_out": 2}
    assert journal.stages["budget"]["stopped"] == ["document_cap"]
    assert [hit.id for hit in found] == ["c4"]
