"""Pandoc's grid tables are read as tables, with merged cells, and stay as they are in code."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundry.documents import Document, RawDocument
from foundry.readers import read
from foundry.readers.formats.markdown.tables.grids import rewrite_grids

GRID = """\
+-----------+-------+
| Fruit     | Price |
+:==========+======:+
| Bananas   | $1.34 |
| (yellow)  |       |
+-----------+-------+
| Limes     | x | y |
+-----------+-------+
"""


def lines_of(text: str) -> list[str]:
    document = read(RawDocument("s", "a.md", "a.md", text.encode()))
    assert isinstance(document, Document), document
    assert document.reading.words is not None and document.reading.words.unaccounted == 0
    return [line for line in document.reading.text.split("\n") if line]


def test_lines_of_a_cell_are_joined() -> None:
    assert lines_of(f"Before.\n\n{GRID}\n: Prices\n\n# After\n") == [
        "Before.",
        "| Fruit | Price |",
        "| --- | --- |",
        "| Bananas (yellow) | $1.34 |",
        r"| Limes | x \| y |",
        ": Prices",
        "# After",
    ]


def test_merged_cells_wide_letters_and_footers() -> None:
    grid = """\
+-------+-------+
| 名前  | kg    |
+=======+=======+
| plum  | four  |
+-------+       |
| fig   |       |
+=======+=======+
| all   | eight |
+=======+=======+
"""
    expected = "| 名前 | kg |\n| --- | --- |\n| plum | four |\n| fig | four |\n| all | eight |"
    assert "\n".join(lines_of(grid)) == expected


@pytest.mark.parametrize(
    "text", [f"```\n{GRID}```", "+---+---+\n| a | b\n+---+---+", "+---+\n| a |", "+---+---+"]
)
def test_other_text_is_unchanged(text: str) -> None:
    assert rewrite_grids(text) == text


RULES = "+---+---+|+===+===+|+   +---+|+---+   +|+-------+|+:==+==:+".split("|")
CELLS = ["|   |   |", "| a | b |", "|a      |", "|---+---|", "|\u540d | b |"]


@given(st.lists(st.sampled_from([*RULES, *CELLS]), max_size=9).map("\n".join))
def test_line_count_and_letters_are_kept(text: str) -> None:
    made = rewrite_grids(text)
    assert made.count("\n") == text.count("\n")
    assert set("ab\u540d") & set(text) == set("ab\u540d") & set(made)
