"""Pictures (.png, .jpg, .tif): the text that is seen in them."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace

from foundry.readers import recognition
from foundry.readers.contract import FileReader, UnreadableError
from foundry.readers.formats.pdf_layout import compose
from foundry.readers.formats.seen_pages import SeenPage
from foundry.records import Reading

PICTURE_SUFFIXES = (".png", ".jpg", ".jpeg", ".tif", ".tiff")
_KINDS = {"PNG image": "image/png", "JPEG image": "image/jpeg", "TIFF image": "image/tiff"}


def read(content: bytes) -> Reading:
    """Read the text of a picture; the frames of one are pages."""
    return _compose(
        [SeenPage(recognition.see(each)) for each in recognition.open_pictures(content)]
    )


def read_pictures(contents: Iterable[bytes]) -> Reading:
    """Read the text of the pictures in another document; those that cannot be read have none."""
    pages: list[SeenPage] = []
    for content in contents:
        with suppress(UnreadableError, OSError, ValueError):
            pages += [
                SeenPage(recognition.see(each)) for each in recognition.open_pictures(content)
            ]
    return _compose(pages)


def _compose(pages: list[SeenPage]) -> Reading:
    reading = compose([page.lines for page in pages], [], title=None, modified=None)
    unsure = sum(page.unsure for page in pages)
    return replace(reading, seen=tuple(range(1, len(pages) + 1)), unsure=unsure)


READER = FileReader("picture/1", _KINDS, {}, read, recognition.NEEDS, recognition.EXTRA)
