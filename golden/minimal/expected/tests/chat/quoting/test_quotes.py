"""The context that is quoted with a sentence: its code, its list, its column names."""

import pytest

from workshop.chat.quoting.quotes import quote_units
from workshop.chat.quoting.units import read_units


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


def test_a_list_belongs_to_the_paragraph_before_it() -> None:
    text = "It supports several. It is quick. It has these kinds:\n\n- git\n- svn"
    assert quoted(text, "It supports") == [text.replace(":\n", ": [1]\n", 1)]
    assert quoted(f"It is old. {text}", "It is old") == ["It is old. [1]"]


def test_of_long_code_the_first_lines_are_shown() -> None:
    assert quoted(f"Run:\n~~~\n{lines(30)}\n~~~", "Run:") == [
        f"Run: [1]\n\n```\n{lines(10)}\n```\n\n\u2026"
    ]


def test_indented_code_is_code_below_what_announces_it() -> None:
    assert quoted("Run:\n\n    uv sync\n      --all\n", "Run:") == [
        "Run: [1]\n\n```\nuv sync\n  --all\n```"
    ]
    code = "    # first\n    * a\n\n    > b\n"
    assert quoted(f"Run:\n\n{code}\nEnd.", "Run:") == ["Run: [1]\n\n```\n# first\n* a\n\n> b\n```"]


def test_code_holds_fences_of_its_own() -> None:
    assert quoted("Write:\n````md\n```\nx\n```\n````", "Write") == [
        "Write: [1]\n\n````md\n```\nx\n```\n````"
    ]


def test_what_a_colon_announces_may_be_in_the_next_passage() -> None:
    assert quoted("To remove it, run:", "To remove") == ["To remove it, run: [1]\n\n\u2026"]
    assert quoted("To remove it:\n\nLinux\n\nWrite this:\n```\nx\n```", "To remove") == [
        "To remove it: [1]\n\nWrite this:\n\n```\nx\n```"
    ]


@pytest.mark.parametrize(
    "rest",
    [
        "\u2460 Stop it. \u2461 Wait. \u2462 Go on.",
        "Step 1: Stop it. It may be loud.\n\nStep 2: Wait.\n\nStep 3: Go on.",
        "1: Stop it.\n\n```\nstop\n```\n\n2: Wait.",
    ],
)
def test_all_steps_below_a_colon_are_shown(rest: str) -> None:
    assert quoted(f"To clean it:\n\n{rest}\n\n# Other\n\nText.", "To clean") == [
        f"To clean it: [1]\n\n{rest}"
    ]
    whole = f"To clean it:\n\n{rest}\n\nIt is old."
    assert quoted(whole, "To clean") == [f"To clean it: [1]\n\n{rest}"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "It may skip many.\n\nYou can skip a range. For example:\n\n```\nskip 1..2\n```",
            "You can skip a range. For example: [1]\n\n```\nskip 1..2\n```",
        ),
        (
            "You can use:\n\n```\nwith pump:\n```\n\nto close it when it is left.",
            "You can use: [1]\n\n```\nwith pump:\n```\n\nto close it when it is left.",
        ),
    ],
)
def test_what_is_said_only_with_the_sentence_before(text: str, said: str) -> None:
    assert quoted(text, "For example", "to close") == [said]


def test_what_holds_otherwise_is_quoted_with_its_condition() -> None:
    text = "We pay, if it is faulty. Otherwise you pay. It is sent. Otherwise it is lost."
    both = "We pay, if it is faulty. Otherwise you pay. [1]"
    assert quoted(text, "We pay") == quoted(text, "Otherwise you") == [both]
    assert quoted(text, "It is sent", "Otherwise it") == ["It is sent. Otherwise it is lost. [1]"]


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


def test_what_a_tab_says_is_quoted_with_its_label() -> None:
    tabs = "> **[Linux]**\n>\n> The file is in `/etc`.\n\n> **[Mac]**\n>\n> - It is in `/Library`."
    text = f"{tabs}\n\nThe file has sections."
    assert quoted(text, "The file is") == ["[Linux]\n\nThe file is in `/etc`. [1]"]
    assert quoted(text, "It is in") == ["[Mac]\n\nIt is in `/Library`. [1]"]
    assert quoted(text, "The file has") == ["The file has sections. [1]"]
    code = "Run it:\n\n> **[Linux]**\n>\n> Open a shell.\n>\n> ```\n> a\n> ```"
    assert quoted(code, "Run it") == ["Run it: [1]\n\n[Linux]\n\nOpen a shell.\n\n```\na\n```"]


def test_a_tab_has_its_own_code() -> None:
    linux = "> **[Linux]**\n>\n> ```\n> a\n> ```\n>\n> The file is old."
    text = f"{linux}\n\n> **[Mac]**\n>\n> ```\n> b\n> ```"
    assert quoted(text, "The file") == ["[Linux]\n\nThe file is old. [1]"]
    units = read_units(text)
    assert [unit.code_text for unit in units if unit.tab == "[Mac]"] == ["[Mac]\nb"]


def test_a_heading_that_is_a_code_is_quoted_once_with_what_it_has() -> None:
    text = "It has codes.\n\n## 28\nIt is late. It took too long.\n\n## Pumps\nThey are old."
    assert quoted(text, "It is late", "It took", "They") == [
        "28\n\nIt is late. [1]",
        "It took too long. [1]",
        "They are old. [1]",
    ]
    assert quoted("## v1.2\n\n| Name |\n|---|\n| a |", "a") == [
        "v1.2\n\n| Name |\n|---|\n| a |\n\n[1]"
    ]


@pytest.mark.parametrize(
    ("heading", "label"),
    [
        ("E28", "E28"),
        ("2.1", "2.1"),
        ("Chapter 3", ""),
        ("Step 2", ""),
        ("Removed", "Removed"),
        ("Deprecations and Removals", "Deprecations and Removals"),
        ("Not supported", "Not supported"),
        ("Removed pumps are sold", ""),
        ("Added", ""),
    ],
)
def test_headings_that_a_quotation_needs(heading: str, label: str) -> None:
    units = read_units("The pump took too long to start.", heading)
    (quote,) = quote_units(units, units, lambda _: 1.0)
    assert quote.label == label


def test_a_name_is_quoted_with_the_code_below_that_has_it() -> None:
    use = "Be there. Add it:\n\n```\npip add pump\n```"
    assert quoted(f"First install `pump`.\n\n{use}", "First") == [
        "First install `pump`. [1]\n\nBe there. Add it:\n\n```\npip add pump\n```"
    ]
    for other in (f"First install `valve`.\n\n{use}", f"First install `pump`.\n\n## New\n\n{use}"):
        assert len(quoted(other, "First")[0]) < 30


def test_a_short_paragraph_with_a_bold_name_is_no_label() -> None:
    assert [
        unit.text for unit in read_units("**Hit points** 7 (2)\n\n**Notes**\n\nIt is old.")
    ] == [
        "Hit points 7 (2)",
        "It is old.",
    ]


def test_an_item_that_asks_is_quoted_with_its_answer() -> None:
    said = "It was late and it was dark in the room. " * 9
    text = f"- I made a mistake. How is it undone? Run `undo`. {said}Then commit."
    assert quoted(text, "I made") == ["I made a mistake. [1]\n\nHow is it undone?\n\nRun `undo`."]


def test_a_question_that_is_defined_is_quoted_with_its_answer() -> None:
    said = "It was late and it was dark in the room. " * 9
    assert quoted(f"I made a mistake. How is it undone?\n: Run `undo`. {said}", "I made") == [
        "I made a mistake. [1]\n\nHow is it undone?\n\nRun `undo`."
    ]


def test_an_item_that_announces_what_is_missing_says_so() -> None:
    assert quoted("Do this:\n\n- Stop it.\n- Then run it as follows:", "Do this") == [
        "Do this: [1]\n\n- Stop it.\n- Then run it as follows:\n\n    \u2026"
    ]


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
    assert quoted(text.replace("1.", "-").replace("2.", "-"), "cold") == [
        "Never open it unless: [1]\n\n- it is off, and\n\n    \u2026\n\n    - cold\n\n\u2026"
    ]


def test_steps_keep_their_numbers_and_their_code() -> None:
    steps = ["1. Stop it:\n\n   ```\n   stop\n   ```", *(f"{n}. Wait {n}." for n in range(2, 13))]
    shown = steps[0].replace("\n   ", "\n    ")
    few = "Do this:\n\n" + "\n".join(steps[:3])
    assert quoted(few, "Wait 3") == ["\n".join([f"Do this: [1]\n\n{shown}", *steps[1:3]])]
    many = "Do this:\n\n" + "\n".join(steps)
    assert quoted(many, "Stop it", "Wait 3") == [
        f"Do this: [1]\n\n{shown}\n\n\u2026\n\n3. Wait 3.\n\n\u2026"
    ]
    whole = "\n".join([f"Do this: [1]\n\n{shown}", *steps[1:10]])
    assert quoted(many, "Do this") == [f"{whole}\n\n\u2026"]


def test_all_of_a_step_that_holds_code_is_shown() -> None:
    text = "Do this:\n\n1. Stop it.\n\n   It is loud.\n\n   Then run:\n\n   ```\n   a\n   ```\n"
    assert quoted(text, "Do this") == [
        "Do this: [1]\n\n1. Stop it.\n\n    It is loud.\n\n    Then run:\n\n    ```\n    a\n    ```"
    ]


def test_a_sentence_of_an_item_is_quoted_with_the_item() -> None:
    text = "- `size`: how many it holds.\n\n  It is loud.\n\n  Default: 5."
    text += "\n\n- `time`: how long.\n\n  Default: 30."
    assert quoted(text, "Default: 5") == [
        "`size`: how many it holds. [1]\n\nIt is loud.\n\nDefault: 5."
    ]
    assert quoted(text, "Default: 30") == ["`time`: how long. [1]\n\nDefault: 30."]


def test_long_items_are_quoted_where_they_answer() -> None:
    said = "It goes on and on and on. " * 20
    assert quoted(f"- The size. {said}Default: 5.", "Default") == [
        "The size. [1]\n\n\u2026\n\nDefault: 5."
    ]


@pytest.mark.parametrize(
    "above", ["", "The pump has these states.\n\n", "There are two states.\n\n"]
)
def test_short_items_are_shown_as_a_list(above: str) -> None:
    (quote,) = quoted(f"# States\n\n{above}- off\n- on", "off", "on")
    assert quote == (f"{above.rstrip()} [1]\n\n- off\n- on" if above else "- off\n- on\n\n[1]")


@pytest.mark.parametrize("end", ["these torques.", "the following torques.", "two torques."])
def test_a_full_stop_may_announce_a_list_or_a_table(end: str) -> None:
    table = "| Bolt | Torque |\n|---|---|\n| M6 | 10 Nm |"
    items = "- ten, for a bolt of size M6\n- five, for all the others"
    for block in (table, items):
        assert quoted(f"It has {end}\n\n{block}", "It has") == [f"It has {end} [1]\n\n{block}"]


TERMS = (
    "host\n: The name. Default: `a`.\n\n"
    "port\nsocket\n: The number.\n\n  Default: `80`.\n: Or a path."
)


def test_definitions_are_quoted_with_their_terms() -> None:
    assert quoted(TERMS, "host") == ["host : The name. Default: `a`. [1]"]
    assert quoted(TERMS, "Default: `80`") == ["port socket : The number. [1]\n\nDefault: `80`."]
    assert quoted(TERMS, "Or a path") == [
        "port socket : The number. [1]\n\nDefault: `80`.\n\nOr a path."
    ]
    shown = "host : The name. Default: `a`.\n\nport socket : The number."
    assert quoted(f"It has these options:\n\n{TERMS}", "It has") == [
        f"It has these options: [1]\n\n{shown}"
    ]


def test_the_code_of_a_definition_belongs_to_its_term() -> None:
    text = "Clone it\n: ```\n  git clone\n  ```\n\nIt is a text.\n\n- an item with a colon\n: here"
    assert quoted(text, "Clone it") == ["Clone it [1]\n\n```\ngit clone\n```"]
    assert quoted(text, "It is") == ["It is a text. [1]"]


def test_code_without_a_sentence_is_quoted_by_itself() -> None:
    text = "# Installing\n\n```sh\npip install it\n```\n\n# Other\n\nIt is old."
    unit, _ = read_units(text)
    assert (unit.text, unit.above, unit.code_text.strip()) == ("", "Installing", "pip install it")
    assert [quote.cite("[1]") for quote in quote_units([unit], [unit], len)] == [
        "```sh\npip install it\n```\n\n[1]"
    ]


def test_a_sentence_that_refers_back_is_quoted_with_what_it_refers_to() -> None:
    assert quoted("Run `a`. This starts it. It hums.", "This") == ["Run `a`. This starts it. [1]"]
    for said in ("This starts it.", "The command above starts it."):
        code = "```\na\n```"
        assert quoted(f"It is old.\n\nRun:\n\n{code}\n\n{said}", said) == [
            f"Run: [1]\n\n{code}\n\n{said}"
        ]
        assert quoted(f"{code}\n\n{said}", said) == [f"{code}\n\n{said}\n\n[1]"]
    text = "It is old.\n\n**Valves**\n\nThis is now told elsewhere."
    assert quoted(text, "This") == ["This is now told elsewhere. [1]"]
    assert quoted("# Pumps\n\nThis is a page on pumps.", "This") == ["This is a page on pumps. [1]"]


@pytest.mark.parametrize("code", ["    foo a\n    foo b", "```\nfoo a\nfoo b\n```"])
def test_code_may_stand_inside_a_sentence(code: str) -> None:
    text = f"The pump is to be started by hand or with\n\n{code}\n\nand wait."
    assert quoted(text, "The pump") == [
        "The pump is to be started by hand or with [1]\n\n```\nfoo a\nfoo b\n```"
    ]


def test_pictures_are_no_sentences() -> None:
    text = "It is here.\n\n![A picture of a pump with valves](a.png)\n\nIt is old."
    assert [unit.text for unit in read_units(text)] == ["It is here.", "It is old."]


def test_a_formula_belongs_to_the_sentence_before_it() -> None:
    assert quoted("The energy of a mass is\n\n$$E=mc^2$$\n\nwhere c is fast.", "The energy") == [
        "The energy of a mass is [1]\n\n$$E=mc^2$$"
    ]


@pytest.mark.parametrize(
    ("text", "is_quotable"),
    [
        ("It is blue.", True),
        ("\u8272\u306f\u9752\u3067\u3059\u3002", False),
        ("\u30dd\u30f3\u30d7\u306e\u8272\u306f\u9752\u3067\u3059\u3002", True),
        ("\u0930\u0902\u0917 \u0928\u0940\u0932\u093e \u0964", True),
        ("See below.", False),
        ("See [the guide](a.md) of the pump for details.", False),
        ("For more information, refer to `pump.toml`.", False),
        ("See also: now that the pump runs, read on how " + "to oil it " * 9, False),
        ("See that it is off.\n\n```\na\n```", True),
    ],
)
def test_short_sentences_are_quoted_if_they_say_something(text: str, is_quotable: bool) -> None:
    (unit,) = read_units(text)
    assert unit.is_quotable == is_quotable


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
        ("Copy *.py and *.txt of **/a and **/b.", "Copy `*.py` and `*.txt` of `**/a` and `**/b`."),
        ("Write [!abc] or [ ] or [x] in it.", "Write [!abc] or [ ] or [x] in it."),
        ("Wait<br>here, <p>and there.</p>", "Wait here, and there."),
        ("Escape # + - . ! ( ) in it.", "Escape # + - . ! ( ) in it."),
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
    ("line", "heading"), [("## C#", "C#"), ("## C ##", "C"), ("## C#  ", "C#"), ("# F# #", "F#")]
)
def test_closing_signs_of_headings_are_left_out(line: str, heading: str) -> None:
    (unit,) = read_units(f"{line}\n\nThe language is compiled.")
    assert unit.above == heading


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
        "a\n: b\n",
        "a\n\n: b\n\n",
        ": ",
        "- a\n\n  This is b.\n",
        "This. ",
    ],
)
def test_hostile_passages_cost_little(mark: str) -> None:
    text = mark * (16_000 // len(mark))
    units = read_units(text)
    assert len([*quote_units(units, units, len)]) <= len(units)
