"""Text in pictures: recognised pages, their confidence, and hostile pictures."""

import io
import struct
import time
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from conftest import MakeProject
from document_files import assemble_pdf, docx, paragraph, pdf, reader_of, stream
from PIL import Image, ImageDraw, ImageFont

from foundry.building.documents import preparer, workers
from foundry.building.report import BuildReport, Group, Kind, Remarks
from foundry.building.report_text import format_report
from foundry.config.sources import FolderSource, find_problems
from foundry.documents import OCR_PAGES, Document, RawDocument, Skipped
from foundry.documents.reasons import Reason
from foundry.readers import allowance, contract, read
from foundry.readers.formats import pictures
from foundry.readers.formats.pictures import SeenLine, lay_out
from foundry.readers.sandbox.processes import Sandbox
from foundry.readers.sandbox.reading import read_apart

pytestmark = pytest.mark.usefixtures("formatted_once", "forked_servers")

WORDS = "The quick brown fox jumps over the lazy dog while seven wizards mix potions".split()


def read_file(
    content: bytes, path: str, sandbox: Sandbox | None = None, *, ocr: bool = True
) -> Document | Skipped:
    raw = RawDocument("s", path, path, content, ocr=ocr)
    return read_apart(raw, sandbox) if sandbox else read(raw)


@cache
def picture(*lines: str, kind: str = "PNG") -> bytes:
    """Return a picture of lines of text, 50 pixels apart."""
    made = Image.new("RGB", (1000, 60 + 50 * len(lines)), "white")
    for number, line in enumerate(lines):
        large = ImageFont.load_default(size=30)
        ImageDraw.Draw(made).text((40, 30 + 50 * number), line, fill="black", font=large)
    stored = io.BytesIO()
    made.save(stored, format=kind)
    return stored.getvalue()


def scan(*pages: str | bytes, stamp: str = "") -> bytes:
    """Return a PDF whose pages are texts, or JPEG pictures 1000 pixels wide.

    `stamp` is invisible text on the pictures.
    """
    objects: dict[int, bytes] = {}
    for number, page in enumerate(pages):
        if isinstance(page, str):
            objects[11 + 2 * number] = stream(f"BT /F 12 Tf 72 600 Td ({page}) Tj ET".encode())
            continue
        height = struct.unpack(">H", page[page.index(b"\xff\xc0") + 5 :][:2])[0]
        objects[50 + number] = (
            (
                f"<</Type/XObject/Subtype/Image/Width 1000/Height {height}/ColorSpace/DeviceRGB"
                f"/BitsPerComponent 8/Filter/DCTDecode/Length {len(page)}>>stream\n"
            ).encode()
            + page
            + b"\nendstream"
        )
        objects[10 + 2 * number] = (
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 {height * 0.6}]/Contents {11 + 2 * number}"
            f" 0 R/Resources<</XObject<</I {50 + number} 0 R>>/Font<</F 3 0 R>>>>>>"
        ).encode()
        written = f"BT 3 Tr /F 12 Tf 9 9 Td ({stamp}) Tj ET" if stamp else ""
        drawn = f"q 600 0 0 {height * 0.6} 0 0 cm /I Do Q {written}"
        objects[11 + 2 * number] = stream(drawn.encode())
    return pdf([[] for _ in pages], objects=objects)


LINES = (" ".join(WORDS[:8]), " ".join(WORDS[8:]))


def test_pictures_are_not_read_by_default(sandbox: Sandbox) -> None:
    jpeg = picture(*LINES, kind="JPEG")
    skipped = read_file(picture(*LINES), "a.png", sandbox, ocr=False)
    assert isinstance(skipped, Skipped) and skipped.reason == "a picture"
    skipped = read_file(scan(jpeg), "a.pdf", sandbox, ocr=False)
    assert isinstance(skipped, Skipped) and skipped.reason == "no text layer, needs OCR"
    mixed = read_file(scan("Words of a page with text.", jpeg), "a.pdf", sandbox, ocr=False)
    assert isinstance(mixed, Document)
    assert (mixed.reading.unseen, mixed.reading.seen, mixed.tags) == (1, (), ())


def test_missing_extra_is_named_for_skipped_pictures(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(contract, "_is_importable", lambda module: module != "rapidocr")
    skipped = read_file(b"\x89PNG\r\n\x1a\n", "a.png")
    assert isinstance(skipped, Skipped)
    assert skipped.reason == "to be read with pip install 'rag-foundry[ocr]'"


def test_report_explains_ocr_and_counts_unsure_lines() -> None:
    report = BuildReport(["s"])
    report.skip(Skipped("s", "a.pdf", "no text layer, needs OCR", "2 pages"))
    report.read(
        "s",
        "b.pdf",
        Remarks(
            findings=[(Group.SCAN, Kind.UNSEEN, None, 3), (Group.SCAN, Kind.UNSURE, None, 2)],
        ),
    )
    said = format_report(report.to_json(), {}, "report.json")
    assert "to read scans: ocr = true in [[sources]], and pip install 'rag-foundry[ocr]'" in said
    adopted = format_report(report.to_json(), {}, "report.json", adopted=True)
    assert "ocr = true in [[sources]] of a project, which foundry init writes, and" in adopted
    assert "s: b.pdf: pages that are pictures, not read, 3 times" in said
    assert "s: b.pdf: lines of a picture that may be misread, 2 times" in said


@pytest.mark.parametrize(
    ("reason", "remedy"),
    [
        (Reason.DATABASE, "to read them: sqlite3 FILE -header -csv"),
        (Reason.HOLDS_DTD, "to read them: xmllint --noent --dropdtd FILE"),
        (Reason.OLD_WORD, "to read them: soffice --convert-to docx FILE"),
        (Reason.POSTSCRIPT, "to read them: ps2pdf FILE"),
    ],
)
def test_report_explains_how_to_convert_other_formats(reason: Reason, remedy: str) -> None:
    report = BuildReport(["s"])
    report.skip(Skipped("s", "a.bin", reason))
    assert remedy in format_report(report.to_json(), {}, "report.json")


def seen(text: str, left: float, top: float, confidence: float = 0.99) -> SeenLine:
    return SeenLine(text, confidence, left, left + 0.008 * len(text), top, top + 0.02)


def test_lines_are_ordered_and_columns_become_a_table() -> None:
    page = lay_out(
        [
            *(seen("$12.50", 0.4, 0.201), seen("May 2024", 0.1, 0.2), seen("late", 0.7, 0.199)),
            *(seen("Gross", 0.4, 0.17), seen("Month", 0.1, 0.171), seen("Status", 0.7, 0.17)),
            *(seen("Below.", 0.1, 0.5), seen("Above.", 0.1, 0.05, 0.6)),
        ]
    )
    rows = (("Month", "Gross", "Status"), ("May 2024", "$12.50", "late"))
    assert [line.rows or line.text for line in page.lines] == ["Above.", rows, "Below."]
    assert page.unsure == 1


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "TIFF"])
def test_pictures_are_read(kind: str, sandbox: Sandbox) -> None:
    document = read_file(picture(*LINES, kind=kind), "scan.bin", sandbox)
    assert isinstance(document, Document)
    assert (reader_of(document), document.tags, document.title) == ("picture", ("scan",), "scan")
    assert document.media_type == f"image/{kind.lower()}"
    assert document.metadata["scanned_pages"] == "1"
    assert set(document.reading.text.split()) >= set(WORDS)


def test_text_and_scanned_pages_of_a_pdf_are_read(sandbox: Sandbox) -> None:
    jpeg = picture(*LINES, kind="JPEG")
    document = read_file(scan("Words of a page with text.", jpeg, jpeg), "a.pdf", sandbox)
    assert isinstance(document, Document)
    first, second = document.reading.pages[:2]
    assert document.reading.text[first:second].strip() == "Words of a page with text."
    assert set(document.reading.text[second:].split()) >= set(WORDS)
    assert (document.reading.seen, document.metadata["scanned_pages"]) == ((2, 3), "2-3")
    assert (reader_of(document), document.reading.unseen) == ("pdf+ocr", 0)


def test_page_keeps_its_text_if_its_picture_has_none(sandbox: Sandbox) -> None:
    document = read_file(scan(picture("", kind="JPEG"), stamp="Stamp 7"), "a.pdf", sandbox)
    assert isinstance(document, Document)
    assert (document.reading.text.strip(), document.reading.seen) == ("Stamp 7", ())


def test_pictures_in_word_files_and_slides_without_text_are_read(
    sandbox: Sandbox,
) -> None:
    found = read_file(docx("", **{"word/media/image1.png": picture(*LINES)}), "a.docx", sandbox)
    assert isinstance(found, Document)
    assert set(found.reading.text.split()) >= set(WORDS)
    with_text = docx(paragraph("Its own words."), **{"word/media/image1.png": picture(*LINES)})
    found = read_file(with_text, "a.docx", sandbox)
    assert isinstance(found, Document)
    assert (found.reading.text, found.tags) == ("Its own words.", ())

    from pptx import Presentation

    slides, stored = Presentation(), io.BytesIO()
    slides.slides.add_slide(slides.slide_layouts[6]).shapes.add_picture(
        io.BytesIO(picture(*LINES)), 0, 0
    )
    slides.save(stored)
    found = read_file(stored.getvalue(), "a.pptx", sandbox)
    assert isinstance(found, Document)
    assert set(found.reading.text.split()) >= set(WORDS)
    assert found.metadata["scanned_pages"] == "1"


def chunk_of_png(kind: bytes, content: bytes) -> bytes:
    checksum = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", checksum)


def png(width: int, height: int, *, bits: int = 8, colour: int = 2, data: bytes = b"") -> bytes:
    header = struct.pack(">IIBBBBB", width, height, bits, colour, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk_of_png(b"IHDR", header)
        + chunk_of_png(b"IDAT", zlib.compress(data, 9))
        + chunk_of_png(b"IEND", b"")
    )


def tiff(**tags: int) -> bytes:
    """Return a TIFF with these tags, whose directory names itself as the next."""
    numbers = {"width": 256, "height": 257, "bits": 258, "packing": 259, "kind": 262, "strip": 273}
    numbers |= {"samples": 277, "rows": 278, "count": 279}
    entries = b"".join(struct.pack("<HHII", numbers[name], 4, 1, tags[name]) for name in tags)
    return b"II*\0" + struct.pack("<IH", 8, len(tags)) + entries + struct.pack("<I", 8)


_GREY = {"bits": 8, "packing": 1, "kind": 1, "strip": 8, "samples": 1}
# Every process collects this module, so slow examples are only created by their tests.
HOSTILE: dict[str, bytes | Callable[[], bytes]] = {
    "png-header-alone": b"\x89PNG\r\n\x1a\n",
    "png-cut": lambda: picture(*LINES)[:300],
    "png-of-no-size": png(0, 0),
    "png-huge": png(60_000, 60_000),
    "png-wide": png(2_000_000_000, 1),
    "png-high": png(1, 2_000_000_000),
    "png-says-more-than-it-has": png(4_000, 4_000),
    "png-bomb": lambda: png(7_000, 7_000, bits=1, colour=0, data=bytes(7_000 * 876)),
    "png-beyond-the-limit": png(12_000, 12_000, data=bytes(1_000_000)),
    "png-unknown-colour": png(10, 10, colour=9),
    "png-unknown-depth": png(10, 10, bits=77),
    "png-no-pixel-words": png(1, 1, data=b"\0\0\0\0"),
    "png-text-bomb": lambda: b"\x89PNG\r\n\x1a\n"
    + chunk_of_png(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
    + chunk_of_png(b"zTXt", b"k\0\0" + zlib.compress(bytes(20_000_000), 9)),
    "png-wrong-checksum": png(10, 10, data=bytes(310))[:-20] + b"\0" * 20,
    "jpeg-header-alone": b"\xff\xd8\xff\xe0",
    "jpeg-huge": b"\xff\xd8\xff\xc0\0\x11\x08\xff\xff\xff\xff\x03\x01\x11\0\x02\x11\0\x03\x11\0",
    "jpeg-of-nothing": b"\xff\xd8\xff\xd9",
    "jpeg-endless-markers": b"\xff\xd8" + b"\xff\xe1\0\x02" * 100_000,
    "jpeg-random": b"\xff\xd8\xff" + bytes(range(256)) * 400,
    "tiff-loop": tiff(width=10, height=10, rows=10, count=100, **_GREY),
    "tiff-huge": tiff(width=4_000_000_000, height=4_000_000_000, rows=1, count=1, **_GREY),
    "tiff-no-size": tiff(width=0, height=0, rows=1, count=1, **_GREY),
    "tiff-strip-outside": tiff(width=10, height=10, rows=10, count=1 << 31, **_GREY),
    "tiff-unknown-packing": tiff(width=9, height=9, rows=9, count=81, **(_GREY | {"packing": 77})),
    "tiff-many-samples": tiff(width=9, height=9, rows=9, count=81, **(_GREY | {"samples": 65_000})),
    "tiff-no-directory": b"II*\0\0\0\0\0",
    "tiff-directory-outside": b"MM\0*\xff\xff\xff\xf0",
    "tiff-many-entries": b"II*\0\x08\0\0\0\xff\xff" + bytes(12 * 65_535),
    "gif-is-not-read": b"GIF89a" + bytes(100),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_pictures_are_skipped_with_a_reason(name: str, sandbox: Sandbox) -> None:
    hostile = HOSTILE[name]
    content = hostile if isinstance(hostile, bytes) else hostile()
    skipped = read_file(content, "a.png", sandbox)
    assert isinstance(skipped, Skipped)
    reasons = {"damaged", "no text", "picture is too large", "content does not match its name"}
    assert skipped.reason in {*reasons, "not a text format", "over a limit of its reader"}


@pytest.mark.parametrize("size", [(100_000, 100_000), (1, 14_400), (0.01, 0.01)])
def test_pages_of_any_size_are_rendered_within_limits(
    size: tuple[float, float], sandbox: Sandbox
) -> None:
    width, height = size
    content = assemble_pdf(
        {
            1: b"<</Type/Catalog/Pages 2 0 R>>",
            2: b"<</Type/Pages/Kids[10 0 R]/Count 1>>",
            4: b"<<>>",
            10: f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 {width} {height}]/Contents 11 0 R"
            "/Resources<</XObject<</I 12 0 R>>>>>>".encode(),
            11: stream(f"{width} 0 0 {height} 0 0 cm /I Do".encode()),
            12: b"<</Type/XObject/Subtype/Image/Width 1/Height 1/ColorSpace/DeviceGray"
            b"/BitsPerComponent 8/Length 1>>stream\n\0\nendstream",
        }
    )
    skipped = read_file(content, "a.pdf", sandbox)
    assert isinstance(skipped, Skipped)
    assert skipped.reason in {"no text", "damaged"}


@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_rotated_pages_are_turned(degrees: int, sandbox: Sandbox) -> None:
    stored = io.BytesIO()
    upright = Image.open(io.BytesIO(picture(*LINES, "Third line, below.")))
    upright.rotate(degrees, expand=True).save(stored, format="PNG")
    document = read_file(stored.getvalue(), "a.png", sandbox)
    assert isinstance(document, Document)
    lines = [line for line in document.reading.text.split("\n") if line]
    assert " ".join(lines) == " ".join((*LINES, "Third line, below."))


def test_text_in_unknown_scripts_is_not_guessed(monkeypatch: pytest.MonkeyPatch) -> None:
    # The recogniser's result for a page in Russian: its confidence is 0.57 to 0.76 per line.
    found = pictures._Found([seen("HaceneHMe", 0.1, 0.1, 0.7), seen("3eMnn", 0.1, 0.2, 0.76)])
    monkeypatch.setattr(pictures, "_recognise", lambda _: found)
    content = picture(*LINES)
    (array,) = pictures.open_pictures(content)
    assert pictures.see(array) == pictures.SeenPage([], 2)
    with pytest.raises(contract.UnreadableError, match="pictures without legible text"):
        pictures.read(content)
    assert pictures.read_pictures([content]).unsure == 2


def tiff_of(*pages: str) -> bytes:
    """Return a TIFF with a page for each line of text."""
    frames = [Image.open(io.BytesIO(picture(page))) for page in pages]
    stored = io.BytesIO()
    frames[0].save(stored, format="TIFF", save_all=True, append_images=frames[1:])
    return stored.getvalue()


@pytest.fixture
def read_at_once(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Replace recognition by a function that returns `Page 1` for the first page, and so on.

    Returns the numbers of the pages that were read.
    """
    monkeypatch.setattr(contract, "_is_importable", lambda _: True)
    looked: list[int] = []

    def see(_: object) -> pictures.SeenPage:
        looked.append(len(looked) + 1)
        return lay_out([seen(f"Page {len(looked)}", 0.1, 0.1)])

    monkeypatch.setattr(pictures, "see", see)
    return looked


def read_pages(content: bytes, name: str, pages: int) -> Document:
    raw = RawDocument("s", name, name, content, ocr=True, ocr_pages=pages)
    document = read(raw, is_worker=True)
    assert isinstance(document, Document)
    return document


def bounded(count: int, pages: int) -> list[str]:
    return [f"read {count} of {pages} pages: ocr_pages in [[sources]] sets how many are read"]


def said_of(document: Document) -> list[str]:
    """Return the report's messages about a document's pages that are pictures."""
    return [kind for group, kind, *_ in Remarks.of(document).findings if group == "scan"]


@pytest.mark.parametrize(("allowed", "said"), [(2, bounded(2, 4)), (3, bounded(3, 4)), (4, [])])
def test_pages_of_a_picture_over_the_limit_are_counted(
    allowed: int, said: list[str], read_at_once: list[int]
) -> None:
    document = read_pages(tiff_of("a", "b", "c", "d"), "a.tif", allowed)
    assert len(read_at_once) == allowed
    assert document.reading.seen == tuple(range(1, allowed + 1))
    assert said_of(document) == said


def test_default_limit_is_fifty_pages(read_at_once: list[int]) -> None:
    document = read_pages(tiff_of(*["a"] * 60), "a.tif", OCR_PAGES)
    assert read_at_once[-1] == 50
    assert said_of(document) == bounded(50, 60)


def test_pdf_pages_with_text_do_not_count_as_scans(read_at_once: list[int]) -> None:
    jpeg = picture("x", kind="JPEG")
    document = read_pages(scan(jpeg, "Words of its own.", jpeg, jpeg), "a.pdf", 2)
    assert (len(read_at_once), document.reading.seen) == (2, (1, 3))
    assert "Words of its own." in document.reading.text
    assert said_of(document) == bounded(2, 3)


def test_pictures_of_an_office_file_count_together(read_at_once: list[int]) -> None:
    pair = tiff_of("a", "b")
    media = {f"word/media/image{number}.tif": pair for number in range(3)}
    document = read_pages(docx("", **media), "a.docx", 3)
    assert len(read_at_once) == 3
    assert said_of(document) == bounded(3, 6)

    from pptx import Presentation

    slides, stored = Presentation(), io.BytesIO()
    for _ in range(3):
        shapes = slides.slides.add_slide(slides.slide_layouts[6]).shapes
        shapes.add_picture(io.BytesIO(pair), 0, 0)
    slides.save(stored)
    document = read_pages(stored.getvalue(), "a.pptx", 4)
    assert len(read_at_once) == 7
    assert said_of(document) == bounded(4, 6)


@pytest.mark.parametrize(("pixels", "count"), [(110_000 * 3 // 4, 3), (110_000 * 3 // 4 - 1, 2)])
def test_pixels_of_all_pages_are_limited(
    pixels: int, count: int, read_at_once: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(allowance, "PIXELS_A_PAGE", pixels)
    document = read_pages(tiff_of("a", "b", "c", "d"), "a.tif", 4)
    assert len(read_at_once) == count
    assert said_of(document) == bounded(count, 4)


@pytest.mark.parametrize(("seconds", "count"), [(20.0, 4), (20.1, 3)])
def test_slow_pages_are_left_to_the_next_build(
    seconds: float, count: int, read_at_once: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "process_time", lambda: seconds * 4 / 3 * len(read_at_once))
    document = read_pages(tiff_of("a", "b", "c", "d"), "a.tif", 4)
    assert len(read_at_once) == count
    late = "read 3 of 4 pages: they took too long, and the next build tries again"
    assert said_of(document) == ([late] if count == 3 else [])
    assert document.reading.is_hurried == (count == 3)


def test_slow_pages_without_text_are_skipped(
    read_at_once: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pictures, "see", lambda _: read_at_once.append(0) or lay_out([]))
    monkeypatch.setattr(time, "process_time", lambda: 100.0 * len(read_at_once))
    for name, content in {
        "a.tif": tiff_of("a", "b"),
        "a.pdf": scan(*[picture("", kind="JPEG")] * 2),
    }.items():
        raw = RawDocument("s", name, name, content, ocr=True, ocr_pages=2)
        skipped = Skipped("s", name, "over a limit of its reader", "processor time")
        assert read(raw, is_worker=True) == skipped


OCR_CONFIG = """
[project]
name = "scans"

[[sources]]
type = "folder"
path = "sources"
ocr = true
ocr_pages = 2
"""


def test_build_reports_how_many_pages_of_a_scan_are_read(make_project: MakeProject) -> None:
    scans = tiff_of("The first zebra", "The second giraffe")
    config = OCR_CONFIG.replace("ocr_pages = 2", "ocr_pages = 1")
    project = make_project({"many.tif": scans}, config=config)
    printed = project.succeed("build").stdout
    assert (
        "many.tif: read 1 of 2 pages: ocr_pages in [[sources]] sets how many are read\n" in printed
    )
    assert project.ask("zebra", "--mode", "keyword")["results"]
    assert not project.ask("giraffe", "--mode", "keyword")["results"]


def test_scans_are_read_again_if_they_were_slow_or_the_limit_is_raised(
    make_project: MakeProject, read_at_once: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask_here(sandbox: Sandbox, raws: list[RawDocument], _begin: object) -> list[bytes]:
        answer, _ = preparer.open_task(sandbox._task["options"])
        return [answer(raw.describe(), raw.content)[0] for raw in raws]

    monkeypatch.setattr(workers, "ask_workers", ask_here)
    project = make_project({"slow.tif": tiff_of("a", "b", "c"), "a.md": "# A"}, config=OCR_CONFIG)
    with monkeypatch.context() as slow:
        slow.setattr(time, "process_time", lambda: 50.0 * len(read_at_once))
        printed = project.succeed("build").stdout
        assert "slow.tif: read 1 of 3 pages: they took too long, and the next build" in printed
        read_at_once.clear()
        printed = project.succeed("build").stdout
        assert "1 read, 1 unchanged" in printed
    read_at_once.clear()
    printed = project.succeed("build").stdout
    assert "1 read, 1 unchanged" in printed
    assert "slow.tif: read 2 of 3 pages: ocr_pages in [[sources]] sets how many are read" in printed
    assert "0 read, 2 unchanged" in project.succeed("build").stdout
    (project.root / "foundry.toml").write_text(OCR_CONFIG.replace("= 2", "= 3"))
    read_at_once.clear()
    assert "ocr_pages" not in project.succeed("build").stdout
    assert read_at_once == [1, 2, 3]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("ocr_pages = 9", "sources[0].ocr_pages: does nothing without ocr = true; set that, or"),
        ("ocr = true\nocr_pages = 0", "sources[0].ocr_pages"),
        ("ocr = true\nocr_pages = 2001", "sources[0].ocr_pages"),
    ],
)
def test_ocr_pages_is_checked(written: str, said: str, make_project: MakeProject) -> None:
    config = OCR_CONFIG.replace("ocr = true\nocr_pages = 2", written)
    refused = make_project({"a.md": "# A"}, config=config).run("build")
    assert refused.exit_code == 2
    assert said in refused.stderr


def test_languages_in_unknown_scripts_are_refused_before_a_build(tmp_path: Path) -> None:
    source = FolderSource(path=tmp_path, ocr=True)
    for language in ("greek", "russian"):
        said = [f"sources[0].ocr: cannot recognise the script of {language} in pictures; remove it"]
        assert find_problems([source], tmp_path, language) == said
    assert find_problems([source], tmp_path, "german") == []
    assert find_problems([FolderSource(path=tmp_path)], tmp_path, "greek") == []
