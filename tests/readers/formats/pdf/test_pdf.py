"""PDF: outline, layout, dates, and what cannot be read."""

import base64
import time
import zlib

import pytest
from document_files import Text, assemble_pdf, pdf, read_document, reader_of, stream

from foundry.building.report import BuildReport, Remarks
from foundry.building.report_text import format_report
from foundry.chunking import chunk
from foundry.config.file import ChunkingSection
from foundry.documents import Document, RawDocument, Skipped
from foundry.documents.left_out import Omission
from foundry.readers.formats.pdf.reader import read_pdf_date
from foundry.readers.formats.pdf.streams import find_damaged_streams
from foundry.readers.sandbox.processes import Sandbox
from foundry.readers.sandbox.reading import read_apart


def read_file(content: bytes, sandbox: Sandbox, path: str = "a.pdf") -> Document:
    return read_document(content, path, sandbox)


def reason(content: bytes, sandbox: Sandbox) -> str:
    result = read_apart(RawDocument("s", "a.pdf", "a.pdf", content), sandbox)
    assert isinstance(result, Skipped), result
    return result.reason


def body(start: float, *lines: str) -> list[Text]:
    return [Text(10, start - 12 * place, line) for place, line in enumerate(lines)]


def test_larger_type_is_a_heading_and_gaps_separate_paragraphs(sandbox: Sandbox) -> None:
    page = [
        Text(20, 700, "Manual"),
        *body(660, "The first paragraph has", "two lines of text."),
        Text(14, 600, "Setup"),
        *body(570, "Install it with care."),
        *body(500, "Another paragraph."),
    ]
    document = read_file(pdf([page], info="/ModDate(D:20240305120000+02'00')"), sandbox)
    assert document.reading.text == (
        "# Manual\n\nThe first paragraph has\ntwo lines of text.\n\n"
        "## Setup\n\nInstall it with care.\n\nAnother paragraph."
    )
    outline = [(heading.level, heading.text) for heading in document.reading.headings]
    assert outline == [(1, "Manual"), (2, "Setup")]
    assert (document.title, document.modified) == ("Manual", "2024-03-05T10:00:00Z")
    assert (reader_of(document), document.media_type) == ("pdf", "application/pdf")


def test_numbered_headings_below_a_title_are_separate(sandbox: Sandbox) -> None:
    page = [
        Text(18, 700, "Lease of a very"),
        Text(18, 680, "large warehouse"),
        Text(18, 660, "1 Object"),
        *body(630, "The landlord lets hall 4 to the tenant."),
    ]
    headings = read_file(pdf([page]), sandbox).reading.headings
    assert [heading.text for heading in headings] == ["Lease of a very large warehouse", "1 Object"]


def test_outlines_determine_the_headings(sandbox: Sandbox) -> None:
    pages = [
        [Text(20, 700, "Large but no heading"), *body(600, "1 Basics", "Some text about it.")],
        body(600, "More", "2 Details", "Other text."),
    ]
    reading = read_file(pdf(pages, outline=[("Basics", 0), ("Details", 1)]), sandbox).reading
    assert [(h.level, h.text) for h in reading.headings] == [(1, "1 Basics"), (1, "2 Details")]


def test_chunks_have_their_page(sandbox: Sandbox) -> None:
    pages = [
        [Text(18, 700, f"Part {word}"), *body(600, "words of the text")]
        for word in ("one", "two", "three")
    ]
    document = read_file(pdf(pages), sandbox)
    options = ChunkingSection(strategy="headings", max_chars=400, overlap=0)
    chunks = chunk(document, options)
    assert [(piece.heading_path, piece.page) for piece in chunks] == [
        (("Part one",), 1),
        (("Part two",), 2),
        (("Part three",), 3),
    ]


def test_running_headers_and_footers_are_dropped(sandbox: Sandbox) -> None:
    pages = [
        [
            Text(10, 770, "Annual Report"),
            *body(500, f"What happened in month {word}."),
            Text(10, 20, f"Page {number} of 4"),
        ]
        for number, word in enumerate(("April", "May", "June", "July"), 1)
    ]
    text = read_file(pdf(pages), sandbox).reading.text
    assert text.split("\n\n") == [
        f"What happened in month {word}." for word in ("April", "May", "June", "July")
    ]


def test_headers_of_a_section_with_page_numbers_are_dropped(sandbox: Sandbox) -> None:
    words = [f"word{'x' * number}" for number in range(30)]
    pages = [body(500, f"Text with {word}.") for word in words]
    for number in (4, 5, 6):
        pages[number].append(Text(10, 770, f"{number + 1} 2.1 Basics"))
    for number in (14, 15, 16):
        pages[number].append(Text(10, 770, "Table 7"))
    text = read_file(pdf(pages), sandbox).reading.text
    assert (text.count("Basics"), text.count("Table")) == (0, 3)


def test_common_larger_type_is_not_a_heading(sandbox: Sandbox) -> None:
    large = [Text(12, 700 - 14 * line, f"row {'x' * line} of a table") for line in range(9)]
    small = [Text(7, 300 - 9 * line, "terms and conditions " * 3) for line in range(9)]
    reading = read_file(pdf([[Text(20, 750, "Invoice"), *large, *small]]), sandbox).reading
    assert [heading.text for heading in reading.headings] == ["Invoice"]


def test_a_larger_number_or_initial_does_not_make_a_heading(sandbox: Sandbox) -> None:
    drawn = "BT /F 10 Tf 72 700 Td (The rent is due monthly and is paid to the bank.) Tj ET "
    for place, (first, rest) in enumerate((("1", "first of all"), ("O", "nce upon a time"))):
        height = 600 - 40 * place
        drawn += f"BT /F 14 Tf 72 {height} Td ({first}) Tj /F 10 Tf 14 0 Td ({rest}) Tj ET "
    assert not read_file(page_of(drawn), sandbox).reading.headings


def test_hyphenated_words_are_joined(sandbox: Sandbox) -> None:
    lines = body(600, "A well-known docu-", "ment of a well-", "known author.")
    text = read_file(pdf([lines]), sandbox).reading.text.replace("\n", " ")
    assert text == "A well-known document of a well-known author."


@pytest.mark.parametrize(
    ("first", "end", "word"),
    [
        ("how-", "ever", "however"),
        ("unbeliev-", "able", "unbelievable"),
        ("HAR-", "BOUR", "HARBOUR"),
        ("Grund-", "besitz", "Grundbesitz"),
        ("re-", "zeptpflichtig", "rezeptpflichtig"),
        ("anti-", "inflammatory", "anti-inflammatory"),
        ("state-", "of-the-art", "state-of-the-art"),
        ("X-", "ray", "X-ray"),
        ("e-", "mail", "e-mail"),
        ("Jean-", "Paul", "Jean-Paul"),
        ("non-", "English", "non-English"),
        ("GPL-", "licensed", "GPL-licensed"),
        ("EU-", "Recht", "EU-Recht"),
        ("8-bit-", "wide", "8-bit-wide"),
    ],
)
def test_hyphens_of_compounds_are_kept(first: str, end: str, word: str, sandbox: Sandbox) -> None:
    lines = body(600, f"It is a question of {first}", f"{end} alone.")
    text = read_file(pdf([lines]), sandbox).reading.text.replace("\n", " ")
    assert text == f"It is a question of {word} alone."


def test_words_are_joined_as_written_elsewhere_in_the_document(sandbox: Sandbox) -> None:
    lines = body(600, "JavaScript has work-", "sheets: a worksheet of Java-", "Script is a page.")
    text = read_file(pdf([lines]), sandbox).reading.text.replace("\n", " ")
    assert text == "JavaScript has worksheets: a worksheet of JavaScript is a page."


def test_divided_words_do_not_end_paragraphs(sandbox: Sandbox) -> None:
    lines = body(600, "The harbour has a light-", "ing system, and the quay", "has none at all.")
    assert "\n\n" not in read_file(pdf([lines]), sandbox).reading.text


def test_attached_files_are_named(sandbox: Sandbox) -> None:
    files = b"/Names<</EmbeddedFiles<</Names[(a) 8 0 R (b) 9 0 R]>>>>"
    objects = {
        1: b"<</Type/Catalog/Pages 2 0 R" + files + b">>",
        8: b"<</Type/Filespec/F(budget.csv)/UF(budget.csv)/EF<</F 7 0 R>>>>",
        9: b"<</Type/Filespec/F(plan.pdf)/UF(plan.pdf)/EF<</F 7 0 R>>>>",
        7: stream(b"a,b"),
    }
    content = pdf([body(600, "Some words.")], objects=objects)
    text = read_file(content, sandbox).reading.text
    assert text == "Some words.\n\nAttachments: budget.csv, plan.pdf"


def test_placeholder_pages_of_dynamic_forms_are_skipped(sandbox: Sandbox) -> None:
    form = b"<</Type/Catalog/Pages 2 0 R/NeedsRendering true/AcroForm<</Fields[]/XFA 8 0 R>>>>"
    objects = {1: form, 8: stream(b"<xdp/>")}
    wait = pdf([body(600, "Please wait...", "Your viewer is too old.")], objects=objects)
    assert reason(wait, sandbox) == "a form that only Adobe Reader shows"
    shown = pdf([body(600, "Name of the buyer:")], objects=objects)
    assert read_file(shown, sandbox).reading.text == "Name of the buyer:"


def test_unreadable_pages_are_reported(sandbox: Sandbox) -> None:
    pages = [body(600, f"Words of page {number}.") for number in range(1, 4)]
    document = read_file(pdf(pages, objects={12: b"null"}), sandbox)
    assert document.reading.text == "Words of page 1.\n\nWords of page 3."
    assert document.reading.damaged == ("page 2",)
    report = BuildReport(["s"])
    report.read("s", "a.pdf", Remarks.of(document))
    said = format_report(report.to_json(), {}, "report.json")
    assert "read without these parts, which are missing or damaged:\n  s: a.pdf: page 2" in said


def test_format_is_determined_by_content_not_by_name(sandbox: Sandbox) -> None:
    content = pdf([body(600, "some words")])
    assert reader_of(read_file(content, sandbox, "notes.html")) == "pdf"
    page = b"<!DOCTYPE html><title>T</title><p>words"
    assert reader_of(read_file(page, sandbox, "page.pdf")) == "html"


def test_titles_set_by_programs_are_ignored(sandbox: Sandbox) -> None:
    page = [body(600, "some words")]
    for written in ("Microsoft Word - a.doc", "untitled", "thesis.dvi", "x"):
        assert read_file(pdf(page, info=f"/Title({written})"), sandbox).title == "a"
    assert read_file(pdf(page, info="/Title(Thesis)"), sandbox).title == "Thesis"


def test_keywords_are_tags_and_the_rest_of_the_details_is_left_out(sandbox: Sandbox) -> None:
    details = "/Keywords(leases, halls)/Subject(Storage)/Author(Ann)"
    document = read_file(pdf([body(600, "The lease of hall 4")], info=details), sandbox)
    assert document.tags == ("halls", "leases")
    assert [each.text for each in document.reading.left_out] == ["Storage", "Ann"]
    assert document.reading.words is not None
    assert (document.reading.words.source, document.reading.words.unaccounted) == (9, 0)


def test_links_are_read(sandbox: Sandbox) -> None:
    link = (
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 11 0 R"
        b"/Resources<</Font<</F 3 0 R>>>>/Annots[<</Type/Annot/Subtype/Link/Rect[0 0 9 9]"
        b"/A<</S/URI/URI(https://example.org/a)>>>>]>>"
    )
    content = pdf([body(600, "See https://example.org/b here.")], objects={10: link})
    targets = [link.target for link in read_file(content, sandbox).reading.links]
    assert targets == ["https://example.org/b", "https://example.org/a"]


def test_links_enclose_their_words(sandbox: Sandbox) -> None:
    places = {
        "https://example.org/manual": "72 698 130 712",
        "https://example.org/shown": "72 678 300 692",
        "https://example.org/two": "150 658 400 672",
        "https://example.org/two?": "72 638 110 652",
        "https://example.org/again": "72 698 110 712",
    }
    links = "".join(
        f"<</Type/Annot/Subtype/Link/Rect[{box}]/A<</S/URI/URI({url.rstrip('?')})>>>>"
        for url, box in places.items()
    )
    page = (
        f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 11 0 R/Annots[{links}]"
        "/Resources<</Font<</F 3 0 R>>>>>>"
    )
    shown = [
        Text(10, 700, "\\(The manual\\). It explains everything."),
        Text(10, 680, "https://example.org/shown"),
        Text(10, 660, "It goes on with a link of two"),
        Text(10, 640, "long lines, and ends."),
    ]
    reading = read_file(pdf([shown], objects={10: page.encode()}), sandbox).reading
    assert "([The manual](https://example.org/manual)). It explains" in reading.text
    assert "\nhttps://example.org/shown" in reading.text
    assert "link of two\n[long lines](https://example.org/two), and ends." in reading.text
    assert len(reading.links) == 4


def page_of(content: str, extra: str = "") -> bytes:
    page = (
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 11 0 R"
        f"/Resources<</Font<</F 3 0 R>>>>{extra}>>"
    )
    return pdf([[]], objects={10: page.encode(), 11: stream(content.encode())})


def test_invisible_text_is_left_out(sandbox: Sandbox) -> None:
    drawn = (
        "BT /F 10 Tf 72 600 Td (Shown words) Tj ET BT /F 10 Tf 72 750 Td (cropped away) Tj ET"
        " BT /F 10 Tf 72 580 Td (Partly ) Tj 3 Tr (drawn invisibly) Tj ET"
    )
    reading = read_file(page_of(drawn, "/CropBox[0 500 600 700]"), sandbox).reading
    assert reading.text == "Shown words\nPartly"
    assert [(each.reason, each.text) for each in reading.left_out] == [
        (Omission.HIDDEN, "cropped away drawn invisibly")
    ]
    assert reading.words is not None
    assert (reading.words.left_out, reading.words.unaccounted) == ({Omission.HIDDEN: 4}, 0)


def test_paragraphs_of_a_cropped_page_are_separate(sandbox: Sandbox) -> None:
    drawn = (
        "BT /F 10 Tf 72 740 Td (The first paragraph.) Tj ET"
        " BT /F 10 Tf 72 640 Td (The second paragraph.) Tj ET"
    )
    reading = read_file(page_of(drawn, "/CropBox[0 300 600 800]"), sandbox).reading
    assert reading.text == "The first paragraph.\n\nThe second paragraph."


def test_invisible_text_of_scans_is_read(sandbox: Sandbox) -> None:
    picture = "/XObject<</I 20 0 R>>"
    image = (
        b"<</Type/XObject/Subtype/Image/Width 1/Height 1/ColorSpace/DeviceGray/BitsPerComponent 8"
        b"/Length 1>>stream\n\x80\nendstream"
    )
    page = (
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 11 0 R"
        f"/Resources<</Font<</F 3 0 R>>{picture}>>>>"
    )
    drawn = (
        "BT /F 10 Tf 72 40 Td (Stamped by the archive) Tj ET q 600 0 0 700 0 100 cm /I Do Q"
        " BT 3 Tr /F 10 Tf 72 600 Td (recognised words of a letter) Tj ET"
    )
    objects = {10: page.encode(), 11: stream(drawn.encode()), 20: image}
    assert "recognised words" in read_file(pdf([[]], objects=objects), sandbox).reading.text


def test_comments_on_a_page_are_counted(sandbox: Sandbox) -> None:
    note = "<</Type/Annot/Subtype/Text/Rect[400 590 420 610]/Contents(Ask the landlord)>>"
    drawn = "BT /F 10 Tf 72 600 Td (Rent is due monthly) Tj ET"
    reading = read_file(page_of(drawn, f"/Annots[{note}]"), sandbox).reading
    assert reading.text == "Rent is due monthly"
    assert reading.words is not None
    assert (reading.words.source, reading.words.left_out) == (7, {Omission.COMMENT: 3})


def test_bookmarks_are_headings_of_pages_without_them(sandbox: Sandbox) -> None:
    pages = [
        body(700, "Apples are picked first.", "Pears are picked later."),
        body(700, "Plums are dried here."),
        body(700, "See the prices."),
        body(700, "1 Prices", "Plums cost two pennies."),
    ]
    # The second entry leads to the second line of its page.
    drying = b"<</Title(Drying)/Parent 5 0 R/Dest[10 0 R/XYZ 0 699 0]/Next 20 0 R>>"
    outline = [("Picking", 0), ("Drying", 0), ("Page 3", 2), ("Prices", 3)]
    content = pdf(pages, outline=outline, objects={19: drying})
    reading = read_file(content, sandbox).reading
    assert reading.text == (
        "# Picking\n\nApples are picked first.\n\n# Drying\n\nPears are picked later.\n\n"
        "Plums are dried here.\n\nSee the prices.\n\n# 1 Prices\n\nPlums cost two pennies."
    )
    assert reading.title is None


def test_bookmarks_that_lead_to_one_place_or_say_nothing_are_no_headings(sandbox: Sandbox) -> None:
    pages = [body(700, "Apples are picked first."), body(700, "Plums are dried here.")]
    outline = [("Valuation", 0), ("Returns", 0), ("Blank Page", 1)]
    reading = read_file(pdf(pages, outline=outline), sandbox).reading
    assert not reading.headings
    assert reading.title is None


def test_missing_contents_of_a_page_are_reported(sandbox: Sandbox) -> None:
    content = pdf([body(600, "first"), body(600, "second")])
    reading = read_file(content.replace(b"/Contents 13 0 R", b"/Contents 93 0 R"), sandbox).reading
    assert (reading.text, reading.damaged) == ("first", ("object 93",))
    assert not read_file(content, sandbox).reading.damaged


def test_unfinished_ascii_streams_take_bounded_time() -> None:
    head = b"1 0 obj<</Filter[/ASCII85Decode/FlateDecode]>>stream\n"
    started = time.process_time()
    assert list(find_damaged_streams(b"%PDF-1.4\n" + head * 20_000 + b"~>"))
    assert time.process_time() - started < 30


@pytest.mark.parametrize("is_ascii", [False, True])
def test_damaged_streams_are_reported(is_ascii: bool, sandbox: Sandbox) -> None:
    lines = (f"BT /F 10 Tf 72 {780 - n} Td (Line {n * n * 7919}) Tj ET" for n in range(0, 700, 14))
    packed = zlib.compress("\n".join(lines).encode())

    def page(data: bytes) -> bytes:
        filters = "/ASCII85Decode/FlateDecode" if is_ascii else "/FlateDecode"
        data = base64.a85encode(data) + b"~>" if is_ascii else data
        head = f"<</Length {len(data)}/Filter[{filters}]>>stream\n".encode()
        return pdf([[], body(600, "words")], objects={11: head + data + b"\nendstream"})

    whole = read_file(page(packed[:-4] + b"0000"), sandbox).reading
    assert whole.damaged == ()
    assert whole.text.count("Line") == 50
    assert read_file(page(packed[: len(packed) // 2]), sandbox).reading.damaged == ("object 11",)


def test_pdfs_whose_only_text_is_damaged_are_skipped_as_damaged(sandbox: Sandbox) -> None:
    data = b"<</Length 20/Filter/FlateDecode>>stream\n" + bytes(20) + b"\nendstream"
    assert reason(pdf([[]], objects={11: data}), sandbox) == "damaged"


def test_pages_without_text_need_ocr(sandbox: Sandbox) -> None:
    assert reason(pdf([[], []]), sandbox) == "no text layer, needs OCR"


def test_encrypted_files_are_skipped_with_a_reason(sandbox: Sandbox) -> None:
    key = "<" + "41" * 32 + ">"
    handler = f"/Encrypt<</Filter/Standard/V 1/R 2/O{key}/U{key}/P -4>>/ID[<41><41>]"
    page = {
        1: b"<</Type/Catalog/Pages 2 0 R>>",
        2: b"<</Type/Pages/Kids[]/Count 0>>",
        4: b"<<>>",
    }
    assert reason(assemble_pdf(page, trailer=handler), sandbox) == "encrypted"


def test_loops_in_files_end(sandbox: Sandbox) -> None:
    page = [[Text(10, 600, "some words")]]
    loop = {
        12: b"<</Title(A)/Parent 5 0 R/Dest[10 0 R/Fit]/Next 13 0 R>>",
        13: b"<</Title(B)/Parent 5 0 R/Dest[10 0 R/Fit]/Next 12 0 R>>",
    }
    content = pdf(page, outline=[("A", 0), ("B", 0)], objects=loop)
    assert read_file(content, sandbox).reading.text == "some words"
    own_kid = {2: b"<</Type/Pages/Kids[2 0 R 10 0 R]/Count 2>>"}
    result = read_apart(RawDocument("s", "a", "a", pdf(page, objects=own_kid)), sandbox)
    assert isinstance(result, Document | Skipped)
    itself = {
        10: b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 11 0 R"
        b"/Resources<</XObject<</X 6 0 R>>>>>>",
        11: stream(b"/X Do"),
        6: b"<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X 6 0 R>>>>"
        b"/Length 5>>stream\n/X Do\nendstream",
    }
    assert reason(pdf(page, objects=itself), sandbox) == "no text layer, needs OCR"
    assert isinstance(
        read_apart(RawDocument("s", "a", "a", content[:-60]), sandbox), Document | Skipped
    )


def test_cycles_of_cross_references_end(sandbox: Sandbox) -> None:
    content = pdf([[Text(10, 600, "some words")]])
    start = content.rindex(b"xref\n0 1")
    circular = content.replace(b"trailer<<", b"trailer<</Prev %d" % start)
    result = read_apart(RawDocument("s", "a", "a", circular), sandbox)
    assert isinstance(result, Document | Skipped)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("D:20240305120000+02'00'", "2024-03-05T10:00:00Z"),
        ("D:20240305120000Z", "2024-03-05T12:00:00Z"),
        ("20240305", "2024-03-05"),
        ("D:2024", "2024-01-01"),
        ("D:20249999", None),
        ("yesterday", None),
        ("", None),
    ],
)
def test_dates(written: str, expected: str | None) -> None:
    assert read_pdf_date(written) == expected


def font(differences: str, characters: str = "") -> dict[int, bytes]:
    """Return a font whose code 1 is a glyph of this name, for these characters (UTF-16)."""
    table = (
        "/CIDInit/ProcSet findresource begin 12 dict begin begincmap/CMapName/X def/CMapType 2 def"
        f" 1 begincodespacerange<00><FF>endcodespacerange 1 beginbfchar<01><{characters}>endbfchar"
        " endcmap end end"
    )
    encoding = f"/Encoding<</BaseEncoding/WinAnsiEncoding/Differences[1/{differences}]>>"
    unicode = "/ToUnicode 9 0 R" if characters else ""
    named = f"<</Type/Font/Subtype/Type1/BaseFont/Helvetica{encoding}{unicode}>>"
    return {3: named.encode(), **({9: stream(table.encode())} if characters else {})}


@pytest.mark.parametrize(
    ("differences", "characters"), [("g5", ""), ("g5", "0000"), ("ffi", ""), ("g5", "FB03")]
)
def test_ligatures_are_read_as_letters(differences: str, characters: str, sandbox: Sandbox) -> None:
    lines = ["The di\1culties of an o\1ce are not insu\1ciently known, con-", "firmed it is."]
    content = pdf([body(700, *lines)], objects=font(differences, characters))
    assert read_file(content, sandbox).reading.text == (
        "The difficulties of an office are not insufficiently known, confirmed it is."
    )


@pytest.mark.parametrize("characters", ["", "0000"])
def test_unknown_ligatures_complete_the_most_frequent_word(
    characters: str, sandbox: Sandbox
) -> None:
    lines = [
        *("A \1at has a \1re in the \1replace: \1nd sta\1 who o\1er it.", "\1 x \1"),
        *("Zqofl and zqo\1, zqo\1zzzzz, \1xqjw.", "AB\1", "\1"),
    ]
    document = read_file(pdf([body(700, *lines)], objects=font("g5", characters)), sandbox)
    assert document.reading.text == (
        "A flat has a fire in the fireplace: find staff who offer it.\nx\n"
        "Zqofl and zqofl, zqo\ufffdzzzzz, \ufffdxqjw.\nAB"
    )
