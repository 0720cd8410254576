"""Which words of a text are highlighted for a query: only whole words, in any spelling."""

import pytest

from workshop.index.tokens import Tokenizer
from workshop.retrieval.marks import word_finder

ENGLISH = Tokenizer("english")


@pytest.mark.parametrize(
    ("query", "text", "marked"),
    [
        ("pumps", "The Pump was pumped, the dump not.", ["Pump", "pumped"]),
        # Neither numbers nor identifiers are split.
        ("1.1", "1.10, 1.1, 2.1.1 and 1.1.", ["1.1", "1.1"]),
        ("10", "1.10 10, 10.5 1,10 x10 10", ["10", "10"]),
        ("std::vector", "std::vector<int>, astd::vect", ["std::vector"]),
        ("D40", "D40, AD40, D401, D40.5", ["D40"]),
        ("v1.10", "v1.10 or 1.10 or 1.1", ["v1.10", "1.10"]),
        ("TLSv1.3", "TLSv1.3, TLS 1.3", ["TLSv1.3", "TLS", "1.3"]),
        ("230V", "230 V, 230V, 1230 V, 230 Volts", ["230 V", "230V"]),
        ("230 V", "230 V, 230V, V", ["230 V", "230V"]),
        ("M8x25", "M8\u00d725, M8x25", ["M8\u00d725", "M8x25"]),
        (".NET", "the .NET, ASP.NET", [".NET", ".NET"]),
        ("C++", "C++17", ["C++"]),
        # Compounds in any spelling.
        ("backup", "Back-ups, back up, backups, go back", ["Back-ups", "back up", "backups"]),
        ("meta-data", "metadata", ["metadata"]),
        ("resume", "R\u00e9sum\u00e9s", ["R\u00e9sum\u00e9s"]),
        ("r\u00e9sum\u00e9", "resume", ["resume"]),
        ("customer\u2019s", "customer's, customers", ["customer", "customers"]),
        ("dont", "Don\u2019t, don't", ["Don\u2019t", "don't"]),
        # Scripts without spaces.
        ("\u90e8\u7f72", "\u4f7f\u7528Docker\u90e8\u7f72\u670d\u52a1", ["\u90e8\u7f72"]),
        ("Docker", "\u4f7f\u7528Docker\u90e8\u7f72", ["Docker"]),
        ("\u6771\u4eac\u90fd", "\u4eac\u90fd, \u6771\u4eac\u90fd", ["\u6771\u4eac\u90fd"]),
        (
            "\u90e8\u7f72\u670d\u52a1",
            "\u670d\u52a1, \u90e8\u7f72\u3002",
            ["\u670d\u52a1", "\u90e8\u7f72"],
        ),
        ("\u30c7\u30fc\u30bf", "\u30c7\u30fc\u30bf\u30d9\u30fc\u30b9", []),
        ("\u30c7\u30fc\u30bf", "\u30c7\u30fc\u30bf\u3092", ["\u30c7\u30fc\u30bf"]),
        ("\uc11c\ubc84", "\uc11c\ubc84\ub97c \uc6f9\uc11c\ubc84", ["\uc11c\ubc84\ub97c"]),
        (
            "\u0e20\u0e32\u0e29\u0e32\u0e44\u0e17\u0e22",
            "\u0e20\u0e32\u0e29\u0e32\u0e2d\u0e37\u0e48\u0e19",
            ["\u0e20\u0e32\u0e29\u0e32"],
        ),
    ],
)
def test_words_are_highlighted_in_any_spelling(query: str, text: str, marked: list[str]) -> None:
    assert [text[start:end] for start, end in word_finder(query, ENGLISH)(text)] == marked


def test_highlights_have_the_offsets_of_the_text() -> None:
    text = "\u0130 \u00c9t\u00e9 pump \u00e9t\u00e9"
    assert word_finder("ete", ENGLISH)(text) == [(2, 5), (11, 14)]
