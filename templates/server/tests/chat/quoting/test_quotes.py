"""The context that is quoted with a sentence: its code, its list, its column names."""

import pytest

from foundry.runtime.chat.quoting.quotes import quote_units
from foundry.runtime.chat.quoting.units import read_units


def quoted(text: str, *beginnings: str, worthy: str = "") -> list[str]:
    """Return the quotations of the units that begin with these texts."""
    units = read_units(text)
    chosen = [unit for unit in units if unit.text.lstrip("| ").startswith(beginnings)]
    assert chosen
    return [quote.cite("[1]") for quote in quote_units(units, chosen, lambda one: worthy in one)]


def lines(count: int, start: int = 1) -> str:
    return "\n".join(f"line {number}" for number in range(start, start + count))


def test_code_belongs_to_the_sentence_before_it() -> None:
    text = f"It is old. To remove it, run:\n\n```sh\n{lines(2)}\n```\n\nThen wait for it."
    assert quoted(text, "To remove") == [f"To remove it, run: [1]\n\n```sh\n{lines(2)}\n```"]
    assert quoted(text, "It is old") == [
        f"It is old. To remove it, run: [1]\n\n```sh\n{lines(2)}\n```"
    ]
    assert quoted(text, "Then wait") == ["Then wait for it. [1]"]


def test_sentences_before_code_are_quoted_once() -> None:
    text = "It was deleted. It can be found. See it here.\n\n```\nx\n```"
    assert quoted(text, "It was", "It can") == [
        "It was deleted. It can be found. See it here. [1]\n\n```\nx\n```"
    ]


def test_of_long_code_the_first_lines_are_shown() -> None:
    assert quoted(f"Run:\n~~~\n{lines(30)}\n~~~", "Run:") == [
        f"Run: [1]\n\n```\n{lines(10)}\n```\n\n\u2026"
    ]


def test_indented_code_is_code_below_what_announces_it() -> None:
    assert quoted("Run:\n\n    uv sync\n      --all\n", "Run:") == [
        "Run: [1]\n\n```\nuv sync\n  --all\n```"
    ]


def test_code_holds_fences_of_its_own() -> None:
    assert quoted("Write:\n````md\n```\nx\n```\n````", "Write") == [
        "Write: [1]\n\n````md\n```\nx\n```\n````"
    ]


def test_what_a_colon_announces_may_be_in_the_next_passage() -> None:
    assert quoted("To remove it, run:", "To remove") == ["To remove it, run: [1]\n\n\u2026"]
    assert quoted("To remove it:\n\nLinux\n\nWrite this:\n```\nx\n```", "To remove") == [
        "To remove it: [1]\n\nWrite this:\n\n```\nx\n```"
    ]


def test_what_follows_two_colons_is_shown_or_marked_as_omitted() -> None:
    assert quoted("Run this:\n\n> If you use it:", "Run this") == [
        "Run this: [1]\n\nIf you use it:\n\n\u2026"
    ]
    assert quoted("Run this:\n\nOn Linux:\n\n- a\n- b", "Run this") == [
        "Run this: [1]\n\nOn Linux:\n\n- a\n- b"
    ]


def test_the_title_of_a_closed_block_is_no_sentence() -> None:
    text = "> \u25b8 **All the options of installing**\n>\n> Add it to the project."
    assert [(unit.text, unit.above) for unit in read_units(text)] == [
        ("Add it to the project.", "All the options of installing")
    ]
    asked, answer = read_units("> \u25b8 **Is it free?**\n>\n> Yes.")
    assert (asked.is_question, answer.is_answer) == (True, True)


TABS = "Run one of these:\n\nBash\n\n```\na\n```\n\nZsh\n\n```\nb\n```\n\nFish\n\n```\nc\n```"


def test_of_several_blocks_the_one_that_is_asked_for_is_shown() -> None:
    assert quoted(TABS, "Run", worthy="Zsh") == [
        "Run one of these: [1]\n\n\u2026\n\nZsh\n\n```\nb\n```\n\n\u2026"
    ]
    (whole,) = quoted(TABS, "Run")
    assert whole.count("```") == 6
    assert "\u2026" not in whole


LIST = "Never open it unless:\n\n- it is off\n- it is cold\n- it is empty\n- you must"


@pytest.mark.parametrize("quote", ["", "> ", "> > "])
def test_items_are_shown_below_what_introduces_them(quote: str) -> None:
    text = "\n".join(quote + line for line in LIST.split("\n"))
    stem = "Never open it unless: [1]\n\n"
    assert quoted(text, "it is cold") == [f"{stem}\u2026\n\n- it is cold\n\n\u2026"]
    assert quoted(text, "it is") == [f"{stem}- it is off\n- it is cold\n- it is empty\n\n\u2026"]
    assert quoted(text, "Never") == [stem + LIST.partition("\n\n")[2]]


def test_items_of_items_are_shown_below_both() -> None:
    text = "Never open it unless:\n1. it is off, and\n   - dry\n   - cold\n2. you must"
    assert quoted(text, "cold") == [
        "Never open it unless: [1]\n\n1. it is off, and\n\n    \u2026\n\n    - cold\n\n\u2026"
    ]


def test_steps_keep_their_numbers_and_their_code() -> None:
    text = "Do this:\n\n1. Stop it:\n\n   ```\n   stop\n   ```\n\n2. Wait.\n3. Go on."
    assert quoted(text, "Stop it", "Go on") == [
        "Do this: [1]\n\n1. Stop it:\n\n    ```\n    stop\n    ```\n\n\u2026\n\n3. Go on."
    ]


TABLE = "| Bolt | Torque |\n|---|:-:|\n| M6 | 10 Nm |\n| M8 | 25 Nm |\n| M\\|9 | [3] |"


def test_rows_are_shown_with_the_names_of_their_columns() -> None:
    names = "| Bolt | Torque |\n|---|---|\n"
    assert quoted(TABLE, "M8") == [f"{names}| \u2026 |\n| M8 | 25 Nm |\n| \u2026 |\n\n[1]"]
    assert quoted(f"The torques are:\n\n{TABLE}", "M6", "M\\|9") == [
        f"The torques are: [1]\n\n{names}| M6 | 10 Nm |\n| \u2026 |\n| M\\|9 | `[3]` |"
    ]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Read argv[0] of it.", "Read `argv[0]` of it."),
        ("The gap is [5-20] mm, in [0, 100].", "The gap is [5-20] mm, in [0, 100]."),
        ("Add #include <vector> to `a<b>`.", "Add #include `<vector>` to `a<b>`."),
        ("Write `#include <vector>` or `argv[0]`.", "Write `#include <vector>` or `argv[0]`."),
        ("Take a < b > c and List[int].", "Take a < b > c and List[int]."),
        ("It stands.[1][2] It goes on [3].", "It stands. It goes on."),
        ("It stood. [1] The wall [2] is red [3].", "It stood. The wall is red."),
        ("Choose [1], [2] or [3].", "Choose `[1]`, `[2]` or `[3]`."),
        ("It reads `a, [1]` and argv[1], x[0].", "It reads `a, [1]` and `argv[1]`, `x[0]`."),
        ("Write `a  b` for  it\nhere.", "Write `a  b` for it here."),
        ("It is 5 &lt; 6 &amp; `&lt;`.", "It is 5 < 6 & `&lt;`."),
        ("See [this](https://a.example) or ![that](b.png).", "See this or that."),
        ("Call __init__ and __del__ of it.", "Call `__init__` and `__del__` of it."),
        ("<!-- It is a\n\nsecret. -->It is `<!-- x -->`.", "It is `<!-- x -->`."),
        ("It is *very*[^1] `a*b*c`. ^a1b2", "It is very `a*b*c`."),
    ],
)
def test_text_is_shown_as_it_is_written(text: str, shown: str) -> None:
    units = read_units(text)
    assert " ".join(quote.lead for quote in quote_units(units, units, len)) == shown


def units_of(text: str, heading: str = "") -> list[tuple[str, bool]]:
    return [(unit.text, unit.is_answer) for unit in read_units(text, heading) if unit.is_quotable]


@pytest.mark.parametrize(
    "text",
    [
        "## Can it be washed?\n\nNo.\n\nIt is made of wool and of silk.",
        "**Can it be washed?**\n\nNo. It is made of wool and of silk.",
        "Can it be washed? No. It is made of wool and of silk.",
        "1. Can it be washed? No.\n2. It is made of wool and of silk.",
        "- **Can it be washed?**\n\n  No. It is made of wool and of silk.",
    ],
)
def test_questions_are_no_answers_but_what_follows_them_is(text: str) -> None:
    assert units_of(text) == [("No.", True), ("It is made of wool and of silk.", False)]
    assert quoted(text, "No.") == ["Can it be washed? No. [1]"]
    assert quoted(text, "It is") == ["It is made of wool and of silk. [1]"]


def test_a_question_stands_over_its_answer_alone() -> None:
    rest = "It is old. It is good."
    for text in (f"Is it wool? Yes.\n\n{rest}", f"**Is it wool?**\n\nYes.\n\n{rest}"):
        assert [unit.question for unit in read_units(text)] == ["", "Is it wool?", "", ""]
    headed = read_units(f"## Is it wool?\n\nYes.\n\n{rest}")
    assert [unit.question for unit in headed] == ["Is it wool?"] * 3


def test_yes_and_no_are_quoted_with_their_question() -> None:
    text = "**Can it be washed?**\n\nYes, by hand and in water that is not too hot."
    (quote,) = quoted(text, "Yes")
    assert quote == "Can it be washed? Yes, by hand and in water that is not too hot. [1]"


def test_a_heading_may_ask_what_a_passage_answers() -> None:
    assert units_of("No.", "Can it be washed?") == [("No.", True)]
    assert units_of("No.", "Washing") == []


def test_labels_and_headings_stand_over_what_follows() -> None:
    text = "# Use\n\nIt is used.\n\nLinux\n\nIt is started by hand.\n\nNote:\n\nNever by foot."
    assert [(unit.text, unit.above) for unit in read_units(text)] == [
        ("It is used.", "Use"),
        ("It is started by hand.", "Linux"),
        ("Never by foot.", "Linux"),
    ]


@pytest.mark.parametrize(
    "mark",
    [
        "> ",
        "- ",
        "> - ",
        "`",
        "`a ``",
        "**",
        "|",
        "| a |\n",
        "1. x\n",
        "\n",
        "[",
        "&amp;",
        "```\n",
        "  ",
        "|---",
    ],
)
def test_hostile_passages_cost_little(mark: str) -> None:
    text = mark * (16_000 // len(mark))
    units = read_units(text)
    assert len([*quote_units(units, units, len)]) <= len(units)
