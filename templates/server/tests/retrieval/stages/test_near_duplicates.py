"""Near-duplicates: one of each group is shown, and lists the others."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from samples import sample_hit

from foundry.runtime.index.tokens import Tokenizer
from foundry.runtime.retrieval.journal import Journal
from foundry.runtime.retrieval.results import Hit
from foundry.runtime.retrieval.stages.near_duplicates import (
    MAX_SEEN,
    Shingles,
    merge_near_duplicates,
)

tokenizer = Tokenizer("english")
INDEX: Any = SimpleNamespace(tokenizer=tokenizer)
TEXT = (
    "Lamps are checked by the foreman before each shift, and a lamp that smokes is handed in at the"
    " lamp room, where it is cleaned, filled with oil and locked again before anybody goes down."
)


def hit(number: int, text: str = "", document: str = "d") -> Hit:
    """Return a hit; its score is a hundredth lower for each number."""
    score = 0.9 - number / 100
    return sample_hit(id=f"c{number}", document_id=document, title="", text=text, score=score)


def merge(texts: Sequence[str], count: int = 10) -> tuple[list[Hit], Journal]:
    journal = Journal()
    found = [hit(number, text) for number, text in enumerate(texts)]
    shown = merge_near_duplicates(found, count, INDEX, journal, similarity=0.8)
    return list(shown), journal


def test_the_best_hit_lists_its_near_duplicates() -> None:
    shown, journal = merge(
        [
            TEXT,
            "Air moves through the mine.",
            TEXT.replace("cleaned", "washed"),
            TEXT.upper() + " -- Home | Contact",
        ]
    )
    assert [hit.id for hit in shown] == ["c0", "c1"]
    assert shown[0].near_duplicates == ("c2", "c3")
    assert shown[0].to_json()["near_duplicates"] == ["c2", "c3"]
    assert "near_duplicates" not in shown[1].to_json()
    assert journal.stages == {"near_duplicates": {"removed": 2}}


@pytest.mark.parametrize(("word", "other"), [("is handed", "is not handed"), ("in at", "out at")])
def test_opposite_statements_are_not_near_duplicates(word: str, other: str) -> None:
    shown, journal = merge([TEXT, TEXT.replace(word, other), TEXT.replace("cleaned", "washed")])
    assert [hit.near_duplicates for hit in shown] == [("c2",), ()]
    assert journal.stages == {"near_duplicates": {"removed": 1}}


def test_texts_with_different_names_are_separate_groups() -> None:
    shown, _ = merge(
        [
            "Air moves through the mine.",
            TEXT,
            f"{TEXT} See 42.",
            f"{TEXT} See 43.",
            f"{TEXT.replace('cleaned', 'washed')} See 43.",
            f"{TEXT.replace('cleaned', 'washed')} See 42.",
        ]
    )
    named = {hit.id: hit.near_duplicates for hit in shown}
    assert named == {"c0": (), "c1": (), "c2": ("c5",), "c3": ("c4",)}


def test_texts_that_differ_in_a_number_or_a_code_are_no_duplicates() -> None:
    base = TEXT + " This is rule 12 of region D40."
    shown, _ = merge([base, base.replace("12", "13"), base.replace("D40", "D41"), base])
    assert [hit.id for hit in shown] == ["c0", "c1", "c2"]
    base = TEXT + " This is max_speed."
    shown, _ = merge([base, base.replace("speed", "depth"), base])
    assert [hit.id for hit in shown] == ["c0", "c1"]


def test_near_duplicates_below_the_depth_are_left_out() -> None:
    shown, journal = merge([TEXT, "Air moves.", TEXT], count=1)
    assert [hit.id for hit in shown] == ["c0", "c1"]
    assert shown[0].near_duplicates == ()
    assert journal.stages == {"near_duplicates": {"removed": 1}}


@pytest.mark.parametrize("other", ["", "dusty", "dusty deep"])
def test_a_copy_with_any_words_changed_is_found(other: str) -> None:
    words = TEXT.split()
    alike = 0
    for place in range(len(words)):
        text = " ".join([*words[:place], other, *words[place + 1 :]])
        first, second = (Shingles.of(each, tokenizer.tokenize) for each in (TEXT, text))
        is_alike = first.resembles(second, 0.8)
        shown, _ = merge([TEXT, text])
        assert [hit.near_duplicates for hit in shown] == ([("c1",)] if is_alike else [(), ()])
        alike += is_alike
    assert alike > 0


def test_only_the_best_hits_are_compared() -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"
    others = [f"Note {a}{b} of {b}{a}." for a in letters for b in letters][:MAX_SEEN]
    shown, _ = merge([TEXT, *others[: MAX_SEEN - 2], TEXT, TEXT], count=100)
    assert shown[0].near_duplicates == (f"c{MAX_SEEN - 1}",)
    assert shown[-1].id == f"c{MAX_SEEN}"


def test_resemblance_is_the_share_of_common_word_pairs() -> None:
    # Six words form five pairs; with one word replaced, the texts share four of six pairs.
    words = "alpha bravo charlie delta echo foxtrot"
    first, second = (
        Shingles.of(text, tokenizer.tokenize) for text in (words, words.replace("foxtrot", "xray"))
    )
    assert len(first.pairs) == 5
    assert len(first.pairs & second.pairs) / len(first.pairs | second.pairs) == pytest.approx(4 / 6)
    assert first.resembles(second, 4 / 6 - 1e-9)
    assert not first.resembles(second, 4 / 6 + 1e-9)


def test_resemblance_equal_to_the_threshold_counts() -> None:
    words = "alpha bravo charlie delta echo foxtrot"
    longer, shorter = (
        Shingles.of(text, tokenizer.tokenize) for text in (words, words.removesuffix(" foxtrot"))
    )
    assert longer.resembles(shorter, 4 / 5) and shorter.resembles(longer, 4 / 5)
    assert not longer.resembles(shorter, 4 / 5 + 1e-9)


def test_single_words_are_compared() -> None:
    pump, seal = (Shingles.of(text, tokenizer.tokenize) for text in ("pump", "seal"))
    assert pump.resembles(pump, 1.0)
    assert not pump.resembles(seal, 0.1)


def test_a_text_is_tokenized_once() -> None:
    first, again = (Shingles.of("the seal of a pump", tokenizer.tokenize) for _ in range(2))
    assert first is again
