"""The terms of a query, spelt as in the index."""

from collections import Counter
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from workshop.index.tokens import Tokenizer
from workshop.retrieval.journal import Journal
from workshop.retrieval.respelling import SEARCH_UNITS, respell

ENGLISH = Tokenizer("english")


class Lane:
    """The terms of some texts, one chunk each."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.chunks = [Counter(ENGLISH.terms(text)) for text in texts]

    def frequency(self, term: str) -> int:
        return len(self.having(term))

    def having(self, term: str) -> Any:
        return np.array([n for n, terms in enumerate(self.chunks) if term in terms], dtype=int)

    def scores(self, terms: Sequence[str], chunks: Any) -> Any:
        return np.array([sum(self.chunks[n][t] for t in terms) for n in chunks], dtype=float)


class SmallIndex:
    """An index of texts; `read` records the numbers of texts read."""

    tokenizer = ENGLISH

    def __init__(self, *texts: str) -> None:
        self.texts, self.keyword_lane = texts, Lane(texts)
        self.read: list[int] = []

    def best_chunks(self, terms: Sequence[str], count: int) -> Iterator[Any]:
        scores = self.keyword_lane.scores(terms, range(len(self.texts)))
        for number in np.argsort(-scores, kind="stable")[:count].tolist():
            self.read.append(number)
            yield SimpleNamespace(headings=lambda: ["Sheet"], text=self.texts[number])


def spell(query: str, *texts: str) -> list[str]:
    index: Any = SmallIndex(*texts)
    return [
        term for one in respell(index, ENGLISH.tokenize(query), Journal()) for term in one.terms
    ]


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("=>", "~=>"),
        ("\u2192", "~\u2192"),
        ("what does => do", "~=>"),
        ("pump => valve", "pump ~=> valv"),
        ("pump -> valve", "pump valv"),
        ("File \u2192 Open \U0001f680", "file open"),
    ],
)
def test_signs_beside_words_count_only_if_they_are_known_operators(query: str, terms: str) -> None:
    assert spell(query, "x => y", "a \u2192 b \U0001f680") == terms.split()


# Several spellings of one thing: a query in one finds texts in the others.
SPELLINGS = [
    ("backup", "back-up", "back up", "Back-Ups"),
    ("metadata", "meta-data", "meta data"),
    ("zigzag", "zig-zag", "zig zag"),
    ("codeword", "code-word", "code word", "code words"),
    ("login", "log-in", "log in"),
    ("nonzero", "non-zero", "non zero"),
    ("email", "e-mail", "e-mails"),
    ("230V", "230 V", "230\u00a0V"),
    ("10A", "10 A"),
    ("500ml", "500 ml"),
    ("2.5mm", "2.5 mm"),
    ("RFC2616", "RFC 2616"),
    ("python3.11", "Python 3.11"),
    ("TLSv1.3", "TLS 1.3", "TLS v1.3"),
    ("v1.10", "1.10"),
    ("M8x25", "M8\u00d725", "M8 x 25", "M8 \u00d7 25"),
    ("C++17", "C++ 17"),
    (".NET", ".net"),
    ("customer's", "customer\u2019s", "customers", "customer"),
    ("don't", "don\u2019t", "dont"),
    ("O'Brien", "O\u2019Brien", "OBrien"),
    ("r\u00e9sum\u00e9", "re\u0301sume\u0301", "resume"),
    ("abun\u00addant", "abundant"),
    ("\u0141\u00f3d\u017a", "Lodz"),
]
PAIRS = [(a, b) for group in SPELLINGS for a in group for b in group]


@pytest.mark.parametrize(("query", "written"), PAIRS)
def test_texts_are_found_in_any_spelling(query: str, written: str) -> None:
    terms = spell(query, f"The {written} of the carpet.", "Go back, log it, up 500, 230, 10 codes.")
    found = set(ENGLISH.terms(f"The {written} of the carpet."))
    assert not found.isdisjoint(terms), (terms, found)
    if (query.isalnum() and written.isalnum()) or len(ENGLISH.terms(written)) < 2:
        return
    # All searched terms exist, so none is reported as absent.
    assert {*terms} - {"log", "up", "code", "500", "230", "10", "back"} <= found


def test_closed_forms_are_used_only_if_texts_have_them_alone() -> None:
    texts = ["boundary-layer flow", "boundary layer flow", "boundary layers"]
    assert spell("boundary-layer", *texts) == ["boundari", "layer"]
    assert spell("boundary layer", *texts) == ["boundari", "layer"]
    assert spell("boundary-layer", *texts, "boundarylayer") == ["boundarylay", "boundari", "layer"]
    assert spell("boundary layer", *texts, "boundarylayer") == ["boundarylay", "boundari", "layer"]


def test_separate_words_are_not_a_compound() -> None:
    assert spell("codeword", "The code has a word.") == ["codeword"]
    assert spell("codeword", "The code\nword.") == ["codeword"]
    assert spell("D40", "Region D has 40 wells.") == ["d40"]


def test_known_words_are_not_split() -> None:
    index: Any = SmallIndex("codeword", "code word")
    respell(index, ENGLISH.tokenize("codeword"), Journal())
    assert index.read == []


def test_words_are_not_split_beyond_the_budget() -> None:
    index: Any = SmallIndex("code word")
    journal = Journal(units=SEARCH_UNITS)
    (token,) = respell(index, ENGLISH.tokenize("codeword"), journal)
    assert token.terms == ("codeword",)
    assert journal.stages["budget"]["stopped"] == ["spelling"]


def test_texts_are_read_once_for_a_search() -> None:
    index: Any = SmallIndex("code word")
    journal = Journal()
    for _ in range(2):
        respell(index, ENGLISH.tokenize("codeword"), journal)
    assert index.read == [0]
