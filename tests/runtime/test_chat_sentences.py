"""Sentences of Markdown, as plain text, and those of them that answer a question."""

from dataclasses import astuple
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from small_indexes import Note, write_notes

from foundry.indexing.versions import open_index
from foundry.runtime.chat.prompt import extract, number_passages
from foundry.runtime.chat.text import MAX_SENTENCE, MIN_SENTENCE, sentences
from foundry.runtime.retrieval.results import Hit, LaneRanks, LaneScores

MARKDOWN = """# A heading that is no sentence

The first sentence is wrapped
over two lines. The second, cf. Fig. 3 and e.g. No. 4, ends here! Short.

- An item with a [link](http://evil.example/a?b "title") to follow
2. A numbered item with ![a picture](x.png) in it

> A quotation, which [[Region D40|the region]] explains [12].

| Reading | What has to be done |
|---|---|
| 1.0 percent or more | Cut the power to everything |

```python
print("This is code and no sentence at all.")
```
"""


def test_sentences_of_markdown() -> None:
    assert list(sentences(MARKDOWN)) == [
        "The first sentence is wrapped over two lines.",
        "The second, cf. Fig. 3 and e.g. No. 4, ends here!",
        "An item with a link to follow",
        "A numbered item with a picture in it",
        "A quotation, which the region explains (12).",
        "Reading: 1.0 percent or more; What has to be done: Cut the power to everything",
    ]


def test_a_row_of_a_table_names_the_columns_of_its_values() -> None:
    table = (
        "| Month | Gross | |\n|:---|---:|---|\n"
        "| December 2024 | $12,500.00 | a \\| b |\n| May | |\n"
    )
    assert list(
        sentences(f"Words above the table.\n{table}\n| a row that belongs to no table |")
    ) == [
        "Words above the table.",
        "Month: December 2024; Gross: $12,500.00; a | b",
        "a row that belongs to no table",
    ]


def test_scripts_without_spaces() -> None:
    text = "\u9577\u3044\u6587" * 10 + "\u3002"
    assert list(sentences(text * 2)) == [text, text]


def test_long_sentence_is_cut_at_a_word() -> None:
    (sentence,) = sentences("word " * 200 + "end.")
    assert sentence.endswith("word ...")
    assert len(sentence) <= MAX_SENTENCE + 4


@given(st.text(alphabet="aB .!?[]()*_|#>-`\n1\u3002", max_size=600))
def test_sentences_are_of_bounded_length_and_cite_nothing(text: str) -> None:
    for sentence in sentences(text):
        assert MIN_SENTENCE <= len(sentence) <= MAX_SENTENCE + 4
        assert "[1]" not in sentence


def test_time_is_linear_in_hostile_text() -> None:
    for mark in ("[", "*", "|", "(", "!", "> ", "`", "- ", "[a](", "**a ", "*a ", "[[a|"):
        list(sentences(mark * 20_000))


def test_each_extract_says_something_new(tmp_path: Path) -> None:
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
    extracts = extract("How long do refunds of parcels take?", number_passages(hits), index)
    assert [(passage.source.number, text) for passage, text in extracts] == [
        (1, texts[0]),
        (2, "Refunds of parcels cost nothing."),
    ]
