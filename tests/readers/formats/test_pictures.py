"""The text of a picture from the lines that a recogniser finds, for every rotation."""

import io
import resource
import sys
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image

from foundry.documents import Document, RawDocument, Skipped
from foundry.readers import contract, read
from foundry.readers.formats import pictures

Box = tuple[float, float, float, float]
"""Left, top, right and bottom, in pixels."""
Found = Sequence[tuple[str, float, Box]]
"""The lines of a page, how sure the recogniser is of each, and their boxes."""

RED = (255, 0, 0)
UPRIGHT, LEFT, UPSIDE_DOWN, RIGHT = range(4)
"""Quarter turns of a picture, counterclockwise."""


class Recogniser:
    """Returns preset lines, depending on the rotation: a corner of the page is red."""

    def __init__(self, *found: Found) -> None:
        self._found = found
        self.asked: list[int] = []
        self.pictures: list[Any] = []
        self.answer: SimpleNamespace | None = None

    def __call__(self, picture: Any) -> SimpleNamespace:
        corners = [picture[0, 0], picture[-1, 0], picture[-1, -1], picture[0, -1]]
        # The channels are blue, green and red; the thresholds allow for changes by JPEG.
        turns = next((n for n, c in enumerate(corners) if c[2] > 200 and max(c[:2]) < 90), 0)
        self.asked.append(turns)
        self.pictures.append(picture)
        if self.answer is not None:
            return self.answer
        lines = self._found[min(turns, len(self._found) - 1)]
        if not lines:
            return SimpleNamespace(txts=None, scores=None, boxes=None)
        texts, scores, boxes = zip(*lines, strict=True)
        corners_of = [[(a, b), (c, b), (c, d), (a, d)] for a, b, c, d in boxes]
        return SimpleNamespace(txts=texts, scores=scores, boxes=np.array(corners_of, float))


@pytest.fixture
def recognise(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Recogniser]:
    def install(*found: Found) -> Recogniser:
        recogniser = Recogniser(*found)
        monkeypatch.setattr(pictures, "_engine", lambda: recogniser)
        monkeypatch.setattr(contract, "_is_importable", lambda _: True)
        return recogniser

    return install


def page(width: int = 400, height: int = 200, *, turns: int = UPRIGHT, kind: str = "PNG") -> bytes:
    """Return a white page whose upper left corner is red, rotated counterclockwise."""
    image = Image.new("RGB", (width, height), "white")
    image.paste(RED, (0, 0, 32, 32))
    return stored(image.rotate(90 * turns, expand=True), kind)


def stored(image: Any, kind: str = "PNG", **options: Any) -> bytes:
    content = io.BytesIO()
    image.save(content, format=kind, **options)
    return content.getvalue()


def read_picture(content: bytes) -> Document | Skipped:
    return read(RawDocument("s", "a.png", "a.png", content, ocr=True), is_worker=True)


def text_of(content: bytes) -> str:
    document = read_picture(content)
    assert isinstance(document, Document), document
    return document.reading.text.strip()


def line(
    text: str, sure: float = 0.99, top: float = 10, left: float = 10
) -> tuple[str, float, Box]:
    return text, sure, (left, top, left + 8 * len(text), top + 12)


def high(text: str, sure: float) -> tuple[str, float, Box]:
    """Return a line that runs down the page."""
    return text, sure, (10, 10, 22, 10 + 8 * len(text))


TURNED: tuple[Found, ...] = (
    [line("Replace the seals.", 0.95)],
    [high("slaes eht ecalpeR", 0.9)],
    [line("s1eas ay+ aoejday", 0.6)],
    [high("Rep1ace t4e sea1s", 0.85)],
)


@pytest.mark.parametrize("turns", [UPRIGHT, LEFT, UPSIDE_DOWN, RIGHT])
def test_rotated_pages_are_read(turns: int, recognise: Callable[..., Recogniser]) -> None:
    recogniser = recognise(*TURNED)
    document = read_picture(page(turns=turns))
    assert isinstance(document, Document)
    assert document.reading.text.strip() == "Replace the seals."
    assert (document.reading.seen, document.reading.unsure) == ((1,), 0)
    # A page that is read well is recognised only once.
    looks = {UPRIGHT: 1, UPSIDE_DOWN: 2}
    assert len(recogniser.asked) == looks.get(turns, 3)


@pytest.mark.parametrize(("sure", "looks"), [(0.8, 1), (0.799, 2)])
def test_barely_legible_pages_are_tried_upside_down(
    sure: float, looks: int, recognise: Callable[..., Recogniser]
) -> None:
    recogniser = recognise([line("as it is", sure)], [], [line("turned", 0.9)], [])
    assert text_of(page()) == ("as it is" if looks == 1 else "turned")
    assert len(recogniser.asked) == looks


def test_pages_illegible_both_ways_are_skipped(
    recognise: Callable[..., Recogniser],
) -> None:
    recognise([line("a" * 30, 0.9), line("b" * 30, 0.69, 40)], [], [line("c" * 9, 0.79)], [])
    skipped = read_picture(page())
    assert skipped == Skipped("s", "a.png", "pictures without legible text")


def test_pages_without_lines_are_examined_once(recognise: Callable[..., Recogniser]) -> None:
    recogniser = recognise([])
    assert read_picture(page()) == Skipped("s", "a.png", "no text")
    assert len(recogniser.asked) == 1


@pytest.mark.parametrize(
    ("sure", "text", "unsure"),
    [(0.49, "Plain words of the page.", 0), (0.5, "Plain words of the page.\nsmear", 1)],
)
def test_illegible_lines_are_left_out_and_doubtful_lines_counted(
    sure: float, text: str, unsure: int, recognise: Callable[..., Recogniser]
) -> None:
    recognise([line("Plain words of the page.", 0.99), line("smear", sure, 100)])
    document = read_picture(page())
    assert isinstance(document, Document)
    assert document.reading.text.replace("\n\n", "\n").strip() == text
    assert document.reading.unsure == unsure


@pytest.mark.parametrize(("sure", "unsure"), [(0.8, 0), (0.79, 1)])
def test_lines_below_a_confidence_are_doubtful(
    sure: float, unsure: int, recognise: Callable[..., Recogniser]
) -> None:
    recognise([line("Plain words of the page.", 0.99), line("seal", sure, 100)])
    document = read_picture(page())
    assert isinstance(document, Document)
    assert document.reading.unsure == unsure


@pytest.mark.parametrize(("length", "is_legible"), [(20, True), (19, False)])
def test_legibility_of_pages_is_weighted_by_characters(
    length: int, is_legible: bool, recognise: Callable[..., Recogniser]
) -> None:
    found = [line("a" * length, 0.9), line("b" * 10, 0.6, 100)]
    recognise(found, [], [], [])
    document = read_picture(page())
    assert isinstance(document, Document) == is_legible


def frames(*pages: bytes) -> bytes:
    images = [Image.open(io.BytesIO(each)) for each in pages]
    return stored(images[0], "TIFF", save_all=True, append_images=images[1:])


def test_illegible_pages_count_as_read_beside_legible_ones(
    recognise: Callable[..., Recogniser],
) -> None:
    turned = page(turns=UPSIDE_DOWN)
    recogniser = recognise([line("smear", 0.3)], [], [line("Replace the seals.")], [])
    document = read_picture(frames(turned, turned))
    assert isinstance(document, Document)
    assert (document.reading.seen, document.reading.unsure) == ((1, 2), 0)
    assert len(recogniser.asked) == 2
    recognise([line("smear", 0.3), line("smudge", 0.3, 60)], [], [], [])
    assert read_picture(frames(page(), page())) == Skipped(
        "s", "a.png", "pictures without legible text"
    )


def test_pages_are_numbered_and_their_doubtful_lines_added_up(
    recognise: Callable[..., Recogniser],
) -> None:
    recognise([line("Replace the seals.", 0.99), line("seal", 0.7, 100)])
    document = read_picture(frames(page(), page()))
    assert isinstance(document, Document)
    assert (document.reading.seen, document.reading.unsure) == ((1, 2), 2)
    assert document.metadata["scanned_pages"] == "1-2"
    second = document.reading.pages[1]
    assert document.reading.text[second:].startswith("Replace the seals.")


def skewed(left: float, right: float, top: float, slope: float) -> list[tuple[float, float]]:
    """Return the box of a line that descends by `slope` of its length."""
    rise = [slope * left, slope * right]
    return [
        (left, top + rise[0]),
        (right, top + rise[1]),
        (right, top + 12 + rise[1]),
        (left, top + 12 + rise[0]),
    ]


IN_ROWS = ["north", "east", "south", "west"]
IN_COLUMNS = ["north", "south", "east", "west"]


@pytest.mark.parametrize(
    ("slopes", "order"),
    [
        ((0.0,) * 4, IN_ROWS),
        ((0.05,) * 4, IN_ROWS),
        ((-0.05,) * 4, IN_ROWS),
        ((0.24,) * 4, IN_ROWS),
        # A slope of 0.26 is too steep for a skewed page.
        ((0.26,) * 4, IN_COLUMNS),
        # Half of the lines do not descend, so the page counts as straight.
        ((0.0, 0.1, 0.0, 0.1), IN_COLUMNS),
    ],
)
def test_lines_of_a_skewed_page_are_put_in_rows(
    slopes: Sequence[float], order: Sequence[str], recognise: Callable[..., Recogniser]
) -> None:
    places = [(10, 90, 40), (300, 380, 40), (10, 90, 58), (300, 380, 58)]
    boxes = [skewed(*place, slope) for place, slope in zip(places, slopes, strict=True)]
    recognise().answer = SimpleNamespace(txts=IN_ROWS, scores=[0.9] * 4, boxes=np.array(boxes))
    assert text_of(page()).split() == order


def test_long_lines_determine_the_skew_more_than_short_ones(
    recognise: Callable[..., Recogniser],
) -> None:
    places = {"long": (10, 390, 5, 0.0)}
    places |= {"north": (10, 40, 40, 0.1), "south": (10, 40, 58, 0.1)}
    places |= {"east": (340, 390, 40, 0.1), "west": (340, 390, 58, 0.1)}
    boxes = np.array([skewed(*place) for place in places.values()])
    recognise().answer = SimpleNamespace(txts=[*places], scores=[0.9] * 5, boxes=boxes)
    assert text_of(page()).split() == ["long", *IN_COLUMNS]


def test_square_lines_do_not_rotate_a_page(recognise: Callable[..., Recogniser]) -> None:
    recogniser = recognise([("7a", 0.9, (10, 10, 22, 22))])
    assert text_of(page()) == "7a"
    assert len(recogniser.asked) == 1


@pytest.mark.parametrize("lacking", ["txts", "boxes"])
def test_boxes_without_text_are_not_lines(
    lacking: str, recognise: Callable[..., Recogniser]
) -> None:
    found = {"txts": ("a",), "scores": (0.9,), "boxes": np.array([skewed(10, 90, 40, 0)])}
    recognise().answer = SimpleNamespace(**{**found, lacking: None})
    assert read_picture(page()) == Skipped("s", "a.png", "no text")


def test_recogniser_uses_one_thread_and_returns_all_lines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[dict[str, object]] = []
    library = SimpleNamespace(RapidOCR=lambda params: asked.append(params))
    monkeypatch.setitem(sys.modules, "rapidocr", library)
    pictures._engine.__wrapped__()
    (options,) = asked
    threads = [value for name, value in options.items() if name.endswith("_num_threads")]
    assert threads == [1, 1]
    assert (options["Global.max_side_len"], options["Det.limit_side_len"]) == (2_000, 1_280)
    assert options["Det.limit_type"] == "max"
    assert (options["Global.text_score"], options["Global.use_cls"]) == (0.0, False)
    assert options["Rec.rec_batch_num"] == 1


def test_rows_are_read_downwards_and_columns_become_a_table(
    recognise: Callable[..., Recogniser],
) -> None:
    rows = [("Month", "Gross"), ("May", "12.50"), ("June", "13.75"), ("July", "9.10")]
    found = [
        line(text, 0.9, 30 + 20 * number, 10 + 200 * column)
        for number, row in enumerate(rows)
        for column, text in enumerate(row)
    ]
    recognise([line("Below it.", 0.9, 180), *reversed(found), line("Above it.", 0.9, 2)])
    text = text_of(page())
    assert text.startswith("Above it.")
    assert "| May | 12.50 |" in " ".join(text.split())
    assert text.endswith("Below it.")


def test_transparent_background_is_white(recognise: Callable[..., Recogniser]) -> None:
    recogniser = recognise([line("words of it")])
    text_of(stored(Image.new("RGBA", (40, 40), (0, 0, 0, 0))))
    palette = Image.new("P", (40, 40))
    text_of(stored(palette, transparency=0))
    assert [picture.min() for picture in recogniser.pictures] == [255, 255]


def test_photographs_are_rotated_by_their_metadata(recognise: Callable[..., Recogniser]) -> None:
    recogniser = recognise([line("words of it")])
    image = Image.open(io.BytesIO(page(turns=LEFT)))
    exif = image.getexif()
    exif[0x0112] = 6
    text_of(stored(image, "JPEG", exif=exif, quality=95))
    assert recogniser.asked == [UPRIGHT]
    assert recogniser.pictures[0].shape == (200, 400, 3)


@pytest.mark.parametrize(
    ("size", "shown"),
    [((2_000, 50), (2_000, 50)), ((2_001, 40), (2_000, 40)), ((40, 4_000), (20, 2_000))],
)
def test_large_pictures_are_reduced(
    size: tuple[int, int], shown: tuple[int, int], recognise: Callable[..., Recogniser]
) -> None:
    recogniser = recognise([line("words of it")])
    text_of(page(*size))
    assert recogniser.pictures[0].shape == (*reversed(shown), 3)


def test_pixels_of_pictures_are_limited(
    recognise: Callable[..., Recogniser], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert pictures.MAX_PIXELS == 40_000_000
    recogniser = recognise([line("words of it")])
    monkeypatch.setattr(pictures, "MAX_PIXELS", 400 * 200)
    assert text_of(page(400, 200)) == "words of it"
    skipped = Skipped("s", "a.png", "picture is too large", "401 by 200 pixels")
    assert read_picture(page(401, 200)) == skipped
    assert len(recogniser.asked) == 1


def test_unreadable_pictures_are_damaged(recognise: Callable[..., Recogniser]) -> None:
    recognise([line("words of it")])
    skipped = Skipped("s", "a.png", "damaged", "the picture cannot be opened")
    assert read_picture(page()[:8]) == skipped


@pytest.mark.parametrize(
    ("soft", "hard", "used", "after"),
    [
        (100, resource.RLIM_INFINITY, 90.9, 210),
        (300, resource.RLIM_INFINITY, 90.9, 300),
        (100, 150, 90.9, 150),
        (100, 250, 90.9, 210),
        (resource.RLIM_INFINITY, resource.RLIM_INFINITY, 90.9, None),
    ],
)
def test_processor_time_is_limited_per_picture(
    soft: int,
    hard: int,
    used: float,
    after: int | None,
    recognise: Callable[..., Recogniser],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limits: list[tuple[int, tuple[int, int]]] = []
    kernel = SimpleNamespace(
        RLIMIT_CPU=resource.RLIMIT_CPU,
        RLIM_INFINITY=resource.RLIM_INFINITY,
        RUSAGE_SELF=resource.RUSAGE_SELF,
        getrlimit=lambda _: (soft, hard),
        getrusage=lambda _: SimpleNamespace(ru_utime=used - 30, ru_stime=30),
        setrlimit=lambda kind, limit: limits.append((kind, limit)),
    )
    monkeypatch.setattr(pictures, "resource", kernel)
    recognise([line("words of it")])
    assert text_of(page()) == "words of it"
    expected = [] if after is None else [(resource.RLIMIT_CPU, (after, hard))]
    assert limits == expected
