"""PDF: pages that are turned, and pages whose text is."""

import pytest
from document_files import pdf, read_document, stream

from foundry.readers.sandbox.processes import Sandbox

ROWS = (("Fruit", "Price", "Stock"), ("Plum", "3", "17"), ("Fig", "4", "99"))
TEXT = "| Fruit | Price | Stock |\n| --- | --- | --- |\n| Plum | 3 | 17 |\n| Fig | 4 | 99 |"


def table(matrix: str) -> bytes:
    """A ruled table whose space of 800 by 600 points is placed on the page by this matrix."""
    drawn = [f"q {matrix} cm"]
    for line, row in enumerate(ROWS):
        for column, word in enumerate(row):
            x, y = 60 + 120 * column, 500 - 20 * line
            drawn.append(f"BT /F 12 Tf {x} {y} Td ({word}) Tj ET")
    drawn += [f"50 {515 - 20 * line} m 410 {515 - 20 * line} l S" for line in range(4)]
    drawn += [f"{50 + 120 * column} 515 m {50 + 120 * column} 455 l S" for column in range(4)]
    return stream("\n".join([*drawn, "Q"]).encode())


@pytest.mark.parametrize(
    ("rotate", "matrix"),
    [
        (90, "1 0 0 1 0 0"),
        (0, "0 1 -1 0 600 0"),
        (90, "0 1 -1 0 600 0"),
        (270, "0 -1 1 0 0 800"),
        (180, "-1 0 0 -1 800 600"),
    ],
)
def test_tables_are_read_in_the_direction_of_their_text(
    rotate: int, matrix: str, sandbox: Sandbox
) -> None:
    page = (
        f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 800 800]/Rotate {rotate}/Contents 11 0 R"
        "/Resources<</Font<</F 3 0 R>>>>>>"
    )
    content = pdf([[]], objects={10: page.encode(), 11: table(matrix)})
    assert read_document(content, "a.pdf", sandbox).reading.text == TEXT
