"""Measures text recognition: `python benchmarks/recognition.py FILE.pdf ...`.

Pages with a text layer are rendered at several resolutions, skewed, and compressed as JPEG. Recall
and precision compare the recognised words with those of the text layer; repeated words count once.
Times are seconds of processor time.
"""

import argparse
import io
import re
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pypdfium2
from common import machine
from PIL import Image

from foundry.readers.formats.pictures import open_pictures, see

PAGES = 2
"""Pages of each file."""
MIN_WORDS = 30
_WORD = re.compile(r"\w{2,}")


def main() -> int:
    """Print a row for each kind of picture."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE.pdf")
    chosen = parser.parse_args()
    measured: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
    for file in chosen.files:
        document = pypdfium2.PdfDocument(file)
        for number in range(min(PAGES, len(document))):
            page = document[number]
            words = _words(page.get_textpage().get_text_range())
            if len(words) < MIN_WORDS:
                continue
            for kind, picture in _pictures(page):
                measured[kind].append(_measure(picture, words))
    print(machine())
    print("\n| picture | pages | recall | precision | s a page |\n|---|---|---|---|---|")
    for kind, rows in measured.items():
        recall, precision, seconds = (statistics.mean(column) for column in zip(*rows, strict=True))
        print(f"| {kind} | {len(rows)} | {recall:.3f} | {precision:.3f} | {seconds:.1f} |")
    return 0


def _pictures(page: Any) -> list[tuple[str, bytes]]:
    def render(dpi: int, change: Callable[[Image.Image], Image.Image], **options: Any) -> bytes:
        stored = io.BytesIO()
        change(page.render(scale=dpi / 72).to_pil().convert("RGB")).save(stored, **options)
        return stored.getvalue()

    def skew(picture: Image.Image) -> Image.Image:
        return picture.rotate(2, Image.Resampling.BICUBIC, expand=True, fillcolor="white")

    plain = [
        (f"{dpi} dpi", render(dpi, lambda same: same, format="PNG")) for dpi in (150, 200, 300)
    ]
    return [
        *plain,
        ("200 dpi, skewed by 2 degrees", render(200, skew, format="PNG")),
        ("200 dpi, JPEG of quality 40", render(200, lambda same: same, format="JPEG", quality=40)),
    ]


def _measure(picture: bytes, words: set[str]) -> tuple[float, float, float]:
    (array,) = open_pictures(picture)
    started = time.process_time()
    page = see(array)
    seconds = time.process_time() - started
    found = _words("\n".join(line.text for line in page.lines))
    common = len(words & found)
    return common / len(words), common / max(len(found), 1), seconds


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))


if __name__ == "__main__":
    sys.exit(main())
