"""Misspelt query words: which are looked up, how they are corrected, and which notes are made."""

from types import SimpleNamespace
from typing import Any

import pytest

from foundry.runtime.index.tokens import MAX_QUERY_CHARACTERS, Tokenizer
from foundry.runtime.retrieval.journal import Journal
from foundry.runtime.retrieval.stages.correction import MAX_LOOKED_UP, correct_query
from foundry.runtime.retrieval.stages.nearest_words import Nearest

NEAREST = {
    "abolet": Nearest("Aboleth", 1, 9),
    "abloeth": Nearest("Aboleth", 1, 9),
    "aboletz": Nearest("Aboleth", 1, 9),
    "lidr": Nearest("lidar", 1, 5),
    "cistrn": Nearest("cistern", 1, 5),
    "wirre": Nearest("wire", 1, 5),
    "strase": Nearest("stra\u00dfe", 1, 3),
    "_acess_s": Nearest("_access_s", 1, 3),
    "acess": Nearest("access", 1, 3),
    "getusernmae": Nearest("getUserName", 1, 3),
    "fortnite": Nearest("fortnight", 1, 0),
    "boil": Nearest("coil", 1, 7),
    "boiling": Nearest("coiling", 1, 7),
    "slan": Nearest("slam", 1, 7),
    "bboleths": Nearest("aboleth", 2, 9),
    "doesn": Nearest("does", 1, 9),
    "doesnt": Nearest("does", 2, 9),
    "meta": Nearest("beta", 1, 9),
    "timestamp": Nearest("timestep", 2, 9),
}
LANGUAGE = {"boil", "fortnight", "doesnt"}
FREQUENT = {"cistern", "lidar", "aboleth", "coil", "user", "metadata", "time", "stamp"}


class Words:
    """The nearest words for some words, and the dictionary words."""

    forms = (*NEAREST,)

    def __init__(self) -> None:
        self.looked_up: list[str] = []

    def nearest(self, word: str) -> Nearest | None:
        self.looked_up.append(word)
        return NEAREST.get(word)

    def is_right(self, stem: str) -> bool:
        return stem in LANGUAGE


@pytest.fixture
def index() -> Any:
    words = Words()
    return SimpleNamespace(
        words=words,
        part=lambda _: words,
        tokenizer=Tokenizer("english"),
        keyword_lane=SimpleNamespace(frequency=lambda term: int(term in FREQUENT)),
        best_chunks=lambda *_: [SimpleNamespace(headings=list, text="The time stamp.")],
    )


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("abolet", "aboleth"),
        ("Where does the abloeth live?", "Where does the aboleth live?"),
        ("Abolet", "Aboleth"),
        ("ABOLETZ", "aboleth"),
        ("abolet cistrn", "aboleth cistern"),
        ("strase", "stra\u00dfe"),
        ("getUserNmae", "getUserName"),
        ("Wirre in a coil", "Wire in a coil"),
        ("lidar, cistrn; lidr", "lidar, cistern; lidar"),
        ("\uff4c\uff49\uff44\uff52", "lidar"),
        ("abolet's lidr", "aboleth's lidar"),
    ],
)
def test_misspelt_words_are_corrected(index: Any, query: str, expected: str) -> None:
    journal = Journal()
    assert correct_query(index, query, (), journal) == expected
    assert journal.stages["correction"]["query"] == expected


@pytest.mark.parametrize(
    "query",
    [
        *("aboleth", "the cistern of an aboleth", "lid", "zebra", ""),
        *("abolet2", "lidr-2", "a@lidr", "https://cistrn.example/lidr", "--abolet"),
        *('"abolet"', "\u201cabolet\u201d", "\u201eabolet\u201c"),
        # Acronyms, names in no chunk, dictionary words, and words without a correction.
        *("SLAN", "what did Wirre say of a coil", "wiRre", "boil", "boiling", "fortnite"),
        "ABOLET",
        # Two edits with another first letter, contractions, words with another spelling.
        *("bboleths", "doesnt", "doesn't", "doesn\u2019t", "meta data", "timestamp"),
        "x" * 25,
    ],
)
def test_other_words_are_not_corrected(index: Any, query: str) -> None:
    journal = Journal()
    assert correct_query(index, query, (), journal) == query
    assert journal.stages == {}


def test_matches_of_identifier_patterns_are_not_corrected(index: Any) -> None:
    import re

    patterns = (re.compile("lid[a-z]"),)
    assert correct_query(index, "lidr abolet", patterns, Journal()) == "lidr aboleth"


def test_the_journal_has_the_original_query(index: Any) -> None:
    journal = Journal()
    correct_query(index, "abolet, abolet in a cistern", (), journal)
    assert journal.stages["correction"] == {
        "query": "aboleth, aboleth in a cistern",
        "corrected": {"abolet": "aboleth"},
        "original": '"abolet", "abolet" in a cistern',
        "notice": "Showing results for: aboleth, aboleth in a cistern",
    }
    journal = Journal()
    correct_query(index, '"abolet", "abolet" in a cistern', (), journal)
    assert journal.stages == {}
    # The word is only corrected where it stands alone, not inside other words.
    correct_query(index, "abolet x-abolet.y abolet2 aboletabolet", (), journal)
    quoted = journal.stages["correction"]["original"]
    assert quoted == '"abolet" x-"abolet".y abolet2 aboletabolet'


def test_only_the_beginning_of_a_query_is_corrected(index: Any) -> None:
    padding = " " * (MAX_QUERY_CHARACTERS - 4)
    assert correct_query(index, f"{padding}lidr", (), Journal()).strip() == "lidar"
    assert correct_query(index, f"{padding} lidr", (), Journal()).strip() == "lidr"


@pytest.mark.parametrize("kind", ["phrases", "required"])
def test_words_of_operators_are_not_corrected(index: Any, kind: str) -> None:
    journal = Journal()
    journal.note("operators", **{kind: ["the Abolet"]})
    assert correct_query(index, "the abolet cistrn", (), journal) == "the abolet cistern"


@pytest.mark.parametrize(("words", "units"), [(63, 9_001), (64, 9_002)])
def test_cost_of_looking_a_word_up(index: Any, words: int, units: int) -> None:
    index.words.forms = range(words)
    journal = Journal(units=units)
    assert correct_query(index, "lidr", (), journal) == "lidar"
    assert journal.units == 0
    journal = Journal(units=units - 1)
    assert correct_query(index, "lidr", (), journal) == "lidr"
    assert journal.units == units - 1
    assert journal.stages["budget"]["stopped"] == ["correction"]


def test_only_the_first_words_are_checked(index: Any) -> None:
    for before, last in ((63, "lidar"), (64, "lidr")):
        assert correct_query(index, "user " * before + "lidr", (), Journal()).endswith(last)
    # Words joined by dots count as one part; three-letter words are not looked up.
    different = [f"{one}{other}z" for one in "bcdfghjk" for other in "bcdfghjk"]
    for before, last in ((63, "lidar"), (64, "lidr")):
        query = ".".join([*different[:before], "lidr"])
        assert correct_query(index, query, (), Journal()).endswith(last)


def test_the_number_of_lookups_is_limited(index: Any) -> None:
    several = " ".join(f"{letter * 4}" for letter in "bde")
    assert len(several.split()) + 1 == MAX_LOOKED_UP
    assert correct_query(index, f"{several} lidr", (), Journal()).endswith("lidar")
    assert correct_query(index, f"{several} kkkk lidr", (), Journal()).endswith("lidr")
    index.words.looked_up.clear()
    # Known and already corrected words do not count.
    correct_query(index, "lidar user lidr lidr abolet", (), Journal())
    assert index.words.looked_up == ["lidr", "abolet"]
