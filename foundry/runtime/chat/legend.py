"""The legend of an answer: what the numbers in the text stand for, for clients that show it alone.

OpenAI's clients send it back with the answer, and it says what a follow-up refers to.
"""

import re
from collections.abc import Sequence

from .markup import disarm, disarm_address
from .passages import NumberedPassage
from .prompt import Turn

_ENTRY = re.compile(r"\[[0-9]{1,3}\] (?P<title>.+): \S+")


def legend(cited: Sequence[NumberedPassage]) -> str:
    """A line for each passage cited, below an empty one; nothing if none is."""
    lines = [
        f"[{passage.number}] {disarm(f'{_title(passage)}:')} {disarm_address(passage.url)}"
        for passage in cited
    ]
    return "\n\n" + "\n".join(lines) if lines else ""


def _title(passage: NumberedPassage) -> str:
    return " ".join(passage.hit.chunk.title.split())


def read_legend(answer: str) -> Turn:
    """The answer as a turn: the text above its legend, and the titles in the legend.

    What the caller sends back is not trusted: the titles are searched for, and no more.
    """
    text, _, last = answer.rpartition("\n\n")
    entries = [_ENTRY.fullmatch(line) for line in last.split("\n")]
    titles = tuple(entry["title"] for entry in entries if entry)
    if not text or len(titles) < len(entries):
        return Turn("assistant", answer)
    return Turn("assistant", text, titles)
