"""Operators in queries, on an index written by Foundry and in a rendered server.

Parsing of operators is tested in `retrieval/stages/test_operators.py`.
"""

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_indexes import Note, rendered_server, write_notes

from foundry.config.search import IndexOptions
from foundry.indexing.versions import open_index
from foundry.runtime.index.reader import OpenedIndex
from foundry.runtime.retrieval.filters import FilterColumns
from foundry.runtime.retrieval.journal import Journal
from foundry.runtime.retrieval.stages.narrowing import apply_operators
from foundry.runtime.retrieval.stages.operators import (
    PHRASE_UNITS,
    parse_operators,
    read_operators,
)
from foundry.runtime.retrieval.view import view_of

NOTES = [
    Note("Pump", ("Oil the seal of the pump.",), metadata={"team": "core"}, tags=("two words",)),
    Note("Seal", ("The pump has a **seal**, and oil\ngets on it.",), metadata={"team": "deep"}),
    Note("Valve", ("Set max_size of the C++ valve, std::vector and D40.",), modified="2026-01-10"),
    Note("井戸", ("日本語の井戸ポンプ",)),
    Note("Pumps", ("Seals of pumps are oily.",), metadata={"team": "core"}),
]
OPTIONS = IndexOptions(filterable=("team",))


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> OpenedIndex:
    folder = tmp_path_factory.mktemp("operators") / "v"
    return open_index(write_notes(folder, NOTES, vectors=False, options=OPTIONS))


pieces = st.sampled_from(
    [
        *('"', "“", "”", "-", "+", ":", ".", " ", "  ", "\t", "\x00", "\u0301", "5", "井戸"),
        *"pump seal the C++ 10:30 std::vector team core source s0 path tag".split(),
    ]
)


@given(st.lists(pieces, max_size=12).map("".join) | st.text(max_size=60))
def test_no_query_is_refused_and_no_word_is_lost(index: OpenedIndex, query: str) -> None:
    found = parse_operators(index, query, Journal())
    terms = index.tokenizer.terms
    if not found.items and not found.filters:
        assert found.text == query
    else:
        assert terms(found.text)
    for item in found.items:
        assert terms(item.text)
        assert item.is_excluded or set(terms(item.text)) <= set(terms(found.text))
    allowed = apply_operators(None, found, index, Journal(), phrase_chunks=10)
    assert (allowed is None) == (not found.items and not found.filters)


def found_by(index: OpenedIndex, query: str) -> list[int]:
    """The numbers of the notes that match a query's operators."""
    operators = parse_operators(index, query, Journal())
    allowed = apply_operators(None, operators, index, Journal(), phrase_chunks=10)
    assert allowed is not None
    return [number for number, passes in enumerate(allowed) if passes]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ('"oil gets"', [1]),
        ('"pump"', [0, 1]),
        ('"井戸ポ"', [3]),
        ("pump +seals", [0, 1, 4]),
        ("pump -seal", [2, 3]),
        ("pump team:core team:deep", [0, 1, 4]),
        ('tag:"two words" pump', [0]),
        ("pump source:s1", [1, 3]),
        ("pump path:notes/2.md", [2]),
        ("pump modified_after:2026-01-01", [2]),
        ("pump team:core -oily", [0]),
    ],
)
def test_operators_restrict_what_is_found(
    index: OpenedIndex, query: str, expected: list[int]
) -> None:
    assert found_by(index, query) == expected


def test_exclusions_apply_within_a_view(index: OpenedIndex) -> None:
    view = view_of(index, {"team": "core"})
    for query, expected in (("pump -oily", [0]), ("pump +oily", [1]), ("pump -valves", [0, 1])):
        operators = parse_operators(view, query, Journal())
        own = view.part(FilterColumns.open).select(None)
        allowed = apply_operators(own, operators, view, Journal(), phrase_chunks=10)
        assert allowed is not None
        assert np.flatnonzero(allowed).tolist() == expected


@pytest.mark.parametrize(("left", "read"), [(0, 2), (-1, 1)])
def test_phrases_beyond_the_budget_are_ordinary_words(
    index: OpenedIndex, left: int, read: int
) -> None:
    once = Journal(units=1_000_000)
    parse_operators(index, 'oil "井戸"', once)
    spent = 1_000_000 - once.units
    assert spent >= PHRASE_UNITS
    journal = Journal(units=2 * spent + left)
    found = parse_operators(index, 'oil "井戸" "井戸"', journal)
    assert len(found.items) == read
    assert ("budget" in journal.stages) == (read < 2)
    assert found.text.count('"') == (0 if read == 2 else 2)


def test_a_repeated_phrase_is_read_once(index: OpenedIndex) -> None:
    journal = Journal()
    _, operators = read_operators(index, 'pump "the seal" "the seal"', journal)
    before = journal.units
    apply_operators(None, operators, index, journal, phrase_chunks=10)
    once = before - journal.units
    _, operators = read_operators(index, 'pump "the seal"', journal)
    before = journal.units
    apply_operators(None, operators, index, journal, phrase_chunks=10)
    assert before - journal.units == once > 0


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    root = tmp_path_factory.mktemp("server")
    options = '[search]\nfilterable = ["team"]\n[search.operators]\n'
    with rendered_server(root, "with_operators", options) as package:
        package.load(write_notes(root / "v", NOTES, options=OPTIONS))
        yield package


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "keyword"])
def test_a_server_applies_operators(server: ModuleType, mode: str, tmp_path: Path) -> None:
    answer = server.search_hybrid('oil -oily "the seal" team:core', mode=mode)
    assert [hit.document_id for hit in answer.hits] == ["d0"]
    assert answer.query == 'oil -oily "the seal" team:core'
    assert answer.unknown_identifiers == ()
    assert answer.stages["operators"] == {
        "excluded": ["oily"],
        "phrases": ["the seal"],
        "filters": {"team": ["core"]},
        "query": "oil the seal",
    }
    assert server.search_hybrid("oil +D41", mode=mode).hits == ()


def test_a_quoted_identifier_is_an_identifier(server: ModuleType) -> None:
    assert server.search_hybrid('"D40"').reason == "identifier"
