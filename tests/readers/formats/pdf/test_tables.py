"""Tables in PDFs and delimited text have cells under their header; other text is not a table."""

import time
from collections.abc import Sequence

import numpy as np
import pytest
from document_files import pdf, stream

from foundry.documents import Document, RawDocument
from foundry.readers import read
from foundry.readers.formats.pdf.rows import Word
from foundry.readers.formats.pdf.rules import NO_RULES, Rules
from foundry.readers.formats.pdf.tables import find_tables
from foundry.readers.sandbox.processes import Sandbox
from foundry.readers.sandbox.reading import read_apart


def read_text(content: bytes, path: str, sandbox: Sandbox | None = None) -> str:
    raw = RawDocument(source="s", key=path, path=path, content=content)
    document = read_apart(raw, sandbox) if sandbox else read(raw)
    assert isinstance(document, Document), document
    return document.reading.text


def drawn(cells: Sequence[tuple[float, float, str]], rules: str = "") -> bytes:
    """Return a one-page PDF with each text at its distance from the left and the bottom."""
    shown = (f"BT /F 10 Tf {x} {y} Td ({text}) Tj ET" for x, y, text in cells)
    return pdf([[]], objects={11: stream("\n".join([rules, *shown]).encode("cp1252"))})


def in_columns(rows: Sequence[Sequence[str]]) -> list[tuple[float, float, str]]:
    return [
        (72 + 110 * column, 700 - 14 * number, text)
        for number, row in enumerate(rows)
        for column, text in enumerate(row)
        if text
    ]


def test_words_in_columns_become_a_table(sandbox: Sandbox) -> None:
    rows = [["Month", "Gross", "Status"], ["May 2024", "$12.50", ""], ["", "$7.00", "late"]]
    cells = [(72, 740, "Before."), *in_columns(rows), (72, 600, "After.")]
    assert read_text(drawn(cells), "a.pdf", sandbox) == (
        "Before.\n\n| Month | Gross | Status |\n| --- | --- | --- |\n"
        "| May 2024 | $12.50 |  |\n|  | $7.00 | late |\n\nAfter."
    )


def test_ruled_tables_follow_their_grid(sandbox: Sandbox) -> None:
    rules = "".join(f"{x} 610 m {x} 715 l S " for x in (70, 170, 330))
    rules += "".join(f"70 {y} m 330 {y} l S " for y in (715, 695, 650, 610))
    cells = [
        *((75, 700, "Part"), (175, 700, "What it does")),
        *((75, 680, "Pump"), (175, 680, "Moves the water that"), (175, 668, "comes from above.")),
        *((75, 635, "Valve"), (175, 635, "Stops it.")),
    ]
    assert read_text(drawn(cells, rules), "a.pdf", sandbox) == (
        "| Part | What it does |\n| --- | --- |\n"
        "| Pump | Moves the water that comes from above. |\n| Valve | Stops it. |"
    )


def test_merged_cells_of_a_grid_are_filled(sandbox: Sandbox) -> None:
    # The names of regions are at the bottom of their cells, which span two rows.
    rules = "".join(f"{x} 600 m {x} 700 l S " for x in (70, 170, 330))
    rules += "250 600 m 250 680 l S "
    rules += "".join(f"70 {y} m 330 {y} l S " for y in (700, 660, 620, 600))
    rules += "".join(f"170 {y} m 330 {y} l S " for y in (680, 640))
    cells = [
        *((175, 685, "Sales"), (75, 665, "Region"), (175, 665, "Net"), (255, 665, "Gross")),
        *((175, 645, "1"), (255, 645, "2"), (75, 625, "North"), (175, 625, "3"), (255, 625, "4")),
        *((75, 605, "South"), (175, 605, "5"), (255, 605, "6")),
    ]
    assert read_text(drawn(cells, rules), "a.pdf", sandbox) == (
        "| Region | Sales Net | Sales Gross |\n| --- | --- | --- |\n"
        "| North | 1 | 2 |\n| North | 3 | 4 |\n| South | 5 | 6 |"
    )


def test_fields_side_by_side_in_a_frame_are_not_a_table(sandbox: Sandbox) -> None:
    rules = "".join(f"{x} 610 m {x} 715 l S " for x in (70, 200, 330))
    rules += "".join(f"70 {y} m 330 {y} l S " for y in (715, 665, 610))
    fields = [["Name", "Ada"], ["Place", "London"], ["Year", "1843"]]
    cells = [
        (left, top - 14 * number, text)
        for top in (702, 652)
        for number, row in enumerate(fields)
        for left, text in zip((75, 205), row, strict=True)
    ]
    text = read_text(drawn(cells, rules), "a.pdf", sandbox)
    assert "|" not in text
    assert text.split() == [word for row in fields for word in row] * 2


@pytest.mark.parametrize(
    "rows",
    [
        [["The first column of a", "and the second column"], ["page goes on", "beside it so"]] * 4,
        [["1", "Basics", "2"], ["2", "Pumps", "5"], ["3", "Valves", "11"]],
        [["Name:", "Ada"], ["Place:", "London"], ["Year:", "1843"]],
        [["a", "=", "2x"], ["b", "=", "3y"], ["c", "=", "4z"]],
    ],
    ids=["prose", "contents", "labels", "formula"],
)  # fmt: skip
def test_other_text_is_not_a_table(rows: list[list[str]], sandbox: Sandbox) -> None:
    cells = [(72 + 160 * (x - 72) / 110, y, text) for x, y, text in in_columns(rows)]
    assert "| --- |" not in read_text(drawn(cells), "a.pdf", sandbox)


def test_lines_of_a_column_are_read_from_top_to_bottom(sandbox: Sandbox) -> None:
    cells = [(72.0, 500.0, "Third."), (72.0, 700.0, "First."), (72.0, 600.0, "Second.")]
    assert read_text(drawn(cells), "a.pdf", sandbox).split() == ["First.", "Second.", "Third."]


def words_of(count: int, columns: int) -> list[Word]:
    return [
        Word("ab", 20.0 * column, 20.0 * column + 8, 12.0 * row, 12.0 * row + 9, row)
        for row in range(count // columns)
        for column in range(columns)
    ]


def lines_of(count: int, *, crossing: bool) -> Rules:
    level = [(0, 5000, 3.5 * place, 3.5 * place) for place in range(count // 2)]
    shift = 0 if crossing else 9000
    upright = [(3.5 * place + shift, 3.5 * place + shift, 0, 5000) for place in range(count // 2)]
    return np.array([*level, *upright])


@pytest.mark.parametrize(
    ("words", "rules"),
    [
        (words_of(8_000, 2), NO_RULES),
        (words_of(8_000, 60), NO_RULES),
        (words_of(8_000, 500), NO_RULES),
        (words_of(30_000, 3), NO_RULES),
        ([Word("ab", 0, 8, 0, 9, 0)] * 8_000, NO_RULES),
        ([Word("ab", n % 90, n % 90 + 4, n / 9, n / 9 + 9, n) for n in range(8_000)], NO_RULES),
        (words_of(2_000, 5), lines_of(4_000, crossing=True)),
        (words_of(2_000, 5), lines_of(4_000, crossing=False)),
        (words_of(200, 5), np.array([(0.0, 500.0, 0.0, 500.0)] * 4_000)),
        (words_of(200, 5), np.array([(np.inf, 0, -np.inf, 0)] * 10)),
        ([Word("ab", -1e30, 1e30, -1e30, 1e30, place) for place in range(100)], NO_RULES),
        ([Word("ab", 5, 5, 7, 7.001, 0)] * 100, lines_of(100, crossing=True)),
    ],
)
def test_hostile_pages_take_bounded_time(words: list[Word], rules: Rules) -> None:
    started = time.process_time()
    tables = find_tables(words, rules)
    assert time.process_time() - started < 30
    assert all(len({len(row) for row in table.rows}) == 1 for table in tables)


def test_delimited_text_becomes_a_table() -> None:
    expected = "| Month | Gross |\n| --- | --- |\n| May, 2024 | a \\| b |\n| June |  |"
    assert read_text(b'Month,Gross\r\n"May, 2024",a | b\r\n\r\nJune\r\n', "a.csv") == expected
    assert read_text(b"Month;Gross\nMay, 2024;a | b\nJune\n", "a.csv") == expected
    assert read_text(b"Month\tGross\nMay, 2024\ta | b\nJune\n", "a.tsv") == expected


@pytest.mark.parametrize(
    "content",
    [
        b"one column\nof words",
        b'a,b\n"never closed, c\n',
        b'a,b\n"x"y,c\n',
        b"a,b",
        b'a,b\n"' + b"x" * 200_000 + b'",c',
    ],
)
def test_other_delimited_text_is_unchanged(content: bytes) -> None:
    assert read_text(content, "a.csv") == content.decode()


@pytest.mark.parametrize(
    "content",
    [
        b"," * 100_000 + b"\nx,y",
        b"a,b\n" * 50_000,
        b"a,b\n" + b'"' * 100_001,
        b"a,b\n" + b'""""""\n' * 8_000,
    ],
    ids=["wide", "long", "quotes", "quoted"],
)
def test_hostile_delimited_text_takes_bounded_time(content: bytes) -> None:
    started = time.process_time()
    read(RawDocument(source="s", key="a.csv", path="a.csv", content=content))
    assert time.process_time() - started < 30
