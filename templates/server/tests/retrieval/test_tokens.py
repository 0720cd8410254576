"""Which terms a text is found by."""

import pytest

from foundry.runtime.retrieval.tokens import Tokenizer, heading_term, heading_terms, query_terms

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
        ("Café STRASSE straße", ["café", "strass", "strass"]),
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
        ("30 A, A 320, A 5 mm gap", ["30", "a", "a", "320", "5", "mm", "gap"]),
        ("1005.6(b)(2)", ["1005.6(b)(2)", "1005.6(b)", "1005.6", "1005"]),
        ("f(a) sha256(data)", ["f", "sha256", "sha", "data"]),
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


def test_an_identifier_is_found_however_its_parts_are_joined() -> None:
    whole = [english.terms(text)[0] for text in ("max_size2", "MAX-SIZE2", "maxSize2")]
    assert len(set(whole)) == 1


def test_devanagari_words_keep_their_vowel_signs() -> None:
    assert Tokenizer("none").terms("हिन्दी में") == ["हिन्दी", "में"]


@pytest.mark.parametrize(
    ("query", "heading"),
    [
        ("What are the safety requirements?", "Safety Requirements"),
        ("tell me about the Aboleth", "Aboleth"),
        ("30 cfr 75.1725", "30 CFR 75.1725"),
        ("Tell me about D40", "Region D40"),
        ("75.1725", "30 CFR 75.1725 Machinery and equipment"),
        ("30 CFR 75.1725", "30 CFR 75.1725 Machinery and equipment"),
        ("appendix a to part 1002", "Appendix A to Part 1002"),
        ("level a compliance", "Level A compliance"),
        ("what is A*?", "A*"),
    ],
)
def test_a_question_names_a_heading(query: str, heading: str) -> None:
    assert heading_term(english.tokenize(query)) in heading_terms(english.tokenize(heading))
    assert heading_term(english.tokenize(query)) in query_terms(english.tokenize(query))


def test_a_heading_goes_by_its_whole_and_by_its_identifiers() -> None:
    assert heading_terms(english.tokenize("30 CFR 75.1725 Machinery")) == {
        "=30 cfr 75.1725 75 1725 machineri",
        "=30 cfr 75.1725 75 1725",
        "=75.1725 75 1725",
    }
    # A number or an acronym beside no identifier is no name of its own.
    assert heading_terms(english.tokenize("IEEE 802 networks")) == {"=ieee 802 network"}


def test_names_are_told_apart_as_they_are_written() -> None:
    names = ["open", "_open", "Open", "Fd", "FD", "__init__", "init"]
    terms = {name: set(query_terms(english.tokenize(name))) for name in names}
    for name in names:
        assert terms[name] & heading_terms(english.tokenize(name)) >= {f"=={name}"}
        assert all(f"=={other}" not in terms[name] for other in names if other != name)
    # What else they have stays shared.
    assert terms["_open"] - {"==_open"} == terms["Open"] - {"==Open"} == {"open", "=open"}
    assert not any(term.startswith("==") for term in query_terms(english.tokenize("open a file")))
