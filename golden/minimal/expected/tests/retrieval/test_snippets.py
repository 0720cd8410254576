"""Snippets: text without markup, verbatim code, highlighted query words, bounded work."""

import time
from collections.abc import Sequence

import pytest
from samples import sample_hit

from workshop.index.tokens import Tokenizer
from workshop.retrieval.journal import Journal
from workshop.retrieval.results import Hit, respond
from workshop.retrieval.snippets import add_snippets

ENGLISH = Tokenizer("english")
LOREM = "Nothing of this is what anybody asked for, and it goes on for a while. "


@pytest.fixture(autouse=True)
def as_long_as_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the snippet length that the examples assume, instead of the server's."""
    monkeypatch.setattr("workshop.retrieval.snippets.MAX_CHARACTERS", 300)
    monkeypatch.setattr("workshop.retrieval.snippets.MAX_UNCUT_CHARACTERS", 400)


def show(
    query: str,
    text: str,
    *,
    path: str = "guide.md",
    title: str = "Guide",
    section: Sequence[str] = (),
    tokenizer: Tokenizer = ENGLISH,
) -> Hit:
    found = sample_hit(title=title, text=text, section=list(section), path=path)
    add_snippets(respond(Journal(query), iter([found]), "strong"), tokenizer)
    return found


def snippet_of(shown: Hit) -> str:
    assert shown.snippet is not None
    return shown.snippet


def marked(shown: Hit) -> list[str]:
    assert shown.highlights
    return [snippet_of(shown)[start:end] for start, end in shown.highlights.snippet]


@pytest.mark.parametrize(
    ("text", "snippet"),
    [
        ("A [link](https://a.example/b) and [one](c.md 'x').", "A link and one."),
        ("![A map](a_(1).png) Here.", "Here."),
        ("A [page](https://a.example/B_(c)) in [one](<d e.md>).", "A page in one."),
        ('See [it](a.md "Title") or [that][ref] or [[page|this]].', "See it or that or this."),
        ("Since 14[\\[14\\]](#cite_note-a-14), 15[[15](#cite_note-b)].", "Since 14[14], 15[15]."),
        ("As [[16]](#note) and [a [b] c](d.md 'T') say.", "As [16] and a [b] c say."),
        ("[![Build](https://b.example/x.svg)](https://b.example) Fast.", "Fast."),
        (
            "![A picture](a.png) It **is** *very* bold, `**kwargs` not.",
            "It is very bold, **kwargs not.",
        ),
        ("***Plate***. **A *very* heavy** suit.", "Plate. A very heavy suit."),
        ("It _is_ (_very_) __much so__, **_now_**.", "It is (very) much so, now."),
        (
            "Of _this_one https://a.example/_b_/ stays.",
            "Of _this_one https://a.example/_b_/ stays.",
        ),
        ("<Note icon='x'>\n  Take <b>care</b>.<br/>\n</Note>", "Take care."),
        ('<Tab onClick={() => go("a")}>Go</Tab>', "Go"),
        ("<>\n<Steps>\nGo<br>on.\n</>", "Go on."),
        (
            "A Vec `Vec<T>` if 1 < 2 and <https://a.example/x>.",
            "A Vec Vec<T> if 1 < 2 and https://a.example/x.",
        ),
        ("<!-- hidden\nthings -->Shown {/* not */}too.", "Shown too."),
        ("- one\n- [ ] two\n* three", "one \u2022 two \u2022 three"),
        ("> Quoted\n> twice", "Quoted twice"),
        ("> **[npm]**\n> Add\n\n> \u25b8 **Why?**\n>\n> So.", "npm Add Why? So."),
        ("| a | b |\n|---|:-:|\n| 1 | 2 |", "a \u00b7 b \u2022 1 \u00b7 2"),
        ("Title\n=====\nText &amp; more, 3 \\* 4.", "Title Text & more, 3 * 4."),
        ("## Other\nText.", "Other \u00b7 Text."),
        ("*`name`*\\\nOf the file.\\\nSee it.", "name Of the file. See it."),
        ("snake_case and __init__ and 2*3*4 stay", "snake_case and __init__ and 2*3*4 stay"),
        (
            "It is long.[^1] So [^a] is it. ^b1c2d3\n\n- one ^e4f5",
            "It is long. So is it. \u2022 one",
        ),
        ("[^1]: Of *this* size.", "Of this size."),
        ("Use ``a `b` c`` and `` `x` ``.", "Use a `b` c and `x` ."),
    ],
)
def test_markup_is_removed(text: str, snippet: str) -> None:
    assert snippet_of(show("nothing", text)) == snippet


@pytest.mark.parametrize(
    "text",
    [
        "The gap is [5-20] mm wide, within [0, 100] percent.",
        "Read argv[0], argv[0][1] and m[i][j] of [[1, 2], [3, 4]].",
        "It matches [0-9]{3}, [A-Z][a-z]+ and [^/]+ of it.",
        'Call map["k"](1), f(a)[b](c) or List[int].',
        "#include <vector> has std::vector<int> and Dict<String, List<b>>.",
        "If a < b > c, a<b and c>d, a <> b, write <name> or <id> of it.",
        "The <table> element and <details> differ, and </section> ends one.",
        "Git reads --config=<var> <cmd> and merge.<option>",
        "Take 2 * 3 * 4 of `a*b*c` __init__.",
    ],
)
def test_brackets_in_text_are_not_markup(text: str) -> None:
    assert snippet_of(show("nothing", text)) == text.replace("`", "")


def test_headings_that_are_shown_above_are_left_out() -> None:
    shown = show("set up", "# Guide\n\n## `Set` up\n\nDo it.", section=["Guide", "Set up"])
    assert snippet_of(shown) == "Do it."
    assert shown.highlights and shown.highlights.section == [[], [(0, 6)]]


def test_code_keeps_its_lines_and_marks() -> None:
    shown = show("run", "Do:\n\n```sh\n# run it\n  ./run **all** <x>\n```\nThen **go**.")
    assert snippet_of(shown) == "Do:\n# run it\n  ./run **all** <x>\nThen go."
    ((start, end),) = shown.snippet_code
    assert snippet_of(shown)[start:end] == "# run it\n  ./run **all** <x>"
    whole = show("answer", "# The answer\n__all__ = [x<y>(z)]\n", path="src/a.py")
    assert snippet_of(whole) == "# The answer\n__all__ = [x<y>(z)]"
    assert whole.snippet_code == ((0, len(snippet_of(whole))),)


@pytest.mark.parametrize(
    ("text", "snippet", "code"),
    [
        ("Go.\n\n```\na **b**\n```", "Go.\na **b**", ((4, 11),)),
        ("```\na **b**\n```", "a **b**", ((0, 7),)),
        ("```\na\n```\nGo.\n```\nb\n```", "a\nGo.\nb", ((0, 1), (6, 7))),
        # The code block began in an earlier chunk.
        ("a **b**\n```", "a **b**", ((0, 7),)),
        ("a **b**\n```\nGo **on**.", "a b\nGo **on**.", ((4, 14),)),
    ],
)
def test_blocks_of_code_may_begin_and_end_elsewhere(
    text: str, snippet: str, code: tuple[tuple[int, int], ...]
) -> None:
    shown = show("nothing", text)
    assert (shown.snippet, shown.snippet_code) == (snippet, code)


@pytest.mark.parametrize("before", ["\n\n", " ", "\n\n> "])
def test_code_is_shown_with_the_sentence_before_it(before: str) -> None:
    code = "\n\n```sh\n$ uv remove seal\n```\n\n"
    if ">" in before:
        code = code.replace("\n", "\n> ")
    text = f"A seal is old. {LOREM * 3}{before}To remove the seal, run this:{code}{LOREM * 4}"
    shown = show("remove the seal", text)
    assert "To remove the seal, run this:\n$ uv remove seal\n" in snippet_of(shown)
    ((start, end),) = shown.snippet_code
    assert snippet_of(shown)[start:end] == "$ uv remove seal"


def test_items_of_a_callout_are_shown_with_what_introduces_them() -> None:
    items = "".join(f"> - the lid number {number} is shut\n" for number in range(30))
    shown = show(
        "gasket", f"> Never open it unless:\n>\n{items}> - the gasket is dry\n\n{LOREM * 3}"
    )
    assert snippet_of(shown).startswith("Never open it unless: \u2026")


def test_comments_in_code_are_shown() -> None:
    text = "Write `<!-- a -->`:\n\n```html\n<!-- b -->\n```\n\n<!-- c\n```\nd\n```\n-->End."
    assert snippet_of(show("nothing", text)) == "Write <!-- a -->:\n<!-- b -->\nEnd."


@pytest.mark.parametrize("depth", ["", "   ", "\t\t"])
def test_a_window_that_begins_within_code_stays_code(depth: str) -> None:
    lines = "\n".join(f"# line {number} of nothing that is asked" for number in range(30))
    shown = show("needle", f"Text.\n\n{depth}```\n{lines}\nneedle = **1**\n{depth}```\nEnd.")
    assert "needle = **1**" in snippet_of(shown)
    start, end = shown.snippet_code[0]
    assert "needle = **1**" in snippet_of(shown)[start:end]


def words(first: int, last: int) -> str:
    """Numbered words of four characters; 200 of them take 999 characters."""
    return " ".join(f"w{number:03}" for number in range(first, last + 1))


@pytest.mark.parametrize(
    ("query", "text", "snippet"),
    [
        ("nothing", words(0, 79), words(0, 79)),
        ("w079", words(0, 79) + ".", words(0, 79) + "."),
        ("nothing", words(0, 80), words(0, 59) + " \u2026"),
        ("w100", words(0, 199), f"\u2026 {words(93, 151)} \u2026"),
        # Near the end of the text, the snippet begins further before the match, so it is as long.
        ("w199", words(0, 199), f"\u2026 {words(132, 199)}"),
        ("w010 w011 w150 w151 w152", words(0, 199), f"\u2026 {words(132, 199)}"),
        ("w050 w051 w052 w150", words(0, 199), f"\u2026 {words(43, 101)} \u2026"),
        ("w019", words(0, 199), words(0, 59) + " \u2026"),
        ("w020", words(0, 199), f"\u2026 {words(13, 71)} \u2026"),
        # A window begins with a sentence if one begins nearby.
        ("w100", words(0, 90) + ". " + words(91, 199), f"\u2026 {words(91, 149)} \u2026"),
        ("w100", words(0, 90) + "\n" + words(91, 199), f"\u2026 {words(91, 149)} \u2026"),
        ("nothing", "x" * 500, "x" * 300 + " \u2026"),
        # Markup takes room but is not shown.
        ("nothing", "<b></b>" * 85 + "words", "words"),
        # Only 3,000 characters are read.
        ("w700", words(0, 999), words(0, 59) + " \u2026"),
    ],
)
def test_snippets_show_the_part_that_matches(query: str, text: str, snippet: str) -> None:
    assert snippet_of(show(query, text)) == snippet


def test_a_snippet_shows_the_most_words_of_the_query() -> None:
    text = f"A lamp. {LOREM * 6}The lamp burns for ten hours. {LOREM * 6}"
    shown = show("how many hours does a lamp burn", text)
    assert snippet_of(shown).startswith("\u2026 The lamp burns for ten hours.")
    assert snippet_of(shown).endswith(" \u2026")
    assert len(snippet_of(shown)) <= 400
    assert marked(shown) == ["lamp", "burns", "hours"]
    assert not snippet_of(show("lamp", "The lamp.")).endswith("\u2026")


@pytest.mark.parametrize(
    ("query", "text", "words"),
    [
        (
            "authenticating",
            "It authenticates by authentication; authors do not.",
            ["authenticates", "authentication"],
        ),
        ("happy colours", "The colour of happiness.", ["colour", "happiness"]),
        (
            "the max_connections",
            "Set max_connections, the max of connections.",
            ["max_connections", "max", "connections"],
        ),
        ("PII-2024-0042", "In 2024 came PII-2024-0042.", ["PII-2024-0042"]),
        ("C++", "In C++ and c.", ["C++"]),
        ("connect", "They disconnect.", []),
        ("copies of a body", "One copy, and many bodies.", ["copy", "bodies"]),
        # The text is cut inside a word, because it has no spaces.
        ("valve", "opening/a/valve/" * 40, 18 * ["valve"]),
        ("stra\u00dfe", "Die Stra\u00dfe.", ["Stra\u00dfe"]),
        (
            "\u6771\u4eac\u306e\u5929\u6c17",
            "\u4eca\u65e5\u306e\u6771\u4eac\u306e\u5929\u6c17",
            ["\u6771\u4eac", "\u306e\u5929", "\u6c17"],
        ),
    ],
)
def test_words_of_the_query_are_highlighted(query: str, text: str, words: list[str]) -> None:
    found = marked(show(query, text))
    if ENGLISH.terms(query)[0].isascii():
        assert found == words
    else:
        assert found and set("".join(found)) <= set("".join(words))


def test_the_longest_match_at_an_offset_is_highlighted() -> None:
    # Several numbers are tried, because the order of the two lookups differs between processes.
    for number in range(2, 30):
        shown = show(f"{number} {number}.7", f"From {number}.7 on, and {number} too.")
        assert marked(shown) == [f"{number}.7", str(number)]


def test_offsets_count_characters() -> None:
    shown = show("lamp", "\U0001f525 A lamp.", title="\U0001f525 Lamps")
    assert marked(shown) == ["lamp"]
    assert shown.highlights and shown.highlights.title == [(2, 7)]


@pytest.mark.parametrize(
    "piece",
    [
        "<!--",
        "{/*",
        "[",
        "![",
        "[a](",
        "`",
        "``",
        "**a",
        "*a ",
        "__a ",
        " _a",
        "***a*",
        "[a](b(",
        "[a](b(c)",
        "<a",
        "|",
        "\n#",
        "> ",
        "\n- ",
        "\n```a",
        "\n* * ",
    ],
)
def test_hostile_markup_costs_little(piece: str) -> None:
    started = time.process_time()
    show("a lamp", piece * 20_000)
    assert time.process_time() - started < 10


def table(header: str, rows: int = 40) -> str:
    lines = (f"| HP-{2000 + row} | Pump {row} | {row}.50 EUR |" for row in range(rows))
    return "\n".join([header, "|---|---|---|", *lines])


def test_a_row_far_down_a_table_is_shown_below_the_names_of_its_columns() -> None:
    shown = show("price of HP-2030", "Prices.\n\n" + table("| Article | Name | Price |"))
    row = "HP-2030 \u00b7 Pump 30 \u00b7 30.50 EUR"
    beginning = f"Article \u00b7 Name \u00b7 Price \u2026 \u2022 {row} \u2022"
    assert snippet_of(shown).startswith(beginning)
    assert marked(shown)[:2] == ["Price", "HP-2030"]


@pytest.mark.parametrize("mark", ["-", "(1)", "12."])
def test_an_item_far_down_a_list_is_shown_below_what_introduces_it(mark: str) -> None:
    items = [f"{mark} condition number {number} is fulfilled there" for number in range(40)]
    items[30] += " by the zebra"
    text = f"{LOREM * 3}\n\nWhat follows is a rule. Never stop it unless:\n\n" + "\n".join(items)
    shown = snippet_of(show("zebra", text))
    assert shown.startswith("Never stop it unless: \u2026 ")
    assert "number 30 is fulfilled there by the zebra" in shown
    below = snippet_of(show("sleeps", f"{text}\n\n{LOREM * 9}The zebra sleeps."))
    assert "Never" not in below


def test_long_column_names_are_not_repeated() -> None:
    shown = show("HP-2030", table(f"| {LOREM * 3} | Name | Price |"))
    assert snippet_of(shown).startswith("\u2026 \u2022 HP-2030 \u00b7 Pump 30")


def test_column_names_are_not_shown_twice() -> None:
    text = f"{LOREM * 6}\n\n" + table("| Article number | Name | Price |", rows=8)
    beginning = "\u2026 Article number \u00b7 Name \u00b7 Price \u2022 HP-2000"
    assert snippet_of(show("HP-2007", text)).startswith(beginning)


def test_prose_after_a_table_is_shown_without_the_names_of_its_columns() -> None:
    text = (
        table("| Article | Name | Price |", rows=9)
        + "\n\n"
        + LOREM * 3
        + "\n| valve | x |\n"
        + LOREM * 9
    )
    assert snippet_of(show("valve", text)).startswith("\u2026 valve \u00b7 x")


def test_frequent_words_count_less_than_rare_ones() -> None:
    text = (
        "The pump of a pump for the pump. "
        + LOREM * 6
        + "A leaking pump is sent back. "
        + LOREM * 6
    )
    assert "leaking" in snippet_of(show("leaking pump", text))


def test_tables_of_delimited_text_are_shown_as_tables() -> None:
    shown = show("b", "| a | b |\n|---|---|\n| 1 | 2 |", path="prices.csv")
    assert (snippet_of(shown), shown.snippet_code) == ("a \u00b7 b \u2022 1 \u00b7 2", ())
