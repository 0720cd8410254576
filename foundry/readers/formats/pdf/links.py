"""Links of a PDF page to addresses outside the document, written into its text as Markdown."""

import ctypes
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np

from foundry.readers.decoding import normalise
from foundry.readers.formats.office.links import write_link
from foundry.readers.formats.pdf.lines import Line
from foundry.readers.formats.pdf.rows import Word

MAX_LINKS_OF_PAGE = 1_000
MAX_URL_BYTES = 2_000
COVERED = 0.3
"""Minimum share of a word's width that a link covers; punctuation may follow a link."""
_SCHEME = re.compile(r"https?://(?:www\.)?|mailto:")
# Punctuation around a link belongs to its words, but not to the link.
_AROUND = re.compile(r"([(\[\u201c\"'\u2022\s-]*)(.*?)([)\].,;:!?\u201d\"']*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class PageLink:
    """An address, and the area that leads to it: left, bottom, right and top, in points."""

    url: str
    area: tuple[float, float, float, float]


def find_links(page: Any) -> Iterator[PageLink]:
    """Yield a page's links to addresses outside the document."""
    from pypdfium2 import raw

    position, link, box = ctypes.c_int(0), raw.FPDF_LINK(), raw.FS_RECTF()
    for _ in range(MAX_LINKS_OF_PAGE):
        if not raw.FPDFLink_Enumerate(page, position, link):
            return
        action = raw.FPDFLink_GetAction(link)
        size = raw.FPDFAction_GetURIPath(page.pdf, action, None, 0)
        if 1 < size <= MAX_URL_BYTES and raw.FPDFLink_GetAnnotRect(link, box):
            buffer = ctypes.create_string_buffer(size)
            raw.FPDFAction_GetURIPath(page.pdf, action, buffer, size)
            bottom, top = sorted((box.bottom, box.top))
            url = normalise(buffer.value.decode("utf-8", "replace"))
            yield PageLink(url, (*sorted((box.left, box.right)), bottom, top))


def write_links(
    lines: list[Line], words: list[Word], links: Sequence[PageLink], page_top: float
) -> None:
    """Write the links around their words. If a link spans lines, it is written on the last one.

    `page_top` is the top of the page, in points from its origin.
    """
    if not (links and words):
        return
    starts, ends = (np.array([getattr(word, side) for word in words]) for side in ("left", "right"))
    widths = np.maximum(ends - starts, 0.1)
    down = page_top - np.array([word.middle for word in words])
    is_linked = np.zeros(len(words), bool)
    # Programs divide a link that spans lines.
    for url, parts in groupby(links, lambda link: link.url):
        is_inside = np.zeros(len(words), bool)
        for left, right, bottom, top in (part.area for part in parts):
            covered = np.minimum(ends, right) - np.maximum(starts, left)
            is_inside |= (covered > COVERED * widths) & (bottom < down) & (down < top)
        places = np.flatnonzero(is_inside & ~is_linked)
        is_linked |= is_inside
        for stretch in np.split(places, np.flatnonzero(np.diff(places) > 1) + 1):
            if len(stretch):
                _write(lines, words, stretch.tolist(), url)


def _write(lines: list[Line], words: list[Word], places: list[int], url: str) -> None:
    """Write a link around consecutive words."""
    texts = [words[place].text for place in places]
    _, said, _ = _parts("".join(texts))
    line = words[places[-1]].line
    own = [place for place in places if words[place].line == line]
    label = " ".join(words[place].text for place in own)
    before, inner, after = _parts(label)
    # A page that shows the address may divide it.
    if _bare(said) == _bare(url) or _bare(url).endswith(_bare(inner)):
        return
    is_divided = len(own) < len(places) and texts[-len(own) - 1].endswith(("-", "\u00ad"))
    linked = f"{inner} ({url})" if is_divided else write_link(inner, url)
    if linked == inner or lines[line].text.count(label) != 1:
        return
    linked = f"{before}{linked}{after}"
    lines[line] = replace(lines[line], text=lines[line].text.replace(label, linked))
    # The words of a table's cell are joined by spaces again.
    for place, text in zip(own, linked.split(" ", len(own) - 1), strict=True):
        words[place] = replace(words[place], text=text)


def _parts(label: str) -> tuple[str, str, str]:
    found = _AROUND.fullmatch(label)
    return (found[1], found[2], found[3]) if found else ("", label, "")


def _bare(url: str) -> str:
    return _SCHEME.sub("", url, count=1).rstrip("/").casefold()
