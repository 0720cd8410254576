"""Operators in queries over a few chunks: how they are parsed, and which chunks they exclude."""

import random
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from samples import sample_chunk

from foundry.runtime.errors import InvalidRequestError
from foundry.runtime.index.records import ChunkRecord
from foundry.runtime.index.tokens import MAX_QUERY_CHARACTERS, Tokenizer
from foundry.runtime.retrieval.filters import FilterColumns
from foundry.runtime.retrieval.journal import TEXT_UNITS, Journal
from foundry.runtime.retrieval.keyword_lane import KeywordLane
from foundry.runtime.retrieval.stages.narrowing import apply_operators
from foundry.runtime.retrieval.stages.operators import (
    MAX_ITEMS,
    Item,
    Operators,
    parse_operators,
    read_operators,
)

compile_pattern = re.compile

TEXTS = [
    "Oil the seal of the pump.",
    "The pump has a **seal**, and oil\ngets on it.",
    "Set max_size of the C++ valve, std::vector and D40.",
    "\u65e5\u672c\u8a9e\u306e\u4e95\u6238\u30dd\u30f3\u30d7\u3002\u30bb\u30f3\u30b5\u30fc\u306e\u6545\u969c",
    "Seals of pumps are oily.",
]
VALUES = {
    ("team", "core"): [0, 4],
    ("team", "deep"): [1],
    ("tags", "two words"): [0],
    ("tags", "two oil"): [0],
    ("path", "notes/1"): [1],
    ("modified_after", "2026-01-01"): [2, 3, 4],
    ("modified_after", "2026-02-01"): [3, 4],
}


class Filters:
    """Filters given as a table of the chunks that have a value."""

    columns = ("team",)

    def select(self, filters: dict[str, Any]) -> Any:
        passing = np.ones(len(TEXTS), dtype=np.bool_)
        for name, values in filters.items():
            if values == "soon":
                raise InvalidRequestError("no time", field=name)
            several = [values] if isinstance(values, str) else values
            numbers = [number for value in several for number in VALUES.get((name, value), [])]
            passing &= np.isin(np.arange(len(TEXTS)), numbers)
        return passing


class SmallIndex:
    """An index with one chunk for each text, under a heading."""

    tokenizer = Tokenizer("english")
    chunk_count = len(TEXTS)

    def __init__(self) -> None:
        self.read: list[int] = []
        self.manifest = SimpleNamespace(chunks=len(TEXTS))
        having: defaultdict[str, list[int]] = defaultdict(list)
        for number, text in enumerate(TEXTS):
            for term in sorted({*self.tokenizer.terms(f"{text} Note {number}")}):
                having[term].append(number)
        ends = np.cumsum([0, *map(len, having.values())]).tolist()
        places = dict(zip(having, pairwise(ends), strict=True))
        postings = np.array([n for numbers in having.values() for n in numbers], dtype=np.uint32)
        # Earlier chunks have higher impacts.
        impacts = (1 - postings / 8).astype(np.float32)
        self.keyword_lane = KeywordLane(
            lambda term: places.get(term, (0, 0)), postings, impacts, len(TEXTS)
        )

    def part(self, kind: object) -> Filters:
        assert kind == FilterColumns.open
        return Filters()

    def chunks(self, numbers: Iterable[int]) -> Iterator[ChunkRecord]:
        return map(self.chunk, numbers)

    def chunk(self, number: int) -> ChunkRecord:
        self.read.append(number)
        return sample_chunk(title="d", text=TEXTS[number], section=[f"Note {number}"])


@pytest.fixture
def index() -> Any:
    return SmallIndex()


def phrase(text: str, *, is_excluded: bool = False) -> Item:
    return Item(text, is_phrase=True, is_excluded=is_excluded)


def word(text: str, *, is_excluded: bool = False) -> Item:
    return Item(text, is_phrase=False, is_excluded=is_excluded)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ('"oil the" pump', Operators("oil the pump", (phrase("oil the"),))),
        ("\u201coil  the\u201d pump", Operators("oil the pump", (phrase("oil the"),))),
        ('pump -"oil the"?', Operators("pump ?", (phrase("oil the", is_excluded=True),))),
        ("pump -seal", Operators("pump", (word("seal", is_excluded=True),))),
        ("-seal, pump", Operators(", pump", (word("seal", is_excluded=True),))),
        ("pump +seal.", Operators("pump seal.", (word("seal"),))),
        ("pump -C++", Operators("pump", (word("C++", is_excluded=True),))),
        # Stop words cost the same, although they are not terms.
        (
            '-"the of" pump +seal',
            Operators("pump seal", (phrase("the of", is_excluded=True), word("seal"))),
        ),
        ("+the pump", Operators("the pump", (word("the"),))),
        ("pump -team:core", Operators("pump", excluded=(("team", "core"),))),
        ("pump +team:core", Operators("pump", filters=(("team", "core"),))),
        ("pump -std::vector", Operators("pump", (word("std::vector", is_excluded=True),))),
        # A query that is only a filter searches for its value, if some text contains it.
        ('tag:"two oil"', Operators("two oil", filters=(("tags", "two oil"),))),
        ("pump team:core", Operators("pump", filters=(("team", "core"),))),
        ("TEAM:core pump", Operators("pump", filters=(("team", "core"),))),
        ('tag:"two words" pump', Operators("pump", filters=(("tags", "two words"),))),
        ("pump path:notes/1", Operators("pump", filters=(("path", "notes/1"),))),
        (
            "pump modified_after:2026-01-01",
            Operators("pump", filters=(("modified_after", "2026-01-01"),)),
        ),
    ],
)
def test_operators_are_parsed(index: Any, query: str, expected: Operators) -> None:
    assert parse_operators(index, query, Journal()) == expected


@pytest.mark.parametrize(
    "query",
    [
        *("C++", "-5 degrees", "a - b", "10:30", "std::vector", "--verbose pump", "-x pump"),
        *("https://docs.example/a?b=c", "http://notes.example:80/x", '5" pipe and 6" pipe'),
        *('say "pump', 'pump "', '"" pump', '"!" pump', "well-known + pump"),
        *("-seal", '-"oil the"', "team:core", "team:core -seal", "source:nowhere pump"),
        *("team: core", "team:nobody pump", "modified_after:soon pump", "colour:red pump"),
        *("cmake -std=c++17", "x=-seal", "f(-seal)", "seal-pump", "+49 30 1234"),
    ],
)
def test_plain_text_has_no_operators(index: Any, query: str) -> None:
    assert parse_operators(index, query, Journal()) == Operators(query)


def found_by(index: Any, query: str, allowed: Any = None) -> list[int]:
    """Return the chunks that pass a query's operators."""
    operators = parse_operators(index, query, Journal())
    passing = apply_operators(allowed, operators, index, Journal(), phrase_chunks=10)
    assert passing is not None
    found: list[int] = np.flatnonzero(passing).tolist()
    return found


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ('"oil the seal"', [0]),
        ('"SEAL, AND"', [1]),
        ('"seal and oil gets"', [1]),
        ('"oil gets"', [1]),
        ('"pump"', [0, 1]),
        ('"note 4" seals', [4]),
        ('"\u4e95\u6238\u30dd"', [3]),
        # The word ends with a mark that lengthens its vowel and is not a letter of its own.
        ('"\u30bb\u30f3\u30b5\u30fc"', [3]),
        ('"std::vector and"', [2]),
        ('"max size"', [2]),
        ('"_size of"', [2]),
        ('"the c++ valve"', [2]),
        ('"oil th"', []),
        ("pump +seals", [0, 1, 4]),
        ("pump +seal -oily", [0, 1]),
        ("pump -seal", [2, 3]),
        ('pump -"the seal"', [1, 2, 3, 4]),
        ("pump team:core", [0, 4]),
        ("pump team:core team:deep", [0, 1, 4]),
        ("pump modified_after:2026-01-01 modified_after:2026-02-01", [3, 4]),
        ("pump team:core tag:'two words'", [0, 4]),
        ('pump team:core tag:"two words"', [0]),
        ("pump team:core -oily", [0]),
        ("pump +D40", [2]),
        ("pump +D41", []),
        ("pump -team:core", [1, 2, 3]),
        ("pump -team:core -team:deep", [2, 3]),
        ('"of the" pump', [0, 2]),
        ("+it pump", [1]),
        ("-the pump", [3, 4]),
    ],
)
def test_operators_restrict_the_chunks(index: Any, query: str, expected: list[int]) -> None:
    assert found_by(index, query) == expected


def test_without_operators_nothing_changes(index: Any) -> None:
    journal, own = Journal(), np.array([True, False, True, False, False])
    _, operators = read_operators(index, "oil the pump", journal)
    assert apply_operators(own, operators, index, journal, phrase_chunks=1) is own
    assert apply_operators(None, operators, index, journal, phrase_chunks=1) is None
    assert journal.stages == {}


def test_callers_keep_their_own_filters(index: Any) -> None:
    own = np.array([False, True, True, False, False])
    assert found_by(index, "pump -oily", own) == [1, 2]
    assert found_by(index, 'pump "seal"', own) == [1]
    assert found_by(index, "pump team:core", own) == []
    # Chunks that may not be found are not even read.
    assert set(index.read) <= {1, 2}


def test_the_number_of_chunks_read_for_a_phrase_is_limited(index: Any) -> None:
    journal = Journal()
    _, operators = read_operators(index, '"seal of" pump', journal)
    assert journal.stages["operators"] == {"phrases": ["seal of"], "query": "seal of pump"}
    allowed = apply_operators(None, operators, index, journal, phrase_chunks=1)
    assert allowed is not None and allowed.tolist() == [True, False, False, False, False]
    assert index.read == [0]
    assert journal.stages["operators"] == {
        "phrases": ["seal of"],
        "query": "seal of pump",
        "unread": 2,
    }


@pytest.mark.parametrize(("left", "read"), [(0, [0, 1]), (-1, [0])])
def test_chunks_that_the_budget_does_not_cover_are_unread(
    index: Any, left: int, read: list[int]
) -> None:
    journal = Journal()
    _, operators = read_operators(index, '"seal of" pump', journal)
    journal.units = 2 * TEXT_UNITS + left
    apply_operators(None, operators, index, journal, phrase_chunks=2)
    assert index.read == read
    assert journal.stages["operators"] == {
        "phrases": ["seal of"],
        "query": "seal of pump",
        "unread": 3 - len(read),
    }


@pytest.mark.parametrize(
    ("query", "units"),
    [
        # "Oil" is in two chunks, "seal" in three.
        ("pump +seal", 2_000 + 3),
        ("pump -seal", 2_000 + 3),
        # Each term costs as many units as the rarest term has postings; choosing the best chunks
        # reads all postings.
        ('"oil the seal"', 6_000 + 2 * 2 + (2 + 3)),
        ("pump team:core", 2_000),
        # The check costs the same if the field does not have the value.
        ("pump team:nobody", 2_000),
    ],
)
@pytest.mark.parametrize(("chunks", "marked"), [(19, 0), (20, 1), (39, 1), (40, 2)])
def test_cost_of_an_operator(index: Any, query: str, units: int, chunks: int, marked: int) -> None:
    index.chunk_count = chunks
    journal = Journal(units=units + marked)
    parse_operators(index, query, journal)
    assert journal.units == 0
    journal = Journal(units=units + marked - 1)
    assert parse_operators(index, query, journal) == Operators(query)
    assert journal.units == units + marked - 1
    assert journal.stages["budget"]["stopped"] == ["operators"]


def test_the_journal_lists_the_operators(index: Any) -> None:
    journal = Journal()
    read_operators(index, 'pump +seal -oily -"the end" team:core team:deep', journal)
    assert journal.stages["operators"] == {
        "required": ["seal"],
        "excluded": ["oily", "the end"],
        "filters": {"team": ["core", "deep"]},
        "query": "pump seal",
    }


@pytest.mark.parametrize("more", [0, 1, 3])
def test_operators_of_a_query_are_bounded(index: Any, more: int) -> None:
    found = parse_operators(index, "pump " + "+seal " * (MAX_ITEMS + more), Journal())
    assert len(found.items) == MAX_ITEMS == 16
    assert found.text.count("+seal") == more


def test_filters_are_bounded_together_with_words(index: Any) -> None:
    found = parse_operators(index, "pump team:core team:deep " + "+seal " * 15, Journal())
    assert (len(found.filters), len(found.items)) == (2, 14)
    assert found.text.count("+seal") == 1


@pytest.mark.parametrize(("phrase", "compiled"), [("pump oil", 0), ("oil the", 1)])
def test_pattern_is_compiled_only_if_some_text_has_the_letters_in_order(
    index: Any, monkeypatch: pytest.MonkeyPatch, phrase: str, compiled: int
) -> None:
    journal, patterns = Journal(), list[str]()
    _, operators = read_operators(index, f'"{phrase}"', journal)

    def compile_and_note(text: str) -> re.Pattern[str]:
        patterns.append(text)
        return compile_pattern(text)

    monkeypatch.setattr(re, "compile", compile_and_note)
    apply_operators(None, operators, index, journal, phrase_chunks=5)
    assert len(index.read) == 2 and len(patterns) == compiled


@pytest.mark.parametrize("seed", range(3))
def test_comparing_letters_first_changes_no_result(
    index: Any, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    chooser = random.Random(seed)
    words = [word for text in TEXTS for word in text.split()]

    def draw() -> str:
        start, count = chooser.randrange(len(words)), chooser.randrange(1, 4)
        said = chooser.choice([" ", ", ", "-"]).join(words[start : start + count])
        return f'pump {chooser.choice("-+")}"{said}"'

    def find(query: str) -> list[int]:
        journal = Journal(units=10**9)
        _, operators = read_operators(index, query, journal)
        allowed = apply_operators(None, operators, index, journal, phrase_chunks=5)
        return [] if allowed is None else np.flatnonzero(allowed).tolist()

    queries = [draw() for _ in range(100)]
    found = [find(query) for query in queries]
    assert len({*map(str, found)}) > 4
    monkeypatch.setattr(sys.modules[apply_operators.__module__], "letters_of", lambda _: b"")
    assert found == [find(query) for query in queries]


def test_a_query_without_words_in_its_beginning_is_plain_text(index: Any) -> None:
    padding = "? " * (MAX_QUERY_CHARACTERS // 2)
    assert parse_operators(index, f"-oil {padding[:-7]}pump", Journal()).items
    query = f"-oil {padding}pump"
    assert parse_operators(index, query, Journal()) == Operators(query)


@pytest.mark.parametrize(
    ("query", "notice"),
    [
        ("-seal", "“-seal” contains no words to search for: add some."),
        ("-team:core", "“-team:core” contains no words to search for: add some."),
        ("team:core", "“team:core” contains no words to search for: add some."),
        (
            "team:nobody pump",
            "No document has team “nobody”: searched for “team:nobody” as text.",
        ),
        ("modified_after:soon pump", "modified_after: no time: searched for “modified_after:soon”"),
        (" ".join(f"+w{n}x" for n in range(MAX_ITEMS + 1)), "Only the first 16 operators are"),
    ],
)
def test_a_notice_explains_operators_that_are_not_applied(
    index: Any, query: str, notice: str
) -> None:
    journal = Journal(units=10**9)
    read_operators(index, query, journal)
    assert journal.stages["operators"]["notice"].startswith(notice)


def test_plain_queries_are_not_noted(index: Any) -> None:
    for query in ("std::vector", "colour:red pump", "10:30", "https://a.example/x", "pump"):
        journal = Journal()
        read_operators(index, query, journal)
        assert journal.stages == {}


def test_phrases_of_stop_words_are_looked_for_in_likely_chunks(index: Any) -> None:
    journal = Journal()
    text, operators = read_operators(index, '"of the" seal', journal)
    assert text == "of the seal"
    allowed = apply_operators(None, operators, index, journal, phrase_chunks=2)
    assert allowed is not None and allowed.tolist() == [True, False, False, False, False]
    assert index.read == [0, 1]
    assert journal.stages["operators"] == {"phrases": ["of the"], "query": text, "unread": 3}


def test_a_query_of_stop_words_is_searched_by_meaning(index: Any) -> None:
    assert parse_operators(index, '"of the"', Journal()) == Operators('"of the"')
    index.dense_lane = SimpleNamespace(search=lambda *_: SimpleNamespace(chunks=np.array([2])))
    index.encoder = SimpleNamespace(encode=lambda _: np.zeros(2))
    assert parse_operators(index, '"of the"', Journal()).items == (phrase("of the"),)
    assert found_by(index, '"of the"') == [0, 2]
    assert index.read[0] == 2
    assert parse_operators(index, "team:core", Journal()).filters == (("team", "core"),)


@pytest.mark.parametrize("query", ["oil +back-up", "oil +backup", "oil +Back-Ups"])
def test_a_required_word_may_be_spelt_in_any_way(query: str, monkeypatch: Any) -> None:
    monkeypatch.setitem(
        globals(), "TEXTS", ["oil backup", "oil back-up", "oil back up", "oil up", ""]
    )
    assert found_by(SmallIndex(), query) == [0, 1, 2]
