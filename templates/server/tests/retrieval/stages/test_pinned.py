"""Pinned answers: which hits come first, and when nothing is pinned."""

import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from samples import sample_chunk

from foundry.runtime.errors import IndexUnusableError
from foundry.runtime.index.lines import make_record
from foundry.runtime.index.tokens import Tokenizer
from foundry.runtime.retrieval.candidates import Candidates
from foundry.runtime.retrieval.journal import Journal
from foundry.runtime.retrieval.results import Hit, rank_hits
from foundry.runtime.retrieval.stages.pinned import FILE, Pinned, pin_documents

PINNED = {"=vpn": ["d2", "gone", "d0"], "=reset password": ["d1"]}


class FakeIndex:
    """Three documents of two chunks each; document i has the chunks 2 i and 2 i + 1."""

    tokenizer = Tokenizer("english")

    def __init__(self, root: Path, content: str = json.dumps(PINNED)) -> None:
        (root / FILE).write_text(content)
        self.layout = SimpleNamespace(root=root)
        self.chunk_lines = self

    def part(self, kind: Any) -> Any:
        return Pinned.open(self) if kind == Pinned.open else self  # type: ignore[arg-type]

    def find(self, document_id: str) -> SimpleNamespace | None:
        if document_id not in ("d0", "d1", "d2"):
            return None
        return SimpleNamespace(chunk_start=2 * int(document_id[1:]), chunks=2)

    def each(self, make: Any, rows: Any) -> Any:
        return (self.read(number, make, **more) for number, more in rows)

    def read(self, number: int, make: Any, **more: Any) -> Any:
        read = sample_chunk(id=f"c{number}", document_id=f"d{number // 2}")
        return make_record(make, read.to_json(), **more)


def pin(
    index: Any, query: str, scores: dict[int, float], allowed: Sequence[bool] | None = None
) -> tuple[list[Hit], Journal]:
    """Return the hits for a query whose search found chunks with these scores, and the journal."""
    values = np.array([scores[chunk] for chunk in sorted(scores)])
    ranks = np.arange(1, len(scores) + 1)
    chunks = np.array(sorted(scores), dtype=np.int64)
    found = Candidates(
        chunks=chunks,
        semantic=None,
        semantic_ranks=0 * ranks,
        keyword=values,
        keyword_ranks=ranks,
        scores=values,
    )
    journal = Journal()
    mask = None if allowed is None else np.array(allowed)
    hits = pin_documents(rank_hits(index, found, 10), index, found, mask, query, journal)
    return list(hits), journal


def shown(hits: Sequence[Hit]) -> list[tuple[str, float, bool]]:
    return [(hit.id, hit.score, hit.pinned) for hit in hits]


@pytest.mark.parametrize("query", ["VPN", "vpn?", "What is the VPN?", " the (VPN)!"])
def test_documents_come_first_in_their_order_and_by_their_best_chunks(
    tmp_path: Path, query: str
) -> None:
    found = {0: 0.3, 1: 0.5, 2: 0.9}
    hits, journal = pin(FakeIndex(tmp_path), query, found)
    # No chunk of d2 was found, so its first chunk represents it.
    assert shown(hits) == [("c4", 1, True), ("c1", 1, True), ("c2", 0.9, False), ("c0", 0.3, False)]
    assert {*hits[0].scores.to_json().values(), *hits[0].ranks.to_json().values()} == {None}
    assert (hits[1].scores.keyword, hits[1].ranks.keyword) == (0.5, 2)
    assert [hit.boosts for hit in hits] == [{}, {}, {}, {}]
    assert journal.stages == {"pinned": {"documents": 2}}


@pytest.mark.parametrize("query", ["vpn client", "", "?", "password", "the", "vpn " * 30])
def test_other_queries_are_left_alone(tmp_path: Path, query: str) -> None:
    hits, journal = pin(FakeIndex(tmp_path), query, {0: 0.3, 2: 0.9})
    assert shown(hits) == [("c2", 0.9, False), ("c0", 0.3, False)]
    assert journal.stages == {}


def test_words_count_in_their_order_and_in_any_form(tmp_path: Path) -> None:
    index = FakeIndex(tmp_path)
    assert shown(pin(index, "resetting passwords", {})[0]) == [("c2", 1, True)]
    assert shown(pin(index, "password reset", {})[0]) == []


def test_what_may_not_be_found_is_not_pinned(tmp_path: Path) -> None:
    index = FakeIndex(tmp_path)
    second = [False, True] * 3
    assert shown(pin(index, "vpn", {}, second)[0]) == [("c5", 1, True), ("c1", 1, True)]
    # Candidates are limited to chunks that may be found.
    only = [True, True, False, False, False, False]
    assert shown(pin(index, "vpn", {1: 0.2}, only)[0]) == [("c1", 1, True)]
    hits, journal = pin(index, "vpn", {}, [False] * 6)
    assert (hits, journal.stages) == ([], {})


def test_a_view_has_the_same_ids() -> None:
    pinned = Pinned(PINNED)
    assert pinned.within(np.zeros(3, dtype=np.bool_)) is pinned


@pytest.mark.parametrize("content", ["", "[]", '{"=vpn": 1}', "{"])
def test_a_damaged_file_is_named(tmp_path: Path, content: str) -> None:
    index: Any = FakeIndex(tmp_path, content)
    with pytest.raises(IndexUnusableError, match=f"{FILE}: unreadable: .*; pinned answers"):
        Pinned.open(index)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    index: Any = FakeIndex(tmp_path)
    (tmp_path / FILE).unlink()
    with pytest.raises(IndexUnusableError, match="pinned answers need it"):
        Pinned.open(index)
