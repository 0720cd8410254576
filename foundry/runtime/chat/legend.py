"""Writes the end of an answer for clients that only show text, and parses it in later requests."""

import re
from collections.abc import Sequence

from .answer import CitedPassage, Done
from .conversation import Turn
from .text import MARKS, part_marks

_ENTRY = re.compile(r"\[[0-9]{1,3}\] (?P<title>.+): \S+")


def ending_of(done: Done) -> str:
    """Return the unsupported sentences, if the answer was checked, and the legend."""
    doubts = [" ".join(one["sentence"].split()) for one in done.to_json().get("unsupported", ())]
    lines = "".join(f"\n- {doubt}" for doubt in doubts)
    return (f"\n\nNot supported by the passages:{lines}" if lines else "") + legend(done.cited)


def legend(cited: Sequence[CitedPassage]) -> str:
    """Return a line for each cited passage."""
    text = "\n" if cited else ""
    for passage in cited:
        title = part_marks(" ".join(passage.title.split()) + ":")
        # Escaping Markdown and HTML characters does not change the meaning of the URL.
        url = MARKS.sub(lambda mark: f"%{ord(mark[0]):02X}", passage.url)
        text += f"\n[{passage.number}] {title} {url}"
    return text


def read_legend(answer: str) -> Turn:
    """Parse an earlier answer into a turn: its text, and the titles in its legend.

    Input from the caller is not trusted: the titles are only used in searches.
    """
    text, _, last = answer.rpartition("\n\n")
    entries = [_ENTRY.fullmatch(line) for line in last.split("\n")]
    titles = tuple(entry["title"] for entry in entries if entry)
    if not text or len(titles) < len(entries):
        return Turn("assistant", answer)
    return Turn("assistant", text, titles)
