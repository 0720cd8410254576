"""Sentence boundaries, marked here by `|`, and the sentences of a Markdown document."""

import time
from itertools import accumulate

import pytest

from workshop.chat.quoting.units import sentences
from workshop.chat.text import find_sentence_ends

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


@pytest.mark.parametrize(
    "marked",
    [
        "One here. |Two there! |Three?",
        "It takes 3.5 mm, e.g. Of steel. |Then wait.",
        "Dr. Who met J. Doe at 9 p.m. On time. |He left.",
        "See fig. 3 and no. 4. |They differ.",
        "Call `a. B. c` now. |It returns.",
        "It stops. |Call `a. B`",
        "Call `a. B`\n\n|It returns. |Then `c`",
        'She said "no." |He went (at last). |End.',
        "Yahoo! is lower case. |Next.",
        "Sie endet mit der Vollendung des 18. Lebensjahres. |Das Amt ruht.",
        "Sie gilt ab 3. Mai nach \u00a7 7 Abs. 3 und Nr. 4. |Sie endet bzw. Ruht.",
        "V\u00e9ase la p\u00e1g. 4 del art. 12. |Fin.",
        "I am 18. |You roll 6. |May I go?",
        "\u4eca\u65e5\u306f\u3002|\u660e\u65e5\uff1f|\u300c\u306f\u3044\u3002\u300d|\u7d42",
        "\u092f\u0939 \u090f\u0915 \u0939\u0948\u0964 |\u092f\u0939 \u0926\u094b\u0964",
        "No stop here\n|- an item\n|- another\n|1. a third\n|2. a fourth",
        "First paragraph\n\n|Second paragraph",
        "First paragraph.\n\n|second paragraph",
        "Wait... what now. |Yes.",
        "Types (as CREATE TYPE ... AS ENUM (...) makes them) adapt. |And so on... |Well.",
        "git x [<path>...]\n[--all] [<pattern> ...]\ngit y <path>...\ngit zap. |Done.",
        "one line\nanother line.\n|Last",
        "One here. |Two, with spaces after it. ",
    ],
)
def test_sentences(marked: str) -> None:
    text, ends = marked.replace("|", ""), [*accumulate(map(len, marked.split("|")))]
    assert [*find_sentence_ends(text, 0, len(text))] == ends[:-1]


def test_sentences_of_markdown() -> None:
    assert list(sentences(MARKDOWN)) == [
        "The first sentence is wrapped over two lines.",
        "The second, cf. Fig. 3 and e.g. No. 4, ends here!",
        "An item with a link to follow",
        "A numbered item with a picture in it",
        "A quotation, which the region explains [12].",
        "Reading: 1.0 percent or more; What has to be done: Cut the power to everything",
    ]


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Override `__init__`, pass `**kw` and `**more` on.",) * 2,
        ("An `[index](x)` or `[[a|b]]` is written as code.",) * 2,
        ("Methods such as __init__ and __call__ stay.",) * 2,
        (
            "Call [`add_tool`](ref.md) for **each `tool`** here.",
            "Call `add_tool` for each `tool` here.",
        ),
        ("See [the page](https://a.example/B_(c)) for it.", "See the page for it."),
        ("The name of\\\nthe file\\ is long.", "The name of the file\\ is long."),
        ("A ***very*** heavy suit, __much too__ heavy.", "A very heavy suit, much too heavy."),
    ],
)
def test_marks_are_taken_out_but_of_code(text: str, plain: str) -> None:
    assert [*sentences(text)] == [plain]


def test_code_that_began_in_an_earlier_chunk_has_no_sentences() -> None:
    assert not [*sentences("print('The end of a block of code.')\n```")]
    code = "print('The whole of a block of code.')\n"
    assert [*sentences(f"It is said above it.\n```\n{code}```")] == ["It is said above it."]


@pytest.mark.parametrize("piece", ["`a ", "**a ", "__a ", "[a](b(c)", "[[a|", "`a` **"])
def test_hostile_marks_cost_little(piece: str) -> None:
    started = time.process_time()
    assert [*sentences(piece * 20_000)]
    assert time.process_time() - started < 10


@pytest.mark.parametrize(
    ("before", "mark", "after"),
    [("# ", "# ", "x"), ("~~~", "~", "`"), ("a|b\n", " ", "x|"), ("a|b\n-", " ", "x|")],
)
def test_hostile_lines_cost_little(before: str, mark: str, after: str) -> None:
    line = f"{before}{mark * 50_000}{after}"
    started = time.process_time()
    assert [*sentences(f"{line}\n\nThe sentence below the line.")]
    assert time.process_time() - started < 3


@pytest.mark.parametrize("marks", [("-", "-"), ("1.", "2."), ("*", "*"), ("(1)", "(2)")])
@pytest.mark.parametrize("gap", ["\n", "\n\n"])
def test_an_item_is_quoted_with_what_introduces_it(marks: tuple[str, str], gap: str) -> None:
    items = [f"{mark} the work of {who} is done" for mark, who in zip(marks, "ab", strict=True)]
    stem = "It has been said before. Never stop it unless:"
    shown = [item if marks[0] == "(1)" else item.partition(" ")[2] for item in items]
    text = gap.join([stem, *items]) + "\n\nAll of this was said."
    assert [*dict.fromkeys(sentences(text))] == [
        "It has been said before.",
        f"Never stop it unless: {shown[0]}",
        f"Never stop it unless: {shown[1]}",
        "All of this was said.",
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
    assert [*sentences("word " * 200 + "end.")] == ["word " * 79 + "\u2026"]
    assert [*sentences("w" * 399 + ".")] == ["w" * 399 + "."]
    assert [*sentences("w" * 400 + ".")] == ["w" * 398 + " \u2026"]


def test_very_short_sentences_say_nothing() -> None:
    assert [*sentences("This is too short. This is long enough.")] == ["This is long enough."]
    assert [*sentences("Nineteen letters ok.")] == ["Nineteen letters ok."]
    assert [*sentences("Eighteen letters k.")] == []
