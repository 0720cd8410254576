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
    correct_query,
    open_words,
)
from foundry.runtime.retrieval.stages.nearest_words import (
    MAX_LENGTH,
    MIN_LENGTH,
    Words,
)

NOTES = [
    Note("Aboleth", ("An aboleth lives in a cistern. " * 3,)),
    Note("Calibration", ("Calibrate the lidar, then the odometry and D40.",)),
    Note("Functions", ("`_access_s` asks, getUserName and max_connections answer. Straße.",)),
    Note("Coils", ("The coil is a coil of coiled wire; SLAM.",)),
    Note("Names", ("Rock at O\u2019Neill\u2019s; l\u2019aviation est belle.",)),
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
        ("l'aviaton", "l'aviation"),
        ("lidar, cistrn; lidar", "lidar, cistern; lidar"),
    ],
)
def test_misspelt_words_are_corrected(index: Index, query: str, expected: str) -> None:
    journal = Journal()
    assert correct_query(index, query, (), journal) == expected
    assert journal.stages["correction"]["query"] == expected


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
        *("O'Neill", "O\u2019Neill's", "l'aviation"),
        *("boil", "boils", "boiling"),  # English, so not misspelt
        *("oil", "wired", "invoice", "cant", "dont", "doesnt", "doesn't"),
        "x" * (MAX_LENGTH + 1),
    ],
)
def test_other_words_are_not_corrected(index: Index, query: str) -> None:
    journal = Journal()
    assert correct_query(index, query, (), journal) == query
    assert journal.stages == {}


words = st.text("abcdé", min_size=MIN_LENGTH, max_size=10)


@pytest.mark.parametrize("language", ["english", "german", "none"])
@given(form=st.text("abs_", min_size=MIN_LENGTH, max_size=9))
def test_ascii_words_match_the_tokenizers(language: str, form: str) -> None:
    tokenizer = Tokenizer(language)
    (token,) = tokenizer.tokenize(form)
    assert token.text == form
    assert len(token.terms) < 2 or token.is_identifier
    assert CorpusWords(count_forms([form]), tokenizer).is_word(form)


def test_only_the_most_frequent_words_are_kept(tmp_path: Path) -> None:
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


def test_word_files_are_closed_with_their_index(tmp_path: Path) -> None:
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


def test_the_response_shows_the_corrected_query(server: ModuleType) -> None:
    answer = server.search_hybrid("abolet cistrn -wire")
    assert answer.hits[0].title == "Aboleth"
    assert answer.query == "abolet cistrn -wire"
    assert answer.stages["correction"]["query"] == "aboleth cistern"
    terminal = importlib.import_module(f"{server.__name__}.terminal")
    printed = terminal.format_response(answer)
    assert "\nShowing results for: aboleth cistern\n" in printed
    # The misspelt words are in no document.
    assert answer.match == "weak"
    assert server.search_hybrid("aboleth cistern").stages == {}
