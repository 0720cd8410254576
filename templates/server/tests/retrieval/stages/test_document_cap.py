"""The cap per document."""

from samples import sample_hit

from foundry.runtime.retrieval.journal import Journal
from foundry.runtime.retrieval.results import Hit
from foundry.runtime.retrieval.stages.document_cap import HIT_UNITS, cap_documents


def hit(number: int, text: str = "", document: str = "d") -> Hit:
    """Return a hit; its score is a hundredth lower for each number."""
    score = 0.9 - number / 100
    return sample_hit(id=f"c{number}", document_id=document, title="", text=text, score=score)


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
