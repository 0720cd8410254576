"""Pandoc's tables with runs of dashes below or around columns are tables, except in code."""

import pytest

from foundry.readers.formats.markdown.tables.columns import rewrite_columns

SIMPLE = """\
  Fruit     Kg
-------   ----
   Plum     17
    Fig      4
"""
MULTILINE = """\
--------------------------
 Fruit   Notes
         of May
------- ------------------
  Plum   Sweet, and
         ripe a | b.

   Fig   None.
--------------------------
"""


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (SIMPLE, ["| Fruit | Kg |", "| --- | --- |", "| Plum | 17 |", "| Fig | 4 |"]),
        (
            MULTILINE,
            [
                *("| Fruit | Notes of May |", "| --- | --- |"),
                *(r"| Plum | Sweet, and ripe a \| b. |", "| Fig | None. |"),
            ],
        ),
        ("--- ---\na   b\n1   2\n--- ---\n", ["| a | b |", "| --- | --- |", "| 1 | 2 |"]),
    ],
)
def test_columns_below_dashes_become_a_table(written: str, expected: list[str]) -> None:
    made = rewrite_columns(f"Before.\n\n{written}\nAfter.\n")
    assert [line for line in made.split("\n") if line] == ["Before.", *expected, "After."]
    assert made.count("\n") == f"Before.\n\n{written}\nAfter.\n".count("\n")


@pytest.mark.parametrize(
    "text",
    [
        f"```\n{SIMPLE}```\n",
        "Words\n--- ---\nA line without a gap there.\n",
        "--- ---\n\n- - -\n",
        "Title\n-----\n\nWords --- and more.\n",
    ],
)
def test_other_text_is_unchanged(text: str) -> None:
    assert rewrite_columns(text) == text
