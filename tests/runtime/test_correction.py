"""Misspelt query words: which are corrected, how, and which are not."""

import gc
import importlib
import weakref
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_indexes import Note, rendered_server, write_notes

from foundry.config.search import IndexOptions
from foundry.indexing.queries.correction import write_correction
from foundry.indexing.queries.forms import count_forms
from foundry.indexing.queries.words import CorpusWords
from foundry.indexing.versions import open_index
from foundry.runtime.errors import IndexUnusableError
from foundry.runtime.index.reader import Index
from foundry.runtime.index.tokens import Tokenizer
from foundry.runtime.retrieval.journal import Journal
from foundry.runtime.retrieval.stages.correction import (
    LOOKUP_UNITS,
    MAX_JUDGED,
    MAX_PARTS,
    WORDS_OF_UNIT,
    correct_query,
    open_words,
)
from foundry.runtime.retrieval.stages.nearest_words import (
    MAX_LENGTH,
    MIN_LENGTH,
    Nearest,
    Words,
)

NOTES = [
    Note("Aboleth", ("An aboleth lives in a cistern. " * 3,)),
    Note("Calibration", ("Calibrate the lidar, then the odometry and D40.",)),
    Note("Functions", ("`_access_s` asks, getUserName and max_connections answer. Straße.",)),
    Note("Coils", ("The coil is a coil of coiled wire; SLAM.",)),
    Note("井戸", ("日本語の井戸ポンプ",)),
]
OPTIONS = IndexOptions(correction_words=1_000)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    folder = tmp_path_factory.mktemp("correction") / "v"
    return open_index(write_notes(folder, NOTES, vectors=False, options=OPTIONS))


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("abolet", "aboleth"),
        ("Where does the abloeth live?", "Where does the aboleth live?"),
        ("Aboelth", "Aboleth"),
        ("abolehtt cisern", "aboleth cistern"),
        ("an abolet's lidra", "an aboleth's lidar"),
        ("odmetry", "odometry"),
        ("strase", "straße"),
        ("_acess_s", "_access_s"),
        ("getUserNmae", "getUserName"),
        ("max_conections", "max_connections"),
        ("Wirre in a coil", "Wire in a coil"),
        ("Coil Wirre", "Coil Wire"),
        ("lidar, cistrn; lidar", "lidar, cistern; lidar"),
    ],
)
def test_what_is_corrected(index: Index, query: str, expected: str) -> None:
    journal = Journal()
    assert correct_query(index, query, (), journal) == expected
    assert journal.stages["correction"]["query"] == expected


@pytest.mark.parametrize(("left", "corrected"), [(0, 2), (-1, 1)])
def test_words_are_looked_up_as_far_as_the_budget_goes(
    index: Index, left: int, corrected: int
) -> None:
    units = LOOKUP_UNITS + len(open_words(index).forms) // WORDS_OF_UNIT
    journal = Journal(units=2 * units + left)
    correct_query(index, "abolet odmetry abolet", (), journal)
    assert len(journal.stages["correction"]["corrected"]) == corrected
    assert ("budget" in journal.stages) == (corrected < 2)


def test_words_far_behind_stay_as_they_were_typed(index: Index) -> None:
    first, last = "aboleth " * (MAX_PARTS - 1), "aboleth " * MAX_PARTS
    assert correct_query(index, f"{first}odmetry", (), Journal()) == f"{first}odometry"
    assert correct_query(index, f"{last}odmetry", (), Journal()) == f"{last}odmetry"
    known = " ".join(f"w{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(MAX_JUDGED - 1))
    assert correct_query(index, f"{known} odmetry", (), Journal()).endswith("odometry")
    assert correct_query(index, f"{known} wzz odmetry", (), Journal()).endswith("odmetry")


@pytest.mark.parametrize(
    "query",
    [
        *("aboleth", "aboleths", "ABOLETH", "the cistern of an aboleth", "access user", "井戸ポ"),
        *(
            "D41",
            "CVE-2024-30951",
            "abolet2",
            "--calibrat",
            "https://cistrn.example/lidr",
            "a@lidr",
        ),
        *('"abolet"', "“abolet”", "lid", "SLAN", "xylophonist", "fortnight"),
        *("what did Wirre say of a coil", "wiRre"),  # Names in no chunk
        *("boil", "boils", "boiling"),  # English, so not misspelt
        *("oil", "wired", "invoice", "cant", "dont", "doesnt", "doesn't"),
        "x" * (MAX_LENGTH + 1),
    ],
)
def test_what_is_left_alone(index: Index, query: str) -> None:
    journal = Journal()
    assert correct_query(index, query, (), journal) == query
    assert journal.stages == {}


def test_the_original_can_be_asked_for(index: Index) -> None:
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


def test_what_operators_demand_stays_as_typed(index: Index) -> None:
    journal = Journal()
    journal.note("operators", phrases=["the abolet"])
    assert correct_query(index, "the abolet cistrn", (), journal) == "the abolet cistern"


words = st.text("abcdé", min_size=MIN_LENGTH, max_size=10)


@pytest.mark.parametrize("language", ["english", "german", "none"])
@given(form=st.text("abs_", min_size=MIN_LENGTH, max_size=9))
def test_a_form_of_ascii_is_one_word_as_the_tokenizer_says(language: str, form: str) -> None:
    tokenizer = Tokenizer(language)
    (token,) = tokenizer.tokenize(form)
    assert token.text == form
    assert len(token.terms) < 2 or token.is_identifier
    assert CorpusWords(count_forms([form]), tokenizer).is_word(form)


@given(st.sets(words, min_size=1, max_size=40), words.filter(lambda word: len(word) >= 4))
def test_the_nearest_is_as_near_as_by_definition(
    tmp_path_factory: pytest.TempPathFactory, known: set[str], word: str
) -> None:
    root = tmp_path_factory.mktemp("words") / "correction"
    write_correction(
        root, CorpusWords(count_forms([" ".join(sorted(known))]), Tokenizer("none")), 1_000
    )
    opened = Words.open(root)
    most = 2 if len(word) >= 8 else 1
    fewest = min(distance(word, other) for other in known)
    found = opened.nearest(word)
    if found is None:
        assert fewest > most
    else:
        assert found.form in known
        assert found.edits == fewest == distance(word, found.form) <= most
    assert all(other in opened for other in known)
    assert (word in opened) == (word in known)


def distance(one: str, other: str) -> int:
    """Optimal string alignment, by its recurrence."""
    table = {(i, 0): i for i in range(len(one) + 1)} | {(0, j): j for j in range(len(other) + 1)}
    for i, a in enumerate(one, start=1):
        for j, b in enumerate(other, start=1):
            steps = [table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + (a != b)]
            if i > 1 and j > 1 and one[i - 2 : i] == b + other[j - 2]:
                steps.append(table[i - 2, j - 2] + 1)
            table[i, j] = min(steps)
    return table[len(one), len(other)]


def test_frequency_and_the_edit_decide_between_words_equally_near(tmp_path: Path) -> None:
    write_correction(
        tmp_path / "w",
        CorpusWords(count_forms(["mine mine mint pint pints"]), Tokenizer("none")),
        1_000,
    )
    opened = Words.open(tmp_path / "w")
    assert opened.nearest("mink") == Nearest("mine", 1, 19)
    # A missing letter is more likely than a replaced one.
    assert opened.nearest("pnt") == Nearest("pint", 1, 12)
    assert opened.nearest("imnt") == Nearest("mint", 1, 12)


def test_words_are_bounded_and_the_frequent_are_kept(tmp_path: Path) -> None:
    write_correction(
        tmp_path / "w",
        CorpusWords(count_forms(["one one one two two three"]), Tokenizer("none")),
        2,
    )
    opened = Words.open(tmp_path / "w")
    assert [word for word in ("one", "two", "three") if word in opened] == ["one", "two"]


def test_the_same_texts_give_the_same_bytes(tmp_path: Path) -> None:
    for name in "ab":
        write_correction(
            tmp_path / name,
            CorpusWords(count_forms(["b a Ab ab ab", "éa"]), Tokenizer("english")),
            1_000,
        )
    files = [sorted(file.name for file in (tmp_path / name).iterdir()) for name in "ab"]
    assert files[0] == files[1]
    assert all(
        (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
        for name in files[0]
    )


def test_an_index_without_words_is_refused(tmp_path: Path) -> None:
    plain = open_index(write_notes(tmp_path / "v", NOTES[:1], vectors=False))
    with pytest.raises(IndexUnusableError, match="spelling correction needs it"):
        open_words(plain)


def test_words_are_closed_with_their_index(tmp_path: Path) -> None:
    opened = open_index(write_notes(tmp_path / "v", NOTES[:1], vectors=False, options=OPTIONS))
    assert correct_query(opened, "abolet", (), Journal()) == "aboleth"
    index = weakref.ref(opened)
    del opened
    gc.collect()
    assert index() is None


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    root = tmp_path_factory.mktemp("server")
    options = "[search.operators]\n[search.correction]\n"
    with rendered_server(root, "correcting", options) as package:
        package.load(write_notes(root / "v", NOTES, options=OPTIONS))
        yield package


def test_a_server_says_what_it_searched_for(server: ModuleType) -> None:
    answer = server.search_hybrid("abolet cistrn -wire")
    assert answer.hits[0].title == "Aboleth"
    assert answer.query == "abolet cistrn -wire"
    assert answer.stages["correction"]["query"] == "aboleth cistern"
    terminal = importlib.import_module(f"{server.__name__}.terminal")
    printed = terminal.format_response(answer)
    assert "\nShowing results for: aboleth cistern\n" in printed
    # The misspelt word is in no document.
    assert answer.match == "weak"
    assert server.search_hybrid("aboleth cistern").stages == {}
