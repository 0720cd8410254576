"""Sentences of Markdown have bounded length, and each extract of an answer adds something."""

from dataclasses import astuple
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from small_indexes import Note, write_notes

from foundry.indexing.versions import open_index
from foundry.runtime.chat.answer import number_passages
from foundry.runtime.chat.quoting.selection import select_quotes
from foundry.runtime.chat.quoting.units import MAX_UNIT, sentences
from foundry.runtime.chat.text import MIN_SENTENCE
from foundry.runtime.retrieval.results import Hit, LaneRanks, LaneScores


@given(st.text(alphabet="aB .!?[]()*_|#>-`\n1\u3002", max_size=600))
def test_sentences_are_of_bounded_length(text: str) -> None:
    for sentence in sentences(text):
        assert MIN_SENTENCE <= len(sentence) <= MAX_UNIT


def test_hostile_text_takes_linear_time() -> None:
    for mark in ("[", "*", "|", "(", "!", "> ", "`", "- ", "[a](", "**a ", "*a ", "[[a|"):
        list(sentences(mark * 20_000))


def test_each_extract_adds_something_new(tmp_path: Path) -> None:
    texts = (
        "Refunds for parcels take two weeks in Germany.",
        "In Germany, refunds for parcels take two weeks! Refunds of parcels cost nothing.",
    )
    index = open_index(write_notes(tmp_path / "index", [Note("Parcels", texts)]), vectors=True)
    scores = LaneScores(0.6, None), LaneRanks(1, None)
    hits = [
        Hit(*astuple(index.chunk(number))[:-1], [], 0.5, *scores, {})
        for number in range(len(texts))
    ]
    extracts, share = select_quotes(
        "What do refunds of parcels take?", number_passages(hits), index
    )
    assert [(passage.source.number, quote.lead) for passage, quote in extracts] == [
        (1, texts[0]),
        (2, "Refunds of parcels cost nothing."),
    ]
    assert share == 1.0
