import random
from collections import Counter

import pytest
from distillation_corpora import CHINESE, ENGLISH, make_chunk, make_corpus
from hypothesis import given
from hypothesis import strategies as st

from foundry.embedding.distil.corpus_texts import (
    _FRAMES,
    PrioritySample,
    chunk_text,
    draw_chunks,
    draw_texts,
    frame_question,
    key_phrase,
)
from foundry.runtime.index.records import ChunkRecord

COMMON = frozenset("the a of is and in for to".split())


def draw(chunks: list[ChunkRecord], budget: int = 10_000, seed: int = 0) -> list[str]:
    return draw_texts(chunks, budget, seed=seed, language="english", common_words=COMMON)


GUIDE = make_chunk(
    1,
    "The relief valve D40 opens at ten bar. Is the pump running? Set max_pressure first.",
    title="Pump guide",
    section=["Safety", "Relief valve"],
)


def test_sentences_headings_questions_and_identifiers_are_drawn_from_a_chunk() -> None:
    texts = draw([GUIDE])
    assert "The relief valve D40 opens at ten bar." in texts
    assert "Is the pump running?" in texts
    assert {"Pump guide", "Safety", "Relief valve", "Safety Relief valve"} <= set(texts)
    assert {"D40", "max_pressure"} <= set(texts)
    frames = [frame.replace("{}", "Relief valve") for frame in _FRAMES["english"]]
    assert any(text in frames for text in texts)


def test_texts_are_drawn_once_and_within_the_budget() -> None:
    chunks = make_corpus(ENGLISH)
    for budget in (0, 1, 7, 100, 10_000):
        texts = draw(chunks, budget)
        assert len(texts) == len(set(texts)) <= budget
    assert len(draw(chunks, 100)) == 100


def test_the_seed_determines_the_sample() -> None:
    chunks = make_corpus(ENGLISH)
    assert draw(chunks, 50) == draw(chunks, 50)
    assert draw(chunks, 50) != draw(chunks, 50, seed=1)


def test_a_long_document_does_not_crowd_out_the_others() -> None:
    words = [f"word{number}" for number in range(5000)]
    generator = random.Random(1)

    def sentences(count: int, mark: str) -> str:
        return "\n".join(f"{mark} " + " ".join(generator.sample(words, 6)) for _ in range(count))

    long = [make_chunk(0, sentences(10_000, "long"), document="long")]
    short = [make_chunk(n, sentences(10, "short"), document=f"short-{n}") for n in range(1, 101)]
    marks = Counter(text.split()[0] for text in draw([*long, *short], 400) if " " in text)
    # In proportion to its length, the long document would get ten times as many texts as the short
    # ones together. In proportion to the square root, it gets a third as many.
    assert marks["short"] > marks["long"] > 0


def test_chunks_are_drawn_in_their_order() -> None:
    chunks = make_corpus(ENGLISH)
    drawn = draw_chunks(lambda: iter(chunks), 20, seed=0)
    assert len(drawn) == 20
    assert [chunk.id for chunk in drawn] == sorted(chunk.id for chunk in drawn)
    assert draw_chunks(lambda: iter(chunks), 10_000, seed=0) == chunks


def test_a_chunk_is_embedded_below_its_headings() -> None:
    assert chunk_text(GUIDE).startswith("Pump guide\nSafety\nRelief valve\nThe relief")
    nameless = make_chunk(2, "Text.", document="row-2")
    assert nameless.headings() == []
    assert chunk_text(nameless) == "Text."
    repeated = make_chunk(3, "Text.", title="Pumps", section=["Pumps", "Oil"])
    assert repeated.headings() == ["Pumps", "Oil"]


def test_chinese_is_cut_at_its_full_stops_and_has_chinese_questions() -> None:
    chunks = make_corpus(CHINESE, end="。")
    texts = draw(chunks)
    assert not [text for text in texts if "。" in text.rstrip("。")]
    assert any(text.startswith("什么是") for text in texts)
    assert not any(text.startswith("What is") for text in texts)


@pytest.mark.parametrize(
    ("phrase", "language", "expected"),
    [
        ("valve", "english", "What is valve?"),
        ("Ventil", "german", "Was ist Ventil?"),
        ("клапан", "english", "Что такое клапан?"),
        ("valve", "turkish", "What is valve?"),
        ("{0} {}", "english", "What is {0} {}?"),
    ],
)
def test_questions(phrase: str, language: str, expected: str) -> None:
    assert frame_question(phrase, language, 0) == expected


def test_key_phrases_stand_between_common_words_and_punctuation() -> None:
    sentence = "the relief valve of the main pump, and the filter"
    found = {key_phrase(sentence, COMMON, number) for number in range(10)}
    assert found == {"relief valve", "main pump", "filter"}
    assert key_phrase("the of a", COMMON, 3) == ""


def test_pruning_does_not_change_a_sample() -> None:
    texts = [f"text {number}" for number in range(1000)]
    small, large = PrioritySample(10, 0, "x"), PrioritySample(1000, 0, "x")
    for sample in (small, large):
        for text in texts:
            sample.add(text)
        sample.end_document()
    assert small.texts() == large.texts()[:10]


@given(st.lists(st.text(max_size=200), max_size=5), st.integers(0, 50))
def test_any_text_can_be_drawn_from(parts: list[str], budget: int) -> None:
    chunks = [make_chunk(number, text, title=text[:20]) for number, text in enumerate(parts)]
    texts = draw(chunks, budget)
    assert len(texts) <= budget
    assert all(text.strip() for text in texts)
