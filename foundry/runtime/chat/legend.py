"""What ends an answer for clients that show nothing but its text, and how it is read again."""

import re
from collections.abc import Sequence

from .answer import CitedPassage, Done
from .conversation import Turn
from .text import MARKS, part_marks

_ENTRY = re.compile(r"\[[0-9]{1,3}\] (?P<title>.+): \S+")


def ending_of(done: Done) -> str:
    """Return the sentences that no passage supports, if any were looked for, and the legend."""
    doubts = [" ".join(one["sentence"].split()) for one in done.to_json().get("unsupported", ())]
    lines = "".join(f"\n- {doubt}" for doubt in doubts)
    return (f"\n\nNot supported by the passages:{lines}" if lines else "") + legend(done.cited)


def legend(cited: Sequence[CitedPassage]) -> str:
    """Return a line for each passage cited."""
    text = "\n" if cited else ""
    for passage in cited:
        title = part_marks(" ".join(passage.title.split()) + ":")
        # An address stays one, without marks of Markdown or HTML.
        url = MARKS.sub(lambda mark: f"%{ord(mark[0]):02X}", passage.url)
        text += f"\n[{passage.number}] {title} {url}"
    return text


def read_legend(answer: str) -> Turn:
    """Return an earlier answer as a turn: its text, and the titles in its legend.

    What the caller sends back is not trusted: the titles are searched for, and no more.
    """
    text, _, last = answer.rpartition("\n\n")
    entries = [_ENTRY.fullmatch(line) for line in last.split("\n")]
    titles = tuple(entry["title"] for entry in entries if entry)
    if not text or len(titles) < len(entries):
        return Turn("assistant", answer)
    return Turn("assistant", text, titles)
