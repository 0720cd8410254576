"""The terms under which a text is found."""

import pytest

from workshop.index.heading_terms import (
    SURFACE_MARK,
    heading_term,
    query_terms,
    surface_term,
)
from workshop.index.remembering import remember
from workshop.index.tokens import Tokenizer

english = Tokenizer("english")


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Running dogs", ["run", "dog"]),
        ("the of and", []),
        ("PII-2024-0042", ["pii20240042", "pii", "2024", "0042"]),
        ("75.1725", ["75.1725", "75", "1725"]),
        ("max_connections", ["maxconnections", "max", "connect"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("D40", ["d40"]),
        ("C++ C#", ["c++", "c#"]),
        ("std::vector", ["std::vector", "std", "vector"]),
        ("ROS2", ["ros2", "ros"]),
        ("state-of-the-art", ["state", "art"]),
        ("e-mail", ["email", "mail"]),
        ("TCP/IP", ["tcp", "ip"]),
        ("__init__", ["init"]),
        ("Café STRASSE straße", ["cafe", "strass", "strass"]),
        ("what is c++?", ["c++"]),
        ("what is A*?", ["a*"]),
        ("*emphasis on A* **plan B**", ["emphasi", "a*", "plan", "b"]),
        ("a*b", ["b"]),
        ("B+ tree", ["b+", "b", "tree"]),
        ("Q&A R&D AT&T", ["q&a", "q", "r&d", "r", "d", "t"]),
        ("Appendix A to Part 1002", ["appendix", "a", "part", "1002"]),
        ("appendix a, part I of it", ["appendix", "a", "part", "i"]),
        ("in part a success, the part I know", ["part", "success", "part", "know"]),
        ("paragraph (a) of vitamin a deficiency", ["paragraph", "a", "vitamin", "a", "defici"]),
        ("30 A, A 320, 5 mm; 1990, A", ["30a", "30", "a", "a", "320", "5mm", "5", "mm", "1990"]),
        ("1005.6(b)(2)", ["1005.6(b)(2)", "1005.6(b)", "1005.6", "1005"]),
        ("f(a) sha256(data)", ["f", "sha256", "sha", "data"]),
        ("TLSv1.3 v2.0 v2", ["tlsv1.3", "tls", "1.3", "2.0", "v2"]),
        ("1920\u00d71080 0x1f", ["1920x1080", "1920", "1080", "0x1f"]),
        (".NET end.of it. Now", [".net", "net", "end.of", "end", "now"]),
        ("C++17 C#8 issue#9", ["c++", "17", "c#", "8", "issu", "9"]),
        ("It's the dogs' owner's; they've", ["dog", "owner"]),
        ("don\u2019t O'Neill l'eau", ["dont", "oneil", "neill", "l", "eau"]),
        ("Set-up, set ups, the set. Up", ["setup", "set", "up"] * 3),
        ("sub-par sub directory", ["subpar", "sub", "par", "subdirectori", "sub", "directori"]),
        ("\u00d8rsted na\u00efve \u0419\u043e\u0434", ["orst", "naiv", "\u0439\u043e\u0434"]),
        ("FoxO3a", ["foxo3a", "fox", "3a", "foxo"]),
        ("日本語", ["日本", "本語"]),
        ("語", ["語"]),
        ("ภาษา", ["ภา", "าษ", "ษา"]),
        ("ABC日本", ["abc", "日本"]),
        ("\uff46\uff55\uff4c\uff4c", ["full"]),
        ("x" * 128, ["x" * 128]),
        ("x" * 129, []),
        ("__ ___ ____-_", []),
        ('"*(-', []),
    ],
)
def test_terms(text: str, terms: list[str]) -> None:
    assert english.terms(text) == terms


def test_spellings_are_those_of_english_alone() -> None:
    assert english.terms("colour of the fibre") == ["color", "fiber"]
    assert Tokenizer("none").terms("colour fibre") == ["colour", "fibre"]
    assert Tokenizer("german").terms("colour") == ["colour"]


@pytest.mark.parametrize(
    ("british", "american"),
    [
        ("oesophagus", "esophagus"),
        ("catalogue", "catalog"),
        ("catalogues", "catalogs"),
        ("organise", "organize"),
        ("analysed", "analyzed"),
        ("defence", "defense"),
        ("fuelled", "fueled"),
        ("programmes", "programs"),
    ],
)
def test_british_spellings_are_found_by_american_ones(british: str, american: str) -> None:
    assert english.terms(british) == english.terms(american)


def test_an_identifier_is_found_however_its_parts_are_joined() -> None:
    whole = [english.terms(text)[0] for text in ("max_size2", "MAX-SIZE2", "maxSize2")]
    assert len(set(whole)) == 1


def test_devanagari_words_keep_their_vowel_signs() -> None:
    assert Tokenizer("none").terms("हिन्दी में") == ["हिन्दी", "में"]


@pytest.mark.parametrize(
    ("query", "term"),
    [
        ("What are the safety requirements?", "=safeti requir"),
        ("tell me about the Aboleth", "=aboleth"),
        ("30 cfr 75.1725", "=30 cfr 75.1725 75 1725"),
        ("what is A*?", "=a*"),
        ("the", None),
    ],
)
def test_a_question_asks_for_the_heading_that_it_names(query: str, term: str | None) -> None:
    assert heading_term(english.tokenize(query)) == term
    assert term is None or term in query_terms(english.tokenize(query))


@pytest.mark.parametrize(
    ("query", "spelt"),
    [("_open", "_open"), ("what is Open?", "Open"), ("open it", "open"), ("open doors", None)],
)
def test_a_single_word_is_also_looked_up_as_it_is_spelt(query: str, spelt: str | None) -> None:
    term = surface_term(english.tokenize(query))
    assert (term and term.removeprefix(SURFACE_MARK)) == spelt
    assert term is None or term in query_terms(english.tokenize(query))
    assert term not in english.terms(query)


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("define SLAM", ["=defin slam", "=slam", "==SLAM"]),
        ("what does SLAM mean?", ["=slam mean", "=slam", "==SLAM"]),
        ("the tools page", ["=tool page", "=tool", "==tools"]),
        ("Reference", ["=refer"]),
        ("12 CFR 1005.6", ["=12 cfr 1005.6 1005", "=1005.6 1005"]),
        ("liability in 1005.6", ["=liabil 1005.6 1005"]),
        ("HTTP 404", ["=http 404"]),
    ],
)
def test_a_name_is_looked_up_without_what_is_said_about_it(query: str, names: list[str]) -> None:
    terms = query_terms(english.tokenize(query))
    assert [term for term in terms if term.startswith("=")] == names
    assert [term for term in terms if not term.startswith("=")] == english.terms(query)


@pytest.mark.parametrize(
    ("query", "searched"),
    [
        ("seal " * 500, "seal " * 199 + "seal"),
        (
            " ".join(f"word{number}" for number in range(99)),
            " ".join(f"word{n}" for n in range(63)),
        ),
        ("\u6c34\u6cf5" * 2, "\u6c34\u6cf5" * 2),
    ],
)
def test_beginning_of_a_long_query_counts(query: str, searched: str) -> None:
    assert english.tokenize_query(query)[0].strip() == searched


def test_a_query_is_measured_after_normalisation() -> None:
    # This Arabic character normalises to 18 characters.
    searched, tokens = english.tokenize_query("\ufdfa" * 200)
    assert len(searched) <= 1000
    assert {term for token in tokens for term in token.terms} != set()
    assert english.tokenize_query("\uff46" * 60)[0] == "\uff46" * 60
    # The limit also applies before normalisation: an accented letter counts as two characters.
    assert english.tokenize_query("e\u0301" * 500)[0] == "e\u0301" * 500
    assert english.tokenize_query("e\u0301" * 501)[0] == "\u00e9" * 500


@pytest.mark.parametrize(("count", "is_one"), [(1, True), (24, True), (25, False)])
def test_a_heading_has_at_most_24_terms(count: int, is_one: bool) -> None:
    assert (heading_term(english.tokenize("seal " * count)) is not None) == is_one


@pytest.mark.parametrize(
    ("texts", "expected"), [("CFR IT NATION 30 2024", True), ("NATIONS B Cfr", False)]
)
def test_acronyms_and_numbers_may_be_part_of_an_identifier(texts: str, expected: bool) -> None:
    assert {english.token(text).may_accompany for text in texts.split()} == {expected}


def test_script_without_spaces_is_cut_within() -> None:
    run = "".join(map(chr, range(0x4E00, 0x4E00 + 200)))
    searched, (token,) = english.tokenize_query(run)
    assert searched == run[:65]
    assert len(token.terms) == 64


def test_long_words_of_queries_are_not_kept_in_memory() -> None:
    asked: list[int] = []

    def count(word: str) -> int:
        asked.append(len(word))
        return len(word)

    remembered = remember(count)
    assert [remembered("x" * length) for length in (64, 64, 65, 65)] == [64, 64, 65, 65]
    assert asked == [64, 65, 65]
