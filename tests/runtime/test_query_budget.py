"""Any search stays within its budget, and ordinary ones use little of it.

The server has all stages that need no model.
"""

import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small_indexes import Note, rendered_server, write_notes

from foundry.config.search import IndexOptions
from foundry.runtime.retrieval.journal import MIN_UNITS, TEXT_UNITS

WORDS = [f"{first}{second}" for first in ("pump", "seal", "valve") for second in "abcdefghij"]
NOTES = [
    Note(f"Note {number}", (" ".join(WORDS[number % 7 :]),), metadata={"team": "core"})
    for number in range(60)
]
STAGES = """
[search]
filterable = ["team"]
[search.operators]
[search.anchors]
[search.near_duplicates]
[search.document_cap]
[search.heuristics]
[search.word_parts]
[search.adaptive_weights]
"""
UNITS = 4_000

pieces = st.sampled_from(
    [
        *WORDS[:12],
        *(f'"{a} {b}"' for a, b in pairwise(WORDS)),
        *(f'-"{word}"' for word in WORDS[:4]),
        *(f"-{word}" for word in WORDS[:4]),
        *(f"{a}_{b}" for a, b in zip(WORDS, WORDS[3:], strict=False)),
        *("team:core", "path:nowhere", "nosuchword", "pumpq", "\ufdfa", "\u4e95\u6238"),
    ]
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    root = tmp_path_factory.mktemp("budget")
    with rendered_server(root, "budgeted", STAGES) as package:
        options = IndexOptions(filterable=("team",))
        package.load(write_notes(root / "v", NOTES, options=options))
        yield package


class Reading:
    """Counts what searches read: postings (for terms and operators) and texts (for phrases)."""

    def __init__(self, server: ModuleType, patch: pytest.MonkeyPatch, units: int) -> None:
        self.journals: list[Any] = []
        self.postings = self.texts = 0
        journal = sys.modules[f"{server.__name__}.retrieval.journal"]
        respond = server.search.respond
        lane = sys.modules[f"{server.__name__}.retrieval.keyword_lane"].KeywordLane
        operators = sys.modules[f"{server.__name__}.retrieval.stages.narrowing"]
        search, having, read = lane.search, lane.having, operators._read_phrase

        def answer(journal: Any, *found: Any) -> Any:
            self.journals.append(journal)
            return respond(journal, *found)

        def count_search(own: Any, terms: Sequence[str], *arguments: Any) -> Any:
            self.postings += sum(map(own.frequency, {*terms}))
            return search(own, terms, *arguments)

        def count_having(own: Any, term: str) -> Any:
            self.postings += own.frequency(term)
            return having(own, term)

        def count_texts(index: Any, phrase: str, chunks: Sequence[int]) -> Any:
            self.texts += len(chunks)
            return read(index, phrase, chunks)

        patch.setattr(journal, "MIN_UNITS", units)
        patch.setattr(journal, "UNITS_OF_CHUNK", 0)
        patch.setattr(server.search, "respond", answer)
        patch.setattr(lane, "search", count_search)
        patch.setattr(lane, "having", count_having)
        patch.setattr(operators, "_read_phrase", count_texts)


@given(st.lists(pieces, min_size=1, max_size=4), st.integers(1, 120))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_no_query_reads_more_than_its_budget(
    server: ModuleType, fragments: list[str], times: int
) -> None:
    query = (" ".join(fragments) + " ") * times
    with pytest.MonkeyPatch.context() as patch:
        reading = Reading(server, patch, UNITS)
        answer = server.search_hybrid(query[:2_000])
        again = server.search_hybrid(query[:2_000])
    assert all(journal.units >= 0 for journal in reading.journals)
    # This is the budget of both searches together.
    assert reading.postings + TEXT_UNITS * reading.texts <= 2 * UNITS
    assert [hit.id for hit in answer.hits] == [hit.id for hit in again.hits]
    assert answer.stages == again.stages


@pytest.mark.parametrize(
    "query", ["How does pumpa seal valveb?", "pumpc +valvee", "pumpa -sealb", "pumpa team:core"]
)
def test_ordinary_queries_use_little_of_their_budget(server: ModuleType, query: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        reading = Reading(server, patch, MIN_UNITS)
        answer = server.search_hybrid(query)
    assert reading.journals[0].units > MIN_UNITS * 0.75
    assert "budget" not in answer.stages


def test_a_phrase_is_read_within_the_budget(server: ModuleType) -> None:
    query = f'"{WORDS[10]} {WORDS[11]}"'
    with pytest.MonkeyPatch.context() as patch:
        reading = Reading(server, patch, 15_000)
        answer = server.search_hybrid(query)
    assert "operators" in answer.stages["budget"]["stopped"]
    assert answer.stages["operators"]["unread"] == 60 - reading.texts
    assert 0 < reading.texts < 60
