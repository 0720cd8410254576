"""Reads text in pictures with RapidOCR: files (.png, .jpg, .tif), and pages without other text.

The models are part of its wheel, so nothing is downloaded. Each picture is limited in pixels before
decoding, and in processor time; `allowance` limits all pictures of a document. Only for sandboxed
workers.
"""

import io
import resource
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

# NumPy is imported before the sandbox is set up, because the import changes the environment.
import numpy as np

from foundry.documents import Reading
from foundry.documents.reasons import Reason
from foundry.readers.allowance import current_allowance
from foundry.readers.contract import FileReader, UnreadableError
from foundry.readers.decoding import normalise_line
from foundry.readers.formats.pdf.layout import compose
from foundry.readers.formats.pdf.lines import Line, put_in_tables
from foundry.readers.formats.pdf.rows import Word
from foundry.readers.formats.pdf.tables import find_tables
from foundry.readers.sniffing import PICTURES

VERSION = "ocr/2"
MAX_PIXELS = 40_000_000
"""Larger pictures are not decoded; an A4 page at 600 dpi has 35 million pixels."""
MAX_SIDE = 2_000
"""Larger pictures are scaled down to this size; otherwise memory reaches a gigabyte."""
FOUND_SIDE = 1_280
"""Lines are found in a copy of the picture of this size, but read from one of up to MAX_SIDE."""
SECONDS = 120
"""Processor time per picture."""
UNSURE = 0.8
"""Lines with less confidence are reported as uncertain."""
ILLEGIBLE = 0.5
"""Lines with less confidence are left out."""
POINTS = 1_000
"""Width and height assumed for a picture's page."""
PICTURE_SUFFIXES = (".png", ".jpg", ".jpeg", ".tif", ".tiff")

_NEEDS = ("rapidocr", "onnxruntime", "PIL")
_EXTRA = "ocr"


@dataclass(frozen=True, slots=True)
class SeenLine:
    """A line in a picture, with its box as shares of width and height."""

    text: str
    confidence: float
    left: float
    right: float
    top: float
    bottom: float


@dataclass(frozen=True, slots=True)
class SeenPage:
    """Lines of a picture in reading order; `unsure` counts doubtful ones."""

    lines: list[Line]
    unsure: int


def read(content: bytes) -> Reading:
    """Read the text of a picture; frames are pages. Raises UnreadableError."""
    pages = [see(picture) for picture in open_pictures(content)]
    if any(page.unsure for page in pages) and not any(page.lines for page in pages):
        raise UnreadableError(Reason.ILLEGIBLE)
    return _compose(pages)


def read_pictures(contents: Iterable[bytes]) -> Reading:
    """Read the text in a document's pictures; unreadable pictures have none."""
    pages: list[SeenPage] = []
    for content in contents:
        with suppress(UnreadableError, OSError, ValueError):
            pages += [see(picture) for picture in open_pictures(content)]
    return _compose(pages)


def extend(reader: FileReader, read: Callable[[bytes], Reading]) -> FileReader:
    """Return a format's reader, with a variant that also reads text in pictures."""
    with_ocr = replace(
        reader,
        version=f"{reader.version}+{VERSION}",
        read=read,
        needs=(*reader.needs, *_NEEDS),
        extra=",".join(filter(None, (reader.extra, _EXTRA))),
    )
    return replace(reader, with_ocr=with_ocr)


def see(picture: Any) -> SeenPage:
    """Return the lines and tables of a picture, an array (height, width, 3) in any rotation.

    If the mean confidence is below UNSURE, no lines are returned, and `unsure` counts those found.
    """
    found = _recognise(picture)
    if found.is_sideways:
        found = max((_recognise(np.rot90(picture, turns)) for turns in (1, 3)), key=_confidence)
    elif found.lines and _confidence(found) < UNSURE:
        found = max(found, _recognise(np.rot90(picture, 2)), key=_confidence)
    if _confidence(found) < UNSURE:
        # Scripts that the models do not know get such a low confidence; blurred pages still reach
        # .95.
        return SeenPage([], len(found.lines))
    return lay_out([line for line in found.lines if line.confidence >= ILLEGIBLE])


@dataclass(frozen=True, slots=True)
class _Found:
    lines: Sequence[SeenLine] = ()
    is_sideways: bool = False


def _recognise(picture: Any) -> _Found:
    _allow_more_time()
    height, width = picture.shape[:2]
    found = _engine()(np.ascontiguousarray(picture))
    if found.txts is None or found.boxes is None:
        return _Found()
    lines = []
    slope = _slope(found.boxes)
    for text, confidence, box in zip(found.txts, found.scores, found.boxes, strict=True):
        if shown := normalise_line(text, 4_000):
            xs = [float(x + slope * y) / width for x, y in box]
            ys = [float(y - slope * x) / height for x, y in box]
            lines.append(SeenLine(shown, float(confidence), min(xs), max(xs), min(ys), max(ys)))
    # Short lines, such as numbers, may be taller than wide on an upright page.
    wide, high = np.ptp(found.boxes, axis=1).sum(axis=0)
    return _Found(lines, bool(high > wide))


def _confidence(found: _Found) -> float:
    """Return the mean confidence per character."""
    length = sum(len(line.text) for line in found.lines)
    return sum(line.confidence * len(line.text) for line in found.lines) / max(length, 1)


def lay_out(seen: Sequence[SeenLine]) -> SeenPage:
    """Return lines from top to bottom and left to right, with their tables."""
    rows: list[list[SeenLine]] = []
    for line in sorted(seen, key=lambda line: (line.top + line.bottom, line.left)):
        if rows and rows[-1][0].top < (line.top + line.bottom) / 2 < rows[-1][0].bottom:
            rows[-1].append(line)
        else:
            rows.append([line])
    ordered = [line for row in rows for line in sorted(row, key=lambda each: each.left)]
    words = []
    for place, line in enumerate(ordered):
        left, right, top, bottom = (
            POINTS * x for x in (line.left, line.right, line.top, line.bottom)
        )
        words.append(Word(line.text, left, right, top, bottom, place))
    # Boxes of one font size differ by some pixels, so sizes do not identify headings.
    lines = [Line(line.text, 0.0, line.top, line.bottom) for line in ordered]
    tables = find_tables(words)
    return SeenPage(put_in_tables(lines, tables), sum(line.confidence < UNSURE for line in seen))


def open_pictures(content: bytes) -> Iterator[Any]:
    """Yield the readable pictures of a file, as arrays for `see`.

    Raises UnreadableError for a picture that is too large, or a file that cannot be opened.
    """
    from PIL import Image, ImageOps, ImageSequence, UnidentifiedImageError

    Image.MAX_IMAGE_PIXELS = None
    allowance = current_allowance()
    try:
        with Image.open(io.BytesIO(content), formats=["PNG", "JPEG", "TIFF"]) as stored:
            for number, frame in enumerate(ImageSequence.Iterator(stored), 1):
                pixels = frame.width * frame.height
                if pixels > MAX_PIXELS:
                    size = f"{frame.width} by {frame.height} pixels"
                    raise UnreadableError(Reason.PICTURE_TOO_LARGE, size)
                if not allowance.take(pixels):
                    allowance.unread += _count_frames(stored, number) - number
                    return
                upright = ImageOps.exif_transpose(frame) or frame
                if "A" in upright.getbands() or "transparency" in upright.info:
                    paper = Image.new("RGBA", upright.size, "white")
                    upright = Image.alpha_composite(paper, upright.convert("RGBA"))
                page = upright.convert("RGB")
                page.thumbnail((MAX_SIDE, MAX_SIDE))
                yield np.asarray(page)[:, :, ::-1]
    except UnidentifiedImageError:
        raise UnreadableError(Reason.DAMAGED, "the picture cannot be opened") from None


def _count_frames(stored: Any, least: int) -> int:
    """Return the number of pictures in a file, or `least` if it cannot be read."""
    try:
        return max(getattr(stored, "n_frames", 1), least)
    except Exception:
        # A damaged frame can cause any error, and no further frames are read.
        return least


def _compose(pages: Sequence[SeenPage]) -> Reading:
    reading = compose([page.lines for page in pages], [], title=None, modified=None)
    unsure = sum(page.unsure for page in pages)
    return replace(reading, seen=tuple(range(1, len(pages) + 1)), unsure=unsure)


def _slope(boxes: Any) -> float:
    """Return the median slope of lines, weighted by length; positive if they descend rightwards."""
    edges = sorted(
        ((y2 - y1) / (x2 - x1), x2 - x1)
        for (x1, y1), (x2, y2), *_ in boxes.tolist()
        if x2 - x1 > 4 * abs(y2 - y1)
    )
    half, passed = sum(length for _, length in edges) / 2, 0.0
    for slope, length in edges:
        passed += length
        if passed >= half:
            return float(slope)
    return 0.0


@cache
def _engine() -> Any:
    from rapidocr import RapidOCR

    return RapidOCR(
        params={
            "Global.log_level": "critical",
            "Global.max_side_len": MAX_SIDE,
            # The library's classifier is usually wrong when it turns a line upside down.
            "Global.use_cls": False,
            # Keep doubtful text, since `_confidence` needs it.
            "Global.text_score": 0.0,
            "Det.limit_type": "max",
            "Det.limit_side_len": FOUND_SIDE,
            # In a batch, all lines are padded to the longest, which is slower and needs more
            # memory.
            "Rec.rec_batch_num": 1,
            "EngineConfig.onnxruntime.intra_op_num_threads": 1,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        }
    )


def _allow_more_time() -> None:
    """Extend the processor time limit of this process, if there is one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_CPU)
    if soft != resource.RLIM_INFINITY:
        usage = resource.getrusage(resource.RUSAGE_SELF)
        wanted = max(soft, int(usage.ru_utime + usage.ru_stime) + SECONDS)
        limit = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_CPU, (limit, hard))


READER = FileReader("picture/2", PICTURES, {}, read, _NEEDS, _EXTRA)
