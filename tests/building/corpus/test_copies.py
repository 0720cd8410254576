"""Which documents are copies of which."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foundry.building.corpus.copies import find_copies, is_copy_name
from foundry.building.corpus.near_copies import THRESHOLD, jaccard, shingles_of
from foundry.building.documents.signature import Signature, facts_of, find_blocks
from foundry.documents import Document, RawDocument, Skipped
from foundry.readers import read


def document(name: str, text: str, *, source: str = "docs") -> Document:
    found = read(RawDocument(source, name, name, text.encode()))
    assert not isinstance(found, Skipped)
    return found


def sign(one: Document) -> Signature:
    return Signature.of(one, [*find_blocks(one.reading)])


def copies(documents: list[Document], mode: str) -> dict[int, int]:
    signatures = [*map(sign, documents)]
    numbers, texts = np.arange(len(documents)), np.array([each.text for each in signatures], "V16")
    return find_copies(
        numbers, texts, signatures.__getitem__, mode, documents.__getitem__  # type: ignore[arg-type]
    )


WORDS = [f"word{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(300)]


def test_documents_with_the_same_words_are_copies_whatever_their_names_and_white_space() -> None:
    one = document("a.txt", "The shaft\n\nis   closed.\n")
    other = document("copies/b.txt", "The shaft is\nclosed.", source="other")
    assert copies([one, other], "exact") == {1: 0}
    assert copies([one, other], "keep") == {}


@pytest.mark.parametrize(
    ("loses", "stays"),
    [
        ("copy of new.md", "new.md"),
        ("Copy (2) of new.md", "new.md"),
        ("a/copy of x.md", "a/b/c/x-and-more.md"),
        ("x (1).md", "x.md"),
        ("x copy.md", "xerox.md"),
        ("x - Copy (2).md", "zz/x.md"),
        ("x.md.bak", "y/x.md"),
        ("a.bak", "b.md"),
        ("a-old.md", "b.md"),
        ("a_backup.md", "b.md"),
        ("a.md~", "b.md"),
        # The next criteria are fewer path parts, a shorter path, and alphabetical order.
        ("a/b.md", "longer.md"),
        ("aa.md", "b.md"),
        ("b.md", "a.md"),
    ],
)
def test_which_of_two_copies_is_left_out_in_any_order(loses: str, stays: str) -> None:
    one, other = (document(name, "The shaft is closed.") for name in (loses, stays))
    for mode in ("exact", "near"):
        assert copies([one, other], mode) == {0: 1}
        assert copies([other, one], mode) == {1: 0}


@pytest.mark.parametrize(
    "name",
    [
        "hardcopy.md",
        "threshold.md",
        "copying.md",
        "copy.md",
        "old.md",
        "(1).md",
        "copy",
        "f(1)x.md",
    ],
)
def test_names_that_do_not_mark_a_copy(name: str) -> None:
    assert not is_copy_name(name)


def test_the_first_source_takes_precedence_over_a_shorter_path() -> None:
    one = document("guide/pump.md", "Text.")
    assert copies([one, document("a.md", "Text.", source="archive")], "exact") == {1: 0}
    named = [document("x (1).md", "Text."), document("x.md", "Text.", source="archive")]
    assert copies(named, "exact") == {0: 1}


def test_the_near_copy_that_is_named_as_a_copy_is_left_out() -> None:
    text = " ".join(WORDS)
    names = ("copy of pump.md", "pump.md", "pumps.md")
    documents = [document(name, f"# Pump\n\n{text} {name[0] * 3}") for name in names]
    assert copies(documents, "near") == {0: 1, 2: 1}


def test_documents_that_differ_in_case_punctuation_or_title_are_not_exact_copies() -> None:
    documents = [
        document("a.md", "---\ntitle: Alpha\n---\nComing soon."),
        document("b.md", "---\ntitle: Beta\n---\nComing soon."),
        document("c.md", "---\ntitle: Alpha\n---\nComing soon!"),
        document("d.md", "---\ntitle: Alpha\n---\ncoming soon."),
    ]
    assert copies(documents, "exact") == {}


def test_other_front_matter_does_not_distinguish_copies() -> None:
    one = document("a.md", "---\ntitle: Alpha\ndate: 2024-01-01\n---\nText of it.")
    other = document("b.md", "---\ntitle: Alpha\ndate: 2025-01-01\n---\nText of it.")
    assert copies([one, other], "exact") == {1: 0}


def test_near_copies_may_differ_in_all_of_their_front_matter() -> None:
    text = " ".join(WORDS[:100])
    one, other = (
        document(
            f"{name}.md", f"---\ntags: {[f'{name}{n}' for n in range(20)]}\n---\n{text} {name}"
        )
        for name in ("first", "second")
    )
    assert copies([one, other], "near") == {1: 0}


def test_near_copies_differ_in_a_few_words_and_never_in_numbers_or_headings() -> None:
    text = " ".join(WORDS)
    documents = [
        document("a.md", f"# Pump\n\n{text} end"),
        document("b.md", f"# Pump\n\n{text} finish"),
        document("c.md", f"# Pump\n\n{text} 7"),
        document("d.md", f"# Valve\n\n{text} end"),
        document("e.md", f"# Pump\n\n{' '.join(WORDS[:250])} end"),
        document("f.md", f"# Pump\n\n{text}  END\n"),
        document("g.md", f"# Pump\n\n{text} not"),
    ]
    assert copies(documents, "near") == {1: 0, 5: 0}
    assert copies(documents, "exact") == {}


def test_near_copies_have_the_same_title_even_as_a_first_line() -> None:
    text = " ".join(WORDS)
    documents = [
        document("a.txt", f"Pump north\n\n{text}"),
        document("b.txt", f"Pump south\n\n{text}"),
    ]
    assert copies(documents, "near") == {}


@pytest.mark.parametrize(
    ("text", "shingles"),
    [
        ("One two", {"one two"}),
        ("one two three four Five", {"one two three four five"}),
        (
            "one two three four five six, seven",
            {
                "one two three four five",
                "two three four five six",
                "three four five six seven",
            },
        ),
    ],
)
def test_shingles_are_runs_of_five_words_or_all_words_of_shorter_texts(
    text: str, shingles: set[str]
) -> None:
    assert shingles_of(document("a.txt", text)) == shingles


def test_near_copies_are_compared_with_kept_documents_only() -> None:
    chain = [
        document(f"{number}.txt", " ".join(["new"] * number + WORDS[number:]))
        for number in range(12)
    ]
    found = copies(chain, "near")
    assert found
    for copy, kept in found.items():
        assert kept not in found
        assert jaccard(shingles_of(chain[copy]), shingles_of(chain[kept])) >= THRESHOLD


def brute_force(documents: list[Document]) -> dict[int, int]:
    """Compare every pair; return for each copy the first similar document that has its facts."""
    found: dict[int, int] = {}
    for number, one in enumerate(documents):
        for other in range(number):
            if other in found or facts_of(one) != facts_of(documents[other]):
                continue
            left, right = shingles_of(one), shingles_of(documents[other])
            if len(left & right) / len(left | right) >= THRESHOLD:
                found[number] = other
                break
    return found


edits = st.lists(st.tuples(st.integers(0, 299), st.sampled_from(["red", "blue", "8"])), max_size=6)


@settings(max_examples=13, deadline=None)
@given(st.lists(edits, min_size=2, max_size=7))
def test_near_copies_equal_those_found_by_comparing_all_pairs(changes: list[object]) -> None:
    documents = []
    for number, change in enumerate(changes):
        words = list(WORDS)
        for place, word in change:  # type: ignore[attr-defined]
            words[place] = word
        documents.append(document(f"{number}.txt", " ".join(words)))
    assert copies(documents, "near") == brute_force(documents)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(["one two", "one  two", "three", "four 4"]), max_size=8))
def test_kept_documents_have_no_copies(texts: list[str]) -> None:
    documents = [document(f"{number}.txt", text) for number, text in enumerate(texts)]
    for mode in ("exact", "near"):
        found = copies(documents, mode)
        assert all(kept < copy and kept not in found for copy, kept in found.items())
        rest = [one for number, one in enumerate(documents) if number not in found]
        assert copies(rest, mode) == {}
        assert {" ".join(one.reading.text.split()) for one in rest} == {
            " ".join(text.split()) for text in texts
        }


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126)), st.integers(0, 40))
def test_signature_survives_serialisation(text: str, number: int) -> None:
    one = document("a.md", f"# Title {number}\n\nwords {text}\n\nmore")
    signature = sign(one)
    content = signature.to_bytes()
    assert Signature.from_bytes(content).to_bytes() == content
    assert Signature.from_bytes(content).blocks.tolist() == signature.blocks.tolist()
