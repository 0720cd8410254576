import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundry.config.project import LANGUAGES
from foundry.indexing.keyword.names import heading_terms
from foundry.runtime.index.heading_terms import heading_term, query_terms
from foundry.runtime.index.tokens import ENGLISH_STOP_WORDS, Tokenizer

english = Tokenizer("english")


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_every_language_has_its_stemmer(language: str) -> None:
    assert Tokenizer(language).terms("bibliothek") != []


def test_stop_words_are_kept_without_a_language() -> None:
    word = "the"
    assert word in ENGLISH_STOP_WORDS
    assert Tokenizer("none").terms(word) == [word]


def test_the_pure_python_stemmer_agrees_with_the_compiled_one() -> None:
    """Exports have only the pure-Python one; indexes are built with the compiled one."""
    from snowballstemmer.english_stemmer import EnglishStemmer

    pure = EnglishStemmer()
    words = (
        "running maintenance requirements safety generously flies dying skis proceed news"
        " relational conditional vietnamization predication operator feudalism hopefulness"
        " formality sensibility triplicate dependent analogously communism activate angularity"
    ).split()
    assert [pure.stemWord(word) for word in words] == [
        term for word in words for term in english.terms(word)
    ]


@given(st.text())
def test_terms_are_not_empty_case_folded_and_without_spaces(text: str) -> None:
    for term in english.terms(text):
        assert term
        assert term == term.casefold()
        assert not any(character.isspace() for character in term)


@given(st.text(), st.text())
def test_terms_do_not_depend_on_earlier_texts(first: str, second: str) -> None:
    fresh = Tokenizer("english")
    fresh.terms(first)
    assert fresh.terms(second) == Tokenizer("english").terms(second)


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
    assert heading_term(english.tokenize(query)) in set().union(
        *heading_terms(english.tokenize(heading))
    )
    assert heading_term(english.tokenize(query)) in query_terms(english.tokenize(query))


def test_a_heading_is_named_by_its_text_and_its_identifiers() -> None:
    named, inside = heading_terms(english.tokenize("30 CFR 75.1725 Machinery"))
    assert named == {
        "=30 cfr 75.1725 75 1725 machineri",
        "=30 cfr 75.1725 75 1725",
        "=75.1725 75 1725",
    }
    assert inside == set()
    # The name comes first, or follows the type of a section.
    for heading in ("\u00a7 75.1725 Machinery", "Section 75.1725"):
        assert "=75.1725 75 1725" in heading_terms(english.tokenize(heading))[0]
    named, inside = heading_terms(english.tokenize("Comment on 30 CFR 75.1725"))
    assert named == {"=comment 30 cfr 75.1725 75 1725"}
    assert inside == {"=30 cfr 75.1725 75 1725", "=75.1725 75 1725"}
    # A number or an acronym without an identifier next to it is not a name.
    assert heading_terms(english.tokenize("IEEE 802 networks")) == ({"=ieee 802 network"}, set())


def test_names_are_distinguished_by_spelling() -> None:
    names = ["open", "_open", "Open", "Fd", "FD", "__init__", "init"]
    terms = {name: set(query_terms(english.tokenize(name))) for name in names}
    for name in names:
        assert terms[name] & heading_terms(english.tokenize(name))[0] >= {f"=={name}"}
        assert all(f"=={other}" not in terms[name] for other in names if other != name)
    # The other terms of these names remain shared.
    assert terms["_open"] - {"==_open"} == terms["Open"] - {"==Open"} == {"open", "=open"}
    assert not any(term.startswith("==") for term in query_terms(english.tokenize("open a file")))


@pytest.mark.parametrize(
    ("text", "expected"),
    [("_open", True), ("__init__", True), ("_really_", False), ("__", False), ("open_", False)],
)
def test_leading_underscores_make_an_identifier(text: str, expected: bool) -> None:
    (token,) = english.tokenize(text)
    assert token.is_identifier is expected


@pytest.mark.parametrize(
    ("text", "is_identifier", "may_accompany"),
    [
        ("30", False, True),
        ("2024", False, True),
        ("X", False, False),
        ("NA", False, True),
        ("ABCDEF", False, True),
        ("ABCDEFG", False, False),
        ("Cfr", False, False),
        ("D40", True, True),
        ("75.1725", True, False),
        ("1005.6(b)", True, False),
        ("HTTPServer", True, False),
        ("\u65e5\u672c\u8a9e", False, False),
        ("x" * 129, False, False),
    ],
)
def test_identifiers_and_words_beside_them(
    text: str, is_identifier: bool, may_accompany: bool
) -> None:
    (token,) = english.tokenize(text)
    assert (token.is_identifier, token.may_accompany) == (is_identifier, may_accompany)


def test_letters_of_numbered_parts_are_words() -> None:
    tokens = english.tokenize("Appendix A to paragraph (b)")
    assert [(token.text, token.is_identifier, token.may_accompany) for token in tokens] == [
        (text, False, False) for text in ("Appendix", "A", "to", "paragraph", "b")
    ]


@pytest.mark.parametrize(
    ("query", "heading"),
    [("Aboleth", "Aboleth thrall"), ("D4", "Region D40"), ("75.172", "30 CFR 75.1725")],
)
def test_other_words_name_another_heading(query: str, heading: str) -> None:
    assert heading_term(english.tokenize(query)) not in set().union(
        *heading_terms(english.tokenize(heading))
    )


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        (r"user\_id", "user_id"),
        (r"\_\_init\_\_", "__init__"),
        (r"C\#", "C#"),
        (r"1\.2", "1.2"),
        (r"Stra\u00dfe gr\u00fcn", "Straße grün"),
        (r"\ud835\udc9cx", "\U0001d49cx"),
        (r"C:\Users\new", "C: Users new"),
    ],
)
def test_backslash_escapes_do_not_change_a_word(written: str, plain: str) -> None:
    assert english.terms(written) == english.terms(plain)


@pytest.mark.parametrize(
    ("written", "terms"),
    [
        (r'"first\nthird word"', "first nthird third word"),
        (r"label=first\n\nthird", "label first n nthird third"),
        (r"'name:\tthird.txt'", "name tthird.txt tthird txt third.txt third txt"),
        (r"f'{x}\r\nThird'", "f x r nthird third third"),
        (r"C:\new\train", "c new ew train rain"),
        (r"C:\Users\new", "c user new"),
        (r"$\nabla f$, $\alpha\times 2$", "nabla f alpha time 2"),
    ],
)
def test_a_word_after_escaped_white_space_is_found(written: str, terms: str) -> None:
    assert english.terms(written) == terms.split()


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("What does -v do?", "-v v"),
        ("`-V`, (-a), -n<count>", "-V v -a -n n count"),
        ("-o/--output", "-o o output"),
        ("\u2212v, \u2013V (\u2013a)", "-v v -V v -a"),
        ("x-y, a - b, --v, -xvf, -5", "xy b v xvf 5"),
        ("a \u2013 b, 1975\u2013c", "b 1975 c"),
    ],
)
def test_options_of_one_letter(text: str, terms: str) -> None:
    assert english.terms(text) == terms.split()


@pytest.mark.parametrize(
    ("written", "other"),
    [
        ("v2.0.0-rc.1", "2.0.0-rc.1"),
        ("V1.2.3-beta", "1.2.3-beta"),
        ("25 \u00b5m", "25 um"),
        ("25\u03bcm", "25um"),
        ("10 \u00b5F", "10 uF"),
    ],
)
def test_ways_of_writing_versions_and_units(written: str, other: str) -> None:
    assert english.terms(written) == english.terms(other)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("1,250 pumps", "1250 1 250 pump"),
        ("$1,250,000.50", "1250000.50 1250000 50 1 250 000.50 000"),
        ("codes 200,301 and 1,2", "code 200301 200 301 1 2"),
        ("at 09:30", "9:30 09 30"),
        ("09:30:15 or 19:30", "9:30:15 09 30 15 19:30 19"),
        ("00:30 or 0:30", "0:30 00 30"),
    ],
)
def test_numbers_with_commas_and_times(text: str, terms: str) -> None:
    assert [*dict.fromkeys(english.terms(text))] == terms.split()


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("!==", "~!=="),
        ("Write `x => y`, not `x -> y`.", "write x ~=> y x ~-> y"),
        ("a!=b", "~!= b"),
        ("\U0001f680 launch", "~\U0001f680 launch"),
        ("---- ==== <!-- x --> |---| https://x", "x https x"),
    ],
)
def test_operators_and_signs_have_terms(text: str, terms: str) -> None:
    assert english.terms(text) == terms.split()


def test_signs_name_no_heading() -> None:
    for text in ("File \u2192 Open", "File => Open"):
        assert heading_term(english.tokenize(text)) == heading_term(english.tokenize("File open"))
    assert query_terms(english.tokenize("=>"))[0] == "~=>"


def test_abbreviations_are_found_without_full_stops() -> None:
    assert english.terms("U.S.A.") == ["u.s.a", "usa"]
    assert english.terms("the U.S.") == ["u.s"]


def test_an_escaped_backslash_does_not_begin_an_escape() -> None:
    assert english.terms(r"\\u00fc") == ["u00fc"]
