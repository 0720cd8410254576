"""Identifiers that an index has, and identifiers of which it has only the parts."""

import math
import random
import re
import sys
from itertools import accumulate
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from workshop.index.heading_terms import query_terms
from workshop.index.protocols import LaneHits
from workshop.index.tokens import Tokenizer
from workshop.retrieval.identifiers import (
    MAX_PATTERN_INPUT,
    finds_identifier,
    note_unknown_identifiers,
)
from workshop.retrieval.journal import Journal
from workshop.retrieval.keyword_lane import KeywordLane
from workshop.retrieval.match import compare_with_terms

TOKENIZER = Tokenizer("english")
CHUNKS = [
    ("Region D40", "Behind region D4, under 30 CFR 75.1725, in 2024, on page 11 of 99."),
    ("Incidents", "PII-2024-0042 and PII-2024-0017 were leaks. See CVE-2024-3095."),
    ("Numbers", "The number 0043 is free. Valve 802.3 weighs 12 kg."),
    ("Settings", "Set max_connections, then call std::vector::push_back."),
    ("Settings", "Use \u2013-verbose."),
    ("Networks", "Wi-Fi for guests. Powershell runs all of it, in a verbose and quick way."),
]


def make_index(chunks: list[tuple[str, str]]) -> Any:
    """Return an index of chunks, each given by heading and text; every term has impact 1."""
    postings: dict[str, list[int]] = {}
    for number, chunk in enumerate(chunks):
        for term in dict.fromkeys(TOKENIZER.terms("\n".join(chunk))):
            postings.setdefault(term, []).append(number)
    ends = dict(zip(postings, accumulate(map(len, postings.values())), strict=True))
    numbers = np.array([*sum(map(tuple, postings.values()), ())], dtype=np.uint32)
    lane = KeywordLane(
        lambda term: (ends[term] - len(postings[term]), ends[term]) if term in ends else (0, 0),
        numbers,
        np.ones(len(numbers), dtype=np.float32),
        len(chunks),
    )
    records = [SimpleNamespace(headings=lambda t=title: [t], text=text) for title, text in chunks]
    return SimpleNamespace(
        keyword_lane=lane,
        tokenizer=TOKENIZER,
        chunk_count=len(chunks),
        best_chunks=lambda terms, count: (records[n] for n in lane.search(terms, count).chunks),
    )


INDEX = make_index(CHUNKS)


def unknown(query: str, *patterns: str, index: Any = INDEX) -> tuple[str, ...]:
    _, tokens = TOKENIZER.tokenize_query(query)
    journal = Journal()
    note_unknown_identifiers(index, query, tokens, [*map(re.compile, patterns)], journal)
    return journal.unknown_identifiers


@pytest.mark.parametrize(
    "query",
    [
        "CVE-2024-0000",
        "PII-2024-9999",
        "PII-2024-0043",  # all parts exist, but elsewhere
        "pii-2024-9999",
        "PII-2024-004",
        "75.172",
        "30 CFR 99.999",
        "IEEE 802.11",
        "IEEE 802.3",  # 802.3 may be a number here
        "D4O",
        "D41",
        "max_connection_age",
        "vector::push_front",
        "server.pool.max_age",
        "server.verbose",  # any text may have such a word
        "MaxVerbose",
        "--quick",
        "-q",
        "/Zi",
    ],
)
def test_identifiers_in_no_text_are_unknown(query: str) -> None:
    assert unknown(query) == (query,)


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
        "29 CFR 75.1725",  # specific enough by itself
        "802.3",
        "max-connections",
        "maxConnections",
        "std::vector",  # within a longer name
        "vector::push_back",
        "WiFi",
        "PowerShell",
        "server.pool.max_connections",  # the text has the name alone
        "--verbose",  # an en dash and a hyphen in the chunk
        "what is D40?",
    ],
)
def test_identifiers_in_a_text_are_known(query: str) -> None:
    assert unknown(query) == ()


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
        ("What does D40 99.999 say?", ("99.999",)),
        ("What does NASA CVE-2099-99999 say?", ("CVE-2099-99999",)),
        ("Are 2.5 kg at 10:30 within a 90-day or 90-Day limit, e.g. on 2024-05-01, 24/7?", ()),
        ("Die 2-bändige Ausgabe für1996, ABC 2001-02?", ()),
        ("How are leaks handled?", ()),
    ],
)
def test_quantities_in_sentences_are_not_identifiers(query: str, named: tuple[str, ...]) -> None:
    assert unknown(query) == named


def test_no_passages_are_read_for_long_queries() -> None:
    # The parts of PII-2024-0043 exist; only reading chunks would show that the whole does not.
    names = "D41 PII-2024-0043"
    assert unknown(f"leaks of {names}") == ("D41", "PII-2024-0043")
    padding = " " * MAX_PATTERN_INPUT
    assert unknown(f"leaks of{padding}{names}") == ("D41",)


def test_matches_of_patterns_are_looked_for_as_written() -> None:
    assert unknown("quick way", "quick [a-z]+") == ()
    assert unknown("quick call", "quick [a-z]+") == ("quick call",)
    assert unknown("call the guests-way", "[a-z]+-way") == ("guests-way",)


@pytest.mark.parametrize("seed", range(5))
def test_comparing_letters_first_changes_no_result(
    monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    chooser = random.Random(seed)
    parts = [
        "max",
        "Wi",
        "Fi",
        "std",
        "7",
        "40",
        "d",
        "\u00e9t\u00e9",
        "Stra\u00dfe",
        "\uff21\uff22",
    ]
    joints = ["", "-", "_", "::", ".", " ", "--", "\u2013", ", "]

    def written() -> str:
        count = chooser.randrange(2, 5)
        return "".join(chooser.choice(parts) + chooser.choice(joints) for _ in range(count))

    index = make_index([(written(), " ".join(written() for _ in range(9))) for _ in range(20)])
    queries = [f"{chooser.choice(['', '--', '_'])}{written().strip()}" for _ in range(200)]
    named = [unknown(query, r"\w+[-_.:]+\w+", index=index) for query in queries]
    assert () in named and any(named)
    monkeypatch.setattr(
        sys.modules[note_unknown_identifiers.__module__], "letters_of", lambda _: b""
    )
    assert named == [unknown(query, r"\w+[-_.:]+\w+", index=index) for query in queries]


def test_pattern_is_compiled_only_if_some_text_has_the_letters_in_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    patterns, compile_pattern = list[str](), re.compile

    def counted(text: str) -> re.Pattern[str]:
        patterns.append(text)
        return compile_pattern(text)

    monkeypatch.setattr(re, "compile", counted)
    assert unknown("PII-2024-0043") == ("PII-2024-0043",)
    assert not patterns
    assert unknown("--verbose") == ()
    assert len(patterns) == 1


@pytest.mark.parametrize(("left", "found"), [(0, ("--quick",)), (-1, ())])
def test_cost_of_looking_for_an_identifier(left: int, found: tuple[str, ...]) -> None:
    # The term is in one chunk, which is read.
    journal = Journal(units=2_000 + 1 + 1_000 + left)
    _, tokens = TOKENIZER.tokenize_query("--quick")
    note_unknown_identifiers(INDEX, "--quick", tokens, (), journal)
    assert journal.unknown_identifiers == found
    assert (journal.units == 0) == ("budget" not in journal.stages) == bool(found)


def test_identifiers_that_may_be_in_unread_chunks_are_not_unknown() -> None:
    def unknown_among(count: int) -> tuple[str, ...]:
        index = make_index([(f"Note {number}", "It was quick.") for number in range(count)])
        return unknown("--quick", index=index)

    assert unknown_among(50) == ("--quick",)
    assert unknown_among(51) == ()


PATHS = make_index(
    [
        ("Methods", "Send tools/list, or Docs/Tools/list. Never destroy a tool of the client."),
        ("Others", "Gr\u00f6\u00dfe, up, up/list."),
        ("Paths", "See docs/server.md, https://client/list and ask/client/list. Serve docs first."),
    ]
)


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("what does tools/destroy do?", ("tools/destroy",)),
        ("Tools/Destroy.", ("Tools/Destroy",)),
        ("docs/tools/destroy", ("docs/tools/destroy",)),
        ("tools/list", ()),
        ("docs/tools/list", ()),
        ("tools/send", ("tools/send",)),
        ("tools/break", ()),  # plain words, which no text contains
        ("client/server", ()),  # no other name begins like this
        ("docs/client", ()),  # only a file
        ("https://tools/destroy", ()),
        ("ask/tools/x/destroy", ()),
        ("ask/tools", ()),
        ("tools/destroy.md", ("tools/destroy.md",)),  # always a file
        ("tools/up", ()),
        ("up/destroy", ()),
        ("tools/gr\u00f6\u00dfe", ("tools/gr\u00f6\u00dfe",)),
    ],
)
def test_paths_are_unknown_if_others_begin_like_them(query: str, named: tuple[str, ...]) -> None:
    assert unknown(query, index=PATHS) == named


def test_cost_of_looking_for_a_path() -> None:
    # `tool` and `destroi` are in one chunk, which is read.
    for left, found in ((0, ("tools/destroy",)), (-1, ())):
        journal = Journal(units=2_000 + 2 + 1_000 + left)
        _, tokens = TOKENIZER.tokenize_query("tools/destroy")
        note_unknown_identifiers(PATHS, "tools/destroy", tokens, (), journal)
        assert journal.unknown_identifiers == found
        assert (journal.units == 0) == bool(found)
    assert unknown("tools/destroy" + " " * MAX_PATTERN_INPUT, index=PATHS) == ()
    notes = [(f"Note {number}", "Of tools/list, destroy tools.") for number in range(51)]
    assert unknown("tools/destroy", index=make_index(notes[:50])) == ("tools/destroy",)
    assert unknown("tools/destroy", index=make_index(notes)) == ()


def test_the_full_score_includes_missing_terms() -> None:
    query = "CVE-2024-0000"
    terms = query_terms(INDEX.tokenizer.tokenize(query))
    hits = INDEX.keyword_lane.search(terms, 10)
    scored = compare_with_terms(hits, INDEX, terms, [query])
    # `cve20240000` and `0000` are in none of 6 chunks: ln(1 + 6.5 / 0.5) each.
    missing = 2 * math.log(14)
    assert INDEX.chunk_count == 6
    assert scored.full_score == pytest.approx(hits.scores[0] + missing)
    assert compare_with_terms(hits, INDEX, terms, []).full_score == hits.full_score
    assert hits.full_score == hits.scores[0]
    assert LaneHits.none().full_score == 1


def test_an_identifier_without_missing_terms_counts_as_one() -> None:
    terms = query_terms(INDEX.tokenizer.tokenize("--quick"))
    hits = INDEX.keyword_lane.search(terms, 10)
    scored = compare_with_terms(hits, INDEX, terms, ["--quick"])
    assert scored.missing_score == pytest.approx(math.log(14))


def test_identifiers_are_found_only_in_allowed_chunks() -> None:
    def finds(query: str, allowed: list[bool]) -> bool:
        tokens = INDEX.tokenizer.tokenize(query)
        hits = INDEX.keyword_lane.search(query_terms(tokens), 10, np.array(allowed))
        return finds_identifier(hits, INDEX, query, tokens, ())

    assert finds("PII-2024-0042", [True] * 6)
    # Only the note is visible, which contains just 2024 of the parts.
    assert not finds("PII-2024-0042", [True, False, False, False, False, False])
    assert not finds("PII-2024-0042", [False] * 6)
    # An option has no term of its own, so any hit suffices.
    assert finds("--verbose", [True] * 6)
    assert not finds("--verbose", [False] * 6)
    assert not finds("leaks", [True] * 6)
