"""PDF: running lines, columns, raised digits, forms, and text that is turned or illegible."""

from collections.abc import Sequence

import pytest
from document_files import Text, pdf, stream

from foundry.documents import RawDocument, Reading, Skipped
from foundry.documents.left_out import Omission
from foundry.readers.formats.pdf.brackets import mend_brackets
from foundry.readers.formats.pdf.lines import Line
from foundry.readers.sandbox.processes import Sandbox
from foundry.readers.sandbox.reading import read_apart

LEFT = (
    "An otter holds its breath",
    "for some eight minutes and",
    "sleeps on its back, so that",
    "the young can rest on it.",
)
RIGHT = (
    "A beaver stays below for",
    "fifteen of them; its lodge",
    "has a door under water that",
    "no fox has ever found yet.",
)


def read(content: bytes, sandbox: Sandbox) -> Reading:
    result = read_apart(RawDocument("s", "a.pdf", "a.pdf", content), sandbox)
    assert not isinstance(result, Skipped), result
    return result.reading


def draw(*texts: tuple[float, float, float, str]) -> bytes:
    """Return a PDF of one page: (size, left, height, text), in drawing order."""
    drawn = (f"BT /F {size} Tf {x} {y} Td ({text}) Tj ET" for size, x, y, text in texts)
    return pdf([[]], objects={11: stream("\n".join(drawn).encode("cp1252"))})


def left_out(reading: Reading, reason: Omission) -> list[tuple[str, str]]:
    return [(each.text, each.place) for each in reading.left_out if each.reason == reason]


@pytest.mark.parametrize("size", [10, 18])
def test_numbered_headings_at_the_top_of_pages_are_kept(size: float, sandbox: Sandbox) -> None:
    pages = [
        [Text(size, 770, f"Exercise {number}"), Text(10, 700, f"Fold the {what} in half.")]
        for number, what in enumerate(("map", "sheet", "towel", "letter"), 1)
    ]
    reading = read(pdf(pages), sandbox)
    assert [f"Exercise {number}" in reading.text for number in range(1, 5)] == 4 * [True]
    assert reading.left_out == ()


def test_similar_lines_on_one_page_are_kept(sandbox: Sandbox) -> None:
    pages = [[Text(10, 780 - 12 * row, f"{row} mm") for row in range(3)], *3 * [[]]]
    pages = [[*page, Text(10, 400, "Rain in the valley.")] for page in pages]
    assert read(pdf(pages), sandbox).text.count(" mm") == 3


def test_running_lines_are_reported_with_their_pages(sandbox: Sandbox) -> None:
    pages = [
        [Text(8, 780, "The otter"), Text(10, 600, f"Chapter on {what}."), Text(8, 20, f"{page}")]
        for page, what in enumerate(("fur", "food", "dens"), 1)
    ]
    told = left_out(read(pdf(pages), sandbox), Omission.RUNNING_LINE)
    assert told == [
        pair for page in "123" for pair in (("The otter", f"page {page}"), (page, f"page {page}"))
    ]


def test_equal_lines_at_different_heights_are_kept(sandbox: Sandbox) -> None:
    pages = [
        [Text(10, height, "See below."), Text(10, 400, f"Text of {height}.")]
        for height in (790, 760, 730, 715)
    ]
    assert read(pdf(pages), sandbox).text.count("See below.") == 4


def turned(word: str) -> str:
    return f"BT /F 60 Tf .7071 .7071 -.7071 .7071 200 300 Tm ({word}) Tj ET"


def test_rotated_stamps_are_not_headings_or_titles(sandbox: Sandbox) -> None:
    drawn = f"BT /F 10 Tf 72 700 Td (The lease ends in May.) Tj ET {turned('COPY')}"
    reading = read(pdf([[]], objects={11: stream(drawn.encode())}), sandbox)
    assert (reading.headings, reading.title) == ((), None)
    assert "COPY" in reading.text


def test_stamps_on_many_pages_are_left_out_and_reported(sandbox: Sandbox) -> None:
    words = ("one", "two", "three", "four")
    objects = {
        11 + 2 * n: stream(f"BT /F 10 Tf 72 700 Td (Page {w}.) Tj ET {turned('COPY')}".encode())
        for n, w in enumerate(words)
    }
    reading = read(pdf([[]] * 4, objects=objects), sandbox)
    assert "COPY" not in reading.text
    assert left_out(reading, Omission.RUNNING_LINE) == [("COPY", f"page {n}") for n in range(1, 5)]


def test_columns_drawn_row_by_row_are_read_in_turn(sandbox: Sandbox) -> None:
    rows = [
        (10, x, 700 - 12 * row, text)
        for row, pair in enumerate(zip(LEFT, RIGHT, strict=True))
        for x, text in zip((72, 240), pair, strict=True)
    ]
    text = read(draw((10, 72, 740, "Two swimmers"), *rows), sandbox).text
    assert text.split("\n\n") == ["Two swimmers", "\n".join(LEFT), "\n".join(RIGHT)]


@pytest.mark.parametrize("count", [3, 4])
def test_several_columns_are_read_in_turn(count: int, sandbox: Sandbox) -> None:
    columns = [LEFT, RIGHT, tuple(reversed(LEFT)), tuple(reversed(RIGHT))][:count]
    rows = [
        (10, 40 + 135 * column, 700 - 12 * row, texts[row])
        for row in range(4)
        for column, texts in enumerate(columns)
    ]
    text = read(draw(*rows), sandbox).text
    assert text.split("\n\n") == ["\n".join(column) for column in columns]


def test_labels_and_values_stay_on_their_lines(sandbox: Sandbox) -> None:
    pairs = [
        ("Colour of the fur", "brown on the back and grey below, never spotted"),
        ("Length of the tail", "half of the body, and flattened towards its end"),
        ("Kind of food", "fish, crabs, frogs and now and then a careless duck"),
    ]
    rows = [
        (10, x, 700 - 12 * row, text)
        for row, pair in enumerate(pairs)
        for x, text in zip((72, 340), pair, strict=True)
    ]
    text = read(draw(*rows), sandbox).text
    for label, value in pairs:
        assert f"{label} {value}" in text.replace(" | ", " ")


def test_words_divided_between_columns_or_pages_are_joined(sandbox: Sandbox) -> None:
    first = [Text(10, 120, "It was an unbeliev-")]
    second = [Text(10, 740, "able catch, they said."), Text(10, 700, "Nobody had seen one.")]
    text = read(pdf([first, second]), sandbox).text
    assert text.split("\n\n")[:2] == ["It was an unbelievable", "catch, they said."]
    beside = [(10, 72, 120, "the whole har-"), (10, 300, 700, "bour was empty.")]
    assert "harbour" in read(draw(*beside), sandbox).text


@pytest.mark.parametrize(
    ("base", "digits", "rise", "after", "expected"),
    [
        ("10", "9", 5, " bytes", "10^9 bytes"),
        ("2", "64", 5, " squares", "2^64 squares"),
        ("x", "2", 5, " is even", "x^2 is even"),
        ("10", "-3", 5, " m", "10^-3 m"),
        ("1010", "2", -3, " is ten", "1010_2 is ten"),
        ("H", "2", -3, "O is water", "H2O is water"),
        ("harbour", "7", 5, " of old", "harbour [7] of old"),
        ("is known.", "12", 5, " Others", "is known. [12] Others"),
    ],
)
def test_superscript_digits_are_separate_from_numbers(
    base: str, digits: str, rise: float, after: str, expected: str, sandbox: Sandbox
) -> None:
    drawn = (
        f"BT /F 11 Tf 72 700 Td (So {base}) Tj /F 7 Tf {rise} Ts ({digits}) Tj"
        f" /F 11 Tf 0 Ts ({after}) Tj ET"
    )
    reading = read(pdf([[]], objects={11: stream(drawn.encode())}), sandbox)
    assert reading.text == f"So {expected}"


def test_mirrored_brackets_in_right_to_left_text_are_corrected() -> None:
    mirrored = [Line("בית )חיפה( נבנה", 10, 0.1, 0.2), Line("plain (text)", 10, 0.2, 0.3)]
    assert [line.text for line in mend_brackets(mirrored)] == ["בית (חיפה) נבנה", "plain (text)"]
    right = [Line("بيت [1] هنا", 10, 0.1, 0.2)]
    assert mend_brackets(right) == right


def form(*fields: str, drawn: str = "", listed: bool = True, flags: int = 4) -> bytes:
    """Return a one-page PDF with these form fields; `listed` adds them to the document's form."""
    numbers = range(20, 20 + len(fields))
    references = " ".join(f"{number} 0 R" for number in numbers)
    acro_form = f"/AcroForm<</Fields[{references}]>>" if listed else ""
    widgets = {
        number: f"<</Type/Annot/Subtype/Widget/F {flags}{field}>>".encode()
        for number, field in zip(numbers, fields, strict=True)
    }
    return pdf(
        [[]],
        objects={
            1: f"<</Type/Catalog/Pages 2 0 R{acro_form}>>".encode(),
            10: b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 11 0 R"
            b"/Resources<</Font<</F 3 0 R>>>>/Annots[%s]>>" % references.encode(),
            11: stream(drawn.encode()),
            **widgets,
        },
    )


def label(x: float, y: float, text: str) -> str:
    return f"BT /F 10 Tf {x} {y} Td ({text}) Tj ET "


def test_form_values_follow_their_labels(sandbox: Sandbox) -> None:
    content = form(
        "/FT/Tx/T(a)/V(Otto Berg)/Rect[160 696 300 712]",
        "/FT/Ch/T(b)/Ff 131072/Opt[(red)(dark green)]/V(dark green)/Rect[160 676 300 692]",
        "/FT/Btn/T(c)/V/Yes/AS/Yes/AP<</N<</Yes 30 0 R/Off 31 0 R>>>>/Rect[72 659 82 669]",
        "/FT/Btn/T(d)/AS/Off/AP<</N<</Yes 30 0 R/Off 31 0 R>>>>/Rect[160 659 170 669]",
        "/FT/Tx/T(e)/Ff 8192/V(hunter2)/Rect[160 636 300 652]",
        drawn=label(72, 700, "Owner:")
        + label(72, 680, "Colour:")
        + label(86, 660, "insured")
        + label(174, 660, "sold")
        + label(72, 640, "Password:"),
    )
    reading = read(content, sandbox)
    assert reading.text.split("\n") == [
        "Owner: Otto Berg",
        "Colour: dark green",
        "[x] insured [ ] sold",
        "Password:",
    ]
    assert left_out(reading, Omission.HIDDEN) == [("hunter2", "page 1")]


def test_hidden_form_fields_are_left_out(sandbox: Sandbox) -> None:
    """Bit 2 of the flags hides an annotation (ISO 32000-1, 12.5.3)."""
    field = "/FT/Tx/T(a)/V(Otto Berg)/Rect[160 696 300 712]"
    reading = read(form(field, drawn=label(72, 700, "Owner:"), flags=6), sandbox)
    assert reading.text == "Owner:"
    assert left_out(reading, Omission.HIDDEN) == [("Otto Berg", "page 1")]


@pytest.mark.parametrize("listed", [True, False])
def test_fields_without_label_or_form_are_read(listed: bool, sandbox: Sandbox) -> None:
    content = form("/FT/Tx/T(a)/V(Otto Berg)/Rect[9 9 99 20]", listed=listed)
    assert read(content, sandbox).text == "Otto Berg"


def test_free_text_is_read_and_comments_are_reported(sandbox: Sandbox) -> None:
    annotations = (
        b"<</Type/Annot/Subtype/FreeText/Contents(Approved by Ines)/Rect[72 600 300 620]>>"
        b"<</Type/Annot/Subtype/Text/Contents(check this again)/Rect[9 9 20 20]>>"
    )
    page = (
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 11 0 R"
        b"/Resources<</Font<</F 3 0 R>>>>/Annots[%s]>>" % annotations
    )
    reading = read(pdf([[Text(10, 700, "The plan.")]], objects={10: page}), sandbox)
    assert reading.text == "The plan.\n\nApproved by Ines"
    assert left_out(reading, Omission.COMMENT) == [("check this again", "page 1")]


def type3(lines: Sequence[str]) -> bytes:
    """Return a PDF whose glyphs are drawings without names and characters."""
    shown = "".join(
        f"BT /F 10 Tf 72 {700 - 12 * row} Td ({line}) Tj ET\n" for row, line in enumerate(lines)
    )
    codes = sorted({ord(sign) for line in lines for sign in line if sign != " "})
    glyphs = "".join(f"/g{code} 40 0 R" for code in codes)
    differences = " ".join(f"{code}/g{code}" for code in codes)
    widths = " ".join(["600"] * 96)
    font = (
        f"<</Type/Font/Subtype/Type3/FontBBox[0 0 600 700]/FontMatrix[.001 0 0 .001 0 0]"
        f"/CharProcs<<{glyphs}>>/Encoding<</Type/Encoding/Differences[{differences}]>>"
        f"/FirstChar 32/LastChar 127/Widths[{widths}]/Resources<<>>>>"
    )
    return pdf(
        [[]],
        objects={
            3: font.encode(),
            11: stream(shown.encode()),
            40: stream(b"600 0 0 0 500 700 d1 0 0 500 700 re f"),
        },
    )


def test_unknown_glyphs_are_not_read_as_characters(sandbox: Sandbox) -> None:
    content = type3(["Wkh rwwhu vohhsv", "rq lwv edfn"])
    result = read_apart(RawDocument("s", "a.pdf", "a.pdf", content), sandbox)
    assert isinstance(result, Skipped)
    assert result.reason == "no text layer, needs OCR"


@pytest.mark.parametrize("title", ["2024", "---", "1.2 / 3"])
def test_titles_without_letters_are_ignored(title: str, sandbox: Sandbox) -> None:
    content = pdf([[Text(10, 600, "some words")]], info=f"/Title({title})")
    assert read(content, sandbox).title is None


def test_forms_that_are_their_own_parent_are_read(sandbox: Sandbox) -> None:
    loop = form("/FT/Tx/T(a)/Parent 20 0 R/Kids[20 0 R]/Rect[9 9 99 20]", drawn=label(9, 9, "text"))
    assert read(loop, sandbox).text == "text"
