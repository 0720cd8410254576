"""Identifiers that an index has, and those that it does not have though it has their parts."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_indexes import Note, write_notes

from foundry.indexing.versions import open_index
from foundry.runtime.index.reader import Index
from foundry.runtime.retrieval.candidates import LaneHits
from foundry.runtime.retrieval.identifiers import (
    MAX_PATTERN_INPUT,
    find_unknown_identifiers,
    finds_identifier,
)
from foundry.runtime.retrieval.results import compare_with_terms
from foundry.runtime.retrieval.tokens import query_terms

NOTES = [
    Note("Region D40", ("Behind region D4, under 30 CFR 75.1725, in 2024, on page 11 of 99.",)),
    Note("Incidents", ("PII-2024-0042 and PII-2024-0017 were leaks. See CVE-2024-3095.",)),
    Note("Numbers", ("The number 0043 is free. Valve 802.3 weighs 12 kg.",)),
    Note(
        "Settings",
        ("Set max_connections, then call std::vector::push_back.", "Use \u2013-verbose."),
    ),
    Note("Networks", ("Wi-Fi for guests. Powershell runs all of it, in a verbose and quick way.",)),
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return open_index(write_notes(tmp_path_factory.mktemp("notes") / "index", NOTES, vectors=False))


def unknown(index: Index, query: str, *patterns: str) -> tuple[str, ...]:
    _, tokens = index.tokenizer.tokenize_query(query)
    return find_unknown_identifiers(index, query, tokens, [*map(re.compile, patterns)])


@pytest.mark.parametrize(
    "query",
    [
        "CVE-2024-0000",
        "PII-2024-9999",
        "PII-2024-0043",  # all parts are there, in other places
        "pii-2024-9999",
        "PII-2024-004",
        "75.172",
        "30 CFR 99.999",
        "IEEE 802.11",
        "IEEE 802.3",  # a weight here
        "D4O",
        "D41",
        "max_connection_age",
        "vector::push_front",
        "MaxVerbose",
        "--quick",
        "-q",
        "/Zi",
    ],
)
def test_what_no_text_has_is_unknown(index: Index, query: str) -> None:
    assert unknown(index, query) == (query,)


@pytest.mark.parametrize(
    "query",
    [
        "D40",
        "d40",
        "D-40",
        "PII-2024-0042",
        "pii_2024_0042",
        "PII20240042",
        "30 CFR 75.1725",
        "29 CFR 75.1725",  # a number like this says enough by itself
        "802.3",
        "max-connections",
        "maxConnections",
        "std::vector",  # within a longer name
        "vector::push_back",
        "WiFi",
        "PowerShell",
        "--verbose",  # as texts are set
        "what is D40?",
    ],
)
def test_what_a_text_has_is_known(index: Index, query: str) -> None:
    assert unknown(index, query) == ()


@pytest.mark.parametrize(
    ("query", "named"),
    [
        (
            "What does 30 CFR 99.999 say of D40 and CVE-2099-99999?",
            ("30 CFR 99.999", "CVE-2099-99999"),
        ),
        ("What does section 99.999 require?", ("99.999",)),
        ("Is D41 near D41?", ("D41",)),
        ("What does the IT 99.999 say?", ("99.999",)),
        ("Are 2.5 kg at 10:30 within a 90-day or 90-Day limit, e.g. on 2024-05-01, 24/7?", ()),
        ("Die 2-bändige Ausgabe für1996, ABC 2001-02?", ()),
        ("How are leaks handled?", ()),
    ],
)
def test_quantities_in_sentences_name_nothing(
    index: Index, query: str, named: tuple[str, ...]
) -> None:
    assert unknown(index, query) == named


def test_for_a_long_query_no_passage_is_read(index: Index) -> None:
    # Of the latter all parts are there, and reading would tell that the whole is not.
    names = "D41 PII-2024-0043"
    assert unknown(index, f"leaks of {names}") == ("D41", "PII-2024-0043")
    padding = " " * MAX_PATTERN_INPUT
    assert unknown(index, f"leaks of{padding}{names}") == ("D41",)


def test_the_owners_identifiers_are_looked_for_as_written(index: Index) -> None:
    assert unknown(index, "quick way", "quick [a-z]+") == ()
    assert unknown(index, "quick call", "quick [a-z]+") == ("quick call",)
    assert unknown(index, "call the guests-way", "[a-z]+-way") == ("guests-way",)


def test_nothing_is_called_unknown_while_it_may_stand_in_what_was_not_read(tmp_path: Path) -> None:
    def unknown_among(count: int) -> tuple[str, ...]:
        notes = [Note(f"Note {n}", ("It was quick.",)) for n in range(count)]
        index = open_index(write_notes(tmp_path / str(count), notes, vectors=False))
        return unknown(index, "--quick")

    assert unknown_among(50) == ("--quick",)
    assert unknown_among(51) == ()


@given(st.sampled_from(["CVE", "PII", "D", "ISO"]), st.integers(0, 9999), st.integers(0, 9999))
def test_no_new_name_is_known(index: Index, letters: str, one: int, other: int) -> None:
    name = f"{letters}-{one}-{other}"
    assert unknown(index, name) == (name,)


def test_the_best_hit_lacks_the_idf_of_each_missing_term(index: Index) -> None:
    query = "CVE-2024-0000"
    terms = query_terms(index.tokenizer.tokenize(query))
    hits = index.keyword_lane.search(terms, 10)
    scored = compare_with_terms(hits, index, terms, [query])
    # `cve20240000` and `0000` are in none of 6 chunks: ln(1 + 6.5 / 0.5) each.
    missing = 2 * math.log(14)
    assert index.chunk_count == 6
    assert scored.full_score == pytest.approx(hits.scores[0] + missing)
    assert scored.full_score == pytest.approx(hits.scores[0] + missing)
    assert compare_with_terms(hits, index, terms, []).full_score == hits.full_score
    assert hits.full_score == hits.scores[0]
    assert LaneHits.none().full_score == 1


def test_what_only_the_texts_tell_is_missing_as_one_term(index: Index) -> None:
    terms = query_terms(index.tokenizer.tokenize("--quick"))
    hits = index.keyword_lane.search(terms, 10)
    scored = compare_with_terms(hits, index, terms, ["--quick"])
    assert scored.missing_score == pytest.approx(math.log(14))


def test_a_lane_that_may_not_find_the_whole_finds_no_identifier(index: Index) -> None:
    def finds(query: str, allowed: list[bool]) -> bool:
        tokens = index.tokenizer.tokenize(query)
        hits = index.keyword_lane.search(query_terms(tokens), 10, np.array(allowed))
        return finds_identifier(hits, index, tokens, ())

    assert finds("PII-2024-0042", [True] * 6)
    # Only the note that has nothing of it but 2024.
    assert not finds("PII-2024-0042", [True, False, False, False, False, False])
    assert not finds("PII-2024-0042", [False] * 6)
    assert finds("--verbose", [True] * 6)
    # Without an identifier any hit will do.
    assert finds("leaks", [True] * 6)
    assert not finds("leaks", [False] * 6)
