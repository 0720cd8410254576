"""Titles for documents without one: from their beginning, or from the file name."""

import re
from pathlib import PurePosixPath

from foundry.documents import Reading
from foundry.readers.contract import FileReader, Reader
from foundry.readers.registry import NAMED_BY_FILE
from foundry.runtime.chat.text import find_sentence_ends
from foundry.runtime.index.records import GOES_ON

MAX_TITLE_CHARS = 80
EXAMINED_CHARS = 8_000

_FENCE = re.compile(r"[ \t]*(?:```|~~~)")
# Marks at the beginning of a line: of lists, quotations, tables, comments, strings.
_LEAD = re.compile(r"(?:[\s>*+|=_~\"'`;%-]|/[/*]|#+(?=\s)|<!--|[0-9]{1,3}[.)](?=\s))+")
_TAIL = re.compile(r"[\s*|=_~\"'`]+$")
# First lines of code and licences that many files share.
_FORMALITY = re.compile(
    r"[#@]|(?:import|from|using|package|namespace|require|include|module|use|export|extern|return)\b"
    r"(?![^;]*[.!?]$)|(?:copyright|licen[cs]ed?|spdx-|all rights reserved|coding[:=]|-\*-|\(c\)"
    r"|eslint|pylint|noqa|pragma)",
    re.IGNORECASE,
)
_MOMENT = re.compile(
    r"(?<![\w.:-])(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d)(?::(\d\d)(?:[.,]\d{1,9})?)?"
    r" ?(Z|UTC|GMT|[+-]\d\d:?\d\d)?(?![\w:+-])"
)
_DAY_FILE = re.compile(r"(\d{4})[-_](\d\d)[-_](\d\d)(?![-_]?\d)")
_LETTERS = re.compile(r"[^\W\d_]{2}|[\u3040-\uffff]")


def title_from(path: str, reader: Reader | FileReader) -> str:
    """Return a title from a file name: unchanged for code and data, as words for others."""
    name = PurePosixPath(path).name
    if reader in NAMED_BY_FILE:
        return name or path
    stem = _DAY_FILE.sub(r"\1\0\2\0\3 ", PurePosixPath(name).stem)
    return " ".join(re.sub(r"[-_]+", " ", stem).split()).replace("\0", "-") or name or path


def with_plain_dates(title: str) -> str:
    """Return a title with dates in the usual forms: `2024-01-05`, `2024-01-05 10:30`."""
    return _MOMENT.sub(_plain_moment, title)


def _plain_moment(moment: re.Match[str]) -> str:
    day, time, seconds, zone = moment.groups()
    if int(seconds or 0):
        time = f"{time}:{seconds}"
    named = "UTC" if zone and not zone.strip("+-:0ZUTCGM") else zone
    return day if time == "00:00" else " ".join(filter(None, (day, time, named)))


def derive_title(reading: Reading) -> str:
    """Return the first heading, or else the first sentence followed by GOES_ON.

    More than MAX_TITLE_CHARS are cut off. The title is "" if no line has content.
    """
    named = next((heading.text for heading in reading.headings if _says(heading.text)), None)
    if named is not None:
        return _clip(named)
    text = reading.text[reading.body_start : reading.body_start + EXAMINED_CHARS]
    for line in text.split("\n"):
        said = _TAIL.sub("", _LEAD.sub("", line, count=1) if _LEAD.match(line) else line)
        if _says(said) and not _FENCE.match(line) and not _FORMALITY.match(said):
            sentence = said[: next(find_sentence_ends(said, 0, len(said)), None)]
            return _clip(sentence).rstrip(" .,;:-\u3002" + GOES_ON) + GOES_ON
    return ""


def _says(text: str) -> bool:
    return _LETTERS.search(text) is not None


def _clip(text: str) -> str:
    """Return at most MAX_TITLE_CHARS on one line, cut between words if possible."""
    text = " ".join(text.split())
    if len(text) <= MAX_TITLE_CHARS:
        return text
    cut = text[:MAX_TITLE_CHARS]
    return cut[: cut.rfind(" ")] if " " in cut else cut
