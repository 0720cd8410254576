"""Caps and near-duplicates in whole responses."""

from collections.abc import Sequence
from dataclasses import asdict
from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from samples import sample_candidates, sample_chunk, sample_hit

from foundry.runtime.index.lines import make_record
from foundry.runtime.index.records import ChunkRecord
from foundry.runtime.index.tokens import Tokenizer
from foundry.runtime.retrieval.journal import Journal
from foundry.runtime.retrieval.results import Hit, rank_hits, respond
from foundry.runtime.retrieval.stages.document_cap import cap_documents
from foundry.runtime.retrieval.stages.near_duplicates import merge_near_duplicates

INDEX: Any = SimpleNamespace(tokenizer=Tokenizer("english"))
TEXT = (
    "Lamps are checked by the foreman before each shift, and a lamp that smokes is handed in at the"
    " lamp room, where it is cleaned, filled with oil and locked again before anybody goes down."
)


def record(name: str, text: str = "", *, document: str = "d") -> ChunkRecord:
    return sample_chunk(
        id=name,
        document_id=document,
        title=document,
        text=text,
        position={"start": 0, "end": len(text), "line_start": 1, "line_end": 1},
        path=document,
    )


def index_of(records: Sequence[ChunkRecord]) -> Any:
    """An index of these chunks, without vectors."""
    return SimpleNamespace(
        chunk_lines=SimpleNamespace(
            each=lambda make, rows: (
                make_record(make, asdict(records[number]), **more) for number, more in rows
            )
        ),
        manifest=SimpleNamespace(dense=None),
    )


def hits(records: Sequence[ChunkRecord]) -> list[Hit]:
    """Hits in this order, with scores that decrease by 0.01."""
    return [
        sample_hit(**asdict(found), score=0.9 - number / 100)
        for number, found in enumerate(records)
    ]


def test_capped_response_is_filled_from_other_documents() -> None:
    # 60 chunks of one document rank above five chunks of others.
    records = [record(f"c{n:02}", document="big" if n < 60 else f"d{n}") for n in range(65)]
    found = sample_candidates([0.9 - n / 100 for n in range(65)])
    journal = Journal("q", 5)
    index = index_of(records)
    hits = cap_documents(rank_hits(index, found, 2), journal, most=2)
    response = respond(journal, hits, "weak")
    assert [hit.id for hit in response.hits] == ["c00", "c01", "c60", "c61", "c62"]
    assert response.stages == {"document_cap": {"left_out": 58}}


def merge(texts: Sequence[str], count: int = 10) -> tuple[list[Hit], Journal]:
    journal = Journal()
    found = hits([record(f"c{number}", text) for number, text in enumerate(texts)])
    shown = merge_near_duplicates(found, count, INDEX, journal, similarity=0.8)
    return list(shown), journal


@given(st.lists(st.sampled_from([TEXT, TEXT + " Indeed.", "one", "one two", "", "D40", "日本語"])))
def test_every_hit_is_shown_or_listed_once(texts: list[str]) -> None:
    shown, _ = merge(texts, count=len(texts))
    named = [name for hit in shown for name in (hit.id, *hit.near_duplicates)]
    assert sorted(named) == sorted(f"c{number}" for number in range(len(texts)))
    assert [hit.score for hit in shown] == sorted((hit.score for hit in shown), reverse=True)
