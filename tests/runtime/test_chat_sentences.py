"""Sentences of Markdown, as plain text."""

from hypothesis import given
from hypothesis import strategies as st

from foundry.runtime.chat.extract import MAX_CHARACTERS, MIN_CHARACTERS, sentences

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
        "Reading, What has to be done",
        "1.0 percent or more, Cut the power to everything",
    ]


def test_scripts_without_spaces() -> None:
    text = "\u9577\u3044\u6587" * 10 + "\u3002"
    assert list(sentences(text * 2)) == [text, text]


def test_long_sentence_is_cut_at_a_word() -> None:
    (sentence,) = sentences("word " * 200 + "end.")
    assert sentence.endswith("word ...")
    assert len(sentence) <= MAX_CHARACTERS + 4


@given(st.text(alphabet="aB .!?[]()*_|#>-`\n1\u3002", max_size=600))
def test_sentences_are_of_bounded_length_and_cite_nothing(text: str) -> None:
    for sentence in sentences(text):
        assert MIN_CHARACTERS <= len(sentence) <= MAX_CHARACTERS + 4
        assert "[1]" not in sentence


def test_time_is_linear_in_hostile_text() -> None:
    for mark in ("[", "*", "|", "(", "!", "> ", "`", "- ", "[a](", "**a ", "*a ", "[[a|"):
        list(sentences(mark * 20_000))
